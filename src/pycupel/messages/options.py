"""The arguments that the public functions share: names of options, and lists of messages or documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias, TypeVar

from pycupel.errors import InvalidArgumentError
from pycupel.model.checks import checked_iterable, checked_str, wrong_type
from pycupel.model.names import name_key, suggestion

__all__ = ["Pin", "ProviderName", "TooLarge", "UnitName", "checked_list", "checked_name"]

ProviderName: TypeAlias = Literal["auto", "openai", "responses", "anthropic", "gemini", "mistral"]
UnitName: TypeAlias = Literal["auto", "turn"]
TooLarge: TypeAlias = Literal["drop", "error"]
Pin: TypeAlias = Iterable[int] | Callable[[Any], object]

_Name = TypeVar("_Name", bound=str)


def checked_name(argument: str, value: Any, known: Iterable[_Name]) -> _Name:
    """The known name that `value` spells, in any case and with or without `-` and `_`."""
    names = {name_key(each): each for each in known}
    name = names.get(name_key(checked_str(argument, value)))
    if name is not None:
        return name
    expected = ", ".join(names.values())
    raise InvalidArgumentError(
        f"{argument} must be one of {expected}, not {value!r}{suggestion(value, names.values())}",
        argument=argument,
        value=value,
    )


def checked_list(argument: str, value: Any) -> list[Any]:
    """The caller's messages or documents in a new list. One of them alone, a dict, is not a list of them."""
    expected = f"a list of {argument}"
    if isinstance(value, Mapping):
        raise wrong_type(argument, expected, value)  # pyright: ignore[reportUnknownArgumentType]
    return list(checked_iterable(argument, expected, value))
