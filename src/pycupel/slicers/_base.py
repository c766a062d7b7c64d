"""The common part of the slicers. Internally, items are indices; what a custom slicer returns is mapped to indices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

from pycupel.diagnostics import CountRequirementShortfall, ExclusionReason
from pycupel.errors import SlicerConfigError, SlicerContractError
from pycupel.kernels.order import indices_by_identity, maker
from pycupel.model import ContextBudget, ContextItem, ScoredItem
from pycupel.model.checks import check_inner, checked_iterable, wrong_type
from pycupel.model.item import split_scored
from pycupel.protocols import SliceOutcome, Slicer
from pycupel.text import describe
from pycupel.values import FrozenDict, check_fields

if TYPE_CHECKING:
    from pycupel.model import QuotaConstraint

# The functions below call the internal methods of built-in slicers.
# pyright: reportPrivateUsage=false


NO_VERSIONS: Mapping[int, ContextItem] = FrozenDict()


class SliceOffer(NamedTuple):
    """What a slicer selects from."""

    items: Sequence[ContextItem]
    scores: Sequence[float]
    budget: ContextBudget


make_offer = maker(SliceOffer)


class IndexSlice(NamedTuple):
    """A `SliceOutcome` with indices instead of items. `selected` is in the slicer's own order.

    `versions` are the shorter versions that replace selected items, and `notes` are advisory.
    """

    selected: list[int]
    shortfalls: tuple[CountRequirementShortfall, ...] = ()
    cap_excluded: tuple[tuple[int, ExclusionReason], ...] = ()
    versions: Mapping[int, ContextItem] = NO_VERSIONS
    notes: tuple[str, ...] = ()

    def tokens(self, items: Sequence[ContextItem]) -> int:
        """Count the tokens of the selection."""
        versions = self.versions
        return sum([versions.get(i, items[i]).tokens for i in self.selected])

    def at(self, indices: Sequence[int] | Mapping[int, int]) -> IndexSlice:
        """Translate the indices, such as to those that the sliced items have in a longer list."""
        return IndexSlice(
            [indices[i] for i in self.selected],
            self.shortfalls,
            tuple((indices[i], reason) for i, reason in self.cap_excluded),
            {indices[i]: version for i, version in self.versions.items()},
            self.notes,
        )


# Built from a plain tuple of all fields, which is faster than calling the class.
index_slice = maker(IndexSlice)


class IndexedSlicer(ABC):
    """The base class of the built-in slicers."""

    # BS-09: a custom slicer may have these two attributes as well.

    __slots__ = ()

    supports_marginal_items: ClassVar[bool] = True
    """Whether `get_marginal_items` accepts the slicer."""

    supports_min_budget: ClassVar[bool] = True
    """Whether `find_min_budget_for` accepts the slicer."""

    def __post_init__(self) -> None:
        """Check the fields as they are declared, and that slicers are not nested too deeply."""
        check_fields(self, SlicerConfigError)
        check_inner("slicers", self, IndexedSlicer, SlicerConfigError)

    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        """Select among `(item, score)` pairs what fits into `budget.target_tokens`, in the slicer's own order."""
        return self.slice_detailed(scored_items, budget).selected

    def slice_detailed(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> SliceOutcome:
        """Select as `slice` does, from the same arguments, and report unmet requirements and what caps removed."""
        if not isinstance(cast(Any, budget), ContextBudget):
            raise wrong_type("budget", "a ContextBudget", budget)
        items, scores = split_scored(scored_items)
        outcome = self._slice_indices(SliceOffer(items, scores, budget))
        return SliceOutcome(
            [items[i] for i in outcome.selected],
            outcome.shortfalls,
            tuple((items[i], reason) for i, reason in outcome.cap_excluded),
        )

    @abstractmethod
    def _slice_indices(self, offer: SliceOffer, /) -> IndexSlice:
        """Return the selection as indices of the items."""

    def _notes(self, offer: SliceOffer) -> dict[int, str]:  # noqa: ARG002 - most slicers have nothing to say
        """Return why items may be left out although there is room, by index. Called only for a report."""
        # ER-05: the reason alone would mislead.
        return {}

    def _advice(self, offer: SliceOffer, is_selected: Sequence[int]) -> Iterable[str]:  # noqa: ARG002 - as above
        """Return advisory notes about a selection. `is_selected` has a 1 for each item in it."""
        return ()

    def _for_group(self, key: str | None) -> IndexedSlicer:  # noqa: ARG002 - most slicers have no entries
        """Return this slicer with only the entries of one kind or other group, for the partitions of `QuotaSlice`."""
        # CQ-03
        return self

    def _judge_absent(self, present: Container[str | None]) -> tuple[CountRequirementShortfall, ...]:  # noqa: ARG002
        """Report unmet count requirements for kinds without candidates."""
        return ()


def slice_by_index(
    slicer: Any, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget
) -> IndexSlice:
    """Run any slicer, and return the selection as indices.

    The items that a custom slicer returns are looked up by identity, each occurrence once (SL-02, SL-03).
    """
    method = _method(slicer.__class__)
    if method == "_slice_indices":
        picked: IndexSlice = slicer._slice_indices(make_offer((items, scores, budget)))
        return picked
    # A tuple, so that a custom slicer cannot change what the pipeline goes on with.
    scored = tuple(map(ScoredItem, items, scores))
    detailed = method == "slice_detailed"
    outcome = slicer.slice_detailed(scored, budget) if detailed else SliceOutcome(slicer.slice(scored, budget))
    if not isinstance(outcome, SliceOutcome):
        raise SlicerContractError(
            f"{type(slicer).__name__}.slice_detailed must return a SliceOutcome, not {describe(outcome)}"
        )
    indices = indices_by_identity(items)
    selected = _find(slicer, outcome.selected, indices)
    capped = _find(slicer, [item for item, _ in outcome.cap_excluded], indices)
    reasons = [reason for _, reason in outcome.cap_excluded]
    return IndexSlice(selected, tuple(outcome.shortfalls), tuple(zip(capped, reasons, strict=True)))


class InnerOffer(NamedTuple):
    """Some of the items, offered to an inner slicer with their own budget. Answers have the indices of all items."""

    inner: Slicer
    indices: Sequence[int]
    offer: SliceOffer

    def slice(self) -> IndexSlice:
        """Let the inner slicer select.

        With nothing to select, a built-in slicer may still have shortfalls to report; a custom one is not called
        (CQ-12).
        """
        if (self.indices and self.offer.budget.target_tokens > 0) or isinstance(self.inner, IndexedSlicer):
            return slice_by_index(self.inner, *self.offer).at(self.indices)
        return IndexSlice([])

    def notes(self) -> dict[int, str]:
        """Return why the inner slicer may leave out items although there is room, by index."""
        return {self.indices[i]: note for i, note in exclusion_notes(self.inner, self.offer).items()}

    def advice(self, is_selected: Sequence[int]) -> Iterable[str]:
        """Return the inner slicer's notes about a selection."""
        return advice_of(self.inner, self.offer, [is_selected[i] for i in self.indices])


class DelegatingSlicer(IndexedSlicer):
    """The base class of slicers that restrict what can be selected, and let another slicer, the engine, select."""

    __slots__ = ()

    @property
    def engine(self) -> Slicer:
        """The slicer that selects."""
        inner: Slicer = cast(Any, self).inner
        return inner

    def quota_constraints(self) -> tuple[QuotaConstraint, ...]:
        """Return the limits of the entries and of the inner slicer."""
        return (*self._own_constraints(), *quota_constraints_of(self.engine))

    def _own_constraints(self) -> Iterable[QuotaConstraint]:
        """Return the limits of the entries."""
        return ()

    def _offer(
        self, indices: Sequence[int], offer: SliceOffer, budget: ContextBudget, engine: Slicer | None = None
    ) -> InnerOffer:
        """SliceOffer some of the items to the engine, or to the one given."""
        items, scores, _ = offer
        part = SliceOffer([items[i] for i in indices], [scores[i] for i in indices], budget)
        return InnerOffer(self.engine if engine is None else engine, indices, part)

    def _judge_absent(self, present: Container[str | None]) -> tuple[CountRequirementShortfall, ...]:
        return self.engine._judge_absent(present) if isinstance(self.engine, IndexedSlicer) else ()


def has_notes(slicer: Slicer) -> bool:
    """Whether a slicer may have notes about excluded items."""
    return isinstance(slicer, IndexedSlicer) and slicer.__class__._notes is not IndexedSlicer._notes


def exclusion_notes(slicer: Slicer, offer: SliceOffer) -> dict[int, str]:
    """Return why a slicer may leave out items although there is room, by index; empty for a custom slicer."""
    return slicer._notes(offer) if isinstance(slicer, IndexedSlicer) else {}


def advice_of(slicer: Slicer, offer: SliceOffer, is_selected: Sequence[int]) -> Iterable[str]:
    """Return advisory notes about a selection; none for a custom slicer."""
    return slicer._advice(offer, is_selected) if isinstance(slicer, IndexedSlicer) else ()


def restricted(inner: Slicer, key: str | None) -> Slicer:
    """Return an inner slicer with only the entries of one group, if it has entries."""
    return inner._for_group(key) if isinstance(inner, IndexedSlicer) else inner


@lru_cache(maxsize=512)
def _method(cls: type[object]) -> str:
    """Return the method to call: the most detailed one that the most derived class defines."""
    # A subclass of a built-in slicer that overrides `slice` means that, not the inherited fast method.
    for owner in cls.__mro__:
        for name in ("_slice_indices", "slice_detailed", "slice"):
            if name in vars(owner) and (name != "_slice_indices" or issubclass(cls, IndexedSlicer)):
                return name
    return "slice"


def _find(slicer: Slicer, returned: Any, indices: dict[int, list[int]]) -> list[int]:
    name = type(slicer).__name__
    try:
        iterable = checked_iterable(f"the selection that {name} returned", "a list of items", returned)
    except TypeError as error:
        raise SlicerContractError(str(error)) from None
    found: list[int] = []
    for item in iterable:
        free = indices.get(id(item))
        if free is None:
            remedy = "a slicer returns the items themselves, not copies"
            if isinstance(item, ScoredItem):
                remedy = "return the .item of a ScoredItem"
            raise SlicerContractError(
                f"{name} returned {describe(item)}, which is not among the objects it was given; {remedy}"
            )
        if not free:
            raise SlicerContractError(f"{name} returned {describe(item)} more often than it was given")
        found.append(free.pop())
    return found


def quota_constraints_of(slicer: Slicer) -> tuple[QuotaConstraint, ...]:
    """Return the quotas of a slicer and its inner slicers; empty if it has no method `quota_constraints()`."""
    method = getattr(slicer, "quota_constraints", None)
    if not callable(method):
        return ()
    from pycupel.model.quota import QuotaConstraint  # noqa: PLC0415 - most programs have no quotas

    given: Any = method()
    if not isinstance(given, (tuple, list)) or not all(isinstance(each, QuotaConstraint) for each in cast(Any, given)):
        raise SlicerContractError(
            f"{type(slicer).__name__}.quota_constraints must return a list or tuple of QuotaConstraint, "
            f"not {describe(cast(Any, given))}"
        )
    return tuple(cast(Any, given))
