"""How much a history may take, and how far it is cut once it takes more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from pycupel.messages.documents import DocumentItem
from pycupel.model import ContextBudget
from pycupel.model.checks import checked_int

__all__ = ["Limits", "Plan", "limits_of", "make_plan"]

# Where an int is the budget, a history that has outgrown it is cut to what must stay and this part of what that leaves.
# The rest is room to grow in, so that the next calls only append, and the provider's prompt cache holds.
TARGET_PERCENT = 65


class Limits(NamedTuple):
    """The budget in force.

    Attributes:
        budget: The budget, as the selection reports it.
        window: The most that messages and documents may take together.
        target: How far to cut; None for what must stay and 65 % of what that leaves.
    """

    budget: ContextBudget
    window: int
    target: int | None


def limits_of(budget: ContextBudget | int, margin_percent: float) -> Limits:
    """The budget in force: an estimate needs a margin, unless the caller has set one."""
    limits = budget if isinstance(budget, ContextBudget) else ContextBudget(checked_int("budget", budget))
    if margin_percent and not limits.estimation_safety_margin_percent:
        limits = replace(limits, estimation_safety_margin_percent=margin_percent)
    window = max(0, limits.unreserved_capacity)
    margin = limits.estimation_safety_margin_percent
    if margin:
        # What is selected, times 1 + margin, must fit.
        window = int(window * 100 // (100 + Fraction(margin)))
    return Limits(limits, window, budget.target_tokens if isinstance(budget, ContextBudget) else None)


class Plan(NamedTuple):
    """What a history may take beside documents.

    Attributes:
        limits: The budget in force.
        share: The part of the room that is kept free for documents, whatever they take; 0 if there cannot be any.
        held: What documents take that the caller has pinned.
        beside: What the other documents take, if only so much is kept free; None for the whole share.
    """

    limits: Limits
    share: float
    held: int
    beside: int | None

    @property
    def fits_always(self) -> int:
        """A history that takes no more than this fits, whatever must stay."""
        window = self.limits.window
        return window - self._reserve(window)

    def fits(self, tokens: int, must_tokens: int) -> bool:
        """Whether a history of so many tokens fits, documents included, if `must_tokens` of them must stay."""
        window = self.limits.window
        return tokens + self._reserve(window - must_tokens) <= window

    def target(self, must_tokens: int) -> int:
        """How far to cut, documents included."""
        window, target = self.limits.window, self.limits.target
        if target is None:
            return must_tokens + (window - must_tokens) * TARGET_PERCENT // 100
        return min(window, max(target, must_tokens))

    def goal(self, pinned_tokens: int, must_tokens: int) -> tuple[int, int]:
        """How much a cut leaves beside what is pinned, and how much of that is kept free for documents."""
        rest = max(0, self.target(must_tokens) - pinned_tokens)
        return rest, self._reserve(rest)

    @property
    def is_stable(self) -> bool:
        """Whether a cut leaves room to grow, so that it is worth keeping it."""
        target = self.limits.target
        return self.beside is None and (target is None or target < self.limits.window)

    @property
    def facts(self) -> tuple[object, ...]:
        """What decides about cuts."""
        return (self.limits.window, self.limits.target, self.share, self.held, self.is_stable)

    def budget(self, must_tokens: int, *, is_cut: bool) -> ContextBudget:
        """The budget as a selection reports it: with the target that the cut had, or without one."""
        target = self.target(must_tokens) if is_cut else self.limits.budget.available_tokens
        return replace(self.limits.budget, target_tokens=target)

    def _reserve(self, rest: int) -> int:
        if self.beside is None:
            return max(self.held, int(rest * self.share))
        return self.held + min(self.beside, int(max(0, rest - self.held) * self.share))


def make_plan(limits: Limits, hits: Sequence[DocumentItem], share: float, *, stable: bool) -> Plan:
    """The plan for a history beside documents.

    Args:
        limits: The budget in force.
        hits: The documents.
        share: The part of the room that documents get before the history does.
        stable: Whether cuts must not depend on what the documents take.
    """
    held = sum([hit.item.tokens for hit in hits if hit.item.pinned])
    if stable:
        return Plan(limits, share, held, None)
    filled = limits._replace(target=limits.window)
    return Plan(filled, share, held, sum([hit.item.tokens for hit in hits]) - held)
