"""The content of a framework's messages, and how each provider writes it.

A framework has one message format for all providers, and converts it to the provider's when it sends messages. The
hooks do the same for the selection, so that the provider's rules apply.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from pycupel.fields import field, filled, is_mapping
from pycupel.messages.options import ResolvedProviderName
from pycupel.messages.overlay import read_results
from pycupel.messages.providers import PROVIDERS
from pycupel.model.checks import wrong_type

Role = Literal["system", "user", "assistant", "tool"]


class Call(NamedTuple):
    """A tool call: its id, the name of the tool, and the arguments as JSON or as a structure."""

    id: str | None
    name: str
    arguments: Any


class MessagePart(NamedTuple):
    """A message, or a part of one that is kept or dropped on its own."""

    role: Role
    """"system", "user", "assistant" or "tool"."""

    blocks: Sequence[Any] = ()
    """Its content: dicts with a type, as OpenAI and Anthropic have them."""

    calls: Sequence[Call] = ()
    """The calls that it makes."""

    answers: str | None = None
    """The id of the call whose result it is; None if the call has no id."""

    tool: str = ""
    """The name of the tool whose result it is."""

    failed: bool = False
    """Whether it is a result that reports an error."""

    wrapped: bool = False
    """Whether the library sends it as `{"error": ...}` to providers whose results cannot be marked as errors."""

    name: str = ""
    """The name that is sent with it, where the provider's messages have names."""


class Written(NamedTuple):
    """A message in a provider's shape, and the indices of the parts that it is made of."""

    shape: dict[str, Any]
    origins: list[int]

    def part(self, origin: int, shape: dict[str, Any]) -> dict[str, Any]:
        """Return a message of this shape with only one of its results, which are the first in a message."""
        if len(self.origins) == 1:
            return shape
        name = "parts" if "parts" in shape else "content"
        return {**shape, name: [shape[name][self.origins.index(origin)]]}


def text(value: object) -> dict[str, Any]:
    """Make a block of text. Some libraries' texts are subclasses of str; this one is plain."""
    return {"type": "text", "text": str(value)}


def thought(value: str, signature: str | None) -> dict[str, Any]:
    """Make a block of thinking; without its signature, a provider reads it as text or not at all."""
    return {"type": "thinking", "thinking": value, "signature": signature} if signature else text(value)


# As the frameworks name them; whoever has another name is the user.
_ROLES: dict[Any, Any] = {
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("assistant", "ai", "model", "chatbot"), "assistant"),
    **dict.fromkeys(("tool", "function"), "tool"),
}


def role_named(name: Any) -> Role:
    """Return who speaks in messages of this role."""
    role: Role = _ROLES.get(name, "user")
    return role


def openai_call(call: Any) -> Call:
    """Read a call of OpenAI's shape."""
    # A custom tool has an input in place of arguments.
    called = filled(call, "function", "custom")
    return Call(field(call, "id"), field(called, "name") or "", filled(called, "arguments", "input") or {})


def openai_part(message: Any) -> MessagePart:
    """Read a message of OpenAI's shape, whoever it is sent to: a dict, or an object that a library returned."""
    shape: Any = message
    if not is_mapping(shape):
        if not hasattr(message, "model_dump"):
            raise wrong_type("every message", "a dict or an object of the library", message)
        shape = message.model_dump(exclude_none=True)
    content = shape.get("content") or ()
    blocks: list[Any] = [text(content)] if isinstance(content, str) else list(content)
    calls = list(map(openai_call, shape.get("tool_calls") or ()))
    role = role_named(shape.get("role"))
    # Claude's thinking, as LiteLLM returns it.
    thinking = shape.get("thinking_blocks") or () if role == "assistant" else ()
    name = shape.get("name") or ""
    return MessagePart(role, [*thinking, *blocks], calls, shape.get("tool_call_id"), tool=name, name=name)


def system_of(parts: Iterable[MessagePart], provider: ResolvedProviderName) -> list[Any]:
    """Return the blocks of the system prompts that the provider takes beside the messages."""
    if not PROVIDERS[provider].system_beside:
        return []
    return [block for each in parts if each.role == "system" for block in each.blocks]


def written_for(provider: ResolvedProviderName, parts: Sequence[MessagePart]) -> list[Written]:
    """Write the messages that the provider would get, without system prompts that it takes elsewhere."""
    named = _with_ids(parts)
    if provider == "anthropic":
        return list(map(_as_anthropic, _in_turns(named, results_together=False)))
    if provider == "gemini":
        return list(map(_as_gemini, _in_turns(named, results_together=True)))
    if provider == "converse":
        return list(map(_as_converse, _in_turns(named, results_together=True, alternating=True)))
    if provider == "interactions":
        # Consecutive steps of the model stay or go together, so what one part becomes does, too.
        return [Written(step, [n]) for n, each in enumerate(named) for step in _as_steps(each)]
    # The others have OpenAI's shape.
    return [Written(_as_openai(each), [n]) for n, each in enumerate(named)]


def shorter_results(written: Written, copy: Any, parts: Sequence[MessagePart]) -> Iterator[tuple[int, int, str]]:
    """Find the results that are shorter in a copy of a message: their part, their number in it, and their text."""
    pairs = zip(read_results(written.shape), read_results(copy), strict=True)
    for number, (before, after) in enumerate(pairs):
        if before != after and parts[written.origins[0]].role == "tool":
            yield written.origins[number], 0, after.said or ""
        elif before != after:
            # Some libraries let messages hold the provider's own blocks.
            yield written.origins[0], number, after.said or ""


