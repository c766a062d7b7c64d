"""What holds for every history whose results are shortened, for all five providers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from pycupel.messages import MessageSelection, Shorten, select_messages
from pycupel.messages.options import ProviderName, UnitName
from tests.examples import examples
from tests.messages.histories import PIXEL, PROVIDERS, Message, histories
from tests.property.test_select_messages import (
    EITHER,
    POLICIES,
    UNITS,
    budgets,
    check_selection,
    fits,
    high_mark,
    selected,
)

WORDS = (
    "config_value",
    "src/app/main.py",
    "Error: no such file",
    "nothing",
    "the",
    "retry_count: 3",
    "漢字",
    "🙂",
    "{",
)
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}


def result_places(messages: Sequence[Message]) -> Iterator[tuple[Message, str]]:
    """Where dicts of any provider say what a call has returned."""
    for message in messages:
        if message.get("role") == "tool":
            yield message, "content"
        elif message.get("type") == "function_call_output":
            yield message, "output"
        elif message.get("type") == "function_result":
            yield message, "result"
        blocks = message.get("content") or message.get("parts") or ()
        for block in blocks if isinstance(blocks, list) else ():
            if block.get("type") == "tool_result":
                yield block, "content"
            elif "function_response" in block:
                yield block["function_response"], "response"
            elif "toolResult" in block:
                yield block["toolResult"], "content"


def call_places(messages: Sequence[Message]) -> Iterator[tuple[Message, str]]:
    for message in messages:
        if message.get("type") == "function_call":
            yield message, "arguments"
        for call in message.get("tool_calls") or ():
            yield call["function"], "arguments"
        blocks = message.get("content") or message.get("parts") or ()
        for block in blocks if isinstance(blocks, list) else ():
            if block.get("type") == "tool_use":
                yield block, "input"
            elif "function_call" in block:
                yield block["function_call"], "args"
            elif "toolUse" in block:
                yield block["toolUse"], "input"


def long_text(random: Random) -> str:
    lines = [
        " ".join(random.choices(WORDS, k=random.randint(1, 6))) + str(random.randint(0, 99))
        for _ in range(random.choice((0, 1, 3, 20)))
    ]
    return random.choice(("\n", "\r\n")).join(lines) or "done"


@st.composite
def long_histories(draw: st.DrawFn, provider: str, *, broken: bool = False) -> list[Message]:
    """Histories with long results, some of them pictures or errors, of calls of which some are repeated."""
    messages = deepcopy(draw(histories(provider, broken=broken)))
    random = Random(draw(st.integers(0, 2**16)))
    for place, name in result_places(messages):
        text = long_text(random)
        is_error, has_picture = random.random() < 0.1, random.random() < 0.1
        if name == "response":
            place[name] = {"error" if is_error else "result": text}
        elif "toolUseId" in place:
            place[name] = [{"text": text}] if random.random() < 0.5 else [{"json": {"lines": text.splitlines()}}]
            place.update({"status": "error"} if is_error else {})
        elif place.get("type") == "tool_result":
            place[name] = [{"type": "text", "text": text}, IMAGE] if has_picture else text
            place.update({"is_error": True} if is_error else {})
        else:
            place[name] = text
    for place, name in call_places(messages):
        path = f"file{random.randint(0, 5)}.py"
        place[name] = f'{{"path": "{path}"}}' if name == "arguments" else {"path": path}
    return messages


SHORTENING = st.fixed_dictionaries(
    {
        "shorten": st.builds(Shorten, keep=st.integers(0, 4), exclude=st.sampled_from(((), ("run",)))),
        "too_large": st.sampled_from(("results", "drop", "shorten")),
    }
)


def without_results(messages: Sequence[Message]) -> list[Message]:
    rest = deepcopy(list(messages))
    for place, name in result_places(rest):
        del place[name]
    return rest


def texts(messages: Sequence[Message]) -> list[str]:
    return [str(place.get(name)) for place, name in result_places(messages)]


def check_shortened(selection: MessageSelection, messages: Sequence[Message]) -> None:
    now = dict(zip(selection.kept, selection.messages, strict=True))
    for each in selection.shortened:
        assert 0 < each.tokens < each.original_tokens
        changed, original = now[each.index], messages[each.index]
        assert without_results([changed]) == without_results([original])
        assert list(changed) == list(original)
        assert texts([changed]) != texts([original])


@pytest.mark.parametrize("provider", PROVIDERS)
@given(data=st.data(), broken=EITHER, unit=UNITS, policy=POLICIES, options=SHORTENING)
@examples(30)
def test_any_history_and_any_budget(
    provider: ProviderName, data: st.DataObject, broken: bool, unit: UnitName, policy: str, options: dict[str, Any]
) -> None:
    messages = data.draw(long_histories(provider, broken=broken))
    budget = data.draw(budgets(messages, provider, unit))
    selection = selected(messages, budget, provider, unit, policy=policy, **options)
    plain = selected(messages, budget, provider, unit, policy=policy, shorten=None, too_large="drop")
    if selection is None:
        assert plain is None
        return
    check_selection(selection, messages, provider)
    check_shortened(selection, messages)
    assert fits(selection, budget) or not messages
    if plain is not None and not plain.dropped:
        assert selection.messages == plain.messages
    explained = selected(messages, budget, provider, unit, policy=policy, explain=True, **options)
    assert explained is not None
    assert (explained.messages, explained.shortened) == (selection.messages, selection.shortened)
    assert explained.report is not None
    assert len(explained.report.shortened) <= len(selection.shortened)
    assert explained.report.included_tokens == selection.total_tokens


def is_asked(messages: Sequence[Message], end: int) -> bool:
    """Whether the model may have been asked here: what follows is its answer."""
    roles = [message.get("role", "tool" if "output" in message else "assistant") for message in messages]
    spoken = ["assistant" if role in ("assistant", "model") else "other" for role in roles]
    return end == len(messages) or (spoken[end - 1], spoken[end]) == ("other", "assistant")


@pytest.mark.parametrize("provider", PROVIDERS)
@given(data=st.data(), options=SHORTENING)
@examples(12)
def test_versions_stay_as_they_are_until_they_become_shorter(
    provider: ProviderName, data: st.DataObject, options: dict[str, Any]
) -> None:
    messages = data.draw(long_histories(provider))
    # A budget whose target is the window would leave no room to grow in, and nothing would be stable.
    budget = high_mark(data.draw(budgets(messages, provider, "auto")))
    before: dict[int, Message] = {}
    sizes: dict[int, int] = {}
    for end in [end for end in range(1, len(messages) + 1) if is_asked(messages, end)][:15]:
        selection = selected(messages[:end], budget, provider, "auto", **options)
        if selection is None:
            continue
        now = dict(zip(selection.kept, selection.messages, strict=True))
        sizes_now = {each.index: each.tokens for each in selection.shortened}
        for n, message in before.items():
            if n in now and selection.cut is None:
                assert now[n] == message
            elif n in now and n in sizes:
                assert sizes_now[n] < sizes[n] or now[n] == message
        before, sizes = now, sizes_now


@pytest.mark.parametrize("provider", PROVIDERS)
@given(data=st.data())
@examples(15)
def test_what_fits_is_not_shortened(provider: ProviderName, data: st.DataObject) -> None:
    messages = data.draw(long_histories(provider))
    selection = select_messages(messages, 10**7, provider=provider, shorten="results", too_large="shorten")
    assert selection.shortened == ()
    assert [id(message) for message in selection.messages] == [id(message) for message in messages]
