"""`make compare`, without the other libraries: the sessions, the questions, and what is measured."""

from __future__ import annotations

from typing import Any

from benchmarks.compare import needed_by_call, replay, session
from benchmarks.compare_histories import PEERS, tokens
from benchmarks.compare_items import pool
from pycupel.messages import lint_messages

SESSION = session(0, calls=30)
OURS, *_, BY_HAND = PEERS


def sums(rows: list[dict[str, float]]) -> dict[str, float]:
    return {key: sum(row[key] for row in rows) for key in rows[0]}


def test_sessions_and_questions_are_the_same_every_time() -> None:
    assert session(0, calls=30) == SESSION != session(1, calls=30)
    assert not lint_messages(SESSION, "openai")
    assert pool(3) == pool(3)
    assert len(pool(3).gold) >= 2


def test_what_a_call_takes_from_results() -> None:
    def call(path: str) -> dict[str, Any]:
        return {"id": path, "type": "function", "function": {"name": "read", "arguments": f'{{"path": "{path}"}}'}}

    result = {"role": "tool", "tool_call_id": "c", "content": "see src/one.py, src/two.py and src/three.py"}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Look at src/one.py."},
        {"role": "assistant", "content": "", "tool_calls": [call("src/one.py")]},
        result,
        {"role": "assistant", "content": "", "tool_calls": [call("src/two.py")]},
        result,
        {"role": "user", "content": "What about src/three.py?"},
        {"role": "assistant", "content": "", "tool_calls": [call("src/three.py")]},
    ]
    assert needed_by_call(messages, [1, 3, 6]) == {1: set(), 3: {"src/two.py"}, 6: set()}


def test_a_loop_by_hand_breaks_pairs_and_loses_the_cache() -> None:
    ours, theirs = sums(replay(OURS, SESSION)), sums(replay(BY_HAND, SESSION))
    assert ours["needed"] == theirs["needed"] > 0
    assert ours["invalid"] == ours["over"] == theirs["over"] == 0 < theirs["invalid"]
    assert ours["reused"] / ours["sent"] > theirs["reused"] / theirs["sent"]
    assert theirs["kept"] <= ours["kept"] <= ours["needed"]
    assert tokens(SESSION) > 1_000
