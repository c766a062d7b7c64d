"""What users are told about scorers that have nothing to go by: the first-minute trap."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from pycupel import (
    BoostedScorer,
    CompositeScorer,
    ContextBudget,
    ContextItem,
    DecayScorer,
    FrequencyScorer,
    KindScorer,
    MetadataKeyScorer,
    MetadataTrustScorer,
    Pipeline,
    PriorityScorer,
    RecencyScorer,
    ReflexiveScorer,
    ScaledScorer,
    TagScorer,
)
from pycupel.scorers import Window, _base
from pycupel.scorers._base import WrappingScorer
from tests.strategies import NOW, FixedClock

BARE = [ContextItem("a", 1), ContextItem("b", 1)]
DECAY = DecayScorer(FixedClock(), Window(timedelta(1)))


def scorer_notes(scorer: Any, items: Sequence[ContextItem]) -> tuple[str, ...]:
    return _base.scorer_notes(_base.traits_of(scorer), items)


def note(field: str, scorer: str) -> str:
    return (
        f"no item sets {field}, so {scorer} gives every item the same score; "
        "set it, or choose a policy without that scorer"
    )


@pytest.mark.parametrize(
    ("scorer", "field", "value"),
    [
        (RecencyScorer(), "timestamp", NOW),
        (DECAY, "timestamp", NOW),
        (PriorityScorer(), "priority", 0),
        (ReflexiveScorer(), "future_relevance_hint", 0.0),
        (TagScorer({"x": 1}), "tags", ["y"]),
        (FrequencyScorer(), "tags", ["y"]),
    ],
)
def test_a_scorer_that_finds_its_field_on_no_item_is_told(scorer: Any, field: str, value: Any) -> None:
    """The issue: when a scorer finds its field on no item, the result says so. One item that sets it is enough."""
    assert scorer_notes(scorer, BARE) == (note(field, type(scorer).__name__),)
    assert scorer_notes(scorer, [*BARE, ContextItem("c", 1, **{field: value})]) == ()


@pytest.mark.parametrize(
    ("scorer", "key"), [(MetadataTrustScorer(), "cupel:trust"), (MetadataKeyScorer("origin", "here", 2), "origin")]
)
def test_a_metadata_scorer_looks_for_its_key(scorer: Any, key: str) -> None:
    other = ContextItem("c", 1, metadata={"something": "else"})
    assert scorer_notes(scorer, [*BARE, other]) == (note(f"metadata[{key!r}]", type(scorer).__name__),)
    assert scorer_notes(scorer, [*BARE, ContextItem("c", 1, metadata={key: None})]) == ()


def test_a_kind_is_always_there() -> None:
    assert scorer_notes(KindScorer(), BARE) == ()


def test_without_items_there_is_nothing_to_say() -> None:
    assert scorer_notes(RecencyScorer(), []) == ()


def test_inner_scorers_are_told_together_each_once_in_order() -> None:
    """What only multiplies has no weight."""
    scorer = CompositeScorer(
        [
            (ScaledScorer(BoostedScorer(PriorityScorer(), MetadataTrustScorer())), 1),
            (KindScorer(), 1),
            (RecencyScorer(), 1),
            (ScaledScorer(RecencyScorer()), 1),
            (DECAY, 1),
        ]
    )
    assert scorer_notes(scorer, BARE) == (
        (
            "no item sets priority or timestamp, so PriorityScorer, RecencyScorer and DecayScorer give every item "
            "the same score; set them, or choose a policy without those scorers"
        ),
    )


class Homemade:
    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        return 0.5


@pytest.mark.parametrize(
    ("attributes", "fields", "field"),
    [
        ({"reads": "priority"}, {"priority": 1}, "priority"),
        ({"reads": "original_tokens"}, {"original_tokens": 3}, "original_tokens"),
        ({"reads": "metadata"}, {"metadata": {"any": 1}}, "metadata"),
        ({"reads": "metadata", "key": "k"}, {"metadata": {"k": 1}}, "metadata['k']"),
    ],
)
def test_a_custom_scorer_may_say_what_it_reads(attributes: Any, fields: Any, field: str) -> None:
    scorer = Homemade(**attributes)
    assert scorer_notes(scorer, BARE) == (note(field, "Homemade"),)
    assert scorer_notes(scorer, [*BARE, ContextItem("c", 1, **fields)]) == ()


@pytest.mark.parametrize("reads", [None, 5, ["priority"], "embedding", "kind", "pinned", "content"])
def test_what_a_custom_scorer_says_is_ignored_if_it_makes_no_sense(reads: Any) -> None:
    assert scorer_notes(Homemade(reads=reads), BARE) == ()


def test_the_report_has_the_notes_and_pinned_items_do_not_count() -> None:
    """Pinned items are never scored."""
    pinned = ContextItem("p", 1, timestamp=NOW, pinned=True)
    pipeline = Pipeline(RecencyScorer())
    assert pipeline.dry_run([*BARE, pinned], ContextBudget(10)).notes == (note("timestamp", "RecencyScorer"),)
    assert pipeline.dry_run([pinned], ContextBudget(10)).notes == ()


class Several(WrappingScorer):
    """A wrapper of which nothing is known."""

    def __init__(self, *children: Any) -> None:
        self._children = children

    @property
    def children(self) -> tuple[Any, ...]:
        return self._children

    def _combine(self, columns: list[list[float]]) -> list[float]:
        return columns[0]

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        return 0.5


def test_the_scorers_in_an_unknown_wrapper_count_alike() -> None:
    assert scorer_notes(Several(KindScorer(), KindScorer(), PriorityScorer()), BARE) == ()
    assert scorer_notes(Several(KindScorer(), PriorityScorer()), BARE) == (note("priority", "PriorityScorer"),)


def test_the_scorers_in_an_unknown_wrapper_are_looked_up_for_every_run() -> None:
    wrapper = Several(KindScorer())
    pipeline = Pipeline(wrapper)
    assert pipeline.dry_run(BARE, 10).notes == ()
    wrapper._children = (PriorityScorer(),)
    assert pipeline.dry_run(BARE, 10).notes == (note("priority", "PriorityScorer"),)


class Reading(Several):
    """A wrapper that reads a field itself."""

    reads = "priority"


def test_a_wrapper_that_reads_a_field_is_judged_by_it() -> None:
    assert scorer_notes(Reading(KindScorer()), BARE) == (note("priority", "Reading"),)


def test_a_scorer_in_many_positions_is_judged_once() -> None:
    scorer: Any = CompositeScorer([(PriorityScorer(), 1), (KindScorer(), 2)])
    for _ in range(60):
        scorer = CompositeScorer([(scorer, 1), (scorer, 3)])
    assert scorer_notes(scorer, BARE) == ()
    report = Pipeline(scorer).dry_run(BARE, 10)
    assert [(part.scorer, round(part.weight, 9)) for part in report.why("a").parts] == [
        ("PriorityScorer", 0.333333333),
        ("KindScorer", 0.666666667),
    ]
