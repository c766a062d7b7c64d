"""The common part of the scorers: batch scoring, scorers inside others, their question, and what to note about them."""

# The functions below call the internal methods of built-in scorers.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from functools import lru_cache
from math import isfinite
from typing import Any, ClassVar, NamedTuple, cast

from pycupel.errors import CycleError, ScorerConfigError
from pycupel.model import ContextItem, ContextKind
from pycupel.model.checks import MAX_NESTING, as_float, checked_iterable, checked_str
from pycupel.protocols import Scorer, checked_scorer
from pycupel.text import quoted
from pycupel.values import check_fields, hold

Shares = list[tuple[Any, float]]

# The kinds whose order in the input is meaningful: messages, and the output of tools.
CONVERSATION = frozenset({ContextKind.MESSAGE.key, ContextKind.TOOL_OUTPUT.key})


class CheckedScorer:
    """The base class of scorers whose fields are checked as they are declared, and of their curves."""

    __slots__ = ()

    def __post_init__(self) -> None:
        check_fields(self, ScorerConfigError)


class WrappingScorer(ABC):
    """The base class of scorers that wrap others."""

    __slots__ = ()

    _is_sum: ClassVar[bool] = False
    """Whether the score is the sum of the children's scores, each multiplied by its share."""

    @property
    def children(self) -> tuple[Scorer, ...]:
        """Return the inner scorers."""
        return (cast(Any, self).inner,)

    @property
    def _shares(self) -> Sequence[float]:
        """The share of each child in the score; empty if the scorer counts as one part, which names its own field."""
        count = len(self.children)
        return () if field_of(self) is not None else [1.0 / count] * count

    def _with_children(self, children: tuple[Scorer, ...]) -> Scorer:
        """Copy the scorer with other inner scorers, in the same order."""
        new = copy(self)
        hold(new, inner=children[0])
        return cast(Scorer, new)

    def _score_columns(self, items: Sequence[ContextItem], known: dict[int, list[float]]) -> list[list[float]]:
        """Return the scores of each child, and add those of every scorer inside to `known`, by id."""
        columns: list[list[float]] = []
        for child in self.children:
            column = known.get(id(child))
            if column is None:
                column = known[id(child)] = score_once(child, items, known)
            columns.append(column)
        return columns

    @abstractmethod
    def _combine(self, columns: list[list[float]]) -> list[float]:
        """Compute the scores from those of each child. A column may be shared, and must not be changed."""


def field_of(scorer: Any) -> str | None:
    """Return the field that a scorer reads. A custom scorer may name it, too."""
    field = getattr(scorer, "reads", None)
    return field if isinstance(field, str) and field in ContextItem.__dataclass_fields__ else None


def score_one(scorer: Scorer, item: ContextItem, all_items: Sequence[ContextItem]) -> float:
    """Score one item; the result is a float, whatever number the scorer returns (SC-04)."""
    return _as_score(scorer, scorer.score(item, all_items))


def score_of(item: ContextItem, all_items: Sequence[ContextItem], scores: Sequence[float]) -> float:
    """Return the score of one item among those of all: the largest of the object, 0 if it is not among them."""
    return max([score for other, score in zip(all_items, scores, strict=True) if other is item], default=0.0)


def score_all(scorer: Scorer, items: Sequence[ContextItem]) -> list[float]:
    """Score all items, with the scorer's `score_all` or one `score` call for each, in order (SC-02)."""
    batch, trusted, _ = _batch_method(scorer.__class__)
    if batch is None:
        return [_as_score(scorer, scorer.score(item, items)) for item in items]
    scores: list[float] = batch(scorer, items)
    if trusted:
        return scores
    returned = checked_iterable(f"the scores that {type(scorer).__name__} returned", "a list of numbers", scores)
    scores = [_as_score(scorer, score) for score in returned]
    if len(scores) != len(items):
        raise ScorerConfigError(
            f"{type(scorer).__name__}.score_all returned {len(scores)} scores for {len(items)} items"
        )
    return scores


def combined(scorer: WrappingScorer, items: Sequence[ContextItem], known: dict[int, list[float]]) -> list[float]:
    """Score all items with a scorer that wraps others.

    Each scorer is called once per run, however often it occurs: `known` has the scores by the scorer's id.
    """
    return scorer._combine(scorer._score_columns(items, known))


def score_once(child: Any, items: Sequence[ContextItem], known: dict[int, list[float]]) -> list[float]:
    """Score all items, and add the scores of the scorer and those inside it to `known`, by id."""
    batch, trusted, wraps = _batch_method(child.__class__)
    if wraps:
        return combined(child, items, known)
    return batch(child, items) if trusted else score_all(child, items)


