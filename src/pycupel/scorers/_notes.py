"""Advisory notes about scorers that have nothing to go by, or less than they seem to."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from pycupel.model import ContextItem
from pycupel.model.checks import quoted
from pycupel.scorers._parts import Shares, field_of
from pycupel.scorers.reflexive import ReflexiveScorer

__all__ = ["clamping_notes", "is_conversational", "relevant_shares", "scorer_notes"]

_HINT = "future_relevance_hint"
_RESCALE = 'use ReflexiveScorer(rescale="auto"), or rescale_hints(items)'


def scorer_notes(leaves: Shares, items: Sequence[ContextItem]) -> tuple[str, ...]:
    """One sentence if at least half of the weight reads fields that no item sets."""
    if not items:
        return ()
    shares = relevant_shares(leaves)
    is_asked = any(_is_asked(each) for each, _ in shares)
    silent: list[Any] = []
    total = missing = 0.0
    for each, share in shares:
        if _finds_any(each, items):
            total += share
        elif not is_asked or each.reads != _HINT:  # relevance goes by the question where there are no hints
            silent.append(each)
            total += share
            missing += share
    # Weights are rounded.
    if not silent or 2.0 * missing < total - 1e-9:
        return ()
    return (_missing(silent, asks=any(_asks(each) for each, _ in leaves)),)


def clamping_notes(leaves: Shares, items: Sequence[ContextItem]) -> tuple[str, ...]:
    """One sentence if a scorer takes hints that lie outside its range."""
    if not any(isinstance(each, ReflexiveScorer) and each.rescale == "never" for each, _ in leaves):
        return ()
    hints = [item.future_relevance_hint for item in items]
    clamped = len([hint for hint in hints if not (hint is None or 0.0 <= hint <= 1.0) and isfinite(hint)])
    return (f"hints outside the range from 0 to 1 were clamped ({clamped} of {len(items)}); {_RESCALE}",) * (
        clamped > 0
    )


def is_conversational(leaves: Shares) -> bool:
    """Whether the order of the items is the order of a conversation to the scorer."""
    return any(getattr(each, "undated", None) == "position" for each, _ in leaves)


def relevant_shares(leaves: Shares) -> Shares:
    """Those that have a share, without those that wait for a question."""
    return [(each, share) for each, share in leaves if share > 0.0 and not _asks(each)]


def _asks(scorer: Any) -> bool:
    """Whether the scorer would read a question, but has none."""
    return callable(getattr(scorer, "for_query", None)) and getattr(scorer, "query", None) is None


def _is_asked(scorer: Any) -> bool:
    return callable(getattr(scorer, "for_query", None)) and getattr(scorer, "query", None) is not None


def _finds_any(scorer: Any, items: Sequence[ContextItem]) -> bool:
    """Whether any item sets the field that the scorer reads."""
    field = field_of(scorer)
    if field is None:
        return True
    if field == "metadata":
        key = getattr(scorer, "key", None)
        return any(item.metadata if key is None else key in item.metadata for item in items)
    return any(getattr(item, field) not in (None, ()) for item in items)


def _missing(scorers: Sequence[Any], *, asks: bool) -> str:
    fields = list(dict.fromkeys(map(_name, scorers)))
    *names, last = dict.fromkeys(type(each).__name__ for each in scorers)
    who, those = (f"{', '.join(names)} and {last} give", "those scorers") if names else (f"{last} gives", "that scorer")
    it = "it" if len(fields) == 1 else "them"
    query = ", pass query=..." if asks and _HINT in fields else ""
    return (
        f"no item sets {' or '.join(fields)}, so {who} every item the same score; "
        f"set {it}{query}, or choose a policy without {those}"
    )


def _name(scorer: Any) -> str:
    key = getattr(scorer, "key", None) if scorer.reads == "metadata" else None
    field: str = scorer.reads
    return field if key is None else f"metadata[{quoted(key)}]"
