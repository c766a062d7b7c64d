"""Limits of documents, so that a small one cannot cost minutes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pycupel.codecs.base import key_step, prefix_path
from pycupel.errors import DocumentError, cut

__all__ = ["MAX_DEPTH", "TOO_DEEP", "check_depth"]

MAX_DEPTH = 64
"""How many objects and lists of a document may be inside each other."""

TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep"


class _Part(NamedTuple):
    """An object or a list of a document, with its key or index in the one that holds it."""

    value: Any
    key: Any
    outer: _Part | None


def check_depth(document: Any) -> None:
    """Refuse a document that is nested too deeply, or contains itself.

    Raises:
        DocumentError: it is; the path says where.
    """
    level = [_Part(document, None, None)] if _is_container(document) else []
    for _ in range(MAX_DEPTH):
        # What is shared, as by the aliases of YAML, is walked once on each level.
        level = list({id(part.value): part for outer in level for part in _parts(outer)}.values())
        if not level:
            return
    error = DocumentError(TOO_DEEP)
    part = level[0]
    while part.outer is not None:
        prefix_path(error, f"[{part.key}]" if _is_list(part.outer.value) else key_step(part.key))
        part = part.outer
    error.path = cut(error.path)
    raise error


def _parts(outer: _Part) -> Iterator[_Part]:
    members: Any = enumerate(outer.value) if _is_list(outer.value) else outer.value.items()
    return (_Part(value, key, outer) for key, value in members if _is_container(value))


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_container(value: object) -> bool:
    # Scalars first, because asking for an abstract base class takes longest.
    return not isinstance(value, (str, int, float)) and isinstance(value, (dict, list, Mapping))
