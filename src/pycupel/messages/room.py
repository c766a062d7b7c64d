"""How many tokens a history may use, and how far it is cut when it exceeds them."""

from __future__ import annotations

from dataclasses import replace

from pycupel.errors import UnitTooLargeError
from pycupel.messages.counting import NO_EXTRAS, Extras
from pycupel.model import ContextBudget
from pycupel.model.budget import share_of
from pycupel.text import number_text

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

TEXTS_KEPT = 10
"""Of so many of the newest texts of the user and the assistant, it drops none that a cut without shortening keeps.

What the assistant says beside a call is part of the exchange.
"""

FULL_PERCENT = 95
"""If a cut that shortens takes less of its room, it drops less, or shortens less."""

SMALL_CUT_DIVISOR = 10
"""A cut that removes less than a tenth of the window is followed by another soon, and a note says why."""

LEAST_TOKENS = 100
"""Results with fewer tokens are never shortened."""

LEAST_SHOWN = 100
"""A result that must stay has at least this many tokens, or becomes a stub: 40 of its head, 40 of its tail, and what
says how much is left out between them.
"""

BASE_WORTH = 0.5
"""What any unit is worth besides its content, measured like the shortener's units of information."""

STUB_WORTH = 0.05
"""What a stub is worth."""

SPOKEN_WEIGHT = 0.25
"""Text of the agent and the user counts less than results: most of it is about finished work."""

ERROR_WEIGHT = 2.0
"""Results that report errors count more than others."""


def limits_left(budget: ContextBudget | int, margin_percent: float, outside: int = 0) -> ContextBudget:
    """Return the part of a budget that is left for messages and documents.

    Args:
        budget: The budget, or a number of tokens.
        margin_percent: The margin of the counter, used unless the budget has one.
        outside: The tokens of everything else that is sent.
    """
    limits = ContextBudget.of(budget)
    room = limits.available_tokens
    margin = limits.estimation_safety_margin_percent or margin_percent
    if margin:
        numerator, denominator = margin.as_integer_ratio()
        # Rounded down, and below the exact value, so that it also holds in floats.
        room = max(0, room * 100 * denominator - 1) // (100 * denominator + numerator)
    room = max(0, room - outside)
    return ContextBudget(
        room + limits.output_reserve,
        min(limits.target_tokens, room),
        output_reserve=limits.output_reserve,
        reserved_slots=limits.reserved_slots,
    )


