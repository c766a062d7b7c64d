"""Ranks as shares."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from typing import Any

import pytest

from pycupel.kernels.scores import integer_rank_shares, rank_shares

START = datetime(2025, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("values", "shares"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([None], [0.0], id="one unknown"),
        pytest.param([None, None], [0.0, 0.0], id="all unknown"),
        pytest.param([5], [1.0], id="one known"),
        pytest.param([0], [1.0], id="zero is known"),
        pytest.param([None, 5], [0.0, 1.0], id="one known after an unknown"),
        pytest.param([5, None, None], [1.0, 0.0, 0.0], id="one known before others"),
        pytest.param([3, 1, 2], [1.0, 0.0, 0.5], id="distinct"),
        pytest.param([7, 7], [0.0, 0.0], id="all equal"),
        pytest.param([1, 2, 2, 3], [0.0, 1 / 3, 1 / 3, 1.0], id="a tie"),
        pytest.param([2, 1, 1, 2], [2 / 3, 0.0, 0.0, 2 / 3], id="two ties"),
        pytest.param([2, None, 1, None, 3], [0.5, 0.0, 0.0, 0.0, 1.0], id="unknown ones between"),
        pytest.param([-1, 0, -2], [0.5, 1.0, 0.0], id="negative"),
        pytest.param([START, START + timedelta(microseconds=1), None], [0.0, 1.0, 0.0], id="moments"),
        pytest.param(["b", "a"], [1.0, 0.0], id="anything that compares"),
    ],
)
def test_each_value_gets_the_share_of_smaller_ones(values: list[Any], shares: list[float]) -> None:
    """RECENCY-SCORE and PRIORITY-SCORE, for all rows at once."""
    assert rank_shares(values) == shares


@pytest.mark.parametrize("size", [199, 200, 1_000])
@pytest.mark.parametrize(
    "values",
    [
        pytest.param(range(10), id="few different ones"),
        pytest.param([None, *range(-5, 5)], id="unknown ones between"),
        pytest.param([None], id="all unknown"),
        pytest.param([7], id="all equal"),
        pytest.param(range(10_000, 0, -1), id="all different"),
        pytest.param([None] * 999 + [5], id="one known at most"),
        pytest.param([10**30, -(10**30), 0], id="large ones"),
    ],
)
def test_counted_integers_get_the_same_shares(values: Sequence[int | None], size: int) -> None:
    """Below 200 values, and if most are different, they are sorted; otherwise counted."""
    many = list(islice(cycle(values), size))
    assert integer_rank_shares(many) == rank_shares(many)


def test_values_of_different_types_that_do_not_compare_are_an_error() -> None:
    """Only None is unknown."""
    with pytest.raises(TypeError):
        rank_shares([1, "a"])
