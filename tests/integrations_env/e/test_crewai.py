"""An agent of crewAI, with a model that asks a brain, and what is special about the hook."""

from __future__ import annotations

import asyncio
from itertools import count, pairwise
from typing import Any

import pytest
from crewai import LLM, Agent, BaseLLM, Crew, Task
from crewai.tools import tool as crew_tool
from pydantic import BaseModel, PrivateAttr

from pycupel.fields import as_json
from pycupel.integrations.crewai import CupelLLM
from pycupel.messages import MessageSelection
from tests.integrations_env.agents import ANSWER, BUDGET, GIANT, TURNS, Brain, look_up, reused
from tests.integrations_env.provider import Provider, running
from tests.integrations_env.sessions import count_words


class Verdict(BaseModel):
    """What the agent answers."""

    reason: str


class FakeLLM(BaseLLM):
    """Asks a brain, and calls tools as crewAI's native models do: by returning the calls."""

    _brain: Any = PrivateAttr()
    _lists: Any = PrivateAttr(default_factory=list)
    _brains: Any = PrivateAttr()

    def __init__(self, brain: Brain, model: str = "gpt-4o") -> None:
        super().__init__(model=model)
        self._brain = brain

    def call(self, messages: Any, tools: Any = None, *args: Any, **kwargs: Any) -> Any:
        self._lists.append(messages)
        brain = self._brain_for(messages)
        calls = brain.calls(
            is_question=messages[-1]["role"] == "user",
            messages=[_as_sent(each) for each in messages],
            tools=tools or [],
        )
        # An agent that asks the same again and again is stopped by crewAI.
        keys = [GIANT if brain.key == GIANT else f"{brain.key}{each}" for each in calls]
        functions = [{"name": "look_up", "arguments": as_json({"key": key})} for key in keys]
        made = [{"id": n, "type": "function", "function": each} for n, each in zip(calls, functions, strict=True)]
        return made or brain.answer

    def _brain_for(self, messages: Any) -> Brain:
        brain: Brain = self._brain
        return brain

    async def acall(self, messages: Any, tools: Any = None, *args: Any, **kwargs: Any) -> Any:
        return self.call(messages, tools, *args, **kwargs)

    def supports_function_calling(self) -> bool:
        return True

    def get_context_window_size(self) -> int:
        return 200_000


def _as_sent(message: Any) -> dict[str, Any]:
    """Without what crewAI keeps for itself: its cache marks, and the raw answers."""
    sent = ("role", "name", "content", "tool_calls", "tool_call_id")
    return {name: message[name] for name in sent if name in message}


def crew_of(llm: BaseLLM, tool: Any = look_up, *, description: str = "What is there?", **options: Any) -> Crew:
    agent = Agent(role="Helper", goal="Help.", backstory="Careful.", llm=llm, tools=[crew_tool(tool)], max_iter=500)
    task = Task(description=description, expected_output="Facts.", agent=agent)
    return Crew(agents=[agent], tasks=[task], **options)


def test_a_crew_with_200_calls_of_tools_in_a_small_window() -> None:
    """None invalid, none too large, and the executor's own list is left alone."""
    seen: list[MessageSelection] = []
    brain = Brain("ann", rounds=TURNS)
    llm = CupelLLM(FakeLLM(brain), BUDGET, counter=count_words, on_selection=seen.append)
    answer = crew_of(llm).kickoff()
    assert str(answer).startswith("Done")
    brain.check("openai", requests=TURNS + 1)
    results = [each["content"] for each in seen[-1].source if each["role"] == "tool"]
    assert results == [look_up(f"anncall{n:05d}") for n in range(TURNS)]
    assert seen[-1].history_length > 2 * TURNS
    assert len(brain.sent[-1]["messages"]) < TURNS
    assert reused(brain.prompts()) > 0.8


