"""Whether quotas are used: what was selected of each kind, beside what a policy requires and allows."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from pycupel.diagnostics import SelectionReport
from pycupel.model import ContextBudget, ContextKind, QuotaConstraint, QuotaConstraintMode
from pycupel.model.checks import wrong_type
from pycupel.pipeline import Pipeline, Policy
from pycupel.protocols import Slicer
from pycupel.slicers.constraints import quota_constraints_of

__all__ = ["KindQuotaUtilization", "quota_utilization"]


class KindQuotaUtilization(NamedTuple):
    """What a constraint asks for, and what was selected: `actual` is in per cent of the target, or a number of items.

    `utilization` is `actual` as a share of `cap`, never more than 1.0; with a cap of 0 it is 0.0.
    """

    kind: ContextKind
    mode: QuotaConstraintMode
    require: float
    cap: float
    actual: float
    utilization: float


def quota_utilization(
    report: SelectionReport, policy: Policy | Pipeline | Slicer, budget: ContextBudget
) -> tuple[KindQuotaUtilization, ...]:
    """One record for each constraint of the policy's slicer and of the slicers inside it; none without quotas.

    They are sorted by the spelling of the kind and then by mode, Count before Percentage; for one kind and mode, the
    outer slicer comes first. All items that were selected count, pinned ones included. Percentages are of
    `target_tokens`, also where a slicer had less than that to divide: next to pinned items, or inside another slicer.
    """
    constraints = quota_constraints_of(_slicer(policy))
    if not isinstance(cast(Any, budget), ContextBudget):
        raise wrong_type("budget", "a ContextBudget", budget)
    usages = (_usage(constraint, report, budget) for constraint in constraints)
    return tuple(sorted(usages, key=lambda usage: (usage.kind.value, usage.mode)))


def _slicer(policy: Any) -> Slicer:
    if isinstance(policy, (Policy, Pipeline)):
        return policy.slicer
    if isinstance(policy, type) or not isinstance(policy, Slicer):
        raise wrong_type("policy", "a Policy, a Pipeline or a slicer", policy)
    return policy


def _usage(constraint: QuotaConstraint, report: SelectionReport, budget: ContextBudget) -> KindQuotaUtilization:
    tokens = [included.item.tokens for included in report.included if included.item.kind == constraint.kind]
    actual: float = len(tokens)
    if constraint.mode is QuotaConstraintMode.PERCENTAGE:
        # Multiplied first, so that 29 tokens of 100 are 29 per cent and not a little less.
        actual = 100 * sum(tokens) / budget.target_tokens if budget.target_tokens else 0.0
    utilization = min(1.0, max(0.0, actual / constraint.cap)) if constraint.cap else 0.0
    return KindQuotaUtilization(
        constraint.kind, constraint.mode, constraint.require, constraint.cap, actual, utilization
    )
