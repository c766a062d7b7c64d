"""The figures of a replay, and their price."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from pycupel.values import sealed

__all__ = ["DEFAULT_RATES", "CacheRates", "PolicyReplay"]


class CacheRates(NamedTuple):
    """The price of prompt tokens, relative to the usual price."""

    read: float = 0.1
    """The price of a token that is read from the provider's cache."""

    write: float = 1.25
    """The price of a token that is written to the cache."""


DEFAULT_RATES = CacheRates()
"""The default rates."""


@sealed
@dataclass(frozen=True, slots=True)
class PolicyReplay:
    """What one policy would have sent."""

    policy: str
    """Its label."""

    calls: int = 0
    """How many calls were replayed."""

    cuts: int = 0
    """How many of them dropped something that the previous call had sent."""

    tokens: int = 0
    """The tokens that it would have sent, in all calls."""

    reused_tokens: int = 0
    """How many of them are in the prefix shared with the previous call."""

    largest: int = 0
    """The tokens of its largest prompt."""

    invalid: int = 0
    """How many calls the provider would have rejected."""

    too_large: int = 0
    """How many calls could not be sent, because what must stay was larger than the budget."""

    needed: int = 0
    """How many identifiers, paths and commands were needed later, over all calls where the history did not fit.

    It is the same for every policy.
    """

    kept: int = 0
    """How many of those the model got: none at a refused call."""

    rates: CacheRates = DEFAULT_RATES
    """The price of tokens."""

    @property
    def reused_share(self) -> float:
        """The share of tokens in the prefix shared with the previous call."""
        return self.reused_tokens / self.tokens if self.tokens else 0.0

    @property
    def refused(self) -> int:
        """How many calls failed, because they were invalid or too large."""
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
        """Add the figures, as if both were one session."""
        numbers = ("calls", "cuts", "tokens", "reused_tokens", "invalid", "too_large", "needed", "kept")
        sums = {name: getattr(self, name) + getattr(other, name) for name in numbers}
        return replace(self, largest=max(self.largest, other.largest), **sums)
