"""What is special about the hook for Microsoft's Agent Framework."""

from __future__ import annotations

import asyncio
from typing import Any

from agent_framework import ChatContext, Content, Message
from pydantic import BaseModel

from pycupel.integrations.agent_framework import CupelChatMiddleware
from pycupel.messages import MessageSelection
from tests.integrations_env.agents import Brain
from tests.integrations_env.c.agent_framework import AgentFramework, FakeClient
from tests.integrations_env.sessions import count_words


class Verdict(BaseModel):
    """What the agent answers."""

    reason: str


def sent(messages: list[Message], *, budget: int = 900, given: Any = None, **options: Any) -> list[Message]:
    """What is left of the messages of a call."""
    context = ChatContext(client=FakeClient(Brain()), messages=messages, options=given)

    async def call_next() -> None:
        pass

    asyncio.run(CupelChatMiddleware(budget, counter=count_words, **options).process(context, call_next))
    return list(context.messages)


def usage_of(message: Message, **options: Any) -> dict[str, int]:
    seen: list[MessageSelection] = []
    sent([Message("user", ["Look."]), message, Message("user", ["Well?"])], on_selection=seen.append, **options)
    return dict(seen[0].usage.history)


def test_it_runs_at_every_call_of_a_tool_loop() -> None:
    seen: list[MessageSelection] = []
    made = AgentFramework(on_selection=seen.append)
    asyncio.run(made.talk("ann", 2, rounds=3))
    assert len(seen) == len(made.brains["ann"].sent) == 8


def test_structured_output() -> None:
    """Its schema counts, whether it is a class or JSON."""
    seen: list[MessageSelection] = []
    formats: list[Any] = [None, Verdict, {"type": "json_schema", "schema": Verdict.model_json_schema()}]
    for each in formats:
        made = AgentFramework(on_selection=seen.append, agent_options={"default_options": {"response_format": each}})
        made.brains["ann"] = Brain("ann", rounds=0, answer='{"reason": "because"}')
        assert asyncio.run(made.ask("ann", "Why?")) == '{"reason": "because"}'
    plain, *structured = (each.usage.tools for each in seen)
    assert min(structured) > plain


def test_nothing_is_dropped_if_the_service_keeps_the_conversation() -> None:
    messages = [Message("user", ["word " * 500]), Message("assistant", ["word " * 500]), Message("user", ["Well?"])]
    assert len(sent(messages)) == 1
    assert len(sent(messages, given={"conversation_id": "c1"})) == 3


def test_tools_of_any_shape_are_counted_if_they_have_a_schema() -> None:
    seen: list[MessageSelection] = []
    tools = [{"type": "web_search", "description": "one two three"}, object()]
    for given in (tools, tools[:1]):
        sent([Message("user", ["Well?"])], given={"tools": given}, on_selection=seen.append)
    assert seen[0].usage.tools == seen[1].usage.tools > 3


def test_files_thoughts_and_others_are_counted_by_their_kind() -> None:
    image = Content.from_data(b"." * 9000, media_type="image/png")
    assert usage_of(Message("user", [image]), budget=9_000)["images"] > 100
    thought = Content.from_text_reasoning(text="Let me see.", protected_data="abc")
    other = Content.from_error(message="one two three")
    usage = usage_of(Message("assistant", [thought, other]))
    assert usage["assistant"] >= 6


def test_a_result_keeps_its_pictures_unless_it_is_shortened() -> None:
    picture = Content.from_data(b"." * 9000, media_type="image/png")
    for size, left in ((10, 2), (5_000, 1)):
        result = Content.from_function_result("c", result=[Content.from_text("row\n" * size), picture])
        call = Message("assistant", [Content.from_function_call("c", "f", arguments="{}")])
        messages = [Message("user", ["Look."]), call, Message("tool", [result])]
        [_, _, kept] = sent(messages, budget=2_500)
        assert len(kept.contents[0].items or ()) == left
        assert len(result.items or ()) == 2
        assert len(str(kept.contents[0].result)) <= len(str(result.result))


def test_a_failed_result_is_one() -> None:
    seen: list[MessageSelection] = []
    failed = Content.from_function_result("c", result={"rows": 1}, exception="no disk")
    call = Message("assistant", [Content.from_function_call("c", "f", arguments="{}")])
    assert len(sent([Message("user", ["Look."]), call, Message("tool", [failed])], on_selection=seen.append)) == 3
    assert seen[0].usage.history["tool_results"] >= 1
