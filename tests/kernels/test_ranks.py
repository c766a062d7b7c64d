"""Ranks as shares."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pycupel.kernels.ranks import rank_shares

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


def test_values_of_different_types_that_do_not_compare_are_an_error() -> None:
    """Only None is unknown."""
    with pytest.raises(TypeError):
        rank_shares([1, "a"])
