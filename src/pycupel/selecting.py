"""The one-liner: `select(items, 8_000, policy="rag").items`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Literal, overload

from pycupel.diagnostics import SelectionReport
from pycupel.errors import digits
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import checked_bool
from pycupel.model.frozen import sealed
from pycupel.pipeline import Pipeline, Policy, PresetName

__all__ = ["ContextResult", "ExplainedResult", "select"]


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class ContextResult:
    """What `select` selected. It holds a list, so it is not hashable.

    Attributes:
        items: The selected items, in the order in which the model should see them.
        notes: Advisory notes, for example that no item sets the field that a scorer reads.
        report: What was left out and why, if `explain` asked for it; else None.
    """

    items: list[ContextItem]
    notes: tuple[str, ...] = ()
    report: SelectionReport | None = None

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride]

    @property
    def total_tokens(self) -> int:
        """The tokens of the selected items."""
        return sum([item.tokens for item in self.items])

    def __repr__(self) -> str:
        notes = f", notes: {len(self.notes)}" if self.notes else ""
        return f"<{type(self).__name__}: {len(self.items)} items, {digits(self.total_tokens)} tokens{notes}>"


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class ExplainedResult(ContextResult):
    """What `select` selected with `explain=True`.

    Attributes:
        report: What was left out and why.
    """

    report: SelectionReport = field(kw_only=True)

    __hash__: ClassVar[None] = None


@overload
def select(
    items: Iterable[ContextItem],
    budget: ContextBudget | int,
    policy: Policy | PresetName = "chat",
    *,
    query: str | None = None,
    explain: Literal[True],
) -> ExplainedResult: ...


@overload
def select(
    items: Iterable[ContextItem],
    budget: ContextBudget | int,
    policy: Policy | PresetName = "chat",
    *,
    query: str | None = None,
    explain: bool = False,
) -> ContextResult: ...


def select(
    items: Iterable[ContextItem],
    budget: ContextBudget | int,
    policy: Policy | PresetName = "chat",
    *,
    query: str | None = None,
    explain: bool = False,
) -> ContextResult:
    """Select and order the best context for a budget. Does not call the `on_overflow` of a pipeline.

    Args:
        items: The candidates, in any iterable.
        budget: The limits, or just a number of tokens.
        policy: A policy, a pipeline, or the name of a preset: chat, code-review, rag, document-qa, tool-use,
            long-running, debugging.
        query: What the selection should be relevant to: the user's question, in plain words. The presets read it.
        explain: Whether the result should have a report.

    Returns:
        The selection; with `explain=True` an `ExplainedResult`, whose report is never None.

    Raises:
        TypeError: an argument has a wrong type.
        InvalidArgumentError: there is no such preset.
        PinnedExceedsBudgetError: the pinned items alone do not fit.
        BudgetOverflowError: the selection does not fit, and the policy's strategy is Throw.
    """
    pipeline = Pipeline.from_policy(policy)
    limits = ContextBudget.of(budget)
    with_report = checked_bool("explain", explain)
    selection = pipeline.select(pipeline.rank(items, query=query), limits)
    if with_report:
        return ExplainedResult(selection.items, selection.notes, report=selection.report)
    return ContextResult(selection.items, selection.notes)
