"""`GreedySlice` and `StreamSlice` take what fits, in an order; `MinScoreSlice` lets only good scores pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from pycupel.diagnostics import ScoredTooLow
from pycupel.kernels.order import best_fitting, by_density, descending, fill
from pycupel.kernels.scores import SortedSums
from pycupel.model.checks import BOOLEAN, POSITIVE, finite_number, rule
from pycupel.protocols import Slicer, checked_slicer
from pycupel.slicers._base import (
    NO_VERSIONS,
    DelegatingSlicer,
    IndexedSlicer,
    IndexSlice,
    InnerOffer,
    SliceOffer,
    index_slice,
    restricted,
)
from pycupel.values import brief_repr, record_repr, sealed


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class GreedySlice(IndexedSlicer):
    """Takes items by `score / tokens**cost_exponent`, highest first, as long as they fit.

    The default is the specification's score per token: a long top hit can lose to many short, weak items. Items
    without tokens always fit. Ties go to the earlier item.
    """

    cost_exponent: float = field(default=1.0, metadata=finite_number(low=0.0, high=2.0))
    """How much the tokens count, from 0 to 2: 1 is score per token, 0 is the order of the scores alone."""

    best_first: bool = field(default=False, metadata=BOOLEAN)
    """Whether the item with the highest score that fits is taken before anything else."""

    __repr__ = brief_repr

    def _slice_indices(self, offer: SliceOffer, /) -> IndexSlice:
        items, scores, budget = offer
        if not items or budget.target_tokens <= 0:
            return IndexSlice([])
        tokens = [item.tokens for item in items]
        order = by_density(scores, tokens, self.cost_exponent)
        # By score alone, the best item comes first anyway, unless there are items without tokens.
        if self.best_first and (self.cost_exponent or min(tokens) <= 0):
            order = best_fitting(scores, tokens, budget.target_tokens, order)
        return index_slice((fill(order, tokens, budget.target_tokens), (), (), NO_VERSIONS, ()))


@sealed
@dataclass(frozen=True, slots=True)
class MinScoreSlice(DelegatingSlicer):
    """Lets `inner` select only among items that score at least `min_score`, even if there is room for more.

    The others are excluded as `ScoredTooLow`, whatever their tokens. NaN is below every minimum. Scores depend on the
    scorer: those of `RelevanceScorer` are shares of the best item's, so a minimum for them is relative.
    """

    inner: Slicer = field(metadata=rule(checked_slicer))
    """The slicer that selects among the rest."""

    min_score: float = field(metadata=finite_number())
    """The lowest score that may be selected."""

    __repr__ = record_repr

    @property
    def supports_marginal_items(self) -> bool:  # type: ignore[override] # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the inner slicer allows the analysis of marginal items."""
        return bool(getattr(self.inner, "supports_marginal_items", True))

    @property
    def supports_min_budget(self) -> bool:  # type: ignore[override] # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the inner slicer allows the search for a minimum budget."""
        return bool(getattr(self.inner, "supports_min_budget", True))

    def _slice_indices(self, offer: SliceOffer, /) -> IndexSlice:
        outcome = self._kept(offer).slice()
        low = [
            (i, ScoredTooLow(score, self.min_score))
            for i, score in enumerate(offer.scores)
            if not score >= self.min_score
        ]
        return outcome._replace(cap_excluded=(*outcome.cap_excluded, *low))

    def _notes(self, offer: SliceOffer) -> dict[int, str]:
        return self._kept(offer).notes()

    def _advice(self, offer: SliceOffer, is_selected: Sequence[int]) -> Iterable[str]:
        return self._kept(offer).advice(is_selected)

    def _for_group(self, key: str | None) -> IndexedSlicer:
        return replace(self, inner=restricted(self.inner, key)) if type(self) is MinScoreSlice else self

    def _kept(self, offer: SliceOffer) -> InnerOffer:
        kept = [i for i, score in enumerate(offer.scores) if score >= self.min_score]
        return self._offer(kept, offer, offer.budget)


