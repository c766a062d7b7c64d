"""The tool results of a history: their calls, what they are recalled by, and how a model gets them back.

A shortened result says `recall_result("toolu_17")` if the caller said that it can be recalled
(`shorten=Shorten(recall=True)`). The caller offers the tool with `recall_tool`, and answers its calls with `recall`,
from its own whole history: nothing is stored for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any, NamedTuple

from pycupel.errors import InvalidArgumentError
from pycupel.messages.detect import resolve_provider
from pycupel.messages.history import History, uncounted
from pycupel.messages.options import RECALL_TOOL, ProviderName, ResolvedProviderName, checked_list
from pycupel.messages.overlay import Key
from pycupel.messages.parts import MessageView, Part
from pycupel.messages.providers import PROVIDERS
from pycupel.messages.providers._tables import CALL, RESULT, TOOL_SHAPES
from pycupel.model.checks import checked_name, checked_str
from pycupel.shorten import ToolCall
from pycupel.shorten.extracts import call_origin, safe_index, stub_text
from pycupel.shorten.outdated import superseded_by
from pycupel.text import quoted

_ID = re.compile(r"[\w.:|-]{1,200}", re.ASCII)
_ERROR_STARTS = ("error", "exception", "traceback")

# What a result may fill of a window. Without a selection the window is unknown: of most models it is no smaller.
WINDOW_SHARE = 4
_USUAL_WINDOW = 128_000
# The most results that an error lists.
_MOST_LISTED = 10
_LINES = re.compile(r"\s*(\d{1,9})\s*(?:(-)\s*(\d{1,9})?\s*)?", re.ASCII)

_DESCRIPTION = (
    "Return the original text of a tool result that was shortened or left out of the conversation. "
    "Its place names the id to ask for."
)
_PARAMETERS: Mapping[str, tuple[str, str]] = {
    "id": ("string", "The id that stands in place of the result."),
    "lines": ("string", 'Only these lines, such as "200-260".'),
    "match": ("string", "Only the lines that contain this word."),
}


# The results of a history, and their calls.


class Result(NamedTuple):
    """A result of a call."""

    unit: int
    """The index of its unit."""

    key: Key
    """The index of its message, and its number among the results of the message that may be shortened."""

    part: Part
    """The result itself, as it was read."""

    call: ToolCall
    """The call."""

    handle: str
    """What it is recalled by."""

    outdated_at: int | None = None
    """The index of the message whose result outdates it; None if there is none."""

    text: str = ""
    """What it says now."""

    tokens: int = 0
    """What it costs now, images and files included."""

    is_whole: bool = True
    """Whether it has not been shortened yet."""


def answered_calls(views: Iterable[MessageView]) -> Iterator[tuple[MessageView, Part, ToolCall]]:
    """Return each result with its message and its call, which says whether it failed, in message order.

    A call of unknown shape, or of the provider's own tools, equals no other.
    """
    calls: dict[Any, ToolCall] = {}
    for view in views:
        for part in view.parts:
            if part.kind == CALL and part.id is not None:
                # Ids may be used again later.
                calls[part.id] = ToolCall(part.tool, part.arguments)
            elif part.kind == RESULT:
                # Arguments that no other call has, so that nothing supersedes it.
                alone = ToolCall("", {"result": [view.message_index, part.path]})
                yield view, part, calls.get(part.id, alone)._replace(failed=_failed(part))


def _failed(part: Part) -> bool:
    """Whether a call failed. Some providers have no field for it; taking a text for an error only keeps more."""
    return part.failed or result_text(part).lstrip()[:9].lower().startswith(_ERROR_STARTS)


def with_handles(
    results: Iterable[tuple[MessageView, Part, ToolCall]],
) -> Iterator[tuple[str, MessageView, Part, ToolCall]]:
    """Add what each result is recalled by: the id of its call, or a hash of its text.

    The hash is for calls without an id, which are told apart by where they are, and for ids that an earlier result has.
    It depends on nothing after the result, so that it stays the same when the history grows.
    """
    seen: set[str] = set()
    for view, part, call in results:
        is_id = isinstance(part.id, str) and _ID.fullmatch(part.id)
        handle = part.id if is_id and part.id not in seen else ""
        seen.add(handle)
        yield handle or f"r{sha256(result_text(part).encode(errors='replace')).hexdigest()[:8]}", view, part, call


def result_text(part: Part) -> str:
    """Return what the tool said."""
    return part.text if part.said is None else part.said


def find_results(history: History) -> list[Result]:
    """Find all results of a history that may be shortened, in message order."""
    found: list[Result] = []
    for handle, view, part, call in with_handles(answered_calls(history.whole_views)):
        n = view.message_index
        if part.said is not None and history.unit_of[n] not in history.broken:
            # As `results_in` numbers them, which is how a stored selection names them.
            number = found[-1].key[1] + 1 if found and found[-1].key[0] == n else 0
            found.append(Result(history.unit_of[n], (n, number), part, call, handle))
    later = superseded_by([result.call for result in found])
    return [
        result if by is None else result._replace(outdated_at=found[by].key[0])
        for result, by in zip(found, later, strict=True)
    ]


def stub_of(result: Result, recall: str) -> str:
    """Write one line in place of a result, which a tool of this name gives back, if any."""
    handle = _call_of(recall, result) if recall else ""
    return stub_text("result", result.part.said or "", result.tokens, _origin(result), handle)


def with_handle(text: str, result: Result, recall: str) -> str:
    """Add to a shorter text how to get the whole one. JSON stays JSON, and lines of JSON such lines."""
    handle = _call_of(recall, result)
    if handle in text or json.dumps(handle)[1:-1] in text:
        # The text was shortened before.
        return text
    note = f"the whole result: {handle}"
    stripped = text.rstrip()
    with suppress(ValueError, RecursionError):
        # Python refuses to read very long integers.
        whole = json.loads(stripped, parse_int=str)
        key = "..."
        while isinstance(whole, dict) and key in whole:
            key += "."
        member = f'"{key}": {json.dumps(note)}'
        if isinstance(whole, list):
            return f"{stripped[:-1]}{', ' if whole else ''}{{{member}}}]"
        if isinstance(whole, dict):
            return f"{stripped[:-1]}{', ' if whole else ''}{member}}}"
        if isinstance(whole, str) and stripped.startswith('"'):
            return f"{stripped[:-1]} {json.dumps(f'[{note}]')[1:]}"
    with suppress(ValueError, RecursionError):
        json.loads(stripped.rpartition("\n")[2], parse_int=str)
        return f'{stripped}\n{{"...": {json.dumps(note)}}}'
    return f"{stripped}\n[{note}]"


def _call_of(recall: str, result: Result) -> str:
    return f"{recall}({json.dumps(result.handle)})"


def without_media(result: Result) -> str:
    """Replace the images and files of a result by one line."""
    line = stub_text("picture or file", "", result.part.beside, _origin(result))
    return f"{result.part.said}\n{line}" if result.part.said else line


def _origin(result: Result) -> str:
    return call_origin(result.call.name, result.call.arguments) if result.call.name else ""


# Giving them back.


def recall_tool(provider: ResolvedProviderName = "openai", name: str = RECALL_TOOL) -> dict[str, Any]:
    """Return the definition of the tool that gives shortened results back, in the provider's shape.

    Args:
        provider: openai, responses, anthropic, gemini, mistral, converse or interactions.
        name: The name of the tool: the one in `Shorten(recall=...)`.

    Raises:
        TypeError: the name is not a str.
        InvalidArgumentError: there is no such provider.
    """
    shape = TOOL_SHAPES[checked_name("provider", provider, tuple(PROVIDERS))]
    properties = {key: {"type": kind, "description": text} for key, (kind, text) in _PARAMETERS.items()}
    schema = {"type": "object", "properties": properties, "required": ["id"]}
    return shape({"name": checked_str("name", name), "description": _DESCRIPTION, "parameters": schema})


def recall(
    messages: Iterable[Any],
    id: str,  # noqa: A002 - the name of the tool's argument, so that a call's arguments can be passed as they are
    *,
    provider: ProviderName = "auto",
    lines: str | None = None,
    match: str | None = None,
) -> str:
    """Return the original text of a result that was shortened: the answer to a call of `recall_tool`.

    At most a quarter of a window is returned; a last line then says what is left, and how to ask for it.

    Args:
        messages: Your whole history, not the selected messages.
        id: What stands in place of the result: the id of its call, or a hash of its text.
        provider: openai, responses, anthropic, gemini, mistral, converse or interactions; auto detects it.
        lines: Only these lines, from 1 on: "200-260", "200-" or "200".
        match: Only the lines that contain this word, in any case, each with its number.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidArgumentError: there is no such result or provider, or `lines` is no range of lines.
        MessageShapeError: a message has a shape that the provider does not know.
        ProviderAmbiguousError: the provider is "auto" and cannot be determined.
    """
    from pycupel.tokens.estimate import estimate_tokens  # noqa: PLC0415 - a selection has its own counter

    return recall_within(_USUAL_WINDOW, estimate_tokens, messages, id, provider, lines, match)


def recall_within(
    window: int,
    count: Callable[[str], int],
    messages: Iterable[Any],
    handle: str,
    provider: ProviderName,
    lines: str | None,
    match: str | None,
) -> str:
    """Do what `recall` does, for a window of this many tokens."""
    history, handle = checked_list("messages", messages), checked_str("id", handle)
    # Nothing here needs the prices.
    views = resolve_provider(history, provider).read(history, uncounted)
    results = list(with_handles(answered_calls(views)))
    text = next((result_text(part) for name, _, part, _ in results if name == handle), None)
    if text is None:
        listed = [f"{name} ({call_origin(call.name, call.arguments)})" for name, _, _, call in results[-_MOST_LISTED:]]
        known = f"the newest ones are {', '.join(listed)}" if listed else "there are none"
        raise InvalidArgumentError(f"no result has the id {quoted(handle)}; {known}", argument="id", value=handle)
    numbered = list(enumerate(text.splitlines(), 1))
    if lines is not None:
        first, last = _range(lines, len(numbered))
        numbered = numbered[first - 1 : last]
    word = ""
    if match is not None:
        word = checked_str("match", match).casefold()
        numbered = [(number, f"{number}: {line}") for number, line in numbered if word in line.casefold()]
        if not numbered:
            return f"[no line contains {quoted(match)}]"
    elif lines is None and count(text) <= window // WINDOW_SHARE:
        return text
    return _within(numbered, window // WINDOW_SHARE, count, word)


def recall_or_say(
    window: int,
    count: Callable[[str], int],
    messages: Iterable[Any],
    provider: ProviderName,
    arguments: Mapping[str, Any],
) -> str:
    """Answer a call of the tool for a hook. What is wrong is said as text: an exception in a tool stops the agent."""
    # Some models fill in what they could leave out.
    lines, match = (arguments.get(name) or None for name in ("lines", "match"))
    try:
        return recall_within(window, count, messages, arguments.get("id") or "", provider, lines, match)
    except (InvalidArgumentError, TypeError) as error:
        return str(error)


def _range(lines: str, most: int) -> tuple[int, int]:
    """Return the first and the last of some lines."""
    found = _LINES.fullmatch(checked_str("lines", lines))
    first = int(found[1]) if found else 0
    last = 0 if found is None else int(found[3]) if found[3] else most if found[2] else first
    if not 1 <= first <= last or first > most:
        raise InvalidArgumentError(
            f'lines must be a range such as "200-260" within the {most:,} lines of the result, not {quoted(lines)}',
            argument="lines",
            value=lines,
        )
    return first, last


def _within(numbered: Sequence[tuple[int, str]], limit: int, count: Callable[[str], int], word: str) -> str:
    """Join as many lines as fit, and say which ones are left."""
    shown: list[str] = []
    tokens = 0
    last = numbered[-1][0] if numbered else 0
    for number, text in numbered:
        # The end of the line is a token at most.
        tokens += count(text) + 1
        if tokens <= limit:
            shown.append(text)
            continue
        left = f'lines {number}-{last} are left; ask for them with lines="{number}-{last}" or match'
        if not shown:
            # One line may be all that there is: JSON, or a page without line ends. It is cut around the word.
            size = max(1, len(text) * limit // tokens)
            start = safe_index(text, max(0, text.casefold().find(word) - size // 2))
            shown = [text[start : safe_index(text, start + size)]]
            left = f"{len(text) - len(shown[0]):,} more characters of line {number} are left; ask for others with match"
            left += f', and for what follows with lines="{number + 1}-{last}"' if number < last else ""
        return "\n".join([*shown, f"[{left}]"])
    return "\n".join(shown)
