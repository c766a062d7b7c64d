"""What belongs together (ECOSYSTEM A.5)."""

from __future__ import annotations

import pytest

from pycupel.messages.history import Unit, turns
from tests.messages.reading import units_of
from tests.messages.test_lint import (
    ASKED,
    REASONING,
    SAID,
    SYSTEM,
    THOUGHT,
    TOLD,
    USER,
    Message,
    calls,
    item,
    output,
    reply,
    result,
    results,
    turn,
    uses,
)


def group(messages: list[Message], provider: str = "openai") -> list[Unit]:
    return units_of(messages, provider)


def members(messages: list[Message], provider: str = "openai") -> list[tuple[int, ...]]:
    return [unit.indices for unit in group(messages, provider)]


def broken(messages: list[Message], provider: str = "openai") -> list[tuple[int, ...]]:
    return [unit.indices for unit in group(messages, provider) if unit.problem is not None]


def test_a_call_and_all_its_results_are_one_unit() -> None:
    units = group([SYSTEM, USER, calls("a", "b"), result("b"), result("a"), SAID, USER])
    assert units == [
        Unit((0,), "system", None),
        Unit((1,), "user", None),
        Unit((2, 3, 4), "exchange", 1, None, (1,)),
        Unit((5,), "assistant", 1, None, (1,)),
        Unit((6,), "user", None),
    ]


def test_what_comes_before_the_first_user_message_is_tied_to_nothing() -> None:
    units = group([SAID, calls("a"), result("a"), USER, SYSTEM, SAID])
    assert [unit.anchor for unit in units] == [None, None, None, None, 2]


@pytest.mark.parametrize(
    ("messages", "provider", "expected"),
    [
        ([USER, calls("a", "b"), result("b")], "openai", (1, 2)),
        ([USER, calls("a", "b")], "mistral", (1,)),
        ([USER, uses("a", "b"), results("a")], "anthropic", (1, 2)),
        ([ASKED, turn("f", "g"), reply("f")], "gemini", (1, 2)),
        ([USER, REASONING, item("a"), item("b"), output("a")], "responses", (1, 2, 3, 4)),
    ],
)
def test_calls_at_the_end_that_are_not_all_answered_are_open(
    messages: list[Message], provider: str, expected: tuple[int, ...]
) -> None:
    units = group(messages, provider)
    assert [(unit.indices, unit.is_open) for unit in units] == [((0,), False), (expected, True)]
    assert [unit.problem for unit in units] == [None, None]


def test_an_exchange_is_no_longer_open_once_something_else_is_said() -> None:
    [_, exchange, _] = group([USER, calls("a", "b"), result("a"), USER])
    assert (exchange.indices, exchange.is_open) == ((1, 2), False)
    assert exchange.problem == "messages[1]: the tool call 'b00000000' is not followed by its result"


def test_orphans_break_nothing_but_themselves() -> None:
    messages = [USER, calls("a"), result("x"), result("a"), result("a"), SAID]
    assert members(messages) == [(0,), (1, 3), (2,), (4,), (5,)]
    assert broken(messages) == [(2,), (4,)]


def test_ids_that_are_used_twice_in_one_message_break_it() -> None:
    assert broken([USER, calls("a", "a"), result("a"), SAID]) == [(1, 2)]


