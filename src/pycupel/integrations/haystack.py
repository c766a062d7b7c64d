"""Haystack: components that cut retrieved documents or a chat history to a token budget.

    pipeline.add_component("fit", CupelDocumentSelector(4_000))
    pipeline.connect("retriever.documents", "fit.documents")

Documents and messages themselves are not changed.
"""

# The library may be missing where types are checked.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Unpack

from pycupel.extras import missing_extra
from pycupel.integrations._documents import OnResult, select_documents
from pycupel.integrations._memory import HistorySelector, HookOptions
from pycupel.model import ContextBudget
from pycupel.pipeline import Policy, PresetName
from pycupel.tokens import CounterLike

try:
    from haystack import Document, component, default_to_dict
    from haystack.dataclasses import ChatMessage, FileContent, ImageContent, ReasoningContent, ToolCall
except ModuleNotFoundError as error:
    raise missing_extra(
        error, "haystack.dataclasses", extra="haystack", package="haystack-ai", purpose="pycupel.integrations.haystack"
    ) from error

__all__ = ["CupelDocumentSelector", "CupelMessageSelector"]


@component
class CupelDocumentSelector:
    """Keeps the documents that fit into a budget, the best ones at both edges.

    A pipeline with it can be saved if the options are numbers and names.

    Args:
        budget: The limits, or a number of tokens.
        policy: What ranks and places the documents: a policy, a pipeline, or the name of a preset.
        counter: Counts tokens: a function from str to int, or what `pycupel.tokens.get_counter` takes.
        on_selection: Called with each result, which has its report.
    """

    def __init__(
        self,
        budget: ContextBudget | int,
        policy: Policy | PresetName = "rag",
        counter: CounterLike = "auto",
        on_selection: OnResult | None = None,
    ) -> None:
        self.budget = budget
        self.policy: Policy | PresetName = policy
        self.counter = counter
        self.on_selection = on_selection
        # Fails here if an option is wrong, not in the first run.
        select_documents((), budget, policy, counter)

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """The selected documents, as `documents`."""
        selected = select_documents(documents, self.budget, self.policy, self.counter, self.on_selection)
        return {"documents": selected}


@component
class CupelMessageSelector:
    """Trims a chat history to a budget, so that the provider accepts the rest. The order does not change.

    A pipeline with it can be saved if the options are numbers and names.

    Args:
        budget: The limits, or a number of tokens, as for `select_messages`.
        options: See `HookOptions`; `pin` is called with each `ChatMessage`.
    """

    def __init__(self, budget: ContextBudget | int, **options: Unpack[HookOptions]) -> None:
        self._init_parameters = {"budget": budget, **options}
        self._selector = HistorySelector(budget, "openai", options)

    def to_dict(self) -> dict[str, Any]:
        """The component as Haystack saves it."""
        return default_to_dict(self, **self._init_parameters)

    @component.output_types(messages=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        """The selected messages, as `messages`."""
        kept = self._selector.select(messages, [list(_pieces(message)) for message in messages])
        return {"messages": [message for message, pieces in zip(messages, kept, strict=True) if pieces]}


def _pieces(message: ChatMessage) -> Iterator[dict[str, Any]]:
    """A message in OpenAI's shape. One with tool results may hold several of them, and nothing else."""
    for each in message.tool_call_results:
        parts: Any = [each.result] if isinstance(each.result, str) else each.result
        yield {"role": "tool", "tool_call_id": _call_id(each.origin), "content": list(map(_said, parts))}
    if not message.tool_call_results:
        said = [*message.reasonings, *message.texts, *message.images, *message.files]
        yield {
            "role": message.role.value,
            "content": list(map(_said, said)),
            "tool_calls": [
                {"id": _call_id(call), "function": {"name": call.tool_name, "arguments": _json(call.arguments)}}
                for call in message.tool_calls
            ],
        }


def _said(value: Any) -> dict[str, Any]:
    if isinstance(value, ImageContent):
        return {"type": "image_url"}
    if isinstance(value, FileContent):
        return {"type": "file"}
    text = value.reasoning_text if isinstance(value, ReasoningContent) else getattr(value, "text", value)
    return {"type": "text", "text": text}


def _call_id(call: ToolCall) -> str:
    """Not every model gives ids to its calls, but each result has the call that it answers."""
    return call.id or f"{call.tool_name} {_json(call.arguments)}"


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
