"""Results become shorter before their exchange is dropped."""

from __future__ import annotations

import asyncio
import json
import random
import re
from base64 import b64encode
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from pycupel import ContextItem, Policy, QuotaEntry, QuotaSlice, RecencyScorer
from pycupel.errors import InvalidArgumentError, ShortenerContractError, UnitTooLargeError
from pycupel.messages import (
    MessageSelection,
    Shorten,
    aselect_messages,
    count_messages,
    lint_messages,
    select_messages,
    shortening,
    to_items,
)
from pycupel.messages.result import ExplainedSelection, ShortenedMessage
from pycupel.model.item import version_mark
from pycupel.policies import preset
from pycupel.protocols import NoShortener, ShortenContext
from pycupel.shorten import ByFormat, Stub, key_lines, make_version
from pycupel.shorten.key_lines import units_of
from pycupel.tokens import Counter as TokenCounter
from pycupel.wire import dumps, loads

PROVIDERS = ("openai", "responses", "anthropic", "gemini", "mistral")


def log(number: int, lines: int = 40) -> str:
    plain = [f"line {i} says nothing of interest to anybody here" for i in range(lines)]
    plain[lines // 2] = f"setting_{number}: src/app/module_{number}.py"
    return "\n".join(plain) + "\n"


def exchange(provider: str, number: int, result: str) -> list[Any]:
    name, call_id = "read_file", f"call{number:05d}"
    arguments = {"path": f"log_{number}.txt"}
    if provider in ("openai", "mistral"):
        call = {
            "id": call_id,
            "type": "function",
            "function": {"name": name, "arguments": str(arguments).replace("'", '"')},
        }
        return [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call_id, "content": result},
        ]
    if provider == "responses":
        return [
            {"type": "function_call", "call_id": call_id, "name": name, "arguments": str(arguments).replace("'", '"')},
            {"type": "function_call_output", "call_id": call_id, "output": result},
        ]
    if provider == "anthropic":
        return [
            {"role": "assistant", "content": [{"type": "tool_use", "id": call_id, "name": name, "input": arguments}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": result}]},
        ]
    return [
        {"role": "model", "parts": [{"functionCall": {"name": name, "args": arguments}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": name, "response": {"result": result}}}]},
    ]


def question(provider: str, text: str) -> Any:
    return {"role": "user", "parts": [{"text": text}]} if provider == "gemini" else {"role": "user", "content": text}


def history(provider: str, results: int) -> list[Any]:
    messages = [question(provider, "What do the logs say?")]
    for number in range(results):
        messages += exchange(provider, number, log(number))
    return messages


def quarter(text: str) -> int:
    return len(text) // 4


def select(messages: list[Any], budget: int, provider: str, **options: Any) -> MessageSelection:
    return select_messages(messages, budget, provider=provider, counter=quarter, **options)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("budget", [300, 900])
def test_a_conversation_without_results_is_cut_as_without_shortening(budget: int) -> None:
    """Rare words say more for their tokens than everyday ones, which is no reason for holes in a conversation."""
    plain = ["Yes, please go on.", "Thank you, that is what I meant.", "And what do you think of it?"]
    rare = [f"Ticket-{n:04d}: zephyr_{n} broke quux_{n * 7} at 0x{n * 977:06x}" for n in range(120)]
    messages = [
        {"role": "assistant" if n % 2 else "user", "content": rare[n] if n % 5 == 0 else plain[n % 3]}
        for n in range(120)
    ]
    # Too small to be shortened.
    messages[100:100] = exchange("openai", 1, "done")
    shortened = select(messages, budget, "openai", shorten="results")
    assert shortened.kept == select(messages, budget, "openai", shorten=None).kept
    assert shortened.dropped
    assert shortened.shortened == ()


def test_a_line_is_analysed_once_although_it_is_there_at_several_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = history("openai", 20)
    expected = select(messages, 2_000, "openai", shorten="results")
    analysed: Counter[str] = Counter()

    def counted(text: str) -> dict[int, float]:
        analysed[text] += 1
        return units_of(text)

    monkeypatch.setattr(key_lines, "units_of", counted)
    monkeypatch.setattr(shortening, "units_of", counted)
    assert select(messages, 2_000, "openai", shorten="results") == expected
    assert expected.shortened
    assert set(analysed.values()) == {1}


@pytest.mark.unmeasured
@pytest.mark.parametrize("seen", [0, 1], ids=["after a result", "after a call"])
def test_a_call_that_cuts_nothing_does_not_look_for_results_again(monkeypatch: pytest.MonkeyPatch, seen: int) -> None:
    messages, newest = history("openai", 20), exchange("openai", 20, "nothing")
    previous = select([*messages, *newest[:seen]], 4_000, "openai", shorten="results")
    assert previous.shortened

    def refuse(*_: object) -> list[Any]:
        raise AssertionError

    monkeypatch.setattr("pycupel.messages.tool_results.find_results", refuse)
    selection = select([*messages, *newest], 4_000, "openai", shorten="results", previous=previous)
    assert (selection.cut, selection.shortened) == (None, previous.shortened)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_old_results_are_shortened_before_they_are_dropped(provider: str) -> None:
    messages = history(provider, 20)
    plain = select(messages, 4_000, provider, shorten=None)
    shorter = select(messages, 4_000, provider, shorten="results")
    assert len(shorter.messages) > len(plain.messages)
    assert shorter.shortened
    assert not lint_messages(shorter.messages, provider)  # type: ignore[arg-type]
    assert all(each.tokens < each.original_tokens for each in shorter.shortened)
    changed = {each.index for each in shorter.shortened}
    for n, message in zip(shorter.kept, shorter.messages, strict=True):
        assert (message is messages[n]) is (n not in changed)
    assert shorter.total_tokens <= 4_000
    text = str(shorter.messages)
    assert sum(f"setting_{number}" in text for number in range(20)) > sum(
        f"setting_{number}" in str(plain.messages) for number in range(20)
    )


def names(number: int, lines: int = 60) -> str:
    """A result in which every line says something new, so that a short result is worth little beside it."""
    return "\n".join(f"value_{number}_{i} = make_{number}_{i}(config_{i})" for i in range(lines))


@pytest.mark.parametrize("stable", [True, False])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_no_exchange_is_dropped_for_an_older_result_if_all_get_small(provider: str, stable: bool) -> None:
    messages = [question(provider, "Go on.")]
    for number in range(8):
        messages += exchange(provider, number, "pushed" if number == 2 else names(number))
    selection = select(messages, 3_400, provider, shorten="results", stable=stable)
    assert selection.dropped == ()
    assert selection.shortened
    assert selection.total_tokens <= 3_400


def test_the_newest_exchanges_are_not_dropped_for_older_results() -> None:
    messages = [question("openai", "Go on.")]
    for number in range(90):
        messages += exchange("openai", number, "pushed" if number in (4, 84) else names(number, 30))
    selection = select(messages, 3_000, "openai", shorten="results", stable=False)
    assert 2 * 4 + 2 not in selection.kept
    assert 2 * 84 + 2 in selection.kept


def test_what_saves_less_in_its_message_than_alone_displaces_nothing() -> None:
    """This counter charges extra for line breaks; Gemini's messages are JSON, and have none."""
    selection = select_messages(
        history("gemini", 12),
        2_100,
        provider="gemini",
        counter=lambda said: (len(said) + 6 * said.count("\n")) // 4,
        shorten="results",
        stable=False,
    )
    assert selection.dropped == ()
    assert selection.shortened


def texts_of(selection: MessageSelection) -> dict[int, str]:
    """What the results of an OpenAI history say, by message."""
    kept = zip(selection.kept, selection.messages, strict=True)
    return {n: message["content"] for n, message in kept if message["role"] == "tool"}


def test_excluded_tools_stay_whole() -> None:
    messages = history("openai", 20)
    assert select(messages, 4_000, "openai", shorten=Shorten(exclude=["read_file"])).shortened == ()


@pytest.mark.parametrize("never", [None, "none", "None", Shorten(None), Shorten("none"), NoShortener()])
def test_nothing_is_shortened_at_a_cut_with_none(never: Any) -> None:
    """The argument goes before the policy, and what must stay follows `too_large`."""
    messages = history("openai", 20)
    policy = Policy(RecencyScorer(), shorten=ByFormat())
    assert select(messages, 4_000, "openai", policy=policy).shortened
    assert select(messages, 4_000, "openai", policy=policy, shorten=never).shortened == ()
    large = [*messages, *exchange("openai", 20, log(20, 900))]
    assert [each.index for each in select(large, 4_000, "openai", shorten=never).shortened] == [len(large) - 1]
    with pytest.raises(UnitTooLargeError):
        select(large, 4_000, "openai", shorten=never, too_large="drop")


def test_results_are_shortened_by_default_and_a_note_says_so_once() -> None:
    """Issue: the argument, then the policy's `shorten`, then this default; a note only in the call that shortens."""
    messages = history("openai", 12)
    before: tuple[ShortenedMessage, ...] = ()
    cuts = 0
    for end in range(3, len(messages) + 1, 2):
        selection = select(messages[:end], 4_000, "openai")
        assert selection == select(messages[:end], 4_000, "openai", shorten="results")
        assert selection == select(messages[:end], 4_000, "openai", policy=Policy(RecencyScorer()))
        new = [each for each in selection.shortened if each not in before]
        said = f"the results of {len(new)} messages were shortened, which saves "
        saved = sum(each.original_tokens - each.tokens for each in new)
        assert [*selection.notes] == ([f"{said}{saved:,} tokens; shorten=None drops them instead"] if new else [])
        before = selection.shortened
        cuts += bool(new)
    assert 0 < cuts < 5


def test_a_policy_says_how_to_shorten_unless_the_call_does() -> None:
    messages = history("openai", 20)
    drops, stubs = (Policy(RecencyScorer(), shorten=each) for each in ("none", Stub()))
    assert select(messages, 4_000, "openai", policy=drops).shortened == ()
    short = select(messages, 4_000, "openai", policy=stubs)
    assert all("left out" in texts_of(short)[each.index] for each in short.shortened)
    for policy in (drops, stubs):
        given = select(messages, 4_000, "openai", policy=policy, shorten="results")
        assert given.messages == select(messages, 4_000, "openai", shorten=Shorten()).messages
        assert given.messages != short.messages


def test_a_cut_that_leaves_much_of_its_room_drops_less() -> None:
    """Issue: a cut that ends below 95 % of its target while it drops something shortens or drops less."""
    messages = [question("openai", "What do the logs say?")]
    for n in range(12):
        lines = 118 if n % 3 == 1 else 8
        messages += exchange("openai", n, f"line of words {n}\n" + "plain words again and again\n" * lines)
        answer = "words and more words of no great news " * (66 if n % 3 == 2 else 1)
        messages += [{"role": "assistant", "content": answer}, question("openai", "go on")]
    selection = select(messages, 700, "openai")
    assert selection.dropped
    # What is left is too small for another unit; by information alone, 53 tokens were kept.
    assert selection.total_tokens >= 0.8 * 0.65 * 700


@pytest.mark.parametrize("seed", range(30))
def test_the_newest_texts_stay_if_dropping_keeps_them(seed: int) -> None:
    """Issue: of the newest ten texts of the user and the assistant none may be missing that dropping keeps."""
    chance = random.Random(seed)
    messages: list[Any] = []
    for n in range(100):
        messages.append(question("openai", "plain words " * chance.randrange(2, 60)))
        for k in range(chance.randrange(3)):
            lines = [f"row_{chance.randrange(9_999)} in path/x{line}.py" for line in range(chance.randrange(1, 60))]
            messages += exchange("openai", 10 * n + k, "\n".join(lines))
        selection = select(messages, 2_000, "openai")
        if selection.dropped or selection.shortened:
            break
        messages.append({"role": "assistant", "content": "some more words " * chance.randrange(2, 60)})
    dropping = select(messages, 2_000, "openai", shorten=None)
    texts = [n for n, each in enumerate(messages) if each["role"] in ("user", "assistant") and each["content"]]
    assert {*texts[-10:]}.intersection(dropping.kept) <= {*selection.kept}


def test_nothing_small_is_shortened() -> None:
    small = "a_name: " + "x" * 388
    messages = [question("openai", "Go on."), *(m for n in range(40) for m in exchange("openai", n, small))]
    plain = select(messages, 1_500, "openai", shorten=None)
    assert plain.dropped
    assert select(messages, 1_500, "openai", shorten="results").shortened == ()
    messages = [question("openai", "Go on."), *(m for n in range(40) for m in exchange("openai", n, small + "y" * 4))]
    assert select(messages, 1_500, "openai", shorten="results").shortened


@pytest.mark.parametrize("keep", [0, 1, 3, 5])
def test_the_newest_results_stay_whole(keep: int) -> None:
    messages = history("openai", 9)
    selection = select(messages, 4_000, "openai", shorten=Shorten(keep=keep), stable=False)
    newest = [2 * n + 2 for n in range(9)][9 - keep :]
    assert not {each.index for each in selection.shortened} & {*newest, len(messages) - 1}
    assert len(selection.messages) == len(messages)
    assert selection.shortened


def check_ends(text: str, whole: str) -> None:
    """At least 40 tokens of the head and of the tail are there, whatever stands between them."""
    assert text.startswith(whole[:160])
    assert text.rstrip().endswith(whole.rstrip()[-160:])
    assert len(text) < len(whole)


def test_a_result_is_a_stub_only_if_its_ends_do_not_fit() -> None:
    """Of three that must stay, the newest keeps its ends."""
    calls = [{"id": str(n), "type": "function", "function": {"name": "read", "arguments": "{}"}} for n in range(3)]
    results = [{"role": "tool", "tool_call_id": str(n), "content": log(n, 400)} for n in range(3)]
    messages = [question("openai", "Read."), {"role": "assistant", "content": None, "tool_calls": calls}, *results]
    texts = texts_of(select(messages, 200, "openai"))
    # Whole lines, of twelve tokens each.
    assert texts[4].startswith(log(2, 400)[:140])
    assert texts[4].rstrip().endswith(log(2, 400).rstrip()[-140:])
    assert texts[2].startswith("[result left out")


def test_the_newest_results_are_shortened_if_they_do_not_fit() -> None:
    messages = [*history("openai", 3), *exchange("openai", 3, log(3, 400)), *exchange("openai", 4, "done")]
    selection = select(messages, 2_500, "openai", shorten="results")
    assert 8 in [each.index for each in selection.shortened]
    assert "setting_3" in texts_of(selection)[8]
    check_ends(texts_of(selection)[8], log(3, 400))


def test_what_is_out_of_date_becomes_a_stub_first() -> None:
    messages = [question("openai", "Read."), *exchange("openai", 1, log(1)), *history("openai", 6)[1:]]
    messages += [*exchange("openai", 1, log(7)), *exchange("openai", 8, "done"), *exchange("openai", 9, "done")]
    for n, message in enumerate(messages):
        if "tool_call_id" in message:
            message["tool_call_id"] = messages[n - 1]["tool_calls"][0]["id"] = f"call{n:05d}"
    selection = select(messages, 3_500, "openai", shorten=Shorten(keep=0), stable=False)
    # log_1.txt was read three times.
    assert [each.index for each in selection.shortened] == [2, 6]
    assert texts_of(selection)[2] == "[result left out: 40 lines, 483 tokens, read_file log_1.txt]"
    assert selection.dropped == ()
    assert selection.cut is not None
    assert selection.cut.removed == sum(each.original_tokens - each.tokens for each in selection.shortened)
    assert selection.cut.rewritten == selection.total_tokens - count_messages(messages[:2], "openai", quarter)


def failed(provider: str) -> list[Any]:
    """A call that fails, with the provider's mark for it if there is one."""
    messages = exchange(provider, 1, "Error: permission denied" if provider == "openai" else "permission denied")
    if provider == "anthropic":
        messages[1]["content"][0]["is_error"] = True
    elif provider == "gemini":
        messages[1]["parts"][0]["functionResponse"]["response"] = {"error": "permission denied"}
    return messages


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "openai"])
def test_a_call_that_failed_outdates_nothing(provider: str) -> None:
    messages = [question(provider, "Read."), *exchange(provider, 1, log(1)), *failed(provider)]
    for n in (1, 2):
        if provider == "anthropic":
            messages[2 * n - 1]["content"][0]["id"] = messages[2 * n]["content"][0]["tool_use_id"] = f"first{n}"
        elif provider == "openai":
            messages[2 * n - 1]["tool_calls"][0]["id"] = messages[2 * n]["tool_call_id"] = f"first{n}"
    messages += history(provider, 8)[5:]
    selection = select(messages, 3_000, provider, shorten="results", stable=False)
    assert 2 in selection.kept
    assert "setting_1: src/app/module_1.py" in str(selection.messages[2])


def test_results_that_report_errors_are_shortened_last() -> None:
    messages = history("anthropic", 12)
    messages[4]["content"][0]["is_error"] = True
    selection = select(messages, 3_500, "anthropic", shorten=Shorten(keep=0), stable=False)
    changed = {each.index for each in selection.shortened}
    assert len(changed) > 5
    assert 4 in selection.kept
    assert 4 not in changed
    selection = select(messages, 1_100, "anthropic", shorten=Shorten(keep=0), stable=False)
    assert 4 not in selection.kept or 4 in {each.index for each in selection.shortened}


PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "x"}}


def test_old_pictures_become_stubs_first() -> None:
    messages = history("anthropic", 8)
    messages[2]["content"][0]["content"] = [{"type": "text", "text": "a screenshot"}, PICTURE]
    messages[4]["content"][0]["content"] = [PICTURE]
    messages[16]["content"][0]["content"] = [PICTURE]
    selection = select(messages, 5_000, "anthropic", shorten="results")
    said = [message["content"][0].get("content") for message in selection.messages[1:]]
    assert said[1] == "a screenshot\n[picture or file left out: 1,600 tokens, read_file log_0.txt]"
    assert said[3] == "[picture or file left out: 1,600 tokens, read_file log_1.txt]"
    assert said[15] == [PICTURE]
    assert [each.index for each in selection.shortened] == [2, 4]


@pytest.mark.parametrize("too_large", ["results", "drop", "error", "shorten"])
def test_results_are_shortened_whatever_happens_to_large_units(too_large: Any) -> None:
    assert select(history("openai", 12), 3_000, "openai", shorten="results", too_large=too_large).shortened


def test_a_computer_call_output_is_never_changed() -> None:
    screen = {"type": "computer_screenshot", "image_url": "data:image/png;base64,AAAA"}
    messages = history("responses", 12)
    for n in (1, 3):
        call_id = messages[n]["call_id"]
        messages[n] = {"type": "computer_call", "id": f"c{n}", "call_id": call_id, "action": {"type": "screenshot"}}
        messages[n + 1] = {"type": "computer_call_output", "call_id": call_id, "output": screen}
    selection = select(messages, 3_000, "responses", shorten="results", too_large="shorten")
    assert selection.shortened
    screens = [message for message in selection.messages if message.get("type") == "computer_call_output"]
    assert all(any(each is message for message in messages) for each in screens)


def test_thoughts_and_what_servers_returned_are_never_changed() -> None:
    thought = {"type": "thinking", "thinking": log(90), "signature": "x" * 4_000}
    call = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "text", "text": log(91)}]}
    messages = history("anthropic", 12)
    messages[21]["content"] = [thought, call, found, *messages[21]["content"]]
    selection = select(messages, 6_000, "anthropic", shorten="results")
    assert selection.shortened
    by_index = dict(zip(selection.kept, selection.messages, strict=True))
    assert by_index[21] is messages[21]


