"""`ContextBudget`. Data model: ContextBudget."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import math
import pickle
from dataclasses import FrozenInstanceError
from types import MappingProxyType
from typing import Any

import pytest

from pycupel import ContextBudget, ContextItem, ContextKind, CupelError, Pipeline, RecencyScorer
from pycupel.errors import InvalidBudgetError
from tests.model.numbers import IndexOnly

FIELDS = ("max_tokens", "target_tokens", "output_reserve", "reserved_slots", "estimation_safety_margin_percent")


def full_budget(**changes: Any) -> ContextBudget:
    """A budget without any default."""
    values: dict[str, Any] = {
        "max_tokens": 100,
        "target_tokens": 60,
        "output_reserve": 20,
        "reserved_slots": {"Message": 5, "Memory": 3},
        "estimation_safety_margin_percent": 10.0,
    }
    return ContextBudget(**{**values, **changes})


# --- fields and defaults


@pytest.mark.proves("S-BU-01", "S-BU-03", "S-BU-04", "S-BU-05")
def test_the_maximum_is_enough() -> None:
    """ContextBudget: the defaults of the field table."""
    budget = ContextBudget(100)
    assert {name: getattr(budget, name) for name in FIELDS} == {
        "max_tokens": 100,
        "target_tokens": 100,
        "output_reserve": 0,
        "reserved_slots": {},
        "estimation_safety_margin_percent": 0.0,
    }
    with pytest.raises(TypeError, match="max_tokens"):
        ContextBudget()  # type: ignore[call-arg]


@pytest.mark.proves("S-BU-02")
def test_every_field_is_kept() -> None:
    budget = full_budget()
    assert {name: getattr(budget, name) for name in FIELDS} == {
        "max_tokens": 100,
        "target_tokens": 60,
        "output_reserve": 20,
        "reserved_slots": {ContextKind.MESSAGE: 5, ContextKind.MEMORY: 3},
        "estimation_safety_margin_percent": 10.0,
    }


def test_the_signature_is_the_specifications() -> None:
    parameters = inspect.signature(ContextBudget).parameters
    assert tuple(parameters) == FIELDS
    keyword_only = [name for name, p in parameters.items() if p.kind is inspect.Parameter.KEYWORD_ONLY]
    assert tuple(keyword_only) == FIELDS[2:]


@pytest.mark.proves("S-BU-02")
@pytest.mark.parametrize(("reserve", "target"), [(0, 100), (30, 70), (100, 0)])
def test_the_target_is_what_the_reserve_leaves_unless_given(reserve: int, target: int) -> None:
    """An extension: the specification requires a target."""
    assert ContextBudget(100, output_reserve=reserve).target_tokens == target


# --- the seven rules


@pytest.mark.proves("S-BU-01", "S-BU-19")
@pytest.mark.parametrize(
    ("rule", "arguments", "message", "value"),
    [
        (1, {"max_tokens": -1}, "max_tokens must be 0 or more, not -1", -1),
        (2, {"target_tokens": -1}, "target_tokens must be 0 or more, not -1", -1),
        (3, {"target_tokens": 11}, "target_tokens (11) must not exceed max_tokens (10)", 11),
        (4, {"output_reserve": -1}, "output_reserve must be 0 or more, not -1", -1),
        (5, {"output_reserve": 11}, "output_reserve (11) must not exceed max_tokens (10)", 11),
        (
            6,
            {"estimation_safety_margin_percent": -0.5},
            "estimation_safety_margin_percent must be between 0.0 and 100.0, not -0.5",
            -0.5,
        ),
        (
            6,
            {"estimation_safety_margin_percent": 100.5},
            "estimation_safety_margin_percent must be between 0.0 and 100.0, not 100.5",
            100.5,
        ),
        (
            7,
            {"reserved_slots": {"Memory": 1, "Note": -1}},
            "reserved_slots['Note'] must be 0 or more, not -1",
            -1,
        ),
    ],
)
def test_each_validation_rule_is_enforced(rule: int, arguments: dict[str, Any], message: str, value: Any) -> None:
    """ContextBudget: a conforming implementation MUST enforce rules 1 to 7; the error carries what is wrong."""
    with pytest.raises(InvalidBudgetError) as caught:
        ContextBudget(**{"max_tokens": 10, **arguments})
    assert str(caught.value) == message, f"rule {rule}"
    assert (caught.value.argument, caught.value.value) == (*arguments, value)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, CupelError)


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("max_tokens", 10.0, "max_tokens must be an int, not 10.0 (float)"),
        ("max_tokens", None, "max_tokens must be an int, not None (NoneType)"),
        ("target_tokens", "10", "target_tokens must be an int, not '10' (str)"),
        ("output_reserve", True, "output_reserve must be an int, not True (bool)"),
        ("output_reserve", None, "output_reserve must be an int, not None (NoneType)"),
        ("reserved_slots", [], "reserved_slots must be a mapping from kind to tokens, not [] (list)"),
        ("reserved_slots", {1: 2}, "reserved_slots: kind must be a str or a ContextKind, not 1 (int)"),
        ("reserved_slots", {"Note": "2"}, "reserved_slots['Note'] must be an int, not '2' (str)"),
        (
            "estimation_safety_margin_percent",
            "1",
            "estimation_safety_margin_percent must be a number, not '1' (str)",
        ),
    ],
)
def test_a_value_of_a_wrong_type_is_shown_with_its_argument(name: str, wrong: Any, message: str) -> None:
    """DM-02: only the target may be None. `test_checks.py` shows which values have a wrong type."""
    with pytest.raises(TypeError) as caught:
        full_budget(**{name: wrong})
    assert str(caught.value) == message
    assert getattr(caught.value, "argument", None) == name


@pytest.mark.proves("S-BU-01")
@pytest.mark.parametrize(
    "arguments",
    [
        {"max_tokens": 0},
        {"max_tokens": 0, "target_tokens": 0, "output_reserve": 0},
        {"max_tokens": 10, "target_tokens": 0},
        {"max_tokens": 10, "target_tokens": 10},
        {"max_tokens": 10, "output_reserve": 0},
        {"max_tokens": 10, "output_reserve": 10},
        {"max_tokens": 10, "estimation_safety_margin_percent": 0.0},
        {"max_tokens": 10, "estimation_safety_margin_percent": -0.0},
        {"max_tokens": 10, "estimation_safety_margin_percent": 100.0},
        {"max_tokens": 10, "estimation_safety_margin_percent": 5e-324},
        {"max_tokens": 10, "reserved_slots": {ContextKind("Note"): 0}},
        {"max_tokens": 2**70},
    ],
)
def test_the_edges_of_the_rules_are_legal(arguments: dict[str, Any]) -> None:
    """ContextBudget: every bound is inclusive. DM-13: a maximum of 0 is legal."""
    budget = ContextBudget(**arguments)
    assert {name: getattr(budget, name) for name in arguments} == arguments


@pytest.mark.parametrize("margin", [math.nan, math.inf, -math.inf])
def test_the_margin_is_finite(margin: float) -> None:
    """DM-14: NaN is no valid percentage, although no comparison finds it out of range."""
    with pytest.raises(InvalidBudgetError) as caught:
        ContextBudget(10, estimation_safety_margin_percent=margin)
    assert str(caught.value) == f"estimation_safety_margin_percent must be finite, not {margin}"


def test_an_integer_margin_becomes_a_float() -> None:
    margin = ContextBudget(10, estimation_safety_margin_percent=0).estimation_safety_margin_percent
    assert margin == 0.0
    assert type(margin) is float


def test_the_target_may_exceed_what_the_reserve_leaves() -> None:
    """DM-15: legal; the effective budget clamps it."""
    assert ContextBudget(100, 90, output_reserve=50).target_tokens == 90


def test_slots_may_exceed_the_maximum() -> None:
    """DM-17: legal; the effective budget is then 0."""
    budget = ContextBudget(10, reserved_slots={"Message": 11})
    assert Pipeline(RecencyScorer()).run([ContextItem("text", 1)], budget) == []


# --- types


@pytest.mark.parametrize("field", ["max_tokens", "target_tokens", "output_reserve"])
def test_counts_come_from_index(field: str) -> None:
    """DM-02, PY-05: numpy's integers too; what is stored is a plain int."""
    values: dict[str, Any] = {"max_tokens": 50, "target_tokens": 5, "output_reserve": 5, field: IndexOnly(8)}
    value = getattr(ContextBudget(**values), field)
    assert value == 8
    assert type(value) is int