class TestResponses:
    def test_reasoning_calls_and_outputs_are_one_unit(self) -> None:
        items = [USER, REASONING, SAID, item("a"), REASONING, item("b"), output("b"), output("a"), REASONING, SAID]
        units = group(items, "responses")
        assert [(unit.indices, unit.role) for unit in units] == [
            ((0,), "user"),
            ((1, 2, 3, 4, 5, 6, 7), "exchange"),
            ((8, 9), "assistant"),
        ]

    def test_what_the_model_says_before_all_its_calls_are_answered_stays_with_them(self) -> None:
        """A.5: message items until the outputs. A program's own calls are made while it waits."""
        items = [USER, item("p"), item("a"), output("a"), item("b"), SAID, output("b"), output("p"), SAID]
        assert members(items, "responses") == [(0,), (1, 2, 3, 4, 5, 6, 7), (8,)]

    def test_a_call_that_is_never_answered_takes_nothing_with_it(self) -> None:
        items = [USER, item("a"), item("b"), output("b"), item("c"), output("c"), USER]
        assert members(items, "responses") == [(0,), (1, 2, 3), (4, 5), (6,)]
        assert broken(items, "responses") == [(1, 2, 3)]

    def test_an_id_that_is_used_again_breaks_only_the_second_exchange(self) -> None:
        items = [USER, item("a"), output("a"), item("a"), output("a"), SAID]
        assert members(items, "responses") == [(0,), (1, 2), (3, 4), (5,)]
        assert broken(items, "responses") == [(3, 4)]

    def test_an_output_behind_a_user_message_still_belongs_to_its_call(self) -> None:
        assert members([USER, item("a"), USER, output("a"), SAID], "responses") == [(0,), (1, 3), (2,), (4,)]
        items = [USER, item("a"), USER, item("b"), output("b"), SAID, output("a")]
        assert members(items, "responses") == [(0,), (1, 6), (2,), (3, 4), (5,)]

    def test_reasoning_that_led_to_nothing_is_broken_alone(self) -> None:
        assert broken([USER, REASONING, REASONING, USER, item("a"), REASONING, output("a")], "responses") == [
            (1,),
            (2,),
            (5,),
        ]

    def test_reasoning_stays_broken_when_what_parts_it_from_the_next_item_goes(self) -> None:
        """Found by Hypothesis: without the orphan, it would seem to lead to an answer that it did not lead to."""
        assert broken([USER, REASONING, output("a"), SAID], "responses") == [(1,), (2,)]


class TestAnthropic:
    def test_text_behind_results_opens_no_turn(self) -> None:
        messages = [USER, uses("a"), results("a", text="now this"), uses("b"), results("b"), SAID, USER]
        units = group(messages, "anthropic")
        assert [(unit.indices, unit.anchor, unit.has_user_text) for unit in units] == [
            ((0,), None, False),
            ((1, 2), 0, True),
            ((3, 4), 0, False),
            ((5,), 0, False),
            ((6,), None, False),
        ]
        assert turns(units) == [[0, 1, 2, 3], [4]]

    def test_what_comes_before_the_first_user_message_is_broken(self) -> None:
        messages = [SAID, uses("a"), results("a", text="x"), SAID, USER, SAID]
        assert broken(messages, "anthropic") == [(0,), (1, 2), (3,)]

    def test_results_that_are_split_stay_together(self) -> None:
        messages = [USER, uses("a", "b"), results("a"), results("b"), SAID, USER]
        assert members(messages, "anthropic") == [(0,), (1, 2, 3), (4,), (5,)]
        assert broken(messages, "anthropic") == []

    def test_a_server_tool_that_waits_for_results_keeps_everything_up_to_its_own(self) -> None:
        """Code that runs on the server may call the caller's tools: its result comes messages later."""
        begins = {"type": "server_tool_use", "id": "s", "name": "code_execution", "input": {}}
        ends = {"type": "code_execution_tool_result", "tool_use_id": "s", "content": []}
        last: Message = {"role": "assistant", "content": [ends, {"type": "text", "text": "a"}]}
        messages = [USER, uses("a", first=(begins,)), results("a"), uses("b"), results("b"), last, USER, SAID]
        assert members(messages, "anthropic") == [(0,), (1, 2, 3, 4, 5), (6,), (7,)]
        assert broken([USER, last, USER], "anthropic") == [(1,)]
        assert broken([USER, {"role": "assistant", "content": [begins, ends]}, USER], "anthropic") == []

    def test_a_user_message_without_text_opens_no_turn(self) -> None:
        units = group([USER, SAID, {"role": "user", "content": ""}, SAID], "anthropic")
        assert [(unit.problem is None, unit.anchor) for unit in units] == [
            (True, None),
            (True, 0),
            (False, None),
            (True, 0),
        ]
        assert turns(units) == [[0, 1, 3]]

    def test_what_is_said_without_thoughts_needs_those_before_it_in_its_turn(self) -> None:
        """A.3 row 6: otherwise the turn would no longer start with a thinking block."""
        messages = [
            *(USER, uses("a"), results("a"), uses("b", first=(THOUGHT,)), results("b")),
            *(uses("c"), results("c"), uses("d", first=(THOUGHT,)), results("d"), SAID, USER, SAID),
        ]
        assert [unit.needs for unit in group(messages, "anthropic")] == [
            (),
            (0,),
            (0,),
            (0, 2),
            (0,),
            (0, 4),
            (),
            (6,),
        ]

    def test_a_system_message_needs_its_neighbours(self) -> None:
        messages = [SYSTEM, USER, SYSTEM, uses("a"), results("a"), SYSTEM, SYSTEM, SAID, USER, SYSTEM]
        units = group(messages, "anthropic")
        assert [(unit.role, unit.needs) for unit in units if unit.role in ("system", "reminder")] == [
            ("system", ()),
            ("reminder", (1, 3)),
            ("reminder", (3, 6)),
            ("reminder", (3, 6)),
            ("reminder", (7,)),
        ]

    def test_a_system_message_is_judged_by_what_is_left(self) -> None:
        messages = [USER, results("x"), SYSTEM, SAID, USER, SYSTEM, USER]
        units = group(messages, "anthropic")
        assert broken(messages, "anthropic") == [(1,), (5,)]
        assert units[2].needs == (0, 3)


