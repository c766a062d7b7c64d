"""Find what a selection decided about each item, as indices in the request."""

from __future__ import annotations

from collections.abc import Sequence

from pycupel.diagnostics import BudgetExceeded, Deduplicated
from pycupel.diagnostics.reasons import reason_name
from pycupel.model import ContextItem
from pycupel.pipeline import Selection

__all__ = ["decisions"]

_BUDGET_EXCEEDED, _DEDUPLICATED = BudgetExceeded.__name__, Deduplicated.__name__


def decisions(selection: Selection, items: Sequence[ContextItem]) -> tuple[list[int], dict[int, str]]:
    """Return the selected items in order, and the reason of each other item. No item occurs twice in a request."""
    ranking, sliced, placement = selection.ranking, selection.sliced, selection.placement
    is_usual = len(ranking.classified.scoreable) == len(items) and len(placement.kept) == len(placement.items)
    if is_usual and not sliced.cap_excluded:
        # Nothing is pinned, invalid, capped or truncated, so the indices of the stages say everything.
        order, chosen = ranking.order, sliced.selected
        reasons = dict.fromkeys(order, _BUDGET_EXCEEDED) | dict.fromkeys(ranking.duplicates, _DEDUPLICATED)
        selected = [order[chosen[i]] for i in placement.order]
        for i in selected:
            del reasons[i]
        return selected, reasons
    index = {id(item): i for i, item in enumerate(items)}
    for i, version in sliced.versions.items():
        # A shorter version counts as the item.
        index[id(version)] = index[id(ranking.items[i])]
    reasons = {index[id(item)]: reason_name(reason) for item, _, reason in selection.reasons}
    return [index[id(item)] for item in selection.items], reasons
