"""The checks for authors of plug-ins: each finds what it is for. `tests/property/test_built_in.py` has our own pass."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from threading import Lock
from typing import Any

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    CountQuotaEntry,
    CountQuotaSlice,
    DecayScorer,
    GreedySlice,
    KnapsackSlice,
    RecencyScorer,
    ScarcityBehavior,
    ScoredItem,
    UShapedPlacer,
)
from pycupel.diagnostics import CountCapExceeded
from pycupel.protocols import SliceOutcome
from pycupel.scorers import Exponential
from pycupel.testing._contract import (
    BrokenProperty,
    FixedTimeProvider,
    StrategyCheckError,
    check_placer,
    check_scorer,
    check_slicer,
)

DAY = timedelta(days=1)
CLOCK = FixedTimeProvider(datetime(2026, 1, 1, tzinfo=UTC))

REQUIREMENTS = [CountQuotaEntry("note", cap_count=3, require_count=2), CountQuotaEntry("Document", cap_count=4)]

Names = tuple[str, ...]


def test_slicers_with_requirements_are_found_to_overflow() -> None:
    """CQ-06: and the advice says how to allow it."""
    with pytest.raises(StrategyCheckError, match="may_overflow=True") as caught:
        check_slicer(CountQuotaSlice(REQUIREMENTS))
    assert [each.name for each in caught.value.broken] == ["budget"]


# --- scorers


class Scoring:
    """A scorer made of a function."""

    def __init__(self, function: Callable[[ContextItem, Sequence[ContextItem]], Any]) -> None:
        self.function = function

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> Any:
        return self.function(item, all_items)


class Batching(Scoring):
    """The same, with a second function for all items at once."""

    def __init__(
        self,
        function: Callable[[ContextItem, Sequence[ContextItem]], Any],
        together: Callable[[Sequence[ContextItem]], Any],
    ) -> None:
        super().__init__(function)
        self.together = together

    def score_all(self, items: Sequence[ContextItem], /) -> Any:
        return self.together(items)


def broken_by(check: Callable[..., None], strategy: Any, *args: Any, **options: Any) -> Names:
    """Give the names of the properties that a check finds broken."""
    with pytest.raises(StrategyCheckError) as caught:
        check(strategy, *args, **options)
    return tuple(each.name for each in caught.value.broken)


def first_problem(check: Callable[..., None], strategy: Any, *args: Any, **options: Any) -> tuple[str, str]:
    """Give the first thing that a check finds, and the sample that shows it."""
    with pytest.raises(StrategyCheckError) as caught:
        check(strategy, *args, **options)
    return caught.value.broken[0].problem, caught.value.broken[0].sample


def by_length(item: ContextItem, all_items: Sequence[ContextItem]) -> float:
    return len(item.content) / max(len(other.content) for other in all_items)


def change_metadata(item: ContextItem, all_items: Sequence[ContextItem]) -> float:
    item.metadata.get("notes", []).append("seen")
    return 0.5


def append(item: ContextItem, all_items: Any) -> float:
    all_items.append(item)
    return 0.5


class Remembering:
    """A scorer that caches relative scores by content, as if they did not depend on the other items."""

    def __init__(self) -> None:
        self.cache: dict[str, float] = {}

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        return self.cache.setdefault(item.content, by_length(item, all_items))


class Locked(Remembering):
    """One that cannot be copied, and whose scores depend on what it has seen."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = Lock()
        self.longest = 0

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        self.longest = max(self.longest, len(all_items))
        return len(all_items) / (self.longest + 1)


def test_a_scorer_with_one_method_passes() -> None:
    """Scorer: nothing else is needed; any real number will do (SC-04)."""
    check_scorer(Scoring(by_length))
    check_scorer(Scoring(lambda item, all_items: item.tokens))
    check_scorer(Scoring(lambda item, all_items: Decimal(item.tokens) / 7))
    check_scorer(Scoring(lambda item, all_items: float("inf") if item.tokens % 2 else -1e9))


