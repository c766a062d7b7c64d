"""The knapsack without its table: ties, numbers of any size, and limits."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from pycupel.kernels import knapsack
from pycupel.kernels.knapsack import StateLimitError, solve
from pycupel.kernels.versions import best_options
from tests.oracle.slicers import dynamic_program

PLENTY = 10**9


class Instance(NamedTuple):
    weights: list[int]
    values: list[int]
    capacity: int

    @property
    def table(self) -> list[int]:
        """What the specification's dynamic program selects, ascending."""
        return sorted(dynamic_program(self.weights, self.values, self.capacity))

    def solved(self, max_states: int = PLENTY) -> list[int]:
        return solve(self.weights, self.values, self.capacity, max_states)

    def tabulated(self) -> list[int]:
        """The answer if the table of the core may be built."""
        return solve(self.weights, self.values, self.capacity, 0, PLENTY)


@pytest.mark.parametrize(
    ("weights", "values", "capacity", "selected"),
    [
        pytest.param([], [], 10, [], id="no candidates"),
        pytest.param([1], [1], 0, [], id="no capacity"),
        pytest.param([5], [1], 5, [0], id="a single candidate that fits"),
        pytest.param([6], [1], 5, [], id="a single candidate that does not"),
        pytest.param([6, 7, 8], [1, 1, 1], 5, [], id="all exceed the capacity"),
        pytest.param([1, 2, 3], [1, 1, 1], 6, [0, 1, 2], id="all fit exactly"),
        pytest.param([1, 2, 3], [0, 5, 0], 6, [1], id="no value is never selected"),
        pytest.param([1, 1], [0, 0], 6, [], id="nothing has a value"),
        pytest.param([1, 3, 4], [15, 20, 30], 4, [0, 1], id="two small ones beat a large one"),
        pytest.param([10, 20, 30], [60, 100, 120], 50, [1, 2], id="the densest is left out"),
        pytest.param([1, 1], [5, 5], 1, [0], id="a tie keeps the earlier"),
        pytest.param([1, 1, 1, 1], [5, 5, 5, 5], 2, [0, 1], id="a longer tie keeps the earlier ones"),
        pytest.param([1, 1, 2], [3, 3, 6], 2, [0, 1], id="a pair before a single item"),
        pytest.param([2, 1, 1], [6, 3, 3], 2, [0], id="a single item before a pair"),
        pytest.param([1, 2, 1], [3, 6, 3], 2, [1], id="the set without the last item"),
        pytest.param([2, 2, 1, 1], [4, 4, 2, 2], 3, [0, 2], id="a tie among four sets"),
    ],
)
def test_the_best_set_is_selected_as_the_table_would(
    weights: list[int], values: list[int], capacity: int, selected: list[int]
) -> None:
    """KnapsackSlice, Edge Cases; KN-01, KN-07: strict improvement, reconstruction from the last item."""
    instance = Instance(weights, values, capacity)
    assert instance.table == selected
    assert instance.solved() == selected


def test_huge_numbers_are_exact() -> None:
    """KN-04: the values are integers, of any size, and no float comes near them."""
    million = 10**6
    weights = [3 * million, 2 * million, 2 * million, 5 * million]
    values = [3 * 10**40, 2 * 10**40, 2 * 10**40 + 1, 5 * 10**40]
    # In units of a million the table is small enough.
    reduced = Instance([3, 2, 2, 5], values, 5)
    assert reduced.table == [0, 2]
    assert solve(weights, values, 5 * million, PLENTY) == [0, 2]
    values[2] -= 1
    assert reduced.table == sorted(solve(weights, values, 5 * million, PLENTY)) == [0, 1]


def test_densities_that_floats_cannot_tell_apart_are_told_apart() -> None:
    """KN-04: the order by density is exact."""
    # 10**20 / (10**20 + 1) and (10**20 + 1) / (10**20 + 2) are the same float.
    large = 10**20
    weights, values = [large + 2, large + 1], [large + 1, large]
    assert solve(weights, values, large + 2, PLENTY) == [0]
    assert solve(weights[::-1], values[::-1], large + 2, PLENTY) == [1]


def test_all_that_fit_are_taken_without_search() -> None:
    """KNAPSACK-SLICE: a state limit of nothing is enough when there is nothing to decide."""
    assert solve([1, 2, 3, 50], [1, 0, 1, 9], 4, 0) == [0, 2]


