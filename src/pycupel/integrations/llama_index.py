"""LlamaIndex: trim an agent's or a chat engine's history, and the retrieved nodes of a query engine.

memory = CupelMemory(budget=8_000, llm=llm)
engine = index.as_query_engine(node_postprocessors=[CupelPostprocessor(budget=4_000)])
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pycupel.extras import missing_library
from pycupel.integrations import _history as hooks
from pycupel.messages.providers._writing import Call, MessagePart, openai_call, role_named, text, thought

try:
    from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.memory.types import BaseChatStoreMemory
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import NodeWithScore, QueryBundle
except ModuleNotFoundError as error:
    raise missing_library(error, "llama-index") from error

__all__ = ["CupelMemory", "CupelPostprocessor"]


class CupelMemory(BaseChatStoreMemory):
    """A memory whose `get` returns what fits. The chat store keeps every message, and `get_all` returns them.

    The rules are those of `llm`, unless the options name a provider. What an agent does within one run is not yet in
    the memory: leave room for it, and for the reply.
    """

    model_config = hooks.NO_OTHER_FIELDS

    budget: Any
    """The limits, or a number of tokens, as for `select_messages`."""

    llm: Any = Field(default=None, exclude=True)
    """The model that the messages are sent to; it determines how tokens are counted, and whose rules apply."""

    system: str = ""
    """The system prompt that is sent beside the messages."""

    tools: list[Any] = Field(default_factory=list, exclude=True)
    """The agent's tools, whose definitions are sent beside the messages."""

    options: dict[str, Any] = Field(default_factory=dict, exclude=True)
    """See `HookOptions`; `pin` is called with each `ChatMessage`."""

    _selector: hooks.HistorySelector = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Check the options."""
        super().model_post_init(context)
        options: Any = self.options
        self._selector = hooks.HistorySelector(self.budget, options, hook="llama-index")

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex saves it."""
        return "CupelMemory"

    @classmethod
    def from_defaults(
        cls, chat_history: list[ChatMessage] | None = None, llm: Any = None, **kwargs: Any
    ) -> CupelMemory:
        """Make a memory that starts with a history.

        Args:
            chat_history: The history.
            llm: The model that the messages are sent to.
            kwargs: The other attributes, including `budget`.
        """
        memory = cls(llm=llm, **kwargs)
        if chat_history:
            memory.set(chat_history)
        return memory

    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:  # noqa: A002, ARG002
        """Return the messages to send."""
        return self._selected(self.get_all())

    async def aget(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:  # noqa: A002, ARG002
        """Return the messages to send."""
        return self._selected(await self.aget_all())

    def _selected(self, messages: list[ChatMessage]) -> list[ChatMessage]:
        metadata = getattr(self.llm, "metadata", None)
        return self._selector.send_whole(
            messages,
            [[_part_of(message)] for message in messages],
            model=hooks.model_in_use(hooks.class_names(self.llm), getattr(metadata, "model_name", None)),
            system=self.system,
            tools=[_definition(tool) for tool in self.tools],
            conversation=self.chat_store_key,
            with_texts=_with_texts,
        )


def _definition(tool: Any) -> Any:
    """Return the definition of a tool. A plain function is converted, as agents do."""
    metadata = getattr(tool, "metadata", None)
    if metadata is None:
        return tool
    return {"name": metadata.name, "description": metadata.description, "parameters": metadata.get_parameters_dict()}


def _part_of(message: ChatMessage) -> MessagePart:
    beside = message.additional_kwargs
    blocks = [block for block in message.blocks if block.block_type == "tool_call"]
    calls = [Call(block.tool_call_id, block.tool_name, block.tool_kwargs) for block in blocks]
    # Some models' calls are in the message twice; in older histories, they are only here.
    calls = calls or list(map(openai_call, beside.get("tool_calls") or ()))
    role = message.role.value if isinstance(message.role, MessageRole) else str(message.role)
    return MessagePart(role_named(role), list(_blocks(message)), calls, beside.get("tool_call_id"))


def _with_texts(message: ChatMessage, texts: Mapping[int, str]) -> ChatMessage:
    """Copy a message with another text for its only result; the provider's cache marks stay."""
    marks = [block for block in message.blocks if block.block_type == "cache"]
    return message.model_copy(update={"blocks": [TextBlock(text=texts[0]), *marks]})


def _blocks(message: ChatMessage) -> Iterator[dict[str, Any]]:
    for block in message.blocks:
        kind = block.block_type
        if kind == "thinking":
            yield thought(block.content or "", block.additional_information.get("signature"))
        elif kind in hooks.MEDIA:
            yield hooks.media_block(kind)
        elif kind not in ("tool_call", "cache"):
            content = getattr(block, "text", None) or getattr(block, "content", "")
            yield text(content if isinstance(content, str) else block.model_dump_json())


class CupelPostprocessor(hooks.DocumentHook, BaseNodePostprocessor):
    """Keeps the retrieved nodes that fit, the best ones at both edges. Its fields are those of `select_documents`."""

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex saves it."""
        return "CupelPostprocessor"

    def _postprocess_nodes(
        self,
        nodes: list[NodeWithScore],
        query_bundle: QueryBundle | None = None,  # noqa: ARG002
    ) -> list[NodeWithScore]:
        return self._selected(nodes)
