"""Limits of documents, so that a small one cannot cost minutes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pycupel.codecs.base import key_step, prefix_path
from pycupel.errors import DocumentError, cut

__all__ = ["MAX_DEPTH", "TOO_DEEP", "check_depth"]

MAX_DEPTH = 64
"""How many levels of objects and lists a document may have."""

TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep"


def check_depth(document: Any) -> None:
    """Refuse a document that is nested too deeply, or contains itself.

    Raises:
        DocumentError: it is; the path says where.
    """
    try:
        _check(document, MAX_DEPTH, set())
    except DocumentError as error:
        error.path = cut(error.path)
        raise


def _check(value: Any, levels: int, seen: set[tuple[int, int]]) -> None:
    is_list = isinstance(value, list)
    # Scalars first, because asking for an abstract base class takes longest.
    if isinstance(value, (str, int, float)) or not isinstance(value, (dict, list, Mapping)):
        return
    if not levels:
        raise DocumentError(TOO_DEEP)
    container: Any = value  # pyright: ignore[reportUnknownVariableType] - from outside
    # A shared container, such as a YAML alias, is walked once per level.
    if (id(container), levels) in seen:
        return
    seen.add((id(container), levels))
    for key, part in enumerate(container) if is_list else container.items():
        try:
            _check(part, levels - 1, seen)
        except DocumentError as error:
            prefix_path(error, f"[{key}]" if is_list else key_step(key))
            raise
