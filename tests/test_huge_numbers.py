"""DM-02: integers beyond floats, and beyond what Python writes out, are counted exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    CountQuotaSlice,
    GreedySlice,
    KnapsackSlice,
    MinScoreSlice,
    OverflowStrategy,
    Pipeline,
    Policy,
    PriorityScorer,
    QuotaEntry,
    QuotaSlice,
    RelevanceScorer,
    Slicer,
    StreamSlice,
    select,
)
from pycupel.analytics import KindQuotaUtilization, quota_utilization, sweep_budgets
from pycupel.analytics.measures import fraction
from pycupel.diagnostics import (
    BudgetExceeded,
    CountCapExceeded,
    CountRequirementShortfall,
    ExcludedItem,
    NegativeTokens,
    OverflowEvent,
    PipelineStage,
    TraceEvent,
)
from pycupel.errors import (
    BudgetOverflowError,
    CupelError,
    InvalidBudgetError,
    PinnedExceedsBudgetError,
    SlicerConfigError,
    TableTooLargeError,
)
from pycupel.messages import select_messages
from pycupel.model import ContextKind, QuotaConstraint, QuotaConstraintMode
from pycupel.model.budget import percent_of, without_percent
from pycupel.model.checks import suggestion
from pycupel.policies import policy_from_dict
from pycupel.protocols import ShortenContext
from pycupel.shorten import make_version
from pycupel.text import describe, number_text, quoted
from pycupel.tokens import get_counter

HUGE = (10**400, 10**5000)
NAMES = ("beyond floats", "beyond printing")
ENTRIES = [CountQuotaEntry("message", cap_count=2, require_count=1)]
SLICERS: list[Slicer] = [
    GreedySlice(),
    KnapsackSlice(1, max_cells=None),
    StreamSlice(),
    StreamSlice(1, replace=True),
    QuotaSlice([QuotaEntry("message", 10, 100)]),
    QuotaSlice([QuotaEntry("message", 0, 100)], redistribute=True),
    CountQuotaSlice(ENTRIES),
    CountConstrainedKnapsackSlice(ENTRIES, KnapsackSlice(1, max_cells=None)),
]


@pytest.mark.parametrize("tokens", HUGE, ids=NAMES)
@pytest.mark.parametrize("slicer", SLICERS, ids=lambda slicer: type(slicer).__name__)
def test_every_slicer_counts_them_and_every_report_shows_them(slicer: Slicer, tokens: int) -> None:
    """DM-02: one token less is too little."""
    items = [ContextItem("a", tokens, priority=2), ContextItem("b", 5, priority=1), ContextItem("c", -tokens)]
    pipeline = Pipeline(PriorityScorer(), slicer, overflow_strategy=OverflowStrategy.TRUNCATE)
    for size, expected in ((2 * tokens, ["a"]), (tokens, ["a"]), (tokens - 1, [])):
        result = pipeline.run(items, size)
        report = pipeline.dry_run(items, size)
        chosen = [item.content for item in result]
        assert [included.item.content for included in report.included] == chosen
        assert [content for content in chosen if content == "a"] == expected
        assert str(report)
        assert repr(report)
        assert report.to_text()
        assert report.events
    assert sweep_budgets(pipeline, items, [1, tokens])[1].utilization == 1.0


def noted(slicer: Slicer, budget: int, *items: ContextItem) -> str:
    """The notes about a selection by priority, and the messages of its events."""
    pipeline = Pipeline(PriorityScorer(), slicer)
    selection = pipeline.select(pipeline.rank(items), budget)
    return "\n".join([*selection.notes, *(event.message or "" for event in selection.report.events)])


def test_notes_and_messages_show_their_length() -> None:
    """A note is about a run that did not go well, and must not make it worse."""
    huge = 10**5000
    best, other = ContextItem("a", huge - 1, priority=3), ContextItem("b", huge // 2, priority=2)
    knapsack = KnapsackSlice(huge, max_cells=None)
    assert "nothing fits into <5000 digits> tokens if tokens are counted in buckets of <5001 digits>" in noted(
        knapsack, huge - 1, best, other
    )
    assert "rounded up to buckets of <5001 digits>" in noted(knapsack, huge - 1, best, other)
    third, *last = ContextItem("c", huge // 2, priority=2), *(ContextItem(f"d{i}", 5, priority=1) for i in range(5))
    exact = KnapsackSlice(1, max_cells=None)
    assert "left out (score 1, <5000 digits> tokens)" in noted(exact, huge, best, other, third, *last)
    quotas = QuotaSlice([QuotaEntry("Document", 60)])
    document = ContextItem("e", 5, kind="Document")
    assert "<5000 digits> of <5001 digits> tokens stay unused" in noted(quotas, huge, document, other)
    counts = CountQuotaSlice([CountQuotaEntry("message", cap_count=huge, require_count=huge)])
    assert "<5001 digits> required, 1 satisfied" in noted(counts, 10, last[0])


class Halves:
    def shorten(self, item: ContextItem, context: ShortenContext, /) -> list[ContextItem]:
        return [make_version(item, "half", item.tokens // 2, "halves")]


@pytest.mark.parametrize("tokens", HUGE, ids=NAMES)
def test_items_are_shortened_as_any_others(tokens: int) -> None:
    pipeline = Pipeline(PriorityScorer(), shorten=Halves())
    items = [ContextItem("a", tokens, priority=2), ContextItem("b", tokens, priority=1)]
    assert [item.tokens for item in pipeline.run(items, tokens * 3 // 2)] == [tokens, tokens // 2]


@pytest.mark.parametrize("tokens", HUGE, ids=NAMES)
def test_percentages_beyond_floats_are_exact(tokens: int) -> None:
    """EB-01, QS-07: elsewhere they are the specification's, bit for bit."""
    assert percent_of(tokens, 29.0) == tokens * 29 // 100
    assert without_percent(tokens, 12.5) == tokens * 875 // 1000
    assert without_percent(tokens, 100.0) == percent_of(tokens, 0.0) == 0
    assert percent_of(100, 29.0) == 28
    assert without_percent(10, 90.0) == 0
    assert ContextBudget(tokens, estimation_safety_margin_percent=10.0).effective().max_tokens == tokens * 9 // 10


