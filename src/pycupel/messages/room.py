"""How many tokens a history may use, and how far it is cut when it exceeds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextBudget
from pycupel.model.budget import share_of
from pycupel.model.checks import checked_count, wrong_type

if TYPE_CHECKING:
    from pycupel.documents import DocumentItem


# The numbers that decide a cut, all of them.

TARGET_PERCENT = 65
"""With an int as budget, a history that exceeds it is cut to what must stay plus this share of the remaining tokens.

The rest is room to grow, so that the next calls only append, and the provider's prompt cache holds.
"""

SUMMARY_PERCENT = 5
"""The default room for a summary, in percent of the window."""

DOCUMENT_PERCENT = 30.0
"""The default share of the target for documents, if the policy's quotas do not set it. The history gets the rest."""

SKIP_DIVISOR = 2
"""While less than a half of a cut's room is taken, a unit that is too large is skipped; later, it ends the cut."""

ALL_KEPT_DIVISOR = 3
"""A cut that shortens drops nothing if all units at their shortest take at most a third of its room."""

NEWEST_KEPT_DIVISOR = 10
"""Otherwise, it drops none of the newest ones that take a tenth: more would leave too little for other results."""

LEAST_TOKENS = 100
"""Results with fewer tokens are never shortened."""

BASE_UNITS = 0.5
"""The value of any unit besides its content, in units of information."""

STUB_UNITS = 0.05
"""The value of a stub."""

SPOKEN_WEIGHT = 0.25
"""Text of the agent and the user counts less than results: most of it is about finished work."""

ERROR_WEIGHT = 2.0
"""Results that report errors count more than others."""


def limits_of(budget: ContextBudget | int, margin_percent: float, beside: int = 0) -> ContextBudget:
    """Return the part of a budget that is left for messages and documents.

    Args:
        budget: The budget, or a number of tokens.
        margin_percent: The margin of the counter, used unless the budget has one.
        beside: The tokens of everything else that is sent.
    """
    limits = ContextBudget.of(budget)
    room = limits.available_tokens
    margin = limits.estimation_safety_margin_percent or margin_percent
    if margin:
        numerator, denominator = margin.as_integer_ratio()
        # Rounded down, and below the exact value, so that it also holds in floats.
        room = max(0, room * 100 * denominator - 1) // (100 * denominator + numerator)
    room = max(0, room - beside)
    return ContextBudget(
        room + limits.output_reserve,
        min(limits.target_tokens, room),
        output_reserve=limits.output_reserve,
        reserved_slots=limits.reserved_slots,
    )


class Plan:
    """How many tokens a history may use beside documents.

    Args:
        limits: What the budget leaves for messages and documents.
        hits: The documents.
        share: The share of the room that documents get before the history; 0 without documents.
        has_target: Whether the caller has set a target.
        stable: Whether the start of the prompt should stay the same, so that cuts must not depend on the documents; if
            not, the window is filled.
        summary_room: The tokens reserved for a summary.

    Attributes:
        share: The share of the room that documents get before the history.
        window: The maximum number of tokens for messages and documents together.
        held: The tokens of pinned documents.
    """

    def __init__(
        self,
        limits: ContextBudget,
        hits: Sequence[DocumentItem],
        share: float,
        *,
        has_target: bool,
        stable: bool,
        summary_room: int = 0,
    ) -> None:
        self._limits = limits
        self.share = share
        self.window = max(0, limits.unreserved_capacity - summary_room)
        self.held = sum([hit.item.tokens for hit in hits if hit.item.pinned])
        # None for what must stay plus 65 % of the remaining tokens.
        self._target = limits.target_tokens if has_target else None
        # The tokens of the other documents, if only those are kept free; None for the whole share.
        self._beside: int | None = None
        if not stable:
            self._target = self.window
            self._beside = sum([hit.item.tokens for hit in hits]) - self.held

    @property
    def fits_always(self) -> int:
        """A history with at most this many tokens fits, whatever must stay."""
        return self.window - self._reserve(self.window)

    def fits(self, tokens: int, must_tokens: int) -> bool:
        """Whether a history of `tokens` fits beside the documents, if `must_tokens` of them must stay."""
        return tokens + self._reserve(self.window - must_tokens) <= self.window

    def target_for(self, must_tokens: int) -> int:
        """Return how far to cut, documents included, if `must_tokens` must stay."""
        if self._target is None:
            return must_tokens + (self.window - must_tokens) * TARGET_PERCENT // 100
        return min(self.window, max(self._target, must_tokens))

    def goal(self, pinned_tokens: int, must_tokens: int) -> tuple[int, int]:
        """Return the tokens that a cut leaves beside pinned units, and how many of them are free for documents."""
        rest = max(0, self.target_for(must_tokens) - pinned_tokens)
        return rest, self._reserve(rest)

    @property
    def is_stable(self) -> bool:
        """Whether a cut leaves room to grow, so that it can be kept."""
        return self._beside is None and (self._target is None or self._target < self.window)

    @property
    def facts(self) -> tuple[object, ...]:
        """Everything that cuts depend on."""
        return (self.window, self._target, self.share, self.held, self.is_stable)

    def budget(self, must_tokens: int, *, is_cut: bool) -> ContextBudget:
        """Return the budget as a selection reports it, with the target of the cut if there was one."""
        target = self.target_for(must_tokens) if is_cut else self._limits.available_tokens
        return replace(self._limits, target_tokens=target)

    def _reserve(self, rest: int) -> int:
        if self._beside is None:
            return max(self.held, share_of(rest, self.share))
        return self.held + min(self._beside, share_of(max(0, rest - self.held), self.share))


def summary_room(summarize: Any, summary_tokens: Any, window: int) -> int:
    """Return the tokens reserved for the summary message, whether there is one or not.

    Raises:
        TypeError: `summarize` cannot be called, or `summary_tokens` is not an int.
        InvalidArgumentError: `summary_tokens` is negative.
    """
    if summarize is not None and not callable(summarize):
        raise wrong_type("summarize", "a function", summarize)
    if summary_tokens is not None:
        return min(window, checked_count("summary_tokens", summary_tokens, InvalidArgumentError))
    return 0 if summarize is None else window * SUMMARY_PERCENT // 100
