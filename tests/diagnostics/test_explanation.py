"""`report.why`: one item, found and explained."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Sequence
from typing import Any

import pytest

from pycupel import (
    CompositeScorer,
    ContextBudget,
    ContextItem,
    DiagnosticTraceCollector,
    GreedySlice,
    KindScorer,
    KnapsackSlice,
    Pipeline,
    PriorityScorer,
    QuotaEntry,
    QuotaSlice,
    ReflexiveScorer,
    ScaledScorer,
    ScoredItem,
    SelectionReport,
    select,
    select_messages,
)
from pycupel.analytics import find_min_budget_for, get_marginal_items, sweep_budgets
from pycupel.diagnostics import (
    BudgetExceeded,
    Deduplicated,
    ExcludedItem,
    ExclusionReason,
    Explanation,
    Filtered,
    IncludedItem,
    InclusionReason,
    PinnedOverride,
    ScorePart,
)
from pycupel.errors import InvalidArgumentError
from pycupel.messages import to_items
from pycupel.wire import dumps, loads
from tests.model.numbers import IndexOnly


def item(content: str, tokens: int, hint: float = 0.5, **fields: Any) -> ContextItem:
    return ContextItem(content, tokens, future_relevance_hint=hint, **fields)


PINNED = item("You are a pump.", 10, pinned=True, kind="SystemPrompt")
BEST = item("best", 20, 0.9)
COPY, SECOND_COPY = item("copy", 20, 0.4), item("copy", 20, 0.3)
LARGE = item("large", 55, 0.8)
HUGE = item("huge", 500, 0.1)
FREE = item("free", 0, 0.2)
BROKEN = item("broken", -1)
ITEMS = [BROKEN, PINNED, BEST, COPY, SECOND_COPY, LARGE, HUGE, FREE]
PIPELINE = Pipeline(ReflexiveScorer())
REPORT = PIPELINE.dry_run(ITEMS, 60)


def refused(report: SelectionReport, x: Any, **options: Any) -> InvalidArgumentError:
    with pytest.raises(InvalidArgumentError) as caught:
        report.why(x, **options)
    return caught.value


def made(
    included: Sequence[tuple[ContextItem, float]],
    excluded: ExcludedItem,
    budget: ContextBudget | None = None,
    reason: InclusionReason = InclusionReason.SCORED,
) -> SelectionReport:
    entries = [IncludedItem(each, score, reason) for each, score in included]
    tokens = sum(each.tokens for each, _ in included) + excluded.item.tokens
    return SelectionReport((), entries, [excluded], len(entries) + 1, tokens, budget=budget)


# --- finding the item


def test_an_item_is_found_by_identity_by_equality_by_index_and_by_its_start() -> None:
    expected = REPORT.why(LARGE)
    assert expected.item is LARGE
    assert REPORT.why(dataclasses.replace(LARGE)) == expected
    assert REPORT.why(5, items=ITEMS) == REPORT.why(-3, items=iter(ITEMS)) == expected
    assert REPORT.why("la") == expected


def test_of_equal_items_the_one_that_is_given_is_explained() -> None:
    twins = [item("same", 5), item("same", 5)]
    report = PIPELINE.dry_run(twins, 60)
    assert [report.why(twin).included for twin in twins] == [True, False]
    error = refused(report, item("same", 5))
    assert str(error) == "2 candidates of the run equal this item"
    assert error.__notes__ == ["Pass one of the candidates themselves."]


def test_a_start_of_equal_contents_means_the_selected_one() -> None:
    assert REPORT.why("cop").item is COPY


def test_a_whole_content_counts_before_longer_ones() -> None:
    report = PIPELINE.dry_run([item("yes, please", 5), item("yes", 5)], 60)
    assert report.why("yes").item.content == "yes"
    error = refused(report, "ye")
    assert str(error) == "2 contents start with 'ye': 'yes, please', 'yes'"
    assert (error.argument, error.value) == ("item", "ye")


def test_many_matches_are_shortened() -> None:
    report = PIPELINE.dry_run([item(f"log {i} " + "x" * 99, 1) for i in range(7)], 60)
    error = refused(report, "log")
    assert str(error).startswith("7 contents start with 'log': 'log 0 xxx")
    assert str(error).endswith("xx... and 2 more")
    assert len(str(error)) < 400


def test_no_match_suggests_what_is_close() -> None:
    assert str(refused(REPORT, "lerge")) == "no content starts with 'lerge'; did you mean 'large'?"
    assert str(refused(REPORT, "zzz")) == "no content starts with 'zzz'"
    assert str(refused(REPORT, item("other", 1))) == "the item was not among the candidates"


def test_an_index_needs_items_and_has_to_be_in_range() -> None:
    assert str(refused(REPORT, 3)) == "pass items= to look up an item by index: why(3, items=items)"
    assert str(refused(REPORT, IndexOnly(-2))) == "pass items= to look up an item by index: why(-2, items=items)"
    assert REPORT.why(IndexOnly(1), items=ITEMS) == REPORT.why(1, items=ITEMS)  # type: ignore[arg-type]
    assert str(refused(REPORT, 8, items=ITEMS)) == "index 8 is out of range: items has 8 entries"
    assert str(refused(REPORT, -9, items=ITEMS)) == "index -9 is out of range: items has 8 entries"
    assert str(refused(REPORT, 1, items=ITEMS[:1])) == "index 1 is out of range: items has 1 entry"


@pytest.mark.parametrize("x", [None, True, 1.5])
def test_anything_else_is_refused(x: Any) -> None:
    with pytest.raises(TypeError, match="item must be a ContextItem, an index in items, or the start of a content"):
        REPORT.why(x, items=ITEMS)


# --- what is said about it


def test_a_selected_item() -> None:
    assert REPORT.why(BEST) == Explanation(
        BEST, True, InclusionReason.SCORED, 0.9, 1, (ScorePart("ReflexiveScorer", 1.0, 0.9),), (), None
    )


def test_an_item_that_did_not_fit() -> None:
    """Of 50 tokens, 40 are used; both items have to go for 55, but that would not be enough."""
    told = REPORT.why(LARGE)
    assert (told.included, told.reason, told.score, told.rank) == (False, PinnedOverride(PINNED.content), 0.8, 2)
    assert told.instead == ()
    report = PIPELINE.dry_run(ITEMS, 70)
    assert report.why(LARGE).instead == (COPY, BEST)


def test_a_pinned_item_of_another_implementation_may_have_negative_tokens() -> None:
    left_out = ExcludedItem(item("left out", 20), 0.5, BudgetExceeded(20, 10))
    report = made([(item("pinned", -5), 1.0)], left_out, ContextBudget(10), InclusionReason.PINNED)
    assert report.why("left out").instead == ()
    assert "left out" in report.to_text()
    assert "left out" in report.to_html()


def test_ranks_count_what_competed() -> None:
    ranks = {each.content: REPORT.why(each).rank for each in (BEST, LARGE, COPY, FREE, HUGE)}
    assert ranks == {"best": 1, "large": 2, "copy": 3, "free": 4, "huge": 5}
    assert [REPORT.why(each).rank for each in (PINNED, SECOND_COPY, BROKEN)] == [None, None, None]
    assert REPORT.why(PINNED).parts == REPORT.why(BROKEN).parts == ()
    assert PIPELINE.dry_run([PINNED], 60).why(PINNED).parts == ()
    assert REPORT.why(SECOND_COPY).parts == (ScorePart("ReflexiveScorer", 1.0, 0.3),)


def test_equal_scores_have_equal_ranks_and_nan_is_last() -> None:
    first, second, lost = item("a", 1), item("b", 1), item("c", 1)
    report = made([(first, 0.5), (second, 0.5)], ExcludedItem(lost, float("nan"), BudgetExceeded(1, 0)))
    assert [report.why(each).rank for each in (first, second, lost)] == [1, 1, 3]


def test_what_was_filtered_did_not_compete() -> None:
    told = made([(BEST, 0.9)], ExcludedItem(LARGE, 0.0, Filtered("me")), ContextBudget(60)).why(LARGE)
    assert (told.rank, told.instead) == (None, ())


# --- the parts of the score


class Counted:
    """A custom scorer that knows how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        self.asked += 1
        return 0.5


