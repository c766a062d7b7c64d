"""Compactions: a block or an item that stands for everything before it."""

from __future__ import annotations

from typing import Any

import pytest

from pycupel.diagnostics import Filtered
from pycupel.messages import Summarize, count_messages, lint_messages, select_messages, to_items
from pycupel.messages.counting import tokens_by_kind
from pycupel.messages.options import ProviderName
from tests.messages.chats import Message, answer, dropped, question, select, system
from tests.messages.reading import read_messages, units_of
from tests.messages.stand_ins import as_object

BLOCK: Message = {"type": "compaction", "content": "So far.", "signature": "A" * 99}
FAILED: Message = {"type": "compaction", "content": None}
ON_DEMAND: Message = {"role": "assistant", "content": [BLOCK]}
ROBOT: Message = {"role": "robot", "content": "Beep."}
ITEM: Message = {"type": "compaction", "encrypted_content": "A" * 80}
SAID = [message for n in range(30) for message in (question(f"question {n}"), answer(f"answer {n}"))]

each_provider = pytest.mark.parametrize(("provider", "block"), [("anthropic", ON_DEMAND), ("responses", ITEM)])


@each_provider
@pytest.mark.parametrize("make", [dict, as_object])
def test_sixty_old_messages_are_sent_as_two(provider: ProviderName, block: Message, make: Any) -> None:
    history = [*SAID, make(block), question("Now?")]
    selection = select(history, 10_000, provider=provider)
    assert selection.messages == [history[60], history[61]]
    assert {each.reason for each in selection.dropped} == {Filtered("compacted")}
    assert dropped(selection) == list(range(60))
    assert (selection.notes, selection.cut) == ((), None)
    assert lint_messages(history, provider) == []


@each_provider
def test_all_views_skip_what_is_covered(provider: ProviderName, block: Message) -> None:
    rest = [block, question("Now?")]
    history = [*SAID, *rest]
    assert count_messages(history, provider, len) == count_messages(rest, provider, len)
    assert tokens_by_kind(history, provider, len) == tokens_by_kind(rest, provider, len)
    assert [item.metadata["pycupel.unit"] for item in to_items(history, provider, counter=len)] == [[60], [61]]
    selection = select(history, 10_000, provider=provider, explain=True)
    assert selection.usage.prompt == count_messages(rest, provider, len) == selection.total_tokens
    assert selection.report is not None
    assert {each.reason for each in selection.report.excluded} == {Filtered("compacted")}


@each_provider
def test_it_does_not_need_room_for_what_it_covers(provider: ProviderName, block: Message) -> None:
    """It is the session's memory: a cut never drops it."""
    history = [*SAID, block, *SAID, question("Now?")]
    for budget in (60, 100, 200, 10_000):
        selection = select(history, budget, provider=provider)
        assert 60 in selection.kept
        assert set(selection.kept).isdisjoint(range(60))
        assert lint_messages(selection.messages, provider) == []


def test_only_the_newest_one_counts() -> None:
    history = [*SAID, ON_DEMAND, *SAID[:4], ON_DEMAND, question("Now?")]
    assert select(history, 10_000, provider="anthropic").kept == (65, 66)
    items = [*SAID, ITEM, *SAID[:4], ITEM, question("Now?")]
    assert select(items, 10_000, provider="responses").kept == (65, 66)


@pytest.mark.parametrize(
    ("provider", "block"),
    [
        ("anthropic", {"role": "assistant", "content": [FAILED, {"type": "text", "text": "So."}]}),
        ("responses", {"type": "compaction"}),
    ],
)
def test_one_that_failed_covers_nothing(provider: ProviderName, block: Message) -> None:
    history = [*SAID[:4], block, question("Now?")]
    assert select(history, 10_000, provider=provider).kept == (0, 1, 2, 3, 4, 5)


def test_inside_a_message_it_stays_with_that_message() -> None:
    before, call = {"type": "text", "text": "Let me see."}, {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    message = {"role": "assistant", "content": [before, BLOCK, call]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}
    history = [*SAID, question(), message, result, answer(), question("Now?")]
    selection = select(history, 10_000, provider="anthropic")
    assert selection.kept == (61, 62, 63, 64)
    assert selection.messages[0] is message
    assert lint_messages(history, "anthropic") == []
    # What stands before it in the message is sent, but the model does not see it.
    without = {"role": "assistant", "content": [BLOCK, call]}
    assert read_messages([message], "anthropic")[0].tokens == read_messages([without], "anthropic")[0].tokens
    assert 61 in select(history, 250, provider="anthropic").kept


def test_thoughts_after_it_start_the_turn() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "A"}
    history: list[Message] = [question()]
    for n, first in enumerate(([BLOCK, thought], [thought])):
        use = {"type": "tool_use", "id": f"t{n}", "name": "f", "input": {}}
        told = {"type": "tool_result", "tool_use_id": f"t{n}", "content": "x"}
        history += [{"role": "assistant", "content": [*first, use]}, {"role": "user", "content": [told]}]
    assert lint_messages(history, "anthropic") == []


