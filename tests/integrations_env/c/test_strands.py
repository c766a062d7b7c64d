"""What is special about the hook for Strands."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest
from pydantic import BaseModel
from strands import Agent
from strands.agent.conversation_manager import NullConversationManager
from strands.models import BedrockModel

from pycupel.integrations.strands import CupelModel
from pycupel.messages import MessageSelection
from tests.integrations_env.agents import Brain
from tests.integrations_env.c.strands import FakeModel, Strands
from tests.integrations_env.sessions import count_words


class Verdict(BaseModel):
    """What the agent answers."""

    reason: str


def said(text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": [{"text": text}]}


OLD = [said("word " * 300, role) for role in ("user", "assistant") * 3]


def wrapped(brain: Brain, **options: Any) -> CupelModel:
    return CupelModel(FakeModel(brain), 900, counter=count_words, **options)


def usage_of(message: dict[str, Any], budget: int = 9_000) -> dict[str, int]:
    seen: list[MessageSelection] = []
    model = CupelModel(FakeModel(Brain(rounds=0)), budget, counter=count_words, on_selection=seen.append)

    class Silent(FakeModel):
        def stream(self, *args: Any, **kwargs: Any) -> Any:
            return None

    model.wrapped = Silent(Brain())
    model.stream([said("Look."), message, said("Well?")])
    return dict(seen[0].usage.history)


def test_structured_output_of_the_agent() -> None:
    """It is a tool, which counts like the others."""
    seen: list[MessageSelection] = []
    made = Strands(on_selection=seen.append)
    made.brains["ann"] = Brain("ann", rounds=0)
    with pytest.raises(Exception, match="structured output"):
        asyncio.run(_invoke(made, Verdict))
    assert max(each.usage.tools for each in seen) > min(each.usage.tools for each in seen) > 0


async def _invoke(made: Strands, output: type[BaseModel]) -> None:
    agent = made._agent("ann")
    await agent.invoke_async("Why?")
    await agent.invoke_async("Why?", structured_output_model=output)


class Structured(FakeModel):
    """Calls the tool for structured output: at once, or only when the agent demands it."""

    at_once = True

    async def stream(self, messages: Any, tool_specs: Any = None, system_prompt: Any = None, **kwargs: Any) -> Any:
        if not (self.at_once or kwargs.get("tool_choice")):
            async for each in super().stream(messages, tool_specs, system_prompt, **kwargs):
                yield each
            return
        assert "Verdict" in [each["name"] for each in tool_specs]
        sent = list(map(self.as_sent, messages))
        self.brain.calls(is_question=True, messages=sent, system=system_prompt, tools=tool_specs)
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {"toolUse": {"name": "Verdict", "toolUseId": "v1"}}}}
        yield {"contentBlockDelta": {"delta": {"toolUse": {"input": '{"reason": "because"}'}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use"}}


class StructuredOnDemand(Structured):
    at_once = False


@pytest.mark.parametrize(("model", "requests"), [(Structured, 1), (StructuredOnDemand, 2), (FakeModel, 2)])
def test_structured_output_is_returned_by_an_agent(model: type[FakeModel], requests: int) -> None:
    """As a call at once, as one that the agent demands after an answer, and as JSON in the text of an answer."""
    brain = Brain(rounds=0, answer='{"reason": "because"}')
    agent = Agent(
        model=CupelModel(model(brain), 900, counter=count_words),
        messages=copy.deepcopy(OLD),  # type: ignore[arg-type]
        conversation_manager=NullConversationManager(),
        callback_handler=None,
    )
    result = asyncio.run(agent.invoke_async("Why?", structured_output_model=Verdict))
    assert result.structured_output == Verdict(reason="because")
    brain.check("anthropic", requests=requests)
    assert all(len(each) < len(OLD) for each in brain.prompts())
    # Strands gives its messages ids.
    assert [each["content"] for each in agent.messages[: len(OLD)]] == [each["content"] for each in OLD]


def test_structured_output_of_the_model() -> None:
    """Its schema counts, and the messages are trimmed."""
    seen: list[MessageSelection] = []
    brain = Brain(answer='{"reason": "because"}')
    model = wrapped(brain, on_selection=seen.append)

    async def ask() -> list[Any]:
        return [each async for each in model.structured_output(Verdict, [*OLD, said("Why?")], "Be brief.")]

    assert asyncio.run(ask()) == [{"output": Verdict(reason="because")}]
    assert 0 < len(brain.sent[0]["messages"]) < 7
    assert seen[0].usage.tools > 3
    assert seen[0].usage.system == 2 + 3, "and three for a message"


def test_everything_else_is_the_models_own() -> None:
    model = wrapped(Brain("own"))
    model.update_config(temperature=0.5)
    assert model.get_config() == model.config == {"model_id": "us.anthropic.claude-haiku-4-5", "temperature": 0.5}
    assert model.brain.key == "own"
    assert model.stateful is False
    assert model.context_window_limit is None
    assert model._supports_structured_output is False
    assert asyncio.run(model.count_tokens([said("one two three")])) > 0
    assert copy.copy(model).wrapped is model.wrapped
    with pytest.raises(AttributeError):
        _ = model.nothing


def test_the_name_of_a_model_is_none() -> None:
    name: Any = "us.anthropic.claude-haiku-4-5"
    with pytest.raises(TypeError, match="wrapped must be a Model, not 'us"):
        CupelModel(name, 900)


def test_nothing_is_dropped_if_the_server_keeps_the_conversation() -> None:
    class Stateful(FakeModel):
        @property
        def stateful(self) -> bool:
            return True

    brain = Brain(rounds=0)
    model = CupelModel(Stateful(brain), 900, counter=count_words)

    async def ask() -> None:
        async for _ in model.stream([*OLD, said("Well?")]):
            pass

    asyncio.run(ask())
    assert len(brain.sent[0]["messages"]) == 7


def test_a_system_prompt_in_blocks_counts() -> None:
    seen: list[MessageSelection] = []
    model = wrapped(Brain(rounds=0), on_selection=seen.append)
    blocks = [{"text": "one two"}, {"cachePoint": {"type": "default"}}, {"text": "three"}]

    async def ask() -> None:
        async for _ in model.stream([said("Well?")], system_prompt_content=blocks):
            pass

    asyncio.run(ask())
    assert seen[0].usage.system == 3 + 3, "and three for a message"


@pytest.mark.parametrize("model_id", ["us.anthropic.claude-haiku-4-5", "amazon.nova-pro-v1:0"])
def test_bedrock_has_the_rules_of_converse(model_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[MessageSelection] = []
    inner = BedrockModel(model_id=model_id, region_name="us-east-1")
    monkeypatch.setattr(BedrockModel, "stream", lambda *_, **__: None)
    CupelModel(inner, 900, counter=count_words, on_selection=seen.append).stream([said("Well?")])
    assert seen[0].provider == "converse"


def test_another_model_has_openais_rules() -> None:
    seen: list[MessageSelection] = []
    model = CupelModel(FakeModel(Brain(rounds=0), "llama3"), 900, counter=count_words, on_selection=seen.append)
    agent = Agent(model=model, conversation_manager=NullConversationManager(), callback_handler=None)
    asyncio.run(agent.invoke_async("Well?"))
    assert seen[0].provider == "openai"


def test_files_thoughts_and_others_are_counted_by_their_kind() -> None:
    image = {"image": {"format": "png", "source": {"bytes": b"." * 9000}}}
    assert usage_of({"role": "user", "content": [image, {"cachePoint": {"type": "default"}}]})["images"] > 100
    signed = {"reasoningContent": {"reasoningText": {"text": "Let me see.", "signature": "abc"}}}
    hidden = {"reasoningContent": {"redactedContent": b"abc"}}
    cited = {"citationsContent": {"content": [{"text": "one two three"}]}}
    usage = usage_of({"role": "assistant", "content": [signed, hidden, cited]})
    assert usage["thinking"] >= 3
    assert usage["assistant"] >= 3


def test_a_message_of_which_a_part_is_dropped_is_copied() -> None:
    """An old result and a question in one message: the result goes with its call, the question stays."""
    call = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "f", "input": {}}}]}
    result = {"toolResult": {"toolUseId": "c", "status": "success", "content": [{"json": {"rows": "word " * 900}}]}}
    both = {"role": "user", "content": [result, {"text": "Well?"}]}
    brain = Brain(rounds=0)
    options: dict[str, Any] = {"too_large": "drop", "shorten": None, "pin": lambda each: "Hm." in str(each)}
    model = CupelModel(FakeModel(brain, "llama3"), 900, counter=count_words, **options)

    async def ask() -> None:
        async for _ in model.stream([said("Look."), call, both, said("Hm.", "assistant"), said("And now?")]):
            pass

    asyncio.run(ask())
    assert "tool_result" not in str(brain.sent[0]["messages"])
    assert [each["text"] for message in brain.sent[0]["messages"] for each in message["content"]][-3:] == [
        "Well?",
        "Hm.",
        "And now?",
    ]
    assert len(both["content"]) == 2
