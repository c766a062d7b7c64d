"""What a selection changed: dropped and shortened messages, and the cost of a cut."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import Any

from pycupel.diagnostics import ExclusionReason
from pycupel.errors import InvalidArgumentError
from pycupel.model.checks import checked_float
from pycupel.values import draft_of, sealed


@sealed
@dataclass(frozen=True, slots=True)
class Dropped:
    """A message or document that was left out."""

    index: int
    """Its index in the caller's list."""

    reason: ExclusionReason
    """Why it was left out."""


@sealed
@dataclass(frozen=True, slots=True)
class ShortenedMessage:
    """A message that was selected with shorter results."""

    index: int
    """Its index in the caller's list."""

    original_tokens: int
    """Its tokens in the caller's list."""

    tokens: int
    """Its tokens in the selection."""


@sealed
@dataclass(frozen=True, slots=True)
class Cut:
    """What a cut costs: the provider reads everything after the first change again, at a higher price."""

    removed: int
    """The tokens that the cut removed."""

    rewritten: int
    """The tokens after the first change, which are not in the provider's prompt cache."""

    def pays_after(self, write: float = 1.25, read: float = 0.1) -> int:
        """Return the number of calls after which the cut pays for itself.

        Each call saves the price of reading the removed tokens from the cache. The rewritten tokens cost, once, the
        difference between writing and reading.

        Args:
            write: The price of a token written to the cache, relative to an uncached token.
            read: The price of a token read from the cache.

        Raises:
            InvalidArgumentError: `read` is not above 0 or nothing was removed, so the cut would never pay; or a price
                is not finite.
        """
        write, read = (
            checked_float(name, price, InvalidArgumentError) for name, price in (("write", write), ("read", read))
        )
        if self.removed <= 0:
            raise InvalidArgumentError(
                "a cut that removed nothing never pays for itself", argument="removed", value=self.removed
            )
        if read <= 0:
            raise InvalidArgumentError(
                f"read must be above 0, not {read:g}: if reading is free, a cut never pays",
                argument="read",
                value=read,
            )
        return max(0, ceil(self.rewritten * (write - read) / (self.removed * read)))


_DroppedDraft: Any = draft_of(Dropped)


def make_dropped(reasons: Iterable[tuple[int, ExclusionReason]]) -> tuple[Dropped, ...]:
    """Make the entry of each dropped message or document."""
    dropped: list[Dropped] = []
    # There may be thousands, and a draft takes a third of the constructor's time.
    for index, reason in reasons:
        draft = _DroppedDraft()
        draft.index = index
        draft.reason = reason
        draft.__class__ = Dropped
        dropped.append(draft)
    return tuple(dropped)
