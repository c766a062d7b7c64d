"""Claude Agent SDK: shorten what tools return, before the model sees it.

    hooks = {"PostToolUse": [HookMatcher(hooks=[shorten_tool_output(4_000)])]}
    options = ClaudeAgentOptions(hooks=hooks)

The SDK keeps the history in Claude Code's process, where nothing can be selected; but one large result is what fills
most windows. The hook is a plain function, so it needs nothing of the SDK.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator
from contextlib import suppress
from json import loads
from typing import Any, NamedTuple, TypeAlias

from pycupel.errors import InvalidArgumentError
from pycupel.fields import as_json, is_list, is_mapping
from pycupel.messages.counting import resolve_counter
from pycupel.messages.detect import resolve_provider
from pycupel.model import ContextItem
from pycupel.model.checks import checked_count, checked_iterable, checked_str
from pycupel.protocols import ShortenContext
from pycupel.shorten import ByFormat, Stub
from pycupel.tokens import CounterLike

__all__ = ["shorten_tool_output"]

Hook: TypeAlias = Callable[[Any, "str | None", Any], Coroutine[Any, Any, dict[str, Any]]]
"""A hook of the SDK: it gets the event's input, the id of the call, and a context."""

_Path: TypeAlias = tuple[str | int, ...]
# Files that a result holds in base64. They are no text, and cost by their size on the screen.
_ENCODED = frozenset({"data", "base64", "blob"})
# Shorter texts are names, numbers and states, which make up the shape that the tool must have.
_SHORTEST = 120
_FEWEST = 2


def shorten_tool_output(budget: int, *, counter: CounterLike = "auto", exclude: Collection[str] = ()) -> Hook:
    """Make a `PostToolUse` hook that shortens results larger than a budget. Smaller ones stay as they are.

    A result keeps its shape, because Claude Code rejects another one: its long texts become shorter, by what they are
    (JSON stays JSON), the longest first; then its lists. Files in base64 stay.

    Args:
        budget: The most tokens that a result may have.
        counter: Counts tokens: a function from str to int, or a name for `pycupel.tokens.get_counter`. With "auto",
            an estimate for Claude with a margin.
        exclude: The names of tools whose results are never shortened.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidArgumentError: the budget is negative, or there is no such counter.
    """
    limit = checked_count("budget", budget, InvalidArgumentError)
    count = resolve_counter(counter, resolve_provider((), "anthropic", None), None)
    limit = int(limit * (100 - count.margin_percent) / 100)
    excluded = frozenset(
        checked_str(f"exclude[{n}]", each) for n, each in enumerate(checked_iterable("exclude", "names", exclude))
    )

    async def hook(event: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:  # noqa: ARG001
        if event.get("hook_event_name") != "PostToolUse" or event.get("tool_name") in excluded:
            return {}
        call = {"name": str(event.get("tool_name")), "arguments": event.get("tool_input")}
        result = _Result(event.get("tool_response"), call, count)
        if result.size(result.value) <= limit:
            return {}
        return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": result.within(limit)}}

    return hook


class _Result(NamedTuple):
    """A result, the call that it answers, and what counts its tokens."""

    value: Any
    call: dict[str, Any]
    tokens_of: Callable[[str], int]

    def size(self, value: Any) -> int:
        """Count a value as the model reads it: a text, or JSON."""
        return self.tokens_of(value if isinstance(value, str) else as_json(_mapped(value, _without_files)))

    def within(self, limit: int) -> Any:
        """Return a value of the same shape that fits, or else the closest there is."""
        versions = {path: self._versions(text) for path, text in _texts(self.value)}
        value, caps = self.value, [limit]
        while caps[-1]:
            caps.append(caps[-1] * 3 // 4)
        for cap in caps if versions else ():
            # Every text may have as much as the longest, so the longest are the first to become shorter.
            chosen = {path: next((t for n, t in each if n <= cap), each[-1][1]) for path, each in versions.items()}
            value = _mapped(self.value, chosen.get)
            if self.size(value) <= limit:
                return value
        longest = _longest_list(value)
        while longest > _FEWEST:
            longest = max(_FEWEST, longest // 2)
            value = _with_lists(value, longest)
            if self.size(value) <= limit:
                return value
        return self._as_json(value, limit)

    def _versions(self, text: str) -> list[tuple[int, str]]:
        """Return a text and its shorter versions with their tokens, the longest first, a stub last."""
        item = ContextItem(text, self.tokens_of(text), kind="ToolOutput", metadata={"call": self.call})
        context = ShortenContext([item], (), self.tokens_of)
        made = [item, *ByFormat().shorten(item, context), *Stub().shorten(item, context)]
        return [(each.tokens, each.content) for each in made]

    def _as_json(self, value: Any, limit: int) -> Any:
        """Return objects with too many keys with fewer, if JSON has such a version."""
        for tokens, text in self._versions(as_json(value)):
            if tokens <= limit:
                with suppress(ValueError):
                    return loads(text)
        return value


def _inside(value: Any) -> Iterable[tuple[str | int, Any]]:
    """Return what an object or a list holds, by key or index."""
    if is_mapping(value):
        return value.items()
    return enumerate(value) if is_list(value) else ()


def _texts(value: Any, path: _Path = ()) -> Iterator[tuple[_Path, str]]:
    """Return the long texts of a value, each with its path."""
    if isinstance(value, str) and len(value) > _SHORTEST and not _ENCODED.intersection(path[-1:]):
        yield path, value
    for key, each in _inside(value):
        yield from _texts(each, (*path, key))


def _mapped(value: Any, changed: Callable[[_Path, Any], Any], path: _Path = ()) -> Any:
    """Return a value of the same shape with other texts and numbers, by their paths and what they were."""
    if is_mapping(value):
        return {key: _mapped(each, changed, (*path, key)) for key, each in value.items()}
    return (
        [_mapped(each, changed, (*path, n)) for n, each in enumerate(value)] if is_list(value) else changed(path, value)
    )


def _without_files(path: _Path, value: Any) -> Any:
    return "" if _ENCODED.intersection(path[-1:]) else value


def _longest_list(value: Any) -> int:
    return max([len(value) if is_list(value) else 0, *(_longest_list(each) for _, each in _inside(value))])


def _with_lists(value: Any, longest: int) -> Any:
    """Return a value whose lists have their first and last elements only."""
    if is_mapping(value):
        return {key: _with_lists(each, longest) for key, each in value.items()}
    if is_list(value):
        last = longest // 2
        kept = value if len(value) <= longest else [*value[: longest - last], *value[-last:]]
        return [_with_lists(each, longest) for each in kept]
    return value
