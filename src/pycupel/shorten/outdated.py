"""Find results that a later call has outdated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import urandom
from typing import Any, NamedTuple, cast

from pycupel.model.checks import checked_bool, checked_iterable, checked_str, name_key, wrong_type
from pycupel.text import number_text

# The path arguments, and all main arguments, of common tools, in order of preference.
_PATHS = ("file_path", "path", "filename", "file", "notebook_path", "target_file", "uri")
_MAIN = (*_PATHS, "command", "cmd", "query", "pattern", "url", "q", "code", "input", "prompt", "text", "name", "id")
# The text arguments that select a part of a file to read. Others, like numbers and lists, always do.
_PARTS = (
    *("offset", "limit", "page", "pages", "range", "view_range"),
    *("start", "end", "start_line", "end_line", "line_start", "line_end", "line", "lines"),
)
# The content argument of tools that write a whole file.
_CONTENTS = ("content", "contents", "file_text", "text", "new_source")
_READING = ("read", "view", "cat", "open", "get")
_WRITING = ("write", "create", "save")


class ToolCall(NamedTuple):
    """A call whose result is in the context."""

    name: str
    """The name of the tool."""

    arguments: Any
    """Its arguments: a mapping, or JSON text."""

    failed: bool = False
    """Whether it failed. Then its result is an error message, which outdates nothing."""


def superseded(calls: Sequence[ToolCall]) -> list[bool]:
    """Return whether the result of each call is outdated.

    It is if a later call has the same name and arguments; reads the same file, whole or the same part; or writes that
    file as a whole. An edit changes only a part, so it supersedes nothing; neither does a call that failed.
    """
    known: list[ToolCall] = []
    for i, call in enumerate(checked_iterable("calls", "an iterable of ToolCall", calls)):
        if not isinstance(call, ToolCall):
            raise wrong_type(f"calls[{i}]", "a ToolCall", call)
        name, failed = checked_str(f"calls[{i}].name", call.name), checked_bool(f"calls[{i}].failed", call.failed)
        known.append(ToolCall(name, call.arguments, failed))
    return [later is not None for later in superseded_by(known)]


def superseded_by(calls: Sequence[ToolCall]) -> list[int | None]:
    """Return, for each call, the index of the first later call that outdates its result, or None."""
    by: list[int | None] = [None] * len(calls)
    later: dict[str, int] = {}
    later_files: dict[str, int] = {}
    names = {name: name_key(name) for name in {call.name for call in calls}}
    for i in range(len(calls) - 1, -1, -1):
        arguments = _mapping(calls[i].arguments)
        name = names[calls[i].name]
        path: str | None = next((arguments[key] for key in _PATHS if isinstance(arguments.get(key), str)), None)
        same = _canonical([name, arguments])
        reads = path is not None and name.startswith(_READING)
        writes = path is not None and name.startswith(_WRITING) and any(each in arguments for each in _CONTENTS)
        selecting = {
            key: value
            for key, value in arguments.items()
            if (key in _PARTS if isinstance(value, str) else value is not None)
        }
        part = _canonical(selecting)
        read = f"{path}\n{part}"
        found = [later.get(same)]
        if path is not None and reads:
            found += [later_files.get(path), later_files.get(read)]
        by[i] = min([each for each in found if each is not None], default=None)
        if calls[i].failed:
            continue
        later[same] = i
        if path is not None and (writes or (reads and part == "{}")):
            later_files[path] = i
        elif reads:
            later_files[read] = i
    return by


def arguments_of(arguments: Any) -> tuple[str, dict[str, str]]:
    """Return the argument that says most about a call, and its other texts, numbers and bools, by name.

    The first is a path, a command or a query; otherwise the first text or number.
    """
    values = _mapping(arguments)
    shown = {
        key: number_text(value) if isinstance(value, int) else str(value)
        for key, value in values.items()
        if isinstance(value, (str, int, float))
    }
    main = next((key for key in _MAIN if isinstance(values.get(key), str)), next(iter(shown), ""))
    return shown.pop(main, ""), shown


def _mapping(arguments: Any) -> Mapping[str, Any]:
    if isinstance(arguments, str):
        from json import loads  # noqa: PLC0415 - selections without calls do not need it

        try:
            arguments = loads(arguments)
        except (ValueError, RecursionError):
            return {"input": arguments}
    return cast(Mapping[str, Any], arguments) if isinstance(arguments, Mapping) else {}


def _canonical(value: Any) -> str:
    from json import dumps  # noqa: PLC0415 - see above

    try:
        return dumps(value, sort_keys=True, default=repr)
    except Exception:  # noqa: BLE001 - keys of different types, cycles, objects whose repr raises
        # Arguments that cannot be written equal no others.
        return urandom(16).hex()
