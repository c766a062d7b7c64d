"""The Budget Simulation chapter, with the numbers of the decisions."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

import pycupel
from pycupel import (
    ContextBudget,
    ContextItem,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    CountQuotaSlice,
    GreedySlice,
    KnapsackSlice,
    Pipeline,
    QuotaSlice,
    ReflexiveScorer,
    ScoredItem,
)
from pycupel.analytics import find_min_budget_for, get_marginal_items, sweep_budgets
from pycupel.analytics.budgets import first_budgets
from pycupel.errors import InvalidArgumentError, NonMonotonicSlicerError, PinnedExceedsBudgetError
from pycupel.policies import CHAT

GREEDY = Pipeline(ReflexiveScorer())


def item(content: str, tokens: int, hint: float = 0.5, **fields: Any) -> ContextItem:
    return ContextItem(content, tokens, future_relevance_hint=hint, **fields)


A = item("A", 100, 1.0)
B = item("B", 60, 0.3)


def test_the_minimum_depends_on_the_ceiling_because_inclusion_is_not_monotonic() -> None:
    """BS-01: B is in from 60 to 99, out from 100 to 159, and in from 160."""
    assert find_min_budget_for(GREEDY, [A, B], B, 1_000) == 160
    assert find_min_budget_for(GREEDY, [A, B], B, 110) == 60
    assert find_min_budget_for(GREEDY, [A, B], B, 1_000, exhaustive=True) == 60
    assert find_min_budget_for(GREEDY, [A, B], B, 60, exhaustive=True) == 60, "the ceiling is tried, too"


def test_the_middle_is_rounded_down() -> None:
    """FindMinBudgetFor: `mid = low + (high - low) / 2`. From 60 to 139 that is 99, which selects B; 100 does not."""
    assert find_min_budget_for(GREEDY, [A, B], B, 139) == 60


def test_knapsack_is_not_monotonic_either() -> None:
    """BS-01: A is in at 100 to 119, out at 120, in again at 160."""
    a, b, c = item("A", 100, 0.5), item("B", 60, 0.35), item("C", 60, 0.35)
    pipeline = Pipeline(ReflexiveScorer(), KnapsackSlice(1))
    sizes = [size for size in (100, 119, 120, 159, 160) if a in pipeline.run([a, b, c], ContextBudget(size))]
    assert sizes == [100, 119, 160]


@pytest.mark.proves("S-BS-06")
def test_the_lower_bound_is_tried() -> None:
    """BS-03: a lone item of 100 tokens needs 100, not 101. BS-04: the ceiling may be the bound."""
    assert find_min_budget_for(GREEDY, [A], A, 1_000) == 100
    assert find_min_budget_for(GREEDY, [A], A, 100) == 100
    assert find_min_budget_for(GREEDY, [A], A, 101) == 100


@pytest.mark.parametrize("ceiling", [900, 1_000])
def test_probes_that_pinned_items_do_not_fit_into_count_as_not_selected(ceiling: int) -> None:
    """BS-06: pinned 500, target 10."""
    pinned, target = item("pinned", 500, pinned=True), item("target", 10)
    assert find_min_budget_for(GREEDY, [pinned, target], target, ceiling) == 510


@pytest.mark.proves("S-BS-06", "S-BS-08")
def test_a_budget_that_is_never_enough_is_none() -> None:
    pinned, target = item("pinned", 500, pinned=True), item("target", 10)
    assert find_min_budget_for(GREEDY, [pinned, target], target, 505) is None
    assert find_min_budget_for(GREEDY, [pinned, target], target, 505, exhaustive=True) is None


def test_negative_and_zero_token_targets() -> None:
    """BS-08."""
    broken, free = item("broken", -3), item("free", 0)
    assert find_min_budget_for(GREEDY, [broken], broken, 100) is None
    assert find_min_budget_for(GREEDY, [free], free, 100) == 1


def test_a_base_budget_carries_reserve_slots_and_margin() -> None:
    """BS-05: the answer is then the whole window."""
    base = ContextBudget(1, output_reserve=1, reserved_slots={"Message": 20})
    assert find_min_budget_for(GREEDY, [A], A, 1_000, base_budget=base) == 121
    margin = ContextBudget(1, estimation_safety_margin_percent=50.0)
    assert find_min_budget_for(GREEDY, [A], A, 1_000, base_budget=margin) == 200


FIND_GUARD = (
    "FindMinBudgetFor requires monotonic item inclusion. QuotaSlice and CountQuotaSlice produce non-monotonic "
    "inclusion as budget changes shift allocations. Use a GreedySlice or KnapsackSlice inner slicer for budget "
    "simulation."
)
MARGIN_GUARD = (
    "GetMarginalItems requires monotonic item inclusion. QuotaSlice produces non-monotonic inclusion as budget changes "
    "shift percentage allocations."
)
ENTRIES = [CountQuotaEntry("Message", cap_count=1)]


class Moody(GreedySlice):
    __slots__ = ()
    supports_marginal_items = False
    supports_min_budget = False


@pytest.mark.proves("S-CQ-14", "S-CK-07", "S-BS-09", "S-BS-11")
@pytest.mark.parametrize(
    "slicer", [QuotaSlice([]), CountQuotaSlice(ENTRIES), CountConstrainedKnapsackSlice(ENTRIES), Moody()]
)
def test_the_minimum_is_refused_for_slicers_that_are_not_monotonic(slicer: Any) -> None:
    """BS-09, BS-14: the guard comes before the arguments are looked at; META-04 for the third."""
    with pytest.raises(NonMonotonicSlicerError) as caught:
        find_min_budget_for(Pipeline(ReflexiveScorer(), slicer), [], A, -1)
    assert str(caught.value) == FIND_GUARD


@pytest.mark.proves("S-BS-05", "S-BS-11")
@pytest.mark.parametrize("slicer", [QuotaSlice([]), Moody()])
def test_marginal_items_are_refused_for_slicers_that_are_not_monotonic(slicer: Any) -> None:
    """BS-09."""
    with pytest.raises(NonMonotonicSlicerError) as caught:
        get_marginal_items(Pipeline(ReflexiveScorer(), slicer), [], ContextBudget(1), -1)
    assert str(caught.value) == MARGIN_GUARD


@pytest.mark.proves("S-BS-12")
@pytest.mark.parametrize(("budget", "slack"), [(-5, 1), ("much", 1), (100, -1), (100, "little"), (-5, -1)])
def test_the_guards_come_before_every_argument(budget: Any, slack: Any) -> None:
    """BS-14: also before the budget is looked at."""
    quotas = Pipeline(ReflexiveScorer(), QuotaSlice([]))
    with pytest.raises(NonMonotonicSlicerError):
        get_marginal_items(quotas, 3, budget, slack)  # type: ignore[arg-type]
    with pytest.raises(NonMonotonicSlicerError):
        find_min_budget_for(quotas, 3, None, slack, base_budget=budget)  # type: ignore[arg-type]


@pytest.mark.proves("S-CQ-13")
@pytest.mark.parametrize("slicer", [CountQuotaSlice(ENTRIES), CountQuotaSlice(ENTRIES, QuotaSlice([]))])
def test_marginal_items_are_not_guarded_against_count_quotas(slicer: Any) -> None:
    """BS-09, CK-04."""
    assert get_marginal_items(Pipeline(ReflexiveScorer(), slicer), [A], ContextBudget(100), 10) == [A]


@pytest.mark.proves("S-BS-07", "S-BS-10")
def test_bad_arguments_have_the_specified_texts() -> None:
    """BS-07, BS-15: a copy is another item."""
    copy = item("A", 100, 1.0)
    assert copy == A
    with pytest.raises(InvalidArgumentError) as missing:
        find_min_budget_for(GREEDY, [A], copy, 1_000)
    assert str(missing.value) == "target_item must be an element of items"
    assert "copy" in missing.value.__notes__[0]
    for other in (0, "A", None):
        with pytest.raises(TypeError, match=r"^target_item must be a ContextItem from items, not "):
            find_min_budget_for(GREEDY, [A], other, 1_000)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError) as low:
        find_min_budget_for(GREEDY, [A], A, 99)
    assert str(low.value) == "search_ceiling must be >= target_item.tokens"
    with pytest.raises(InvalidArgumentError, match="slack_tokens"):
        get_marginal_items(GREEDY, [A], ContextBudget(100), -1)
    with pytest.raises(TypeError, match="slack_tokens"):
        get_marginal_items(GREEDY, [A], ContextBudget(100), 1.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="exhaustive"):
        find_min_budget_for(GREEDY, [A], A, 100, exhaustive=1)  # type: ignore[arg-type]


@pytest.mark.proves("S-BS-02")
def test_marginal_items_are_what_less_budget_would_lose() -> None:
    """GetMarginalItems: primary without margin, by identity, in placed order (BS-13)."""
    items = [item(f"{i}", 10, 0.9 - i / 10) for i in range(5)]
    assert get_marginal_items(GREEDY, items, ContextBudget(50), 20) == items[3:]


def test_without_slack_nothing_is_run() -> None:
    """BS-11: no item is marginal, so even pinned items that do not fit are no error."""
    scorer = Recording()
    items = [item("pinned", 500, pinned=True), A]
    assert get_marginal_items(Pipeline(scorer), items, ContextBudget(50), 0) == []
    assert scorer.calls == 0


@pytest.mark.proves("S-BS-02", "S-BS-10")
def test_marginal_items_count_occurrences() -> None:
    """BS-13: with multiplicity."""
    twice = item("twice", 10)
    pipeline = Pipeline(ReflexiveScorer(), deduplication=False)
    assert get_marginal_items(pipeline, [twice, twice], ContextBudget(20), 10) == [twice]


@pytest.mark.proves("S-BS-04")
def test_the_reduced_budget_keeps_what_is_held_back_and_never_goes_below_zero() -> None:
    """BS-10, BS-11."""
    budget = ContextBudget(100, 100, output_reserve=30, reserved_slots={"Message": 40})
    small = item("small", 30)
    assert get_marginal_items(GREEDY, [small], budget, 1) == [small]
    assert get_marginal_items(GREEDY, [small], budget, 1_000) == [small]


class Watching(GreedySlice):
    """Remembers the budgets that it was given."""

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "seen", [])

    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        seen: list[tuple[int, int]] = self.seen  # type: ignore[attr-defined]
        seen.append((budget.max_tokens, budget.target_tokens))
        return super().slice(scored_items, budget)


@pytest.mark.proves("S-BS-03", "S-BS-04")
def test_both_runs_of_marginal_items_have_the_budget_of_the_call() -> None:
    """GetMarginalItems: the budget, then both limits less the slack, with the same reserve and slots (BS-10)."""
    slicer: Any = Watching()
    budget = ContextBudget(100, 80, output_reserve=10, reserved_slots={"Memory": 5})
    get_marginal_items(Pipeline(ReflexiveScorer(), slicer), [B], budget, 20)
    assert slicer.seen == [(100 - 10 - 5, 80 - 5), (80 - 10 - 5, 60 - 5)]


@pytest.mark.proves("S-BS-08")
def test_the_search_halves_what_is_left() -> None:
    """FindMinBudgetFor: about log2 of the ceiling; what the loop ends with is run once more."""
    slicer: Any = Watching()
    target, pinned = item("target", 10), item("pinned", 700, pinned=True)
    found = find_min_budget_for(Pipeline(ReflexiveScorer(), slicer), [target, pinned], target, 2**20)
    # What the slicer sees is without the pinned item.
    sizes = [size + 700 for size, _ in slicer.seen]
    assert found == sizes[-1] == 710
    assert sizes.count(710) == 2
    assert len(sizes) <= 20 + 2
    assert sizes[0] == 10 + (2**20 - 10) // 2


@pytest.mark.proves("S-BS-01", "S-BS-13")
def test_no_order_comes_from_hashes() -> None:
    """DryRun Determinism Invariant: two processes in which strings have other hashes give one answer."""
    code = """
