"""Quotas by something other than kinds."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, cast

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
    Pipeline,
    Policy,
    QuotaEntry,
    QuotaSlice,
    ReflexiveScorer,
    ScoredItem,
    select,
)
from pycupel.analytics import find_min_budget_for, get_marginal_items, quota_utilization
from pycupel.diagnostics import CountCapExceeded, CountRequirementShortfall
from pycupel.errors import CupelError, DocumentError, SlicerConfigError
from pycupel.model import ContextKind, QuotaConstraint
from pycupel.policies import policy_from_dict, policy_to_dict
from pycupel.shorten import Versions
from pycupel.wire import dumps, from_dict, loads, to_dict


def page(content: str, hint: float, *, source: str = "Rag", tokens: int = 10, **metadata: Any) -> ContextItem:
    return ContextItem(content, tokens, source=source, metadata=metadata, future_relevance_hint=hint)


PAGES = [page(f"{file} {i}", 1 - i / 10, file=file) for i, file in enumerate(["a", "a", "a", "b", "b", 7, None])]
EACH = CountQuotaEntry.each(cap_count=1)


def contents(slicer: Any, items: list[ContextItem] = PAGES, budget: int = 1_000) -> list[str]:
    return sorted(item.content for item in Pipeline(ReflexiveScorer(), slicer).run(items, budget))


@pytest.mark.parametrize("seed", range(20))
def test_no_source_exceeds_its_cap_and_nothing_that_fits_is_left_out(seed: int) -> None:
    """Over 2,000 random inputs; a cap is a share of the room that pinned items leave."""
    draw = random.Random(seed)
    for _ in range(100):
        cap, budget = draw.choice((20, 40, 50, 75)), draw.randrange(50, 400)
        items = [
            ContextItem(
                f"item {i}",
                draw.randrange(0, 60),
                source=f"s{draw.randrange(draw.choice((2, 5)))}",
                future_relevance_hint=draw.random(),
                pinned=draw.random() < 0.05,
            )
            for i in range(draw.randrange(1, 25))
        ]
        pinned = sum(item.tokens for item in items if item.pinned)
        budget = max(budget, pinned)
        slicer = QuotaSlice([QuotaEntry.each(cap=cap)], by="source")
        report = Pipeline(ReflexiveScorer(), slicer).dry_run(items, budget)
        room = budget - pinned
        used: dict[str, int] = {}
        for each in report.included:
            if not each.item.pinned:
                used[each.item.source.key] = used.get(each.item.source.key, 0) + each.item.tokens
        assert all(100 * tokens <= cap * room for tokens in used.values())
        free = room - sum(used.values())
        for left_out in report.excluded:
            source, tokens = left_out.item.source.key, left_out.item.tokens
            fits = tokens <= free and 100 * (used.get(source, 0) + tokens) <= cap * room
            assert not (fits and room), (left_out, free)


@pytest.mark.parametrize("seed", range(10))
def test_no_source_has_more_than_its_count_and_nothing_that_fits_is_left_out(seed: int) -> None:
    """What a cap removes leaves room for other sources; for kinds, the specification leaves it empty."""
    draw = random.Random(seed)
    for _ in range(100):
        cap, budget = draw.randrange(4), draw.randrange(50, 400)
        items = [
            page(f"item {i}", draw.random(), source=f"s{draw.randrange(5)}", tokens=draw.randrange(1, 60))
            for i in range(draw.randrange(1, 25))
        ]
        entries = [CountQuotaEntry.each(cap_count=cap), CountQuotaEntry("s0", cap_count=cap + 1)]
        inner, order = draw.choice((GreedySlice(), GreedySlice(0))), draw.choice(("inner", "score"))
        slicer = CountQuotaSlice(entries, inner, by="source", cap_order=cast(Any, order))
        report = Pipeline(ReflexiveScorer(), slicer).dry_run(items, budget)
        counts = Counter(each.item.source.key for each in report.included)
        full = {f"s{i}" for i in range(5) if counts[f"s{i}"] == cap + (i == 0)}
        assert all(count <= cap + (key == "s0") for key, count in counts.items())
        for left_out in report.excluded:
            key = left_out.item.source.key
            assert left_out.item.tokens > budget - report.included_tokens if key not in full else True
            assert key in full or not isinstance(left_out.reason, CountCapExceeded)


def test_what_a_cap_leaves_free_may_go_to_a_shorter_version() -> None:
    def versions(file: str, content: str) -> Versions:
        long, short = (page(f"{content}, {size} tokens", 0.9, tokens=size, file=file) for size in (50, 10))
        return Versions(long, [short])

    items = [versions(*each) for each in (("a", "first"), ("a", "second"), ("b", "third"), ("c", "fourth"))]
    result = select(items, 35, Policy(ReflexiveScorer(), CountQuotaSlice([EACH], by="metadata:file")))
    assert [item.content for item in result.items] == [f"{name}, 10 tokens" for name in ("first", "third", "fourth")]
    assert len(result.shortened) == 3


def test_counts_by_a_metadata_key() -> None:
    """Values are compared as texts, and items without one are a group of their own."""
    assert contents(CountQuotaSlice([EACH], by="metadata:file")) == ["7 5", "None 6", "a 0", "b 3"]
    two_of_a = [CountQuotaEntry("a", cap_count=2), EACH]
    assert contents(CountQuotaSlice(two_of_a, by="metadata:file")) == ["7 5", "None 6", "a 0", "a 1", "b 3"]
    only_seven = [CountQuotaEntry("7", cap_count=0)]
    assert "7 5" not in contents(CountQuotaSlice(only_seven, by="metadata:file"))
    assert contents(CountQuotaSlice([CountQuotaEntry("A", cap_count=0)], by="metadata:file")) == sorted(
        item.content for item in PAGES
    )
    knapsack = CountConstrainedKnapsackSlice([EACH], KnapsackSlice(1), by="metadata:file")
    assert contents(knapsack) == ["7 5", "None 6", "a 0", "b 3"]


def test_counts_by_a_function() -> None:
    assert contents(CountQuotaSlice([EACH], by=lambda item: item.content[0] in "ab")) == ["7 5", "a 0"]


@pytest.mark.parametrize(("by", "first", "second"), [("kind", "Note", "memo"), ("source", "NOTE", "MEMO")])
def test_a_cap_of_each_group_names_it_as_its_items_do(by: Literal["kind", "source"], first: str, second: str) -> None:
    items = [
        ContextItem(f"{kind} {i}", 1, kind=kind, source=kind.upper()) for i in range(2) for kind in ("Note", "memo")
    ]
    report = Pipeline(ReflexiveScorer(), CountQuotaSlice([EACH], by=by)).dry_run(items, 1_000)
    assert [each.reason for each in report.excluded] == [CountCapExceeded(name, 1, 1, by) for name in (first, second)]


def test_reasons_and_shortfalls_say_by() -> None:
    def initial(item: ContextItem) -> str:
        return item.content[0]

    slicer = CountQuotaSlice([CountQuotaEntry("z", require_count=1, cap_count=2), EACH], by=initial)
    report = Pipeline(ReflexiveScorer(), slicer).dry_run(PAGES, 1_000)
    assert report.count_requirement_shortfalls == (CountRequirementShortfall(ContextKind("z"), 1, 0, "initial"),)
    assert report.excluded[0].reason == CountCapExceeded("a", 1, 1, "initial")
    assert any(event.message == "CountCapExceeded: initial 'a', cap 1, 1 selected" for event in report.events)
    assert any("CountRequirementShortfall: initial 'z', 1 required" in (event.message or "") for event in report.events)
    assert loads(type(report), dumps(report)) == report
    assert "Enough of one initial (CountCapExceeded)" in report.to_text()
    by_kind = CountCapExceeded("Note", 2, 2)
    assert to_dict(by_kind) == {"reason": "CountCapExceeded", "kind": "Note", "cap": 2, "count": 2}
    assert repr(by_kind) == "CountCapExceeded(kind='Note', cap=2, count=2)"
    assert from_dict(CountCapExceeded, to_dict(by_kind._replace(by="source"))).by == "source"
    assert "by" not in to_dict(CountRequirementShortfall(ContextKind("Note"), 2, 1))


def test_the_group_without_a_value_is_shown_as_none() -> None:
    slicer = CountQuotaSlice([CountQuotaEntry.each(cap_count=0)], by="metadata:x")
    report = Pipeline(ReflexiveScorer(), slicer).dry_run(PAGES, 1_000)
    assert {each.reason for each in report.excluded} == {CountCapExceeded("(none)", 0, 0, "metadata:x")}


def test_shares_by_a_metadata_key_and_their_notes() -> None:
    slicer = QuotaSlice([QuotaEntry("a", require=20, cap=20), QuotaEntry.each(cap=10)], by="metadata:file")
    assert slicer.redistribute
    report = Pipeline(ReflexiveScorer(), slicer).dry_run(PAGES, 100)
    assert sorted(item.content for item in report.items) == ["7 5", "None 6", "a 0", "a 1", "b 3"]
    notes = [event.message or "" for event in report.events]
    assert any("(20% of the 100 tokens left by pinned items is 20; a has 20)" in note for note in notes)
    assert any("(10% of the 100 tokens left by pinned items is 10; b has 10)" in note for note in notes)
    fixed = QuotaSlice([QuotaEntry("z", require=50)], by="source", redistribute=False)
    notes = list(Pipeline(ReflexiveScorer(), fixed).dry_run(PAGES, 100).notes)
    assert notes[0].startswith("no candidate has source 'z', for which QuotaSlice requires 50 percent")
    assert "the share of source 'Rag' was 50 tokens" in notes[1]
    none = QuotaSlice([QuotaEntry.each(cap=10)], by="metadata:none")
    report = Pipeline(ReflexiveScorer(), none).dry_run(PAGES, 100)
    assert any("is 10; (none) has 10)" in (event.message or "") for event in report.events)


def test_a_key_that_no_item_has_is_noted() -> None:
    """Else a misspelled one would make one group of everything, and cap that."""
    for slicer, name in {
        QuotaSlice([QuotaEntry.each(cap=40)], by="metadata:flie"): "QuotaSlice",
        CountQuotaSlice([EACH], by="metadata:flie"): "CountQuotaSlice",
        CountConstrainedKnapsackSlice([EACH], by="metadata:flie"): "CountConstrainedKnapsackSlice",
    }.items():
        [note] = Pipeline(ReflexiveScorer(), slicer).dry_run(PAGES, 100).notes
        assert note == (
            f"no candidate has a value for 'metadata:flie', so {name} takes them all for one group, (none); "
            "correct the option by; did you mean 'file'?"
        )

    def nothing(item: ContextItem) -> None:
        """A function may forget to return something."""

    [note] = Pipeline(ReflexiveScorer(), QuotaSlice([QuotaEntry.each(cap=40)], by=nothing)).dry_run(PAGES, 100).notes
    assert note.startswith("no candidate has a value for 'nothing', so QuotaSlice takes")
    without_entries: list[Any] = [QuotaSlice([], by="metadata:flie"), CountQuotaSlice([], by="metadata:flie")]
    for slicer in (*without_entries, QuotaSlice([QuotaEntry.each(cap=40)], by="metadata:file")):
        assert Pipeline(ReflexiveScorer(), slicer).dry_run(PAGES, 100).notes == ()


def test_another_inner_slicer_is_asked_and_not_overruled() -> None:
    slicer = QuotaSlice([QuotaEntry.each(cap=50)], MinScoreSlice(GreedySlice(), 0.65), by="metadata:file")
    assert contents(slicer, budget=100) == ["a 0", "a 1", "a 2", "b 3"]


def test_a_cap_of_zero_leaves_out_even_what_costs_nothing() -> None:
    free = [page("free", 0.5, tokens=0, file="a"), page("other", 0.5, file="b")]
    assert contents(QuotaSlice([QuotaEntry("a", cap=0)], by="metadata:file"), free) == ["other"]
    assert contents(QuotaSlice([QuotaEntry("a", cap=10)], by="metadata:file"), free) == ["free", "other"]


def test_counts_inside_shares_of_the_same_groups() -> None:
    slicer = QuotaSlice([QuotaEntry.each(cap=50)], CountQuotaSlice([EACH], by="metadata:file"), by="metadata:file")
    assert contents(slicer, budget=100) == ["7 5", "None 6", "a 0", "b 3"]
    one_of_b = [CountQuotaEntry("b", cap_count=1)]
    for inside in (
        CountQuotaSlice(one_of_b, by="metadata:file"),
        CountConstrainedKnapsackSlice(one_of_b, KnapsackSlice(1), by="metadata:file"),
    ):
        found = contents(QuotaSlice([], inside, by="metadata:file"), budget=100)
        assert found == ["7 5", "None 6", "a 0", "a 1", "a 2", "b 3"]
    outside = CountQuotaSlice([EACH], QuotaSlice([QuotaEntry.each(cap=50)], by="source"), by="metadata:file")
    assert contents(outside, budget=200) == ["7 5", "None 6", "a 0", "b 3"]


def test_what_a_cap_leaves_free_is_not_offered_around_the_shares_inside() -> None:
    """Without those, the second page of b would get what the other two pages of a leave free."""
    two = [CountQuotaEntry("a", cap_count=1)]
    assert contents(CountQuotaSlice(two, by="metadata:file"), budget=30) == ["a 0", "b 3", "b 4"]
    shares = QuotaSlice([QuotaEntry.each(cap=100)], by="metadata:file")
    assert contents(CountQuotaSlice(two, shares, by="metadata:file"), budget=30) == ["a 0"]


def test_shares_cannot_hold_quotas_by_something_else() -> None:
    for inner in (CountQuotaSlice([EACH]), MinScoreSlice(QuotaSlice([], by="metadata:file"), 0.5)):
        with pytest.raises(
            SlicerConfigError, match=r"^QuotaSlice is by source, but the \w+ inside it by .*; swap them"
        ):
            QuotaSlice([], inner, by="source")


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: QuotaSlice([], by="tag"),
            SlicerConfigError,
            "by must be one of kind, source, metadata:KEY, not 'tag'",
        ),
        (
            lambda: CountQuotaSlice([], by=cast(Any, 5)),
            TypeError,
            "by must be 'kind', 'source', 'metadata:KEY' or a function",
        ),
        (lambda: CountQuotaSlice([EACH, EACH]), SlicerConfigError, r"CountQuotaEntry\.each may be listed once"),
        (lambda: QuotaEntry.each(cap=101), SlicerConfigError, "cap must be between 0.0 and 100.0"),
        (lambda: QuotaEntry("(each)", require=5), SlicerConfigError, "nothing can be required of each value"),
        (
            lambda: QuotaSlice([QuotaEntry("A"), QuotaEntry("a")], by="source"),
            SlicerConfigError,
            "duplicate kind 'a'",
        ),
    ],
)
def test_wrong_arguments(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_values_of_metadata_keep_their_case() -> None:
    assert len(QuotaSlice([QuotaEntry("A"), QuotaEntry("a")], by="metadata:x").entries) == 2


def test_the_guards_of_the_analytics_hold() -> None:
    """BS-09."""
    slicer = QuotaSlice([QuotaEntry.each(cap=50)], by="source")
    pipeline = Pipeline(ReflexiveScorer(), slicer)
    with pytest.raises(CupelError):
        get_marginal_items(pipeline, PAGES, ContextBudget(100), 10)
    with pytest.raises(CupelError):
        find_min_budget_for(pipeline, PAGES, PAGES[0], 100)


def test_utilization_has_a_record_for_each_value() -> None:
    slicer = QuotaSlice([QuotaEntry("a", cap=30), QuotaEntry.each(cap=20)], by="metadata:file")
    report = Pipeline(ReflexiveScorer(), slicer).dry_run(PAGES, 100)
    usage = {each.kind.value: (each.cap, each.actual, each.by) for each in quota_utilization(report, slicer, 100)}
    assert usage == {
        "a": (30.0, 30.0, "metadata:file"),
        "b": (20.0, 20.0, "metadata:file"),
        "7": (20.0, 10.0, "metadata:file"),
        "(none)": (20.0, 10.0, "metadata:file"),
    }
    assert slicer.quota_constraints()[1] == QuotaConstraint("(each)", "Percentage", 0, 20, "metadata:file")
    assert slicer.quota_constraints()[1].is_each
    by_source = CountQuotaSlice([CountQuotaEntry("rag", cap_count=9), EACH], by="source")
    [used] = quota_utilization(report, by_source, 100)
    assert (used.kind, used.actual) == (ContextKind("rag"), 7)


def test_utilization_shows_values_as_they_are_spelled_even_those_that_no_kind_can_have() -> None:
    values: list[Any] = ["B", "", " \n", "y" * 2_000, None]
    items = [ContextItem(f"{i}", 1, source="Web", metadata={"file": value}) for i, value in enumerate(values)]
    each = QuotaEntry.each(cap=50)
    for by, shown in {"source": ["Web"], "metadata:file": ["' \\n'", "''", "'yyy", "(none)", "B"]}.items():
        slicer = QuotaSlice([each], by=by)
        report = Pipeline(ReflexiveScorer(), slicer).dry_run(items, 100)
        usage = [used.kind.value for used in quota_utilization(report, slicer, 100)]
        assert [value[: len(start)] for value, start in zip(usage, shown, strict=True)] == shown


# Files


@pytest.mark.parametrize(
    ("slicer", "fields"),
    [
        (
            QuotaSlice([QuotaEntry("a", 10, 30), QuotaEntry.each(cap=40)], by="source"),
            {"by": "source", "each": {"maxPercent": 40.0}},
        ),
        (QuotaSlice([], by="metadata:file", redistribute=False), {"by": "metadata:file", "redistribute": False}),
        (QuotaSlice([QuotaEntry.each(cap=5)], redistribute=True), {"each": {"maxPercent": 5.0}, "redistribute": True}),
        (CountQuotaSlice([EACH], by="source"), {"by": "source", "each": {"capCount": 1}}),
        (CountConstrainedKnapsackSlice([EACH], by="source"), {"by": "source", "each": {"capCount": 1}}),
    ],
)
def test_files(slicer: Any, fields: dict[str, Any]) -> None:
    document = policy_to_dict(Policy(ReflexiveScorer(), slicer))
    assert {**document["slicer"], **fields} == document["slicer"]
    assert all("(each)" not in str(entry) for entry in document["slicer"]["entries"])
    assert policy_from_dict(document).slicer == slicer
    assert pickle.loads(pickle.dumps(slicer)) == slicer


def test_quotas_by_kind_are_written_as_before() -> None:
    document = policy_to_dict(Policy(ReflexiveScorer(), QuotaSlice([QuotaEntry("Document", cap=40)])))
    assert document["quotas"] == [{"kind": "Document", "minPercent": 0.0, "maxPercent": 40.0}]
    assert "slicer" not in document
    with pytest.raises(DocumentError, match="a function cannot be written to a file"):
        policy_to_dict(Policy(ReflexiveScorer(), QuotaSlice([], by=lambda item: item.kind)))


def test_reprs_are_calls() -> None:
    each = QuotaEntry.each(cap=40)
    assert repr(each) == "QuotaEntry.each(cap=40.0)"
    assert repr(EACH) == "CountQuotaEntry.each(cap_count=1)"
    assert repr(QuotaSlice([each], by="source")) == "QuotaSlice(entries=(QuotaEntry.each(cap=40.0),), by='source')"
    assert repr(QuotaSlice([], redistribute=True)) == "QuotaSlice(entries=(), redistribute=True)"
    assert repr(QuotaSlice([], by="source", redistribute=False)) == (
        "QuotaSlice(entries=(), by='source', redistribute=False)"
    )
    assert QuotaSlice([each]).each == each
    assert CountQuotaSlice([]).each is None


def test_what_caps_leave_free_is_not_offered_for_ever() -> None:
    class Counted:
        calls = 0

        def slice(self, scored: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
            self.calls += 1
            return GreedySlice(cost_exponent=0).slice(scored, budget)

    # Of each source, the first item stays, and the second one, which fills whatever is left, is removed by the cap.
    groups, budget = 100, 1_000
    items = [
        ContextItem(f"{n} {size}", size, source=f"s{n}", future_relevance_hint=1 - n / groups - size * 1e-9)
        for n in range(groups)
        for size in (1, budget - n - 1)
    ]
    inner = Counted()
    selected = Pipeline(ReflexiveScorer(), CountQuotaSlice([EACH], inner, by="source")).run(items, budget)
    assert 10 < inner.calls < 20
    assert len(selected) == len({item.source.key for item in selected}) == inner.calls
