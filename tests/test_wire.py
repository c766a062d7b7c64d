"""The wire format. Diagnostics: Events, Exclusion Reasons, SelectionReport; data model; decisions WF-01 to WF-06."""

from __future__ import annotations

import copy
import io
import json
import math
import pickle
import tracemalloc
from collections import OrderedDict, UserDict
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    ContextKind,
    Pipeline,
    ReflexiveScorer,
    ScoredItem,
    SelectionReport,
    wire,
)
from pycupel.diagnostics import (
    BudgetExceeded,
    CountCapExceeded,
    CountRequireCandidatesExhausted,
    CountRequirementShortfall,
    Deduplicated,
    ExcludedItem,
    ExclusionReason,
    Filtered,
    IncludedItem,
    InclusionReason,
    NegativeTokens,
    OverflowEvent,
    PinnedOverride,
    PipelineStage,
    QuotaCapExceeded,
    QuotaRequireDisplaced,
    ScoredTooLow,
    TraceEvent,
    UnknownReason,
)
from pycupel.diagnostics.reasons import EXCLUSION_REASONS
from pycupel.errors import DocumentError, InvalidArgumentError, InvalidItemError

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
FULL_ITEM = ContextItem(
    "Grüße",
    7,
    kind="Document",
    source="Rag",
    priority=-2,
    tags=["a", "b"],
    metadata={"cupel:trust": 0.5, "origin": {"page": 3, "seen": None, "marks": [True, "x"]}},
    timestamp=NOON,
    future_relevance_hint=0.25,
    pinned=True,
    original_tokens=70,
)
FULL_ITEM_DOCUMENT: dict[str, Any] = {
    "content": "Grüße",
    "tokens": 7,
    "kind": "Document",
    "source": "Rag",
    "priority": -2,
    "tags": ["a", "b"],
    "metadata": {"cupel:trust": 0.5, "origin": {"page": 3, "seen": None, "marks": [True, "x"]}},
    "timestamp": "2026-01-05T12:00:00Z",
    "futureRelevanceHint": 0.25,
    "pinned": True,
    "originalTokens": 70,
}
FULL_BUDGET = ContextBudget(
    100, 60, output_reserve=20, reserved_slots={"Message": 5}, estimation_safety_margin_percent=10.0
)
FULL_BUDGET_DOCUMENT: dict[str, Any] = {
    "maxTokens": 100,
    "targetTokens": 60,
    "outputReserve": 20,
    "reservedSlots": {"Message": 5},
    "estimationSafetyMarginPercent": 10.0,
}
TURN = {"content": "turn", "tokens": 25, "kind": "Message", "source": "Chat"}
REPORT_DOCUMENT: dict[str, Any] = {
    "events": [
        {"stage": "Classify", "duration_ms": 0.5, "item_count": 4},
        {"stage": "Score", "duration_ms": 8.25, "item_count": 4},
        {"stage": "Deduplicate", "duration_ms": 0.0, "item_count": 1, "message": "Deduplicated"},
        {"stage": "Deduplicate", "duration_ms": 0.1, "item_count": 3},
        {"stage": "Slice", "duration_ms": 1.5, "item_count": 2},
        {"stage": "Place", "duration_ms": 0.2, "item_count": 2},
    ],
    "included": [
        {"item": TURN, "score": 0.9, "reason": {"reason": "Scored"}},
        {"item": {**TURN, "content": "prompt", "pinned": True}, "score": 1.0, "reason": {"reason": "Pinned"}},
    ],
    "excluded": [
        {
            "item": {**TURN, "content": "output", "tokens": 200, "kind": "ToolOutput", "source": "Tool"},
            "score": 0.4,
            "reason": {"reason": "BudgetExceeded", "item_tokens": 200, "available_tokens": 50},
        },
        {"item": TURN, "score": 0.3, "reason": {"reason": "Deduplicated", "deduplicated_against": "turn"}},
    ],
    "total_candidates": 4,
    "total_tokens_considered": 275,
    "count_requirement_shortfalls": [{"kind": "Note", "required_count": 2, "satisfied_count": 1}],
    "budget": {"maxTokens": 120, "targetTokens": 100},
}

