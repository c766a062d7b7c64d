"""What is offered to the pipeline, and under which budget: nothing is cut before it has to be, and then enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from pycupel.errors import UnitTooLargeError
from pycupel.messages.documents import DocumentItem
from pycupel.messages.history import History
from pycupel.messages.result import MessageSelection
from pycupel.messages.ties import with_needs
from pycupel.model import ContextBudget
from pycupel.model.checks import checked_int

__all__ = ["Plan", "limits_of", "make_plan"]

# Where an int is the budget, a history that has outgrown it is cut to this part of it. The rest is room to grow in,
# so that the next calls only append, and the provider's prompt cache holds.
TARGET_PERCENT = 65

_NOTHING = frozenset[int]()


class Plan(NamedTuple):
    """What a pipeline is offered; units are named by their indices.

    Attributes:
        pinned: The units that must stay. They are offered, too.
        offered: The candidates.
        earlier: The units that are not offered because an earlier selection dropped them.
        budget: The limits for the pipeline.
        room: What the pinned units leave of the window.
        share: The part of it that documents get before the history does.
        is_cut: Whether something of the history has to go.
    """

    pinned: frozenset[int]
    offered: list[int]
    earlier: frozenset[int]
    budget: ContextBudget
    room: int
    share: float
    is_cut: bool


def limits_of(budget: ContextBudget | int, margin_percent: float, beside: int = 0) -> ContextBudget:
    """What a budget leaves to messages and documents.

    Args:
        budget: The budget, or a number of tokens.
        margin_percent: The margin that the counter needs, unless the budget has one. With it, everything still fits.
        beside: What else is sent, in tokens.
    """
    limits = budget if isinstance(budget, ContextBudget) else ContextBudget(checked_int("budget", budget))
    room = limits.available_tokens
    margin = limits.estimation_safety_margin_percent or margin_percent
    if margin:
        numerator, denominator = margin.as_integer_ratio()
        # Rounded down, and less than the whole, so that it holds in floats, too.
        room = max(0, room * 100 * denominator - 1) // (100 * denominator + numerator)
    room = max(0, room - beside)
    target = limits.target_tokens if isinstance(budget, ContextBudget) else room * TARGET_PERCENT // 100
    return ContextBudget(
        room + limits.output_reserve,
        min(target, room),
        output_reserve=limits.output_reserve,
        reserved_slots=limits.reserved_slots,
    )


def make_plan(
    history: History,
    hits: Sequence[DocumentItem],
    limits: ContextBudget,
    share: float,
    previous: MessageSelection | None,
) -> Plan:
    """Everything if it fits; else what the previous selection kept; else everything, to be cut to the target.

    Args:
        history: The history.
        hits: The documents that share the budget.
        limits: The budget.
        share: The part of the room that documents get before the history does.
        previous: The last selection of this history.

    Raises:
        UnitTooLargeError: what must stay does not fit.
    """
    # A history is not cut before it is larger than this.
    window = limits.available_tokens
    # Documents that the caller has pinned stay, too.
    held = sum([hit.item.tokens for hit in hits if hit.item.pinned])
    pinned = _pinned(history, window, held)
    pinned_tokens = history.tokens_of(pinned) + held
    roomy = replace(limits, target_tokens=window)
    room = roomy.effective(pinned_tokens).target_tokens
    beside = min(sum([hit.item.tokens for hit in hits]) - held, int(room * share))
    whole = [i for i, unit in enumerate(history.units) if unit.problem is None]
    for earlier in _left_out(history, whole, pinned, window, previous):
        offered = [i for i in whole if i not in earlier] if earlier else whole
        if history.tokens_of(offered) + held - pinned_tokens + beside <= room:
            return Plan(pinned, offered, earlier, roomy, room, share, is_cut=False)
    cut = replace(limits, target_tokens=min(window, max(limits.target_tokens, pinned_tokens)))
    return Plan(pinned, whole, _NOTHING, cut, room, share, is_cut=True)


def _pinned(history: History, window: int, held: int) -> frozenset[int]:
    """The units that must stay, and those that should if there is room for them.

    Raises:
        UnitTooLargeError: the former alone do not fit.
    """
    needed = history.tokens_of(history.pinned) + held
    if needed > window and history.pinned:
        largest = max(sorted(history.pinned), key=history.sizes.__getitem__)
        tokens = history.sizes[largest]
        raise UnitTooLargeError(
            history.units[largest].indices,
            tokens,
            max(0, window - (needed - tokens)),
            hint=f"It must stay: what must stay needs {needed} tokens, and the budget leaves {window}. "
            "Raise the budget, pin less, or shorten that message.",
        )
    wanted = history.pinned | history.wanted
    return wanted if history.tokens_of(wanted) + held <= window else history.pinned


def _left_out(
    history: History,
    whole: Sequence[int],
    pinned: frozenset[int],
    window: int,
    previous: MessageSelection | None,
) -> tuple[frozenset[int], ...]:
    """What may be left out without a new cut: nothing, or what the previous selection dropped.

    What was dropped only comes back if the window has grown. Otherwise documents that come and go would change the
    start of the history each time.
    """
    if previous is None:
        return (_NOTHING,)
    kept, known = frozenset(previous.kept), len(previous.source)
    dropped = {i for i in whole if any(n < known and n not in kept for n in history.units[i].indices)}
    # What is new may need what is old.
    staying = with_needs((i for i in whole if i not in dropped), history.ties.__getitem__)
    earlier = frozenset(dropped).difference(staying) - pinned
    return (_NOTHING, earlier) if window > previous.budget.available_tokens else (earlier,)
