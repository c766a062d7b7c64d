"""Claude Code's transcripts: what becomes one message, what one history, and what is left out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pycupel.messages import lint_messages
from pycupel.replay import Call, Compaction, History, Log, read_log

Row = dict[str, Any]


def read(*rows: Row) -> Log:
    return read_log(json.dumps(row) for row in rows)


def main(*rows: Row) -> History:
    [history] = read(*rows).histories
    return history


def user(content: Any, **fields: Any) -> Row:
    return {"type": "user", "sessionId": "s", "message": {"role": "user", "content": content}, **fields}


def reply(name: str | None, *blocks: Any, usage: Any = None, model: Any = "claude-x", **fields: Any) -> Row:
    message = {"role": "assistant", "id": name, "model": model, "content": list(blocks), "usage": usage}
    return {"type": "assistant", "sessionId": "s", "message": message, **fields}


def text(words: str) -> Row:
    return {"type": "text", "text": words}


def call(name: str) -> Row:
    return {"type": "tool_use", "id": name, "name": "look", "input": {}}


def result(name: str, content: str = "found") -> Row:
    return {"type": "tool_result", "tool_use_id": name, "content": content}


def blocks(history: History) -> list[list[Any]]:
    """Each message as its role and what tells its blocks apart."""
    keys = ("text", "id", "tool_use_id", "thinking", "data")
    return [
        [message["role"], *(next(block[key] for key in keys if key in block) for block in message["content"])]
        for message in history.messages
    ]


def test_rows_of_one_message_are_merged_and_results_go_into_the_next_user_message() -> None:
    history = main(
        user("go"),
        reply("m1", text("I look.")),
        reply("m1", call("a")),
        user([result("a")]),
        reply("m1", call("b")),
        user([result("b")]),
        reply("m2", text("Done.")),
    )
    assert blocks(history) == [
        ["user", "go"],
        ["assistant", "I look.", "a", "b"],
        ["user", "a", "b"],
        ["assistant", "Done."],
    ]
    assert [one.index for one in history.calls] == [1, 3]
    assert (history.provider, history.id, history.is_sidechain, history.dropped_blocks) == ("anthropic", "s", False, 0)
    assert not [finding for finding in lint_messages(history.messages, "anthropic") if finding.severity == "error"]


def test_the_last_row_of_a_message_has_the_whole_usage() -> None:
    usage = {"input_tokens": 3, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20, "output_tokens": 1}
    history = main(
        user("go"),
        reply("m1", text("a"), usage=usage),
        reply("m1", text("b"), usage={**usage, "output_tokens": 44}),
    )
    assert history.calls == (Call(1, "claude-x", 123, 44, 100, 20),)


@pytest.mark.parametrize("usage", [None, 7, {}, {"input_tokens": None, "output_tokens": True}])
def test_counts_that_are_missing_are_none(usage: Any) -> None:
    assert main(user("go"), reply("m1", text("a"), usage=usage, model=None)).calls == (Call(1),)


def test_replies_without_an_id_or_with_another_are_messages_of_their_own() -> None:
    history = main(
        user("go"), reply("m1", text("a")), reply("m2", text("b")), reply(None, text("c")), reply(None, text("d"))
    )
    assert blocks(history) == [["user", "go"], *[["assistant", letter] for letter in "abcd"]]


def test_user_rows_in_a_row_are_one_message_with_results_first() -> None:
    history = main(user("go"), reply("m1", call("a")), user("wait"), user([result("a"), text("and this")]))
    assert blocks(history)[-1] == ["user", "a", "wait", "and this"]


def test_what_was_not_part_of_the_conversation_is_left_out() -> None:
    history = main(
        {"type": "file-history-snapshot", "messageId": "x"},
        {"type": "progress", "sessionId": "s", "data": {"type": "hook_progress"}},
        {"type": "progress", "sessionId": "s", "data": None},
        user("caveat", isMeta=True),
        user("go"),
        {"type": "system", "sessionId": "s", "subtype": "turn_duration"},
        {"type": "user", "sessionId": "s", "message": "torn"},
        {"type": "user", "sessionId": "s", "message": {"role": "user"}},
        reply("m1", text("An error of the API."), model="<synthetic>"),
        reply("m2", text("Done.")),
    )
    assert blocks(history) == [["user", "go"], ["assistant", "Done."]]


def test_a_row_that_is_repeated_counts_once() -> None:
    """A resumed session starts with the rows of the one before."""
    history = main(
        user("go", uuid="1"), user("go", uuid="1"), reply("m1", text("a"), uuid="2"), reply("m1", text("a"), uuid="2")
    )
    assert blocks(history) == [["user", "go"], ["assistant", "a"]]


def test_blocks_that_the_provider_refuses_are_dropped_and_counted() -> None:
    history = main(
        reply("m0", text("Before anything else.")),
        user("go"),
        reply(
            "m1", text(" \n"), {"type": "thinking", "thinking": "no signature"}, text("I look."), call("a"), call("b")
        ),
        user([result("a"), result("a", "again"), result("unknown"), "not a block", {"no": "type"}]),
        reply(
            "m2", {"type": "thinking", "thinking": "hm", "signature": "x"}, {"type": "redacted_thinking", "data": "y"}
        ),
        reply("m3", text("")),
    )
    assert blocks(history) == [["user", "go"], ["assistant", "I look.", "a"], ["user", "a"], ["assistant", "hm", "y"]]
    assert history.messages[2]["content"] == [result("a")]
    assert history.dropped_blocks == 7
    assert [one.index for one in history.calls] == [1, 3]


def test_calls_at_the_end_may_be_open() -> None:
    assert blocks(main(user("go"), reply("m1", call("a")))) == [["user", "go"], ["assistant", "a"]]


def test_messages_of_a_strange_content_are_left_out() -> None:
    assert read(user(None), reply("m1", text("a"))).histories == ()


def test_a_compacted_session_is_one_history() -> None:
    history = main(
        user("go"),
        reply("m1", text("a")),
        {"type": "system", "subtype": "compact_boundary", "sessionId": "s"},
        user("What happened.", isCompactSummary=True),
        user("go on"),
        reply("m2", text("b")),
        user([text("And"), text("then.")], isCompactSummary=True),
    )
    assert blocks(history) == [["user", "go"], ["assistant", "a"], ["user", "go on"], ["assistant", "b"]]
    assert history.compactions == (Compaction(2, "What happened."), Compaction(4, "And\nthen."))


def test_sidechains_are_histories_of_their_own_behind_the_main_one() -> None:
    log = read(
        user("first task", isSidechain=True, uuid="1", parentUuid=None),
        user("second task", isSidechain=True, uuid="2", parentUuid=None),
        user("go"),
        {"type": "progress", "sessionId": "s", "isSidechain": True, "uuid": "3", "parentUuid": "1"},
        reply("x", text("first"), isSidechain=True, uuid="4", parentUuid="3"),
        reply("y", text("second"), isSidechain=True, uuid="5", parentUuid="2"),
        user("third task", isSidechain=True, agentId="agent", uuid="6", parentUuid="5"),
    )
    assert [blocks(history) for history in log.histories] == [
        [["user", "go"]],
        [["user", "first task"], ["assistant", "first"]],
        [["user", "second task"], ["assistant", "second"]],
        [["user", "third task"]],
    ]
    assert [(history.id, history.is_sidechain) for history in log.histories] == [
        ("s", False),
        ("1", True),
        ("2", True),
        ("agent", True),
    ]


def test_agents_in_rows_of_progress_are_sidechains_too() -> None:
    def progress(row: Row) -> Row:
        return {
            "type": "progress",
            "sessionId": "s",
            "data": {"type": "agent_progress", "agentId": "agent", "message": row},
        }

    message = {"role": "user", "content": "a task"}
    log = read(
        user("go"), progress({"type": "user", "message": message}), progress({"type": "user", "message": message})
    )
    assert [(history.id, blocks(history)) for history in log.histories] == [
        ("s", [["user", "go"]]),
        ("agent", [["user", "a task", "a task"]]),
    ]


def test_sessions_in_one_file_are_told_apart() -> None:
    log = read(user("go"), user("other", sessionId="t"), reply("m1", text("a")))
    assert [(history.id, len(history.messages)) for history in log.histories] == [("s", 2), ("t", 1)]
