"""Items with their tokens counted."""

from __future__ import annotations

import pytest

from pycupel import ContextItem
from pycupel.errors import InvalidArgumentError
from pycupel.tokens import estimate_tokens, get_counter, item


def test_an_item_has_its_tokens_counted() -> None:
    assert item("Hello, world!", counter="o200k_base") == ContextItem("Hello, world!", 4)
    assert item("Hello, world!").tokens == get_counter("auto")("Hello, world!")
    assert item("Hello, world!", counter="estimator").tokens == estimate_tokens("Hello, world!")
    assert item("four", counter=len).tokens == 4


def test_an_item_takes_its_other_fields() -> None:
    made = item("four", counter=len, kind="Document", tags=["a"], priority=3, pinned=True)
    assert made == ContextItem("four", 4, kind="Document", tags=["a"], priority=3, pinned=True)


def test_an_item_refuses_what_is_wrong_with_it() -> None:
    with pytest.raises(InvalidArgumentError, match="unknown counter 'o200k'"):
        item("four", counter="o200k")
    with pytest.raises(TypeError, match="tokens"):
        item("four", counter=len, tokens=3)  # type: ignore[call-arg]
