"""Select in one call: `select(items, 8_000, policy="rag").items`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast, overload

from pycupel.diagnostics import CollectorLike, SelectionReport
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import checked_bool, checked_iterable
from pycupel.model.item import Shortened
from pycupel.pipeline import Pipeline, Policy, PresetName, Selection
from pycupel.pipeline.pipeline import select_once
from pycupel.protocols import Shortener
from pycupel.text import quantity
from pycupel.values import sealed

if TYPE_CHECKING:
    from pycupel.shorten.extracts import Versions

__all__ = ["ContextResult", "ExplainedResult", "select"]

_ITEMS = "an iterable of ContextItem"
_ITEMS_ONLY = frozenset({ContextItem})


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class ContextResult:
    """The result of `select`. It holds a list, so it is not hashable.

    Its notes are made when they are first read, compared or pickled. Until then, it holds the record of the run.
    """

    items: list[ContextItem]
    """The selected items, in the order in which the model should see them."""

    notes: tuple[str, ...] = ()
    """Advisory notes, for example that no item sets the field that a scorer reads."""

    report: SelectionReport | None = None
    """What was left out and why; None without `explain=True`."""

    shortened: tuple[Shortened, ...] = ()
    """The items that were selected in a shorter version, each with that version, in the order of `items`."""

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride]

    @property
    def total_tokens(self) -> int:
        """The tokens of the selected items."""
        return sum([item.tokens for item in self.items])

    def __repr__(self) -> str:
        # Showing a result should not take longer than making it, so notes that nobody has read are not made for this.
        held = _slot.__get__(self)
        notes = f", notes: {len(held)}" if held and type(held) is not Selection else ""
        notes = f", {len(self.shortened)} shortened{notes}" if self.shortened else notes
        size = f"{quantity(len(self.items), 'item')}, {quantity(self.total_tokens, 'token')}"
        return f"<{type(self).__name__}: {size}{notes}>"


# The slot of `notes` holds the notes or, until somebody reads them, the selection that can make them.
_slot: Any = vars(ContextResult)["notes"]


def _read_notes(result: ContextResult) -> tuple[str, ...]:
    held = _slot.__get__(result)
    if type(held) is Selection:
        held = held.notes
        _slot.__set__(result, held)
    notes: tuple[str, ...] = held
    return notes


# A property in place of the slot: fields, comparison, copies and pickles read the notes through it. It has a setter for
# the constructor; `result.notes = ...` is still refused.
cast(Any, ContextResult).notes = property(_read_notes, _slot.__set__)


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
    budget: ContextBudget | int | str,
    policy: Policy | PresetName = "chat",
    *,
    query: str | None = None,
    model: str | None = None,
    shorten: Shortener | None = None,
    explain: Literal[True],
    collector: CollectorLike | None = None,
) -> ExplainedResult: ...


@overload
def select(
    items: Iterable[ContextItem | Versions],
    budget: ContextBudget | int | str,
    policy: Policy | PresetName = "chat",
    *,
    query: str | None = None,
    model: str | None = None,
    shorten: Shortener | None = None,
    explain: bool = False,
    collector: CollectorLike | None = None,
) -> ContextResult: ...


def select(
    items: Iterable[ContextItem | Versions],
    budget: ContextBudget | int | str,
    policy: Policy | PresetName = "chat",
    *,
    query: str | None = None,
    model: str | None = None,
    shorten: Shortener | None = None,
    explain: bool = False,
    collector: CollectorLike | None = None,
) -> ContextResult:
    """Select and order the best context for a budget. A pipeline's `on_overflow` is not called.

    Args:
        items: The candidates, in any iterable. Use `Versions` for an item that you have shorter versions of.
        budget: The limits; or a number of tokens; or a share of what the model takes as input, such as "75%".
        policy: A policy, a pipeline, or the name of a preset: chat, code-review, rag, document-qa, tool-use,
            long-running, debugging.
        query: The user's question, in plain words. Scorers that take one, such as those of the presets, use it.
        model: The model's name, as `pycupel.tokens.limits_of` takes it. If it is known, the budget is kept within its
            limits, and a note says if they allow less.
        shorten: Makes shorter versions of the items, to choose from if not all of them fit, such as `KeyLines()` from
            `pycupel.shorten`. It replaces the policy's own.
        explain: Whether the result should have a report.
        collector: Observer of the run, as in `Pipeline.run`.

    Returns:
        The selection; with `explain=True` an `ExplainedResult`, whose report is never None.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidBudgetError: the budget is negative.
        InvalidArgumentError: there is no such preset, or the budget is a share of an unknown model.
        PinnedExceedsBudgetError: the pinned items alone do not fit.
        BudgetOverflowError: the selection does not fit, and the policy's strategy is Throw.
        PipelineConfigError: the policy's slicer cannot choose among versions.
        ShortenerContractError: the shortener raised, or returned something other than shorter items.
        CupelError: a strategy fails, such as a `RelevanceScorer` without a query.
    """
    pipeline = Pipeline.from_policy(policy)
    limited: tuple[str, ...] = ()
    if model is not None or isinstance(budget, str):
        from pycupel.tokens.limits import allowance  # noqa: PLC0415 - most calls name no model

        budget, _, limited = allowance(budget, model, pipeline.models)
    limits = ContextBudget.of(budget)
    with_report = explain is not False and checked_bool("explain", explain)
    shortener = pipeline.shorten if shorten is None else shorten
    candidates: Any = items if isinstance(items, list) else list(checked_iterable("items", _ITEMS, items))
    if not _ITEMS_ONLY.issuperset(map(type, candidates)):
        # Few items have versions, and importing this takes longer than a selection.
        from pycupel.shorten.extracts import unpacked  # noqa: PLC0415

        candidates, shortener = unpacked(candidates, shortener)
    if shortener is not pipeline.shorten:
        pipeline = replace(pipeline, shorten=shortener)
    selection: Any = select_once(pipeline, candidates, limits, query, with_items=with_report, collector=collector)
    # The record of the run makes the notes when they are first read.
    notes: Any = (*limited, *selection.notes) if limited else selection
    if with_report:
        return ExplainedResult(selection.items, notes, shortened=selection.shortened, report=selection.report)
    return ContextResult(selection.items, notes, shortened=selection.shortened)
