"""What is special about the hook for Google's ADK."""

from __future__ import annotations

import asyncio
from enum import Enum
from types import SimpleNamespace
from typing import Any

import pytest
from google.adk.models import LlmRequest
from google.genai.types import (
    Blob,
    Content,
    ExecutableCode,
    FileData,
    FunctionCall,
    FunctionDeclaration,
    FunctionResponse,
    GenerateContentConfig,
    GoogleSearch,
    Language,
    Part,
    Schema,
    Tool,
    Type,
)
from pydantic import BaseModel

from pycupel.integrations.google_adk import CupelPlugin
from pycupel.messages import MessageSelection
from tests.integrations_env.agents import Brain
from tests.integrations_env.c.google_adk import Adk
from tests.integrations_env.sessions import count_words


class Colour(Enum):
    """What else it may answer."""

    RED = "red"


class Verdict(BaseModel):
    """What the agent answers."""

    reason: str


def sent(contents: list[Content], *, budget: int = 900, request: Any = None, **options: Any) -> LlmRequest:
    """What becomes of a request."""
    made = LlmRequest(model="gemini-2.5-flash", contents=contents, **(request or {}))
    context: Any = SimpleNamespace(session=SimpleNamespace(id="s"), agent_name="helper")
    plugin = CupelPlugin(budget, counter=count_words, **options)
    asyncio.run(plugin.before_model_callback(callback_context=context, llm_request=made))
    return made


def said(text: str, role: str = "user") -> Content:
    return Content(role=role, parts=[Part(text=text)])


def usage_of(content: Content, **options: Any) -> dict[str, int]:
    seen: list[MessageSelection] = []
    sent([said("Look."), content, said("Well?")], on_selection=seen.append, **options)
    return dict(seen[0].usage.history)


def test_structured_output() -> None:
    """Its schema counts."""
    seen: list[MessageSelection] = []
    for options in ({}, {"output_schema": Verdict}):
        made = Adk(on_selection=seen.append, agent_options=options)
        made.brains["ann"] = Brain("ann", rounds=0, answer='{"reason": "because"}')
        assert asyncio.run(made.ask("ann", "Why?")) == '{"reason": "because"}'
    plain, structured = (each.usage.tools for each in seen)
    assert structured > plain


def tools_of(**config: Any) -> int:
    """What the tools and the schema of a request cost."""
    seen: list[MessageSelection] = []
    sent([said("Why?")], on_selection=seen.append, request={"config": GenerateContentConfig(**config)})
    return seen[0].usage.tools


JSON = {"type": "object", "description": "one two three", "properties": {"city": {"type": "string"}}}
GEMINI = Schema(type=Type.OBJECT, description="one two three", properties={"city": Schema(type=Type.STRING)})


@pytest.mark.parametrize(
    ("config", "tokens"),
    [
        ({}, 0),
        ({"response_schema": Verdict}, 12),
        ({"response_schema": JSON}, 11),
        ({"response_schema": GEMINI}, 11),
        ({"response_json_schema": JSON}, 11),
        ({"response_schema": list[Verdict]}, 12),
        ({"response_schema": Verdict | int}, 12),
        ({"response_schema": dict[str, int]}, 9),
        ({"response_schema": int}, 9),
        ({"response_schema": Colour}, 13),
    ],
)
def test_a_schema_of_any_shape_counts(config: dict[str, Any], tokens: int) -> None:
    """Nine for any tool, and one for each further word in its descriptions."""
    assert tools_of(**config) == tokens


@pytest.mark.parametrize("parameters", [{"parameters": GEMINI}, {"parameters_json_schema": JSON}])
def test_declarations_of_any_shape_count(parameters: dict[str, Any]) -> None:
    """All of a tool's, and what its server runs."""
    declared = FunctionDeclaration(name="look_up", description="six seven", **parameters)
    one, two = (tools_of(tools=[Tool(function_declarations=[declared] * n)]) for n in (1, 2))
    assert one == 12
    assert two > one + 4
    assert tools_of(tools=[Tool(google_search=GoogleSearch())]) > 0


