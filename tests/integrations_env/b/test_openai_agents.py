"""The OpenAI Agents SDK, with a fake model: what the model sees, and what the run and its session keep."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from copy import deepcopy
from itertools import pairwise
from typing import Any

import pytest
from agents import (
    Agent,
    AgentOutputSchema,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    SQLiteSession,
    Usage,
    function_tool,
    handoff,
)
from agents.run import CallModelData, ModelInputData
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseReasoningItem,
)
from pydantic import BaseModel, Field

from pycupel.errors import InvalidArgumentError, UnitTooLargeError
from pycupel.integrations.openai_agents import CupelInputFilter
from pycupel.messages import MessageSelection, lint_messages
from tests.integrations_env.sessions import LARGE, SYSTEM, agent_session, count_words

BUDGET = 700


def items(seed: int = 1, turns: int = 12) -> list[Any]:
    """The session as Responses items, with a thought before each call. The instructions are the agent's."""
    result: list[Any] = []
    for place, message in enumerate(agent_session(seed, turns)[1:]):
        if message["role"] == "tool":
            output = {"call_id": message["tool_call_id"], "output": message["content"]}
            result.append({"type": "function_call_output", **output})
        elif message.get("tool_calls"):
            result.append({"type": "reasoning", "id": f"rs_{place}", "summary": []})
            result += [
                {"type": "function_call", "call_id": call["id"], "name": "look_up", "arguments": "{}"}
                for call in message["tool_calls"]
            ]
        else:
            result.append({"role": message["role"], "content": message["content"]})
    return result


