"""Read chat histories: messages, a request, or a request on each line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from pycupel.cli.hints import HISTORY, MESSAGE_KEYS, hint_at
from pycupel.cli.inputs import location_of, open_text, values_in
from pycupel.errors import DocumentError
from pycupel.text import describe_value

__all__ = ["Conversation", "conversations_in", "read_conversations"]

_REPLY_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
# Where Gemini's requests have them.
_OPTIONS = ("generationConfig", "generation_config", "config")


class Conversation(NamedTuple):
    """The messages of a request, or a history without one."""

    messages: list[Any]
    """The messages, as they are in the file."""

    request: dict[str, Any] | None = None
    """The request that they are in, or None."""

    key: str = ""
    """Where in the request they are."""

    is_lines: bool = False
    """Whether the file has a message on each line."""

    number: int = 1
    """Which record of the file it is, from 1."""

    @property
    def beside(self) -> dict[str, Any]:
        """The system prompt, tools and model of the request, as arguments of `select_messages` and `count_messages`."""
        from pycupel.replay.requests import system_and_tools  # noqa: PLC0415 - items do not need it

        system, tools = system_and_tools(self.request or {})
        if not isinstance(system, str | list | dict | None):
            problem = f"the system prompt must be a string, blocks or a message, not {describe_value(system)}"
            raise DocumentError(f"record {self.number}: {problem}")
        model = (self.request or {}).get("model")
        return {"system": system, "tools": tools or None, "model": model if isinstance(model, str) else None}

    @property
    def reply_tokens(self) -> int:
        """The most tokens of a reply that the request asks for; 0 if it does not say."""
        from pycupel.replay.shapes import as_dict  # noqa: PLC0415 - items do not need it

        request = self.request or {}
        places = [request, *(as_dict(request.get(name)) for name in _OPTIONS)]
        limits = [place.get(name) for place in places for name in _REPLY_LIMITS]
        return max([limit for limit in limits if type(limit) is int], default=0)

    def documents(self, messages: list[Any]) -> list[Any]:
        """Write other messages in the form of the file, one document per line."""
        if self.request is not None:
            return [{**self.request, self.key: messages}]
        return messages if self.is_lines else [messages]


def read_conversations(path: str, max_line: int) -> list[Conversation]:
    """Read the chat histories in a file."""
    with open_text(path, max_line) as lines:
        return conversations_in(lines)


def conversations_in(lines: Iterable[str]) -> list[Conversation]:
    """Read the chat histories in the lines of a file.

    Raises:
        DocumentError: there is something other than messages or requests.
    """
    values = list(values_in(lines))
    for number, located in enumerate(values, 1):
        if located.value.__class__ is not dict:
            raise DocumentError(f"{location_of(number, located)}: a message or a request must be an object")
    requests = [_request(each.value, number) for number, each in enumerate(values, 1)]
    found = [each for each in requests if each is not None]
    if not found:
        if hint := hint_at(values[0].value, HISTORY):
            raise DocumentError(f"is not a chat history{hint}")
        return [Conversation([each.value for each in values], is_lines=not values[0].is_element and len(values) > 1)]
    if len(found) < len(values):
        number = requests.index(None) + 1
        raise DocumentError(f"{location_of(number, values[number - 1])}: has no messages, but other records do")
    return found


def _request(value: dict[str, Any], number: int) -> Conversation | None:
    # A message of the Responses API may also have an `input`, but it has a type.
    if "role" in value or "type" in value:
        return None
    for key in MESSAGE_KEYS:
        messages = value.get(key)
        if messages is None:
            continue
        if isinstance(messages, str):
            messages = [_user_message(messages, key)]
        if not isinstance(messages, list):
            raise DocumentError(f"record {number}: {key} must be a list of messages, not {describe_value(messages)}")
        return Conversation(messages, value, key, number=number)
    return None


def _user_message(text: str, key: str) -> dict[str, Any]:
    """Make the message that Responses and Gemini take a text for."""
    return {"role": "user", "parts": [{"text": text}]} if key == "contents" else {"role": "user", "content": text}
