"""Logs that nobody would write: whatever is in them, reading ends with histories or with an error of ours."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from hypothesis import given, strategies as st

from pycupel.errors import CupelError
from pycupel.replay import context_usage, read_log, replay
from tests.examples import examples

KEYS = [
    "role",
    "type",
    "content",
    "text",
    "tool_calls",
    "id",
    "function",
    "name",
    "arguments",
    "tool_call_id",
    "tool_use_id",
    "input",
    "parts",
    "functionCall",
    "functionResponse",
    "args",
    "response",
    "message",
    "sessionId",
    "uuid",
    "parentUuid",
    "isSidechain",
    "isCompactSummary",
    "agentId",
    "usage",
    "payload",
    "call_id",
    "output",
    "messages",
    "contents",
    "model",
    "system",
    "tools",
    "info",
    "last_token_usage",
    "input_tokens",
    "request",
    "thinking",
    "signature",
    "replacement_history",
    "summary",
    "reasoning",
    "inlineData",
    "mimeType",
    "config",
]
WORDS = [
    "user",
    "assistant",
    "tool",
    "system",
    "model",
    "tool_use",
    "tool_result",
    "text",
    "thinking",
    "image",
    "message",
    "function_call",
    "reasoning",
    "function_call_output",
    "response_item",
    "event_msg",
    "token_count",
    "compacted",
    "session_meta",
    "turn_context",
    "image/png",
    "some_name",
]

SCALARS = st.none() | st.booleans() | st.integers(-3, 99) | st.just(1.5) | st.sampled_from(WORDS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6)
MESSAGES = st.builds(lambda fields, role: {**fields, "role": role}, OBJECTS, SCALARS)
ROWS = (
    VALUES
    | MESSAGES
    | st.builds(lambda kind, message: {"type": kind, "sessionId": "s", "message": message}, SCALARS, MESSAGES)
    | st.builds(lambda kind, payload: {"type": kind, "payload": payload}, SCALARS, VALUES)
    | st.builds(
        lambda row, key, sent: {**row, key: sent}, OBJECTS, st.sampled_from(KEYS), st.lists(MESSAGES, max_size=3)
    )
)


@examples(300)
@given(st.lists(ROWS, max_size=4))
def test_nothing_but_our_own_errors(rows: list[Any]) -> None:
    for history in read_log(map(json.dumps, rows)).histories:
        with suppress(CupelError):
            context_usage(history, counter=len)
            replay(history, 50, ["as-logged", "newest-first", "chat"], counter=len)
