"""The protocols: one method, no base class."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest

from pycupel import (
    ChronologicalPlacer,
    ContextBudget,
    ContextItem,
    GreedySlice,
    Pipeline,
    Placer,
    RecencyScorer,
    ScoredItem,
    Scorer,
    Slicer,
)
from pycupel.protocols import SliceOutcome, TimeProvider, TokenCounter, checked_placer, checked_scorer, checked_slicer
from pycupel.registry import PLACERS, SCORERS, SLICERS
from pycupel.scorers import SystemTimeProvider

SCORER = "a scorer: an object with score(item, all_items)"
SLICER = "a slicer: an object with slice(scored_items, budget)"
PLACER = "a placer: an object with place(scored_items)"


class ByLength:
    def score(self, item: ContextItem, all_items: Sequence[ContextItem]) -> float:
        return len(item.content) / 10


class FirstOnly:
    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget) -> list[ContextItem]:
        return [scored_items[0].item]


class Reversed:
    def place(self, scored_items: Sequence[ScoredItem]) -> list[ContextItem]:
        return [scored.item for scored in reversed(scored_items)]


class Clock:
    def now(self) -> datetime:
        return datetime(2024, 6, 1, tzinfo=UTC)


CHECKS: list[tuple[Any, Any, str]] = [
    (checked_scorer, ByLength(), SCORER),
    (checked_slicer, FirstOnly(), SLICER),
    (checked_placer, Reversed(), PLACER),
]


@pytest.mark.parametrize(
    ("protocol", "value"),
    [
        (Scorer, ByLength()),
        (Scorer, RecencyScorer()),
        (Slicer, FirstOnly()),
        (Slicer, GreedySlice()),
        (Placer, Reversed()),
        (Placer, ChronologicalPlacer()),
        (TimeProvider, Clock()),
        (TimeProvider, SystemTimeProvider()),
    ],
)
def test_an_object_with_the_method_is_one(protocol: Any, value: Any) -> None:
    """The protocols have one method each and need no base class."""
    assert isinstance(value, protocol)


@pytest.mark.parametrize("protocol", [Scorer, Slicer, Placer, TimeProvider])
@pytest.mark.parametrize("value", [object(), None, "score", len])
def test_an_object_without_the_method_is_none(protocol: Any, value: Any) -> None:
    assert not isinstance(value, protocol)


@pytest.mark.parametrize(("check", "value", "expected"), CHECKS)
def test_a_strategy_passes_its_check_as_it_is(check: Any, value: Any, expected: str) -> None:
    assert check("part", value) is value


@pytest.mark.parametrize(("check", "good", "expected"), CHECKS)
@pytest.mark.parametrize("value", [None, 5, "greedy", len])
def test_what_is_no_strategy_is_refused(check: Any, good: Any, expected: str, value: Any) -> None:
    """PB-05: a TypeError names the argument, says what is expected and shows what was given."""
    with pytest.raises(TypeError) as caught:
        check("part", value)
    assert str(caught.value) == f"part must be {expected}, not {value!r} ({type(value).__name__})"


@pytest.mark.parametrize(("check", "good", "expected"), CHECKS)
def test_a_class_is_no_strategy_but_close(check: Any, good: Any, expected: str) -> None:
    """PB-05: forgetting the parentheses is the usual mistake."""
    name = type(good).__name__
    with pytest.raises(TypeError) as caught:
        check("part", type(good))
    assert str(caught.value) == f"part must be an instance; did you mean {name}()?"


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"scorer": GreedySlice()}, "scorer"),
        ({"scorer": ByLength(), "slicer": ChronologicalPlacer()}, "slicer"),
        ({"scorer": ByLength(), "placer": ByLength()}, "placer"),
        ({"scorer": None}, "scorer"),
        ({"scorer": ByLength}, "scorer"),
    ],
)
def test_a_pipeline_names_the_part_that_is_wrong(arguments: dict[str, Any], name: str) -> None:
    """PB-05: wrong components are found at construction."""
    with pytest.raises(TypeError, match=rf"^{name} must be an? "):
        Pipeline(**arguments)


def test_plain_objects_make_a_pipeline() -> None:
    """One method each is all that a plug-in needs."""
    short, long = ContextItem("short", 1), ContextItem("longer", 1)
    assert Pipeline(ByLength(), FirstOnly(), Reversed()).run([short, long], ContextBudget(10)) == [long]
    assert Pipeline(ByLength(), placer=Reversed()).run([short, long], ContextBudget(10)) == [short, long]


@pytest.mark.parametrize(
    ("protocol", "registry"),
    [(Scorer, SCORERS), (Slicer, SLICERS), (Placer, PLACERS)],
    ids=lambda value: str(value)[:20],
)
def test_every_built_in_strategy_has_the_method(protocol: Any, registry: Any) -> None:
    method = next(name for name in ("score", "slice", "place") if hasattr(protocol, name))
    assert [name for name, cls in registry.items() if not callable(getattr(cls, method, None))] == []


@pytest.mark.parametrize(
    ("registry", "methods"),
    [
        (SCORERS, {"score", "score_all", "for_query", "reads", "children"}),
        (
            SLICERS,
            {
                "slice",
                "slice_detailed",
                "quota_constraints",
                "supports_marginal_items",
                "supports_min_budget",
                "engine",
                # The option of policy files that is an entry in Python.
                "each",
            },
        ),
        (PLACERS, {"place", "for_query"}),
    ],
    ids=["scorers", "slicers", "placers"],
)
def test_completion_shows_options_and_what_a_custom_strategy_may_have(registry: Any, methods: set[str]) -> None:
    """Machinery is private: `slicer.` in an editor lists only what users may call."""
    for cls in registry.values():
        shown = {name for name in dir(cls) if not name.startswith("_")}
        options = {field.name for field in fields(cls)} | inspect.signature(cls).parameters.keys()
        assert shown - methods - options <= {"key"}, cls


def test_a_token_counter_is_any_function_from_text_to_number() -> None:
    counter: TokenCounter = len
    assert counter("four") == 4


def test_the_outcome_of_slicing_may_be_just_a_selection() -> None:
    item = ContextItem("text", 1)
    outcome = SliceOutcome([item])
    assert outcome == ([item], (), ())
    assert SliceOutcome._fields == ("selected", "shortfalls", "cap_excluded")
