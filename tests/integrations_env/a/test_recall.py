"""Agents of LangChain and Pydantic AI that ask for results that were shortened: their hooks offer the tool."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from pycupel.integrations.langchain import CupelMiddleware
from pycupel.integrations.pydantic_ai import CupelHistory
from pycupel.messages import Shorten
from tests.integrations_env.recalling import CALLS, WINDOW, Forgetful
from tests.integrations_env.sessions import RESULTS, count_words

each_name = pytest.mark.parametrize(("recall", "name"), [(True, "recall_result"), ("give_back", "give_back")])
each_provider = pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])


class FakeModel(BaseChatModel):
    """Asks for what it has forgotten, then answers."""

    mind: Any
    tools: list[Any] = []  # noqa: RUF012

    @property
    def _llm_type(self) -> str:
        return "fake"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        self.tools[:] = tools
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        arguments = self.mind.next("\n".join(each.text for each in messages))
        call = {"name": self.mind.name, "args": arguments, "id": f"ask{len(self.mind.asked)}"}
        calls = [] if arguments is None else [call]
        return ChatResult(generations=[ChatGeneration(message=AIMessage("Done.", tool_calls=calls))])


@each_provider
@each_name
@pytest.mark.parametrize("is_async", [False, True])
def test_an_agent_of_langchain_recalls(recall: Any, name: str, provider: Any, is_async: bool) -> None:
    messages: list[BaseMessage] = [HumanMessage("Look it all up.")]
    for n, result in enumerate(RESULTS):
        messages.append(AIMessage("", tool_calls=[{"name": "look_up", "args": {"n": n}, "id": f"c{n}"}]))
        messages.append(ToolMessage(result, tool_call_id=f"c{n}"))
    model = FakeModel(mind=Forgetful(name), tools=[])
    shorten = Shorten(recall=recall)
    middleware = CupelMiddleware(WINDOW, counter=count_words, shorten=shorten, provider=provider)
    agent: Any = create_agent(model, middleware=[middleware])
    asked = {"messages": messages}
    state = asyncio.run(agent.ainvoke(asked)) if is_async else agent.invoke(asked)
    answers = [each for each in state["messages"] if each.type == "tool"][-CALLS:]
    assert {each.status for each in answers} == {"success"}
    model.mind.check([each.text for each in answers])
    assert [each.name for each in model.tools] == [name]
    assert state["messages"][: len(messages)] == messages


@each_name
def test_an_agent_of_pydantic_ai_recalls(recall: Any, name: str) -> None:
    messages: list[ModelMessage] = [ModelRequest([UserPromptPart("Look it all up.")])]
    for n, result in enumerate(RESULTS):
        messages.append(ModelResponse([ToolCallPart("look_up", {"n": n}, f"c{n}")]))
        messages.append(ModelRequest([ToolReturnPart("look_up", result, f"c{n}")]))
    mind, tools = Forgetful(name), set[str]()

    def think(shown: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        tools.update(each.name for each in info.function_tools)
        arguments = mind.next("\n".join(str(getattr(part, "content", "")) for each in shown for part in each.parts))
        if arguments is None:
            return ModelResponse([TextPart("Done.")])
        return ModelResponse([ToolCallPart(name, arguments)])

    history = CupelHistory(WINDOW, counter=count_words, shorten=Shorten(recall=recall))
    agent = Agent(FunctionModel(think), capabilities=[history])
    result = asyncio.run(agent.run("And now?", message_history=messages))
    parts = [part for each in result.all_messages() for part in each.parts if isinstance(part, ToolReturnPart)]
    mind.check([str(each.content) for each in parts[-CALLS:]])
    assert tools == {name}


def test_without_recall_there_is_no_tool() -> None:
    assert not CupelMiddleware(WINDOW, shorten=Shorten()).tools
    assert CupelHistory(WINDOW).get_toolset() is None
