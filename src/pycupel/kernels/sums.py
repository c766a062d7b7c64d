"""Sums of numbers by rank, some of which come and go."""

from __future__ import annotations

__all__ = ["RankedSums"]


class RankedSums:
    """A number of 0 or more for some of the ranks from 0 to `size - 1`, and sums of those with lower ranks.

    Every operation takes time in proportion to the logarithm of the size. It is a binary indexed tree: `tree[i]` is the
    sum of the last `i & -i` numbers up to rank `i - 1`.
    """

    def __init__(self, size: int) -> None:
        self.total = 0
        self._numbers: dict[int, int] = {}
        self._tree = [0] * (size + 1)
        self._half = 1 << size.bit_length() - 1 if size else 0

    def add(self, rank: int, number: int) -> None:
        """Give a rank that has none a number."""
        self._numbers[rank] = number
        self._change(rank, number)

    def remove(self, rank: int) -> None:
        """Take a rank's number away."""
        self._change(rank, -self._numbers.pop(rank))

    def ranks(self) -> list[int]:
        """The ranks that have a number, ascending."""
        return sorted(self._numbers)

    def before(self, rank: int) -> int:
        """The sum of the numbers of lower ranks."""
        tree = self._tree
        total = 0
        while rank:
            total += tree[rank]
            rank &= rank - 1
        return total

    def first_above(self, limit: int) -> int:
        """The first rank up to which the sum, its own number included, is above the limit. There has to be one."""
        tree = self._tree
        size = len(tree)
        rank = 0
        step = self._half
        while step:
            following = rank + step
            if following < size and tree[following] <= limit:
                rank = following
                limit -= tree[following]
            step >>= 1
        return rank

    def _change(self, rank: int, number: int) -> None:
        self.total += number
        tree = self._tree
        size = len(tree)
        i = rank + 1
        while i < size:
            tree[i] += number
            i += i & -i