def test_a_giant_result_does_not_end_a_crew() -> None:
    seen: list[MessageSelection] = []
    brain = Brain(GIANT, rounds=2)
    llm = CupelLLM(FakeLLM(brain), BUDGET, counter=count_words, on_selection=seen.append)
    assert str(crew_of(llm).kickoff()).startswith("Done")
    brain.check("openai", requests=3)
    assert "value_" in str(brain.sent[-1]["messages"])
    assert look_up(GIANT) in [each.get("content") for each in seen[-1].source]


class SharedLLM(FakeLLM):
    """Asks the brain of the crew that is named in the task."""

    def __init__(self, brains: list[Brain]) -> None:
        super().__init__(brains[0])
        self._brains = {each.key: each for each in brains}

    def _brain_for(self, messages: Any) -> Brain:
        [brain] = [brain for name, brain in self._brains.items() if f"for {name}?" in str(messages[:2])]
        return brain


def test_crews_at_the_same_time_with_one_model() -> None:
    """Each is sent what it would be sent alone."""

    def sent_to(*names: str) -> dict[str, Any]:
        brains = [Brain(name, rounds=20) for name in names]
        shared = SharedLLM(brains)
        llm = CupelLLM(shared, BUDGET, counter=count_words)

        async def all_at_once() -> None:
            crews = [crew_of(llm, description=f"What is there for {name}?") for name in names]
            await asyncio.gather(*(each.akickoff() for each in crews))

        asyncio.run(all_at_once())
        for brain in brains:
            brain.check("openai", requests=21)
        if len(names) > 1:
            # If one followed the other, they would change twice.
            asked = [shared._brain_for(each).key for each in shared._lists]
            assert sum(a != b for a, b in pairwise(asked)) > 10
        return {brain.key: brain.prompts() for brain in brains}

    together = sent_to("ann", "bob", "eve")
    for name in together:
        assert sent_to(name)[name] == together[name]


def streamed(server: Provider) -> Crew:
    """A crew that streams, with crewAI's real model for OpenAI."""
    numbers = count()

    def look_up(key: str) -> str:
        """Look something up."""
        # An agent that is told the same again and again is stopped by crewAI.
        return f"{next(numbers)} " + "found " * 40

    llm = LLM(model="openai/gpt-4o", base_url=server.url, api_key="none")
    return crew_of(CupelLLM(llm, BUDGET, counter=count_words), look_up, stream=True, cache=False)


def test_a_crew_that_streams() -> None:
    """The crew tells the wrapper to stream; the model must hear of it, and its chunks must arrive."""
    with running(30) as server:
        output = streamed(server).kickoff()
        chunks = [each.content for each in output]
        server.check("openai", BUDGET, requests=31, whole=2 * 30)
        assert {body["stream"] for body in server.sent} == {True}
    assert ANSWER.strip() in "".join(chunks)
    assert str(output.result).startswith("Done")


def test_a_crew_that_streams_asynchronously() -> None:
    async def chunks_of(crew: Crew) -> list[str]:
        output: Any = await crew.akickoff()
        return [each.content async for each in output]

    with running(30) as server:
        assert ANSWER.strip() in "".join(asyncio.run(chunks_of(streamed(server))))
        server.check("openai", BUDGET, requests=31, whole=2 * 30)
        assert {body["stream"] for body in server.sent} == {True}


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


def test_structured_output_of_a_crew() -> None:
    brain = Brain("ann", rounds=30, answer='{"reason": "because"}')
    seen: list[MessageSelection] = []
    crew = crew_of(CupelLLM(FakeLLM(brain), BUDGET, counter=count_words, on_selection=seen.append))
    crew.tasks[0].output_pydantic = Verdict
    assert crew.kickoff().pydantic == Verdict(reason="because")
    assert seen[-1].usage.prompt <= BUDGET
    assert max(each.history_length for each in seen) > 60


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


def test_the_name_of_a_model_is_none() -> None:
    name: Any = "gpt-4o"
    with pytest.raises(TypeError, match=r"llm must be a BaseLLM, such as LLM\(...\), not 'gpt-4o'"):
        CupelLLM(name, BUDGET)


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