# Every exclusion reason with its document: Exclusion Reasons, and ER-02 for the last two.
REASONS: list[tuple[ExclusionReason, dict[str, Any]]] = [
    (BudgetExceeded(20, 5), {"reason": "BudgetExceeded", "item_tokens": 20, "available_tokens": 5}),
    (ScoredTooLow(0.1, 0.2), {"reason": "ScoredTooLow", "score": 0.1, "threshold": 0.2}),
    (Deduplicated("kept"), {"reason": "Deduplicated", "deduplicated_against": "kept"}),
    (QuotaCapExceeded("Note", 3, 4), {"reason": "QuotaCapExceeded", "kind": "Note", "cap": 3, "actual": 4}),
    (QuotaRequireDisplaced("Note"), {"reason": "QuotaRequireDisplaced", "displaced_by_kind": "Note"}),
    (NegativeTokens(-1), {"reason": "NegativeTokens", "tokens": -1}),
    (PinnedOverride("pin"), {"reason": "PinnedOverride", "displaced_by": "pin"}),
    (Filtered("max_age"), {"reason": "Filtered", "filter_name": "max_age"}),
    (CountCapExceeded("Note", 2, 2), {"reason": "CountCapExceeded", "kind": "Note", "cap": 2, "count": 2}),
    (CountRequireCandidatesExhausted("Note"), {"reason": "CountRequireCandidatesExhausted", "kind": "Note"}),
    (UnknownReason("TooBoring", {"yawns": 3}), {"reason": "TooBoring", "yawns": 3}),
]


def included(reason: Any = InclusionReason.SCORED, *, score: float = 0.5) -> IncludedItem:
    return IncludedItem(ContextItem("turn", 25), score, reason)


def report(**changes: Any) -> dict[str, Any]:
    return {**copy.deepcopy(REPORT_DOCUMENT), **changes}


def changed(path: list[Any], value: Any) -> dict[str, Any]:
    """The report with something else in one place."""
    document = report()
    place: Any = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return document


def refused(cls: type[Any], data: Any, **options: Any) -> DocumentError:
    with pytest.raises(DocumentError) as info:
        wire.from_dict(cls, data, **options)
    return info.value


def unwritable(value: object, **options: Any) -> DocumentError:
    with pytest.raises(DocumentError) as info:
        wire.to_dict(value, **options)
    return info.value


def keys(document: Any) -> Iterator[str]:
    """All keys of all objects, but not those that belong to the user."""
    if isinstance(document, list):
        for element in document:
            yield from keys(element)
    elif isinstance(document, dict):
        for key, value in document.items():
            yield key
            if key not in {"metadata", "reservedSlots"}:
                yield from keys(value)


EVERYTHING: list[tuple[Any, dict[str, Any]]] = [
    (FULL_ITEM, FULL_ITEM_DOCUMENT),
    (FULL_BUDGET, FULL_BUDGET_DOCUMENT),
    (ScoredItem(ContextItem("turn", 25), 0.5), {"item": TURN, "score": 0.5}),
    (included(), {"item": TURN, "score": 0.5, "reason": {"reason": "Scored"}}),
    (
        ExcludedItem(ContextItem("turn", 25), 0.5, BudgetExceeded(25, 5)),
        {"item": TURN, "score": 0.5, "reason": {"reason": "BudgetExceeded", "item_tokens": 25, "available_tokens": 5}},
    ),
    (TraceEvent(PipelineStage.SCORE, 12.5, 47), {"stage": "Score", "duration_ms": 12.5, "item_count": 47}),
    (
        TraceEvent(PipelineStage.SLICE, 0.0, 1, "BudgetExceeded: 20 tokens requested, 5 available"),
        {
            "stage": "Slice",
            "duration_ms": 0.0,
            "item_count": 1,
            "message": "BudgetExceeded: 20 tokens requested, 5 available",
        },
    ),
    (
        OverflowEvent(5, (ContextItem("turn", 25),), ContextBudget(40, 20)),
        {"tokens_over_budget": 5, "overflowing_items": [TURN], "budget": {"maxTokens": 40, "targetTokens": 20}},
    ),
    (
        CountRequirementShortfall(ContextKind("Note"), 2, 1),
        {"kind": "Note", "required_count": 2, "satisfied_count": 1},
    ),
    *((member, {"reason": member.value}) for member in InclusionReason),
    *REASONS,
]
EACH = pytest.mark.parametrize(("value", "document"), EVERYTHING, ids=lambda v: type(v).__name__)


# --- the documents of the specification


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


