"""What histories are made of, for each provider."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pycupel.errors import MessageShapeError
from pycupel.messages import count_messages, lint_messages
from pycupel.messages.providers import PROVIDERS
from pycupel.replay import History, context_usage, read_log
from pycupel.replay.parts import prompt_parts
from pycupel.shorten.outdated import arguments_of
from tests.replay.sessions import REQUESTS, ROLLOUT, lines


def history_of(provider: str) -> History:
    [history] = read_log([json.dumps(REQUESTS[provider])]).histories
    return history


def kinds(history: History) -> list[tuple[str, str]]:
    parts = [*prompt_parts(PROVIDERS[history.provider].read(history.messages))]
    return [(part.kind, part.tool) for part in parts if not part.is_bare]


@pytest.mark.parametrize("provider", REQUESTS)
def test_a_request_is_read_with_what_stands_beside_its_messages(provider: str) -> None:
    history = history_of(provider)
    assert history.provider == provider
    assert bool(history.system) is (provider not in {"openai", "mistral"})
    assert len(history.tools) == (provider != "mistral")
    assert [
        finding for finding in lint_messages(history.messages, history.provider) if finding.severity == "error"
    ] == []


@pytest.mark.parametrize("provider", REQUESTS)
def test_a_document_is_read_like_a_line(provider: str) -> None:
    text = json.dumps(REQUESTS[provider], indent=1)
    assert read_log(text.splitlines(keepends=True)).histories == (history_of(provider),)
    assert read_log([f"[{json.dumps(REQUESTS[provider])}]"]).histories == (history_of(provider),)


@pytest.mark.parametrize(
    ("provider", "expected"),
    [
        ("openai", "system, images, tool_calls ls, tool_results ls, thinking, assistant, user"),
        ("anthropic", "user, thinking, tool_calls ls, tool_results ls, images"),
        ("gemini", "user, images, thinking, tool_calls ls, tool_results ls"),
        ("mistral", "system, user, tool_calls ls, tool_results ls"),
        ("responses", "user, thinking, tool_calls ls, tool_results ls"),
        ("converse", "user, thinking, tool_calls ls, tool_results ls"),
        ("interactions", "user, thinking, tool_calls ls, tool_results ls"),
    ],
)
def test_parts_by_kind_and_tool(provider: str, expected: str) -> None:
    assert ", ".join(" ".join(filter(None, kind)) for kind in kinds(history_of(provider))) == expected


@pytest.mark.parametrize("provider", REQUESTS)
def test_parts_cost_what_the_messages_cost(provider: str) -> None:
    history = history_of(provider)
    parts = [*prompt_parts(PROVIDERS[history.provider].read(history.messages))]
    whole = count_messages(history.messages, history.provider, len)
    assert sum(part.tokens for part in parts) == whole


def test_a_result_knows_its_call() -> None:
    for provider in REQUESTS:
        parts = [*prompt_parts(history_of(provider).resolved_provider.read(history_of(provider).messages))]
        [call] = [part for part in parts if part.kind == "tool_calls"]
        [result] = [part for part in parts if part.kind == "tool_results"]
        assert call.call == result.call
        assert arguments_of(call.call and call.call.arguments) == ("src", {})
        assert "src/checkout/retry.py" in result.text


def test_items_of_a_rollout() -> None:
    [history] = read_log(lines(*ROLLOUT)).histories
    assert [tool for kind, tool in kinds(history) if tool] == [
        "shell",
        "shell",
        "apply_patch",
        "apply_patch",
        "web_search_call",
    ]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}, [("tool_calls", "f")]),
        ({"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f"}}]}, [("tool_calls", "f")]),
        ({"role": "function", "name": "f", "content": "42"}, [("tool_results", "f")]),
        ({"role": "tool", "tool_call_id": "unknown", "content": "42"}, [("tool_results", "")]),
        ({"role": "developer", "content": "Be brief."}, [("system", "")]),
        ({"role": "user", "content": ["hello", {"type": "text", "text": "more"}]}, [("user", ""), ("user", "")]),
        ({"role": "user", "content": [{"type": "screenshot", "image_url": "x"}]}, [("images", "")]),
        ({"role": "user", "content": [{"type": "input_audio"}]}, [("files", "")]),
    ],
)
def test_other_shapes(message: Any, expected: list[tuple[str, str]]) -> None:
    assert kinds(History((message,), "openai")) == expected


def test_gemini_messages_alone_are_known_by_their_parts() -> None:
    contents = REQUESTS["gemini"]["contents"]
    [history] = read_log(json.dumps(each) for each in contents).histories
    assert history.provider == "gemini"


def test_answers_of_gemini() -> None:
    answer = {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "retry.py"}]}}],
        "usageMetadata": {"promptTokenCount": 40, "candidatesTokenCount": 4, "cachedContentTokenCount": 30},
        "modelVersion": "gemini-2.5-pro",
    }
    [history] = read_log([json.dumps({"request": REQUESTS["gemini"], "response": answer})]).histories
    [call] = history.calls
    assert (call.index, call.model, call.prompt_tokens, call.output_tokens, call.cache_read_tokens) == (
        3,
        "gemini-2.5-pro",
        40,
        4,
        30,
    )
    [empty] = read_log([json.dumps({"request": REQUESTS["gemini"], "response": {"candidates": [{}]}})]).histories
    assert empty.calls == ()


def test_the_model_tells_providers_apart() -> None:
    hello = [{"role": "user", "content": "hello"}]
    models = {
        "claude-opus-4-6": "anthropic",
        "mistral-small": "mistral",
        "gpt-4o": "openai",
        "unknown": "openai",
        7: "openai",
    }
    for model, provider in models.items():
        [history] = read_log([json.dumps({"model": model, "messages": hello})]).histories
        assert history.provider == provider


def test_what_is_unknown_says_nothing_about_the_provider() -> None:
    hello = {"role": "user", "content": "hello"}
    for unknown in ({"role": "critic", "content": [{"text": "No."}]}, {"role": "critic", "parts": [{"text": "No."}]}):
        [history] = read_log([json.dumps({"messages": [hello, unknown]})]).histories
        assert history.provider == "openai"


def test_signed_thoughts_may_be_mistrals() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "A"}
    said = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": [thought]}]
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    called = [*said, {"role": "assistant", "content": "", "tool_calls": [call]}]
    for model, messages, provider in (
        ("a-router", said, "anthropic"),
        ("mistral-small", said, "mistral"),
        ("a-router", called, "openai"),
    ):
        [history] = read_log([json.dumps({"model": model, "messages": messages})]).histories
        assert history.provider == provider


def test_options_of_googles_sdk() -> None:
    request = {"contents": REQUESTS["gemini"]["contents"], "config": {"system_instruction": "Be brief.", "tools": [{}]}}
    [history] = read_log([json.dumps(request)]).histories
    assert (history.system, history.tools) == ("Be brief.", ({},))


def test_a_message_that_cannot_be_read_is_named() -> None:
    sealed = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": ["x"]}]}
    with pytest.raises(MessageShapeError, match="must be a string") as caught:
        context_usage(History(({"role": "user", "content": "a"}, sealed), "anthropic"))
    assert (caught.value.index, caught.value.key) == (1, "signature")
