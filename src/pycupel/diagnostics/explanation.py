"""`Explanation`: why one item was selected or left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from pycupel.diagnostics.reasons import (
    BudgetExceeded,
    Deduplicated,
    ExcludedItem,
    ExclusionReason,
    Filtered,
    IncludedItem,
    InclusionReason,
    NegativeTokens,
    pinned_tokens,
)
from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import checked_int, suggestion, wrong_type
from pycupel.model.item import checked_items, is_version_of
from pycupel.text import number_text, shortened
from pycupel.values import record_repr, sealed

if TYPE_CHECKING:
    from pycupel.analytics.budgets import NextBudget
    from pycupel.diagnostics.report import SelectionReport
    from pycupel.pipeline.policy import Policy

# Items left out for these reasons did not compete: they have no rank, and nothing was selected instead.
_NEVER_COMPETED = (NegativeTokens, Deduplicated, Filtered)
_MAX_INSTEAD = 3
_MAX_LISTED = 5


class ScorePart(NamedTuple):
    """What one scorer contributed to a score: `weight * score`."""

    scorer: str
    """The name of the scorer's class."""

    weight: float
    """Its share of the total; the weights of all parts add up to 1."""

    score: float
    """Its score for the item."""


class ScoreParts(NamedTuple):
    """The scores that a run kept, by scorer."""

    items: Sequence[ContextItem]
    """The scored items."""

    columns: Sequence[tuple[object, float, Sequence[float]]]
    """Each scorer with its weight and its score for each item."""

    def of(self, item: ContextItem) -> tuple[ScorePart, ...]:
        """Return the parts of one item's score; none if it was not scored."""
        row = next((i for i, each in enumerate(self.items) if each is item), None)
        if row is None:
            row = next((i for i, each in enumerate(self.items) if is_version_of(item, each)), None)
        if row is None:
            return ()
        return tuple(ScorePart(scorer_name(scorer), weight, column[row]) for scorer, weight, column in self.columns)


def scorer_name(scorer: Any) -> str:
    """Return the name of a scorer's class; for one that is private, that of the scorer in it."""
    name = type(scorer).__name__
    inner = getattr(scorer, "children", None) if name.startswith("_") else None
    return scorer_name(inner[-1]) if inner else name


@sealed
@dataclass(frozen=True, slots=True)
class Explanation:
    """Why one item was selected or left out, as `SelectionReport.why` returns it. `str` shows it in a few lines."""

    item: ContextItem
    """The item; its shorter version if that was selected."""

    included: bool
    """Whether it was selected."""

    reason: InclusionReason | ExclusionReason | str
    """Why, as in the report."""

    score: float
    """Its score, as in the report."""

    rank: int | None
    """Its position by score among the items that competed, from 1; equal scores have equal ranks.

    None for an item that did not compete: pinned, a duplicate, invalid, or filtered.
    """

    parts: tuple[ScorePart, ...]
    """The score by scorer and weight; the sum of `weight * score` is the score.

    A scorer other than `CompositeScorer` is one part. Empty if the item was not scored, or the report comes from JSON
    or a pickle.
    """

    instead: tuple[ContextItem, ...]
    """For an item that did not fit, at most three selected items that would have to be dropped for it, lowest score
    first, never pinned ones. Empty if the item would still not fit, or if there was room and other rules of the slicer
    kept it out.
    """

    min_budget: int | None
    """For an item that was left out, the next larger budget that selects it, with the reserves of the report's own.

    None for a selected item, if no larger budget selects it, if `why` was not given the pipeline and the items, if the
    report does not know its budget, for policies that shorten, and for slicers with quotas.
    """

    min_budget_is_exact: bool = False
    """Whether `min_budget` is really the next one.

    If not, a budget between it and the report's own may select the item as well. It is exact for `GreedySlice`, except
    with `best_first` and a `cost_exponent` above 0, without deduplication, and for very many tokens.
    """

    note: str = ""
    """What the slicer says about an item that would have fitted, such as which quota was used up; empty otherwise, and
    if the report comes from JSON or a pickle.
    """

    __repr__ = record_repr

    def _repr_html_(self) -> str:
        from pycupel.render.html import explanation_html  # noqa: PLC0415 - for notebooks only

        return explanation_html(self)

    def __str__(self) -> str:
        from pycupel.render.text import render_explanation  # noqa: PLC0415 - as for reports

        return render_explanation(self)


def explain(
    report: SelectionReport,
    sought: Any,
    parts: ScoreParts | None,
    notes: Mapping[int, str],
    pipeline: Any,
    items: Iterable[ContextItem] | None,
) -> Explanation:
    """Find an item in a report and explain it; the arguments are those of `SelectionReport.why`."""
    candidates = None if items is None else checked_items(items)
    if pipeline is not None:
        from pycupel.pipeline.policy import as_policy  # noqa: PLC0415 - as below

        pipeline = as_policy(pipeline, "pipeline")
    # Selected items come first, so that of equal contents a selected one is found.
    entries: list[IncludedItem | ExcludedItem] = [*report.included, *report.excluded]
    entry = _find(entries, sought, candidates)
    item, score, reason = entry
    included = not isinstance(reason, ExclusionReason)
    competes = _competes(entry)
    larger = None
    if pipeline is not None and candidates is not None and report.budget is not None and not included:
        larger = _next_budget(pipeline, candidates, item, report.budget)
    return Explanation(
        item,
        included,
        reason,
        score,
        _rank(entries, score) if competes else None,
        () if parts is None else parts.of(item),
        _instead(report, entry) if competes and not included else (),
        None if larger is None else larger.size,
        larger is not None and larger.is_smallest,
        notes.get(id(item), ""),
    )


