"""Read conformance vectors, and build the strategies and items that they describe."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar, cast

from pycupel import placers, scorers, slicers
from pycupel.codecs.base import BuildError, Codec, Context, adapted, list_of
from pycupel.codecs.records import Field, Record, derive_fields
from pycupel.diagnostics import OverflowEvent
from pycupel.errors import DocumentError
from pycupel.fields import is_list
from pycupel.model import (
    ContextBudget,
    ContextItem,
    CountQuotaEntry,
    OverflowStrategy,
    QuotaEntry,
    ScoredItem,
)
from pycupel.model.checks import as_float, find_name, suggestion
from pycupel.pipeline import Pipeline
from pycupel.policies.files import STRINGS_AND_COMMENTS, parse_toml
from pycupel.policies.strategies import Strategy
from pycupel.protocols import Placer, Scorer
from pycupel.registry import CURVES, PLACERS, SCORERS, SLICERS, Registry
from pycupel.scorers.decay import Curve
from pycupel.text import describe, quoted

TomlTable = dict[str, Any]

_Name = TypeVar("_Name", bound=str)

# Strings and comments are matched first, so that nothing in them is taken for a time. A time without seconds is TOML
# 1.1 (CV-01).
_TOKEN = re.compile(rf"{STRINGS_AND_COMMENTS}|(?P<time>\d\d\d\d-\d\d-\d\d[Tt ]\d\d:\d\d)(?=[Zz+\-\s,\]}}#]|$)")


class VectorError(Exception):
    """The vector itself is wrong: it cannot be run, or would pass without checking anything."""


def read_vector(path: Path) -> TomlTable:
    """Parse a vector's file, or raise a DocumentError."""
    return parse_toml(add_seconds(path.read_text(encoding="utf-8")))


def add_seconds(text: str) -> str:
    """Add the seconds that TOML 1.0 requires to the times in a document."""
    return _TOKEN.sub(lambda token: f"{token['time']}:00" if token["time"] else token[0], text)


def require(table: Any, name: str, where: str) -> Any:
    """Return a required field. `where` is what an error calls the table."""
    if not isinstance(table, dict):
        raise VectorError(f"{where} must be a table, not {describe(table)}")
    if name not in table:
        raise VectorError(f"missing field {name!r} in {where}")
    return cast(TomlTable, table)[name]


def reject_misspelt(table: TomlTable, where: str, known: Collection[str]) -> None:
    """Raise if an unknown field is close to a known one. Other unknown fields are ignored (CV-02)."""
    for name in table:
        if name not in known and (near := suggestion(name, known)):
            raise VectorError(f"unknown field {quoted(name)} in {where}{near}")


def section(table: TomlTable, name: str) -> TomlTable:
    """Return a table inside a table; empty if it is missing."""
    inside = table.get(name, {})
    if not isinstance(inside, dict):
        raise VectorError(f"{name} must be a table, not {describe(inside)}")
    return cast(TomlTable, inside)


def tables(table: TomlTable, name: str) -> list[TomlTable]:
    """Return a list of tables inside a table; empty if it is missing."""
    inside: Any = table.get(name, [])
    if not is_list(inside) or not all(isinstance(each, dict) for each in inside):
        raise VectorError(f"{name} must be a list of tables, [[{name}]], not {describe(inside)}")
    return list(inside)


def spelled(what: str, name: Any, choices: Iterable[_Name]) -> _Name:
    """Return the choice that a name spells."""
    choice = find_name(name, choices)
    if choice is None:
        raise VectorError(f"unknown {what} {name!r}; expected one of {', '.join(choices)}")
    return choice


# Build items, budgets and strategies from a vector's tables.


def build_item(table: TomlTable) -> ContextItem:
    """Build an item of `[[items]]` or `[[scored_items]]`."""
    given = _present(table, *(field.name for field in fields(ContextItem)))
    if "futureRelevanceHint" in table:
        given["future_relevance_hint"] = table["futureRelevanceHint"]
    for name in ("content", "tokens"):
        require(table, name, "an item")
    return ContextItem(**given)


