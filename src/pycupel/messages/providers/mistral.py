"""Mistral: OpenAI's messages under stricter rules, those of its own validator (mistral-common, V13)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pycupel.fields import field
from pycupel.messages.parts import MessageView, PartReader
from pycupel.messages.providers._base import ERROR, WARNING, Provider, Rule, one_by_one
from pycupel.messages.providers._rules import (
    EMPTY_TEXT,
    ENDS_WITH_ASSISTANT,
    FIRST_NOT_USER,
    PAIRING_RULES,
    PREFIX,
    UNKNOWN_TYPE,
    duplicate_tool,
    pair_adjacent,
    system_where,
)
from pycupel.messages.providers._shapes import InOrder
from pycupel.messages.providers._tables import CALL, Prices
from pycupel.messages.providers.openai import EMPTY_MESSAGE, in_order, read_message
from pycupel.text import quoted

# The ids that older models take, or one that we made of a position, for a call that has none.
_ID = r"[a-zA-Z0-9]{9}|.* \(\d+\.\d+\)"
_NAME = "[a-zA-Z0-9_-]{1,64}"

# As an error, it would make a selection drop every exchange with the function, even the open one.
_ODD_NAME = Rule(
    "odd-name",
    WARNING,
    "functions are named with 1 to 64 letters, digits, _ and -",
    "the name of a function is not 1 to 64 letters, digits, underscores and dashes",
    "Rename the function, in its calls and results as well.",
)


def _read(message: Any, index: int, reader: PartReader, order: InOrder) -> MessageView:
    view = read_message(message, index, reader, order)
    marks = (PREFIX, *view.marks) if field(message, "prefix") is True else view.marks
    # Results need not name their function.
    names: list[Any] = [part.tool for part in view.parts if part.kind == CALL]
    if view.results:
        names.append(field(message, "name"))
    if any(isinstance(name, str) and not re.fullmatch(_NAME, name) for name in names):
        marks += (_ODD_NAME.id,)
    return view._replace(marks=marks)


def _starts_with_call(views: Sequence[MessageView]) -> Iterator[tuple[int]]:
    """Find calls in the very first message, which the validator ignores, so their results match no call."""
    for view in views:
        if not view.calls and not view.results:
            return
        if view.calls:
            yield (view.message_index,)


def _misplaced_prefix(views: Sequence[MessageView]) -> Iterator[tuple[int]]:
    return ((view.message_index,) for view in views[:-1] if PREFIX in view.marks)


def _odd_ids(views: Sequence[MessageView]) -> Iterator[tuple[int, str]]:
    for view in views:
        for each in (*view.calls, *view.results):
            if not re.fullmatch(_ID, each):
                yield view.message_index, quoted(each)


_RULES = (
    # A warning, because the tokenizers of newer models take any id.
    Rule(
        "odd-id",
        WARNING,
        "ids of calls are nine letters and digits (older models)",
        "the tool call id {} is not nine letters and digits, which many models require",
        "Give the call and its result the same id of nine letters and digits.",
        _odd_ids,
    ),
    # Before the next rule: what it rejects does not count as the start of a history.
    Rule(
        "prefix-not-last",
        ERROR,
        "a message with prefix=True is the last one",
        "a message with prefix=True is not the last one",
        "Remove prefix=True, or the messages after it.",
        _misplaced_prefix,
    ),
    FIRST_NOT_USER._replace(
        requires="no call comes first",
        sentence="the history starts with a tool call",
        remedy="Start the history with a system or a user message.",
        check=_starts_with_call,
    ),
    Rule(
        "system-misplaced",
        ERROR,
        "a system message is at the start, or after a user message",
        "a system message follows an assistant message or a tool result",
        "Put it at the start of the history or directly after a user message.",
        system_where(lambda before, _: before not in ("", "user")),
    ),
    ENDS_WITH_ASSISTANT,
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
    one_by_one(_read, in_order),
    pair_adjacent,
    PAIRING_RULES,
    (EMPTY_MESSAGE, EMPTY_TEXT, _ODD_NAME),
    _RULES,
    _needs,
    # For version 3 tokenizers, which write calls and results as JSON with ids. Later ones need less.
    Prices(call=60, tools=2, image=1406, small_image=1406, audio=1250, rewrites_json=True),
    request_rules=(UNKNOWN_TYPE,),
    beside_rules=(duplicate_tool(WARNING),),
    also_reads=(None, "openai"),
    typical_model="mistral",
)
