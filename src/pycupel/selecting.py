"""The one-liner: `select(items, 8_000, policy="rag").items`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

from pycupel.diagnostics import SelectionReport
from pycupel.errors import digits
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import checked_bool, checked_iterable
from pycupel.model.frozen import sealed
from pycupel.model.version import Shortened
from pycupel.pipeline import Pipeline, Policy, PresetName
from pycupel.protocols import Shortener

if TYPE_CHECKING:
    from pycupel.shorten.versions import Versions

__all__ = ["ContextResult", "ExplainedResult", "select"]

_ITEMS = "an iterable of ContextItem"
_ITEMS_ONLY = frozenset({ContextItem})


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class ContextResult:
    """The result of `select`. It holds a list, so it is not hashable."""

    items: list[ContextItem]
    """The selected items, in the order in which the model should see them."""

    notes: tuple[str, ...] = ()
    """Advisory notes, for example that no item sets the field that a scorer reads."""

    report: SelectionReport | None = None
    """What was left out and why, with `explain=True`; else None."""

    shortened: tuple[Shortened, ...] = ()
    """The items that were selected in a shorter version, each with that version, in the order of `items`."""

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride]

    @property
    def total_tokens(self) -> int:
        """The tokens of the selected items."""
        return sum([item.tokens for item in self.items])

    def __repr__(self) -> str:
        notes = f", notes: {len(self.notes)}" if self.notes else ""
        notes = f", {len(self.shortened)} shortened{notes}" if self.shortened else notes
        return f"<{type(self).__name__}: {len(self.items)} items, {digits(self.total_tokens)} tokens{notes}>"


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class ExplainedResult(ContextResult):
    """The result of `select` with `explain=True`."""

    report: SelectionReport = field(kw_only=True)
    """What was left out and why."""

    __hash__: ClassVar[None] = None


@overload
def select(
    items: Iterable[ContextItem | Versions],
    budget: ContextBudget | int,
    policy: Policy | PresetName = "chat",
    *,
    query: str | None = None,
    shorten: Shortener | None = None,
    explain: Literal[True],
) -> ExplainedResult: ...


@overload
def select(
    items: Iterable[ContextItem | Versions],
    budget: ContextBudget | int,
    policy: Policy | PresetName = "chat",
    *,
    query: str | None = None,
    shorten: Shortener | None = None,
    explain: bool = False,
) -> ContextResult: ...


def select(
    items: Iterable[ContextItem | Versions],
    budget: ContextBudget | int,
    policy: Policy | PresetName = "chat",
    *,
    query: str | None = None,
    shorten: Shortener | None = None,
    explain: bool = False,
) -> ContextResult:
    """Select and order the best context for a budget. Does not call the `on_overflow` of a pipeline.

    Args:
        items: The candidates, in any iterable; `Versions` for an item with shorter versions.
        budget: The limits, or just a number of tokens.
        policy: A policy, a pipeline, or the name of a preset: chat, code-review, rag, document-qa, tool-use,
            long-running, debugging.
        query: What the selection should be relevant to: the user's question, in plain words. The presets read it.
        shorten: Makes shorter versions of the items, to choose from before anything is left out, such as `KeyLines()`
            of `pycupel.shorten`. It replaces the policy's own.
        explain: Whether the result should have a report.

    Returns:
        The selection; with `explain=True` an `ExplainedResult`, whose report is never None.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidArgumentError: there is no such preset.
        PinnedExceedsBudgetError: the pinned items alone do not fit.
        BudgetOverflowError: the selection does not fit, and the policy's strategy is Throw.
        PipelineConfigError: the policy's slicer cannot choose among versions.
        ShortenerContractError: the shortener raised, or returned something other than shorter items.
    """
    pipeline = Pipeline.from_policy(policy)
    limits = ContextBudget.of(budget)
    with_report = checked_bool("explain", explain)
    maker = pipeline.shorten if shorten is None else shorten
    candidates: Any = items if isinstance(items, list) else list(checked_iterable("items", _ITEMS, items))
    if not _ITEMS_ONLY.issuperset(map(type, candidates)):
        # Most items have no versions, and the makers take longer to load than a selection.
        from pycupel.shorten.versions import unpacked  # noqa: PLC0415

        candidates, maker = unpacked(candidates, maker)
    if maker is not pipeline.shorten:
        pipeline = replace(pipeline, shorten=maker)
    selection = pipeline.select(pipeline.rank(candidates, query=query), limits)
    notes, shortened = selection.notes, selection.shortened
    if with_report:
        return ExplainedResult(selection.items, notes, shortened=shortened, report=selection.report)
    return ContextResult(selection.items, notes, shortened=shortened)
