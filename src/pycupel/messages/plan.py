"""How much a history may take, and how far it is cut once it takes more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pycupel.model import ContextBudget
from pycupel.model.checks import checked_int

if TYPE_CHECKING:
    from pycupel.messages.documents import DocumentItem

__all__ = ["Plan", "limits_of", "make_plan"]

# Where an int is the budget, a history that has outgrown it is cut to what must stay and this part of what that leaves.
# The rest is room to grow in, so that the next calls only append, and the provider's prompt cache holds.
TARGET_PERCENT = 65


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


class Plan(NamedTuple):
    """What a history may take beside documents.

    Attributes:
        limits: What the budget leaves to messages and documents.
        window: The most that they may take together.
        target: How far to cut; None for what must stay and 65 % of what that leaves.
        share: The part of the room that is kept free for documents, whatever they take; 0 if there cannot be any.
        held: What documents take that the caller has pinned.
        beside: What the other documents take, if only so much is kept free; None for the whole share.
    """

    limits: ContextBudget
    window: int
    target: int | None
    share: float
    held: int
    beside: int | None

    @property
    def fits_always(self) -> int:
        """A history that takes no more than this fits, whatever must stay."""
        return self.window - self._reserve(self.window)

    def fits(self, tokens: int, must_tokens: int) -> bool:
        """Whether a history of so many tokens fits, documents included, if `must_tokens` of them must stay."""
        return tokens + self._reserve(self.window - must_tokens) <= self.window

    def target_for(self, must_tokens: int) -> int:
        """How far to cut, documents included, if so much must stay."""
        if self.target is None:
            return must_tokens + (self.window - must_tokens) * TARGET_PERCENT // 100
        return min(self.window, max(self.target, must_tokens))

    def goal(self, pinned_tokens: int, must_tokens: int) -> tuple[int, int]:
        """How much a cut leaves beside what is pinned, and how much of that is kept free for documents."""
        rest = max(0, self.target_for(must_tokens) - pinned_tokens)
        return rest, self._reserve(rest)

    @property
    def is_stable(self) -> bool:
        """Whether a cut leaves room to grow, so that it is worth keeping it."""
        return self.beside is None and (self.target is None or self.target < self.window)

    @property
    def facts(self) -> tuple[object, ...]:
        """What decides about cuts."""
        return (self.window, self.target, self.share, self.held, self.is_stable)

    def budget(self, must_tokens: int, *, is_cut: bool) -> ContextBudget:
        """The budget as a selection reports it: with the target that the cut had, or without one."""
        target = self.target_for(must_tokens) if is_cut else self.limits.available_tokens
        return replace(self.limits, target_tokens=target)

    def _reserve(self, rest: int) -> int:
        if self.beside is None:
            return max(self.held, int(rest * self.share))
        return self.held + min(self.beside, int(max(0, rest - self.held) * self.share))


def make_plan(
    limits: ContextBudget,
    hits: Sequence[DocumentItem],
    share: float,
    *,
    has_target: bool,
    stable: bool,
    summary_room: int = 0,
) -> Plan:
    """The plan for a history beside documents.

    Args:
        limits: What the budget leaves to messages and documents.
        hits: The documents.
        share: The part of the room that documents get before the history does.
        has_target: Whether the caller has said how far to cut.
        stable: Whether the start of the prompt should stay the same, so that cuts must not depend on what the documents
            take; if not, the window is filled.
        summary_room: What is kept free for a summary.
    """
    window = max(0, limits.unreserved_capacity - summary_room)
    held = sum([hit.item.tokens for hit in hits if hit.item.pinned])
    if stable:
        return Plan(limits, window, limits.target_tokens if has_target else None, share, held, None)
    return Plan(limits, window, window, share, held, sum([hit.item.tokens for hit in hits]) - held)
