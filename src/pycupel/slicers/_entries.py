"""The entries of quota slicers, and the partitions that they apply to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from pycupel.errors import SlicerConfigError
from pycupel.model import ContextItem, CountQuotaEntry, QuotaEntry
from pycupel.model.checks import checked_iterable, duplicate_kind, wrong_type

_Entry = TypeVar("_Entry", QuotaEntry, CountQuotaEntry)


def checked_entries(entries: Any, entry_type: type[_Entry]) -> dict[str, _Entry]:
    """Check the entries, and return them by folded kind, in order. Each kind may be listed once (QS-02, CQ-04)."""
    name = entry_type.__name__
    by_key: dict[str, _Entry] = {}
    for i, entry in enumerate(checked_iterable("entries", f"an iterable of {name}", entries)):
        if not isinstance(entry, entry_type):
            raise wrong_type(f"entries[{i}]", f"a {name}", entry)
        if entry.kind.key in by_key:
            raise duplicate_kind("entries", entry.kind.value, SlicerConfigError)
        by_key[entry.kind.key] = entry
    return by_key


def partition_by_kind(items: Sequence[ContextItem], order: Iterable[int] | None = None) -> dict[str, list[int]]:
    """Group the indices by kind, kinds and items in order of appearance (QS-01), or in the `order` given."""
    partitions: dict[str, list[int]] = {}
    for i in range(len(items)) if order is None else order:
        partitions.setdefault(items[i].kind.key, []).append(i)
    return partitions
