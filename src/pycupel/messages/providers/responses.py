"""OpenAI Responses: a list of items; reasoning, calls and results are items of their own, linked by call ids.

Results may come anywhere after their call. Consecutive model output, and all output until its calls are
answered, stays together with its reasoning, because the API requires an item and its reasoning, or neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from pycupel.errors import MessageShapeError
from pycupel.fields import field, is_filled, text_of
from pycupel.messages.parts import MessageView, PartReader, view_of
from pycupel.messages.providers._base import (
    COMPACTION,
    ERROR,
    LASTING,
    WARNING,
    Finding,
    Pairing,
    Provider,
    Rule,
    one_by_one,
)
from pycupel.messages.providers._rules import (
    EMPTY_TEXT,
    OPEN,
    ORPHAN,
    PAIRING_RULES,
    REPEATED,
    UNANSWERED,
    UNKNOWN_TYPE,
    duplicate_tool,
    has_empty_text,
    repeated_calls,
)
from pycupel.messages.providers._shapes import (
    InOrder,
    PendingCall,
    UnknownNameError,
    check_content,
    id_of,
    message_in,
    role_of,
)
from pycupel.messages.providers._tables import ITEM_TYPES, Meaning
from pycupel.messages.providers.openai import EXCESS_BREAKPOINTS, PRICES, breakpoints
from pycupel.text import describe, quoted

_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}

_OUTPUT = "function_call_output"

# A lost reasoning item cannot be detected.
_WITHOUT_ITEM = Rule(
    "reasoning-without-item",
    ERROR,
    "reasoning is followed by the item that it led to",
    "the reasoning is not followed by the item that it led to",
    "Put the message or the call that it led to directly after it, or drop it.",
)


def _pending_calls(item: Any, _index: int) -> list[PendingCall]:
    call_id = text_of(item, "call_id")
    is_call = text_of(item, "type") == "function_call" and call_id
    return [PendingCall(call_id, text_of(item, "name"), has_id=True)] if is_call else []


def _result(item: Any) -> tuple[str, str] | None:
    is_output = text_of(item, "type") == _OUTPUT
    return (text_of(item, "call_id"), text_of(item, "name")) if is_output else None


def _read(item: Any, index: int, reader: PartReader, order: InOrder) -> MessageView:
    kind = field(item, "type")
    if kind is None and field(item, "role") is None and field(item, "id") is not None and message_in(item) is None:
        kind = "item_reference"
    marks: tuple[str, ...] = ()
    if kind is not None and not isinstance(kind, str):
        raise MessageShapeError(f"must be a string naming the item's type, not {describe(kind)}", index, "type")
    if kind is None or kind == "message":
        role = role_of(item, index, _ROLES)
        content = field(item, "content")
        check_content(content, index, required=True)
        marks = (EMPTY_TEXT.id,) if has_empty_text(content) else ()
        marks += breakpoints(content)
        # Calls and results are items of their own: one inside a message pairs with nothing.
        parts = [part if part.id is None else part._replace(id=None) for part in reader(item)]
    else:
        meaning = ITEM_TYPES.get(kind)
        if meaning is None:
            raise UnknownNameError(kind)
        role = _role(item, kind, meaning, index)
        marks = (LASTING,) if meaning.lasting else breakpoints(field(item, "output")) if meaning.role == "tool" else ()
        if kind == "compaction" and is_filled(field(item, "encrypted_content")):
            marks += (COMPACTION,)
        parts = reader(item)
        if role == "tool" and parts[0].id is None:
            # A function's output may name the function instead of the call.
            named = f"{text_of(item, 'name')} ({index})".lstrip()
            parts[0] = parts[0]._replace(id=order.answered(index) or named)
    return view_of(index, role, parts, reader.overhead, marks)


def _role(item: Any, kind: str, meaning: Meaning, index: int) -> str:
    """Return who speaks, and check the id by which a call and its result belong together."""
    found = None
    for name in meaning.ids:
        found = field(item, name) if found is None else found
    if meaning.needs_id or found is not None:
        id_of(found, index, meaning.ids[0])
    # A result without an id answers a call of the provider's own, unless it may name its function instead.
    is_own = meaning.role == "tool" and found is None and kind != _OUTPUT
    return "assistant" if is_own else meaning.role


def _dangling(views: Sequence[MessageView]) -> Iterator[MessageView]:
    """Find reasoning items that no other model output follows."""
    run: list[MessageView] = []
    for view in views:
        if view.reasoning:
            run.append(view)
            continue
        if view.role != "assistant":
            yield from run
        run.clear()
    yield from run


class _Pairs:
    """Collects the groups of a history, item by item."""

    def __init__(self, views: Sequence[MessageView]) -> None:
        self.groups: list[list[int]] = []
        self.findings: list[Finding] = []
        self._answers = {each: view.message_index for view in reversed(views) for each in view.results}
        self._used: set[str] = set()
        self._waiting: dict[str, tuple[int, list[int]]] = {}
        # The model may add to the group until the last of its calls is answered.
        self._group: list[int] | None = None
        self._until = -1

    def speak(self, view: MessageView) -> None:
        if self._group is None:
            self.alone(view)
            self._group = self.groups[-1]
            self._until = -1
        else:
            self._group.append(view.message_index)
        self.findings += repeated_calls(view, self._used)
        for each in view.calls:
            self._waiting.setdefault(each, (view.message_index, self._group))
            self._until = max(self._until, self._answers.get(each, -1))

    def answer(self, view: MessageView) -> None:
        for each in view.results:
            if each in self._waiting:
                self._waiting.pop(each)[1].append(view.message_index)
            else:
                self.groups.append([view.message_index])
                self.findings.append((REPEATED if each in self._used else ORPHAN).at(view.message_index, quoted(each)))
        if view.message_index >= self._until:
            self._group = None

    def alone(self, view: MessageView) -> None:
        self.groups.append([view.message_index])
        self._group = None

    def finish(self, last: int) -> Pairing:
        """Finish. Calls made together with `last`, the last item that is not a result, may still be answered."""
        newest = next((group for group in reversed(self.groups) if last in group), None)
        for each, (index, group) in self._waiting.items():
            self.findings.append((OPEN if group is newest else UNANSWERED).at(index, quoted(each)))
        return self.groups, self.findings


def pair_items(views: Sequence[MessageView], *, thoughts_need_items: bool = True) -> Pairing:
    """Group model output with the results of its calls, which may come anywhere after them."""
    dangling = {view.message_index for view in _dangling(views)} if thoughts_need_items else set[int]()
    pairs = _Pairs(views)
    pairs.findings += map(_WITHOUT_ITEM.at, sorted(dangling))
    last = -1
    for view in views:
        if view.results:
            pairs.answer(view)
            continue
        last = view.message_index
        if view.role == "assistant" and view.message_index not in dangling:
            pairs.speak(view)
        else:
            pairs.alone(view)
    return pairs.finish(last)


RESPONSES = Provider(
    "responses",
    one_by_one(_read, partial(InOrder, calls_of=_pending_calls, result_of=_result, adjacent=False)),
    pair_items,
    (*PAIRING_RULES, _WITHOUT_ITEM),
    (EMPTY_TEXT,),
    prices=PRICES,
    request_rules=(UNKNOWN_TYPE, EXCESS_BREAKPOINTS),
    beside_rules=(duplicate_tool(WARNING),),
)
