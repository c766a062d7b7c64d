"""Metrics of one report."""

from __future__ import annotations

from pycupel.diagnostics import SelectionReport
from pycupel.diagnostics.report import checked_report
from pycupel.model import ContextBudget

__all__ = ["budget_utilization", "fraction", "kind_diversity", "timestamp_coverage"]


def budget_utilization(report: SelectionReport, budget: ContextBudget | int) -> float:
    """Return the selected tokens as a share of `max_tokens`; above 1.0 after an accepted overflow.

    Args:
        report: The report of a selection.
        budget: The budget to compare with, or just a number of tokens.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidBudgetError: the budget is negative.
    """
    return fraction(checked_report("report", report).included_tokens, ContextBudget.of(budget).max_tokens)


def kind_diversity(report: SelectionReport) -> int:
    """Count the different kinds among the selected items.

    Args:
        report: The report of a selection.

    Raises:
        TypeError: it is not a report.
    """
    return len({included.item.kind.key for included in checked_report("report", report).included})


def timestamp_coverage(report: SelectionReport) -> float:
    """Return the share of selected items that have a timestamp; 0.0 for an empty selection.

    Args:
        report: The report of a selection.

    Raises:
        TypeError: it is not a report.
    """
    included = checked_report("report", report).included
    return sum(each.item.timestamp is not None for each in included) / len(included) if included else 0.0


def fraction(tokens: int, whole: int) -> float:
    """Divide; if `whole` is 0, return 0.0 or infinity, never NaN, which would pass every comparison (TV-10)."""
    try:
        if whole:
            return tokens / whole
    except OverflowError:
        return float("inf")
    return float("inf") if tokens else 0.0
