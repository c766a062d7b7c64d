"""LangChain: trim the messages sent to an agent's model, and the retrieved documents of a chain.

    agent = create_agent(model, tools, middleware=[CupelMiddleware(8_000)])

The agent's state keeps every message.
"""

# The library may be missing when types are checked.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Unpack

from pycupel.extras import missing_library
from pycupel.integrations._history import (
    HistorySelector,
    HookOptions,
    ModelInUse,
    OnResult,
    class_names,
    model_in_use,
    model_name_of,
    role_named,
    select_documents,
)
from pycupel.messages.providers._writing import Call, MessagePart, text, thought
from pycupel.tokens.limits import BudgetLike

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest
    from langchain.agents.structured_output import AutoStrategy, ProviderStrategy, ToolStrategy
    from langchain_core.documents import BaseDocumentCompressor, Document
    from langchain_core.messages import BaseMessage
    from langchain_core.utils.function_calling import convert_to_openai_tool
except ModuleNotFoundError as error:
    raise missing_library(error, "langchain") from error

__all__ = ["CupelDocumentCompressor", "CupelMiddleware"]

# The calls in the content of some providers' messages are repeated in `tool_calls`.
_CALLS = frozenset({"tool_use", "tool_call", "tool_call_chunk", "invalid_tool_call", "function_call"})


class CupelMiddleware(AgentMiddleware):
    """Trims the messages sent to the model. The agent's state keeps all of them.

    The system prompt, the definitions of tools and the schema of the response count. The rules are those of the agent's
    model, unless `provider` is given.

    Args:
        budget: The limits, or a number of tokens, as for `select_messages`.
        options: See `HookOptions`; `pin` is called with each of LangChain's messages.
    """

    def __init__(self, budget: BudgetLike, **options: Unpack[HookOptions]) -> None:
        super().__init__()
        self._selector = HistorySelector(budget, options, hook="langchain")

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
            tools=[*_tools(request.tools), *_outputs(request.response_format)],
            conversation=getattr(execution, "thread_id", None),
        )
        return request.override(messages=sent)


def _tools(tools: Sequence[Any]) -> Iterator[dict[str, Any]]:
    for tool in tools:
        yield tool if isinstance(tool, dict) else convert_to_openai_tool(tool)


def _outputs(response_format: Any) -> Iterator[dict[str, Any]]:
    """Return the schemas of the response: tools, or a schema beside the tools, which costs as much."""
    if response_format is None:
        return
    if isinstance(response_format, ProviderStrategy):
        specs = [response_format.schema_spec]
    elif isinstance(response_format, ToolStrategy):
        specs = response_format.schema_specs
    else:
        is_auto = isinstance(response_format, AutoStrategy)
        specs = ToolStrategy(response_format.schema if is_auto else response_format).schema_specs
    for spec in specs:
        # A schema without a title gets another name whenever it is read, which would move the cuts.
        name = spec.json_schema.get("title", "response_format")
        function = {"name": name, "description": spec.description, "parameters": spec.json_schema}
        yield {"type": "function", "function": function}


def _model(model: Any) -> ModelInUse:
    # A model that is configured at run time knows its name by then.
    settings = getattr(model, "_default_config", None) or {}
    kinds = [*class_names(model), getattr(model, "_llm_type", ""), settings.get("model_provider", "")]
    return model_in_use(kinds, model_name_of(model) or settings.get("model"))


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
            yield thought(_reasoning(block), block.get("extras", {}).get("signature"))
        elif block.get("type") not in _CALLS:
            yield block


def _reasoning(block: dict[str, Any]) -> str:
    summary = "\n".join(str(each.get("text", "")) for each in block.get("summary") or ())
    return str(block.get("reasoning") or summary)


class CupelDocumentCompressor(BaseDocumentCompressor):
    """Keeps the retrieved documents that fit, the best ones at both edges.

    LangChain's documents have no scores, so the retriever's order is their rank.
    """

    budget: Any
    """The limits, or a number of tokens."""

    policy: Any = "rag"
    """Ranks and orders the documents: a policy, a pipeline, or the name of a preset."""

    counter: Any = "auto"
    """Counts tokens: a function from str to int, or a name for `pycupel.tokens.get_counter`."""

    on_selection: OnResult | None = None
    """Called with each result, which has its report."""

    def model_post_init(self, context: Any, /) -> None:  # noqa: ARG002
        """Check the options."""
        # Fail here if an option is wrong, not in the first call.
        select_documents((), self.budget, self.policy, self.counter)

    def compress_documents(
        self,
        documents: Sequence[Document],
        query: str,  # noqa: ARG002
        callbacks: Any = None,  # noqa: ARG002
    ) -> Sequence[Document]:
        """Return the documents that fit, the best ones at both edges."""
        return select_documents(documents, self.budget, self.policy, self.counter, self.on_selection)
