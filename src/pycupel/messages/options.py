"""Arguments shared by the public functions: names of options, and lists of messages or documents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias

from pycupel.model.checks import checked_iterable, wrong_type

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

Pin: TypeAlias = Iterable[int] | Callable[[Any], object]
Summarize: TypeAlias = Callable[[list[Any], str | None], str | Awaitable[str]]


def checked_list(argument: str, value: Any) -> list[Any]:
    """Copy the caller's messages or documents to a list. A single one, a dict, is not accepted."""
    expected = f"a list of {argument}"
    if isinstance(value, Mapping):
        error = wrong_type(argument, expected, value)  # pyright: ignore[reportUnknownArgumentType]
        if argument in value:
            error.add_note(f"Pass the list itself: request[{argument!r}].")
        raise error
    return list(checked_iterable(argument, expected, value))
