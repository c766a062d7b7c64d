"""`ContextBudget`: how many tokens a selection may have; and the limits of models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import floor
from typing import Any, NamedTuple

from pycupel.errors import InvalidArgumentError, InvalidBudgetError
from pycupel.model.checks import (
    argument_of,
    checked_count,
    checked_float,
    checked_mapping,
    checked_positive,
    checked_str,
    duplicate_kind,
    wrong_type,
)
from pycupel.model.kind import ContextKind
from pycupel.text import number_text, quoted
from pycupel.values import FrozenDict, record_repr, sealed


def percent_of(tokens: int, percent: float) -> int:
    """Apply the specification's formula in floats (QS-07), or exact arithmetic beyond their range (DM-02)."""
    try:
        return floor(percent / 100.0 * tokens)
    except OverflowError:
        numerator, denominator = percent.as_integer_ratio()
        return tokens * numerator // (100 * denominator)


def without_percent(tokens: int, percent: float) -> int:
    """Subtract a margin: the specification's formula in floats (EB-01), or exact arithmetic beyond their range."""
    try:
        return floor(tokens * (1.0 - percent / 100.0))
    except OverflowError:
        numerator, denominator = percent.as_integer_ratio()
        return tokens * (100 * denominator - numerator) // (100 * denominator)


