"""What is offered to the pipeline, and under which budget: nothing is cut before it has to be, and then enough."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pycupel.errors import UnitTooLargeError
from pycupel.messages.documents import DocumentItem
from pycupel.messages.history import History, with_needs
from pycupel.messages.result import MessageSelection
from pycupel.model import ContextBudget
from pycupel.model.checks import checked_int

__all__ = ["Plan", "limits_of", "make_plan"]

# Where an int is the budget, a history that has outgrown it is cut to this part of it. The rest is room to grow in,
# so that the next calls only append, and the provider's prompt cache holds.
TARGET_PERCENT = 65

_NOTHING = frozenset[int]()


class Plan(NamedTuple):
    """What a pipeline is offered, by the places of the units.

    `pinned` must stay and are offered, too; `earlier` are not offered, because an earlier selection dropped them.
    `room` is what the pinned ones leave of the window. `share` is the part of it that documents get before the
    history does.
    """

    pinned: frozenset[int]
    offered: list[int]
    earlier: frozenset[int]
    budget: ContextBudget
    room: int
    share: float
    is_cut: bool


def limits_of(budget: Any, margin_percent: float) -> ContextBudget:
    """The budget in force: an estimate needs a margin, unless the caller has set one."""
    if isinstance(budget, ContextBudget):
        limits = budget
    else:
        tokens = checked_int("budget", budget)
        limits = ContextBudget(tokens, tokens * TARGET_PERCENT // 100)
    if margin_percent and not limits.estimation_safety_margin_percent:
        return replace(limits, estimation_safety_margin_percent=margin_percent)
    return limits


def make_plan(
    history: History,
    hits: Sequence[DocumentItem],
    limits: ContextBudget,
    share: float,
    previous: MessageSelection | None,
) -> Plan:
    window = _window(limits)
    # Documents that the caller has pinned stay, too.
    held = sum([hit.item.tokens for hit in hits if hit.item.pinned])
    pinned = _pinned(history, window, held)
    pinned_tokens = _tokens(history, pinned) + held
    roomy = replace(limits, target_tokens=window)
    room = roomy.effective(pinned_tokens).target_tokens
    beside = min(sum([hit.item.tokens for hit in hits]) - held, int(room * share))
    sound = [place for place, unit in enumerate(history.units) if unit.problem is None]
    for earlier in _left_out(history, sound, pinned, window, previous):
        offered = [place for place in sound if place not in earlier] if earlier else sound
        if _tokens(history, offered) + held - pinned_tokens + beside <= room:
            return Plan(pinned, offered, earlier, roomy, room, share, is_cut=False)
    cut = replace(limits, target_tokens=min(window, max(limits.target_tokens, pinned_tokens)))
    return Plan(pinned, sound, _NOTHING, cut, room, share, is_cut=True)


def _window(budget: ContextBudget) -> int:
    """The high mark."""
    return budget.available_tokens


def _pinned(history: History, window: int, held: int) -> frozenset[int]:
    """What has to stay, and what should if there is room for it.

    Raises:
        UnitTooLargeError: the former alone does not fit.
    """
    needed = _tokens(history, history.pinned) + held
    if needed > window and history.pinned:
        largest = max(sorted(history.pinned), key=history.sizes.__getitem__)
        tokens = history.sizes[largest]
        raise UnitTooLargeError(
            history.units[largest].indices,
            tokens,
            max(0, window - (needed - tokens)),
            hint=f"It must stay: all that must needs {needed} tokens, and max_tokens - output_reserve is {window}. "
            "Raise the budget, pin less, or shorten that message.",
        )
    wanted = history.pinned | history.wanted
    return wanted if _tokens(history, wanted) + held <= window else history.pinned


def _left_out(
    history: History,
    sound: Sequence[int],
    pinned: frozenset[int],
    window: int,
    previous: MessageSelection | None,
) -> tuple[frozenset[int], ...]:
    """What may be left out without a new cut: nothing, or what the previous selection dropped.

    What was dropped only comes back if the window has grown. Documents that come and go would else change the start
    of the history each time.
    """
    if previous is None:
        return (_NOTHING,)
    kept, known = frozenset(previous.kept), len(previous.source)
    units = history.units
    dropped = {place for place in sound if any(i < known and i not in kept for i in units[place].indices)}
    # What is new may need what is old.
    staying = with_needs((place for place in sound if place not in dropped), units, history.answers)
    earlier = frozenset(dropped) - staying - pinned
    return (_NOTHING, earlier) if window > _window(previous.budget) else (earlier,)


def _tokens(history: History, places: Iterable[int]) -> int:
    return sum([history.sizes[place] for place in places])
