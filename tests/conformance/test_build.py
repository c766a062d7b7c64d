"""Building items, budgets and strategies from a vector's tables. `docs/vectors.md`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pycupel import (
    BoostedScorer,
    ChronologicalPlacer,
    CompositeScorer,
    ContextBudget,
    ContextItem,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    CountQuotaSlice,
    DecayScorer,
    FramedPlacer,
    FrequencyScorer,
    GreedySlice,
    KindScorer,
    KnapsackSlice,
    MetadataKeyScorer,
    MetadataTrustScorer,
    MinScoreSlice,
    OverflowStrategy,
    Pipeline,
    PriorityScorer,
    QuotaEntry,
    QuotaSlice,
    RecencyScorer,
    ReflexiveScorer,
    RelevanceScorer,
    ScaledScorer,
    ScarcityBehavior,
    ScoredItem,
    StreamSlice,
    TagScorer,
    UShapedPlacer,
)
from pycupel.conformance import vectors as build
from pycupel.conformance.vectors import VectorError
from pycupel.diagnostics import OverflowEvent
from pycupel.errors import InvalidBudgetError, InvalidItemError, ScorerConfigError
from pycupel.registry import CURVES, PLACERS, SCORERS, SLICERS, Registry
from pycupel.scorers import Exponential, Step, Window
from tests import registries

NOON = datetime(2024, 6, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)

SCORER_NAMES = [
    *("recency", "priority", "kind", "tag", "frequency", "reflexive", "composite", "scaled"),
    *("metadata_trust", "decay", "metadata_key", "boosted", "relevance", "fused"),
]
SLICER_NAMES = ["greedy", "knapsack", "stream", "quota", "count_quota", "count_constrained_knapsack", "min_score"]
PLACER_NAMES = ["chronological", "u-shaped", "framed", "prompt"]


# --- items and budgets


def test_an_item_needs_content_and_tokens() -> None:
    """Absent fields have their default."""
    assert build.build_item({"content": "text", "tokens": 5}) == ContextItem("text", 5)


def test_an_item_may_have_every_field() -> None:
    """Test Vector Format: `[[items]]`; CV-02 for the fields beyond the chapter."""
    table = {
        "content": "text",
        "tokens": 5,
        "kind": "Memory",
        "source": "Rag",
        "priority": 2,
        "tags": ["a"],
        "metadata": {"cupel:trust": "0.5"},
        "timestamp": NOON,
        "futureRelevanceHint": 0.5,
        "pinned": True,
        "original_tokens": 9,
    }
    assert build.build_item(table) == ContextItem(
        "text",
        5,
        kind="Memory",
        source="Rag",
        priority=2,
        tags=["a"],
        metadata={"cupel:trust": "0.5"},
        timestamp=NOON,
        future_relevance_hint=0.5,
        pinned=True,
        original_tokens=9,
    )


@pytest.mark.parametrize("name", ["futureRelevanceHint", "future_relevance_hint"])
def test_the_hint_has_two_spellings(name: str) -> None:
    """WF-01: vectors spell it in camelCase."""
    assert build.build_item({"content": "text", "tokens": 5, name: 0.25}).future_relevance_hint == 0.25


@pytest.mark.proves("S-CF-04")
def test_unknown_fields_of_an_item_are_ignored() -> None:
    """Test Vector Format: implementations SHOULD ignore unknown fields. CV-02."""
    assert build.build_item({"content": "text", "tokens": 5, "score": 1.0, "colour": "red"}) == ContextItem("text", 5)


@pytest.mark.parametrize(
    "table", [{"content": "", "tokens": 1}, {"content": "x", "tokens": 1, "timestamp": NOON.replace(tzinfo=None)}]
)
def test_an_invalid_item_is_refused(table: dict[str, Any]) -> None:
    """DM-01, DM-07: nothing is smoothed over."""
    with pytest.raises(InvalidItemError):
        build.build_item(table)


def test_a_scored_item_has_a_float() -> None:
    scored = build.build_scored_item({"content": "text", "tokens": 5, "score": 1})
    assert scored == ScoredItem(ContextItem("text", 5), 1.0)
    assert type(scored.score) is float
    # More digits than a float has, as hexadecimal integers may have.
    assert build.build_scored_item({"content": "text", "tokens": 5, "score": 16**400}).score == float("inf")


@pytest.mark.parametrize("score", ["x", True, [], NOON])
def test_a_score_that_is_no_number_is_an_error_that_says_so(score: Any) -> None:
    """It was a ValueError of `float`, or taken for 1."""
    with pytest.raises(TypeError, match=r"^score must be a number, not "):
        build.build_scored_item({"content": "text", "tokens": 5, "score": score})


def test_a_budget_of_a_slicing_vector_has_a_target_only() -> None:
    """CV-05: it is the maximum, too."""
    assert build.build_budget({"target_tokens": 50}) == ContextBudget(50, 50)


def test_a_budget_may_have_every_field() -> None:
    table = {
        "max_tokens": 100,
        "target_tokens": 50,
        "output_reserve": 20,
        "reserved_slots": {"Note": 3},
        "estimation_safety_margin_percent": 10,
        "colour": "red",
    }
    expected = ContextBudget(
        100, 50, output_reserve=20, reserved_slots={"Note": 3}, estimation_safety_margin_percent=10.0
    )
    assert build.build_budget(table) == expected


def test_an_invalid_budget_is_refused() -> None:
    with pytest.raises(InvalidBudgetError):
        build.build_budget({"max_tokens": 10, "target_tokens": 11})


# --- scorers


@pytest.mark.parametrize(
    ("name", "config", "expected"),
    [
        ("recency", {}, RecencyScorer()),
        ("priority", {}, PriorityScorer()),
        ("frequency", {}, FrequencyScorer()),
        ("reflexive", {"unknown": 1}, ReflexiveScorer()),
        ("kind", {}, KindScorer()),
        ("kind", {"use_default_weights": True, "weights": [{"kind": "Note", "weight": 1.0}]}, KindScorer()),
        ("kind", {"use_default_weights": False, "weights": [{"kind": "Note", "weight": 2}]}, KindScorer({"Note": 2.0})),
        ("kind", {"weights": []}, KindScorer({})),
        ("tag", {}, TagScorer({})),
        (
            "tag",
            {"tag_weights": [{"tag": "a", "weight": 1.0}, {"tag": "b", "weight": 0.5}]},
            TagScorer({"a": 1.0, "b": 0.5}),
        ),
        (
            "tag",
            {"tag_weights": [{"tag": "a", "weight": 1.0}], "case_insensitive": True},
            TagScorer({"a": 1.0}, case_insensitive=True),
        ),
        ("metadata_trust", {}, MetadataTrustScorer()),
        ("metadata_trust", {"default_score": 0.25}, MetadataTrustScorer(0.25)),
        ("metadata_key", {"key": "k", "value": "v", "boost": 1.5}, MetadataKeyScorer("k", "v", 1.5)),
        ("scaled", {"inner_scorer": "recency"}, ScaledScorer(RecencyScorer())),
        (
            "scaled",
            {"inner_scorer": {"type": "metadata_trust", "default_score": 0.25}},
            ScaledScorer(MetadataTrustScorer(0.25)),
        ),
        (
            "boosted",
            {
                "inner_scorer": "recency",
                "boosts": [{"type": "metadata_key", "key": "k", "value": "v", "boost": 2}, {"type": "reflexive"}],
            },
            BoostedScorer(RecencyScorer(), MetadataKeyScorer("k", "v", 2.0), ReflexiveScorer()),
        ),
        ("boosted", {"inner_scorer": "recency"}, BoostedScorer(RecencyScorer())),
        (
            "composite",
            {"scorers": [{"type": "recency", "weight": 3}, {"type": "priority"}]},
            CompositeScorer([(RecencyScorer(), 3.0), (PriorityScorer(), 1.0)]),
        ),
        ("relevance", {}, RelevanceScorer()),
        (
            "relevance",
            {
                "query": "q",
                "k1": 2,
                "b": 0.5,
                "window": 1,
                "share": 0.25,
                "group": "file",
                "group_share": 0.1,
                "length_exponent": 0.3,
                "optional": True,
            },
            RelevanceScorer(
                "q",
                k1=2,
                b=0.5,
                window=1,
                share=0.25,
                group="file",
                group_share=0.1,
                length_exponent=0.3,
                optional=True,
            ),
        ),
    ],
)
def test_each_scorer_is_built_with_its_configuration(name: str, config: dict[str, Any], expected: Any) -> None:
    """Test Vector Format: scorer-specific configuration."""
    assert build.build_strategy(SCORERS, name, config) == expected


@pytest.mark.parametrize("field", ["children", "scorers"])
def test_composites_nest(field: str) -> None:
    """CV-10: optional vectors nest composites under `children`."""
    inner = {"type": "composite", "weight": 2.0, field: [{"type": "kind", "weight": 1.0}]}
    scorer = build.build_strategy(SCORERS, "composite", {"scorers": [inner, {"type": "recency", "weight": 1.0}]})
    assert scorer == CompositeScorer([(CompositeScorer([(KindScorer(), 1.0)]), 2.0), (RecencyScorer(), 1.0)])


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        ({"type": "exponential", "half_life_secs": 3600}, Exponential(HOUR)),
        ({"type": "window", "max_age_secs": 1800.5}, Window(timedelta(seconds=1800.5))),
        (
            {"type": "step", "windows": [{"max_age_secs": 3600, "score": 0.9}, {"max_age_secs": 7200, "score": 0.1}]},
            Step([(HOUR, 0.9), (2 * HOUR, 0.1)]),
        ),
    ],
)
def test_a_decay_scorer_has_a_curve_and_a_frozen_clock(curve: dict[str, Any], expected: Any) -> None:
    """DS-08: vectors give seconds."""
    scorer = build.build_strategy(SCORERS, "decay", {"reference_time": NOON, "curve": curve})
    assert isinstance(scorer, DecayScorer)
    assert scorer.curve == expected
    assert scorer.null_timestamp_score == 0.5
    young = ContextItem("text", 1, timestamp=NOON)
    assert scorer.score(young, [young]) == expected.at(timedelta(0))


@pytest.mark.parametrize("seconds", ["60", float("nan"), float("inf"), 16**400, []])
def test_a_duration_that_is_no_number_of_seconds_is_an_error_of_the_vector(seconds: Any) -> None:
    """It was an error of `timedelta`."""
    config = {"reference_time": NOON, "curve": {"type": "window", "max_age_secs": seconds}}
    with pytest.raises(VectorError, match=r"^a duration must be a number of seconds, not "):
        build.build_strategy(SCORERS, "decay", config)


def test_a_decay_scorer_may_have_a_score_for_undated_items() -> None:
    config = {
        "reference_time": NOON,
        "null_timestamp_score": 0.25,
        "curve": {"type": "window", "max_age_secs": 10},
    }
    undated = ContextItem("text", 1)
    assert build.build_strategy(SCORERS, "decay", config).score(undated, [undated]) == 0.25


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("kind", {"weights": [{"kind": "Note", "weight": 1}, {"kind": "note", "weight": 2}]}),
        (
            "tag",
            {"tag_weights": [{"tag": "a", "weight": 1}, {"tag": "A", "weight": 2}], "case_insensitive": True},
        ),
        ("composite", {"scorers": []}),
    ],
)
def test_invalid_scorers_are_refused(name: str, config: dict[str, Any]) -> None:
    """DM-12: a kind or tag may be named twice, in different case."""
    with pytest.raises(ScorerConfigError):
        build.build_strategy(SCORERS, name, config)


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("kind", {"weights": [{"kind": "Note", "weight": 1}, {"kind": "Note", "weight": 2}]}),
        ("tag", {"tag_weights": [{"tag": "a", "weight": 1}, {"tag": "a", "weight": 2}]}),
    ],
)
def test_a_vector_that_names_a_weight_twice_is_wrong_itself(name: str, config: dict[str, Any]) -> None:
    """A mapping would hide it, and an error of the runner's own must not pass for one of the constructor."""
    with pytest.raises(VectorError, match=f"^duplicate {name} in the vector's weights$"):
        build.build_strategy(SCORERS, name, config)


