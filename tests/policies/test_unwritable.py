"""Policies that cannot be written, and how they are told."""

from __future__ import annotations

import pickle
from datetime import datetime, timedelta
from typing import Any

import pytest

from pycupel import (
    BoostedScorer,
    CompositeScorer,
    ContextItem,
    CountQuotaEntry,
    CountQuotaSlice,
    DecayScorer,
    FramedPlacer,
    KindScorer,
    MetadataKeyScorer,
    Policy,
    QuotaSlice,
    RecencyScorer,
    RelevanceScorer,
    ScaledScorer,
    SimilarityScorer,
    TagScorer,
)
from pycupel.policies import policy_from_dict, policy_to_dict
from pycupel.registry import CLOCKS
from pycupel.scorers import SystemTimeProvider, Window
from tests import registries
from tests.policies.samples import HOUR, SHARE_ENTRIES, decay, mistakes, refused
from tests.strategies import NOW, FixedClock


@pytest.fixture(autouse=True)
def _keep_the_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    registries.keep(monkeypatch)


class Homemade:
    def score(self, item: ContextItem, all_items: Any, /) -> float:
        return 0.0

    def slice(self, scored_items: Any, budget: Any, /) -> list[ContextItem]:
        return []

    def place(self, scored_items: Any, /) -> list[ContextItem]:
        return []


@pytest.mark.parametrize(
    ("policy", "path", "what"),
    [
        (Policy(Homemade()), "scorers[0]", "scorer"),
        (
            Policy(CompositeScorer([(RecencyScorer(), 1), (ScaledScorer(Homemade()), 1)])),
            "scorers[1].innerScorer",
            "scorer",
        ),
        (Policy(BoostedScorer(RecencyScorer(), Homemade())), "scorers[0].boosts[0]", "scorer"),
        (Policy(RecencyScorer(), Homemade()), "slicer", "slicer"),
        (Policy(RecencyScorer(), QuotaSlice(SHARE_ENTRIES, Homemade())), "slicer.inner", "slicer"),
        (Policy(RecencyScorer(), placer=Homemade()), "placer", "placer"),
    ],
)
def test_what_is_not_registered_is_not_written_and_told_with_its_path(policy: Policy, path: str, what: str) -> None:
    error = refused(lambda: policy_to_dict(policy))
    assert error.path == path
    assert str(error) == (
        f"{path}: Homemade is not a registered {what}, so a file cannot name it; register it with "
        f"pycupel.registry.{what.upper()}S.register(name, ...)"
    )


def test_a_function_that_embeds_texts_is_in_no_file_and_registering_would_not_help() -> None:
    scorer = CompositeScorer([(RelevanceScorer(), 1), (SimilarityScorer(lambda texts: [[1.0] for _ in texts]), 1)])
    assert str(refused(lambda: policy_to_dict(Policy(scorer)))) == (
        "scorers[1]: a SimilarityScorer contains a function, which cannot be written to a file; save the policy "
        "without it, and add it after loading"
    )


class Pessimist(RecencyScorer):
    pass


def test_a_subclass_is_not_written_as_its_base() -> None:
    assert refused(lambda: policy_to_dict(Policy(Pessimist()))).path == "scorers[0]"


def test_a_lambda_as_a_clock_is_refused_and_told_which() -> None:
    """The issue: a policy that holds an unregistered callable refuses to serialise and says which."""
    scorer = CompositeScorer([(RecencyScorer(), 1), (ScaledScorer(DecayScorer(lambda: NOW, Window(HOUR))), 1)])
    error = refused(lambda: policy_to_dict(Policy(scorer)))
    assert error.path == "scorers[1].innerScorer.time"
    assert "<lambda> is not a registered clock" in str(error)
    assert "pycupel.registry.CLOCKS.register(name, ...)" in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_clock_object_that_is_not_registered_is_shown() -> None:
    error = refused(lambda: policy_to_dict(Policy(DecayScorer(FixedClock(), Window(HOUR)))))
    assert str(error).startswith("scorers[0].time: FixedClock(instant=datetime.datetime(2025, 1, 1, 12, 0, ")


def test_a_registered_clock_is_read_and_written_by_name() -> None:
    def newsroom() -> datetime:
        return NOW

    CLOCKS.register("newsroom", newsroom)
    policy = policy_from_dict(decay(time="newsroom"))
    assert isinstance(policy.scorer, DecayScorer)
    assert policy.scorer.time_provider is newsroom
    assert policy_to_dict(policy)["scorers"][0]["time"] == "newsroom"
    fresh = ContextItem("fresh", 1, timestamp=NOW)
    assert policy.scorer.score(fresh, [fresh]) == 1.0


@pytest.mark.parametrize(
    ("policy", "path"),
    [
        (Policy(RecencyScorer(), name="a\ud800"), "name"),
        (Policy(RecencyScorer(), description="\udfff"), "description"),
        (Policy(KindScorer({"\ud800": 1})), 'scorers[0].kindWeights["\\ud800"]'),
        (Policy(TagScorer({"\ud800": 1})), 'scorers[0].tagWeights["\\ud800"]'),
        (Policy(MetadataKeyScorer("\ud800", "v", 1)), "scorers[0].key"),
        (Policy(RecencyScorer(), CountQuotaSlice([CountQuotaEntry("\ud800", cap_count=1)])), "slicer.entries[0].kind"),
    ],
)
def test_lone_surrogates_are_not_written(policy: Policy, path: str) -> None:
    """DD-04: UTF-8 cannot hold them."""
    error = refused(lambda: policy_to_dict(policy))
    assert error.path == path
    assert "has a lone surrogate at index" in str(error)


def test_a_question_is_neither_written_nor_read() -> None:
    text = "scorers[0].query: a query belongs to a call, not to a policy; pass query= to select or Pipeline.run"
    bound = Policy(RelevanceScorer()).for_query("Where?")
    assert str(refused(lambda: policy_to_dict(bound))) == text
    assert mistakes({"scorers": [{"type": "relevance", "query": "Where?"}]}) == [text]
    assert policy_from_dict({"scorers": [{"type": "relevance", "query": None}]}) == Policy(RelevanceScorer())


def is_pinned(item: ContextItem) -> bool:
    return item.pinned


@pytest.mark.parametrize(
    ("placer", "end"), [(FramedPlacer(first=is_pinned), "first"), (FramedPlacer(last=is_pinned), "last")]
)
def test_a_function_that_picks_items_is_not_written(placer: FramedPlacer, end: str) -> None:
    error = refused(lambda: policy_to_dict(Policy(RecencyScorer(), placer=placer)))
    assert str(error) == f"placer.{end}: a function cannot be written to a file; pass kinds instead"


@pytest.mark.parametrize("age", [timedelta.max, timedelta(days=999_999, microseconds=1)])
def test_a_duration_that_is_no_number_of_seconds_is_not_written(age: timedelta) -> None:
    error = refused(lambda: policy_to_dict(Policy(DecayScorer(SystemTimeProvider(), Window(age)))))
    assert error.path == "scorers[0].curve.maxAgeSeconds"
    assert "cannot be written exactly as a number of seconds" in str(error)
