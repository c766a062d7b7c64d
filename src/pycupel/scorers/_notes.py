"""Advisory notes about scorers that find little or no data."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any, NamedTuple

from pycupel.model import ContextItem
from pycupel.scorers._parts import Shares, field_of, leaves_of
from pycupel.scorers.reflexive import ReflexiveScorer
from pycupel.text import quoted

_HINT = "future_relevance_hint"
_RESCALE = 'use ReflexiveScorer(rescale="auto"), or rescale_hints(items)'


class ScorerTraits(NamedTuple):
    """The properties of a scorer and those inside it that notes depend on."""

    shares: Shares
    """The innermost scorers with a share of the weight, except those that lack a question."""

    fields: Sequence[str | None]
    """The field that each of them reads, if any."""

    reads: frozenset[str | None]
    """The fields that any scorer reads, boosts and those that lack a question included."""

    awaits_query: bool
    """Whether a scorer takes a question, but has none."""

    has_query: bool
    """Whether a scorer in `shares` has a question."""

    clamps: bool
    """Whether a scorer clamps hints outside its range."""

    is_conversational: bool
    """Whether a scorer reads the order of the items as that of a conversation."""


def traits_of(scorer: Any) -> ScorerTraits:
    """Determine the traits of a scorer."""
    leaves = leaves_of(scorer)
    shares = [(each, share) for each, share in leaves if share > 0.0 and not _awaits_query(each)]
    return ScorerTraits(
        shares,
        [field_of(each) for each, _ in shares],
        reads=frozenset([field_of(each) for each, _ in leaves]),
        awaits_query=any(_awaits_query(each) for each, _ in leaves),
        has_query=any(_reads_query(each) for each, _ in shares),
        clamps=any(isinstance(each, ReflexiveScorer) and each.rescale == "never" for each, _ in leaves),
        is_conversational=any(getattr(each, "undated", None) == "position" for each, _ in leaves),
    )


def scorer_notes(traits: ScorerTraits, items: Sequence[ContextItem]) -> tuple[str, ...]:
    """Note that at least half of the weight reads fields that no item sets."""
    if not items:
        return ()
    silent: list[Any] = []
    total = missing = 0.0
    for (each, share), field in zip(traits.shares, traits.fields, strict=True):
        if field is None or _sets_any(field, each, items):
            total += share
        elif not traits.has_query or field != _HINT:  # If there are no hints, a question still measures relevance.
            silent.append(each)
            total += share
            missing += share
    # Weights are rounded.
    if not silent or 2.0 * missing < total - 1e-9:
        return ()
    return (_missing(silent, asks=traits.awaits_query),)


def clamping_notes(traits: ScorerTraits, items: Sequence[ContextItem]) -> tuple[str, ...]:
    """Note that hints are outside the range of a scorer."""
    if not traits.clamps:
        return ()
    hints = [item.future_relevance_hint for item in items]
    clamped = len([hint for hint in hints if not (hint is None or 0.0 <= hint <= 1.0) and isfinite(hint)])
    if not clamped:
        return ()
    return (f"hints outside the range from 0 to 1 were clamped ({clamped} of {len(items)}); {_RESCALE}",)


def _reads_query(scorer: Any) -> bool:
    return callable(getattr(scorer, "for_query", None))


def _awaits_query(scorer: Any) -> bool:
    return _reads_query(scorer) and getattr(scorer, "query", None) is None


def _sets_any(field: str, scorer: Any, items: Sequence[ContextItem]) -> bool:
    """Whether any item sets the field that the scorer reads."""
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