def hard_instance() -> Instance:
    """Strongly correlated, so that hardly anything is decided by bounds."""
    weights = [100 + i * 7 % 83 for i in range(40)]
    return Instance(weights, [weight + 10 for weight in weights], sum(weights) // 2 + 1)


def test_too_many_states_are_an_error_that_says_how_many() -> None:
    """KN-03: max_states limits what the search makes."""
    with pytest.raises(StateLimitError) as caught:
        hard_instance().solved(max_states=5)
    assert caught.value.states > 5


def states_needed(instance: Instance, max_states: int) -> int | None:
    try:
        instance.solved(max_states)
    except StateLimitError as error:
        return error.states
    return None


def test_the_limit_is_what_is_allowed() -> None:
    """KN-03: as many states as the limit says, and not one more."""
    instance = Instance([3, 4, 5, 6, 7, 4], [4, 5, 6, 8, 9, 5], 14)
    limits = [0]
    while (needed := states_needed(instance, limits[-1])) is not None:
        assert needed > limits[-1]
        limits.append(needed)
    allowed = limits[-1]
    assert allowed > 1, "the example has something to search"
    assert instance.solved(max_states=allowed) == instance.table
    with pytest.raises(StateLimitError) as caught:
        instance.solved(max_states=allowed - 1)
    assert caught.value.states == allowed


def test_a_gain_that_is_known_already_saves_states() -> None:
    """KN-03: no item is added or removed whose loss the best known set makes impossible."""
    instance = Instance([1, 6, 5, 3], [1, 5, 7, 5], 7)
    assert instance.solved(max_states=6) == instance.table


def test_hard_instances_are_solved_within_the_default_limit() -> None:
    """KN-03: two million states, as KnapsackSlice has it."""
    instance = hard_instance()
    assert instance.solved(max_states=2_000_000) == instance.table


def test_the_table_is_built_when_it_is_cheaper(monkeypatch: pytest.MonkeyPatch) -> None:
    """KN-03: the states that are made are counted, so the same instance is always solved in the same way."""
    instance = hard_instance()
    tables: list[int] = []

    def table(groups: list[list[tuple[int, int]]], capacity: int) -> list[int]:
        tables.append(len(groups) * (capacity + 1))
        return best_options(groups, capacity)

    monkeypatch.setattr(knapsack, "best_options", table)
    assert instance.solved() == instance.table
    assert tables == [], "no table is allowed"
    monkeypatch.setattr(knapsack, "_CELLS_PER_STATE", PLENTY)
    weights, values, capacity = instance
    assert solve(weights, values, capacity, 0, PLENTY) == instance.table
    (cells,) = tables
    assert cells <= len(weights) * (capacity + 1)
    assert solve(weights, values, capacity, 0, cells) == instance.table
    with pytest.raises(StateLimitError):
        solve(weights, values, capacity, 0, cells - 1)
    monkeypatch.setattr(knapsack, "_CELLS_PER_STATE", 1)
    assert solve(weights, values, capacity, 0, PLENTY) == instance.table
    assert len(tables) == 2, "enumerating is cheaper than this table"


@pytest.mark.parametrize("value", [1, 255, 256, 10**30, 2**1000])
def test_a_table_of_any_width(value: int) -> None:
    """KN-04: the values are integers of any size."""
    weights = [3, 5, 4, 6, 3, 2, 7]
    values = [value * weight + weight % 2 for weight in weights]
    for capacity in range(7, sum(weights) + 1):
        options = best_options([[pair] for pair in zip(weights, values, strict=True)], capacity)
        chosen = [i for i, option in enumerate(options) if option == 0]
        assert chosen == Instance(weights, values, capacity).table


def test_the_arguments_are_left_alone() -> None:
    """The kernel is a pure function; any sequences will do."""
    weights, values = (4, 3, 2, 1), (4, 3, 2, 1)
    assert solve(weights, values, 5, PLENTY) == [1, 2]
    lists = [4, 3, 2, 1], [4, 3, 2, 1]
    solve(*lists, 5, PLENTY)
    assert lists == ([4, 3, 2, 1], [4, 3, 2, 1])


def test_an_enumeration_of_ties_is_given_up_as_soon_as_its_end_is_out_of_reach() -> None:
    """KN-03: values in proportion to weights, and a first filling that cannot be improved."""
    weights = list(range(5, 205))
    with pytest.raises(StateLimitError) as caught:
        solve(weights, weights, sum(weights) // 2, 1_000)
    assert caught.value.states > 4_000
    assert solve(weights, weights, sum(weights) // 2, 1_000, PLENTY) == sorted(
        dynamic_program(weights, weights, sum(weights) // 2)
    )


def test_an_enumeration_of_ties_within_reach_is_not_given_up() -> None:
    """KN-03: its last steps make most of the states, so that those left to try must not be overestimated."""
    powers = [2**k for k in range(10)]
    instance = Instance(powers, powers, 515)
    assert instance.solved(max_states=522) == instance.table
    assert [states_needed(instance, limit) for limit in (42, 43, 521)] == [169, 70, 522]
