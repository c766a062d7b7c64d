"""Groups of items: by kind, source, a metadata key, or a function of the caller's."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeAlias

from pycupel.model.checks import checked_name, wrong_type
from pycupel.model.item import ContextItem

By: TypeAlias = str | Callable[[ContextItem], object]
"""What items are grouped by: a field's name, "metadata:KEY", or a function that takes an item."""

NONE = "(none)"
"""How the group of the items without a value is shown."""

_METADATA = "metadata:"


def checked_by(name: str, value: Any, fields: tuple[str, ...], error: Callable[..., ValueError]) -> By:
    """Check for one of these fields, in any spelling, for "metadata:KEY", or for a function."""
    if callable(value):
        function: By = value
        return function
    if not isinstance(value, str):
        known = ", ".join(map(repr, fields))
        raise wrong_type(name, f"{known}, 'metadata:KEY' or a function that takes an item", value)
    if value.startswith(_METADATA) and value != _METADATA:
        return value
    return checked_name(name, value, (*fields, f"{_METADATA}KEY"), error)


def checked_quota_by(name: str, value: Any, error: Callable[..., ValueError]) -> By:
    """Check what quotas may be for."""
    return checked_by(name, value, ("kind", "source"), error)


def grouping(by: By) -> Callable[[ContextItem], str | None]:
    """Return a function from an item to the key of its group; None for an item without a value.

    Kinds and sources are compared without ASCII case; metadata and the results of a function as `str()`.
    """
    if callable(by):
        function = by
        return lambda item: _as_text(function(item))
    if by.startswith(_METADATA):
        key = by.removeprefix(_METADATA)
        return lambda item: _as_text(item.metadata.get(key))
    # "retriever" is a metadata key of its own name.
    if by == "retriever":
        return lambda item: _as_text(item.metadata.get(by))
    return attrgetter(f"{by}.key")


def name_of(by: By) -> str:
    """Return what items are grouped by as reports say it: a field, "metadata:KEY", or the name of a function."""
    return by if isinstance(by, str) else str(getattr(by, "__name__", "a function"))


def noun_of(by: By) -> str:
    """Return what sentences call a group: the kind, the source, or a value of a metadata key or a function."""
    name = name_of(by)
    return name if name in ("kind", "source") else f"{name} value"


def label_of(by: By, item: ContextItem, key: str | None) -> str:
    """Return the value of a group as it is shown; kinds and sources as this member spells them."""
    if by == "kind":
        return item.kind.value
    if by == "source":
        return item.source.value
    return NONE if key is None else key


def _as_text(value: object) -> str | None:
    if value is None or type(value) is str:
        return value
    try:
        # A plain str, because a subclass may override comparison.
        return str.__str__(value if isinstance(value, str) else str(value))
    except Exception:  # noqa: BLE001 - a user's object that raises has no value
        return None
