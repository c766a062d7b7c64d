"""Stable orders of indices."""

from __future__ import annotations

import itertools
import math

import pytest

from pycupel.kernels.order import descending, u_shaped
from tests.oracle.stages import descending as oracle_descending

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("values", "order"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([0.5], [0], id="one"),
        pytest.param([0.1, 0.9, 0.5], [1, 2, 0], id="descending"),
        pytest.param([0.5, 0.9, 0.5, 0.9, 0.5], [1, 3, 0, 2, 4], id="ties by index"),
        pytest.param([0.0, -0.0, 0.0, -0.0], [0, 1, 2, 3], id="zeros of both signs tie"),
        pytest.param([-0.0, 0.1, 0.0, -0.1], [1, 0, 2, 3], id="zeros of both signs between others"),
        pytest.param([-INF, 0.0, INF], [2, 1, 0], id="infinities are ordinary"),
        pytest.param([INF, INF, -INF, -INF], [0, 1, 2, 3], id="infinities tie"),
        pytest.param([NAN], [0], id="NaN alone"),
        pytest.param([NAN, NAN, NAN], [0, 1, 2], id="NaN ties with NaN"),
        pytest.param([NAN, 0.0], [1, 0], id="NaN below zero"),
        pytest.param([NAN, -INF], [1, 0], id="NaN below minus infinity"),
        pytest.param([0.2, NAN, 0.9, NAN, 0.2, -INF], [2, 0, 4, 5, 1, 3], id="NaN last, in order"),
        pytest.param([-NAN, 0.0, NAN], [1, 0, 2], id="NaN has no sign"),
        pytest.param([NAN, 0.0, -0.0], [1, 2, 0], id="zeros tie beside NaN, too"),
        pytest.param([0.0, INF, -INF, 1.0], [1, 3, 0, 2], id="a sum that is NaN without one"),
        pytest.param([1e308, 1e308, -1e308], [0, 1, 2], id="a sum that overflows"),
    ],
)
def test_values_descend_and_ties_keep_their_order(values: list[float], order: list[int]) -> None:
    """Stage 4, Sort; SC-03: NaN below every number; SO-01: IEEE equality."""
    assert descending(values) == order


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_every_arrangement_is_sorted_as_the_pseudocode_sorts_it(length: int) -> None:
    """Stage 4, Sort, over all arrangements of what could go wrong."""
    for values in itertools.product((0.0, -0.0, 1.0, NAN, INF, -INF), repeat=length):
        assert descending(values) == oracle_descending(values)


@pytest.mark.parametrize(
    ("among", "order"),
    [
        ([], []),
        ([2], [2]),
        ([0, 1, 2, 3], [1, 0, 3, 2]),
        ([3, 0], [3, 0]),
        ([0, 3], [0, 3]),
        ([2, 3, 1], [1, 3, 2]),
        ((2, 3, 1), [1, 3, 2]),
        (range(2, 4), [3, 2]),
    ],
)
def test_some_of_them_keep_the_order_they_come_in(among: list[int], order: list[int]) -> None:
    """SO-02: ties go by the position in the input of the sort."""
    assert descending([0.5, 0.9, 0.1, 0.5], among) == order
    assert descending([0.5, 0.9, NAN, 0.5], among) == order


def test_nan_elsewhere_does_not_matter() -> None:
    """SC-03: a NaN that is not among those sorted."""
    assert descending([NAN, 0.1, 0.9], [1, 2]) == [2, 1]


@pytest.mark.parametrize(
    ("ranked", "placed"),
    [
        ([], []),
        ([7], [7]),
        ([0, 1], [0, 1]),
        ([0, 1, 2], [0, 2, 1]),
        ([0, 1, 2, 3], [0, 2, 3, 1]),
        ([0, 1, 2, 3, 4, 5, 6], [0, 2, 4, 6, 5, 3, 1]),
        ([4, 2, 0, 3, 1], [4, 0, 1, 3, 2]),
    ],
)
def test_ranks_alternate_between_the_edges(ranked: list[int], placed: list[int]) -> None:
    """U-SHAPED-PLACE, Step 2, and the chapter's visual example."""
    assert u_shaped(ranked) == placed
    assert u_shaped(tuple(ranked)) == placed
