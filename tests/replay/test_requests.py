"""Logs of requests: which of them are one conversation, and what the provider counted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pycupel.replay import Call, History, read_log
from tests.replay.sessions import REQUESTS

Row = dict[str, Any]

SYSTEM = {"role": "system", "content": "Be brief."}
HELLO = {"role": "user", "content": "hello"}
HI = {"role": "assistant", "content": "hi"}
MORE = {"role": "user", "content": "more"}


def read(*rows: Row) -> tuple[History, ...]:
    return read_log(json.dumps(row) for row in rows).histories


def test_a_line_with_messages_is_a_history() -> None:
    one, other = read({"id": "1", "messages": [SYSTEM, HELLO, HI]}, {"custom_id": "2", "messages": [SYSTEM, MORE]})
    assert one == History((SYSTEM, HELLO, HI), "openai", id="1")
    assert other == History((SYSTEM, MORE), "openai", id="2")


def test_a_request_that_goes_on_is_one_history_with_a_call_for_each() -> None:
    def row(messages: list[Row], answer: Row, prompt: int) -> Row:
        usage = {"prompt_tokens": prompt, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
        return {
            "request": {"model": "gpt-x", "messages": messages},
            "response": {"choices": [{"message": answer}], "usage": usage},
        }

    reply: Row = {**HI, "refusal": None, "annotations": []}
    [history] = read(
        row([SYSTEM, HELLO], reply, 10),
        row([SYSTEM, HELLO, HI, MORE], {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}, 20),
        row([SYSTEM, HELLO, HI, MORE], {"role": "assistant", "content": "no"}, 20),
    )
    assert history.messages == (SYSTEM, HELLO, HI, MORE, {"role": "assistant", "content": "no"})
    assert history.calls == (
        Call(2, "gpt-x", 10, 2, 4),
        Call(4, "gpt-x", 20, 2, 4),
        Call(4, "gpt-x", 20, 2, 4),
    )


def test_a_reply_keeps_what_may_be_sent_again() -> None:
    answer = {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}], "audio": None, "annotations": []}
    [history] = read({"messages": [HELLO], "choices": [{"message": answer}]})
    assert history.messages == (HELLO, {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]})
    assert history.calls == (Call(1),)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"choices": []},
        {"choices": [None]},
        {"choices": [{}]},
        {"choices": "x"},
        {"output": "x"},
        {"role": "assistant"},
    ],
)
def test_an_answer_without_a_message_is_no_reply(answer: Row) -> None:
    [history] = read({"messages": [HELLO], "response": answer})
    assert history == History((HELLO,), "openai")


def test_files_of_batches_are_read() -> None:
    body = {"usage": {"prompt_tokens": 5, "completion_tokens": 1}, "model": "gpt-y", "choices": [{"message": HI}]}
    [history] = read({"custom_id": "7", "body": {"model": "gpt-x", "messages": [HELLO]}, "response": {"body": body}})
    assert history == History((HELLO, HI), "openai", (Call(1, "gpt-y", 5, 1),), id="7")


def test_a_request_with_its_usage_beside_it_is_a_call() -> None:
    [history] = read({"model": "gpt-x", "messages": [HELLO], "usage": {"prompt_tokens": 5}})
    assert history.calls == (Call(1, "gpt-x", 5),)


def test_a_gateway_that_translates_anthropics_report_counts_cached_tokens_once() -> None:
    usage = {"prompt_tokens": 60, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 30}
    [history] = read({"model": "claude-x", "messages": [HELLO], "usage": usage})
    assert history.calls == (Call(1, "claude-x", 60, None, 20, 30),)


def test_requests_of_responses() -> None:
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}
    usage = {"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 3}}
    one, other = read(
        {"request": {"model": "gpt-x", "input": [HELLO]}, "response": {"output": [item, None], "usage": usage}},
        {"model": "gpt-x", "input": "more"},
    )
    assert one == History((HELLO, item), "responses", (Call(1, "gpt-x", 9, 2, 3),))
    assert other == History((MORE,), "responses")


def test_the_same_messages_to_another_api_are_another_history() -> None:
    assert [history.provider for history in read({"messages": [HELLO]}, {"input": [HELLO]})] == ["openai", "responses"]


def test_requests_to_anthropic_are_known_by_their_blocks() -> None:
    call = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    answer = {"role": "assistant", "content": [call], "usage": {"input_tokens": 5, "cache_read_input_tokens": 7}}
    [history] = read({"request": {"model": "claude-x", "messages": [HELLO]}, "response": answer})
    assert history.messages == (HELLO, {"role": "assistant", "content": [call]})
    assert (history.provider, history.calls) == ("anthropic", (Call(1, "claude-x", 12, None, 7),))


def test_messages_on_lines_of_their_own_are_one_history() -> None:
    parts = {"role": "user", "content": [{"type": "text", "text": "hello"}, "more"]}
    assert read(SYSTEM, parts, HI) == (History((SYSTEM, parts, HI), "openai"),)


@pytest.mark.parametrize(
    "row", [{}, {"messages": []}, {"messages": ["hello"]}, {"messages": "hello"}, {"input": "hello"}, {"role": 1}]
)
def test_other_objects_are_ignored(row: Row) -> None:
    assert read(row) == ()


def test_requests_of_bedrock() -> None:
    messages = [{"role": "user", "content": [{"text": "Hi."}]}]
    spec = {"toolSpec": {"name": "look", "inputSchema": {"json": {}}}}
    request = {"modelId": "anthropic.claude-sonnet-4-5", "messages": messages, "system": [{"text": "Be brief."}]}
    reply = {"role": "assistant", "content": [{"text": "So."}]}
    usage = {"inputTokens": 5, "outputTokens": 2, "cacheReadInputTokens": 3, "cacheWriteInputTokens": 4}
    row = {
        "request": {**request, "toolConfig": {"tools": [spec]}},
        "response": {"output": {"message": reply}, "usage": usage},
    }
    [history] = read_log([json.dumps(row)]).histories
    assert (history.provider, history.messages, history.tools) == ("converse", (*messages, reply), (spec,))
    [call] = history.calls
    assert (call.model, call.prompt_tokens, call.output_tokens) == ("anthropic.claude-sonnet-4-5", 12, 2)
    assert (call.cache_read_tokens, call.cache_write_tokens) == (3, 4)


@pytest.mark.parametrize("provider", ["responses", "interactions"])
def test_items_in_messages(provider: str) -> None:
    items = REQUESTS[provider]["input"]
    [history] = read({"provider": provider, "messages": items})
    assert (history.provider, history.messages) == (provider, tuple(items))


def test_lines_of_steps() -> None:
    steps = REQUESTS["interactions"]["input"]
    [history] = read_log(map(json.dumps, steps)).histories
    assert (history.provider, history.messages) == ("interactions", tuple(steps))
    # Calls alone are those of Responses.
    [calls] = read_log([json.dumps({**steps[2], "call_id": "a"})]).histories
    assert calls.provider == "responses"


def test_requests_of_interactions() -> None:
    steps = [{"type": "user_input", "content": [{"type": "text", "text": "Hi."}]}]
    reply = {"type": "model_output", "content": [{"type": "text", "text": "So."}]}
    usage = {"total_input_tokens": 5, "total_output_tokens": 2, "total_cached_tokens": 3}
    row = {"request": {"model": "gemini-3-pro", "input": steps}, "response": {"steps": [reply], "usage": usage}}
    [history] = read_log([json.dumps(row)]).histories
    assert (history.provider, history.messages) == ("interactions", (*steps, reply))
    [call] = history.calls
    assert (call.prompt_tokens, call.output_tokens, call.cache_read_tokens) == (5, 2, 3)
