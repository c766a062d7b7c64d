"""The replay of cuts: stable without state, `previous=` as a cache, and what a cut costs."""

from __future__ import annotations

import json
import pickle
import weakref
from copy import deepcopy
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest

from pycupel import ContextItem, CountQuotaEntry, CountQuotaSlice, Policy, RecencyScorer, wire
from pycupel.diagnostics import BudgetExceeded, CountCapExceeded, Filtered
from pycupel.errors import DocumentError, InvalidArgumentError, UnitTooLargeError
from pycupel.messages import Dropped, MessageSelection, lint_messages, select_messages
from pycupel.messages.result import Cut
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
    select,
    small_talk,
    system,
    window,
)
from tests.messages.histories import WRITERS, Exchange

IGNORED = (
    "previous was ignored: it was made with different arguments, or this history does not start with the same messages"
)


def grow(history: list[Message], budget: Any, start: int, **options: Any) -> list[MessageSelection]:
    """One selection for every question of the history, each with the one before it."""
    selections: list[MessageSelection] = []
    for end in range(start, len(history) + 1, 2):
        previous = selections[-1] if selections else None
        selections.append(select(history[:end], budget, previous=previous, **options))
    return selections


# Without state


@pytest.mark.unmeasured
def test_a_cut_is_kept_until_the_next_one() -> None:
    history = small_talk(100)
    before, *later = (select(history[:end], 1_000) for end in range(2, len(history) + 1, 2))
    cuts = 0
    for selection in later:
        end = selection.history_length
        if selection.cut is None:
            assert selection.kept == (*before.kept, end - 2, end - 1)
        else:
            cuts += 1
            assert before.total_tokens + cost(history[end - 2 : end]) > 1_000
            assert selection.total_tokens <= selection.budget.target_tokens
        before = selection
    assert 3 <= cuts <= 10


@pytest.mark.unmeasured
def test_what_is_gone_stays_gone() -> None:
    history = small_talk(100)
    gone: set[int] = set()
    for end in range(2, len(history) + 1, 2):
        now = set(dropped(select(history[:end], 700)))
        assert gone <= now
        gone = now
    assert len(gone) > 100


@pytest.mark.unmeasured
def test_a_history_is_looked_at_whenever_the_model_was_asked() -> None:
    """Not in between: a cut between two results, or two user messages, would be one that nobody has seen."""
    history = [system(), question("x" * 100)]
    for n in range(30):
        history += [calls(f"a{n}", f"b{n}"), result(f"a{n}", "x" * 30), result(f"b{n}", "x" * 30)]
    for end in range(5, len(history) + 1):
        asked = (end - 2) // 3 * 3 + 2
        before, now = select(history[:asked], 700), select(history[:end], 700)
        assert end == asked or now.cut is not None or now.dropped == before.dropped


def test_an_earlier_point_where_what_must_stay_does_not_fit_is_skipped() -> None:
    history = small_talk(20)
    large = [question("x" * 2_000), answer("Too long."), question("Shorter, then.")]
    with pytest.raises(UnitTooLargeError):
        select([*history, answer(), large[0]], 500)
    selection = select([*history, answer(), *large], 500)
    assert selection.kept[-1] == len(history) + 3
    assert dropped(selection)[-2:] == [len(history) + 1, len(history) + 2]
    assert len(selection.kept) > 10


def test_pins_count_from_where_they_are() -> None:
    history = small_talk(60)
    first = select(history[:100], 1_000)
    later = select(history[:102], 1_000, pin=[100])
    assert later.cut is None
    assert later.kept == (*first.kept, 100, 101)
    assert 5 in select(history, 1_000, pin=[5]).kept
    assert set(dropped(select(history[:80], 1_000))) >= {5}


def test_reasons_are_those_of_the_cut_that_dropped_something() -> None:
    history = [message for n in range(60) for message in (question("x" * n), answer("y" * (n % 7)))]
    first, second = ({each.index: each.reason for each in select(history[:end], 1_000).dropped} for end in (70, 120))
    assert {type(reason) for reason in second.values()} == {BudgetExceeded}
    assert first.items() < second.items()
    capped = Policy(RecencyScorer(), CountQuotaSlice([CountQuotaEntry("Message", cap_count=5)]))
    assert CountCapExceeded in {type(each.reason) for each in select(history, 1_000, policy=capped).dropped}


