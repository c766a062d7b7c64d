"""The multiple-choice knapsack: ties, edges and limits. `tests/property/test_versions.py` tries it by brute force."""

from __future__ import annotations

import random
from itertools import product
from typing import NamedTuple

import pytest

from pycupel.kernels import versions, versions as core
from pycupel.kernels.versions import VersionChoice, best_options, choose_in_order, choose_versions

SHARES = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)


class Instance(NamedTuple):
    weights: list[list[int]]
    values: list[list[int]]
    capacity: int
    required: int | None = None

    def solved(self) -> VersionChoice:
        return choose_versions(
            self.weights, self.values, self.capacity, () if self.required is None else (self.required,)
        )

    def weight(self, chosen: list[int]) -> int:
        return sum(self.weights[i][k] for i, k in enumerate(chosen) if k >= 0)

    def value(self, chosen: list[int]) -> int:
        return sum(self.values[i][k] for i, k in enumerate(chosen) if k >= 0)

    @property
    def is_bound_to_take(self) -> bool:
        return self.required is not None and any(size <= self.capacity for size in self.weights[self.required])

    def best_value(self) -> int:
        """By brute force."""
        options = [range(-1, len(sizes)) for sizes in self.weights]
        if self.is_bound_to_take:
            assert self.required is not None
            options[self.required] = range(len(self.weights[self.required]))
        return max(self.value(list(each)) for each in product(*options) if self.weight(list(each)) <= self.capacity)


def check(instance: Instance, choice: VersionChoice) -> None:
    assert len(choice.versions) == len(instance.weights)
    assert all(-1 <= k < len(sizes) for k, sizes in zip(choice.versions, instance.weights, strict=True))
    assert instance.weight(choice.versions) <= instance.capacity
    assert instance.value(choice.versions) >= choice.value
    assert choice.bound >= choice.value
    if instance.is_bound_to_take:
        assert instance.required is not None
        assert choice.versions[instance.required] >= 0


def test_the_answer_is_always_the_same() -> None:
    instance = hard("proportional", 40)
    assert len({tuple(instance.solved().versions) for _ in range(3)}) == 1


@pytest.mark.parametrize(
    ("weights", "values", "capacity", "chosen"),
    [
        pytest.param([], [], 10, [], id="no items"),
        pytest.param([[5]], [[1]], 4, [-1], id="nothing fits"),
        pytest.param([[4, 2], [4, 2]], [[10, 6], [10, 6]], 6, [0, 1], id="of equal prices the earlier item"),
        pytest.param([[6, 3]], [[8, 8]], 5, [1], id="of equal values the lightest"),
        pytest.param([[6, 3], [2]], [[8, 8], [1]], 8, [0, 0], id="what is left makes an item longer"),
        pytest.param([[6, 3], [6, 3]], [[8, 8], [8, 8]], 9, [0, 1], id="the first item first"),
        pytest.param([[4, 3], [4, 3]], [[8, 8], [8, 8]], 8, [0, 0], id="then the others"),
        pytest.param([[0, 0]], [[3, 4]], 0, [1], id="what weighs nothing"),
        pytest.param([[3]], [[0]], 5, [-1], id="no value is never chosen"),
        pytest.param([[5, 5]], [[7, 7]], 5, [0], id="of equal versions the first"),
        pytest.param([[3, 6], [2]], [[8, 8], [1]], 8, [1, 0], id="a later version may be longer"),
        pytest.param([[1, 3, 2], [2, 3]], [[4, 6, 5], [5, 6]], 4, [0, 1], id="a step that just fits is taken"),
        pytest.param([[5], [7, 5]], [[8], [10, 8]], 8, [-1, 0], id="a step includes one before that did not fit"),
        pytest.param([[5, 2, 0], [4, 2]], [[8, 5, 3], [7, 5]], 5, [2, 0], id="only more value replaces what is chosen"),
        pytest.param([[0], [3], [4, 1]], [[0], [3], [4, 1]], 6, [-1, -1, 0], id="of equal losses a heavier one first"),
    ],
)
def test_ties_and_edges(weights: list[list[int]], values: list[list[int]], capacity: int, chosen: list[int]) -> None:
    assert choose_versions(weights, values, capacity).versions == chosen


def test_a_required_item_is_chosen_without_value_but_not_beyond_the_capacity() -> None:
    assert choose_versions([[5, 3], [5]], [[0, 0], [9]], 5, required=[0]).versions == [0, -1]
    assert choose_versions([[9], [5]], [[9], [9]], 5, required=[0]).versions == [-1, 0]


def test_prices_that_floats_cannot_tell_apart() -> None:
    large = 10**17
    assert choose_versions([[10], [10], [4]], [[large], [large + 1], [1]], 13).versions == [-1, 0, -1]
    source = random.Random(5)
    for _ in range(300):
        weights = [[source.randint(1, 6) for _ in range(source.randint(1, 2))] for _ in range(source.randint(2, 4))]
        values = [[large * size + source.randint(0, 4) for size in sizes] for sizes in weights]
        instance = Instance(weights, values, source.randint(3, 12))
        choice = instance.solved()
        assert choice.value == choice.bound == instance.best_value()


