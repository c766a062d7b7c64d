"""What the process remembers of conversations: what is recognised, what is kept, and for how long."""

from __future__ import annotations

import asyncio
import gc
import os
import tracemalloc
import weakref
from collections.abc import Iterator
from copy import deepcopy
from datetime import timedelta
from threading import get_ident
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import pytest

from pycupel import ContextItem, Policy, RecencyScorer, SimilarityScorer
from pycupel.errors import InvalidArgumentError
from pycupel.messages import Shorten, aselect_messages, clear_caches, conversations, select_messages, set_memory_limit
from pycupel.messages.conversations import DEFAULT_LIMIT, finding, held_bytes
from pycupel.shorten.key_lines import units_of
from tests.messages.chats import answer, exchange, question, small_talk, system

BUDGET = 900


class Counting:
    """A counter that remembers what it was asked."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, text: str) -> int:
        self.texts.append(text)
        return len(text)


class Custom:
    """A scorer of the caller's."""

    def score(self, item: ContextItem, all_items: Any, /) -> float:
        return len(item.content) / 1_000


@pytest.fixture(autouse=True)
def empty() -> Iterator[None]:
    set_memory_limit(DEFAULT_LIMIT)
    yield
    set_memory_limit(DEFAULT_LIMIT)


def counted(counter: Counting, messages: list[Any], **options: Any) -> int:
    """How many texts are counted for a history, whose objects are new."""
    counter.texts.clear()
    select_messages(deepcopy(messages), BUDGET, counter=counter, **options)
    # A counter that is new is first tried with a sentence.
    return len([text for text in counter.texts if "brown fox" not in text])


# What is recognised


def test_a_growing_history_costs_what_is_new() -> None:
    history, counter = small_talk(60), Counting()
    assert counted(counter, history[:-4]) == len(history) - 4
    assert counted(counter, history[:-2]) == 2
    assert counted(counter, history) == 2
    assert counted(counter, history) == 0


def test_a_branch_finds_the_longest_history_that_it_begins_with() -> None:
    history, counter = small_talk(60), Counting()
    for end in (81, 101, len(history)):
        counted(counter, history[:end])
    assert counted(counter, [*history[:101], answer("So."), question("Why?")]) == 2
    edited = [*history[:99], question("Something else."), *history[100:]]
    assert counted(counter, edited) == len(history) - 81
    assert counted(counter, history[:91]) == 10


def test_eight_selections_of_a_conversation_are_kept() -> None:
    history, counter = small_talk(60), Counting()
    ends = range(21, 41, 2)
    for end in ends:
        counted(counter, history[:end])
    # The first two of ten are gone, so what continues only them begins anew.
    assert counted(counter, [*history[:23], question("A branch.")]) == 24
    assert counted(counter, [*history[:27], question("A branch.")]) == 1


@pytest.mark.parametrize(
    "other", [{"unit": "turn"}, {"policy": "rag"}, {"shorten": None}, {"provider": "anthropic"}, {"stable": False}]
)
def test_other_arguments_are_another_conversation(other: dict[str, Any]) -> None:
    history, counter = small_talk(60)[1:], Counting()
    counted(counter, history)
    assert counted(counter, history, **other) == len(history)


def test_a_new_counter_at_each_call_is_not_recognised() -> None:
    history = small_talk(60)
    counters = [Counting(), Counting()]
    assert [counted(each, history) for each in counters] == [len(history)] * 2


def test_policies_are_recognised_by_equality_and_custom_strategies_as_objects() -> None:
    history, counter, custom = small_talk(60), Counting(), Custom()
    for policy, again in ((Policy(RecencyScorer()), Policy(RecencyScorer())), (Policy(custom), Policy(custom))):
        assert counted(counter, history, policy=policy) == len(history)
        assert counted(counter, history, policy=again) == 0
    assert counted(counter, history, policy=Policy(Custom())) == len(history)


def test_options_of_strategies_are_compared_by_value() -> None:
    keys = [conversations._key_of(timedelta(seconds=n)) for n in (1, 1, 2)]
    assert keys[0] == keys[1] != keys[2]


