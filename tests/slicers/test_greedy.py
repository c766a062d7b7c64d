"""GreedySlice: what the vectors `greedy-*` do not show, the order of the output above all."""

from __future__ import annotations

import math
import pickle

import pytest

from pycupel import GreedySlice
from tests.slicers.rows import Rows, scored, selected

INF = math.inf
NAN = math.nan


def greedy(rows: Rows, target: int) -> list[str]:
    return selected(scored(rows), target, GreedySlice())


@pytest.mark.proves("S-GR-09")
def test_the_output_is_in_density_order_and_ties_are_in_input_order() -> None:
    """GreedySlice: the order of the greedy walk, not that of the input."""
    rows = [("big", 100, 0.9), ("first", 10, 0.5), ("double", 20, 1.0), ("last", 10, 0.5)]
    assert greedy(rows, 200) == ["first", "double", "last", "big"]


@pytest.mark.proves("S-GR-01", "S-GR-04")
def test_zero_token_items_come_first_by_index_whatever_their_scores() -> None:
    """GreedySlice: among zero-token items score values MUST NOT affect relative order."""
    rows = [("low", 0, 0.1), ("paid", 1, 1.0), ("high", 0, 0.9), ("nan", 0, NAN), ("negative", 0, -3.0)]
    assert greedy(rows, 1) == ["low", "high", "nan", "negative", "paid"]


def test_zero_and_minus_zero_tie() -> None:
    """SO-01: IEEE equality, so the index decides."""
    assert greedy([("minus", 10, -0.0), ("plus", 10, 0.0)], 10) == ["minus"]


def test_an_infinite_score_outranks_free_items_without_costing_them_their_place() -> None:
    """GS-03: the density of a zero-token item is the largest finite float."""
    assert greedy([("free", 0, 0.5), ("infinite", 10, INF), ("finite", 1, 1e300)], 10) == ["infinite", "free"]


def test_token_counts_beyond_the_range_of_floats_do_no_harm() -> None:
    """DM-02: token counts are not bounded."""
    astronomic = 10**400
    rows = [("astronomic", astronomic, 1.0), ("free", 0, 0.0), ("a", 10, 0.5)]
    assert greedy(rows, 10) == ["free", "a"]
    assert greedy(rows, astronomic + 10) == ["free", "a", "astronomic"]


def test_budget_simulation_is_supported() -> None:
    """BS-09: both class attributes are True."""
    assert GreedySlice.supports_marginal_items is True
    assert GreedySlice.supports_min_budget is True


def test_by_score_alone_the_best_is_taken_before_items_without_tokens() -> None:
    """At exponent 0, `best_first` changes nothing but the place of items without tokens."""
    rows = [("weak", 3, 0.2), ("huge", 20, 0.9), ("good", 4, 0.5), ("best", 8, 0.7)]
    plain, best_first = GreedySlice(0), GreedySlice(0, best_first=True)
    assert selected(scored(rows), 12, best_first) == selected(scored(rows), 12, plain) == ["best", "good"]
    with_free = [*rows, ("free", 0, 0.1)]
    assert selected(scored(with_free), 12, plain) == ["free", "best", "good"]
    assert selected(scored(with_free), 12, best_first) == ["best", "free", "good"]


def test_options_make_the_value() -> None:
    """PB-04: options are kept as floats and shown where they are not the default."""
    slicer = GreedySlice(0, best_first=True)
    assert slicer == GreedySlice(0.0, best_first=True) != GreedySlice()
    assert repr(slicer) == "GreedySlice(cost_exponent=0.0, best_first=True)"
    assert pickle.loads(pickle.dumps(slicer)) == slicer
