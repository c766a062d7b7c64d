"""Random scorers on random items: `score`, the pseudocode, against `score_all`, and what the chapters promise."""

from __future__ import annotations

import copy
import math
import pickle
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from pycupel import (
    BoostedScorer,
    CompositeScorer,
    ContextItem,
    DecayScorer,
    FrequencyScorer,
    KindScorer,
    MetadataKeyScorer,
    MetadataTrustScorer,
    PriorityScorer,
    RecencyScorer,
    ReflexiveScorer,
    ScaledScorer,
    Scorer,
    TagScorer,
)
from pycupel.scorers._base import score_all
from tests import strategies
from tests.examples import examples
from tests.oracle.bits import bits
from tests.strategies import RawHintScorer

Items = Sequence[ContextItem]

ABSOLUTE = (KindScorer, TagScorer, ReflexiveScorer, MetadataTrustScorer, MetadataKeyScorer, DecayScorer)
WITHIN_BOUNDS = (
    RecencyScorer,
    PriorityScorer,
    TagScorer,
    FrequencyScorer,
    ReflexiveScorer,
    MetadataTrustScorer,
    DecayScorer,
)


def one_by_one(scorer: Scorer, items: Items) -> list[float]:
    return [scorer.score(item, items) for item in items]


def leaves(scorer: Any) -> Iterator[Any]:
    if isinstance(scorer, (CompositeScorer, ScaledScorer, BoostedScorer)):
        for child in scorer.children:
            yield from leaves(child)
    else:
        yield scorer


@pytest.mark.proves("S-SS-07")
@examples(100)
@given(strategies.scorers(), strategies.item_lists(max_size=7))
def test_a_batch_gives_what_the_pseudocode_gives(scorer: Scorer, items: list[ContextItem]) -> None:
    """PY-09, SC-02, META-08: bit for bit, nested or not, also where a custom scorer returns NaN or infinities."""
    batch = bits(score_all(scorer, items))
    assert batch == bits(one_by_one(scorer, items))
    if not isinstance(scorer, RawHintScorer):
        built_in: Any = scorer
        assert batch == bits(built_in.score_all(items))


@examples(70)
@given(strategies.leaf_scorers(), strategies.item_lists(max_size=20))
def test_single_scorers_on_longer_lists(scorer: Scorer, items: list[ContextItem]) -> None:
    """PY-09, SC-02: with more ties and more repeated objects."""
    batch = bits(score_all(scorer, items))
    assert batch == bits(one_by_one(scorer, items))


@pytest.mark.parametrize(
    ("count", "common", "rare"),
    [
        pytest.param(40, 3, 4, id="few items"),
        pytest.param(64, 5, 0, id="common tags only"),
        pytest.param(300, 3, 200, id="common and rare tags"),
        pytest.param(300, 0, 300, id="rare tags only"),
        pytest.param(300, 12, 70, id="tags on just few enough or just too many items"),
    ],
)
def test_tags_of_many_items_are_counted_like_those_of_few(count: int, common: int, rare: int) -> None:
    """PY-09: an index over the tags gives what the pseudocode gives, however often a tag occurs."""
    dice = random.Random(1)
    items = []
    for i in range(count):
        tags = [dice.choice("aA") + str(dice.randrange(common)) for _ in range(dice.randrange(3)) if common]
        tags += [dice.choice("rR") + str(dice.randrange(rare)) for _ in range(dice.randrange(3)) if rare]
        items.append(ContextItem(f"{i}", 1, tags=tags))
    items += dice.sample(items, 5)
    dice.shuffle(items)
    expected = one_by_one(FrequencyScorer(), items)
    assert len(set(expected)) > 3, "the example says something"
    assert bits(FrequencyScorer().score_all(items)) == bits(expected)


@examples(50)
@given(
    st.lists(st.tuples(st.floats(), st.floats(), st.floats()), min_size=1, max_size=6),
    st.sampled_from((1.0, 3.0, 0.1)),
)
def test_any_floats_from_custom_scorers_go_the_same_way(rows: list[tuple[float, float, float]], weight: float) -> None:
    """SC-03: subnormal, huge, infinite, NaN: composite, scaled and boosted treat them alike on both paths."""

    class Column:
        def __init__(self, column: int) -> None:
            self.column = column

        def score(self, item: ContextItem, all_items: Items, /) -> float:
            return rows[int(item.content)][self.column]

    items = [ContextItem(f"{i}", 1) for i in range(len(rows))]
    first, second, third = map(Column, range(3))
    for scorer in (
        CompositeScorer([(first, weight), (second, 1.0), (third, 2.0)]),
        BoostedScorer(first, second, third),
        ScaledScorer(first),
        ScaledScorer(CompositeScorer([(BoostedScorer(first, second), weight), (ScaledScorer(third), 1.0)])),
    ):
        batch = bits(score_all(scorer, items))
        assert batch == bits(one_by_one(scorer, items))


