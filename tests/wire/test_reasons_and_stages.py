"""WF-03 and WF-04: unknown names are kept, and reasons are objects."""

from __future__ import annotations

import copy
import pickle

import pytest

from pycupel import wire
from pycupel.diagnostics import (
    ExcludedItem,
    ExclusionReason,
    IncludedItem,
    InclusionReason,
    PipelineStage,
    TraceEvent,
    UnknownReason,
)
from pycupel.errors import InvalidArgumentError
from tests.wire.samples import TURN, included, refused


@pytest.mark.proves("S-EV-11")
def test_an_unknown_stage_is_kept() -> None:
    """WF-03, Events: MUST handle unknown PipelineStage values gracefully."""
    document = {"stage": "Sort", "duration_ms": 0.5, "item_count": 3}
    event = wire.from_dict(TraceEvent, document, strict=True)
    assert event.stage == "Sort"
    assert type(event.stage) is str
    assert wire.to_dict(event) == document


def test_a_known_stage_is_the_member() -> None:
    for stage in PipelineStage:
        event = wire.from_dict(TraceEvent, {"stage": stage.value, "duration_ms": 0.5, "item_count": 3})
        assert event.stage is stage


def test_an_unknown_inclusion_reason_is_kept() -> None:
    """WF-03."""
    document = {"item": TURN, "score": 0.5, "reason": {"reason": "Beloved"}}
    read = wire.from_dict(IncludedItem, document, strict=True)
    assert read.reason == "Beloved"
    assert type(read.reason) is str
    assert wire.to_dict(read) == document
    assert wire.from_dict(InclusionReason, {"reason": "Beloved"}) == "Beloved"


@pytest.mark.proves("S-ER-33")
def test_an_unknown_exclusion_reason_is_kept_with_its_fields() -> None:
    """WF-03, Exclusion Reasons: MUST handle unknown ExclusionReason variants gracefully."""
    fields = {"zeal": 1.5, "items": [{"a": None}], "text": "é", "Reason": "x", "nothing": None}
    document = {"item": TURN, "score": 0.5, "reason": {"reason": "TooBoring", **fields}}
    read = wire.from_dict(ExcludedItem, document, strict=True)
    assert read.reason == UnknownReason("TooBoring", fields)
    assert wire.to_dict(read) == document
    assert list(wire.to_dict(read.reason)) == ["reason", *fields]


def test_the_mark_of_a_reference_for_unknown_reasons_is_one() -> None:
    """WF-03: that implementation loses the name; what it writes can be read all the same."""
    assert wire.from_dict(ExclusionReason, {"reason": "_Unknown"}) == UnknownReason("_Unknown")


@pytest.mark.proves("S-ER-34")
def test_a_name_is_known_in_its_spelling_only() -> None:
    """Exclusion Reasons: the string name of the variant."""
    assert wire.from_dict(ExclusionReason, {"reason": "filtered", "filter_name": "x"}) == UnknownReason(
        "filtered", {"filter_name": "x"}
    )
    assert wire.from_dict(InclusionReason, {"reason": "scored"}) == "scored"


def test_an_unknown_reason_is_a_value() -> None:
    reason = UnknownReason("TooBoring", {"yawns": [1, 2]})
    assert (reason.name, reason.fields) == ("TooBoring", {"yawns": [1, 2]})
    same, other = UnknownReason("TooBoring", {"yawns": [1, 2]}), UnknownReason("TooBoring", {"yawns": [1]})
    assert reason == same
    assert hash(reason) == hash(same)
    assert reason != other
    assert len({reason, same, other, UnknownReason("TooLong", {"yawns": [1, 2]})}) == 3
    assert repr(reason) == "UnknownReason(name='TooBoring', fields={'yawns': [1, 2]})"
    assert isinstance(reason, ExclusionReason)


def test_an_unknown_reason_has_fields_of_its_own() -> None:
    fields = {"yawns": 1}
    reason = UnknownReason("TooBoring", fields)
    fields["yawns"] = 2
    assert reason.fields == {"yawns": 1}
    with pytest.raises(TypeError):
        reason.fields["yawns"] = 3  # type: ignore[index]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_an_unknown_reason_survives_pickling_and_copying(protocol: int) -> None:
    """PY-12."""
    reason = UnknownReason("TooBoring", {"yawns": [1]})
    assert pickle.loads(pickle.dumps(reason, protocol)) == reason
    assert copy.copy(reason) == copy.deepcopy(reason) == reason


def test_an_unknown_reason_must_come_back_as_it_went() -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"^Filtered is a built-in reason; use pycupel\.diagnostics\.Filtered$"
    ):
        UnknownReason("Filtered", {"filter_name": "x"})
    with pytest.raises(InvalidArgumentError, match="'reason'"):
        UnknownReason("TooBoring", {"reason": "x"})
    with pytest.raises(TypeError, match="name must be a str"):
        UnknownReason(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="fields must be a mapping"):
        UnknownReason("TooBoring", [])  # type: ignore[arg-type]


def test_the_reason_of_an_item_is_an_object_with_a_reason() -> None:
    """WF-04."""
    assert wire.to_dict(included())["reason"] == {"reason": "Scored"}
    bare = {"item": TURN, "score": 0.5, "reason": "Scored"}
    assert str(refused(IncludedItem, bare)) == "reason: must be an object, not 'Scored' (str)"
    assert str(refused(ExcludedItem, bare)) == "reason: must be an object, not 'Scored' (str)"
    assert refused(IncludedItem, {**bare, "reason": {"reason": 3}}).path == "reason.reason"
    assert refused(ExcludedItem, {**bare, "reason": {}}).path == "reason.reason"