def test_turns_are_shortened_result_by_result() -> None:
    messages = history("openai", 9)
    selection = select(messages, 3_500, "openai", shorten="results", too_large="shorten", unit="turn")
    assert len(selection.messages) == len(messages)
    changed = {each.index for each in selection.shortened}
    assert changed
    assert not changed & {14, 16, 18}


def test_a_policy_still_decides_what_is_worth_keeping() -> None:
    slicer = QuotaSlice([QuotaEntry("ToolOutput", 0, 20)])
    messages = history("openai", 20)
    capped = select(messages, 4_000, "openai", shorten="results", policy=Policy(RecencyScorer(), slicer))
    free = select(messages, 4_000, "openai", shorten="results", policy=Policy(RecencyScorer()))
    assert 0 < len(capped.messages) < len(free.messages)
    uncapped = select(messages, 4_000, "openai", shorten="results", policy=Policy(RecencyScorer(), QuotaSlice([])))
    assert uncapped.messages == free.messages


def test_the_start_stays_the_same_until_something_becomes_shorter() -> None:
    messages = history("openai", 20)
    previous = select(messages[:-2], 4_000, "openai", shorten="results")
    chained = select(messages, 4_000, "openai", shorten="results", previous=previous)
    assert chained.cut is None
    assert chained.stable_prefix_tokens == previous.total_tokens
    again = select(
        [*messages, *exchange("openai", 20, log(20, 90))], 4_000, "openai", shorten="results", previous=chained
    )
    assert again.cut is not None
    assert 0 < again.stable_prefix_tokens < chained.total_tokens


