"""An agent of crewAI, with a model that asks a brain, and what is special about the hook."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool as crew_tool
from pydantic import BaseModel, PrivateAttr

from pycupel.fields import as_json
from pycupel.integrations.crewai import CupelLLM
from pycupel.messages import MessageSelection
from tests.integrations_env.agents import BUDGET, GIANT, TURNS, Brain, look_up
from tests.integrations_env.sessions import count_words


class Verdict(BaseModel):
    """What the agent answers."""

    reason: str


class FakeLLM(BaseLLM):
    """Asks a brain, and calls tools as crewAI's native models do: by returning the calls."""

    _brain: Any = PrivateAttr()
    _lists: Any = PrivateAttr(default_factory=list)

    def __init__(self, brain: Brain, model: str = "gpt-4o") -> None:
        super().__init__(model=model)
        self._brain = brain

    def call(self, messages: Any, tools: Any = None, *args: Any, **kwargs: Any) -> Any:
        self._lists.append(messages)
        calls = self._brain.calls(
            is_question=messages[-1]["role"] == "user",
            messages=[_as_sent(each) for each in messages],
            tools=tools or [],
        )
        # An agent that asks the same again and again is stopped by crewAI.
        keys = [GIANT if self._brain.key == GIANT else f"{self._brain.key}{each}" for each in calls]
        functions = [{"name": "look_up", "arguments": as_json({"key": key})} for key in keys]
        made = [{"id": n, "type": "function", "function": each} for n, each in zip(calls, functions, strict=True)]
        return made or self._brain.answer

    async def acall(self, messages: Any, tools: Any = None, *args: Any, **kwargs: Any) -> Any:
        return self.call(messages, tools, *args, **kwargs)

    def supports_function_calling(self) -> bool:
        return True

    def get_context_window_size(self) -> int:
        return 200_000


def _as_sent(message: Any) -> dict[str, Any]:
    """Without what crewAI keeps for itself: the tool's name, its cache marks, and the raw answers."""
    return {name: message[name] for name in ("role", "content", "tool_calls", "tool_call_id") if name in message}


def crew_of(llm: BaseLLM) -> Crew:
    agent = Agent(role="Helper", goal="Help.", backstory="Careful.", llm=llm, tools=[crew_tool(look_up)], max_iter=500)
    task = Task(description="What is there?", expected_output="Facts.", agent=agent)
    return Crew(agents=[agent], tasks=[task])


def test_a_crew_with_200_calls_of_tools_in_a_small_window() -> None:
    """None invalid, none too large, and the executor's own list is left alone."""
    seen: list[MessageSelection] = []
    brain = Brain("ann", rounds=TURNS)
    llm = CupelLLM(FakeLLM(brain), BUDGET, counter=count_words, on_selection=seen.append)
    answer = crew_of(llm).kickoff()
    assert str(answer).startswith("Done")
    brain.check("openai", requests=TURNS + 1)
    assert seen[-1].history_length > 2 * TURNS
    assert len(brain.sent[-1]["messages"]) < TURNS
    assert brain.reused() > 0.65


def test_a_giant_result_does_not_end_a_crew() -> None:
    seen: list[MessageSelection] = []
    brain = Brain(GIANT, rounds=2)
    llm = CupelLLM(FakeLLM(brain), BUDGET, counter=count_words, on_selection=seen.append)
    assert str(crew_of(llm).kickoff()).startswith("Done")
    brain.check("openai", requests=3)
    assert "value_" in str(brain.sent[-1]["messages"])
    assert look_up(GIANT) in [each.get("content") for each in seen[-1].source]


def test_crews_at_the_same_time_that_are_asynchronous() -> None:
    brains = [Brain(name, rounds=20) for name in ("ann", "bob", "eve")]
    crews = [crew_of(CupelLLM(FakeLLM(brain), BUDGET, counter=count_words)) for brain in brains]

    async def all_at_once() -> None:
        await asyncio.gather(*(each.akickoff() for each in crews))

    asyncio.run(all_at_once())
    for brain in brains:
        brain.check("openai", requests=21)


def test_structured_output() -> None:
    """Its schema counts."""
    seen: list[MessageSelection] = []
    llm = CupelLLM(FakeLLM(Brain(rounds=0)), BUDGET, counter=count_words, on_selection=seen.append)
    asked = [{"role": "user", "content": "Why?"}]
    llm.call(asked)
    llm.call(asked, response_model=Verdict)
    assert asyncio.run(llm.acall(asked, response_model=Verdict)).startswith("Done")
    plain, *structured = (each.usage.tools for each in seen)
    assert plain == 0 < min(structured)


def test_a_text_is_sent_as_it_is() -> None:
    class Echo(FakeLLM):
        def call(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            return messages

    assert CupelLLM(Echo(Brain()), BUDGET).call("Hello!") == "Hello!"


def test_stop_words_and_streaming_are_those_of_the_call() -> None:
    asked: list[Any] = []

    class Noting(FakeLLM):
        def call(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            asked.append((self.stop_sequences, self._effective_stream()))
            return "Done"

    llm = CupelLLM(Noting(Brain()), BUDGET)
    llm.stop = ["Observation:"]
    llm.call("Hello!")
    llm.stream = True
    llm.call("Hello!")
    assert asked == [(["Observation:"], None), (["Observation:"], True)]


def test_everything_else_is_the_models_own() -> None:
    llm = CupelLLM(FakeLLM(Brain(), "anthropic/claude-haiku-4-5"), BUDGET)
    assert llm.model == "anthropic/claude-haiku-4-5"
    assert llm.supports_function_calling() is True
    assert llm.supports_stop_words() == FakeLLM(Brain()).supports_stop_words()
    assert llm.supports_multimodal() is False
    assert llm.get_context_window_size() == 200_000
    assert llm.get_token_usage_summary().total_tokens == 0


@pytest.mark.parametrize(("model", "provider"), [("anthropic/claude-haiku-4-5", "anthropic"), ("gpt-4o", "openai")])
def test_the_rules_are_the_models(model: str, provider: str) -> None:
    seen: list[MessageSelection] = []
    CupelLLM(FakeLLM(Brain(rounds=0), model), BUDGET, on_selection=seen.append).call(
        [{"role": "user", "content": "Hi"}]
    )
    assert seen[0].provider == provider
