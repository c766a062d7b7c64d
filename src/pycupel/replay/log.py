"""Logged sessions and requests: what they contain, and how a file of them is read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from itertools import accumulate, compress, pairwise
from typing import Any, cast

from pycupel.errors import InvalidArgumentError
from pycupel.messages.detect import SIGNED, provider_of_part, resolve_provider
from pycupel.messages.options import ResolvedProviderName
from pycupel.messages.providers._base import COMPACTION, Provider
from pycupel.messages.providers._shapes import unknown_name
from pycupel.messages.providers._tables import COMPACTION_MESSAGES, ITEM_TYPES, STEP_TYPES
from pycupel.tokens.counters import reported_tokens
from pycupel.tokens.models import family_of
from pycupel.values import sealed

# Where parts keep their text.
_TEXTS = ("text", "content", "parts", "output")
# The fields with the tokens of a reply, and with those of a prompt that were read from and written to the cache.
_COUNTS = (
    (
        *("completion_tokens", "output_tokens", "candidatesTokenCount", "candidates_token_count"),
        *("outputTokens", "total_output_tokens"),
    ),
    (
        "cache_read_input_tokens",
        "cached_tokens",
        "cached_input_tokens",
        "cachedContentTokenCount",
        "cached_content_token_count",
        "cacheReadInputTokens",
        "total_cached_tokens",
    ),
    ("cache_creation_input_tokens", "cache_write_input_tokens", "cacheWriteInputTokens"),
)


def as_dict(value: object) -> dict[str, Any]:
    """Return the value if it is an object, or else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_dicts(value: Any) -> list[dict[str, Any]]:
    """Return the objects in an array; none if the value is not an array."""
    items: list[Any] = value if value.__class__ is list else []
    return [item for item in items if item.__class__ is dict]


def as_name(value: object) -> str | None:
    """Return the value if it is a string, else None: an id may be a list, which is not hashable."""
    return value if isinstance(value, str) else None


def as_time(value: object) -> datetime | None:
    """Return a time that is written in ISO's form or in seconds since 1970, in UTC; None for anything else."""
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value)
            return time if time.tzinfo else time.replace(tzinfo=UTC)
        return datetime.fromtimestamp(value, UTC) if type(value) in {int, float} else None  # type: ignore[arg-type]
    except (ValueError, OverflowError, OSError):
        return None


def text_in(value: Any) -> str:
    """Return the text in a value: itself, or that of its parts."""
    if isinstance(value, str):
        return value
    if value.__class__ is list:
        return "\n".join(filter(None, map(text_in, value)))
    return next((text_in(value[name]) for name in _TEXTS if as_dict(value).get(name)), "")


# The contents of a log: histories, the model calls in them, and the provider's own counts.


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

    compaction_tokens: int | None = None
    """What the provider read besides to compact the prompt, which it counts apart, in `usage.iterations`."""

    time: datetime | None = None
    """When it was logged."""

    cache_seconds: int | None = None
    """How long what it wrote to the cache lasts, if the log says so."""

    changed: str = ""
    """What was sent beside the messages in another form than at the previous call: "system_changed", "tools_changed" or
    "tool_choice_changed"; empty if nothing was, or the log does not have it.
    """

    @classmethod
    def of(cls, index: int, model: object, usage: object, time: object = None, changed: str = "") -> Call:
        """Make a call from the usage that OpenAI, Anthropic, Gemini, Bedrock or Codex report."""
        numbers = as_dict(usage)
        rounds = as_dicts(numbers.get("iterations"))
        compacting = [each for each in rounds if each.get("type") == COMPACTION]
        # Of several rounds in one call, the last one read the whole prompt; the numbers outside are their sum.
        numbers = next((each for each in reversed(rounds) if each.get("type") == "message"), numbers)
        details = as_dict(numbers.get("prompt_tokens_details")) or as_dict(numbers.get("input_tokens_details"))
        prompt = _reported(numbers)
        # A count that is not a number, such as null, is as good as missing.
        known = {**numbers, "cached_tokens": details.get("cached_tokens")}
        output, cached, written = (
            next((known[name] for name in names if type(known.get(name)) is int), None) for names in _COUNTS
        )
        read = sum(_reported(each) or 0 for each in compacting) if compacting else None
        lasting = as_dict(numbers.get("cache_creation")).get("ephemeral_1h_input_tokens")
        seconds = 3_600 if lasting else None
        return cls(index, as_name(model), prompt, output, cached, written, read, as_time(time), seconds, changed)


def _reported(usage: Mapping[str, Any]) -> int | None:
    try:
        return reported_tokens(usage)
    except InvalidArgumentError:
        return None


