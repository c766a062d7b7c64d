"""StreamSlice: what the vectors `stream-*` do not show."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import pytest

from pycupel import ContextBudget, ContextItem, Pipeline, QuotaSlice, ReflexiveScorer, ScoredItem
from pycupel.analytics import find_min_budget_for, get_marginal_items
from pycupel.errors import SlicerConfigError
from pycupel.slicers import StreamSlice
from tests.property.test_slicers import compare_with_oracle
from tests.slicers.rows import Rows, scored, selected

INF = math.inf
NAN = math.nan


def stream(rows: Rows, target: int, batch_size: int, *, replace: bool = False) -> list[str]:
    return selected(scored(rows), target, StreamSlice(batch_size, replace=replace))


# --- batches


@pytest.mark.parametrize("replace", [False, True])
def test_empty_input_or_a_target_of_zero_selects_nothing(replace: bool) -> None:
    """Slicers: the contract's fourth rule, and EB-02: not even zero-token items."""
    assert stream([], 100, 2, replace=replace) == []
    assert stream([("free", 0, 1.0), ("a", 1, 1.0)], 0, 2, replace=replace) == []


def test_the_selection_is_in_the_order_of_acceptance() -> None:
    """StreamSlice: batch by batch, and by score within each."""
    rows = [("a", 1, 0.1), ("b", 1, 0.2), ("c", 1, 0.8), ("d", 1, 0.9), ("e", 1, 0.5)]
    assert stream(rows, 100, 2) == ["b", "a", "d", "c", "e"]


def test_equal_scores_keep_the_order_they_come_in() -> None:
    """StreamSlice: the sort is stable; SO-01: and zeros are equal."""
    assert stream([("a", 1, 0.5), ("b", 1, 0.5), ("c", 1, 0.5)], 2, 3) == ["a", "b"]
    assert stream([("minus", 1, -0.0), ("plus", 1, 0.0)], 1, 2) == ["minus"]


def test_a_smaller_item_is_tried_after_one_that_did_not_fit() -> None:
    """StreamSlice: within a batch and in the batches after it."""
    rows = [
        ("a", 50, 0.9),
        ("too large", 60, 0.8),
        ("small", 30, 0.1),
        ("too large again", 51, 0.9),
        ("exact", 20, 0.1),
    ]
    assert stream(rows, 100, 2) == ["a", "small", "exact"]


def test_nothing_is_looked_at_after_the_batch_that_fills_the_budget() -> None:
    """StreamSlice: in that batch zero-token items are selected whatever remains; after it, they are not."""
    rows = [("all", 10, 0.9), ("free", 0, 0.1), ("free later", 0, 1.0)]
    assert stream(rows, 10, 2) == ["all", "free"]
    assert stream(rows, 10, 1) == ["all"]
    assert stream(rows, 11, 1) == ["all", "free", "free later"]


def test_nan_is_below_every_number() -> None:
    """SC-03: and infinities are ordinary."""
    rows = [("nan", 10, NAN), ("debt", 10, -INF), ("low", 10, -5.0), ("infinite", 10, INF)]
    assert stream(rows, 40, 4) == ["infinite", "low", "debt", "nan"]
    assert stream(rows, 30, 4) == ["infinite", "low", "debt"]


# --- replace


def test_with_replace_an_equal_score_pushes_out_nothing() -> None:
    """StreamSlice, replace: the one that came first stays; NaN is equal to NaN here (SC-03)."""
    assert stream([("first", 10, 0.5), ("second", 10, 0.5)], 10, 1, replace=True) == ["first"]
    assert stream([("first", 10, NAN), ("second", 10, NAN)], 10, 1, replace=True) == ["first"]
    assert stream([("first", 10, NAN), ("second", 10, -INF)], 10, 1, replace=True) == ["second"]


def test_with_replace_nothing_is_given_up_for_an_item_that_does_not_fit_anyway() -> None:
    """StreamSlice, replace: what scores higher than the newcomer keeps its room."""
    rows = [("better", 15, 0.9), ("worse", 5, 0.1), ("newcomer", 10, 0.5)]
    assert stream(rows, 20, 1, replace=True) == ["better", "worse"]


def test_with_replace_what_still_fits_beside_the_newcomer_stays() -> None:
    """StreamSlice, replace: the lowest score does not have to go if giving it up does not help."""
    rows = [("large", 8, 0.5), ("small", 2, 0.3), ("newcomer", 5, 0.9)]
    assert stream(rows, 10, 1, replace=True) == ["newcomer", "small"]


def test_with_replace_zero_token_items_stay_and_come_in_until_the_end() -> None:
    """StreamSlice, replace: they need no room, and a full budget does not end the stream."""
    rows = [("free", 0, -INF), ("a", 10, 0.1), ("b", 10, 0.9), ("free later", 0, NAN)]
    assert stream(rows, 10, 1, replace=True) == ["b", "free", "free later"]


def test_with_replace_what_was_turned_away_does_not_come_back() -> None:
    """StreamSlice, replace: the stream is read once."""
    rows = [("large", 9, 0.5), ("small", 2, 0.4), ("newcomer", 5, 0.9)]
    assert stream(rows, 10, 1, replace=True) == ["newcomer"]


