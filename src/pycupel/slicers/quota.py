"""QuotaSlice: a share of the budget for each kind, source or other group; and the entries of all quota slicers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import compress
from typing import Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar

from pycupel.errors import SlicerConfigError
from pycupel.model import ContextBudget, ContextItem, CountQuotaEntry, QuotaConstraint, QuotaConstraintMode, QuotaEntry
from pycupel.model.budget import percent_of
from pycupel.model.checks import BOOLEAN, checked_iterable, duplicate_kind, rule, wrong_type
from pycupel.model.quota import By, checked_quota_by, group_label, grouping, grouping_name, groups_notes, noun_of
from pycupel.protocols import Slicer, checked_slicer
from pycupel.slicers._base import DelegatingSlicer, IndexedSlicer, IndexSlice, InnerOffer, SliceOffer, restricted
from pycupel.slicers.greedy import GreedySlice
from pycupel.text import number_text, one_line, quantity, shortened
from pycupel.values import brief_repr, hold, sealed

_Entry = TypeVar("_Entry", bound=QuotaEntry | CountQuotaEntry)

GroupKey: TypeAlias = str | None
"""The key of a group: a folded kind or source, any other value as text, or None for items without one."""


class QuotaEntries(NamedTuple, Generic[_Entry]):
    """The entries of a quota slicer, checked."""

    by_key: dict[GroupKey, _Entry]
    """The entries by the key of their group, in order."""

    each: _Entry | None
    """The entry for all other groups, if there is one."""

    def all(self) -> tuple[_Entry, ...]:
        """Return all entries, as the caller may pass them again."""
        return (*self.by_key.values(), *(() if self.each is None else (self.each,)))

    def of(self, key: GroupKey) -> _Entry | None:
        """Return the entry that is for a group, or None."""
        return self.by_key.get(key, self.each)

    def only(self, key: GroupKey) -> list[_Entry]:
        """Return the entries that are for a group: one or none."""
        entry = self.of(key)
        return [] if entry is None else [entry]


def checked_entries(entries: Any, entry_type: type[_Entry], by: By) -> QuotaEntries[_Entry]:
    """Check the entries, and return them by their groups, in order. Each may be listed once (QS-02, CQ-04)."""
    name = entry_type.__name__
    by_key: dict[GroupKey, _Entry] = {}
    each: _Entry | None = None
    for i, entry in enumerate(checked_iterable("entries", f"an iterable of {name}", entries)):
        if not isinstance(entry, entry_type):
            raise wrong_type(f"entries[{i}]", f"a {name}", entry)
        key = entry.kind.key if by in ("kind", "source") else entry.kind.value
        if entry.is_each:
            if each is not None:
                raise SlicerConfigError(f"entries: {name}.each may be listed once", argument="entries")
            each = entry
        elif key in by_key:
            raise duplicate_kind("entries", entry.kind.value, SlicerConfigError)
        else:
            by_key[key] = entry
    return QuotaEntries(by_key, each)


def keys_of(items: Sequence[ContextItem], by: By) -> Sequence[GroupKey]:
    """Return the key of each item's group."""
    # Most quotas are for kinds, and a list is faster than a function for each item.
    return [item.kind.key for item in items] if by == "kind" else list(map(grouping(by), items))


def partition(keys: Sequence[GroupKey], order: Iterable[int] | None = None) -> dict[GroupKey, list[int]]:
    """Group the indices by key, groups and items in order of appearance (QS-01), or in the `order` given."""
    partitions: dict[GroupKey, list[int]] = {}
    for i in range(len(keys)) if order is None else order:
        partitions.setdefault(keys[i], []).append(i)
    return partitions


# The slicer.


# An inner QuotaSlice sums its requirements for each kind of the outer one; without a limit, that could take minutes.
MAX_INNER_PERCENTAGES = 100


class _Share(NamedTuple):
    """The candidates of one group, by index, with the tokens of their share and of their cap."""

    members: list[int]
    tokens: int
    cap: int