def test_the_same_history_again_is_selected_alike() -> None:
    messages = history("openai", 20)
    first = select(messages, 4_000, "openai", shorten="results")
    again = select(messages, 4_000, "openai", shorten="results", previous=first)
    assert (again.messages, again.shortened) == (first.messages, first.shortened)
    assert again.stable_prefix_tokens == first.total_tokens


def test_with_shorten_what_must_stay_is_shortened_unless_that_is_to_be_an_error() -> None:
    messages = history("openai", 2)[:3]
    assert select(messages, 300, "openai", shorten="results").shortened
    for options in ({"too_large": "drop"}, {"shorten": "results", "too_large": "drop"}):
        with pytest.raises(UnitTooLargeError):
            select(messages, 300, "openai", **options)


def test_a_result_that_must_stay_and_is_too_large_is_shortened() -> None:
    messages = [question("openai", "Read it."), *exchange("openai", 1, log(1, 2_000))]
    with pytest.raises(UnitTooLargeError):
        select(messages, 2_000, "openai", too_large="drop")
    selection = select(messages, 2_000, "openai")
    assert len(selection.messages) == 3
    assert selection.total_tokens <= 2_000
    assert "setting_1: src/app/module_1.py" in str(selection.messages)
    check_ends(texts_of(selection)[2], log(1, 2_000))
    assert selection.shortened[0].index == 2


