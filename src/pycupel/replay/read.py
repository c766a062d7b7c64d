"""Reading a log: which lines are whose, without knowing beforehand what wrote them.

Each line is read on its own, and only what belongs to a conversation is kept, so a file of any size needs the memory of
its conversations.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pycupel.model.checks import checked_iterable
from pycupel.replay.claude_code import ClaudeCode
from pycupel.replay.log import Log
from pycupel.replay.requests import Requests

__all__ = ["read_log"]

_OPENERS: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open, ".bz2": bz2.open}


def read_log(source: str | os.PathLike[str] | Iterable[str] | Iterable[bytes]) -> Log:
    """The conversations in a log of JSON lines.

    Three kinds of lines are understood; all others are ignored:

    - Claude Code's transcripts. Rows of one message are merged, results go into the next user message, sidechains
      become histories of their own, and a compacted session stays one history. Rows that were not part of the
      conversation (`isMeta`, summaries, errors of the API) are left out.
    - Requests of OpenAI's APIs: objects with `messages` or `input`, at the top or under `request` or `body`, with the
      `response` and its `usage` if there is one. A request that begins with all the messages of an earlier one
      continues its history.
    - Messages: objects with a `role`. All of them are one history.

    Args:
        source: The path of a file, which may be compressed (.gz, .bz2, .xz), or its lines.

    Raises:
        TypeError: source is neither.
        OSError: the file cannot be read.
    """
    if not isinstance(source, (str, os.PathLike)):
        return _read(checked_iterable("source", "a path or an iterable of lines", source))
    path = Path(source)
    with _OPENERS.get(path.suffix, open)(path, "rb") as file:
        return _read(file)


def _read(lines: Iterable[Any]) -> Log:
    readers = (ClaudeCode(), Requests())
    skipped = 0
    for line in lines:
        if not line.strip():
            continue
        row = _row(line)
        if row is None:
            skipped += 1
            continue
        try:
            # The first that understands a row reads it.
            any(reader.add(row) for reader in readers)
        except RecursionError:
            skipped += 1
    return Log.of((history for reader in readers for history in reader.histories()), skipped)


def _row(line: str | bytes) -> dict[str, Any] | None:
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if row.__class__ is dict else None