class FakeModel(Model):
    """Thinks and calls the tool `calls` times, then answers; remembers what it was shown."""

    def __init__(self, calls: int = 2) -> None:
        self.calls = calls
        self.seen: list[list[Any]] = []

    def _reply(self, shown: Any) -> list[Any]:
        self.seen.append(list(shown))
        number = len(self.seen)
        if number <= self.calls:
            call = ResponseFunctionToolCall(
                type="function_call", call_id=f"now_{number}", name="look_up", arguments='{"key": "k"}'
            )
            return [ResponseReasoningItem(type="reasoning", id=f"rs_now_{number}", summary=[]), call]
        text = ResponseOutputText(type="output_text", text="Done.", annotations=[])
        return [
            ResponseOutputMessage(
                id=f"msg_{number}", type="message", role="assistant", status="completed", content=[text]
            )
        ]

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> ModelResponse:  # noqa: A002
        return ModelResponse(output=self._reply(input), usage=Usage(), response_id=f"resp_{len(self.seen)}")

    async def stream_response(
        self,
        system_instructions: Any,
        input: Any,  # noqa: A002
        *args: Any,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        response = Response(
            id="resp",
            created_at=0,
            model="fake",
            object="response",
            output=self._reply(input),
            tool_choice="auto",
            tools=[],
            parallel_tool_calls=False,
        )
        yield ResponseCompletedEvent(type="response.completed", response=response, sequence_number=0)


@function_tool
def look_up(key: str) -> str:
    """Look something up."""
    return "found " * 40


def agent_with(model: Model) -> Agent[Any]:
    return Agent(name="Helper", instructions=SYSTEM, model=model, tools=[look_up])


def config(input_filter: CupelInputFilter) -> RunConfig:
    return RunConfig(call_model_input_filter=input_filter)


def run(model: Model, given: Any, input_filter: CupelInputFilter, **options: Any) -> Any:
    return asyncio.run(Runner.run(agent_with(model), given, run_config=config(input_filter), **options))


def size(shown: list[Any]) -> int:
    texts = [each.get("content", each.get("output", "")) for each in shown]
    return sum(count_words(text) for text in texts)


def test_the_model_sees_what_fits_and_the_run_keeps_everything() -> None:
    given, model = items(), FakeModel()
    result = run(model, given, CupelInputFilter(BUDGET, counter=count_words))
    assert result.final_output == "Done."
    assert len(model.seen) == 3
    for seen in model.seen:
        assert lint_messages(seen, "responses") == []
        assert len(seen) < len(given)
        assert size(seen) <= BUDGET
    kept = result.to_input_list()
    assert kept[: len(given)] == given
    assert [each["type"] for each in kept[len(given) :]] == [
        *["reasoning", "function_call", "function_call_output"] * 2,
        "message",
    ]


@pytest.mark.parametrize(("shorten", "calls"), [(None, 4), ("results", 3)])
def test_within_a_run_the_prompt_only_grows_after_it_was_cut(shorten: Any, calls: int) -> None:
    """If results are shortened, the first cut keeps more, and the next one comes sooner."""
    model = FakeModel(calls=calls)
    run(model, items(), CupelInputFilter(BUDGET, counter=count_words, shorten=shorten))
    assert len(model.seen) == calls + 1
    for before, after in pairwise(model.seen):
        assert after[: len(before)] == before


def test_a_session_keeps_everything_and_the_next_run_starts_like_the_last_one() -> None:
    given, model = items(), FakeModel(calls=0)
    input_filter = CupelInputFilter(BUDGET, counter=count_words)

    async def converse() -> list[Any]:
        session = SQLiteSession("one")
        await session.add_items(given)
        for question in ("Well?", "And then?"):
            await Runner.run(agent_with(model), question, run_config=config(input_filter), session=session)
        kept = await session.get_items()
        session.close()
        return kept

    assert len(asyncio.run(converse())) == len(given) + 4
    before, after = model.seen
    assert len(before) < len(given)
    assert after[: len(before)] == before


def test_a_stream_is_served_as_well() -> None:
    given, model = items(), FakeModel()

    async def stream() -> Any:
        result = Runner.run_streamed(
            agent_with(model), given, run_config=config(CupelInputFilter(BUDGET, counter=count_words))
        )
        async for _ in result.stream_events():
            pass
        return result

    result = asyncio.run(stream())
    assert result.final_output == "Done."
    assert all(lint_messages(seen, "responses") == [] and len(seen) < len(given) for seen in model.seen)


def test_instructions_and_tools_count() -> None:
    selections: list[MessageSelection] = []
    model = FakeModel(calls=0)
    run(model, "Hello!", CupelInputFilter(BUDGET, counter=count_words, on_selection=selections.append))
    assert selections[0].usage.system >= count_words(SYSTEM)
    assert selections[0].usage.tools > 0
    assert selections[0].kept == (0,)


def test_where_the_server_keeps_the_conversation_nothing_is_dropped() -> None:
    """Then the input is only what is new: results whose calls are on the server."""
    model = FakeModel()
    result = run(model, "Hello!", CupelInputFilter(BUDGET, counter=count_words), previous_response_id="resp_0")
    assert result.final_output == "Done."
    assert [[each.get("type", each.get("role")) for each in seen] for seen in model.seen] == [
        ["user"],
        ["function_call_output"],
        ["function_call_output"],
    ]


def selection_for(agent: Agent[Any], given: list[Any], **options: Any) -> MessageSelection:
    selections: list[MessageSelection] = []
    data = CallModelData(ModelInputData(given, None), agent, None)
    CupelInputFilter(BUDGET, counter=count_words, on_selection=selections.append, **options)(data)
    return selections[0]


class FakeLitellm(FakeModel):
    """A model of another library, which has its name in an attribute."""

    def __init__(self, model: str) -> None:
        super().__init__()
        self.model = model


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        (None, "responses"),
        ("gpt-4o", "responses"),
        (FakeModel(), "responses"),
        ("litellm/anthropic/claude-haiku-4-5", "anthropic"),
        (FakeLitellm("anthropic/claude-haiku-4-5"), "anthropic"),
        (FakeLitellm("gemini/gemini-2.5-pro"), "gemini"),
        ("litellm/mistral/mistral-large-latest", "mistral"),
    ],
)
def test_the_rules_are_those_of_the_model(model: Any, provider: str) -> None:
    given = items()
    selection = selection_for(Agent(name="Helper", model=model, tools=[look_up]), given)
    assert selection.provider == provider
    assert 0 < len(selection.kept) < len(given)
    assert lint_messages(selection.messages, "responses") == []
    assert selection_for(Agent(name="Helper", model=model), given, provider="anthropic").provider == "anthropic"


