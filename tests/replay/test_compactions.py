"""The provider's own compactions in logged sessions: what they cover is neither counted nor sent as logged."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pycupel.messages import count_messages
from pycupel.replay import Compaction, History, context_usage, read_log, replay
from pycupel.replay.describe import bands_of
from pycupel.replay.log import Call
from tests.messages.chats import Message, answer, question, system

BLOCK: Message = {"type": "compaction", "content": "So far."}
ITEM: Message = {"type": "compaction", "encrypted_content": "A" * 80}
SAID = [message for n in range(10) for message in (question(f"question {n}"), answer(f"answer {n}"))]
REPLY: Message = {"role": "assistant", "content": [BLOCK, {"type": "text", "text": "Done."}]}
BARE: Message = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
SENT = {"role": "assistant", "content": [BLOCK]}


def sizes(history: History) -> list[int]:
    """The prompt of each call as it was logged."""
    return [each.tokens for each in context_usage(history, counter=len).growth]


def test_a_block_becomes_a_compaction() -> None:
    history = History((*SAID, question("Now?"), REPLY, question("And?")), "anthropic", (Call(21), Call(23)))
    plain = history.without_blocks
    assert plain.messages == (*SAID, question("Now?"), BARE, question("And?"))
    assert plain.compactions == (Compaction(21, "So far.", block=SENT),)
    assert plain.calls == (Call(21), Call(23))
    assert plain.without_blocks is plain
    # At the call that compacted, the model got the summary; then also what came after it.
    [whole, later] = sizes(history)
    assert whole == count_messages([SENT], "anthropic", len)
    assert later == count_messages([SENT, BARE, question("And?")], "anthropic", len)


def test_a_message_with_nothing_else_goes() -> None:
    """On demand, it is the first message; the calls count the messages that are left."""
    history = History((SENT, *SAID, SENT, question("Now?")), "anthropic", (Call(2), Call(23)))
    plain = history.without_blocks
    assert plain.messages == (*SAID, question("Now?"))
    assert [(each.index, each.kept) for each in plain.compactions] == [(0, ()), (20, ())]
    assert [call.index for call in plain.calls] == [1, 21]
    assert sizes(history) == [
        count_messages([SENT, SAID[0]], "anthropic", len),
        count_messages([SENT, question("Now?")], "anthropic", len),
    ]


@pytest.mark.parametrize("failed", [{**BLOCK, "content": None}, {"type": "compaction"}])
def test_one_that_failed_covers_nothing(failed: Message) -> None:
    message = {"role": "assistant", "content": [failed, {"type": "text", "text": "Done."}]}
    history = History((*SAID, question(), message, question()), "anthropic")
    assert history.without_blocks is history
    assert History((*SAID, failed), "openai").without_blocks.compactions == ()


def items() -> tuple[Message, ...]:
    call, told = (
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "told"},
    )
    return (system("Be brief."), *SAID, call, ITEM, told, answer("So."), question("Now?"))


def test_what_stays_is_sent_before_it() -> None:
    history = History(items(), "responses", (Call(24), Call(26)))
    [compaction] = history.without_blocks.compactions
    assert compaction == Compaction(22, "", (0, 21), ITEM)
    assert [compaction.sends(n) for n in (0, 1, 21, 22)] == [True, False, True, True]
    sent = [items()[n] for n in (0, 21, 22, 23)]
    assert sizes(history)[0] == count_messages(sent, "responses", len)
    [logged] = replay(history, 10_000, ["as-logged"], counter=len)
    assert (logged.tokens, logged.largest) == (sum(sizes(history)), sizes(history)[1])
    assert logged.invalid == 0
    # What is shown of the window and of its growth is the same.
    usage = context_usage(history, counter=len)
    assert (usage.total, sum(row.tokens for row in usage.rows)) == (max(sizes(history)), max(sizes(history)))
    bands = bands_of(usage)
    for n, tokens in enumerate(sizes(history)):
        assert sum(band.size for band in bands if band.start <= n <= band.end) == tokens


def test_policies_get_the_history_without_blocks() -> None:
    history = History((*SAID, question("Now?"), REPLY, question("And?")), "anthropic")
    without = History((*SAID, question("Now?"), BARE, question("And?")), "anthropic")
    policies: list[Any] = ["chat", "newest-first"]
    assert replay(history, 150, policies, counter=len) == replay(without, 150, policies, counter=len)
    [logged] = replay(history, 150, ["as-logged"], counter=len)
    [plain] = replay(without, 150, ["as-logged"], counter=len)
    assert logged.tokens < plain.tokens


def test_one_after_the_last_call_replaced_nothing_yet() -> None:
    usage = context_usage(History((*SAID, SENT), "anthropic", (Call(1),)), counter=len)
    assert [band.label for band in bands_of(usage)] == ["user: question 0"]


def test_a_covered_message_is_not_linted() -> None:
    orphan = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "?"}]}
    history = History((question(), orphan, REPLY, question()), "anthropic")
    assert context_usage(history, counter=len).findings == ()


ITERATIONS: dict[str, Any] = {
    "input_tokens": 60,
    "output_tokens": 9,
    "iterations": [
        {"type": "compaction", "input_tokens": 200, "cache_read_input_tokens": 300, "output_tokens": 40},
        {"type": "message", "input_tokens": 20, "output_tokens": 4},
        {"type": "message", "input_tokens": 30, "cache_read_input_tokens": 10, "output_tokens": 5},
    ],
}


def test_iterations_are_counted_apart() -> None:
    """The last message iteration read the whole prompt; a compaction read what it summarised."""
    call = Call.of(1, "claude", ITERATIONS)
    assert (call.prompt_tokens, call.output_tokens, call.cache_read_tokens, call.compaction_tokens) == (40, 5, 10, 500)
    without = Call.of(1, "claude", {"input_tokens": 60, "iterations": [{"type": "compaction"}]})
    assert (without.prompt_tokens, without.compaction_tokens) == (60, 0)
    assert Call.of(1, "claude", {"input_tokens": 60}).compaction_tokens is None


def test_what_was_read_to_compact_is_part_of_what_was_sent() -> None:
    rows = [
        {
            "model": "claude-5",
            "system": "s",
            "messages": SAID[:1],
            "response": {"role": "assistant", "content": [BARE]},
        },
        {
            "model": "claude-5",
            "system": "s",
            "messages": [SAID[0], BARE, question("Now?")],
            "response": {"role": "assistant", "content": REPLY["content"], "usage": ITERATIONS},
        },
    ]
    [history] = read_log(map(json.dumps, rows)).histories
    [logged] = replay(history, 10_000, ["as-logged"], counter=len)
    unread = History(history.messages, "anthropic", tuple(Call(call.index) for call in history.calls), system="s")
    [plain] = replay(unread, 10_000, ["as-logged"], counter=len)
    assert (logged.tokens, logged.largest) == (plain.tokens + 500, plain.largest)
    # The prompt of the call before was cached.
    first = count_messages(SAID[:1], "anthropic", len, system="s")
    assert logged.reused_tokens == plain.reused_tokens + first


def test_lines_of_items() -> None:
    [history] = read_log(
        json.dumps({"type": "message", **item} if "role" in item else item) for item in parts()
    ).histories
    assert [each.index for each in history.without_blocks.compactions] == [3]


def parts() -> list[Message]:
    said = [{"role": "user", "content": [{"type": "input_text", "text": text}]} for text in ("a", "b", "c", "d")]
    return [*said[:3], ITEM, said[3]]
