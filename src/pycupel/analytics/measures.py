"""Measures of one selection, of its budget and its quotas; and what several policies select from the same items."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, cast, overload

from pycupel.diagnostics import SelectionReport
from pycupel.diagnostics.report import checked_report
from pycupel.errors import CupelError, InvalidArgumentError
from pycupel.model import ContextBudget, ContextItem, ContextKind, QuotaConstraint, QuotaConstraintMode
from pycupel.model.checks import NamedEnum, checked_iterable, checked_pairs, checked_str, wrong_type
from pycupel.model.kind import MAX_LENGTH
from pycupel.model.quota import group_label, grouping, grouping_name
from pycupel.pipeline import Pipeline, Policy, PresetName
from pycupel.pipeline.policy import as_policy
from pycupel.protocols import Slicer
from pycupel.slicers._base import quota_constraints_of
from pycupel.text import quoted, shortened
from pycupel.values import record_repr, sealed


def budget_utilization(report: SelectionReport, budget: ContextBudget | int) -> float:
    """Return the selected tokens as a share of `max_tokens`; above 1.0 after an accepted overflow."""
    return fraction(checked_report("report", report).included_tokens, ContextBudget.of(budget).max_tokens)


def kind_diversity(report: SelectionReport) -> int:
    """Count the different kinds among the selected items."""
    return len({included.item.kind.key for included in checked_report("report", report).included})


def timestamp_coverage(report: SelectionReport) -> float:
    """Return the share of selected items that have a timestamp; 0.0 for an empty selection."""
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
        members: dict[str | None, list[ContextItem]] = {}
        for each in included:
            members.setdefault(key_of(each.item), []).append(each.item)
        same = [other for other in constraints if other.by == constraint.by and other.mode is constraint.mode]
        named = {_key(other) for other in same if not other.is_each}
        keys = [key for key in members if key not in named] if constraint.is_each else [_key(constraint)]
        usages += [_usage(constraint, key, members.get(key, ()), limits) for key in keys]
    return tuple(sorted(usages, key=lambda usage: (usage.kind.value, usage.mode)))


def _key(constraint: QuotaConstraint) -> str:
    """Return the key of the group that a quota names."""
    return constraint.kind.key if constraint.by in ("kind", "source") else constraint.kind.value


def _usage(
    constraint: QuotaConstraint, key: str | None, members: Sequence[ContextItem], budget: ContextBudget
) -> KindQuotaUtilization:
    actual: float = len(members)
    if constraint.mode is QuotaConstraintMode.PERCENTAGE:
        # Multiply first, so that 29 tokens of 100 are exactly 29 percent.
        tokens = sum([item.tokens for item in members])
        actual = fraction(100 * tokens, budget.target_tokens) if budget.target_tokens else 0.0
    utilization = min(1.0, max(0.0, actual / constraint.cap)) if constraint.cap else 0.0
    kind = constraint.kind
    if constraint.is_each:
        value = group_label(constraint.by, members[0], key)
        # Metadata may have values that no kind can have: blank ones, and very long ones.
        kind = ContextKind(value if value.strip() and len(value) <= MAX_LENGTH else shortened(value))
    return KindQuotaUtilization(
        kind, constraint.mode, constraint.require, constraint.cap, actual, utilization, grouping_name(constraint.by)
    )


# Policy sensitivity: compare what several policies select from the same items.


class ItemStatus(NamedEnum):
    """Whether a variant selects a content."""

    INCLUDED = "Included"
    """At least one item with the content was selected."""

    EXCLUDED = "Excluded"
    """No item with the content was selected."""


class PolicySensitivityDiffEntry(NamedTuple):
    """A content that some variants select and others do not."""

    content: str
    """The content of the items."""

    statuses: tuple[tuple[str, ItemStatus], ...]
    """The label of each variant and whether it selects the content, in the order of the variants."""

    def __repr__(self) -> str:
        return record_repr(self)


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class PolicySensitivityReport:
    """What each variant selects, and where they differ. `print` shows it as a table."""

    variants: tuple[tuple[str, SelectionReport], ...]
    """The label and the report of each variant, in the order given."""

    diffs: tuple[PolicySensitivityDiffEntry, ...]
    """The contents that some variants select and others do not, in the order in which they first appear in the items.
    """

    __repr__ = record_repr

    def __post_init__(self) -> None:
        _check_number(self.variants)

    def to_text(self, *, color: bool = False) -> str:
        """Format a table for a terminal of 80 columns; `pycupel.render.render_sensitivity` has more options."""
        # Imported late, because rendering is a higher layer and most comparisons never need it.
        from pycupel.render.sensitivity import render_sensitivity  # noqa: PLC0415

        return render_sensitivity(self, color=color)

    def __str__(self) -> str:
        return self.to_text()


# With a union instead of overloads, mypy infers str for the literals of a dict display.
@overload
def policy_sensitivity(
    items: Iterable[ContextItem],
    budget: ContextBudget | int,
    variants: Mapping[str, Policy | PresetName],
    *,
    query: str | None = None,
) -> PolicySensitivityReport: ...


@overload
def policy_sensitivity(
    items: Iterable[ContextItem],
    budget: ContextBudget | int,
    variants: Iterable[tuple[str, Policy | PresetName]],
    *,
    query: str | None = None,
) -> PolicySensitivityReport: ...


def policy_sensitivity(
    items: Iterable[ContextItem],
    budget: ContextBudget | int,
    variants: Mapping[str, Policy | PresetName] | Iterable[tuple[str, Policy | PresetName]],
    *,
    query: str | None = None,
) -> PolicySensitivityReport:
    """Select from the same items with several policies, and report what differs. Does not call `on_overflow`.

    Items with equal contents count as one: their content is included if any of them is selected.

    Args:
        items: The candidates, in any iterable.
        budget: The limits for every variant, or just a number of tokens.
        variants: At least two policies by label, or pairs, whose labels may repeat. A policy is a `Policy`, a
            `Pipeline` or the name of a preset.
        query: The question that the selection should be relevant to, for scorers that take one.

    Raises:
        InvalidArgumentError: there are fewer than two variants, or there is no such preset.
        CupelError: a variant cannot select; the message names it.
    """
    pairs = cast(Any, variants).items() if isinstance(variants, Mapping) else variants
    labelled = checked_pairs("variants", "(label, policy)", pairs)
    _check_number(labelled)
    # All variants are checked before the first of them runs.
    pipelines: list[tuple[str, Pipeline]] = []
    for label, variant in labelled:
        with _named(checked_str("variants: label", label)):
            pipelines.append((label, Pipeline.from_policy(as_policy(variant, f"variants[{quoted(label)}]"))))
    limits = ContextBudget.of(budget)
    candidates: list[ContextItem] = list(checked_iterable("items", "an iterable of ContextItem", items))
    reports: list[tuple[str, SelectionReport]] = []
    for label, pipeline in pipelines:
        with _named(label):
            reports.append((label, pipeline.dry_run(candidates, limits, query=query)))
    return PolicySensitivityReport(tuple(reports), _differences(candidates, reports))


def _check_number(variants: Sequence[object]) -> None:
    if len(variants) < 2:
        raise InvalidArgumentError(
            "At least two variants are required for a sensitivity comparison.", argument="variants"
        )


@contextmanager
def _named(label: str) -> Generator[None]:
    """Make errors name the variant."""
    try:
        yield
    except CupelError as error:
        error.where = f"variant {quoted(label)}"
        raise
    except Exception as error:
        error.add_note(f"Raised in the variant {quoted(label)}.")
        raise


def _differences(
    items: Iterable[ContextItem], variants: Iterable[tuple[str, SelectionReport]]
) -> tuple[PolicySensitivityDiffEntry, ...]:
    """Compare by content, because only some of several items with the same content may be selected (PO-01)."""
    selections = [(label, {included.item.content for included in report.included}) for label, report in variants]
    entries: list[PolicySensitivityDiffEntry] = []
    for content in dict.fromkeys(item.content for item in items):
        found = [(label, content in selected) for label, selected in selections]
        if len({is_selected for _, is_selected in found}) > 1:
            statuses = ((label, ItemStatus.INCLUDED if is_in else ItemStatus.EXCLUDED) for label, is_in in found)
            entries.append(PolicySensitivityDiffEntry(content, tuple(statuses)))
    return tuple(entries)
