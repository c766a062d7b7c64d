"""The limits of models, known, registered or those of a policy, and budgets that are a share of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextBudget
from pycupel.model.budget import ModelLimits, checked_limits, checked_model_name, percent_of
from pycupel.model.checks import checked_int, checked_str, fold, suggestion, wrong_type
from pycupel.text import number_text, quoted
from pycupel.tokens.models import family_of, normalized_model, read_table

BudgetLike: TypeAlias = ContextBudget | int | str
"""A budget, a number of tokens, or a share of what a model takes, such as "75%"."""

_SHARE = r"\s*(\d+(?:\.\d+)?)\s*%\s*"
_NO_MODELS: Mapping[str, ModelLimits] = {}
# What this process has registered, by the folded name.
_registered: dict[str, ModelLimits] = {}


def limits_of(model: str) -> ModelLimits:
    """Return how many tokens a model takes and gives.

    Where a provider raises a limit for some customers, or a newer model of the same name has a higher one, this is the
    lower number. `register_model` sets another.

    Args:
        model: A name as providers, routers and clouds write it: "gpt-4o", "claude-sonnet-4-5-20250929",
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "ft:gpt-4o-mini:acme", "openai:gpt-4o".

    Raises:
        TypeError: model is not a str.
        InvalidArgumentError: the model is unknown.
    """
    return known_limits(model, _NO_MODELS)


def window_of(model: str) -> int:
    """Return the size of a model's context window in tokens, for the prompt and the reply together.

    Args:
        model: A name, as `limits_of` takes it.

    Raises:
        TypeError: model is not a str.
        InvalidArgumentError: the model is unknown.
    """
    return limits_of(model).window


def register_model(name: str, *, window: int, input: int | None = None, output: int | None = None) -> None:  # noqa: A002 - the field's name
    """Set the limits of a model for this process, such as those of a local model, or of your contract.

    They replace those that are known or were registered before. They are for this model alone, and not, as the known
    ones, also for those whose names go on after its name.

    Args:
        name: The model's name. Prefixes of routers, dates and case do not matter, as in `limits_of`.
        window: The tokens of a prompt and its reply together.
        input: The tokens of a prompt; by default the window.
        output: The tokens of a reply, if that is known.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidArgumentError: the name is empty, a limit is not positive, or `input` or `output` exceeds the window.
    """
    key = fold(checked_model_name("name", name)).strip()
    _registered[key] = checked_limits(window, input, output)


def find_limits(model: str, models: Mapping[str, ModelLimits] = _NO_MODELS) -> ModelLimits | None:
    """Return the limits of a model, or None if it is unknown. A policy's `models` go before registered ones.

    Raises:
        TypeError: model is not a str.
    """
    checked_str("model", model)
    own = {**_registered, **{fold(name).strip(): limits for name, limits in models.items()}}
    name = next((each for each in _spellings(model) if each in own), None) if own else None
    return _in_table(model) if name is None else own[name]


def as_budget(
    budget: BudgetLike, model: str | None, models: Mapping[str, ModelLimits] = _NO_MODELS
) -> ContextBudget | int:
    """Return the caller's budget; a share of the model's input limit, such as "75%", becomes a number of tokens.

    Raises:
        TypeError: the budget is none of these.
        InvalidArgumentError: the share is invalid, or the model is unknown.
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
            f"the budget {budget!r} is a share of what the model takes, but no model was given",
            argument="budget",
            value=budget,
            hint="Pass model=, or a number of tokens.",
        )
    return percent_of(known_limits(model, models).input, percent)


class Allowance(NamedTuple):
    """What a budget allows for a model."""

    budget: ContextBudget | int
    """The budget in tokens, within the limits of the model."""

    limits: ModelLimits | None
    """The limits of the model; None if there is no model, or it is unknown."""

    notes: tuple[str, ...] = ()
    """A note if the limits allow less than the budget."""


def allowance(budget: BudgetLike, model: str | None, models: Mapping[str, ModelLimits] = _NO_MODELS) -> Allowance:
    """Return what a budget allows for a model.

    A prompt is at most the budget without its reserve, the model's input limit, and its window without the reserve.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidArgumentError: the budget is an invalid share, or one of an unknown model.
    """
    wanted = as_budget(budget, model, models)
    limits = None if model is None else find_limits(model, models)
    if model is None or limits is None:
        return Allowance(wanted, None)
    whole = ContextBudget.of(wanted)
    reserve, available = whole.output_reserve, whole.available_tokens
    room = min(available, limits.input, max(0, limits.window - reserve))
    if room == available:
        return Allowance(wanted, limits)
    why = f"the most input that {quoted(model)} takes"
    if room < limits.input:
        why = f"what the output reserve of {number_text(reserve)} leaves of the window of {quoted(model)}"
    note = (
        f"a prompt has at most {number_text(room)} tokens, {why}, although the budget allows {number_text(available)}; "
        "register_model sets other limits"
    )
    # A number stays a number: a budget would have a target.
    if wanted is not whole:
        return Allowance(room, limits, (note,))
    smaller = whole.resized(room + reserve, min(whole.target_tokens, room))
    return Allowance(smaller, limits, (note,))


def known_limits(model: str, models: Mapping[str, ModelLimits]) -> ModelLimits:
    """Return the limits of a model; a policy's `models` go before registered ones.

    Raises:
        TypeError: model is not a str.
        InvalidArgumentError: the model is unknown.
    """
    limits = find_limits(model, models)
    if limits is not None:
        return limits
    family = family_of(model)
    # The names of the family are the likelier ones; without one, all of them.
    known: Iterable[str] = (*limits_table(), *_registered, *models)
    names = [name for name in known if family is None or family_of(name) == family]
    raise InvalidArgumentError(
        f"unknown model {quoted(model)}{suggestion(normalized_model(model), names)}",
        argument="model",
        value=model,
        hint="Its limits are not known: pass a number of tokens, or set them with register_model.",
    )


# Agents ask for the same model in every call, and to normalise its name takes longer than to look it up.
@lru_cache(maxsize=256)
def _spellings(model: str) -> tuple[str, ...]:
    """Return what a model may be registered as, the most specific first: a tag such as `:8b` is another model."""
    whole = fold(model).strip()
    name = whole.rpartition("/")[2]
    return whole, name, name.partition(":")[2], normalized_model(model)


@lru_cache(maxsize=1)
def limits_table() -> dict[str, ModelLimits]:
    """Return the known limits by the start of a model's name."""
    return {start: checked_limits(*numbers) for start, numbers in read_table("limits.txt").items()}


def row_of(name: str) -> str | None:
    """Return the start in the table that a normalised name has, the longest of several; None if there is none."""
    # A name may continue with a version or a variant, but not within a word: `gpt-44o` is not a `gpt-4`.
    starts = [
        start for start in limits_table() if name.startswith(start) and not name[len(start) : len(start) + 1].isalnum()
    ]
    return max(starts, key=len, default=None)


@lru_cache(maxsize=256)
def _in_table(model: str) -> ModelLimits | None:
    row = row_of(normalized_model(model))
    return None if row is None else limits_table()[row]
