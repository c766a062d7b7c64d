"""LangChain: trims the messages sent to an agent's model, and the retrieved documents of a chain.

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
    """Trims the messages sent to the model. The agent's state keeps all of them.

    The system prompt counts, the definitions of tools do not: leave room for them.

    Args:
        budget: The limits, or a number of tokens, as for `select_messages`.
        options: See `HookOptions`; `pin` is called with each of LangChain's messages.
    """

    def __init__(self, budget: ContextBudget | int, **options: Unpack[HookOptions]) -> None:
        super().__init__()
        self._selector = HistorySelector(budget, "openai", options)

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]) -> Any:
        """Calls the model with the trimmed messages."""
        return handler(self._selected(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Any]]
    ) -> Any:
        """Calls the model with the trimmed messages."""
        return await handler(self._selected(request))

    def _selected(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        # LangChain's text is a subclass of str that can be called; the history gets a plain one.
        kept = self._selector.select(request.messages, system=str(request.system_prompt or ""))
        selected = [message for message, pieces in zip(request.messages, kept, strict=True) if pieces]
        return request.override(messages=selected)


class CupelDocumentCompressor(BaseDocumentCompressor):
    """Keeps the retrieved documents that fit, the best ones at both edges.

    LangChain's documents have no scores, so the retriever's order is their rank.

    Attributes:
        budget: The limits, or a number of tokens.
        policy: What ranks and places the documents: a policy, a pipeline, or the name of a preset.
        counter: Counts tokens: a function from str to int, or what `pycupel.tokens.get_counter` takes.
        on_selection: Called with each result, which has its report.
    """

    budget: Any
    policy: Any = "rag"
    counter: Any = "auto"
    on_selection: OnResult | None = None

    def model_post_init(self, context: Any, /) -> None:  # noqa: ARG002
        """Checks the options."""
        # Fails here if an option is wrong, not in the first call.
        select_documents((), self.budget, self.policy, self.counter)

    def compress_documents(
        self,
        documents: Sequence[Document],
        query: str,  # noqa: ARG002
        callbacks: Any = None,  # noqa: ARG002
    ) -> Sequence[Document]:
        """The documents that fit, the best ones at both edges."""
        return select_documents(documents, self.budget, self.policy, self.counter, self.on_selection)