def test_a_scorer_may_depend_on_the_order_of_the_items() -> None:
    """Scorer: the list is an argument, so its order is."""
    check_scorer(Scoring(lambda item, all_items: next(i for i, other in enumerate(all_items) if other is item)))


@pytest.mark.parametrize(
    ("scorer", "expected"),
    [
        pytest.param(Scoring(lambda item, all_items: 1.0 / (item.priority or 0)), ("answers",), id="raises"),
        pytest.param(Scoring(append), ("answers", "hands off"), id="changes what it can"),
        pytest.param(Scoring(lambda item, all_items: "high"), ("number",), id="text"),
        pytest.param(Scoring(lambda item, all_items: None), ("number",), id="None"),
        pytest.param(Scoring(lambda item, all_items: item.tokens > 5), ("number",), id="bool"),
        pytest.param(Scoring(lambda item, all_items: random.random()), ("repeatable",), id="random"),
        pytest.param(Remembering(), ("independent",), id="cache"),
        pytest.param(Locked(), ("independent",), id="state that cannot be copied"),
        pytest.param(Scoring(lambda item, all_items: id(item) % 10_007), ("by value",), id="id"),
        pytest.param(Scoring(change_metadata), ("hands off",), id="metadata"),
    ],
)
def test_a_scorer_that_breaks_one_property(scorer: Any, expected: Names) -> None:
    """Scorers: a score, a pure function of the arguments, which it MUST NOT modify."""
    assert broken_by(check_scorer, scorer) == expected


@pytest.mark.parametrize(
    "together",
    [
        pytest.param(lambda items: [by_length(item, items) + 1e-16 for item in items], id="another last bit"),
        pytest.param(lambda items: [0.0] * len(items), id="other scores"),
        pytest.param(lambda items: [by_length(item, items) for item in items[1:]], id="too few"),
        pytest.param(lambda items: [by_length(item, items) for item in (*items, items[0])], id="too many"),
        pytest.param(lambda items: ["high" for _ in items], id="no numbers"),
        pytest.param(lambda items: None, id="no list"),
    ],
)
def test_score_all_has_to_equal_score(together: Callable[[Sequence[ContextItem]], Any]) -> None:
    """Scorer: `score_all` is bit-equal, for each item."""
    assert broken_by(check_scorer, Batching(by_length, together)) == ("batch",)


def test_score_all_is_compared_with_its_signs_and_nans() -> None:
    """Scorer: bit-equal means that zero is not minus zero; NaN is NaN."""
    minus = Batching(lambda item, all_items: 0.0, lambda items: [-0.0] * len(items))
    assert broken_by(check_scorer, minus) == ("batch",)
    nan = float("nan")
    with pytest.warns(UserWarning, match="the score NaN"):
        check_scorer(Batching(lambda item, all_items: nan, lambda items: [nan] * len(items)))


def test_score_all_is_not_asked_about_no_items_and_may_return_any_sequence() -> None:
    """Stage 2, Score: a scorer is not asked if there is nothing to score."""

    def together(items: Sequence[ContextItem]) -> tuple[float, ...]:
        longest = max(len(item.content) for item in items)
        return tuple(len(item.content) / longest for item in items)

    check_scorer(Batching(by_length, together))


def test_score_all_has_to_leave_its_arguments_alone() -> None:
    """Scorer: as has `score`."""

    def together(items: Any) -> list[float]:
        scores = [by_length(item, items) for item in items]
        items.reverse()
        return scores

    assert broken_by(check_scorer, Batching(by_length, together)) == ("hands off",)


def test_an_inherited_score_all_is_no_part_of_a_scorer_that_overrides_score() -> None:
    """Scorer: a pipeline does not ask it either."""

    class Halved(RecencyScorer):
        def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
            return super().score(item, all_items) / 2

    check_scorer(Halved())


def test_nan_is_a_warning_that_names_the_item() -> None:
    """SC-03: legal, and hardly ever meant."""
    mine = ContextItem("mine", 1)
    scorer = Scoring(lambda item, all_items: float("nan") if item.content == "mine" else 0.5)
    check_scorer(scorer)
    with pytest.warns(
        UserWarning, match=r"Scoring gives ContextItem\('mine', 1\).* the score NaN, .*return 0.0"
    ) as caught:
        check_scorer(scorer, [mine])
    assert caught[0].filename == __file__


