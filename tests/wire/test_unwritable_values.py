"""Values that cannot be written, and documents that could not be written again."""

from __future__ import annotations

import json
from collections import OrderedDict, UserDict
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Any

import pytest

from pycupel import ContextBudget, ContextItem, ContextKind, SelectionReport, wire
from pycupel.diagnostics import (
    BudgetExceeded,
    CountRequirementShortfall,
    Deduplicated,
    ExcludedItem,
    ExclusionReason,
    IncludedItem,
    InclusionReason,
    OverflowEvent,
    PipelineStage,
    TraceEvent,
    UnknownReason,
)
from pycupel.errors import DocumentError
from tests.wire.samples import NOON, TURN, included, refused, unwritable

SURROGATE = "half \ud83d"


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (ContextItem(SURROGATE, 1), "content"),
        (ContextItem("x", 1, kind=SURROGATE), "kind"),
        (ContextItem("x", 1, source=SURROGATE), "source"),
        (ContextItem("x", 1, tags=["a", SURROGATE]), "tags[1]"),
        (ContextItem("x", 1, metadata={"a": {"b": SURROGATE}}), "metadata.a.b"),
        (ContextItem("x", 1, metadata={SURROGATE: 1}), 'metadata["half \\ud83d"]'),
        (ContextBudget(9, reserved_slots={SURROGATE: 1}), 'reservedSlots["half \\ud83d"]'),
        (TraceEvent(PipelineStage.PLACE, 0.0, 1, SURROGATE), "message"),
        (CountRequirementShortfall(ContextKind(SURROGATE), 2, 1), "kind"),
        (Deduplicated(SURROGATE), "deduplicated_against"),
        (UnknownReason(SURROGATE), "reason"),
        (included(SURROGATE), "reason.reason"),
    ],
)
def test_a_lone_surrogate_cannot_be_written(value: Any, path: str) -> None:
    """DD-04."""
    error = unwritable(value)
    assert str(error) == f"{path}: has a lone surrogate at index 5, which UTF-8 cannot encode"


def test_a_lone_surrogate_is_not_read_either() -> None:
    """DD-04: whoever cut an emoji in two hears of it here, not when the report is written."""
    with pytest.raises(DocumentError, match=r"^content: has a lone surrogate at index 1"):
        wire.loads(ContextItem, '{"content": "x\\ud83d", "tokens": 1}')
    assert wire.loads(ContextItem, '{"content": "\\ud83d\\ude00", "tokens": 1}').content == "😀"


def test_text_is_written_as_it_is() -> None:
    assert wire.dumps(ContextItem("Grüße 😀\n", 1)).startswith('{"content": "Grüße 😀\\n"')


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (
            {"when": NOON},
            "metadata.when: must be a string, number, bool, None, list or dict, not a value of type ",
        ),
        ({"a": [1, {"b": {2}}]}, "metadata.a[1].b: must be a string, number"),
        ({"a": b"x"}, "metadata.a: must be a string, number"),
        ({"span": (3, 9)}, "metadata.span: must be a string, number"),
        ({"a b": [object()]}, 'metadata["a b"][0]: must be a string, number'),
        ({"a": {1: 2}}, 'metadata.a["1"]: every key must be a string, not 1 (int)'),
    ],
)
def test_metadata_that_is_not_json_is_refused(metadata: dict[str, Any], message: str) -> None:
    """DM-05: a clear error, with the path. Nothing is turned into something that does not come back equal."""
    for error in (
        unwritable(ContextItem("x", 1, metadata=metadata)),
        refused(ContextItem, {"content": "x", "tokens": 1, "metadata": metadata}),
    ):
        assert str(error).startswith(message)


def test_metadata_may_come_in_equal_types() -> None:
    """DM-05: what is equal to a JSON value is written as that."""

    class Level(IntEnum):
        HIGH = 3

    class Colour(str, Enum):  # noqa: UP042 - its str() is not its value
        RED = "red"

    class Share(float):
        pass

    metadata: dict[str, Any] = {
        "level": Level.HIGH,
        "colour": Colour.RED,
        "share": Share(0.5),
        "ordered": OrderedDict(a=1),
        "read-only": MappingProxyType({"b": 2}),
        "user": UserDict(c=3),
    }
    item = ContextItem("x", 1, metadata=metadata)
    text = wire.dumps(item)
    assert json.loads(text)["metadata"]["colour"] == "red"
    assert wire.loads(ContextItem, text) == item


