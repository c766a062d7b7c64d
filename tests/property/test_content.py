"""What holds for the text and the cost of every message."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from pycupel.messages.counting import count_messages
from pycupel.messages.options import ProviderName
from pycupel.messages.parts import PartReader, view_of
from pycupel.messages.providers import PROVIDERS
from tests.examples import examples
from tests.messages.histories import histories
from tests.messages.stand_ins import as_object

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


def read(message: Any, provider: str) -> tuple[str, int]:
    reader = PartReader(len, PROVIDERS[provider].prices)
    view = view_of(0, "user", reader(message), reader.overhead)
    return view.text, view.tokens


@pytest.mark.parametrize("provider", PROVIDERS)
@examples(60)
@given(st.data())
def test_messages_are_read_the_same_however_they_are_written(provider: ProviderName, data: st.DataObject) -> None:
    messages = data.draw(histories(provider, broken=data.draw(st.booleans())))
    whole = [read(message, provider) for message in messages]
    views = PROVIDERS[provider].read(messages)
    assert [(view.text, view.tokens) for view in views] == whole, "the short way is no other way"
    assert [read(as_object(message), provider) for message in messages] == whole, "an object says what a dict says"
    assert count_messages(messages, provider, len) == sum(view.tokens for view in views)


@examples(300)
@given(NEARLY)
def test_what_is_nearly_a_message_costs_the_same_however_it_is_written(message: dict[str, Any]) -> None:
    assert read(message, "openai") == read(as_object(message), "openai") >= ("", 3)
    assert read({**message, "unknown": 1}, "openai") == read(message, "openai"), "the short way is no other way"