def test_a_live_clock_is_not_repeatable() -> None:
    """DS-02: with a live clock, two runs may differ; the advice says what to do."""
    ticks = iter(range(10_000))
    scorer = DecayScorer(lambda: CLOCK.now() + next(ticks) * DAY, Exponential(DAY))
    with pytest.raises(StrategyCheckError, match="FixedTimeProvider") as caught:
        check_scorer(scorer)
    assert [each.name for each in caught.value.broken] == ["repeatable"]


# --- slicers


class Slicing:
    """A slicer made of a function."""

    def __init__(self, function: Callable[[Sequence[ScoredItem], ContextBudget], Any]) -> None:
        self.function = function

    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> Any:
        return self.function(scored_items, budget)


class Detailing(Slicing):
    """The same, with a second function for details."""

    def __init__(
        self,
        function: Callable[[Sequence[ScoredItem], ContextBudget], Any],
        detailed: Callable[[Sequence[ScoredItem], ContextBudget], Any],
    ) -> None:
        super().__init__(function)
        self.detailed = detailed

    def slice_detailed(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> Any:
        return self.detailed(scored_items, budget)


def in_order(scored_items: Sequence[ScoredItem], budget: ContextBudget) -> list[ContextItem]:
    """Take items from the front until one does not fit."""
    selected: list[ContextItem] = []
    left = budget.target_tokens
    for item, _ in scored_items:
        if item.tokens > left or budget.target_tokens == 0:
            break
        selected.append(item)
        left -= item.tokens
    return selected


def with_random(scored_items: Sequence[ScoredItem], budget: ContextBudget) -> list[ContextItem]:
    return random.sample(in_order(scored_items, budget), len(in_order(scored_items, budget)))


def by_id(scored_items: Sequence[ScoredItem], budget: ContextBudget) -> list[ContextItem]:
    return sorted(in_order(scored_items, budget), key=id)


def sorting(scored_items: Any, budget: ContextBudget) -> list[ContextItem]:
    scored_items.sort(key=lambda pair: pair.item.content)
    return []


def reversing_lists(scored_items: Any, budget: ContextBudget) -> list[ContextItem]:
    selected = in_order(scored_items, budget)
    if isinstance(scored_items, list):
        scored_items.reverse()
    return selected


class Alternating:
    """A slicer that remembers the largest budget it has seen."""

    def __init__(self) -> None:
        self.largest = 0

    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        self.largest = max(self.largest, len(scored_items))
        return in_order(scored_items, budget) if len(scored_items) == self.largest else []


def test_a_slicer_with_one_method_passes() -> None:
    """Slicer: nothing else is needed."""
    check_slicer(Slicing(in_order))
    check_slicer(Slicing(lambda scored_items, budget: []))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        pytest.param(lambda scored_items, budget: [scored_items[0].item][:0], ("answers",), id="raises on nothing"),
        pytest.param(sorting, ("answers", "hands off"), id="changes what it can"),
        pytest.param(lambda scored_items, budget: int(sum(s for _, s in scored_items)) * [], ("answers",), id="NaN"),
        pytest.param(lambda scored_items, budget: None, ("list",), id="None"),
        pytest.param(lambda scored_items, budget: tuple(in_order(scored_items, budget)), ("list",), id="tuple"),
        pytest.param(lambda scored_items, budget: iter(in_order(scored_items, budget)), ("list",), id="iterator"),
        pytest.param(lambda scored_items, budget: [ContextItem("new", 0)], ("subset",), id="foreign item"),
        pytest.param(lambda scored_items, budget: list(scored_items), ("subset",), id="pairs"),
        pytest.param(
            lambda scored_items, budget: [copy.copy(item) for item in in_order(scored_items, budget)],
            ("subset",),
            id="copies",
        ),
        pytest.param(lambda scored_items, budget: in_order(scored_items, budget)[:1] * 3, ("subset",), id="too often"),
        pytest.param(
            lambda scored_items, budget: [item for item, _ in scored_items if item.tokens == 0],
            ("nothing",),
            id="free items for a target of 0",
        ),
        pytest.param(
            lambda scored_items, budget: [item for item, _ in scored_items] if budget.target_tokens else [],
            ("budget",),
            id="everything",
        ),
        pytest.param(
            lambda scored_items, budget: (
                in_order(scored_items, ContextBudget(budget.max_tokens)) if budget.target_tokens else []
            ),
            ("budget",),
            id="the maximum in place of the target",
        ),
        pytest.param(with_random, ("repeatable",), id="random order"),
        pytest.param(by_id, ("by value",), id="id"),
        pytest.param(reversing_lists, ("hands off",), id="changes a list"),
    ],
)
def test_a_slicer_that_breaks_one_property(
    function: Callable[[Sequence[ScoredItem], ContextBudget], Any], expected: Names
) -> None:
    """Slicers: a deterministic subset of the very objects, within the target, nothing changed (SL-02 to SL-04)."""
    assert broken_by(check_slicer, Slicing(function)) == expected


