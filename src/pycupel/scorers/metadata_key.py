"""MetadataKeyScorer: a multiplier for items whose metadata has a certain value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from pycupel.errors import ScorerConfigError
from pycupel.model import ContextItem
from pycupel.model.checks import TEXT, number
from pycupel.values import check_fields, record_repr, sealed

_NEUTRAL = 1.0


@sealed
@dataclass(frozen=True, slots=True)
class MetadataKeyScorer:
    """A multiplier: `boost` where `metadata[key]` is `value`, else 1.0.

    A `CompositeScorer` averages it like any score; to multiply, use it in a `BoostedScorer`.

    Raises:
        TypeError: an argument has the wrong type.
        ScorerConfigError: `boost` is not positive and finite.
    """

    reads: ClassVar[str] = "metadata"
    """The field of items that the scorer reads."""

    key: str = field(metadata=TEXT)
    """The metadata key."""

    value: str = field(metadata=TEXT)
    """The value to match. Values other than strings are compared by their `str`."""

    boost: float = field(metadata=number(above=0.0))
    """The score of items that match, greater than 0."""

    __repr__ = record_repr

    def __post_init__(self) -> None:
        check_fields(self, ScorerConfigError)

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:  # noqa: ARG002 - absolute
        """Return `boost` if the item's metadata matches, else 1.0."""
        raw = item.metadata.get(self.key)
        if raw is None:
            return _NEUTRAL
        try:
            # Compare plain strings, because a subclass of str may override comparison.
            text = str.__str__(raw if isinstance(raw, str) else str(raw))
        except Exception:  # noqa: BLE001 - a user's object that raises matches nothing
            return _NEUTRAL
        return self.boost if text == self.value else _NEUTRAL

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        return [self.score(item, items) if item.metadata else _NEUTRAL for item in items]
