"""`previous` is a cache: each selection of a chain is what it would be alone, for all five providers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from pycupel import wire
from pycupel.messages import MessageSelection
from pycupel.messages.options import ProviderName, UnitName
from tests.examples import examples
from tests.messages.histories import PROVIDERS, Message, histories
from tests.property.test_select_messages import EITHER, UNITS, budgets, check_selection, selected
from tests.property.test_shortened_histories import SHORTENING, long_histories

Histories = Callable[..., st.SearchStrategy[list[Message]]]
Options = dict[str, Any]

# Most messages are not pinned.
PINS = st.one_of(st.just(frozenset[int]()), st.frozensets(st.integers(0, 40), max_size=4))


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("make_histories", "all_options"),
    [(histories, st.just(Options())), (long_histories, SHORTENING)],
    ids=["whole", "shortened"],
)
@given(data=st.data(), broken=EITHER, unit=UNITS, pins=PINS, has_documents=EITHER, is_stored=EITHER)
@examples(40)
def test_a_chain_of_selections_is_what_each_would_be_alone(
    provider: ProviderName,
    make_histories: Histories,
    all_options: st.SearchStrategy[Options],
    data: st.DataObject,
    broken: bool,
    unit: UnitName,
    pins: frozenset[int],
    has_documents: bool,
    is_stored: bool,
) -> None:
    """Also after a trip through JSON."""
    messages = data.draw(make_histories(provider, broken=broken))
    budget = data.draw(budgets(messages, provider, unit))
    options = data.draw(all_options)
    previous: MessageSelection | None = None
    for end in sorted(data.draw(st.sets(st.integers(0, len(messages)), min_size=1, max_size=8))):
        options = {**options, "pin": [n for n in pins if n < end]}
        if has_documents:
            options["documents"] = data.draw(st.lists(st.text("ab", max_size=60), max_size=4))
        alone = selected(messages[:end], budget, provider, unit, **options)
        chained = selected(messages[:end], budget, provider, unit, previous=previous, **options)
        assert (alone is None) == (chained is None)
        if alone is None or chained is None:
            continue
        check_selection(alone, messages[:end], provider)
        assert replace(chained, stable_prefix_tokens=0) == alone
        assert chained.stable_prefix_tokens <= chained.total_tokens
        previous = wire.loads(type(chained), wire.dumps(chained)) if is_stored else chained
        assert previous == chained
