"""CompositeScorer: what the vectors `composite-*` do not show."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from pycupel import (
    BoostedScorer,
    CompositeScorer,
    ContextItem,
    MetadataKeyScorer,
    PriorityScorer,
    RecencyScorer,
    ReflexiveScorer,
    ScaledScorer,
    Scorer,
)
from pycupel.errors import CycleError, ScorerConfigError
from tests.strategies import HOUR, NOW

CYCLE = "Cycle detected: scorer appears in its own dependency graph"


def expect(scorer: CompositeScorer, items: Sequence[ContextItem], scores: list[float]) -> None:
    assert [scorer.score(item, items) for item in items] == scores
    assert scorer.score_all(items) == scores


def example_items() -> list[ContextItem]:
    return [
        ContextItem("a", 1, timestamp=NOW - 2 * HOUR, priority=9),
        ContextItem("b", 1, timestamp=NOW - HOUR, priority=1),
        ContextItem("c", 1, timestamp=NOW, priority=5),
    ]


@pytest.mark.parametrize("weights", [(3, 1), (Fraction(3, 8), Decimal("0.125")), (3 * 2.0**1021, 2.0**1021)])
def test_weights_are_any_numbers_with_a_finite_sum(weights: tuple[Any, Any]) -> None:
    """CompositeScorer, Weight Normalization; CS-02: the last sum is just below infinity."""
    scorer = CompositeScorer([(RecencyScorer(), weights[0]), (PriorityScorer(), weights[1])])
    expect(scorer, example_items(), [0.25, 0.375, 0.875])


@pytest.mark.proves("S-CO-13")
def test_children_are_asked_in_order() -> None:
    """CompositeScorer: child scorers are invoked in order (index 0, 1, 2, ...)."""
    log: list[str] = []

    @dataclass(frozen=True)
    class Named:
        name: str

        def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
            log.append(self.name + item.content)
            return 0.0

    scorer = CompositeScorer([(Named("first "), 1.0), (Named("second "), 9.0), (Named("third "), 5.0)])
    items = example_items()
    scorer.score(items[1], items)
    assert log == ["first b", "second b", "third b"]
    log.clear()
    scorer.score_all(items)
    assert log == [f"{name} {item}" for name in ("first", "second", "third") for item in "abc"]


@pytest.mark.proves("S-CO-01")
@pytest.mark.parametrize("entries", [[], (), iter(())])
def test_at_least_one_entry_is_required(entries: Any) -> None:
    """CONSTRUCT-COMPOSITE."""
    with pytest.raises(ScorerConfigError) as caught:
        CompositeScorer(entries)
    assert str(caught.value) == "At least one scorer entry is required"


@pytest.mark.proves("S-CO-02")
def test_a_scorer_must_not_be_null() -> None:
    """CONSTRUCT-COMPOSITE: and the null comes before a bad weight."""
    nothing: Any = None
    with pytest.raises(ScorerConfigError) as caught:
        CompositeScorer([(RecencyScorer(), 1.0), (nothing, -1.0)])
    assert str(caught.value) == "Scorer must not be null"
    assert "entries[1]" in "".join(caught.value.__notes__)


@pytest.mark.proves("S-CO-03", "S-CO-04")
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (0.0, "Weight must be positive"),
        (-0.0, "Weight must be positive"),
        (0, "Weight must be positive"),
        (-1.0, "Weight must be positive"),
        (-math.inf, "Weight must be positive"),
        (math.nan, "Weight must be finite"),
        (math.inf, "Weight must be finite"),
    ],
)
def test_a_weight_must_be_positive_and_finite(weight: float, message: str) -> None:
    """CONSTRUCT-COMPOSITE; CS-02: NaN passes the first check and fails the second."""
    with pytest.raises(ScorerConfigError) as caught:
        CompositeScorer([(RecencyScorer(), 1.0), (PriorityScorer(), 1.0), (ReflexiveScorer(), weight)])
    assert str(caught.value) == message
    assert "entries[2]" in "".join(caught.value.__notes__)
    assert isinstance(caught.value, ValueError)


def test_the_first_bad_entry_is_reported() -> None:
    """CONSTRUCT-COMPOSITE checks the entries one after the other."""
    with pytest.raises(ScorerConfigError, match="Weight must be finite") as caught:
        CompositeScorer([(RecencyScorer(), math.inf), (PriorityScorer(), 0.0)])
    assert "entries[0]" in "".join(caught.value.__notes__)


def test_entries_come_from_any_iterable_of_pairs() -> None:
    """DM-06: they are copied, so that later changes by the caller have no effect."""
    pairs: list[Any] = [[RecencyScorer(), 3], (PriorityScorer(), 1)]
    scorer = CompositeScorer(iter(pairs))
    pairs.clear()
    assert scorer.entries == ((RecencyScorer(), 3.0), (PriorityScorer(), 1.0))
    assert scorer.children == (RecencyScorer(), PriorityScorer())
    with pytest.raises(dataclasses.FrozenInstanceError):
        scorer.entries = ()  # type: ignore[misc]


# Cycles: they need mutation behind the back of frozen scorers.


def rewire(scorer: Scorer, **fields: Any) -> None:
    for name, value in fields.items():
        object.__setattr__(scorer, name, value)


def wrap_composite(scorer: Scorer) -> CompositeScorer:
    return CompositeScorer([(RecencyScorer(), 1.0), (scorer, 2.0)])


def wrap_boost(scorer: Scorer) -> BoostedScorer:
    return BoostedScorer(PriorityScorer(), scorer)


WRAPPERS = [
    pytest.param(wrap_composite, id="composite"),
    pytest.param(ScaledScorer, id="scaled"),
    pytest.param(BoostedScorer, id="boosted inner"),
    pytest.param(wrap_boost, id="boost"),
]


@pytest.mark.proves("S-CO-06", "S-SS-08")
@pytest.mark.parametrize("wrap", WRAPPERS)
def test_a_scorer_that_is_its_own_child_is_a_cycle(wrap: Any) -> None:
    """DETECT-CYCLES: self-referential."""
    looped = ScaledScorer(RecencyScorer())
    rewire(looped, inner=looped)
    with pytest.raises(CycleError) as caught:
        wrap(looped)
    assert str(caught.value) == CYCLE
    assert isinstance(caught.value, ScorerConfigError)


@pytest.mark.proves("S-CO-06", "S-SS-08")
@pytest.mark.parametrize("wrap", WRAPPERS)
@pytest.mark.parametrize("inner_wrap", WRAPPERS)
def test_a_longer_way_back_is_a_cycle(wrap: Any, inner_wrap: Any) -> None:
    """DETECT-CYCLES: through CompositeScorer, ScaledScorer and BoostedScorer; CS-01."""
    bottom = CompositeScorer([(PriorityScorer(), 1.0)])
    middle = inner_wrap(ScaledScorer(bottom))
    rewire(bottom, entries=((RecencyScorer(), 1.0), (middle, 1.0)))
    for start in (bottom, middle):
        with pytest.raises(CycleError) as caught:
            wrap(start)
        assert str(caught.value) == CYCLE


def test_a_cycle_behind_an_innocent_sibling_is_found() -> None:
    """DETECT-CYCLES visits every entry."""
    looped = BoostedScorer(RecencyScorer(), PriorityScorer())
    rewire(looped, boosts=(ScaledScorer(looped),))
    innocent = CompositeScorer([(ScaledScorer(RecencyScorer()), 1.0)])
    with pytest.raises(CycleError):
        CompositeScorer([(innocent, 1.0), (RecencyScorer(), 1.0), (innocent, 1.0), (looped, 1.0)])


@pytest.mark.proves("S-CO-06")
def test_a_scorer_built_around_itself_is_a_cycle() -> None:
    """DETECT-CYCLES: the new scorer is part of the graph, too."""
    scorer = CompositeScorer.__new__(CompositeScorer)
    with pytest.raises(CycleError) as caught:
        CompositeScorer.__init__(scorer, [(RecencyScorer(), 1.0), (scorer, 1.0)])
    assert str(caught.value) == CYCLE


@pytest.mark.proves("S-CO-12")
def test_a_scorer_may_be_used_twice() -> None:
    """CS-01: visited, but not in its own path; a diamond is legal."""
    shared = CompositeScorer([(RecencyScorer(), 1.0)])
    left, right = ScaledScorer(shared), CompositeScorer([(shared, 1.0), (shared, 1.0)])
    scorer = CompositeScorer([(left, 1.0), (right, 1.0), (shared, 2.0)])
    expect(scorer, example_items(), [0.0, 0.5, 1.0])


def test_a_ladder_of_diamonds_is_checked_node_by_node() -> None:
    """CompositeScorer, Complexity: O(V + E); path by path this would be 2^80 visits."""
    scorer = CompositeScorer([(RecencyScorer(), 1.0)])
    for _ in range(80):
        scorer = CompositeScorer([(scorer, 1.0), (scorer, 1.0)])
    assert len(scorer.children) == 2


@pytest.mark.proves("S-CO-12")
def test_equal_scorers_are_not_the_same_scorer() -> None:
    """CompositeScorer: cycle detection MUST use reference identity, not structural equality."""
    one = CompositeScorer([(RecencyScorer(), 1.0)])
    other = CompositeScorer([(RecencyScorer(), 1.0)])
    assert one == other
    rewire(other, entries=((one, 1.0),))
    expect(CompositeScorer([(other, 1.0), (one, 1.0)]), example_items(), [0.0, 0.5, 1.0])


# Depth.


def nested(levels: int) -> Scorer:
    """Composite, scaled and boosted scorers in turn around a leaf."""
    scorer: Scorer = RecencyScorer()
    for level in range(levels):
        if level % 3 == 0:
            scorer = CompositeScorer([(scorer, 2.0), (PriorityScorer(), 1.0)])
        elif level % 3 == 1:
            scorer = ScaledScorer(scorer)
        else:
            scorer = BoostedScorer(scorer, MetadataKeyScorer("key", "value", 2.0))
    return scorer


@pytest.mark.proves("S-CO-10")
def test_a_hundred_levels_work() -> None:
    """PY-08: nesting does not meet the recursion limit."""
    scorer: Any = nested(100)
    items = example_items()
    scores = scorer.score_all(items)
    assert len(scores) == 3
    assert all(math.isfinite(score) for score in scores)
    assert scores[1] < scores[0]
    (alone,) = items[:1]
    assert [scorer.score(alone, [alone])] == scorer.score_all([alone])
    assert repr(scorer).count("Scorer(") == 34 * 2 + 33 + 33 * 2 + 1
    assert scorer == nested(100)
    assert scorer != nested(99)
    assert pickle.loads(pickle.dumps(scorer)) == scorer
    assert copy.deepcopy(scorer) == scorer


@pytest.mark.unmeasured
@pytest.mark.parametrize("wrap", WRAPPERS)
def test_one_more_level_is_refused(wrap: Any) -> None:
    """PY-08: it says so at construction, not when it is scored or shown."""
    wrap(nested(99))
    with pytest.raises(CycleError, match="100"):
        wrap(nested(100))


def test_the_deepest_path_counts() -> None:
    """PY-08: wide is not deep."""
    deep, shallow = nested(99), nested(3)
    CompositeScorer([(shallow, 1.0), (deep, 1.0), (shallow, 1.0)] * 50)
    with pytest.raises(CycleError):
        CompositeScorer([(shallow, 1.0), (ScaledScorer(deep), 1.0)])