def test_parts_are_the_scores_of_a_composites_scorers_inner_composites_included() -> None:
    inner = CompositeScorer([(KindScorer({"Message": 0.4}), 1), (ScaledScorer(ReflexiveScorer()), 3)])
    scorer = CompositeScorer([(ReflexiveScorer(), 1), (inner, 1)])
    report = Pipeline(scorer).dry_run([item("a", 1, 0.2), item("b", 1, 0.6)], 10)
    told = report.why("b")
    assert told.parts == (
        ScorePart("ReflexiveScorer", 0.5, 0.6),
        ScorePart("KindScorer", 0.125, 0.4),
        ScorePart("ScaledScorer", 0.375, 1.0),
    )
    assert told.score == pytest.approx(sum(part.weight * part.score for part in told.parts))


def test_no_scorer_is_asked_again() -> None:
    """SC-02."""
    counted = Counted()
    report = Pipeline(CompositeScorer([(counted, 1), (PriorityScorer(), 1)])).dry_run(ITEMS, 60)
    asked = counted.asked
    assert asked == 6
    assert [part.scorer for part in report.why(BEST).parts] == ["Counted", "PriorityScorer"]
    assert "Counted" in report.to_text(parts=True)
    assert counted.asked == asked


class Doubled(CompositeScorer):
    """A subclass may combine as it likes."""

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        return 2.0 * super().score(item, all_items)


