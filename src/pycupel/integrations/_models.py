"""Find the provider whose rules apply to a framework's model, and the model's name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from pycupel.messages.options import ResolvedProviderName

__all__ = ["UNKNOWN_MODEL", "ModelInUse", "class_names", "model_in_use", "model_name_of"]

# Parts of the names of classes, systems and kinds of models. All others use OpenAI's format.
_MARKS: tuple[tuple[str, ResolvedProviderName], ...] = (
    ("anthropic", "anthropic"),
    ("claude", "anthropic"),
    ("google", "gemini"),
    ("gemini", "gemini"),
    ("vertex", "gemini"),
    ("mistral", "mistral"),
    ("openai", "openai"),
)
_NAME_FIELDS = ("model_name", "model", "model_id")


class ModelInUse(NamedTuple):
    """A model, as far as a framework's object shows it."""

    provider: ResolvedProviderName | None = None
    """The provider whose rules apply; None if it is unknown."""

    name: str | None = None
    """Its name, known or not; None if it has none."""


UNKNOWN_MODEL = ModelInUse()


def model_in_use(kinds: Iterable[object], name: object) -> ModelInUse:
    """Identify a model by these names.

    Args:
        kinds: Names of its class, its system, or its kind, the most specific first.
        name: Its own name. Claude's rules apply wherever it runs; other models follow those of their server.
    """
    called = name if isinstance(name, str) and name else None
    if called is not None and "claude" in called.lower():
        return ModelInUse("anthropic", called)
    for kind in kinds:
        text = str(kind).lower()
        for mark, provider in _MARKS:
            if mark in text:
                return ModelInUse(provider, called)
    return ModelInUse(None, called)


def class_names(model: Any) -> list[str]:
    """Return the names of the model's class and its base classes."""
    return [each.__name__ for each in type(model).__mro__]


def model_name_of(model: Any) -> str | None:
    """Return the model's own name, from the first of the attributes that usually have it."""
    found = (getattr(model, name, None) for name in _NAME_FIELDS)
    return next((each for each in found if isinstance(each, str)), None)
