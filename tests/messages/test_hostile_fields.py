"""A value that raises at every touch, in each field of a history in turn, is read or refused by an error of ours."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import pytest

from pycupel.errors import CupelError, MessageShapeError
from pycupel.messages import clear_caches, lint_messages, select_messages, to_items
from pycupel.messages.providers._tables import known_fields
from tests.hostile import Raising
from tests.messages.histories import WRITERS, Features, write_history

FEATURES = Features(
    prompts=1,
    greeting=True,
    thinks=True,
    pictures=True,
    empty=True,
    reminders=True,
    talks=True,
    remarks=True,
    end="exchange",
)
OTHERS = {"role", "type", "content", "parts", "name", "id", "tool_calls", "tool_call_id", "clear_at"}


def replaced(value: Any) -> Iterator[Any]:
    """Copies of a value, each with one field, at any depth, replaced by something hostile."""
    if isinstance(value, dict):
        # Also fields that only other providers have.
        for key in OTHERS - value.keys():
            yield {**value, key: Raising()}
        for key in value:
            for other in (Raising(), *replaced(value[key])):
                yield {**value, key: other}
    elif isinstance(value, list):
        for i, each in enumerate(value):
            for other in (Raising(), *replaced(each)):
                changed = copy(value)
                changed[i] = other
                yield changed


def careful(error: Exception) -> bool:
    return isinstance(error, CupelError) or (isinstance(error, TypeError) and "argument" in vars(error))


@pytest.mark.parametrize("provider", WRITERS)
def test_a_hostile_field_is_read_or_refused(provider: Any) -> None:
    """The fuzzer of readers draws such histories at random, and met a role whose truth cannot be asked."""
    history = write_history(provider, FEATURES, 3, [2, 1, 2])
    tried = 0
    for n, message in enumerate(history):
        for changed in replaced(message):
            messages = [*history[:n], changed, *history[n + 1 :]]
            clear_caches()
            for work in (
                lambda messages=messages: select_messages(messages, 120, provider=provider, counter=len),
                lambda messages=messages: lint_messages(messages, provider),
            ):
                tried += 1
                try:
                    work()
                except Exception as error:
                    if not careful(error):
                        raise
    assert tried > 50


@pytest.mark.parametrize("provider", WRITERS)
def test_fields_of_other_providers_stop_nothing(provider: Any) -> None:
    """Servers add fields of their own to messages, and some are named like parts of another provider."""
    history = write_history(provider, FEATURES, 3, [1])
    refused = []
    for n, message in enumerate(history):
        for name in sorted(known_fields() - message.keys() - {"parts"}):
            for value in ({"name": "f", "id": "q"}, ["a"], "x"):
                try:
                    to_items([*history[:n], {**message, name: value}, *history[n + 1 :]], provider, counter=len)
                except MessageShapeError as error:
                    refused.append(error)
    assert len(refused) < len(history) * 50