@examples(40)
@given(strategies.scorers(), strategies.item_lists(max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_the_items_does_not_matter(scorer: Scorer, items: list[ContextItem], dice: Any) -> None:
    """Scorer Interface: allItems is a set of peers; no scorer looks at positions.

    Only the sign of a zero may change: of 0.0 and -0.0, SCALED-SCORE takes the one that comes first for the lowest.
    """
    shuffled = list(items)
    dice.shuffle(shuffled)
    before, after = (
        dict(zip(map(id, each), bits([score + 0.0 for score in score_all(scorer, each)]), strict=True))
        for each in (items, shuffled)
    )
    assert before == after


@pytest.mark.proves("S-SR-01")
@examples(40)
@given(strategies.scorers(), strategies.item_lists(max_size=6))
def test_scoring_twice_gives_the_same(scorer: Scorer, items: list[ContextItem]) -> None:
    """Scorers, Contract: a pure function."""
    assert bits(score_all(scorer, items)) == bits(score_all(scorer, tuple(items)))


@pytest.mark.proves("S-DE-13")
@examples(40)
@given(strategies.leaf_scorers().filter(lambda scorer: isinstance(scorer, ABSOLUTE)), strategies.item_lists())
def test_absolute_scorers_ignore_the_others(scorer: Scorer, items: list[ContextItem]) -> None:
    """Absolute Scorers: the same score regardless of what other items are present."""
    assert bits([scorer.score(item, ()) for item in items]) == bits(score_all(scorer, items))


@examples(40)
@given(strategies.leaf_scorers().filter(lambda scorer: isinstance(scorer, WITHIN_BOUNDS)), strategies.item_lists())
def test_scores_lie_between_zero_and_one(scorer: Scorer, items: list[ContextItem]) -> None:
    """Scorer Summary: the output range."""
    assert all(0.0 <= score <= 1.0 for score in score_all(scorer, items))


@examples(40)
@given(strategies.leaf_scorers(), strategies.item_lists())
def test_scaled_scores_span_the_range(inner: Scorer, items: list[ContextItem]) -> None:
    """ScaledScorer, Score Distribution, wherever the inner scores are finite."""
    raw = score_all(inner, items)
    scores = score_all(ScaledScorer(inner), items)
    if not all(map(math.isfinite, raw)) or len(set(raw)) < 2:
        assert all(score == 0.5 for score, value in zip(scores, raw, strict=True) if not math.isfinite(value))
        return
    assert min(scores) == 0.0
    assert max(scores) == 1.0
    assert [score for _, score in sorted(zip(raw, scores, strict=True))] == sorted(scores), "the order stays"


@pytest.mark.proves("S-CO-05")
@examples(40)
@given(strategies.scorers(depth=2), strategies.scorers(depth=2), strategies.item_lists(max_size=6), st.integers(-9, 9))
def test_weights_are_relative(one: Scorer, other: Scorer, items: list[ContextItem], exponent: int) -> None:
    """CompositeScorer, Weight Normalization: a common factor changes nothing; a power of two not even a bit."""
    factor = 2.0**exponent
    plain = CompositeScorer([(one, 3.0), (other, 0.7)])
    scaled = CompositeScorer([(one, 3.0 * factor), (other, 0.7 * factor)])
    assert bits(score_all(plain, items)) == bits(score_all(scaled, items))


@examples(40)
@given(strategies.item_lists())
def test_newer_items_and_higher_priorities_never_score_lower(items: list[ContextItem]) -> None:
    """RecencyScorer and PriorityScorer: the most recent and the highest come first."""
    for scorer, field in ((RecencyScorer(), "timestamp"), (PriorityScorer(), "priority")):
        known = [
            (getattr(item, field), score)
            for item, score in zip(items, score_all(scorer, items), strict=True)
            if getattr(item, field) is not None
        ]
        known.sort()
        assert [score for _, score in known] == sorted(score for _, score in known)
        assert not known or known[0][1] == (1.0 if len(known) == 1 else 0.0)


@examples(40)
@given(strategies.scorers(), strategies.item_lists(max_size=6))
def test_scorers_survive_pickle_and_copy(scorer: Scorer, items: list[ContextItem]) -> None:
    """PB-04: values, so that equal ones score alike."""
    expected = bits(score_all(scorer, items))
    for copied in (pickle.loads(pickle.dumps(scorer)), copy.deepcopy(scorer), copy.copy(scorer)):
        assert copied == scorer
        assert repr(copied) == repr(scorer)
        assert bits(score_all(copied, items)) == expected


@examples(40)
@given(strategies.scorers(), strategies.scorers())
def test_equality_is_by_value(one: Scorer, other: Scorer) -> None:
    """PB-04: if and only if all options are equal, which is what the repr shows."""
    if repr(one) == repr(other):
        assert one == other
    elif list(map(type, leaves(one))) != list(map(type, leaves(other))):
        assert one != other


def test_the_strategies_cover_all_scorers() -> None:
    """What is random must not be random about what is tested at all."""
    found: set[type[Any]] = set()

    @settings(max_examples=150, deadline=None, database=None, derandomize=True)
    @given(strategies.scorers())
    def collect(scorer: Scorer) -> None:
        found.update(map(type, leaves(scorer)))
        found.add(type(scorer))

    collect()
    assert found >= {*ABSOLUTE, *WITHIN_BOUNDS, CompositeScorer, ScaledScorer, BoostedScorer, RawHintScorer}
