"""Messages that are broken on purpose, or made of objects that do not behave: an error of ours that names the place."""

from __future__ import annotations

from typing import Any

import pytest

from pycupel.errors import InvalidArgumentError, MessageShapeError
from pycupel.messages import lint_messages, select_messages
from pycupel.messages.options import ProviderName
from pycupel.tokens import count_messages


class Hostile:
    """Raises whatever it is asked."""

    def _refuse(self, *_: object) -> Any:
        raise RuntimeError

    __eq__ = __repr__ = __len__ = __hash__ = __bool__ = __str__ = _refuse


STRANGE = [["text"], {"a": 1}, 5, True, Hostile()]
strange = pytest.mark.parametrize("value", STRANGE, ids=lambda value: type(value).__name__)


def said(value: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": value, "text": "b"}]}


@strange
@pytest.mark.parametrize(
    ("provider", "key"),
    [("openai", "content[1].type"), ("mistral", "content[1].type"), ("anthropic", "content[1].type")],
)
def test_the_type_of_a_part_is_a_text(provider: ProviderName, key: str, value: Any) -> None:
    _refused([{"role": "user", "content": "hi"}, said(value)], provider, key)


@strange
def test_the_type_of_an_item_of_responses_is_a_text(value: Any) -> None:
    user = {"role": "user", "content": "hi"}
    _refused([user, {"type": value, "call_id": "c"}], "responses", "type")
    _refused([user, said(value)], "responses", "content[1].type")


@strange
@pytest.mark.parametrize("provider", ["auto", "openai", "responses", "anthropic", "gemini", "mistral"])
def test_a_role_is_a_text(provider: ProviderName, value: Any) -> None:
    user: dict[str, Any] = {"role": "user", "content": "hi"}
    user |= {"parts": ["hi"]} if provider == "gemini" else {}
    _refused([user, {"role": value, "content": "hi"}], provider, "role")


@strange
def test_an_id_is_a_text(value: Any) -> None:
    _refused([{"role": "tool", "tool_call_id": value, "content": "r"}], "openai", "tool_call_id", index=0)


def _refused(messages: list[Any], provider: ProviderName, key: str, index: int = 1) -> None:
    for read in (lambda: lint_messages(messages, provider), lambda: select_messages(messages, 100, provider=provider)):
        with pytest.raises(MessageShapeError) as caught:
            read()
        assert (caught.value.index, caught.value.key) == (index, key)
        assert len(str(caught.value)) < 500


CYCLE: list[Any] = []
CYCLE.append(CYCLE)

# It can be written, but not without `cache_control`.
DEEP: Any = {"cache_control": None}
for _ in range(1_500):
    DEEP = [DEEP]


def nested(depth: int) -> Any:
    value: Any = "deep"
    for _ in range(depth):
        value = [value]
    return value


def thinking(**fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "x"} | fields]}


@pytest.mark.parametrize(
    ("provider", "message", "key"),
    [
        ("anthropic", thinking(signature=5), "signature"),
        ("anthropic", thinking(type="redacted_thinking", data=5), "data"),
        ("responses", {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": True}, "encrypted_content"),
        ("openai", {"role": "assistant", "tool_calls": [{"id": "c", "function": {"arguments": CYCLE}}]}, "arguments"),
        (
            "openai",
            {"role": "assistant", "tool_calls": [{"id": "c", "function": {"arguments": nested(99_999)}}]},
            "arguments",
        ),
        ("anthropic", {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "input": Hostile()}]}, "input"),
        ("openai", {"role": "user", "content": [{"type": "text", "content": nested(99_999)}]}, "content"),
        ("gemini", {"role": "model", "parts": [{"function_call": {"name": "f", "args": CYCLE}}]}, "args"),
    ],
)
def test_what_cannot_be_counted_is_named(provider: ProviderName, message: Any, key: str) -> None:
    user: dict[str, Any] = (
        {"role": "user", "parts": ["hi"]} if provider == "gemini" else {"role": "user", "content": "hi"}
    )
    _refused([user, user, message], provider, key, index=2)
    with pytest.raises(MessageShapeError) as caught:
        count_messages([user, message], provider)
    assert (caught.value.index, caught.value.key) == (1, key)


@pytest.mark.parametrize("value", [Hostile(), CYCLE, DEEP], ids=["hostile", "cyclic", "deep"])
def test_what_is_not_part_of_a_message_may_be_anything(value: Any) -> None:
    """It cannot be compared, so no other selection is taken for that of the same history."""
    messages = [{"role": "user", "content": "hi", "metadata": value}] * 3
    previous = select_messages(messages, 100)
    assert previous.messages == messages
    again = select_messages(messages, 100, previous=previous)
    assert again.kept == previous.kept
    assert again.fingerprint != previous.fingerprint


def _cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("argument", "value", "message"),
    [
        ("documents", ["a", {"text": "b", "id": Hostile()}], r"documents\[1\] has an id that cannot be converted"),
        ("tools", [{"name": "f"}, Hostile()], r"tools\[1\] cannot be written as JSON: \.\.\. \(Hostile\)"),
        ("tools", [_cyclic()], r"tools\[0\] cannot be written as JSON"),
        ("system", _cyclic(), "system is nested too deeply"),
    ],
)
def test_what_is_sent_beside_the_messages_is_refused_with_its_place(argument: str, value: Any, message: str) -> None:
    history = [{"role": "user", "content": "hi"}]
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        select_messages(history, 1000, counter=len, **{argument: value})
    assert caught.value.argument == argument