# --- reserved slots


def test_slots_take_kinds_and_strings() -> None:
    """DM-11: a plain str is accepted; the spelling is kept."""
    slots: Any = {"note": 1, ContextKind("Other"): 2}
    budget = ContextBudget(10, reserved_slots=slots)
    assert {kind.value: tokens for kind, tokens in budget.reserved_slots.items()} == {"note": 1, "Other": 2}
    assert all(type(kind) is ContextKind for kind in budget.reserved_slots)


@pytest.mark.proves("S-EN-04")
@pytest.mark.parametrize("name", ["Message", "message", "MESSAGE"])
def test_slots_are_looked_up_in_any_case(name: str) -> None:
    """META-04: case-insensitivity applies to the keys of reservedSlots."""
    assert full_budget().reserved_slots[ContextKind(name)] == 5


@pytest.mark.parametrize(
    "slots", [{"Note": 1, "note": 2}, {"Note": 1, ContextKind("nOTE"): 1}, {ContextKind("Note"): 0, "NOTE": 0}]
)
def test_two_spellings_of_one_kind_are_refused(slots: Any) -> None:
    """DM-12: instead of one silently replacing the other."""
    with pytest.raises(
        InvalidBudgetError, match=r"(?i)^reserved_slots: duplicate kind 'note' \(kinds are case-insensitive\)$"
    ) as caught:
        ContextBudget(10, reserved_slots=slots)
    assert (caught.value.argument, caught.value.value) == ("reserved_slots", [*slots][1])


