"""The one-liner: `select(items, 8_000, policy="rag").items`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pycupel.diagnostics import SelectionReport
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import checked_bool
from pycupel.pipeline import Pipeline, Policy, PresetName
from pycupel.scorers._notes import scorer_notes

__all__ = ["ContextResult", "select"]


@dataclass(frozen=True, slots=True)
class ContextResult:
    """A selection.

    Attributes:
        items: The selected items, in the order in which the model should see them.
        notes: What users should know, such as that a scorer found its field on no item.
        report: What was left out and why, if `explain` asked for it.
    """

    items: list[ContextItem]
    notes: tuple[str, ...] = ()
    report: SelectionReport | None = None

    @property
    def total_tokens(self) -> int:
        return sum(item.tokens for item in self.items)


def select(
    items: Iterable[ContextItem],
    budget: ContextBudget | int,
    policy: Policy | PresetName = "chat",
    *,
    explain: bool = False,
) -> ContextResult:
    """Select and order the best context for a budget.

    Args:
        items: The candidates, in any iterable.
        budget: The limits, or just a number of tokens.
        policy: A policy, a pipeline, or the name of a preset: chat, code-review, rag, document-qa, tool-use,
            long-running, debugging.
        explain: Whether the result should have a report.

    Raises:
        InvalidArgumentError: there is no such preset.
        PinnedExceedsBudgetError: the pinned items alone do not fit.
        BudgetOverflowError: the selection does not fit, and the policy's strategy is Throw.
    """
    pipeline = Pipeline.from_policy(policy)
    if checked_bool("explain", explain):
        report = pipeline.dry_run(items, budget)
        return ContextResult(report.items, report.notes, report)
    ranking = pipeline.rank(items)
    selection = pipeline.select(ranking, budget)
    return ContextResult(selection.items, scorer_notes(pipeline.scorer, ranking.classified.scoreable))
