"""Build items, budgets and strategies from a vector's tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from pycupel import placers, scorers, slicers
from pycupel.conformance.load import Table, VectorError, choose, require
from pycupel.diagnostics import OverflowEvent
from pycupel.model import (
    ContextBudget,
    ContextItem,
    CountQuotaEntry,
    OverflowStrategy,
    QuotaEntry,
    ScoredItem,
)
from pycupel.pipeline import Pipeline
from pycupel.protocols import Placer, Scorer, Slicer
from pycupel.scorers.decay import Curve

__all__ = [
    "build_budget",
    "build_item",
    "build_pipeline",
    "build_placer",
    "build_scored_item",
    "build_scorer",
    "build_slicer",
]

_ITEM_FIELDS = (
    "kind",
    "source",
    "priority",
    "tags",
    "metadata",
    "timestamp",
    "future_relevance_hint",
    "pinned",
    "original_tokens",
)

_RELEVANCE_FIELDS = (
    "query",
    "k1",
    "b",
    "window",
    "share",
    "group",
    "group_share",
    "length_exponent",
    "optional",
)


def build_item(table: Table) -> ContextItem:
    """Build an item of `[[items]]` or `[[scored_items]]`."""
    fields = _present(table, *_ITEM_FIELDS)
    if "futureRelevanceHint" in table:
        fields["future_relevance_hint"] = table["futureRelevanceHint"]
    return ContextItem(require(table, "content", "an item"), require(table, "tokens", "an item"), **fields)


def build_scored_item(table: Table) -> ScoredItem:
    """Build an item with its `score`."""
    return ScoredItem(build_item(table), float(require(table, "score", "an item")))


def build_budget(table: Table) -> ContextBudget:
    """Build the `[budget]`. If there is only a target, it is also the maximum (CV-05)."""
    target: int = require(table, "target_tokens", "[budget]")
    options = _present(table, "output_reserve", "reserved_slots", "estimation_safety_margin_percent")
    return ContextBudget(table.get("max_tokens", target), target, **options)


def build_scorer(name: str, config: Table) -> Scorer:
    """Build the scorer of that name from its fields."""
    return choose("scorer", name, _SCORERS)(config)


def build_slicer(name: str, config: Table) -> Slicer:
    """Build the slicer of that name from its fields."""
    return choose("slicer", name, _SLICERS)(config)


def build_placer(name: str, config: Table) -> Placer:
    """Build the placer of that name from its fields."""
    return choose("placer", name, _PLACERS)(config)


def build_pipeline(config: Table, on_overflow: Callable[[OverflowEvent], object] | None = None) -> Pipeline:
    """Build the pipeline of a `[config]`; `on_overflow` is called if the strategy is Proceed."""
    strategy = OverflowStrategy(config.get("overflow_strategy", "throw"))
    return Pipeline(
        _combined(require(config, "scorers", "[config]")),
        build_slicer(config.get("slicer", "greedy"), config),
        _placer(config.get("placer", "chronological")),
        overflow_strategy=strategy,
        on_overflow=on_overflow if strategy is OverflowStrategy.PROCEED else None,
        **_present(config, "deduplication", "dedupe_against_pinned"),
    )


def _combined(entries: list[Table]) -> Scorer:
    """Combine several scorers; a single one is used as it is (CS-04, CV-12)."""
    return _nested(entries[0]) if len(entries) == 1 else _composite({"scorers": entries})


def _nested(entry: Table | str) -> Scorer:
    """Build an inner scorer from a name, or from a table with a type and that scorer's own fields."""
    if isinstance(entry, str):
        return build_scorer(entry, {})
    return build_scorer(require(entry, "type", "a nested scorer"), entry)


def _present(table: Table, *names: str) -> dict[str, Any]:
    return {name: table[name] for name in names if name in table}


def _required(config: Table, strategy: str, *names: str) -> list[Any]:
    return [require(config, name, f"the config of {strategy!r}") for name in names]


def _kind(config: Table) -> Scorer:
    if config.get("use_default_weights") or "weights" not in config:
        return scorers.KindScorer()
    return scorers.KindScorer(_weights(config["weights"], "kind"))


def _tag(config: Table) -> Scorer:
    return scorers.TagScorer(_weights(config.get("tag_weights", []), "tag"), **_present(config, "case_insensitive"))


def _weights(entries: list[Table], name: str) -> dict[str, float]:
    weights = {require(entry, name, "a weight"): require(entry, "weight", "a weight") for entry in entries}
    if len(weights) < len(entries):
        raise VectorError(f"the vector names a {name} twice")
    return weights


def _composite(config: Table) -> Scorer:
    [entries] = _required(config, "composite", "children" if "children" in config else "scorers")
    return scorers.CompositeScorer([(_nested(entry), entry.get("weight", 1.0)) for entry in entries])


def _scaled(config: Table) -> Scorer:
    return scorers.ScaledScorer(*map(_nested, _required(config, "scaled", "inner_scorer")))


def _metadata_key(config: Table) -> Scorer:
    return scorers.MetadataKeyScorer(*_required(config, "metadata_key", "key", "value", "boost"))


