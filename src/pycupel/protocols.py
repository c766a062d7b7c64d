"""The interfaces of plug-ins: an object with one method, no base class. Optional methods add speed and detail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

from pycupel.diagnostics import CountRequirementShortfall, ExclusionReason
from pycupel.model import ContextBudget, ContextItem, ScoredItem
from pycupel.model.checks import find_name, refuse_class, wrong_type
from pycupel.values import record_repr, sealed

__all__ = [
    "Placer",
    "Scorer",
    "ShortenContext",
    "Shortener",
    "SliceOutcome",
    "Slicer",
    "TimeProvider",
    "TokenCounter",
]


@runtime_checkable
class Scorer(Protocol):
    """Gives every item a score. Higher scores are selected first.

    A scorer may also have `score_all(items)`, which returns the scores of all items, equal to `score` bit for bit.
    """

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        """Score one item. Equal arguments must give an equal score.

        Args:
            item: The item to score, one of `all_items`.
            all_items: All items that are scored in this run.

        Returns:
            The score, conventionally between 0 and 1.
        """
        ...


@runtime_checkable
class Slicer(Protocol):
    """Selects the items that fit into a budget.

    A slicer may also have `slice_detailed(scored_items, budget)`, which returns a `SliceOutcome` and selects what
    `slice` selects.
    """

    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        """Select items.

        Args:
            scored_items: The candidates with their scores, highest score first.
            budget: The selection may use `budget.target_tokens`.

        Returns:
            The selected items: the same objects, none more often than it was given.
        """
        ...


@runtime_checkable
class Placer(Protocol):
    """Decides in which order the model sees the selected items."""

    def place(self, scored_items: Sequence[ScoredItem], /) -> list[ContextItem]:
        """Put items into order.

        Args:
            scored_items: The selected items with their scores; pinned ones have 1.0.

        Returns:
            All the items, the same objects, in their final order.
        """
        ...


@runtime_checkable
class TimeProvider(Protocol):
    """A clock, which a `DecayScorer` asks for the time."""

    def now(self) -> datetime:
        """Return the current time, with a time zone."""
        ...


class TokenCounter(Protocol):
    """A function that counts the tokens of a text."""

    def __call__(self, text: str, /) -> int:
        """Count the tokens in `text`."""
        ...


class ShortenContext:
    """What a shortener may use: the other items, and a way to count tokens."""

    __slots__ = ("counter", "items", "kept_texts", "memo", "query")

    items: Sequence[ContextItem]
    """All items that compete for the budget, in their order; the item itself is one of them."""

    kept_texts: Sequence[str]
    """Texts that always stay."""

    counter: TokenCounter | None
    """Counts the tokens of a text; None if it is unknown."""

    query: str | None
    """The question that the selection should be relevant to, or what the user said last; None if it is unknown."""

    memo: dict[Any, Any]
    """A cache for what a shortener computes once for all items. A context belongs to one run."""

    def __init__(
        self,
        items: Sequence[ContextItem],
        kept_texts: Sequence[str] = (),
        counter: TokenCounter | None = None,
        query: str | None = None,
    ) -> None:
        self.items = items
        self.kept_texts = kept_texts
        self.counter = counter
        self.query = query
        self.memo = {}

    def count(self, item: ContextItem, text: str) -> int:
        """Count the tokens of a text taken from an item.

        Without a counter, use the item's ratio of tokens to characters, rounded up.

        Args:
            item: The item.
            text: A part of its content, or what replaces it.
        """
        if self.counter is not None:
            return self.counter(text)
        # Rounded up, because a version that is counted too small would not fit.
        return -(-len(text) * item.tokens // len(item.content))


@runtime_checkable
class Shortener(Protocol):
    """Makes shorter versions of an item, for the selection to choose from.

    A shortener may also have `units(item, context)`, which returns the units of a whole item.
    """

    def shorten(self, item: ContextItem, context: ShortenContext, /) -> Sequence[ContextItem]:
        """Make versions. Equal arguments must give equal versions.

        Args:
            item: The item to shorten.
            context: The other items, and a way to count tokens.

        Returns:
            Shorter versions, each with fewer tokens than the item, as `pycupel.shorten.make_version` makes them. An
            empty sequence if the item cannot be shortened.
        """
        ...


class SliceOutcome(NamedTuple):
    """The result of `slice_detailed`: the selection and its details."""

    selected: list[ContextItem]
    """The selected items."""

    shortfalls: tuple[CountRequirementShortfall, ...] = ()
    """Count requirements that could not be met."""

    cap_excluded: tuple[tuple[ContextItem, ExclusionReason], ...] = ()
    """Items that were excluded by a cap or a minimum score, not by the budget, each with the reason."""

    def __repr__(self) -> str:
        return record_repr(self)


# Everything below is internal.


@sealed
@dataclass(frozen=True, slots=True)
class NoShortener:
    """Makes no versions. A policy with it, `shorten="none"`, never shortens, whatever the default is."""

    def shorten(self, _item: ContextItem, _context: ShortenContext, /) -> tuple[()]:
        """Return none."""
        return ()


def _checked(method: str, expected: str, name: str, value: Any) -> Any:
    refuse_class(name, value)
    if not callable(getattr(value, method, None)):
        raise wrong_type(name, expected, value)
    return value


checked_scorer: Callable[[str, Any], Scorer] = partial(
    _checked, "score", "a scorer: an object with score(item, all_items)"
)

checked_slicer: Callable[[str, Any], Slicer] = partial(
    _checked, "slice", "a slicer: an object with slice(scored_items, budget)"
)

checked_placer: Callable[[str, Any], Placer] = partial(
    _checked, "place", "a placer: an object with place(scored_items)"
)


def checked_shortener(name: str, value: Any) -> Shortener:
    """Check that a value has a method `shorten`, or is "none"."""
    if find_name(value, ("none",)):
        return NoShortener()
    shortener: Shortener = _checked("shorten", "a shortener: an object with shorten(item, context)", name, value)
    return shortener
