"""Numbers about one report."""

from __future__ import annotations

from pycupel.diagnostics import SelectionReport
from pycupel.model import ContextBudget

__all__ = ["budget_utilization", "kind_diversity", "share_of", "timestamp_coverage"]


def budget_utilization(report: SelectionReport, budget: ContextBudget) -> float:
    """The selected tokens as a share of the window, `max_tokens`; more than 1.0 if an overflow was accepted."""
    return share_of(report.included_tokens, budget.max_tokens)


def kind_diversity(report: SelectionReport) -> int:
    """How many kinds are in the selection, whatever their case."""
    return len({included.item.kind.key for included in report.included})


def timestamp_coverage(report: SelectionReport) -> float:
    """The share of selected items that have a timestamp; 0.0 for an empty selection."""
    timed = sum(included.item.timestamp is not None for included in report.included)
    return timed / len(report.included) if report.included else 0.0


def share_of(tokens: int, whole: int) -> float:
    """A share of nothing is none at all or infinite, never NaN, which would pass every comparison (TV-10)."""
    try:
        if whole:
            return tokens / whole
    except OverflowError:
        return float("inf")
    return float("inf") if tokens else 0.0