def test_the_message_may_have_other_fields() -> None:
    """Servers with Anthropic's protocol add some."""
    message = {**ON_DEMAND, "reasoning_content": "Hm."}
    assert select([*SAID, message, question("Now?")], 10_000, provider="anthropic").kept == (60, 61)
    more = read_messages([message], "anthropic")[0].tokens - read_messages([ON_DEMAND], "anthropic")[0].tokens
    assert more == len("Hm.")


def test_first_in_the_messages_it_is_no_error() -> None:
    assert lint_messages([ON_DEMAND, question(), answer(), question()], "anthropic") == []
    assert [unit.problem for unit in units_of([ON_DEMAND, question()], "anthropic")] == [None, None]
    assert [each.rule for each in lint_messages([answer(), question()], "anthropic")] == ["first-not-user"]


def test_leading_prompts_lasting_items_and_pins_stay() -> None:
    tools = {"type": "additional_tools", "role": "developer", "tools": [{"name": "f"}]}
    history = [system(), *SAID[:4], tools, *SAID[:4], system("Later."), ITEM, question("Now?")]
    assert select(history, 10_000, provider="responses", pin=[2]).kept == (0, 2, 5, 11, 12)
    added = {"type": "tool_addition", "tool": {"type": "tool_reference", "tool_name": "f"}}
    messages = [*SAID[:3], {"role": "system", "content": [added]}, *SAID[3:6], ON_DEMAND, question("Now?")]
    selection = select(messages, 10_000, provider="anthropic")
    assert selection.kept == (3, 7, 8)
    assert {each.severity for each in lint_messages(selection.messages, "anthropic")} <= {"warning"}


def test_a_call_whose_result_comes_later_is_not_covered() -> None:
    call, done = ({"type": "function_call", "call_id": each, "name": "f", "arguments": "{}"} for each in "ab")
    told = [{"type": "function_call_output", "call_id": each, "output": "x"} for each in "ba"]
    history = [question(), call, done, told[0], ITEM, told[1], question("Now?")]
    assert select(history, 10_000, provider="responses").kept == (1, 4, 5, 6)
    assert lint_messages(history, "responses") == []


@pytest.mark.parametrize("interrupted", [[question("Stop.")], [ROBOT, question("Stop.")]])
def test_in_a_message_that_is_rejected_it_stands_for_nothing(interrupted: list[Message]) -> None:
    """Otherwise, both it and what it stands for would be lost."""
    use = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    asked: Message = {"role": "assistant", "content": [BLOCK, use]}
    first = select([*SAID, asked], 10_000, provider="anthropic")
    assert first.kept == (60,)
    history = [*SAID, asked, *interrupted]
    for previous in (first, None):
        selection = select(history, 10_000, provider="anthropic", previous=previous)
        assert selection.messages == [*SAID, question("Stop.")]
    assert count_messages(history, "anthropic", len) > count_messages(SAID, "anthropic", len)
    # One before it still counts.
    assert select([*SAID, ON_DEMAND, *history[58:]], 10_000, provider="anthropic").kept[0] == 60
    for fault in ({"type": "text", "text": " "}, {"type": "thinking", "thinking": "Hm.", "signature": ""}):
        broken: Message = {"role": "assistant", "content": [BLOCK, fault]}
        assert select([*SAID, broken, question("Now?")], 10_000, provider="anthropic").messages == [
            *SAID,
            question("Now?"),
        ]


def test_a_server_tool_at_work_is_not_covered() -> None:
    """It waited for a result of the caller's, and Anthropic rejects what it returned without its call."""
    called = [
        {"type": "server_tool_use", "id": "s", "name": "code_execution", "input": {}},
        {"type": "tool_use", "id": "t", "name": "f", "input": {}},
    ]
    told = {"type": "tool_result", "tool_use_id": "t", "content": "x"}
    returned = {"type": "code_execution_tool_result", "tool_use_id": "s", "content": {"stdout": "So."}}
    history = [
        *SAID,
        question("Compute."),
        {"role": "assistant", "content": called},
        {"role": "user", "content": [told]},
        {"role": "assistant", "content": [BLOCK, returned]},
        question("Now?"),
    ]
    for messages in (history, history[60:], [*SAID, *history]):
        selection = select(messages, 10_000, provider="anthropic")
        assert selection.messages == history[60:]
        assert (selection.notes, lint_messages(messages, "anthropic")) == ((), [])
    # If all of it comes later, nothing before it has to stay.
    later = [*SAID, ON_DEMAND, *history[60:63], {"role": "assistant", "content": [returned]}, question("Now?")]
    assert select(later, 10_000, provider="anthropic").messages == later[60:]


