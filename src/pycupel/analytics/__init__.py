"""Metrics of a selection, and what another budget or another policy would select."""

from __future__ import annotations

from pycupel.analytics.metrics import budget_utilization, kind_diversity, timestamp_coverage
from pycupel.analytics.quotas import KindQuotaUtilization, quota_utilization
from pycupel.analytics.sensitivity import (
    ItemStatus,
    PolicySensitivityDiffEntry,
    PolicySensitivityReport,
    policy_sensitivity,
)
from pycupel.analytics.simulation import BudgetPoint, find_min_budget_for, get_marginal_items, sweep_budgets

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