def test_a_slicer_with_a_memory_is_found_out() -> None:
    """Slicer: no state between calls (PY-15)."""
    assert broken_by(check_slicer, Alternating()) == ("independent",)


def test_even_a_slicer_that_may_overflow_selects_nothing_for_a_target_of_zero() -> None:
    """EB-02: the contract's MUST."""
    everything = Slicing(lambda scored_items, budget: [item for item, _ in scored_items])
    assert broken_by(check_slicer, everything, may_overflow=True) == ("nothing",)
    assert sorted(broken_by(check_slicer, everything)) == ["budget", "nothing"]


def test_details_that_agree_pass_in_any_order() -> None:
    """SL-01: the order of a selection is the slicer's own business."""
    check_slicer(Detailing(in_order, lambda scored, budget: SliceOutcome(in_order(scored, budget)[::-1])))


def capped(scored_items: Sequence[ScoredItem], budget: ContextBudget) -> SliceOutcome:
    """Say of what is selected that a cap has removed it."""
    selected = in_order(scored_items, budget)
    return SliceOutcome(selected, (), tuple((item, CountCapExceeded("Message", 1, 1)) for item in selected[:1]))


@pytest.mark.parametrize(
    "detailed",
    [
        pytest.param(lambda scored, budget: SliceOutcome([]), id="selects less"),
        pytest.param(lambda scored, budget: SliceOutcome(GreedySlice().slice(scored, budget)), id="selects others"),
        pytest.param(in_order, id="returns a list"),
        pytest.param(lambda scored, budget: SliceOutcome([ContextItem("new", 0)]), id="foreign item"),
        pytest.param(capped, id="selected and capped"),
        pytest.param(lambda scored, budget: [].pop(), id="raises"),
    ],
)
def test_slice_detailed_has_to_select_what_slice_selects(detailed: Callable[..., Any]) -> None:
    """CQ-03: `slice` is `slice_detailed` without the details."""
    assert broken_by(check_slicer, Detailing(in_order, detailed)) == ("detail",)


def test_a_knapsack_that_is_too_large_is_refused_not_broken() -> None:
    """KN-03: the guard is an answer, too."""
    check_slicer(KnapsackSlice(1, max_cells=100))


def test_a_refusal_has_to_be_the_same_in_detail() -> None:
    """CQ-08: with THROW, a lack of candidates is an error, in both methods."""
    throwing = CountQuotaSlice(REQUIREMENTS, scarcity=ScarcityBehavior.THROW)
    assert broken_by(check_slicer, Detailing(in_order, throwing.slice_detailed)) == ("detail",)


# --- placers


class Placing:
    """A placer made of a function."""

    def __init__(self, function: Callable[[Sequence[ScoredItem]], Any]) -> None:
        self.function = function

    def place(self, scored_items: Sequence[ScoredItem], /) -> Any:
        return self.function(scored_items)