def enlarged(tokens: int, percent: float) -> int:
    """Invert `without_percent`; the result may be a few tokens too large. For 100 percent, return `tokens`."""
    if percent <= 0.0 or percent >= 100.0:
        return tokens
    numerator, denominator = percent.as_integer_ratio()
    # In integers, because counts may be larger than any float.
    return -(-tokens * 100 * denominator // (100 * denominator - numerator)) + 1


def share_of(tokens: int, share: float) -> int:
    """Multiply by a share from 0 to 1 and round down; exact beyond the range of floats."""
    try:
        return int(tokens * share)
    except OverflowError:
        numerator, denominator = share.as_integer_ratio()
        return tokens * numerator // denominator


_NO_SLOTS: Mapping[ContextKind, int] = FrozenDict()


@sealed
@dataclass(frozen=True, slots=True, init=False, repr=False)
class ContextBudget:
    """How many tokens a selection may use. Budgets are immutable, and checked when they are built.

    Raises:
        InvalidBudgetError: a number is out of range, or `reserved_slots` lists a kind twice.
    """

    max_tokens: int
    """The hard limit: the size of the model's context window."""

    target_tokens: int
    """How much the slicer tries to select; by default `max_tokens - output_reserve`."""

    output_reserve: int
    """Tokens kept free for the model's answer."""

    reserved_slots: Mapping[ContextKind, int]
    """Tokens kept free, by kind, for content that you add outside the pipeline.

    Nothing fills them: to guarantee that a kind is represented, use `QuotaSlice` or `CountQuotaSlice`.
    """

    estimation_safety_margin_percent: float
    """How much of the budget to leave unused, in percent, because token counts are estimates."""

    __repr__ = record_repr

    def __init__(
        self,
        max_tokens: int,
        target_tokens: int | None = None,
        *,
        output_reserve: int = 0,
        reserved_slots: Mapping[ContextKind, int] | Mapping[str, int] = _NO_SLOTS,
        estimation_safety_margin_percent: float = 0.0,
    ) -> None:
        # Every call of `select` builds a budget or two, so the usual case, plain numbers, is checked right here.
        limit, reserve, target = max_tokens, output_reserve, target_tokens
        if type(limit) is not int or limit < 0:
            limit = checked_count("max_tokens", limit, InvalidBudgetError)
        if type(reserve) is not int or reserve < 0:
            reserve = checked_count("output_reserve", reserve, InvalidBudgetError)
        if reserve > limit:
            message = f"output_reserve ({number_text(reserve)}) must not exceed max_tokens ({number_text(limit)})"
            raise InvalidBudgetError(message, argument="output_reserve", value=reserve)
        if target is None:
            target = limit - reserve
        elif type(target) is not int or target < 0:
            target = checked_count("target_tokens", target, InvalidBudgetError)
        if target > limit:
            message = f"target_tokens ({number_text(target)}) must not exceed max_tokens ({number_text(limit)})"
            raise InvalidBudgetError(message, argument="target_tokens", value=target)
        margin = estimation_safety_margin_percent
        if margin != 0.0 or type(margin) is not float:
            margin = checked_float("estimation_safety_margin_percent", margin, InvalidBudgetError, low=0.0, high=100.0)
        _put_max(self, limit)
        _put_target(self, target)
        _put_reserve(self, reserve)
        _put_slots(self, reserved_slots if reserved_slots is _NO_SLOTS else _checked_slots(reserved_slots))
        _put_margin(self, margin)

    @classmethod
    def of(cls, budget: Any, name: str = "budget") -> ContextBudget:
        """Return a budget as it is, or make one from a number of tokens. `name` is what an error calls it."""
        if isinstance(budget, cls):
            return budget
        if isinstance(budget, bool) or not hasattr(budget, "__index__"):
            raise wrong_type(name, "a ContextBudget or an int", budget)
        return cls(budget if type(budget) is int and budget >= 0 else checked_count(name, budget, InvalidBudgetError))

    @property
    def available_tokens(self) -> int:
        """The window without the output reserve: the most tokens that a selection may use."""
        return self.max_tokens - self.output_reserve

    @property
    def selection_limit(self) -> int:
        """The target, or `available_tokens` if that is less. A larger selection overflows."""
        target, available = self.target_tokens, self.max_tokens - self.output_reserve
        if target > available:
            return available
        return target

    def effective(self, pinned_tokens: int = 0) -> ContextBudget:
        """The budget of the slicer, without pinned items, output reserve, reserved slots and safety margin."""
        margin = self.estimation_safety_margin_percent
        if pinned_tokens == 0 and not (self.output_reserve or self.reserved_slots or margin):
            return self
        reserved_tokens = sum(self.reserved_slots.values())
        pinned = pinned_tokens
        if type(pinned) is not int or pinned < 0:
            pinned = checked_count("pinned_tokens", pinned, InvalidBudgetError)
        effective_max = max(0, self.max_tokens - self.output_reserve - pinned - reserved_tokens)
        effective_target = max(0, self.target_tokens - pinned - reserved_tokens)
        effective_target = min(effective_target, effective_max)
        if margin > 0:
            effective_max = without_percent(effective_max, margin)
            effective_target = without_percent(effective_target, margin)
            effective_target = min(effective_target, effective_max)
        return ContextBudget(effective_max, effective_target)

    def resized(self, max_tokens: int, target_tokens: int | None = None) -> ContextBudget:
        """Make a budget of another size with the same reserves; the output reserve shrinks if the window requires it.

        The target is `max_tokens`, unless another one is given.
        """
        limit = checked_count("max_tokens", max_tokens, InvalidBudgetError)
        return ContextBudget(
            limit,
            limit if target_tokens is None else target_tokens,
            output_reserve=min(self.output_reserve, limit),
            reserved_slots=self.reserved_slots,
            estimation_safety_margin_percent=self.estimation_safety_margin_percent,
        )

    @property
    def total_reserved(self) -> int:
        """The sum of the output reserve and the reserved slots."""
        return self.output_reserve + sum(self.reserved_slots.values())

    @property
    def unreserved_capacity(self) -> int:
        """The window without the reserves; negative if they exceed it."""
        return self.max_tokens - self.total_reserved

    @property
    def has_capacity(self) -> bool:
        """Whether the reserves leave any tokens free."""
        return self.unreserved_capacity > 0


# The slots of the class itself: `object.__setattr__` takes three times as long.
_put_max, _put_target, _put_reserve, _put_slots, _put_margin = [
    vars(ContextBudget)[each.name].__set__ for each in fields(ContextBudget)
]


def _checked_slots(value: Any) -> FrozenDict[ContextKind, int]:
    slots: dict[ContextKind, int] = {}
    for name, tokens in checked_mapping("reserved_slots", "a mapping from kind to tokens", value).items():
        kind = ContextKind.of(name, "reserved_slots: kind")
        if kind in slots:
            raise duplicate_kind("reserved_slots", kind.value, InvalidBudgetError)
        slots[kind] = checked_count(f"reserved_slots[{quoted(kind.value)}]", tokens, InvalidBudgetError)
    return FrozenDict(slots)


# The limits of a model, and mappings of models to their limits.


class ModelLimits(NamedTuple):
    """How many tokens a model takes and gives."""

    window: int
    """The tokens of a prompt and its reply together."""

    input: int
    """The tokens of a prompt: the window, or less if the provider always keeps a part of it for the reply."""

    output: int | None
    """The tokens of a reply; None if that is unknown."""


def checked_limits(window: Any, input: Any = None, output: Any = None, *, path: str = "") -> ModelLimits:  # noqa: A002 - the field's name
    """Return the limits of a model. `path` is what an error writes before a name, such as `models['x'].`."""
    whole = checked_positive(f"{path}window", window, InvalidArgumentError)

    def part(name: str, tokens: Any) -> int | None:
        if tokens is None:
            return None
        number = checked_positive(f"{path}{name}", tokens, InvalidArgumentError)
        if number > whole:
            message = f"{path}{name} ({number_text(number)}) must not exceed window ({number_text(whole)})"
            raise InvalidArgumentError(message, argument=argument_of(f"{path}{name}"), value=number)
        return number

    return ModelLimits(whole, part("input", input) or whole, part("output", output))


def checked_model_name(name: str, value: Any) -> str:
    """Check for the name of a model. `name` is what an error calls the argument."""
    model = checked_str(name, value)
    if not model.strip():
        raise InvalidArgumentError(f"{name} must not be empty", argument=argument_of(name), value=value)
    return model


def checked_models(name: str, value: Any) -> Mapping[str, ModelLimits]:
    """Check for a mapping of models' names to their limits, and freeze it."""
    models: dict[str, ModelLimits] = {}
    for key, limits in checked_mapping(name, "a mapping of models' names to ModelLimits", value).items():
        model = checked_model_name(f"{name}: a name", key)
        path = f"{name}[{quoted(model)}]"
        if not isinstance(limits, ModelLimits):
            raise wrong_type(path, "a ModelLimits", limits)
        # A named tuple is not checked when it is made.
        models[model] = checked_limits(*limits, path=f"{path}.")
    return FrozenDict(models)