def test_a_share_beyond_floats_is_infinite() -> None:
    """TV-10: no error."""
    assert fraction(10**5000, 1) == float("inf")
    assert fraction(10**5000, 10**5000 * 2) == 0.5
    report = Pipeline(PriorityScorer()).dry_run([ContextItem("a", 10**400)], 10**400)
    (usage,) = quota_utilization(report, QuotaSlice([QuotaEntry("message")]), 100)
    assert (usage.actual, usage.utilization) == (float("inf"), 1.0)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (-7, "-7"),
        (10**200 - 1, "9" * 200),
        (10**200, "<201 digits>"),
        (10**401 - 1, "<401 digits>"),
        (10**401, "<402 digits>"),
        (-(10**5000), "-<5001 digits>"),
        (2**100_000, "<30103 digits>"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_long_number_is_shown_by_its_length(number: int, text: str) -> None:
    assert number_text(number) == text


@pytest.mark.parametrize(
    "error",
    [
        PinnedExceedsBudgetError(10**5000, 1),
        BudgetOverflowError(10**5000, 1),
        TableTooLargeError(1, 10**5000, 10**5000, "max_cells", 10**5000),
    ],
    ids=type,
)
def test_errors_show_their_length(error: CupelError) -> None:
    assert "<5001 digits>" in str(error)
    assert "<5001 digits>" in repr(error)


def test_mistakes_are_errors_of_ours() -> None:
    """Not Python's own `ValueError` about the digits of an integer."""
    huge = 10**5000
    report = Pipeline(PriorityScorer()).dry_run([ContextItem("text", 1)], 1)
    entry = {"kind": "Message", "requireCount": huge, "capCount": 1}
    document = {"scorers": [{"type": "recency"}], "slicer": {"type": "countQuota", "entries": [entry]}}
    mistakes: list[Callable[[], object]] = [
        lambda: policy_from_dict(document),
        lambda: replace(report, total_candidates=huge),
        lambda: replace(report, total_tokens_considered=huge),
        lambda: report.why(huge),
        lambda: report.why(huge, items=[]),
        lambda: get_counter(lambda _: -huge)("text"),
        lambda: select_messages([], 100, provider="openai", documents=[ContextItem("text", -huge)]),
    ]
    for mistake in mistakes:
        with pytest.raises(CupelError, match="<5001 digits>"):
            mistake()


def test_failed_assertions_show_their_length() -> None:
    huge = 10**5000
    report = Pipeline(PriorityScorer()).dry_run([ContextItem("text", 1), ContextItem("large", huge)], 1)
    chain = report.should()
    with pytest.raises(AssertionError, match=r"budget\.MaxTokens=<5001 digits>"):
        chain.have_budget_utilization_above(0.5, ContextBudget(huge))
    with pytest.raises(AssertionError, match="item_tokens=<5001 digits>"):
        chain.exclude_item_with_budget_details(lambda _: True, 1, 1)


def test_constructors_and_reprs_show_their_length() -> None:
    long = 10**5000
    with pytest.raises(InvalidBudgetError, match=r"must be 0 or more, not -<5001 digits>"):
        ContextBudget(-long)
    with pytest.raises(InvalidBudgetError, match=r"output_reserve \(<5001 digits>\) must"):
        ContextBudget(1, output_reserve=long)
    with pytest.raises(InvalidBudgetError, match=r"target_tokens \(<5001 digits>\) must"):
        ContextBudget(1, long)
    with pytest.raises(SlicerConfigError, match=r"must be greater than 0, not -<5001 digits>"):
        KnapsackSlice(-long)
    with pytest.raises(SlicerConfigError, match=r"require_count \(<5001 digits>\) must"):
        CountQuotaEntry("x", cap_count=1, require_count=long)
    assert "max_tokens=<5001 digits>" in repr(ContextBudget(long))
    assert "cap_count=<5001 digits>" in repr(CountQuotaEntry("x", cap_count=long))


def values_with(number: int) -> list[object]:
    """What holds numbers, with a very long one in each field."""
    item = ContextItem("x", number, priority=number, original_tokens=number)
    point = sweep_budgets(Pipeline(PriorityScorer()), [item], [number])[0]
    return [
        item,
        ContextBudget(number, reserved_slots={"a": number}),
        KnapsackSlice(number, number, number),
        StreamSlice(number),
        CountQuotaSlice([CountQuotaEntry("a", cap_count=number)]),
        CountConstrainedKnapsackSlice([], KnapsackSlice(number)),
        QuotaSlice([], KnapsackSlice(number)),
        MinScoreSlice(KnapsackSlice(number), 0.5),
        QuotaConstraint("a", "Count", number, number),
        RelevanceScorer(window=number),
        Policy(PriorityScorer(), KnapsackSlice(number)),
        Pipeline(PriorityScorer(), KnapsackSlice(number)),
        select([item], number),
        point,
        TraceEvent(PipelineStage.SCORE, 1.0, number),
        OverflowEvent(number, (item,), ContextBudget(number)),
        CountRequirementShortfall(ContextKind("a"), number, number),
        ExcludedItem(item, 0.5, BudgetExceeded(number, number)),
        BudgetExceeded(number, number),
        NegativeTokens(-number),
        CountCapExceeded("a", number, number),
        KindQuotaUtilization(ContextKind("a"), QuotaConstraintMode.COUNT, number, number, 1.0, 1.0),
        Pipeline(PriorityScorer()).dry_run([item], number).why(item),
    ]


@pytest.mark.parametrize("margin", [0.0, 12.5, 100.0])
def test_the_smallest_budget_of_a_huge_item_is_found(margin: float) -> None:
    items = [ContextItem("a", 10**400), ContextItem("b", 3)]
    pipeline = Pipeline(PriorityScorer())
    report = pipeline.dry_run(items, ContextBudget(100, estimation_safety_margin_percent=margin))
    found = report.why(items[0], pipeline=pipeline, items=items).min_budget
    assert found is None if margin == 100.0 else found is not None and found >= 10**400


@pytest.mark.parametrize("value", values_with(10**5000), ids=lambda value: type(value).__name__)
def test_every_repr_shows_their_length(value: object) -> None:
    assert "<5001 digits>" in repr(value)
    assert str(value)


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Long:
    def __repr__(self) -> str:
        return "x" * 10_000_000


class Lines:
    def __repr__(self) -> str:
        return "one\ntwo\x1b[31m"


def test_any_repr_can_be_described() -> None:
    """Other people's objects: one that raises, one of 10 MB, one with control characters, one that is too deep."""
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert describe(Hostile()) == "... (Hostile)"
    assert describe(Long()) == f"{'x' * 57}... (Long)"
    assert describe(Lines()) == r"one\ntwo\x1b[31m (Lines)"
    assert describe(deep) == "... (list)"
    assert len(describe(type("C" * 10_000_000, (), {})())) < 300


def test_names_are_verbatim_up_to_200_characters() -> None:
    assert quoted("a\nb") == r"'a\nb'"
    assert quoted("x" * 200) == repr("x" * 200)
    assert quoted("x" * 10_000_000) == f"{'x' * 200!r}..."


def test_suggestions_are_sought_among_short_names_only() -> None:
    assert suggestion("recenc", ["recency", "x" * 10_000]) == "; did you mean 'recency'?"
    assert suggestion("x" * 101, ["x" * 100]) == suggestion("x" * 100, ["x" * 101]) == ""
