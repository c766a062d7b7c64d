"""What a plug-in has to be: one method, no base class.

Extra speed and extra detail are optional methods. A scorer may have `score_all(items)`, which must equal `score` for
each item bit for bit; a slicer may have `slice_detailed(scored_items, budget)`, which returns a `SliceOutcome` and
must select what `slice` selects.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol, runtime_checkable

from pycupel.diagnostics import CountRequirementShortfall, ExclusionReason
from pycupel.model import ContextBudget, ContextItem, ScoredItem
from pycupel.model.checks import wrong_type

__all__ = [
    "Placer",
    "Scorer",
    "SliceOutcome",
    "Slicer",
    "TimeProvider",
    "TokenCounter",
    "checked_placer",
    "checked_scorer",
    "checked_slicer",
]


@runtime_checkable
class Scorer(Protocol):
    """Ranks: gives an item a score, conventionally between 0 and 1. Pure: equal arguments, equal score."""

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float: ...


@runtime_checkable
class Slicer(Protocol):
    """Drops: returns a subset of the items it is given, the very objects, that fits into `budget.target_tokens`."""

    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]: ...


@runtime_checkable
class Placer(Protocol):
    """Positions: returns the items it is given, all of them, in the order in which the model will see them."""

    def place(self, scored_items: Sequence[ScoredItem], /) -> list[ContextItem]: ...


@runtime_checkable
class TimeProvider(Protocol):
    """Tells the time, as an aware datetime."""

    def now(self) -> datetime: ...


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    def __call__(self, text: str, /) -> int: ...


class SliceOutcome(NamedTuple):
    """What a slicer can tell beside its selection.

    `shortfalls` are count requirements that could not be met; `cap_excluded` are the items that were excluded for
    another reason than the budget, such as a cap or a minimum score, each with that reason.
    """

    selected: list[ContextItem]
    shortfalls: tuple[CountRequirementShortfall, ...] = ()
    cap_excluded: tuple[tuple[ContextItem, ExclusionReason], ...] = ()


def checked_scorer(name: str, value: Any) -> Scorer:
    scorer: Scorer = _checked(name, value, "score", "a scorer: an object with score(item, all_items)")
    return scorer


def checked_slicer(name: str, value: Any) -> Slicer:
    slicer: Slicer = _checked(name, value, "slice", "a slicer: an object with slice(scored_items, budget)")
    return slicer


def checked_placer(name: str, value: Any) -> Placer:
    placer: Placer = _checked(name, value, "place", "a placer: an object with place(scored_items)")
    return placer


def _checked(name: str, value: Any, method: str, expected: str) -> Any:
    if isinstance(value, type):
        raise TypeError(
            f"{name} must be {expected}, not the class {value.__name__}; did you mean {value.__name__}(...)?"
        )
    if not callable(getattr(value, method, None)):
        raise wrong_type(name, expected, value)
    return value