def test_a_subclass_of_composite_is_one_part() -> None:
    report = Pipeline(Doubled([(ReflexiveScorer(), 1), (ReflexiveScorer(), 1)])).dry_run([BEST], 60)
    assert report.why(BEST).parts == (ScorePart("Doubled", 1.0, 1.8),)


def test_every_way_to_a_report_knows_the_parts() -> None:
    expected = (ScorePart("ReflexiveScorer", 1.0, 0.9),)
    collector = DiagnosticTraceCollector()
    PIPELINE.run(ITEMS, 60, collector=collector)
    reports = [
        collector.build_report(),
        select(ITEMS, 60, PIPELINE, explain=True).report,
        PIPELINE.select(PIPELINE.rank(ITEMS), 60).report,
    ]
    assert [report.why(BEST).parts for report in reports] == [expected] * 3


def test_a_report_that_was_stored_has_no_parts() -> None:
    read = loads(SelectionReport, dumps(REPORT))
    for report in (read, pickle.loads(pickle.dumps(REPORT)), dataclasses.replace(REPORT)):
        told = report.why("best")
        assert (told.parts, told.rank) == ((), 1)
        assert "SCORES" not in report.to_text(parts=True)


def test_a_history_knows_them_too_even_if_messages_were_set_aside() -> None:
    history = [{"role": "user", "content": f"message {i} " * 20} for i in range(6)]
    history.insert(1, {"role": "tool", "tool_call_id": "x", "content": "an answer to nothing"})
    selection = select_messages(history, 200, provider="openai", explain=True)
    report = selection.report
    assert any(isinstance(each.reason, Filtered) for each in report.excluded)
    assert report.why(report.excluded[0].item).parts != ()


# --- what took the room


def test_what_need_not_go_is_not_named() -> None:
    small, large, lost = item("small", 5), item("large", 60), item("lost", 50)
    report = made([(small, 0.1), (large, 0.2)], ExcludedItem(lost, 0.9, BudgetExceeded(50, 5)), ContextBudget(70))
    assert report.why(lost).instead == (large,)


def test_an_object_that_was_selected_twice_is_named_as_often_as_it_must_go() -> None:
    twice, large, lost = item("twice", 5), item("large", 10), item("lost", 11)
    rivals = [(twice, 0.1), (twice, 0.1), (large, 0.2)]
    report = made(rivals, ExcludedItem(lost, 0.9, BudgetExceeded(11, 0)), ContextBudget(20))
    assert report.why(lost).instead == (twice, large)


def test_at_most_three_are_named_the_lowest_scores_first() -> None:
    rivals = [(item(f"junk {i}", 10), 0.1 + i / 100) for i in range(10)]
    lost = item("hit", 100)
    report = made(rivals[::-1], ExcludedItem(lost, 0.95, BudgetExceeded(100, 0)), ContextBudget(100))
    assert [each.content for each in report.why(lost).instead] == ["junk 0", "junk 1", "junk 2"]


def test_nothing_took_the_room_if_there_was_room() -> None:
    rival = item("rival", 10)
    report = made([(rival, 0.1)], ExcludedItem(BEST, 0.9, BudgetExceeded(20, 90)), ContextBudget(100))
    assert report.why(BEST).instead == ()


def test_pinned_items_never_go() -> None:
    report = made(
        [(PINNED, 1.0)], ExcludedItem(BEST, 0.9, PinnedOverride("You")), ContextBudget(25), InclusionReason.PINNED
    )
    assert report.why(BEST).instead == ()


def test_without_a_budget_the_reason_says_what_was_left() -> None:
    rival = item("rival", 10)
    assert made([(rival, 0.1)], ExcludedItem(BEST, 0.9, BudgetExceeded(20, 15))).why(BEST).instead == (rival,)
    assert made([(rival, 0.1)], ExcludedItem(BEST, 0.9, PinnedOverride("x"))).why(BEST).instead == ()
    assert made([(rival, 0.1)], ExcludedItem(BEST, 0.9, Deduplicated("best"))).why(BEST).instead == ()