@pytest.mark.parametrize(("reason", "document"), REASONS, ids=lambda v: type(v).__name__)
def test_the_base_class_stands_for_any_exclusion_reason(reason: ExclusionReason, document: dict[str, Any]) -> None:
    assert wire.from_dict(ExclusionReason, document) == reason


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
    assert str(refused(NegativeTokens, document)) == "reason: must be that of NegativeTokens, not 'Filtered'"
    assert refused(UnknownReason, document).path == "reason"
    assert refused(NegativeTokens, {"reason": "TooBoring"}).path == "reason"


# --- WF-01: naming


def test_items_and_budgets_are_written_in_camel_case_and_diagnostics_in_snake_case() -> None:
    """WF-01."""
    item = wire.to_dict(FULL_ITEM)
    assert {"futureRelevanceHint", "originalTokens"} <= item.keys()
    assert not [key for document in (item, wire.to_dict(FULL_BUDGET)) for key in keys(document) if "_" in key]
    diagnostics = report(included=[], excluded=[], budget=None, total_candidates=0, total_tokens_considered=0)
    written = wire.to_dict(wire.from_dict(SelectionReport, diagnostics))
    assert not [key for key in keys(written) if key != key.lower()]


def test_both_spellings_of_item_and_budget_are_read() -> None:
    """WF-01: other implementations write snake_case."""
    item = {**FULL_ITEM_DOCUMENT}
    item["future_relevance_hint"] = item.pop("futureRelevanceHint")
    item["original_tokens"] = item.pop("originalTokens")
    assert wire.from_dict(ContextItem, item, strict=True) == FULL_ITEM
    budget = {
        "max_tokens": 100,
        "target_tokens": 60,
        "output_reserve": 20,
        "reserved_slots": {"Message": 5},
        "estimation_safety_margin_percent": 10,
    }
    assert wire.from_dict(ContextBudget, budget, strict=True) == FULL_BUDGET


def test_both_spellings_of_diagnostics_are_read() -> None:
    """WF-01."""
    event = {"stage": "Score", "durationMs": 1.0, "itemCount": 2}
    assert wire.from_dict(TraceEvent, event, strict=True) == TraceEvent(PipelineStage.SCORE, 1.0, 2)
    reason = {"reason": "BudgetExceeded", "itemTokens": 2, "availableTokens": 1}
    assert wire.from_dict(ExclusionReason, reason, strict=True) == BudgetExceeded(2, 1)


def test_a_field_must_not_be_given_in_both_spellings() -> None:
    """WF-01: nobody could say which of them counts."""
    error = refused(ContextBudget, {"maxTokens": 10, "max_tokens": 20})
    assert str(error) == "maxTokens: is given twice, also as max_tokens"
    assert wire.from_dict(ContextBudget, {"maxTokens": None, "max_tokens": 20}) == ContextBudget(20)
    assert wire.from_dict(ContextBudget, {"maxTokens": 20, "max_tokens": None}) == ContextBudget(20)


def test_the_path_has_the_spelling_of_the_document() -> None:
    assert refused(ContextBudget, {"max_tokens": "x"}).path == "max_tokens"
    assert refused(ContextBudget, {"maxTokens": "x"}).path == "maxTokens"


@pytest.mark.parametrize(
    "path",
    [
        ["colour"],
        ["events", 0, "colour"],
        ["included", 1, "colour"],
        ["included", 1, "item", "colour"],
        ["included", 1, "reason", "colour"],
        ["excluded", 0, "reason", "colour"],
        ["count_requirement_shortfalls", 0, "colour"],
        ["budget", "colour"],
    ],
    ids=lambda path: ".".join(map(str, path)),
)
def test_unknown_keys_are_ignored_unless_reading_is_strict(path: list[Any]) -> None:
    """WF-01."""
    document = changed(path, "red")
    assert wire.from_dict(SelectionReport, document) == wire.from_dict(SelectionReport, REPORT_DOCUMENT)
    expected = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
    error = refused(SelectionReport, document, strict=True)
    assert error.path == expected
    with pytest.raises(DocumentError) as info:
        wire.loads(SelectionReport, json.dumps(document), strict=True)
    assert info.value.path == expected


def test_a_strict_reader_says_which_keys_there_are() -> None:
    """WF-01."""
    error = refused(ScoredItem, {"item": TURN, "score": 1, "kind of": 2}, strict=True)
    assert str(error) == '["kind of"]: is not known; known are item, score'
    assert refused(ScoredItem, {"item": TURN, "score": 1, 7: 2}, strict=True).path == '["7"]'


