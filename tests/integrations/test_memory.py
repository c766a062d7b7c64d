"""What the hooks for chat histories share, without any of their libraries."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pycupel.errors import InvalidArgumentError
from pycupel.integrations._memory import HistorySelector, HookOptions, Memory
from pycupel.messages import MessageSelection, lint_messages, select_messages

Message = dict[str, Any]


def count_words(text: str) -> int:
    return len(text.split())


def history(name: str, turns: int) -> list[Message]:
    return [
        message
        for turn in range(turns)
        for message in (
            {"role": "user", "content": f"{name} asks {turn}"},
            {"role": "assistant", "content": f"answer {turn} " + "word " * 20},
        )
    ]


def selected(messages: Sequence[Message], budget: int = 300) -> MessageSelection:
    return select_messages(messages, budget, counter=count_words)


def selector(**options: Any) -> HistorySelector:
    given: HookOptions = {"counter": count_words, **options}  # type: ignore[typeddict-item]
    return HistorySelector(300, "openai", given)


def kept_of(messages: Sequence[Message], kept: Sequence[Sequence[int]]) -> list[Message]:
    return [message for message, pieces in zip(messages, kept, strict=True) if pieces]


class TestMemory:
    def test_recalls_the_selection_that_a_history_continues(self) -> None:
        memory = Memory()
        mine, other = history("Ann", 3), history("Bob", 3)
        for messages in (mine, other):
            memory.remember(selected(messages), None)
        assert memory.recall([*mine, *history("Ann", 1)]) == selected(mine)
        assert memory.recall(history("Cid", 3)) is None

    def test_recalls_the_longest_of_several(self) -> None:
        memory = Memory()
        messages = history("Ann", 4)
        for length in (2, 6, 4):
            memory.remember(selected(messages[:length]), None)
        recalled = memory.recall(messages)
        assert recalled is not None
        assert len(recalled.source) == 6

    def test_forgets_the_previous_selection_of_a_conversation(self) -> None:
        memory = Memory()
        messages = history("Ann", 4)
        first, second = selected(messages[:4]), selected(messages)
        memory.remember(first, None)
        memory.remember(second, first)
        assert memory.recall(messages[:6]) is None
        assert memory.recall(messages) is second

    def test_holds_the_latest_conversations_and_no_more(self) -> None:
        memory = Memory(size=2)
        for name in ("Ann", "Bob", "Cid"):
            memory.remember(selected(history(name, 1)), None)
        assert memory.recall(history("Ann", 1)) is None
        assert memory.recall(history("Bob", 1)) is not None
        assert memory.recall(history("Cid", 1)) is not None


class TestHistorySelector:
    def test_selects_what_fits(self) -> None:
        messages = history("Ann", 30)
        kept = kept_of(messages, selector().select(messages))
        assert 0 < len(kept) < len(messages)
        assert kept[-1] is messages[-1]
        assert lint_messages(kept) == []

    def test_what_was_kept_stays_at_the_start(self) -> None:
        one = selector()
        messages = history("Ann", 30)
        before = kept_of(messages, one.select(messages))
        longer = [*messages, *history("Ann again", 2)]
        after = kept_of(longer, one.select(longer))
        assert after[: len(before)] == before
        # The memory only saves time.
        assert kept_of(longer, selector().select(longer)) == after

    def test_conversations_may_alternate(self) -> None:
        one = selector()
        names = ("Ann", "Bob", "Cid")
        before = {name: kept_of(history(name, 30), one.select(history(name, 30))) for name in names}
        for name in names:
            longer = [*history(name, 30), *history(name, 2)]
            assert kept_of(longer, one.select(longer))[: len(before[name])] == before[name]

    def test_threads_may_share_it(self) -> None:
        one = selector()

        def converse(name: str) -> bool:
            messages = history(name, 30)
            before = kept_of(messages, one.select(messages))
            messages += history(name, 2)
            return kept_of(messages, one.select(messages))[: len(before)] == before

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(converse, map(str, range(40))))

    def test_the_system_prompt_counts_but_is_no_message(self) -> None:
        messages = history("Ann", 2)
        selections: list[MessageSelection] = []
        one = selector(on_selection=selections.append)
        assert one.select(messages, system="Be brief.") == [[0], [0], [0], [0]]
        assert one.select(messages) == [[0], [0], [0], [0]]
        with_prompt, without = selections
        assert with_prompt.kept == without.kept == (0, 1, 2, 3)
        assert with_prompt.total_tokens - without.total_tokens >= 2

    def test_pieces_of_a_message_are_kept_on_their_own(self) -> None:
        """The first message is a prompt that stays and a question that goes."""
        messages = ["prompt and question", "answer", "question"]
        pieces = [
            [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "word " * 200}],
            [{"role": "assistant", "content": "word " * 200}],
            [{"role": "user", "content": "Well?"}],
        ]
        assert selector().select(messages, pieces) == [[0], [], [0]]

    def test_a_selection_is_told_in_terms_of_the_messages(self) -> None:
        messages = ["prompt and question", "answer", "question"]
        pieces = [
            [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "word " * 200}],
            [{"role": "assistant", "content": "word " * 200}],
            [{"role": "user", "content": "Well?"}],
        ]
        selections: list[MessageSelection] = []
        selector(on_selection=selections.append).select(messages, pieces, system="And polite.")
        [selection] = selections
        assert selection.messages == ["prompt and question", "question"]
        assert selection.kept == (0, 2)
        assert [each.index for each in selection.dropped] == [1]
        assert selection.source == tuple(messages)

    def test_what_must_stay_stays(self) -> None:
        messages = history("Ann", 30)
        assert selector().select(messages)[0] == []
        assert selector().select(messages, keep=[0])[0] == [0]
        assert selector(pin=lambda message: message is messages[0]).select(messages)[0] == [0]

    def test_options_are_those_of_select_messages(self) -> None:
        selections: list[MessageSelection] = []
        selector(explain=True, on_selection=selections.append).select(history("Ann", 2))
        assert selections[0].report is not None

    @pytest.mark.parametrize(
        ("option", "value"), [("policy", "chatt"), ("unit", "word"), ("too_large", "explode"), ("counter", "abacus")]
    )
    def test_a_wrong_option_is_found_where_it_is_written(self, option: str, value: str) -> None:
        with pytest.raises(InvalidArgumentError, match=value):
            selector(**{option: value})

    def test_a_wrong_budget_is_found_where_it_is_written(self) -> None:
        with pytest.raises(InvalidArgumentError, match="budget"):
            HistorySelector("many", "openai", {})  # type: ignore[arg-type]
