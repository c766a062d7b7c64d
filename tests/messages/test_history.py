"""A history as blocks and as items: units or whole turns, what they need, what is pinned."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pycupel import ContextBudget, ContextItem, ContextKind, ContextSource, Pipeline, RecencyScorer
from pycupel.errors import InvalidArgumentError, MessageShapeError
from pycupel.messages import to_items
from pycupel.messages.detect import resolve_provider
from pycupel.messages.history import History, pinned_messages, with_needs
from pycupel.messages.options import ProviderName, UnitName
from pycupel.messages.overlay import Overlay, items_at
from tests.messages.chats import answer, calls, exchange, long_turn, question, result, system
from tests.messages.histories import WRITERS, Exchange, Message


def read(messages: list[Message], unit: UnitName = "auto", pin: Any = None, provider: ProviderName = "auto") -> History:
    known = resolve_provider(messages, provider)
    return History(messages, known, known.read(messages), unit, pinned_messages(messages, pin))


def indices(history: History, unit_indices: frozenset[int]) -> list[int]:
    return sorted(n for i in unit_indices for n in history.units[i].indices)


def pinned(
    messages: list[Message], unit: UnitName = "auto", pin: Any = None, provider: ProviderName = "auto"
) -> list[int]:
    history = read(messages, unit, pin, provider)
    return indices(history, history.staying()[0])


# Items


def test_every_unit_is_an_item() -> None:
    items = to_items([system("Rules."), question("Why?"), *exchange("c1", "Because."), answer("So.")], counter=len)
    kinds = ["SystemPrompt", "Message", "ToolOutput", "Message"]
    assert [item.kind for item in items] == kinds
    assert [item.source for item in items] == ["Chat", "Chat", "Tool", "Chat"]
    assert [item.metadata["pycupel.unit"] for item in items] == [[0], [1], [2, 3], [4]]
    assert items[0].content == "Rules."
    assert "Because." in items[2].content
    assert all(item.tokens > 0 for item in items)
    assert (items[2].kind, items[2].source) == (ContextKind.TOOL_OUTPUT, ContextSource.TOOL)


def test_the_tokens_of_an_item_are_those_of_its_messages() -> None:
    history = read([question(), calls("c1", "c2"), result("c2", "x" * 100), result("c1"), answer()])
    tokens = history.tokens
    assert history.sizes == [tokens[0], tokens[1] + tokens[2] + tokens[3], tokens[4]]
    assert tokens[2] > 100 > max(tokens[1], tokens[3])
    assert [item.tokens for item in items_at(Overlay(history), [1, 2]).values()] == history.sizes[1:]


def test_the_model_decides_how_items_are_counted() -> None:
    history = [question("How many tokens does this have?")]
    by_model = {model: to_items(history, model=model)[0].tokens for model in (None, "gpt-4o", "claude-opus-4-8")}
    assert by_model[None] == by_model["gpt-4o"] < by_model["claude-opus-4-8"]


def test_missing_timestamps_come_from_the_index() -> None:
    items = to_items([question(), *exchange("c1"), answer()], counter=len)
    start = datetime(1970, 1, 1, tzinfo=UTC)
    assert [item.timestamp for item in items] == [start + timedelta(seconds=i) for i in (0, 2, 3)]
    assert Pipeline(RecencyScorer()).run(items, ContextBudget(10_000)) == items


def test_a_message_without_text_still_is_an_item() -> None:
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}]}
    assert to_items([picture], counter=len)[0].content == "(user without text)"


def test_what_a_provider_would_refuse_is_no_item() -> None:
    items = to_items([question(), result("nobody"), answer()], counter=len)
    assert [item.metadata["pycupel.unit"] for item in items] == [[0], [2]]


def test_what_has_to_stay_is_a_pinned_item() -> None:
    items = to_items(long_turn(3), counter=len)
    assert [item.pinned for item in items] == [True, True, False, False, False, True]
    assert [item.pinned for item in to_items(long_turn(3), counter=len, pin=[3])][2] is True


def test_items_are_made_of_turns_and_for_providers_too() -> None:
    history = WRITERS["gemini"].user("Go.", picture=False) + WRITERS["gemini"].assistant("Gone.", thinks=False)
    items = to_items(history, "gemini", unit="turn", counter=len)
    assert [item.content for item in items] == ["Go.\nGone."]
    with pytest.raises(MessageShapeError):
        to_items(history, "openai", counter=len)
    with pytest.raises(TypeError, match="messages must be a list"):
        to_items("Go.")


def test_equal_histories_give_equal_items() -> None:
    assert to_items(long_turn(3), counter=len) == to_items(long_turn(3), counter=len)
    assert isinstance(to_items(long_turn(3))[0], ContextItem)


# Turns


def test_a_turn_is_a_user_message_and_all_that_follows_it() -> None:
    history = read([system(), question("a"), *exchange("c1"), answer(), question("b"), answer()], "turn")
    assert [unit.indices for unit in history.units] == [(0,), (1, 2, 3, 4), (5, 6)]
    assert history.sizes[1] == sum(history.tokens[1:5])
    turn = items_at(Overlay(history), [1], named={})[1]
    assert turn.kind == "Message"
    assert turn.metadata["pycupel.unit"] == [1, 2, 3, 4]
    assert turn.content.startswith("a\n")
    assert turn.timestamp == datetime(1970, 1, 1, 0, 0, 4, tzinfo=UTC)
    assert [unit.needs for unit in history.units] == [(), (), ()]


def test_what_is_broken_or_a_system_message_is_in_no_turn() -> None:
    history = read([question("a"), result("nobody"), system(), answer(), question("b")], "turn")
    assert [unit.indices for unit in history.units] == [(0, 3), (1,), (2,), (4,)]
    assert [unit.problem is None for unit in history.units] == [True, False, True, True]


def test_what_is_said_before_the_first_question_is_a_turn() -> None:
    assert [unit.indices for unit in read([answer("Hello!"), question()], "turn").units] == [(0,), (1,)]


def test_turns_need_each_other_where_a_provider_says_so() -> None:
    """Anthropic: a system message in the middle stands between a user message and its answer."""
    writer = WRITERS["anthropic"]
    history = [
        *writer.user("a", picture=False),
        *writer.assistant("1", thinks=False),
        *writer.user("b", picture=False),
        *writer.system("Remember the rules."),
        *writer.assistant("2", thinks=False),
        *writer.user("c", picture=False),
    ]
    read_as_turns = read(history, "turn", provider="anthropic")
    assert [unit.indices for unit in read_as_turns.units] == [(0, 1), (2, 4), (3,), (5,)]
    assert read_as_turns.units[2].needs == (1,)
    assert indices(read_as_turns, read_as_turns.staying()[0]) == [2, 3, 4, 5]


def test_an_unknown_unit() -> None:
    with pytest.raises(InvalidArgumentError, match="unit must be one of auto, turn, not 'message'"):
        to_items([question()], unit="message")  # type: ignore[arg-type]


# Pins


def test_the_system_prompt_the_last_user_message_and_the_open_exchange_are_pinned() -> None:
    assert pinned(long_turn(5)) == [0, 1, 12]


def test_the_last_exchange_is_pinned_while_its_turn_lasts() -> None:
    assert pinned([question(), *exchange("c1"), *exchange("c2")]) == [0, 3, 4]
    assert pinned([question(), *exchange("c1"), *exchange("c2"), answer()]) == [0, 3, 4, 5]


def test_afterwards_it_should_stay_if_it_can_with_its_question() -> None:
    history = read([question("a"), *exchange("c1"), *exchange("c2"), answer(), question("b"), answer(), question("c")])
    assert indices(history, history.staying()[0]) == [8]
    assert indices(history, history.staying()[1]) == [0, 3, 4, 5]


def test_what_was_said_about_an_exchange_should_stay_with_it() -> None:
    history = read([question("a"), *exchange("c1"), answer(), *exchange("c2"), answer(), question("b")])
    assert history.ties == [(), (0, 2), (0,), (0, 4), (0,), ()]
    assert read([question("a"), *exchange("c1"), question("b"), answer()]).ties == [(), (0,), (), (2,)]


def test_the_system_messages_before_all_others_are_pinned_and_the_newest_behind_them() -> None:
    history = [system("a"), system("b"), question(), answer(), system("c"), question(), answer(), system("d")]
    assert pinned(history) == [0, 1, 5, 7]
    assert pinned(history[:-1]) == [0, 1, 4, 5, 6]
    assert [item.kind for item in to_items(history, counter=len)][4] == "Message"


def test_what_changes_how_the_rest_is_read_is_pinned_wherever_it_stands() -> None:
    """Responses: tools that were added."""
    added = {"type": "additional_tools", "tools": []}
    history = [system(), question(), answer(), added, question(), answer(), added, question()]
    assert pinned(history, provider="responses") == [0, 3, 6, 7]


def test_what_has_begun_is_pinned_until_it_is_finished() -> None:
    """Responses: results may come behind other messages."""
    made = [{"type": "function_call", "call_id": each, "name": "read", "arguments": "{}"} for each in "ab"]
    done = [{"type": "function_call_output", "call_id": each, "output": "x"} for each in "ab"]
    history = read(
        [question(), *made, done[0], question("And?"), answer("Wait."), done[1], answer()], provider="responses"
    )
    assert history.call_positions == [1, 5, 7]
    assert indices(history, history.staying(5)[0]) == [0, 1, 2, 3, 4, 6]
    assert indices(history, history.staying(7)[0]) == [4]


def test_an_assistant_message_at_the_end_is_pinned_because_the_model_may_continue_it() -> None:
    assert pinned([question("a"), answer(), question("b"), answer("So")]) == [2, 3]
    prefix = {"role": "assistant", "content": "So", "prefix": True}
    assert pinned([question("a"), answer(), question("b"), prefix], provider="mistral") == [2, 3]


def test_without_a_user_message_what_was_said_last_is_pinned() -> None:
    assert pinned([system(), answer("a"), answer("b")]) == [0, 2]
    assert pinned([system()]) == [0]
    assert pinned([]) == []


def test_nothing_that_is_broken_is_pinned() -> None:
    assert pinned([question(), answer(), result("nobody")], pin=[2]) == [0]
    assert pinned([question(), result("nobody"), answer()], pin=[1]) == [0, 2]


def test_what_the_user_says_behind_results_counts_as_a_user_message() -> None:
    """Anthropic: a message may hold results and a text."""
    writer = WRITERS["anthropic"]
    history = [
        *writer.user("a", picture=False),
        *writer.exchange(Exchange((("c1", "read"),), (0,), remark="No, the other file.")),
        *writer.assistant("Sorry.", thinks=False),
    ]
    assert pinned(history[:3], provider="anthropic") == [0, 1, 2]
    assert pinned(history, provider="anthropic") == [0, 1, 2, 3]
    later = writer.exchange(Exchange((("c2", "read"),), (0,)))
    assert pinned([*history, *later], provider="anthropic") == [0, 1, 2, 4, 5]


def test_turns_are_pinned_as_a_whole() -> None:
    assert pinned([question("a"), answer(), question("b"), *exchange("c1"), answer()], "turn") == [2, 3, 4, 5]


def test_pins_are_indices_or_a_function() -> None:
    history = [question("a"), *exchange("c1"), answer(), question("b"), answer(), question("c")]
    assert pinned(history, pin=[2]) == [0, 1, 2, 6]
    assert pinned(history, pin={2, 5}) == [0, 1, 2, 4, 5, 6]
    assert pinned(history, pin=lambda message: message["role"] == "assistant") == [0, 1, 2, 3, 4, 5, 6]


def test_what_is_needed_is_found_through_others() -> None:
    needs: list[tuple[int, ...]] = [(), (0,), (1,), (), (1, 5), (4,)]
    assert with_needs([2], needs.__getitem__) == [2, 1, 0]
    assert with_needs([4, 2, 4], needs.__getitem__) == [4, 2, 1, 5, 0]
    assert with_needs([], needs.__getitem__) == []
