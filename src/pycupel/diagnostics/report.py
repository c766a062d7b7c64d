"""`SelectionReport`: what a run selected, what it left out, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

from pycupel.diagnostics.events import TraceEvent
from pycupel.diagnostics.reasons import ExclusionReason, InclusionReason
from pycupel.errors import InvalidArgumentError, digits
from pycupel.model import ContextBudget, ContextItem, ContextKind

if TYPE_CHECKING:
    from pycupel.testing.chain import SelectionReportChain

__all__ = ["CountRequirementShortfall", "ExcludedItem", "IncludedItem", "SelectionReport"]


class IncludedItem(NamedTuple):
    """A selected item. A reason that pycupel does not know, read from elsewhere, is a plain string."""

    item: ContextItem
    score: float
    reason: InclusionReason | str


class ExcludedItem(NamedTuple):
    item: ContextItem
    score: float
    reason: ExclusionReason


class CountRequirementShortfall(NamedTuple):
    """A kind of which fewer items were there than a count slicer requires."""

    kind: ContextKind
    required_count: int
    satisfied_count: int


@dataclass(frozen=True, slots=True, init=False)
class SelectionReport:
    """The complete account of one run. Every candidate is in `included` or in `excluded`, exactly once.

    Attributes:
        events: What was recorded, in order.
        included: The selection, in the order in which it was placed.
        excluded: The rest, best score first; at equal scores, what was excluded earlier comes first.
        total_candidates: How many items there were.
        total_tokens_considered: Their tokens, negative counts included.
        count_requirement_shortfalls: The count requirements that could not be met.
        budget: The budget in force, if it is known.
        notes: What users should know, such as that a scorer found its field on no item.

    Raises:
        InvalidArgumentError: the totals are not those of the items.
    """

    events: tuple[TraceEvent, ...]
    included: tuple[IncludedItem, ...]
    excluded: tuple[ExcludedItem, ...]
    total_candidates: int
    total_tokens_considered: int
    count_requirement_shortfalls: tuple[CountRequirementShortfall, ...]
    budget: ContextBudget | None
    notes: tuple[str, ...]

    def __init__(
        self,
        events: Iterable[TraceEvent],
        included: Iterable[IncludedItem],
        excluded: Iterable[ExcludedItem],
        total_candidates: int,
        total_tokens_considered: int,
        count_requirement_shortfalls: Iterable[CountRequirementShortfall] = (),
        budget: ContextBudget | None = None,
        notes: Iterable[str] = (),
    ) -> None:
        put = object.__setattr__
        put(self, "events", tuple(events))
        put(self, "included", tuple(included))
        put(self, "excluded", tuple(excluded))
        put(self, "total_candidates", total_candidates)
        put(self, "total_tokens_considered", total_tokens_considered)
        put(self, "count_requirement_shortfalls", tuple(count_requirement_shortfalls))
        put(self, "budget", budget)
        put(self, "notes", tuple(notes))
        self._check_totals()

    def _check_totals(self) -> None:
        candidates = len(self.included) + len(self.excluded)
        if self.total_candidates != candidates:
            raise InvalidArgumentError(
                f"total_candidates is {self.total_candidates}, but there are {len(self.included)} included "
                f"and {len(self.excluded)} excluded items"
            )
        tokens = self.included_tokens + sum(excluded.item.tokens for excluded in self.excluded)
        if self.total_tokens_considered != tokens:
            raise InvalidArgumentError(
                f"total_tokens_considered is {self.total_tokens_considered}, but the items have {tokens} tokens"
            )

    @property
    def items(self) -> list[ContextItem]:
        """The selected items, in the order in which they were placed: what `Pipeline.run` returns."""
        return [included.item for included in self.included]

    @property
    def included_tokens(self) -> int:
        return sum(included.item.tokens for included in self.included)

    def same_selection(self, other: SelectionReport) -> bool:
        """Whether the same items are in and out, with equal scores and reasons; whatever the events (SR-09)."""
        return (
            _comparable(self.included) == _comparable(other.included)
            and _comparable(self.excluded) == _comparable(other.excluded)
            and self.count_requirement_shortfalls == other.count_requirement_shortfalls
        )

    def should(self) -> SelectionReportChain:
        """The start of a chain of assertions: `report.should().include_item_with_kind("Document")`."""
        from pycupel.testing.chain import SelectionReportChain  # noqa: PLC0415

        return SelectionReportChain(self)

    def to_text(self, *, color: bool = False) -> str:
        """The whole report for a terminal of 80 columns; `pycupel.render` has more options."""
        # Rendering is built on top of everything here, and most runs never need it.
        from pycupel.render.text import render_report  # noqa: PLC0415

        return render_report(self, color=color)

    def __repr__(self) -> str:
        """One line: a report holds every candidate, which nobody wants to see in a traceback."""
        return (
            f"<SelectionReport: {len(self.included)} of {self.total_candidates} items, {digits(self.included_tokens)} of "
            f"{digits(self.total_tokens_considered)} tokens>"
        )

    def __str__(self) -> str:
        """A few lines. `to_text` tells the whole story."""
        from pycupel.render.text import render_summary  # noqa: PLC0415

        return render_summary(self)


def _comparable(entries: Iterable[IncludedItem | ExcludedItem]) -> list[tuple[object, ...]]:
    """The entries with NaN made equal to itself."""
    return [(item, None if isnan(score) else score, reason) for item, score, reason in entries]