@pytest.mark.unmeasured
def test_documents_that_come_and_go_do_not_change_the_history() -> None:
    history = small_talk(60)
    for end in range(20, len(history) + 1, 6):
        empty = select(history[:end], 600, documents=[])
        for documents in (["x"], ["x" * 100, "y" * 5_000], [{"text": "m", "kind": "Memory"}]):
            assert select(history[:end], 600, documents=documents).kept == empty.kept
        small = ContextItem("note", 20, pinned=True)
        assert select(history[:end], 600, documents=[small]).kept == empty.kept
    assert len(select(history, 600).kept) > len(select(history, 600, documents=[]).kept)


def test_thoughts_stay_as_long_as_what_follows_needs_them() -> None:
    """Anthropic: what is said without thoughts needs the last thoughts of its turn."""
    writer = WRITERS["anthropic"]
    history = [*writer.user("Go.", picture=False), *writer.assistant("Hm, " * 100, thinks=True)]
    for n in range(30):
        history += writer.exchange(Exchange(((f"call{n:05d}", "read"),), (0,), "x" * 80))
        selection = select(history, 1_000)
        assert selection.kept[:2] == (0, 1)
        assert errors(selection.messages, "anthropic") == []
    history += writer.exchange(Exchange((("callzzzz1", "read"),), (0,), "x" * 600, thinks=True))
    assert select(history, 1_000).kept == (0, len(history) - 2, len(history) - 1)


@pytest.mark.unmeasured
def test_what_has_begun_and_is_not_finished_stays() -> None:
    """Responses: a program may make calls of its own before its result comes."""
    history: list[Message] = [system(), question("Go.")]
    for n in range(12):
        history += [
            {"type": "function_call", "call_id": f"p{n}", "name": "program", "arguments": "x" * 40},
            *({"type": "function_call", "call_id": f"a{n}{i}", "name": "read", "arguments": "{}"} for i in range(2)),
            {"type": "function_call_output", "call_id": f"a{n}0", "output": "x" * 40},
            question("And?"),
            answer("Wait."),
            {"type": "function_call_output", "call_id": f"a{n}1", "output": "x" * 40},
            {"type": "function_call_output", "call_id": f"p{n}", "output": "x" * 40},
            answer("So."),
        ]
    previous: MessageSelection | None = None
    for end in range(2, len(history) + 1):
        selection = select(history[:end], 900, provider="responses", previous=previous)
        assert_same(selection, select(history[:end], 900, provider="responses"))
        assert errors(selection.messages, "responses") == []
        previous = selection
    assert previous is not None
    assert len(dropped(previous)) > 40


# The cache


def assert_same(one: MessageSelection, other: MessageSelection) -> None:
    assert [one.messages, one.kept, one.dropped, one.cut, one.points] == [
        other.messages,
        other.kept,
        other.dropped,
        other.cut,
        other.points,
    ]


@pytest.mark.unmeasured
@pytest.mark.parametrize("unit", ["auto", "turn"])
def test_the_previous_selection_changes_nothing(unit: str) -> None:
    history = small_talk(60)
    for selection in grow(history, 600, 2, unit=unit):
        assert selection.notes == ()
        assert_same(selection, select(history[: selection.history_length], 600, unit=unit))
    last = select(history, 600)
    assert_same(select(history, 600, previous=last), last)


def test_a_stored_selection_without_points_changes_nothing() -> None:
    history = small_talk(60)
    stored = {**wire.to_dict(select(history[:-2], 600)), "points": []}
    selection = select(history, 600, previous=wire.from_dict(MessageSelection, stored))
    assert_same(selection, select(history, 600))
    assert selection.notes == ()


