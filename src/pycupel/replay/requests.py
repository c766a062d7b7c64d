"""Read logs of requests to the APIs of OpenAI, Anthropic, Gemini and Mistral, and plain messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from pycupel.messages.detect import provider_of_part
from pycupel.messages.options import ResolvedProviderName
from pycupel.replay.log import Call, History
from pycupel.replay.shapes import as_dict, as_dicts, as_name
from pycupel.tokens.models import family_of

__all__ = ["Requests", "system_and_tools"]

_Message = dict[str, Any]

_CHAT: ResolvedProviderName = "openai"
_RESPONSES: ResolvedProviderName = "responses"
_GEMINI: ResolvedProviderName = "gemini"
_ANTHROPIC: ResolvedProviderName = "anthropic"
_MISTRAL: ResolvedProviderName = "mistral"
# The fields of requests with the system prompt, and of responses with the counts.
_SYSTEM = ("system", "instructions", "systemInstruction", "system_instruction")
_USAGE = ("usage", "usageMetadata", "usage_metadata")
# The fields of a reply that may be sent again.
_REPLY_KEYS = ("role", "content", "tool_calls", "function_call", "refusal")


class Requests:
    """Collects logged requests. A request that continues an earlier one belongs to its conversation."""

    def __init__(self) -> None:
        self._conversations: list[_Conversation] = []
        # The latest conversation by the digest of the messages it has sent so far.
        self._by_digest: dict[bytes, int] = {}
        self._messages = _Conversation(_CHAT)

    def add(self, row: Mapping[str, Any]) -> bool:
        """Add a row. Returns whether it was a request or a message."""
        for request in (row, as_dict(row.get("request")), as_dict(row.get("body"))):
            provider, sent = _sent(request)
            if sent:
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
        conversation.request = request
        usage = next((each[name] for each in (answer, row) for name in _USAGE if name in each), None)
        if usage is not None or conversation.reply:
            model = answer.get("model") or answer.get("modelVersion") or request.get("model")
            conversation.calls.append(Call.of(len(sent), model, usage))

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
        provider = self._chat_provider(messages) if self.provider == _CHAT else self.provider
        system, tools = system_and_tools(self.request)
        called = [call.model for call in self.calls if call.model]
        model = called[-1] if called else self._model
        return History(
            tuple(messages), provider, tuple(self.calls), id=self.name, system=system, tools=tools, model=model
        )

    @property
    def _model(self) -> str | None:
        return as_name(self.request.get("model"))

    def _chat_provider(self, messages: list[_Message]) -> ResolvedProviderName:
        """Determine the provider of these messages by a field that only one provider has, or else by the model."""
        if "system" in self.request or any(map(_is_anthropic, messages)):
            return _ANTHROPIC
        if any("parts" in message for message in messages):
            return _GEMINI
        family = None if self._model is None else family_of(self._model)
        return _ANTHROPIC if family == _ANTHROPIC else _MISTRAL if family == _MISTRAL else _CHAT


def system_and_tools(request: Mapping[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    """Return the system prompt beside a request's messages, or None, and its tool definitions."""
    beside = {**as_dict(request.get("config")), **request}
    system = next((beside[name] for name in _SYSTEM if beside.get(name)), None)
    return system, tuple(as_dicts(beside.get("tools")))


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
        return _CHAT, messages
    contents = as_dicts(request.get("contents"))
    if contents:
        return _GEMINI, contents
    if isinstance(request.get("input"), str) and "model" in request:
        return _RESPONSES, [{"role": "user", "content": request["input"]}]
    return _RESPONSES, as_dicts(request.get("input"))


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
    if answer.get("role") == "assistant" and as_dicts(answer.get("content")):
        return [{"role": "assistant", "content": answer["content"]}]
    return as_dicts(answer.get("output"))


def _is_anthropic(message: _Message) -> bool:
    return any(provider_of_part(block) == _ANTHROPIC for block in as_dicts(message.get("content")))
