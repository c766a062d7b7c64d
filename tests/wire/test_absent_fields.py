"""WF-02: what is absent is left out, and null counts as absent."""

from __future__ import annotations

from typing import Any

from pycupel import ContextBudget, ContextItem, SelectionReport, wire
from pycupel.diagnostics import PipelineStage, TraceEvent
from tests.wire.samples import REPORT_DOCUMENT, TURN, refused, report


def test_an_item_writes_four_fields_always_and_others_when_they_say_something() -> None:
    """WF-02."""
    assert wire.to_dict(ContextItem("turn", 25)) == TURN
    plain: dict[str, Any] = {
        "priority": None,
        "tags": [],
        "metadata": {},
        "timestamp": None,
        "future_relevance_hint": None,
        "pinned": False,
        "original_tokens": None,
    }
    assert wire.to_dict(ContextItem("turn", 25, **plain)) == TURN


def test_a_zero_is_no_default_of_an_item() -> None:
    """WF-02: 0 says something where the default is absence."""
    item = ContextItem("turn", 25, priority=0, future_relevance_hint=0.0, original_tokens=0)
    written = wire.to_dict(item)
    assert written == {**TURN, "priority": 0, "futureRelevanceHint": 0.0, "originalTokens": 0}


def test_a_budget_writes_two_fields_always_and_others_when_they_say_something() -> None:
    """WF-02."""
    assert wire.to_dict(ContextBudget(100)) == {"maxTokens": 100, "targetTokens": 100}
    assert wire.to_dict(ContextBudget(0)) == {"maxTokens": 0, "targetTokens": 0}
    assert wire.to_dict(ContextBudget(100, output_reserve=20)) == {
        "maxTokens": 100,
        "targetTokens": 80,
        "outputReserve": 20,
    }


def test_a_budget_needs_only_its_maximum() -> None:
    assert wire.from_dict(ContextBudget, {"maxTokens": 100, "outputReserve": 20}) == ContextBudget(
        100, output_reserve=20
    )


def test_shortfalls_are_always_written_and_need_not_be_there() -> None:
    """WF-02, SR-06: a list, empty or not. A report without any reads as one without shortfalls."""
    document = report()
    del document["count_requirement_shortfalls"]
    read = wire.from_dict(SelectionReport, document)
    assert read.count_requirement_shortfalls == ()
    assert wire.to_dict(read)["count_requirement_shortfalls"] == []


def test_the_budget_of_a_report_is_written_when_it_is_known() -> None:
    """WF-02: an extension, so that others can ignore it."""
    read = wire.from_dict(SelectionReport, report(budget=None))
    assert read.budget is None
    assert "budget" not in wire.to_dict(read)


def test_the_notes_of_a_report_are_written_when_there_are_any() -> None:
    """WF-02: an extension, like the budget."""
    assert "notes" not in wire.to_dict(wire.from_dict(SelectionReport, REPORT_DOCUMENT))
    document = report(notes=["no item sets timestamp"])
    read = wire.from_dict(SelectionReport, document, strict=True)
    assert read.notes == ("no item sets timestamp",)
    assert wire.to_dict(read) == document
    assert wire.from_dict(SelectionReport, report(notes=None)).notes == ()
    assert str(refused(SelectionReport, report(notes="text"))) == "notes: must be a list, not 'text' (str)"
    assert str(refused(SelectionReport, report(notes=["a", 5]))) == "notes[1]: must be a string, not 5 (int)"


def test_null_counts_as_absent() -> None:
    """WF-02: another implementation writes nulls."""
    nulls = {
        "priority": None,
        "tags": None,
        "metadata": None,
        "timestamp": None,
        "future_relevance_hint": None,
        "pinned": None,
        "original_tokens": None,
        "kind": None,
        "source": None,
    }
    assert wire.from_dict(ContextItem, {**nulls, "content": "turn", "tokens": 25}) == ContextItem("turn", 25)
    event = {"stage": "Score", "duration_ms": 1, "item_count": 2, "message": None}
    assert wire.from_dict(TraceEvent, event) == TraceEvent(PipelineStage.SCORE, 1.0, 2)
    assert str(refused(ContextItem, {"content": "turn", "tokens": None})) == "tokens: is missing"


def test_null_in_metadata_is_a_value() -> None:
    """WF-02 is about fields; metadata is opaque (DM-05)."""
    item = ContextItem("turn", 25, metadata={"seen": None})
    assert wire.to_dict(item)["metadata"] == {"seen": None}
    assert wire.from_dict(ContextItem, wire.to_dict(item)) == item
