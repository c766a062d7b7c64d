"""An invented session of a coding agent, as a transcript and as chat messages.

It is sized and ordered like real sessions: files are read twice, tests run again, and one log is by far the largest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

# The system prompt and the definitions of the tools: the provider counts them, but no transcript shows them.
_HIDDEN_TOKENS = 9_400
# What the provider adds to each call.
_CALL_TOKENS = 88
_START = datetime(2026, 10, 14, 9, 0, tzinfo=UTC)
_MODEL = "claude-sonnet-4-5-20250929"


def _steps() -> Iterator[tuple[int, str, str, dict[str, Any]]]:
    """Return the number, role and text of each message, and its call with the result; empty if it calls no tool."""
    with Path(__file__).with_name("coding_session.jsonl").open(encoding="utf-8") as lines:
        for index, step in enumerate(map(json.loads, lines)):
            yield index, step.pop("role"), step.pop("text"), step


def transcript() -> Iterator[dict[str, Any]]:
    """Return the session as Claude Code would log it: a row for each message."""
    sent, cached = _HIDDEN_TOKENS, 0
    number = 0
    for index, role, text, called in _steps():
        content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        name = f"toolu_{index:02}"
        if called:
            content.append({"type": "tool_use", "id": name, "name": called["tool"], "input": called["arguments"]})
        size = len(json.dumps(content)) // 4 + (_CALL_TOKENS if called else 0)
        usage = {
            "input_tokens": 4,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": sent - cached,
            "output_tokens": size,
        }
        message: dict[str, Any] = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{index:02}", "model": _MODEL, "usage": usage}
            cached = sent
        yield _row(number, role, message)
        number += 1
        sent += size
        if called:
            result = {"type": "tool_result", "tool_use_id": name, "content": called["result"]}
            yield _row(number, "user", {"role": "user", "content": [result]})
            number += 1
            sent += len(called["result"]) * 2 // 5


def _row(number: int, role: str, message: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": role,
        "uuid": f"row-{number}",
        "parentUuid": f"row-{number - 1}" if number else None,
        "sessionId": "sample",
        "timestamp": (_START + timedelta(seconds=20 * number)).isoformat(),
        "message": message,
    }


def messages() -> list[dict[str, Any]]:
    """Return the conversation in OpenAI's shape."""
    found: list[dict[str, Any]] = [
        {"role": "system", "content": "You are the coding agent of Larkfield, a garden shop."}
    ]
    for index, role, text, called in _steps():
        message: dict[str, Any] = {"role": role, "content": text}
        found.append(message)
        if called:
            function = {"name": called["tool"], "arguments": json.dumps(called["arguments"])}
            message["tool_calls"] = [{"id": f"call_{index:02}", "type": "function", "function": function}]
            found.append({"role": "tool", "tool_call_id": f"call_{index:02}", "content": called["result"]})
    return found
