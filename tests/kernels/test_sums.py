"""Numbers under sorted keys that come and go, and their sums."""

from __future__ import annotations

import random
from itertools import accumulate
from unittest import mock

import pytest

from pycupel.kernels import scores
from pycupel.kernels.scores import SortedSums


@pytest.mark.parametrize("block", [1, 3, 512])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_sums_are_those_of_the_numbers_that_are_there(size: int, block: int) -> None:
    """StreamSlice, replace: against a plain dict."""
    dice = random.Random(size)
    sums = SortedSums[int]()
    numbers: dict[int, int] = {}
    with mock.patch.object(scores, "_BLOCK", block):
        for _ in range(300):
            key = dice.randrange(size)
            if key in numbers:
                sums.remove(key)
                del numbers[key]
            else:
                numbers[key] = dice.choice((0, 1, 5, 10**30))
                sums.add(key, numbers[key])
            assert list(sums) == sorted(numbers)
            assert list(reversed(sums)) == sorted(numbers, reverse=True)
            assert (len(sums), sums.total) == (len(numbers), sum(numbers.values()))
            assert [sums[each] for each in sums] == [numbers[each] for each in sorted(numbers)]
            upto = list(accumulate(numbers.get(each, 0) for each in range(size)))
            assert [sums.before(each + 1) for each in range(size)] == upto
            for limit in (0, 3, 10**30):
                if sums.total > limit:
                    assert sums.first_above(limit) == next(each for each in range(size) if upto[each] > limit)


def test_nothing_is_before_the_first_key() -> None:
    sums = SortedSums[float]()
    sums.add(0.5, 7)
    assert (sums.before(0.5), sums.before(0.6)) == (0, 7)
