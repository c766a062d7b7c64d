"""What holds for every slicer. `tests/testing/test_checks.py` checks the contract of each."""

from __future__ import annotations

from typing import Any

import pytest

from pycupel import ContextBudget, ContextItem, ScoredItem
from tests.samples import SLICERS

EACH = pytest.mark.parametrize("slicer", SLICERS, ids=repr)


@EACH
@pytest.mark.parametrize("method", ["slice", "slice_detailed"])
@pytest.mark.parametrize("budget", [100, None, "100"])
def test_a_budget_of_another_type_is_refused(slicer: Any, method: str, budget: Any) -> None:
    """PB-05: a wrong type is a TypeError that names the argument."""
    with pytest.raises(TypeError, match="budget must be a ContextBudget"):
        getattr(slicer, method)([ScoredItem(ContextItem("a", 1), 1.0)], budget)


@EACH
def test_the_same_object_twice_is_two_candidates(slicer: Any) -> None:
    """SL-03: identity with multiplicity; a vector has equal items, but never one object twice."""
    item = ContextItem("twice", 20)
    selected = slicer.slice([ScoredItem(item, 0.5), ScoredItem(item, 0.5)], ContextBudget(1_000))
    assert [chosen is item for chosen in selected] == [True, True]
