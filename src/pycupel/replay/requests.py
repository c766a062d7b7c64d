"""Logs of requests to OpenAI's APIs and those like it, and plain messages, one on a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pycupel.replay.log import Call, History

__all__ = ["Requests"]

_Message = dict[str, Any]

_CHAT, _RESPONSES, _ANTHROPIC = "openai", "responses", "anthropic"
# What only Anthropic's messages have.
_ANTHROPIC_BLOCKS = {"tool_use", "tool_result", "thinking", "redacted_thinking"}
# What a reply has that may be sent again.
_REPLY_KEYS = ("role", "content", "tool_calls", "function_call", "refusal")


class Requests:
    """Collects logged requests. Those that continue an earlier one are one conversation with it."""

    def __init__(self) -> None:
        self._conversations: list[_Conversation] = []
        self._messages = _Conversation(_CHAT)

    def add(self, row: Mapping[str, Any]) -> bool:
        """Add a row. Returns whether it was a request or a message."""
        for request in (row, row.get("request"), row.get("body")):
            sent = _sent(request) if isinstance(request, dict) else None
            if sent is not None:
                self._add_request(row, request, *sent)
                return True
        if isinstance(row.get("role"), str):
            self._messages.sent.append(dict(row))
            return True
        return False

    def _add_request(
        self, row: Mapping[str, Any], request: Mapping[str, Any], provider: str, sent: list[_Message]
    ) -> None:
        response = row.get("response")
        if isinstance(response, dict) and isinstance(response.get("body"), dict):
            response = response["body"]
        answer: Mapping[str, Any] = response if isinstance(response, dict) else row
        conversation = next(
            (each for each in reversed(self._conversations) if each.is_continued_by(provider, sent)), None
        )
        if conversation is None:
            conversation = _Conversation(provider, name=str(row.get("id") or row.get("custom_id") or ""))
            self._conversations.append(conversation)
        conversation.sent, conversation.reply = sent, _reply(answer)
        usage = answer.get("usage", row.get("usage"))
        if usage is not None or conversation.reply:
            model = answer.get("model") or request.get("model")
            conversation.calls.append(Call.of(len(sent), model, usage))

    def histories(self) -> Iterator[History]:
        """The conversations so far."""
        yield from (conversation.history() for conversation in (*self._conversations, self._messages))


@dataclass(slots=True)
class _Conversation:
    provider: str
    name: str = ""
    sent: list[_Message] = field(default_factory=list[_Message])
    reply: list[_Message] = field(default_factory=list[_Message])
    calls: list[Call] = field(default_factory=list[Call])

    def is_continued_by(self, provider: str, sent: list[_Message]) -> bool:
        return provider == self.provider and sent[: len(self.sent)] == self.sent

    def history(self) -> History:
        messages = [*self.sent, *self.reply]
        provider = _ANTHROPIC if self.provider == _CHAT and any(map(_is_anthropic, messages)) else self.provider
        return History(tuple(messages), provider, tuple(self.calls), id=self.name)


def _sent(request: Mapping[str, Any]) -> tuple[str, list[_Message]] | None:
    """The API that a request is for, and its messages; None if it has none."""
    for provider, key in ((_CHAT, "messages"), (_RESPONSES, "input")):
        messages = request.get(key)
        if isinstance(messages, list) and messages and all(isinstance(message, dict) for message in messages):
            return provider, messages
    if isinstance(request.get("input"), str) and "model" in request:
        return _RESPONSES, [{"role": "user", "content": request["input"]}]
    return None


def _reply(answer: Mapping[str, Any]) -> list[_Message]:
    """The messages of an answer: a choice's, the items of Responses, or Anthropic's blocks."""
    choices = answer.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        message = choices[0].get("message")
        if isinstance(message, dict):
            return [
                {
                    key: message[key]
                    for key in _REPLY_KEYS
                    if message.get(key) is not None or key in message and key == "content"
                }
            ]
    output = answer.get("output")
    if isinstance(output, list):
        return [item for item in output if isinstance(item, dict)]
    if answer.get("role") == "assistant" and isinstance(answer.get("content"), list):
        return [{"role": "assistant", "content": answer["content"]}]
    return []


def _is_anthropic(message: _Message) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(
        isinstance(block, dict) and block.get("type") in _ANTHROPIC_BLOCKS for block in content
    )
