"""Shorten a history: at a cut, old results become key lines, then stubs, before their exchange is dropped.

    0  user       Why does it fail?                                stays: the question of the turn
    1  assistant  calls read("app.log")   2  tool  900 lines       becomes its 12 lines with errors and names, or one
                                                                   line that says what was there
    3  assistant  calls read("a.py")      4  tool  200 lines       stays whole: it is one of the newest results

A cut decides about all units at once: each stays whole, gets shorter results, or is dropped, so that as much unique
information as possible stays. Its ladder says what each step down saves and loses. By that measure, an exchange with a
short result is worth little beside a line of a long one, so the newest exchanges, or all of them if they get small
enough, are never dropped for it. A shortened result stays as it is; a later cut may shorten it further.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from heapq import heapify, heappop, heapreplace
from typing import NamedTuple

from pycupel.diagnostics import BudgetExceeded, ExclusionReason
from pycupel.kernels.order import descending
from pycupel.kernels.versions import choose_versions
from pycupel.messages.conversations import units_finder
from pycupel.messages.cuts import Offer, cut, fill, never_dropped, without_lone_questions
from pycupel.messages.options import Options, Shortening, usual_if_named
from pycupel.messages.overlay import QUESTION, Key, Overlay, items_at
from pycupel.messages.room import (
    BASE_WORTH,
    ERROR_WEIGHT,
    FULL_PERCENT,
    LEAST_SHOWN,
    LEAST_TOKENS,
    SPOKEN_WEIGHT,
    STUB_WORTH,
    Room,
)
from pycupel.messages.tool_results import Result, stub_of, with_handle, without_media
from pycupel.model import ContextBudget, ContextItem
from pycupel.pipeline.shorten import item_versions, units_of_all
from pycupel.protocols import ShortenContext, Shortener, Slicer
from pycupel.scorers._base import score_all
from pycupel.shorten import ByFormat, HeadAndTail
from pycupel.shorten.by_format import WithEnds, form_of, is_json
from pycupel.shorten.key_lines import pieces_of, units_of
from pycupel.slicers._base import slice_by_index
from pycupel.slicers.knapsack import value_of

# Ladders: what each step saves and loses.


class _Step(NamedTuple):
    """What one more step saves and loses, and the text of the result after it."""

    saved: int
    lost: float
    key: Key
    text: str


class Ladder(NamedTuple):
    """The versions of a unit: whole first, then step by step."""

    size: int
    """The tokens of the unit now."""

    worth: float
    """How much information it has now."""

    rungs: Mapping[Key, Sequence[_Step]]
    """The steps of each result, by its key."""

    errors: frozenset[Key] = frozenset()
    """The keys of results that report errors."""

    def saves(self, key: Key) -> int:
        """Return the most tokens that a result can save."""
        return sum([step.saved for step in self.rungs.get(key, ())])

    @property
    def least(self) -> int:
        """Return the tokens of the unit with every result at its shortest."""
        return self.size - sum(map(self.saves, self.rungs))

    def without(self, keys: Collection[Key]) -> Ladder:
        """Return the ladder without the steps of these results."""
        if not self.rungs.keys() & set(keys):
            return self
        return self._replace(rungs={key: steps for key, steps in self.rungs.items() if key not in keys})

    def without_stubs(self, keys: Collection[Key]) -> Ladder:
        """Return the ladder without the last step of these results, if they have another."""
        return self._replace(
            rungs={key: steps[:-1] if key in keys and len(steps) > 1 else steps for key, steps in self.rungs.items()}
        )


def ladder_versions(ladder: Ladder) -> tuple[list[int], list[float], list[_Step]]:
    """Return the tokens and the worth of each version, and the steps between them, cheapest per token first."""
    sizes, worth, taken = [ladder.size], [ladder.worth], list[_Step]()
    heads = [(steps[0].lost / steps[0].saved, key, 0) for key, steps in ladder.rungs.items()]
    heapify(heads)
    while heads:
        _, key, k = heads[0]
        steps = ladder.rungs[key]
        taken.append(steps[k])
        sizes.append(sizes[-1] - steps[k].saved)
        worth.append(max(0.0, worth[-1] - steps[k].lost))
        if k + 1 < len(steps):
            heapreplace(heads, (steps[k + 1].lost / steps[k + 1].saved, key, k + 1))
        else:
            heappop(heads)
    return sizes, worth, taken


def ladder_of(
    size: int,
    results: Iterable[tuple[Result, ContextItem]],
    said: float,
    shortener: Shortener,
    context: ShortenContext,
    more: Sequence[Shortener] = (),
    recall: str = "",
    unread: Collection[Key] = (),
) -> Ladder:
    """Make the ladder of a unit.

    Args:
        size: The tokens of the unit now.
        results: The results that may be shortened, with their current texts.
        said: The units of information of its other text.
        shortener: Makes the versions.
        context: The competing items, and the counter.
        more: Shorteners that make further versions.
        recall: The name of the tool that gives results back; empty if there is none.
        unread: The results whose versions all have their heads and tails.
    """
    total = BASE_WORTH + SPOKEN_WEIGHT * said
    rungs: dict[Key, Sequence[_Step]] = {}
    errors: set[Key] = set()
    for result, item in results:
        own = item_versions(WithEnds() if result.key in unread else shortener, item, context)
        weight = ERROR_WEIGHT if result.part.failed else 1.0
        made = list(zip(own.shorter, own.units, strict=True))
        if more:
            others = () if type(shortener) is ByFormat and is_json(item, context) else more
            heads = [each for other in others for each in item_versions(other, item, context).shorter]
            made += [(each, own.whole * each.tokens / item.tokens) for each in heads]
            # More than a stub, and the more the longer, however little information it is by the shortener's measure.
            made = [(each, max(units, STUB_WORTH) + STUB_WORTH * each.tokens / item.tokens) for each, units in made]
        versions = [(each.tokens, units * weight, each.content) for each, units in made]
        if recall:
            texts = [(with_handle(text, result, recall), worth) for _, worth, text in versions]
            versions = [(context.count(item, text), worth, text) for text, worth in texts]
        stub = stub_of(result, item.tokens, recall)
        versions.append((context.count(item, stub), min(STUB_WORTH, own.whole) * weight, stub))
        steps = list(_steps(result.key, item.tokens, own.whole * weight, versions))
        total += own.whole * weight
        if steps:
            rungs[result.key] = steps
            if result.part.failed:
                errors.add(result.key)
    return Ladder(size, total, rungs, frozenset(errors))


def _steps(key: Key, tokens: int, worth: float, versions: list[tuple[int, float, str]]) -> Iterator[_Step]:
    """List the steps from the whole to the shortest version, without those that keep no more than a shorter one."""
    best: list[tuple[int, float, str]] = []
    for version in sorted(versions, key=lambda version: (version[0], -version[1])):
        if version[0] < tokens and (not best or version[1] > best[-1][1]):
            best.append(version)
    for size, held, text in reversed(best):
        yield _Step(tokens - size, max(0.0, worth - held), key, text)
        tokens, worth = size, min(worth, held)


# What results say and cost now.


def _text(overlay: Overlay, result: Result) -> str:
    return overlay.texts.get(result.message, {}).get(result.number, result.part.said or "")


def _tokens(overlay: Overlay, result: Result) -> int:
    """Return the current tokens of a result, including its images and files."""
    known = overlay.result_tokens
    if result.key not in known:
        text = _text(overlay, result)
        is_whole = result.number not in overlay.texts.get(result.message, {})
        known[result.key] = (overlay.count(text) if text else 0) + (result.part.beside if is_whole else 0)
    return known[result.key]


def _can_shorten(overlay: Overlay, shortening: Shortening, result: Result) -> bool:
    return result.call.name not in shortening.exclude and _tokens(overlay, result) >= LEAST_TOKENS


def _results_before(overlay: Overlay, units: Iterable[int], end: int) -> list[Result]:
    """Return the results of these units before a message, in order."""
    found = [result for i in units for result in overlay.results.get(i, ()) if result.message < end]
    return sorted(found, key=lambda result: result.key)


def _shorten_first(
    overlay: Overlay, shortening: Shortening, results: Iterable[Result], newest: Collection[Result], end: int
) -> None:
    """Shorten what is of least use: outdated results become stubs, and old images and files a line."""
    texts: dict[Key, str] = {}
    new = {result.key for result in newest}
    for result in results:
        if result.key in new or result.part.failed or not _can_shorten(overlay, shortening, result):
            continue
        tokens = _tokens(overlay, result)
        is_old = result.outdated_at is not None and result.outdated_at < end
        media = 0 if result.number in overlay.texts.get(result.message, {}) else result.part.beside
        if is_old or media:
            text = stub_of(result, tokens, shortening.recall) if is_old else without_media(result, media)
            if overlay.count(text) < tokens:
                texts[result.key] = text
    overlay.say(texts)


# The two ways to shorten: to make fit what must stay, and at a cut.


class _Choice(NamedTuple):
    """The chosen version of each unit: its tokens, the texts of its results, and its value."""

    sizes: Mapping[int, int]
    texts: Mapping[int, Mapping[Key, str]]
    values: Mapping[int, int]


def make_fit(overlay: Overlay, room: Room, options: Options, must: Collection[int], end: int, /) -> None:
    """Shorten what must stay, before the message `end`, until it fits and leaves room to grow.

    These are the results; if they do not fit even at their shortest, and the caller wants it, also the longest text of
    the last user message. A result becomes a stub only if not even a little of its head and its tail fits.
    """
    shortening = options.shortening
    assert shortening is not None  # noqa: S101 - the caller asks for it
    space = room.window - room.held
    units = sorted(must)
    results = _results_before(overlay, units, end)
    # Newest first: they stay whole while they fit.
    newest = results[::-1][: shortening.keep]
    _shorten_first(overlay, shortening, results, newest, end)
    if overlay.tokens_of(must, end) <= space:
        return
    free = [result for result in results if _can_shorten(overlay, shortening, result)]
    ladders = _ladders_to_fit(overlay, shortening, units, free, newest, end, space)
    with_heads = {i: ladder.without_stubs(ladder.rungs) for i, ladder in ladders.items()}
    excess = sum([ladder.least for ladder in with_heads.values()]) - space
    if excess > 0 and shortening.question_to_fit and _shorten_question(overlay, room, must, end, excess):
        make_fit(overlay, room, options, must, end)
        return
    least = _avoid_stubs(ladders, free, space)
    goal = min(space, room.target_for(least))
    spare = goal - least
    kept: list[Key] = []
    for result in newest:
        extra = ladders[result.unit].saves(result.key)
        if extra <= spare:
            spare -= extra
            kept.append(result.key)
    ladders = {i: ladder.without(kept) for i, ladder in ladders.items()}
    scores = {i: (n + 1) / len(units) for n, i in enumerate(units)}
    choice = _choose(overlay, ladders, scores, goal, units)
    for texts in choice.texts.values():
        overlay.say(texts)
    # Shorter texts may have saved too little, as their messages are JSON: then the oldest results become stubs, also
    # those that are small since an earlier call.
    for result in results:
        if overlay.tokens_of(must, end) <= space:
            return
        is_shorter = result.number in overlay.texts.get(result.message, {})
        if not (is_shorter or _can_shorten(overlay, shortening, result)):
            continue
        stub = stub_of(result, _tokens(overlay, result), shortening.recall)
        if overlay.count(stub) < _tokens(overlay, result):
            overlay.say({result.key: stub})


def _avoid_stubs(ladders: dict[int, Ladder], free: Sequence[Result], space: int) -> int:
    """Take the stubs out of the ladders, of the newest results first, while the rest fits. Return what is needed."""
    least = sum([ladder.least for ladder in ladders.values()])
    for result in reversed(free):
        ladder = ladders[result.unit]
        without = ladder.without_stubs([result.key])
        more = without.least - ladder.least
        if least + more <= space:
            least += more
            ladders[result.unit] = without
    return least


def _ladders_to_fit(
    overlay: Overlay,
    shortening: Shortening,
    units: Sequence[int],
    free: Sequence[Result],
    newest: Collection[Result],
    end: int,
    space: int,
) -> dict[int, Ladder]:
    """Make the ladders of units that must stay: also with the head and the tail of results, in many sizes."""
    sizes = [space >> halvings for halvings in range(space.bit_length())]
    heads = [HeadAndTail(each) for each in (*(each for each in sizes if each > LEAST_SHOWN), LEAST_SHOWN)]
    unread: set[Key] = set()
    if type(shortening.shortener) in (type(None), str, ByFormat):
        unread = {each.key for each in newest}
        shortening = shortening._replace(shortener=ByFormat())
    return _ladders(overlay, shortening, units, free, (), end, heads, unread)


def _shorten_question(overlay: Overlay, room: Room, must: Collection[int], end: int, excess: int) -> bool:
    """Shorten the longest text of the last user message by at least this many tokens; False if it cannot be."""
    history = overlay.history
    asked = [n for n, role, unit in history.appearances if role == "user" and n < end and unit in must]
    place = overlay.question(asked[-1]) if asked else None
    if place is None:
        return False
    key, space = (asked[-1], QUESTION), room.window - room.held
    text = overlay.texts.get(asked[-1], {}).get(QUESTION, place[1])
    item = ContextItem(text or " ", overlay.count(text))
    others = space - (item.tokens - excess)
    size = max(LEAST_SHOWN, min(space, room.target_for(others)) - others)
    for version in HeadAndTail(size).shorten(item, ShortenContext([item], (), overlay.count)):
        overlay.say({key: version.content})
        return True
    return False


def shorten(overlay: Overlay, room: Room, options: Options, offer: Offer) -> dict[int, ExclusionReason]:
    """Return the units to drop, with reasons, and shorten the others. The arguments are those of `cut`."""
    shortening = options.shortening
    assert shortening is not None  # noqa: S101 - the caller asks for it
    history, end = overlay.history, offer.end
    rest, reserve = room.goal(offer.pinned_tokens, offer.must_tokens)
    limit = max(0, rest - reserve)
    units = [i for i in offer.units if i not in offer.pinned]
    results = _results_before(overlay, offer.units, end)
    # Newest first: they stay whole while they fit.
    newest = results[::-1][: shortening.keep]
    kept = _newest_whole(overlay, shortening, newest, offer.pinned, limit)
    free = [each for each in results if each.unit not in offer.pinned and each.key not in kept]
    _shorten_first(overlay, shortening, free, newest, end)
    free = [result for result in free if _can_shorten(overlay, shortening, result)]
    if not free:
        # A conversation in which nothing can get shorter is cut like any other: in one piece, oldest first. To choose
        # by information would make holes in it, as everyday words count little.
        return cut(overlay, room, options, offer)
    scores = dict(zip(units, score_all(options.scorer, tuple(overlay.items(units))), strict=True))
    staying = [i for i in offer.units if i in offer.pinned]
    ladders = _ladders(overlay, shortening, units, free, staying, end)
    required = _required(overlay, ladders, {result.unit for result in newest if result.key in kept}, limit)
    # Results that report errors stay whole if it is enough to shorten the others.
    errors_whole = {i: ladder.without(ladder.errors) for i, ladder in ladders.items()}
    if sum([ladder.least for ladder in errors_whole.values()]) <= limit:
        ladders = errors_whole
    choice = _fitting(overlay, ladders, scores, limit, required)
    order = _order(choice, required, units)
    capped: dict[int, ExclusionReason] = {}
    if options.slicer is not None:
        order, capped = _within_policy(overlay, options.slicer, order, choice, scores, rest)
    sizes = [choice.sizes.get(i, size) for i, size in enumerate(overlay.sizes)]
    taken = fill(order, sizes, history.ties, limit, in_one_piece=False)
    taken = without_lone_questions(taken, history.ties, history.answers, offer.begun)
    left = limit - sum([sizes[i] for i in taken])
    if options.slicer is None and left * 100 > limit * (100 - FULL_PERCENT):
        for i, ladder in ladders.items():
            sizes[i] = ladder.least
        taken |= fill([i for i in reversed(units) if i not in taken], sizes, history.ties, left, in_one_piece=False)
        taken = without_lone_questions(taken, history.ties, history.answers, offer.begun)
        choice = _fitting(overlay, {i: ladders[i] for i in units if i in taken}, scores, limit, taken)
    for i in taken:
        overlay.say(choice.texts.get(i, {}))
    left = max(0, limit - overlay.tokens_of(taken))
    return {i: capped.get(i) or BudgetExceeded(overlay.sizes[i], left) for i in units if i not in taken}


def _newest_whole(
    overlay: Overlay, shortening: Shortening, newest: Sequence[Result], pinned: Collection[int], limit: int
) -> set[Key]:
    """Return the newest results that fit together with the rest of their units."""
    kept: set[Key] = set()
    seen: set[int] = set()
    left = limit
    for result in newest:
        i = result.unit
        if i in pinned:
            continue
        needed = _tokens(overlay, result)
        if i not in seen:
            others = [each for each in overlay.results[i] if _can_shorten(overlay, shortening, each)]
            needed += overlay.sizes[i] - sum([_tokens(overlay, each) for each in others])
        if needed <= left:
            kept.add(result.key)
            left -= needed
            seen.add(i)
    return kept


def _required(overlay: Overlay, ladders: Mapping[int, Ladder], whole: Collection[int], limit: int) -> list[int]:
    """Return the units that must not be dropped: those with results that stay whole, and others that get small."""
    sizes = overlay.sizes.copy()
    for i, ladder in ladders.items():
        sizes[i] = ladder.least
    left = limit - sum([sizes[i] for i in whole])
    others = [i for i in reversed(list(ladders)) if i not in whole]
    return sorted({*whole, *never_dropped(others, sizes, overlay.history.ties, limit, left)})


# About the results and the lines of a window of a million tokens.
_REMEMBERED_TEXTS = 2**10
_REMEMBERED_LINES = 2**16


def _ladders(
    overlay: Overlay,
    shortening: Shortening,
    units: Sequence[int],
    free: Sequence[Result],
    staying: Sequence[int],
    end: int,
    more: Sequence[Shortener] = (),
    unread: Collection[Key] = (),
) -> dict[int, Ladder]:
    """Make the ladders of these units, whose results in `free` may be shortened. The texts of `staying` stay anyway.

    With `more`, other shorteners make further versions; all versions of the results in `unread` have their heads and
    tails.
    """
    history, shortener, recall = overlay.history, usual_if_named(shortening.shortener), shortening.recall
    assert shortener is not None  # noqa: S101 - without one, the caller chooses it
    own: dict[int, list[tuple[Result, ContextItem]]] = {}
    for result in free:
        item = ContextItem(_text(overlay, result) or " ", _tokens(overlay, result))
        own.setdefault(result.unit, []).append((result, item))
    messages_to_shorten = {result.message for result in free}

    def text_of(unit: int) -> str:
        indices = history.units[unit].indices
        return "\n".join([overlay.text_of(n) for n in indices if n < end and n not in messages_to_shorten])

    said = {i: text_of(i) for i in units}
    spoken = {i: ContextItem(text, 1) for i, text in said.items() if text}
    items: list[ContextItem] = []
    for i in units:
        items += [spoken[i]] if i in spoken else []
        items += [item for _, item in own.get(i, ())]
    # What the newest user message asks for is kept before the rest of a listing.
    asked = [n for n, role, _ in history.appearances if role == "user" and n < end]
    query = overlay.text_of(asked[-1]) if asked else None
    context = ShortenContext(items, [text_of(i) for i in staying], overlay.count, query)
    if not overlay.memo:
        # Most texts and lines are there at several cuts.
        overlay.memo[form_of] = lru_cache(_REMEMBERED_TEXTS)(form_of)
        overlay.memo[pieces_of] = lru_cache(_REMEMBERED_TEXTS)(pieces_of)
        overlay.memo[units_of] = lru_cache(_REMEMBERED_LINES)(units_finder(units_of))
    context.memo |= overlay.memo
    units_said = dict(zip(spoken, units_of_all(shortener, spoken.values(), context), strict=True))
    sizes = {i: overlay.tokens_of([i], end) for i in units}
    return {
        i: ladder_of(sizes[i], own.get(i, ()), units_said.get(i, 0.0), shortener, context, more, recall, unread)
        for i in units
    }


def _fitting(
    overlay: Overlay,
    ladders: Mapping[int, Ladder],
    scores: Mapping[int, float],
    limit: int,
    required: Collection[int],
) -> _Choice:
    """Choose again with less room if shorter texts have saved too little, as their messages are JSON."""
    choice = _choose(overlay, ladders, scores, limit, required)
    excess = sum(choice.sizes.values()) - limit
    return _choose(overlay, ladders, scores, max(0, limit - excess), required) if excess > 0 else choice


def _choose(
    overlay: Overlay,
    ladders: Mapping[int, Ladder],
    scores: Mapping[int, float],
    limit: int,
    required: Collection[int],
) -> _Choice:
    """Choose a version of each unit, so that they fit and keep as much as possible."""
    # Newest first: they are the first to be lengthened again if there is room.
    units = list(reversed(list(ladders)))
    rungs = [ladder_versions(ladders[i]) for i in units]
    weights = [sizes for sizes, _, _ in rungs]
    values = [[value_of(each, scores[i]) for each in own] for i, (_, own, _) in zip(units, rungs, strict=True)]
    needed = set(required)
    chosen = choose_versions(weights, values, limit, [k for k, i in enumerate(units) if i in needed]).versions
    sizes: dict[int, int] = {}
    texts: dict[int, dict[Key, str]] = {}
    found: dict[int, int] = {}
    for k, i in enumerate(units):
        version = chosen[k]
        if version < 0 and i in needed:
            version = len(weights[k]) - 1
        if version >= 0:
            texts[i] = {step.key: step.text for step in rungs[k][2][:version]}
            sizes[i] = overlay.size_with(i, texts[i]) if texts[i] else ladders[i].size
            found[i] = values[k][version]
    return _Choice(sizes, texts, found)


def _order(choice: _Choice, required: Sequence[int], units: Sequence[int]) -> list[int]:
    """Return the order in which to take units: the newest results, then the most value per token.

    Units that were not chosen come last, newest first: others may depend on them, and there may be room.
    """
    chosen = [i for i in choice.sizes if i not in required]
    density = [choice.values[i] / max(1, choice.sizes[i]) for i in chosen]
    left = [i for i in reversed(units) if i not in choice.sizes and i not in required]
    return [*reversed(required), *(chosen[k] for k in descending(density)), *left]


def _within_policy(
    overlay: Overlay,
    slicer: Slicer,
    order: Sequence[int],
    choice: _Choice,
    scores: Mapping[int, float],
    rest: int,
) -> tuple[list[int], dict[int, ExclusionReason]]:
    """Return the units that the policy's slicer accepts, and the reasons for the others."""
    ranked = [order[k] for k in descending([scores[i] for i in order])]
    items = [replace(item, tokens=choice.sizes.get(i, item.tokens)) for i, item in items_at(overlay, ranked).items()]
    outcome = slice_by_index(slicer, items, [scores[i] for i in ranked], ContextBudget(rest))
    wanted = {ranked[k] for k in outcome.selected}
    return [i for i in order if i in wanted], {ranked[k]: reason for k, reason in outcome.cap_excluded}
