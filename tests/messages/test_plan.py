"""When a history is cut, and how far."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from pycupel import ContextBudget, ContextItem, KnapsackSlice, Policy, RecencyScorer
from pycupel.errors import PinnedExceedsBudgetError, UnitTooLargeError
from pycupel.messages import Summarize, select_messages
from pycupel.messages.room import Room, limits_left
from tests.examples import examples
from tests.messages.chats import (
    answer,
    calls,
    cost,
    dropped,
    errors,
    exchange,
    long_turn,
    question,
    select,
    small_talk,
    system,
    window,
)

BY_RECENCY = Policy(RecencyScorer())


# When, and how far


def test_nothing_is_dropped_until_the_history_passes_the_high_mark() -> None:
    history = small_talk(40)
    whole = window(history)
    assert select(history, whole).messages == history
    assert select(history, ContextBudget(whole, whole // 10)).messages == history
    assert select(history, ContextBudget(whole + 500, 0, output_reserve=500)).messages == history
    assert len(select(history, whole - 1).dropped) > 5
    assert select(history, ContextBudget(whole + 500, output_reserve=501)).dropped


def test_a_history_that_exceeds_the_window_is_cut_to_the_target() -> None:
    history = small_talk(40)
    whole = cost(history)
    selection = select(history, ContextBudget(whole - 1, whole // 2))
    assert whole // 2 - 2 * cost(history[1:2]) < selection.total_tokens <= whole // 2
    assert selection.budget.target_tokens == whole // 2


def test_for_an_int_65_percent_of_what_must_stay_leaves_are_the_target() -> None:
    room = Room(1_000)
    assert [room.target_for(must) for must in (0, 100, 900, 1_000)] == [650, 685, 965, 1_000]
    assert room.goal(700, 100) == (0, 0)
    large = Room(10**400)
    assert large.target_for(0) == 65 * 10**398
    assert room.goal(500, 100) == (185, 0)
    history = small_talk(40)
    selection = select(history, window(history) - 1)
    must = cost([history[0], history[-1]])
    goal = must + (cost(history) - 1 - must) * 65 // 100
    assert goal - 2 * cost(history[1:2]) < selection.total_tokens <= goal == selection.budget.target_tokens


@pytest.mark.parametrize("documents", [None, ["a document"]])
@pytest.mark.parametrize("budget", [10**400, ContextBudget(10**400, 10**399)])
def test_a_budget_beyond_floats_is_a_budget(budget: ContextBudget | int, documents: list[str] | None) -> None:
    history = small_talk(4)
    assert select(history, budget, documents=documents).messages[:1] == history[:1]


def test_a_large_system_prompt_does_not_make_a_cut_forget_everything() -> None:
    history = [system("x" * 700), *small_talk(40)[1:]]
    selection = select(history, 1_000)
    assert 800 < selection.total_tokens <= 1_000
    assert len(selection.messages) > 8


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
    assert selection.kept == (0, len(history) - 3, len(history) - 2, len(history) - 1)
    with pytest.raises(UnitTooLargeError):
        select(history, ContextBudget(500, 100))


def test_reserved_slots_and_the_margin_lower_the_high_mark() -> None:
    history = small_talk(40)
    whole = window(history)
    assert select(history, ContextBudget(whole + 49, reserved_slots={"Memory": 50})).dropped
    assert not select(history, ContextBudget(whole + 50, reserved_slots={"Memory": 50})).dropped
    assert select(history, ContextBudget(whole, estimation_safety_margin_percent=10)).dropped


def test_an_estimate_needs_a_margin_unless_the_caller_has_set_one() -> None:
    assert limits_left(1_000, 5.0) == ContextBudget(952)
    mine = ContextBudget(1_000, estimation_safety_margin_percent=2.0)
    assert limits_left(mine, 5.0) == ContextBudget(980)
    assert limits_left(ContextBudget(1_000), 0.0) == ContextBudget(1_000)
    selection = select_messages(small_talk(3), 1_000, counter="estimator")
    assert selection.budget.max_tokens == 952 - 3
    assert "estimator" in selection.counter


def test_stable_is_false_to_fill_the_window() -> None:
    history = small_talk(60)
    for end in range(40, len(history), 3):
        selection = select(history[:end], 500, stable=False)
        assert 497 - 2 * cost(history[1:2]) < selection.total_tokens <= 497
        assert selection.points == ()
        # A target that leaves no room to grow is the same.
        assert selection.kept == select(history[:end], ContextBudget(500)).kept


def test_a_window_is_filled_in_one_piece_also_without_room_to_grow() -> None:
    history = small_talk(40)
    history += [question("H" * 600), answer("ok"), question("x" * 300), answer("y" * 250), question("z")]
    # What is older than the first that does not fit goes, too: it would be another hole at the next call.
    newest = (0, *range(len(history) - 3, len(history)))
    assert select(history, 1_000, stable=False).kept == newest
    assert select(history, ContextBudget(1_000)).kept == newest
    assert select(history, ContextBudget(1_000, 990)).kept == newest


@pytest.mark.parametrize("seed", range(40))
def test_a_filled_window_of_a_dialogue_is_the_longest_end_that_fits(seed: int) -> None:
    """Issue: it equals LangChain's `trim_messages`, which keeps the newest messages from a question on."""
    source = random.Random(seed)
    history = [system("Be brief.")]
    for _ in range(source.randint(2, 25)):
        history += [question("u" * source.choice((3, 30, 300, 700))), answer("a" * source.choice((3, 30, 300, 700)))]
    history.append(question("last"))
    budget = source.randint(100, 2_500)
    ends = [n for n in range(1, len(history), 2) if window([history[0], *history[n:]]) <= budget]
    assert select(history, budget, stable=False).kept == (0, *range(ends[0], len(history)))


