"""Replay a history: cut it where selections before every call of the model would have cut it.

    0  system     Be brief.           10 tokens     must stay
    1  user       Why does it fail?   20
    2  assistant  It lacks a key.     40
    3  user       And now?            20
    4  assistant  It draws.           30            and then the next question, 20

With a budget of 120, everything fits up to 3, where the model was last called: 90 tokens. Before the next call it is
140, so the history is cut to what must stay (the prompt and the new question: 30) plus 65 % of the rest: 88. From the
newest to the oldest, 4 fits and brings the question that it answers, 3; 2 does not fit any more, and 1 goes with it.
There the cut stays, so that the next prompts begin alike, until the history exceeds the budget again.

This makes a selection a function of the history and the arguments, so that the start of the prompt is stable without
any state between calls. Between two cuts, a history only grows, so a running sum finds the next cut, and units are
chosen only there: however long the history is, each message is looked at just a few times.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from pycupel.diagnostics import BudgetExceeded, ExclusionReason
from pycupel.errors import UnitTooLargeError
from pycupel.kernels.order import descending, records
from pycupel.messages.history import Staying
from pycupel.messages.memory import Point, shape_of
from pycupel.messages.options import Options
from pycupel.messages.overlay import Overlay
from pycupel.messages.room import ALL_KEPT_DIVISOR, NEWEST_KEPT_DIVISOR, SKIP_DIVISOR, Room
from pycupel.model import ContextBudget
from pycupel.scorers._base import score_all
from pycupel.slicers._base import slice_by_index


class Offer(NamedTuple):
    """What a cut chooses from."""

    end: int
    """The number of messages."""

    begun: int
    """The number of units that have started, dropped ones included."""

    units: Sequence[int]
    """The units not dropped so far, ascending."""

    pinned: frozenset[int]
    """The units that stay."""

    pinned_tokens: int
    """Their tokens."""

    must_tokens: int
    """The tokens of those that must stay. The others stay because there is room for them."""


class Replay(NamedTuple):
    """The cuts of a history."""

    points: tuple[Point, ...]
    """The last point before the end, and the end; none if cuts do not last."""

    gone: Mapping[int, ExclusionReason]
    """The units that earlier cuts dropped."""

    offer: Offer
    """What was left at the end."""

    dropped: Mapping[int, ExclusionReason]
    """The units that a cut at the end dropped."""

    saved: Mapping[int, int]
    """The tokens that shortening saved at the end, by message."""

    fitted: tuple[int, ...]
    """The messages that were shortened at the end because they must stay and did not fit."""


def replay(
    overlay: Overlay, room: Room, options: Options, start: Point, reasons: Mapping[int, ExclusionReason]
) -> Replay:
    """Visit every call of the model, and cut where the history exceeds the window.

    Args:
        overlay: The history, with the texts that results have at the start.
        room: When and how far to cut.
        options: How to choose what goes.
        start: Where to begin.
        reasons: Why the units were dropped that are gone there, by their first message.

    Raises:
        UnitTooLargeError: what must stay does not fit at the end. Earlier points where it does not fit are skipped.
    """
    history = overlay.history
    shortener = None if options.shortening is None else options.shortening.shortener
    choose = _shorten if shortener is not None and history.has_results else cut
    gone = {bisect_left(history.firsts, n): reasons[n] for n in start.gone}
    overlay.drop(gone)
    staying = Staying(history)
    units: list[int] = []
    begun = 0

    def offer_at(end: int, must: frozenset[int], should: frozenset[int]) -> Offer:
        nonlocal units, begun
        starting = bisect_left(history.firsts, end)
        units = [i for i in units if i not in gone]
        units += [i for i in range(begun, starting) if i not in history.broken and i not in gone]
        begun = starting
        must_tokens = overlay.tokens_of(must, end)
        tokens = must_tokens + overlay.tokens_of(should, end)
        if tokens + room.held <= room.window:
            return Offer(end, begun, units, must | should, tokens, must_tokens)
        return Offer(end, begun, units, must, must_tokens, must_tokens)

    # Cuts that leave no room to grow would not last, so the whole history is cut once.
    positions = history.call_positions if room.leaves_room else []
    fits_always = room.fits_always
    end = start.end
    for end in positions[bisect_right(positions, start.end) :]:
        if overlay.remaining(end) <= fits_always:
            continue
        must, should = staying.at(end, gone)
        _fit(overlay, room, options, must, end)
        must_tokens = overlay.tokens_of(must, end)
        if must_tokens + room.held <= room.window and not room.fits(overlay.remaining(end), must_tokens):
            dropped = choose(overlay, room, options, offer_at(end, must, should))
            overlay.drop(dropped)
            gone |= dropped
    before = _point(overlay, end, gone) if room.leaves_room else None
    saved = dict(overlay.saved)
    end = len(history.tokens)
    must, should = staying.at(end, gone)
    _fit(overlay, room, options, must, end)
    fitted = tuple(sorted(n for n, now in overlay.saved.items() if now != saved.get(n, 0)))
    _refuse_what_cannot_fit(overlay, must, room)
    offer = offer_at(end, must, should)
    is_cut = not room.fits(overlay.remaining(end), offer.must_tokens)
    dropped = choose(overlay, room, options, offer) if is_cut else {}
    points = () if before is None else (before, _point(overlay, end, {*gone, *dropped}))
    newly = {n: now - saved.get(n, 0) for n, now in overlay.saved.items() if now != saved.get(n, 0)}
    return Replay(points, gone, offer, dropped, newly, fitted)


def _shorten(overlay: Overlay, room: Room, options: Options, offer: Offer) -> dict[int, ExclusionReason]:
    """Return the units to drop, with reasons, and shorten the others."""
    from pycupel.messages.shortening import shorten  # noqa: PLC0415 - histories that fit never need it

    return shorten(overlay, room, options, offer)


def _fit(overlay: Overlay, room: Room, options: Options, must: Collection[int], end: int) -> None:
    """Shorten what must stay if it does not fit, and the caller wants that."""
    wanted = options.shortening is not None and options.shortening.to_fit
    if wanted and overlay.tokens_of(must, end) + room.held > room.window:
        from pycupel.messages.shortening import make_fit  # noqa: PLC0415 - it is seldom needed

        make_fit(overlay, room, options, must, end)


def _point(overlay: Overlay, end: int, gone: Collection[int]) -> Point:
    history = overlay.history
    firsts = tuple(sorted([history.firsts[i] for i in gone]))
    return Point(end, firsts, shape_of(history, end), overlay.texts_without(gone))


def _refuse_what_cannot_fit(overlay: Overlay, must: Collection[int], room: Room) -> None:
    window = room.window
    needed = overlay.tokens_of(must) + room.held
    if needed > window and must:
        largest = max(sorted(must), key=overlay.sizes.__getitem__)
        indices, tokens = overlay.history.units[largest].indices, overlay.sizes[largest]
        others = needed - tokens
        beside = (
            f", beside others that need {others}: {needed} tokens in all, but the budget leaves {window} for messages"
            if others
            else ""
        )
        it, which = ("They", "those messages") if len(indices) > 1 else ("It", "that message")
        raise UnitTooLargeError(
            indices,
            tokens,
            max(0, window - others),
            hint=f"{it} must stay{beside}. Raise the budget, pin less, or shorten {which}.",
        )


def cut(overlay: Overlay, room: Room, options: Options, offer: Offer) -> dict[int, ExclusionReason]:
    """Return the units to drop, with reasons.

    Args:
        overlay: The history, and what its units cost.
        room: How far to cut.
        options: How the policy ranks units.
        offer: What there is to choose from.
    """
    sizes, ties = overlay.sizes, overlay.history.ties
    rest, reserve = room.goal(offer.pinned_tokens, offer.must_tokens)
    # Newest first, because the first of equal scores wins.
    units = [i for i in reversed(offer.units) if i not in offer.pinned]
    items = overlay.items(units)
    scores = score_all(options.scorer, tuple(items))
    order = descending(scores)
    wanted = ranked = [units[n] for n in order]
    capped: dict[int, ExclusionReason] = {}
    if options.slicer is not None:
        ranked_items = [items[n] for n in order]
        outcome = slice_by_index(options.slicer, ranked_items, [scores[n] for n in order], ContextBudget(rest))
        wanted = [ranked[n] for n in sorted(outcome.selected)]
        capped = {ranked[n]: reason for n, reason in outcome.cap_excluded}
    in_one_piece = options.slicer is None
    # Where no room is left to grow, every call cuts: to skip a large unit makes a hole, elsewhere each time.
    skipping = room.leaves_room
    taken = fill(wanted, sizes, ties, rest - reserve, in_one_piece=in_one_piece, skipping=skipping)
    taken = without_lone_questions(taken, ties, overlay.history.answers, offer.begun)
    left = max(0, rest - reserve - sum([sizes[i] for i in taken]))
    gone = [i for i in ranked if i not in taken]
    if capped:
        return {i: capped.get(i) or BudgetExceeded(sizes[i], left) for i in gone}
    # Nothing is left for what is older than the cut, even if it is small.
    last = max([n for n, unit in enumerate(ranked) if unit in taken], default=-1)
    older = frozenset(ranked[last + 1 :]) if in_one_piece else ()
    needs = [(sizes[i], 0 if i in older and sizes[i] <= left else left) for i in gone]
    return dict(zip(gone, records(BudgetExceeded, needs), strict=True))


def fill(
    order: Sequence[int],
    sizes: Sequence[int],
    ties: Sequence[Sequence[int]],
    limit: int,
    *,
    in_one_piece: bool,
    skipping: bool = True,
) -> set[int]:
    """Take units in order, each together with everything it is tied to, or not at all.

    Filling by density, as `GreedySlice` does, would keep short old messages and drop long new ones; by score, the
    oldest are dropped. With `in_one_piece`, filling stops at the first unit that does not fit: an older one would stay
    without its context.

    Args:
        order: The units, the best score first.
        sizes: The tokens of each unit.
        ties: For each unit, the units that it is tied to. Those not in `order` are pinned.
        limit: The maximum number of tokens for all of them.
        in_one_piece: Whether to stop at the first that does not fit.
        skipping: Whether a large one is skipped before half of the room is taken.
    """
    free = set(order)
    taken: set[int] = set()
    used = 0
    for unit in order:
        if unit not in free:
            continue
        free.remove(unit)
        group = [unit]
        # The group grows while it is walked, until nothing is missing. `with_needs` would take twice as long.
        for member in group:
            for each in ties[member]:
                if each in free:
                    free.remove(each)
                    group.append(each)
        tokens = sum([sizes[i] for i in group])
        if used + tokens <= limit:
            taken.update(group)
            used += tokens
            continue
        # The most important decision of a cut. Once half of its room is taken, what does not fit is where the history
        # begins from now on; before, it is a single unit that is too large, and giving up there would drop nearly all.
        is_where_history_begins = not skipping or SKIP_DIVISOR * used > limit
        if in_one_piece and is_where_history_begins:
            break
        free.update(group)
    return taken


def never_dropped(
    order: Sequence[int], sizes: Sequence[int], ties: Sequence[Sequence[int]], limit: int, left: int
) -> set[int]:
    """Return the units that a cut may shorten, but not drop: all of them if they get small, or else the newest.

    Args:
        order: The units, newest first.
        sizes: The tokens of each unit at its shortest.
        ties: For each unit, the units that it is tied to.
        limit: The room of the cut.
        left: What is left of it for these units.
    """
    if sum([sizes[i] for i in order]) <= min(left, limit // ALL_KEPT_DIVISOR):
        return set(order)
    return fill(order, sizes, ties, min(left, limit // NEWEST_KEPT_DIVISOR), in_one_piece=True)


def without_lone_questions(
    taken: set[int], ties: Sequence[Sequence[int]], answers: Mapping[int, int], begun: int
) -> set[int]:
    """Remove questions whose answers have all been dropped.

    Args:
        taken: The units that are taken.
        ties: For each unit, those that it is tied to, such as an answer to its question.
        answers: For each question, the first unit that is an answer.
        begun: The number of units that have started; later ones are not answers yet.
    """
    alone = {i for i in taken if answers.get(i, begun) < begun}
    if not alone:
        return taken
    return taken - alone.difference(*[ties[i] for i in taken])
