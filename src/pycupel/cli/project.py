"""The verbs for a repository: `check` holds files and sessions to limits in CI, `skill` teaches a coding agent.

[tool.pycupel.check.files]
"AGENTS.md" = 2000
"prompts/*.md" = 800

[[tool.pycupel.check.sessions]]
files = "sessions/*.jsonl"
budget = 12000
lost = 10
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from itertools import chain
from operator import add
from pathlib import Path
from typing import Any, NamedTuple, cast

from pycupel.cli.exits import FINDINGS, OK, InputError
from pycupel.cli.inputs import errors_about
from pycupel.cli.output import Screen, visible
from pycupel.cli.parsers import Parser, Verb, add_shared, history_policy_of
from pycupel.codecs.json_values import MAX_LINE, limited_lines
from pycupel.codecs.records import camel
from pycupel.errors import CupelError
from pycupel.model.checks import suggestion
from pycupel.render._layout import ALARM, Row, Span, plural
from pycupel.replay import PolicyReplay, read_log
from pycupel.replay.usage import replay_as_counted
from pycupel.tokens import get_counter

# `check`: hold files and stored sessions to the limits in pyproject.toml. Exit 1 if one is exceeded.


class Limit(NamedTuple):
    """What a file or a session must not exceed, or fall below."""

    name: str
    what: str
    value: float
    limit: float
    is_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether the value is within the limit."""
        return self.value >= self.limit if self.is_least else self.value <= self.limit


# For each limit of a session: how it is read from a replay, and whether it is the least that is wanted.
_MEASURES: dict[str, tuple[Callable[[PolicyReplay], float], bool]] = {
    "lost": (lambda run: 100 * (1 - run.kept_share), False),
    "refused": (lambda run: run.refused, False),
    "reused": (lambda run: 100 * run.reused_share, True),
}
_TABLE = "[tool.pycupel.check]"


def _add_check(parser: Parser) -> None:
    parser.add_argument("--project", default=".", metavar="DIR", help="where pyproject.toml is; default: here")
    add_shared(parser, "--json")


def _check(options: Any, screen: Screen) -> int:
    """Write a line for each limit, and return 1 if one does not hold."""
    root = Path(options.project).resolve()
    settings = _settings(root / "pyproject.toml")
    limits = [*_file_limits(root, settings), *_session_limits(root, settings)]
    if not limits:
        raise InputError(f"pyproject.toml has no limits: {_TABLE} needs `files` or `sessions`")
    if options.json:
        screen.json(
            [{camel(key): value for key, value in limit._asdict().items()} | {"holds": limit.holds} for limit in limits]
        )
    else:
        rows = [
            Row([
                Span("ok" if limit.holds else "FAIL", "" if limit.holds else ALARM),
                Span(visible(limit.name)),
                Span(limit.what),
                Span(f"{limit.value:,.4g}" if limit.value < 1_000 else f"{limit.value:,.0f}"),
                Span(f"{'>=' if limit.is_least else '<='} {limit.limit:,g}"),
            ])
            for limit in limits
        ]  # fmt: skip
        screen.table(["<", "<file", "<what", ">is", ">limit"], rows)
    failed = sum(not limit.holds for limit in limits)
    screen.note(f"{failed or 'none'} of {plural(len(limits), 'limit')} exceeded")
    return FINDINGS if failed else OK


def _settings(path: Path) -> Mapping[str, Any]:
    try:
        with errors_about(path.name):
            settings: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path.name}: invalid TOML: {error}") from None
    names = ("tool", "pycupel", "check")
    for depth, key in enumerate(names):
        settings = _table(settings, f"[{'.'.join(names[:depth])}]").get(key, {})
    return _table(settings, _TABLE, ("counter", "files", "sessions"))


def _table(value: Any, where: str, known: Iterable[str] | None = None) -> dict[str, Any]:
    """Return a table of the file, after a look at its keys."""
    if not isinstance(value, dict):
        raise InputError(f"pyproject.toml: {where} must be a table")
    table = cast("dict[str, Any]", value)
    for key in table:
        if known is not None and key not in known:
            raise InputError(f"pyproject.toml: unknown key {key!r} in {where}{suggestion(key, known)}")
    return table


def _file_limits(root: Path, settings: Mapping[str, Any]) -> Iterator[Limit]:
    files = _table(settings.get("files", {}), f"{_TABLE} files")
    try:
        counter = get_counter(settings.get("counter", "auto"))
    except (CupelError, TypeError) as error:
        raise InputError(f"pyproject.toml: {_TABLE} counter: {error}") from None
    for pattern, limit in files.items():
        most = _number(limit, f"files {pattern!r}")
        for path, name in _matching(root, pattern):
            with errors_about(name):
                yield Limit(name, "tokens", counter(path.read_text(encoding="utf-8")), most)