def build_scored_item(table: TomlTable) -> ScoredItem:
    """Build an item with its `score`."""
    return ScoredItem(build_item(table), as_float("score", require(table, "score", "an item")))


def build_budget(table: TomlTable) -> ContextBudget:
    """Build the `[budget]`. If there is only a target, it is also the maximum (CV-05)."""
    target: int = require(table, "target_tokens", "[budget]")
    options = _present(table, "output_reserve", "reserved_slots", "estimation_safety_margin_percent")
    return ContextBudget(table.get("max_tokens", target), target, **options)


def build_pipeline(config: TomlTable, on_overflow: Callable[[OverflowEvent], object] | None = None) -> Pipeline:
    """Build the pipeline of a `[config]`; `on_overflow` is called if the strategy is Proceed."""
    strategy = spelled("overflow strategy", config.get("overflow_strategy", "throw"), OverflowStrategy)
    entries = require(config, "scorers", "[config]")
    # A single scorer is used as it is (CS-04, CV-12).
    scorer = entries[0] if len(entries) == 1 else {"type": "composite", "scorers": entries}
    return Pipeline(
        _build(_SCORER, scorer),
        build_strategy(SLICERS, config.get("slicer", "greedy"), config),
        _build(_PLACER, config.get("placer", "chronological")),
        overflow_strategy=strategy,
        on_overflow=on_overflow if strategy is OverflowStrategy.PROCEED else None,
        **_present(config, "deduplication", "dedupe_against_pinned"),
    )


def build_strategy(registry: Registry, name: Any, config: TomlTable) -> Any:
    """Build the strategy of that name from the fields of a table."""
    return _build(_STRATEGIES[registry.what], {**config, "type": name})


def _build(strategy: _VectorStrategy, table: Any) -> Any:
    try:
        return strategy.read(table, _AS_RAISED)
    except BuildError as error:
        raise error.cause from None
    except DocumentError as error:
        # Only an error of the constructor is one that a vector may expect.
        raise VectorError(str(error)) from None


def _present(table: TomlTable, *names: str) -> dict[str, Any]:
    return {name: table[name] for name in names if name in table}


# The fields of strategies. They are read as those of policy files are, but have the names of the specification's Test
# Vector Format, and whatever a vector writes goes to the constructor: what that makes of it is what a vector tests.


_AS_RAISED = Context(as_raised=True)
_AS_WRITTEN = Codec(dict, lambda value, _: value, lambda value, _: value)


class _Types(dict[Any, Codec]):
    """The codec for each type of parameter: those of strategies are read, anything else is taken as it is written."""

    def __contains__(self, _: object) -> bool:
        return True

    def __missing__(self, _: object) -> Codec:
        return _AS_WRITTEN


_TYPES = _Types()


class _VectorStrategy(Strategy):
    """A strategy in a vector: a table with a `type`, or just its name. It writes out what a vector may abbreviate."""

    def _read(self, value: Any, context: Context) -> Any:
        if isinstance(value, dict):
            table = cast(TomlTable, value)
            value = _slicer_table(table) if self.registry is SLICERS else _scorer_table(table)
        return super()._read({"type": value} if isinstance(value, str) else value, context)


def _scorer_table(given: TomlTable) -> TomlTable:
    table: TomlTable = {"tag_weights": [], **given}
    if table.get("use_default_weights"):
        table.pop("weights", None)
    if "children" in table:
        # CV-10
        table["scorers"] = table.pop("children")
    return table


def _slicer_table(given: TomlTable) -> TomlTable:
    # The fields of a knapsack, and of an inner slicer that is only named, stand beside those of the outer one.
    table: TomlTable = {"entries": [], "quotas": [], **given}
    inner: Any = table.pop("inner_slicer", "greedy")
    if isinstance(inner, str):
        inner = {**table, "type": inner}
    return {**table, "inner_slicer": inner, "knapsack": table}


