"""What holds for every history: whatever units are kept, the provider accepts what is left."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from pycupel.messages import Finding, lint_messages
from pycupel.messages.detect import detect_provider
from pycupel.messages.history import Unit, turns
from pycupel.messages.options import ProviderName
from tests.examples import examples
from tests.messages.histories import PROVIDERS, Message, histories
from tests.messages.mistral_oracle import rejected_by_mistral
from tests.messages.reading import units_of

SEEDS = st.integers(0, 2**16)
CHANCES = st.sampled_from((0.1, 0.5, 0.9))

each_provider = pytest.mark.parametrize("provider", PROVIDERS)
some_examples = examples(60)


def errors(messages: Sequence[Any], provider: ProviderName) -> list[Finding]:
    return [finding for finding in lint_messages(messages, provider) if finding.severity == "error"]


def warnings(messages: Sequence[Any], provider: ProviderName) -> set[str]:
    return {finding.rule for finding in lint_messages(messages, provider) if finding.severity == "warning"}


def sound(units: Sequence[Unit]) -> list[int]:
    return [place for place, unit in enumerate(units) if unit.problem is None]


def last_ones(units: Sequence[Unit]) -> list[int]:
    """The last unit in which the user speaks, and the last exchange."""
    speakers = [place for place in sound(units) if units[place].role == "user" or units[place].has_user_text]
    exchanges = [place for place in sound(units) if units[place].role == "exchange"]
    return speakers[-1:] + exchanges[-1:]


def kept(messages: Sequence[Message], units: Sequence[Unit], places: Iterable[int]) -> list[Message]:
    """The messages of these units, of all system units, and of whatever they need."""
    pending = [*places, *(place for place in sound(units) if units[place].role == "system")]
    closed: set[int] = set()
    while pending:
        place = pending.pop()
        if place not in closed:
            closed.add(place)
            unit = units[place]
            pending += unit.needs
    return [messages[index] for index in sorted(index for place in closed for index in units[place].indices)]


@each_provider
@some_examples
@given(data=st.data())
def test_what_is_valid_has_no_errors_and_no_broken_units(provider: ProviderName, data: st.DataObject) -> None:
    messages = data.draw(histories(provider))
    assert errors(messages, provider) == []
    assert all(unit.problem is None for unit in units_of(messages, provider))
    assert detect_provider(messages).name in {"openai", "openai" if provider == "mistral" else provider}


@each_provider
@some_examples
@given(data=st.data(), broken=st.booleans())
def test_every_message_is_in_exactly_one_unit_and_nothing_is_changed(
    provider: ProviderName, data: st.DataObject, broken: bool
) -> None:
    messages = data.draw(histories(provider, broken=broken))
    before = json.dumps(messages)
    units = units_of(messages, provider)
    lint_messages(messages, provider)
    assert json.dumps(messages) == before
    assert sorted(index for unit in units for index in unit.indices) == list(range(len(messages)))
    assert [unit.indices[0] for unit in units] == sorted(unit.indices[0] for unit in units)
    assert all(list(unit.indices) == sorted(unit.indices) for unit in units)
    assert sum(unit.is_open for unit in units) <= 1


@each_provider
@some_examples
@given(data=st.data(), broken=st.booleans())
def test_units_are_broken_where_the_linter_finds_errors_and_none_needs_a_broken_one(
    provider: ProviderName, data: st.DataObject, broken: bool
) -> None:
    messages = data.draw(histories(provider, broken=broken))
    units = units_of(messages, provider)
    assert any(unit.problem is not None for unit in units) == bool(errors(messages, provider))
    needed = {need for unit in units if unit.problem is None for need in unit.needs}
    assert needed <= set(sound(units))


@each_provider
@examples(120)
@given(data=st.data(), broken=st.booleans(), seed=SEEDS, chance=CHANCES)
def test_any_selection_with_what_it_needs_is_accepted(
    provider: ProviderName, data: st.DataObject, broken: bool, seed: int, chance: float
) -> None:
    messages = data.draw(histories(provider, broken=broken))
    units = units_of(messages, provider)
    random = Random(seed)
    chosen = [place for place in sound(units) if random.random() < chance]
    assert errors(kept(messages, units, chosen), provider) == []
    if not broken:
        left = kept(messages, units, chosen + last_ones(units))
        assert warnings(left, provider) <= warnings(messages, provider)


@each_provider
@some_examples
@given(data=st.data(), broken=st.booleans(), seed=SEEDS, chance=CHANCES)
def test_any_selection_of_whole_turns_is_accepted(
    provider: ProviderName, data: st.DataObject, broken: bool, seed: int, chance: float
) -> None:
    messages = data.draw(histories(provider, broken=broken))
    units = units_of(messages, provider)
    grouped = turns(units)
    assert sorted(place for turn in grouped for place in turn) == [
        place for place in sound(units) if units[place].role not in ("system", "reminder")
    ]
    random = Random(seed)
    chosen = [place for turn in grouped if random.random() < chance for place in turn]
    assert errors(kept(messages, units, chosen), provider) == []


ENDS = {"open-tool-call", "ends-with-assistant"}


@examples(120)
@given(histories("mistral"), SEEDS, CHANCES)
def test_mistral_accepts_what_is_valid_and_what_is_left_of_it(
    messages: list[Message], seed: int, chance: float
) -> None:
    """A.3 row 8: the validator of mistral-common is the judge."""
    random = Random(seed)
    units = units_of(messages, "mistral")
    left = kept(messages, units, [place for place in sound(units) if random.random() < chance])
    for history in filter(None, (messages, left)):
        if not warnings(history, "mistral") & ENDS:
            assert rejected_by_mistral(history) is None


@examples(150)
@given(histories("mistral", broken=True))
def test_mistral_and_the_linter_refuse_the_same(messages: list[Message]) -> None:
    """A.3 row 8. The validator does not look at calls and results in the very first message, and the linter does.

    So if that is a result without its call, only the linter says that a call after it would be the first message.
    """
    findings = lint_messages(messages, "mistral")
    unseen = {"first-not-user"} if messages and messages[0]["role"] == "tool" else set()
    if any(each.severity == "error" and each.index > 0 and each.rule not in unseen for each in findings):
        assert rejected_by_mistral(messages, serving=True) is not None
    if messages and not findings:
        assert rejected_by_mistral(messages, serving=True) is None


@examples(100)
@given(histories("mistral", broken=True), SEEDS, CHANCES)
def test_mistral_accepts_what_is_whole_in_a_broken_history(messages: list[Message], seed: int, chance: float) -> None:
    random = Random(seed)
    units = units_of(messages, "mistral")
    left = kept(messages, units, [place for place in sound(units) if random.random() < chance])
    if left and not warnings(left, "mistral") & ENDS:
        assert rejected_by_mistral(left, serving=True) is None
