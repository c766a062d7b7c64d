"""Policy sensitivity: compare what several policies select from the same items."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, cast, overload

from pycupel.diagnostics import SelectionReport
from pycupel.errors import CupelError, InvalidArgumentError
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import NamedEnum, checked_iterable, checked_pairs, checked_str
from pycupel.pipeline import Pipeline, Policy, PresetName
from pycupel.pipeline.policy import as_policy
from pycupel.text import quoted
from pycupel.values import record_repr, sealed


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
        """Format a table for a terminal of 80 columns; `pycupel.render.render_sensitivity` has more options.

        Args:
            color: Whether to use ANSI colours.
        """
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

    Returns:
        The report of each variant, and the contents about which they disagree.

    Raises:
        TypeError: an argument has the wrong type.
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
