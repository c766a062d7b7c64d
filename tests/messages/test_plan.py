"""When a history is cut, how far, and what `previous=` keeps: the stable prefix."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from pycupel import ContextBudget, ContextItem, KnapsackSlice, Policy, RecencyScorer
from pycupel.diagnostics import Filtered
from pycupel.errors import PinnedExceedsBudgetError, UnitTooLargeError
from pycupel.messages import MessageSelection, select_messages
from pycupel.messages.plan import limits_of
from tests.messages.chats import (
    Message,
    answer,
    calls,
    cost,
    dropped,
    errors,
    exchange,
    long_turn,
    question,
    result,
    small_talk,
    system,
    window,
)
from tests.messages.histories import WRITERS, Exchange

BY_RECENCY = Policy(RecencyScorer())


def select(messages: Any, budget: Any, **options: Any) -> MessageSelection:
    selection: MessageSelection = select_messages(messages, budget, counter=len, **options)
    return selection


# When, and how far


def test_nothing_is_dropped_until_the_history_passes_the_high_mark() -> None:
    history = small_talk(40)
    whole = window(history)
    assert select(history, whole).messages == history
    assert select(history, ContextBudget(whole, whole // 10)).messages == history
    assert select(history, ContextBudget(whole + 500, 0, output_reserve=500)).messages == history
    assert len(select(history, whole - 1).dropped) > 5
    assert select(history, ContextBudget(whole + 500, output_reserve=501)).dropped


def test_then_it_is_cut_to_the_target() -> None:
    history = small_talk(40)
    whole = cost(history)
    selection = select(history, ContextBudget(whole - 1, whole // 2))
    assert whole // 2 - 2 * cost(history[1:2]) < selection.total_tokens <= whole // 2
    assert selection.budget.target_tokens == whole // 2


def test_for_an_int_the_target_is_65_percent() -> None:
    assert limits_of(1_000, 0.0) == ContextBudget(1_000, 650)
    assert limits_of(7, 0.0) == ContextBudget(7, 4)
    assert limits_of(10**400, 0.0) == ContextBudget(10**400, 65 * 10**398)
    history = small_talk(40)
    selection = select(history, cost(history) - 1)
    assert 0.6 * cost(history) < selection.total_tokens <= 0.65 * cost(history)


def test_the_cut_is_one_contiguous_block_where_scores_allow() -> None:
    history = small_talk(60)
    selection = select(history, cost(history) // 2, policy=BY_RECENCY)
    assert dropped(selection) == list(range(1, 1 + len(selection.dropped)))


def test_the_question_of_a_turn_that_is_cut_in_the_middle_stays() -> None:
    history = [system()]
    for n in range(12):
        history += [question(f"question {n}"), *exchange(f"call{n}a"), *exchange(f"call{n}b"), answer()]
    for budget in range(600, cost(history), 50):
        selection = select(history, budget, policy=BY_RECENCY)
        first, *rest = [i for i in selection.kept if i]
        assert first % 6 == 1
        assert rest == list(range(rest[0], len(history)))
        assert errors(selection.messages) == []


def test_what_is_pinned_may_exceed_the_target_but_not_the_window() -> None:
    history = [system("x" * 500), *small_talk(20)[1:]]
    selection = select(history, ContextBudget(600, 100))
    assert {0, len(history) - 1} <= set(selection.kept)
    assert selection.budget.target_tokens == selection.total_tokens
    with pytest.raises(UnitTooLargeError):
        select(history, ContextBudget(500, 100))


def test_reserved_slots_and_the_margin_lower_the_high_mark() -> None:
    history = small_talk(40)
    whole = window(history)
    assert select(history, ContextBudget(whole + 49, reserved_slots={"Memory": 50})).dropped
    assert not select(history, ContextBudget(whole + 50, reserved_slots={"Memory": 50})).dropped
    assert select(history, ContextBudget(whole, estimation_safety_margin_percent=10)).dropped


def test_an_estimate_needs_a_margin_unless_the_caller_has_set_one() -> None:
    assert limits_of(1_000, 5.0) == ContextBudget(952, 618)
    mine = ContextBudget(1_000, estimation_safety_margin_percent=2.0)
    assert limits_of(mine, 5.0) == ContextBudget(980)
    assert limits_of(ContextBudget(1_000), 0.0) == ContextBudget(1_000)
    selection = select_messages(small_talk(3), 1_000, counter="estimator")
    assert selection.budget.max_tokens == 952 - 3
    assert "estimator" in selection.counter


@given(st.integers(0, 10**6), st.floats(0.0, 100.0), st.integers(0, 10**6))
def test_everything_with_its_margin_fits_into_the_window(size: int, margin: float, beside: int) -> None:
    room = limits_of(ContextBudget(size + 7, output_reserve=7), margin, beside).available_tokens
    assert not room or (room + beside) * (1 + margin / 100) <= size


def test_what_travels_beside_the_messages_comes_off_the_window() -> None:
    assert limits_of(1_000, 0.0, 100) == ContextBudget(900, 585)
    assert limits_of(ContextBudget(1_000, 700, output_reserve=100), 0.0, 300) == ContextBudget(
        700, 600, output_reserve=100
    )
    assert limits_of(1_000, 0.0, 1_001) == ContextBudget(0)


def test_other_slicers_select_within_the_target_as_well() -> None:
    history = long_turn(40)
    policy = Policy(RecencyScorer(), KnapsackSlice(1))
    selection = select(history, ContextBudget(cost(history) - 1, 500), policy=policy)
    assert 450 < selection.total_tokens <= 500
    assert errors(selection.messages) == []


# previous


def grow(history: list[Message], budget: Any, start: int, **options: Any) -> list[MessageSelection]:
    """One selection for every length of the history, each with the one before it."""
    selections: list[MessageSelection] = []
    for end in range(start, len(history) + 1):
        previous = selections[-1] if selections else None
        selections.append(select(history[:end], budget, previous=previous, **options))
    return selections


def test_the_previous_selection_is_kept_until_the_next_cut() -> None:
    history = small_talk(100)
    cuts = 0
    before, *later = grow(history, 1_000, 2)
    for selection in later:
        newest = len(selection.source) - 1
        if selection.kept == (*before.kept, newest):
            assert selection.stable_prefix_tokens == selection.total_tokens - cost([history[newest]])
        else:
            cuts += 1
            assert before.total_tokens + window([history[newest]]) > 1_000
            assert selection.total_tokens <= 650
            assert selection.stable_prefix_tokens == cost([history[0]])
        before = selection
    assert 3 <= cuts <= 10


def test_without_it_the_start_changes_from_call_to_call() -> None:
    history = small_talk(100)
    alone = {select(history[:end], 1_000).kept[1] for end in range(150, 190, 2)}
    kept = {selection.kept[1] for selection in grow(history[:190], 1_000, 150)}
    assert len(alone) == 20
    assert len(kept) < 5


def test_the_stable_prefix_is_what_both_selections_start_with() -> None:
    history = small_talk(10)
    first = select(history[:11], 5_000)
    assert first.stable_prefix_tokens == 0
    second = select(history, 5_000, previous=first)
    assert second.stable_prefix_tokens == cost(history[:11])
    assert select(history, 5_000, previous=second).stable_prefix_tokens == second.total_tokens


def test_what_the_previous_selection_dropped_stays_out_with_that_reason() -> None:
    history = small_talk(60)
    first = select(history[:-2], 1_000)
    second = select(history, 1_000, previous=first, explain=True)
    assert dropped(second) == dropped(first)
    assert {each.reason for each in second.dropped} == {Filtered("the previous selection")}
    assert second.report is not None
    assert second.report.total_candidates == len(history)
    assert second.notes == ()


def test_a_copy_of_the_history_is_the_same_history() -> None:
    history = small_talk(60)
    first = select(history[:-2], 1_000)
    assert dropped(select(deepcopy(history), 1_000, previous=first)) == dropped(first)


@pytest.mark.parametrize("change", ["other", "shorter", "edited"])
def test_the_previous_selection_of_another_history_is_not_kept_and_a_note_says_so(change: str) -> None:
    history = small_talk(60)
    first = select(history, 1_000)
    other = {
        "other": small_talk(50),
        "shorter": history[:-1],
        "edited": [history[0], question("Something else."), *history[2:], answer()],
    }[change]
    second = select(other, 1_000, previous=first)
    alone = select(other, 1_000)
    assert second.notes == ("the history does not start with that of the previous selection, so a new choice was made",)
    assert (second.kept, second.stable_prefix_tokens) == (alone.kept, 0)
    assert alone.notes == ()


def test_a_larger_window_brings_back_what_fits() -> None:
    history = small_talk(60)
    first = select(history, 1_000)
    assert select(history, 5_000, previous=first).messages == history
    # All of it does not fit, so the earlier choice is still the best for the cache.
    assert select(history, 1_100, previous=first).kept == first.kept
    assert len(select(history, 500, previous=first).kept) < len(first.kept)


def test_documents_that_come_and_go_do_not_change_the_start_of_the_history() -> None:
    history = small_talk(30)
    budget = cost(history) + 100
    first = select(history, budget, documents=["x" * 400])
    assert first.dropped
    second = select(history, budget, previous=first)
    assert second.kept == first.kept
    assert second.stable_prefix_tokens == cost(second.messages)


def test_what_is_new_brings_back_what_it_needs() -> None:
    """Anthropic: what is said without thoughts needs the last thoughts of its turn."""
    writer = WRITERS["anthropic"]
    history = writer.user("Go.", picture=False)
    for n in range(30):
        history += writer.exchange(Exchange(((f"call{n:05d}", "read"),), (0,)))
    history += writer.assistant("Hm, " * 100, thinks=True)
    needed = len(history) - 1
    first = select(history, ContextBudget(1_000, 300))
    first = replace(first, kept=tuple(i for i in first.kept if i != needed))
    history += writer.assistant("So be it.", thinks=False)
    second = select(history, ContextBudget(1_000, 300), previous=first)
    assert {needed, needed + 1} <= set(second.kept)
    assert errors(second.messages, "anthropic") == []


def test_what_is_pinned_now_comes_back() -> None:
    history = small_talk(60)
    first = select(history, 1_000)
    second = select(history, 1_000, previous=first, pin=[5])
    assert second.kept == (0, 5, *first.kept[1:])


def test_an_exchange_that_was_open_is_kept_when_its_results_come() -> None:
    history = long_turn(30)
    first = select(history, 1_000)
    second = select([*history, result("pending")], 1_000, previous=first)
    assert second.kept == (*first.kept, len(history))


def test_what_is_broken_is_reported_once() -> None:
    history = [question("old"), result("nobody"), *small_talk(60)[1:]]
    first = select(history, 1_000)
    second = select([*history, answer()], 1_000, previous=first, explain=True)
    [reason] = [each.reason for each in second.dropped if each.index == 1]
    assert isinstance(reason, Filtered)
    assert reason.filter_name.startswith("messages[1]: the tool result 'nobody'")
    assert second.report is not None
    assert second.report.total_candidates == len(history) + 1


def test_the_unit_may_change_between_calls() -> None:
    history = [system()]
    for n in range(12):
        history += [question(f"question {n}"), *exchange(f"call{n}a"), answer()]
    first = select(history, 700)
    second = select([*history, question()], 700, previous=first, unit="turn")
    assert all(len(set(range(i, i + 4)) & set(second.kept)) in {0, 4} for i in range(1, len(history), 4))


def test_a_previous_selection_is_kept_even_if_it_could_not_be_made_again() -> None:
    """The budget is the same, the target is another one."""
    history = small_talk(60)
    first = select(history, ContextBudget(1_000, 900))
    assert select(history, ContextBudget(1_000, 100), previous=first).kept == first.kept


# Documents that must stay


def test_pinned_documents_take_their_room_from_the_history() -> None:
    history = small_talk(40)
    note = ContextItem("Always answer in verse.", 400, kind="Memory", pinned=True)
    selection = select(history, cost(history), documents=[note, "x" * 5_000])
    assert selection.documents == [note]
    assert selection.total_tokens <= 0.65 * cost(history)
    with pytest.raises(UnitTooLargeError, match="only 0 are available"):
        select(history, 400, documents=[note])
    with pytest.raises(PinnedExceedsBudgetError):
        select([], 300, documents=[note])


def test_a_call_that_waits_must_fit_beside_them() -> None:
    history = [question(), calls("c1")]
    note = ContextItem("note", 50, pinned=True)
    budget = window(history) + 50
    assert select(history, budget, documents=[note]).messages == history
    with pytest.raises(UnitTooLargeError):
        select(history, budget - 1, documents=[note])


def test_the_last_exchange_makes_room_for_them_once_its_turn_is_over() -> None:
    history = [*small_talk(10), *exchange("c1", "x" * 100), answer(), question("next")]
    note = ContextItem("note", 100, pinned=True)
    budget = window([history[0], history[-1]]) + cost(history[-4:-2]) + 99
    assert len(history) - 3 not in select(history, budget, documents=[note]).kept
    assert len(history) - 3 in select(history, budget).kept
