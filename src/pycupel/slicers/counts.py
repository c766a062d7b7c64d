"""Slicers with a minimum and a maximum number of items of a kind."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any, ClassVar, Literal, NamedTuple, cast

from pycupel.diagnostics import CountCapExceeded, CountRequirementShortfall, ExclusionReason
from pycupel.errors import CountRequirementError, SlicerConfigError
from pycupel.kernels.order import descending
from pycupel.model import (
    ContextBudget,
    ContextItem,
    CountQuotaEntry,
    QuotaConstraint,
    QuotaConstraintMode,
    ScarcityBehavior,
)
from pycupel.model.checks import one_of, rule, wrong_type
from pycupel.model.kind import ScarcityLike
from pycupel.model.quota import By, checked_quota_by, group_label, grouping, grouping_name, groups_notes
from pycupel.protocols import Slicer, checked_slicer
from pycupel.slicers._base import (
    DelegatingSlicer,
    IndexedSlicer,
    IndexSlice,
    InnerOffer,
    SliceOffer,
    quota_constraints_of,
    restricted,
)
from pycupel.slicers.greedy import GreedySlice
from pycupel.slicers.knapsack import KnapsackSlice, VersionSlice
from pycupel.slicers.quota import GroupKey, QuotaEntries, checked_entries, keys_of, partition
from pycupel.values import brief_repr, hold, sealed

_REFILLS = 16
"""How often what caps by something other than kinds left free is offered again."""


class _Committed(NamedTuple):
    """Phase 1: the committed items, their number by kind, and the entries with too few candidates."""

    selected: list[int]
    counts: dict[GroupKey, int]
    short: list[tuple[CountQuotaEntry, int]]


class CountingSlicer(DelegatingSlicer):
    """The base class of the two count slicers."""

    # CQ-06, CQ-09, CQ-10: even `ScarcityBehavior.THROW` does not guarantee requirements, because without any candidates
    # or budget, a slicer must return nothing.

    __slots__ = ()

    supports_min_budget: ClassVar[bool] = False

    entries: tuple[CountQuotaEntry, ...]
    scarcity: ScarcityBehavior
    by: By
    _entries: QuotaEntries[CountQuotaEntry]

    @property
    def each(self) -> CountQuotaEntry | None:
        """The entry for all values that no other entry names, if there is one."""
        return self._entries.each

    @abstractmethod
    def _cap_walk(self, selected: list[int], scores: Sequence[float]) -> list[int]:
        """Order the selected indices as caps are applied: the first ones stay."""

    def _own_constraints(self) -> list[QuotaConstraint]:
        mode = QuotaConstraintMode.COUNT
        return [
            QuotaConstraint(entry.kind, mode, entry.require_count, entry.cap_count, self.by) for entry in self.entries
        ]

    def _slice_indices(self, offer: SliceOffer, /) -> IndexSlice:
        items, scores, budget = offer
        if not items or budget.target_tokens <= 0:
            unmet = tuple(self._shortfall(entry, 0) for entry in self._requirements().values())
            return IndexSlice([], unmet + self._offer((), offer, budget).slice().shortfalls)
        committed = self._commit(offer)
        shortfalls = [self._scarce(entry, satisfied) for entry, satisfied in committed.short]
        if isinstance(self.engine, VersionSlice):
            # Required items may be shortened, too.
            inner = self.engine.slice_required(offer, committed.selected)
        else:
            inner = self._offer_rest(committed.selected, offer).slice()
        taken = set(committed.selected)
        counts = dict(committed.counts)
        walk = self._cap_walk([i for i in inner.selected if i not in taken], scores)
        kept, capped = self._enforce_caps(walk, items, counts)
        selected = committed.selected + kept
        versions = {i: inner.versions[i] for i in selected if i in inner.versions}
        outcome = IndexSlice(selected, (*shortfalls, *inner.shortfalls), (*capped, *inner.cap_excluded), versions)
        if capped and self.by != "kind" and not quota_constraints_of(self.engine):
            outcome = self._refilled(outcome, offer, counts)
        return outcome._replace(notes=inner.notes)

    def _refilled(self, outcome: IndexSlice, offer: SliceOffer, counts: dict[GroupKey, int]) -> IndexSlice:
        """SliceOffer what caps left free to the groups that have not reached theirs, as long as caps remove something.

        The specification leaves it empty, for kinds. If the inner slicer has quotas, only it knows what they leave.
        """
        items, scores, budget = offer
        keys = keys_of(items, self.by)
        # Random inputs take up to five. Without a bound, sizes can be chosen so that each round closes one group only.
        for _ in range(_REFILLS):
            chosen = {*outcome.selected, *(i for i, _ in outcome.cap_excluded)}
            left = [i for i in range(len(items)) if i not in chosen]
            rest = [i for i in left if not self._is_full(keys[i], counts)]
            _, closed = self._enforce_caps([i for i in left if self._is_full(keys[i], counts)], items, counts)
            free = max(0, budget.target_tokens - outcome.tokens(items))
            inner = self._offer(rest, offer, ContextBudget(budget.max_tokens, free)).slice()
            kept, capped = self._enforce_caps(self._cap_walk(inner.selected, scores), items, counts)
            outcome = outcome._replace(
                selected=outcome.selected + kept,
                cap_excluded=(*outcome.cap_excluded, *closed, *capped),
                versions={**outcome.versions, **{i: inner.versions[i] for i in kept if i in inner.versions}},
            )
            if not capped:
                break
        return outcome

    def _notes(self, offer: SliceOffer) -> dict[int, str]:
        return self._offer_rest(self._commit(offer).selected, offer).notes()

    def _advice(self, offer: SliceOffer, is_selected: Sequence[int]) -> Iterator[str]:
        """Return the notes of the inner slicer about the items that the requirements left to it."""
        keys = keys_of(offer.items, self.by)
        if self.entries:
            yield from groups_notes(self, offer.items)
        counts = Counter(compress(keys, is_selected))
        rest = self._offer_rest(self._commit(offer).selected, offer)
        # If a cap or a requirement may have changed the selection, the inner slicer's notes would be wrong.
        caps = {key: entry.cap_count for key in keys if (entry := self._entries.of(key)) is not None}
        is_capped = any(counts[key] >= cap for key, cap in caps.items())
        if not is_capped and {keys[i] for i in rest.indices} == set(keys):
            yield from rest.advice(is_selected)

    def _judge_absent(self, present: Container[GroupKey]) -> tuple[CountRequirementShortfall, ...]:
        """Report unmet count requirements for groups without candidates."""
        absent = [entry for key, entry in self._requirements().items() if key not in present]
        return (*(self._scarce(entry, 0) for entry in absent), *DelegatingSlicer._judge_absent(self, present))

    def _offer_rest(self, committed: Sequence[int], offer: SliceOffer) -> InnerOffer:
        """SliceOffer what the requirements leave: the other items, and the rest of the budget."""
        items, _, budget = offer
        taken = set(committed)
        left = max(0, budget.target_tokens - sum(items[i].tokens for i in taken))
        rest = [i for i in range(len(items)) if i not in taken]
        return self._offer(rest, offer, ContextBudget(budget.max_tokens, min(left, budget.max_tokens)))

    def _requirements(self) -> dict[GroupKey, CountQuotaEntry]:
        return {key: entry for key, entry in self._entries.by_key.items() if entry.require_count > 0}

    def _commit(self, offer: SliceOffer) -> _Committed:
        """Take the best candidates of each entry, in order."""
        committed = _Committed([], {}, [])
        requirements = self._requirements()
        partitions = partition(keys_of(offer.items, self.by), descending(offer.scores)) if requirements else {}
        for key, entry in requirements.items():
            best = partitions.get(key, [])[: entry.require_count]
            committed.selected.extend(best)
            committed.counts[key] = len(best)
            if len(best) < entry.require_count:
                committed.short.append((entry, len(best)))
        return committed

    def _scarce(self, entry: CountQuotaEntry, satisfied: int) -> CountRequirementShortfall:
        if self.scarcity is ScarcityBehavior.THROW:
            raise CountRequirementError(type(self).__name__, entry.kind.value, entry.require_count, satisfied)
        return self._shortfall(entry, satisfied)

    def _shortfall(self, entry: CountQuotaEntry, satisfied: int) -> CountRequirementShortfall:
        return CountRequirementShortfall(entry.kind, entry.require_count, satisfied, grouping_name(self.by))

    def _is_full(self, key: GroupKey, counts: Mapping[GroupKey, int]) -> bool:
        entry = self._entries.of(key)
        return entry is not None and counts.get(key, 0) >= entry.cap_count

    def _enforce_caps(
        self, walk: Iterable[int], items: Sequence[ContextItem], counts: dict[GroupKey, int]
    ) -> tuple[list[int], list[tuple[int, ExclusionReason]]]:
        """Apply the caps (phase 3), and count what stays. Items committed in phase 1 count, but are never removed."""
        kept: list[int] = []
        capped: list[tuple[int, ExclusionReason]] = []
        key_of, by = grouping(self.by), grouping_name(self.by)
        for i in walk:
            key = key_of(items[i])
            count = counts.get(key, 0)
            entry = self._entries.of(key)
            if entry is not None and count >= entry.cap_count:
                kind = group_label(self.by, items[i], key) if entry.is_each else entry.kind.value
                capped.append((i, CountCapExceeded(kind, entry.cap_count, count, by)))
            else:
                kept.append(i)
                counts[key] = count + 1
        return kept, capped


_CapOrder = Literal["inner", "score"]


@sealed
@dataclass(frozen=True, slots=True, init=False)
class CountQuotaSlice(CountingSlicer):
    """Selects the required number of each kind, adds more with `inner`, then removes what exceeds a cap.

    The tokens of items that a cap removes are not used for others, as the specification says; if `by` is not "kind",
    they are, unless there are quotas inside.

    Requirements come before the budget and may exceed it; then the overflow strategy decides. With no candidates at all
    nothing is selected, and the report lists the shortfalls. Pinned items are not counted.

    Raises:
        SlicerConfigError: a kind is listed twice, an option is unknown, or `inner` is a `KnapsackSlice`.
    """

    # CQ-07, CQ-17

    entries: tuple[CountQuotaEntry, ...]
    """How many items of a kind are required and allowed; at most one entry for each kind.

    `CountQuotaEntry.each(cap_count=3)` is for every kind that no other entry names.
    """

    inner: Slicer = field(metadata=rule(checked_slicer))
    """The slicer that selects the rest; not a `KnapsackSlice`."""

    scarcity: ScarcityBehavior = field(metadata=one_of(ScarcityBehavior))
    """What to do when a kind has fewer candidates than required."""

    cap_order: _CapOrder = field(metadata=one_of(_CapOrder))
    """Which items of a kind a cap keeps: with `"inner"` those that the inner slicer selected first (with `GreedySlice`
    those with the most score per token), with `"score"` those with the highest scores.
    """

    by: By = field(metadata={"check": checked_quota_by})
    """What the entries name: "kind", "source", "metadata:KEY", or a function that takes an item."""

    _entries: QuotaEntries[CountQuotaEntry] = field(init=False, repr=False, compare=False)

    __repr__ = brief_repr

    def __init__(
        self,
        entries: Iterable[CountQuotaEntry],
        inner: Slicer = GreedySlice(),
        scarcity: ScarcityLike = ScarcityBehavior.DEGRADE,
        *,
        cap_order: _CapOrder = "inner",
        by: By = "kind",
    ) -> None:
        hold(self, by=checked_quota_by("by", by, SlicerConfigError))
        checked = checked_entries(entries, CountQuotaEntry, self.by)
        if isinstance(inner, KnapsackSlice):
            message = (
                "CountQuotaSlice does not support KnapsackSlice as its inner slicer. "
                "Use GreedySlice inside, or CountConstrainedKnapsackSlice instead of CountQuotaSlice."
            )
            raise SlicerConfigError(message, argument="inner", value=inner)
        hold(self, entries=checked.all(), inner=inner, scarcity=scarcity, cap_order=cap_order, _entries=checked)
        IndexedSlicer.__post_init__(self)

    def _cap_walk(self, selected: list[int], scores: Sequence[float]) -> list[int]:
        return descending(scores, selected) if self.cap_order == "score" else selected

    def _for_group(self, key: GroupKey) -> IndexedSlicer:
        # The constructor of a subclass may differ.
        if type(self) is not CountQuotaSlice:
            return self
        own, inner = self._entries.only(key), restricted(self.inner, key)
        return CountQuotaSlice(own, inner, self.scarcity, cap_order=self.cap_order, by=self.by)


@sealed
@dataclass(frozen=True, slots=True, init=False)
class CountConstrainedKnapsackSlice(CountingSlicer):
    """Selects the required number of each kind, adds more with a knapsack, then removes what exceeds a cap.

    Caps keep the highest scores. Everything else is as in `CountQuotaSlice`.

    Raises:
        SlicerConfigError: a kind is listed twice, or `scarcity` is unknown.
    """

    entries: tuple[CountQuotaEntry, ...]
    """How many items of a kind are required and allowed; at most one entry for each kind.

    `CountQuotaEntry.each(cap_count=3)` is for every kind that no other entry names.
    """

    knapsack: KnapsackSlice
    """The slicer that selects the rest."""

    scarcity: ScarcityBehavior = field(metadata=one_of(ScarcityBehavior))
    """What to do when a kind has fewer candidates than required."""

    by: By = field(metadata={"check": checked_quota_by})
    """What the entries name: "kind", "source", "metadata:KEY", or a function that takes an item."""

    _entries: QuotaEntries[CountQuotaEntry] = field(init=False, repr=False, compare=False)

    __repr__ = brief_repr

    def __init__(
        self,
        entries: Iterable[CountQuotaEntry],
        knapsack: KnapsackSlice = KnapsackSlice(),
        scarcity: ScarcityLike = ScarcityBehavior.DEGRADE,
        *,
        by: By = "kind",
    ) -> None:
        hold(self, by=checked_quota_by("by", by, SlicerConfigError))
        checked = checked_entries(entries, CountQuotaEntry, self.by)
        if not isinstance(cast(Any, knapsack), KnapsackSlice):
            raise wrong_type("knapsack", "a KnapsackSlice", knapsack)
        hold(self, entries=checked.all(), knapsack=knapsack, scarcity=scarcity, _entries=checked)
        IndexedSlicer.__post_init__(self)

    @property
    def engine(self) -> Slicer:
        """Return the knapsack."""
        return self.knapsack

    def _cap_walk(self, selected: list[int], scores: Sequence[float]) -> list[int]:
        # The sort is stable on the knapsack's own order, descending by index, so of equal scores the later comes first
        # (CK-02).
        return descending(scores, selected)

    def _for_group(self, key: GroupKey) -> IndexedSlicer:
        if type(self) is not CountConstrainedKnapsackSlice:
            return self
        return CountConstrainedKnapsackSlice(self._entries.only(key), self.knapsack, self.scarcity, by=self.by)
