"""Measures of one selection: how much of its budget and of its quotas it uses, and what it consists of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pycupel.diagnostics import SelectionReport
from pycupel.diagnostics.report import checked_report
from pycupel.model import ContextBudget, ContextKind, QuotaConstraint, QuotaConstraintMode
from pycupel.model.checks import wrong_type
from pycupel.model.groups import NONE, grouping, name_of
from pycupel.pipeline import Policy, PresetName
from pycupel.pipeline.policy import as_policy
from pycupel.protocols import Slicer
from pycupel.slicers._base import quota_constraints_of
from pycupel.values import record_repr


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


class KindQuotaUtilization(NamedTuple):
    """How a selection uses the quota for one kind."""

    kind: ContextKind
    """The kind that the quota is for."""

    mode: QuotaConstraintMode
    """Whether the quota is a percentage of the target or a number of items."""

    require: float
    """The minimum that the quota requires."""

    cap: float
    """The maximum that it allows."""

    actual: float
    """What was selected, in the same unit as `require` and `cap`: percent of `target_tokens`, or a number of items."""

    utilization: float
    """`actual` as a share of `cap`, at most 1.0; 0.0 if the cap is 0."""

    by: str = "kind"
    """What `kind` is a value of: "kind", "source", "metadata:KEY", or the name of a function."""

    def __repr__(self) -> str:
        return record_repr(self)


def quota_utilization(
    report: SelectionReport, policy: Policy | PresetName | Slicer, budget: ContextBudget | int
) -> tuple[KindQuotaUtilization, ...]:
    """Compare a selection with the quotas of a policy.

    All selected items count, even pinned ones. The base of percentages is the budget's `target_tokens`, even if pinned
    items or an outer slicer left less than that to divide; the caps of `QuotaSlice` are of what they left.

    Args:
        report: The report of a selection.
        policy: The policy with the quotas: a `Policy`, a `Pipeline`, the name of a preset, or a slicer.
        budget: The budget that percentages refer to, or just a number of tokens.

    Returns:
        One record for each quota of the slicer and of the slicers inside it, sorted by kind and mode (Count before
        Percentage), the outer slicer first. Empty if there are no quotas. A quota for each value has one record for
        each selected value that no other quota names.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidBudgetError: the budget is negative.
        InvalidArgumentError: there is no such preset.
    """
    slicer: Any = as_policy(policy).slicer if isinstance(policy, (Policy, str)) else policy
    if isinstance(slicer, type) or not isinstance(slicer, Slicer):
        raise wrong_type("policy", "a Policy, a Pipeline, the name of a preset or a slicer", policy)
    constraints = quota_constraints_of(slicer)
    limits = ContextBudget.of(budget)
    included = checked_report("report", report).included
    usages: list[KindQuotaUtilization] = []
    for constraint in constraints:
        key_of = grouping(constraint.by)
        tokens: dict[str | None, list[int]] = {}
        for each in included:
            tokens.setdefault(key_of(each.item), []).append(each.item.tokens)
        same = [other for other in constraints if other.by == constraint.by and other.mode is constraint.mode]
        named = {_key(other) for other in same if not other.is_each}
        keys = [key for key in tokens if key not in named] if constraint.is_each else [_key(constraint)]
        usages += [_usage(constraint, key, tokens.get(key, ()), limits) for key in keys]
    return tuple(sorted(usages, key=lambda usage: (usage.kind.value, usage.mode)))


def _key(constraint: QuotaConstraint) -> str:
    """Return the key of the group that a quota names."""
    return constraint.kind.key if constraint.by in ("kind", "source") else constraint.kind.value


def _usage(
    constraint: QuotaConstraint, key: str | None, tokens: Sequence[int], budget: ContextBudget
) -> KindQuotaUtilization:
    actual: float = len(tokens)
    if constraint.mode is QuotaConstraintMode.PERCENTAGE:
        # Multiply first, so that 29 tokens of 100 are exactly 29 percent.
        actual = fraction(100 * sum(tokens), budget.target_tokens) if budget.target_tokens else 0.0
    utilization = min(1.0, max(0.0, actual / constraint.cap)) if constraint.cap else 0.0
    kind = ContextKind(NONE if key is None else key) if constraint.is_each else constraint.kind
    return KindQuotaUtilization(
        kind, constraint.mode, constraint.require, constraint.cap, actual, utilization, name_of(constraint.by)
    )
