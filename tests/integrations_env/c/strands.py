"""An agent of Strands, with a model that asks a brain."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from strands import Agent, tool as strands_tool
from strands.agent.conversation_manager import NullConversationManager
from strands.models import Model

from pycupel.integrations.strands import CupelModel
from tests.integrations_env.agents import Brain, Framework, look_up
from tests.integrations_env.sessions import SYSTEM

__all__ = ["FakeModel", "Strands", "StrandsOnBedrock"]


class FakeModel(Model):
    """Asks a brain, which it tells what Anthropic would be sent."""

    @staticmethod
    def as_sent(message: Any) -> dict[str, Any]:
        return as_anthropic(message)

    def __init__(self, brain: Brain, model_id: str = "us.anthropic.claude-haiku-4-5") -> None:
        self.brain = brain
        self.config = {"model_id": model_id}

    def update_config(self, **model_config: Any) -> None:
        self.config |= model_config

    def get_config(self) -> Any:
        return self.config

    async def structured_output(
        self, output_model: Any, prompt: Any, system_prompt: str | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        self.brain.calls(is_question=True, messages=list(map(self.as_sent, prompt)), system=system_prompt)
        yield {"output": output_model.model_validate_json(self.brain.answer)}

    async def stream(self, messages: Any, tool_specs: Any = None, system_prompt: Any = None, **kwargs: Any) -> Any:
        last = messages[-1]["content"]
        calls = self.brain.calls(
            is_question=not any("toolResult" in each for each in last),
            messages=list(map(self.as_sent, messages)),
            system=system_prompt,
            tools=tool_specs or [],
        )
        yield {"messageStart": {"role": "assistant"}}
        for each in calls:
            yield {"contentBlockStart": {"start": {"toolUse": {"name": "look_up", "toolUseId": each}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps({"key": self.brain.key})}}}}
            yield {"contentBlockStop": {}}
        if not calls:
            yield {"contentBlockStart": {"start": {}}}
            for half in (self.brain.answer[:20], self.brain.answer[20:]):
                yield {"contentBlockDelta": {"delta": {"text": half}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if calls else "end_turn"}}


class BedrockModel(FakeModel):
    """Has the name of Bedrock's class; what it would be sent are Strands' messages themselves."""

    @staticmethod
    def as_sent(message: Any) -> dict[str, Any]:
        return dict(message)


def as_anthropic(message: Any) -> dict[str, Any]:
    """What Anthropic would be sent of a message."""
    return {"role": message["role"], "content": list(map(_block, message["content"]))}


def _block(block: Any) -> dict[str, Any]:
    if "toolUse" in block:
        use = block["toolUse"]
        return {"type": "tool_use", "id": use["toolUseId"], "name": use["name"], "input": use["input"]}
    if "toolResult" in block:
        result = block["toolResult"]
        content = [{"type": "text", "text": each["text"]} for each in result["content"]]
        return {"type": "tool_result", "tool_use_id": result["toolUseId"], "content": content}
    return {"type": "text", "text": block["text"]}


class Strands(Framework):
    """A model for each conversation; they share one selector, as several agents of one model would."""

    provider = "anthropic"
    model = FakeModel

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.agents: dict[str, Agent] = {}
        self.hook = self._wrapped(Brain())

    def _wrapped(self, brain: Brain) -> CupelModel:
        return CupelModel(self.model(brain), **self.options)

    def _agent(self, name: str) -> Agent:
        if name not in self.agents:
            model = self._wrapped(self.brains[name])
            model._selector = self.hook._selector
            self.agents[name] = Agent(
                model=model,
                tools=[strands_tool(look_up)],
                system_prompt=SYSTEM,
                conversation_manager=NullConversationManager(),
                callback_handler=None,
                **self.agent_options,
            )
        return self.agents[name]

    async def ask(self, name: str, question: str, *, stream: bool = False) -> str:
        agent = self._agent(name)
        if stream:
            texts = [each["data"] async for each in agent.stream_async(question) if "data" in each]
            return "".join(texts).strip()
        return str(await agent.invoke_async(question)).strip()

    async def stored(self, name: str) -> list[str]:
        blocks = [each for message in self.agents[name].messages for each in message["content"]]
        results = [each["toolResult"]["content"][0] if "toolResult" in each else each for each in blocks]
        return [each["text"] for each in results if each.get("text")]


class StrandsOnBedrock(Strands):
    """The same on Bedrock, whose rules are those of Converse."""

    provider = "converse"
    model = BedrockModel