# --- slicers


@pytest.mark.parametrize(
    ("name", "config", "expected"),
    [
        ("greedy", {}, GreedySlice()),
        ("knapsack", {}, KnapsackSlice()),
        (
            "knapsack",
            {"bucket_size": 1, "max_cells": 7, "max_states": 9, "fill_free": True},
            KnapsackSlice(1, 7, 9, fill_free=True),
        ),
        ("knapsack", {"max_cells": 0}, KnapsackSlice(max_cells=None)),
        ("stream", {}, StreamSlice()),
        ("stream", {"batch_size": 5, "replace": True}, StreamSlice(5, replace=True)),
        ("quota", {"inner_slicer": "stream", "batch_size": 5}, QuotaSlice([], StreamSlice(5))),
        ("quota", {}, QuotaSlice([])),
        (
            "quota",
            {"quotas": [{"kind": "A", "require": 10, "cap": 50}, {"kind": "B"}], "redistribute": True},
            QuotaSlice([QuotaEntry("A", 10, 50), QuotaEntry("B")], redistribute=True),
        ),
        ("quota", {"inner_slicer": "knapsack", "bucket_size": 5}, QuotaSlice([], KnapsackSlice(5))),
        (
            "quota",
            {"inner_slicer": {"type": "knapsack", "bucket_size": 5}, "bucket_size": 7},
            QuotaSlice([], KnapsackSlice(5)),
        ),
        ("count_quota", {}, CountQuotaSlice([])),
        (
            "count_quota",
            {
                "entries": [{"kind": "A", "cap_count": 2, "require_count": 1}, {"kind": "B", "cap_count": 0}],
                "scarcity_behavior": "throw",
                "cap_order": "score",
                "inner_slicer": {"type": "quota", "quotas": [{"kind": "A", "cap": 50}]},
            },
            CountQuotaSlice(
                [CountQuotaEntry("A", cap_count=2, require_count=1), CountQuotaEntry("B", cap_count=0)],
                QuotaSlice([QuotaEntry("A", cap=50)]),
                ScarcityBehavior.THROW,
                cap_order="score",
            ),
        ),
        (
            "count_constrained_knapsack",
            {"entries": [{"kind": "A", "cap_count": 2}], "bucket_size": 5, "scarcity_behavior": "throw"},
            CountConstrainedKnapsackSlice(
                [CountQuotaEntry("A", cap_count=2)], KnapsackSlice(5), ScarcityBehavior.THROW
            ),
        ),
        ("count_constrained_knapsack", {}, CountConstrainedKnapsackSlice([])),
        ("min_score", {"min_score": 0.5}, MinScoreSlice(GreedySlice(), 0.5)),
        (
            "min_score",
            {"min_score": 0.5, "inner_slicer": "knapsack", "bucket_size": 5},
            MinScoreSlice(KnapsackSlice(5), 0.5),
        ),
    ],
)
def test_each_slicer_is_built_with_its_configuration(name: str, config: dict[str, Any], expected: Any) -> None:
    """Test Vector Format: slicer-specific configuration; CV-02 for the fields beyond the chapter."""
    assert build.build_strategy(SLICERS, name, config) == expected


