"""What one policy would have sent: the figures of a replay, and their price."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from pycupel.model.frozen import sealed

__all__ = ["DEFAULT_RATES", "CacheRates", "PolicyReplay"]


class CacheRates(NamedTuple):
    """What tokens of a prompt cost, in multiples of the usual price of a token.

    Attributes:
        read: A token that the provider's cache has.
        write: A token that it has not, and keeps.
    """

    read: float = 0.1
    write: float = 1.25


DEFAULT_RATES = CacheRates()
"""The rates that apply unless others are given."""


@sealed
@dataclass(frozen=True, slots=True)
class PolicyReplay:
    """What one policy would have sent.

    Attributes:
        policy: Its label.
        calls: How many calls were replayed.
        cuts: At how many of them something was dropped that the call before had sent.
        tokens: The tokens that it would have sent, in all calls.
        reused_tokens: How many of them began the prompt just as in the call before.
        largest: The tokens of its largest prompt.
        invalid: At how many calls the provider would have refused what was sent.
        too_large: At how many calls what must stay was larger than the budget, and nothing could be sent.
        needed: What was needed later, summed up over the calls at which the history did not fit. It is the same for
            every policy.
        kept: How much of it the model got: none of it at a refused call.
        rates: What tokens cost.
    """

    policy: str
    calls: int = 0
    cuts: int = 0
    tokens: int = 0
    reused_tokens: int = 0
    largest: int = 0
    invalid: int = 0
    too_large: int = 0
    needed: int = 0
    kept: int = 0
    rates: CacheRates = DEFAULT_RATES

    @property
    def reused_share(self) -> float:
        """The share of the tokens that began the prompt just as in the call before."""
        return self.reused_tokens / self.tokens if self.tokens else 0.0

    @property
    def refused(self) -> int:
        """At how many calls the model got nothing: those that are invalid or too large."""
        return self.invalid + self.too_large

    @property
    def kept_share(self) -> float:
        """The share of what was needed later that the model got; 1.0 if nothing was needed."""
        return self.kept / self.needed if self.needed else 1.0

    @property
    def cost(self) -> float:
        """What the prompts cost, in tokens at the usual price."""
        fresh = self.tokens - self.reused_tokens
        return self.reused_tokens * self.rates.read + fresh * self.rates.write

    def __add__(self, other: PolicyReplay) -> PolicyReplay:
        """Both together, as if in one session."""
        numbers = ("calls", "cuts", "tokens", "reused_tokens", "invalid", "too_large", "needed", "kept")
        sums = {name: getattr(self, name) + getattr(other, name) for name in numbers}
        return replace(self, largest=max(self.largest, other.largest), **sums)