# --- in a pipeline


ITEMS = [
    ContextItem("a", 10, future_relevance_hint=0.2),
    ContextItem("b", 10, future_relevance_hint=0.9),
    ContextItem("c", 10, future_relevance_hint=0.5),
    ContextItem("free", 0, future_relevance_hint=0.1),
]


@pytest.mark.parametrize("batch_size", [1, 2, 32])
@pytest.mark.parametrize("replace", [False, True])
def test_a_pipeline_sorts_first_so_the_best_are_selected(batch_size: int, replace: bool) -> None:
    """StreamSlice: `run` and `dry_run` use the synchronous form."""
    pipeline = Pipeline(ReflexiveScorer(), StreamSlice(batch_size, replace=replace))
    selected = pipeline.run(ITEMS, ContextBudget(25))
    assert [item.content for item in selected] == ["b", "c", "free"]
    assert list(pipeline.dry_run(ITEMS, ContextBudget(25)).items) == selected


def slice_messages(slicer: StreamSlice | QuotaSlice, target: int) -> list[str]:
    events = Pipeline(ReflexiveScorer(), slicer).dry_run(ITEMS, ContextBudget(target)).events
    return [event.message for event in events if event.stage == "Slice" and event.message is not None]


def test_the_report_says_why_an_item_without_tokens_is_left_out() -> None:
    """ER-05: the reason alone would say that 0 tokens do not fit into 0."""
    ended = "the stream ended when an earlier batch had filled the budget"
    too_large = "BudgetExceeded: 10 tokens requested, 0 available"
    assert slice_messages(StreamSlice(2), 20) == [
        too_large,
        f"BudgetExceeded: 0 tokens requested, 0 available ({ended})",
    ]
    assert slice_messages(QuotaSlice([], StreamSlice(2)), 20)[-1].endswith(f"; {ended})")
    assert slice_messages(StreamSlice(2), 0)[-1] == "BudgetExceeded: 0 tokens requested, 0 available"
    assert slice_messages(StreamSlice(2, replace=True), 20) == [too_large]
    assert "stream" not in slice_messages(QuotaSlice([], StreamSlice(2, replace=True)), 20)[-1]


def test_budget_simulation_is_supported() -> None:
    """BS-09: sorted by score, it is as monotonic as GreedySlice."""
    pipeline = Pipeline(ReflexiveScorer(), StreamSlice())
    assert get_marginal_items(pipeline, ITEMS, ContextBudget(20), 10) == [ITEMS[2]]
    assert find_min_budget_for(pipeline, ITEMS, ITEMS[2], 100) == 20


# --- options


def test_the_defaults_are_batches_of_32_without_replacing() -> None:
    """StreamSlice: batchSize 32."""
    assert StreamSlice() == StreamSlice(32, replace=False)
    assert StreamSlice(batch_size=7).batch_size == 7


@pytest.mark.parametrize("size", [0, -1])
def test_a_batch_has_at_least_one_item(size: int) -> None:
    """StreamSlice: batchSize > 0."""
    with pytest.raises(SlicerConfigError, match=f"batch_size must be greater than 0, not {size}") as caught:
        StreamSlice(size)
    assert (caught.value.argument, caught.value.value) == ("batch_size", size)


@pytest.mark.parametrize("size", [True, 1.0, "32", None])
def test_a_batch_size_is_an_integer(size: Any) -> None:
    """DM-02: no bool and no float."""
    with pytest.raises(TypeError, match="batch_size must be an int"):
        StreamSlice(size)


def test_anything_that_is_an_integer_becomes_an_int() -> None:
    """PY-05: numpy's integers, for example."""

    class Seven:
        def __index__(self) -> int:
            return 7

    size: Any = Seven()
    assert type(StreamSlice(size).batch_size) is int


@pytest.mark.parametrize("replace", [1, None, "yes"])
def test_replace_is_a_bool_and_a_keyword(replace: Any) -> None:
    """`StreamSlice(batch_size=32, *, replace=False)`."""
    with pytest.raises(TypeError, match="replace must be a bool"):
        StreamSlice(replace=replace)
    with pytest.raises(TypeError, match="positional"):
        StreamSlice(32, replace)  # type: ignore[call-arg]


@pytest.mark.parametrize("seed", range(3))
def test_many_batches_compete_like_few(seed: int) -> None:
    """StreamSlice, replace: hundreds of batches against the letter of the algorithm."""
    dice = Random(seed)
    many = [ScoredItem(ContextItem("-", dice.randint(0, 60)), dice.randint(0, 99) / 99) for _ in range(400)]
    budget = ContextBudget(dice.randint(100, 5_000))
    compare_with_oracle(StreamSlice(1 + seed, replace=True), many, budget)


def test_negative_tokens_are_walked_through() -> None:
    """Slicers called alone: what a pipeline would have excluded gives room, as in any other slicer."""
    many = [ScoredItem(ContextItem("-", tokens), score) for score, tokens in enumerate([30, -20, 30] * 30)]
    compare_with_oracle(StreamSlice(1, replace=True), many, ContextBudget(50))
