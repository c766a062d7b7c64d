"""Mistral: OpenAI's messages under stricter rules, those of its own validator (mistral-common, V13)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pycupel.messages.content import ContentReader, Prices
from pycupel.messages.fields import field
from pycupel.messages.providers._base import WARNING, Finding, MessageView, Provider, one_by_one
from pycupel.messages.providers._pairing import pair_adjacent
from pycupel.messages.providers._rules import PREFIX, Fault, ends_with_assistant, faults_by_mark, system_neighbours
from pycupel.messages.providers.openai import EMPTY_FAULTS, read_message, tool_calls
from pycupel.text import quoted

__all__ = ["MISTRAL"]

_ID = "[a-zA-Z0-9]{9}"
_NAME = "[a-zA-Z0-9_-]{1,64}"
_ODD_NAME = "odd-name"

_FAULTS: dict[str, Fault] = {
    **EMPTY_FAULTS,
    _ODD_NAME: (
        "the name of a function is not 1 to 64 letters, digits, underscores and dashes",
        "Rename the function, in its calls and results as well.",
        # As an error, it would make a selection drop every exchange with the function, even the open one.
        WARNING,
    ),
}


def _read(message: Any, index: int, content: ContentReader) -> MessageView:
    view = read_message(message, index, content)
    marks = (PREFIX, *view.marks) if field(message, "prefix") is True else view.marks
    names = _function_names(message, view)
    if any(isinstance(name, str) and not re.fullmatch(_NAME, name) for name in names):
        marks += (_ODD_NAME,)
    return view._replace(marks=marks)


def _function_names(message: Any, view: MessageView) -> Iterator[Any]:
    """Return the function names in the calls of a message, or beside its result."""
    if view.results:
        yield field(message, "name")
    if view.calls:
        yield field(field(message, "function_call"), "name")
        for _, call in tool_calls(message, view.message_index):
            function = field(call, "function")
            yield field(call if function is None else function, "name")


def _starts_with_call(views: Sequence[MessageView]) -> Iterator[Finding]:
    """Report calls in the very first message, which the validator ignores, so their results match no call."""
    for view in views:
        if not view.calls and not view.results:
            return
        if view.calls:
            yield Finding(
                view.message_index,
                "first-not-user",
                "the history starts with a tool call",
                "Start the history with a system or a user message.",
            )


def _misplaced_system(views: Sequence[MessageView]) -> Iterator[Finding]:
    roles = [view.role for view in views]
    for n, before, _ in system_neighbours(roles):
        if before is not None and roles[before] != "user":
            yield Finding(
                views[n].message_index,
                "system-misplaced",
                "a system message follows an assistant message or a tool result",
                "Put it at the start of the history or directly after a user message.",
            )


def _misplaced_prefix(views: Sequence[MessageView]) -> Iterator[Finding]:
    for view in views[:-1]:
        if PREFIX in view.marks:
            yield Finding(
                view.message_index,
                "prefix-not-last",
                "a message with prefix=True is not the last one",
                "Remove prefix=True, or the messages after it.",
            )


def _odd_ids(views: Sequence[MessageView]) -> Iterator[Finding]:
    """Warn only, because the tokenizers of newer models take any id."""
    for view in views:
        for each in (*view.calls, *view.results):
            if not re.fullmatch(_ID, each):
                yield Finding(
                    view.message_index,
                    "odd-id",
                    f"the tool call id {quoted(each)} is not nine letters and digits, which many models require",
                    "Give the call and its result the same id of nine letters and digits.",
                    WARNING,
                )


def _needs(units: Mapping[int, Sequence[MessageView]]) -> dict[int, tuple[int, ...]]:
    """A system message needs the user message before it; calls at the start need what precedes them."""
    needs: dict[int, tuple[int, ...]] = {}
    before: int | None = None
    is_start = True
    for unit_index, members in units.items():
        view = members[0]
        if before is not None and (view.role == "system" or (is_start and view.calls)):
            needs[unit_index] = (before,)
        if view.role != "system":
            before = unit_index
        is_start = is_start and not view.opens_turn and view.role != "system"
    return needs


MISTRAL = Provider(
    "mistral",
    one_by_one(_read),
    pair_adjacent,
    (
        faults_by_mark(_FAULTS),
        _odd_ids,
        # Before the next rule: what it rejects does not count as the start of a history.
        _misplaced_prefix,
        _starts_with_call,
        _misplaced_system,
        ends_with_assistant,
    ),
    _needs,
    # For version 3 tokenizers, which write calls and results as JSON with ids. Later ones need less.
    Prices(call=60, tools=2, image=1406, small_image=1406, audio=1250, escapes=True),
    also_reads=(None, "openai"),
    typical_model="mistral",
)
