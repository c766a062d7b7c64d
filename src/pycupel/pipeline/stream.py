"""Select from items that arrive over time: the stages run for each batch, and Place at the end."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from math import isnan
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pycupel.diagnostics import ExclusionReason, PinnedOverride
from pycupel.errors import PipelineConfigError
from pycupel.kernels.sums import SortedSums
from pycupel.model import ContextBudget, ContextItem
from pycupel.pipeline.classify import Classified, check_pinned_budget, classify_items
from pycupel.pipeline.deduplicate import beats, deduplicate_items
from pycupel.pipeline.place import Placement, place_items
from pycupel.pipeline.rank import Ranking, input_positions
from pycupel.pipeline.score import score_items
from pycupel.pipeline.selection import Selection
from pycupel.pipeline.slice import Sliced
from pycupel.pipeline.sort import sort_items
from pycupel.pipeline.trace import UNTRACED, NoteSources, Trace
from pycupel.placers._base import reads_positions
from pycupel.scorers._query import bind_stream
from pycupel.slicers import CountConstrainedKnapsackSlice, CountQuotaSlice, QuotaSlice, StreamSlice
from pycupel.slicers.stream import compete

if TYPE_CHECKING:
    from pycupel.pipeline.policy import Policy

__all__ = ["Stream", "streaming_sources"]

# A sort key that puts the best first, NaN last, and ties in input order: is NaN, negative score, index.
Rank = tuple[bool, float, int]

_CLASSIFY, _SCORE, _DEDUPLICATE, _SLICE = range(4)


def streaming_sources(sources: NoteSources) -> NoteSources:
    """Return the strategies of a pipeline for a stream.

    Raises:
        PipelineConfigError: the slicer has quotas.
    """
    slicer: Any = sources.slicer
    inner = slicer
    while inner is not None:
        if isinstance(inner, QuotaSlice | CountQuotaSlice | CountConstrainedKnapsackSlice):
            raise PipelineConfigError(
                f"a stream cannot use a {type(inner).__name__}, because quotas are shares of all items; "
                "collect the items and use run, or use a StreamSlice",
                argument="slicer",
            )
        inner = getattr(inner, "inner", None)
    scorer = bind_stream(sources.scorer)
    if isinstance(slicer, StreamSlice):
        return replace(sources, scorer=scorer)
    note = (
        f"{type(slicer).__name__} must see all items, so the stream was selected with StreamSlice(); "
        "pass a StreamSlice, with replace=True if the selection is only needed at the end"
    )
    return replace(sources, scorer=scorer, slicer=StreamSlice(), remarks=(*sources.remarks, note))


class Stream:
    """The selection so far. Without a collector, nothing else is kept.

    Scoreable items are identified by their index among all scoreable items.
    """

    def __init__(self, policy: Policy, budget: ContextBudget, trace: Trace, sources: NoteSources) -> None:
        self._policy = policy
        self._budget = budget
        self._trace = trace
        self._sources = sources
        self._slicer: Any = sources.slicer
        self._recording = trace is not UNTRACED
        self._pinned: list[ContextItem] = []
        self._pinned_after: list[int] = []
        self._pinned_tokens = 0
        self._pinned_contents: set[str] = set()
        self._invalid: list[ContextItem] = []
        self._pulled = 0
        self._count = 0
        self._items: dict[int, ContextItem] = {}
        self._scores: dict[int, float] = {}
        self._selected = SortedSums[Rank]()
        self._holders: dict[str, Rank] = {}
        self._duplicates: list[int] = []
        self._displaced: dict[int, ExclusionReason] = {}
        self._seconds = [0.0] * 4
        self._mark = 0.0

    @property
    def batch_size(self) -> int:
        """How many items a batch has."""
        return self._slicer.batch_size  # type: ignore[no-any-return]

    @property
    def selected_so_far(self) -> list[ContextItem]:
        """The pinned items, then the selected ones, best score first."""
        return [*self._pinned, *(self._items[rank[2]] for rank in self._selected)]

    def take(self, batch: list[Any]) -> bool:
        """Run the stages on a batch. Returns whether more items can change the selection."""
        self._mark = perf_counter() if self._recording else 0.0
        classified = self._classify(batch)
        self._lap(_CLASSIFY)
        scores = self._score(classified.scoreable)
        self._lap(_SCORE)
        candidates = self._deduplicate(classified.scoreable, scores)
        self._lap(_DEDUPLICATE)
        self._slice(classified.scoreable, candidates)
        self._lap(_SLICE)
        return self._slicer.replace or self._selected.total < self._target

    @property
    def _target(self) -> int:
        return self._budget.effective(self._pinned_tokens).target_tokens

    def _classify(self, batch: list[Any]) -> Classified:
        classified = classify_items(batch, name="source", first=self._pulled)
        self._pulled += len(batch)
        # Checked before they are added, because the error carries what was selected so far, which must fit.
        check_pinned_budget(self._pinned_tokens + classified.pinned_tokens, self._budget)
        self._pinned += classified.pinned
        self._pinned_after += [self._count + before for before in classified.pinned_after]
        self._pinned_tokens += classified.pinned_tokens
        if self._recording:
            self._invalid += classified.invalid
        if classified.pinned:
            self._make_room(classified.pinned)
        return classified

    def _make_room(self, pinned: Sequence[ContextItem]) -> None:
        """Drop the lowest scores for pinned items, and duplicates of them if the policy says so."""
        if self._policy.dedupe_against_pinned:
            for item in pinned:
                self._pinned_contents.add(item.content)
                if item.content in self._holders:
                    self._drop_duplicate(self._holders[item.content])
        excess = self._selected.total - self._target
        displaced: list[Rank] = []
        for rank in reversed(self._selected):
            if excess <= 0:
                break
            if self._selected[rank]:
                displaced.append(rank)
                excess -= self._selected[rank]
        for rank in displaced:
            self._selected.remove(rank)
            if self._recording:
                self._displaced[rank[2]] = PinnedOverride(pinned[0].content)
            self._forget(rank)

    def _score(self, scoreable: tuple[ContextItem, ...]) -> list[float]:
        columns = self._trace.columns
        if columns is None:
            return score_items(scoreable, self._sources.scorer)
        found: dict[int, list[float]] = {}
        scores = score_items(scoreable, self._sources.scorer, found)
        for key, column in found.items():
            columns.setdefault(key, []).extend(column)
        return scores

    def _deduplicate(self, scoreable: Sequence[ContextItem], scores: Sequence[float]) -> list[Rank]:
        """Return the ranks of the items that duplicate no pinned, selected, or better item of the batch."""
        kept, duplicates = deduplicate_items(
            scoreable, scores, enabled=self._policy.deduplication, taken=self._pinned_contents
        )
        candidates: list[Rank] = []
        for i in kept:
            holder = self._holders.get(scoreable[i].content)
            if holder is not None:
                if not (self._slicer.replace and beats(scores[i], self._scores[holder[2]])):
                    duplicates.append(i)
                    continue
                self._drop_duplicate(holder)
            score = scores[i]
            candidates.append((True, 0.0, self._count + i) if isnan(score) else (False, -score, self._count + i))
        for i, (item, score) in enumerate(zip(scoreable, scores, strict=True)):
            self._items[self._count + i] = item
            self._scores[self._count + i] = score
        for i in duplicates:
            self._duplicate(self._count + i)
        self._count += len(scoreable)
        return sorted(candidates)

    def _slice(self, scoreable: Sequence[ContextItem], candidates: Sequence[Rank]) -> None:
        first, target = self._count - len(scoreable), self._target
        offers = [(rank, scoreable[rank[2] - first].tokens) for rank in candidates]
        out: list[Rank] = []
        if target <= 0:
            out += candidates
        elif self._slicer.replace:
            out += compete(self._selected, offers, target)
        else:
            for rank, tokens in offers:
                if self._selected.total + tokens <= target:
                    self._selected.add(rank, tokens)
                else:
                    out.append(rank)
        if self._policy.deduplication:
            self._holders.update((self._items[rank[2]].content, rank) for rank in candidates)
        for rank in out:
            self._forget(rank)

    def _drop_duplicate(self, rank: Rank) -> None:
        self._selected.remove(rank)
        self._holders.pop(self._items[rank[2]].content)
        self._duplicate(rank[2])

    def _duplicate(self, index: int) -> None:
        if self._recording:
            self._duplicates.append(index)
        else:
            del self._items[index], self._scores[index]

    def _forget(self, rank: Rank) -> None:
        """Release the content of an item that is no longer selected and, unless recording, the item itself."""
        self._holders.pop(self._items[rank[2]].content, None)
        if not self._recording:
            del self._items[rank[2]], self._scores[rank[2]]

    def _lap(self, stage: int) -> None:
        if self._recording:
            now = perf_counter()
            self._seconds[stage] += now - self._mark
            self._mark = now

    def finish(self) -> Selection:
        """Run the last stage, and return the results as if all items had arrived at once."""
        trace = self._trace
        classified = self._classified(tuple(self._items.values()))
        trace.resume(self._seconds[_CLASSIFY])
        trace.classified(classified)
        scores = list(self._scores.values())
        trace.resume(self._seconds[_SCORE])
        trace.scored(classified, scores)
        ranking = self._ranking(classified, scores)
        trace.resume(self._seconds[_SLICE])
        sliced = self._sliced(ranking)
        trace.sliced(ranking, sliced)
        placement = self._placement(ranking, sliced.selected)
        trace.placed(ranking, placement)
        return Selection(ranking, sliced, placement, self._budget, trace)

    def _classified(self, scoreable: tuple[ContextItem, ...]) -> Classified:
        known = list(self._items)
        after = [bisect_left(known, index) for index in self._pinned_after]
        return Classified(self._pinned, scoreable, self._invalid, self._pinned_tokens, after)

    def _ranking(self, classified: Classified, scores: list[float]) -> Ranking:
        duplicates = sorted(self._duplicates)
        self._trace.resume(self._seconds[_DEDUPLICATE])
        self._trace.deduplicated(classified, scores, duplicates)
        is_duplicate = set(duplicates)
        order = sort_items(scores, [i for i in range(len(scores)) if i not in is_duplicate])
        items = [classified.scoreable[i] for i in order]
        ranked = [scores[i] for i in order]
        return Ranking(classified, items, ranked, scores, order, duplicates, self._trace, self._sources.scorer)

    def _sliced(self, ranking: Ranking) -> Sliced:
        known = list(self._items)
        indices = [known[i] for i in ranking.order]
        selected = {rank[2] for rank in self._selected}
        is_selected = bytearray(index in selected for index in indices)
        displaced = {i: self._displaced[index] for i, index in enumerate(indices) if index in self._displaced}
        effective = self._budget.effective(self._pinned_tokens)
        return Sliced(effective, [i for i, is_in in enumerate(is_selected) if is_in], is_selected, (), displaced)

    def _placement(self, ranking: Ranking, chosen: Sequence[int]) -> Placement:
        return place_items(
            self._pinned,
            [ranking.items[i] for i in chosen],
            [ranking.scores[i] for i in chosen],
            self._budget,
            self._policy.overflow_strategy,
            self._sources.placer,
            input_positions(ranking, chosen) if reads_positions(self._sources.placer) else None,
        )

    def failed(self, error: BaseException) -> None:
        """Notify the collector, and attach what was selected so far to the error."""
        self._trace.failed(error)
        # Some exceptions do not accept attributes.
        with suppress(AttributeError, TypeError):
            error.selected_so_far = self.selected_so_far  # type: ignore[attr-defined]
