"""Sums of numbers by rank, some of which come and go."""

from __future__ import annotations

import random

import pytest

from pycupel.kernels.sums import RankedSums


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 100])
def test_sums_are_those_of_the_numbers_that_are_there(size: int) -> None:
    """StreamSlice, replace: against a plain dict."""
    dice = random.Random(size)
    sums = RankedSums(size)
    numbers: dict[int, int] = {}
    for _ in range(300):
        rank = dice.randrange(size)
        if rank in numbers:
            sums.remove(rank)
            del numbers[rank]
        else:
            numbers[rank] = dice.choice((0, 1, 5, 10**30))
            sums.add(rank, numbers[rank])
        assert sums.ranks() == sorted(numbers)
        assert sums.total == sum(numbers.values())
        upto = [sum(numbers[r] for r in numbers if r <= each) for each in range(size)]
        assert [sums.before(each + 1) for each in range(size)] == upto
        for limit in (0, 3, 10**30):
            if sums.total > limit:
                assert sums.first_above(limit) == next(each for each in range(size) if upto[each] > limit)


def test_nothing_is_before_the_first_rank() -> None:
    sums = RankedSums(4)
    sums.add(0, 7)
    assert (sums.before(0), sums.before(1)) == (0, 7)
