"""Messages that are broken on purpose, or made of objects that do not behave: an error of ours that names the place."""

from __future__ import annotations

from typing import Any

import pytest

from pycupel.errors import MessageShapeError
from pycupel.messages import lint_messages, select_messages
from pycupel.messages.options import ProviderName


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
