"""One history has one size, whoever counts it, and the same kinds everywhere."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, strategies as st

from pycupel.messages import count_messages, select_messages, to_items, tokens_by_kind
from pycupel.messages.counting import KINDS
from pycupel.messages.options import ResolvedProviderName
from pycupel.messages.providers import PROVIDERS
from pycupel.replay import AS_LOGGED, History, context_usage, read_log, replay
from tests.examples import examples
from tests.messages.histories import histories

SYSTEMS = st.none() | st.just("Be brief.") | st.just([{"type": "text", "text": "Be brief."}])
TOOLS = st.none() | st.just([{"name": "read", "description": "Reads.", "input_schema": {"type": "object"}}])


def quarter(text: str) -> int:
    return (len(text) + 3) // 4


@pytest.mark.parametrize("provider", PROVIDERS)
@examples(40)
@given(st.data())
def test_every_view_of_a_history_shows_the_same_numbers(provider: ResolvedProviderName, data: st.DataObject) -> None:
    messages = data.draw(histories(provider))
    system, tools = data.draw(SYSTEMS), data.draw(TOOLS)
    size = count_messages(messages, provider, quarter, system=system, tools=tools)
    kinds = tokens_by_kind(messages, provider, quarter)
    beside = {
        "system": count_messages([], provider, quarter, system=system),
        "tools": count_messages([], provider, quarter, tools=tools),
    }
    whole = Counter(kinds) + Counter(beside)
    assert set(whole) <= set(KINDS)
    assert all(tokens > 0 for tokens in kinds.values()), "nothing is counted twice and taken away again"
    assert sum(whole.values()) == size

    selection = select_messages(
        messages, 10 * size + 1_000, provider=provider, counter=quarter, system=system, tools=tools
    )
    usage = selection.usage
    assert not selection.dropped
    assert usage.prompt == size
    assert usage.window == usage.prompt + usage.reply + usage.free
    shown = {**usage.history, "system": usage.system, "tools": usage.tools}
    assert Counter({kind: tokens for kind, tokens in shown.items() if tokens}) == whole
    assert sum(item.tokens for item in to_items(messages, provider, counter=quarter)) == selection.total_tokens

    # The whole history is the prompt of the last call, if it ends with something that the model has to answer.
    ask = PROVIDERS[provider].user_message("And now?")
    history = History((*messages, ask), provider, system=system, tools=tuple(tools or ()))
    asked = count_messages(history.messages, provider, quarter, system=system, tools=tools)
    window = context_usage(history, counter=quarter)
    rows = Counter[str]()
    for row in window.rows:
        rows[row.kind] += row.tokens
    assert rows == Counter(beside) + Counter(tokens_by_kind(history.messages, provider, quarter))
    assert window.total == asked == max(each.tokens for each in window.growth), "the axis of the growth, too"
    [sent] = replay(history, 10 * size + 1_000, [AS_LOGGED], counter=quarter)
    assert sent.largest == asked
    if all(finding.severity == "warning" for finding in window.findings):
        # A policy leaves out a call that the user interrupted.
        [kept] = replay(history, 10 * size + 1_000, ["chat"], counter=quarter)
        assert kept.largest == asked


def test_the_calls_of_langchain_count_once() -> None:
    """Issue: they were counted twice, so that the assistant's tokens were negative."""
    call = {"type": "tool_call", "id": "c1", "name": "read", "args": {"path": "src/a.py"}}
    message: dict[str, Any] = {"type": "ai", "content": "", "tool_calls": [call]}
    answer = {"type": "tool", "tool_call_id": "c1", "content": "done"}
    usage = select_messages([{"type": "human", "content": "go"}, message, answer], 1_000, counter=len).usage
    assert usage.history == {"user": 6, "assistant": 4, "tool_calls": 4 + len('{"path":"src/a.py"}'), "tool_results": 8}


@pytest.mark.parametrize("kind", ["screenshot", "image_url", "computer_screenshot", "input_image", "image"])
def test_every_image_counts_as_one(kind: str) -> None:
    """Issue: one that was sent as a screenshot had the price of an image, and was listed as the user's."""
    message = {"role": "user", "content": [{"type": kind, "image_url": "data:..."}, {"type": "text", "text": "look"}]}
    request = {"model": "gpt-4o", "messages": [message]}
    assert tokens_by_kind([message], "openai", len) == {"user": 8, "images": 765}
    [row] = [row for row in context_usage(read_log([json.dumps(request)]), counter=len).rows if row.kind == "images"]
    assert row.parts == 1
