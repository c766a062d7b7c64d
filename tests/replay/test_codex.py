"""Codex's rollouts."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from pycupel.messages import lint_messages
from pycupel.replay import Call, Compaction, History, read_log
from tests.replay.sessions import ROLLOUT, Row, counted, item, lines, row, said


def read(*rows: Row) -> History:
    [history] = read_log(lines(*rows)).histories
    return history


TIME = datetime(2026, 10, 14, 9, tzinfo=UTC)


def test_a_rollout_is_one_history_with_its_calls() -> None:
    history = read(*ROLLOUT)
    assert (history.id, history.provider, history.system) == ("0199-aa", "responses", "Be careful.")
    assert [message["type"] for message in history.messages] == [
        "message",
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "message",
        "message",
        "web_search_call",
        "message",
    ]
    assert history.calls == (
        Call(2, "gpt-5-codex", 4_000, 60, 3_000, time=TIME),
        Call(5, "gpt-5-codex", 4_200, 20, 4_000, time=TIME),
        Call(7, "gpt-5-codex", 4_300, 30, 4_200, time=TIME),
        Call(9, "gpt-5-codex", 1_200, 10, 0, time=TIME),
    )
    assert history.compactions == (Compaction(8, "Summary: the key was drawn twice."),)
    assert [finding for finding in lint_messages(history.messages, "responses") if finding.severity == "error"] == []


def test_items_alone_are_an_older_rollout() -> None:
    rows = [each["payload"] for each in ROLLOUT if each["type"] == "response_item"]
    meta = {"id": "0199-aa", "timestamp": "2026-10-14T09:00:00.000Z", "instructions": None}
    history = read(meta, *rows, {"record_type": "state"})
    assert (len(history.messages), history.calls, history.provider) == (11, (), "responses")


def test_what_the_provider_refuses_is_left_out_and_counted() -> None:
    thought = item(type="reasoning", summary=[], encrypted_content="x")
    history = read(
        said("user", "hello"),
        item(type="function_call_output", call_id="early", output="before its call"),
        thought,
        item(type="function_call", name="f", arguments="{}", call_id="early"),
        item(type="function_call", name="f", arguments="{}", call_id="a"),
        item(type="function_call_output", call_id="a", output="first"),
        item(type="function_call_output", call_id="a", output="again"),
        item(type="function_call_output", call_id="never", output="x"),
        said("user", "more"),
        thought,
        item(type="function_call", name="f", arguments="{}", call_id="open"),
    )
    assert [message["type"] for message in history.messages] == [
        "message",
        "function_call",
        "function_call_output",
        "message",
        "reasoning",
        "function_call",
    ]
    assert history.dropped_blocks == 5
    assert [each for each in lint_messages(history.messages, "responses") if each.severity == "error"] == []


def test_calls_keep_their_places_when_items_are_left_out() -> None:
    history = read(
        item(type="function_call_output", call_id="x", output="lost"),
        said("user", "hello"),
        said("assistant", "hi"),
        counted(10, 0, 1, 10),
    )
    assert [call.index for call in history.calls] == [1]


def test_the_summary_alone_is_enough() -> None:
    rows = (said("user", "hello"), row("compacted", {"message": "We said hello."}))
    assert read(*rows).compactions == (Compaction(1, "We said hello."),)


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "token_count", "info": {"last_token_usage": None}},
        {"type": "token_count", "info": "x"},
        {"type": "token_count"},
        {"type": "agent_message"},
        None,
    ],
)
def test_events_without_counts_are_no_calls(payload: Row) -> None:
    history = read(said("user", "hello"), said("assistant", "hi"), row("event_msg", payload), row("turn_context", {}))
    assert history.calls == ()


def test_a_torn_last_line_is_skipped_and_counted() -> None:
    log = read_log([*lines(*ROLLOUT), json.dumps(ROLLOUT[-1])[:40]])
    assert (len(log.histories), log.skipped_lines) == (1, 1)