@pytest.mark.parametrize("budget", [100, 300, 500, 1_000, 3_000])
def test_what_saves_less_in_its_message_than_alone_is_shortened_further(budget: int) -> None:
    """In JSON, words between line breaks are one word to this counter."""
    text = "\n".join(f"line {i} says value_{i}" for i in range(500))
    results = [{"name": f"f{i}", "response": {"result": each}} for i, each in enumerate(("one", text, text))]
    messages = [
        question("gemini", "go"),
        {"role": "model", "parts": [{"functionCall": {"name": each["name"], "args": {}}} for each in results]},
        {"role": "user", "parts": [{"functionResponse": each} for each in results]},
    ]
    selection = select_messages(
        messages, budget, provider="gemini", counter=lambda said: len(said.split()), too_large="shorten"
    )
    assert selection.kept == (0, 1, 2)
    assert selection.shortened[0].tokens < selection.shortened[0].original_tokens
    assert selection.total_tokens <= budget


def test_what_was_shortened_survives_json() -> None:
    selection = select(history("openai", 20), 4_000, "openai", shorten="results", explain=True)
    assert selection.report is not None
    again = loads(ExplainedSelection, dumps(selection))
    assert again.shortened == selection.shortened
    reasons = {tuple(each.item.metadata["pycupel.unit"]): str(each.reason) for each in again.report.included}
    changed = {each.index for each in selection.shortened}
    assert {unit for unit, reason in reasons.items() if reason == "Shortened"} == {
        unit for unit in reasons if changed.intersection(unit)
    }