def test_a_strict_reader_reads_what_is_written() -> None:
    """WF-01."""
    for value, document in EVERYTHING:
        assert wire.from_dict(type(value), document, strict=True) == value
    assert wire.to_dict(wire.from_dict(SelectionReport, REPORT_DOCUMENT, strict=True)) == REPORT_DOCUMENT


# --- WF-02: absent, never null


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


# --- WF-03: what is not known


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
    with pytest.raises(InvalidArgumentError, match="Filtered is a known reason"):
        UnknownReason("Filtered", {"filter_name": "x"})
    with pytest.raises(InvalidArgumentError, match="'reason'"):
        UnknownReason("TooBoring", {"reason": "x"})
    with pytest.raises(TypeError, match="name must be a str"):
        UnknownReason(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="fields must be a mapping"):
        UnknownReason("TooBoring", [])  # type: ignore[arg-type]


# --- WF-04: the nesting of reasons


def test_the_reason_of_an_item_is_an_object_with_a_reason() -> None:
    """WF-04."""
    assert wire.to_dict(included())["reason"] == {"reason": "Scored"}
    bare = {"item": TURN, "score": 0.5, "reason": "Scored"}
    assert str(refused(IncludedItem, bare)) == "reason: must be an object, not 'Scored' (str)"
    assert str(refused(ExcludedItem, bare)) == "reason: must be an object, not 'Scored' (str)"
    assert refused(IncludedItem, {**bare, "reason": {"reason": 3}}).path == "reason.reason"
    assert refused(ExcludedItem, {**bare, "reason": {}}).path == "reason.reason"


# --- WF-05: timestamps and numbers


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
    assert str(error).startswith("timestamp: must be a time with its zone, like 2026-01-05T12:00:00Z, not ")
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


# --- what cannot be written


MARGIN = "budget.estimationSafetyMarginPercent"
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
        (ContextBudget(9, reserved_slots={SURROGATE: 1}), "reservedSlots"),
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
    assert str(error) == f"{path}: has a lone surrogate at index 5, which cannot be written"


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
            "metadata.when: must be JSON: a string, number, bool, None, list or dict, not a value of type ",
        ),
        ({"a": [1, {"b": {2}}]}, "metadata.a[1].b: must be JSON"),
        ({"a": b"x"}, "metadata.a: must be JSON"),
        ({"span": (3, 9)}, "metadata.span: must be JSON"),
        ({"a b": [object()]}, 'metadata["a b"][0]: must be JSON'),
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
    assert str(error) == "item.metadata: is nested too deeply, or contains itself"


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