@pytest.mark.parametrize(
    ("name", "config", "expected"),
    [
        ("chronological", {}, ChronologicalPlacer()),
        ("chronological", {"undated": "position"}, ChronologicalPlacer("position")),
        ("u-shaped", {}, UShapedPlacer()),
        ("framed", {}, FramedPlacer()),
        (
            "framed",
            {"inner": "u-shaped", "first": ["Memory"], "last": ["Message"]},
            FramedPlacer(UShapedPlacer(), ["Memory"], ["Message"]),
        ),
        (
            "framed",
            {"inner": {"type": "chronological", "undated": "position"}},
            FramedPlacer(ChronologicalPlacer("position")),
        ),
    ],
)
def test_each_placer_is_built_with_its_configuration(name: str, config: dict[str, Any], expected: Any) -> None:
    assert build.build_strategy(PLACERS, name, config) == expected


@pytest.mark.parametrize(
    ("registry", "name", "config"),
    [
        (SCORERS, "novelty", {}),
        (SLICERS, "novelty", {}),
        (PLACERS, "novelty", {}),
        (CURVES, "novelty", {}),
        (SCORERS, "scaled", {"inner_scorer": "novelty"}),
        (SLICERS, "quota", {"inner_slicer": "novelty"}),
        (PLACERS, "framed", {"inner": "novelty"}),
    ],
)
def test_unknown_names_are_refused_with_the_known_ones(registry: Registry, name: str, config: dict[str, Any]) -> None:
    known = ", ".join(registry)
    with pytest.raises(VectorError, match=f"type: unknown {registry.what} 'novelty'; choose from {known}$"):
        build.build_strategy(registry, name, config)


