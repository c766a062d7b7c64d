"""Metrics of a selection, and what another budget or another policy would select."""

from __future__ import annotations

from pycupel.analytics.budgets import BudgetPoint, find_min_budget_for, get_marginal_items, sweep_budgets
from pycupel.analytics.measures import (
    KindQuotaUtilization,
    budget_utilization,
    kind_diversity,
    quota_utilization,
    timestamp_coverage,
)
from pycupel.analytics.sensitivity import (
    ItemStatus,
    PolicySensitivityDiffEntry,
    PolicySensitivityReport,
    policy_sensitivity,
)

__all__ = [
    "BudgetPoint",
    "ItemStatus",
    "KindQuotaUtilization",
    "PolicySensitivityDiffEntry",
    "PolicySensitivityReport",
    "budget_utilization",
    "find_min_budget_for",
    "get_marginal_items",
    "kind_diversity",
    "policy_sensitivity",
    "quota_utilization",
    "sweep_budgets",
    "timestamp_coverage",
]
