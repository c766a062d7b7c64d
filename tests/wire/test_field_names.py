"""WF-01: how fields are spelled, and fields that are unknown."""

from __future__ import annotations

import json

import pytest

from pycupel import ContextBudget, ContextItem, ScoredItem, SelectionReport, wire
from pycupel.diagnostics import BudgetExceeded, ExclusionReason, PipelineStage, TraceEvent
from pycupel.errors import DocumentError
from tests.wire.samples import (
    BUDGET,
    EVERYTHING,
    ITEM,
    ITEM_DOCUMENT,
    REPORT_DOCUMENT,
    TURN,
    changed,
    keys,
    refused,
    report,
)


def test_items_and_budgets_are_written_in_camel_case_and_diagnostics_in_snake_case() -> None:
    """WF-01."""
    item = wire.to_dict(ITEM)
    assert {"futureRelevanceHint", "originalTokens"} <= item.keys()
    assert not [key for document in (item, wire.to_dict(BUDGET)) for key in keys(document) if "_" in key]
    diagnostics = report(included=[], excluded=[], budget=None, total_candidates=0, total_tokens_considered=0)
    written = wire.to_dict(wire.from_dict(SelectionReport, diagnostics))
    assert not [key for key in keys(written) if key != key.lower()]


def test_both_spellings_of_item_and_budget_are_read() -> None:
    """WF-01: other implementations write snake_case."""
    item = {**ITEM_DOCUMENT}
    item["future_relevance_hint"] = item.pop("futureRelevanceHint")
    item["original_tokens"] = item.pop("originalTokens")
    assert wire.from_dict(ContextItem, item, strict=True) == ITEM
    budget = {
        "max_tokens": 100,
        "target_tokens": 60,
        "output_reserve": 20,
        "reserved_slots": {"Message": 5},
        "estimation_safety_margin_percent": 10,
    }
    assert wire.from_dict(ContextBudget, budget, strict=True) == BUDGET


def test_both_spellings_of_diagnostics_are_read() -> None:
    """WF-01."""
    event = {"stage": "Score", "durationMs": 1.0, "itemCount": 2}
    assert wire.from_dict(TraceEvent, event, strict=True) == TraceEvent(PipelineStage.SCORE, 1.0, 2)
    reason = {"reason": "BudgetExceeded", "itemTokens": 2, "availableTokens": 1}
    assert wire.from_dict(ExclusionReason, reason, strict=True) == BudgetExceeded(2, 1)


def test_a_field_must_not_be_given_in_both_spellings() -> None:
    """WF-01: it would be unclear which of them counts."""
    error = refused(ContextBudget, {"maxTokens": 10, "max_tokens": 20})
    assert str(error) == "maxTokens: is given twice: also as max_tokens"
    assert wire.from_dict(ContextBudget, {"maxTokens": None, "max_tokens": 20}) == ContextBudget(20)
    assert wire.from_dict(ContextBudget, {"maxTokens": 20, "max_tokens": None}) == ContextBudget(20)


def test_the_path_has_the_spelling_of_the_document() -> None:
    assert refused(ContextBudget, {"max_tokens": "x"}).path == "max_tokens"
    assert refused(ContextBudget, {"maxTokens": "x"}).path == "maxTokens"


@pytest.mark.parametrize(
    "path",
    [
        "colour",
        "events[0].colour",
        "included[1].colour",
        "included[1].item.colour",
        "included[1].reason.colour",
        "excluded[0].reason.colour",
        "count_requirement_shortfalls[0].colour",
        "budget.colour",
    ],
)
def test_unknown_fields_are_ignored_unless_reading_is_strict(path: str) -> None:
    document = changed(path, "red")
    assert wire.from_dict(SelectionReport, document) == wire.from_dict(SelectionReport, REPORT_DOCUMENT)
    assert refused(SelectionReport, document, strict=True).path == path
    with pytest.raises(DocumentError) as info:
        wire.loads(SelectionReport, json.dumps(document), strict=True)
    assert info.value.path == path


def test_a_strict_reader_lists_the_known_fields() -> None:
    """WF-01."""
    error = refused(ScoredItem, {"item": TURN, "score": 1, "kind of": 2}, strict=True)
    assert str(error) == '["kind of"]: unknown field; expected one of item, score'
    assert refused(ScoredItem, {"item": TURN, "score": 1, 7: 2}, strict=True).path == '["7"]'


def test_a_strict_reader_reads_what_is_written() -> None:
    """WF-01."""
    for value, document in EVERYTHING:
        assert wire.from_dict(type(value), document, strict=True) == value
    assert wire.to_dict(wire.from_dict(SelectionReport, REPORT_DOCUMENT, strict=True)) == REPORT_DOCUMENT
