"""Which calls lost the prompt cache, and why."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pycupel.replay import context_usage, read_log
from pycupel.replay.log import as_time
from pycupel.replay.usage import CAUSES, NOT_IN_FILE, CacheMiss, cache_misses

START = datetime(2026, 11, 18, 9, tzinfo=UTC)


def request(turns: int, read: int | None = None, *, minutes: int = 0, **changes: Any) -> str:
    """A logged request of Anthropic's with so many turns, of which so many tokens came from the cache."""
    said = [{"role": role, "content": f"{role} {n}"} for n in range(turns) for role in ("user", "assistant")]
    cached = {} if read is None else {"cache_read_input_tokens": read, "cache_creation_input_tokens": 0}
    body = {
        "timestamp": (START + timedelta(minutes=minutes)).isoformat(),
        "model": "claude-sonnet-4-5",
        "system": "Be brief.",
        "tools": [{"name": "f", "input_schema": {}}],
        "messages": [*said, {"role": "user", "content": "Go on."}],
        "response": {
            "role": "assistant",
            "content": [{"type": "text", "text": f"Answer {turns}."}],
            "usage": {"input_tokens": 10_000 - (read or 0), "output_tokens": 5, **cached},
        },
    }
    return json.dumps({**body, **changes})


def misses(*rows: str) -> list[CacheMiss]:
    return cache_misses(context_usage(read_log(rows), counter="estimator"))


IMAGE = [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}]


def with_image(turns: int, read: int) -> str:
    row = json.loads(request(turns, read))
    row["messages"][-1] = {"role": "user", "content": IMAGE}
    return json.dumps(row)


@pytest.mark.parametrize(
    ("second", "cause"),
    [
        (request(1, 0, model="claude-opus-4-5"), "model_changed"),
        (request(1, 0, system="Be long."), "system_changed"),
        (request(1, 0, tools=[]), "tools_changed"),
        (request(1, 0, tools=[], system="Be long."), "tools_changed"),
        (request(1, 0, tool_choice={"type": "any"}), "tool_choice_changed"),
        (with_image(1, 0), "images_changed"),
        (request(1, 0, minutes=6), "expired"),
        (request(1, 0, minutes=4), NOT_IN_FILE),
    ],
)
def test_what_changed_is_named(second: str, cause: str) -> None:
    first = json.loads(request(0, 0))
    # The second request continues the first one.
    first["messages"] = json.loads(second)["messages"][:1]
    assert misses(json.dumps(first), second) == [CacheMiss(2, cause, 10_000, is_measured=True)]
    assert cause in CAUSES


def test_what_was_read_is_no_loss() -> None:
    first, second = json.loads(request(0, 0)), request(1, 9_500)
    first["messages"] = json.loads(second)["messages"][:1]
    assert misses(json.dumps(first), second) == []


def test_without_the_providers_counts_a_change_is_a_likely_loss() -> None:
    first, plain, other = json.loads(request(0)), request(1), request(1, model="gpt-5")
    first["messages"] = json.loads(plain)["messages"][:1]
    assert misses(json.dumps(first), plain) == []
    [miss] = misses(json.dumps(first), other)
    assert (miss.cause, miss.is_measured) == ("model_changed", False)
    assert miss.cost == round(miss.tokens * 1.15)


def transcript(*, hour: bool = False, compacted: bool = False) -> list[str]:
    """Two calls of Claude Code, ten minutes apart."""
    usage: dict[str, Any] = {"input_tokens": 5, "cache_creation_input_tokens": 9_995, "cache_read_input_tokens": 0}
    if hour:
        usage["cache_creation"] = {"ephemeral_1h_input_tokens": 9_995}
    rows: list[dict[str, Any]] = []
    for n, minutes in enumerate((0, 10)):
        time = (START + timedelta(minutes=minutes)).isoformat()
        if n and compacted:
            summary = {"role": "user", "content": "In short."}
            rows.append({"type": "user", "isCompactSummary": True, "message": summary, "timestamp": time})
        rows.append({"type": "user", "message": {"role": "user", "content": f"question {n}"}, "timestamp": time})
        reply: dict[str, Any] = {"id": f"m{n}", "role": "assistant", "model": "claude-sonnet-4-5", "usage": usage}
        reply["content"] = [{"type": "text", "text": "Yes."}]
        rows.append({"type": "assistant", "message": reply, "timestamp": time})
    return [json.dumps({**row, "sessionId": "s", "uuid": f"u{n}"}) for n, row in enumerate(rows)]


def test_transcripts_have_times_and_compactions() -> None:
    assert [each.cause for each in misses(*transcript())] == ["expired"]
    assert [each.cause for each in misses(*transcript(hour=True))] == [NOT_IN_FILE], "this cache lasts for an hour"
    assert [each.cause for each in misses(*transcript(compacted=True))] == ["messages_changed"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-11-18T09:00:00Z", START),
        ("2026-11-18T09:00:00", START),
        (START.timestamp(), START),
        (int(START.timestamp()), START),
        ("yesterday", None),
        (10**30, None),
        (True, None),
        (None, None),
    ],
)
def test_times(value: object, expected: datetime | None) -> None:
    assert as_time(value) == expected