@lru_cache(maxsize=512)
def _batch_method(cls: type[Any]) -> tuple[Any, bool, bool]:
    """Return the class's `score_all`, whether it is built-in, and whether its scorer is built-in and wraps others.

    It is None for a subclass that overrides only `score`, which the inherited `score_all` would ignore.
    """
    for owner in cls.__mro__:
        if "score_all" in vars(owner):
            is_ours = owner.__module__.startswith("pycupel.scorers.")
            return cls.score_all, is_ours, is_ours and issubclass(cls, WrappingScorer)
        if "score" in vars(owner):
            break
    return None, False, False


def _as_score(scorer: Scorer, value: Any) -> float:
    if type(value) is float:
        return value
    return as_float(f"the score that {type(scorer).__name__} returned", value)


def check_nesting(root: WrappingScorer, argument: str, inside: Sequence[Scorer]) -> None:
    """Reject a scorer that contains itself, or is nested too deeply to be shown, compared or run (CS-01, PY-08).

    The depth-first search is iterative, so that it cannot hit the recursion limit itself. A scorer may occur
    several times. `inside` are the scorers that were passed to `root` as the argument of that name.
    """
    children = _wrapping(inside)
    # By id, and 0 for the scorers on the stack, whose depth is not known yet.
    depth = {id(root): 0}
    stack = [(id(root), children, iter(children))]
    while stack:
        node, children, unvisited = stack[-1]
        child = next((each for each in unvisited if not depth.get(id(each))), None)
        if child is None:
            depth[node] = 1 + max((depth[id(each)] for each in children), default=0)
            stack.pop()
        elif id(child) in depth:
            raise CycleError("Cycle detected: scorer appears in its own dependency graph", argument=argument)
        else:
            depth[id(child)] = 0
            children = _wrapping(child.children)
            stack.append((id(child), children, iter(children)))
    if depth[id(root)] > MAX_NESTING:
        message = f"scorers may be nested at most {MAX_NESTING} levels deep, not {depth[id(root)]}"
        raise CycleError(message, argument=argument)


def _wrapping(scorers: Sequence[Scorer]) -> list[WrappingScorer]:
    return [scorer for scorer in scorers if isinstance(scorer, WrappingScorer)]


# What a scorer is made of.


def parts_of(scorer: Any) -> Shares:
    """Return the scorers whose weighted sum is the score: composites are split, any other scorer is one part."""
    return _resolved(scorer, lambda each: each._shares if _is_plain_sum(each) else ())


def leaves_of(scorer: Any) -> Shares:
    """Return the innermost scorers. The boosts of a `BoostedScorer` have no share."""
    return _resolved(scorer, lambda each: each._shares if isinstance(each, WrappingScorer) else ())


def _is_plain_sum(scorer: Any) -> bool:
    # Only of a class that says so itself: a subclass may compute something else.
    cls: type[Any] = scorer.__class__
    return "_is_sum" in vars(cls) and cls._is_sum is True


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


# Prepare scorers for a question or a stream.


def bound_query(scorer: Any) -> str:
    """Return the question of a scorer; it is an error if there is none."""
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
    occurs several times is bound once and stays shared. Scorers that take none stay the same objects. Also return how
    many scorers received it.
    """
    return _bound(scorer, "for_query", checked_str("query", query))


def bind_stream(scorer: Scorer) -> Scorer:
    """Prepare every inner scorer that has a method `_for_stream()` for items that arrive in batches."""
    return _bound(scorer, "_for_stream")[0]


async def awaiting(scorer: Scorer, items: Sequence[ContextItem]) -> Scorer:
    """Let every inner scorer that embeds do so now, and await it.

    A scorer embeds if it has a method `_awaiting(items)` that returns a copy with the vectors.
    """
    ready: dict[int, Scorer] = {}
    for leaf, _ in leaves_of(scorer):
        if hasattr(leaf, "_awaiting") and leaf.query is not None:
            ready[id(leaf)] = await leaf._awaiting(items)
    return _bound(scorer, "", done=ready)[0]


def query_of(scorer: Scorer) -> str | None:
    """Return the question that a scorer, or one inside it, was bound to; None if there is none."""
    queries: list[Any] = [getattr(leaf, "query", None) for leaf, _ in leaves_of(scorer)]
    return next((query for query in queries if isinstance(query, str)), None)


def scores_relevance(scorer: Scorer, items: Sequence[ContextItem]) -> bool:
    """Whether low scores mean irrelevant items: by a question, or by hints that are a retriever's scores."""
    if any(getattr(leaf, "query", None) is not None for leaf, _ in leaves_of(scorer)):
        return True
    reads_scores = any(_rescale(leaf) == "auto" for leaf, _ in leaves_of(scorer))
    return reads_scores and any(item.future_relevance_hint is not None for item in items)


