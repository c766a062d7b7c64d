"""Microsoft Agent Framework: trim the messages sent to a chat client.

agent = Agent(client, tools=tools, middleware=[CupelChatMiddleware(8_000)])
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from copy import copy
from operator import attrgetter
from typing import Any

from pycupel.extras import missing_library
from pycupel.fields import as_json, is_mapping
from pycupel.integrations import _history as hooks
from pycupel.messages.providers._writing import Call, MessagePart, role_named, text, thought

try:
    from agent_framework import ChatContext, ChatMiddleware, Content, Message
except ModuleNotFoundError as error:
    raise missing_library(error, "agent-framework") from error

__all__ = ["CupelChatMiddleware"]


class CupelChatMiddleware(hooks.HistoryHook, ChatMiddleware):
    """Trims the messages sent to the chat client, at every call of a run. The session keeps all of them.

    Instructions, function tools and the schema of the response count. The rules are those of the client, unless
    `provider` is given. If the service keeps the conversation (`conversation_id`), nothing is dropped.
    """

    _framework = "agent-framework"

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Replace the messages of the call by those that fit. The run's own list is another one."""
        options = context.options or {}
        if not options.get("conversation_id"):
            client: Any = context.client
            given = options.get("tools") or ()
            tools = [each.to_json_schema_spec() if hasattr(each, "to_json_schema_spec") else each for each in given]
            context.messages = self._selector.send(
                context.messages,
                _ENTRIES,
                model=hooks.model_called(
                    options.get("model") or hooks.model_name_of(client), hooks.class_names(client)
                ),
                system=str(options.get("instructions") or ""),
                tools=[*filter(is_mapping, tools), *hooks.response_tools(hooks.response_schema(options))],
                conversation=None if context.session is None else context.session.session_id,
            )
        await call_next()


def _result(content: Content) -> MessagePart | None:
    if content.type != "function_result":
        return None
    blocks = [text(content.result if isinstance(content.result, str) else as_json(content.result))]
    blocks += [_block(each) for each in content.items or () if each.type != "text"]
    return MessagePart("tool", blocks, answers=content.call_id, failed=content.exception is not None)


def _rest(message: Message, contents: Sequence[Content]) -> MessagePart:
    calls = [each for each in contents if each.type == "function_call"]
    blocks = [_block(each) for each in contents if each.type not in ("function_call", "usage")]
    return MessagePart(
        role_named(message.role),
        blocks,
        [Call(each.call_id, each.name or "", each.arguments or {}) for each in calls],
    )


def _block(content: Content) -> dict[str, Any]:
    """Make a block: a text, thinking, a file by its kind, or else what the content has as JSON."""
    if content.type == "text":
        return text(content.text)
    if content.type == "text_reasoning":
        return thought(content.text or "", content.protected_data)
    if content.type in ("data", "uri"):
        return hooks.media_block(content.media_type)
    return text(as_json(content.to_dict()))


def _copied(message: Message, contents: list[Content]) -> Message:
    made = copy(message)
    made.contents = contents
    return made


def _with_text(content: Content, shorter: str) -> Content:
    made = copy(content)
    made.result, made.items = shorter, [Content.from_text(shorter)]
    return made


_ENTRIES = hooks.Entries(
    of=attrgetter("contents"),
    pieces=hooks.results_and_rest(attrgetter("contents"), _result, _rest),
    copied=_copied,
    with_text=_with_text,
)
