"""What holds for the cost of every message."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from pycupel.tokens import count_messages, message_counter
from pycupel.tokens.messages import PRICES, _Walk
from tests.messages.histories import PROVIDERS, histories
from tests.tokens.stand_ins import as_object

TEXTS = st.text(max_size=8)
NAMES_AND_ARGUMENTS = st.fixed_dictionaries(
    {"name": TEXTS}, optional={"arguments": TEXTS | st.dictionaries(TEXTS, st.integers(), max_size=2)}
)
CALLS = st.fixed_dictionaries({"id": TEXTS}, optional={"type": st.just("function"), "function": NAMES_AND_ARGUMENTS})
PARTS = st.lists(
    st.fixed_dictionaries({"type": st.sampled_from(("text", "image_url", "file"))}, optional={"text": TEXTS})
)
# With any of the fields, so that most of them are no messages of anybody, but nearly.
NEARLY = st.fixed_dictionaries(
    {},
    optional={
        "role": st.just("assistant"),
        "type": st.sampled_from(("message", "image", "document")),
        "content": st.none() | TEXTS | PARTS,
        "tool_calls": st.none() | st.lists(CALLS, max_size=2),
        "tool_call_id": TEXTS,
        **dict.fromkeys(("name", "text", "refusal", "reasoning_content", "signature"), TEXTS),
    },
)


def check(message: Any, provider: str) -> int:
    tokens = message_counter(len, provider)(message)
    prices = PRICES[provider]
    assert tokens == prices.message + _Walk(len, prices).cost(message), "the short way is no other way"
    assert tokens == message_counter(len, provider)(as_object(message)), "a dict costs what an object costs"
    assert tokens >= prices.message
    return tokens


@pytest.mark.parametrize("provider", PROVIDERS)
@settings(deadline=None, max_examples=60)
@given(st.data())
def test_messages_of_providers_cost_the_same_however_they_are_counted(provider: str, data: st.DataObject) -> None:
    messages = data.draw(histories(provider, broken=data.draw(st.booleans())))
    total = sum(check(message, provider) for message in messages) + PRICES[provider].reply
    assert count_messages(messages, provider, len) == total


@settings(deadline=None, max_examples=300)
@given(NEARLY)
def test_what_is_nearly_a_message_costs_the_same_however_it_is_counted(message: dict[str, Any]) -> None:
    check(message, "openai")
