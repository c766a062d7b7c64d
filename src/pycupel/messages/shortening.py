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
from pycupel.messages.conversations import finding
from pycupel.messages.cuts import Offer, cut, fill, never_dropped, without_lone_questions
from pycupel.messages.history import History
from pycupel.messages.options import Options, Shortening, usual_if_named
from pycupel.messages.overlay import QUESTION, Key, Overlay, items_at
from pycupel.messages.providers._tables import TEXT
from pycupel.messages.room import (
    BASE_WORTH,
    ERROR_WEIGHT,
    FULL_PERCENT,
    LEAST_SHOWN,
    LEAST_TOKENS,
    SPOKEN_WEIGHT,
    STUB_WORTH,
    TEXTS_KEPT,
    Room,
)
from pycupel.messages.tool_results import Result, stub_of, with_handle, without_media
from pycupel.model import ContextBudget, ContextItem
from pycupel.pipeline.shorten import item_versions, units_of_whole
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


def _steps(key: Key, tokens: int, worth: float, versions: list[tuple[int, float, str]]) -> Iterator[_Step]:
    """List the steps from the whole to the shortest version, without those that keep no more than a shorter one."""
    best: list[tuple[int, float, str]] = []
    for version in sorted(versions, key=lambda version: (version[0], -version[1])):
        if version[0] < tokens and (not best or version[1] > best[-1][1]):
            best.append(version)
    for size, held, text in reversed(best):
        yield _Step(tokens - size, max(0.0, worth - held), key, text)
        tokens, worth = size, min(worth, held)


def _can_shorten(shortening: Shortening, result: Result) -> bool:
    return result.call.name not in shortening.exclude and result.tokens >= LEAST_TOKENS


def _shorten_first(
    overlay: Overlay, shortening: Shortening, results: Iterable[Result], newest: Collection[Result], end: int
) -> None:
    """Shorten what is of least use: outdated results become stubs, and old images and files a line."""
    texts: dict[Key, str] = {}
    new = {result.key for result in newest}
    for result in results:
        if result.key in new or result.part.failed or not _can_shorten(shortening, result):
            continue
        is_old = result.outdated_at is not None and result.outdated_at < end
        if is_old or (result.is_whole and result.part.beside):
            text = stub_of(result, shortening.recall) if is_old else without_media(result)
            if overlay.count(text) < result.tokens:
                texts[result.key] = text
    overlay.say(texts)


# The two ways to shorten: to make fit what must stay, and at a cut.


class _Choice(NamedTuple):
    """The chosen version of each unit: its tokens, the texts of its results, and its value."""

    sizes: Mapping[int, int]
    texts: Mapping[int, Mapping[Key, str]]
    values: Mapping[int, int]

    def texts_of(self, units: Iterable[int]) -> dict[Key, str]:
        """Return the texts of these units."""
        return {key: text for i in units for key, text in self.texts.get(i, {}).items()}


def make_fit(overlay: Overlay, room: Room, options: Options, must: Collection[int], end: int, /) -> None:
    """Shorten what must stay, before the message `end`, until it fits and leaves room to grow.

    These are the results; if they do not fit even at their shortest, and the caller wants it, also the longest text of
    the last user message. A result becomes a stub only if not even a little of its head and its tail fits.
    """
    shortening = options.shortening
    assert shortening is not None  # noqa: S101 - the caller asks for it
    space = room.window - room.held
    units = sorted(must)
    results = overlay.results_now(units, end)
    # Newest first: they stay whole while they fit.
    newest = results[::-1][: shortening.keep]
    _shorten_first(overlay, shortening, results, newest, end)
    if overlay.tokens_of(must, end) <= space:
        return
    free = [result for result in overlay.results_now(units, end) if _can_shorten(shortening, result)]
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
    overlay.say(choice.texts_of(units))
    # Shorter texts may have saved too little, as their messages are JSON: then the oldest results become stubs, also
    # those that are small since an earlier call.
    for result in overlay.results_now(units, end):
        if overlay.tokens_of(must, end) <= space:
            return
        if not result.is_whole or _can_shorten(shortening, result):
            stub = stub_of(result, shortening.recall)
            if overlay.count(stub) < result.tokens:
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
    whole_sizes = overlay.sizes.copy()
    results = overlay.results_now(offer.units, end)
    # Newest first: they stay whole while they fit.
    newest = results[::-1][: shortening.keep]
    kept = _newest_whole(overlay, shortening, newest, offer.pinned, limit)
    results = [each for each in results if each.unit not in offer.pinned and each.key not in kept]
    _shorten_first(overlay, shortening, results, newest, end)
    free = [each for each in overlay.results_now(units, end) if each.key not in kept]
    free = [each for each in free if _can_shorten(shortening, each)]
    if not free:
        # A conversation in which nothing can get shorter is cut like any other: in one piece, oldest first. To choose
        # by information would make holes in it, as everyday words count little.
        return cut(overlay, room, options, offer)
    scores = dict(zip(units, score_all(options.scorer, tuple(overlay.items(units))), strict=True))
    staying = [i for i in offer.units if i in offer.pinned]
    ladders = _ladders(overlay, shortening, units, free, staying, end)
    ranked = [units[-1 - k] for k in descending([scores[i] for i in reversed(units)])]
    in_one_piece, skipping = options.slicer is None, room.leaves_room
    not_dropped = fill(ranked, whole_sizes, history.ties, limit, in_one_piece=in_one_piece, skipping=skipping)
    stay = {result.unit for result in newest if result.key in kept} | (not_dropped & _newest_texts(history, end))
    required = _required(overlay, ladders, stay, limit)
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
    overlay.say(choice.texts_of(taken))
    left = max(0, limit - overlay.tokens_of(taken))
    return {i: capped.get(i) or BudgetExceeded(overlay.sizes[i], left) for i in units if i not in taken}


