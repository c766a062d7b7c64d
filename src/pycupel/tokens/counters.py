"""Token counters: `Counter`, counters by name, the counts that providers report, and items that are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias, TypedDict, Unpack
from weakref import WeakKeyDictionary

from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextItem, ContextKind, ContextSource
from pycupel.model.checks import (
    as_float,
    checked_callable,
    checked_int,
    checked_positive,
    checked_str,
    name_key,
    refuse_class,
    suggestion,
)
from pycupel.text import describe, number_text, quoted
from pycupel.values import sealed

# A provider's count differs from ours, because of its formatting. Beyond this factor, it is for another request.
_MAX_FACTOR = 4

# Anthropic and Bedrock count cached tokens separately. The others include them, even if they also list them.
_USAGE = (
    ("prompt_tokens",),
    ("prompt_token_count",),
    ("promptTokenCount",),
    ("total_input_tokens",),
    ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
    ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"),
)


@sealed
@dataclass(frozen=True, slots=True)
class Counter:
    """Counts the tokens of a text: `counter(text)`. The fields say how."""

    function: Callable[[str], int]
    """The function that counts."""

    name: str
    """The encoding, "estimator", or the name of your own function."""

    version: str = ""
    """The name and version of the package that counts."""

    exact: bool = False
    """Whether the count is the model's own."""

    margin_percent: float = 0.0
    """How much of a budget to leave free, because the count may be too low."""

    batch: Callable[[list[str]], list[int]] | None = field(default=None, repr=False)
    """A function that counts many texts at once, or None."""

    def __post_init__(self) -> None:
        checked_callable("function", "a function from str to int", self.function)
        if self.batch is not None:
            checked_callable("batch", "a function from a list of str to a list of int", self.batch)

    def __call__(self, text: str, /) -> int:
        """Count the tokens of a text."""
        tokens = self.function(text)
        return tokens if tokens.__class__ is int and tokens >= 0 else self._checked(tokens)

    @property
    def direct(self) -> Callable[[str], int]:
        """The function itself if it is one of this package's, whose counts need no check; else the counter."""
        is_ours = (getattr(self.function, "__module__", None) or "").startswith("pycupel.tokens.")
        return self.function if is_ours else self

    def _checked(self, tokens: Any) -> int:
        number = checked_int(f"what {self.name} returns", tokens)
        if number < 0:
            raise InvalidArgumentError(
                f"{self.name} returned {number_text(number)}; a token count cannot be negative",
                argument="counter",
                value=number,
            )
        return number

    def count_batch(self, texts: Iterable[str]) -> list[int]:
        """Count the tokens of each text. Some counters are faster with many texts at once."""
        if self.batch is None:
            return [self(text) for text in texts]
        return [self._checked(tokens) for tokens in self.batch(list(texts))]

    def calibrated(self, *, counted: int, reported: int) -> Counter:
        """Return a counter corrected by what a provider reported for a request.

        Args:
            counted: What this counter counted for the request.
            reported: What the provider reported for it; see `reported_tokens`.
        """
        ours = checked_positive("counted", counted, InvalidArgumentError)
        theirs = checked_positive("reported", reported, InvalidArgumentError)
        if max(ours, theirs) > _MAX_FACTOR * min(ours, theirs):
            raise InvalidArgumentError(
                f"{reported} reported and {counted} counted tokens cannot belong to the same request",
                argument="reported",
                value=reported,
            )
        name = f"{self.name} x {theirs / ours:.3f}"
        # mypy does not see that a named tuple may be callable.
        scaled: Any = _Scaled(self, ours, theirs)
        return replace(self, function=scaled, name=name, exact=False, batch=None)

    def __str__(self) -> str:
        return f"{self.name} ({self.version})" if self.version else self.name