class Turning:
    """A placer that turns the order around after the largest list that it has seen."""

    def __init__(self) -> None:
        self.largest = 0

    def place(self, scored_items: Sequence[ScoredItem], /) -> list[ContextItem]:
        self.largest = max(self.largest, len(scored_items))
        items = [item for item, _ in scored_items]
        return items if len(items) == self.largest else items[::-1]


def unchanged(scored_items: Sequence[ScoredItem]) -> list[ContextItem]:
    return [item for item, _ in scored_items]


def once_each(scored_items: Sequence[ScoredItem]) -> list[ContextItem]:
    """Drop the second occurrence of an object."""
    return list({id(item): item for item, _ in scored_items}.values())


def equal_once(scored_items: Sequence[ScoredItem]) -> list[ContextItem]:
    """Use equality where identity is meant (PY-04)."""
    return [next(other for other, _ in scored_items if other == item) for item, _ in scored_items]


def clearing(scored_items: Any) -> list[ContextItem]:
    items = unchanged(scored_items)
    if isinstance(scored_items, list):
        scored_items.clear()
    return items


def lazily(scored_items: Sequence[ScoredItem]) -> Iterator[ContextItem]:
    yield from unchanged(scored_items)


def test_a_placer_with_one_method_passes() -> None:
    """Placer: nothing else is needed."""
    check_placer(Placing(unchanged))
    check_placer(Placing(lambda scored_items: sorted(unchanged(scored_items), key=lambda item: item.content)))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        pytest.param(lambda scored_items: [i for i, _ in sorted(scored_items)], ("answers",), id="items have no order"),
        pytest.param(
            lambda scored_items: [scored_items[0].item, *unchanged(scored_items)[1:]],
            ("answers",),
            id="raises on nothing",
        ),
        pytest.param(lazily, ("list",), id="iterator"),
        pytest.param(lambda scored_items: set(unchanged(scored_items)), ("list",), id="set"),
        pytest.param(lambda scored_items: unchanged(scored_items)[:5], ("permutation",), id="too few"),
        pytest.param(lambda scored_items: unchanged(scored_items)[:1] * len(scored_items), ("permutation",), id="one"),
        pytest.param(lambda scored_items: list(map(copy.copy, unchanged(scored_items))), ("permutation",), id="copies"),
        pytest.param(once_each, ("permutation",), id="each object once"),
        pytest.param(equal_once, ("permutation",), id="equality in place of identity"),
        pytest.param(lambda scored_items: [*unchanged(scored_items), "end"], ("permutation",), id="something else"),
        pytest.param(
            lambda scored_items: random.sample(unchanged(scored_items), len(scored_items)), ("repeatable",), id="random"
        ),
        pytest.param(lambda scored_items: sorted(unchanged(scored_items), key=id), ("by value",), id="id"),
        pytest.param(clearing, ("hands off",), id="clears a list"),
    ],
)
def test_a_placer_that_breaks_one_property(function: Callable[[Sequence[ScoredItem]], Any], expected: Names) -> None:
    """Placers: a deterministic permutation of the very objects, nothing changed (SL-04)."""
    assert broken_by(check_placer, Placing(function)) == expected


def test_a_placer_with_a_memory_is_found_out() -> None:
    """Placer: no state between calls (PY-15)."""
    assert broken_by(check_placer, Turning()) == ("independent",)


# --- what is said


