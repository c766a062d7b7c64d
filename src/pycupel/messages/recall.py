"""Give back what was shortened: the tool that a model calls for it, and the function that answers.

A shortened result says `recall_result("toolu_17")` if the caller said that it can be recalled
(`shorten=Shorten(recall=True)`). The caller offers the tool with `recall_tool`, and answers its calls with `recall`,
from its own whole history: nothing is stored for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from pycupel.errors import InvalidArgumentError
from pycupel.messages.detect import resolve_provider
from pycupel.messages.options import RECALL_TOOL, ProviderName, ResolvedProviderName, checked_list
from pycupel.model.checks import checked_name, checked_str
from pycupel.text import quoted

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

# How each provider wants the definition of a tool, made from the form in which its schema is called "parameters".
_Shape: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
_SHAPES: Mapping[ResolvedProviderName, _Shape] = {
    "openai": lambda tool: {"type": "function", "function": tool},
    "mistral": lambda tool: {"type": "function", "function": tool},
    # Strict schemas, the default there, have no optional properties.
    "responses": lambda tool: {"type": "function", **tool, "strict": False},
    "interactions": lambda tool: {"type": "function", **tool},
    "gemini": lambda tool: {"function_declarations": [tool]},
    "anthropic": lambda tool: {"input_schema" if key == "parameters" else key: tool[key] for key in tool},
    "converse": lambda tool: {
        "toolSpec": {
            "name": tool["name"],
            "description": tool["description"],
            "inputSchema": {"json": tool["parameters"]},
        }
    },
}


def recall_tool(provider: ResolvedProviderName = "openai", name: str = RECALL_TOOL) -> dict[str, Any]:
    """Return the definition of the tool that gives shortened results back, in the provider's shape.

    Args:
        provider: openai, responses, anthropic, gemini, mistral, converse or interactions.
        name: The name of the tool: the one in `Shorten(recall=...)`.

    Raises:
        TypeError: the name is not a str.
        InvalidArgumentError: there is no such provider.
    """
    shape = _SHAPES[checked_name("provider", provider, tuple(_SHAPES))]
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
    # Few callers shorten results.
    from pycupel.messages.shortening import answered_calls, result_text, with_handles  # noqa: PLC0415
    from pycupel.shorten.extracts import call_origin  # noqa: PLC0415

    history = checked_list("messages", messages)
    # Counting would take longest, and nothing here needs the prices.
    views = resolve_provider(history, provider).read(history, _nothing)
    results = list(with_handles(answered_calls(views)))
    text = next((result_text(part) for name, _, part, _ in results if name == checked_str("id", handle)), None)
    if text is None:
        listed = [f"{name} ({call_origin(call.name, call.arguments)})" for name, _, _, call in results[-_MOST_LISTED:]]
        known = f"the newest ones are {', '.join(listed)}" if listed else "there are none"
        raise InvalidArgumentError(f"no result has the id {quoted(handle)}; {known}", argument="id", value=handle)
    numbered = list(enumerate(text.splitlines(), 1))
    if lines is not None:
        first, last = _range(lines, len(numbered))
        numbered = numbered[first - 1 : last]
    if match is not None:
        word = checked_str("match", match).casefold()
        numbered = [(number, line) for number, line in numbered if word in line.casefold()]
        if not numbered:
            return f"[no line contains {quoted(match)}]"
    elif lines is None and count(text) <= window // WINDOW_SHARE:
        return text
    return _within(numbered, window // WINDOW_SHARE, count, is_match=match is not None)


def _nothing(_text: str) -> int:
    return 0


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


def _within(numbered: Sequence[tuple[int, str]], limit: int, count: Callable[[str], int], *, is_match: bool) -> str:
    """Join as many lines as fit, and say which ones are left."""
    from pycupel.shorten.extracts import safe_index  # noqa: PLC0415 - few callers shorten results

    shown: list[str] = []
    tokens = 0
    for number, line in numbered:
        text = f"{number}: {line}" if is_match else line
        # The end of the line is a token at most.
        tokens += count(text) + 1
        if tokens > limit:
            left = f"lines {number}-{numbered[-1][0]} are left"
            if not shown:
                # One line may be all that there is: JSON, or a page without line ends.
                end = safe_index(text, max(1, len(text) * limit // tokens))
                shown.append(text[:end])
                left = f"{len(text) - end:,} more characters of line {number}, and what follows it, are left"
            return "\n".join([*shown, f'[{left}; ask for them with lines="{number}-{numbered[-1][0]}" or match]'])
        shown.append(text)
    return "\n".join(shown)
