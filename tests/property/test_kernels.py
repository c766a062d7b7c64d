"""The kernels on random numbers, each against its literal definition."""

from __future__ import annotations

import math
import random
import sys

import pytest
from hypothesis import given, strategies as st

from pycupel import ContextItem, PriorityScorer
from pycupel.kernels.order import by_density, descending, fill, indices_by_identity, u_shaped
from pycupel.kernels.scores import min_max, overlap_counts, product, rank_shares, weighted_sum
from pycupel.model.checks import fold
from tests.examples import examples
from tests.kernels.test_overlap import counted
from tests.oracle.bits import bits
from tests.oracle.placers import u_shaped as oracle_u_shaped
from tests.oracle.stages import descending as oracle_descending

ODD = st.sampled_from((0.0, -0.0, 0.5, 0.5, 1.0, math.nan, math.inf, -math.inf))
SCORES = ODD | st.floats()


@st.composite
def tables(draw: st.DrawFn) -> list[list[float]]:
    """Draw columns of equal length, up to more of them than are added in one pass."""
    rows = draw(st.integers(0, 5))
    return draw(st.lists(st.lists(SCORES, min_size=rows, max_size=rows), min_size=1, max_size=13))


@examples(100)
@given(tables(), st.lists(SCORES, min_size=13, max_size=13))
def test_weighted_sums_are_added_from_left_to_right(columns: list[list[float]], weights: list[float]) -> None:
    """PY-01."""
    weights = weights[: len(columns)]
    expected = []
    for row in zip(*columns, strict=True):
        total = 0.0
        for value, weight in zip(row, weights, strict=True):
            total += value * weight
        expected.append(total)
    assert bits(weighted_sum(columns, weights)) == bits(expected)


@examples(70)
@given(tables())
def test_products_are_multiplied_from_left_to_right(columns: list[list[float]]) -> None:
    """CS-03, META-08."""
    expected = []
    for row in zip(*columns, strict=True):
        total, *factors = row
        for factor in factors:
            total *= factor
        expected.append(total)
    assert bits(product(columns)) == bits(expected)


@examples(180)
@given(st.lists(SCORES, max_size=12))
def test_orders_are_those_of_the_pseudocode(values: list[float]) -> None:
    """Stage 4, Sort, and U-SHAPED-PLACE; SC-03, SO-01."""
    order = descending(values)
    assert order == oracle_descending(values)
    assert u_shaped(order) == oracle_u_shaped(values)


@examples(70)
@given(st.lists(SCORES, min_size=1, max_size=12), st.data())
def test_a_part_is_ordered_like_a_list_of_its_own(values: list[float], data: st.DataObject) -> None:
    """SO-02: ties by the position among those that are sorted."""
    among = data.draw(st.lists(st.integers(0, len(values) - 1), unique=True))
    expected = [among[i] for i in oracle_descending([values[i] for i in among])]
    assert descending(values, among) == expected


@examples(50)
@given(st.lists(st.none() | st.integers(-3, 3) | st.integers(), max_size=15))
def test_ranks_are_those_of_the_pseudocode(values: list[int | None]) -> None:
    """PRIORITY-SCORE."""
    items = [ContextItem("x", 1, priority=value) for value in values]
    assert bits(rank_shares(values)) == bits([PriorityScorer().score(item, items) for item in items])


@pytest.mark.proves("S-SS-07")
@examples(100)
@given(st.lists(SCORES, max_size=10))
def test_scaling_is_that_of_the_pseudocode(values: list[float]) -> None:
    """SCALED-SCORE; SS-01, SS-02."""
    numbers = [value for value in values if not math.isnan(value)]
    lowest, highest = min(numbers, default=math.inf), max(numbers, default=-math.inf)
    expected = [
        (value - lowest) / (highest - lowest) if math.isfinite(value) and lowest != highest else 0.5 for value in values
    ]
    assert bits(min_max(values)) == bits(expected)


@examples(100)
@given(
    st.lists(st.lists(st.sampled_from(("a", "A", "b", "c", "\u00e9", "\u00c9")), max_size=3).map(tuple), max_size=10),
    st.integers(0, 140),
    st.sampled_from(((), ("a",), ("B", "d"))),
)
def test_overlaps_are_those_of_all_pairs(rows: list[tuple[str, ...]], more: int, labels: tuple[str, ...]) -> None:
    """FREQUENCY-SCORE: with many more rows the same label is rare for one and common for another."""
    rows += [labels] * more
    assert overlap_counts(rows, fold) == counted(rows, fold)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("common", "rare"), [(1, 0), (6, 0), (0, 30), (3, 300), (12, 12)])
def test_overlaps_of_many_rows_are_those_of_all_pairs(common: int, rare: int, seed: int) -> None:
    """PY-09: masks and lists give what comparing every pair gives."""
    dice = random.Random(seed)
    rows: list[tuple[str, ...]] = []
    for _ in range(dice.randrange(1, 600)):
        labels = [dice.choice("cC") + str(dice.randrange(common)) for _ in range(dice.randrange(4)) if common]
        labels += [dice.choice("rR") + str(dice.randrange(rare)) for _ in range(dice.randrange(4)) if rare]
        rows.append(tuple(labels))
    assert overlap_counts(rows, str.lower) == counted(rows, str.lower)


@examples(70)
@given(st.lists(st.integers(0, 4), max_size=12))
def test_indices_are_given_out_first_to_last(picks: list[int]) -> None:
    """SL-03."""
    objects = [[pick] for pick in range(5)]
    row = [objects[pick] for pick in picks]
    indices = indices_by_identity(row)
    for i, each in enumerate(row):
        assert indices[id(each)].pop() == i
    assert not any(indices.values())


@examples(100)
@given(st.lists(st.tuples(SCORES, st.sampled_from((0, 1, 1, 2, 5, 100)) | st.integers(0, 10**400)), max_size=10))
def test_densities_descend(pairs: list[tuple[float, int]]) -> None:
    """GREEDY-SLICE; GS-03: the density of what costs nothing is the largest finite float."""
    densities = []
    for score, tokens in pairs:
        cost = math.inf if tokens > sys.float_info.max else float(tokens)
        densities.append(score / cost if tokens else sys.float_info.max)
    assert by_density([score for score, _ in pairs], [tokens for _, tokens in pairs]) == oracle_descending(densities)


@examples(100)
@given(st.lists(st.integers(0, 20), max_size=12), st.integers(0, 60), st.data())
def test_filling_takes_what_fits_when_its_turn_comes(tokens: list[int], capacity: int, data: st.DataObject) -> None:
    """GREEDY-SLICE; GS-01."""
    order = data.draw(st.permutations(range(len(tokens))))
    taken = fill(order, tokens, capacity)
    assert sum(tokens[i] for i in taken) <= capacity
    assert [i for i in order if i in taken] == taken
    for i in order:
        used = sum(tokens[j] for j in taken if order.index(j) < order.index(i))
        assert (i in taken) == (used + tokens[i] <= capacity)