@pytest.mark.parametrize("instruction", ["one two", said("one two"), Part(text="one two"), [Part(text="one"), "two"]])
def test_an_instruction_of_any_shape_counts(instruction: Any) -> None:
    seen: list[MessageSelection] = []
    config = GenerateContentConfig(system_instruction=instruction)
    sent([said("Why?")], on_selection=seen.append, request={"config": config})
    assert seen[0].usage.system == 2 + 2, "and two for a message"


def test_nothing_is_dropped_if_the_server_keeps_the_conversation() -> None:
    contents = [said("word " * 500), said("word " * 500, "model"), said("Well?")]
    assert len(sent(contents).contents) == 1
    assert len(sent(contents, request={"previous_interaction_id": "i1"}).contents) == 3


def test_what_is_asked_in_several_contents_stays_together() -> None:
    """ADK puts an instruction that changes right before the question."""
    old = [said("word " * 200, role) for role in ("user", "model") * 4]
    kept = sent([*old, said("Use metric units."), said("How far?")]).contents
    assert [each.parts[0].text for each in kept[-2:]] == ["Use metric units.", "How far?"]


def test_a_static_instruction_stays_in_front() -> None:
    old = [said("word " * 200, role) for role in ("user", "model") * 4]
    made = LlmRequest(model="gemini-2.5-flash", contents=[said("Manual"), *old, said("How far?")])
    made._static_instruction_prefix_end_index = 1
    context: Any = SimpleNamespace(session=SimpleNamespace(id="s"), agent_name="helper")
    plugin = CupelPlugin(900, counter=count_words)
    asyncio.run(plugin.before_model_callback(callback_context=context, llm_request=made))
    assert made.contents[0].parts[0].text == "Manual"
    assert len(made.contents) < 10


def test_files_thoughts_and_code_are_counted_by_their_kind() -> None:
    image = Part(inline_data=Blob(mime_type="image/png", data=b"." * 9000))
    audio = Part(file_data=FileData(mime_type="audio/wav", file_uri="gs://bucket/a.wav"))
    assert usage_of(Content(role="user", parts=[image]), budget=9_000)["images"] > 100
    assert usage_of(Content(role="user", parts=[audio]), budget=9_000)["files"] > 100
    code = Part(executable_code=ExecutableCode(code="print(1 + 1)", language=Language.PYTHON))
    thought = Part(text="Let me see.", thought=True, thought_signature=b"abc")
    usage = usage_of(Content(role="model", parts=[thought, code]))
    assert sum(usage.values()) >= 12


def test_a_content_of_which_a_part_is_dropped_is_copied() -> None:
    """A result and a question in one content: the old exchange goes, the question stays, and the original is whole."""
    call = Content(role="model", parts=[Part(function_call=FunctionCall(id="c", name="f", args={}))])
    response = FunctionResponse(id="c", name="f", response={"rows": ["word " * 100] * 20})
    both = Content(role="user", parts=[Part(function_response=response), Part(text="Well?")])
    later = [said("Hm.", "model"), said("And now?")]
    options: dict[str, Any] = {"too_large": "drop", "shorten": None}
    kept = sent([said("Look."), call, both, *later], pin=lambda each: "Hm." in str(each), **options).contents
    assert [each.parts[-1].text for each in kept if each.parts][-3:] == ["Well?", "Hm.", "And now?"]
    assert all(part.function_response is None for each in kept for part in each.parts or ())
    assert len(both.parts or ()) == 2


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("gemini-2.5-flash", "gemini"),
        ("anthropic/claude-sonnet-4-5", "anthropic"),
        ("openai/gpt-4o", "openai"),
        ("mistral/mistral-large", "mistral"),
    ],
)
def test_the_model_may_be_another_providers(name: str, provider: str) -> None:
    seen: list[MessageSelection] = []
    made = Adk(on_selection=seen.append)
    made.model = name
    made.brains["ann"] = Brain("ann")
    for turn in range(12):
        assert asyncio.run(made.ask("ann", f"Question {turn}")).startswith("Done")
    assert {each.provider for each in seen} == {provider}
    assert seen[-1].dropped