def _with_ids(parts: Sequence[MessagePart]) -> list[MessagePart]:
    """Give an id to each call without one, and to its result: the next one without an id."""
    named: list[MessagePart] = []
    waiting: list[str] = []
    for n, each in enumerate(parts):
        if each.role == "tool":
            answers = each.answers or (waiting.pop(0) if waiting else f"unknown{n}")
            named.append(each._replace(answers=answers))
            continue
        calls = [call if call.id else call._replace(id=f"{call.name}{n}.{m}") for m, call in enumerate(each.calls)]
        waiting = [str(new.id) for new, old in zip(calls, each.calls, strict=True) if not old.id]
        named.append(each._replace(calls=calls))
    return named


def _in_turns(
    parts: Sequence[MessagePart], *, results_together: bool, alternating: bool = False
) -> Iterator[list[tuple[int, MessagePart]]]:
    """Group what becomes one message: consecutive assistant output and, for some providers, all results of calls.

    If roles must alternate, what the user says joins what was said before, and the results before it.
    """
    group: list[tuple[int, MessagePart]] = []
    pending: set[str | None] = set()
    for n, each in enumerate(parts):
        if each.role == "system":
            continue
        before = group[-1][1] if group else None
        joins = before is not None and before.role == each.role == "assistant"
        if each.role == "tool" and results_together:
            # A result that matches no call stays alone, so that it does not affect the others.
            joins = before is not None and before.role == "tool" and {each.answers, before.answers} <= pending
        if each.role == "user" and alternating and before is not None:
            joins = before.role == "user" or before.answers in pending
        if each.role == "assistant":
            if not joins:
                pending.clear()
            pending |= {call.id for call in each.calls}
        if joins:
            group.append((n, each))
            continue
        if group:
            yield group
        group = [(n, each)]
    if group:
        yield group


def _as_openai(each: MessagePart) -> dict[str, Any]:
    name = {"name": each.name} if each.name else {}
    if each.role == "tool" and each.wrapped:
        # Gemini's shape of a result is one that is counted as JSON, and whose text can still be shortened.
        return {"role": "tool", "tool_call_id": each.answers, "parts": [{"function_response": _response(each)}]}
    if each.role == "tool":
        result = {"role": "tool", "tool_call_id": each.answers, "content": list(each.blocks) or "", **name}
        return {**result, "status": "error"} if each.failed else result
    # An assistant that only makes calls has no content.
    nothing = None if each.role == "assistant" else ""
    shape: dict[str, Any] = {"role": each.role, "content": list(each.blocks) or nothing, **name}
    if each.calls:
        shape["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in each.calls
        ]
    return shape


def _as_anthropic(group: Sequence[tuple[int, MessagePart]]) -> Written:
    origins = [n for n, _ in group]
    first = group[0][1]
    if first.role == "tool":
        result: dict[str, Any] = {"type": "tool_result", "tool_use_id": first.answers}
        result["content"] = _not_empty(first.blocks)
        if first.failed:
            result["is_error"] = True
        return Written({"role": "user", "content": [result]}, origins)
    content: list[Any] = []
    for _, each in group:
        content += _not_empty(each.blocks)
        content += (
            {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in each.calls
        )
    return Written({"role": first.role, "content": content}, origins)


def _not_empty(blocks: Iterable[Any]) -> list[Any]:
    """Leave out empty texts, which Anthropic rejects, as libraries do."""
    return [block for block in blocks if block.get("type") != "text" or str(block.get("text", "")).strip()]


def _as_gemini(group: Sequence[tuple[int, MessagePart]]) -> Written:
    parts: list[Any] = []
    for _, each in group:
        if each.role == "tool":
            name = {"id": each.answers, "name": each.tool or "tool"}
            parts.append({"function_response": {**name, **_response(each)}})
            continue
        parts += map(_as_part, each.blocks)
        parts += ({"function_call": {"id": call.id, "name": call.name, "args": call.arguments}} for call in each.calls)
    role = "model" if group[0][1].role == "assistant" else "user"
    return Written({"role": role, "parts": parts}, [n for n, _ in group])


def _as_converse(group: Sequence[tuple[int, MessagePart]]) -> Written:
    content: list[Any] = []
    for _, each in group:
        blocks = list(map(_as_part, _not_empty(each.blocks)))
        if each.role == "tool":
            result: dict[str, Any] = {"toolUseId": each.answers, "content": blocks}
            content.append({"toolResult": {**result, "status": "error"} if each.failed else result})
            continue
        content += blocks
        content += (
            {"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.arguments}} for call in each.calls
        )
    role = "assistant" if group[0][1].role == "assistant" else "user"
    return Written({"role": role, "content": content}, [n for n, _ in group])


def _as_steps(each: MessagePart) -> Iterator[dict[str, Any]]:
    if each.role == "tool":
        name = {"call_id": each.answers, "name": each.tool or "tool"}
        yield {"type": "function_result", **name, "result": list(each.blocks), "is_error": each.failed}
    elif each.role == "user":
        yield {"type": "user_input", "content": list(each.blocks)}
    elif each.role == "assistant":
        if each.blocks or not each.calls:
            yield {"type": "model_output", "content": list(each.blocks)}
        for call in each.calls:
            yield {"type": "function_call", "id": call.id, "name": call.name, "arguments": call.arguments}


def _response(each: MessagePart) -> dict[str, Any]:
    content = "\n".join(block["text"] for block in each.blocks if block.get("type") == "text")
    shape: dict[str, Any] = {"response": {"error" if each.failed else "result": content}}
    others = [block for block in each.blocks if block.get("type") != "text"]
    return {**shape, "parts": others} if others else shape


def _as_part(block: Any) -> Any:
    """Convert a text to the shape of Gemini and Converse. Anything else is read by its type."""
    return {"text": block["text"]} if block.get("type") == "text" else block
