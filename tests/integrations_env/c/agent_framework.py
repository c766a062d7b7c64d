"""An agent of Microsoft's Agent Framework, with a chat client that asks a brain."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
)

from pycupel.fields import as_json
from pycupel.integrations.agent_framework import CupelChatMiddleware
from tests.integrations_env.agents import Brain, Framework, look_up
from tests.integrations_env.sessions import SYSTEM

__all__ = ["AgentFramework", "FakeClient"]


class FakeClient(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):  # type: ignore[type-arg]
    """Asks a brain, which it tells what OpenAI would be sent."""

    def __init__(self, brain: Brain) -> None:
        super().__init__()
        self.brain = brain

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **kwargs: Any) -> Any:
        calls = self.brain.calls(
            is_question=messages[-1].role == "user",
            messages=[shape for each in messages for shape in as_openai(each)],
            system=options.get("instructions"),
            tools=[each.to_json_schema_spec() for each in options.get("tools") or ()],
        )
        key = {"key": self.brain.key}
        contents = [Content.from_function_call(each, "look_up", arguments=key) for each in calls]
        contents = contents or [Content.from_text(self.brain.answer)]

        async def updates() -> AsyncIterator[ChatResponseUpdate]:
            for each in contents:
                yield ChatResponseUpdate(contents=[each], role="assistant")

        async def response() -> ChatResponse[Any]:
            return ChatResponse(messages=[Message("assistant", contents)])

        return self._build_response_stream(updates()) if stream else response()


def as_openai(message: Message) -> list[dict[str, Any]]:
    """What OpenAI would be sent of a message: one for each result."""
    results = [each for each in message.contents if each.type == "function_result"]
    if results:
        return [{"role": "tool", "tool_call_id": each.call_id, "content": each.result} for each in results]
    calls = [
        {"id": each.call_id, "type": "function", "function": {"name": each.name, "arguments": as_json(each.arguments)}}
        for each in message.contents
        if each.type == "function_call"
    ]
    shape: dict[str, Any] = {"role": message.role, "content": message.text or None}
    return [{**shape, "tool_calls": calls} if calls else shape]


class AgentFramework(Framework):
    """One middleware for all conversations, each of which has an agent and a session of its own."""

    provider = "openai"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.middleware = CupelChatMiddleware(**self.options)
        self.agents: dict[str, tuple[Agent[Any], AgentSession]] = {}

    def _agent(self, name: str) -> tuple[Agent[Any], AgentSession]:
        if name not in self.agents:
            client = FakeClient(self.brains[name])
            agent = Agent(
                client, instructions=SYSTEM, tools=[look_up], middleware=[self.middleware], **self.agent_options
            )
            self.agents[name] = agent, agent.create_session()
        return self.agents[name]

    async def ask(self, name: str, question: str, *, stream: bool = False) -> str:
        agent, session = self._agent(name)
        if stream:
            return "".join([each.text async for each in agent.run(question, session=session, stream=True)]).strip()
        return (await agent.run(question, session=session)).text.strip()

    async def stored(self, name: str) -> list[str]:
        _, session = self.agents[name]
        contents = [each for message in session.state["in_memory"]["messages"] for each in message.contents]
        return [each.result or each.text for each in contents if each.result or each.text]
