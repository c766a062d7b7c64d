"""The documents of the specification: Events, Exclusion Reasons, SelectionReport, and the data model."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pycupel import ContextBudget, ContextItem, ContextKind, Pipeline, ReflexiveScorer, SelectionReport, wire
from pycupel.diagnostics import (
    BudgetExceeded,
    CountRequirementShortfall,
    Deduplicated,
    ExclusionReason,
    InclusionReason,
    NegativeTokens,
    PipelineStage,
    TraceEvent,
    UnknownReason,
)
from pycupel.diagnostics.reasons import EXCLUSION_REASONS
from tests.wire.samples import EVERYTHING, ITEM, REASONS, REPORT_DOCUMENT, refused

EACH = pytest.mark.parametrize(("value", "document"), EVERYTHING, ids=lambda v: type(v).__name__)


@pytest.mark.proves("S-EV-03", "S-ER-31", "S-ER-34")
@EACH
def test_a_value_is_written_as_specified(value: Any, document: dict[str, Any]) -> None:
    """Events, Exclusion Reasons, SelectionReport: the shapes of the JSON examples, fields in that order."""
    written = wire.to_dict(value)
    assert written == document
    assert list(written) == list(document)


@EACH
def test_a_document_is_read_as_the_value(value: Any, document: dict[str, Any]) -> None:
    read = wire.from_dict(type(value), document)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.proves("S-ER-20", "S-ER-21", "S-ER-22", "S-ER-23", "S-ER-24", "S-ER-25", "S-ER-26", "S-ER-27")
@EACH
def test_json_is_written_and_read(value: Any, document: dict[str, Any]) -> None:
    text = wire.dumps(value)
    assert json.loads(text) == document
    assert wire.loads(type(value), text) == value
    assert wire.loads(type(value), text.encode()) == value


@EACH
def test_documents_are_plain(value: Any, document: dict[str, Any]) -> None:
    """No enumeration, kind, mapping proxy or tuple is left: any other serialiser will do."""

    def check(part: Any) -> None:
        assert type(part) in {dict, list, str, int, float, bool, type(None)}
        for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            check(inner)

    check(wire.to_dict(value))


@pytest.mark.proves("S-RP-01", "S-RP-04")
def test_a_report_is_read_and_written() -> None:
    """SelectionReport: the complete JSON example, with numbers that fit (SR-05)."""
    read = wire.from_dict(SelectionReport, REPORT_DOCUMENT)
    assert read.events[2] == TraceEvent(PipelineStage.DEDUPLICATE, 0.0, 1, "Deduplicated")
    assert read.items == [ContextItem("turn", 25), ContextItem("prompt", 25, pinned=True)]
    assert read.included[1].reason is InclusionReason.PINNED
    assert read.excluded[0].reason == BudgetExceeded(200, 50)
    assert read.excluded[1].reason == Deduplicated("turn")
    assert read.count_requirement_shortfalls == (CountRequirementShortfall(ContextKind("Note"), 2, 1),)
    assert read.budget == ContextBudget(120, 100)
    written = wire.to_dict(read)
    assert written == REPORT_DOCUMENT
    assert list(written) == list(REPORT_DOCUMENT)
    assert wire.loads(SelectionReport, wire.dumps(read, indent=2)) == read


def test_the_items_of_the_specification_have_no_source() -> None:
    """Events, OverflowEvent: `{"content", "tokens", "kind"}` is enough, and even the kind has a default."""
    read = wire.from_dict(ContextItem, {"content": "...", "tokens": 512, "kind": "ToolOutput"})
    assert read == ContextItem("...", 512, kind="ToolOutput")
    assert wire.from_dict(ContextItem, {"content": "...", "tokens": 512}) == ContextItem("...", 512)


def test_every_exclusion_reason_is_covered() -> None:
    """Exclusion Reasons: all 8 variants MUST be defined; ER-02: and two more."""
    assert {type(reason).__name__ for reason, _ in REASONS} == {*EXCLUSION_REASONS, "UnknownReason"}


@pytest.mark.proves("S-ER-20", "S-ER-21", "S-ER-22", "S-ER-23", "S-ER-24", "S-ER-25", "S-ER-26", "S-ER-27")
@pytest.mark.parametrize(("reason", "document"), REASONS, ids=lambda v: type(v).__name__)
def test_the_base_class_stands_for_any_exclusion_reason(reason: ExclusionReason, document: dict[str, Any]) -> None:
    assert wire.from_dict(ExclusionReason, document) == reason


@pytest.mark.proves("S-ER-35")
@pytest.mark.parametrize(("reason", "document"), REASONS, ids=lambda v: type(v).__name__)
def test_data_carrying_fields_must_be_present(reason: ExclusionReason, document: dict[str, Any]) -> None:
    """Exclusion Reasons: data-carrying fields MUST be present."""
    if isinstance(reason, UnknownReason):
        return
    for key in document:
        incomplete = {k: v for k, v in document.items() if k != key}
        error = refused(ExclusionReason, incomplete)
        assert (error.path, str(error)) == (key, f"{key}: is missing")


def test_one_reason_is_not_read_as_another() -> None:
    document = {"reason": "Filtered", "filter_name": "age"}
    assert str(refused(NegativeTokens, document)) == "reason: must be NegativeTokens, not 'Filtered'"
    assert refused(UnknownReason, document).path == "reason"
    assert refused(NegativeTokens, {"reason": "TooBoring"}).path == "reason"


def test_the_report_of_a_run_comes_back() -> None:
    items = [ITEM, *(ContextItem(f"note {i % 3}", 30 + i, future_relevance_hint=i / 7) for i in range(6))]
    items.append(ContextItem("odd", -1))
    made = Pipeline(ReflexiveScorer()).dry_run(items, ContextBudget(100))
    assert {type(each.reason) for each in made.excluded} >= {BudgetExceeded, Deduplicated, NegativeTokens}
    assert wire.from_dict(SelectionReport, wire.to_dict(made)) == made
    assert wire.loads(SelectionReport, wire.dumps(made)) == made