def test_documents_of_which_there_are_few_do_not_keep_a_window_empty_that_should_be_filled() -> None:
    history = small_talk(60)
    filled = select(history, 500, stable=False, documents=["x" * 40])
    assert 497 - 2 * cost(history[1:2]) < filled.total_tokens <= 497
    assert filled.documents == ["x" * 40]
    assert cost(select(history, 500, stable=False, documents=["x" * 400]).messages) <= 0.75 * 500


@examples(100)
@given(st.integers(0, 10**6), st.floats(0.0, 100.0), st.integers(0, 10**6))
def test_everything_with_its_margin_fits_into_the_window(size: int, margin: float, beside: int) -> None:
    room = limits_left(ContextBudget(size + 7, output_reserve=7), margin, beside).available_tokens
    assert not room or (room + beside) * (1 + margin / 100) <= size


def test_what_travels_beside_the_messages_comes_off_the_window() -> None:
    assert limits_left(1_000, 0.0, 100) == ContextBudget(900)
    assert limits_left(ContextBudget(1_000, 700, output_reserve=100), 0.0, 300) == ContextBudget(
        700, 600, output_reserve=100
    )
    assert limits_left(1_000, 0.0, 1_001) == ContextBudget(0)


def test_other_slicers_select_within_the_target_as_well() -> None:
    history = long_turn(40)
    policy = Policy(RecencyScorer(), KnapsackSlice(1))
    selection = select(history, ContextBudget(cost(history) - 1, 500), policy=policy)
    assert 450 < selection.total_tokens <= 500
    assert errors(selection.messages) == []


# Documents that must stay


def test_pinned_documents_take_their_room_from_the_history() -> None:
    history = small_talk(40)
    note = ContextItem("Always answer in verse.", 400, kind="Memory", pinned=True)
    selection = select(history, cost(history), documents=[note, "x" * 5_000])
    assert selection.documents == [note]
    assert cost(selection.messages) <= cost(history) - 400
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


def test_the_share_of_documents_is_a_part_of_what_must_stay_leaves() -> None:
    """With a large system prompt, less is kept free, and the history is not cut before it has to be."""
    history = [system("x" * 800), *small_talk(60)[1:]]
    for end in range(2, 30, 2):
        tokens = cost(history[:end])
        must = cost([history[0], history[end - 1]])
        selection = select(history[:end], 1_000, documents=[])
        assert bool(selection.dropped) == (tokens > 997 - int(0.3 * (997 - must)))


def test_the_last_exchange_makes_room_for_them_once_its_turn_is_over() -> None:
    history = [*small_talk(10), *exchange("c1", "x" * 100), answer(), question("next")]
    note = ContextItem("note", 100, pinned=True)
    budget = window([history[0], history[-1]]) + cost(history[-4:-2]) + 99
    assert len(history) - 3 not in select(history, budget, documents=[note], too_large="drop").kept
    assert len(history) - 3 in select(history, budget).kept


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tools": [{"type": "function", "function": {"name": "f", "description": "d" * 2_000}}]}, "for tools"),
        ({"system": "s" * 2_000}, "2004 for the system prompt"),
        ({"documents": [ContextItem("x" * 2_000, 2_000, pinned=True)]}, "2000 for pinned documents"),
        ({"summarize": Summarize(lambda *_: None, tokens=700)}, "697 for a summary"),
    ],
)
def test_the_error_says_what_else_the_budget_has_to_hold(options: dict[str, Any], said: str) -> None:
    """The message that does not fit may be small."""
    with pytest.raises(UnitTooLargeError) as caught:
        select(small_talk(4), 700, **options)
    [note] = [note for note in caught.value.__notes__ if note.startswith("The budget of 700 tokens also has to hold ")]
    assert said in note


def test_a_reserve_is_part_of_that() -> None:
    with pytest.raises(UnitTooLargeError) as caught:
        select(small_talk(4), ContextBudget(700, output_reserve=690, reserved_slots={"Memory": 5}))
    assert caught.value.__notes__[-1].endswith("690 of output reserve, 5 of reserved slots.")