def _find(
    entries: Sequence[IncludedItem | ExcludedItem], sought: Any, candidates: Sequence[ContextItem] | None
) -> IncludedItem | ExcludedItem:
    if isinstance(sought, str):
        return _by_start(entries, sought)
    if hasattr(sought, "__index__") and not isinstance(sought, bool):
        return _by_item(entries, _by_index(checked_int("item", sought), candidates))
    if isinstance(sought, ContextItem):
        return _by_item(entries, sought)
    raise wrong_type("item", "a ContextItem, an index in items, or the start of a content", sought)


def _by_index(index: int, candidates: Sequence[ContextItem] | None) -> ContextItem:
    if candidates is None:
        message = f"pass items= to look up an item by index: why({number_text(index)}, items=items)"
        raise InvalidArgumentError(message, argument="items", value=index)
    if not -len(candidates) <= index < len(candidates):
        entries = "1 entry" if len(candidates) == 1 else f"{len(candidates)} entries"
        message = f"index {number_text(index)} is out of range: items has {entries}"
        raise InvalidArgumentError(message, argument="item", value=index)
    return candidates[index]


def _by_item(entries: Sequence[IncludedItem | ExcludedItem], item: ContextItem) -> IncludedItem | ExcludedItem:
    # Identity first: several candidates may be equal, and the caller has one of them in hand.
    for entry in entries:
        if entry.item is item:
            return entry
    equal = [entry for entry in entries if entry.item == item]
    # A selection with `shorten` has versions in place of the items that the caller knows.
    equal = equal or [entry for entry in entries if is_version_of(entry.item, item)]
    if len(equal) == 1:
        return equal[0]
    raise InvalidArgumentError(
        f"{len(equal)} candidates of the run equal this item" if equal else "the item was not among the candidates",
        argument="item",
        value=item,
        hint="Pass one of the candidates themselves." if equal else None,
    )


def _by_start(entries: Sequence[IncludedItem | ExcludedItem], start: str) -> IncludedItem | ExcludedItem:
    """Prefer an exact match to a prefix; of equal contents, a selected item, or the best one."""
    found = [entry for entry in entries if entry.item.content.startswith(start)]
    exact = [entry for entry in found if entry.item.content == start]
    contents = list(dict.fromkeys(entry.item.content for entry in exact or found))
    if len(contents) == 1:
        return (exact or found)[0]
    if not contents:
        near = suggestion(start, (entry.item.content[: len(start)] for entry in entries))
        raise InvalidArgumentError(f"no content starts with {shortened(start)}{near}", argument="item", value=start)
    listed = ", ".join(shortened(content) for content in contents[:_MAX_LISTED])
    more = f" and {len(contents) - _MAX_LISTED} more" if len(contents) > _MAX_LISTED else ""
    message = f"{len(contents)} contents start with {shortened(start)}: {listed}{more}"
    raise InvalidArgumentError(message, argument="item", value=start)


def _competes(entry: IncludedItem | ExcludedItem) -> bool:
    return entry.reason != InclusionReason.PINNED and not isinstance(entry.reason, _NEVER_COMPETED)


def _rank(entries: Iterable[IncludedItem | ExcludedItem], score: float) -> int:
    """Return 1 plus the number of better scores; any number is better than NaN."""
    others = [entry.score for entry in entries if _competes(entry)]
    return 1 + sum([other > score or (isnan(score) and not isnan(other)) for other in others])


def _instead(report: SelectionReport, entry: IncludedItem | ExcludedItem) -> tuple[ContextItem, ...]:
    """Return the fewest low-scored selected items that make enough room."""
    missing = entry.item.tokens - _room(report, entry)
    rivals = sorted(
        [each for each in report.included if _competes(each) and each.item.tokens > 0], key=lambda each: each.score
    )
    if not 0 < missing <= sum([rival.item.tokens for rival in rivals]):
        return ()
    gone: list[ContextItem] = []
    freed = 0
    for rival in rivals:
        if freed < missing:
            gone.append(rival.item)
            freed += rival.item.tokens
    # The last one may free enough for two, and then an earlier one need not go.
    for i in reversed(range(len(gone))):
        if freed - gone[i].tokens >= missing:
            freed -= gone.pop(i).tokens
    return tuple(gone[:_MAX_INSTEAD])


def _room(report: SelectionReport, entry: IncludedItem | ExcludedItem) -> int:
    """Return the tokens left of the target; without a budget, the number in the reason."""
    if report.budget is None:
        return entry.reason.available_tokens if isinstance(entry.reason, BudgetExceeded) else entry.item.tokens
    # The effective target is without pinned items, but `included_tokens` is with them.
    pinned = pinned_tokens(report.included)
    return report.budget.effective(pinned).target_tokens + pinned - report.included_tokens


def _next_budget(
    pipeline: Policy, candidates: Sequence[ContextItem], item: ContextItem, budget: ContextBudget
) -> NextBudget | None:
    from pycupel.analytics.budgets import find_next_budget  # noqa: PLC0415 - built on top of everything here

    # A report read from JSON has its own item objects.
    same = next((each for each in candidates if each is item), None)
    target = same or next((each for each in candidates if each == item), None)
    if target is None:
        raise InvalidArgumentError(f"items does not contain {shortened(item.content)}", argument="items")
    return find_next_budget(pipeline, candidates, target, budget)