def test_the_error_lists_everything_and_says_what_to_do() -> None:
    """All broken properties at once, each with the input and an advice."""

    class Hopeless:
        def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> Any:
            if item.tokens == 0:
                raise KeyError("tokens")
            return "high"

    with pytest.raises(StrategyCheckError) as caught:
        check_scorer(Hopeless())
    error = caught.value
    assert isinstance(error, AssertionError)
    assert error.strategy == "Hopeless"
    assert str(error).splitlines() == [
        "Hopeless violates its contract:",
        "- number: score returned 'high' (str), with one item. Return a float; 0.0 for an",
        "  item without the data to score it.",
        "- answers: score raised KeyError: 'tokens', with items without tokens. A",
        "  strategy must accept any items. They are passed as a tuple, so it cannot",
        "  modify them.",
    ]
    assert [type(each) for each in error.broken] == [BrokenProperty, BrokenProperty]
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    ("check", "strategy", "problem"),
    [
        (
            check_scorer,
            Batching(lambda i, a: 0.25, lambda items: [0.5] * len(items)),
            "score gave 0.25, but score_all 0.5",
        ),
        (check_scorer, Remembering(), "score gave 1.0, but after other calls 0.75"),
        (check_slicer, Slicing(lambda s, b: [i for i, _ in s][: b.target_tokens]), "slice selected "),
        (
            check_slicer,
            Detailing(in_order, lambda s, b: SliceOutcome([])),
            "slice gave item 0, but slice_detailed nothing",
        ),
        (check_placer, Placing(lambda s: []), "place got 1 items and returned 0, not the same ones"),
    ],
)
def test_the_problem_is_told_with_what_was_seen(check: Callable[..., None], strategy: Any, problem: str) -> None:
    assert problem in first_problem(check, strategy)[0]


# --- the caller's own inputs


def test_own_items_are_tried_too() -> None:
    """In addition to the built-in ones."""
    mine = ContextItem("mine", 7)

    def fussy(item: ContextItem) -> float:
        if item.content == "mine":
            raise LookupError("mine")
        return 0.5

    scorer = Scoring(lambda item, all_items: fussy(item))
    check_scorer(scorer)
    assert first_problem(check_scorer, scorer, [mine]) == ("score raised LookupError: mine", "your items")
    slicer = Slicing(lambda scored, budget: [i for i, _ in scored if i.content == "mine" and budget.target_tokens])
    check_slicer(slicer)
    seen = first_problem(check_slicer, slicer, iter([mine]))
    assert seen == ("slice selected 7 tokens", "your items and target_tokens=1")
    placer = Placing(lambda scored: [item for item, _ in scored if item.content != "mine"])
    check_placer(placer)
    seen = first_problem(check_placer, placer, items=[mine])
    assert seen == ("place got 1 items and returned 0, not the same ones", "your items")


def test_own_budgets_are_tried_too() -> None:
    """With every sample."""
    slicer = Slicing(lambda scored, budget: None if budget.max_tokens == 123_456 else [])
    check_slicer(slicer)
    seen = first_problem(check_slicer, slicer, budgets=[ContextBudget(123_456, 5)])
    assert seen == ("slice returned None (NoneType)", "no items and target_tokens=5")


def test_own_items_may_have_negative_tokens() -> None:
    """DM-02: an item may; the built-in budgets leave it out of the account."""
    check_scorer(RecencyScorer(), [ContextItem("negative", -5)])
    check_placer(UShapedPlacer(), [ContextItem("negative", -5)])
    check_slicer(KnapsackSlice(1), [ContextItem("negative", -5)])


@pytest.mark.parametrize("check", [check_scorer, check_slicer, check_placer])
def test_something_else_than_a_strategy_is_a_type_error(check: Callable[..., None]) -> None:
    """A wrong type is a TypeError, and a class gets a hint."""
    for wrong in (None, "recency", object()):
        with pytest.raises(TypeError, match=r"must be a (scorer|slicer|placer): an object with"):
            check(wrong)


def test_a_class_in_place_of_a_strategy_gets_a_hint() -> None:
    with pytest.raises(TypeError, match=r"did you mean RecencyScorer\(\)"):
        check_scorer(RecencyScorer)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"items": ContextItem("a", 1)}, "items must be an iterable of ContextItem"),
        ({"items": ["a"]}, r"items\[0\] must be a ContextItem"),
        ({"budgets": 100}, "budgets must be an iterable of ContextBudget"),
        ({"budgets": [ContextBudget(1), 100, "100"]}, r"budgets\[2\] must be a ContextBudget or an int"),
        ({"may_overflow": 1}, "may_overflow must be a bool"),
    ],
)
def test_arguments_of_a_wrong_type_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        check_slicer(GreedySlice(), **options)