# Up to this size, walking through the selection for each batch is faster.
_MANY_BATCHES = 64

_Key = TypeVar("_Key")


@sealed
@dataclass(frozen=True, slots=True)
class StreamSlice(IndexedSlicer):
    """Takes what fits from each batch, by score (not score per token), until the budget is full.

    Earlier batches win over better items that come later, and once a batch has filled the budget, the rest is ignored,
    even items without tokens. (A pipeline sorts all items by score first, so nothing better comes later.)
    """

    batch_size: int = field(default=32, metadata=POSITIVE)
    """The number of items in a batch."""

    replace: bool = field(default=False, kw_only=True, metadata=BOOLEAN)
    """Whether each batch competes with the selection so far: both are sorted by score together, and what fits stays.

    A later item may then replace earlier ones with lower scores.
    """

    __repr__ = record_repr

    def _slice_indices(self, offer: SliceOffer, /) -> IndexSlice:
        items, scores, budget = offer
        if not items or budget.target_tokens <= 0:
            return IndexSlice([])
        tokens = [item.tokens for item in items]
        # Distributing one sorted list sorts all batches.
        ranked = descending(scores)
        batches: list[list[int]] = [[] for _ in range(0, len(ranked), self.batch_size)]
        for i in ranked:
            batches[i // self.batch_size].append(i)
        if self.replace:
            return IndexSlice(_compete(batches, ranked, tokens, budget.target_tokens))
        selected: list[int] = []
        remaining = budget.target_tokens
        for batch in batches:
            taken = fill(batch, tokens, remaining)
            selected += taken
            remaining -= sum(tokens[i] for i in taken)
            if remaining <= 0:
                break
        return IndexSlice(selected)

    def _notes(self, offer: SliceOffer) -> dict[int, str]:
        """Note items without tokens, which are left out only if the stream ended before them."""
        if self.replace or offer.budget.target_tokens <= 0:
            return {}
        note = "the stream ended when an earlier batch had filled the budget"
        return {i: note for i, item in enumerate(offer.items) if item.tokens == 0}


def _compete(batches: Sequence[list[int]], ranked: Sequence[int], tokens: Sequence[int], target: int) -> list[int]:
    """Return the best items of all batches."""
    # Ranks are integers without ties, so that the order of equal scores is that of `ranked`.
    rank = [0] * len(ranked)
    for position, i in enumerate(ranked):
        rank[i] = position
    if len(batches) > _MANY_BATCHES and min(tokens) >= 0:
        best = SortedSums[int]()
        for batch in batches:
            compete(best, [(rank[i], tokens[i]) for i in batch], target)
        return [ranked[position] for position in best]
    selected: list[int] = []
    for batch in batches:
        selected = fill(sorted(selected + batch, key=rank.__getitem__), tokens, target)
    return selected


def compete(selected: SortedSums[_Key], batch: Iterable[tuple[_Key, int]], target: int) -> list[_Key]:
    """Let a batch compete with the selection, as if both were sorted together and the target were filled again.

    `selected` has the tokens by rank, and is changed; `batch` the ranks and tokens of the new items, the best first.
    Returns the ranks that are not selected: dropped old ones, and rejected new ones.
    """
    # Filling again would only find which new items fit after those ranked before them, and which old ones no longer
    # fit: the first whose running sum exceeds the target, and so on. So that is computed directly.
    out: list[_Key] = []

    def drop_first_above() -> None:
        worst = selected.first_above(target)
        selected.remove(worst)
        out.append(worst)

    for rank, tokens in batch:
        while (before := selected.before(rank)) > target:
            drop_first_above()
        if before + tokens <= target:
            selected.add(rank, tokens)
        else:
            out.append(rank)
    while selected.total > target:
        drop_first_above()
    return out