def test_the_report_knows_the_whole_of_what_was_shortened() -> None:
    messages = history("openai", 20)
    whole = {tuple(item.metadata["pycupel.unit"]): item for item in to_items(messages, "openai")}
    selection = select(messages, 4_000, "openai", shorten="results", explain=True)
    assert selection.report is not None
    marks = {tuple(each.item.metadata["pycupel.unit"]): version_mark(each.item) for each in selection.report.included}
    shorter = {unit: mark["of"] for unit, mark in marks.items() if mark is not None}
    assert shorter
    for unit, of in shorter.items():
        assert version_mark(make_version(whole[unit], "x", 1, "x")) == {"of": of, "maker": "x"}
    # SR-04: units are considered as a whole, shortened or not.
    plain = select(messages, 4_000, "openai", shorten=None, explain=True).report
    assert plain is not None
    assert selection.report.total_tokens_considered == plain.total_tokens_considered


class Halves:
    def shorten(self, item: ContextItem, context: ShortenContext, /) -> list[ContextItem]:
        half = item.content[: len(item.content) // 2]
        return [make_version(item, half, context.count(item, half), "Halves")]


def test_a_maker_of_ones_own() -> None:
    selection = select(history("openai", 20), 6_000, "openai", shorten=Halves())
    assert selection.shortened
    whole = log(1, 200)
    newest = [question("openai", "Read it."), *exchange("openai", 1, whole)]
    assert texts_of(select(newest, 2_000, "openai", shorten=Halves())) == {2: whole[: len(whole) // 2]}


@pytest.mark.parametrize(("city", "asked", "other"), [("Lima", 217, 218), ("Oslo", 218, 217)])
def test_records_with_words_of_the_newest_question_stay(city: str, asked: int, other: int) -> None:
    rows = [{"id": n, "city": "Rome", "note": f"nothing {n}"} for n in range(400)]
    rows[217]["city"], rows[218]["city"] = "Lima", "Oslo"
    messages = [question("openai", "Look it up."), *exchange("openai", 99, json.dumps(rows))]
    messages += [*history("openai", 8)[1:], question("openai", f"Which one was in {city}?")]
    text = texts_of(select(messages, 1_700, "openai", shorten=ByFormat(), stable=False))[2]
    assert f"nothing {asked}" in text
    assert f"nothing {other}" not in text


@pytest.mark.parametrize("budget", [120, 300, 900, 4_000])
def test_json_that_must_stay_parses_or_is_a_stub(budget: int) -> None:
    rows = [{"id": n, "city": "Rome", "note": f"nothing {n}"} for n in range(2_000)]
    rows[217]["note"] = "E42 disk full"
    messages = [question("openai", "Look it up."), *exchange("openai", 99, json.dumps(rows))]
    [text] = texts_of(select(messages, budget, "openai")).values()
    assert "E42 disk full" in str(json.loads(text))


@pytest.mark.parametrize("rows", [[n / 7 for n in range(9_000)], [{"id": n, "same": "x"} for n in range(9_000)]])
@pytest.mark.parametrize("budget", [1_500, 6_000, 24_000])
def test_json_that_must_stay_fills_the_window_even_if_nothing_in_it_stands_out(rows: list[Any], budget: int) -> None:
    messages = [question("openai", "Look it up."), *exchange("openai", 1, json.dumps(rows))]
    selection = select(messages, budget, "openai")
    assert json.loads(texts_of(selection)[2])
    assert selection.fill > 0.25


def test_the_shortener_of_the_policy_counts_unless_another_is_given() -> None:
    messages = history("openai", 20)
    halves = Halves()
    policy = replace(preset("chat"), shorten=halves)
    assert select(messages, 6_000, "openai", policy=policy) == select(messages, 6_000, "openai", shorten=halves)
    other = select(messages, 6_000, "openai", policy=policy, shorten="results")
    assert other.messages == select(messages, 6_000, "openai", shorten="results").messages


def test_everything_that_fits_stays_as_it_is() -> None:
    messages = history("openai", 5)
    selection = select(messages, 100_000, "openai", shorten="results", too_large="shorten")
    assert selection.shortened == ()
    assert all(now is then for now, then in zip(selection.messages, messages, strict=True))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"shorten": "result"}, InvalidArgumentError),
        ({"shorten": 3}, TypeError),
    ],
)
def test_options_are_checked(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match=next(iter(options))):
        select(history("openai", 2), 1_000, "openai", **options)