def _weights(name: str) -> Codec:
    """Return the codec of a list of weights, each with the `name` of what it is for."""

    def read(pairs: list[tuple[str, float]]) -> dict[str, float]:
        weights = dict(pairs)
        if len(weights) < len(pairs):
            raise VectorError(f"duplicate {name} in the vector's weights")
        return weights

    entry = Record(
        _pair, [Field(name, _AS_WRITTEN, attribute="first"), Field("weight", _AS_WRITTEN, attribute="second")]
    )
    return adapted(list_of(entry, build=list), read=read)


def _duration(seconds: Any) -> timedelta:
    try:
        return timedelta(seconds=seconds)
    except (TypeError, ValueError, OverflowError):
        raise VectorError(f"a duration must be a number of seconds, not {describe(seconds)}") from None


def _pair(first: Any, second: Any) -> tuple[Any, Any]:
    return first, second


def _entries(cls: type[Any]) -> Codec:
    return list_of(Record(cls, derive_fields(cls, _TYPES)))


_SCORER = _VectorStrategy(SCORERS, _TYPES, "weight")
_SLICER = _VectorStrategy(SLICERS, _TYPES)
_PLACER = _VectorStrategy(PLACERS, _TYPES)
_CURVE = _VectorStrategy(CURVES, _TYPES)
_STRATEGIES = {each.registry.what: each for each in (_SCORER, _SLICER, _PLACER, _CURVE)}
_TYPES.update({Scorer: _SCORER, Placer: _PLACER, Curve: _CURVE})

_WEIGHTED = Codec(
    dict, lambda entry, context: (_SCORER.read(entry, context), entry.get("weight", 1.0)), _AS_WRITTEN.write
)
_SECONDS = adapted(_AS_WRITTEN, read=_duration)
_WINDOW = Record(
    _pair, [Field("max_age_secs", _SECONDS, attribute="first"), Field("score", _AS_WRITTEN, attribute="second")]
)
_FROZEN_CLOCK = adapted(_AS_WRITTEN, read=lambda time: lambda: time)
_INNER_SCORER = Field("inner_scorer", _SCORER, attribute="inner")

_SCORER.define(scorers.KindScorer, weights=_weights("kind"))
_SCORER.define(scorers.TagScorer, Field("tag_weights", _weights("tag")))
_SCORER.define(scorers.CompositeScorer, Field("scorers", list_of(_WEIGHTED), attribute="entries"))
_SCORER.define(scorers.ScaledScorer, _INNER_SCORER)
_SCORER.define(scorers.BoostedScorer, _INNER_SCORER, boosts=list_of(_SCORER))
_SCORER.define(scorers.DecayScorer, Field("reference_time", _FROZEN_CLOCK, attribute="time_provider"))
_CURVE.define(scorers.Exponential, Field("half_life_secs", _SECONDS, attribute="half_life"))
_CURVE.define(scorers.Window, Field("max_age_secs", _SECONDS, attribute="max_age"))
_CURVE.define(scorers.Step, windows=list_of(_WINDOW))

_INNER_SLICER = Field("inner_slicer", _SLICER, attribute="inner")
_COUNTS = _entries(CountQuotaEntry)
_SCARCITY = Field("scarcity_behavior", _AS_WRITTEN, attribute="scarcity")

# 0 lifts the limit, because TOML has no null.
_SLICER.define(slicers.KnapsackSlice, max_cells=adapted(_AS_WRITTEN, read=lambda cells: cells or None))
_SLICER.define(slicers.MinScoreSlice, _INNER_SLICER)
_SLICER.define(slicers.QuotaSlice, _INNER_SLICER, Field("quotas", _entries(QuotaEntry), attribute="entries"))
_SLICER.define(slicers.CountQuotaSlice, _INNER_SLICER, _SCARCITY, entries=_COUNTS)
_SLICER.define(
    slicers.CountConstrainedKnapsackSlice,
    _SCARCITY,
    entries=_COUNTS,
    knapsack=Record(slicers.KnapsackSlice, _SLICER.record(slicers.KnapsackSlice).fields),
)
_PLACER.define(placers.FramedPlacer, last_inner=_PLACER)