class Unreferable:
    """A scorer that cannot be held weakly."""

    __slots__ = ()

    def score(self, item: ContextItem, all_items: Any, /) -> float:
        return 0.5


def test_what_cannot_be_held_weakly_is_not_remembered() -> None:
    class Slotted:
        __slots__ = ()

        def __call__(self, text: str) -> int:
            return len(text)

    select_messages(small_talk(60), BUDGET, counter=len, policy=Policy(Unreferable()))
    select_messages([question("x" * 500)], BUDGET, counter=Slotted())
    assert held_bytes() == 0


def test_pins_may_change_from_call_to_call() -> None:
    history, counter = small_talk(60), Counting()
    counted(counter, history, pin=[5])
    selection = select_messages(history, BUDGET, counter=counter, pin=[7])
    set_memory_limit(0)
    assert selection == select_messages(history, BUDGET, counter=counter, pin=[7])
    assert 7 in selection.kept
    assert 5 not in selection.kept


def test_previous_needs_no_memory_and_leaves_none() -> None:
    history, counter = small_talk(60), Counting()
    set_memory_limit(0)
    previous = select_messages(history[:-2], BUDGET, counter=counter)
    set_memory_limit(DEFAULT_LIMIT)
    assert counted(counter, history, previous=previous) == 2
    assert held_bytes() == 0


def test_long_texts_are_counted_once_in_any_conversation() -> None:
    counter = Counting()
    text = "x" * 300
    assert counted(counter, [question("One."), *exchange("c1", text)]) == 4
    assert counted(counter, [question("Two."), *exchange("c1", text)]) == 3
    assert text not in counter.texts


def test_the_units_of_a_line_are_found_once() -> None:
    found: list[str] = []

    def find(text: str) -> dict[int, float]:
        found.append(text)
        return {hash(text): 1.0}

    for line, times in {"a line of some length": 1, "a short line": 2}.items():
        assert [finding(find)(line) for _ in range(2)] == [{hash(line): 1.0}] * 2
        assert found.count(line) == times
    set_memory_limit(0)
    assert finding(find)("a line of some length") == {hash("a line of some length"): 1.0}
    assert found.count("a line of some length") == 2


# What is kept


def texts_in(value: Any, seen: set[int]) -> Iterator[str]:
    """All texts that can be reached from a value."""
    if id(value) in seen or isinstance(value, (type, ModuleType, FunctionType)):
        return
    seen.add(id(value))
    if isinstance(value, str):
        yield value
    for each in gc.get_referents(value):
        yield from texts_in(each, seen)


def test_no_message_is_kept_and_no_text_but_shortened_ones() -> None:
    said = [question("secret question"), *exchange("c1", "a secret result, with many words\n" * 80), answer("secret")]
    history = [system("secret rules"), *said, *exchange("c2", "secret too\n" * 200), question("last secret")]
    selection = select_messages(history, 1_500, counter=len, shorten=Shorten(keep=0))
    select_messages(
        [*history, answer("secret"), question("another secret")], 1_500, counter=len, shorten=Shorten(keep=0)
    )
    shorter = {each.text for point in selection.points for each in point.texts}
    assert shorter
    entries = [each for kept in conversations._STORE._conversations.values() for each in kept.entries]
    found = {text for text in texts_in([*vars(conversations._STORE).values()], set()) if "secret" in text}
    assert found
    assert found <= {each.text for entry in entries for point in entry.points for each in point.texts}


def test_counters_and_strategies_are_held_weakly() -> None:
    history, counter, scorer = small_talk(60), Counting(), Custom()
    select_messages(history, BUDGET, counter=counter, policy=Policy(scorer))
    references: list[Any] = [weakref.ref(counter), weakref.ref(scorer)]
    assert held_bytes() > 0
    del counter, scorer
    gc.collect()
    assert [each() for each in references] == [None, None]