def test_kinds_that_only_unicode_would_fold_do_not_collide() -> None:
    """DM-09: only A to Z fold."""
    assert len(ContextBudget(10, reserved_slots={"É": 1, "é": 1}).reserved_slots) == 2


def test_a_blank_kind_in_slots_is_refused() -> None:
    """DM-11: as everywhere."""
    with pytest.raises(ValueError, match="blank") as caught:
        ContextBudget(10, reserved_slots={" ": 1})
    assert getattr(caught.value, "argument", None) == "reserved_slots"


def test_the_values_of_slots_come_from_index() -> None:
    """DM-02, PY-05."""
    slots: Any = {"Note": IndexOnly(4)}
    assert list(ContextBudget(10, reserved_slots=slots).reserved_slots.values()) == [4]


@pytest.mark.parametrize("wrap", [dict, MappingProxyType])
def test_a_later_change_of_the_callers_slots_has_no_effect(wrap: Any) -> None:
    """DM-06: reservedSlots is copied."""
    slots = {"Note": 1}
    given = slots if wrap is dict else wrap(slots)
    budget = ContextBudget(10, reserved_slots=given)
    slots["Note"] = 2
    slots["More"] = 3
    assert budget.reserved_slots == {ContextKind("Note"): 1}


# --- sizes


@pytest.mark.parametrize("given", [10, IndexOnly(10), ContextBudget(10)])
def test_a_number_is_a_budget_too(given: Any) -> None:
    assert ContextBudget.of(given) == ContextBudget(10)


def test_a_budget_is_taken_as_it_is() -> None:
    budget = full_budget()
    assert ContextBudget.of(budget) is budget


@pytest.mark.parametrize("given", [True, 1.5, "10", None, {"max_tokens": 10}])
def test_anything_else_is_no_budget(given: Any) -> None:
    with pytest.raises(TypeError) as caught:
        ContextBudget.of(given, "base_budget")
    expected = f"base_budget must be a ContextBudget or an int, not {given!r} ({type(given).__name__})"
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("budget", "available", "limit"),
    [
        (ContextBudget(100), 100, 100),
        (ContextBudget(100, 60, output_reserve=20), 80, 60),
        (ContextBudget(100, 90, output_reserve=20), 80, 80),
    ],
)
def test_a_selection_is_limited_by_the_target_and_by_the_output_reserve(
    budget: ContextBudget, available: int, limit: int
) -> None:
    assert (budget.available_tokens, budget.selection_limit) == (available, limit)


def test_a_resized_budget_keeps_its_reserves() -> None:
    assert full_budget().resized(200) == full_budget(max_tokens=200, target_tokens=200)
    assert full_budget().resized(200, 50) == full_budget(max_tokens=200, target_tokens=50)


def test_the_output_reserve_shrinks_with_the_window() -> None:
    assert full_budget().resized(10) == full_budget(max_tokens=10, target_tokens=10, output_reserve=10)


@pytest.mark.parametrize(
    ("budget", "pinned", "max_tokens", "target_tokens"),
    [
        (ContextBudget(100, 60), 0, 100, 60),
        (ContextBudget(100, 60), 10, 90, 50),
        (ContextBudget(100, 60), 70, 30, 0),
        (ContextBudget(100, 60, output_reserve=20), 0, 80, 60),
        (ContextBudget(100, 60, output_reserve=50), 0, 50, 50),
        (ContextBudget(100, 60, reserved_slots={"Note": 10, "Memo": 5}), 0, 85, 45),
        (ContextBudget(100, 60, reserved_slots={"Note": 200}), 0, 0, 0),
        (ContextBudget(100, 55, estimation_safety_margin_percent=10.0), 0, 90, 49),
        (full_budget(), 7, 58, 40),
    ],
)
def test_the_effective_budget_is_what_the_slicer_may_use(
    budget: ContextBudget, pinned: int, max_tokens: int, target_tokens: int
) -> None:
    """EFFECTIVE-BUDGET: pinned items, reserves and margin are taken off; the target is at most the maximum."""
    assert budget.effective(pinned) == ContextBudget(max_tokens, target_tokens)


def test_negative_pinned_tokens_would_enlarge_the_budget() -> None:
    with pytest.raises(InvalidBudgetError) as caught:
        ContextBudget(100).effective(-5)
    assert str(caught.value) == "pinned_tokens must be 0 or more, not -5"
    assert (caught.value.argument, caught.value.value) == ("pinned_tokens", -5)


