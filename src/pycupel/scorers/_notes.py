"""Advisory notes about scorers whose field no item sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pycupel.model import ContextItem
from pycupel.scorers._base import WrappingScorer

__all__ = ["scorer_notes"]


def scorer_notes(scorer: Any, items: Sequence[ContextItem]) -> tuple[str, ...]:
    """One sentence for every scorer, inner ones included, whose field no item sets."""
    if not items:
        return ()
    silent = [each for each in _flattened(scorer) if not _finds_any(each, items)]
    return tuple(dict.fromkeys(map(_note, silent)))


def _flattened(scorer: Any, seen: set[int] | None = None) -> Iterator[Any]:
    """The scorer and all that it wraps, each object once."""
    seen = set() if seen is None else seen
    if id(scorer) in seen:
        return
    seen.add(id(scorer))
    yield scorer
    if isinstance(scorer, WrappingScorer):
        for child in scorer.children:
            yield from _flattened(child, seen)


def _finds_any(scorer: Any, items: Sequence[ContextItem]) -> bool:
    """Whether any item sets the field that the scorer reads. A custom scorer may name it, too."""
    field = getattr(scorer, "reads", None)
    if not isinstance(field, str) or field not in ContextItem.__dataclass_fields__:
        return True
    if field == "metadata":
        key = getattr(scorer, "key", None)
        return any(item.metadata if key is None else key in item.metadata for item in items)
    return any(getattr(item, field) not in (None, ()) for item in items)


def _note(scorer: Any) -> str:
    key = getattr(scorer, "key", None) if scorer.reads == "metadata" else None
    field = scorer.reads if key is None else f"metadata[{key!r}]"
    return (
        f"no item sets {field}, so {type(scorer).__name__} gives every item the same score; "
        "set it, or choose a policy without that scorer"
    )
