"""Building items, budgets and strategies from a vector's tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from pycupel.conformance.load import Table
from pycupel.diagnostics import OverflowEvent
from pycupel.errors import ScorerConfigError
from pycupel.model import ContextBudget, ContextItem, CountQuotaEntry, OverflowStrategy, QuotaEntry, ScoredItem
from pycupel.pipeline import Pipeline
from pycupel.protocols import Placer, Scorer, Slicer
from pycupel.registry import PLACERS, SCORERS, SLICERS
from pycupel.scorers import Exponential, Step, Window
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


def build_item(table: Table) -> ContextItem:
    fields = {name: table[name] for name in _ITEM_FIELDS if name in table}
    if "futureRelevanceHint" in table:
        fields["future_relevance_hint"] = table["futureRelevanceHint"]
    return ContextItem(table["content"], table["tokens"], **fields)


def build_scored_item(table: Table) -> ScoredItem:
    return ScoredItem(build_item(table), float(table["score"]))


def build_budget(table: Table) -> ContextBudget:
    """Slicing vectors give only the target, and then it is the maximum, too (CV-05)."""
    target: int = table["target_tokens"]
    options = {
        name: table[name]
        for name in ("output_reserve", "reserved_slots", "estimation_safety_margin_percent")
        if name in table
    }
    return ContextBudget(table.get("max_tokens", target), target, **options)


def build_scorer(name: str, config: Table) -> Scorer:
    scorer: Scorer = _lookup("scorer", name, _SCORERS)(SCORERS[name], config)
    return scorer


def build_slicer(name: str, config: Table) -> Slicer:
    slicer: Slicer = _lookup("slicer", name, _SLICERS)(SLICERS[name], config)
    return slicer


def build_placer(name: str) -> Placer:
    placer: Placer = _lookup("placer", name, PLACERS)()
    return placer


def build_pipeline(config: Table, on_overflow: Callable[[OverflowEvent], object] | None = None) -> Pipeline:
    strategy = OverflowStrategy(config.get("overflow_strategy", "throw"))
    return Pipeline(
        _combined(config.get("scorers", [])),
        build_slicer(config.get("slicer", "greedy"), config),
        build_placer(config.get("placer", "chronological")),
        deduplication=config.get("deduplication", True),
        overflow_strategy=strategy,
        on_overflow=on_overflow if strategy is OverflowStrategy.PROCEED else None,
        dedupe_against_pinned=config.get("dedupe_against_pinned", False),
    )


def _combined(entries: list[Table]) -> Scorer:
    """A single scorer is used as it is (CS-04, CV-12)."""
    if len(entries) == 1:
        return _nested(entries[0])
    return _composite(SCORERS["composite"], {"scorers": entries})


def _nested(entry: Table | str) -> Scorer:
    """An inner scorer: a name, or a table with a type and that scorer's own fields."""
    table: Table = {"type": entry} if isinstance(entry, str) else entry
    return build_scorer(table["type"], table)


def _plain(cls: type[Any], config: Table) -> Any:  # noqa: ARG001 - nothing to configure
    return cls()


def _options(cls: type[Any], config: Table, *, names: tuple[str, ...]) -> Any:
    return cls(**{name: config[name] for name in names if name in config})


def _kind(cls: type[Any], config: Table) -> Scorer:
    if config.get("use_default_weights") or "weights" not in config:
        return cls()  # type: ignore[no-any-return]
    return cls(_weights(config["weights"], "kind"))  # type: ignore[no-any-return]


def _tag(cls: type[Any], config: Table) -> Scorer:
    weights = _weights(config.get("tag_weights", []), "tag")
    return cls(weights, case_insensitive=config.get("case_insensitive", False))  # type: ignore[no-any-return]


def _weights(entries: list[Table], name: str) -> dict[str, float]:
    weights = {entry[name]: entry["weight"] for entry in entries}
    if len(weights) < len(entries):
        raise ScorerConfigError(f"the vector names a {name} twice")
    return weights


def _composite(cls: type[Any], config: Table) -> Scorer:
    entries: list[Table] = config["children"] if "children" in config else config.get("scorers", [])
    return cls([(_nested(entry), entry.get("weight", 1.0)) for entry in entries])  # type: ignore[no-any-return]


