"""What an error says, and where the document is wrong."""

from __future__ import annotations

import copy
import json
import pickle
from collections import UserDict
from types import MappingProxyType
from typing import Any

import pytest

from pycupel import ContextBudget, ContextItem, ContextKind, Pipeline, ScoredItem, SelectionReport, wire
from pycupel.diagnostics import BudgetExceeded, ExclusionReason, InclusionReason
from pycupel.errors import DocumentError, InvalidItemError
from tests.wire.samples import ITEM, TURN, changed, refused


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("events", {}, ": must be a list, not an object"),
        ("events", None, ": is missing"),
        ("events[2]", "x", ": must be an object, not 'x' (str)"),
        ("events[2].stage", 3, ": must be a string, not 3 (int)"),
        ("events[0].duration_ms", "1", ": must be a number, not '1' (str)"),
        ("events[0].duration_ms", True, ": must be a number, not True (bool)"),
        ("events[0].item_count", 1.0, ": must be an integer, not 1.0 (float)"),
        ("events[0].message", [], ": must be a string, not a list"),
        ("included[1].item", None, ": is missing"),
        ("included[1].item.tokens", "7", ": must be an integer, not '7' (str)"),
        ("included[1].item.tokens", True, ": must be an integer, not True (bool)"),
        ("included[1].item.tokens", None, ": is missing"),
        ("included[1].item.content", "", ": must not be empty"),
        ("included[1].item.kind", " ", ": ContextKind must not be empty or blank"),
        ("included[1].item.source", "", ": ContextSource must not be empty or blank"),
        ("included[1].item.pinned", 1, ": must be true or false, not 1 (int)"),
        ("included[1].item.tags", "ab", ": must be a list, not 'ab' (str)"),
        ("included[1].item.tags", ["a", None], "[1]: must be a string, not None (NoneType)"),
        ("included[1].item.metadata", [], ": must be an object, not a list"),
        ("included[1].item.futureRelevanceHint", {}, ": must be a number, not an object"),
        ("included[0].score", None, ": is missing"),
        ("included[0].reason", [], ": must be an object, not a list"),
        ("excluded[0].reason.reason", None, ": is missing"),
        ("excluded[0].reason.item_tokens", "x", ": must be an integer, not 'x' (str)"),
        ("total_candidates", 5, ": must be 4 (2 included + 2 excluded), not 5"),
        ("total_tokens_considered", 1, ": total_tokens_considered is 1, but the items have 275 tokens"),
        ("count_requirement_shortfalls[0].kind", " ", ": ContextKind must not be empty or blank"),
        ("budget", 100, ": must be an object, not 100 (int)"),
        ("budget.maxTokens", None, ": is missing"),
        ("budget.maxTokens", -1, ": must be 0 or more, not -1"),
        ("budget.targetTokens", 121, ": target_tokens (121) must not exceed max_tokens (120)"),
        (
            "budget.estimationSafetyMarginPercent",
            101,
            ": must be between 0.0 and 100.0, not 101.0",
        ),
        ("budget.reservedSlots", [], ": must be an object, not a list"),
        ("budget.reservedSlots", {"A": 1.5}, ".A: must be an integer, not 1.5 (float)"),
        ("budget.reservedSlots", {" ": 1}, '[" "]: ContextKind must not be empty or blank'),
        ("budget.reservedSlots", {"A": -1}, ".A: must be at least 0, not -1 (int)"),
        ("budget.reservedSlots", {"A": 1, "a": 2}, ".a: duplicate kind 'a' (kinds are case-insensitive)"),
    ],
)
def test_an_error_says_where_and_what(path: str, value: Any, text: str) -> None:
    """SR-08 and the model's own rules. The text follows the path at which the value was put into the report."""
    document = changed(path, value)
    error = refused(SelectionReport, document)
    assert str(error) == f"{path}{text}"
    assert error.path == str(error).partition(": ")[0]
    with pytest.raises(DocumentError) as info:
        wire.loads(SelectionReport, json.dumps(document))
    assert str(info.value) == str(error)


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
        ("", "invalid JSON: Expecting value at column 1"),
        ("{", "invalid JSON: Expecting property name enclosed in double quotes at column 2"),
        ('{\n"content" "x"}', "invalid JSON: Expecting ':' delimiter at line 2, column 11"),
        ("{} {}", "invalid JSON: Extra data at column 4"),
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
    for error in (refused(SelectionReport, changed("events[2].stage", 3)), DocumentError("is odd", hint="Use 6.")):
        for loaded in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
            assert type(loaded) is DocumentError
            assert (str(loaded), vars(loaded)) == (str(error), vars(error))


SUPPORTED = (
    "ContextItem, ContextBudget, ScoredItem, SelectionReport, IncludedItem, ExcludedItem, TraceEvent, OverflowEvent, "
    "CountRequirementShortfall, InclusionReason, ExclusionReason, MessageSelection"
)


@pytest.mark.parametrize("value", ["Scored", 3, None, {}, [ITEM], ContextItem, ContextKind("Note")])
def test_a_value_without_a_wire_format_is_a_type_error(value: Any) -> None:
    for function in (wire.to_dict, wire.dumps):
        with pytest.raises(TypeError, match=f"^value must be one of {SUPPORTED}, not "):
            function(value)


@pytest.mark.parametrize("cls", [str, dict, None, "ContextItem", [], Pipeline, ITEM])
def test_a_class_without_a_wire_format_is_a_type_error(cls: Any) -> None:
    with pytest.raises(TypeError, match=f"^cls must be one of {SUPPORTED}, not "):
        wire.from_dict(cls, {})
    with pytest.raises(TypeError, match=f"^cls must be one of {SUPPORTED}, not "):
        wire.loads(cls, "not even JSON")


@pytest.mark.parametrize("text", [{}, None, 3])
def test_a_text_is_a_string(text: Any) -> None:
    with pytest.raises(TypeError, match=r"^text must be a str or bytes"):
        wire.loads(ContextItem, text)


@pytest.mark.parametrize(("key", "step"), [(5, '["5"]'), ((), '["()"]'), ("a b", '["a b"]'), ("x" * 300, "x" * 200)])
def test_any_key_can_be_told(key: Any, step: str) -> None:
    with pytest.raises(DocumentError) as caught:
        wire.from_dict(ContextBudget, {"maxTokens": 1, key: 1}, strict=True)
    assert caught.value.path.startswith(step if len(step) < 200 else f'["{step}...')
