"""How full a prompt is, and what leaves too little to cut."""

from __future__ import annotations

from typing import Any

import pytest

from pycupel import ContextBudget
from pycupel.messages import MessageSelection, select_messages
from pycupel.wire import dumps, loads


def said(role: str, letters: int) -> dict[str, Any]:
    return {"role": role, "content": "x" * letters}


def select(messages: list[Any], budget: Any, **options: Any) -> MessageSelection[Any]:
    chosen: MessageSelection[Any] = select_messages(messages, budget, provider="openai", counter=len, **options)
    return chosen


def test_fill_is_the_share_of_the_most_that_may_be_sent() -> None:
    selection = select([said("user", 400)], 1_003, system="y" * 96)
    # 3 of the tokens are for the start of the reply.
    assert selection.fill == selection.usage.prompt / 1_000
    assert 0.5 < selection.fill < 0.52
    assert loads(MessageSelection, dumps(selection)).fill == selection.fill
    half = select([said("user", 400)], ContextBudget(2_003, 1_003, output_reserve=1_000), system="y" * 96)
    assert half.fill == selection.fill


def test_fill_is_never_above_one() -> None:
    alone = select([], 103, system="y" * 96)
    assert 0.9 < alone.fill <= 1.0
    assert select([], 50, system="y" * 96).fill == 1.0
    assert select([], 0).fill == 1.0
    assert select([], 1_000).fill == 0.0


@pytest.mark.parametrize("stored", [False, True])
def test_fill_counts_the_summary(stored: bool) -> None:
    messages = [said("assistant" if n % 2 else "user", 50) for n in range(61)]
    selection = select(messages, 1_003, summarize=lambda _dropped, _last: "s" * 20)
    assert selection.summary
    kept = loads(MessageSelection, dumps(selection)) if stored else selection
    assert kept.fill == selection.usage.prompt / 1_000


NEAR = "the cut removed only "


def turns(first: dict[str, Any], count: int) -> list[Any]:
    return [first, *(said("assistant" if n % 2 else "user", 20) for n in range(count))]


def notes_of(selection: MessageSelection[Any]) -> list[str]:
    return [note for note in selection.notes if note.startswith(NEAR)]


def test_a_small_cut_names_the_largest_thing_that_must_stay() -> None:
    history = turns(said("system", 900), 41)
    found = {n: notes_of(select(history[:n], 1_003)) for n in range(2, len(history), 2)}
    cuts = {n: select(history[:n], 1_003).cut for n in found}
    assert any(cuts.values())
    assert {n for n, notes in found.items() if notes} == {n for n, cut in cuts.items() if cut}
    [note] = next(notes for notes in found.values() if notes)
    assert note.endswith("; the largest thing that must stay is messages[0], with 904 tokens")
    # Without room to grow, every cut is small.
    assert not any(notes_of(select(history[:n], 1_003, stable=False)) for n in found)


def test_what_is_beside_the_messages_may_be_the_largest() -> None:
    history = turns(said("user", 20), 40)
    for n in range(3, len(history), 2):
        for note in notes_of(select(history[:n], 1_003, system="x" * 900)):
            assert "the largest thing that must stay is the system prompt, with 9" in note
            return
    pytest.fail("no cut was small")


def test_an_exchange_is_named_by_its_messages() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    exchange = [{"role": "assistant", "content": "", "tool_calls": [call]}]
    exchange.append({"role": "tool", "tool_call_id": "c1", "content": "x" * 700})
    history = [*turns(said("user", 20), 4), *exchange]
    notes = [note for budget in range(780, 900, 10) for note in notes_of(select(history, budget))]
    assert notes
    assert all("is messages[5:7], with 7" in note for note in notes)


def test_a_cut_that_lasts_has_no_note() -> None:
    history = turns(said("system", 20), 81)
    selections = [select(history[:n], 1_003) for n in range(2, len(history), 2)]
    assert any(each.cut for each in selections)
    assert not any(notes_of(each) for each in selections if each.cut and each.cut.removed > 100)
