"""Gemini: contents with parts, alternating between model and user, and calls that need no ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pycupel.errors import MessageShapeError
from pycupel.fields import field, filled, is_mapping
from pycupel.messages.parts import MessageView, Part, PartReader, view_of
from pycupel.messages.providers._base import ERROR, Finding, Pairing, Provider, Rule, unknown_view
from pycupel.messages.providers._rules import (
    EMPTY_TEXT,
    ENDS_WITH_ASSISTANT,
    FIRST_NOT_USER,
    ORPHAN,
    PAIRING_RULES,
    REPEATED,
    UNKNOWN_TYPE,
    duplicate_tool,
    empty_message,
    merge_spans,
    pair_adjacent,
)
from pycupel.messages.providers._shapes import (
    PendingCall,
    PendingCalls,
    UnknownNameError,
    entries,
    id_of,
    message_in,
    role_of,
    unknown_name,
)
from pycupel.messages.providers._tables import FUNCTION_CALLS, FUNCTION_RESPONSES, SIDE, SIGNATURES, UNKNOWN, Prices
from pycupel.text import describe, quoted

_ROLES = {"user": "user", "model": "assistant", "function": "user", "tool": "user"}
_CALLS, _RESULTS = (frozenset((name,) for name in names) for names in (FUNCTION_CALLS, FUNCTION_RESPONSES))

# Marks, before the id of a call: a response to it announces others.
_CONTINUES = "continues "

_EMPTY_MESSAGE = empty_message("text nor other parts")
_EMPTY_PART = Rule(
    "empty-part",
    ERROR,
    "a part holds data",
    "the message has an empty part",
    "Remove the part, or the whole message.",
)


def _read(messages: Sequence[Any], reader: PartReader, start: int) -> list[MessageView]:
    views: list[MessageView] = []
    pending = PendingCalls()
    # Results are matched to their calls, so calls before the start are read again.
    first = _last_calls(messages, start)
    for index, message in enumerate(messages[first:], first):
        try:
            role = _role(message, index)
        except UnknownNameError as error:
            views.append(unknown_view(message, index, reader, error))
            continue
        given = _parts(message, role, index)
        parts = reader(message)
        named, answers = _CALLS if role == "assistant" else _RESULTS, 0
        calls: list[PendingCall] = []
        marks = tuple(_marks(given))
        for n, part in enumerate(parts):
            # Only calls of the model and results of the user have ids; everything else has none.
            own: str | None = None
            if part.path[2:] in named and role == "assistant":
                calls.append(_call(part, index))
                own = calls[-1].id
            elif part.path[2:] in named:
                response = filled(given[int(part.path[1])], *FUNCTION_RESPONSES)
                continues = True in (field(response, "will_continue"), field(response, "willContinue"))
                own = _answered(part, pending, index, is_last=not continues)
                answers += 1
                marks += (_CONTINUES + own,) if continues else ()
            if part.id is not own:
                parts[n] = part._replace(id=own)
        pending = PendingCalls(calls) if calls else pending
        others = len(given) - sum([part.kind == UNKNOWN for part in parts])
        speaker = "tool" if answers and answers == others else role
        views.append(view_of(index, speaker, parts, reader.overhead, marks))
    return views[start - first :]


def _call(part: Part, index: int) -> PendingCall:
    n = part.path[1]
    name = id_of(part.tool or None, index, f"parts[{n}].function_call.name")
    call_id = part.id if isinstance(part.id, str) else ""
    return PendingCall(call_id or f"{name} ({index}.{n})", name, bool(call_id))


def _answered(part: Part, pending: PendingCalls, index: int, *, is_last: bool) -> str:
    """Return the id of the call that a result answers, and remove it from the pending ones."""
    result_id = part.id if isinstance(part.id, str) else ""
    call = pending.answer(result_id, part.tool, is_last=is_last)
    if call is not None:
        return call.id
    return id_of(result_id or part.tool or None, index, f"parts[{part.path[1]}].function_response.name")


def _last_calls(messages: Sequence[Any], end: int) -> int:
    """Return the index of the last message before `end` that makes calls; `end` if there is none."""
    for index in range(end - 1, -1, -1):
        if unknown_name(messages[index]):
            continue
        role = _role(messages[index], index)
        parts = _parts(messages[index], role, index) if role == "assistant" else ()
        if any(field(part, name) is not None for part in parts for name in FUNCTION_CALLS):
            return index
    return end


def _role(message: Any, index: int) -> str:
    has_parts_only = field(message, "role") is None and field(message, "parts") is not None
    if has_parts_only and message_in(message) is None and not unknown_name(message):
        return "user"
    return role_of(message, index, _ROLES, hint="Instructions go into config.system_instruction.")


def _parts(message: Any, role: str, index: int) -> Sequence[Any]:
    parts = field(message, "parts")
    if isinstance(parts, str):
        return (parts,)
    if parts is None and role == "assistant" and field(message, "content") is None:
        # The model may return no parts.
        return ()
    parts = entries(parts, index, "parts")
    for n, part in enumerate(parts):
        if not isinstance(part, str) and not is_mapping(part) and not hasattr(part, "text"):
            is_pydantic_ai = hasattr(part, "part_kind")
            raise MessageShapeError(
                f"must be a Gemini part, not {describe(part)}",
                index,
                f"parts[{n}]",
                hint="Pydantic AI has a hook of its own: CupelHistory." if is_pydantic_ai else None,
            )
    return parts


def _marks(parts: Sequence[Any]) -> Iterator[str]:
    if not parts:
        yield _EMPTY_MESSAGE.id
    if any(map(_is_empty, parts)):
        yield _EMPTY_PART.id
    if any(map(_has_empty_text, parts)):
        yield EMPTY_TEXT.id


def _is_empty(part: Any) -> bool:
    """Whether no field has data. Only dicts and objects with a `__dict__` are inspected."""
    members = part if is_mapping(part) else getattr(part, "__dict__", None)
    return members is not None and all(value is None or name in SIDE for name, value in members.items())


def _has_empty_text(part: Any) -> bool:
    """Whether a part has an empty text; not if it has a signature, because the model sends it and requires it back."""
    if isinstance(part, str):
        return not part
    text = field(part, "text")
    return isinstance(text, str) and not text and filled(part, *SIGNATURES) is None


def _pair(views: Sequence[MessageView]) -> Pairing:
    """Group calls with their results. If a response announces others, add everything up to the last of them."""
    groups, findings = pair_adjacent(views, one_message=True)
    announced: dict[str, int] = {}
    spans: dict[int, int] = {}
    awaited = set[Finding]()
    for view in views:
        more = {each.removeprefix(_CONTINUES) for each in view.marks if each.startswith(_CONTINUES)}
        for each in view.results:
            if each in announced or each in more:
                spans[announced.setdefault(each, view.message_index)] = view.message_index
                awaited |= {rule.at(view.message_index, quoted(each)) for rule in (ORPHAN, REPEATED)}
    findings = [finding for finding in findings if finding not in awaited]
    return merge_spans(groups, spans) if spans else groups, findings


def _between_calls(views: Sequence[MessageView]) -> Iterator[tuple[int]]:
    """Find model messages between a call and the user message or results that it must directly follow."""
    run: list[int] = []
    for view in views:
        if view.role == "assistant" and not view.calls:
            run.append(view.message_index)
            continue
        if view.calls:
            yield from ((index,) for index in run)
        run.clear()


_CALL_AFTER_MODEL = Rule(
    "call-after-model",
    ERROR,
    "a call follows a user message or results",
    "a model message separates a function call from the user message or results it must follow",
    "Make it a part of the message with the call, or drop it.",
    _between_calls,
)


PRICES = Prices(message=2, call=12, image=1120, small_image=280, audio=3200)

GEMINI = Provider(
    "gemini",
    _read,
    _pair,
    PAIRING_RULES,
    (_EMPTY_MESSAGE, EMPTY_TEXT, _EMPTY_PART),
    (FIRST_NOT_USER, _CALL_AFTER_MODEL, ENDS_WITH_ASSISTANT),
    prices=PRICES,
    request_rules=(UNKNOWN_TYPE,),
    beside_rules=(duplicate_tool(ERROR),),
    system_beside=True,
    typical_model="gemini",
)
