"""Agents of OpenAI's SDK that ask for results that were shortened, with the tool of the filter."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from agents import Agent, Model, ModelResponse, RunConfig, Runner, SQLiteSession, Usage, function_tool
from agents.run import CallModelData, ModelInputData
from agents.tool_context import ToolContext
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from pycupel.errors import InvalidArgumentError
from pycupel.integrations.openai_agents import CupelInputFilter
from pycupel.messages import Shorten
from tests.integrations_env.recalling import CALLS, WINDOW, Forgetful
from tests.integrations_env.sessions import RESULTS, count_words


@function_tool
def look_up(n: int) -> str:
    """Look something up."""
    return RESULTS[n]


class FakeModel(Model):
    """Looks everything up, asks for what it has forgotten, then answers."""

    def __init__(self, name: str) -> None:
        self.mind = Forgetful(name)
        self.looked_up = 0
        self.pauses = False
        """Whether it answers when it has looked everything up, before it asks."""

    def _reply(self, shown: Any) -> list[Any]:
        if self.looked_up < len(RESULTS):
            self.looked_up += 1
            return [_call(f"c{self.looked_up - 1}", "look_up", {"n": self.looked_up - 1})]
        arguments = None
        if not self.pauses:
            arguments = self.mind.next("\n".join(str(each.get("output", "")) for each in shown))
        self.pauses = False
        if arguments is not None:
            return [_call(f"ask{len(self.mind.asked)}", self.mind.name, arguments)]
        text = ResponseOutputText(type="output_text", text="Done.", annotations=[])
        done: Any = {"id": "msg", "type": "message", "role": "assistant", "status": "completed"}
        return [ResponseOutputMessage(**done, content=[text])]

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> ModelResponse:  # noqa: A002
        return ModelResponse(output=self._reply(input), usage=Usage(), response_id=None)

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


def _call(call_id: str, name: str, arguments: Any) -> ResponseFunctionToolCall:
    written = json.dumps(arguments)
    return ResponseFunctionToolCall(type="function_call", call_id=call_id, name=name, arguments=written)


@pytest.mark.parametrize(("recall", "name"), [(True, "recall_result"), ("give_back", "give_back")])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("provider", ["auto", "anthropic"])
@pytest.mark.parametrize("stored", [False, True])
def test_an_agent_recalls_what_it_has_looked_up(
    recall: Any, name: str, stream: bool, provider: Any, stored: bool
) -> None:
    """In the same run, or in one before. Three at the same time, with one filter."""
    given = CupelInputFilter(WINDOW, counter=count_words, shorten=Shorten(recall=recall), provider=provider)

    async def ask() -> None:
        model = FakeModel(name)
        agent = Agent(name="Helper", model=model, tools=[look_up, given.recall_tool])
        session = SQLiteSession("s") if stored else None
        options: Any = {"run_config": RunConfig(call_model_input_filter=given), "max_turns": 20, "session": session}
        if stored:
            model.pauses = True
            await Runner.run(agent, "Look it up.", **options)
        if stream:
            result: Any = Runner.run_streamed(agent, "Look it all up.", **options)
            assert [event async for event in result.stream_events()]
        else:
            result = await Runner.run(agent, "Look it all up.", **options)
        items: list[Any] = result.to_input_list() if session is None else await session.get_items()
        if session is not None:
            session.close()
        outputs = [each["output"] for each in items if each.get("type") == "function_call_output"]
        assert outputs[: len(RESULTS)] == RESULTS
        model.mind.check(outputs[-CALLS:])

    async def all_at_once() -> None:
        await asyncio.gather(ask(), ask(), ask())

    asyncio.run(all_at_once())


def test_a_call_before_any_request_is_answered_from_the_input() -> None:
    """As when a run is resumed. Arguments that are not JSON are the model's mistake, of which it is told."""
    given: list[Any] = [
        {"type": "function_call", "call_id": "c0", "name": "look_up", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c0", "output": RESULTS[0]},
    ]
    tool = CupelInputFilter("75%", shorten=Shorten(recall=True)).recall_tool
    agent = Agent(name="Helper", model="gpt-4o", tools=[tool])

    def answer(arguments: str) -> Any:
        context: Any = ToolContext(
            None, tool_name=tool.name, tool_call_id="ask", tool_arguments=arguments, turn_input=given, agent=agent
        )
        return asyncio.run(tool.on_invoke_tool(context, arguments))

    # What another run in the same context was sent is none of its business.
    others = [{**each, "call_id": "c1"} for each in given]
    config = RunConfig(call_model_input_filter=CupelInputFilter(WINDOW))
    assert config.call_model_input_filter is not None
    config.call_model_input_filter(CallModelData(ModelInputData(others, None), agent, None))
    assert answer('{"id": "c0"}') == RESULTS[0]
    assert "c1" not in answer('{"id": "c1"}').replace("id 'c1'", "")
    for wrong in ("{", "7", '"c0"'):
        assert answer(wrong) == "the arguments must be a JSON object with an id"
    for wrong in ("[]", '{"id": ["c0"]}'):
        assert "id" in answer(wrong)


def test_without_recall_there_is_no_tool() -> None:
    with pytest.raises(InvalidArgumentError, match="nothing to recall"):
        _ = CupelInputFilter(WINDOW).recall_tool
