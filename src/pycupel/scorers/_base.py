"""The common part of the scorers: batch scoring with any scorer, and scorers that wrap others."""

# The functions below call the internal methods of built-in scorers.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from functools import lru_cache
from typing import Any, ClassVar, TypeAlias, cast

from pycupel.errors import CycleError, ScorerConfigError
from pycupel.model import ContextItem, ContextKind
from pycupel.model.checks import MAX_NESTING, as_float, checked_iterable
from pycupel.protocols import Scorer
from pycupel.values import check_fields, hold

Batch: TypeAlias = Callable[[Sequence[ContextItem]], list[float]]

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


def batches(scorers: Sequence[Scorer]) -> tuple[tuple[Scorer, Batch], ...]:
    """Pair each scorer with its `score_all`; empty unless all are different, built-in and wrap no others."""
    methods = [_batch_method(scorer.__class__) for scorer in scorers]
    if len(set(map(id, scorers))) < len(scorers) or not all(trusted and not wraps for _, trusted, wraps in methods):
        return ()
    return tuple([(scorer, cast(Any, scorer).score_all) for scorer in scorers])


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
        raise CycleError(
            f"scorers may be nested at most {MAX_NESTING} levels deep, not {depth[id(root)]}", argument=argument
        )


def _wrapping(scorers: Sequence[Scorer]) -> list[WrappingScorer]:
    return [scorer for scorer in scorers if isinstance(scorer, WrappingScorer)]
