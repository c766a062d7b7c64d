"""Find the sessions that coding agents have logged on this machine. Files are looked at where they are, not copied."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

# The directory of each agent's sessions, below the one that a variable names.
_HOMES = (("CLAUDE_CONFIG_DIR", ".claude", "projects"), ("CODEX_HOME", ".codex", "sessions"))
# How much of a file's start names its directory, and how much of its end the time of its last row.
_HEAD, _TAIL = 2**16, 2**18
_DIRECTORY = re.compile(rb'"cwd":\s*("(?:[^"\\]|\\.)*")')
# Inside a text, the quotes would be escaped.
_TIME = re.compile(rb'"timestamp":\s*"([^"\\]+)"')


class SessionFile(NamedTuple):
    """A logged session."""

    time: datetime
    """The time of its last row; or, if no row has one, when the file was changed."""

    path: Path
    """The file."""


def sessions_in(folder: Path | None = None) -> list[SessionFile]:
    """Return the sessions in a folder, or those of all agents, the newest first; files of subagents are left out."""
    homes = [Path(os.environ.get(name) or Path.home() / usual, below) for name, usual, below in _HOMES]
    files = (path for each in ([folder] if folder else homes) for path in each.rglob("*.jsonl"))
    found = [SessionFile(_time_of(path), path) for path in files if _is_main(path)]
    return sorted(found, key=lambda each: (each.time, each.path), reverse=True)


def newest_session(directory: Path) -> Path | None:
    """Return the newest session that ran in the directory, or else anywhere; None if there is none."""
    sessions = [each.path for each in sessions_in()]
    return next((path for path in sessions if _ran_in(path, directory)), next(iter(sessions), None))


def _is_main(path: Path) -> bool:
    return path.is_file() and path.parent.name != "subagents" and not path.name.startswith("agent-")


def _ran_in(path: Path, directory: Path) -> bool:
    with path.open("rb") as file:
        found = _DIRECTORY.search(file.read(_HEAD))
    # Agents write other letters than ASCII as they are, or escape them.
    names = [json.dumps(str(directory), ensure_ascii=each).encode("utf-8", "surrogateescape") for each in (True, False)]
    return found is not None and found[1] in names


def _time_of(path: Path) -> datetime:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        times = _TIME.findall(file.read())
    return next(_times(reversed(times)), datetime.fromtimestamp(path.stat().st_mtime, UTC))


def _times(texts: Iterator[bytes]) -> Iterator[datetime]:
    for text in texts:
        try:
            time = datetime.fromisoformat(text.decode())
        except ValueError:
            continue
        yield time if time.tzinfo else time.replace(tzinfo=UTC)