class TestGemini:
    def test_what_the_model_says_before_a_call_is_broken(self) -> None:
        """A.3 row 7. The exchange itself can stay, if nothing stands between it and the user."""
        contents = [ASKED, TOLD, TOLD, turn("f"), reply("f"), TOLD, ASKED]
        assert broken(contents, "gemini") == [(1,), (2,)]
        assert broken([ASKED, TOLD, reply("x", text="hm"), turn("f"), reply("f")], "gemini") == [(1,), (2,)]

    def test_all_results_are_in_one_message(self) -> None:
        assert broken([ASKED, turn("f", "f"), reply("f"), reply("f"), TOLD, ASKED], "gemini") == [(1, 2), (3,)]


class TestMistral:
    def test_a_system_message_needs_the_user_message_before_it(self) -> None:
        units = group([SYSTEM, USER, SAID, USER, SYSTEM, SYSTEM, SAID], "mistral")
        assert [unit.needs for unit in units] == [(), (), (1,), (), (3,), (3,), (3,)]
        assert broken([USER, SAID, SYSTEM, USER], "mistral") == [(2,)]

    def test_calls_at_the_start_need_what_stands_before_them(self) -> None:
        units = group(
            [SAID, calls("a"), result("a"), calls("b"), result("b"), USER, calls("c"), result("c")], "mistral"
        )
        assert [unit.needs for unit in units] == [(), (0,), (1,), (), (3,)]
        assert broken([calls("a"), result("a"), USER], "mistral") == [(0, 1)]
        assert [unit.needs for unit in group([SYSTEM, SAID, calls("a"), result("a"), USER], "mistral")] == [
            (),
            (),
            (),
            (),
        ]

    def test_what_is_rejected_is_no_start_for_calls(self) -> None:
        prefix = {**SAID, "prefix": True}
        assert broken([prefix, calls("a"), result("a"), USER], "mistral") == [(0,), (1, 2)]


def test_a_system_message_after_rejected_messages_only_is_the_first_that_counts() -> None:
    units = group([result("x"), SYSTEM, USER, SYSTEM])
    assert [unit.role for unit in units] == ["exchange", "system", "user", "reminder"]


def test_turns_are_user_messages_with_all_that_is_tied_to_them() -> None:
    units = group([SYSTEM, SAID, calls("a"), result("a"), USER, SYSTEM, SAID, result("x"), USER, USER, SAID])
    assert turns(units) == [[1, 2], [3, 5], [7], [8, 9]]
    assert turns([]) == []


@pytest.mark.parametrize("provider", ["openai", "responses", "anthropic", "gemini", "mistral"])
def test_an_empty_history_has_no_units(provider: str) -> None:
    assert units_of([], provider) == []