# --- what is reserved


@pytest.mark.parametrize(
    ("arguments", "total", "unreserved", "has"),
    [
        ({}, 0, 100, True),
        ({"output_reserve": 30}, 30, 70, True),
        ({"reserved_slots": {"Note": 10, "Memo": 5}}, 15, 85, True),
        ({"output_reserve": 30, "reserved_slots": {"Note": 69}}, 99, 1, True),
        ({"output_reserve": 30, "reserved_slots": {"Note": 70}}, 100, 0, False),
        ({"output_reserve": 30, "reserved_slots": {"Note": 80}}, 110, -10, False),
        ({"output_reserve": 100}, 100, 0, False),
        ({"estimation_safety_margin_percent": 50.0}, 0, 100, True),
    ],
)
def test_what_is_reserved_and_what_is_left(arguments: dict[str, Any], total: int, unreserved: int, has: bool) -> None:
    """DM-16: slots are tokens, and these three show their effect."""
    budget = ContextBudget(100, **arguments)
    assert budget.total_reserved == total
    assert budget.unreserved_capacity == unreserved
    assert budget.has_capacity is has


# --- immutability


@pytest.mark.parametrize("field", FIELDS)
def test_no_field_can_be_assigned_or_deleted(field: str) -> None:
    budget = full_budget()
    with pytest.raises(FrozenInstanceError):
        setattr(budget, field, getattr(budget, field))
    with pytest.raises(FrozenInstanceError):
        delattr(budget, field)
    assert budget == full_budget()


@pytest.mark.parametrize("name", ["total_reserved", "unreserved_capacity", "has_capacity", "extra"])
def test_nothing_else_can_be_assigned(name: str) -> None:
    budget = full_budget()
    with pytest.raises((AttributeError, TypeError)):
        setattr(budget, name, 1)
    assert not hasattr(budget, "__dict__")


@pytest.mark.parametrize("budget", [full_budget(), ContextBudget(1)])
def test_slots_cannot_be_changed(budget: ContextBudget) -> None:
    """DM-06: a read-only mapping, also where it is empty."""
    slots: Any = budget.reserved_slots
    with pytest.raises(TypeError):
        slots[ContextKind.MESSAGE] = 1
    with pytest.raises(TypeError):
        del slots[ContextKind.MESSAGE]
    with pytest.raises(TypeError):
        slots.clear()


# --- equality, hash, copies


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("max_tokens", 101),
        ("target_tokens", 61),
        ("output_reserve", 21),
        ("reserved_slots", {"Message": 5}),
        ("reserved_slots", {"Message": 5, "Memory": 4}),
        ("estimation_safety_margin_percent", 11.0),
    ],
)
def test_budgets_differ_if_any_field_does(field: str, other: Any) -> None:
    assert full_budget() != full_budget(**{field: other})


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"reserved_slots": {"MEMORY": 3, "message": 5}},
        {"estimation_safety_margin_percent": 10},
        {"max_tokens": IndexOnly(100)},
    ],
)
def test_budgets_of_equal_fields_are_equal_and_have_one_hash(changes: dict[str, Any]) -> None:
    """PY-12: the hash does not depend on the order or the spelling of slots."""
    assert full_budget() == full_budget(**changes)
    assert hash(full_budget()) == hash(full_budget(**changes))


def test_different_budgets_have_different_hashes() -> None:
    budgets = [full_budget(max_tokens=100 + i) for i in range(100)]
    assert len({hash(budget) for budget in budgets}) > 90


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("budget", [full_budget(), ContextBudget(1)])
def test_a_budget_survives_pickling(budget: ContextBudget, protocol: int) -> None:
    """PY-12: in spite of its read-only mapping."""
    loaded = pickle.loads(pickle.dumps(budget, protocol))
    assert loaded == budget
    assert repr(loaded) == repr(budget)


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, dataclasses.replace])
def test_a_budget_survives_copying(make: Any) -> None:
    """PY-12."""
    assert make(full_budget()) == full_budget()


def test_replace_changes_one_field_and_checks_it() -> None:
    assert dataclasses.replace(full_budget(), output_reserve=0) == full_budget(output_reserve=0)
    with pytest.raises(InvalidBudgetError):
        dataclasses.replace(full_budget(), target_tokens=101)


def test_the_repr_shows_every_field() -> None:
    text = repr(full_budget())
    assert text == (
        "ContextBudget(max_tokens=100, target_tokens=60, output_reserve=20, "
        "reserved_slots={ContextKind('Message'): 5, ContextKind('Memory'): 3}, estimation_safety_margin_percent=10.0)"
    )
    assert eval(text) == full_budget()  # noqa: S307 - our own text