# --- the next larger budget


def test_the_next_larger_budget_is_found_with_the_reserves_of_the_run() -> None:
    assert REPORT.why(LARGE).min_budget is None
    assert REPORT.why(LARGE, pipeline=PIPELINE).min_budget is None
    assert REPORT.why(LARGE, pipeline=PIPELINE, items=ITEMS).min_budget == 105
    assert REPORT.why(HUGE, pipeline=PIPELINE, items=ITEMS).min_budget == 605
    budget = ContextBudget(80, output_reserve=20, estimation_safety_margin_percent=50, reserved_slots={"Tool": 7})
    report = PIPELINE.dry_run(ITEMS, budget)
    found = report.why(HUGE, pipeline=PIPELINE, items=ITEMS).min_budget
    assert found is not None
    assert HUGE in PIPELINE.run(ITEMS, budget.resized(found))
    assert HUGE not in PIPELINE.run(ITEMS, budget.resized(found - 1))


def test_no_budget_before_the_next_larger_one_selects_the_item() -> None:
    """Issue: above 50, bisection found 172 and not 72, because it assumes that a larger budget never drops an item."""
    items = [item("a", 100, 0.9), item("b", 60, 0.8), item("c", 80, 0.7), item("d", 50, 0.6)]
    target, pipeline = item("target", 12, 0.1), Pipeline(ReflexiveScorer(), GreedySlice(0.0))
    items.append(target)
    selecting = [size for size in range(400) if target in pipeline.run(items, size)]
    assert find_min_budget_for(pipeline, items, target, 302) == 172
    assert selecting[0] == 12
    for size in {*range(1, 320)} - {*selecting}:
        told = pipeline.dry_run(items, size).why(target, pipeline=pipeline, items=items)
        assert told.min_budget == next(each for each in selecting if each > size)
        assert told.min_budget_is_exact


def test_the_target_of_a_budget_counts_and_not_its_maximum() -> None:
    budget = ContextBudget(200, 60)
    told = PIPELINE.dry_run(ITEMS, budget).why(LARGE, pipeline=PIPELINE, items=ITEMS)
    assert (told.min_budget, told.min_budget_is_exact) == (105, True)


def test_an_item_without_tokens_needs_any_room_at_all() -> None:
    told = PIPELINE.dry_run([FREE], 0).why(FREE, pipeline=PIPELINE, items=[FREE])
    assert (told.min_budget, told.min_budget_is_exact) == (1, True)


class Overfull:
    """Selects everything, even if it does not fit."""

    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        return [each for each, _ in scored_items] if budget.target_tokens >= 20 else []


@pytest.mark.parametrize(
    "pipeline",
    [
        Pipeline(ReflexiveScorer(), KnapsackSlice(1)),
        Pipeline(ReflexiveScorer(), GreedySlice(best_first=True)),
        Pipeline(ReflexiveScorer(), deduplication=False),
        Pipeline(ReflexiveScorer(), Overfull()),
    ],
    ids=["knapsack", "best-first", "with-duplicates", "overfull"],
)
def test_without_a_quick_way_to_the_next_one_it_is_any_larger_budget(pipeline: Pipeline) -> None:
    items = [item("a", 20, 0.9), item("b", 30, 0.1)]
    told = pipeline.dry_run(items, 10).why("b", pipeline=pipeline, items=items)
    assert (told.min_budget, told.min_budget_is_exact) == (50, False)
    assert str(told).endswith("\n  a larger budget that selects it: 50")


def test_there_may_be_none() -> None:
    """A selected item, a duplicate, an invalid item, a slicer with quotas (BS-09), a margin of everything."""
    assert REPORT.why(BEST, pipeline=PIPELINE, items=ITEMS).min_budget is None
    assert REPORT.why(SECOND_COPY, pipeline=PIPELINE, items=ITEMS).min_budget is None
    assert REPORT.why(BROKEN, pipeline=PIPELINE, items=ITEMS).min_budget is None
    quota = Pipeline(ReflexiveScorer(), QuotaSlice([]))
    assert quota.dry_run(ITEMS, 60).why(LARGE, pipeline=quota, items=ITEMS).min_budget is None
    nothing = ContextBudget(60, estimation_safety_margin_percent=100)
    assert PIPELINE.dry_run([LARGE], nothing).why(LARGE, pipeline=PIPELINE, items=[LARGE]).min_budget is None


