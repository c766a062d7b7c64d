"""Reports made by hand, for the tests of assertions about reports."""

from __future__ import annotations

from collections.abc import Sequence

from pycupel import ContextBudget, ContextItem, SelectionReport
from pycupel.diagnostics import BudgetExceeded, ExcludedItem, ExclusionReason, IncludedItem, InclusionReason

DID_NOT_FIT = BudgetExceeded(90, 30)


def kept(
    kind: str = "Message",
    score: float = 0.5,
    content: str = "text",
    tokens: int = 10,
    reason: InclusionReason | str = InclusionReason.SCORED,
) -> IncludedItem:
    return IncludedItem(ContextItem(content, tokens, kind=kind), score, reason)


def dropped(
    kind: str = "Message",
    score: float = 0.5,
    reason: ExclusionReason = DID_NOT_FIT,
    content: str = "text",
    tokens: int = 90,
) -> ExcludedItem:
    return ExcludedItem(ContextItem(content, tokens, kind=kind), score, reason)


def report_of(
    included: Sequence[IncludedItem] = (), excluded: Sequence[ExcludedItem] = (), budget: ContextBudget | None = None
) -> SelectionReport:
    tokens = sum(entry.item.tokens for entry in included) + sum(entry.item.tokens for entry in excluded)
    return SelectionReport((), included, excluded, len(included) + len(excluded), tokens, budget=budget)


def scored(*scores: float) -> SelectionReport:
    """A report of a selection with these scores, in this order."""
    return report_of([kept(score=score) for score in scores])
