"""Every single value of the messages in the corpus, and of what is sent beside them, replaced by a hostile one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from pycupel.messages import lint_messages, select_messages
from pycupel.messages.options import ProviderName
from tests.examples import some_of
from tests.fuzz.mutations import HOSTILE, Drawn, corpus
from tests.fuzz.readers import check_messages, refusable

# The first raises at every touch. The others are of no use as texts, ids, lists or dicts.
VALUES: tuple[Any, ...] = (*HOSTILE[:2], *HOSTILE[7:9], 5, "", [], {})
PROVIDERS: tuple[ProviderName, ...] = ("openai", "anthropic", "gemini")
BESIDE: dict[str, list[Any]] = {
    "documents": [
        {"text": "a", "id": "k", "score": 0.5, "timestamp": "2025-01-01T00:00:00Z", "kind": "Document"},
        {
            "type": "resource",
            "resource": {"uri": "file:///x", "text": "b", "annotations": {"lastModified": "2025-01-01T00:00:00Z"}},
            "annotations": {"priority": 0.1},
        },
        {"page_content": "c", "metadata": {"source": "x"}},
    ],
    "tools": [
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}},
        {"name": "g", "description": "d", "input_schema": {"type": "object"}},
        {"functionDeclarations": [{"name": "h", "description": "d", "parameters": {}}]},
    ],
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
}


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys that lead to each value inside."""
    if path:
        yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield from paths(member, (*path, key))


def variants(document: Any) -> Iterator[Any]:
    text = json.dumps(document)
    for path in some_of(paths(document)):
        for value in VALUES:
            changed = parent = json.loads(text)
            for key in path[:-1]:
                parent = parent[key]
            parent[path[-1]] = value
            yield changed


@pytest.mark.parametrize("text", corpus("messages"))
def test_a_hostile_value_in_a_message_is_refused_or_passed_over(text: str) -> None:
    for changed in variants(json.loads(text)):
        check_messages(Drawn(changed))


@pytest.mark.parametrize("name", BESIDE)
def test_a_hostile_value_beside_the_messages_is_refused_or_passed_over(name: str) -> None:
    history = [{"role": "user", "content": "Hello"}]
    for changed in variants(BESIDE[name]):
        for provider in PROVIDERS:
            beside: dict[str, Any] = {name: changed}
            refusable(partial(select_messages, history, 1000, provider=provider, counter=len, **beside))
            if name != "documents":
                refusable(partial(lint_messages, history, provider, **beside))
