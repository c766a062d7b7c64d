"""Prepare scorers for a question or a stream."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from pycupel.errors import ScorerConfigError
from pycupel.model import ContextItem
from pycupel.model.checks import checked_str
from pycupel.protocols import Scorer, checked_scorer
from pycupel.scorers._base import WrappingScorer
from pycupel.scorers._parts import leaves_of
from pycupel.scorers.boosted import BoostedScorer
from pycupel.scorers.composite import CompositeScorer
from pycupel.scorers.reflexive import ReflexiveScorer
from pycupel.values import hold


def bound_query(scorer: Any) -> str:
    """Return the question of a scorer.

    Raises:
        ScorerConfigError: it has none.
    """
    if scorer.query is None:
        name = type(scorer).__name__
        raise ScorerConfigError(
            f"{name} has no query to score by; pass query= to the call, as in select(items, budget, policy, "
            f"query='...'), or bind it with {name}(...).for_query('...')",
            argument="query",
        )
    query: str = scorer.query
    return query


def bind_query(scorer: Scorer, query: str) -> tuple[Scorer, int]:
    """Pass the question to every inner scorer that takes one.

    A scorer takes one by having a method `for_query(query)` that returns a copy with the question. A scorer that
    occurs several times is bound once and stays shared. Scorers that take none stay the same objects.

    Returns:
        The scorer with the question, and how many scorers received it.

    Raises:
        TypeError: the query is not a str, or a `for_query` does not return a scorer.
    """
    binding = _Binding("for_query", checked_str("query", query))
    return binding.bind(scorer), binding.count


def bind_stream(scorer: Scorer) -> Scorer:
    """Prepare every inner scorer that has a method `_for_stream()` for items that arrive in batches."""
    return _Binding("_for_stream").bind(scorer)


def query_of(scorer: Scorer) -> str | None:
    """Return the question that a scorer, or one inside it, was bound to; None if there is none."""
    queries: list[Any] = [getattr(leaf, "query", None) for leaf, _ in leaves_of(scorer)]
    return next((query for query in queries if isinstance(query, str)), None)


def scores_relevance(scorer: Scorer, items: Sequence[ContextItem]) -> bool:
    """Whether low scores mean irrelevant items: by a question, or by hints that are a retriever's scores."""
    leaves = [leaf for leaf, _ in leaves_of(scorer)]
    if any(getattr(leaf, "query", None) is not None for leaf in leaves):
        return True
    reads_scores = any(isinstance(leaf, ReflexiveScorer) and leaf.rescale == "auto" for leaf in leaves)
    return reads_scores and any(item.future_relevance_hint is not None for item in items)


class _Binding:
    """One traversal of a scorer and those inside it."""

    def __init__(self, method: str, *arguments: str) -> None:
        self.method = method
        self.arguments = arguments
        self.count = 0
        self._done: dict[int, Scorer] = {}

    def bind(self, scorer: Scorer) -> Scorer:
        key = id(scorer)
        if key not in self._done:
            self._done[key] = self._bound(scorer)
        return self._done[key]

    def _bound(self, scorer: Any) -> Scorer:
        bind = getattr(scorer, self.method, None)
        if callable(bind):
            self.count += 1
            return checked_scorer(f"the result of {type(scorer).__name__}.{self.method}", bind(*self.arguments))
        if isinstance(scorer, WrappingScorer):
            children = tuple(map(self.bind, scorer.children))
            if any(new is not old for new, old in zip(children, scorer.children, strict=True)):
                return _with_children(scorer, children)
        return scorer  # type: ignore[no-any-return]


def _with_children(scorer: WrappingScorer, children: tuple[Scorer, ...]) -> Scorer:
    """Copy a scorer with other inner scorers."""
    new: Any = copy(scorer)
    if isinstance(scorer, CompositeScorer):
        weights = [weight for _, weight in scorer.entries]
        new._hold(zip(children, weights, strict=True))
    else:
        hold(new, inner=children[0])
        if isinstance(scorer, BoostedScorer):
            hold(new, boosts=children[1:])
    scorer_with_query: Scorer = new
    return scorer_with_query
