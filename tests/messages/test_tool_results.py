"""Results of tool calls inside messages of any make, and copies that say less."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel

from pycupel.messages.overlay import read_results, with_result_texts
from pycupel.messages.parts import PartReader
from pycupel.messages.providers._tables import Prices
from pycupel.shorten import ToolCall


class ResultPart(NamedTuple):
    """What is told of a result: its number, what the tool said, whether it failed, and the cost of images beside."""

    number: int
    text: str
    failed: bool = False
    beside: int = 0


def result_parts(message: Any) -> list[ResultPart]:
    return [
        ResultPart(number, part.said or "", part.failed, part.beside)
        for number, part in enumerate(read_results(message))
    ]


def calls_of(message: Any) -> list[ToolCall]:
    parts = PartReader(len, Prices())(message)
    return [ToolCall(part.tool, part.arguments) for part in parts if part.kind == "call"]


IMAGE = {"type": "image", "source": {"type": "base64", "data": "x"}}

ANTHROPIC = {
    "role": "user",
    "content": [
        {"type": "tool_result", "tool_use_id": "a", "content": "long", "cache_control": {"type": "ephemeral"}},
        {
            "type": "tool_result",
            "tool_use_id": "b",
            "content": [{"type": "text", "text": "one"}, IMAGE],
            "is_error": True,
        },
        {"type": "tool_result", "tool_use_id": "c"},
        {"type": "text", "text": "and now?"},
    ],
}
GEMINI = {
    "role": "user",
    "parts": [
        {"functionResponse": {"name": "f", "response": {"result": "long", "code": 0}}},
        {"function_response": {"id": "7", "name": "g", "response": {"error": "bad"}, "parts": [{"inlineData": {}}]}},
        {"functionResponse": {"name": "h", "response": {"rows": [1, 2]}}},
        {"text": "and now?"},
    ],
}


@dataclass(frozen=True)
class Record:
    role: str
    tool_call_id: str
    content: str


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        ({"role": "user", "content": "hello"}, []),
        ({"role": "user", "content": ["hello"]}, []),
        ({"role": "assistant", "content": None, "tool_calls": []}, []),
        ({"role": "tool", "tool_call_id": "a", "content": "long"}, [ResultPart(0, "long")]),
        ({"role": "function", "name": "f", "content": "long"}, [ResultPart(0, "long")]),
        (
            {
                "role": "tool",
                "tool_call_id": "a",
                "content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}],
            },
            [ResultPart(0, "x\ny")],
        ),
        (
            {"type": "tool", "tool_call_id": "a", "content": "long", "status": "error"},
            [ResultPart(0, "long", True)],
        ),
        ({"type": "function_call_output", "call_id": "a", "output": "long"}, [ResultPart(0, "long")]),
        ({"type": "computer_call_output", "call_id": "a", "output": {"type": "computer_screenshot"}}, []),
        (
            {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_image", "image_url": "x"}]},
            [ResultPart(0, "", False, 765)],
        ),
        (
            ANTHROPIC,
            [ResultPart(0, "long"), ResultPart(1, "one", True, 765), ResultPart(2, "")],
        ),
        (
            GEMINI,
            [
                ResultPart(0, "long"),
                ResultPart(1, "bad", True, 1500),
                ResultPart(2, '{"rows":[1,2]}'),
            ],
        ),
        ({"role": "assistant", "content": [{"type": "web_search_tool_result", "content": []}]}, []),
    ],
)
def test_results_are_found(message: Any, parts: list[ResultPart]) -> None:
    assert result_parts(message) == parts


@pytest.mark.parametrize(
    ("message", "texts", "changed"),
    [
        (
            {"role": "tool", "tool_call_id": "a", "content": "long", "name": "f"},
            {0: "x"},
            {"role": "tool", "tool_call_id": "a", "content": "x", "name": "f"},
        ),
        (
            {"type": "function_call_output", "call_id": "a", "output": "long", "id": "i"},
            {0: "x"},
            {"type": "function_call_output", "call_id": "a", "output": "x", "id": "i"},
        ),
        (
            ANTHROPIC,
            {1: "x"},
            {
                **ANTHROPIC,
                "content": [
                    ANTHROPIC["content"][0],
                    {"type": "tool_result", "tool_use_id": "b", "content": "x", "is_error": True},
                    *ANTHROPIC["content"][2:],
                ],
            },
        ),
        (
            GEMINI,
            {0: "x", 1: "y", 2: "z"},
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "f", "response": {"result": "x", "code": 0}}},
                    {"function_response": {"id": "7", "name": "g", "response": {"error": "y"}}},
                    {"functionResponse": {"name": "h", "response": {"output": "z"}}},
                    {"text": "and now?"},
                ],
            },
        ),
    ],
)
def test_a_copy_says_less_and_the_message_stays(message: Any, texts: dict[int, str], changed: Any) -> None:
    before = copy.deepcopy(message)
    assert with_result_texts(message, texts) == changed
    assert message == before
    numbers = {part.number: part.text for part in result_parts(with_result_texts(message, texts))}
    assert numbers.items() >= texts.items()


def test_what_is_not_changed_is_the_very_same() -> None:
    changed = with_result_texts(ANTHROPIC, {1: "x"})
    assert changed["content"][0] is ANTHROPIC["content"][0]
    assert changed["content"][3] is ANTHROPIC["content"][3]


class Model:
    """Like a Pydantic model."""

    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)

    def model_copy(self, *, update: dict[str, Any]) -> Model:
        return Model(**{**vars(self), **update})


@pytest.mark.parametrize(
    "message",
    [
        Record("tool", "a", "long"),
        SimpleNamespace(role="tool", tool_call_id="a", content="long"),
        Model(role="tool", tool_call_id="a", content="long"),
        MappingProxyType({"role": "tool", "tool_call_id": "a", "content": "long"}),
    ],
    ids=lambda message: type(message).__name__,
)
def test_objects_are_copied(message: Any) -> None:
    changed = with_result_texts(message, {0: "x"})
    assert [part.text for part in result_parts(changed)] == ["x"]
    assert [part.text for part in result_parts(message)] == ["long"]


@pytest.mark.parametrize(
    ("message", "calls"),
    [
        ({"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}, [ToolCall("f", "{}")]),
        ({"type": "custom_tool_call", "call_id": "a", "name": "f", "input": "x"}, [ToolCall("f", "x")]),
        (
            {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]},
            [ToolCall("f", "{}")],
        ),
        (
            {"type": "ai", "content": "", "tool_calls": [{"id": "a", "name": "f", "args": {"x": 1}}]},
            [ToolCall("f", {"x": 1})],
        ),
        ({"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}, [ToolCall("f", "{}")]),
        (
            {"role": "assistant", "content": ["a", {"type": "text"}, {"type": "tool_use", "name": "f", "input": {}}]},
            [ToolCall("f", {})],
        ),
        ({"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"x": 1}}}]}, [ToolCall("f", {"x": 1})]),
    ],
)
def test_calls_are_found(message: Any, calls: list[ToolCall]) -> None:
    assert list(calls_of(message)) == calls


def test_what_gemini_returned_stays_an_object() -> None:
    for response in ({}, {"name": "f"}, {"name": "f", "response": {"error": {"code": 7}}}):
        message = {"role": "user", "parts": [{"functionResponse": {"name": "f", **response}}]}
        changed = with_result_texts(message, {0: "x"})["parts"][0]["functionResponse"]["response"]
        assert changed == ({"error": "x"} if "response" in response else {"output": "x"})


def test_geminis_roles_for_results_have_parts_too() -> None:
    message = {"role": "function", "parts": [{"functionResponse": {"name": "f", "response": {"result": "long"}}}]}
    assert result_parts(message) == [ResultPart(0, "long")]
    assert result_parts(with_result_texts(message, {0: "x"})) == [ResultPart(0, "x")]


class Tool(BaseModel):
    """Like a message of a provider's library."""

    role: str = "tool"
    tool_call_id: str
    content: str


def test_models_stay_models_of_their_class() -> None:
    message = Tool(tool_call_id="a", content="long")
    changed = with_result_texts(message, {0: "x"})
    assert changed == Tool(tool_call_id="a", content="x")
    assert message.content == "long"