def test_metadata_is_copied() -> None:
    """DM-06."""
    inner = [1]
    item = wire.from_dict(ContextItem, {**TURN, "metadata": {"a": inner}})
    written = wire.to_dict(item)
    inner.append(2)
    written["metadata"]["a"].append(3)
    assert item.metadata == {"a": [1]}


def test_metadata_that_contains_itself_is_refused() -> None:
    metadata: dict[str, Any] = {}
    metadata["again"] = metadata
    error = unwritable(included()._replace(item=ContextItem("x", 1, metadata=metadata)))
    path = ("item.metadata" + ".again" * 64)[: len("item.metadata.") + 200]
    assert str(error) == f"{path}...: is nested more than 64 levels deep"


def nested(levels: int) -> dict[str, Any]:
    """An object of so many levels, with a scalar in the innermost list."""
    value: Any = [1]
    for _ in range(levels - 2):
        value = [value]
    return {"list": value}


def test_metadata_may_have_64_levels_both_ways() -> None:
    item = ContextItem("x", 1, metadata=nested(64))
    assert wire.loads(ContextItem, wire.dumps(item)) == item
    deeper = ContextItem("x", 1, metadata=nested(65))
    assert str(unwritable(deeper)) == f"metadata.list{'[0]' * 63}: is nested more than 64 levels deep"
    with pytest.raises(DocumentError, match="is nested more than 64 levels deep"):
        wire.from_dict(ContextItem, {"content": "x", "tokens": 1, "metadata": nested(65)})


def test_a_document_that_is_deep_elsewhere_is_refused_without_a_recursion_error() -> None:
    text = "[" * 100_000 + "]" * 100_000
    for deep in (f'{{"content": {text}, "tokens": 1}}', text):
        with pytest.raises(DocumentError, match=r"^cannot be read as JSON: it is nested too deeply$"):
            wire.loads(ContextItem, deep)


def test_integers_have_the_digits_that_python_converts() -> None:
    item = ContextItem("x", 1, metadata={"n": 10**5_000})
    assert wire.from_dict(ContextItem, wire.to_dict(item)) == item
    with pytest.raises(DocumentError, match=r"^cannot be written as JSON: .*digits"):
        wire.dumps(item)
    with pytest.raises(DocumentError, match=r"^cannot be read as JSON: .*digits"):
        wire.loads(ContextItem, f'{{"content": "x", "tokens": {"1" * 5_000}}}')


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (IncludedItem("x", 0.5, InclusionReason.SCORED), "item"),  # type: ignore[arg-type]
        (included(3), "reason.reason"),
        (ExcludedItem(ContextItem("x", 1), 0.5, "why"), "reason"),  # type: ignore[arg-type]
        (ExcludedItem(ContextItem("x", 1), 0.5, ExclusionReason()), "reason"),
        (included(score="high"), "score"),  # type: ignore[arg-type]
        (OverflowEvent(5, (ContextItem("x", 1), None), ContextBudget(1)), "overflowing_items[1]"),  # type: ignore[arg-type]
        (BudgetExceeded(1.5, 2), "item_tokens"),  # type: ignore[arg-type]
        (SelectionReport(("x",), (), (), 0, 0), "events[0]"),  # type: ignore[arg-type]
    ],
)
def test_a_record_that_holds_something_else_cannot_be_written(value: Any, path: str) -> None:
    """Records do not check what they hold; the wire does."""
    assert unwritable(value).path == path


def test_a_reason_of_ones_own_has_no_wire_format() -> None:
    class TooBoring(ExclusionReason):
        pass

    class Filtered(ExclusionReason):  # the name alone does not make it that one
        pass

    for reason in (TooBoring(), Filtered()):
        error = unwritable(ExcludedItem(ContextItem("x", 1), 0.5, reason))
        assert str(error).startswith("reason: must be an exclusion reason of pycupel.diagnostics, not ")
        with pytest.raises(TypeError):
            wire.to_dict(reason)