def test_cuts_before_the_previous_selection_are_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cuts before it are not made again."""
    history = small_talk(100)
    first = select(history[:-2], 600)
    made: list[int] = []

    class Counting(RecencyScorer):
        def score_all(self, items: Any, /) -> list[float]:
            made.append(len(items))
            return super().score_all(items)

    policy = Policy(Counting())
    first = select(history[:-2], 600, policy=policy)
    assert len(made) > 5
    made.clear()
    second = select(history, 600, policy=policy, previous=first)
    assert len(made) <= 1
    assert second.notes == ()


@pytest.mark.parametrize("change", ["other", "shorter", "edited", "budget", "pin", "documents", "policy", "counter"])
def test_a_previous_selection_with_something_different_is_ignored_with_a_note(change: str) -> None:
    history = small_talk(60)
    first = select(history, 1_000)
    other = {
        "other": small_talk(50),
        "shorter": history[:-1],
        "edited": [history[0], question("Something else."), *history[2:], answer()],
    }.get(change, history)
    options: dict[str, Any] = {"pin": {"pin": [5]}, "documents": {"documents": []}, "policy": {"policy": "rag"}}
    extra = options.get(change, {})
    budget = 1_100 if change == "budget" else 1_000
    count = (lambda text: len(text) + 1) if change == "counter" else len
    second = select_messages(other, budget, counter=count, previous=first, **extra)
    alone = select_messages(other, budget, counter=count, **extra)
    assert IGNORED in second.notes
    assert IGNORED not in alone.notes
    assert second.stable_prefix_tokens == 0
    assert_same(second, alone)


class Custom:
    """A scorer that is recognised by its address."""

    def score(self, item: ContextItem, all_items: Any, /) -> float:
        return len(item.content) / 1_000


def test_no_other_scorer_gets_the_address_of_the_previous_one() -> None:
    history = small_talk(60)
    scorer = Custom()
    is_alive = weakref.ref(scorer)
    first = select(history, 1_000, policy=Policy(scorer))
    del scorer
    same = is_alive()
    assert same is not None
    assert select(history, 1_000, policy=Policy(same), previous=first).notes == ()


def test_an_address_does_not_identify_a_scorer_of_a_stored_selection() -> None:
    history = small_talk(60)
    policy = Policy(Custom())
    first = select(history, 1_000, policy=policy)
    assert select(history, 1_000, policy=policy, previous=pickle.loads(pickle.dumps(first))).notes == (IGNORED,)
    first = select(history, 1_000)
    assert select(history, 1_000, previous=pickle.loads(pickle.dumps(first))).notes == ()


class Named(Custom):
    """A scorer whose repr has no address, and which equals all others of its class."""

    def __repr__(self) -> str:
        return "Named()"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named)

    __hash__ = None  # type: ignore[assignment]


def test_policies_are_recognised_by_equality_and_from_storage_by_their_document() -> None:
    history = small_talk(60)
    shorten = {"shorten": "results"}
    first = select(history, 1_000, policy=Policy(RecencyScorer()), **shorten)
    assert first.fingerprint
    for previous in (first, wire.loads(MessageSelection, wire.dumps(first)), deepcopy(first)):
        assert select(history, 1_000, policy=Policy(RecencyScorer()), previous=previous, **shorten).notes == ()
        other = select(history, 1_000, policy=Policy(RecencyScorer(undated="position")), previous=previous, **shorten)
        assert other.notes == (IGNORED,)
    first = select(history, 1_000, policy=Policy(Named()))
    assert select(history, 1_000, policy=Policy(Named()), previous=first).notes == ()
    # A strategy that cannot be written is never recognised from storage.
    stored = wire.loads(MessageSelection, wire.dumps(first))
    assert stored.fingerprint == ""
    assert select(history, 1_000, policy=Policy(Named()), previous=stored).notes == (IGNORED,)


def test_the_example_of_the_module() -> None:
    """A cut keeps the newest answer with its question, and drops what is older."""
    sizes = [10, 20, 40, 20, 30, 20]
    roles = ["system", "user", "assistant", "user", "assistant", "user"]
    # Four tokens for each message, and three for the reply.
    history = [{"role": role, "content": "x" * (size - 4)} for role, size in zip(roles, sizes, strict=True)]
    assert select(history[:4], 123).kept == (0, 1, 2, 3)
    selection = select(history, 123)
    assert (selection.kept, selection.budget.target_tokens) == ((0, 3, 4, 5), 88)
    assert select([*history, answer("x" * 16), question("x" * 16)], 123).kept[:2] == (0, 3)


def test_a_message_that_was_edited_in_place_is_noticed() -> None:
    history = small_talk(60)
    first = select(history, 1_000)
    history[1]["content"] = "Something else."
    second = select(history, 1_000, previous=first)
    assert second.notes == (IGNORED,)
    assert_same(second, select(history, 1_000))


def test_a_copy_of_the_history_is_the_same_history() -> None:
    history = small_talk(60)
    first = select(history[:-2], 1_000)
    assert select(deepcopy(history), 1_000, previous=first).notes == ()
    assert select(json.loads(json.dumps(history)), 1_000, previous=first).notes == ()


def test_marks_for_the_cache_are_not_compared() -> None:
    def marked(history: list[Message], index: int) -> list[Message]:
        block = {"type": "text", "text": history[index]["content"], "cache_control": {"type": "ephemeral"}}
        return [*history[:index], {**history[index], "content": [block]}, *history[index + 1 :]]

    history: list[Message] = [
        {"role": role, "content": [{"type": "text", "text": f"{n} {role}"}]}
        for n in range(40)
        for role in ("user", "assistant")
    ]
    history.append(question())
    plain = [{**message, "content": message["content"][0]["text"]} for message in history[:-1]] + [history[-1]]
    first = select(marked(plain, 3), 600, provider="anthropic")
    assert select(history, 600, provider="anthropic", previous=first).notes == (IGNORED,)
    blocks = [*history[:3], *marked(plain, 3)[3:4], *history[4:]]
    assert select(history, 600, provider="anthropic", previous=select(blocks, 600, provider="anthropic")).notes == ()


def test_objects_are_compared_by_what_they_hold() -> None:
    def history(size: int, last: str = "answer") -> list[Any]:
        said = [SimpleNamespace(**message) for message in small_talk(size)]
        return [*said, SimpleNamespace(role="assistant", content=[SimpleNamespace(type="text", text=last)])]

    first = select(history(30), 400)
    assert select(history(30), 400, previous=first).notes == ()
    assert select(history(30, "other"), 400, previous=first).notes == (IGNORED,)
    dated = [{**message, "at": date(2026, 1, 5)} for message in small_talk(30)]
    assert select(deepcopy(dated), 400, previous=select(dated, 400)).notes == ()


def test_what_belongs_together_may_turn_out_differently() -> None:
    """A call that is open at the end is broken once something else is said."""
    history = long_turn(30)
    first = select(history, 600)
    later = [*history, question("Stop."), answer("Stopped."), question("Go on.")]
    second = select(later, 600, previous=first)
    problem = "messages[62]: the tool call 'pending' is not followed by its result"
    assert second.notes == (f"1 message was left out because openai would reject it; {problem}",)
    assert_same(second, select(later, 600))
    assert second.dropped[-1].reason == Filtered(problem)
    spoken = [*history, answer("Never mind.")]
    assert_same(select(spoken, 600, previous=first), select(spoken, 600))


def test_an_open_call_may_be_given_up_at_the_last_point_before_the_end() -> None:
    """Responses: a call that waits while others are made and answered, and is then given up."""
    made = [{"type": "function_call", "call_id": each, "name": "read", "arguments": "{}"} for each in "pab"]
    done = [{"type": "function_call_output", "call_id": each, "output": "x"} for each in "ab"]
    history = [*small_talk(20), made[0], made[1], done[0], made[2], done[1]]
    first = select(history, 300, provider="responses")
    later = [*history, question("Stop.")]
    second = select(later, 300, provider="responses", previous=first)
    problem = "messages[40]: the tool call 'p' is not followed by its result"
    assert second.notes == (f"3 messages were left out because responses would reject them; {problem}",)
    assert_same(second, select(later, 300, provider="responses"))


def test_the_stable_prefix_is_what_both_selections_start_with() -> None:
    history = small_talk(10)
    first = select(history[:11], 5_000)
    assert first.stable_prefix_tokens == 0
    second = select(history, 5_000, previous=first)
    assert second.stable_prefix_tokens == cost(history[:11])
    assert select(history, 5_000, previous=second).stable_prefix_tokens == second.total_tokens


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


# What goes with what


def test_a_question_goes_when_all_its_answers_are_gone() -> None:
    history = [system()]
    for n in range(20):
        history += [question(f"question {n}"), *exchange(f"c{n}a", "x" * 100), *exchange(f"c{n}b", "x" * 100)]
    for end in range(11, len(history) + 1, 5):
        kept = set(select(history[:end], 1_200).kept)
        questions = [i for i in range(1, end, 5) if i in kept]
        assert all({i + 1, i + 3} & kept for i in questions)
        assert len(questions) < 8


def test_results_followed_by_text_are_anchored_to_the_task() -> None:
    """100 steps of a coding agent with a reminder: the newest stay, and the oldest go."""
    writer = WRITERS["anthropic"]
    history = writer.user("Tidy up the repository.", picture=False)
    for n in range(100):
        history += writer.exchange(Exchange(((f"call{n:05d}", "read"),), (0,), remark="Remember the rules."))
    selection = select(history, 2_000)
    assert selection.kept[0] == 0
    assert list(selection.kept[1:]) == list(range(selection.kept[1], len(history)))
    assert len(selection.kept) > 20
    pending = [*history, writer.exchange(Exchange((("pending01", "read"),), ()))[0]]
    assert select(pending, 600).kept[-3:] == (199, 200, 201)


def test_later_system_messages_age_and_a_note_says_so() -> None:
    history = [system("Rules.")]
    for n in range(60):
        history += [question(f"question {n}"), system(f"reminder {n}"), answer(f"answer {n}")]
    selection = select([*history, question("last")], 900)
    kept = [i for i in selection.kept if history[i : i + 1] and history[i]["role"] == "system"]
    assert kept[0] == 0
    assert kept[-1] == len(history) - 2
    assert 2 < len(kept) <= 20
    [note] = selection.notes
    last = max(i for i in range(1, len(history)) if history[i]["role"] == "system" and i not in selection.kept)
    assert note == (
        f"{61 - len(kept)} later system messages were dropped, the last at messages[{last}]; "
        "only the newest is always kept, so pin any others you need"
    )
    [note] = select(
        [*history[:4], *(question("long " * 9) for _ in range(40)), system("new"), question("last")], 900
    ).notes
    assert note == (
        "1 later system message was dropped, at messages[2]; only the newest is always kept, so pin any others you need"
    )


# What a cut costs


def test_a_cut_says_what_it_removed_and_what_has_to_be_read_anew() -> None:
    history = small_talk(60)
    whole = select(history[:40], window(history[:40]))
    assert whole.cut is None
    selection = select(history[:40], window(history[:40]) - 1)
    kept = cost(selection.messages)
    assert selection.cut == Cut(cost(history[:40]) - kept, kept - cost(history[:1]))
    once = select(history, 500, stable=False)
    assert once.cut is not None
    assert once.cut.removed == cost(history) - once.total_tokens


def test_a_cut_that_removes_nothing_is_none() -> None:
    """Only what must stay is there."""
    history = [system("x" * 80), question("y" * 80)]
    assert select(history, cost(history) + 10, documents=[]).cut is None


def test_when_a_cut_has_paid_for_itself() -> None:
    assert Cut(1_000, 2_000).pays_after() == 23
    assert Cut(1_000, 2_000).pays_after(write=1.0, read=0.5) == 2
    assert Cut(1_000, 0).pays_after() == 0
    assert Cut(1_000, 1_000).pays_after(write=0.0, read=0.1) == 0
    with pytest.raises(InvalidArgumentError, match="read must be above 0, not 0: if reading is free"):
        Cut(1_000, 2_000).pays_after(read=0)
    with pytest.raises(InvalidArgumentError, match="a cut that removed nothing never pays for itself"):
        Cut(0, 5).pays_after()
    for price in ("write", "read"):
        with pytest.raises(InvalidArgumentError, match=f"{price} must be finite, not nan"):
            Cut(1_000, 2_000).pays_after(**{price: float("nan")})


# Reasons


def test_nothing_is_left_for_what_is_older_than_the_cut() -> None:
    """Even if it is small: it goes so that the start of the prompt stays the same."""
    history = [question("a?"), answer("b" * 80), question("c?"), *exchange("1", "x" * 900), *small_talk(3)]
    selection = select(history, 180, shorten=None)
    reasons = {each.index: each.reason for each in selection.dropped}
    large, small = BudgetExceeded(cost(history[3:5]), 95), BudgetExceeded(cost(history[:1]), 0)
    assert reasons == {0: small, 1: BudgetExceeded(cost(history[1:2]), 0), 2: small, 3: large, 4: large}


def test_what_would_fit_alone_but_not_with_what_it_needs_has_room_left() -> None:
    """A question is dropped with its answer."""
    history = [question("a?"), answer("b" * 80), question("c?"), *exchange("1", "x" * 900), *small_talk(3)]
    reasons = [each.reason for each in select(history, 300, shorten=None).dropped]
    large = BudgetExceeded(cost(history[3:5]), 83)
    assert reasons == [BudgetExceeded(cost(history[2:3]), 83), large, large]


# As JSON


def test_a_selection_survives_json() -> None:
    history = small_talk(60)
    documents = ["x" * 20, "y" * 900]
    for explain in (False, True):
        selection = select(history[:-2], 600, documents=documents, explain=explain)
        read = wire.loads(type(selection), wire.dumps(selection))
        assert read == selection
        later = select(history, 600, documents=[], previous=read)
        assert later.notes == ()
        assert later.stable_prefix_tokens > 0
    whole = select(history[:5], 600)
    assert wire.from_dict(MessageSelection, wire.to_dict(whole)) == whole
    assert wire.to_dict(whole).keys().isdisjoint({"documents", "report", "source", "cut"})
    [first, *_] = select(history, 600).dropped
    assert wire.loads(Dropped, wire.dumps(first)) == first
    assert wire.loads(Cut, wire.dumps(Cut(1, 2))) == Cut(1, 2)


class Thinking:
    """Like a block of Anthropic's library."""

    def __init__(self, thinking: str) -> None:
        self.type = "thinking"
        self.thinking = thinking
        self.signature = "x"

    def model_dump(self, *, exclude_none: bool) -> Message:
        assert exclude_none
        return vars(self)