@sealed
@dataclass(frozen=True, slots=True, init=False)
class QuotaSlice(DelegatingSlicer):
    """Gives every kind, listed or not, a fixed share of the budget, and lets `inner` select within each share.

    With `by`, shares are for sources or other groups of items instead of kinds. A kind gets what its entry requires,
    and a part of the rest in proportion to the tokens of its candidates, up to its cap. Shares are rounded down. A
    share that a kind does not use stays empty unless `redistribute=True`, and a kind whose items have no tokens gets
    none.

    Raises:
        SlicerConfigError: a kind is listed twice, more than 100 percent are required in total, `by` is unknown, the
            quotas of a slicer inside this one are by something else, or it requires more than 100 different
            percentages.
    """

    # QS-05, QS-06

    supports_marginal_items: ClassVar[bool] = False
    supports_min_budget: ClassVar[bool] = False

    entries: tuple[QuotaEntry, ...]
    """The minimum and maximum share of a kind in percent; at most one entry for each kind.

    `QuotaEntry.each(cap=40)` is for every kind that no other entry names.
    """

    inner: Slicer = field(metadata=rule(checked_slicer))
    """The slicer that selects within each share."""

    by: By = field(metadata={"check": checked_quota_by})
    """What the entries name: "kind", "source", "metadata:KEY", or a function that takes an item.

    Kinds and sources are compared without ASCII case, metadata and results of a function as `str()`. Items without a
    value are one group, "(none)", which only `QuotaEntry.each` names.
    """

    redistribute: bool = field(metadata=BOOLEAN)
    """Whether to offer unused tokens to the kinds again, in order of their first item, each up to its cap.

    By default only if `by` is not "kind": the specification leaves them empty.
    """

    _entries: QuotaEntries[QuotaEntry] = field(init=False, repr=False, compare=False)
    _requirements: tuple[tuple[float, int], ...] = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        entries: Iterable[QuotaEntry],
        inner: Slicer = GreedySlice(),
        *,
        by: By = "kind",
        redistribute: bool | None = None,
    ) -> None:
        hold(self, by=checked_quota_by("by", by, SlicerConfigError))
        checked = checked_entries(entries, QuotaEntry, self.by)
        required = 0.0
        for entry in checked.all():
            required += entry.require
        if required > 100.0 + 1e-9:
            message = f"the required percentages must not exceed 100 in total, but are {required}"
            raise SlicerConfigError(message, argument="entries", value=required)
        shares_rest = redistributes(self) if redistribute is None else redistribute
        hold(self, entries=checked.all(), inner=inner, redistribute=shares_rest, _entries=checked)
        IndexedSlicer.__post_init__(self)
        self._check_inside()
        # Each percentage, the largest first, with the number of entries that require it.
        requirements = sorted(Counter([entry.require for entry in self.entries]).items(), reverse=True)
        hold(self, _requirements=tuple(requirements))

    def _check_inside(self) -> None:
        """Reject inner quotas for something else, because this slicer divides the candidates before they can count."""
        inner: Any = self.inner
        while isinstance(inner, IndexedSlicer):
            by: Any = getattr(inner, "by", self.by)
            if by != self.by:
                raise SlicerConfigError(
                    f"{type(self).__name__} is by {grouping_name(self.by)}, but the {type(inner).__name__} inside it "
                    f"by {grouping_name(by)}; swap them, or use the same by",
                    argument="inner",
                )
            percentages = {entry.require for entry in inner.entries} if isinstance(inner, QuotaSlice) else ()
            if len(percentages) > MAX_INNER_PERCENTAGES:
                raise SlicerConfigError(
                    f"a QuotaSlice inside another may require at most {MAX_INNER_PERCENTAGES} different percentages, "
                    f"not {len(percentages)}",
                    argument="inner",
                )
            inner = getattr(inner, "inner", None)

    @property
    def each(self) -> QuotaEntry | None:
        """The entry for all values that no other entry names, if there is one."""
        return self._entries.each

    def __repr__(self) -> str:
        text = brief_repr(self)
        implied = f", redistribute={self.redistribute})"
        return text.removesuffix(implied) + ")" if self.redistribute == redistributes(self) else text

    def _own_constraints(self) -> list[QuotaConstraint]:
        mode = QuotaConstraintMode.PERCENTAGE
        return [QuotaConstraint(entry.kind, mode, entry.require, entry.cap, self.by) for entry in self.entries]

    def _slice_indices(self, offer: SliceOffer, /) -> IndexSlice:
        items, _, budget = offer
        if not items or budget.target_tokens <= 0:
            return self._offer((), offer, budget).slice()
        shares = self._distribute(items, budget.target_tokens)
        outcomes = self._outcomes(shares, offer)
        shortfalls = [shortfall for outcome in outcomes.values() for shortfall in outcome.shortfalls]
        return IndexSlice(
            [i for outcome in outcomes.values() for i in outcome.selected],
            (*shortfalls, *self._judge_absent(shares)),
            tuple(capped for outcome in outcomes.values() for capped in outcome.cap_excluded),
            {i: version for outcome in outcomes.values() for i, version in outcome.versions.items()},
            tuple(dict.fromkeys(note for outcome in outcomes.values() for note in outcome.notes)),
        )

    def _outcomes(self, shares: Mapping[GroupKey, _Share], offer: SliceOffer) -> dict[GroupKey, IndexSlice]:
        """Select within each share, and offer what it leaves to the others if that is asked for."""
        items, _, budget = offer
        outcomes = {key: self._offer_share(key, share, offer).slice() for key, share in shares.items()}
        used = {key: outcome.tokens(items) for key, outcome in outcomes.items()} if self.redistribute else {}
        rest = budget.target_tokens - sum(used.values())
        for key, tokens in used.items():
            larger = shares[key]._replace(tokens=min(shares[key].cap, tokens + rest))
            if larger.tokens > shares[key].tokens:
                outcomes[key] = self._offer_share(key, larger, offer).slice()
                rest += tokens - outcomes[key].tokens(items)
        return outcomes

    def _distribute(self, items: Sequence[ContextItem], target: int) -> dict[GroupKey, _Share]:
        """Compute the share of each group, with its candidates.

        DISTRIBUTE-BUDGET: percentages become tokens, rounded down; the rest is divided by token mass (QS-07, QS-08).
        """
        partitions = partition(keys_of(items, self.by))
        mass = {key: sum([items[i].tokens for i in members]) for key, members in partitions.items()}
        required = 0
        for percent, count in self._requirements:
            tokens = percent_of(target, percent)
            # The remaining percentages are no larger, so they are rounded down to 0 tokens, too.
            if not tokens:
                break
            required += count * tokens
        present = {key: entry for key in mass if (entry := self._entries.of(key)) is not None}
        require = {key: percent_of(target, entry.require) for key, entry in present.items()}
        cap = {key: percent_of(target, entry.cap) for key, entry in present.items()}
        unassigned = max(0, target - required)
        grows = {key for key in mass if cap.get(key, target) > require.get(key, 0)}
        total_mass = sum(mass[key] for key in grows)
        shares: dict[GroupKey, _Share] = {}
        for key, members in partitions.items():
            proportional = unassigned * mass[key] // total_mass if total_mass > 0 and key in grows else 0
            limit = cap.get(key, target)
            shares[key] = _Share(members, min(require.get(key, 0) + proportional, limit), limit)
        return shares

    def _offer_share(self, key: GroupKey, share: _Share, offer: SliceOffer) -> InnerOffer:
        tokens = max(0, share.tokens)
        budget = ContextBudget(max(share.cap, tokens), tokens)
        return self._offer(share.members, offer, budget, restricted(self.inner, key))

    def _notes(self, offer: SliceOffer) -> dict[int, str]:
        """Note the share of the item's kind, and add the notes of the inner slicer."""
        items, _, budget = offer
        if not items or budget.target_tokens <= 0:
            return {}
        notes: dict[int, str] = {}
        noun = noun_of(self.by)
        shares = self._distribute(items, budget.target_tokens)
        outcomes = self._outcomes(shares, offer)
        for key, share in shares.items():
            value = group_label(self.by, items[share.members[0]], key)
            kind, entry = shortened(value), self._entries.of(key)
            inner = self._offer_share(key, share, offer).notes()
            text = f"the share of {noun} {kind} was {number_text(share.tokens)} tokens"
            if (
                entry is not None
                and share.cap < budget.target_tokens
                and (self.redistribute or share.tokens == share.cap)
            ):
                # The cap decided, so it can be named as the user wrote it.
                whole, used = number_text(budget.target_tokens), number_text(outcomes[key].tokens(items))
                limit = f"{entry.cap:g}% of the {whole} tokens left by pinned items"
                text = f"{limit} is {number_text(share.cap)}; {one_line(value)} has {used}"
            elif self.redistribute:
                text = f"{noun} {kind} may use {number_text(share.cap)} tokens"
            for i in share.members:
                notes[i] = f"{text}; {inner[i]}" if i in inner else text
        return notes

    def _advice(self, offer: SliceOffer, is_selected: Sequence[int]) -> Iterator[str]:
        """Note shares that are too small, required kinds without candidates, and fractions used as percentages."""
        items, _, budget = offer
        small = [(entry, each) for entry in self.entries for each in (entry.require, entry.cap) if 0.0 < each <= 1.0]
        for entry, percent in small[:1]:
            yield (
                f"{shortened(entry, 100)} means {percent:g} percent of the budget{_more(small)}; "
                f"write {percent * 100:g} for {percent * 100:g} percent"
            )
        if not items or budget.target_tokens <= 0:
            return
        required = {key: entry for key, entry in self._entries.by_key.items() if entry.require > 0.0}
        if self.entries:
            yield from groups_notes(self, items)
        present = set(keys_of(items, self.by)) if required else ()
        absent = [entry for key, entry in required.items() if key not in present]
        noun = noun_of(self.by)
        for entry in absent[:1]:
            yield (
                f"no candidate has {noun} {shortened(entry.kind.value)}, for which QuotaSlice requires "
                f"{entry.require:g} percent of the budget{_more(absent)}; correct the {noun}, or leave out the entry"
            )
        if not self.redistribute and type(self.inner) is GreedySlice:
            yield from self._unused(items, budget.target_tokens, is_selected)

    def _unused(self, items: Sequence[ContextItem], target: int, is_selected: Sequence[int]) -> Iterator[str]:
        """Note unused tokens, if an excluded item would fit and its cap allows it."""
        rest = target - sum([item.tokens for item in compress(items, is_selected)])
        starved: dict[GroupKey, list[int]] = {}
        shares = self._distribute(items, target)
        for key, share in shares.items():
            room = min(rest, share.cap - sum([items[i].tokens for i in share.members if is_selected[i]]))
            starved[key] = [i for i in share.members if 0 < items[i].tokens <= room and not is_selected[i]]
        # Of equal numbers, the group with the best of them.
        most = min(starved, key=lambda key: (-len(starved[key]), starved[key]))
        if starved[most]:
            excluded = quantity(sum(map(len, starved.values())), "excluded item")
            kind = shortened(group_label(self.by, items[starved[most][0]], most))
            yield (
                f"{number_text(rest)} of {number_text(target)} tokens stay unused, although {excluded} would fit: "
                f"the share of {noun_of(self.by)} {kind} was {number_text(shares[most].tokens)} tokens; "
                "use QuotaSlice(..., redistribute=True)"
            )

    def _for_group(self, key: GroupKey) -> IndexedSlicer:
        inner = restricted(self.inner, key)
        if inner is self.inner or type(self) is not QuotaSlice:
            return self
        # This is called for each group, and `replace` would check all entries again.
        slicer = copy(self)
        hold(slicer, inner=inner)
        return slicer


def redistributes(slicer: QuotaSlice) -> bool:
    """Whether a slicer offers unused tokens again by default: shares by token mass say little about sources."""
    return slicer.by != "kind"


def _more(entries: Sequence[object]) -> str:
    return f" (and {len(entries) - 1} more like it)" if len(entries) > 1 else ""
