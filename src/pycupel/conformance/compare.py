"""Compare the result of a run with what a vector expects."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from pycupel.conformance.load import Table, VectorError, reject_misspelt, require, section, tables
from pycupel.diagnostics import ExcludedItem, IncludedItem, OverflowEvent, SelectionReport
from pycupel.text import describe

_SUMMARY = ("total_candidates", "total_tokens_considered")

# Scores are about 0 to 1: with a larger tolerance, a vector would pass whatever they are.
_MAX_EPSILON = 1e-3


class MismatchError(Exception):
    """The implementation does not do what the vector expects."""


def compare_overflow(overflows: Sequence[OverflowEvent], expected: Table) -> None:
    """Raise unless there was one overflow, of the expected size."""
    tokens = require(expected, "tokens_over_budget", "[expected.overflow]")
    reject_misspelt(expected, "[expected.overflow]", ("tokens_over_budget", "contents"))
    same("overflow events", len(overflows), 1)
    same("tokens_over_budget", overflows[0].tokens_over_budget, tokens)
    contents = [item.content for item in overflows[0].overflowing_items]
    same("overflowing items", contents, expected.get("contents", contents))


def compare_diagnostics(report: SelectionReport, expected: Table, epsilon: float) -> None:
    """Raise unless the report is as expected, as far as the vector says."""
    summary = section(expected, "summary")
    reject_misspelt(expected, "[expected.diagnostics]", ("included", "excluded", "shortfalls", "summary"))
    reject_misspelt(summary, "[expected.diagnostics.summary]", _SUMMARY)
    if "included" in expected:
        for included, entry, where in _entries("included", report.included, expected, epsilon):
            same(f"reason of {entry['content']!r}", str(included.reason), require(entry, "inclusion_reason", where))
    if "excluded" in expected:
        for excluded, entry, where in _entries("excluded", report.excluded, expected, epsilon):
            _compare_reason(excluded, entry, where)
    if "shortfalls" in expected:
        same_shortfalls(report.count_requirement_shortfalls, expected)
    for name in _SUMMARY:
        if name in summary:
            same(name, getattr(report, name), summary[name])


def _entries(
    name: str, items: Sequence[Any], expected: Table, epsilon: float
) -> Iterable[tuple[IncludedItem | ExcludedItem, Table, str]]:
    """Pair the entries of a report with those of the vector, and check that contents and scores match."""
    entries = tables(expected, name)
    contents = [require(entry, "content", f"an entry of {name}") for entry in entries]
    same(name, [each.item.content for each in items], contents)
    for each, entry, content in zip(items, entries, contents, strict=True):
        where = f"the entry for {content!r}"
        same_score(f"{name} {content!r}", each.score, require(entry, "score_approx", where), epsilon)
        yield each, entry, where


def _compare_reason(excluded: IncludedItem | ExcludedItem, entry: Table, where: str) -> None:
    reason: Any = excluded.reason
    same(f"reason of {entry['content']!r}", type(reason).__name__, require(entry, "exclusion_reason", where))
    for name in getattr(reason, "__match_args__", ()):
        same(f"{name} of {entry['content']!r}", getattr(reason, name), require(entry, name, where))


def same_shortfalls(shortfalls: Iterable[Any], expected: Table) -> None:
    """Raise unless the shortfalls are those of the table, in order."""
    fields = ("kind", "required_count", "satisfied_count")
    entries = tables(expected, "shortfalls")
    wanted = [tuple(require(entry, field, "a shortfall") for field in fields) for entry in entries]
    same("shortfalls", [(s.kind.value, s.required_count, s.satisfied_count) for s in shortfalls], wanted)


def same(what: str, actual: object, expected: object) -> None:
    """Raise unless the values are equal. True is not the number 1."""
    if actual != expected or isinstance(actual, bool) != isinstance(expected, bool):
        raise MismatchError(f"{what}: expected {expected!r}, got {actual!r}")


def same_score(what: str, actual: float, expected: Any, epsilon: float) -> None:
    """Raise unless the scores differ by less than epsilon; an expected NaN matches NaN."""
    if not _is_number(expected):
        raise VectorError(f"score_approx must be a number, not {describe(expected)}")
    matches = math.isnan(actual) if math.isnan(expected) else actual == expected or abs(actual - expected) < epsilon
    if not matches:
        raise MismatchError(f"{what}: expected {expected!r}, got {actual!r} (epsilon {epsilon!r})")


def epsilon_of(vector: Table) -> float:
    """Return a vector's tolerance for scores."""
    epsilon = section(vector, "tolerance").get("score_epsilon", 1e-9)
    if not _is_number(epsilon) or not 0 < epsilon <= _MAX_EPSILON:
        raise VectorError(f"score_epsilon must be a number above 0, at most {_MAX_EPSILON}, not {describe(epsilon)}")
    return float(epsilon)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
