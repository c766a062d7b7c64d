"""Arguments shared by the public functions: names of options, and lists of messages or documents."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias

from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextBudget
from pycupel.model.checks import checked_int, checked_iterable, wrong_type
from pycupel.model.percent import percent_of

__all__ = [
    "DEFAULT_KEEP",
    "BudgetLike",
    "Pin",
    "ProviderName",
    "ResolvedProviderName",
    "Summarize",
    "TooLarge",
    "UnitName",
    "as_budget",
    "checked_list",
]

ResolvedProviderName: TypeAlias = Literal["openai", "responses", "anthropic", "gemini", "mistral"]
"""The names of the providers."""

ProviderName: TypeAlias = Literal["auto", ResolvedProviderName]
"""The names of the providers; "auto" detects the provider from the messages."""

UnitName: TypeAlias = Literal["auto", "turn"]
"""What stays or goes as a whole: "auto" for messages and exchanges of calls and results, "turn" for turns."""

TooLarge: TypeAlias = Literal["drop", "error", "shorten"]
"""What `select_messages` does with an old unit that is larger than the budget."""

DEFAULT_KEEP = 3
"""How many of the newest results stay whole by default."""

BudgetLike: TypeAlias = ContextBudget | int | str
Pin: TypeAlias = Iterable[int] | Callable[[Any], object]
Summarize: TypeAlias = Callable[[list[Any], str | None], str | Awaitable[str]]

_SHARE = r"\s*(\d+(?:\.\d+)?)\s*%\s*"


def as_budget(budget: BudgetLike, model: str | None) -> ContextBudget | int:
    """Return the caller's budget; a share of the model's window, such as "75%", becomes a number of tokens.

    Raises:
        TypeError: the budget is none of these.
        InvalidArgumentError: the share is invalid, or the model's window is unknown.
    """
    if isinstance(budget, ContextBudget):
        return budget
    if not isinstance(budget, str):
        try:
            return checked_int("budget", budget)
        except TypeError:
            raise wrong_type("budget", "an int, a ContextBudget or a share such as '75%'", budget) from None
    found = re.fullmatch(_SHARE, budget, re.ASCII)
    if found is None:
        raise InvalidArgumentError(
            f"budget must be a number of tokens, or a share such as '75%', not {budget!r}",
            argument="budget",
            value=budget,
            hint=f"Pass the number as an int: {budget}." if budget.isdecimal() else None,
        )
    percent = float(found[1])
    if not 0.0 < percent <= 100.0:
        raise InvalidArgumentError(
            f"a budget in percent must be above 0% and at most 100%, not {budget!r}", argument="budget", value=budget
        )
    if model is None:
        raise InvalidArgumentError(
            f"the budget {budget!r} is a share of the model's window, but no model was given",
            argument="budget",
            value=budget,
            hint="Pass model=, or a number of tokens.",
        )
    from pycupel.tokens.windows import window_of  # noqa: PLC0415 - most budgets are numbers

    return percent_of(window_of(model), percent)


def checked_list(argument: str, value: Any) -> list[Any]:
    """Copy the caller's messages or documents to a list. A single one, a dict, is not accepted."""
    expected = f"a list of {argument}"
    if isinstance(value, Mapping):
        error = wrong_type(argument, expected, value)  # pyright: ignore[reportUnknownArgumentType]
        if argument in value:
            error.add_note(f"Pass the list itself: request[{argument!r}].")
        raise error
    return list(checked_iterable(argument, expected, value))
