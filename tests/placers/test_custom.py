"""Custom placers: what they get, what they may return, and what is refused."""

from __future__ import annotations

import copy
import dataclasses
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from pycupel import (
    ChronologicalPlacer,
    ContextBudget,
    ContextItem,
    OverflowStrategy,
    Pipeline,
    ReflexiveScorer,
    ScoredItem,
    UShapedPlacer,
)
from pycupel.errors import CupelError, PlacerContractError
from pycupel.placers import Lineup, place_by_index

Scored = Sequence[ScoredItem]

BUDGET = ContextBudget(100)


class Custom:
    """A user's placer: one method, no base class."""

    def __init__(self, arrange: Callable[[list[ContextItem]], Any]) -> None:
        self.arrange = arrange
        self.calls: list[Scored] = []

    def place(self, scored_items: Scored, /) -> list[ContextItem]:
        self.calls.append(scored_items)
        result: list[ContextItem] = self.arrange([item for item, _ in scored_items])
        return result


class Picking:
    """Returns the items at these places."""

    def __init__(self, places: list[int]) -> None:
        self.places = places

    def place(self, scored_items: Scored, /) -> list[ContextItem]:
        return [scored_items[place].item for place in self.places]


def example_items() -> list[ContextItem]:
    return [ContextItem(name, 1, future_relevance_hint=hint) for name, hint in (("a", 0.9), ("b", 0.5), ("c", 0.1))]


def by_index(placer: Any, items: list[ContextItem], scores: list[float]) -> list[int]:
    return place_by_index(placer, Lineup(items, scores))


def placed(placer: Any, items: list[ContextItem]) -> list[str]:
    """What `place_by_index` and a run agree on."""
    order = by_index(placer, items, [0.5] * len(items))
    pipeline = Pipeline(ReflexiveScorer(), placer=placer, deduplication=False)
    by_run = [item.content for item in pipeline.run(items, BUDGET)]
    assert by_run == [items[i].content for i in order]
    return by_run


@pytest.mark.parametrize(
    "arrange",
    [
        pytest.param(lambda items: items[::-1], id="list"),
        pytest.param(lambda items: tuple(items[::-1]), id="tuple"),
        pytest.param(lambda items: deque(items[::-1]), id="deque"),
        pytest.param(reversed, id="iterator"),
        pytest.param(lambda items: (item for item in items[::-1]), id="generator"),
    ],
)
def test_any_iterable_of_the_items_is_an_order(arrange: Callable[[list[ContextItem]], Any]) -> None:
    """Placer Interface: the final ordered list."""
    assert placed(Custom(arrange), example_items()) == ["c", "b", "a"]


def test_a_placer_gets_the_merged_pairs() -> None:
    """Stage 6, Place: pinned items with score 1.0, then sliced items in score order; SC-01: as a tuple."""
    pinned = ContextItem("pinned", 1, pinned=True)
    a, b, c = example_items()
    placer = Custom(lambda items: items)
    output = Pipeline(ReflexiveScorer(), placer=placer).run([c, a, pinned, b], BUDGET)
    assert list(map(id, output)) == list(map(id, [pinned, a, b, c]))
    (scored,) = placer.calls
    assert type(scored) is tuple
    assert all(type(pair) is ScoredItem for pair in scored)
    assert [(pair.item.content, pair.score) for pair in scored] == [("pinned", 1.0), ("a", 0.9), ("b", 0.5), ("c", 0.1)]


def test_a_placer_gets_what_truncation_has_kept() -> None:
    """PL-09: in merged order."""

    class Everything:
        def slice(self, scored_items: Scored, budget: ContextBudget, /) -> list[ContextItem]:
            return [item for item, _ in scored_items]

    placer = Custom(lambda items: items[::-1])
    pipeline = Pipeline(ReflexiveScorer(), Everything(), placer, overflow_strategy=OverflowStrategy.TRUNCATE)
    output = pipeline.run(example_items(), ContextBudget(2))
    assert [item.content for item, _ in placer.calls[0]] == ["a", "b"]
    assert [item.content for item in output] == ["b", "a"]


def test_a_placer_with_nothing_to_place_returns_nothing() -> None:
    """Placers, Edge Cases: empty input."""
    assert placed(Custom(lambda items: items), []) == []


@pytest.mark.parametrize(
    "arrange",
    [
        pytest.param(lambda items: [], id="all missing"),
        pytest.param(lambda items: items[:2], id="one missing"),
        pytest.param(lambda items: [*items, ContextItem("extra", 1)], id="one extra"),
        pytest.param(lambda items: [*items[:2], ContextItem("other", 1)], id="one replaced"),
        pytest.param(lambda items: [*items[:2], copy.copy(items[2])], id="an equal copy"),
        pytest.param(lambda items: [*items[:2], dataclasses.replace(items[2])], id="an equal replacement"),
        pytest.param(lambda items: [*items, items[0]], id="one duplicated"),
        pytest.param(lambda items: [items[0], items[0], items[1]], id="one duplicated for another"),
        pytest.param(lambda items: [ScoredItem(item, 0.5) for item in items], id="pairs"),
        pytest.param(lambda items: [item.content for item in items], id="contents"),
        pytest.param(lambda items: [0, 1, 2], id="indices"),
        pytest.param(lambda items: [None] * 3, id="nothing, three times"),
    ],
)
def test_anything_but_a_rearrangement_is_refused(arrange: Callable[[list[ContextItem]], Any]) -> None:
    """Placers, Contract: it MUST NOT add, remove, modify, or duplicate items; SL-04."""
    placer = Custom(arrange)
    for attempt in (by_index, run):
        with pytest.raises(PlacerContractError, match="Custom") as caught:
            attempt(placer, example_items(), [0.9, 0.5, 0.1])
        assert isinstance(caught.value, CupelError)