def _newest_texts(history: History, end: int) -> set[int]:
    """Return the units with the newest texts of the user and the assistant before a message."""
    spoken = [
        view.message_index
        for view in history.whole_views[:end]
        if view.role in ("user", "assistant") and not view.calls and any(part.kind == TEXT for part in view.parts)
    ]
    return {history.unit_of[n] for n in spoken[-TEXTS_KEPT:]}


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
        needed = result.tokens
        if i not in seen:
            own = overlay.results_now([i], len(overlay.messages))
            needed += overlay.sizes[i] - sum([each.tokens for each in own if _can_shorten(shortening, each)])
        if needed <= left:
            kept.add(result.key)
            left -= needed
            seen.add(i)
    return kept


def _required(overlay: Overlay, ladders: Mapping[int, Ladder], staying: Collection[int], limit: int) -> list[int]:
    """Return the units that must not be dropped: those that stay for their texts or results, and all that get small."""
    sizes = overlay.sizes.copy()
    for i, ladder in ladders.items():
        sizes[i] = ladder.least
    left = limit - sum([sizes[i] for i in staying])
    others = [i for i in reversed(list(ladders)) if i not in staying]
    return sorted({*staying, *never_dropped(others, sizes, overlay.history.ties, limit, left)})


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
    shortener = usual_if_named(shortening.shortener)
    assert shortener is not None  # noqa: S101 - without one, the caller chooses it
    items = [ContextItem(result.text or " ", result.tokens) for result in free]
    spoken, context = _competing(overlay, units, free, items, staying, end)
    said = {i: units_of_whole(shortener, item, context) for i, item in spoken.items()}
    ends = WithEnds()
    made = [
        item_versions(ends if result.key in unread else shortener, item, context)
        for result, item in zip(free, items, strict=True)
    ]
    stubs = [stub_of(result, shortening.recall) for result in free]
    worths = {i: BASE_WORTH + SPOKEN_WEIGHT * said.get(i, 0.0) for i in units}
    rungs: dict[int, dict[Key, Sequence[_Step]]] = {i: {} for i in units}
    for result, item, own, stub in zip(free, items, made, stubs, strict=True):
        weight = ERROR_WEIGHT if result.part.failed else 1.0
        versions = list(zip(own.shorter, own.units, strict=True))
        if more:
            others = () if type(shortener) is ByFormat and is_json(item, context) else more
            heads = [each for other in others for each in item_versions(other, item, context).shorter]
            versions += [(each, own.whole * each.tokens / item.tokens) for each in heads]
            # More than a stub, and the more the longer, however little information it is by the shortener's measure.
            versions = [
                (each, max(worth, STUB_WORTH) + STUB_WORTH * each.tokens / item.tokens) for each, worth in versions
            ]
        texts = [(each.tokens, worth * weight, each.content) for each, worth in versions]
        if shortening.recall:
            marked = [(with_handle(text, result, shortening.recall), worth) for _, worth, text in texts]
            texts = [(overlay.count(text), worth, text) for text, worth in marked]
        texts.append((overlay.count(stub), min(STUB_WORTH, own.whole) * weight, stub))
        steps = list(_steps(result.key, item.tokens, own.whole * weight, texts))
        worths[result.unit] += own.whole * weight
        if steps:
            rungs[result.unit][result.key] = steps
    errors = frozenset([result.key for result in free if result.part.failed])
    return {i: Ladder(overlay.tokens_of([i], end), worths[i], rungs[i], errors.intersection(rungs[i])) for i in units}


def _competing(
    overlay: Overlay,
    units: Sequence[int],
    free: Sequence[Result],
    items: Sequence[ContextItem],
    staying: Sequence[int],
    end: int,
) -> tuple[dict[int, ContextItem], ShortenContext]:
    """Return what these units say beside the results in `free`, as items, and all of it together as a context."""
    messages_to_shorten = {result.key[0] for result in free}
    groups = [overlay.history.units[i].indices for i in (*units, *staying)]
    texts = overlay.texts_of([n for n in group if n < end and n not in messages_to_shorten] for group in groups)
    spoken = {i: ContextItem(text, 1) for i, text in zip(units, texts, strict=False) if text}
    by_unit = {i: [spoken[i]] if i in spoken else [] for i in units}
    for result, item in zip(free, items, strict=True):
        by_unit[result.unit].append(item)
    # What the newest user message asks for is kept before the rest of a listing.
    asked = [n for n, role, _ in overlay.history.appearances if role == "user" and n < end]
    query = overlay.texts_of([asked[-1:]])[0] if asked else None
    competing = [item for own in by_unit.values() for item in own]
    context = ShortenContext(competing, texts[len(units) :], overlay.count, query)
    if not overlay.memo:
        # Most texts and lines are there at several cuts.
        overlay.memo[form_of] = lru_cache(_REMEMBERED_TEXTS)(form_of)
        overlay.memo[pieces_of] = lru_cache(_REMEMBERED_TEXTS)(pieces_of)
        overlay.memo[units_of] = lru_cache(_REMEMBERED_LINES)(finding(units_of))
    context.memo |= overlay.memo
    return spoken, context


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
            sizes[i] = ladders[i].size
            found[i] = values[k][version]
    choice = _Choice(sizes, texts, found)
    sizes |= overlay.sizes_with(choice.texts_of(texts))
    return choice


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
