"""The entries of a report: selected items, items that were left out, and count requirements that were not met."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pycupel.diagnostics.reasons import ExclusionReason, InclusionReason
from pycupel.model import ContextItem, ContextKind
from pycupel.values import record_repr

__all__ = ["CountRequirementShortfall", "ExcludedItem", "IncludedItem", "pinned_tokens"]


class IncludedItem(NamedTuple):
    """A selected item."""

    item: ContextItem
    """The caller's own object."""

    score: float
    """Its score; 1.0 for a pinned item."""

    reason: InclusionReason | str
    """Why it was selected.

    A reason that pycupel does not know, read from another implementation's report, is a plain string.
    """


class ExcludedItem(NamedTuple):
    """An item that was left out."""

    item: ContextItem
    """The caller's own object."""

    score: float
    """Its score; 0.0 if it was never scored."""

    reason: ExclusionReason
    """Why it was left out, as a record with the numbers that matter."""


class CountRequirementShortfall(NamedTuple):
    """A kind with fewer candidates than a count slicer requires."""

    kind: ContextKind
    """The kind, as the slicer's entry spells it."""

    required_count: int
    """How many items of the kind the entry requires."""

    satisfied_count: int
    """How many items of the kind were selected to meet it, fewer than required."""

    def __repr__(self) -> str:
        return record_repr(self)


def pinned_tokens(included: Iterable[IncludedItem]) -> int:
    """Return the tokens of the pinned items; another implementation's report may have negative ones."""
    return max(0, sum([each.item.tokens for each in included if each.reason == InclusionReason.PINNED]))