# --- where a document is wrong


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        (["events"], {}, "events: must be a list, not an object"),
        (["events"], None, "events: is missing"),
        (["events", 2], "x", "events[2]: must be an object, not 'x' (str)"),
        (["events", 2, "stage"], 3, "events[2].stage: must be a string, not 3 (int)"),
        (["events", 0, "duration_ms"], "1", "events[0].duration_ms: must be a number, not '1' (str)"),
        (["events", 0, "duration_ms"], True, "events[0].duration_ms: must be a number, not True (bool)"),
        (["events", 0, "item_count"], 1.0, "events[0].item_count: must be an integer, not 1.0 (float)"),
        (["events", 0, "message"], [], "events[0].message: must be a string, not a list"),
        (["included", 1, "item"], None, "included[1].item: is missing"),
        (["included", 1, "item", "tokens"], "7", "included[1].item.tokens: must be an integer, not '7' (str)"),
        (["included", 1, "item", "tokens"], True, "included[1].item.tokens: must be an integer, not True (bool)"),
        (["included", 1, "item", "tokens"], None, "included[1].item.tokens: is missing"),
        (["included", 1, "item", "content"], "", "included[1].item.content: content must not be empty"),
        (
            ["included", 1, "item", "kind"],
            " ",
            "included[1].item.kind: ContextKind must not be empty or blank",
        ),
        (
            ["included", 1, "item", "source"],
            "",
            "included[1].item.source: ContextSource must not be empty or blank",
        ),
        (["included", 1, "item", "pinned"], 1, "included[1].item.pinned: must be true or false, not 1 (int)"),
        (["included", 1, "item", "tags"], "ab", "included[1].item.tags: must be a list, not 'ab' (str)"),
        (
            ["included", 1, "item", "tags"],
            ["a", None],
            "included[1].item.tags[1]: must be a string, not None (NoneType)",
        ),
        (["included", 1, "item", "metadata"], [], "included[1].item.metadata: must be an object, not a list"),
        (
            ["included", 1, "item", "futureRelevanceHint"],
            {},
            "included[1].item.futureRelevanceHint: must be a number, not an object",
        ),
        (["included", 0, "score"], None, "included[0].score: is missing"),
        (["included", 0, "reason"], [], "included[0].reason: must be an object, not a list"),
        (["excluded", 0, "reason", "reason"], None, "excluded[0].reason.reason: is missing"),
        (
            ["excluded", 0, "reason", "item_tokens"],
            "x",
            "excluded[0].reason.item_tokens: must be an integer, not 'x' (str)",
        ),
        (
            ["total_candidates"],
            5,
            "total_candidates: total_candidates is 5, but there are 2 included and 2 excluded items",
        ),
        (
            ["total_tokens_considered"],
            1,
            "total_tokens_considered: total_tokens_considered is 1, but the items have 275 tokens",
        ),
        (
            ["count_requirement_shortfalls", 0, "kind"],
            " ",
            "count_requirement_shortfalls[0].kind: ContextKind must not be empty or blank",
        ),
        (["budget"], 100, "budget: must be an object, not 100 (int)"),
        (["budget", "maxTokens"], None, "budget.maxTokens: is missing"),
        (["budget", "maxTokens"], -1, "budget.maxTokens: max_tokens must not be negative, but is -1"),
        (
            ["budget", "targetTokens"],
            121,
            "budget.targetTokens: target_tokens (121) must not exceed max_tokens (120)",
        ),
        (
            ["budget", "estimationSafetyMarginPercent"],
            101,
            f"{MARGIN}: estimation_safety_margin_percent must be between 0.0 and 100.0, not 101.0",
        ),
        (["budget", "reservedSlots"], [], "budget.reservedSlots: must be an object, not a list"),
        (["budget", "reservedSlots"], {"A": 1.5}, "budget.reservedSlots.A: must be an integer, not 1.5 (float)"),
        (
            ["budget", "reservedSlots"],
            {" ": 1},
            'budget.reservedSlots[" "]: ContextKind must not be empty or blank',
        ),
        (
            ["budget", "reservedSlots"],
            {"A": -1},
            "budget.reservedSlots: reserved_slots['A'] must not be negative, but is -1",
        ),
        (
            ["budget", "reservedSlots"],
            {"A": 1, "a": 2},
            "budget.reservedSlots: reserved_slots: duplicate kind 'a' (kinds are case-insensitive)",
        ),
    ],
    ids=lambda v: ".".join(map(str, v)) if isinstance(v, list) and v and isinstance(v[0], str) else None,
)
def test_an_error_says_where_and_what(path: list[Any], value: Any, text: str) -> None:
    """SR-08 and the model's own rules; type mistakes in a document are mistakes of the document."""
    document = changed(path, value)
    error = refused(SelectionReport, document)
    assert str(error) == text
    assert error.path == text.partition(": ")[0]
    with pytest.raises(DocumentError) as info:
        wire.loads(SelectionReport, json.dumps(document))
    assert str(info.value) == text


def test_the_error_of_the_model_is_the_cause() -> None:
    error = refused(ContextItem, {"content": "", "tokens": 1})
    assert isinstance(error.__cause__, InvalidItemError)


@pytest.mark.parametrize("data", [[], "x", 3, None, True])
@pytest.mark.parametrize("cls", [ContextItem, SelectionReport, InclusionReason, ExclusionReason, BudgetExceeded])
def test_a_document_is_an_object(cls: type[Any], data: Any) -> None:
    error = refused(cls, data)
    assert error.path == ""
    assert str(error).startswith("must be an object, not ")


def test_any_mapping_is_an_object() -> None:
    data = MappingProxyType({"item": UserDict(TURN), "score": 0.5})
    assert wire.from_dict(ScoredItem, data) == ScoredItem(ContextItem("turn", 25), 0.5)