def _session_limits(root: Path, settings: Mapping[str, Any]) -> Iterator[Limit]:
    sessions: Any = settings.get("sessions", [])
    if not isinstance(cast("object", sessions), list):
        raise InputError(f"pyproject.toml: {_TABLE} sessions must be a list of tables")
    for number, each in enumerate(sessions, 1):
        where = f"{_TABLE} sessions, number {number}"
        session = _table(each, where, ("files", "budget", "policy", *_MEASURES))
        wanted = {key: _number(session[key], f"{key} of session {number}") for key in _MEASURES if key in session}
        if not isinstance(session.get("files"), str) or not wanted:
            raise InputError(f"pyproject.toml: {where} needs `files` and one of {', '.join(_MEASURES)}")
        budget = session.get("budget")
        if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
            raise InputError(f"pyproject.toml: budget of session {number} must be a whole number of 1 or more")
        policy = str(session.get("policy", "chat"))
        # A file's name has a suffix, a preset's has none.
        policy = history_policy_of(str(root / _inside(root, policy)) if "." in policy else policy)
        for path, name in _matching(root, session["files"]):
            with errors_about(name), path.open("rb") as file:
                log = read_log(limited_lines(file, MAX_LINE))
                if not log.histories:
                    raise InputError(f"{name}: no conversation found")
                runs = (replay_as_counted(history, budget, {"policy": policy}) for history in log.histories)
                run = reduce(add, chain.from_iterable(runs))
            for key, limit in wanted.items():
                measure, is_least = _MEASURES[key]
                yield Limit(name, key if key == "refused" else f"{key} %", measure(run), limit, is_least)


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise InputError(f"pyproject.toml: {where} must be a number of 0 or more")
    return value


def _matching(root: Path, pattern: str) -> list[tuple[Path, str]]:
    """Return the files of a pattern, with their names in the project. A link out of it is refused."""
    try:
        paths = sorted(path for path in root.glob(_inside(root, pattern)) if path.is_file())
    except ValueError as error:
        raise InputError(f"pyproject.toml: {pattern!r} is no pattern: {error}") from None
    if not paths:
        raise InputError(f"pyproject.toml: no file matches {pattern!r}")
    names = [path.relative_to(root).as_posix() for path in paths]
    return [(path, _inside(root, name)) for path, name in zip(paths, names, strict=True)]


def _inside(root: Path, name: str) -> str:
    """Return the name of a file or a pattern, unless it leads out of the project."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise InputError(f"pyproject.toml: {name!r} is not inside the project")
    if not (root / name).resolve().is_relative_to(root):
        raise InputError(f"{name} is a link to a file outside the project")
    return name


# `skill`: write an Agent Skill, with which a coding agent looks at its own session.


_NAME = "context-window"
# Where an agent looks for skills: in a project, and for a user below a folder that a variable may name.
_AGENTS = {"claude": (".claude", "CLAUDE_CONFIG_DIR"), "codex": (".codex", "CODEX_HOME")}


def _add_skill(parser: Parser) -> None:
    parser.add_argument("agent", nargs="?", choices=tuple(_AGENTS), default="claude", help="default: claude")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--project", action="store_true", help="for this directory's project, the default")
    place.add_argument("--user", action="store_true", help="for all projects of this user")
    place.add_argument("--to", metavar="DIR", help="into this folder of skills")
    parser.add_argument("--dry-run", action="store_true", help="only print what would be written")
    parser.add_argument("--force", action="store_true", help="replace a file that was changed")


def _skill(options: Any, screen: Screen) -> int:
    """Write the skill, and say where."""
    folder, variable = _AGENTS[options.agent]
    if options.to:
        skills = Path(options.to)
    elif options.user:
        skills = Path(os.environ.get(variable) or Path.home() / folder) / "skills"
    else:
        skills = Path(folder) / "skills"
    path = skills / _NAME / "SKILL.md"
    text = Path(__file__).with_name("skill.md").read_bytes()
    # A link could lead the file anywhere, so none below the folder that was asked for is followed.
    own = [path, path.parent] if options.to or options.user else [path, *path.parents]
    link = next((part for part in own if part.is_symlink()), None)
    if link is not None:
        raise InputError(f"{link} is a link, which is not followed; --to names another folder")
    if path.exists() and path.read_bytes() != text and not options.force:
        raise InputError(f"{path} has been changed; --force replaces it")
    if not options.dry_run:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    screen.text(f"{'would write' if options.dry_run else 'wrote'} {visible(str(path))}")
    return OK


VERBS = {
    "check": Verb(
        _check,
        _add_check,
        """
mkdir -p trial
echo 'Be brief.' > trial/AGENTS.md
printf '[tool.pycupel.check.files]\\n"*.md" = 2000\\n' > trial/pyproject.toml
pycupel check --project trial
""",
    ),
    "skill": Verb(_skill, _add_skill, "pycupel skill claude --dry-run"),
}