@sealed
@dataclass(frozen=True, slots=True)
class Compaction:
    """A point where a summary replaced everything before it in the prompt."""

    index: int
    """The messages before this index were replaced."""

    summary: str
    """The text that replaced them; it is not among the messages."""

    kept: tuple[int, ...] = ()
    """The indices of messages before it that stayed: system prompts, and calls whose results came later."""

    block: dict[str, Any] | None = None
    """The message that replaced them, if it was the provider's own; None for a message of the user with the text."""

    def sends(self, index: int) -> bool:
        """Whether a message was still sent after it."""
        return index >= self.index or index in self.kept


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

    @property
    def without_blocks(self) -> History:
        """The same history with the provider's compaction blocks among its compactions, and not in its messages."""
        blocks = {n: block for n, message in enumerate(self.messages) if (block := _block_in(message)) is not None}
        if not blocks or self.provider not in COMPACTION_MESSAGES:
            return self
        messages = [*self.messages]
        for n in blocks:
            rest = [each for each in as_dicts(messages[n].get("content")) if each.get("type") != COMPACTION]
            messages[n] = {**messages[n], "content": rest} if rest else {}
        # The index of each message among those that are left.
        indices = [*accumulate(map(bool, messages), initial=0)]
        provider = self.resolved_provider
        views = provider.read(self.messages)
        compactions = [replace(each, index=indices[each.index]) for each in self.compactions]
        for n, end in pairwise([*blocks, len(messages)]):
            covered = provider.covered(views[:end])
            kept = tuple(indices[m] for m in range(n) if m not in covered)
            message = COMPACTION_MESSAGES[provider.name](blocks[n])
            compactions.append(Compaction(indices[n], text_in(blocks[n].get("content")), kept, message))
        return replace(
            self,
            messages=tuple(compress(messages, messages)),
            calls=tuple(replace(call, index=indices[call.index]) for call in self.calls),
            compactions=tuple(sorted(compactions, key=lambda each: each.index)),
        )

    def __repr__(self) -> str:
        return f"<History: {len(self.messages)} messages for {self.provider}, {len(self.calls)} calls>"