class Room:
    """How many tokens a history may use beside documents. A cut leaves some of them free, so that it lasts.

    Args:
        budget: The caller's budget in tokens, within the limits of the model.
        margin_percent: The margin of the counter.
        extras: What is sent beside the messages.
        share: The share of the room that documents get before the history; 0 without documents.
        documents: The tokens of the documents that are not pinned.
        held: The tokens of pinned documents.
        summary_tokens: The tokens reserved for a summary; None for the default share.

    Attributes:
        summary: The tokens reserved for a summary message, whether there is one or not.
        window: The maximum number of tokens for messages and documents together.
    """

    def __init__(
        self,
        budget: ContextBudget | int,
        margin_percent: float = 0.0,
        extras: Extras = NO_EXTRAS,
        *,
        share: float = 0.0,
        documents: int = 0,
        held: int = 0,
        summary_tokens: int | None = 0,
    ) -> None:
        self.budget = budget
        self.margin_percent = margin_percent
        self.extras = extras
        self.share = share
        self.documents = documents
        self.held = held
        self._limits = limits_left(budget, margin_percent, extras.tokens + extras.reply)
        capacity = max(0, self._limits.unreserved_capacity)
        usual = capacity * SUMMARY_PERCENT // 100
        self.summary = usual if summary_tokens is None else min(capacity, summary_tokens)
        self.window = max(0, capacity - self.summary)

    @property
    def has_target(self) -> bool:
        """Whether the caller has said how far to cut."""
        return isinstance(self.budget, ContextBudget)

    @property
    def leaves_room(self) -> bool:
        """Whether a cut leaves room to grow, so that it can be kept."""
        return not self.has_target or self._limits.target_tokens < self.window

    @property
    def fits_always(self) -> int:
        """A history with at most this many tokens fits, whatever must stay."""
        return self.window - self.reserve(self.window)

    def fits(self, tokens: int, must_tokens: int) -> bool:
        """Whether a history of `tokens` fits beside the documents, if `must_tokens` of them must stay."""
        return tokens + self.reserve(self.window - must_tokens) <= self.window

    def target_for(self, must_tokens: int) -> int:
        """Return how far to cut, documents included, if `must_tokens` must stay."""
        if self.has_target:
            return min(self.window, max(self._limits.target_tokens, must_tokens))
        return must_tokens + (self.window - must_tokens) * TARGET_PERCENT // 100

    def goal(self, pinned_tokens: int, must_tokens: int) -> tuple[int, int]:
        """Return the tokens that a cut leaves beside pinned units, and how many of them are free for documents."""
        rest = max(0, self.target_for(must_tokens) - pinned_tokens)
        return rest, self.reserve(rest)

    def reserve(self, rest: int) -> int:
        """Return how many of these tokens stay free for documents, whatever they are, because cuts must last."""
        # Most histories have no documents, and are asked at every call of the model.
        return max(self.held, share_of(rest, self.share)) if self.share else self.held

    def reported_budget(self, must_tokens: int, *, is_cut: bool) -> ContextBudget:
        """Return the budget as a selection reports it, with the target of the cut if there was one."""
        target = self.target_for(must_tokens) if is_cut else self._limits.available_tokens
        return replace(self._limits, target_tokens=target)

    @property
    def arguments(self) -> tuple[object, ...]:
        """Everything here that cuts depend on."""
        target = self._limits.target_tokens if self.has_target else None
        return (self.window, target, self.share, self.held, self.leaves_room)

    def explain(self, error: UnitTooLargeError) -> None:
        """Add to the error what else the budget has to hold, because the message that it names may be small."""
        whole, extras = ContextBudget.of(self.budget), self.extras
        outside = [
            name for name, tokens in (("the system prompt", extras.system), ("the tools", extras.tools)) if tokens
        ]
        if outside and extras.tokens >= limits_left(self.budget, self.margin_percent, extras.reply).available_tokens:
            # They leave no room for any message, so none is to blame.
            names, need = " and ".join(outside), "needs" if outside == ["the system prompt"] else "need"
            tokens, budget = number_text(extras.tokens), number_text(whole.max_tokens)
            error.cause = f"{names} {need} {tokens} tokens, which leaves none of the budget of {budget} for messages"
            error.__notes__ = [f"Raise the budget, or shorten {names}."]
        rest = {
            "for the system prompt": extras.system,
            "for tools": extras.tools,
            "for pinned documents": self.held,
            "for a summary": self.summary,
            "of output reserve": whole.output_reserve,
            "of reserved slots": sum(whole.reserved_slots.values()),
        }
        named = [f"{number_text(tokens)} {what}" for what, tokens in rest.items() if tokens]
        if named:
            error.add_note(f"The budget of {number_text(whole.max_tokens)} tokens also has to hold {', '.join(named)}.")


class FilledRoom(Room):
    """Room that a cut fills, with `stable=False`: only what the documents of this call can use stays free."""

    @property
    def leaves_room(self) -> bool:
        """A cut leaves no room to grow."""
        return False

    def target_for(self, must_tokens: int) -> int:  # noqa: ARG002 - the whole window, whatever must stay
        """Return the window."""
        return self.window

    def reserve(self, rest: int) -> int:
        """Return how many of these tokens the documents can use."""
        return self.held + min(self.documents, share_of(max(0, rest - self.held), self.share))

    @property
    def arguments(self) -> tuple[object, ...]:
        """Everything here that cuts depend on."""
        return (self.window, self.window, self.share, self.held, False)
