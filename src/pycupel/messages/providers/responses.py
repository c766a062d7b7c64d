"""OpenAI Responses: a list of items; reasoning, calls and results are items of their own, linked by call ids.

Results may come anywhere after their call. Consecutive model output, and all output until its calls are
answered, stays together with its reasoning, because the API requires an item and its reasoning, or neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pycupel.errors import MessageShapeError
from pycupel.messages.content import ContentReader
from pycupel.messages.fields import field
from pycupel.messages.providers._base import LASTING, Finding, MessageView, Pairing, Provider, one_by_one
from pycupel.messages.providers._pairing import orphan, repeated, repeated_calls, unanswered, waiting
from pycupel.messages.providers._rules import EMPTY_TEXT, EMPTY_TEXT_FAULT, faults_by_mark, has_empty_text
from pycupel.messages.providers._shapes import check_content, id_of, message_in, role_of
from pycupel.messages.providers.openai import PRICES
from pycupel.text import describe, quoted

__all__ = ["RESPONSES"]

_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}

# These change how everything after them is read, so they stay, like instructions do.
_LASTING = frozenset({"additional_tools", "compaction", "compaction_trigger", "configuration_update"})
_SPOKEN = frozenset({"reasoning", "program", "item_reference", "mcp_list_tools", "mcp_approval_request"})


def _read(item: Any, index: int, content: ContentReader) -> MessageView:
    kind = field(item, "type")
    if kind is None and field(item, "role") is None and field(item, "id") is not None and message_in(item) is None:
        kind = "item_reference"
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    if kind is not None and not isinstance(kind, str):
        raise MessageShapeError(f"must be a string naming the item's type, not {describe(kind)}", index, "type")
    if kind is None or kind == "message":
        role = role_of(item, index, _ROLES)
        check_content(field(item, "content"), index, required=True)
        marks = (EMPTY_TEXT,) if has_empty_text(field(item, "content")) else ()
    elif kind in _LASTING:
        role, marks = "system", (LASTING,)
    elif kind.endswith(("_output", "_response")):
        results = tuple(_result_id(item, kind, index))
        role = "tool" if results else "assistant"
    elif kind in _SPOKEN or kind.endswith("_call"):
        role, calls = "assistant", tuple(_call_id(item, kind, index))
    else:
        raise MessageShapeError(f"unknown item type {quoted(kind)}", index, "type")
    return MessageView(
        index, role, *content(item), calls, results, role == "user", kind == "reasoning", marks, content.shares
    )


def _result_id(item: Any, kind: str, index: int) -> Iterator[str]:
    """Return the id of the call. If the API searched for tools itself, call and result are its own and have no id."""
    name = "approval_request_id" if kind == "mcp_approval_response" else "call_id"
    call_id = field(item, name)
    if kind == "local_shell_call_output" and call_id is None:
        call_id = field(item, "id")
    if kind != "tool_search_output" or call_id is not None:
        yield id_of(call_id, index, name)


def _call_id(item: Any, kind: str, index: int) -> Iterator[str]:
    name = "id" if kind == "mcp_approval_request" else "call_id"
    call_id = field(item, name)
    if call_id is not None:
        yield id_of(call_id, index, name)


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


def _without_item(index: int) -> Finding:
    return Finding(
        index,
        "reasoning-without-item",
        "the reasoning is not followed by the item that it led to",
        "Put the message or the call that it led to directly after it, or drop it.",
    )


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
                self.findings.append((repeated if each in self._used else orphan)(view.message_index, each))
        if view.message_index >= self._until:
            self._group = None

    def alone(self, view: MessageView) -> None:
        self.groups.append([view.message_index])
        self._group = None

    def finish(self, last: int) -> Pairing:
        """Finish. Calls made together with `last`, the last item that is not a result, may still be answered."""
        newest = next((group for group in reversed(self.groups) if last in group), None)
        for each, (index, group) in self._waiting.items():
            self.findings.append((waiting if group is newest else unanswered)(index, each))
        return self.groups, self.findings


def _pair(views: Sequence[MessageView]) -> Pairing:
    dangling = {view.message_index for view in _dangling(views)}
    pairs = _Pairs(views)
    pairs.findings += map(_without_item, sorted(dangling))
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
    "responses", one_by_one(_read), _pair, (faults_by_mark({EMPTY_TEXT: EMPTY_TEXT_FAULT}),), prices=PRICES
)
