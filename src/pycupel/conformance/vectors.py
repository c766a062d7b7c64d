"""Read conformance vectors, and build the strategies and items that they describe."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import timedelta
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar, cast

from pycupel.diagnostics import OverflowEvent
from pycupel.model import (
    ContextBudget,
    ContextItem,
    CountQuotaEntry,
    OverflowStrategy,
    QuotaEntry,
    ScoredItem,
)
from pycupel.model.checks import find_name, suggestion
from pycupel.pipeline import Pipeline
from pycupel.policies.files import STRINGS_AND_COMMENTS, parse_toml
from pycupel.registry import CURVES, PLACERS, SCORERS, SLICERS, Registry
from pycupel.text import describe, quoted

Table = dict[str, Any]

_Name = TypeVar("_Name", bound=str)

# Strings and comments are matched first, so that nothing in them is taken for a time. A time without seconds is TOML
# 1.1 (CV-01).
_TOKEN = re.compile(rf"{STRINGS_AND_COMMENTS}|(?P<time>\d\d\d\d-\d\d-\d\d[Tt ]\d\d:\d\d)(?=[Zz+\-\s,\]}}#]|$)")


class VectorError(Exception):
    """The vector itself is wrong: it cannot be run, or would pass without checking anything."""


def read_vector(path: Path) -> Table:
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
    return cast(Table, table)[name]


def reject_misspelt(table: Table, where: str, known: Collection[str]) -> None:
    """Raise if an unknown field is close to a known one. Other unknown fields are ignored (CV-02)."""
    for name in table:
        if name not in known and (near := suggestion(name, known)):
            raise VectorError(f"unknown field {quoted(name)} in {where}{near}")


def section(table: Table, name: str) -> Table:
    """Return a table inside a table; empty if it is missing."""
    inside = table.get(name, {})
    if not isinstance(inside, dict):
        raise VectorError(f"{name} must be a table, not {describe(inside)}")
    return cast(Table, inside)


def tables(table: Table, name: str) -> list[Table]:
    """Return a list of tables inside a table; empty if it is missing."""
    inside: list[Table] = table.get(name, [])
    if not is_list(inside) or not all(isinstance(each, dict) for each in cast(list[object], inside)):
        raise VectorError(f"{name} must be a list of tables, [[{name}]], not {describe(inside)}")
    return inside


def is_list(value: object) -> bool:
    """Call `isinstance` without narrowing to a list with elements of unknown type."""
    return isinstance(value, list)


def choose(what: str, name: Any, choices: Iterable[_Name]) -> _Name:
    """Return the choice that a name spells."""
    choice = find_name(name, choices)
    if choice is None:
        raise VectorError(f"unknown {what} {name!r}; expected one of {', '.join(choices)}")
    return choice


# Build items, budgets and strategies from a vector's tables.


# Returns arguments of a strategy's constructor. The second argument is what an error calls the table.
_Rule = Callable[[Table, str], dict[str, Any]]

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


def build_pipeline(config: Table, on_overflow: Callable[[OverflowEvent], object] | None = None) -> Pipeline:
    """Build the pipeline of a `[config]`; `on_overflow` is called if the strategy is Proceed."""
    strategy = choose("overflow strategy", config.get("overflow_strategy", "throw"), OverflowStrategy)
    scorers = require(config, "scorers", "[config]")
    # A single scorer is used as it is (CS-04, CV-12).
    scorer = scorers[0] if len(scorers) == 1 else {"type": "composite", "scorers": scorers}
    return Pipeline(
        _nested(SCORERS, scorer),
        build_strategy(SLICERS, config.get("slicer", "greedy"), config),
        _nested(PLACERS, config.get("placer", "chronological")),
        overflow_strategy=strategy,
        on_overflow=on_overflow if strategy is OverflowStrategy.PROCEED else None,
        **_present(config, "deduplication", "dedupe_against_pinned"),
    )


def build_strategy(registry: Registry, name: Any, config: Table) -> Any:
    """Build the strategy of that name. Unless a rule says otherwise, its arguments are the fields of the same names."""
    known = choose(registry.what, name, registry)
    strategy, where = registry[known], f"the config of {name!r}"
    rule = _RULES[registry.what].get(known)
    arguments = rule(config, where) if rule else {}
    for parameter in signature(strategy).parameters.values():
        if parameter.name in arguments or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.name in config or parameter.default is parameter.empty:
            arguments[parameter.name] = require(config, parameter.name, where)
    return strategy(**arguments)


def _nested(registry: Registry, entry: Table | str) -> Any:
    """Build a strategy from its name, or from a table with its `type` and its own fields."""
    if isinstance(entry, str):
        return build_strategy(registry, entry, {})
    return build_strategy(registry, require(entry, "type", f"a {registry.what}"), entry)


def _inner_slicer(config: Table) -> Any:
    """Build an inner slicer from a name with its fields beside it, or from its own table."""
    inner = config.get("inner_slicer", "greedy")
    if isinstance(inner, str):
        inner = {**config, "type": inner}
        inner.pop("inner_slicer", None)
    return _nested(SLICERS, inner)


def _present(table: Table, *names: str) -> dict[str, Any]:
    return {name: table[name] for name in names if name in table}


def _kind(config: Table, _: str) -> dict[str, Any]:
    if config.get("use_default_weights") or "weights" not in config:
        return {"weights": None}
    return {"weights": _weights(config["weights"], "kind")}


def _tag(config: Table, _: str) -> dict[str, Any]:
    return {"tag_weights": _weights(config.get("tag_weights", []), "tag")}


def _weights(entries: list[Table], name: str) -> dict[str, float]:
    weights = {require(entry, name, "a weight"): require(entry, "weight", "a weight") for entry in entries}
    if len(weights) < len(entries):
        raise VectorError(f"duplicate {name} in the vector's weights")
    return weights


def _composite(config: Table, where: str) -> dict[str, Any]:
    entries = require(config, "children" if "children" in config else "scorers", where)
    return {"entries": [(_nested(SCORERS, entry), entry.get("weight", 1.0)) for entry in entries]}


def _scaled(config: Table, where: str) -> dict[str, Any]:
    return {"inner": _nested(SCORERS, require(config, "inner_scorer", where))}


def _boosted(config: Table, where: str) -> dict[str, Any]:
    return {**_scaled(config, where), "boosts": [_nested(SCORERS, boost) for boost in config.get("boosts", [])]}


def _decay(config: Table, where: str) -> dict[str, Any]:
    reference_time, curve = require(config, "reference_time", where), require(config, "curve", where)
    return {"time_provider": lambda: reference_time, "curve": _nested(CURVES, curve)}


def _step(config: Table, where: str) -> dict[str, Any]:
    windows = require(config, "windows", where)
    return {"windows": [(_seconds(each, "max_age_secs", where), require(each, "score", where)) for each in windows]}


def _seconds(table: Table, name: str, where: str) -> timedelta:
    return timedelta(seconds=require(table, name, where))


def _knapsack(config: Table, _: str) -> dict[str, Any]:
    return {"max_cells": None} if config.get("max_cells") == 0 else {}


def _quota(config: Table, _: str) -> dict[str, Any]:
    entries = [
        QuotaEntry(require(entry, "kind", "a quota"), **_present(entry, "require", "cap"))
        for entry in config.get("quotas", [])
    ]
    return {"entries": entries, "inner": _inner_slicer(config)}


def _counts(config: Table) -> dict[str, Any]:
    entries = [
        CountQuotaEntry(
            require(entry, "kind", "a count quota"),
            cap_count=require(entry, "cap_count", "a count quota"),
            **_present(entry, "require_count"),
        )
        for entry in config.get("entries", [])
    ]
    return {"entries": entries, "scarcity": config.get("scarcity_behavior", "degrade")}


_RULES: Mapping[str, Mapping[str, _Rule]] = {
    "scorer": {
        "kind": _kind,
        "tag": _tag,
        "composite": _composite,
        "scaled": _scaled,
        "boosted": _boosted,
        "decay": _decay,
    },
    "slicer": {
        "knapsack": _knapsack,
        "quota": _quota,
        "countQuota": lambda config, _: {**_counts(config), "inner": _inner_slicer(config)},
        "countConstrainedKnapsack": lambda config, _: {
            **_counts(config),
            "knapsack": build_strategy(SLICERS, "knapsack", config),
        },
        "minScore": lambda config, _: {"inner": _inner_slicer(config)},
    },
    "placer": {
        "framed": lambda config, _: {"inner": _nested(PLACERS, config.get("inner", "chronological"))},
    },
    "curve": {
        "exponential": lambda config, where: {"half_life": _seconds(config, "half_life_secs", where)},
        "window": lambda config, where: {"max_age": _seconds(config, "max_age_secs", where)},
        "step": _step,
    },
}
