"""What holds for every history, every budget and every option of `select_messages`, for all five providers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, strategies as st

from pycupel import ContextBudget
from pycupel.errors import InvalidArgumentError, UnitTooLargeError
from pycupel.messages import MessageSelection, lint_messages, select_messages, to_items
from pycupel.messages.history import Unit
from pycupel.messages.options import ProviderName, UnitName
from pycupel.messages.room import limits_left
from tests.examples import examples
from tests.messages.histories import PROVIDERS, Message, histories
from tests.messages.mistral_oracle import rejected_by_mistral
from tests.messages.reading import units_of

# What every provider's reply costs before it starts.
REPLY = 3
EITHER = st.booleans()
UNITS = st.sampled_from(("auto", "turn"))
POLICIES = st.sampled_from(("chat", "rag", "document-qa", "tool-use", "long-running"))
# What the window has room for, of all that need not stay: from less than what must to more than all.
SHARES = st.sampled_from((-0.5, 0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0, 1.5))


def sound(units: Sequence[Unit]) -> list[Unit]:
    return [unit for unit in units if unit.problem is None]


def must_stay(messages: Sequence[Message], provider: ProviderName, unit: UnitName, pin: Sequence[int] = ()) -> int:
    return sum(item.tokens for item in to_items(messages, provider, unit=unit, counter=len, pin=pin) if item.pinned)


@st.composite
def budgets(
    draw: st.DrawFn, messages: Sequence[Message], provider: ProviderName, unit: UnitName
) -> ContextBudget | int:
    items = to_items(messages, provider, unit=unit, counter=len)
    needed, size = sum(item.tokens for item in items if item.pinned), sum(item.tokens for item in items)
    window = max(0, needed + int(draw(SHARES) * (size - needed)) + draw(st.integers(0, 9)))
    if draw(EITHER):
        return window
    reserve, target = draw(st.integers(0, 99)), draw(st.integers(0, window))
    margin = draw(st.sampled_from((0.0, 5.0)))
    return ContextBudget(window + reserve, target, output_reserve=reserve, estimation_safety_margin_percent=margin)


def high_mark(budget: ContextBudget | int) -> int:
    return budget if isinstance(budget, int) else budget.max_tokens - budget.output_reserve


def fits(selection: MessageSelection, budget: ContextBudget | int) -> bool:
    """With the start of the reply, and with the margin of the budget."""
    margin = 0.0 if isinstance(budget, int) else budget.estimation_safety_margin_percent
    return (selection.total_tokens + REPLY) * (1 + margin / 100) <= high_mark(budget)


def as_sent(messages: Sequence[Message]) -> list[Message]:
    """With what has to follow before Mistral is asked: results for open calls, a user message behind an answer."""
    callers = [i for i, message in enumerate(messages) if message.get("tool_calls")]
    last = callers[-1] if callers else len(messages)
    answered = [message.get("tool_call_id") for message in messages[last:]]
    open_calls = [call["id"] for message in messages[last : last + 1] for call in message["tool_calls"]]
    results = [{"role": "tool", "tool_call_id": each, "content": "done"} for each in open_calls if each not in answered]
    return [*messages, *results, {"role": "user", "content": "continue"}]


def check_selection(selection: MessageSelection, messages: Sequence[Message], provider: ProviderName) -> None:
    kept, dropped = list(selection.kept), [each.index for each in selection.dropped]
    assert [finding for finding in lint_messages(selection.messages, provider) if finding.severity == "error"] == []
    assert provider != "mistral" or not kept or rejected_by_mistral(as_sent(selection.messages), serving=True) is None
    assert kept == sorted(set(kept))
    changed = {each.index for each in selection.shortened}
    assert all((given is messages[i]) is (i not in changed) for given, i in zip(selection.messages, kept, strict=True))
    assert sorted(kept + dropped) == list(range(len(messages)))
    assert selection.total_tokens <= high_mark(selection.budget)
    check_units(set(kept), units_of(messages, provider))


def check_units(kept: set[int], units: Sequence[Unit]) -> None:
    """Whole, with the user message that opened the turn; and what must stay is there."""
    for unit in units:
        assert kept.issuperset(unit.indices) or kept.isdisjoint(unit.indices)
        if unit.problem is not None:
            assert kept.isdisjoint(unit.indices)
        elif unit.role == "system" or unit.is_open:
            assert kept.issuperset(unit.indices)
        if unit.anchor is not None and not kept.isdisjoint(unit.indices):
            assert kept.issuperset(units[unit.anchor].indices)
    users = [unit for unit in sound(units) if unit.role == "user" or unit.has_user_text]
    reminders = [unit for unit in sound(units) if unit.role == "reminder"]
    assert all(kept.issuperset(unit.indices) for unit in users[-1:] + reminders[-1:])
    assert kept or not units


def selected(
    messages: Sequence[Message], budget: ContextBudget | int, provider: ProviderName, unit: UnitName, **options: Any
) -> MessageSelection | None:
    """The selection, or None if what must stay does not fit, or if nothing is whole. The history is not changed."""
    before = json.dumps(messages)
    selection: MessageSelection
    try:
        selection = select_messages(messages, budget, provider=provider, unit=unit, counter=len, **options)
    except UnitTooLargeError:
        pin = options.get("pin", ())
        assert must_stay(messages, provider, unit, pin) > limits_left(budget, 0.0, REPLY).available_tokens
        return None
    except InvalidArgumentError:
        assert not sound(units_of(messages, provider))
        return None
    finally:
        assert json.dumps(messages) == before
    return selection


@pytest.mark.parametrize("provider", PROVIDERS)
@given(data=st.data(), broken=EITHER, unit=UNITS, policy=POLICIES)
@examples(80)
def test_any_history_and_any_budget(
    provider: ProviderName, data: st.DataObject, broken: bool, unit: UnitName, policy: str
) -> None:
    messages = data.draw(histories(provider, broken=broken))
    budget = data.draw(budgets(messages, provider, unit))
    selection = selected(messages, budget, provider, unit, policy=policy)
    if selection is None:
        return
    check_selection(selection, messages, provider)
    assert fits(selection, budget) or not messages
    again = selected(json.loads(json.dumps(messages)), budget, provider, unit, policy=policy)
    assert again == selection
    explained = selected(messages, budget, provider, unit, policy=policy, explain=True)
    assert explained is not None
    assert (explained.kept, explained.dropped) == (selection.kept, selection.dropped)


@pytest.mark.parametrize("provider", PROVIDERS)
@given(data=st.data(), documents=st.lists(st.text("ab", max_size=40), max_size=6))
@examples(30)
def test_documents_change_nothing_of_that(provider: ProviderName, data: st.DataObject, documents: list[str]) -> None:
    messages = data.draw(histories(provider))
    budget = data.draw(budgets(messages, provider, "auto"))
    selection = selected(messages, budget, provider, "auto", documents=documents)
    if selection is not None:
        check_selection(selection, messages, provider)
        left_out = [each.index for each in selection.dropped_documents]
        assert sorted([*selection.documents, *(documents[i] for i in left_out)]) == sorted(documents)
