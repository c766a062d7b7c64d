"""The contents of a log: histories, the model calls in them, and the provider's own counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pycupel.errors import InvalidArgumentError
from pycupel.messages.detect import resolve_provider
from pycupel.messages.options import ResolvedProviderName
from pycupel.messages.providers._base import Provider
from pycupel.replay.shapes import as_dict, as_name
from pycupel.tokens.counters import reported_tokens
from pycupel.values import sealed

__all__ = ["Call", "Compaction", "History", "Log"]


@sealed
@dataclass(frozen=True, slots=True)
class Call:
    """A model call.

    A count is None if the log does not have it, which is not the same as 0.
    """

    index: int
    """The prompt was `messages[:index]` of the history (since the last compaction, its summary and what follows); the
    reply, if it was logged, is `messages[index]`.
    """

    model: str | None = None
    """The model's name, or None."""

    prompt_tokens: int | None = None
    """The provider's count of the whole prompt, cached tokens included."""

    output_tokens: int | None = None
    """The provider's count of the reply."""

    cache_read_tokens: int | None = None
    """The part of the prompt that came from the cache."""

    cache_write_tokens: int | None = None
    """The part of the prompt that was written to the cache."""

    @classmethod
    def of(cls, index: int, model: object, usage: object) -> Call:
        """Make a call from the usage that OpenAI, Anthropic, Gemini or Codex report."""
        numbers = as_dict(usage)
        details = as_dict(numbers.get("prompt_tokens_details")) or as_dict(numbers.get("input_tokens_details"))
        read = _number(numbers.get("cache_read_input_tokens"))
        written = _number(numbers.get("cache_creation_input_tokens"))
        try:
            prompt = reported_tokens(numbers)
        except InvalidArgumentError:
            prompt = None
        cached = _first(numbers, "cached_input_tokens", "cachedContentTokenCount", "cached_content_token_count")
        return cls(
            index,
            as_name(model),
            prompt,
            _first(numbers, "completion_tokens", "output_tokens", "candidatesTokenCount", "candidates_token_count"),
            _number(read, details.get("cached_tokens"), cached),
            _number(written, numbers.get("cache_write_input_tokens")),
        )


def _first(numbers: Mapping[str, Any], *names: str) -> int | None:
    return _number(*map(numbers.get, names))


def _number(*values: object) -> int | None:
    """Return the first int among the values."""
    return next((value for value in values if isinstance(value, int) and not isinstance(value, bool)), None)


@sealed
@dataclass(frozen=True, slots=True)
class Compaction:
    """A point where a summary replaced everything before it in the prompt."""

    index: int
    """The messages before this index were replaced."""

    summary: str
    """The text that replaced them; it is not among the messages."""


@sealed
@dataclass(frozen=True, slots=True)
class History:
    """One conversation."""

    messages: tuple[dict[str, Any], ...]
    """The messages in the provider's shape, as dicts."""

    provider: ResolvedProviderName
    """The provider of the messages, as `select_messages` takes it."""

    calls: tuple[Call, ...] = ()
    """The model calls, in order."""

    compactions: tuple[Compaction, ...] = ()
    """Where the conversation was compacted, in order. The messages before stay in `messages`."""

    id: str = ""
    """The name of the conversation in the log, or an empty string."""

    is_sidechain: bool = False
    """Whether it belongs to a subagent of the main conversation."""

    dropped_blocks: int = 0
    """The number of blocks left out because the provider would reject the history with them: a call without its result,
    a result without its call, empty text, thinking without a signature.
    """

    system: Any = None
    """The system prompt that was sent beside the messages, or None."""

    tools: tuple[Any, ...] = ()
    """The definitions of tools that were sent with them."""

    model: str | None = field(default=None, compare=False)
    """The model that was called last, or None. It is not compared."""

    @property
    def resolved_provider(self) -> Provider:
        """The provider as a value, with the prices of the model."""
        return resolve_provider(self.messages, self.provider, self.model)

    def __repr__(self) -> str:
        return f"<History: {len(self.messages)} messages for {self.provider}, {len(self.calls)} calls>"


@sealed
@dataclass(frozen=True, slots=True)
class Log:
    """The contents of a log file."""

    histories: tuple[History, ...]
    """The conversations in the order of their first messages, sidechains last."""

    skipped_lines: int = 0
    """The number of lines that are not a JSON object, such as half-written ones, or nested too deeply."""

    def __repr__(self) -> str:
        histories, lines = len(self.histories), self.skipped_lines
        return (
            f"<Log: {histories} {'history' if histories == 1 else 'histories'}, "
            f"{lines} skipped {'line' if lines == 1 else 'lines'}>"
        )

    @classmethod
    def of(cls, histories: Iterable[History], skipped_lines: int) -> Log:
        """Make a log of the histories that have messages, sidechains last."""
        found = [history for history in histories if history.messages]
        return cls(tuple(sorted(found, key=lambda history: history.is_sidechain)), skipped_lines)
