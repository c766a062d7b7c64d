"""Context windows of common models: the tokens of a prompt and its reply together."""

from __future__ import annotations

from functools import lru_cache

from pycupel.errors import InvalidArgumentError
from pycupel.model.names import suggestion
from pycupel.text import quoted
from pycupel.tokens.models import family_of, normalized_model
from pycupel.tokens.tables import read_table


@lru_cache(maxsize=1)
def _windows() -> dict[str, int]:
    """Return the windows by the start of a model's name."""
    return {start: tokens for start, [tokens] in read_table("windows.txt").items()}


def window_of(model: str) -> int:
    """Return the size of a model's context window in tokens, for the prompt and the reply together.

    Where a provider raises the window for some customers, or a newer model of the same name has a larger one, this is
    the smaller number.

    Args:
        model: A name as providers, routers and clouds write it: "gpt-4o", "claude-sonnet-4-5-20250929",
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "ft:gpt-4o-mini:acme", "openai:gpt-4o".

    Raises:
        TypeError: model is not a str.
        InvalidArgumentError: the model is unknown.
    """
    name = normalized_model(model)
    # A name may continue with a version or a variant, but not within a word: `gpt-44o` is not a `gpt-4`.
    windows = _windows()
    known = [start for start in windows if name.startswith(start) and not name[len(start) : len(start) + 1].isalnum()]
    if known:
        return windows[max(known, key=len)]
    family = family_of(model)
    # The names of the family are the likelier ones; without one, all of them.
    names = [start for start in windows if family is None or family_of(start) == family]
    raise InvalidArgumentError(
        f"unknown model {quoted(model)}{suggestion(name, names)}",
        argument="model",
        value=model,
        hint="Its context window is not known: pass a number of tokens instead.",
    )
