"""The limits of a model, and mappings of models to their limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pycupel.errors import InvalidArgumentError
from pycupel.model.checks import argument_of, checked_mapping, checked_positive, checked_str, wrong_type
from pycupel.text import number_text, quoted
from pycupel.values import FrozenDict


class ModelLimits(NamedTuple):
    """How many tokens a model takes and gives."""

    window: int
    """The tokens of a prompt and its reply together."""

    input: int
    """The tokens of a prompt: the window, or less if the provider always keeps a part of it for the reply."""

    output: int | None
    """The tokens of a reply; None if that is unknown."""


def checked_limits(window: Any, input: Any = None, output: Any = None, *, path: str = "") -> ModelLimits:  # noqa: A002 - the field's name
    """Return the limits of a model.

    Args:
        window: The tokens of a prompt and its reply together.
        input: The tokens of a prompt; by default the window.
        output: The tokens of a reply; None if that is unknown.
        path: What an error writes before the names of the arguments, such as `models['x'].`.

    Raises:
        TypeError: a limit is not an int.
        InvalidArgumentError: a limit is not positive, or exceeds the window.
    """
    whole = checked_positive(f"{path}window", window, InvalidArgumentError)

    def part(name: str, tokens: Any) -> int | None:
        if tokens is None:
            return None
        number = checked_positive(f"{path}{name}", tokens, InvalidArgumentError)
        if number > whole:
            raise InvalidArgumentError(
                f"{path}{name} ({number_text(number)}) must not exceed window ({number_text(whole)})",
                argument=argument_of(f"{path}{name}"),
                value=number,
            )
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
