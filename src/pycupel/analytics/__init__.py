"""Questions about selections: how full, how diverse, and what another budget would change."""

from __future__ import annotations

from pycupel.analytics.metrics import budget_utilization, kind_diversity, timestamp_coverage
from pycupel.analytics.simulation import BudgetPoint, find_min_budget_for, get_marginal_items, sweep_budgets

__all__ = [
    "BudgetPoint",
    "budget_utilization",
    "find_min_budget_for",
    "get_marginal_items",
    "kind_diversity",
    "sweep_budgets",
    "timestamp_coverage",
]
