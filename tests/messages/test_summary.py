"""Summaries of what was dropped: where they stand, when they are made, and what happens if there is none."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pycupel import wire
from pycupel.errors import DocumentError, InvalidArgumentError
from pycupel.messages import Cut, MessageSelection, Summarize, aselect_messages, count_messages
from pycupel.messages.options import ProviderName
from tests.messages.chats import Message, answer, cost, errors, exchange, question, select, small_talk, system
from tests.messages.histories import PROVIDERS, WRITERS, Exchange
from tests.messages.mistral_oracle import rejected_by_mistral
from tests.messages.stand_ins import as_object


def not_yet(dropped: list[Any], last: Any) -> None:
    return None


class Summarizer:
    """Says how many messages it was given, and remembers all calls."""

    def __init__(self, text: str | None = None) -> None:
        self.text = text
        self.calls: list[tuple[list[Any], str | None]] = []

    def __call__(self, dropped: list[Any], last: str | None) -> str:
        self.calls.append((dropped, last))
        return self.text or f"{last or ''}{len(dropped)}, "


def test_what_is_dropped_becomes_one_message_behind_the_system_prompt() -> None:
    history = [system("one"), *small_talk(60)]
    summarize = Summarizer("They talked.")
    selection = select(history, 600, summarize=Summarize(summarize, tokens=50))
    message = {"role": "user", "content": "They talked."}
    assert selection.messages == [*history[:2], message, *(history[n] for n in selection.kept[2:])]
    assert selection.summary == "They talked."
    assert selection.total_tokens == cost(selection.messages)
    assert selection.usage.free == 600 - 3 - selection.total_tokens
    assert summarize.calls == [([history[each.index] for each in selection.dropped], None)]
    assert wire.loads(MessageSelection, wire.dumps(selection)) == selection


def test_nothing_is_summarised_as_long_as_nothing_is_dropped() -> None:
    summarize = Summarizer()
    selection = select(small_talk(5), 600, summarize=summarize)
    assert (selection.summary, summarize.calls) == (None, [])
    broken = [question(), {"role": "tool", "tool_call_id": "nobody", "content": "x"}, answer()]
    assert select(broken, 600, summarize=summarize).summary is None
    assert summarize.calls == []


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_provider_accepts_it(provider: ProviderName) -> None:
    writer = WRITERS[provider]
    history: list[Message] = writer.system("Be brief.") if provider != "anthropic" else []
    for n in range(20):
        history += writer.user(f"question {n}", picture=False)
        history += writer.exchange(Exchange(((f"call{n:05d}", "read"),), (0,)))
        history += writer.assistant(f"answer {n}", thinks=False)
    history += writer.user("last", picture=False)
    for budget in (300, 500, 800):
        selection = select(history, budget, provider=provider, summarize=Summarize(Summarizer("So far."), tokens=30))
        assert selection.summary == "So far."
        assert errors(selection.messages, provider) == []
        assert provider != "mistral" or rejected_by_mistral(selection.messages) is None
        made = selection.messages[len(writer.system("x")) if provider != "anthropic" else 0]
        if provider == "converse":
            # Two messages of the user may not follow each other, so it is at the start of the first one.
            assert made["content"][0] == {"text": "So far."}
            assert made["content"][1:] == history[selection.kept[0]]["content"]
            continue
        shapes: dict[str, Any] = {
            "gemini": {"role": "user", "parts": [{"text": "So far."}]},
            "interactions": {"type": "user_input", "content": [{"type": "text", "text": "So far."}]},
        }
        assert made == shapes.get(provider, {"role": "user", "content": "So far."})


@pytest.mark.unmeasured
def test_cuts_do_not_depend_on_the_text() -> None:
    history = small_talk(100)
    for end in range(60, 200, 6):
        texts = ("x", "y" * 40, "z" * 500, None)
        kept = {select(history[:end], 600, summarize=Summarize(lambda *_, t=text: t, tokens=60)).kept for text in texts}
        assert kept == {select(history[:end], 600, summarize=Summarize(not_yet, tokens=60)).kept}


def test_with_the_previous_selection_it_is_called_at_cuts_only() -> None:
    history = small_talk(100)
    summarize = Summarizer()
    previous: MessageSelection | None = None
    cuts = 0
    for end in range(2, len(history) + 1, 2):
        before = len(summarize.calls)
        selection = select(history[:end], 600, summarize=Summarize(summarize, tokens=80), previous=previous)
        cuts += selection.cut is not None
        assert len(summarize.calls) - before == (selection.cut is not None)
        if previous is not None and selection.cut is None:
            assert selection.summary == previous.summary
            assert selection.stable_prefix_tokens == previous.total_tokens
        elif selection.cut is not None:
            assert selection.stable_prefix_tokens == cost(history[:1])
            assert selection.cut.rewritten == selection.total_tokens - cost(history[:1])
        previous = selection
    assert cuts > 3
    assert previous is not None
    assert [last for _, last in summarize.calls[1:]] == [
        "".join(f"{len(each)}, " for each, _ in summarize.calls[:n]) for n in range(1, cuts)
    ]
    assert sum(len(each) for each, _ in summarize.calls) == len(previous.dropped)
    # Without it, once, with everything.
    alone = Summarizer()
    assert select(history, 600, summarize=Summarize(alone, tokens=80)).kept == previous.kept
    assert [len(each) for each, _ in alone.calls] == [len(previous.dropped)]


def fail(dropped: list[Any], last: str | None) -> str:
    raise ValueError("no model")


async def later(dropped: list[Any], last: str | None) -> str:
    await asyncio.sleep(0)
    return f"{len(dropped)} messages"


@pytest.mark.parametrize(
    ("summarize", "note"),
    [
        (fail, "summarize raised ValueError('no model')"),
        (lambda *_: "x" * 57, "the summary needs 61 tokens, but there is room for 60; see Summarize(tokens=)"),
        (lambda *_: 5, "summarize must return a non-empty str, a compaction block or None, not 5 (int)"),
        (lambda *_: " ", "summarize must return a non-empty str, a compaction block or None, not ' ' (str)"),
        (lambda *_: {"type": "compaction", "content": "x"}, "openai has no compaction blocks; return a text"),
        (later, "summarize returned a coroutine; use aselect_messages"),
    ],
)
def test_without_a_summary_that_fits_the_selection_is_what_it_would_be(summarize: Any, note: str) -> None:
    history = small_talk(60)
    selection = select(history, 600, summarize=Summarize(summarize, tokens=60))
    plain = select(history, 600, summarize=Summarize(not_yet, tokens=60))
    assert selection.notes == (f"no summary: {note}",)
    assert (selection.messages, selection.kept, selection.cut) == (plain.messages, plain.kept, plain.cut)
    assert selection.summary is None


def test_one_that_failed_is_tried_again_at_the_next_cut_with_everything() -> None:
    history = small_talk(100)
    summarize = Summarizer()
    failed = select(history[:60], 600, summarize=Summarize(fail, tokens=60))
    assert failed.dropped
    quiet = select(history[:62], 600, summarize=Summarize(summarize, tokens=60), previous=failed)
    assert (quiet.cut, quiet.summary, quiet.notes, summarize.calls) == (None, None, (), [])
    selection = select(history, 600, summarize=Summarize(summarize, tokens=60), previous=quiet)
    assert summarize.calls == [([history[each.index] for each in selection.dropped], None)]
    assert selection.summary is not None


def test_a_previous_selection_that_was_made_without_a_summary_does_not_keep_one_from_being_made() -> None:
    history = small_talk(60)
    without = select(history, 600)
    selection = select(history, 600, summarize=Summarize(Summarizer("So far."), tokens=60), previous=without)
    assert selection.summary == "So far."
    assert [note.partition(":")[0] for note in selection.notes] == ["previous was ignored"]


def shared(first: list[Any], second: list[Any]) -> int:
    """How many messages two prompts have in common at their start."""
    pairs = zip(first, second, strict=False)
    return next((n for n, (one, other) in enumerate(pairs) if one != other), min(len(first), len(second)))


@pytest.mark.parametrize("fails", [False, True], ids=["works", "fails at every other cut"])
def test_what_a_cut_rewrites_starts_at_the_first_change_whether_the_summary_changes_or_not(fails: bool) -> None:
    counts = iter(range(1_000))

    def summarize(dropped: list[Any], last: str | None) -> str:
        n = next(counts)
        return fail(dropped, last) if fails and n % 2 else f"summary {n}"

    history = [system(), question("Tidy up.")]
    previous: MessageSelection | None = None
    seen: set[bool] = set()
    for n in range(30):
        history += exchange(f"call{n}", "\n".join(f"name_{n}_{line} = {line}" for line in range(n % 7 * 8)))
        options: dict[str, Any] = {"shorten": "results", "summarize": Summarize(summarize, tokens=30)}
        selection = select(history, 2_500, previous=previous, **options)
        if previous is not None and selection.cut is not None:
            same = cost(selection.messages[: shared(previous.messages, selection.messages)])
            assert selection.stable_prefix_tokens == same
            assert selection.cut.rewritten == selection.total_tokens - same
            seen.add(selection.summary == previous.summary)
        previous = selection
    assert seen == {True, False}


def test_one_that_fails_keeps_the_last_one() -> None:
    history = small_talk(100)
    good = select(history[:60], 600, summarize=Summarize(Summarizer("So far."), tokens=60))
    # Stored and loaded, because the next call may be in another process.
    previous = wire.loads(MessageSelection, wire.dumps(good))
    end = 62
    while (failed := select(history[:end], 600, summarize=Summarize(fail, tokens=60), previous=previous)).cut is None:
        end += 2
    assert (failed.summary, failed.summarized, failed.summary_failed) == ("So far.", good.summarized, True)
    assert failed.messages[1] == {"role": "user", "content": "So far."}
    assert failed.total_tokens == cost(failed.messages)
    assert failed.notes == ("the last summary stays: summarize raised ValueError('no model')",)
    # It is not retried before the next cut, however many calls there are until then; then, with all that is missing.
    summarize = Summarizer("All.")
    quiet = again = failed
    for later in range(end + 2, 200, 2):
        again = select(history[:later], 600, summarize=Summarize(summarize, tokens=60), previous=quiet)
        if again.cut is not None:
            break
        assert (again.summary, again.notes, again.summary_failed, summarize.calls) == ("So far.", (), True, [])
        quiet = again
    assert quiet is not failed
    missing = [history[each.index] for each in again.dropped if each.index not in good.summarized]
    assert summarize.calls == [(missing, "So far.")]
    assert again.summarized == tuple(each.index for each in again.dropped)
    assert not again.summary_failed


def test_none_means_not_yet() -> None:
    """The function is asked again at the next call, and a summary that comes between two cuts costs the prefix."""
    history = small_talk(100)
    answers: list[str | None] = [None, None, "First.", None, "Second."]
    asked: list[tuple[int, str | None]] = []

    def summarize(dropped: list[Any], last: str | None) -> str | None:
        asked.append((len(dropped), last))
        return answers[len(asked) - 1]

    def step(end: int, previous: MessageSelection | None) -> MessageSelection:
        return select(history[:end], 600, summarize=Summarize(summarize, tokens=60), previous=previous)

    first = step(60, None)
    many = len(first.dropped)
    assert (first.summary, first.summarized, first.summary_failed, first.notes) == (None, (), False, ())
    second = step(62, first)
    assert (second.summary, second.cut) == (None, None)
    third = step(64, wire.loads(MessageSelection, wire.dumps(second)))
    assert asked == [(many, None)] * 3
    assert (third.summary, third.summarized) == ("First.", tuple(each.index for each in third.dropped))
    system_tokens = cost(history[:1])
    assert third.cut == Cut(0, third.total_tokens - system_tokens)
    assert third.stable_prefix_tokens == system_tokens
    assert step(66, third).cut is None
    assert len(asked) == 3
    end = 68
    while (cut := step(end, third)).cut is None:
        end += 2
    assert (cut.summary, cut.summarized) == ("First.", third.summarized)
    fresh = len(cut.dropped) - many
    last = step(end + 2, cut)
    assert asked[3:] == [(fresh, "First.")] * 2
    assert (last.summary, len(last.summarized)) == ("Second.", many + fresh)
    # Without the previous selection, there is no last summary.
    answers.append("Anew.")
    assert step(end + 2, None).summarized == last.summarized
    assert asked[5:] == [(many + fresh, None)]


BLOCK = {"type": "compaction", "content": "So far."}
ENCRYPTED = {"type": "compaction", "encrypted_content": "A" * 80}


@pytest.mark.parametrize("make", [dict, as_object])
@pytest.mark.parametrize(
    ("provider", "block", "message"),
    [
        ("anthropic", BLOCK, {"role": "assistant", "content": [BLOCK]}),
        ("responses", ENCRYPTED, ENCRYPTED),
    ],
)
def test_it_may_be_a_compaction_block(
    provider: ProviderName, block: dict[str, Any], message: dict[str, Any], make: Any
) -> None:
    history = small_talk(100)[1:]
    seen: list[Any] = []

    def summarize(dropped: list[Any], last: dict[str, Any] | None) -> dict[str, Any]:
        seen.append(last)
        made: dict[str, Any] = make(block)
        return made

    options: dict[str, Any] = {"provider": provider, "summarize": Summarize(summarize, tokens=60)}
    first = select(history[:80], 600, **options)
    assert (first.summary, first.messages[0], first.notes) == (block, message, ())
    assert errors(first.messages, provider) == []
    assert first.total_tokens == first.usage.prompt == count_messages(first.messages, provider, len)
    stored = wire.loads(MessageSelection, wire.dumps(first))
    assert stored == first
    assert select(history, 600, **options, previous=stored).summary == block
    assert seen == [None, block]


@pytest.mark.parametrize(
    ("provider", "block", "problem"),
    [
        ("anthropic", {**BLOCK, "content": None}, "summarize returned a compaction block without content"),
        ("anthropic", {**BLOCK, "content": "x" * 99}, "the summary needs 102 tokens, but there is room for 60; see"),
        ("responses", {**ENCRYPTED, "encrypted_content": 5}, "summarize returned a compaction block that cannot be"),
    ],
)
def test_a_block_that_cannot_be_sent(provider: ProviderName, block: dict[str, Any], problem: str) -> None:
    selection = select(small_talk(60)[1:], 600, provider=provider, summarize=Summarize(lambda *_: block, tokens=60))
    assert selection.summary is None
    assert [note.startswith(f"no summary: {problem}") for note in selection.notes] == [True]


def test_a_block_cannot_replace_the_one_in_the_history() -> None:
    history = [{"role": "assistant", "content": [BLOCK]}, *small_talk(60)[1:]]
    options: dict[str, Any] = {"provider": "anthropic"}
    text = select(history, 600, **options, summarize=Summarize(Summarizer("Since then."), tokens=60))
    assert text.messages[1] == {"role": "user", "content": "Since then."}
    selection = select(history, 600, **options, summarize=Summarize(lambda *_: BLOCK, tokens=60))
    assert selection.notes == (
        "no summary: a second compaction block would stand for the one in the history; return a text",
    )


def test_a_newer_compaction_stands_for_the_last_summary() -> None:
    history = small_talk(60)[1:]
    summarize = Summarizer("So far.")
    options: dict[str, Any] = {"provider": "anthropic", "summarize": Summarize(summarize, tokens=60)}
    first = select(history, 600, **options)
    assert first.summary == "So far."
    later = [*history, {"role": "assistant", "content": [BLOCK]}, *small_talk(5)[1:]]
    second = select(later, 600, **options, previous=first)
    assert (second.summary, second.summarized) == (None, ())
    third = select([*later, *small_talk(60)[1:]], 600, **options, previous=second)
    assert [last for _, last in summarize.calls] == [None, None]
    assert min(third.summarized) > len(history)
    # The same if a cut comes with the compaction.
    both = select([*later, *small_talk(60)[1:]], 600, **options, previous=first)
    assert (both.summary, both.summarized) == (third.summary, third.summarized)


def test_a_stored_summary_is_a_text_or_a_block() -> None:
    selection = select(small_talk(60), 600, summarize=Summarize(Summarizer("So far."), tokens=60))
    document = wire.to_dict(selection)
    with pytest.raises(DocumentError, match=r"summary: must be a text or a block, not 5"):
        wire.from_dict(MessageSelection, {**document, "summary": 5})


def test_a_note_has_room_for_what_a_summary_failed_of() -> None:
    def summarize(dropped: list[Any]) -> str:
        raise NotImplementedError

    wrong: Any = summarize
    selection = select(small_talk(60), 600, summarize=Summarize(wrong, tokens=60))
    assert selection.notes[0].endswith("takes 1 positional argument but 2 were given')")


def test_five_percent_are_kept_free_unless_the_caller_says_how_much() -> None:
    history = small_talk(60)
    free = 5 * 997 // 100
    selection = select(history, 1_000, summarize=lambda *_: "x" * (free - 4))
    assert selection.kept == select(history, 1_000, summarize=Summarize(not_yet, tokens=free)).kept
    assert selection.summary == "x" * (free - 4)
    assert select(history, 1_000, summarize=lambda *_: "x" * (free - 3)).summary is None


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (("short",), TypeError, "summarize must be a function"),
        ((fail, 0.5), TypeError, "tokens must be an int"),
        ((fail, -1), InvalidArgumentError, "tokens must be 0 or more"),
    ],
)
def test_options_that_make_no_sense(options: tuple[Any, ...], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        select(small_talk(3), 1_000, summarize=Summarize(options[0], tokens=(*options, None)[1]))


# With a coroutine


def aselect(messages: Any, budget: Any, **options: Any) -> MessageSelection:
    selection: MessageSelection = asyncio.run(aselect_messages(messages, budget, counter=len, **options))
    return selection


async def fail_later(dropped: list[Any], last: str | None) -> str:
    await asyncio.sleep(0)
    raise ValueError("no model")


def test_a_coroutine_is_awaited() -> None:
    history = small_talk(60)
    selection = aselect(history, 600, summarize=Summarize(later, tokens=60))
    assert selection.summary == f"{len(selection.dropped)} messages"
    assert selection == select(history, 600, summarize=Summarize(lambda *_: selection.summary, tokens=60))
    assert aselect(history, 600, summarize=Summarize(later, tokens=60), previous=selection).summary == selection.summary
    assert aselect(history, 600, summarize=Summarize(lambda *_: "plain", tokens=60)).summary == "plain"
    assert aselect(history, 600) == select(history, 600)
    failed = aselect(history, 600, summarize=Summarize(fail_later, tokens=60))
    assert failed.notes == ("no summary: summarize raised ValueError('no model')",)


def test_other_options_are_refused() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'budgett'"):
        aselect(small_talk(3), 1_000, budgett=5)
