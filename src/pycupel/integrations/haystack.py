"""Haystack: components that trim retrieved documents or a chat history to a token budget.

agent = Agent(chat_generator=CupelChatGenerator(generator, 8_000), tools=tools)
pipeline.add_component("fit", CupelDocumentSelector(4_000))
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from pycupel.extras import missing_library
from pycupel.integrations import _history as hooks
from pycupel.messages.providers._writing import Call, MessagePart, text, thought
from pycupel.model import ContextBudget
from pycupel.model.checks import wrong_type
from pycupel.pipeline import Policy, PresetName
from pycupel.tokens import CounterLike
from pycupel.tokens.models import BudgetLike

try:
    from haystack import Document, component, default_from_dict, default_to_dict
    from haystack.core.serialization import component_to_dict
    from haystack.dataclasses import ChatMessage, FileContent, ImageContent, ReasoningContent, ToolCall
    from haystack.tools import flatten_tools_or_toolsets
    from haystack.utils.deserialization import deserialize_chatgenerator_inplace
except ModuleNotFoundError as error:
    raise missing_library(error, "haystack") from error

__all__ = ["CupelChatGenerator", "CupelDocumentSelector", "CupelMessageSelector"]


@component
class CupelDocumentSelector:
    """Keeps the documents that fit into a budget, the best ones at both edges.

    The arguments are those of `select_documents`. A pipeline with it can be saved if they are numbers and names.
    """

    def __init__(
        self,
        budget: ContextBudget | int,
        policy: Policy | PresetName = "rag",
        counter: CounterLike = "auto",
        on_selection: hooks.OnResult | None = None,
    ) -> None:
        self.budget = budget
        self.policy: Policy | PresetName = policy
        self.counter = counter
        self.on_selection = on_selection
        # Fail here if an option is wrong, not in the first run.
        hooks.select_documents((), budget, policy, counter)

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """Return the selected documents, as `documents`."""
        selected = hooks.select_documents(documents, self.budget, self.policy, self.counter, self.on_selection)
        return {"documents": selected}


@component
class CupelMessageSelector:
    """Trims a chat history to a budget, so that the provider accepts the rest. The order does not change.

    It does not see which model follows in the pipeline: name its `provider` and `model`, or put `CupelChatGenerator` in
    the model's place. A pipeline with it can be saved if the options, see `HookOptions`, are numbers and names.
    """

    def __init__(self, budget: BudgetLike, **options: Unpack[hooks.HookOptions]) -> None:
        self._init_parameters = {"budget": budget, **options}
        self._selector = hooks.HistorySelector(budget, options, hook="haystack")

    def to_dict(self) -> dict[str, Any]:
        """Return the component as Haystack saves it."""
        return default_to_dict(self, **self._init_parameters)

    @component.output_types(messages=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        """Return the selected messages, as `messages`."""
        return {"messages": _selected(self._selector, messages)}


@component
class CupelChatGenerator:
    """A chat generator that trims the messages for another one. An agent with it keeps all of them.

    Tools and the schema of the response count. The rules are those of the generator's model, unless `provider` is
    given.

    Args:
        chat_generator: The generator that calls the model.
        budget: The limits, or a number of tokens, as for `select_messages`.
        options: See `HookOptions`; `pin` is called with each `ChatMessage`.
    """

    def __init__(self, chat_generator: Any, budget: BudgetLike, **options: Unpack[hooks.HookOptions]) -> None:
        if not hasattr(chat_generator, "run"):
            raise wrong_type("chat_generator", "a chat generator", chat_generator)
        self.chat_generator = chat_generator
        self._init_parameters = {"budget": budget, **options}
        self._selector = hooks.HistorySelector(budget, options, hook="haystack")

    def to_dict(self) -> dict[str, Any]:
        """Return the component as Haystack saves it."""
        inner = component_to_dict(self.chat_generator, "chat_generator")
        return default_to_dict(self, chat_generator=inner, **self._init_parameters)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> CupelChatGenerator:
        """Load the component from what Haystack has saved."""
        deserialize_chatgenerator_inplace(data["init_parameters"])
        return default_from_dict(cls, data)

    def warm_up(self) -> None:
        """Prepare the generator."""
        if hasattr(self.chat_generator, "warm_up"):
            self.chat_generator.warm_up()

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None, **options: Any) -> dict[str, Any]:
        """Return the generator's replies to the trimmed messages, as `replies`."""
        return self.chat_generator.run(**self._arguments(messages, tools, options))

    @component.output_types(replies=list[ChatMessage])
    async def run_async(self, messages: list[ChatMessage], tools: Any = None, **options: Any) -> dict[str, Any]:
        """Return the generator's replies to the trimmed messages, as `replies`."""
        return await self.chat_generator.run_async(**self._arguments(messages, tools, options))

    def _arguments(self, messages: list[ChatMessage], tools: Any, options: dict[str, Any]) -> dict[str, Any]:
        generator = self.chat_generator
        known = flatten_tools_or_toolsets(tools or getattr(generator, "tools", None))
        asked = {**(getattr(generator, "generation_kwargs", None) or {}), **(options.get("generation_kwargs") or {})}
        output = hooks.response_tools(hooks.response_schema(asked))
        model = hooks.model_in_use(hooks.class_names(generator), hooks.model_name_of(generator))
        sent_beside = [*(tool.tool_spec for tool in known), *output]
        selected = _selected(self._selector, messages, model=model, tools=sent_beside)
        return {"messages": selected, **({} if tools is None else {"tools": tools}), **options}