@pytest.mark.parametrize(
    "thoughts",
    [
        {"provider_data": {"thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "x" * 64}]}},
        {"content": [{"type": "reasoning_text", "text": "Hm."}], "encrypted_content": "x" * 64},
    ],
)
def test_the_thoughts_that_start_a_turn_stay_where_claude_demands_them(thoughts: dict[str, Any]) -> None:
    given: list[Any] = [{"role": "user", "content": [{"type": "input_text", "text": "Look it all up."}]}]
    given.append({"type": "reasoning", "id": "rs_1", "summary": [], **thoughts})
    for n in range(30):
        given.append({"type": "function_call", "call_id": f"c{n}", "name": "look_up", "arguments": "{}"})
        given.append({"type": "function_call_output", "call_id": f"c{n}", "output": "found " * 40})
    claude = selection_for(Agent(name="Helper", model="litellm/anthropic/claude-haiku-4-5"), given)
    assert claude.kept[:4] == (0, 1, 2, 3)
    assert len(claude.kept) < len(given)
    assert 1 not in selection_for(Agent(name="Helper", model="gpt-4o"), given).kept


@pytest.mark.parametrize("model", ["gpt-4o", "litellm/anthropic/claude-haiku-4-5", "litellm/gemini/gemini-2.5-pro"])
def test_a_shortened_result_is_a_copy_with_another_text(model: str) -> None:
    parts = [{"type": "input_text", "text": LARGE}, {"type": "input_image", "image_url": "https://example.org"}]
    given: list[Any] = [{"role": "user", "content": "Look it up."}]
    given += ({"type": "function_call", "call_id": f"c{n}", "name": "look_up", "arguments": "{}"} for n in range(2))
    given += (
        {"type": "function_call_output", "call_id": f"c{n}", "output": each, "status": "completed"}
        for n, each in enumerate((LARGE, parts))
    )
    before = deepcopy(given)
    selection = selection_for(Agent(name="Helper", model=model), given)
    assert given == before
    assert lint_messages(selection.messages, "responses") == []
    assert [n for n, each in enumerate(selection.messages) if each is not given[n]] == [3, 4]
    for n in (3, 4):
        output = selection.messages[n]["output"]
        assert selection.messages[n] == {**given[n], "output": output}
        assert 0 < count_words(output) < BUDGET
    assert [each.index for each in selection.shortened] == [3, 4]


@pytest.mark.parametrize("model", ["gpt-4o", "litellm/anthropic/claude-haiku-4-5"])
def test_an_output_that_must_be_what_it_is_is_not_shortened(model: str) -> None:
    given: list[Any] = [
        {"role": "user", "content": "Run it."},
        {"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "call_id": "c1", "output": [{"stdout": LARGE, "stderr": ""}]},
    ]
    with pytest.raises(UnitTooLargeError):
        selection_for(Agent(name="Helper", model=model), given)


def test_handoffs_count() -> None:
    given = items(turns=1)
    other = Agent(name="Other", handoff_description="Knows " * 20)
    sizes = [
        selection_for(Agent(name="Helper", handoffs=handoffs), given).usage.tools
        for handoffs in ([], [other], [handoff(other)])
    ]
    assert sizes[0] == 0
    assert min(sizes[1:]) > 20


class Big(BaseModel):
    answer: str = Field(description="word " * 200)


def test_the_schema_of_the_output_counts() -> None:
    given = items(turns=1)
    for plain in (None, str, AgentOutputSchema(str)):
        assert selection_for(Agent(name="Helper", output_type=plain), given).usage.tools == 0
    for schema in (Big, list[Big], AgentOutputSchema(Big, strict_json_schema=False)):
        assert 200 < selection_for(Agent(name="Helper", output_type=schema), given).usage.tools < 300


class Verdict(BaseModel):
    reason: str


def test_structured_output_is_returned() -> None:
    class Structured(FakeModel):
        def _reply(self, shown: Any) -> list[Any]:
            [message] = super()._reply(shown)
            message.content[0].text = '{"reason": "because"}'
            return [message]

    model, given, seen = Structured(calls=0), items(), list[MessageSelection]()
    hook = CupelInputFilter(BUDGET, counter=count_words, on_selection=seen.append)
    agent = Agent(name="Helper", model=model, tools=[look_up], output_type=Verdict)
    result = asyncio.run(Runner.run(agent, given, run_config=RunConfig(call_model_input_filter=hook)))
    assert result.final_output == Verdict(reason="because")
    assert len(model.seen[0]) < len(given) == len(result.to_input_list()) - 1
    assert seen[0].usage.prompt <= BUDGET


def test_an_orphan_in_a_history_of_ones_own_is_left_out() -> None:
    orphan = {"type": "function_call_output", "call_id": "gone", "output": "found"}
    given = [orphan, {"role": "assistant", "content": "So."}, {"role": "user", "content": "Well?"}]
    data = CallModelData(ModelInputData(given, None), agent_with(FakeModel()), None)  # type: ignore[arg-type]
    assert CupelInputFilter(BUDGET)(data).input == given[1:]


def test_a_pin_is_asked_about_each_item() -> None:
    given, model = items(), FakeModel(calls=0)
    input_filter = CupelInputFilter(BUDGET, counter=count_words, pin=lambda item: item == given[0])
    run(model, given, input_filter)
    assert model.seen[0][0] == given[0]


def test_wrong_options_are_found_where_they_are_written() -> None:
    with pytest.raises(InvalidArgumentError, match="chat"):
        CupelInputFilter(8_000, policy="chatt")  # type: ignore[arg-type]
