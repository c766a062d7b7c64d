"""LangChain: what an agent's model sees of a history, and what a chain gets of the retrieved documents.

    agent = create_agent(model, tools, middleware=[CupelMiddleware(8_000)])

The agent's state keeps every message.
"""

# The library may be missing where types are checked.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Unpack

from pycupel.extras import missing_extra
from pycupel.integrations._documents import OnResult, select_documents
from pycupel.integrations._memory import HistorySelector, HookOptions
from pycupel.model import ContextBudget

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest
    from langchain_core.documents import BaseDocumentCompressor, Document
except ModuleNotFoundError as error:
    raise missing_extra(
        error,
        "langchain.agents.middleware",
        extra="langchain",
        package="langchain",
        purpose="pycupel.integrations.langchain",
    ) from error

__all__ = ["CupelDocumentCompressor", "CupelMiddleware"]


class CupelMiddleware(AgentMiddleware):
    """Lets the model see what fits of the messages. The agent's state keeps all of them.

    The system prompt counts, the definitions of tools do not: leave room for them.

    Args:
        budget: The limits, or a number of tokens, as for `select_messages`.
        options: See `HookOptions`; a `pin` is asked about LangChain's messages.
    """

    def __init__(self, budget: ContextBudget | int, **options: Unpack[HookOptions]) -> None:
        super().__init__()
        self._selector = HistorySelector(budget, "openai", options)

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]) -> Any:
        return handler(self._selected(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Any]]
    ) -> Any:
        return await handler(self._selected(request))

    def _selected(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        # LangChain's texts are strings that can also be called; a plain one is known by everybody.
        kept = self._selector.select(request.messages, system=str(request.system_prompt or ""))
        selected = [message for message, pieces in zip(request.messages, kept, strict=True) if pieces]
        return request.override(messages=selected)


class CupelDocumentCompressor(BaseDocumentCompressor):
    """Keeps the retrieved documents that fit, the best ones at both edges.

    LangChain's documents have no scores, so the retriever's order is their rank.

    Attributes:
        budget: The limits, or a number of tokens.
        policy: What ranks and places the documents, or the name of a preset.
        counter: Counts tokens: a function from str to int, or what `pycupel.tokens.get_counter` takes.
        on_selection: Called with each result and its report.
    """

    budget: Any
    policy: Any = "rag"
    counter: Any = "auto"
    on_selection: OnResult | None = None

    def model_post_init(self, context: Any, /) -> None:  # noqa: ARG002
        # Wrong options are found where they are written.
        select_documents((), self.budget, self.policy, self.counter)

    def compress_documents(
        self,
        documents: Sequence[Document],
        query: str,  # noqa: ARG002
        callbacks: Any = None,  # noqa: ARG002
    ) -> Sequence[Document]:
        return select_documents(documents, self.budget, self.policy, self.counter, self.on_selection)
