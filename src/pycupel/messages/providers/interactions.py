"""Gemini's Interactions: a list of steps; thoughts, calls and results are steps of their own, linked by call ids."""

from __future__ import annotations

from functools import partial
from typing import Any

from pycupel.errors import MessageShapeError
from pycupel.fields import field
from pycupel.messages.parts import MessageView, PartReader, view_of
from pycupel.messages.providers._base import ERROR, Provider, one_by_one
from pycupel.messages.providers._rules import (
    EMPTY_TEXT,
    ENDS_WITH_ASSISTANT,
    PAIRING_RULES,
    UNKNOWN_TYPE,
    duplicate_tool,
    has_empty_text,
)
from pycupel.messages.providers._shapes import UnknownNameError, check_content, id_of, unknown_name
from pycupel.messages.providers._tables import STEP_TYPES
from pycupel.messages.providers.gemini import PRICES
from pycupel.messages.providers.responses import pair_items
from pycupel.text import describe

# Steps whose content is said, and not made by a tool.
_SPOKEN = frozenset({"user_input", "model_output"})


def _read(step: Any, index: int, reader: PartReader) -> MessageView:
    kind = field(step, "type")
    if kind is None:
        if unknown_name(step):
            raise UnknownNameError(unknown_name(step), "role")
        raise MessageShapeError(
            f"the step has no type: {describe(step)}", index, "type", hint="A message of the user is a user_input."
        )
    if not isinstance(kind, str):
        raise MessageShapeError(f"must be a string naming the step's type, not {describe(kind)}", index, "type")
    meaning = STEP_TYPES.get(kind)
    if meaning is None:
        raise UnknownNameError(kind)
    marks: tuple[str, ...] = ()
    content = field(step, "content")
    if kind in _SPOKEN and content is not None:
        check_content(content, index, required=False)
        marks = (EMPTY_TEXT.id,) if has_empty_text(content) else ()
    parts = reader(step)
    for name in meaning.ids:
        # The function calls of Responses have their id elsewhere.
        parts[0] = parts[0]._replace(id=id_of(field(step, name), index, name))
    return view_of(index, meaning.role, parts, reader.overhead, marks)


INTERACTIONS = Provider(
    "interactions",
    one_by_one(_read),
    partial(pair_items, thoughts_need_items=False),
    PAIRING_RULES,
    (EMPTY_TEXT,),
    (ENDS_WITH_ASSISTANT,),
    prices=PRICES,
    request_rules=(UNKNOWN_TYPE,),
    beside_rules=(duplicate_tool(ERROR),),
    system_beside=True,
    typical_model="gemini",
)
