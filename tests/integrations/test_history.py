"""What the hooks for chat histories share, without any of their libraries."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pycupel.errors import InvalidArgumentError, UnitTooLargeError
from pycupel.integrations._history import HistorySelector, HookOptions, ModelInUse, Request, model_in_use
from pycupel.messages import MessageSelection, Shorten, select_messages
from pycupel.messages.providers._writing import Call, MessagePart, text, thought

SONAR = model_in_use(["ChatOpenAI"], "sonar-pro")


def count_words(text: str) -> int:
    return len(text.split())


def conversation(name: str, turns: int) -> list[MessagePart]:
    return [
        parts
        for turn in range(turns)
        for parts in (
            MessagePart("user", [text(f"{name} asks {turn}")]),
            MessagePart("assistant", [text(f"answer {turn} " + "word " * 20)]),
        )
    ]


def request(parts: Sequence[MessagePart], **options: Any) -> Request:
    return Request(messages=list(parts), parts=[[each] for each in parts], **options)


def selector(budget: Any = 300, **options: Any) -> HistorySelector:
    given: HookOptions = {"counter": count_words, **options}  # type: ignore[typeddict-item]
    return HistorySelector(budget, given)


def kept_of(one: HistorySelector, parts: Sequence[MessagePart], **options: Any) -> list[int]:
    return [n for n, each in enumerate(one.select(request(parts, **options))) if each.numbers]


def numbers_of(one: HistorySelector, given: Request) -> list[list[int]]:
    return [each.numbers for each in one.select(given)]


def test_it_selects_what_fits() -> None:
    parts = conversation("Ann", 30)
    kept = kept_of(selector(), parts)
    assert 0 < len(kept) < len(parts)
    assert kept[-1] == len(parts) - 1


def test_what_was_kept_stays_at_the_start() -> None:
    one, parts = selector(), conversation("Ann", 30)
    before = kept_of(one, parts, conversation="1")
    longer = [*parts, *conversation("Ann again", 2)]
    assert kept_of(one, longer, conversation="1")[: len(before)] == before


def test_conversations_with_the_same_words_do_not_influence_each_other() -> None:
    """Only the id tells them apart; the second continues what the first began, in another conversation."""
    one, parts = selector(), conversation("Ann", 30)
    longer = [*parts, *conversation("Ann", 2)]
    fresh = kept_of(selector(), longer, conversation="2")
    kept_of(one, parts, conversation="1")
    assert kept_of(one, longer, conversation="2") == fresh
    assert kept_of(one, longer) == fresh


class Hostile:
    """A message that raises whatever it is asked."""

    def _refuse(self, *_: object) -> Any:
        raise RuntimeError

    __eq__ = __repr__ = __len__ = __hash__ = __bool__ = __str__ = _refuse


def test_messages_are_never_compared_or_shown() -> None:
    one, parts = selector(), conversation("Ann", 30)
    for length in (40, 60):
        given = Request(
            messages=[Hostile() for _ in parts[:length]], parts=[[each] for each in parts[:length]], conversation="1"
        )
        assert any(numbers_of(one, given))
    assert any(numbers_of(one, request(conversation("Bob", 30), conversation="2")))


def test_no_messages_are_remembered() -> None:
    """The indices and sizes of what was kept are, for each of the last 64 conversations."""
    one = selector(budget=10_000)
    for number in range(70):
        one.select(request([MessagePart("user", [text("x" * 100_000)])], conversation=str(number)))
    assert list(one._sizes) == [str(number) for number in range(6, 70)]
    assert _size(one._sizes) < 50_000


def _size(value: object) -> int:
    """The size of everything that can be reached from there, classes and functions aside."""
    seen: dict[int, int] = {}
    pending = [value]
    while pending:
        each = pending.pop()
        if id(each) not in seen and not isinstance(each, type) and not callable(each):
            seen[id(each)] = sys.getsizeof(each)
            pending += gc.get_referents(each)
    return sum(seen.values())


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_hook_can_be_copied_and_sent_to_another_process(copied: Callable[[HistorySelector], HistorySelector]) -> None:
    """What it selects and knows is the same; from then on, each goes its own way."""
    one, parts = selector(), conversation("Ann", 30)
    before = kept_of(one, parts[:40], conversation="1")
    other = copied(one)
    assert kept_of(other, parts[:40], conversation="1") == before
    assert kept_of(other, parts, conversation="2") == kept_of(one, parts, conversation="1")
    assert sorted(one._sizes) == ["1"]
    assert sorted(other._sizes) == ["1", "2"]


def test_a_conversation_without_an_id_is_not_remembered() -> None:
    one = selector()
    for given in (None, ""):
        one.select(request(conversation("Ann", 3), conversation=given))
    assert one._sizes == {}


def test_a_hook_says_how_much_of_the_prompt_is_the_same() -> None:
    seen: list[MessageSelection] = []
    one = selector(700, on_selection=seen.append)
    parts = conversation("Ann", 30)
    for end in (20, 24, len(parts)):
        one.select(request(parts[:end], conversation="1"))
    first, second, third = seen
    assert first.stable_prefix_tokens == 0
    assert second.stable_prefix_tokens == first.total_tokens
    assert third.dropped
    assert third.stable_prefix_tokens < second.total_tokens
    one.select(request(parts, conversation="1"))
    assert seen[-1].stable_prefix_tokens == third.total_tokens
    one.select(request(parts, conversation="2"))
    assert seen[-1].stable_prefix_tokens == 0


def test_a_shortened_result_is_not_the_same() -> None:
    seen: list[MessageSelection] = []
    one = selector(400, shorten=Shorten(keep=0), on_selection=seen.append)
    parts = [MessagePart("user", [text("Go.")])]
    for n in range(6):
        parts += [
            MessagePart("assistant", [], calls=[Call(f"c{n}", "read", {"path": f"{n}.py"})]),
            MessagePart("tool", [text(f"some_value_{n} of a file\n" * 30)], answers=f"c{n}"),
        ]
    for end in (3, 5, 13):
        one.select(request(parts[:end], conversation="1", with_texts=lambda message, _texts: message))
    assert seen[-1].shortened
    assert seen[-1].stable_prefix_tokens < seen[-2].total_tokens


@pytest.mark.unmeasured
def test_threads_may_share_it() -> None:
    one = selector()

    def converse(name: str) -> bool:
        parts = conversation(name, 30)
        before = kept_of(one, parts, conversation=name)
        parts += conversation(name, 2)
        return kept_of(one, parts, conversation=name)[: len(before)] == before

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(converse, map(str, range(40))))


def test_what_travels_beside_the_messages_counts() -> None:
    selections: list[MessageSelection] = []
    one = selector(on_selection=selections.append)
    parts = conversation("Ann", 9)
    assert len(kept_of(one, parts)) == 18
    assert len(kept_of(one, parts, system="word " * 100)) < 18
    assert len(kept_of(one, parts, tools=[{"name": "word " * 100, "input_schema": {}}])) < 18
    assert [each.usage.system > 99 for each in selections] == [False, True, False]
    assert [each.usage.tools > 99 for each in selections] == [False, False, True]
    assert selections[1].messages == [parts[n] for n in selections[1].kept]


def test_parts_of_a_message_are_kept_on_their_own() -> None:
    """The first message is a prompt that stays and a question that goes."""
    messages = ["prompt and question", "answer", "question"]
    parts = [
        [MessagePart("system", [text("Be brief.")]), MessagePart("user", [text("word " * 200)])],
        [MessagePart("assistant", [text("word " * 200)])],
        [MessagePart("user", [text("Well?")])],
    ]
    selections: list[MessageSelection] = []
    one = selector(on_selection=selections.append)
    for provider in ("openai", "anthropic", "gemini", "mistral"):
        given = Request(messages=messages, parts=parts, model=ModelInUse(provider))
        assert numbers_of(one, given) == [[0], [], [0]]
        selection = selections.pop()
        assert selection.provider == provider
        assert selection.messages == ["prompt and question", "question"]
        assert selection.kept == (0, 2)
        assert selection.source == tuple(messages)
        assert [each.index for each in selection.dropped] == [1]


def test_a_message_that_says_nothing_stays() -> None:
    selections: list[MessageSelection] = []
    one = selector(on_selection=selections.append)
    given = Request(messages=["question", "note"], parts=[[MessagePart("user", [text("?")])], []])
    assert numbers_of(one, given) == [[0], []]
    assert selections[0].messages == ["question", "note"]


def test_what_must_stay_stays() -> None:
    parts = conversation("Ann", 30)
    assert 0 not in kept_of(selector(), parts)
    assert 0 in kept_of(selector(), parts, pinned=[0])
    assert 0 in kept_of(selector(pin=lambda message: message is parts[0]), parts)


THINKING = [thought("Let me see.", "signed")]


def turn_with_thoughts(size: int, thoughts: Sequence[Any] = THINKING) -> list[MessagePart]:
    """A question, and exchanges of which only the first starts with thoughts."""
    parts = [MessagePart("user", [text("Look it all up.")])]
    for n in range(size):
        parts.append(MessagePart("assistant", thoughts if n == 0 else (), [Call(f"call{n:05d}", "f", {})]))
        parts.append(MessagePart("tool", [text("word " * 20)], answers=f"call{n:05d}"))
    return parts


@pytest.mark.parametrize("thoughts", [THINKING, [{"type": "redacted_thinking", "data": "sealed"}]])
def test_the_thoughts_that_start_a_turn_stay_where_claude_demands_them(thoughts: list[Any]) -> None:
    """The rules are those of the model in use; without one, signed thoughts tell whose they are."""
    parts = turn_with_thoughts(30, thoughts)
    for model in (ModelInUse("anthropic"), ModelInUse()):
        assert 1 in kept_of(selector(), parts, model=model)
    assert 1 not in kept_of(selector(), parts, model=ModelInUse("openai"))
    assert 1 in kept_of(selector(provider="anthropic"), parts, model=ModelInUse("openai"))
    unsigned = turn_with_thoughts(30, [{"type": "thinking", "thinking": "Hm."}])
    assert 1 not in kept_of(selector(), unsigned)


def test_items_of_responses_are_taken_as_they_are_by_openai() -> None:
    selections: list[MessageSelection] = []
    parts, items = conversation("Ann", 1), [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}]
    for given in ("auto", "openai", "responses", "anthropic"):
        one = selector(provider=given, on_selection=selections.append)
        assert numbers_of(one, request(parts, items=items)) == [[0], [0]]
    assert [each.provider for each in selections] == ["responses", "responses", "responses", "anthropic"]
    assert numbers_of(selector(provider="Responses"), request(parts)) == [[0], [0]]
    signed = [parts[0], MessagePart("assistant", THINKING)]
    selector(on_selection=selections.append).select(request(signed, items=items))
    assert selections[-1].provider == "responses"


# As many words in JSON, where line breaks are no spaces.
LINES = " \n".join(f"line {n} says value_{n}" for n in range(500))
PROVIDERS = ("openai", "mistral", "anthropic", "gemini")


def with_texts(parts: MessagePart, texts: Mapping[int, str]) -> MessagePart:
    return parts._replace(blocks=[text(texts[0])])


def exchange(*results: str, name: str = "f") -> list[MessagePart]:
    """A question, and calls with these results."""
    calls = [Call(f"call{n:05d}", name, {"n": n}) for n in range(len(results))]
    answers = [MessagePart("tool", [text(each)], answers=f"call{n:05d}", tool=name) for n, each in enumerate(results)]
    return [MessagePart("user", [text("Look it all up.")]), MessagePart("assistant", calls=calls), *answers]


def words_of(parts: MessagePart) -> int:
    return sum(count_words(block["text"]) for block in parts.blocks)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_result_that_must_stay_and_is_too_large_is_shortened(provider: Any) -> None:
    """Only what becomes shorter is a copy."""
    selections: list[MessageSelection] = []
    one, parts = selector(600, on_selection=selections.append), exchange("one", LINES, "three")
    selected = one.select(request(parts, model=ModelInUse(provider), with_texts=with_texts))
    assert [each.numbers for each in selected] == [[0]] * 5
    assert [n for n, each in enumerate(selected) if each.message is not parts[n]] == [3]
    shorter = selected[3].message
    assert 0 < words_of(shorter) < 600
    assert shorter._replace(blocks=parts[3].blocks) == parts[3]
    assert words_of(parts[3]) == 2000
    [selection] = selections
    assert all(a is b.message for a, b in zip(selection.messages, selected, strict=True))
    assert all(map(lambda a, b: a is b, selection.source, parts))
    [change] = selection.shortened
    assert change.index == 3
    assert change.original_tokens - change.tokens >= 2000 - words_of(shorter)
    with pytest.raises(UnitTooLargeError):
        selector(600, too_large="drop").select(request(parts, model=ModelInUse(provider)))
    # What the user wrote is the library's.
    same = selector(600, too_large="shorten")
    assert same.select(request(parts, model=ModelInUse(provider), with_texts=with_texts)) == selected


@pytest.mark.parametrize("provider", PROVIDERS)
def test_each_of_several_shortened_results_is_told(provider: Any) -> None:
    """Also where the provider gets them in one message."""
    selections: list[MessageSelection] = []
    parts = exchange(LINES, "two", LINES + " and more")
    one = selector(600, on_selection=selections.append)
    selected = one.select(request(parts, model=ModelInUse(provider), with_texts=with_texts))
    assert [each.index for each in selections[0].shortened] == [2, 4]
    overhead = [each.original_tokens - words_of(parts[each.index]) for each in selections[0].shortened]
    for each, more in zip(selections[0].shortened, overhead, strict=True):
        assert 0 <= more < 20
        assert each.tokens - words_of(selected[each.index].message) <= more
    assert sum(each.tokens for each in selections[0].shortened) < 600


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_message_with_several_results_is_copied_once(provider: Any) -> None:
    question, calls, *results = exchange("one", LINES, LINES)
    seen: list[tuple[Any, dict[int, str]]] = []

    def copied(message: Any, texts: Mapping[int, str]) -> str:
        seen.append((message, dict(texts)))
        return "copy"

    selections: list[MessageSelection] = []
    given = Request(
        messages=["question", "calls", "results"],
        parts=[[question], [calls], results],
        model=ModelInUse(provider),
        with_texts=copied,
    )
    selected = selector(600, on_selection=selections.append).select(given)
    assert [each.message for each in selected] == ["question", "calls", "copy"]
    [(message, texts)] = seen
    assert message == "results"
    assert list(texts) == [1, 2]
    [change] = selections[0].shortened
    assert change.index == 2
    assert change.original_tokens >= 4000
    assert change.tokens < 600


def test_results_among_the_blocks_of_a_message_are_found() -> None:
    """Some libraries let messages hold the provider's own blocks."""
    blocks = [
        {"type": "tool_result", "tool_use_id": f"call{n:05d}", "content": each} for n, each in enumerate(("one", LINES))
    ]
    message = {"role": "user", "content": blocks}
    calls = exchange("one", LINES)[:2]
    given = Request(
        messages=["question", "calls", message],
        parts=[*([each] for each in calls), [MessagePart("user", blocks)]],
        model=ModelInUse("anthropic"),
    )
    copy = selector().select(given)[2].message
    assert copy["content"][0] is blocks[0]
    assert copy["content"][1] == {**blocks[1], "content": copy["content"][1]["content"]}
    assert count_words(copy["content"][1]["content"]) < 300
    assert blocks[1]["content"] == LINES