def _boosted(config: Table) -> Scorer:
    [inner] = _required(config, "boosted", "inner_scorer")
    return scorers.BoostedScorer(_nested(inner), *map(_nested, config.get("boosts", [])))


def _decay(config: Table) -> Scorer:
    reference_time, curve = _required(config, "decay", "reference_time", "curve")

    def now() -> datetime:
        time: datetime = reference_time
        return time

    return scorers.DecayScorer(now, _curve(curve), **_present(config, "null_timestamp_score"))


def _curve(table: Table) -> Curve:
    return choose("curve", require(table, "type", "the curve"), _CURVES)(table)


def _step(table: Table) -> Curve:
    windows: list[Table] = require(table, "windows", "the curve")
    return scorers.Step(
        [(_seconds(window, "max_age_secs"), require(window, "score", "the curve")) for window in windows]
    )


def _seconds(table: Table, name: str) -> timedelta:
    return timedelta(seconds=require(table, name, "the curve"))


def _knapsack(config: Table) -> slicers.KnapsackSlice:
    options = _present(config, "bucket_size", "max_cells", "max_states", "fill_free")
    if options.get("max_cells") == 0:
        options["max_cells"] = None
    return slicers.KnapsackSlice(**options)


def _inner_slicer(config: Table) -> Slicer:
    """Build an inner slicer from a name with its fields beside it, or from its own table."""
    inner = config.get("inner_slicer", "greedy")
    if isinstance(inner, str):
        return build_slicer(inner, {name: value for name, value in config.items() if name != "inner_slicer"})
    return build_slicer(require(inner, "type", "the inner slicer"), inner)


def _min_score(config: Table) -> Slicer:
    [min_score] = _required(config, "min_score", "min_score")
    return slicers.MinScoreSlice(_inner_slicer(config), min_score)


def _quota(config: Table) -> Slicer:
    entries = [
        QuotaEntry(require(entry, "kind", "a quota"), **_present(entry, "require", "cap"))
        for entry in config.get("quotas", [])
    ]
    return slicers.QuotaSlice(entries, _inner_slicer(config), **_present(config, "redistribute"))


def _count_entries(config: Table) -> list[CountQuotaEntry]:
    return [
        CountQuotaEntry(
            require(entry, "kind", "a count quota"),
            cap_count=require(entry, "cap_count", "a count quota"),
            **_present(entry, "require_count"),
        )
        for entry in config.get("entries", [])
    ]


def _count_quota(config: Table) -> Slicer:
    options = _present(config, "cap_order")
    return slicers.CountQuotaSlice(_count_entries(config), _inner_slicer(config), _scarcity(config), **options)


def _count_constrained(config: Table) -> Slicer:
    return slicers.CountConstrainedKnapsackSlice(_count_entries(config), _knapsack(config), _scarcity(config))


def _scarcity(config: Table) -> Any:
    return config.get("scarcity_behavior", "degrade")


def _placer(entry: Table | str) -> Placer:
    """Build a placer from a name, or from a table with a type and that placer's own fields."""
    if isinstance(entry, str):
        return build_placer(entry, {})
    return build_placer(require(entry, "type", "the placer"), entry)


def _framed(config: Table) -> Placer:
    return placers.FramedPlacer(_placer(config.get("inner", "chronological")), **_present(config, "first", "last"))


_CURVES: Mapping[str, Callable[[Table], Curve]] = {
    "exponential": lambda table: scorers.Exponential(_seconds(table, "half_life_secs")),
    "window": lambda table: scorers.Window(_seconds(table, "max_age_secs")),
    "step": _step,
}

_SCORERS: Mapping[str, Callable[[Table], Scorer]] = {
    "recency": lambda config: scorers.RecencyScorer(**_present(config, "undated")),
    "priority": lambda _: scorers.PriorityScorer(),
    "kind": _kind,
    "tag": _tag,
    "frequency": lambda _: scorers.FrequencyScorer(),
    "reflexive": lambda config: scorers.ReflexiveScorer(**_present(config, "rescale")),
    "composite": _composite,
    "scaled": _scaled,
    "metadata_trust": lambda config: scorers.MetadataTrustScorer(**_present(config, "default_score")),
    "decay": _decay,
    "metadata_key": _metadata_key,
    "boosted": _boosted,
    "relevance": lambda config: scorers.RelevanceScorer(**_present(config, *_RELEVANCE_FIELDS)),
}

_SLICERS: Mapping[str, Callable[[Table], Slicer]] = {
    "greedy": lambda config: slicers.GreedySlice(**_present(config, "cost_exponent", "best_first")),
    "knapsack": _knapsack,
    "stream": lambda config: slicers.StreamSlice(**_present(config, "batch_size", "replace")),
    "quota": _quota,
    "count_quota": _count_quota,
    "count_constrained_knapsack": _count_constrained,
    "min_score": _min_score,
}

_PLACERS: Mapping[str, Callable[[Table], Placer]] = {
    "chronological": lambda config: placers.ChronologicalPlacer(**_present(config, "undated")),
    "u-shaped": lambda _: placers.UShapedPlacer(),
    "framed": _framed,
}
