"""WF-05: timestamps, and numbers that JSON does not have."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from pycupel import ContextBudget, ContextItem, MetadataTrustScorer, ScoredItem, wire
from pycupel.diagnostics import ExcludedItem, NegativeTokens, PipelineStage, ScoredTooLow, TraceEvent, UnknownReason
from pycupel.errors import DocumentError
from tests.wire.samples import NOON, TURN, included, refused, unwritable


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        (NOON, "2026-01-05T12:00:00Z"),
        (NOON.replace(microsecond=120), "2026-01-05T12:00:00.000120Z"),
        (NOON.astimezone(timezone(timedelta(hours=5, minutes=30))), "2026-01-05T12:00:00Z"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00Z"),
        (datetime.max.replace(tzinfo=UTC), "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_timestamps_are_written_in_utc_with_a_z(moment: datetime, written: str) -> None:
    """WF-05: RFC 3339, with microseconds only if there are any."""
    item = ContextItem("turn", 25, timestamp=moment)
    assert wire.to_dict(item)["timestamp"] == written
    assert wire.from_dict(ContextItem, wire.to_dict(item)) == item


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-05T12:00:00Z", NOON),
        ("2026-01-05t12:00:00z", NOON),
        ("2026-01-05 12:00:00Z", NOON),
        ("2026-01-05T12:00:00+00:00", NOON),
        ("2026-01-05T12:00:00-00:00", NOON),
        ("2026-01-05T13:30:00+01:30", NOON),
        ("2026-01-04T23:00:00-13:00", NOON),
        ("2026-01-05T12:00:00.5Z", NOON.replace(microsecond=500_000)),
        ("2026-01-05T12:00:00.123456Z", NOON.replace(microsecond=123_456)),
        ("2026-01-05T12:00:00.123456789Z", NOON.replace(microsecond=123_456)),
    ],
)
def test_timestamps_are_read_with_any_offset(text: str, moment: datetime) -> None:
    """WF-05: RFC 3339; more digits than Python has are cut off."""
    timestamp = wire.from_dict(ContextItem, {**TURN, "timestamp": text}).timestamp
    assert timestamp is not None
    assert timestamp == moment
    assert timestamp.tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-05T12:00:00",
        "2026-01-05",
        "20260105T120000Z",
        "2026-W02-1T12:00:00Z",
        "2026-01-05T12:00Z",
        "2026-01-05T12:00:00+0100",
        "2026-13-05T12:00:00Z",
        "2026-01-05T24:00:00Z",
        "2026-01-05T12:00:60Z",
        "2026-01-05T12:00:00+25:00",
        "0001-01-01T00:00:00+01:00",
        "٢٠٢٦-01-05T12:00:00Z",
        "yesterday",
        "",
    ],
)
def test_other_forms_of_time_are_refused(text: str) -> None:
    """WF-05; a time without a zone could be any of 26 (DM-07)."""
    error = refused(ContextItem, {**TURN, "timestamp": text})
    assert error.path == "timestamp"
    assert str(error).startswith("timestamp: must be a time with a time zone, like 2026-01-05T12:00:00Z, not ")
    assert refused(ContextItem, {**TURN, "timestamp": 1767614400}).path == "timestamp"


BROKEN = [math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("number", BROKEN)
@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda x: included(score=x), "score"),
        (lambda x: ExcludedItem(ContextItem("turn", 25), x, NegativeTokens(-1)), "score"),
        (lambda x: ScoredItem(ContextItem("turn", 25), x), "score"),
        (lambda x: ContextItem("turn", 25, future_relevance_hint=x), "futureRelevanceHint"),
        (lambda x: TraceEvent(PipelineStage.SCORE, x, 1), "duration_ms"),
        (lambda x: ScoredTooLow(0.5, x), "threshold"),
        (lambda x: ContextItem("turn", 25, metadata={"a": [0.5, x]}), "metadata.a[1]"),
        (lambda x: UnknownReason("TooBoring", {"yawns": x}), "yawns"),
    ],
)
def test_numbers_that_json_does_not_have_are_refused_unless_allowed(
    make: Callable[[float], Any], path: str, number: float
) -> None:
    """WF-05: both ways, in dictionaries and in text."""
    value = make(number)
    error = unwritable(value)
    assert str(error) == f"{path}: must be finite, not {number}, unless allow_nan is set"
    with pytest.raises(DocumentError):
        wire.dumps(value)
    document = wire.to_dict(value, allow_nan=True)
    assert refused(type(value), document).path == path
    # NaN is not equal to itself, but it looks like itself.
    assert repr(wire.from_dict(type(value), document, allow_nan=True)) == repr(value)
    text = wire.dumps(value, allow_nan=True)
    with pytest.raises(DocumentError) as info:
        wire.loads(type(value), text)
    assert info.value.path == path
    assert wire.dumps(wire.loads(type(value), text, allow_nan=True), allow_nan=True) == text


def test_a_number_too_large_for_a_float_is_infinite() -> None:
    """WF-05: 1e999 is JSON, but what Python makes of it could not be written again."""
    text = '{"item": {"content": "turn", "tokens": 25}, "score": 1e999}'
    with pytest.raises(DocumentError, match="score: must be finite, not inf"):
        wire.loads(ScoredItem, text)
    assert wire.loads(ScoredItem, text, allow_nan=True).score == math.inf


def test_nan_does_not_make_a_budget() -> None:
    """DM-14: allow_nan or not."""
    document = {"maxTokens": 10, "estimationSafetyMarginPercent": math.nan}
    error = refused(ContextBudget, document, allow_nan=True)
    assert error.path == "estimationSafetyMarginPercent"


@pytest.mark.parametrize("score", [0.1, 1 / 3, -0.0, 5e-324, 1.7976931348623157e308, 1e22])
def test_floats_come_back_bit_for_bit(score: float) -> None:
    """SR-09: equality is exact."""
    read = wire.loads(ScoredItem, wire.dumps(ScoredItem(ContextItem("turn", 25), score)))
    assert repr(read.score) == repr(score)


def test_whole_numbers_are_scores_too() -> None:
    read = wire.loads(ScoredItem, '{"item": {"content": "turn", "tokens": 25}, "score": 1}')
    assert repr(read.score) == "1.0"
    assert wire.to_dict(included(score=1)) == wire.to_dict(included(score=1.0))


def test_there_is_no_limit_to_tokens() -> None:
    """DM-02."""
    item = ContextItem("turn", 10**30, priority=-(10**30))
    assert wire.loads(ContextItem, wire.dumps(item)) == item


def test_numbers_of_other_libraries_are_numbers() -> None:
    """DM-02: by `__index__` and `__float__`, as in the model."""

    class Index:
        def __index__(self) -> int:
            return 25

    read = wire.from_dict(ScoredItem, {"item": {"content": "turn", "tokens": Index()}, "score": Decimal("0.5")})
    assert read == ScoredItem(ContextItem("turn", 25), 0.5)


@pytest.mark.proves("S-MT-25")
@pytest.mark.parametrize(
    ("trust", "written"),
    [
        (0.85, "0.85"),
        (1, "1"),
        (-0.0, "-0.0"),
        (1e-7, "1e-07"),
        (10**400, "1" + "0" * 400),
        ("0.850", "0.850"),
        ("high", "high"),
        (True, True),
        (None, None),
        ([0.5], [0.5]),
    ],
)
def test_trust_is_written_as_a_decimal_string(trust: Any, written: Any) -> None:
    """WF-07: the canonical form; what is read keeps its type, and scores as before."""
    item = ContextItem("turn", 5, metadata={"cupel:trust": trust, "Cupel:Trust": 0.5, "share": 0.5})
    document = wire.to_dict(item)
    assert document["metadata"] == {"cupel:trust": written, "Cupel:Trust": 0.5, "share": 0.5}
    assert type(document["metadata"]["cupel:trust"]) is type(written)
    read = wire.from_dict(ContextItem, document)
    assert read.metadata["cupel:trust"] == written
    assert wire.to_dict(read) == document
    scorer = MetadataTrustScorer(0.25)
    assert scorer.score(read, [read]).hex() == scorer.score(item, [item]).hex()


def test_trust_that_is_read_keeps_its_type() -> None:
    """WF-07: other implementations may write a number."""
    read = wire.from_dict(ContextItem, {**TURN, "metadata": {"cupel:trust": 0.85}})
    assert read.metadata == {"cupel:trust": 0.85}
    assert "metadata" not in wire.to_dict(ContextItem("turn", 5)), "and none is written where there is none"


def test_trust_that_is_not_finite_has_no_decimal_string() -> None:
    """WF-05, WF-07: it is written where NaN is allowed, as it is."""
    item = ContextItem("turn", 5, metadata={"cupel:trust": math.inf})
    assert unwritable(item).path == 'metadata["cupel:trust"]'
    assert wire.to_dict(item, allow_nan=True)["metadata"] == {"cupel:trust": math.inf}
