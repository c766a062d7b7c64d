"""The rule by which names of strategies, presets, formats and enumerations are compared."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from typing import Self, TypeVar

_Name = TypeVar("_Name", bound=str)

# Comparing takes time proportional to the product of both lengths, and none of our names is longer.
_MAX_COMPARED = 100

_ASCII_FOLD = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def fold(text: str) -> str:
    """Fold ASCII case: only A to Z change, so `K` (Kelvin) and `É` stay as they are (DM-09)."""
    return text.lower() if text.isascii() else text.translate(_ASCII_FOLD)


def name_key(name: str) -> str:
    """Return the form in which names are compared: without ASCII case, `-` and `_`.

    `code-review`, `code_review` and `CodeReview` are one name. Kinds, sources, tags and metadata keys are data, not
    names, and are not compared like this.
    """
    return fold(name).replace("-", "").replace("_", "")


# Known names are few and short.
_known_key = lru_cache(maxsize=1_000)(name_key)


def find_name(value: object, known: Iterable[_Name]) -> _Name | None:
    """Return the known name that a value spells, or None."""
    if not isinstance(value, str):
        return None
    key = name_key(value)
    return next((name for name in known if _known_key(name) == key), None)


class NamedEnum(StrEnum):
    """A `StrEnum` whose members are found by their values in any spelling: `OverflowStrategy("THROW")`."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return find_name(value, cls)


def suggestion(name: object, known: Iterable[str]) -> str:
    """Return `; did you mean 'recency'?`, or an empty string if no known name is close."""
    from difflib import get_close_matches  # noqa: PLC0415 - only mistakes need it

    if not isinstance(name, str) or len(name) > _MAX_COMPARED:
        return ""
    by_key = {name_key(each): each for each in known if len(each) <= _MAX_COMPARED}
    near = get_close_matches(name_key(name), by_key, n=1, cutoff=0.7)
    return f"; did you mean {str(by_key[near[0]])!r}?" if near else ""