def _scaled(cls: type[Any], config: Table) -> Scorer:
    return cls(_nested(config["inner_scorer"]))  # type: ignore[no-any-return]


def _boosted(cls: type[Any], config: Table) -> Scorer:
    return cls(_nested(config["inner_scorer"]), *map(_nested, config.get("boosts", [])))  # type: ignore[no-any-return]


def _decay(cls: type[Any], config: Table) -> Scorer:
    def now() -> datetime:
        reference_time: datetime = config["reference_time"]
        return reference_time

    return cls(now, _curve(config["curve"]), config.get("null_timestamp_score", 0.5))  # type: ignore[no-any-return]


def _curve(table: Table) -> Curve:
    return _lookup("curve", table["type"], _CURVES)(table)  # type: ignore[no-any-return]


def _exponential(table: Table) -> Curve:
    return Exponential(timedelta(seconds=table["half_life_secs"]))


def _window(table: Table) -> Curve:
    return Window(timedelta(seconds=table["max_age_secs"]))


def _step(table: Table) -> Curve:
    return Step([(timedelta(seconds=window["max_age_secs"]), window["score"]) for window in table["windows"]])


def _knapsack(cls: type[Any], config: Table) -> Any:
    options = {name: config[name] for name in ("bucket_size", "max_cells", "max_states", "fill_free") if name in config}
    if options.get("max_cells") == 0:
        options["max_cells"] = None
    return cls(**options)


def _inner_slicer(config: Table) -> Slicer:
    """A name, whose fields then stand beside it, or a table of its own."""
    inner = config.get("inner_slicer", "greedy")
    if isinstance(inner, str):
        return build_slicer(inner, {name: value for name, value in config.items() if name != "inner_slicer"})
    return build_slicer(inner["type"], inner)


def _quota(cls: type[Any], config: Table) -> Slicer:
    entries = [QuotaEntry(e["kind"], e.get("require", 0.0), e.get("cap", 100.0)) for e in config.get("quotas", [])]
    return cls(entries, _inner_slicer(config), redistribute=config.get("redistribute", False))  # type: ignore[no-any-return]


def _count_entries(config: Table) -> list[CountQuotaEntry]:
    return [
        CountQuotaEntry(entry["kind"], cap_count=entry["cap_count"], require_count=entry.get("require_count", 0))
        for entry in config.get("entries", [])
    ]


def _count_quota(cls: type[Any], config: Table) -> Slicer:
    scarcity = config.get("scarcity_behavior", "degrade")
    cap_order = config.get("cap_order", "inner")
    return cls(_count_entries(config), _inner_slicer(config), scarcity, cap_order=cap_order)  # type: ignore[no-any-return]


def _count_constrained(cls: type[Any], config: Table) -> Slicer:
    knapsack = _knapsack(SLICERS["knapsack"], config)
    return cls(_count_entries(config), knapsack, config.get("scarcity_behavior", "degrade"))  # type: ignore[no-any-return]


def _lookup(what: str, name: str, names: Mapping[str, Any]) -> Any:
    if name not in names:
        raise ValueError(f"unknown {what} {name!r}; known are {', '.join(names)}")
    return names[name]


_CURVES: Mapping[str, Callable[[Table], Curve]] = {"exponential": _exponential, "window": _window, "step": _step}

_SCORERS: Mapping[str, Callable[[type[Any], Table], Scorer]] = {
    "recency": partial(_options, names=("undated",)),
    "priority": _plain,
    "kind": _kind,
    "tag": _tag,
    "frequency": _plain,
    "reflexive": partial(_options, names=("rescale",)),
    "composite": _composite,
    "scaled": _scaled,
    "metadata_trust": partial(_options, names=("default_score",)),
    "decay": _decay,
    "metadata_key": partial(_options, names=("key", "value", "boost")),
    "boosted": _boosted,
}

_SLICERS: Mapping[str, Callable[[type[Any], Table], Slicer]] = {
    "greedy": partial(_options, names=("cost_exponent", "best_first")),
    "knapsack": _knapsack,
    "stream": partial(_options, names=("batch_size", "replace")),
    "quota": _quota,
    "count_quota": _count_quota,
    "count_constrained_knapsack": _count_constrained,
}
