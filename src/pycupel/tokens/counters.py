"""Counters by name: what counts tokens, how exactly, and which version of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeAlias

from pycupel.errors import CupelError, InvalidArgumentError
from pycupel.model.checks import as_float, checked_int, checked_positive, describe, quoted, wrong_type
from pycupel.model.frozen import sealed
from pycupel.model.names import name_key, suggestion
from pycupel.tokens.estimate import estimate_tokens

__all__ = ["Counter", "CounterLike", "get_counter", "reported_tokens"]

# What is estimated can be too low, so this much of a budget should stay free.
MARGIN_PERCENT = 5.0

# The encodings of OpenAI's models, by the start of their names, the longer first. Names are compared by `name_key`.
_MODELS: Mapping[str, str] = {
    "text-embedding-": "cl100k_base",
    "chatgpt-": "o200k_base",
    "gpt-3.5": "cl100k_base",
    "gpt-4.1": "o200k_base",
    "gpt-4.5": "o200k_base",
    "gpt-4o": "o200k_base",
    "gpt-oss": "o200k_base",
    "gpt-4": "cl100k_base",
    "gpt-5": "o200k_base",
    "o1": "o200k_base",
    "o3": "o200k_base",
    "o4": "o200k_base",
}
# Models whose tokenizers are not available offline.
_ESTIMATED = ("claude", "gemini", "mistral", "codestral", "command", "llama", "qwen", "deepseek", "grok")
_ENCODINGS = ("o200k_base", "cl100k_base")

# A provider's own count differs from ours by its formatting. More than this factor, and it is about another request.
_MOST = 4


@sealed
@dataclass(frozen=True, slots=True)
class Counter:
    """Counts the tokens of a text: `counter(text)`. Its other fields say how.

    Attributes:
        function: The function that counts.
        name: The encoding, "estimator", or the name of the caller's own function.
        version: The name and version of the package that counts.
        exact: Whether the count is the model's own.
        margin_percent: How much of a budget to leave free, because the count may be too low.
        batch: A function that counts many texts at once, or None.
    """

    function: Callable[[str], int]
    name: str
    version: str = ""
    exact: bool = False
    margin_percent: float = 0.0
    batch: Callable[[list[str]], list[int]] | None = field(default=None, repr=False)

    def __call__(self, text: str, /) -> int:
        """The tokens of a text.

        Raises:
            InvalidArgumentError: the function returned a negative number.
            TypeError: it did not return an int.
        """
        tokens = self.function(text)
        return tokens if tokens.__class__ is int and tokens >= 0 else self._checked(tokens)

    def _checked(self, tokens: Any) -> int:
        number = checked_int(f"what {self.name} returns", tokens)
        if number < 0:
            raise InvalidArgumentError(
                f"{self.name} returned {number}; a token count cannot be negative", argument="counter", value=number
            )
        return number

    def count_batch(self, texts: Iterable[str]) -> list[int]:
        """The tokens of each text. Some counters are faster with many at once."""
        if self.batch is None:
            return [self(text) for text in texts]
        return [self._checked(tokens) for tokens in self.batch(list(texts))]

    def calibrated(self, *, counted: int, reported: int) -> Counter:
        """A counter corrected by what a provider reported for a request.

        Args:
            counted: What this counter counted for the request.
            reported: What the provider reported for it; see `reported_tokens`.

        Raises:
            InvalidArgumentError: the two are too far apart to be about the same request, or not positive.
        """
        ours = checked_positive("counted", counted, InvalidArgumentError)
        theirs = checked_positive("reported", reported, InvalidArgumentError)
        if max(ours, theirs) > _MOST * min(ours, theirs):
            raise InvalidArgumentError(
                f"{reported} reported and {counted} counted tokens cannot be about the same request",
                argument="reported",
                value=reported,
            )
        name = f"{self.name} x {theirs / ours:.3f}"
        return replace(self, function=_Scaled(self, ours, theirs), name=name, exact=False, batch=None)

    def __str__(self) -> str:
        return f"{self.name} ({self.version})" if self.version else self.name


@sealed
@dataclass(frozen=True, slots=True)
class _Scaled:
    counter: Counter
    counted: int
    reported: int

    def __call__(self, text: str, /) -> int:
        """Rounded up, in whole numbers: what was counted becomes exactly what was reported."""
        return -(-self.counter(text) * self.reported // self.counted)


CounterLike: TypeAlias = Counter | Callable[[str], int] | str
"""What counts tokens: a counter, a function from str to int, or a name for `get_counter`."""


def get_counter(counter: CounterLike = "auto") -> Counter:
    """A counter by name, or the caller's own.

    Args:
        counter: "auto" for the best that is installed: exact, or else the estimator. "estimator", an encoding
            ("o200k_base", "cl100k_base"), or the name of a model, such as "gpt-4o". Or any function from str to int.

    Raises:
        InvalidArgumentError: there is no such encoding or model.
        MissingExtraError: an encoding was asked for, and nothing that knows it is installed.
    """
    if isinstance(counter, Counter):
        return counter
    if isinstance(counter, str):
        return _named(counter)
    if not callable(counter):  # pyright: ignore[reportUnnecessaryComparison]
        raise wrong_type("counter", "a function from str to int, or a name", counter)
    name = getattr(counter, "__qualname__", type(counter).__qualname__)
    margin = as_float("margin_percent", getattr(counter, "margin_percent", 0.0))
    return Counter(counter, name, margin_percent=margin, batch=getattr(counter, "count_batch", None))


@lru_cache(maxsize=64)
def _named(given: str) -> Counter:
    # Some put the provider before the model: openai/gpt-4o.
    key = name_key(given.rpartition("/")[2])
    if key == "auto":
        return _best()
    if key == "estimator" or key.startswith(_ESTIMATED):
        return _ESTIMATOR
    for encoding in _ENCODINGS:
        if key == name_key(encoding):
            return _exact(encoding)
    for start, encoding in _MODELS.items():
        if key.startswith(name_key(start)):
            return _exact(encoding)
    known = ["auto", "estimator", *_ENCODINGS, "gpt-4o", "gpt-4", "gpt-5", "o3", "claude", "gemini", "mistral"]
    raise InvalidArgumentError(
        f"unknown counter {quoted(given)}; choose from {', '.join(known)}{suggestion(key, known)}",
        argument="counter",
        value=given,
    )


def _exact(encoding: str) -> Counter:
    """A counter by a package that knows the encoding. If there is none, the error says how to install the simplest."""
    # Imported when needed: most of what they import is for reading vocabularies.
    from pycupel.tokens import splintr, tiktoken  # noqa: PLC0415

    try:
        return _from(splintr, encoding)
    except CupelError as missing:
        try:
            return _from(tiktoken, encoding)
        except CupelError as also_missing:
            missing.add_note(str(also_missing))
            raise missing from None


def _from(module: Any, encoding: str) -> Counter:
    function, version = module.load(encoding)
    return Counter(function, encoding, version, exact=True)


def _best() -> Counter:
    try:
        return _exact("o200k_base")
    except CupelError:
        return _ESTIMATOR


_ESTIMATOR = Counter(estimate_tokens, "estimator", "pycupel 1", margin_percent=MARGIN_PERCENT)


def reported_tokens(usage: Any) -> int:
    """The tokens of the prompt in a provider's report of usage: OpenAI's, Anthropic's or Gemini's.

    Args:
        usage: The `usage` or `usage_metadata` of a response, as an object or a dict.

    Raises:
        InvalidArgumentError: it has no count of prompt tokens.
    """
    for names in _USAGE:
        found = [usage.get(name) if hasattr(usage, "get") else getattr(usage, name, None) for name in names]
        numbers = [number for number in found if isinstance(number, int) and not isinstance(number, bool)]
        if numbers:
            return sum(numbers)
    raise InvalidArgumentError(f"there is no count of prompt tokens in {describe(usage)}", argument="usage")


# Anthropic counts what comes from its cache separately. The others include it, even if they list it, too.
_USAGE = (
    ("prompt_tokens",),
    ("prompt_token_count",),
    ("promptTokenCount",),
    ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
)