@pytest.mark.parametrize(
    ("names", "registry"), [(SCORER_NAMES, SCORERS), (SLICER_NAMES, SLICERS), (PLACER_NAMES, PLACERS)]
)
def test_the_page_names_every_strategy(names: list[str], registry: Registry) -> None:
    page = (Path(__file__).parents[2] / "docs" / "vectors.md").read_text(encoding="utf-8")
    assert f"is one of `{' '.join(names)}`" in page
    assert {registry[name] for name in names} == {registry[name] for name in registry._built_in}


class LengthScorer:
    def __init__(self, limit: int, *, unit: str = "tokens", **_: Any) -> None:
        self.limit = limit
        self.unit = unit

    def score(self, item: ContextItem, all_items: Any, /) -> float:
        return min(item.tokens / self.limit, 1.0)


def test_a_registered_strategy_gets_the_fields_that_its_parameters_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other fields are unknown, and so ignored (CV-02), even if it takes any argument."""
    registries.keep(monkeypatch)
    SCORERS.register("length", LengthScorer)
    scorer = build.build_strategy(SCORERS, "Length", {"type": "Length", "limit": 5, "_": 1, "weight": 2.0})
    assert (scorer.limit, scorer.unit) == (5, "tokens")
    assert build.build_strategy(SCORERS, "length", {"limit": 5, "unit": "words"}).unit == "words"
    with pytest.raises(VectorError, match=r"^limit: is missing$"):
        build.build_strategy(SCORERS, "length", {"unit": "words"})


class BrokenScorer:
    def __init__(self) -> None:
        raise KeyError("unit")


def test_the_error_of_a_registered_strategy_is_raised_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it is, it is not a mistake of the vector."""
    registries.keep(monkeypatch)
    SCORERS.register("broken", BrokenScorer)
    with pytest.raises(KeyError, match=r"^'unit'$"):
        build.build_strategy(SCORERS, "broken", {})