def test_what_must_stay_and_cannot_be_shortened_is_an_error() -> None:
    with pytest.raises(UnitTooLargeError):
        select([question("openai", "x" * 9_000)], 1_000, "openai")


def test_what_cannot_be_made_shorter_stays() -> None:
    """Where every text costs the same, nothing is saved, not even by a stub."""
    messages = history("anthropic", 9)
    messages[2]["content"][0]["content"] = [PICTURE, {"type": "text", "text": "x"}]
    messages[5]["content"][0]["input"] = messages[3]["content"][0]["input"]
    options: dict[str, Any] = {"shorten": Shorten(keep=0), "too_large": "shorten"}
    counter = TokenCounter(lambda _: 200, "the same for all")
    selection = select_messages(messages, 3_000, provider="anthropic", counter=counter, **options)
    assert selection.dropped
    assert [each.index for each in selection.shortened] in ([], [2])


def test_only_what_must_stay_is_shortened_without_shorten() -> None:
    messages = [*history("openai", 9), *exchange("openai", 9, log(9, 900)), *exchange("openai", 10, log(10))]
    selection = select(messages, 4_000, "openai", shorten=None, too_large="shorten")
    # It had to stay when it was new.
    assert [each.index for each in selection.shortened] == [20]
    assert selection.dropped
    with pytest.raises(UnitTooLargeError):
        select(messages[:-2], 4_000, "openai", too_large="drop")


