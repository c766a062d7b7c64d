"""The search for a minimum budget, against trying every size."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from pycupel import ContextBudget, ContextItem, Pipeline, ReflexiveScorer
from pycupel.analytics import find_min_budget_for
from pycupel.errors import PinnedExceedsBudgetError
from tests import strategies
from tests.examples import examples

GREEDY = Pipeline(ReflexiveScorer())


@pytest.mark.proves("S-BS-06")
@examples(150)
@given(strategies.item_lists(), st.integers(0, 30), st.data())
def test_exhaustive_is_brute_force_and_bisection_finds_a_size_that_selects(
    items: list[ContextItem], ceiling: int, data: st.DataObject
) -> None:
    """BS-01: along the bisection, not overall."""
    if not items:
        return
    target = data.draw(st.sampled_from(items))
    if target.tokens > ceiling:
        return

    def selects(size: int) -> bool:
        try:
            return any(each is target for each in GREEDY.run(items, ContextBudget(size)))
        except PinnedExceedsBudgetError:
            return False

    brute = next((size for size in range(max(0, target.tokens), ceiling + 1) if selects(size)), None)
    assert find_min_budget_for(GREEDY, items, target, ceiling, exhaustive=True) == brute
    found = find_min_budget_for(GREEDY, items, target, ceiling)
    assert found is None or (brute is not None and selects(found) and found >= brute)