def test_large_values_are_not_shown() -> None:
    assert str(refused(ContextItem, {"content": 10**5_000, "tokens": 1})).endswith("not a value of type int")
    assert len(str(refused(ContextItem, {"content": "x", "tokens": "y" * 10_000}))) < 120
    assert str(refused(ContextItem, {"content": 2**63, "tokens": 1})).endswith(f"not {2**63} (int)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON: Expecting value at column 1"),
        ("{", "is not JSON: Expecting property name enclosed in double quotes at column 2"),
        ('{\n"content" "x"}', "is not JSON: Expecting ':' delimiter at line 2, column 11"),
        ("{} {}", "is not JSON: Extra data at column 4"),
        ("null", "must be an object, not None (NoneType)"),
        (b"\xff", "cannot be read as JSON: 'utf-8' codec can't decode"),
        ("[" * 200_000, "cannot be read as JSON: "),
    ],
    ids=range(7),
)
def test_a_text_that_is_no_document_is_refused(text: str | bytes, message: str) -> None:
    with pytest.raises(DocumentError) as info:
        wire.loads(ContextItem, text)
    assert str(info.value).startswith(message)
    assert info.value.path == ""


def test_an_error_survives_pickling() -> None:
    """PY-12."""
    for error in (refused(SelectionReport, changed(["events", 2, "stage"], 3)), DocumentError("is odd", hint="Use 6.")):
        for loaded in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
            assert type(loaded) is DocumentError
            assert (str(loaded), vars(loaded)) == (str(error), vars(error))


# --- wrong calls


SUPPORTED = (
    "ContextItem, ContextBudget, ScoredItem, SelectionReport, IncludedItem, ExcludedItem, TraceEvent, OverflowEvent, "
    "CountRequirementShortfall, InclusionReason, ExclusionReason"
)


@pytest.mark.parametrize("value", ["Scored", 3, None, {}, [FULL_ITEM], ContextItem, ContextKind("Note")])
def test_a_value_without_a_wire_format_is_a_type_error(value: Any) -> None:
    for function in (wire.to_dict, wire.dumps):
        with pytest.raises(TypeError, match=f"^value must be one of {SUPPORTED}, not "):
            function(value)


@pytest.mark.parametrize("cls", [str, dict, None, "ContextItem", [], Pipeline, FULL_ITEM])
def test_a_class_without_a_wire_format_is_a_type_error(cls: Any) -> None:
    with pytest.raises(TypeError, match=f"^cls must be one of {SUPPORTED}, not "):
        wire.from_dict(cls, {})
    with pytest.raises(TypeError, match=f"^cls must be one of {SUPPORTED}, not "):
        wire.loads(cls, "not even JSON")


@pytest.mark.parametrize("text", [{}, None, 3])
def test_a_text_is_a_string(text: Any) -> None:
    with pytest.raises(TypeError, match=r"^text must be a str or bytes"):
        wire.loads(ContextItem, text)


# --- a run


def test_the_report_of_a_run_comes_back() -> None:
    items = [FULL_ITEM, *(ContextItem(f"note {i % 3}", 30 + i, future_relevance_hint=i / 7) for i in range(6))]
    items.append(ContextItem("odd", -1))
    made = Pipeline(ReflexiveScorer()).dry_run(items, ContextBudget(100))
    assert {type(each.reason) for each in made.excluded} >= {BudgetExceeded, Deduplicated, NegativeTokens}
    assert wire.from_dict(SelectionReport, wire.to_dict(made)) == made
    assert wire.loads(SelectionReport, wire.dumps(made)) == made


# --- JSON lines


def lines(items: Iterable[ContextItem]) -> str:
    stream = io.StringIO()
    wire.write_items(stream, items)
    return stream.getvalue()


def test_items_are_written_one_to_a_line() -> None:
    stream = io.StringIO()
    items = [FULL_ITEM, ContextItem("two\nlines\r\n\u2028\x85", 2)]
    assert wire.write_items(stream, iter(items)) == 2
    text = stream.getvalue()
    assert text.endswith("\n")
    assert [json.loads(line) for line in text.split("\n")[:-1]] == [wire.to_dict(item) for item in items]
    assert list(wire.read_items(io.StringIO(text))) == items


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_items_are_read_from_a_file(tmp_path: Path, newline: str) -> None:
    items = [FULL_ITEM, ContextItem("two\u2028lines", 2)]
    path = tmp_path / "items.jsonl"
    with path.open("w", encoding="utf-8", newline=newline) as stream:
        wire.write_items(stream, items)
    with path.open(encoding="utf-8") as stream:
        assert list(wire.read_items(stream)) == items
    with path.open("rb") as binary:
        assert list(wire.read_items(binary)) == items