def test_a_placer_that_returns_the_pairs_is_told_to_return_their_items() -> None:
    with pytest.raises(PlacerContractError, match=r"not the same objects; return the \.item of a ScoredItem$"):
        run(Custom(lambda items: [ScoredItem(item, 0.5) for item in items]), example_items(), None)


def run(placer: Any, items: Iterable[ContextItem], scores: object) -> None:
    Pipeline(ReflexiveScorer(), placer=placer).run(items, BUDGET)


@pytest.mark.parametrize(
    "arrange",
    [
        pytest.param(lambda items: None, id="None"),
        pytest.param(lambda items: "abc", id="str"),
        pytest.param(lambda items: b"abc", id="bytes"),
        pytest.param(lambda items: 3, id="int"),
        pytest.param(lambda items: items[0], id="an item"),
    ],
)
def test_anything_that_is_no_list_is_refused(arrange: Callable[[list[ContextItem]], Any]) -> None:
    """Placer Interface: a list of items; a string is none, although it is a sequence."""
    for attempt in (by_index, run):
        with pytest.raises(PlacerContractError, match=r"Custom .*list of items"):
            attempt(Custom(arrange), example_items(), [0.9, 0.5, 0.1])


def test_the_same_object_twice_is_returned_twice() -> None:
    """SL-04: each as often as it came."""
    a, b, _ = example_items()
    assert placed(Custom(lambda items: items[::-1]), [a, a, b]) == ["b", "a", "a"]
    assert by_index(Custom(lambda items: [a, b, a]), [a, a, b], [0.5] * 3) == [0, 2, 1]
    for picks in ([0, 2], [0, 2, 2], [0, 1, 0], [0, 1, 2, 2]):
        with pytest.raises(PlacerContractError):
            by_index(Picking(picks), [a, a, b], [0.5] * 3)


def test_equal_items_are_told_apart() -> None:
    """SL-02: by identity."""
    items = [ContextItem("same", 1) for _ in range(3)]
    assert by_index(Custom(lambda items: [items[2], items[0], items[1]]), items, [0.5] * 3) == [2, 0, 1]


def test_a_placer_may_have_its_method_as_an_attribute() -> None:
    """Placer Interface: an object with place(scored_items), however it comes by it."""

    class Assembled:
        def __init__(self, place: Callable[[Scored], list[ContextItem]]) -> None:
            self.place = place

    assert placed(Assembled(lambda scored: [item for item, _ in scored][::-1]), example_items()) == ["c", "b", "a"]


@pytest.mark.parametrize("base", [ChronologicalPlacer, UShapedPlacer])
def test_a_subclass_that_overrides_place_alone_is_honoured_but_checked(base: type[Any]) -> None:
    """SL-04: the inherited shortcut knows nothing of the new place."""

    class Backwards(base):  # type: ignore[misc]
        def place(self, scored_items: Scored, /) -> list[ContextItem]:
            return [item for item, _ in scored_items][::-1]

    class Losing(base):  # type: ignore[misc]
        def place(self, scored_items: Scored, /) -> list[ContextItem]:
            return [item for item, _ in scored_items][1:]

    class Inheriting(Losing):
        pass

    assert placed(Backwards(), example_items()) == ["c", "b", "a"]
    for cls in (Losing, Inheriting):
        with pytest.raises(PlacerContractError, match=cls.__name__):
            placed(cls(), example_items())


def test_a_subclass_may_use_the_place_of_its_base() -> None:
    """Placers, Contract: reordering what another placer has ordered."""

    class NewestFirst(ChronologicalPlacer):
        def place(self, scored_items: Scored, /) -> list[ContextItem]:
            return super().place(scored_items)[::-1]

    class Same(UShapedPlacer):
        pass

    assert placed(NewestFirst(), example_items()) == ["c", "b", "a"]
    assert placed(Same(), example_items()) == ["a", "c", "b"]


def test_a_method_that_only_looks_like_the_shortcut_is_not_used() -> None:
    """SL-04: what is not ours is asked by its public method."""

    class Lookalike:
        def place(self, scored_items: Scored, /) -> list[ContextItem]:
            return [item for item, _ in scored_items][::-1]

        def _place_indices(self, lineup: object, /) -> list[int]:
            raise AssertionError("not asked")

    assert placed(Lookalike(), example_items()) == ["c", "b", "a"]


def test_a_pipeline_needs_a_placer_and_not_its_class() -> None:
    """PB-05: with a suggestion."""
    wrong: Any = UShapedPlacer
    with pytest.raises(TypeError, match=r"did you mean UShapedPlacer\("):
        Pipeline(ReflexiveScorer(), placer=wrong)


def test_an_error_in_a_placer_is_passed_on() -> None:
    """SL-04: only a wrong result is a contract error."""

    def fail(items: list[ContextItem]) -> Any:
        raise LookupError("of its own")

    with pytest.raises(LookupError, match="of its own"):
        placed(Custom(fail), example_items())