# --- pipelines


def test_a_pipeline_has_the_defaults_of_the_library() -> None:
    """PB-01: dedup on, Throw, Greedy, Chronological."""
    pipeline = build.build_pipeline({"scorers": [{"type": "recency", "weight": 1.0}]})
    assert pipeline == Pipeline(RecencyScorer())


def test_a_pipeline_may_have_every_option() -> None:
    config = {
        "scorers": [{"type": "recency", "weight": 1.0}],
        "slicer": "knapsack",
        "bucket_size": 5,
        "placer": "u-shaped",
        "deduplication": True,
        "dedupe_against_pinned": True,
        "overflow_strategy": "truncate",
    }
    assert build.build_pipeline(config) == Pipeline(
        RecencyScorer(),
        KnapsackSlice(5),
        UShapedPlacer(),
        deduplication=True,
        overflow_strategy=OverflowStrategy.TRUNCATE,
        dedupe_against_pinned=True,
    )


def test_deduplication_can_be_switched_off() -> None:
    config = {"scorers": [{"type": "recency"}], "deduplication": False}
    assert build.build_pipeline(config).deduplication is False


def test_a_pipelines_placer_may_have_options() -> None:
    """Its fields have a table of their own, because `first` and `inner` would say little beside the slicer's."""
    table = {"type": "framed", "inner": "u-shaped"}
    pipeline = build.build_pipeline({"scorers": [{"type": "recency"}], "placer": table})
    assert pipeline.placer == FramedPlacer(UShapedPlacer())


def test_a_single_scorer_is_used_directly() -> None:
    """CS-04, CV-12: with its own configuration."""
    entry = {"type": "tag", "weight": 0.5, "tag_weights": [{"tag": "a", "weight": 1.0}]}
    assert build.build_pipeline({"scorers": [entry]}).scorer == TagScorer({"a": 1.0})


def test_several_scorers_make_a_composite() -> None:
    """CV-12: each entry carries its own configuration."""
    entries = [
        {"type": "recency", "weight": 2.0},
        {"type": "kind", "weight": 1.0, "weights": [{"kind": "Note", "weight": 1.0}]},
    ]
    expected = CompositeScorer([(RecencyScorer(), 2.0), (KindScorer({"Note": 1.0}), 1.0)])
    assert build.build_pipeline({"scorers": entries}).scorer == expected


def test_a_pipeline_without_a_scorer_is_refused() -> None:
    """PB-01: the scorer is required."""
    with pytest.raises(ScorerConfigError):
        build.build_pipeline({"scorers": []})


@pytest.mark.parametrize(
    ("strategy", "observed"), [("throw", False), ("truncate", False), ("proceed", True), (None, False)]
)
def test_only_proceed_has_an_observer(strategy: str | None, observed: bool) -> None:
    """PL-05: an observer with another strategy would be refused."""
    events: list[OverflowEvent] = []
    config: dict[str, Any] = {"scorers": [{"type": "recency"}]}
    if strategy is not None:
        config["overflow_strategy"] = strategy
    observer = events.append
    assert (build.build_pipeline(config, observer).on_overflow is observer) is observed


def test_an_unknown_overflow_strategy_is_refused() -> None:
    with pytest.raises(
        VectorError, match=r"^unknown overflow strategy 'explode'; expected one of throw, truncate, proceed$"
    ):
        build.build_pipeline({"scorers": [{"type": "recency"}], "overflow_strategy": "explode"})