@pytest.mark.parametrize("shorten", [None, "results"])
def test_the_estimate_of_bytes_is_right(shorten: Any) -> None:
    clear_caches()
    history = [
        message for n in range(300) for message in (question(f"q{n}"), *exchange(f"call{n}", "r" * 300), answer())
    ]
    select_messages(history[:5], 10**6, counter=len, shorten="results")
    set_memory_limit(DEFAULT_LIMIT)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for n in range(8):
        select_messages(deepcopy(history[: 400 + 100 * n]), 20_000, counter=len, shorten=shorten)
    gc.collect()
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert held / 1.5 < held_bytes() < held * 1.5


# For how long


def test_the_least_recently_used_conversation_goes_first() -> None:
    first, second = Counting(), Counting()
    history = small_talk(60)
    counted(first, history)
    set_memory_limit(3 * held_bytes())
    for counter in (first, second, first):
        counted(counter, history)
    third = Counting()
    counted(third, history)
    assert counted(first, history) == 0
    assert counted(second, history) == len(history)


def test_ten_thousand_conversations_stay_under_the_limit() -> None:
    limit = 200_000
    set_memory_limit(limit)
    for n in range(10_000):
        select_messages([question(f"conversation {n}"), answer("x" * 300)], 1_000, counter=len)
        if n % 500 == 0:
            assert held_bytes() <= limit
    assert limit / 2 < held_bytes() <= limit


def test_many_texts_and_counters_stay_under_the_limit() -> None:
    limit = 50_000
    set_memory_limit(limit)
    counters = [Counting() for _ in range(12)]
    for n in range(600):
        select_messages([question(f"{n} {'x' * 300}")], 1_000, counter=counters[n % 12])
        assert held_bytes() <= limit


def test_many_units_stay_under_the_limit() -> None:
    limit = 400_000
    set_memory_limit(limit)
    history = small_talk(60)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for n in range(500):
        finding(units_of)(f"The value_{n} of src/file_{n}.py and name_{n}: {n} in another_{n}, which is n{n * n}")
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert limit / 8 < held_bytes() <= limit / 4
    assert held / 1.5 < held_bytes() < held * 1.5
    for n in range(300):
        select_messages([question(f"{n}"), *history], BUDGET, counter=len)
        assert held_bytes() <= limit


def test_texts_that_are_asked_for_again_stay() -> None:
    set_memory_limit(2 * 8 * 180)
    counter = Counting()
    texts = [name * 300 for name in "abcd"]
    for text in (*texts[:3], texts[1], texts[3]):
        select_messages([question(text)], 1_000, counter=counter)
    counter.texts.clear()
    for text in texts:
        select_messages([question(text)], 1_000, counter=counter)
    # The second was asked for when it was old; the first was not, and is forgotten.
    assert texts[0] in counter.texts
    assert texts[1] not in counter.texts


def test_what_was_not_used_for_an_hour_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr(conversations, "monotonic", lambda: now)
    history, counter = small_talk(60), Counting()
    counted(counter, history)
    now += 3_599
    assert counted(counter, history) == 0
    now += 3_601
    assert counted(counter, history) == len(history)


def test_it_can_be_turned_off_and_cleared() -> None:
    history, counter = small_talk(60), Counting()
    counted(counter, history)
    assert held_bytes() > 0
    clear_caches()
    assert held_bytes() == 0
    assert counted(counter, history) == len(history)
    set_memory_limit(0)
    assert [counted(counter, history) for _ in range(2)] == [len(history)] * 2
    assert held_bytes() == 0


def test_a_limit_is_a_number_of_bytes() -> None:
    with pytest.raises(InvalidArgumentError, match="limit must be 0 or more, not -1"):
        set_memory_limit(-1)
    with pytest.raises(TypeError, match="limit must be an int"):
        set_memory_limit("64 MB")  # type: ignore[arg-type]


@pytest.mark.posix
def test_a_fork_begins_with_an_empty_memory() -> None:
    select_messages(small_talk(60), BUDGET, counter=len)
    assert held_bytes() > 0
    child = os.fork()
    if child == 0:
        os._exit(held_bytes() != 0)
    assert os.waitpid(child, 0)[1] == 0
    assert held_bytes() > 0


# Results


