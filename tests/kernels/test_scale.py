"""Min-max normalisation."""

from __future__ import annotations

import math

import pytest

from pycupel.kernels.scores import min_max

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("values", "scaled"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([3.0], [0.5], id="one"),
        pytest.param([2.0, 2.0, 2.0], [0.5, 0.5, 0.5], id="all equal"),
        pytest.param([0.0, -0.0], [0.5, 0.5], id="zeros of both signs"),
        pytest.param([1.0, 3.0, 2.0], [0.0, 1.0, 0.5], id="stretched"),
        pytest.param([-4.0, 4.0, 0.0, 2.0], [0.0, 1.0, 0.5, 0.75], id="negative"),
        pytest.param([0.1, 0.3, 0.2], [0.0, 1.0, (0.2 - 0.1) / (0.3 - 0.1)], id="the formula, not another one"),
        pytest.param([5e-324, 0.0], [1.0, 0.0], id="the smallest difference"),
    ],
)
def test_values_become_shares_of_the_way(values: list[float], scaled: list[float]) -> None:
    """SCALED-SCORE, for all rows at once; the degenerate value MUST be exactly 0.5."""
    assert min_max(values) == scaled


@pytest.mark.parametrize(
    ("values", "scaled"),
    [
        pytest.param([NAN], [0.5], id="NaN alone"),
        pytest.param([NAN, NAN], [0.5, 0.5], id="NaN only"),
        pytest.param([NAN, 7.0], [0.5, 0.5], id="one number"),
        pytest.param([1.0, NAN, 2.0], [0.0, 0.5, 1.0], id="NaN takes no part"),
        pytest.param([INF], [0.5], id="infinity alone"),
        pytest.param([-INF, -INF], [0.5, 0.5], id="minus infinity only"),
        pytest.param([INF, -INF], [0.5, 0.5], id="both infinities"),
        pytest.param([1.0, INF, 2.0], [0.0, 0.5, 0.0], id="an infinite way"),
    ],
)
def test_what_is_not_finite_says_nothing(values: list[float], scaled: list[float]) -> None:
    """SS-01, SS-02."""
    assert min_max(values) == scaled
