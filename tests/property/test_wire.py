"""What is written is read back equal: the reports of whole random runs, and what other implementations may add."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

from hypothesis import assume, given, strategies as st

from pycupel import ContextBudget, ContextItem, Pipeline, SelectionReport, wire
from pycupel.diagnostics import (
    CountRequirementShortfall,
    ExcludedItem,
    ExclusionReason,
    IncludedItem,
    InclusionReason,
    PipelineStage,
    TraceEvent,
    UnknownReason,
)
from pycupel.diagnostics.reasons import EXCLUSION_REASONS
from pycupel.errors import CupelError, DocumentError
from pycupel.model import ContextKind
from tests import strategies
from tests.examples import examples

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NAMES = TEXT.filter(str.strip)
COUNTS = st.integers(-(2**70), 2**70)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | COUNTS | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXT, JSON, max_size=3)
ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
# Ten days from either end, so that there is such a moment in UTC.
MOMENTS = st.datetimes(datetime(1, 1, 10), datetime(9999, 12, 20), timezones=ZONES)  # noqa: DTZ001 - the zone is drawn

ITEMS = st.builds(
    ContextItem,
    content=TEXT.filter(bool),
    tokens=COUNTS,
    kind=NAMES,
    source=NAMES,
    priority=st.none() | COUNTS,
    tags=st.lists(TEXT, max_size=3),
    metadata=OBJECTS,
    timestamp=st.none() | MOMENTS,
    future_relevance_hint=st.none() | NUMBERS,
    pinned=st.booleans(),
    original_tokens=st.none() | COUNTS,
)
EVENTS = st.builds(TraceEvent, st.sampled_from(PipelineStage) | TEXT, NUMBERS, COUNTS, st.none() | TEXT)
SHORTFALLS = st.builds(CountRequirementShortfall, NAMES.map(ContextKind), COUNTS, COUNTS)
UNKNOWN = st.builds(
    UnknownReason,
    TEXT.filter(lambda name: name not in EXCLUSION_REASONS),
    OBJECTS.filter(lambda fields: "reason" not in fields),
)
INCLUDED = st.builds(IncludedItem, ITEMS, NUMBERS, st.sampled_from(InclusionReason) | TEXT)


@st.composite
def known_reasons(draw: st.DrawFn) -> ExclusionReason:
    cls: Any = draw(st.sampled_from(sorted(EXCLUSION_REASONS.items())))[1]
    names: tuple[str, ...] = cls._fields
    numeric = {"item_tokens", "available_tokens", "cap", "actual", "count", "tokens"}
    values = {n: draw(COUNTS if n in numeric else NUMBERS if n in {"score", "threshold"} else TEXT) for n in names}
    reason: ExclusionReason = cls(**values)
    return reason


EXCLUDED = st.builds(ExcludedItem, ITEMS, NUMBERS, known_reasons() | UNKNOWN)


@st.composite
def reports(draw: st.DrawFn) -> SelectionReport:
    """Draw reports that no run has made."""
    included = draw(st.lists(INCLUDED, max_size=3))
    excluded = draw(st.lists(EXCLUDED, max_size=3))
    tokens = sum(each.item.tokens for each in included) + sum(each.item.tokens for each in excluded)
    return SelectionReport(
        draw(st.lists(EVENTS, max_size=3)),
        included,
        excluded,
        len(included) + len(excluded),
        tokens,
        draw(st.lists(SHORTFALLS, max_size=2)),
        draw(st.none() | strategies.budgets()),
    )


def with_written_trust(item: ContextItem) -> ContextItem:
    """WF-07: the one value that is read in another type than it had."""
    trust = item.metadata.get("cupel:trust")
    if not isinstance(trust, int | float) or isinstance(trust, bool):
        return item
    return replace(item, metadata={**item.metadata, "cupel:trust": str(trust)})


def comes_back(value: Any) -> None:
    """Equal and spelled alike, as a dictionary and as text, read strictly."""
    document = wire.to_dict(value)
    assert wire.from_dict(type(value), document, strict=True) == value
    text = wire.dumps(value)
    assert json.loads(text) == document
    read = wire.loads(type(value), text, strict=True)
    assert read == value
    assert wire.dumps(read) == text
    text.encode()


@examples(150)
@given(reports())
def test_any_report_comes_back(report: SelectionReport) -> None:
    """WF-03, SR-09: unknown stages and reasons with the rest."""
    comes_back(report)


@examples(200)
@given(ITEMS | EVENTS | SHORTFALLS | UNKNOWN | known_reasons() | strategies.budgets())
def test_any_part_comes_back(value: Any) -> None:
    comes_back(value)


@examples(200)
@given(strategies.pipelines(), strategies.item_lists(), strategies.budgets())
def test_the_report_of_any_run_comes_back(pipeline: Pipeline, items: list[ContextItem], budget: ContextBudget) -> None:
    """With NaN and infinities allowed, which hints, scores and metadata of these runs hold (WF-05)."""
    try:
        report = pipeline.dry_run(items, budget)
    except CupelError:
        assume(False)
        return
    document = wire.to_dict(report, allow_nan=True)
    # NaN is not equal to itself, but it looks like itself.
    assert repr(wire.from_dict(SelectionReport, document, strict=True, allow_nan=True)) == repr(report)
    text = wire.dumps(report, allow_nan=True)
    assert wire.dumps(wire.loads(SelectionReport, text, allow_nan=True), allow_nan=True) == text


@examples(100)
@given(st.lists(strategies.items(), max_size=6))
def test_numbers_are_refused_exactly_where_json_has_none(items: list[ContextItem]) -> None:
    """WF-05: what is written without allow_nan is JSON in the strict sense."""
    broken = any(
        isinstance(number, float) and not math.isfinite(number)
        for item in items
        for number in (item.future_relevance_hint, *item.metadata.values())
    )
    stream = io.StringIO()
    try:
        wire.write_items(stream, items)
    except DocumentError:
        assert broken
    else:
        assert not broken
        assert list(wire.read_items(io.StringIO(stream.getvalue()))) == list(map(with_written_trust, items))


@examples(300)
@given(
    st.sampled_from([ContextItem, ContextBudget, SelectionReport, IncludedItem, ExcludedItem, TraceEvent]),
    JSON
    | st.dictionaries(
        st.sampled_from(["content", "tokens", "item", "score", "reason", "events", "included", "maxTokens", "stage"]),
        JSON,
    ),
)
def test_a_document_is_read_or_refused_and_nothing_else(cls: type[Any], data: Any) -> None:
    """No document makes a reader stumble: what is wrong with it is a DocumentError."""
    try:
        value = wire.from_dict(cls, data)
    except DocumentError:
        return
    comes_back(value)
