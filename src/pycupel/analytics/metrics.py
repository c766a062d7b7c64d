"""Metrics of one report."""

from __future__ import annotations

from pycupel.diagnostics import SelectionReport
from pycupel.diagnostics.report import checked_report
from pycupel.model import ContextBudget

__all__ = ["budget_utilization", "fraction", "kind_diversity", "timestamp_coverage"]


def budget_utilization(report: SelectionReport, budget: ContextBudget | int) -> float:
    """The selected tokens as a share of the window, `max_tokens`; above 1.0 if an overflow was accepted.

    Args:
        report: The report of a selection.
        budget: The budget to compare with, or just a number of tokens.
    """
    return fraction(checked_report("report", report).included_tokens, ContextBudget.of(budget).max_tokens)


def kind_diversity(report: SelectionReport) -> int:
    """The number of different kinds among the selected items.

    Args:
        report: The report of a selection.
    """
    return len({included.item.kind.key for included in checked_report("report", report).included})


def timestamp_coverage(report: SelectionReport) -> float:
    """The share of selected items that have a timestamp; 0.0 for an empty selection.

    Args:
        report: The report of a selection.
    """
    included = checked_report("report", report).included
    return sum(each.item.timestamp is not None for each in included) / len(included) if included else 0.0


def fraction(tokens: int, whole: int) -> float:
    """`tokens / whole`. Of 0 the share is 0.0 or infinite, never NaN, which would pass every comparison (TV-10)."""
    try:
        if whole:
            return tokens / whole
    except OverflowError:
        return float("inf")
    return float("inf") if tokens else 0.0