def test_nothing_is_written_for_no_items() -> None:
    stream = io.StringIO()
    assert wire.write_items(stream, []) == 0
    assert stream.getvalue() == ""
    assert list(wire.read_items(stream)) == []


def test_blank_lines_are_skipped_and_counted() -> None:
    text = [
        "\n",
        '{"content": "a", "tokens": 1}\n',
        "  \t\r\n",
        '{"content": "b", "tokens": 2}\n',
        "",
        '{"content": 3}',
    ]
    read = wire.read_items(text)
    assert [next(read).content, next(read).content] == ["a", "b"]
    with pytest.raises(DocumentError) as info:
        next(read)
    assert (info.value.path, str(info.value)) == (
        "line 6: content",
        "line 6: content: must be a string, not 3 (int)",
    )


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("{", "line 2: is not JSON: Expecting property name enclosed in double quotes at column 2"),
        ("[]", "line 2: must be an object, not a list"),
        ('{"content": "a"}', "line 2: tokens: is missing"),
        ('{"content": "a", "tokens": 1, "tags": [1]}', "line 2: tags[0]: must be a string, not 1 (int)"),
        (
            '{"content": "a", "tokens": 1, "futureRelevanceHint": NaN}',
            "line 2: futureRelevanceHint: must be finite, not nan, unless allow_nan is set",
        ),
    ],
)
def test_an_error_names_the_line(line: str, text: str) -> None:
    with pytest.raises(DocumentError) as info:
        list(wire.read_items([lines([FULL_ITEM]), line]))
    assert str(info.value) == text


def test_lines_are_read_as_strictly_as_asked() -> None:
    line = '{"content": "a", "tokens": 1, "colour": "red", "futureRelevanceHint": NaN}'
    with pytest.raises(DocumentError, match=r"^line 1: colour: is not known"):
        list(wire.read_items([line], strict=True, allow_nan=True))
    (item,) = wire.read_items([line], allow_nan=True)
    assert math.isnan(item.future_relevance_hint or 0.0)
    with pytest.raises(DocumentError, match=r"^line 1: futureRelevanceHint"):
        lines([item])
    stream = io.StringIO()
    wire.write_items(stream, [item], allow_nan=True)
    assert '"futureRelevanceHint": NaN' in stream.getvalue()


def test_an_item_that_cannot_be_written_leaves_the_lines_before_it() -> None:
    stream = io.StringIO()
    with pytest.raises(DocumentError, match=r"^line 2: metadata.when: must be JSON"):
        wire.write_items(stream, [FULL_ITEM, ContextItem("x", 1, metadata={"when": NOON})])
    assert list(wire.read_items(stream.getvalue().splitlines())) == [FULL_ITEM]


def test_only_items_are_written() -> None:
    with pytest.raises(TypeError, match=r"^items\[1\] must be a ContextItem, not 'x'"):
        wire.write_items(io.StringIO(), [FULL_ITEM, "x"])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"^items must be an iterable of ContextItem"):
        wire.write_items(io.StringIO(), FULL_ITEM)  # type: ignore[arg-type]


@pytest.mark.parametrize("stream", ["items.jsonl", b"x", Path("items.jsonl"), None])
def test_a_path_is_no_stream(stream: Any) -> None:
    """At once, not when the first item is asked for."""
    with pytest.raises(TypeError, match=r"^stream must be an open file or another iterable of lines"):
        wire.read_items(stream)


def test_lines_are_text() -> None:
    with pytest.raises(TypeError, match=r"^text must be a str or bytes"):
        list(wire.read_items([{"content": "a", "tokens": 1}]))  # type: ignore[arg-type]


class Sink:
    """A stream that forgets."""

    size = 0

    def write(self, text: str) -> None:
        self.size += len(text)


def peak(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_items_are_streamed_in_constant_memory() -> None:
    """10 000 items pass through in less than half the memory that holding 1 000 of them takes."""
    line = wire.dumps(FULL_ITEM)

    def source(count: int) -> Iterator[str]:
        return (line.replace("Grüße", f"Grüße {i}") for i in range(count))

    sink = Sink()
    held = peak(lambda: list(wire.read_items(source(1_000))))
    streamed = peak(lambda: wire.write_items(sink, wire.read_items(source(10_000))))
    assert sink.size > 10_000 * len(line)
    assert streamed < held / 2
