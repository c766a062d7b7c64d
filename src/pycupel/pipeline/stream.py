"""Select from items that arrive over time: the stages run for each batch, and Place at the end.

`pull` and `pull_async` feed a `Stream` from its source, batch by batch, and close the source whatever happens.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from math import isnan
from sys import maxsize
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

from pycupel.diagnostics import ExclusionReason, PinnedOverride
from pycupel.errors import PipelineConfigError
from pycupel.kernels.scores import SortedSums
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import checked_iterable, wrong_type
from pycupel.pipeline.classify import Classified, check_pinned_budget, classify_items
from pycupel.pipeline.deduplicate import beats, compares_normalized, deduplicate_items, merge_documents, normalized
from pycupel.pipeline.explain import CLASSIFY, DEDUPLICATE, PLACE, SCORE, SLICE
from pycupel.pipeline.place import place_items
from pycupel.pipeline.policy import NORMALIZED
from pycupel.pipeline.record import Ranking, Run, Selection, Strategies
from pycupel.pipeline.score import score_items
from pycupel.pipeline.slice import Sliced
from pycupel.pipeline.sort import sort_items
from pycupel.scorers._base import bind_stream
from pycupel.slicers import CountConstrainedKnapsackSlice, CountQuotaSlice, QuotaSlice, StreamSlice
from pycupel.slicers.greedy import compete

if TYPE_CHECKING:
    from pycupel.pipeline.policy import Policy

# What copies of an item have in common with it: their content, or their normalized content.
_Key = str | tuple[str]

# A sort key that puts the best first, NaN last, and ties in input order: is NaN, negative score, index.
Rank = tuple[bool, float, int]


def streaming_strategies(strategies: Strategies) -> Strategies:
    """Return the strategies of a pipeline for a stream."""
    slicer: Any = strategies.slicer
    inner = slicer
    while inner is not None:
        if isinstance(inner, QuotaSlice | CountQuotaSlice | CountConstrainedKnapsackSlice):
            raise PipelineConfigError(
                f"a stream cannot use a {type(inner).__name__}, because quotas are shares of all items; "
                "collect the items and use run, or use a StreamSlice",
                argument="slicer",
            )
        inner = getattr(inner, "inner", None)
    remarks: tuple[str, ...] = ()
    if not isinstance(slicer, StreamSlice):
        note = (
            f"{type(slicer).__name__} must see all items, so the stream was selected with StreamSlice(); "
            "pass a StreamSlice, with replace=True if the selection is only needed at the end"
        )
        slicer, remarks = StreamSlice(), (note,)
    return Strategies(
        bind_stream(strategies.scorer),
        slicer,
        strategies.placer,
        strategies.query,
        ignores_query=strategies.ignores_query,
        remarks=remarks,
    )


class Stream:
    """The selection so far. Without a collector, nothing else is kept.

    Scoreable items are identified by their index among all scoreable items.
    """

    def __init__(self, policy: Policy, budget: ContextBudget, run: Run) -> None:
        self._policy = policy
        self._budget = budget
        self._run = run
        self._slicer: Any = run.strategies.slicer
        self._recording = run.recorded
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
        self._holders: dict[_Key, Rank] = {}
        self._normalizes = policy.deduplication == NORMALIZED
        self._copies: dict[str, str] = {}
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
        self._lap(CLASSIFY)
        scores = self._score(classified.scoreable)
        self._lap(SCORE)
        # A better duplicate may drop a selected item here, so there may be more room when the batch is sliced.
        candidates = self._deduplicate(classified.scoreable, scores)
        self._lap(DEDUPLICATE)
        self._slice(classified.scoreable, candidates)
        self._lap(SLICE)
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
                for rank in self._held(item):
                    self._drop_duplicate(rank, item.content)
        # The pinned items have made the target smaller.
        excess = self._selected.total - self._target
        displaced: list[Rank] = []
        for rank in reversed(self._selected):
            if excess <= 0:
                break
            # Dropping an item without tokens would make no room.
            if self._selected[rank]:
                displaced.append(rank)
                excess -= self._selected[rank]
        for rank in displaced:
            self._selected.remove(rank)
            if self._recording:
                self._displaced[rank[2]] = PinnedOverride(pinned[0].content)
            self._forget(rank)

    def _score(self, scoreable: tuple[ContextItem, ...]) -> list[float]:
        columns = self._run.columns
        if columns is None:
            return score_items(scoreable, self._run.strategies.scorer)
        found: dict[int, list[float]] = {}
        scores = score_items(scoreable, self._run.strategies.scorer, found)
        # The scores of a batch follow those of the batches before it.
        for key, column in found.items():
            columns.setdefault(key, []).extend(column)
        return scores

    def _deduplicate(self, scoreable: Sequence[ContextItem], scores: Sequence[float]) -> list[Rank]:
        """Return the ranks of the items that duplicate no pinned, selected, or better item of the batch."""
        kept, duplicates = deduplicate_items(
            scoreable, scores, enabled=bool(self._policy.deduplication), taken=self._pinned_contents
        )
        if self._normalizes:
            pinned = self._pinned if self._pinned_contents else ()
            kept, duplicates, copies = merge_documents(scoreable, scores, kept, duplicates, pinned)
            self._copies |= copies if self._recording else {}
        candidates: list[Rank] = []
        for i in kept:
            score, content = scores[i], scoreable[i].content
            held = self._held(scoreable[i])
            better = [rank for rank in held if not (self._slicer.replace and beats(score, self._scores[rank[2]]))]
            if better:
                self._name_copy(content, self._items[better[0][2]].content)
                duplicates.append(i)
                continue
            for rank in held:
                self._drop_duplicate(rank, content)
            # It may have lost in an earlier batch. Now it is the one that others lose to.
            self._copies.pop(content, None)
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
        # Even those that were not selected: they are forgotten right below.
        if self._policy.deduplication:
            self._holders.update((key, rank) for rank in candidates for key in self._keys(self._items[rank[2]]))
        for rank in out:
            self._forget(rank)

    def _keys(self, item: ContextItem) -> tuple[_Key, ...]:
        content = item.content
        return (content, (normalized(content),)) if self._normalizes and compares_normalized(item) else (content,)

    def _held(self, item: ContextItem) -> list[Rank]:
        """Return the selected items that are copies of this one, the best first."""
        return sorted({self._holders[key] for key in self._keys(item) if key in self._holders})

    def _name_copy(self, content: str, kept: str) -> None:
        if self._recording and content != kept:
            self._copies[content] = kept

    def _drop_duplicate(self, rank: Rank, kept: str) -> None:
        item = self._items[rank[2]]
        self._selected.remove(rank)
        for key in self._keys(item):
            del self._holders[key]
        self._name_copy(item.content, kept)
        self._duplicate(rank[2])

    def _duplicate(self, index: int) -> None:
        if self._recording:
            self._duplicates.append(index)
        else:
            del self._items[index], self._scores[index]

    def _forget(self, rank: Rank) -> None:
        """Release the content of an item that is no longer selected and, unless recording, the item itself."""
        for key in self._keys(self._items[rank[2]]):
            self._holders.pop(key, None)
        if not self._recording:
            del self._items[rank[2]], self._scores[rank[2]]

    def _lap(self, stage: int) -> None:
        if self._recording:
            now = perf_counter()
            self._seconds[stage] += now - self._mark
            self._mark = now

    def finish(self) -> Selection:
        """Run the last stage, and return the record of the run as if all items had arrived at once."""
        run, ranking = self._run, Ranking(self._run)
        known = list(self._items)
        # Without a collector, only the selected items are known: a pinned one stays where it was among these.
        after = [bisect_left(known, index) for index in self._pinned_after]
        items = tuple(self._items.values())
        ranking.classified = Classified(self._pinned, items, self._invalid, self._pinned_tokens, after)
        self._complete(CLASSIFY, ranking, len(self._pinned) + len(items))
        ranking.all_scores = scores = list(self._scores.values())
        self._complete(SCORE, ranking, len(scores))
        ranking.duplicates = sorted(self._duplicates)
        # What a content lost to may have lost itself, in a later batch.
        for content, winner in self._copies.items():
            while winner in self._copies:
                winner = self._copies[winner]  # noqa: PLW2901 - the last of a chain is wanted
            self._copies[content] = winner
        ranking.copies = self._copies
        is_duplicate = set(ranking.duplicates)
        kept = [i for i in range(len(scores)) if i not in is_duplicate]
        self._complete(DEDUPLICATE, ranking, len(kept))
        ranking.order = sort_items(scores, kept)
        ranking.items = [items[i] for i in ranking.order]
        ranking.scores = [scores[i] for i in ranking.order]
        selection = Selection(ranking, self._budget, run)
        selection.sliced = sliced = self._sliced([known[i] for i in ranking.order])
        self._complete(SLICE, selection, len(sliced.selected))
        placement = place_items(selection, self._policy.overflow_strategy, run.strategies.placer)
        selection.placement = placement
        run.completed(PLACE, selection, len(placement.order))
        return selection

    def _complete(self, stage: int, record: Ranking | Selection, count: int) -> None:
        """Note that a stage has completed, with the time that it took for all batches."""
        self._run.backdate(self._seconds[stage])
        self._run.completed(stage, record, count)

    def _sliced(self, indices: Sequence[int]) -> Sliced:
        selected = {rank[2] for rank in self._selected}
        is_selected = bytearray(index in selected for index in indices)
        displaced = {i: self._displaced[index] for i, index in enumerate(indices) if index in self._displaced}
        effective = self._budget.effective(self._pinned_tokens)
        return Sliced(effective, [i for i, is_in in enumerate(is_selected) if is_in], is_selected, (), displaced)

    def failed(self, error: BaseException) -> None:
        """Notify the collector, and attach what was selected so far to the error."""
        self._run.failed(error)
        # Some exceptions do not accept attributes.
        with suppress(AttributeError, TypeError):
            error.selected_so_far = self.selected_so_far  # type: ignore[attr-defined]


def pull(stream: Stream, source: Iterable[ContextItem]) -> Selection:
    """Feed the stream until it has enough, and close the source."""
    iterator: Iterator[ContextItem] | None = None
    # The largest number that islice accepts.
    size = min(stream.batch_size, maxsize)
    try:
        iterator = iter(checked_iterable("source", "an iterable of ContextItem", source))
        while (batch := list(islice(iterator, size))) and stream.take(batch):
            pass
        selection = stream.finish()
    except BaseException as error:
        stream.failed(error)
        with suppress(Exception):
            close(iterator)
        raise
    close(iterator)
    return selection


async def pull_async(stream: Stream, source: AsyncIterable[ContextItem]) -> Selection:
    """Feed the stream until it has enough, and close the source."""
    iterator: Any = None
    try:
        if not isinstance(cast(Any, source), AsyncIterable):
            raise wrong_type("source", "an async iterable; run_stream_sync takes a plain one", source)  # noqa: TRY301
        iterator = source.__aiter__()
        while (batch := await _batch(iterator, stream.batch_size)) and stream.take(batch):
            pass
        selection = stream.finish()
    except BaseException as error:
        stream.failed(error)
        with suppress(Exception):
            await close_async(iterator)
        raise
    await close_async(iterator)
    return selection


async def _batch(iterator: AsyncIterator[ContextItem], size: int) -> list[ContextItem]:
    batch: list[ContextItem] = []
    while len(batch) < size:
        try:
            batch.append(await iterator.__anext__())
        except StopAsyncIteration:
            break
    return batch


def close(iterator: Any) -> None:
    """Close an iterator, if it can be closed."""
    method = getattr(iterator, "close", None)
    if method is not None:
        method()


async def close_async(iterator: Any) -> None:
    """Close an async iterator, if it can be closed."""
    method = getattr(iterator, "aclose", None)
    if method is not None:
        await method()
