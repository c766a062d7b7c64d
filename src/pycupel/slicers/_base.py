"""What the slicers share. Inside, items are indices: only a custom slicer has to be asked which objects it meant."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Sequence
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, cast

from pycupel.diagnostics import CountRequirementShortfall, ExclusionReason
from pycupel.errors import SlicerContractError
from pycupel.kernels.identity import places_by_identity
from pycupel.model import ContextBudget, ContextItem, ScoredItem
from pycupel.model.checks import checked_iterable, describe, wrong_type
from pycupel.model.item import split_scored
from pycupel.protocols import SliceOutcome, Slicer

__all__ = ["IndexSlice", "IndexedSlicer", "delegate", "exclusion_notes", "restricted", "slice_by_index"]


class IndexSlice(NamedTuple):
    """A `SliceOutcome` in terms of positions in the input. `selected` is in the slicer's own order."""

    selected: list[int]
    shortfalls: tuple[CountRequirementShortfall, ...] = ()
    cap_excluded: tuple[tuple[int, ExclusionReason], ...] = ()


class IndexedSlicer(ABC):
    """The base of the built-in slicers.

    The two class attributes say whether budget simulation makes sense with a slicer (BS-09); a custom one may have
    them, too.
    """

    __slots__ = ()

    supports_marginal_items: ClassVar[bool] = True
    supports_min_budget: ClassVar[bool] = True

    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        return self.slice_detailed(scored_items, budget).selected

    def slice_detailed(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> SliceOutcome:
        if not isinstance(cast(Any, budget), ContextBudget):
            raise wrong_type("budget", "a ContextBudget", budget)
        items, scores = split_scored(scored_items)
        outcome = self.slice_indices(items, scores, budget)
        return SliceOutcome(
            [items[i] for i in outcome.selected],
            outcome.shortfalls,
            tuple((items[i], reason) for i, reason in outcome.cap_excluded),
        )

    @abstractmethod
    def slice_indices(
        self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget, /
    ) -> IndexSlice: ...

    def notes(self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget) -> dict[int, str]:  # noqa: ARG002
        """Why items may be left out although there is room, by position. Asked only for a report (ER-05)."""
        return {}

    def for_kind(self, key: str) -> IndexedSlicer:  # noqa: ARG002 - most slicers treat all kinds alike
        """This slicer, judging only what concerns one kind: for the partitions of `QuotaSlice` (CQ-03)."""
        return self

    def judge_absent(self, present: Container[str]) -> tuple[CountRequirementShortfall, ...]:  # noqa: ARG002
        """The count requirements for kinds that have no candidate at all."""
        return ()


def slice_by_index(
    slicer: Any, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget
) -> IndexSlice:
    """Ask any slicer.

    What a custom one returns is found again by identity, each occurrence of an object once (SL-02, SL-03).
    """
    method = _method(slicer.__class__)
    if method == "slice_indices":
        picked: IndexSlice = slicer.slice_indices(items, scores, budget)
        return picked
    scored = tuple(map(ScoredItem, items, scores))
    detailed = method == "slice_detailed"
    outcome = slicer.slice_detailed(scored, budget) if detailed else SliceOutcome(slicer.slice(scored, budget))
    if not isinstance(outcome, SliceOutcome):
        raise SlicerContractError(
            f"{type(slicer).__name__}.slice_detailed must return a SliceOutcome, not {describe(outcome)}"
        )
    places = places_by_identity(items)
    selected = _find(slicer, outcome.selected, places)
    capped = _find(slicer, [item for item, _ in outcome.cap_excluded], places)
    reasons = [reason for _, reason in outcome.cap_excluded]
    return IndexSlice(selected, tuple(outcome.shortfalls), tuple(zip(capped, reasons, strict=True)))


def delegate(inner: Slicer, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget) -> IndexSlice:
    """Ask an inner slicer.

    With nothing to select, a built-in one may still have requirements to report; a custom one is not asked (CQ-12).
    """
    if (items and budget.target_tokens > 0) or isinstance(inner, IndexedSlicer):
        return slice_by_index(inner, items, scores, budget)
    return IndexSlice([])


def exclusion_notes(
    slicer: Slicer, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget
) -> dict[int, str]:
    """What a slicer can say about items that it leaves out although there is room; a custom one says nothing."""
    return slicer.notes(items, scores, budget) if isinstance(slicer, IndexedSlicer) else {}


def restricted(inner: Slicer, key: str) -> Slicer:
    return inner.for_kind(key) if isinstance(inner, IndexedSlicer) else inner


@lru_cache(maxsize=512)
def _method(cls: type[object]) -> str:
    """The method that speaks for the class: of those that its most derived ancestor defines, the richest."""
    for owner in cls.__mro__:
        for name in ("slice_indices", "slice_detailed", "slice"):
            if name in vars(owner) and (name != "slice_indices" or issubclass(cls, IndexedSlicer)):
                return name
    return "slice"


def _find(slicer: Slicer, returned: Any, places: dict[int, list[int]]) -> list[int]:
    name = type(slicer).__name__
    try:
        iterable = checked_iterable(f"what {name} returns", "a list of the items that it selects", returned)
    except TypeError as error:
        raise SlicerContractError(str(error)) from None
    found: list[int] = []
    for item in iterable:
        free = places.get(id(item))
        if free is None:
            raise SlicerContractError(
                f"{name} returned {describe(item)}, which is none of the objects it was given; "
                "a slicer returns the items themselves, not copies"
            )
        if not free:
            raise SlicerContractError(f"{name} returned {describe(item)} more often than it was given")
        found.append(free.pop())
    return found