def test_a_search_stops_once_enough_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "EXACT_ITEMS", 0)
    for kind in ("unrelated", "with a constant", "proportional", "even", "equal"):
        for seed in range(5):
            instance = hard(kind, 30, seed)
            choice = instance.solved()
            check(instance, choice)
            assert choice.value >= 0.99 * choice.bound
    # It is worth 99.9 % of the bound. A search that went on would find 8,044.
    assert hard("even", 30, 10).solved().value == 8_042


def hard(kind: str, n: int, seed: int = 1) -> Instance:
    source = random.Random(seed)
    weights: list[list[int]] = []
    values: list[list[int]] = []
    for _ in range(n):
        whole = source.randint(50, 6_000)
        sizes = [max(1, int(whole * share)) for share in SHARES]
        if kind == "even":
            sizes = [2 * size for size in sizes]
        worths = {
            "unrelated": sorted(source.randint(1, 10**6) for _ in sizes),
            "with a constant": [1_000 * size + 100_000 for size in sizes],
            "proportional": [1_000 * size for size in sizes],
            "even": sizes,
            "equal": [int(share * 10**6) for share in SHARES],
        }[kind]
        weights.append(sizes)
        values.append(worths)
    return Instance(weights, values, sum(sizes[-1] for sizes in weights) // 20 | 1)


def test_a_table_that_would_be_too_large_is_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = hard("even", 40)
    best = instance.solved()
    monkeypatch.setattr(core, "_MAX_CELLS", 0)
    monkeypatch.setattr(core, "_STATES", 100)
    choice = instance.solved()
    check(instance, choice)
    assert choice.value <= best.value < choice.bound


def test_what_is_decided_stays_out_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "_FREE_STATES", 0)
    monkeypatch.setattr(core, "_CELLS_PER_STATE", 10**9)
    assert choose_versions([[2], [3], [1]], [[3], [2], [4]], 2).versions == [-1, -1, 0]
    assert choose_versions([[1], [2]], [[4], [5]], 2) == ([-1, 0], 5, 5)


def test_a_table_finds_what_brute_force_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """With few states, and without any: then all that is not decided is in the table."""
    monkeypatch.setattr(core, "_CELLS_PER_STATE", 10**9)
    source = random.Random(3)
    for n in range(600):
        monkeypatch.setattr(core, "_FREE_STATES", n % 3 * 5)
        weights = [[source.randint(0, 9) for _ in range(source.randint(1, 4))] for _ in range(4)]
        values = [[source.randint(0, 12) for _ in sizes] for sizes in weights]
        instance = Instance(weights, values, source.randint(1, 20), source.choice((None, None, 0)))
        choice = instance.solved()
        check(instance, choice)
        assert choice.value == choice.bound == instance.best_value()


def test_a_table_of_no_capacity_has_what_weighs_nothing() -> None:
    assert best_options([[(0, 1)]], 0) == [0]


def test_what_is_left_beside_an_option_does_not_choose_its_group_again() -> None:
    assert best_options([[(1, 1), (2, 3)]], 3) == [1]


def test_of_few_states_none_is_wasted_on_equal_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "EXACT_ITEMS", 0)
    monkeypatch.setattr(core, "_STATES_OF_MANY", 5)
    assert choose_versions([[0, 1, 0], [2]], [[0, 1, 0], [2]], 2) == ([0, 0], 2, 2)
    assert choose_versions([[2], [1, 2, 2]], [[5], [4, 5, 5]], 2) == ([-1, 1], 5, 5)


@pytest.mark.parametrize("free_states", [core._FREE_STATES, 0])  # pyright: ignore[reportPrivateUsage]
def test_an_item_with_very_many_versions(free_states: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table has room for 128 versions of an item; beyond, states are made."""
    monkeypatch.setattr(core, "_FREE_STATES", free_states)
    monkeypatch.setattr(core, "_CELLS_PER_STATE", 10**9)
    source = random.Random(2)
    weights = [source.sample(range(1, 501), 150) for _ in range(8)]
    instance = Instance(weights, [[2 * size for size in sizes] for sizes in weights], 777)
    assert instance.solved().value == 2 * 777


# --- in order


def test_in_order_each_item_gets_its_heaviest_version_that_fits() -> None:
    weights = [[50, 10, 20], [80, 40], [60, 5]]
    assert choose_in_order(weights, [1, 0, 2], 105) == [2, 0, 1]
    assert choose_in_order(weights, [1, 0, 2], 39) == [2, -1, 1]


def test_in_order_required_items_come_first_and_leave_room_for_each_other() -> None:
    weights = [[50, 10], [80, 40], [60, 5]]
    assert choose_in_order(weights, [0, 1, 2], 100, {1, 2}) == [1, 0, 1]
    assert choose_in_order(weights, [0, 1, 2], 44, {1, 2}) == [-1, -1, -1]


def test_in_order_an_empty_item_always_fits() -> None:
    assert choose_in_order([[0], [5]], [1, 0], 0) == [0, -1]
