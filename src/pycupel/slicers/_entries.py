"""The entries of quota slicers, and the groups of items that they are for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from pycupel.errors import SlicerConfigError
from pycupel.model import ContextItem, CountQuotaEntry, QuotaEntry
from pycupel.model.checks import checked_iterable, duplicate_kind, suggestion, wrong_type
from pycupel.model.quota import METADATA, NONE, By, grouping, grouping_name
from pycupel.slicers._base import IndexedSlicer
from pycupel.text import shortened

_Entry = TypeVar("_Entry", bound=QuotaEntry | CountQuotaEntry)

Key: TypeAlias = str | None
"""The key of a group: a folded kind or source, any other value as text, or None for items without one."""


class Entries(NamedTuple, Generic[_Entry]):
    """The entries of a quota slicer, checked."""

    by_key: dict[Key, _Entry]
    """The entries by the key of their group, in order."""

    each: _Entry | None
    """The entry for all other groups, if there is one."""

    def all(self) -> tuple[_Entry, ...]:
        """Return all entries, as the caller may pass them again."""
        return (*self.by_key.values(), *(() if self.each is None else (self.each,)))

    def of(self, key: Key) -> _Entry | None:
        """Return the entry that is for a group, or None."""
        return self.by_key.get(key, self.each)

    def only(self, key: Key) -> list[_Entry]:
        """Return the entries that are for a group: one or none."""
        entry = self.of(key)
        return [] if entry is None else [entry]


def checked_entries(entries: Any, entry_type: type[_Entry], by: By) -> Entries[_Entry]:
    """Check the entries, and return them by their groups, in order. Each may be listed once (QS-02, CQ-04)."""
    name = entry_type.__name__
    by_key: dict[Key, _Entry] = {}
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
    return Entries(by_key, each)


def keys_of(items: Sequence[ContextItem], by: By) -> Sequence[Key]:
    """Return the key of each item's group."""
    # Most quotas are for kinds, and a list is faster than a function for each item.
    return [item.kind.key for item in items] if by == "kind" else list(map(grouping(by), items))


def partition(keys: Sequence[Key], order: Iterable[int] | None = None) -> dict[Key, list[int]]:
    """Group the indices by key, groups and items in order of appearance (QS-01), or in the `order` given."""
    partitions: dict[Key, list[int]] = {}
    for i in range(len(keys)) if order is None else order:
        partitions.setdefault(keys[i], []).append(i)
    return partitions


def advice_on_groups(slicer: Any, items: Sequence[ContextItem], keys: Iterable[Key]) -> Iterator[str]:
    """Note that no item has a value, as with a misspelled key: what should be many groups is one."""
    if slicer.entries and items and set(keys) == {None}:
        by = grouping_name(slicer.by)
        keys_of_metadata = sorted({key for item in items for key in item.metadata})
        yield (
            f"no candidate has a value for {shortened(by)}, so {type(slicer).__name__} takes them all for one group, "
            f"{NONE}; correct by{suggestion(by.removeprefix(METADATA), keys_of_metadata)}"
        )


def check_inner_by(slicer: Any) -> None:
    """Reject a slicer whose inner quotas are for something else: it divides the candidates before they can count."""
    inner = slicer.inner
    while isinstance(inner, IndexedSlicer):
        by: Any = getattr(inner, "by", slicer.by)
        if by != slicer.by:
            raise SlicerConfigError(
                f"{type(slicer).__name__} is by {grouping_name(slicer.by)}, but the {type(inner).__name__} inside it "
                f"by {grouping_name(by)}; swap them, or use the same by",
                argument="inner",
            )
        inner = getattr(inner, "inner", None)
