"""MetadataTrustScorer: the trust value in an item's metadata is its score."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from numbers import Real
from typing import Any, ClassVar

from pycupel.errors import ScorerConfigError
from pycupel.model import ContextItem
from pycupel.model.checks import SHARE
from pycupel.values import check_fields, sealed

# Python's float() would also accept spaces, underscores and the digits of other scripts (MT-02).
_DECIMAL = re.compile(r"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")


@sealed
@dataclass(frozen=True, slots=True)
class MetadataTrustScorer:
    """`metadata["cupel:trust"]`, a number or a decimal string, limited to the range from 0 to 1.

    Raises:
        TypeError: `default_score` is not a number.
        ScorerConfigError: `default_score` is out of range.
    """

    reads: ClassVar[str] = "metadata"
    """The field of items that the scorer reads."""

    key: ClassVar[str] = "cupel:trust"
    """The metadata key that the scorer reads."""

    default_score: float = field(default=0.5, metadata=SHARE)
    """The score of items without a valid trust value, from 0 to 1."""

    def __post_init__(self) -> None:
        check_fields(self, ScorerConfigError)

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:  # noqa: ARG002 - absolute
        """Return the item's trust value, or `default_score`."""
        value = _as_number(item.metadata.get(self.key))
        if value is None or not isfinite(value):
            return self.default_score
        return 0.0 if value < 0.0 else min(value, 1.0)

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        return [self.score(item, items) if item.metadata else self.default_score for item in items]


def _as_number(raw: Any) -> float | None:
    if isinstance(raw, str):
        return float(raw) if _DECIMAL.fullmatch(raw) else None
    if isinstance(raw, bool) or not isinstance(raw, Real):
        return None
    try:
        return float(raw)
    except Exception:  # noqa: BLE001 - beyond floats, or a user's number that raises
        return None
