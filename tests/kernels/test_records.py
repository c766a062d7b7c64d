"""Making named tuples from plain ones."""

from __future__ import annotations

from typing import NamedTuple

from pycupel.kernels.order import maker, records


class Point(NamedTuple):
    x: int
    y: int = 0


def test_a_record_is_the_one_that_its_class_makes() -> None:
    made = maker(Point)((1, 2))
    assert type(made) is Point
    assert made == Point(1, 2)


def test_rows_become_records() -> None:
    made = list(records(Point, zip([1, 3], [2, 4], strict=True)))
    assert [type(each) for each in made] == [Point, Point]
    assert made == [Point(1, 2), Point(3, 4)]
