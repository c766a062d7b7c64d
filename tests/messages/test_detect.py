"""Which provider a history is for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pycupel.errors import InvalidArgumentError, ProviderAmbiguousError
from pycupel.messages.detect import detect_provider, resolve_provider

PLAIN = {"role": "user", "content": "hi"}
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "f"}}]}
TOOL_USE = {"role": "assistant", "content": [{"type": "text", "text": "x"}, {"type": "tool_use", "id": "t"}]}
ITEM = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
CONTENT = {"role": "model", "parts": [{"text": "x"}]}


@pytest.mark.parametrize(
    ("message", "provider"),
    [
        (CALL, "openai"),
        ({"role": "tool", "tool_call_id": "c", "content": "x"}, "openai"),
        ({"role": "assistant", "content": None, "function_call": {"name": "f"}}, "openai"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}, "openai"),
        (SimpleNamespace(type="human", content=[{"type": "tool_use"}]), "openai"),
        (SimpleNamespace(type="chat", role="judge", content="x"), "openai"),
        (ITEM, "responses"),
        ({"type": "reasoning", "id": "r", "summary": []}, "responses"),
        ({"id": "msg_1"}, "responses"),
        ({"type": "additional_tools", "role": "developer", "tools": []}, "responses"),
        ({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]}, "responses"),
        (TOOL_USE, "anthropic"),
        ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}, "anthropic"),
        (
            {"type": "message", "role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}]},
            "anthropic",
        ),
        ({"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "signature": "y"}]}, "anthropic"),
        ({"role": "assistant", "content": [{"type": "mcp_tool_use", "id": "m", "name": "f"}]}, "anthropic"),
        ({"role": "assistant", "content": [{"type": "mcp_tool_listing", "server_name": "s"}]}, "anthropic"),
        ({"role": "assistant", "content": [{"type": "web_search_tool_result", "tool_use_id": "s"}]}, "anthropic"),
        ({"role": "user", "content": [{"type": "container_upload", "file_id": "f"}]}, "anthropic"),
        (CONTENT, "gemini"),
        ({"parts": [{"text": "x"}]}, "gemini"),
        ({"role": "tool", "parts": [{"function_response": {"name": "f"}}]}, "gemini"),
    ],
)
def test_one_mark_is_enough(message: Any, provider: str) -> None:
    assert detect_provider([PLAIN, message, PLAIN]).name == provider


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [PLAIN, {"role": "assistant", "content": "x"}],
        [{"role": "developer", "content": "x", "name": "n"}],
        [{"role": "user", "content": [{"type": "text", "text": "x"}, "y", {"type": 7}]}],
        [{"role": "assistant", "content": [{"type": "thinking", "thinking": "Mistral thinks, too"}]}],
        [{"content": "x"}, 7],
        [{"type": 7, "content": "x"}],
    ],
)
def test_what_has_no_mark_means_the_same_everywhere(messages: list[Any]) -> None:
    assert detect_provider(messages).name == "openai"


def test_the_marks_of_two_ask_for_the_provider() -> None:
    with pytest.raises(ProviderAmbiguousError) as caught:
        detect_provider([PLAIN, TOOL_USE, CALL, TOOL_USE, ITEM])
    assert caught.value.candidates == ("anthropic", "openai", "responses")
    assert "messages[1] looks like anthropic, messages[2] looks like openai" in str(caught.value)
    assert "provider='anthropic' or provider='openai'" in str(caught.value)


def test_a_provider_that_was_found_before_is_taken_as_it_is() -> None:
    found = resolve_provider([CALL], "auto", "claude-sonnet-4-5")
    assert resolve_provider([TOOL_USE], found) is found


def test_a_provider_that_is_named_is_taken_at_its_word() -> None:
    assert resolve_provider([CALL], "anthropic").name == "anthropic"
    assert resolve_provider([CALL], "auto").name == "openai"
    assert [resolve_provider([], name).name for name in ("OpenAI", "Mis-tral", "GEMINI")] == [
        "openai",
        "mistral",
        "gemini",
    ]
    with pytest.raises(InvalidArgumentError):
        resolve_provider([CALL], "cohere")
    with pytest.raises(TypeError):
        resolve_provider([CALL], None)
