"""crewAI: trim the messages that an agent sends to its model.

agent = Agent(role=role, goal=goal, backstory=backstory, llm=CupelLLM(LLM("gpt-4o"), 8_000), tools=tools)
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Unpack

from pycupel.extras import missing_library
from pycupel.integrations import _history as hooks
from pycupel.model.checks import wrong_type
from pycupel.tokens.models import BudgetLike

try:
    from crewai import BaseLLM
    from crewai.llms.base_llm import call_stop_override, call_stream_override
    from pydantic import PrivateAttr
except ModuleNotFoundError as error:
    raise missing_library(error, "crewai") from error

__all__ = ["CupelLLM"]


class CupelLLM(BaseLLM):
    """Trims the messages sent to a model. The executor's own list stays as it is.

    Tools and the schema of the response count. The rules are those of the model, unless `provider` is given.

    Args:
        llm: The model to call.
        budget: The limits, or a number of tokens, as for `select_messages`.
        options: See `HookOptions`; `pin` is called with each message.
    """

    llm_type: str = "pycupel"
    _llm: Any = PrivateAttr()
    _selector: Any = PrivateAttr()

    def __init__(self, llm: BaseLLM, budget: BudgetLike, **options: Unpack[hooks.HookOptions]) -> None:
        if not isinstance(llm, BaseLLM):
            raise wrong_type("llm", "a BaseLLM, such as LLM(...)", llm)
        super().__init__(model=llm.model, provider=llm.provider, stop=list(llm.stop), is_litellm=llm.is_litellm)
        self._llm = llm
        self._selector = hooks.HistorySelector(budget, options, hook="crewai")

    def call(self, messages: Any, tools: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Call the model with the trimmed messages."""
        sent = self._sent(messages, tools, kwargs)
        with self._called():
            return self._llm.call(sent, tools, *args, **kwargs)

    async def acall(self, messages: Any, tools: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Call the model with the trimmed messages."""
        sent = self._sent(messages, tools, kwargs)
        with self._called():
            return await self._llm.acall(sent, tools, *args, **kwargs)

    @contextmanager
    def _called(self) -> Generator[None]:
        """Call the model with the stop words and the streaming that crewAI has set for this call."""
        stream = self._effective_stream()
        with ExitStack() as stack:
            stack.enter_context(call_stop_override(self._llm, self.stop_sequences))
            if stream is not None:
                stack.enter_context(call_stream_override(self._llm, stream))
            yield

    def _sent(self, messages: Any, tools: Sequence[Any] | None, kwargs: dict[str, Any]) -> Any:
        if isinstance(messages, str):
            return messages
        agent = kwargs.get("from_agent")
        return self._selector.send_openai(
            messages,
            model=hooks.model_called(self.model, [self.provider, *hooks.class_names(self._llm)]),
            tools=[*(tools or ()), *hooks.response_tools(kwargs.get("response_model"))],
            conversation=None if agent is None else str(agent.id),
        )

    supports_function_calling = hooks.method_of("_llm", "supports_function_calling")
    supports_stop_words = hooks.method_of("_llm", "supports_stop_words")
    supports_multimodal = hooks.method_of("_llm", "supports_multimodal")
    get_context_window_size = hooks.method_of("_llm", "get_context_window_size")
    get_token_usage_summary = hooks.method_of("_llm", "get_token_usage_summary")