@pytest.mark.parametrize("options", [{}, {"explain": True}, {"documents": ["a question"]}, {"unit": "turn"}])
@pytest.mark.parametrize("shorten", [None, "results"])
def test_results_are_the_same(options: dict[str, Any], shorten: Any) -> None:
    history = [system()]
    for n in range(25):
        history += [question(f"question {n}"), *exchange(f"call{n}", f"line {n} of a_file.py\n" * 20), answer(f"a{n}")]
    for end in range(20, len(history), 7):
        set_memory_limit(0)
        expected = select_messages(history[:end], 4_000, counter=len, shorten=shorten, **options)
        set_memory_limit(DEFAULT_LIMIT)
        for start in (end - 9, end - 4, end):
            found = select_messages(deepcopy(history[:start]), 4_000, counter=len, shorten=shorten, **options)
        assert (found.messages, found.dropped, found.usage, found.notes, found.cut, found.points) == (
            expected.messages,
            expected.dropped,
            expected.usage,
            expected.notes,
            expected.cut,
            expected.points,
        )
        if expected.report is not None:
            assert found.report is not None
            assert (found.report.included, found.report.excluded) == (
                expected.report.included,
                expected.report.excluded,
            )


def test_a_scorer_with_a_function_is_recognised_while_the_function_lives() -> None:
    def embed(texts: Any) -> list[list[float]]:
        return [[1.0, float(len(text))] for text in texts]

    history, counter = small_talk(60), Counting()
    policy = Policy(SimilarityScorer(embed, query="question"))
    assert counted(counter, history, policy=policy) == len(history)
    assert counted(counter, history, policy=Policy(SimilarityScorer(embed, query="question"))) == 0


# The event loop


class Threads:
    """A counter that remembers in which threads it was asked."""

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def __call__(self, text: str) -> int:
        self.seen.add(get_ident())
        return len(text)


def large(size: int) -> list[Any]:
    return [question("x" * size), *exchange("c1", "y" * size), SimpleNamespace(role="user", content="z" * size)]


def test_much_that_is_new_is_computed_in_a_thread() -> None:
    for size, is_aside in ((30_000, False), (40_000, True)):
        counter = Threads()
        asyncio.run(aselect_messages(large(size), 10**6, counter=counter))
        assert (counter.seen != {get_ident()}) is is_aside
    # The next call adds little to what has been seen.
    counter.seen.clear()
    asyncio.run(aselect_messages([*large(40_000), answer("So.")], 10**6, counter=counter))
    assert counter.seen == {get_ident()}


def test_other_tasks_need_not_wait() -> None:
    async def tick(done: list[int]) -> None:
        while True:
            done.append(1)
            await asyncio.sleep(0)

    async def main() -> int:
        done: list[int] = []
        ticking = asyncio.ensure_future(tick(done))
        await aselect_messages(large(200_000), 10**6, counter=Threads())
        ticking.cancel()
        return len(done)

    assert asyncio.run(main()) > 1


def test_without_asyncio_there_is_no_thread() -> None:
    """Another event loop than asyncio's."""
    counter = Threads()
    call = aselect_messages(large(40_000), 10**6, counter=counter)
    with pytest.raises(StopIteration) as done:
        call.send(None)
    assert done.value.value.kept == (0, 1, 2, 3)
    assert counter.seen == {get_ident()}


def test_a_message_that_has_ended_says_nothing_when_it_is_remembered() -> None:
    for_now = {"role": "system", "content": "Be quick now.", "clear_at": "next_user_message"}
    history = [
        question(),
        for_now,
        answer(),
        *(message for n in range(30) for message in (question(f"q{n}"), answer())),
    ]
    options: dict[str, Any] = {"provider": "anthropic", "counter": len, "explain": True}
    set_memory_limit(0)
    expected = select_messages([*history, question("last")], 300, **options)
    set_memory_limit(DEFAULT_LIMIT)
    select_messages(history[:-2], 300, **options)
    found = select_messages([*history, question("last")], 300, **options)
    assert (found.messages, found.dropped) == (expected.messages, expected.dropped)
    assert found.report is not None
    assert expected.report is not None
    assert (found.report.included, found.report.excluded) == (expected.report.included, expected.report.excluded)