def test_a_stored_report_finds_its_items_by_equality_and_may_have_no_budget() -> None:
    unknown = dataclasses.replace(REPORT, budget=None)
    assert unknown.why("large", pipeline=PIPELINE, items=ITEMS).min_budget is None
    read = loads(SelectionReport, dumps(REPORT))
    assert read.why("large", pipeline=PIPELINE, items=ITEMS).min_budget == 105
    with pytest.raises(InvalidArgumentError, match="items does not contain 'large'"):
        read.why("large", pipeline=PIPELINE, items=[BEST])


# --- as text


class Homemade(ExclusionReason):
    """A reason without fields."""


def test_the_text_of_an_item_that_did_not_fit() -> None:
    pipeline = Pipeline(CompositeScorer([(ReflexiveScorer(), 3), (KindScorer(), 1)]))
    told = pipeline.dry_run(ITEMS, 70).why(LARGE, pipeline=pipeline, items=ITEMS)
    assert str(told).splitlines() == [
        "large",
        "  Message of 55 tokens, left out: Did not fit (BudgetExceeded), 55 tokens; the",
        "    selection left 20 free",
        "  score 0.65, rank 2",
        "    weight  score  scorer",
        "      0.75   0.80  ReflexiveScorer",
        "      0.25   0.20  KindScorer",
        "  selected instead, lowest scores first:",
        "    20 tokens: copy",
        "    20 tokens: best",
        "  next larger budget that selects it: 105",
    ]


def test_the_text_of_others_is_shorter() -> None:
    assert str(REPORT.why(PINNED)).splitlines() == [
        "You are a pump.",
        "  SystemPrompt of 10 tokens, selected: Pinned",
        "  score 1.00",
    ]
    odd = made([(BEST, 0.9)], ExcludedItem(item("x\n\x1b[31m" * 30, 1), 0.0, Homemade())).why("x")
    assert str(odd).splitlines()[1:] == ["  Message of 1 token, left out: Homemade", "  score 0.00, rank 2"]
    assert str(odd).replace("\n", "").isprintable()
    assert max(map(len, str(odd).splitlines())) <= 80


def history_report() -> SelectionReport:
    messages = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"message {n} " * 30} for n in range(20)]
    documents = [{"content": f"document {n} about message {n}", "score": n / 9} for n in range(9)]
    selection = select_messages(
        messages, 900, provider="openai", documents=documents, explain=True, counter="estimator"
    )
    return selection.report


def test_the_report_of_a_history_tries_no_pipeline() -> None:
    """Issue: it named a budget at which the message would still be dropped."""
    report = history_report()
    left_out = report.excluded[0].item
    assert report.why(left_out).min_budget is None
    items = [*report.items, *(each.item for each in report.excluded)]
    stored = loads(SelectionReport, dumps(report))
    for refused in (
        lambda: report.why(left_out, pipeline="chat", items=items),
        lambda: report.to_html(pipeline="chat", items=items),
        lambda: stored.why(left_out.content, pipeline="chat", items=items),
        lambda: find_min_budget_for("chat", items, left_out, 5_000),
        lambda: get_marginal_items("chat", items, 900, 100),
        lambda: sweep_budgets("chat", items, [900]),
    ):
        with pytest.raises(InvalidArgumentError, match="call select_messages with another budget instead"):
            refused()
    assert report.to_html().startswith("<!doctype html>")
    # Items for a pipeline of one's own are selected item by item.
    own = to_items([{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}], counter=len)
    assert find_min_budget_for("chat", own, own[0], 100) == own[0].tokens + own[1].tokens


def test_scores_of_documents_beside_a_history_name_a_public_scorer() -> None:
    """Issue: they named _DocumentsByQuery."""
    report = history_report()
    names = {part.scorer for each in report.included for part in report.why(each.item).parts}
    assert names == {"CompositeScorer"}
    assert '"CompositeScorer"' in report.to_html()
    assert "_DocumentsByQuery" not in report.to_html()


def test_the_slicer_has_its_say_about_an_item_that_would_have_fitted() -> None:
    """It is in no document."""
    report = Pipeline(ReflexiveScorer(), QuotaSlice([QuotaEntry("Message", cap=50)])).dry_run([BEST, COPY], 30)
    explanation = report.why(COPY)
    assert explanation.note == "50% of the 30 tokens left by pinned items is 15; Message has 0"
    assert explanation.note in " ".join(str(explanation).split())
    assert loads(SelectionReport, dumps(report)).why(COPY).note == ""
