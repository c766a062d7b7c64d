"""`Policy`: the choices of a pipeline as a value."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import pytest

from pycupel import (
    ChronologicalPlacer,
    CompositeScorer,
    ContextBudget,
    ContextItem,
    GreedySlice,
    KindScorer,
    KnapsackSlice,
    OverflowStrategy,
    Pipeline,
    Policy,
    PriorityScorer,
    QuotaEntry,
    QuotaSlice,
    RecencyScorer,
    ScoredItem,
    StreamSlice,
    UShapedPlacer,
    policies,
)
from pycupel.errors import InvalidArgumentError, PipelineConfigError
from pycupel.protocols import ShortenContext

FULL = Policy(
    CompositeScorer([(KindScorer(), 2), (PriorityScorer(), 1)]),
    QuotaSlice([QuotaEntry("Note", 10, 50)], KnapsackSlice(5)),
    UShapedPlacer(),
    deduplication=True,
    overflow_strategy=OverflowStrategy.TRUNCATE,
    dedupe_against_pinned=True,
    name="full",
    description="everything",
)


def test_the_defaults_are_those_of_the_pipeline() -> None:
    """PB-01: greedy, chronological, deduplication, Throw."""
    policy = Policy(RecencyScorer())
    assert policy.slicer == GreedySlice()
    assert policy.placer == ChronologicalPlacer()
    assert policy.deduplication is True
    assert policy.dedupe_against_pinned is False
    assert policy.overflow_strategy is OverflowStrategy.THROW
    assert (policy.name, policy.description) == (None, None)
    assert Pipeline.from_policy(policy) == Pipeline(RecencyScorer())


def test_a_policy_is_a_value() -> None:
    same = replace(FULL)
    assert same == FULL
    assert hash(same) == hash(FULL)
    assert replace(FULL, name="other") != FULL
    assert replace(FULL, deduplication=True, dedupe_against_pinned=False) != FULL
    assert copy.copy(FULL) == copy.deepcopy(FULL) == pickle.loads(pickle.dumps(FULL)) == FULL
    with pytest.raises(FrozenInstanceError):
        FULL.name = "other"  # type: ignore[misc]
    assert not hasattr(FULL, "budget")


def test_a_pipeline_makes_the_choices_of_its_policy() -> None:
    pipeline = Pipeline.from_policy(FULL)
    assert pipeline == Pipeline(
        FULL.scorer,
        FULL.slicer,
        FULL.placer,
        deduplication=True,
        overflow_strategy=OverflowStrategy.TRUNCATE,
        dedupe_against_pinned=True,
        name="full",
        description="everything",
    )
    assert pipeline.on_overflow is None


def test_a_pipeline_is_a_policy_that_can_run() -> None:
    pipeline = Pipeline(RecencyScorer())
    assert isinstance(pipeline, Policy)
    assert Pipeline.from_policy(pipeline) is pipeline
    assert copy.copy(pipeline) == pickle.loads(pickle.dumps(pipeline)) == replace(pipeline) == pipeline


def test_a_policy_may_be_the_name_of_a_preset() -> None:
    assert Pipeline.from_policy("chat") == Pipeline.from_policy(policies.CHAT)
    assert Pipeline.from_policy("chat") is Pipeline.from_policy("chat")
    items = [ContextItem("weak", 60, future_relevance_hint=0.1), ContextItem("strong", 60, future_relevance_hint=0.9)]
    report = Pipeline(PriorityScorer()).dry_run_with_policy(items, 100, "rag")
    assert report.items == items[1:]
    assert report.same_selection(Pipeline.from_policy("rag").dry_run(items, 100))
    with pytest.raises(InvalidArgumentError, match="chatt"):
        Pipeline.from_policy("chatt")  # type: ignore[arg-type]


def test_the_representation_is_short() -> None:
    assert repr(Policy(RecencyScorer())) == (
        "Policy(scorer=RecencyScorer(), slicer=GreedySlice(), placer=ChronologicalPlacer())"
    )
    assert repr(Pipeline(RecencyScorer(), deduplication=False)) == (
        "Pipeline(scorer=RecencyScorer(), slicer=GreedySlice(), placer=ChronologicalPlacer(), deduplication=False)"
    )
    assert len(repr(FULL)) < 400
    assert "name='full'" in repr(FULL)
    assert "entries=((KindScorer" in repr(FULL)


class Strict:
    """Compares only with its own kind, as many classes do by mistake."""

    name = "strict"

    def __eq__(self, other: object) -> bool:
        return bool(self.name == other.name)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return "Strict()"

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        return 1.0

    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        return []

    def shorten(self, item: ContextItem, context: ShortenContext, /) -> list[ContextItem]:
        return []


def test_the_representation_survives_parts_that_cannot_be_compared() -> None:
    assert repr(Policy(Strict(), shorten=Strict())) == (
        "Policy(scorer=Strict(), slicer=GreedySlice(), placer=ChronologicalPlacer(), shorten=Strict())"
    )
    assert repr(QuotaSlice([], Strict())) == "QuotaSlice(entries=(), inner=Strict())"


def test_a_subclass_of_pipeline_can_be_made_from_a_policy() -> None:
    class Mine(Pipeline):
        pass

    assert type(Mine.from_policy(FULL)) is Mine
    watched = Pipeline(RecencyScorer(), overflow_strategy=OverflowStrategy.PROCEED, on_overflow=print)
    assert Mine.from_policy(watched).on_overflow is print


@pytest.mark.proves("S-PS-01")
def test_a_dry_run_with_a_policy_ignores_the_choices_of_the_pipeline() -> None:
    """REFERENCE-FACTS 2: `dry_run_with_policy(items, budget, policy)` gives a report."""
    items = [ContextItem("low", 10, priority=1, kind="Memory"), ContextItem("high", 10, priority=2)]
    pipeline = Pipeline(KindScorer(), overflow_strategy="proceed", on_overflow=pytest.fail)  # type: ignore[arg-type]
    policy = Policy(PriorityScorer(), name="by priority")
    budget = ContextBudget(10)
    assert pipeline.dry_run(items, budget).items == items[:1]
    report = pipeline.dry_run_with_policy(items, budget, policy)
    assert report.items == items[1:]
    assert report.same_selection(Pipeline.from_policy(policy).dry_run(items, budget))


@pytest.mark.parametrize(
    "action", [Pipeline.from_policy, lambda p: Pipeline(RecencyScorer()).dry_run_with_policy([], ContextBudget(1), p)]
)
@pytest.mark.parametrize("policy", [None, 5, Policy])
def test_only_a_policy_is_a_policy(action: Any, policy: Any) -> None:
    with pytest.raises(TypeError, match=r"^policy must be a Policy, a Pipeline or the name of a preset, not "):
        action(policy)


@pytest.mark.parametrize(
    ("policy", "note"),
    [
        ({"scorers": [{"type": "recency"}]}, "pycupel.policies.policy_from_dict(data) makes a policy from a dict."),
        (Path("support.toml"), "pycupel.policies.load_policy(path) reads a policy from a file."),
        (RecencyScorer(), "pycupel.Policy(scorer) makes a policy from a scorer."),
    ],
)
def test_what_can_be_made_into_a_policy_gets_a_hint(policy: Any, note: str) -> None:
    with pytest.raises(
        TypeError, match=r"^policy must be a Policy, a Pipeline or the name of a preset, not "
    ) as caught:
        Pipeline.from_policy(policy)
    assert caught.value.__notes__ == [note]


@pytest.mark.parametrize("name", ["support.toml", "support", "./support", "policies/support.json"])
def test_the_name_of_a_file_gets_a_hint(name: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=r"^unknown preset ") as caught:
        Pipeline.from_policy(name)
    is_file = name != "support"
    note = "pycupel.policies.load_policy(path) reads a policy from a file."
    assert getattr(caught.value, "__notes__", []) == [note] * is_file


def test_choices_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(PipelineConfigError, match=r"^dedupe_against_pinned needs deduplication=True$"):
        Policy(RecencyScorer(), deduplication=False, dedupe_against_pinned=True)
    with pytest.raises(
        PipelineConfigError, match=r"^overflow_strategy must be one of throw, truncate, proceed, not 'explode'"
    ):
        Policy(RecencyScorer(), overflow_strategy="explode")  # type: ignore[arg-type]


def test_an_overflow_strategy_may_be_its_name() -> None:
    assert Policy(RecencyScorer(), overflow_strategy="Proceed").overflow_strategy is OverflowStrategy.PROCEED  # type: ignore[arg-type]


def test_none_is_a_choice_of_its_own_and_leaves_items_whole() -> None:
    """Nothing else is chosen in place of the slicer, so that any may be used, and streams run."""
    items = [ContextItem("a\n" * 40, 40), ContextItem("b", 1)]
    policy = Policy(RecencyScorer(), StreamSlice(), shorten="none")
    assert policy.shortener is None
    assert policy != Policy(RecencyScorer(), StreamSlice())
    pipeline = Pipeline.from_policy(policy)
    assert pipeline.run(items, 20) == pipeline.run_stream_sync(items, 20) == [items[1]]
    with pytest.raises(TypeError, match="shorten must be a shortener"):
        Policy(RecencyScorer(), shorten="some")  # type: ignore[arg-type]


def test_a_shortener_that_never_shortens_makes_no_versions_for_others_either() -> None:
    """It is a shortener like any other, so whoever takes the shortener of a policy may call it."""
    never: Any = Policy(RecencyScorer(), shorten="none").shorten
    item = ContextItem("long " * 100, 100)
    assert never.shorten(item, ShortenContext([item])) == ()