def test_a_call_that_was_answered_is_covered_though_a_later_one_has_its_id() -> None:
    """Some servers number the calls of each response from zero."""
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "call_0", "name": "f", "input": {}}]}
    told = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_0", "content": "x"}]}
    history = [question(), call, told, answer(), ON_DEMAND, question("Now?"), call, told]
    assert select(history, 10_000, provider="anthropic").kept == (4, 5, 6, 7)
    assert lint_messages(history, "anthropic") == []


def test_the_reasoning_of_such_a_call_stays_with_it() -> None:
    """OpenAI rejects a call without the reasoning that led to it."""
    thoughts: list[Message] = [{"type": "reasoning", "id": each, "summary": []} for each in ("old", "new")]
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    told = {"type": "function_call_output", "call_id": "c", "output": "x"}
    history = [question(), thoughts[0], answer(), thoughts[1], call, ITEM, told, question("Now?")]
    assert select(history, 10_000, provider="responses").kept == (3, 4, 5, 6, 7)


@pytest.mark.parametrize("pinned", [1, 2, 3])
def test_a_pin_before_it_keeps_all_that_the_provider_wants_with_it(pinned: int) -> None:
    use = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}
    told = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}
    history = [question(), use, told, answer(), *SAID[:4], ON_DEMAND, question("Now?")]
    selection = select(history, 10_000, provider="anthropic", pin=[pinned])
    assert selection.kept == ((0, 3, 8, 9) if pinned == 3 else (0, 1, 2, 8, 9))
    assert selection.notes == ()
    assert lint_messages(selection.messages, "anthropic") == []
    # An older compaction is no different.
    older = [*history[:9], *SAID[:4], ON_DEMAND, question("Now?")]
    assert select(older, 10_000, provider="anthropic", pin=[pinned]).kept == (*selection.kept[:-2], 13, 14)


@pytest.mark.parametrize("pinned", [1, 2])
def test_a_pinned_exchange_before_it_stays_whole(pinned: int) -> None:
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    told = {"type": "function_call_output", "call_id": "c", "output": "x"}
    history = [question(), call, told, answer(), ITEM, question("Now?")]
    assert select(history, 10_000, provider="responses", pin=[pinned]).kept == (1, 2, 4, 5)


def test_what_asked_for_it_is_covered() -> None:
    """A trigger has to be the last item of its request."""
    trigger = {"type": "compaction_trigger"}
    assert select([*SAID[:2], question(), trigger], 10_000, provider="responses").kept == (0, 1, 2, 3)
    assert select([*SAID[:2], trigger, ITEM, question("Now?")], 10_000, provider="responses").kept == (3, 4)


def test_the_last_user_message_is_covered_like_others() -> None:
    history = [*SAID[:4], question("Covered."), ITEM]
    assert select(history, 10_000, provider="responses").kept == (5,)


@each_provider
def test_the_next_call_goes_on_from_there(provider: ProviderName, block: Message) -> None:
    history = [*SAID, block, *SAID, question("Now?")]
    previous = None
    for end in range(1, len(history) + 1, 3):
        selection = select_messages(history[:end], 300, provider=provider, counter=len, previous=previous)
        anew = select_messages(history[:end], 300, provider=provider, counter=len)
        assert (selection.kept, selection.notes) == (anew.kept, anew.notes)
        previous = selection


def test_a_summary_never_gets_what_is_covered() -> None:
    seen: list[Any] = []

    def summarize(messages: list[Any], last: str | None) -> str:
        seen.extend(messages)
        return "Short."

    history = [*SAID, ITEM, *SAID, question("Now?")]
    selection = select(history, 300, provider="responses", summarize=Summarize(summarize, tokens=20))
    assert selection.summary == "Short."
    # The compaction would stand for it, if it came first.
    assert [message.get("content") for message in selection.messages[:2]] == [None, "Short."]
    assert seen
    assert len(seen) == len([each for each in selection.dropped if each.index > 60])