def test_items_of_responses_are_shortened() -> None:
    parts = exchange(LINES)
    items = [
        {"role": "user", "content": "Look it all up."},
        {"type": "function_call", "call_id": "call00000", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call00000", "output": LINES},
    ]
    selections: list[MessageSelection] = []
    for provider in ("openai", "anthropic"):
        given = Request(messages=items, parts=[[each] for each in parts], items=items, model=ModelInUse(provider))
        selected = selector(on_selection=selections.append).select(given)
        assert [n for n, each in enumerate(selected) if each.message is not items[n]] == [2]
        assert selected[2].message == {**items[2], "output": selected[2].message["output"]}
        assert count_words(selected[2].message["output"]) < 300
    assert [each.provider for each in selections] == ["responses", "anthropic"]
    assert items[2]["output"] == LINES


def test_what_is_excluded_is_not_shortened() -> None:
    parts = exchange(LINES, name="read")
    for options, given in (({"shorten": Shorten(None, exclude=["read"])}, {}), ({}, {"exclude": ["read"]})):
        with pytest.raises(UnitTooLargeError):
            selector(**options).select(request(parts, **given))
    selected = selector(shorten=Shorten(exclude=["write"])).select(
        request(parts, exclude=["copy"], with_texts=with_texts)
    )
    assert selected[2].message is not parts[2]


def old_and_new(count: int) -> list[MessagePart]:
    return [
        MessagePart("user", [text("Look it all up.")]),
        *(
            each
            for n in range(count)
            for each in (
                MessagePart("assistant", calls=[Call(f"call{n:05d}", "f", {"n": n})]),
                MessagePart("tool", [text("\n".join(f"line {n} has {m}" for m in range(40)))], answers=f"call{n:05d}"),
            )
        ),
    ]


def test_old_results_become_shorter_before_they_are_dropped() -> None:
    parts = old_and_new(12)
    whole = kept_of(selector(1_000, shorten=None), parts)
    one = selector(1_000, shorten=Shorten(keep=1))
    selected = one.select(request(parts, with_texts=with_texts))
    assert len(whole) < len([each for each in selected if each.numbers])
    assert selected[-1].message is parts[-1]
    assert any(each.message is not parts[n] for n, each in enumerate(selected))


def test_what_was_shortened_says_the_same_in_later_calls() -> None:
    """With or without what was remembered of the conversation."""
    one, parts = selector(1_000, shorten=Shorten(keep=1)), old_and_new(16)
    for end in range(3, len(parts) + 1, 2):
        given = parts[:end]
        remembered = one.select(request(given, with_texts=with_texts, conversation="1"))
        fresh = selector(1_000, shorten=Shorten(keep=1)).select(request(given, with_texts=with_texts))
        assert remembered == fresh
    selected = one.select(request(parts, with_texts=with_texts, conversation="1"))
    assert any(each.message is not parts[n] for n, each in enumerate(selected))


def test_options_are_those_of_select_messages() -> None:
    selections: list[MessageSelection] = []
    selector(explain=True, on_selection=selections.append).select(request(conversation("Ann", 2)))
    assert selections[0].report is not None


def test_a_budget_may_be_a_share_of_the_window_of_the_model_in_use() -> None:
    selections: list[MessageSelection] = []
    one = HistorySelector("50%", {"on_selection": selections.append})
    for model in ("gpt-4o", "gpt-5"):
        one.select(request(conversation("Ann", 2), model=ModelInUse("openai", model)))
    # OpenAI takes 272,000 of the 400,000 tokens of the window of GPT-5.
    assert [selection.usage.window for selection in selections] == [64_000, 136_000]
    HistorySelector(300_000, {"on_selection": selections.append}).select(
        request(conversation("Ann", 2), model=ModelInUse("openai", "gpt-5"))
    )
    assert [note.partition(",")[0] for note in selections[-1].notes] == ["a prompt has at most 272000 tokens"]
    one = HistorySelector("50%", {"model": "gpt-4o"})
    assert numbers_of(one, request(conversation("Ann", 1))) == [[0], [0]]
    with pytest.raises(InvalidArgumentError, match="unknown model 'sonar-pro'") as caught:
        HistorySelector("50%", {}).select(request(conversation("Ann", 1), model=SONAR))
    assert caught.value.__notes__ == [
        "Its limits are not known: pass a number of tokens, or set them with register_model."
    ]


def test_a_hook_counts_for_an_unknown_model_like_select_messages() -> None:
    """The tokenizer may be any, so OpenAI's would not be exact."""
    selections: list[MessageSelection] = []
    one = HistorySelector(8_000, {"on_selection": selections.append})
    one.select(request(conversation("Ann", 2), model=SONAR))
    assert selections[0].counter == select_messages([], 8_000, model="sonar-pro").counter
    assert selections[0].counter.startswith("estimator for an unknown model")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("policy", "chatt"),
        ("unit", "word"),
        ("too_large", "explode"),
        ("counter", "abacus"),
        ("provider", "opnai"),
        ("shorten", "resluts"),
    ],
)
def test_a_wrong_option_is_found_where_it_is_written(option: str, value: str) -> None:
    with pytest.raises(InvalidArgumentError, match=value):
        selector(**{option: value})


def test_options_that_hooks_do_not_have_are_found_where_they_are_written() -> None:
    """A summary, for one, is a message that the framework does not have."""
    for name in ("summarize", "documents", "previous", "system"):
        with pytest.raises(TypeError, match=f"^unknown option '{name}' of a history hook$"):
            selector(**{name: None})
    with pytest.raises(TypeError, match="unknown option 'provder' of a history hook; did you mean 'provider'"):
        selector(provder="openai")


@pytest.mark.parametrize("option", ["pin", "on_selection"])
def test_functions_are_checked_where_they_are_written(option: str) -> None:
    with pytest.raises(TypeError, match=rf"^{option} must be a function, not \[1\] \(list\)$"):
        selector(**{option: [1]})
    selector(**{option: None})


def test_a_wrong_budget_is_found_where_it_is_written() -> None:
    with pytest.raises(InvalidArgumentError, match="budget"):
        selector("many")
    with pytest.raises(TypeError, match="budget"):
        selector(None)
