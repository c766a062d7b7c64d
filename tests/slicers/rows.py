"""Scored items from rows, and the outcome of a slicer as contents."""

from __future__ import annotations

from typing import Any

from pycupel import ContextBudget, ContextItem, CountQuotaEntry, ScoredItem
from pycupel.diagnostics import ExclusionReason

__all__ = ["KindRows", "Rows", "detailed", "entry", "of_kinds", "scored", "selected"]

Rows = list[tuple[str, int, float]]
"""Content, tokens, score."""

KindRows = list[tuple[str, str, int, float]]
"""Content, kind, tokens, score."""


def scored(rows: Rows) -> list[ScoredItem]:
    return [ScoredItem(ContextItem(content, tokens), score) for content, tokens, score in rows]


def of_kinds(rows: KindRows) -> list[ScoredItem]:
    return [ScoredItem(ContextItem(content, tokens, kind=kind), score) for content, kind, tokens, score in rows]


def selected(rows: list[ScoredItem], target: int, slicer: Any) -> list[str]:
    """The selected contents, in the slicer's own order."""
    return [item.content for item in slicer.slice(rows, ContextBudget(target))]


def detailed(
    rows: KindRows, target: int, slicer: Any
) -> tuple[list[str], list[tuple[str, int, int]], list[tuple[str, ExclusionReason]]]:
    """Slice, and give the selected contents, the shortfalls, and the cap exclusions by content."""
    outcome = slicer.slice_detailed(of_kinds(rows), ContextBudget(target))
    return (
        [item.content for item in outcome.selected],
        [(kind.value, required, satisfied) for kind, required, satisfied, _ in outcome.shortfalls],
        [(item.content, reason) for item, reason in outcome.cap_excluded],
    )


def entry(kind: str, require: int, cap: int) -> CountQuotaEntry:
    return CountQuotaEntry(kind, cap_count=cap, require_count=require)
