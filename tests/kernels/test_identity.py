"""Finding objects again by identity."""

from __future__ import annotations

from pycupel import ContextItem
from pycupel.kernels.order import indices_by_identity


def test_each_object_has_its_places_the_first_one_on_top() -> None:
    """SL-03: each time it is asked for uses up one occurrence, the first that is left."""
    one, two = object(), object()
    places = indices_by_identity([one, two, one, one])
    assert [places[id(one)].pop() for _ in range(3)] == [0, 2, 3]
    assert places[id(one)] == []
    assert places[id(two)] == [1]


def test_equal_objects_are_told_apart() -> None:
    """SL-02, PY-04: never by equality."""
    one, twin = ContextItem("same", 1), ContextItem("same", 1)
    assert one == twin
    places = indices_by_identity((one, twin))
    assert places == {id(one): [0], id(twin): [1]}


def test_objects_need_not_be_hashable_or_comparable() -> None:
    """PY-04: only their identity matters."""

    class Hostile:
        __hash__ = None  # type: ignore[assignment]

        def __eq__(self, other: object) -> bool:
            raise AssertionError("not asked")

    hostile = Hostile()
    assert indices_by_identity([hostile, [], hostile])[id(hostile)] == [2, 0]


def test_nothing_has_no_places() -> None:
    """CL-03: nothing in, nothing out."""
    assert indices_by_identity([]) == {}
