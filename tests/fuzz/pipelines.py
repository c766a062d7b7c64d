"""Random pipelines with all strategies, and what holds for every run.

`python -m tests.fuzz.pipelines --minutes 15` runs it for longer than the tests do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable

from hypothesis import strategies as st

from pycupel import (
    ContextBudget,
    ContextItem,
    CountQuotaSlice,
    OverflowStrategy,
    Pipeline,
    QuotaSlice,
    SelectionReport,
    Slicer,
    StreamSlice,
    select,
)
from pycupel.errors import BudgetOverflowError, CountRequirementError, PinnedExceedsBudgetError
from tests import strategies
from tests.fuzz.loop import fuzz, run_for_minutes

HUGE = (10**400, 10**400 + 1, 3 * 10**5000)
# What a run may refuse. A table is always small here, and everything else would be a defect.
REFUSALS = (PinnedExceedsBudgetError, BudgetOverflowError, CountRequirementError)


def streams() -> st.SearchStrategy[StreamSlice]:
    return st.builds(StreamSlice, st.sampled_from((1, 2, 7, 32)), replace=st.booleans())


@st.composite
def any_slicer(draw: st.DrawFn) -> Slicer:
    """Draw any of the six slicers, and a stream inside others."""
    shape = draw(st.sampled_from(("other", "other", "stream", "quota", "count")))
    if shape == "other":
        return draw(strategies.slicers())
    if shape == "quota":
        return QuotaSlice(draw(strategies.quota_entries()), draw(streams()), redistribute=draw(st.booleans()))
    if shape == "count":
        return CountQuotaSlice(draw(strategies.count_entries()), draw(streams()), draw(strategies.scarcities()))
    return draw(streams())


@st.composite
def runs(draw: st.DrawFn) -> tuple[Pipeline, list[ContextItem], ContextBudget]:
    """Draw a pipeline, its input and a budget; now and then with numbers beyond floats, or hundreds of items."""
    base = draw(strategies.pipelines())
    pipeline = Pipeline(
        base.scorer,
        draw(any_slicer()),
        base.placer,
        deduplication=base.deduplication,
        dedupe_against_pinned=base.dedupe_against_pinned,
        overflow_strategy=base.overflow_strategy,
    )
    items = draw(strategies.item_lists(max_size=14))
    budget = draw(strategies.budgets())
    special = draw(st.sampled_from(("", "", "", "many", "huge items", "huge budget")))
    if special == "many":
        items = items * draw(st.integers(5, 30))
    if special == "huge items":
        items = [*items, *(ContextItem(f"huge{i}", tokens) for i, tokens in enumerate(HUGE))]
    if special == "huge budget" and not _has_knapsack(pipeline.slicer):
        budget = budget.resized(draw(st.sampled_from(HUGE)))
    return pipeline, items, budget


def _has_knapsack(slicer: object) -> bool:
    """A knapsack refuses a budget of that many buckets, as it should."""
    return "knapsack" in type(slicer).__name__.lower() or (hasattr(slicer, "inner") and _has_knapsack(slicer.inner))


def ids(items: Iterable[ContextItem]) -> list[int]:
    return list(map(id, items))


def outcome(work: Callable[[], Iterable[ContextItem]]) -> list[int] | str:
    """What is selected, by identity, or the error by which it is refused."""
    try:
        return ids(work())
    except REFUSALS as error:
        return f"{type(error).__name__}: {error}"


def check(pipeline: Pipeline, items: list[ContextItem], budget: ContextBudget) -> None:
    """The invariants of one run."""
    before = ids(items)
    selected = outcome(lambda: pipeline.run(items, budget))
    assert outcome(lambda: pipeline.run(items, budget)) == selected, "the same twice"
    assert outcome(lambda: select(items, budget, policy=pipeline).items) == selected, "run == select"
    dry = outcome(lambda: [included.item for included in pipeline.dry_run(items, budget).included])
    assert dry == selected, "run == dry_run"
    assert ids(items) == before, "the input is left alone"
    if isinstance(selected, str):
        return
    report = pipeline.dry_run(items, budget)
    check_report(report, items)
    tokens = sum(included.item.tokens for included in report.included)
    if pipeline.overflow_strategy is OverflowStrategy.THROW:
        assert tokens <= budget.selection_limit, "within the budget"
    if pipeline.overflow_strategy is OverflowStrategy.TRUNCATE:
        pinned = sum(item.tokens for item in items if item.pinned and item.tokens >= 0)
        assert tokens <= max(budget.selection_limit, pinned), "within the budget, but for what is pinned"


def check_report(report: SelectionReport, items: list[ContextItem]) -> None:
    told = [included.item for included in report.included] + [excluded.item for excluded in report.excluded]
    assert Counter(ids(told)) == Counter(ids(items)), "each input once, included or excluded"
    assert report.total_candidates == len(items)
    for text in (repr(report), str(report), report.to_text()):
        assert text


def fuzz_pipelines(runs_at_most: int, end: float = math.inf) -> int:
    """Check that many random runs, or until the clock says `end`; how many that were."""
    return fuzz(lambda run: check(*run), runs(), runs_at_most, end)


if __name__ == "__main__":
    run_for_minutes([("pipelines", fuzz_pipelines)], __doc__)
