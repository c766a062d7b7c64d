from pycupel.analytics.budgets import (
    BudgetPoint as BudgetPoint,
    find_min_budget_for as find_min_budget_for,
    get_marginal_items as get_marginal_items,
    sweep_budgets as sweep_budgets,
)
from pycupel.analytics.measures import (
    ItemStatus as ItemStatus,
    KindQuotaUtilization as KindQuotaUtilization,
    PolicySensitivityDiffEntry as PolicySensitivityDiffEntry,
    PolicySensitivityReport as PolicySensitivityReport,
    budget_utilization as budget_utilization,
    kind_diversity as kind_diversity,
    policy_sensitivity as policy_sensitivity,
    quota_utilization as quota_utilization,
    timestamp_coverage as timestamp_coverage,
)