def test_objects_of_a_library_are_stored_as_dicts() -> None:
    def turn(n: int) -> list[Any]:
        answer = [Thinking("Hm."), SimpleNamespace(type="text", text=f"{n}.")]
        return [{"role": "user", "content": f"{n}?"}, {"role": "assistant", "content": answer}]

    history = [message for n in range(15) for message in turn(n)][:-1]
    first = select(history[:-4], 150, provider="anthropic", documents=[SimpleNamespace(text="A hit.")])
    read = wire.loads(MessageSelection, wire.dumps(first))
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "x"}
    assert read.messages[-2] == {"role": "assistant", "content": [thinking, {"type": "text", "text": "11."}]}
    assert read.documents == [{"text": "A hit."}]
    assert [read.kept, read.total_tokens] == [first.kept, first.total_tokens]
    assert select(read.messages, 150, provider="anthropic", documents=[]).messages == read.messages
    for previous in (first, read):
        later = select(history, 150, provider="anthropic", documents=[], previous=previous)
        assert later.notes == ()
        assert later.stable_prefix_tokens > 0


def test_bytes_are_stored_as_base64() -> None:
    """As in Gemini's JSON, where its objects have bytes."""
    part = SimpleNamespace(text=None, inline_data=SimpleNamespace(mime_type="image/png", data=b"\x89PNG"))
    selection = select([SimpleNamespace(role="user", parts=[part])], 2_000)
    [message] = wire.loads(MessageSelection, wire.dumps(selection)).messages
    [stored] = message["parts"]
    assert stored == {"text": None, "inline_data": {"mime_type": "image/png", "data": "iVBORw=="}}


class Broken:
    def model_dump(self, **_options: Any) -> Message:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (date(2026, 1, 5), r"messages\[0\].at: must be a string, number, bool, None, list or dict"),
        ((1, 2), r"messages\[0\].at: must be a string, number, bool, None, list or dict"),
        (Broken(), r"messages\[0\]: cannot be written as JSON"),
    ],
)
def test_other_values_cannot_be_stored(value: Any, text: str) -> None:
    selection = select([{"role": "user", "content": "Hi.", "at": value}], 100)
    with pytest.raises(DocumentError, match=text):
        wire.dumps(selection)


def test_other_classes_of_the_package_have_no_wire_format() -> None:
    with pytest.raises(TypeError, match="value must be one of ContextItem"):
        wire.dumps(lint_messages([result("nobody")])[0])