def _selected(selector: hooks.HistorySelector, messages: Sequence[ChatMessage], **request: Any) -> list[ChatMessage]:
    parts = [list(_parts_of(message)) for message in messages]
    return selector.send_whole(messages, parts, with_texts=_with_texts, **request)


def _parts_of(message: ChatMessage) -> Iterator[MessagePart]:
    """Return the content of a message. One with tool results may have several of them, and nothing else."""
    for each in message.tool_call_results:
        parts: Any = [each.result] if isinstance(each.result, str) else each.result
        blocks = [block for part in parts for block in _blocks(part)]
        yield MessagePart("tool", blocks, answers=_call_id(each.origin), tool=each.origin.tool_name, failed=each.error)
    if not message.tool_call_results:
        content = [*message.reasonings, *message.texts, *message.images, *message.files]
        yield MessagePart(
            message.role.value,  # type: ignore[arg-type]
            [block for each in content for block in _blocks(each)],
            [Call(_call_id(call), call.tool_name, _json(call.arguments)) for call in message.tool_calls],
        )


def _with_texts(message: ChatMessage, texts: Mapping[int, str]) -> ChatMessage:
    """Copy a message with other texts for some results."""
    results = enumerate(message.tool_call_results)
    content = [replace(each, result=texts[number]) if number in texts else each for number, each in results]
    # This keeps several results, the name and everything else together.
    return replace(message, _content=content)


def _blocks(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, ImageContent):
        yield {"type": "image_url"}
    elif isinstance(value, FileContent):
        yield {"type": "file"}
    elif isinstance(value, ReasoningContent):
        yield from _thoughts(value)
    else:
        yield text(getattr(value, "text", value))


def _thoughts(value: ReasoningContent) -> Iterator[dict[str, Any]]:
    """Return the thinking, which Claude's generator keeps unchanged, with its signatures."""
    kept = [each["reasoning_content"] for each in value.extra.get("reasoning_contents", ())]
    for each in kept:
        if each.get("redacted_thinking"):
            yield {"type": "redacted_thinking", "data": str(each["redacted_thinking"])}
        else:
            read = each.get("reasoning_text", {})
            yield thought(read.get("text", ""), read.get("signature"))
    if not kept:
        yield text(value.reasoning_text)


def _call_id(call: ToolCall) -> str:
    """Return the id of a call, or make one: not every model gives ids, but each result has its call."""
    return call.id or f"{call.tool_name} {_json(call.arguments)}"


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