class _Scaled(NamedTuple):
    counter: Counter
    counted: int
    reported: int

    def __call__(self, text: str, /) -> int:
        """Scale the count in integers, rounded up, so that what was counted becomes exactly what was reported."""
        return -(-self.counter(text) * self.reported // self.counted)


CounterLike: TypeAlias = Counter | Callable[[str], int] | str
"""A token counter: a `Counter`, a function from str to int, or a name for `get_counter`."""


def get_counter(counter: CounterLike = "auto") -> Counter:
    """Return a counter by name, or wrap your own function.

    Args:
        counter: "auto" for the best counter installed, if the model is not known: exact for OpenAI's models, or the
            estimator. "estimator"; an encoding ("o200k_base", "cl100k_base", "tekken"); or the name of a model as
            providers, routers and clouds write it, such as "gpt-4o", "openai:gpt-4o" or
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0". Or any function from str to int.

    Returns:
        For a model, an exact counter if its vocabulary is public and installed, else an estimate with a margin; its
        `name` and `exact` say which.

    Raises:
        InvalidArgumentError: there is no such encoding or model, or the function takes messages instead of a text.
        MissingExtraError: an encoding or one of OpenAI's models was asked for, and nothing that knows it is installed.
    """
    if isinstance(counter, Counter):
        return counter
    if isinstance(counter, str):
        return _named(counter)
    refuse_class("counter", counter)
    checked_callable("counter", "a function from str to int, or a name", counter)
    name = getattr(counter, "__qualname__", type(counter).__qualname__)
    _refuse_messages(counter, name)
    margin = as_float("margin_percent", getattr(counter, "margin_percent", 0.0))
    return Counter(counter, name, margin_percent=margin, batch=getattr(counter, "count_batch", None))


# A function is tried on this text. No vocabulary has more tokens than characters in it, but a function of messages,
# such as LangChain's `count_tokens_approximately`, takes each character for a message of several tokens.
_SENTENCE = "The quick brown fox jumps over the lazy dog."
_MOST_SENTENCE_TOKENS = 2 * len(_SENTENCE)
# What has been tried, by the function, or by the object and its method's name. Nothing is kept alive for it.
_tried: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


def _refuse_messages(function: Callable[[str], int], name: str) -> None:
    """Raise an error for a function that counts messages. One that counts texts is tried at its first use only."""
    owner = getattr(function, "__self__", function)
    # What cannot be remembered is tried each time.
    with suppress(TypeError):
        if name in _tried.get(owner, ()):
            return
    try:
        tokens = function(_SENTENCE)
    except Exception:  # noqa: BLE001 - the function may know some texts only; if it knows none, its first use says so
        tokens = 0
    if tokens.__class__ is int and tokens > _MOST_SENTENCE_TOKENS:
        raise InvalidArgumentError(
            f"{name} counts {number_text(tokens)} tokens in a sentence of {len(_SENTENCE)} characters; pass a function "
            f"of a text, not of messages",
            argument="counter",
            value=tokens,
        )
    with suppress(TypeError):
        _tried.setdefault(owner, set()).add(name)


@lru_cache(maxsize=64)
def _named(given: str) -> Counter:
    # Imported when needed: a caller's own function needs neither the estimator nor the names of models.
    from pycupel.tokens.families import (  # noqa: PLC0415
        ENCODINGS,
        ESTIMATOR,
        best_counter,
        exact_counter,
        model_counter,
    )
    from pycupel.tokens.models import family_of, vocabulary_of  # noqa: PLC0415

    key = name_key(given)
    if key == "auto":
        return best_counter()
    if key == "estimator":
        return ESTIMATOR
    for encoding in ENCODINGS:
        if key == name_key(encoding):
            return exact_counter(encoding)
    vocabulary = vocabulary_of(given)
    if vocabulary is not None and family_of(given) == "openai":
        return exact_counter(vocabulary)
    found = model_counter(given)
    if found is not None:
        return found
    known = ["auto", "estimator", *ENCODINGS, "gpt-4o", "gpt-4", "gpt-5", "o3", "claude", "gemini", "mistral"]
    raise InvalidArgumentError(
        f"unknown counter {quoted(given)}; choose from {', '.join(known)}{suggestion(key, known)}",
        argument="counter",
        value=given,
        hint="For an unknown model, name one with the same tokenizer, or pass a function from str to int.",
    )


def reported_tokens(usage: Any) -> int:
    """Return the prompt tokens in a provider's report of what a request used.

    Args:
        usage: The `usage` or `usage_metadata` of a response, as an object or a dict.
    """
    for names in _USAGE:
        found = [usage.get(name) if hasattr(usage, "get") else getattr(usage, name, None) for name in names]
        numbers = [number for number in found if isinstance(number, int) and not isinstance(number, bool)]
        if numbers:
            return sum(numbers)
    raise InvalidArgumentError(
        f"no prompt token count in {describe(usage)}",
        argument="usage",
        hint="Pass the usage or usage_metadata of a response.",
    )


# `item`: an item with its tokens counted.


class _ItemFields(TypedDict, total=False):
    """The fields of an item, except content and tokens."""

    kind: ContextKind | str
    source: ContextSource | str
    priority: int | None
    tags: Iterable[str]
    metadata: Mapping[str, Any]
    timestamp: datetime | None
    future_relevance_hint: float | None
    pinned: bool
    original_tokens: int | None


def item(content: str, *, counter: CounterLike = "auto", **fields: Unpack[_ItemFields]) -> ContextItem:
    """Make a `ContextItem`, and count its tokens."""
    return ContextItem(content, get_counter(counter)(checked_str("content", content)), **fields)