def _bound(root: Scorer, method: str, *arguments: str, done: dict[int, Scorer] | None = None) -> tuple[Scorer, int]:
    """Replace a scorer, or those inside it that have this method, by what it returns, and count them."""
    # What a scorer becomes, by its id.
    became: dict[int, Scorer] = done or {}
    count = 0

    def bind(scorer: Any) -> Scorer:
        nonlocal count
        if id(scorer) in became:
            return became[id(scorer)]
        new: Scorer = scorer
        if callable(getattr(scorer, method, None)):
            count += 1
            returned = getattr(scorer, method)(*arguments)
            new = checked_scorer(f"the result of {type(scorer).__name__}.{method}", returned)
        elif isinstance(scorer, WrappingScorer):
            children = tuple(map(bind, scorer.children))
            if any(after is not before for after, before in zip(children, scorer.children, strict=True)):
                new = scorer._with_children(children)
        became[id(scorer)] = new
        return new

    return bind(root), count


# Advisory notes about scorers that find little or no data.


_HINT = "future_relevance_hint"
_RESCALE = 'use ReflexiveScorer(rescale="auto"), or rescale_hints(items)'


class ScorerTraits(NamedTuple):
    """The properties of a scorer and those inside it that notes depend on."""

    # The innermost scorers with a share of the weight, except those that lack a question.
    shares: Shares
    # The fields that any scorer reads, boosts and those that lack a question included.
    reads: frozenset[str | None]
    # Whether a scorer takes a question, but has none; whether one in `shares` has a question.
    awaits_query: bool
    has_query: bool
    # Whether a scorer clamps hints outside its range; those that look for retrievers, whose scales may differ.
    clamps: bool
    fusing: Sequence[Any]
    # Whether a scorer reads the order of the items as that of a conversation.
    is_conversational: bool


def traits_of(scorer: Any) -> ScorerTraits:
    """Determine the traits of a scorer."""
    leaves = leaves_of(scorer)
    shares = [(each, share) for each, share in leaves if share > 0.0 and not _awaits_query(each)]
    return ScorerTraits(
        shares,
        reads=frozenset([field_of(each) for each, _ in leaves]),
        awaits_query=any(_awaits_query(each) for each, _ in leaves),
        has_query=any(_reads_query(each) for each, _ in shares),
        clamps=any(_rescale(each) == "never" for each, _ in leaves),
        fusing=[each for each, _ in leaves if _rescale(each) == "auto" and getattr(each, "by", None) is not None],
        is_conversational=any(getattr(each, "undated", None) == "position" for each, _ in leaves),
    )


def scorer_notes(traits: ScorerTraits, items: Sequence[ContextItem]) -> tuple[str, ...]:
    """Note that at least half of the weight reads fields that no item sets."""
    if not items:
        return ()
    silent: list[Any] = []
    total = missing = 0.0
    for each, share in traits.shares:
        field = field_of(each)
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
    hints = [item.future_relevance_hint for item in items] if traits.clamps else []
    clamped = len([hint for hint in hints if not (hint is None or 0.0 <= hint <= 1.0) and isfinite(hint)])
    note = f"hints outside the range from 0 to 1 were clamped ({clamped} of {len(items)}); {_RESCALE}"
    return (note,) if clamped else ()


def _rescale(scorer: Any) -> Any:
    """Return what a scorer of hints does with those outside its range; None for any other scorer."""
    # It is an option of one scorer, and what another always does.
    return getattr(scorer, "rescale", getattr(scorer, "_rescale", None)) if field_of(scorer) == _HINT else None


def fusing_notes(traits: ScorerTraits, items: Sequence[ContextItem]) -> tuple[str, ...]:
    """Note that the hints of several retrievers were fused, because their scales differ, or should be, but cannot."""
    notes: list[str] = []
    for each in traits.fusing:
        if each.by != "auto":
            from pycupel.model.quota import groups_notes  # noqa: PLC0415 - few programs have several retrievers

            notes += groups_notes(each, items)
        # Hints from -1 to 1 have one scale.
        elif any(abs(item.future_relevance_hint or 0.0) > 1.0 for item in items):
            from pycupel.scorers.fusing import scales_note  # noqa: PLC0415 - as above

            note = scales_note(items)
            notes += () if note is None else (note,)
    return tuple(dict.fromkeys(notes))


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
