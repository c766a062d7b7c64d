"""How deeply slicers may be nested."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pycupel import ContextBudget, ContextItem, CountQuotaSlice, GreedySlice, QuotaSlice, ScoredItem, Slicer
from pycupel.errors import SlicerConfigError


@pytest.mark.parametrize("wrap", [lambda inner: QuotaSlice([], inner), lambda inner: CountQuotaSlice([], inner)])
def test_slicers_are_nested_100_levels_deep_at_most(wrap: Callable[[Slicer], Slicer]) -> None:
    """PY-08: as scorers are; what can be built can be shown, compared and run."""
    slicer: Slicer = GreedySlice()
    other: Slicer = GreedySlice()
    for _ in range(99):
        slicer, other = wrap(slicer), wrap(other)
    item = ContextItem("a", 1)
    assert slicer.slice([ScoredItem(item, 0.5)], ContextBudget(10)) == [item]
    assert slicer == other
    assert repr(slicer) == repr(other)
    with pytest.raises(SlicerConfigError, match="slicers may be nested 100 levels deep") as caught:
        wrap(slicer)
    assert caught.value.argument == "inner"
