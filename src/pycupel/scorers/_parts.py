"""The parts of a score: the inner scorers, each with its share of the weight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pycupel.model import ContextItem
from pycupel.scorers._base import WrappingScorer
from pycupel.scorers.boosted import BoostedScorer
from pycupel.scorers.composite import CompositeScorer

Shares = list[tuple[Any, float]]


def parts_of(scorer: Any) -> Shares:
    """Return the scorers whose weighted sum is the score: composites are split, any other scorer is one part."""
    return _resolved(scorer, lambda each: _weights(each) if type(each) is CompositeScorer else ())


def leaves_of(scorer: Any) -> Shares:
    """Return the innermost scorers. The boosts of a `BoostedScorer` have no share."""
    return _resolved(scorer, lambda each: _weights(each) if isinstance(each, WrappingScorer) else ())


def field_of(scorer: Any) -> str | None:
    """Return the field that a scorer reads. A custom scorer may name it, too."""
    field = getattr(scorer, "reads", None)
    return field if isinstance(field, str) and field in ContextItem.__dataclass_fields__ else None


def _weights(scorer: WrappingScorer) -> Sequence[float]:
    """Return the share of each child; empty if the scorer counts as one part."""
    if isinstance(scorer, CompositeScorer):
        total = sum([weight for _, weight in scorer.entries])
        return [weight / total for _, weight in scorer.entries]
    count = len(scorer.children)
    if isinstance(scorer, BoostedScorer):
        return [1.0] + [0.0] * (count - 1)
    return () if field_of(scorer) is not None else [1.0 / count] * count


def _resolved(root: Any, weights_of: Callable[[Any], Sequence[float]]) -> Shares:
    """Distribute shares from parents to children. A scorer that occurs several times has the sum of its shares.

    The parts are in the order of their first occurrence, as if each occurrence were another scorer.
    """
    children_first: list[tuple[Any, Sequence[float]]] = []
    shares: dict[int, float] = {}
    parts: list[Any] = []

    def visit(scorer: Any) -> None:
        shares[id(scorer)] = 0.0
        weights = weights_of(scorer)
        if not weights:
            parts.append(scorer)
            return
        for child in scorer.children:
            if id(child) not in shares:
                visit(child)
        children_first.append((scorer, weights))

    visit(root)
    shares[id(root)] = 1.0
    for scorer, weights in reversed(children_first):
        for child, weight in zip(scorer.children, weights, strict=True):
            shares[id(child)] += shares[id(scorer)] * weight
    return [(part, shares[id(part)]) for part in parts]
