"""`select_messages`, sentence by sentence: what is kept together, what stays in any case, what bad input gets."""

from __future__ import annotations

import asyncio
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, get_type_hints

import pytest

from pycupel import (
    CompositeScorer,
    ContextBudget,
    ContextItem,
    CountQuotaEntry,
    CountQuotaSlice,
    Policy,
    PriorityScorer,
    RecencyScorer,
    ScarcityBehavior,
    UShapedPlacer,
    wire,
)
from pycupel.diagnostics import BudgetExceeded, Filtered, SelectionReport
from pycupel.errors import (
    CountRequirementError,
    InvalidArgumentError,
    InvalidBudgetError,
    MessageShapeError,
    ProviderAmbiguousError,
    UnitTooLargeError,
)
from pycupel.messages import Dropped, ExplainedSelection, MessageSelection, aselect_messages, select_messages
from pycupel.messages.options import ProviderName
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
from tests.messages.histories import PROVIDERS, WRITERS, Exchange

# What the result holds


def test_the_messages_are_the_callers_own_objects_in_source_order() -> None:
    history = small_talk(20)
    selection = select(history, cost(history) // 2)
    assert 0 < len(selection.messages) < len(history)
    assert [id(message) for message in selection.messages] == [id(history[i]) for i in selection.kept]
    assert list(selection.kept) == sorted(selection.kept)
    assert selection.total_tokens == cost(selection.messages)


def test_every_message_is_kept_or_dropped_with_a_reason() -> None:
    history = small_talk(20)
    selection = select(history, cost(history) // 2)
    assert sorted([*selection.kept, *dropped(selection)]) == list(range(len(history)))
    assert all(isinstance(each, Dropped) for each in selection.dropped)
    assert {type(each.reason) for each in selection.dropped} == {BudgetExceeded}


def test_a_report_comes_only_when_asked_for_and_changes_nothing() -> None:
    history = small_talk(20)
    plain, explained = (select(history, cost(history) // 2, explain=explain) for explain in (False, True))
    assert plain.report is None
    assert isinstance(explained.report, SelectionReport)
    assert (plain.kept, plain.dropped, plain.total_tokens) == (
        explained.kept,
        explained.dropped,
        explained.total_tokens,
    )
    assert explained.report.included_tokens == explained.total_tokens
    assert [item.metadata["pycupel.unit"] for item in explained.report.items] == [[i] for i in explained.kept]
    assert explained.report.total_candidates == len(history)


def test_the_report_can_be_written_and_read() -> None:
    report = select([result("nobody"), *long_turn(30)], 600, explain=True).report
    assert report is not None
    assert wire.loads(SelectionReport, wire.dumps(report)).total_candidates == report.total_candidates
    assert "the tool result 'nobody' matches no pending" in wire.dumps(report)


def test_the_report_of_what_fits_is_complete_as_well() -> None:
    report = select(small_talk(3), 10_000, policy="document-qa", explain=True).report
    assert report is not None
    assert len(report.included) == 6
    assert report.excluded == ()


def test_a_report_of_what_fits_asks_no_slicer() -> None:
    """What fits is not cut, so nothing that a slicer demands is missing."""
    needy = CountQuotaSlice([CountQuotaEntry("Memory", cap_count=9, require_count=9)], scarcity=ScarcityBehavior.THROW)
    policy = Policy(RecencyScorer(), needy)
    assert select(small_talk(3), 10_000, policy=policy, explain=True).messages == small_talk(3)
    with pytest.raises(CountRequirementError):
        select(small_talk(30), 300, policy=policy)


def test_the_result_says_by_whose_rules_and_with_which_counter() -> None:
    selection = select([question(), *WRITERS["anthropic"].exchange(Exchange((("c1", "read"),), ()))], 1_000)
    assert selection.provider == "anthropic"
    assert selection.counter == "len"
    assert selection.budget == ContextBudget(1_000 - 3)


@pytest.mark.parametrize(
    ("provider", "history", "problem"),
    [
        ("openai", [result("c1")], "messages[0]: the tool result 'c1' matches no pending tool call"),
        ("anthropic", [answer(), answer()], "messages[0]: an assistant message precedes the first user message"),
    ],
)
def test_a_history_of_which_nothing_can_be_sent_is_an_error(
    provider: ProviderName, history: list[Message], problem: str
) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        select(history, 1_000, provider=provider)
    assert str(caught.value) == f"{provider} would reject every message. First problem: {problem}"
    assert caught.value.argument == "messages"
    assert select([], 1_000, provider=provider).messages == []
    assert select([*history, question()], 1_000, provider=provider).messages == [question()]


def test_equal_histories_give_equal_results() -> None:
    history = long_turn(30)
    assert select(history, 400) == select(deepcopy(history), 400)


# Providers


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_provider_is_understood_and_told_apart_by_shape(provider: ProviderName) -> None:
    writer = WRITERS[provider]
    history = writer.user("Go.", picture=False)
    for n in range(12):
        history += writer.exchange(Exchange(((f"call{n:05d}", "read"), (f"more{n:05d}", "run")), (1, 0)))
    looks_like: ProviderName = "openai" if provider == "mistral" else provider
    selection = select(history, cost(history, looks_like) // 2)
    assert selection.provider == looks_like
    assert len(selection.dropped) > 0
    assert errors(selection.messages, provider) == []
    assert len(select(history, cost(history, provider) // 2, provider=provider).dropped) > 0


@pytest.mark.parametrize("provider", PROVIDERS)
def test_objects_are_read_like_dicts(provider: str) -> None:
    writer = WRITERS[provider]
    history = [
        *writer.user("Go.", picture=True),
        *writer.exchange(Exchange((("call00001", "read"),), (0,), thinks=True)),
    ]
    objects = [_as_object(message) for message in history]
    selection = select(objects, 100_000, provider=provider)
    assert selection.messages == objects
    assert selection.total_tokens == select(history, 100_000, provider=provider).total_tokens


def _as_object(value: Any) -> Any:
    """What SDKs give: attributes all the way down, except where they have plain dicts themselves."""
    if isinstance(value, dict):
        names = {key: each if key in {"args", "input", "response"} else _as_object(each) for key, each in value.items()}
        return SimpleNamespace(**{"text": None, **names} if value.keys() <= PARTS else names)
    return [_as_object(each) for each in value] if isinstance(value, list) else value


PARTS = {"text", "thought", "function_call", "function_response", "inline_data"}


def test_several_providers_in_one_history_ask_for_the_provider() -> None:
    mixed = [*exchange("c1"), {"role": "model", "parts": [{"text": "Hi."}]}]
    with pytest.raises(ProviderAmbiguousError, match="provider='openai' or provider='gemini'"):
        select(mixed, 100)


# What belongs together


@pytest.mark.unmeasured
@pytest.mark.parametrize("order", [("c1", "c2", "c3"), ("c3", "c1", "c2")])
def test_a_call_and_all_its_results_are_one_exchange(order: tuple[str, ...]) -> None:
    """ECOSYSTEM A.5: parallel calls, results in any order."""
    together = [calls("c1", "c2", "c3"), *(result(each, "x" * 50) for each in order)]
    history = [question("first"), *together, answer(), question("second"), *exchange("c4"), answer(), question()]
    sizes = set()
    for budget in range(window(history[-1:]), window(history) + 1):
        selection = select(history, budget)
        sizes.add(len({1, 2, 3, 4} & set(selection.kept)))
        assert errors(selection.messages) == []
    assert sizes == {0, 4}


def test_reasoning_stays_with_what_it_led_to() -> None:
    writer = WRITERS["responses"]
    history = writer.user("Go.", picture=False)
    for n in range(8):
        history += writer.exchange(Exchange(((f"call{n:05d}", "read"),), (0,), thinks=True))
    for budget in range(window(history[-3:] + history[:1], "responses"), cost(history, "responses"), 7):
        kept = set(select(history, budget).kept)
        assert all(len(kept & {i, i + 1, i + 2}) in {0, 3} for i in range(1, len(history), 3))


def test_an_exchange_is_never_kept_without_the_user_message_that_opened_its_turn() -> None:
    history = [system()]
    for n in range(10):
        history += [question(f"question {n}"), *exchange(f"call{n}a"), *exchange(f"call{n}b"), answer(f"answer {n}")]
    for budget in range(300, cost(history), 40):
        kept = set(select(history, budget).kept)
        assert all(i - (i - 1) % 6 in kept for i in kept if i > 0)


def test_in_a_long_turn_old_exchanges_leave_one_by_one() -> None:
    """A long-running agent: never the whole turn, and never the pending exchange."""
    history = long_turn(200)
    previous = len(history) + 1
    for budget in range(cost(history), 300, -350):
        selection = select(history, ContextBudget(budget, budget))
        assert selection.messages[:2] == history[:2]
        assert selection.messages[-1] is history[-1]
        assert selection.total_tokens > budget - 2 * cost(history[2:4])
        assert dropped(selection) == list(range(2, 2 + len(selection.dropped)))
        assert len(selection.messages) < previous
        previous = len(selection.messages)


def test_with_the_unit_turn_whole_turns_are_kept_or_dropped() -> None:
    history = [system()]
    for n in range(10):
        history += [question(f"question {n}"), *exchange(f"call{n}a"), *exchange(f"call{n}b"), answer(f"answer {n}")]
    for budget in range(300, cost(history), 40):
        kept = set(select(history, budget, unit="turn").kept)
        assert 0 in kept
        assert all(len(kept & set(range(i, i + 6))) in {0, 6} for i in range(1, len(history), 6))


# What stays in any case


def test_the_system_prompts_and_the_last_user_message_stay() -> None:
    history = [system("one"), system("two"), *small_talk(20)[1:], answer("the end")]
    selection = select(history, cost(history) // 4)
    assert {0, 1, len(history) - 2} <= set(selection.kept)


def test_the_exchange_that_is_last_stays_even_if_only_the_window_has_room_for_it() -> None:
    """Its turn is over, so it is not needed, but it is what was done last."""
    history = [*small_talk(30), answer(), question(), *exchange("c1", "x" * 400), answer(), question("next")]
    last = [len(history) - 4, len(history) - 3]
    selection = select(history, ContextBudget(700, 100))
    assert set(last) <= set(selection.kept)
    assert set(last) <= set(select(history, 700).kept)


def test_a_report_shows_everything_that_stays_as_pinned() -> None:
    """Also the newest exchange before the last user message and the answer to it, if there is room."""
    first = [question("a?"), *exchange("1", "x" * 50), answer("b.")]
    history = [system(), *first, question("c?"), answer("d."), question("e?")]

    def pinned(budget: int) -> list[list[int]]:
        report = select(history, budget, explain=True).report
        assert report is not None
        return [each.item.metadata["pycupel.unit"] for each in report.included if each.reason == "Pinned"]

    assert pinned(window([system(), *first, question("e?")])) == [[0], [1], [2, 3], [4], [7]]
    assert pinned(window([system(), *first, question("e?")]) - 1) == [[0], [7]]


def test_a_finished_exchange_that_does_not_fit_is_no_error() -> None:
    history = [*small_talk(30), answer(), question(), *exchange("c1", "x" * 900), answer(), question("next")]
    selection = select(history, 700, too_large="drop")
    assert {len(history) - 4, len(history) - 3} <= set(dropped(selection))
    assert len(selection.messages) > 10


def test_an_exchange_that_follows_the_last_user_message_must_fit() -> None:
    history = [*small_talk(30), *exchange("c1", "x" * 900)]
    with pytest.raises(UnitTooLargeError) as caught:
        select(history, 700, too_large="drop")
    assert caught.value.indices == (len(history) - 2, len(history) - 1)


def test_what_the_caller_pins_stays() -> None:
    history = small_talk(30)
    for pin in ([3, 4], (index for index in (3, 4)), lambda message: message in (history[3], history[4])):
        kept = select(history, cost(history) // 4, pin=pin).kept
        assert {3, 4} <= set(kept)
    assert 3 not in select(history, cost(history) // 4, pin=[]).kept


def test_a_pinned_result_brings_its_whole_exchange_and_its_question() -> None:
    history = [question("old"), *exchange("c1"), *small_talk(20)[1:]]
    assert {0, 1, 2} <= set(select(history, cost(history) // 3, pin=[2]).kept)


def test_repeated_messages_are_not_collapsed() -> None:
    history = [message for _ in range(5) for message in (question("continue"), answer("ok"))]
    assert len(select(history, 10_000, explain=True).messages) == 10
    selection = select(history, cost(history) - 1, explain=True)
    assert {type(each.reason) for each in selection.dropped} == {BudgetExceeded}
    assert len(selection.messages) > 4


def test_the_order_is_never_changed_whatever_the_policy() -> None:
    history = small_talk(30)
    policy = Policy(CompositeScorer([(RecencyScorer(), 1)]), placer=UShapedPlacer())
    selection = select(history, cost(history) // 2, policy=policy)
    assert list(selection.kept) == sorted(selection.kept)
    assert len(selection.messages) > 10


@pytest.mark.parametrize("policy", ["rag", Policy(PriorityScorer())])
def test_at_equal_scores_the_newest_stay(policy: Any) -> None:
    history = small_talk(30)
    selection = select(history, cost(history) // 2, policy=policy)
    assert dropped(selection) == list(range(1, 1 + len(selection.dropped)))


def test_a_policy_may_prefer_what_is_old() -> None:
    class Oldest:
        def score(self, item: Any, all_items: Any, /) -> float:
            return -item.timestamp.timestamp()  # type: ignore[no-any-return]

    history = small_talk(30)
    selection = select(history, cost(history) // 2, policy=Policy(Oldest()))
    assert selection.messages[:10] == history[:10]
    assert selection.messages[-1] is history[-1]


# What cannot stay


def test_broken_units_are_reported_and_left_out() -> None:
    history = [question("old"), calls("c1"), question(), result("nobody"), answer(), question("new")]
    selection = select(history, 1_000)
    assert dropped(selection) == [1, 3]
    reasons = [each.reason for each in selection.dropped]
    assert reasons == [
        Filtered("messages[1]: the tool call 'c1' is not followed by its result"),
        Filtered("messages[3]: the tool result 'nobody' matches no pending tool call"),
    ]
    assert errors(selection.messages) == []
    problem = "messages[1]: the tool call 'c1' is not followed by its result"
    assert selection.notes == (f"2 messages were left out because openai would reject them; {problem}",)


def test_what_is_broken_is_left_out_even_if_it_is_pinned() -> None:
    selection = select([question(), result("nobody"), answer()], 1_000, pin=[1])
    assert dropped(selection) == [1]


def test_an_old_unit_that_is_larger_than_the_budget_is_dropped_with_a_reason() -> None:
    history = [question("old"), *exchange("c1", "x" * 900), *small_talk(6)[1:]]
    selection = select(history, 600, shorten=None)
    assert {1, 2} <= set(dropped(selection))
    reasons = {each.index: each.reason for each in selection.dropped}
    assert reasons[1] == reasons[2]
    assert isinstance(reasons[1], BudgetExceeded)


def test_a_unit_that_is_larger_than_the_budget_is_an_error_if_asked() -> None:
    history = [question("old"), *exchange("c1", "x" * 900), *small_talk(12)[1:]]
    with pytest.raises(UnitTooLargeError, match="messages 1, 2 belong together and need 9") as caught:
        select(history, 600, shorten=None, too_large="error")
    assert caught.value.indices == (1, 2)
    assert caught.value.tokens == cost(history[1:3])
    assert caught.value.__notes__ == ['To drop it instead, pass too_large="drop".']
    assert select(history, 1_400, shorten=None, too_large="error").messages
    assert select(history, 600, too_large="error").shortened


def test_what_is_broken_is_not_too_large() -> None:
    history = [result("nobody", "x" * 900), *small_talk(5)]
    assert dropped(select(history, 600, too_large="error")) == [0]


def test_what_must_stay_and_does_not_fit_is_an_error_that_names_the_largest() -> None:
    history = [system("x" * 100), *small_talk(5)[1:], calls("c1"), result("c1", "x" * 300)]
    with pytest.raises(UnitTooLargeError) as caught:
        select(history, 350, too_large="drop")
    error = caught.value
    assert error.indices == (len(history) - 2, len(history) - 1)
    assert error.tokens == cost(history[-2:])
    assert error.available == 350 - window([history[0], history[-3]])
    # The numbers add up: 314 + 121 are 435, and 347 - 121 are available for the largest.
    assert (error.tokens, error.available) == (314, 226)
    assert error.__notes__ == [
        (
            "They must stay, beside others that need 121: 435 tokens in all, but the budget leaves 347 for messages. "
            "Raise the budget, pin less, or shorten those messages."
        ),
        'To shorten tool results that do not fit, pass too_large="results".',
    ]
    with pytest.raises(UnitTooLargeError) as caught:
        select(history[:2], 50)
    assert len(caught.value.__notes__) == 1


TOOL = {"type": "function", "function": {"name": "f", "description": "x" * 240}}


@pytest.mark.parametrize(
    ("beside", "text"),
    [
        (
            {"system": "x" * 400},
            "the system prompt needs 404 tokens, which leaves none of the budget of 300 for messages",
        ),
        ({"tools": [TOOL]}, "the tools need 320 tokens, which leaves none of the budget of 300 for messages"),
        (
            {"system": "x" * 10, "tools": [TOOL]},
            "the system prompt and the tools need 334 tokens, which leaves none of the budget of 300 for messages",
        ),
    ],
)
def test_a_system_prompt_and_tools_that_leave_no_room_are_named_instead_of_a_message(
    beside: dict[str, Any], text: str
) -> None:
    with pytest.raises(UnitTooLargeError) as caught:
        select([question("Hi.")], 300, **beside)
    assert str(caught.value) == text
    assert str(pickle.loads(pickle.dumps(caught.value))) == text
    assert caught.value.indices == (0,)
    [remedy, rest] = caught.value.__notes__
    assert remedy == f"Raise the budget, or shorten {text.partition(' need')[0]}."
    assert rest.startswith("The budget of 300 tokens also has to hold ")


def test_a_system_prompt_that_leaves_some_room_is_not_named_first() -> None:
    with pytest.raises(UnitTooLargeError, match="message 0 needs 7 tokens, but only 3 are available for it") as caught:
        select([question("Hi.")], 300, system="x" * 290)
    assert caught.value.__notes__[-1] == "The budget of 300 tokens also has to hold 294 for the system prompt."


def test_where_results_are_shortened_already_a_hint_says_how_to_shorten_more() -> None:
    history = [question("x" * 300), calls("c1"), result("c1", "x" * 300)]
    with pytest.raises(UnitTooLargeError) as caught:
        select(history, 200)
    assert caught.value.__notes__[-1] == 'To shorten the last user message, too, pass too_large="shorten".'
    with pytest.raises(UnitTooLargeError) as caught:
        select(history, 100, too_large="shorten")
    assert not any("too_large" in note for note in caught.value.__notes__)


def test_no_budget_gives_an_empty_list() -> None:
    with pytest.raises(UnitTooLargeError, match="only 0 are available"):
        select(small_talk(3), 0)
    assert select([], 0).messages == []


def test_a_history_without_a_user_message_keeps_what_was_said_last() -> None:
    history = [system(), *(answer(f"{n:03d}") for n in range(30))]
    selection = select(history, cost(history) // 4)
    assert {0, 30} <= set(selection.kept)
    assert select([system()], 100).messages == [system()]
    assert select([answer()], 100).messages == [answer()]


# What bad input gets


def test_nothing_of_the_caller_is_changed() -> None:
    history = [*small_talk(20), *long_turn(20), result("nobody")]
    before = deepcopy(history)
    identities = [id(message) for message in history]
    for unit in ("auto", "turn"):
        select(history, 2_500, explain=True, unit=unit, pin=[1], previous=select(history[:50], 600), documents=["text"])
    assert history == before
    assert [id(message) for message in history] == identities


def test_an_unknown_shape_names_the_index_and_the_key() -> None:
    with pytest.raises(MessageShapeError, match=r"messages\[1\].role") as caught:
        select([question(), {"role": 7, "content": "Beep."}], 100)
    assert (caught.value.index, caught.value.key) == (1, "role")
    with pytest.raises(MessageShapeError, match=r"messages\[0\].role: the message has no role: "):
        select([{"text": "Hi."}], 100)


@pytest.mark.parametrize("messages", ["Hi.", b"Hi.", None, 7, question(), SimpleNamespace(role="user", content="Hi.")])
def test_messages_that_are_no_list(messages: Any) -> None:
    with pytest.raises(TypeError, match="messages must be a list of messages, not"):
        select(messages, 100)


def test_a_request_is_told_where_its_messages_are() -> None:
    with pytest.raises(TypeError, match="messages must be a list of messages, not") as caught:
        select_messages({"model": "gpt-4o", "messages": small_talk(3)}, 100)
    assert caught.value.__notes__ == ["Pass the list itself: request['messages']."]


def test_items_are_told_who_selects_them() -> None:
    with pytest.raises(MessageShapeError, match=r"messages\[0\].role: the message has no role: ") as caught:
        select([ContextItem("Hi.", 1)], 100)
    assert caught.value.__notes__ == ["For items, use pycupel.select."]


def test_a_generator_will_do() -> None:
    def generate() -> Iterator[Message]:
        yield from small_talk(3)

    assert select(generate(), 1_000).messages == small_talk(3)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (
            {"too_large": "ignore"},
            InvalidArgumentError,
            "too_large must be one of results, shorten, drop, error, not 'ignore'",
        ),
        ({"unit": "exchange"}, InvalidArgumentError, "unit must be one of auto, turn, not 'exchange'"),
        ({"provider": "acme"}, InvalidArgumentError, "provider must be one of auto, openai, responses, anthropic"),
        ({"provider": None}, TypeError, "provider must be a str"),
        ({"policy": "chit-chat"}, InvalidArgumentError, "unknown preset 'chit-chat'"),
        ({"policy": RecencyScorer()}, TypeError, "policy must be a Policy, a Pipeline or the name of a preset"),
        ({"previous": []}, TypeError, "previous must be a MessageSelection"),
        ({"shorten": "line"}, InvalidArgumentError, "shorten must be 'results', 'none' or a shortener, not 'line'"),
        ({"explain": 1}, TypeError, "explain must be a bool"),
        ({"pin": [99]}, InvalidArgumentError, "pin index 99 is out of range: the history has 6 messages"),
        ({"pin": [-1]}, InvalidArgumentError, "pin index -1 is out of range: the history has 6 messages"),
        ({"pin": [0.0]}, TypeError, r"^pin\[0\] must be an int"),
        ({"pin": 3}, TypeError, "pin must be a function or indices"),
        ({"pin": "user"}, TypeError, "pin must be a function or indices"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        select(small_talk(3), 1_000, **options)


def test_a_pin_beside_a_single_message() -> None:
    with pytest.raises(InvalidArgumentError, match=r"the history has 1 message$"):
        select(small_talk(1)[:1], 1_000, pin=[1])


@pytest.mark.parametrize(
    ("budget", "error", "text"),
    [
        (-1, InvalidBudgetError, "budget must be 0 or more, not -1"),
        (800.0, TypeError, "budget must be an int, a ContextBudget or a share such as '75%', not 800.0"),
        ("800", InvalidArgumentError, "budget must be a number of tokens, or a share such as '75%', not '800'"),
        ("-5%", InvalidArgumentError, "budget must be a number of tokens, or a share such as '75%', not '-5%'"),
        ("0%", InvalidArgumentError, "a budget in percent must be above 0% and at most 100%, not '0%'"),
        ("101%", InvalidArgumentError, "a budget in percent must be above 0% and at most 100%, not '101%'"),
        ("50%", InvalidArgumentError, "the budget '50%' is a share of what the model takes, but no model was given"),
        (None, TypeError, "budget must be an int"),
        (True, TypeError, "budget must be an int"),
    ],
)
def test_budgets_that_make_no_sense(budget: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        select(small_talk(3), budget)


def test_a_budget_in_quotes_is_told_to_be_an_int() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        select(small_talk(3), "8000")
    assert caught.value.__notes__ == ["Pass the number as an int: 8000."]


@pytest.mark.parametrize("share", [20, 10, 5, 3])
def test_an_exchange_is_not_kept_without_what_was_said_about_it(share: int) -> None:
    """The kind of tool output weighs more than that of messages, but results alone are of no use."""
    history = [system()]
    for n in range(60):
        history += [question(f"question {n}"), *exchange(f"c{n}", "result " * 20), answer(f"answer {n} " * 5)]
    selection = select(history, cost(history) // share)
    calls = [i for i in selection.kept if "tool_calls" in history[i]]
    assert calls
    assert all(i + 2 in selection.kept for i in calls)


# What is returned


def test_an_explained_selection_has_a_report() -> None:
    history = small_talk(20)
    plain, explained = select(history, 200), select(history, 200, explain=True)
    assert (type(plain), plain.report) == (MessageSelection, None)
    assert isinstance(explained, ExplainedSelection)
    assert len(explained.report.excluded) == len(explained.dropped) > 0
    assert explained == replace(explained)
    # Nothing is left out, but the report still is made.
    assert isinstance(select(history, 20_000, explain=True), ExplainedSelection)


@pytest.mark.parametrize("explain", [False, True])
def test_a_stored_selection_comes_back_with_the_report_that_it_has(explain: bool) -> None:
    selection = select(small_talk(20), 200, explain=explain)
    read = wire.loads(MessageSelection, wire.dumps(selection), strict=True)
    assert (type(read), read) == (type(selection), selection)


def test_selections_are_shown_in_a_line_and_not_hashable() -> None:
    history = small_talk(20)
    selection = select(history, 200)
    kept = len(selection.messages)
    assert repr(selection) == (
        f"<MessageSelection: {kept} of 40 messages, {selection.total_tokens} tokens for openai, counted by len>"
    )
    beside = select(history, 200, documents=["a", "b" * 500], explain=True)
    assert repr(beside).startswith(f"<ExplainedSelection: {len(beside.messages)} of 40 messages, 1 of 2 documents, ")
    for each in (selection, beside):
        with pytest.raises(TypeError, match="unhashable type"):
            hash(each)


def test_what_was_dropped_is_a_value_and_no_tuple() -> None:
    [first, *_] = select(small_talk(20), 200).dropped
    assert first == Dropped(first.index, first.reason)
    as_tuple: Any = (first.index, first.reason)
    assert first != as_tuple
    assert hash(first) == hash(Dropped(first.index, first.reason))
    assert repr(Dropped(3, Filtered("x"))) == "Dropped(index=3, reason=Filtered(filter_name='x'))"


@pytest.mark.parametrize(
    ("option", "spelling", "documented"),
    [
        ("provider", "Open_AI", "openai"),
        ("unit", "TURN", "turn"),
        ("too_large", "Drop", "drop"),
        ("policy", "RAG", "rag"),
    ],
)
def test_names_are_matched_in_any_spelling(option: str, spelling: str, documented: str) -> None:
    history = small_talk(20)
    assert select(history, 200, **{option: spelling}) == select(history, 200, **{option: documented})


def test_a_misspelt_option_is_told_by_the_name_of_the_function() -> None:
    options: Any = {"modle": "gpt-4o"}
    with pytest.raises(TypeError, match=r"^aselect_messages\(\) got an unexpected .* 'modle'; did you mean 'model'\?$"):
        asyncio.run(aselect_messages(small_talk(4), 200, **options))


@pytest.mark.parametrize("function", [select_messages, aselect_messages])
def test_annotations_can_be_evaluated(function: Callable[..., Any]) -> None:
    """Libraries that wrap functions ask for them."""
    assert "budget" in get_type_hints(function)


def test_importing_messages_does_not_look_for_installed_packages() -> None:
    loaded = loaded_by("from pycupel.messages import select_messages")
    assert "pycupel.messages.api" in loaded
    assert not {"importlib.metadata", "json", "pycupel.registry", "pycupel.tokens.tiktoken"} & loaded


def test_a_call_that_drops_nothing_loads_only_what_it_needs() -> None:
    call = "pycupel.messages.select_messages([{'role': 'user', 'content': 'hi'}], 100)"
    loaded = loaded_by(f"import pycupel.messages; sys.modules |= {{'splintr': None, 'tiktoken': None}}; {call}")
    assert "pycupel.tokens.estimate" in loaded
    rarely_needed = {"ladders", "shortening", "summary", "providers.anthropic"}
    assert not {"importlib.metadata", *(f"pycupel.messages.{name}" for name in rarely_needed)} & loaded


def loaded_by(code: str) -> set[str]:
    command = [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
