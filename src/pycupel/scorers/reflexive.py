"""ReflexiveScorer: your own hint is the score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import ClassVar, Literal

from pycupel.errors import ScorerConfigError
from pycupel.model import ContextItem
from pycupel.model.checks import one_of
from pycupel.model.item import checked_items
from pycupel.values import brief_repr, check_fields, sealed

_Rescale = Literal["never", "auto"]


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class ReflexiveScorer:
    """The item's `future_relevance_hint`, limited to the range from 0 to 1; 0.0 if it is absent or not finite.

    Use it for scores that you already have: those of a retriever or a reranker, or a model's opinion.

    Raises:
        ScorerConfigError: `rescale` is neither "never" nor "auto".
    """

    reads: ClassVar[str] = "future_relevance_hint"
    """The field of items that the scorer reads."""

    rescale: _Rescale = field(default="never", metadata=one_of(_Rescale))
    """"never" clamps, as the specification says.

    "auto" is for hints of any scale, such as raw BM25, cosines or logits: if any hint is outside [0, 1], all are
    scaled, so that the smallest is 0 and the largest 1.
    """

    def __post_init__(self) -> None:
        check_fields(self, ScorerConfigError)

    __repr__ = brief_repr

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        """Return the item's hint, from 0 to 1."""
        hint = item.future_relevance_hint
        if hint is None or not isfinite(hint):
            return 0.0
        if self.rescale == "auto":
            finite = [h for h in (other.future_relevance_hint for other in all_items) if h is not None and isfinite(h)]
            if any(h < 0.0 or h > 1.0 for h in finite):
                return _share(hint, min(finite), max(finite))
        return 0.0 if hint < 0.0 else min(hint, 1.0)

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        hints = [item.future_relevance_hint for item in items]
        if self.rescale == "auto":
            hints = _rescaled(hints)
        return [hint if hint is not None and 0.0 <= hint <= 1.0 else _clamped(hint) for hint in hints]


def rescale_hints(items: Iterable[ContextItem]) -> list[ContextItem]:
    """Scale the hints of items to the range from 0 to 1, if any hint is outside it.

    For hints of any scale, where larger is better: raw BM25, cosines, logits. The smallest becomes 0 and the largest
    1; if all are equal, 0.5. Hints that are absent or not finite are left out of the scaling and stay as they are.
    Items whose hint does not change are returned as they are.

    Args:
        items: The items, in any iterable.

    Raises:
        TypeError: `items` is not an iterable of ContextItem.
    """
    given = checked_items(items)
    hints = _rescaled([item.future_relevance_hint for item in given])
    return [
        item if item.future_relevance_hint is hint else replace(item, future_relevance_hint=hint)
        for item, hint in zip(given, hints, strict=True)
    ]


def _rescaled(hints: list[float | None]) -> list[float | None]:
    """Apply min-max scaling to the finite hints if one of them is outside [0, 1]."""
    finite = [hint for hint in hints if hint is not None and isfinite(hint)]
    if not finite or (min(finite) >= 0.0 and max(finite) <= 1.0):
        return hints
    smallest, largest = min(finite), max(finite)
    return [hint if hint is None or not isfinite(hint) else _share(hint, smallest, largest) for hint in hints]


def _share(hint: float, smallest: float, largest: float) -> float:
    if smallest == largest:
        return 0.5
    # Use halves, because the difference of two floats can overflow.
    return (hint / 2 - smallest / 2) / (largest / 2 - smallest / 2)


def _clamped(hint: float | None) -> float:
    return 1.0 if hint is not None and 1.0 < hint < float("inf") else 0.0
