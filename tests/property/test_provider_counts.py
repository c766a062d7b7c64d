"""No prompt is larger than the window, by the provider's own count.

OpenAI's is its published formula with its encodings, and Mistral's that of mistral-common. For the others there is no
count offline, so their estimate with its margin must fit. Every history is trimmed at ten budgets.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import Phase, given, strategies as st

from pycupel.errors import UnitTooLargeError
from pycupel.messages import count_messages, select_messages
from pycupel.messages.options import ProviderName
from pycupel.messages.providers import PROVIDERS
from pycupel.replay import read_log
from pycupel.tokens import get_counter
from pycupel.tokens.families import counter_for
from tests.examples import examples
from tests.messages.histories import Message, histories
from tests.messages.mistral_oracle import counted_by_mistral

BUDGETS = 10
SOME = examples(
    8,
    database=None,
    # Making a failure smaller would take minutes.
    phases=[Phase.generate],
)
PIECES = (
    "The quick brown fox jumps over the lazy dog. ",
    "2026-11-16T13:45:12.123Z ERROR [worker-17] 0x7f3a9c timed out after 30000 ms\n",
    '{"id": 12345, "tags": ["a", "b"], "nested": {"x": null, "y": 1.5e-9}}',
    "def f(x: int) -> int:\n    return x + 1  # größer\n",
    "漢字とかな交じり文 🙂👩‍👩‍👧 ",
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    '\t\t"quoted" \\\\path\\\\to\\\\file\n\n\n',
)


def enriched(value: Any, draw: Random) -> Any:
    """The same messages with longer texts, results and arguments of all sorts."""
    if isinstance(value, list):
        return [enriched(each, draw) for each in value]
    if not isinstance(value, dict):
        return value
    changed = {name: enriched(each, draw) for name, each in value.items()}
    for name in ("content", "text", "output"):
        if isinstance(value.get(name), str) and value[name] and draw.random() < 0.5:
            changed[name] = value[name] + draw.choice(PIECES) * draw.choice((1, 1, 2, 5))
    if isinstance(value.get("arguments"), str):
        changed["arguments"] = json.dumps({"q": draw.choice(PIECES)}, ensure_ascii=draw.random() < 0.5)
    return changed


def plain(message: Message) -> Message:
    """Without pictures, thoughts and empty texts, which the oldest tokenizer does not take."""
    parts = message.get("content") or ""
    texts = [parts] if isinstance(parts, str) else [part["text"] for part in parts if part["type"] == "text"]
    text = " ".join(texts).strip() or "Hm."
    return {**message, "content": None if message.get("tool_calls") and text == "Hm." else text}


def counted_by_openai(messages: Sequence[Message], encoding: str) -> int:
    """3 for a message, 1 for its role, 1 for a name, and 3 for the reply; calls by their names and arguments."""
    count = get_counter(encoding)
    total = 3
    for message in messages:
        parts = message.get("content") or ""
        texts = [parts] if isinstance(parts, str) else [part["text"] for part in parts if part["type"] == "text"]
        texts += [text for call in message.get("tool_calls", ()) for text in call["function"].values()]
        pictures = 0 if isinstance(parts, str) else 85 * sum(part["type"] == "image_url" for part in parts)
        total += 3 + count(message["role"]) + pictures + sum(map(count, texts))
        total += 1 + count(message["name"]) if "name" in message else 0
    return total


def trims(messages: Sequence[Message], provider: ProviderName, **options: Any) -> list[tuple[int, list[Message]]]:
    """The history, trimmed to windows of all sizes."""
    size = count_messages(messages, provider, model=options.get("model"))
    found: list[tuple[int, list[Message]]] = []
    for n in range(1, BUDGETS + 1):
        window = size * n // BUDGETS
        try:
            found.append((window, select_messages(messages, window, provider=provider, **options).messages))
        except UnitTooLargeError:
            continue
    return found


@given(st.data(), st.integers(0, 2**32), st.sampled_from((("gpt-4o", "o200k_base"), ("gpt-4", "cl100k_base"))))
@SOME
def test_openai(data: st.DataObject, seed: int, model: tuple[str, str]) -> None:
    draw = Random(seed)
    messages = enriched(data.draw(histories("openai")), draw)
    for message in messages:
        if message["role"] == "user" and draw.random() < 0.2:
            message["name"] = "Ann"
    for window, kept in trims(messages, "openai", model=model[0]):
        assert counted_by_openai(kept, model[1]) <= window


@given(st.data(), st.integers(0, 2**32))
@SOME
def test_mistral(data: st.DataObject, seed: int) -> None:
    messages = [plain(message) for message in data.draw(histories("mistral"))]
    messages = enriched(messages, Random(seed))
    for window, kept in trims(messages, "mistral"):
        if kept[-1]["role"] in ("user", "tool"):
            assert counted_by_mistral(kept) <= window


@pytest.mark.parametrize("provider", ["responses", "anthropic", "gemini"])
@given(data=st.data(), seed=st.integers(0, 2**32))
@SOME
def test_the_others(provider: ProviderName, data: st.DataObject, seed: int) -> None:
    messages = enriched(data.draw(histories(provider)), Random(seed))
    margin = counter_for(None, PROVIDERS[provider].typical_model).margin_percent
    for window, kept in trims(messages, provider):
        assert count_messages(kept, provider) * (1 + margin / 100) <= window


HISTORIES = Path(__file__).parents[3] / "shared/histories"


@pytest.mark.skipif(not HISTORIES.is_dir(), reason="the histories in ../shared/histories are not here")
def test_real_histories() -> None:
    """Every conversation of a booking agent, at ten windows."""
    for history in read_log(HISTORIES / "tau-airline.jsonl.xz").histories:
        for window, kept in trims(history.messages, "openai", model="gpt-4o"):
            assert counted_by_openai(kept, "o200k_base") <= window