def _block_in(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the newest compaction in a message, or the item itself, unless it failed."""
    blocks = [dict(message), *as_dicts(message.get("content"))]
    found = (each for each in reversed(blocks) if each.get("type") == COMPACTION)
    return next((each for each in found if each.get("content") or each.get("encrypted_content")), None)


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


# Read logs of requests to the APIs of the providers, and plain messages.


_Message = dict[str, Any]

# The fields of requests with the system prompt, and of responses with the counts.
_SYSTEM = ("system", "instructions", "systemInstruction", "system_instruction")
_USAGE = ("usage", "usageMetadata", "usage_metadata")
# The fields of rows and responses with their times.
_TIMES = ("timestamp", "time", "created_at", "created", "createTime")
# The fields of a reply that may be sent again.
_REPLY_KEYS = ("role", "content", "tool_calls", "function_call", "refusal")


class Requests:
    """Collects logged requests. A request that continues an earlier one belongs to its conversation."""

    def __init__(self) -> None:
        self._conversations: list[_Conversation] = []
        # The latest conversation by the digest of the messages it has sent so far.
        self._by_digest: dict[bytes, int] = {}
        self._messages = _Conversation("openai")

    def add(self, row: Mapping[str, Any]) -> bool:
        """Add a row. Returns whether it was a request or a message."""
        for request in (row, as_dict(row.get("request")), as_dict(row.get("body"))):
            provider, sent = _sent(request)
            # No request has a number as its system prompt, so it is none.
            if sent and not isinstance(system_and_tools(request)[0], (int, float)):
                self._add_request(row, request, provider, sent)
                return True
        if isinstance(row.get("role"), str):
            self._messages.sent.append(dict(row))
            return True
        return False

    def _add_request(
        self, row: Mapping[str, Any], request: Mapping[str, Any], provider: ResolvedProviderName, sent: list[_Message]
    ) -> None:
        response = as_dict(row.get("response"))
        answer = as_dict(response.get("body")) or response or row
        digests = list(_digests(provider, sent))
        index = max([self._by_digest[each] for each in digests if each in self._by_digest], default=None)
        if index is None:
            index = len(self._conversations)
            name = str(row.get("id") or row.get("custom_id") or "")
            self._conversations.append(_Conversation(provider, name))
        conversation = self._conversations[index]
        if self._by_digest.get(conversation.digest) == index:
            del self._by_digest[conversation.digest]
        conversation.digest = digests[-1]
        self._by_digest[digests[-1]] = index
        conversation.sent, conversation.reply = sent, _reply(answer)
        changed = _changed(conversation.request, request) if conversation.calls else ""
        conversation.request = request
        usage = next((each[name] for each in (answer, row) for name in _USAGE if name in each), None)
        if usage is not None or conversation.reply:
            model = answer.get("model") or answer.get("modelVersion") or request.get("model") or request.get("modelId")
            times = (each.get(name) for each in (row, answer) for name in _TIMES)
            time = next((each for each in times if each is not None), None)
            conversation.calls.append(Call.of(len(sent), model, usage, time, changed))

    def histories(self) -> Iterator[History]:
        """Return the conversations so far."""
        return (conversation.history() for conversation in (*self._conversations, self._messages))


@dataclass(slots=True)
class _Conversation:
    provider: ResolvedProviderName
    name: str = ""
    sent: list[_Message] = field(default_factory=list[_Message])
    reply: list[_Message] = field(default_factory=list[_Message])
    calls: list[Call] = field(default_factory=list[Call])
    # The last one.
    request: Mapping[str, Any] = field(default_factory=dict[str, Any])
    digest: bytes = b""

    def history(self) -> History:
        messages = [*self.sent, *self.reply]
        provider = self._chat_provider(messages) if self.provider == "openai" else self.provider
        system, tools = system_and_tools(self.request)
        called = [call.model for call in self.calls if call.model]
        model = called[-1] if called else as_name(self.request.get("model") or self.request.get("modelId"))
        return History(
            tuple(messages), provider, tuple(self.calls), id=self.name, system=system, tools=tools, model=model
        )

    def _chat_provider(self, messages: list[_Message]) -> ResolvedProviderName:
        """Determine the provider of these messages by a field that only one provider has, or else by the model."""
        known = [message for message in messages if not unknown_name(message)]
        found = {provider_of_part(block) for message in known for block in as_dicts(message.get("content"))}
        model = as_name(self.request.get("model"))
        family = None if model is None else family_of(model)
        is_signed = SIGNED in found and family != "mistral" and not any(message.get("tool_calls") for message in known)
        if "converse" in found:
            return "converse"
        if "system" in self.request or "anthropic" in found or is_signed:
            return "anthropic"
        if any("parts" in message for message in known):
            return "gemini"
        return "anthropic" if family == "anthropic" else "mistral" if family == "mistral" else "openai"


def system_and_tools(request: Mapping[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    """Return the system prompt beside a request's messages, or None, and its tool definitions."""
    beside = {**as_dict(request.get("config")), **request}
    system = next((beside[name] for name in _SYSTEM if beside.get(name)), None)
    # Converse has its tools inside.
    return system, tuple(as_dicts(beside.get("tools") or as_dict(beside.get("toolConfig")).get("tools")))


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Name what two requests have beside their messages in different forms: the first in the order of a prompt."""
    pairs = zip(system_and_tools(before), system_and_tools(after), strict=True)
    system, tools = (first != second for first, second in pairs)
    choice = before.get("tool_choice") != after.get("tool_choice")
    return "tools_changed" if tools else "system_changed" if system else "tool_choice_changed" if choice else ""


def _digests(provider: ResolvedProviderName, sent: list[_Message]) -> Iterator[bytes]:
    """Digest the first message, the first two, and so on: digests are equal if the messages are."""
    hashed = sha256(provider.encode())
    for message in sent:
        hashed.update(json.dumps(message, sort_keys=True).encode())
        yield hashed.digest()


def _sent(request: Mapping[str, Any]) -> tuple[ResolvedProviderName, list[_Message]]:
    """Return the API that a request is for, and its messages."""
    messages = as_dicts(request.get("messages"))
    if messages:
        return _provider_of_items(messages) or "openai", messages
    contents = as_dicts(request.get("contents"))
    if contents:
        return "gemini", contents
    if isinstance(request.get("input"), str) and "model" in request:
        return "responses", [{"role": "user", "content": request["input"]}]
    items = as_dicts(request.get("input"))
    return _provider_of_items(items) or "responses", items


def _provider_of_items(items: list[_Message]) -> ResolvedProviderName | None:
    """Return whose items or steps these are; None if they are messages with roles, or of unknown types."""
    # Whatever the log has as a type, a list included.
    types = {as_name(item.get("type")) for item in items if "role" not in item}
    if any(each in STEP_TYPES and each not in ITEM_TYPES for each in types):
        return "interactions"
    return "responses" if any(each in ITEM_TYPES for each in types) else None


def _reply(answer: Mapping[str, Any]) -> list[_Message]:
    """Return the messages of a response: a choice's, a candidate's, the items of Responses, or Anthropic's blocks."""
    for candidate in as_dicts(answer.get("candidates"))[:1]:
        content = as_dict(candidate.get("content"))
        return [content] if content else []
    for choice in as_dicts(answer.get("choices"))[:1]:
        message = as_dict(choice.get("message"))
        # Only the content may be null.
        reply = {key: message[key] for key in _REPLY_KEYS if key in message and (message[key] or key == "content")}
        return [reply] if reply else []
    message = as_dict(as_dict(answer.get("output")).get("message"))
    if message:
        # Converse's.
        return [message]
    if answer.get("role") == "assistant" and as_dicts(answer.get("content")):
        return [{"role": "assistant", "content": answer["content"]}]
    return as_dicts(answer.get("output")) or as_dicts(answer.get("outputs")) or as_dicts(answer.get("steps"))
