"""What must hold for a history that is made of the real objects of a provider's library."""

from __future__ import annotations

from typing import Any

from pycupel.messages import lint_messages
from pycupel.messages.detect import detect_provider
from tests.messages.reading import read_messages, units_of

__all__ = ["SHAPE", "check"]

SHAPE = [("user", (0,)), ("exchange", (1, 2, 3)), ("assistant", (4,)), ("user", (5,))]


def check(messages: list[Any], provider: str, expected: list[tuple[str, tuple[int, ...]]]) -> list[str]:
    """The provider is found out, nothing is wrong, and these are the units. Gives their texts."""
    before = repr(messages)
    assert detect_provider(messages).name == provider
    assert lint_messages(messages) == []
    views, units = read_messages(messages, provider), units_of(messages, provider)
    assert [(unit.role, unit.indices) for unit in units] == expected
    assert repr(messages) == before
    return ["\n".join(filter(None, (views[n].text for n in unit.indices))) for unit in units]
