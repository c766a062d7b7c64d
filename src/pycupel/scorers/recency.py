"""RecencyScorer: newer items score higher, by their rank among the items that have a timestamp."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from pycupel.errors import ScorerConfigError
from pycupel.kernels.ranks import rank_shares
from pycupel.model import ContextItem
from pycupel.model.checks import one_of
from pycupel.scorers._base import CONVERSATION
from pycupel.values import brief_repr, check_fields, sealed

_Undated = Literal["oldest", "position"]


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class RecencyScorer:
    """The rank of the timestamp: the newest item scores 1.0, the oldest 0.0, and items without a timestamp 0.0.

    Equal timestamps have equal scores. Only the order counts, not the time between items; for that, use `DecayScorer`.

    Raises:
        ScorerConfigError: `undated` is neither "oldest" nor "position".
    """

    undated: _Undated = field(default="oldest", metadata=one_of(_Undated))
    """What to do if no item has a timestamp.

    "oldest" gives all of them 0.0, as the specification says. "position" treats messages and tool outputs as a
    conversation in order: the last scores 1.0, the first 0.0; other items have no order and score 0.0.
    """

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        check_fields(self, ScorerConfigError)

    @property
    def reads(self) -> str | None:
        """The field without which every item has the same score, if there is one."""
        return "timestamp" if self.undated == "oldest" else None

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        """Return the rank of the item's timestamp, from 0 to 1."""
        if self.undated == "position" and all(other.timestamp is None for other in (item, *all_items)):
            conversation = [other for other in all_items if other.kind.key in CONVERSATION]
            positions = [i for i, other in enumerate(conversation) if other is item]
            return _position_share(max(positions), len(conversation)) if positions else 0.0
        if item.timestamp is None:
            return 0.0
        count_with_timestamp = 0
        rank = 0
        for other in all_items:
            if other.timestamp is None:
                continue
            count_with_timestamp += 1
            if other.timestamp < item.timestamp:
                rank += 1
        if count_with_timestamp <= 1:
            return 1.0
        return rank / (count_with_timestamp - 1)

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        stamps = [item.timestamp for item in items]
        if self.undated == "position" and not any(stamps):
            conversation = [item for item in items if item.kind.key in CONVERSATION]
            # An object that occurs several times is as new as its last occurrence.
            shares = {id(item): _position_share(i, len(conversation)) for i, item in enumerate(conversation)}
            return [shares.get(id(item), 0.0) for item in items]
        return rank_shares(stamps)


def _position_share(position: int, count: int) -> float:
    return position / (count - 1) if count > 1 else 1.0
