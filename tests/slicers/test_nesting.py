"""How deeply slicers may be nested, and how much an inner one may require."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    CountQuotaSlice,
    GreedySlice,
    MinScoreSlice,
    QuotaEntry,
    QuotaSlice,
    ScoredItem,
    Slicer,
)
from pycupel.errors import CountRequirementError, SlicerConfigError


@pytest.mark.parametrize(
    "wrap",
    [
        lambda inner: QuotaSlice([], inner),
        lambda inner: CountQuotaSlice([], inner),
        lambda inner: MinScoreSlice(inner, 0.1),
    ],
)
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
    with pytest.raises(SlicerConfigError, match="slicers may be nested at most 100 levels deep") as caught:
        wrap(slicer)
    assert caught.value.argument == "inner"


@pytest.mark.parametrize("wrap", [lambda inner: inner, lambda inner: MinScoreSlice(inner, 0.0)])
def test_a_quota_asks_the_slicers_inside_it_for_each_kind(wrap: Callable[[Slicer], Slicer]) -> None:
    items = [ScoredItem(ContextItem(f"{kind} {i}", 1, kind=kind), 0.5) for i in range(2) for kind in ("note", "memo")]
    inner = CountQuotaSlice([CountQuotaEntry("note", require_count=1, cap_count=1)])
    selected = QuotaSlice([QuotaEntry("note", cap=90)], wrap(inner)).slice(items, ContextBudget(10))
    assert [item.content for item in selected] == ["note 0", "memo 0", "memo 1"]


def test_counts_inside_a_quota_keep_what_they_do_when_a_kind_is_scarce() -> None:
    entries = [CountQuotaEntry("note", require_count=3, cap_count=3)]
    items = [ScoredItem(ContextItem(f"note {i}", 1, kind="note"), 0.5) for i in range(2)]
    for inner in (
        CountQuotaSlice(entries, scarcity="throw"),
        CountConstrainedKnapsackSlice(entries, scarcity="throw"),
    ):
        with pytest.raises(CountRequirementError):
            QuotaSlice([QuotaEntry("note", cap=90)], inner).slice(items, ContextBudget(10))


@pytest.mark.proves("S-QU-17")
@pytest.mark.parametrize("wrap", [lambda inner: inner, lambda inner: CountQuotaSlice([], inner)])
def test_an_inner_quota_requires_100_different_percentages_at_most(wrap: Callable[[Slicer], Slicer]) -> None:
    """It adds them up for each kind of the outer one."""
    entries = [QuotaEntry(f"kind{i}", 0.001 * (i + 1)) for i in range(101)]
    assert QuotaSlice([], wrap(QuotaSlice(entries[:-1]))).inner == wrap(QuotaSlice(entries[:-1]))
    inner = wrap(QuotaSlice(entries))
    with pytest.raises(SlicerConfigError, match="at most 100 different percentages, not 101") as caught:
        QuotaSlice([], inner)
    assert caught.value.argument == "inner"