WORDS = " ".join(f"word{i}" for i in range(40_000))
LONG = {
    "words": WORDS,
    "html": "".join(f'<div class="c{i}"><p>{i}</p></div>' for i in range(9_000)),
    "base64": b64encode(random.Random(1).randbytes(225_000)).decode(),
}


@pytest.mark.parametrize("kind", LONG)
@pytest.mark.parametrize("budget", [400, 1_500, 30_000])
def test_the_newest_result_keeps_its_head_and_its_tail_even_in_one_line(kind: str, budget: int) -> None:
    messages = [question("openai", "Read it."), *exchange("openai", 1, LONG[kind])]
    selection = select(messages, budget, "openai")
    said = texts_of(selection)[2]
    head, missing, tail = re.split(r"\n\[\.\.\. ([\d,]+) characters left out \.\.\.\]\n", said)
    assert len(head) >= 40
    assert len(tail) >= 40
    assert LONG[kind].startswith(head)
    assert LONG[kind].endswith(tail)
    assert len(head) + int(missing.replace(",", "")) + len(tail) == len(LONG[kind])
    assert selection.total_tokens <= budget
    if kind == "words":
        assert head.endswith(" ")
        assert tail.startswith("word")
    # It is said in the call that shortens, and not again.
    before, after = selection.shortened[0].original_tokens, selection.shortened[0].tokens
    why = "because what must stay did not fit into the budget"
    assert selection.notes == (f"messages[2] was shortened from {before:,} to {after:,} tokens, {why}",)
    later = [*messages, *exchange("openai", 2, "done")]
    assert texts_of(select(later, budget, "openai", previous=selection))[2] == said
    assert select(later, budget, "openai").notes == ()


def test_results_become_stubs_only_if_not_even_a_little_of_them_fits() -> None:
    messages = [question("openai", "Read it."), *exchange("openai", 1, WORDS)]
    least = next(n for n in range(100, 2_000, 10) if _fits(messages, n))
    shown = [texts_of(select(messages, n, "openai"))[2] for n in range(least, least + 500, 20)]
    is_stub = [each.startswith("[result left out: ") for each in shown]
    assert is_stub == sorted(is_stub, reverse=True)
    assert {*is_stub} == {True, False}
    assert all("again" not in each for each in shown)


def test_what_fits_a_budget_fits_a_larger_one() -> None:
    """Results that are small since an earlier call become stubs, too, if what must stay does not fit without that."""
    rows = " \n".join(f"row {n} holds value_{n}" for n in range(400))
    messages = [question("openai", "Look."), *exchange("openai", 1, rows), *exchange("openai", 2, rows)]
    fits = [_fits(messages, n, pin=range(len(messages))) for n in range(50, 350, 10)]
    assert fits == sorted(fits)
    assert {*fits} == {False, True}


def _fits(messages: Any, budget: int, **options: Any) -> bool:
    try:
        select(messages, budget, "openai", **options)
    except UnitTooLargeError:
        return False
    return True


def test_several_results_share_what_there_is() -> None:
    calls = [{"id": f"c{n}", "type": "function", "function": {"name": "read", "arguments": "{}"}} for n in range(3)]
    results = [{"role": "tool", "tool_call_id": f"c{n}", "content": f"{n} {WORDS}"} for n in range(3)]
    messages = [question("openai", "Go."), {"role": "assistant", "content": None, "tool_calls": calls}, *results]
    selection = select(messages, 3_000, "openai")
    assert [each.index for each in selection.shortened] == [2, 3, 4]
    assert all(text.startswith(f"{n - 2} word0 ") for n, text in texts_of(selection).items())
    assert "messages[4] was shortened" in selection.notes[0]
    assert ", and so were 2 others, because" in selection.notes[0]
    two = select([*messages[:2], {**results[0], "content": "ok"}, *results[1:]], 3_000, "openai")
    assert ", and so was 1 other, because" in two.notes[0]


def test_only_results_are_shortened_by_default_and_the_last_question_on_request() -> None:
    long = question("openai", f"Why? {WORDS} Answer in French.")
    for too_large in ("results", "drop", "error"):
        with pytest.raises(UnitTooLargeError):
            select([long], 2_000, "openai", too_large=too_large)
    selection = select([long], 2_000, "openai", too_large="shorten")
    [message] = selection.messages
    assert message["content"].startswith("Why? word0 ")
    assert message["content"].endswith(" Answer in French.")
    assert selection.total_tokens <= 2_000
    assert [each.index for each in selection.shortened] == [0]
    assert "messages[0] was shortened from" in selection.notes[0]
    # The next calls send the same text.
    later = [long, *exchange("openai", 1, "done")]
    for previous in (None, selection, loads(MessageSelection, dumps(selection))):
        again = select(later, 2_000, "openai", too_large="shorten", previous=previous)
        assert again.messages[0] == message
        assert again.notes == ()


