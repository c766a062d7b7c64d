"""Stage 1, Classify: separate invalid, pinned and scoreable items."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from pycupel.errors import PinnedExceedsBudgetError
from pycupel.kernels.order import maker
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import checked_iterable, wrong_type


class Classified(NamedTuple):
    """The result of the Classify stage: three partitions, each in input order."""

    pinned: list[ContextItem]
    """The items that are selected in any case."""

    scoreable: tuple[ContextItem, ...]
    """The items that compete for the budget."""

    invalid: list[ContextItem]
    """The items with a negative token count."""

    pinned_tokens: int
    """The tokens of the pinned items."""

    pinned_after: list[int]
    """For each pinned item, how many scoreable ones come before it in the input."""

    def __repr__(self) -> str:
        return f"<Classified: {len(self.scoreable)} scoreable, {len(self.pinned)} pinned, {len(self.invalid)} invalid>"


_classified = maker(Classified)


def classify_items(items: Iterable[ContextItem], *, name: str = "items", first: int = 0) -> Classified:
    """Separate the items. A negative token count is invalid, pinned or not. This does not depend on the budget.

    `name` and `first` are for errors: the caller's argument, and the index of the first item in it.
    """
    candidates: list[Any] = (
        items if isinstance(items, list) else list(checked_iterable("items", "an iterable of ContextItem", items))
    )
    # One pass for the usual input, in which nothing is pinned, invalid, or no item at all.
    scoreable = [item for item in candidates if type(item) is ContextItem and not item.pinned and item.tokens >= 0]
    if len(scoreable) == len(candidates):
        return _classified(([], tuple(scoreable), [], 0, []))
    others = [
        (i, item)
        for i, item in enumerate(candidates)
        if type(item) is not ContextItem or item.pinned or item.tokens < 0
    ]
    for i, item in others:
        if type(item) is not ContextItem:
            raise _not_an_item(f"{name}[{first + i}]", item)
    pinned = [item for _, item in others if item.tokens >= 0]
    invalid = [item for _, item in others if item.tokens < 0]
    # The items before it that are neither pinned nor invalid are scoreable.
    after = [i - k for k, (i, item) in enumerate(others) if item.tokens >= 0]
    return _classified((pinned, tuple(scoreable), invalid, sum([item.tokens for item in pinned]), after))


def check_pinned_budget(pinned_tokens: int, budget: ContextBudget) -> None:
    """Check that the pinned items, which cannot be dropped, fit into the window without the output reserve (EB-03)."""
    if pinned_tokens and pinned_tokens > budget.available_tokens:
        raise PinnedExceedsBudgetError(pinned_tokens, budget.available_tokens)


def _not_an_item(name: str, value: Any) -> TypeError:
    error = wrong_type(name, "a ContextItem", value)
    if type(value) is str:
        error.add_note("pycupel.tokens.item(text) makes an item from a text, and counts its tokens.")
    elif isinstance(value, dict) and "role" in value:
        error.add_note("For chat messages, use pycupel.messages.select_messages.")
    elif isinstance(value, dict):
        error.add_note("pycupel.wire.from_dict(ContextItem, data) makes an item from a dict.")
    return error
