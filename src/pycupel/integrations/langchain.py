"""LangChain: trim the messages sent to an agent's model, and the retrieved documents of a chain.

agent = create_agent(model, tools, middleware=[CupelMiddleware(8_000)])
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Unpack

from pycupel.extras import missing_library
from pycupel.integrations import _history as hooks
from pycupel.messages.providers._writing import Call, MessagePart, role_named, text, thought
from pycupel.tokens.models import BudgetLike

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest
    from langchain.agents.structured_output import AutoStrategy, ProviderStrategy, ToolStrategy
    from langchain.tools import ToolRuntime
    from langchain_core.documents import BaseDocumentCompressor, Document
    from langchain_core.messages import BaseMessage
    from langchain_core.tools import BaseTool, StructuredTool
    from langchain_core.utils.function_calling import convert_to_openai_tool
except ModuleNotFoundError as error:
    raise missing_library(error, "langchain") from error

__all__ = ["CupelDocumentCompressor", "CupelMiddleware"]

# The calls in the content of some providers' messages are repeated in `tool_calls`.
_CALLS = frozenset({"tool_use", "tool_call", "tool_call_chunk", "invalid_tool_call", "function_call"})


class CupelMiddleware(hooks.HistoryHook, AgentMiddleware):
    """Trims the messages sent to the model. The agent's state keeps all of them.

    The system prompt, the definitions of tools and the schema of the response count. The rules are those of the agent's
    model, unless `provider` is given. With `shorten=Shorten(recall=True)`, the agent gets a tool that gives shortened
    results back.
    """

    _framework = "langchain"

    def __init__(self, budget: BudgetLike, **options: Unpack[hooks.HookOptions]) -> None:
        super().__init__(budget, **options)
        definition = self._recall_definition()
        self.tools = [] if definition is None else [_recall_tool(self._selector, **definition)]

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]) -> Any:
        """Call the model with the trimmed messages."""
        return handler(self._selected(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Any]]
    ) -> Any:
        """Call the model with the trimmed messages."""
        return await handler(self._selected(request))

    def _selected(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        messages = request.messages
        execution = getattr(request.runtime, "execution_info", None)
        sent = self._selector.send_whole(
            messages,
            [[_part_of(message)] for message in messages],
            model=_model(request.model),
            system=request.system_prompt or "",
            tools=[*map(_definition, request.tools), *_outputs(request.response_format)],
            conversation=getattr(execution, "thread_id", None),
        )
        return request.override(messages=sent)


def _recall_tool(selector: hooks.HistorySelector, name: str, description: str, parameters: dict[str, Any]) -> BaseTool:
    def recall(runtime: ToolRuntime, **arguments: Any) -> str:
        # The state has all messages, whatever the model was sent.
        return selector.recall(arguments, list(map(_part_of, runtime.state["messages"])))

    return StructuredTool.from_function(recall, name=name, description=description, args_schema=parameters)


def _definition(tool: Any) -> dict[str, Any]:
    return tool if isinstance(tool, dict) else convert_to_openai_tool(tool)


def _outputs(response_format: Any) -> Iterator[dict[str, Any]]:
    """Return the schemas of the response: tools, or a schema beside the tools, which costs as much."""
    strategies = (AutoStrategy, ProviderStrategy, ToolStrategy)
    schema = response_format.schema if isinstance(response_format, strategies) else response_format
    for spec in () if schema is None else ToolStrategy(schema).schema_specs:
        # A schema without a title gets another name whenever it is read, which would move the cuts.
        name = spec.json_schema.get("title", "response_format")
        function = {"name": name, "description": spec.description, "parameters": spec.json_schema}
        yield {"type": "function", "function": function}


def _model(model: Any) -> hooks.ModelInUse:
    # A model that is configured at run time knows its name by then.
    settings = getattr(model, "_default_config", None) or {}
    kinds = [*hooks.class_names(model), getattr(model, "_llm_type", ""), settings.get("model_provider", "")]
    return hooks.model_in_use(kinds, hooks.model_name_of(model) or settings.get("model"))


def _part_of(message: BaseMessage) -> MessagePart:
    # A chunk has the name of its class for a type.
    kind = message.type.removesuffix("MessageChunk").lower()
    calls = [*getattr(message, "tool_calls", ()), *getattr(message, "invalid_tool_calls", ())]
    return MessagePart(
        role_named(getattr(message, "role", kind)),
        list(_blocks(message.content)),
        [Call(call["id"], call["name"] or "", call["args"] or {}) for call in calls],
        getattr(message, "tool_call_id", message.name),
        message.name or "",
        failed=getattr(message, "status", None) == "error",
    )


def _blocks(content: Any) -> Iterator[dict[str, Any]]:
    for block in [content] if isinstance(content, str) else content:
        if isinstance(block, str):
            if block:
                yield text(block)
        elif block.get("type") == "reasoning":
            summary = "\n".join(str(each.get("text", "")) for each in block.get("summary") or ())
            yield thought(str(block.get("reasoning") or summary), block.get("extras", {}).get("signature"))
        elif block.get("type") not in _CALLS:
            yield block


class CupelDocumentCompressor(hooks.DocumentHook, BaseDocumentCompressor):
    """Keeps the retrieved documents that fit, the best ones at both edges.

    LangChain's documents have no scores, so the retriever's order is their rank. The fields are the arguments of
    `select_documents`.
    """

    def compress_documents(
        self,
        documents: Sequence[Document],
        query: str,  # noqa: ARG002
        callbacks: Any = None,  # noqa: ARG002
    ) -> Sequence[Document]:
        """Return the documents that fit, the best ones at both edges."""
        return self._selected(documents)