def test_a_system_prompt_is_never_shortened() -> None:
    messages = [{"role": "system", "content": WORDS}, question("openai", "Why?")]
    with pytest.raises(UnitTooLargeError):
        select(messages, 2_000, "openai", too_large="shorten")
    with pytest.raises(UnitTooLargeError):
        select(messages[:1], 2_000, "openai", too_large="shorten")


def test_a_question_is_shortened_before_results_become_stubs() -> None:
    messages = [question("openai", WORDS), *exchange("openai", 1, WORDS)]
    selection = select(messages, 2_000, "openai", too_large="shorten")
    assert selection.messages[0]["content"].startswith("word0 ")
    assert texts_of(selection)[2].startswith("word0 ")


@pytest.mark.parametrize(
    ("provider", "message", "shorter"),
    [
        (
            "openai",
            {
                "role": "user",
                "content": [
                    {"type": "image_url", "image_url": {"url": "https://example.com/a.png", "detail": "low"}},
                    {"type": "text", "text": WORDS},
                ],
            },
            ("content", 1, "text"),
        ),
        (
            "anthropic",
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Short."},
                    {"type": "text", "text": WORDS, "cache_control": {"type": "ephemeral"}},
                ],
            },
            ("content", 1, "text"),
        ),
        ("gemini", {"role": "user", "parts": [{"text": WORDS}]}, ("parts", 0, "text")),
        ("converse", {"role": "user", "content": [{"text": WORDS}]}, ("content", 0, "text")),
        ("responses", {"type": "message", "role": "user", "content": WORDS}, ("content",)),
        ("interactions", {"type": "user_input", "content": [{"type": "text", "text": WORDS}]}, ("content", 0, "text")),
        ("mistral", {"role": "user", "content": WORDS}, ("content",)),
    ],
)
def test_the_longest_text_of_the_last_question_is_found(provider: Any, message: Any, shorter: Any) -> None:
    selection = select([message], 2_000, provider, too_large="shorten")
    node: Any = selection.messages[0]
    for step in shorter:
        node = node[step]
    assert node.startswith("word0 ")
    assert node.endswith("word39999")
    assert selection.total_tokens <= 2_000


def test_the_text_of_a_file_is_not_shortened() -> None:
    source = {"type": "text", "media_type": "text/plain", "data": WORDS}
    messages = [{"role": "user", "content": [{"type": "document", "source": source}]}]
    with pytest.raises(UnitTooLargeError):
        select(messages, 2_000, "anthropic", too_large="shorten")


def test_old_pictures_may_be_enough() -> None:
    """A turn must stay as a whole, and fits without its pictures."""
    messages = history("anthropic", 6)
    for n in (2, 4):
        messages[n]["content"][0]["content"] = [PICTURE]
    selection = select(messages, 4_000, "anthropic", too_large="shorten", unit="turn")
    assert [each.index for each in selection.shortened] == [2, 4]
    assert len(selection.messages) == len(messages)


def test_messages_that_the_provider_refuses_have_no_results() -> None:
    messages = [*history("openai", 9), {"role": "tool", "tool_call_id": "nobody", "content": log(1)}]
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    messages[:0] = [{"role": "user", "content": [picture]}]
    selection = select(messages, 4_000, "openai", shorten="results")
    assert selection.shortened
    assert selection.dropped[-1].index == len(messages) - 1


def test_a_bad_maker_is_named() -> None:
    class Longer:
        def shorten(self, item: ContextItem, _: ShortenContext, /) -> list[ContextItem]:
            return [make_version(item, item.content * 2, item.tokens * 2, "Longer")]

    with pytest.raises(ShortenerContractError, match=r"Longer.shorten returned a version of \d+ tokens"):
        select(history("openai", 20), 4_000, "openai", shorten=Longer())


def test_selections_may_be_made_asynchronously() -> None:
    messages = history("openai", 20)
    selection = asyncio.run(aselect_messages(messages, 4_000, counter=quarter, shorten=Shorten(keep=2)))
    assert selection == select(messages, 4_000, "auto", shorten=Shorten(keep=2))


def test_the_newest_results_may_be_those_of_calls_made_together() -> None:
    messages = history("anthropic", 8)
    for n in (12, 11):
        messages[n]["content"] += messages.pop(n + 2)["content"]
    assert not lint_messages(messages, "anthropic")
    selection = select(messages, 3_300, "anthropic", shorten="results", stable=False)
    assert len(selection.messages) == len(messages)
    assert {each.index for each in selection.shortened} >= {2, 4}
    assert not {each.index for each in selection.shortened} & {12, 14}
