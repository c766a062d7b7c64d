"""What a process remembers of conversations never changes a result."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, strategies as st

from pycupel.errors import CupelError
from pycupel.messages import clear_caches, count_messages, select_messages, set_memory_limit
from pycupel.messages.conversations import DEFAULT_LIMIT
from pycupel.messages.options import ProviderName
from tests.examples import examples
from tests.messages.histories import PROVIDERS, Message
from tests.property.test_shortened_histories import long_histories

# As many histories for each provider as make 10,000 with EXAMPLES=10.
HISTORIES = 10
FAMILIES = 20
OPTIONS = st.fixed_dictionaries(
    {
        "unit": st.sampled_from(("auto", "turn")),
        "shorten": st.sampled_from((None, "results")),
        "stable": st.sampled_from((True, True, True, False)),
        "explain": st.booleans(),
        "documents": st.sampled_from((None, None, ["a document about retry_count", "another one"])),
        "pin": st.sampled_from((None, None, [0])),
        "policy": st.sampled_from(("chat", "tool-use", "document-qa")),
    }
)


@pytest.fixture(autouse=True)
def memory() -> Iterator[None]:
    yield
    set_memory_limit(DEFAULT_LIMIT)


def outcome(messages: list[Message], budget: int, options: dict[str, Any]) -> Any:
    """Everything in a selection, or its error."""
    try:
        selection = select_messages(messages, budget, counter=len, **options)
    except CupelError as error:
        return type(error), str(error), error.__notes__ if hasattr(error, "__notes__") else ()
    found = {each.name: getattr(selection, each.name) for each in fields(selection) if each.name != "memory"}
    report = found.pop("report")
    seen = None if report is None else (report.included, report.excluded, report.notes, report.total_tokens_considered)
    return found, seen, selection.points, selection.fingerprint


def asked(provider: str, text: str) -> Message:
    return {"role": "user", "parts": [{"text": text}]} if provider == "gemini" else {"role": "user", "content": text}


@st.composite
def families(draw: st.DrawFn, provider: str) -> list[list[Message]]:
    """Histories that begin alike: grown, branched off, and edited."""
    whole = draw(long_histories(provider, broken=draw(st.booleans())))
    found: list[list[Message]] = []
    for n in range(HISTORIES):
        history = deepcopy(whole[: draw(st.integers(1, max(1, len(whole))))])
        change = draw(st.sampled_from(("grow", "grow", "branch", "edit", "lose")))
        if change == "branch":
            history += [asked(provider, f"Another question {n}."), *deepcopy(whole[: draw(st.integers(0, 4))])]
        elif change == "edit" and history:
            history[draw(st.integers(0, len(history) - 1))] = asked(provider, f"Edited {n}.")
        elif change == "lose" and history:
            del history[draw(st.integers(0, len(history) - 1))]
        found.append(history)
    return found


@pytest.mark.parametrize("provider", PROVIDERS)
@given(data=st.data(), options=OPTIONS, limit=st.sampled_from((DEFAULT_LIMIT, DEFAULT_LIMIT, 30_000)))
@examples(FAMILIES)
def test_results_are_the_same_with_and_without_memory(
    provider: ProviderName, data: st.DataObject, options: dict[str, Any], limit: int
) -> None:
    histories = data.draw(families(provider))
    size = count_messages(histories[0], provider, len)
    budget = int(size * data.draw(st.sampled_from((0.2, 0.4, 0.6, 0.9, 2.0)))) + 30
    options["provider"] = provider
    set_memory_limit(0)
    expected = [outcome(each, budget, options) for each in histories]
    set_memory_limit(limit)
    order = [*range(len(histories)), *reversed(range(len(histories)))]
    with ThreadPoolExecutor(3) as threads:
        found = list(threads.map(lambda n: outcome(deepcopy(histories[n]), budget, options), order))
    for n, each in zip(order, found, strict=True):
        assert each == expected[n]
    clear_caches()
    assert outcome(histories[-1], budget, options) == expected[-1]
