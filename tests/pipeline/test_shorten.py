"""Choosing among versions: in pipelines, inside quotas, and what a maker that misbehaves gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pycupel import (
    ContextItem,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    CountQuotaSlice,
    DiagnosticTraceCollector,
    GreedySlice,
    KnapsackSlice,
    MinScoreSlice,
    Pipeline,
    Policy,
    PriorityScorer,
    QuotaEntry,
    QuotaSlice,
    ReflexiveScorer,
    SelectionReport,
    StreamSlice,
    TraceDetailLevel,
    select,
)
from pycupel.analytics import find_min_budget_for, get_marginal_items, sweep_budgets
from pycupel.errors import DocumentError, NonMonotonicSlicerError, PipelineConfigError, ShortenerContractError
from pycupel.kernels import versions as core, versions as kernel
from pycupel.protocols import ShortenContext
from pycupel.shorten import Versions, make_version
from pycupel.wire import dumps, from_dict, loads, to_dict


class Halves:
    """A half, a quarter and so on."""

    def __init__(self, *shares: float) -> None:
        self.shares = shares or (0.5, 0.25)

    def shorten(self, item: ContextItem, context: ShortenContext, /) -> Sequence[ContextItem]:
        assert any(each is item for each in context.items)
        return [
            make_version(item, f"{share} of {item.content}", int(item.tokens * share), "Halves")
            for share in self.shares
        ]


def items(*sizes: int, kind: str = "Message", hint: float = 0.5) -> list[ContextItem]:
    return [
        ContextItem(f"{kind} {i}", size, kind=kind, future_relevance_hint=hint - i / 100)
        for i, size in enumerate(sizes)
    ]


def pipeline(slicer: Any = None, shorten: Any = None) -> Pipeline:
    return Pipeline(ReflexiveScorer(), slicer or GreedySlice(), shorten=shorten or Halves())


def tokens(selected: Sequence[ContextItem]) -> list[int]:
    return [item.tokens for item in selected]


class Unused:
    """For a pipeline that has nothing to shorten."""

    def shorten(self, item: ContextItem, context: ShortenContext, /) -> Sequence[ContextItem]:
        pytest.fail(f"{item.content} was shortened, of {len(context.items)} items")


def test_everything_that_fits_stays_whole_and_no_versions_are_made() -> None:
    given = items(100, 200, 300)
    assert pipeline(shorten=Unused()).run(given, 600) == Pipeline(ReflexiveScorer()).run(given, 600)


@pytest.mark.parametrize(
    "slicer", [GreedySlice(), GreedySlice(0.0), KnapsackSlice(), MinScoreSlice(GreedySlice(), 0.1)]
)
def test_choosing_among_versions_replaces_greedy_and_knapsack(slicer: Any) -> None:
    report = pipeline(slicer).dry_run(items(100, 100), 150)
    assert sorted(tokens(report.items)) == [50, 100]
    assert [each.item.original_tokens for each in report.shortened] == [100]


def test_the_best_item_is_never_dropped() -> None:
    best = ContextItem("best", 1_000, future_relevance_hint=1.0)
    others = items(*[10] * 40)
    (version,) = [item for item in pipeline().run([*others, best], 260) if item.original_tokens == 1_000]
    assert version.tokens == 250


def test_a_best_item_that_does_not_fit_in_any_version_is_left_out() -> None:
    best = ContextItem("best", 5_000, future_relevance_hint=1.0)
    assert tokens(pipeline().run([*items(10, 10), best], 15)) == [10, 5]


def test_within_quotas_each_share_is_a_problem_of_its_own() -> None:
    slicer = QuotaSlice([QuotaEntry("Document", 50, 50), QuotaEntry("Message", 50, 50)])
    given = [*items(200, kind="Document"), *items(50, 50)]
    selected = pipeline(slicer).run(given, 200)
    assert sorted(tokens(selected)) == [50, 50, 100]


def test_what_quotas_redistribute_counts_versions() -> None:
    slicer = QuotaSlice([QuotaEntry("Document", 20, 100), QuotaEntry("Message", 20, 100)], redistribute=True)
    given = [*items(200, kind="Document"), *items(200)]
    assert sum(tokens(pipeline(slicer).run(given, 220))) == 200


def test_what_a_count_requires_may_be_shortened() -> None:
    slicer = CountQuotaSlice([CountQuotaEntry("Document", cap_count=2, require_count=1)])
    given = [*items(300, kind="Document", hint=0.1), *items(50)]
    assert sorted(tokens(pipeline(slicer).run(given, 200))) == [50, 150]
    knapsack = CountConstrainedKnapsackSlice([CountQuotaEntry("Document", cap_count=2, require_count=1)])
    assert sorted(tokens(pipeline(knapsack).run(given, 200))) == [50, 150]


def test_what_a_count_requires_comes_before_the_budget_in_its_shortest_version() -> None:
    slicer = CountQuotaSlice([CountQuotaEntry("Document", cap_count=2, require_count=2)])
    given = items(400, 400, kind="Document")
    runner = Pipeline(ReflexiveScorer(), slicer, shorten=Halves(), overflow_strategy="proceed")
    assert tokens(runner.run(given, 150)) == [100, 100]
    assert tokens(runner.run(given, 50)) == [100, 100]


class Untouched:
    def shorten(self, item: ContextItem, context: ShortenContext, /) -> Sequence[ContextItem]:
        return ()


def test_what_is_required_and_has_no_versions_stays_whole() -> None:
    slicer = CountQuotaSlice([CountQuotaEntry("Document", cap_count=2, require_count=1)])
    runner = Pipeline(ReflexiveScorer(), slicer, shorten=Untouched(), overflow_strategy="proceed")
    assert tokens(runner.run(items(400, kind="Document"), 50)) == [400]


def test_caps_hold() -> None:
    slicer = CountQuotaSlice([CountQuotaEntry("Message", cap_count=1)])
    report = pipeline(slicer).dry_run(items(100, 100), 150)
    assert len(report.included) == 1
    assert type(report.excluded[0].reason).__name__ == "CountCapExceeded"


@pytest.mark.parametrize("slicer", [StreamSlice(), MinScoreSlice(StreamSlice(), 0.1)])
def test_other_slicers_are_refused(slicer: Any) -> None:
    with pytest.raises(PipelineConfigError, match="shorten works only with GreedySlice or KnapsackSlice"):
        pipeline(slicer)


def test_streams_and_simulations_are_refused() -> None:
    given = items(100, 100)
    with pytest.raises(PipelineConfigError, match="a stream cannot be shortened"):
        pipeline().run_stream_sync(given, 100)
    with pytest.raises(NonMonotonicSlicerError, match="a policy that shortens"):
        get_marginal_items(pipeline(), given, 100, 10)
    with pytest.raises(NonMonotonicSlicerError, match="a policy that shortens"):
        find_min_budget_for(pipeline(), given, given[0], 100)
    assert [sum(tokens(point.items)) for point in sweep_budgets(pipeline(), given, [50, 200])] == [50, 200]


class Returns:
    def __init__(self, returned: Any) -> None:
        self.returned = returned

    def shorten(self, item: ContextItem, context: ShortenContext, /) -> Any:
        if isinstance(self.returned, Exception):
            raise self.returned
        return self.returned


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        (None, "must return a sequence of items"),
        ("text", "must return a sequence of items"),
        (["text"], "must return items"),
        ([ContextItem("longer", 101)], "returned a version of 101 tokens"),
        ([ContextItem("as long", 100)], "returned a version of 100 tokens"),
        ([ContextItem("negative", -1)], "returned a version of -1 tokens"),
        (OSError("no disk"), "raised OSError"),
    ],
)
def test_a_maker_that_misbehaves_is_named_with_the_item(returned: Any, text: str) -> None:
    with pytest.raises(ShortenerContractError) as caught:
        select(items(100, kind="Thing"), 50, shorten=Returns(returned))
    assert text in str(caught.value)
    assert "Returns" in str(caught.value)
    assert "'Thing 0'" in str(caught.value)


def test_an_error_about_a_strategy_shows_no_more_of_a_content_than_its_beginning() -> None:
    """The text of what a shortener raised may quote all of it."""
    item = ContextItem("a" * 70 + "\x1b[31m\r\u202e" + "secret" * 1_000, 9_999)
    with pytest.raises(ShortenerContractError) as caught:
        select([item], 50, shorten=Returns(ValueError(f"cannot shorten {item.content}")))
    assert "Returns raised ValueError('cannot shorten aaa" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


class States(Halves):
    """States these units for every item."""

    def __init__(self, units: float) -> None:
        super().__init__()
        self._units = units

    def units(self, item: ContextItem, context: ShortenContext, /) -> float:
        return self._units


@pytest.mark.parametrize("units", [float("nan"), float("inf"), -float("inf")])
def test_units_must_be_finite(units: float) -> None:
    with pytest.raises(ShortenerContractError, match="States stated units that are not finite for the item 'Thing 0'"):
        select(items(100, kind="Thing"), 50, shorten=States(units))


@pytest.mark.parametrize("units", [0.0, -1.0, 1e300, 1.7e308])
def test_any_finite_units_are_worth_something(units: float) -> None:
    assert tokens(Pipeline(PriorityScorer(), shorten=States(units)).run(items(100), 60)) == [50]


def test_units_decide() -> None:
    class Units(Halves):
        def units(self, item: ContextItem, context: ShortenContext, /) -> float:
            return float(item.metadata["units"])

    rich = ContextItem("rich", 100, metadata={"units": 50})
    poor = ContextItem("poor", 100, metadata={"units": 1})
    selected = Pipeline(PriorityScorer(), shorten=Units()).run([poor, rich], 130)
    assert {item.content: item.tokens for item in selected} == {"rich": 100, "0.25 of poor": 25}


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -5.0])
def test_any_score_is_worth_something(score: float) -> None:
    class Constant:
        def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
            return score

    assert tokens(Pipeline(Constant(), shorten=Halves()).run(items(100), 60)) == [50]


def test_a_search_that_stops_early_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "EXACT_ITEMS", 0)
    monkeypatch.setattr(core, "_STATES_OF_MANY", 0)
    given = items(60, 60, 60)
    (note,) = pipeline(shorten=Untouched()).dry_run(given, 119).notes
    assert note.startswith("the chosen versions are worth at least 5")
    assert pipeline(QuotaSlice([]), Untouched()).dry_run(given, 119).notes[0] == note


# --- relevance

DOCUMENTS = [
    ContextItem("The meeting about parking is on Monday.", 100, kind="Document", future_relevance_hint=0.1),
    ContextItem("Reset passwords under Settings.", 100, kind="Document", future_relevance_hint=0.9),
    ContextItem("The cafeteria has soup on Tuesday.", 100, kind="Document", future_relevance_hint=0.2),
]


class Extracts:
    """A half that says nearly everything."""

    def shorten(self, item: ContextItem, context: ShortenContext, /) -> Sequence[ContextItem]:
        return [make_version(item, f"extract of {item.content}", item.tokens // 2, "Extracts", 0.9)]


def shortened_sizes(policy: Any, query: str | None = None, given: Sequence[ContextItem] = DOCUMENTS) -> list[int]:
    """The tokens of each document in the selection; 0 if it was left out."""
    ranked = select(given, 150, policy, query=query, shorten=Extracts(), explain=True).report.included
    sizes = {each.item.content.rpartition("of ")[2]: each.item.tokens for each in ranked}
    return [sizes.get(item.content, 0) for item in given]


def test_with_a_question_what_answers_it_stays_whole() -> None:
    assert shortened_sizes("chat", "How do I reset passwords?")[1] == 100


def test_with_the_scores_of_a_retriever_the_best_stays_whole_and_the_next_is_shortened() -> None:
    assert shortened_sizes("rag") == [0, 100, 50]


def test_without_a_question_every_item_competes_by_what_it_holds() -> None:
    unrated = [replace(item, future_relevance_hint=None) for item in DOCUMENTS]
    assert shortened_sizes("rag", given=unrated) == [50, 50, 50]
    assert shortened_sizes(Policy(ReflexiveScorer())) == [50, 50, 50]


def test_items_that_counts_require_are_shortened_before_others_are_taken() -> None:
    """In the order of their scores, but never so long that another required one does not fit."""
    required = CountQuotaSlice([CountQuotaEntry("Document", cap_count=3, require_count=2)])
    policy = Policy(ReflexiveScorer("auto"), required, shorten=Halves())
    selected = Pipeline.from_policy(policy).run(DOCUMENTS, 130)
    assert sorted(tokens(selected)) == [25, 100]


# --- reports


def shortened_report() -> SelectionReport:
    return pipeline().dry_run(items(100, 100), 150)


def test_the_report_counts_what_was_considered_and_survives_json() -> None:
    report = shortened_report()
    assert report.total_tokens_considered == 200
    again = loads(SelectionReport, dumps(report))
    assert again.same_selection(report)
    assert [each.item.original_tokens for each in again.shortened] == [100]


@pytest.mark.proves("S-RP-10")
def test_a_report_with_versions_has_one_total() -> None:
    """SR-04: a version counts with its `original_tokens`, when it is written and when it is read."""
    document = to_dict(shortened_report())
    for total in (150, 199):
        with pytest.raises(DocumentError, match=f"total_tokens_considered is {total}, but the items have 200 tokens"):
            from_dict(SelectionReport, {**document, "total_tokens_considered": total})
    assert from_dict(SelectionReport, document).total_tokens_considered == 200


@pytest.mark.proves("S-RP-10")
def test_every_report_with_versions_can_be_read() -> None:
    """SR-04: whether a version was truncated, was a candidate itself, was shortened again or has no mark."""
    required = CountQuotaSlice([CountQuotaEntry("Document", cap_count=2, require_count=2)])
    truncating = Pipeline(ReflexiveScorer(), required, shorten=Halves(), overflow_strategy="truncate")
    selected = shortened_report().items
    unmarked = Versions(ContextItem("whole", 100), [ContextItem("short", 20, original_tokens=90)])
    reports = [
        truncating.dry_run(items(400, 400, kind="Document"), 160),
        Pipeline(ReflexiveScorer()).dry_run(selected, 120),
        pipeline().dry_run(selected, 120),
        select([unmarked], 50, explain=True).report,
    ]
    assert [report.total_tokens_considered for report in reports] == [800, 200, 200, 20]
    for report in reports:
        assert loads(SelectionReport, dumps(report)) == report


def test_the_text_shows_both_counts() -> None:
    text = shortened_report().to_text()
    assert "2 of 2 items selected, 150 of 200 tokens, 1 shortened" in text
    assert "50 of 100" in text
    assert "shortened" not in pipeline().dry_run(items(100), 150).to_text()


@pytest.mark.parametrize("from_json", [False, True])
def test_why_finds_the_version_of_an_item(*, from_json: bool) -> None:
    given = items(100, 100)
    report = pipeline().dry_run(given, 150)
    if from_json:
        report = loads(SelectionReport, dumps(report))
    explanation = report.why(given[1], pipeline=pipeline(), items=given)
    assert explanation.item.tokens == 50
    assert explanation.min_budget is None
    assert bool(explanation.parts) is not from_json
    assert "Message of 50 tokens, shortened from 100, selected: Scored" in str(explanation)
    assert "shortened" not in str(report.why(given[0]))


def test_assertions_know_versions() -> None:
    should = shortened_report().should()
    should.shorten_exactly_n_items(1).shorten_item_matching(lambda included: included.item.original_tokens == 100)
    with pytest.raises(AssertionError, match=r"ShortenExactlyNItems\(2\) failed: expected 2 shortened items"):
        should.shorten_exactly_n_items(2)
    with pytest.raises(AssertionError, match="ShortenItemMatching failed: no shortened item"):
        should.shorten_item_matching(lambda included: included.score > 5)


def test_a_collector_sees_what_versions_leave_of_the_budget() -> None:
    collector = DiagnosticTraceCollector(TraceDetailLevel.ITEM)
    pipeline().run([*items(100, 100), ContextItem("large", 5_000, future_relevance_hint=0.0)], 160, collector=collector)
    report = collector.build_report()
    messages = [event.message for event in report.events if event.message and "BudgetExceeded" in event.message]
    assert messages == ["BudgetExceeded: 5000 tokens requested, 10 available"]


def test_truncated_versions_are_not_listed() -> None:
    slicer = CountQuotaSlice([CountQuotaEntry("Document", cap_count=2, require_count=2)])
    runner = Pipeline(ReflexiveScorer(), slicer, shorten=Halves(), overflow_strategy="truncate")
    given = [ContextItem("pin", 10, pinned=True), *items(400, 400, kind="Document")]
    selection = runner.select(runner.rank(given), 160)
    assert tokens(selection.items) == [10, 100]
    assert [each.item for each in selection.shortened] == [given[1]]
