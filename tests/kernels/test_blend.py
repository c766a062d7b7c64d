"""Combining columns of scores."""

from __future__ import annotations

import math

import pytest

from pycupel.kernels.scores import product, weighted_sum


def test_columns_are_added_by_weight() -> None:
    """COMPOSITE-SCORE, for all rows at once."""
    assert weighted_sum([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]], [0.75, 0.25]) == [0.75, 0.25, 0.5]


@pytest.mark.parametrize("count", range(1, 18))
def test_any_number_of_columns_is_added_from_left_to_right(count: int) -> None:
    """PY-01: each row is the explicit loop, bit for bit."""
    columns = [[math.sin(row * 31 + column * 7) for row in range(40)] for column in range(count)]
    weights = [math.cos(column) / count for column in range(count)]
    expected = []
    for row in range(40):
        result = 0.0
        for column in range(count):
            result += columns[column][row] * weights[column]
        expected.append(result.hex())
    assert [score.hex() for score in weighted_sum(columns, weights)] == expected


@pytest.mark.parametrize(
    ("count", "total"), [(8, 0.7999999999999999), (10, 0.9999999999999999), (3, 0.30000000000000004)]
)
def test_rounding_errors_stay(count: int, total: float) -> None:
    """PY-01: no compensated sum."""
    assert weighted_sum([[1.0]] * count, [0.1] * count) == [total]


def test_large_and_small_do_not_cancel_out() -> None:
    """PY-01: what is lost on the way is lost."""
    assert weighted_sum([[1e16], [1.0], [-1e16]], [1.0, 1.0, 1.0]) == [0.0]
    assert weighted_sum([[1e16], [-1e16], [1.0]], [1.0, 1.0, 1.0]) == [1.0]


@pytest.mark.parametrize("count", [1, 2, 5, 6, 11])
def test_a_sum_starts_from_plus_zero(count: int) -> None:
    """COMPOSITE-SCORE: result <- 0.0, so that minus zeros add up to plus zero."""
    assert [score.hex() for score in weighted_sum([[-0.0]] * count, [1.0] * count)] == ["0x0.0p+0"]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 10])
def test_odd_numbers_pass_through(count: int) -> None:
    """SC-03: infinities and NaN follow IEEE 754."""
    columns = [[math.inf, math.nan, 1.0, -math.inf]] + [[1.0, 1.0, 1.0, 1.0]] * (count - 1)
    first, second, third, fourth = weighted_sum(columns, [1.0] * count)
    assert (first, third, fourth) == (math.inf, float(count), -math.inf)
    assert math.isnan(second)


@pytest.mark.parametrize("count", [1, 3, 6])
def test_no_rows_give_no_sums(count: int) -> None:
    """CL-03: nothing in, nothing out."""
    assert weighted_sum([[]] * count, [1.0] * count) == []


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_columns_of_different_length_are_a_mistake(count: int) -> None:
    """SC-02: no row is dropped silently."""
    with pytest.raises(ValueError, match="zip"):
        weighted_sum([[1.0, 1.0]] * 5 + [[1.0]] * count, [1.0] * (5 + count))


def test_columns_are_multiplied_from_left_to_right() -> None:
    """CS-03, META-08."""
    assert product([[0.1, 2.0], [0.2, 0.5], [0.3, 4.0]]) == [0.1 * 0.2 * 0.3, 4.0]
    assert 0.1 * 0.2 * 0.3 != 0.1 * (0.2 * 0.3), "the example says something"


def test_a_single_column_is_copied() -> None:
    """CS-03: the product of one; the caller may do with it what it likes."""
    column = [0.25, -0.0]
    copied = product([column])
    assert [score.hex() for score in copied] == [score.hex() for score in column]
    copied.clear()
    assert len(column) == 2


def test_products_of_odd_numbers_follow_ieee_754() -> None:
    """SC-03."""
    zero_times_infinity, overflow, negative = product([[0.0, 1e308, -1.0], [math.inf, 10.0, math.inf]])
    assert math.isnan(zero_times_infinity)
    assert overflow == math.inf
    assert negative == -math.inf
    assert product([[], []]) == []


def test_factors_of_different_length_are_a_mistake() -> None:
    """SC-02: no row is dropped silently."""
    with pytest.raises(ValueError, match="zip"):
        product([[1.0, 1.0], [1.0]])
