"""Select in one call: `select(items, 8_000, policy="rag").items`; `aselect` where an embedding has to be awaited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, cast, overload

from pycupel.diagnostics import CollectorLike, SelectionReport
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import checked_bool, checked_iterable, wrong_type
from pycupel.model.item import Shortened
from pycupel.pipeline import Pipeline, Policy, PresetName, Selection
from pycupel.pipeline.pipeline import select_once
from pycupel.protocols import Shortener
from pycupel.scorers._base import awaiting
from pycupel.text import quantity, quoted
from pycupel.values import sealed

if TYPE_CHECKING:
    from typing import TypedDict, Unpack

    from pycupel.tokens.counters import CounterLike

    class _Options(TypedDict, total=False):
        """The other options of `select` and `aselect`."""

        query: str | None
        model: str | None
        counter: CounterLike
        shorten: Shortener | None
        collector: CollectorLike | None


__all__ = ["ContextResult", "ExplainedResult", "aselect", "select"]

_Items: TypeAlias = Iterable[Any]
_Budget: TypeAlias = ContextBudget | int | str
_Policy: TypeAlias = Policy | PresetName

_ITEMS = "an iterable of items or documents"
_ITEMS_ONLY = frozenset({ContextItem})
# Plain values that are neither an item nor a document.
_PLAIN = (bytes, int, float, type(None))


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

    def _repr_html_(self) -> str:
        from pycupel.render.html import result_html  # noqa: PLC0415 - for notebooks only

        return result_html(self)

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


class ExplainedResult(ContextResult):
    """The result of `select` with `explain=True`."""

    __slots__ = ()

    report: SelectionReport
    """What was left out and why."""


@overload
def select(
    items: _Items, budget: _Budget, policy: _Policy = "chat", *, explain: Literal[True], **options: Unpack[_Options]
) -> ExplainedResult: ...
@overload
def select(
    items: _Items, budget: _Budget, policy: _Policy = "chat", *, explain: bool = False, **options: Unpack[_Options]
) -> ContextResult: ...
def select(
    items: _Items,
    budget: _Budget,
    policy: _Policy = "chat",
    *,
    query: str | None = None,
    model: str | None = None,
    counter: CounterLike = "auto",
    shorten: Shortener | None = None,
    explain: bool = False,
    collector: CollectorLike | None = None,
) -> ContextResult:
    """Select and order the best context for a budget. A pipeline's `on_overflow` is not called.

    Args:
        items: The candidates, in any iterable: items, and what a retriever returns, such as strings, dicts with `text`
            and `score`, LangChain's Documents or LlamaIndex's NodeWithScore. Use `Versions` for an item that you have
            shorter versions of.
        budget: The limits; or a number of tokens; or a share of what the model takes as input, such as "75%".
        policy: A policy, a pipeline, or the name of a preset: chat, code-review, rag, document-qa, tool-use,
            long-running, debugging.
        query: The user's question, in plain words. Scorers that take one, such as those of the presets, use it.
        model: The model's name, as `pycupel.tokens.limits_of` takes it. If it is known, the budget is kept within its
            limits, and a note says if they allow less. Documents are counted for it.
        counter: Counts the tokens of documents: anything that `pycupel.tokens.get_counter` takes. With "auto", the
            model decides; without a known model they are estimated, and a note says so. Items have their tokens.
        shorten: Makes shorter versions of the items, to choose from if not all of them fit, such as `KeyLines()` from
            `pycupel.shorten`. It replaces the policy's own.
        explain: Whether the result should have a report.
        collector: Observer of the run, as in `Pipeline.run`.

    Returns:
        The selection; with `explain=True` an `ExplainedResult`, whose report is never None.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidBudgetError: the budget is negative.
        InvalidArgumentError: there is no such preset, the budget is a share of an unknown model, or a document has no
            text.
        PinnedExceedsBudgetError: the pinned items alone do not fit.
        BudgetOverflowError: the selection does not fit, and the policy's strategy is Throw.
        PipelineConfigError: the policy's slicer cannot choose among versions.
        ShortenerContractError: the shortener raised, or returned something other than shorter items.
        CupelError: a strategy fails, such as a `RelevanceScorer` without a query.
    """
    return _run(*_prepare(items, budget, policy, model, counter, shorten, explain), query, collector)


@overload
async def aselect(
    items: _Items, budget: _Budget, policy: _Policy = "chat", *, explain: Literal[True], **options: Unpack[_Options]
) -> ExplainedResult: ...
@overload
async def aselect(
    items: _Items, budget: _Budget, policy: _Policy = "chat", *, explain: bool = False, **options: Unpack[_Options]
) -> ContextResult: ...
async def aselect(
    items: _Items,
    budget: _Budget,
    policy: _Policy = "chat",
    *,
    query: str | None = None,
    model: str | None = None,
    counter: CounterLike = "auto",
    shorten: Shortener | None = None,
    explain: bool = False,
    collector: CollectorLike | None = None,
) -> ContextResult:
    """Select as `select` does, from the same arguments, for policies whose `SimilarityScorer` has an async `embed`.

    The embeddings are awaited once, before the selection, which takes no further time of the event loop than `select`.
    What `embed` raises is raised.
    """
    pipeline, candidates, limits, notes, report = _prepare(items, budget, policy, model, counter, shorten, explain)
    scored = [item for item in candidates if not item.pinned and item.tokens >= 0]
    scorer = await awaiting(pipeline.scorer if query is None else pipeline.for_query(query).scorer, scored)
    return _run(replace(pipeline, scorer=scorer), candidates, limits, notes, report, query, collector)


def _prepare(
    items: Any, budget: Any, policy: Any, model: str | None, counter: CounterLike, shorten: Any, explain: Any
) -> tuple[Pipeline, list[ContextItem], ContextBudget, tuple[str, ...], bool]:
    """Check the arguments of a call, and make items of documents."""
    pipeline = Pipeline.from_policy(policy)
    notes: tuple[str, ...] = ()
    if model is not None or isinstance(budget, str):
        from pycupel.tokens.models import allowance  # noqa: PLC0415 - most calls name no model

        budget, _, notes = allowance(budget, model, pipeline.models)
    limits = ContextBudget.of(budget)
    with_report = explain is not False and checked_bool("explain", explain)
    shortener = pipeline.shorten if shorten is None else shorten
    candidates: list[Any] = items
    if type(items) is not list:
        if isinstance(items, Mapping):
            # It would be read as its keys.
            raise wrong_type("items", _ITEMS, cast(Any, items))
        candidates = list(checked_iterable("items", _ITEMS, items))
    if not _ITEMS_ONLY.issuperset(map(type, candidates)):
        candidates, shortener, counted = _converted(candidates, shortener, model, counter)
        notes += counted
    if shortener is not pipeline.shorten:
        pipeline = replace(pipeline, shorten=shortener)
    return pipeline, candidates, limits, notes, with_report


def _converted(
    candidates: list[Any], shortener: Any, model: str | None, counter: CounterLike
) -> tuple[list[Any], Any, tuple[str, ...]]:
    """Make items of documents, and take out versions. Few calls have any, and importing this takes a while."""
    from pycupel.documents import as_item  # noqa: PLC0415
    from pycupel.shorten.extracts import Versions, unpacked  # noqa: PLC0415
    from pycupel.tokens import counters, families, models  # noqa: PLC0415

    count = counters.get_counter(counter)
    if counter == "auto":
        count = families.ESTIMATOR if model is None else families.counter_for(model, None)
    made: list[Any] = []
    versions = counted = 0

    def counting(text: str) -> int:
        nonlocal counted
        counted += 1
        return count(text)

    for i, each in enumerate(candidates):
        is_message = issubclass(each.__class__, dict) and "role" in each
        if isinstance(each, ContextItem | Versions):
            versions += isinstance(each, Versions)
            made.append(each)
        elif isinstance(each, _PLAIN) or is_message:
            error = wrong_type(f"items[{i}]", "an item or a document", each)
            if is_message:
                error.add_note("For chat messages, use pycupel.messages.select_messages.")
            raise error
        else:
            made.append(as_item(each, f"items[{i}]", counting))
    if versions:
        made, shortener = unpacked(made, shortener)
    if not counted or counter != "auto" or (model is not None and models.family_of(model) is not None):
        return made, shortener, ()
    how = "pass counter= or model=" if model is None else f"no tokenizer is known for {quoted(model)}, so pass counter="
    note = f"the tokens of {quantity(counted, 'document')} were estimated; {how} to count them"
    return made, shortener, (note,)


def _run(
    pipeline: Pipeline, candidates: Any, limits: Any, notes: tuple[str, ...], explain: Any, query: Any, collector: Any
) -> ContextResult:
    selection: Any = select_once(pipeline, candidates, limits, query, with_items=explain, collector=collector)
    # The record of the run makes the notes when they are first read.
    held: Any = (*notes, *selection.notes) if notes else selection
    if explain:
        return ExplainedResult(selection.items, held, shortened=selection.shortened, report=selection.report)
    return ContextResult(selection.items, held, shortened=selection.shortened)
