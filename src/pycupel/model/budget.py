"""`ContextBudget`: how many tokens a selection may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pycupel.errors import InvalidBudgetError, digits
from pycupel.model.checks import checked_float, checked_int, checked_mapping, wrong_type
from pycupel.model.kind import ContextKind
from pycupel.model.percent import without_percent

__all__ = ["ContextBudget"]

_NUMBERS = ("max_tokens", "target_tokens", "output_reserve")
_NO_SLOTS: Mapping[ContextKind, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ContextBudget:
    """The limits of one run. No invalid budget exists: every rule is checked here.

    Attributes:
        max_tokens: The hard ceiling: the size of the model's context window.
        target_tokens: The soft goal of the slicer. Left out, it is `max_tokens - output_reserve`.
        output_reserve: Tokens kept free for the model's answer.
        reserved_slots: Tokens carved out, by kind, for content that you add outside the pipeline. Nothing fills them:
            to guarantee that a kind is represented, use `QuotaSlice` or `CountQuotaSlice` (DM-16).
        estimation_safety_margin_percent: A buffer for token counts that are estimates.

    Raises:
        TypeError: an argument has a wrong type.
        InvalidBudgetError: a number is out of range, or two kinds in `reserved_slots` are the same one.
    """

    max_tokens: int
    target_tokens: int
    output_reserve: int
    reserved_slots: Mapping[ContextKind, int]
    estimation_safety_margin_percent: float

    def __init__(
        self,
        max_tokens: int,
        target_tokens: int | None = None,
        *,
        output_reserve: int = 0,
        reserved_slots: Mapping[ContextKind, int] | Mapping[str, int] = _NO_SLOTS,
        estimation_safety_margin_percent: float = 0.0,
    ) -> None:
        limit = _count("max_tokens", max_tokens)
        reserve = _count("output_reserve", output_reserve)
        if reserve > limit:
            raise InvalidBudgetError(
                f"output_reserve ({digits(reserve)}) must not exceed max_tokens ({digits(limit)})",
                argument="output_reserve",
                value=reserve,
            )
        target = limit - reserve if target_tokens is None else _count("target_tokens", target_tokens)
        if target > limit:
            raise InvalidBudgetError(
                f"target_tokens ({digits(target)}) must not exceed max_tokens ({digits(limit)})",
                argument="target_tokens",
                value=target,
            )
        margin = estimation_safety_margin_percent
        if margin != 0.0 or type(margin) is not float:
            margin = checked_float("estimation_safety_margin_percent", margin, InvalidBudgetError, low=0.0, high=100.0)
        put = object.__setattr__
        put(self, "max_tokens", limit)
        put(self, "target_tokens", target)
        put(self, "output_reserve", reserve)
        put(self, "reserved_slots", reserved_slots if reserved_slots is _NO_SLOTS else _slots(reserved_slots))
        put(self, "estimation_safety_margin_percent", margin)

    @classmethod
    def of(cls, budget: Any, name: str = "budget") -> ContextBudget:
        """The budget itself, or one of that many tokens. `name` is what an error calls the argument."""
        if isinstance(budget, cls):
            return budget
        if isinstance(budget, bool) or not hasattr(budget, "__index__"):
            raise wrong_type(name, "a ContextBudget or an int", budget)
        return cls(checked_int(name, budget))

    @property
    def available_tokens(self) -> int:
        """What the output reserve leaves of the window: the most that a selection may have."""
        return self.max_tokens - self.output_reserve

    @property
    def selection_limit(self) -> int:
        """The target, or `available_tokens` if that is less: a larger selection is an overflow."""
        return min(self.target_tokens, self.available_tokens)

    def effective(self, pinned_tokens: int = 0) -> ContextBudget:
        """What pinned items, output, reserved slots and the safety margin leave to the slicer."""
        margin = self.estimation_safety_margin_percent
        if not (pinned_tokens or self.output_reserve or self.reserved_slots or margin):
            return self
        reserved_tokens = sum(self.reserved_slots.values())
        effective_max = max(0, self.max_tokens - self.output_reserve - pinned_tokens - reserved_tokens)
        effective_target = max(0, self.target_tokens - pinned_tokens - reserved_tokens)
        effective_target = min(effective_target, effective_max)
        if margin > 0:
            effective_max = without_percent(effective_max, margin)
            effective_target = without_percent(effective_target, margin)
            effective_target = min(effective_target, effective_max)
        return ContextBudget(effective_max, effective_target)

    def resized(self, max_tokens: int, target_tokens: int | None = None) -> ContextBudget:
        """A budget of another size, with all that this one holds back, as far as that is possible."""
        return ContextBudget(
            max_tokens,
            max_tokens if target_tokens is None else target_tokens,
            output_reserve=min(self.output_reserve, max_tokens),
            reserved_slots=self.reserved_slots,
            estimation_safety_margin_percent=self.estimation_safety_margin_percent,
        )

    @property
    def total_reserved(self) -> int:
        """What the output reserve and the reserved slots take together."""
        return self.output_reserve + sum(self.reserved_slots.values())

    @property
    def unreserved_capacity(self) -> int:
        """What is left of the window; negative if more is reserved than there is."""
        return self.max_tokens - self.total_reserved

    @property
    def has_capacity(self) -> bool:
        return self.unreserved_capacity > 0

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}={digits(getattr(self, name))}" for name in _NUMBERS)
        slots = ", ".join(f"{kind!r}: {digits(tokens)}" for kind, tokens in self.reserved_slots.items())
        margin = self.estimation_safety_margin_percent
        return f"ContextBudget({numbers}, reserved_slots={{{slots}}}, estimation_safety_margin_percent={margin!r})"

    def __hash__(self) -> int:
        slots = frozenset(self.reserved_slots.items())
        return hash(
            (self.max_tokens, self.target_tokens, self.output_reserve, slots, self.estimation_safety_margin_percent)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        slots = dict(self.reserved_slots)
        return _rebuild, (
            self.max_tokens,
            self.target_tokens,
            self.output_reserve,
            slots,
            self.estimation_safety_margin_percent,
        )


def _rebuild(limit: int, target: int, reserve: int, slots: dict[ContextKind, int], margin: float) -> ContextBudget:
    """What pickle and copy call, because a read-only mapping cannot be pickled."""
    return ContextBudget(
        limit, target, output_reserve=reserve, reserved_slots=slots, estimation_safety_margin_percent=margin
    )


def _count(name: str, value: Any) -> int:
    number = value if type(value) is int else checked_int(name, value)
    if number < 0:
        raise InvalidBudgetError(f"{name} must not be negative, but is {digits(number)}", argument=name, value=number)
    return number


def _slots(value: Any) -> Mapping[ContextKind, int]:
    slots: dict[ContextKind, int] = {}
    for name, tokens in checked_mapping("reserved_slots", "a mapping from kind to tokens", value).items():
        kind = ContextKind.of(name)
        if kind in slots:
            raise InvalidBudgetError(f"reserved_slots names the kind {kind.value!r} twice; kinds do not differ by case")
        slots[kind] = _count(f"reserved_slots[{kind.value!r}]", tokens)
    return MappingProxyType(slots)