from pycupel import *
from pycupel.analytics import find_min_budget_for, get_marginal_items
kinds = ["Message", "Document", "note", "Memory", "memo"]
items = [
    ContextItem(f"{i}", 10 + i % 3, kind=kinds[i % 5], tags=[f"t{i % 4}", f"u{i % 3}"], priority=i % 2)
    for i in range(40)
]
scorer = CompositeScorer([(FrequencyScorer(), 1.0), (TagScorer({f"t{i}": i for i in range(4)}), 1.0)])
quotas = QuotaSlice([QuotaEntry(kind, 10) for kind in kinds])
counts = CountQuotaSlice([CountQuotaEntry(kind, require_count=1, cap_count=2) for kind in kinds], quotas)
for slicer in (GreedySlice(), KnapsackSlice(1), quotas, counts):
    pipeline = Pipeline(scorer, slicer)
    report = pipeline.dry_run(items, ContextBudget(150, reserved_slots={kind: 1 for kind in kinds}))
    print([item.content for item in report.items], [each.item.content for each in report.excluded])
    scored = [ScoredItem(item, 0.5) for item in items]
    print([item.content for item in slicer.slice(scored, ContextBudget(150))])
print([item.content for item in get_marginal_items(Pipeline(scorer), items, 150, 40)])
print(find_min_budget_for(Pipeline(scorer), items, items[7], 500))
"""
    printed = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(printed) == 1
    assert len(printed.pop().splitlines()) == 10


@pytest.mark.proves("S-AN-03")
def test_a_sweep_is_an_extension() -> None:
    """Changelog: SweepBudget is not part of Cupel, so it is none of the everyday names, and says what it is."""
    assert "sweep_budgets" not in dir(pycupel)
    assert "extension" in (sweep_budgets.__doc__ or "")


def test_a_reduced_run_that_pinned_items_do_not_fit_into_raises() -> None:
    """BS-12."""
    with pytest.raises(PinnedExceedsBudgetError):
        get_marginal_items(GREEDY, [item("pinned", 50, pinned=True)], ContextBudget(60), 20)


def test_a_sweep_gives_a_point_for_each_budget() -> None:
    items = [item("pinned", 20, pinned=True), item("a", 30, 0.5), item("b", 40, 0.25)]
    infeasible, pinned, one, both = sweep_budgets(GREEDY, items, [10, 40, ContextBudget(100, 60), 100])
    assert (infeasible.feasible, infeasible.items, infeasible.budget) == (False, (), ContextBudget(10))
    assert (pinned.feasible, pinned.tokens, pinned.utilization, pinned.score) == (True, 20, 0.5, 0.0)
    assert (one.tokens, one.utilization, one.score) == (50, 0.5, 0.5)
    assert (both.tokens, both.score, len(both.items)) == (90, 0.75, 3)


def test_a_sweep_takes_a_budget_that_requirements_do_not_fit_into_as_not_feasible() -> None:
    """BS-06: as with pinned items. CQ-06: what is required comes before the budget, so the selection overflows."""
    required = CountQuotaSlice([CountQuotaEntry("Message", require_count=1, cap_count=1)])
    points = sweep_budgets(Pipeline(ReflexiveScorer(), required), [A], [99, 100])
    assert [(point.feasible, point.items) for point in points] == [(False, ()), (True, (A,))]


RECENT = [ContextItem(f"{i}", 10, timestamp=datetime(2026, 1, 1 + i, tzinfo=UTC)) for i in range(5)]


@pytest.mark.parametrize("policy", ["chat", CHAT, Pipeline.from_policy(CHAT)])
def test_a_policy_may_be_a_preset_and_a_budget_a_number(policy: Any) -> None:
    """One way in: the chat preset keeps the latest messages."""
    assert get_marginal_items(policy, RECENT, 30, 10) == [RECENT[2]]
    assert find_min_budget_for(policy, RECENT, RECENT[0], 100, base_budget=1) == 50
    assert [point.items for point in sweep_budgets(policy, RECENT, [20])] == [(RECENT[3], RECENT[4])]


def test_the_minimum_for_a_document_in_the_rag_preset() -> None:
    best = item("best", 40, 0.9, kind="Document")
    assert find_min_budget_for("rag", [best, item("other", 40, 0.1, kind="Document")], best, 500) == 40


@pytest.mark.parametrize("call", [get_marginal_items, find_min_budget_for, sweep_budgets])
@pytest.mark.parametrize("policy", [None, ReflexiveScorer(), Pipeline])
def test_a_pipeline_is_a_pipeline_a_policy_or_a_preset(call: Any, policy: Any) -> None:
    sentence = "^pipeline must be a Policy, a Pipeline or the name of a preset, not "
    with pytest.raises(TypeError, match=sentence):
        call(policy, [A], *{get_marginal_items: (100, 10), find_min_budget_for: (A, 100)}.get(call, ([100],)))


def test_an_unknown_preset_is_refused() -> None:
    unknown: Any = "chatt"
    with pytest.raises(InvalidArgumentError, match="did you mean 'chat'"):
        sweep_budgets(unknown, [A], [100])


class Recording:
    """A scorer that counts how often it is asked."""

    def __init__(self) -> None:
        self.calls = 0

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        self.calls += 1
        return 0.5


def test_a_simulation_scores_once() -> None:
    scorer = Recording()
    items = [item(f"{i}", 10) for i in range(20)]
    sweep_budgets(Pipeline(scorer), items, range(0, 200, 10))
    assert scorer.calls == 20
    find_min_budget_for(Pipeline(scorer), items, items[7], 500)
    assert scorer.calls == 40


@pytest.mark.parametrize("budgets", [5, "12", [1.5], [True], [None]])
def test_budgets_that_are_none_are_type_errors(budgets: Any) -> None:
    with pytest.raises(TypeError, match="budgets"):
        sweep_budgets(GREEDY, [A], budgets)


def test_other_errors_are_not_swallowed() -> None:
    """BS-06: only what the size of the budget explains counts as not selected."""

    class Failing:
        def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
            raise RuntimeError("broken slicer")

    with pytest.raises(RuntimeError, match="broken slicer"):
        find_min_budget_for(Pipeline(ReflexiveScorer(), Failing()), [A], A, 500)


def test_an_exhaustive_search_for_a_budget_ends() -> None:
    """BS-01: a ceiling of 10**12 sizes; an answer within the first ones is an answer."""
    pipeline = Pipeline(ReflexiveScorer(), GreedySlice())
    target = ContextItem("target", 5, future_relevance_hint=0.9)
    others = [ContextItem(f"{i}", 10, future_relevance_hint=0.1, pinned=True) for i in range(10_000)]
    with pytest.raises(InvalidArgumentError, match="lower search_ceiling to 5004, or omit exhaustive") as caught:
        find_min_budget_for(pipeline, [target, *others], target, 10**12, exhaustive=True)
    assert caught.value.argument == "search_ceiling"
    assert find_min_budget_for(pipeline, [target, *others], target, 5_004, exhaustive=True) is None
    assert find_min_budget_for(pipeline, [target], target, 10**12, exhaustive=True) == 5


class TestFirstBudgets:
    """The smallest target that selects each item, which the curve on a page shows."""

    BY_SCORE = Pipeline(ReflexiveScorer(), GreedySlice(cost_exponent=0))

    @pytest.mark.parametrize("seed", range(20))
    def test_they_are_those_of_an_exhaustive_sweep(self, seed: int) -> None:
        rng = Random(seed)
        items = [
            item(f"{n}", rng.randint(0, 40), rng.random(), pinned=rng.random() < 0.1) for n in range(rng.randint(1, 12))
        ]
        base = ContextBudget(
            120, 90, output_reserve=rng.choice([0, 10]), estimation_safety_margin_percent=rng.choice([0, 10])
        )
        swept = sweep_budgets(self.BY_SCORE, items, [base.resized(size + 30, size) for size in range(400)])
        expected: dict[int, int] = {}
        for size, point in enumerate(swept):
            for each in point.items:
                expected.setdefault(id(each), size)
        wanted = {key: size for key, size in expected.items() if not any(id(x) == key and x.pinned for x in items)}
        assert first_budgets(self.BY_SCORE, items, base, 399) == wanted

    def test_what_never_fits_has_none(self) -> None:
        assert first_budgets(self.BY_SCORE, [A, B], ContextBudget(90), 90) == {id(B): 60}

    @pytest.mark.parametrize(
        "pipeline",
        [
            GREEDY,
            Pipeline(ReflexiveScorer(), KnapsackSlice()),
            Pipeline(ReflexiveScorer(), GreedySlice(cost_exponent=0), deduplication=False),
            Pipeline(ReflexiveScorer(), GreedySlice(cost_exponent=0, best_first=True)),
        ],
    )
    def test_other_slicers_have_none(self, pipeline: Pipeline) -> None:
        assert first_budgets(pipeline, [A, item("free", 0)], ContextBudget(90), 90) == {}

    def test_what_would_take_too_long_has_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        items = [item(f"{n}", 1 + n, 1 - n / 1_001) for n in range(1_001)]
        assert first_budgets(self.BY_SCORE, items, ContextBudget(9), 9) == {}
        monkeypatch.setattr("pycupel.analytics.budgets._MAX_PIECES", 6)
        found = first_budgets(self.BY_SCORE, items[:9], ContextBudget(99), 99)
        assert [*found] == [id(each) for each in items[:3]]
