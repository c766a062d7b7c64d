"""What a run says about itself: one sentence for what would surprise, and nothing where nothing is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from pycupel import (
    BoostedScorer,
    ChronologicalPlacer,
    CompositeScorer,
    ContextBudget,
    ContextItem,
    CountQuotaEntry,
    CountQuotaSlice,
    FramedPlacer,
    FrequencyScorer,
    GreedySlice,
    KindScorer,
    KnapsackSlice,
    MetadataTrustScorer,
    MinScoreSlice,
    Pipeline,
    PriorityScorer,
    QuotaEntry,
    QuotaSlice,
    RecencyScorer,
    ReflexiveScorer,
    RelevanceScorer,
    ScaledScorer,
    UShapedPlacer,
    select,
)
from pycupel.messages import select_messages
from tests.strategies import NOW

HINTS = ReflexiveScorer()


def item(content: str, tokens: int, hint: float | None = None, **fields: Any) -> ContextItem:
    return ContextItem(content, tokens, future_relevance_hint=hint, **fields)


def notes(items: Sequence[ContextItem], budget: ContextBudget | int, *strategies: Any, **options: Any) -> list[str]:
    return list(select(items, budget, Pipeline(*strategies, **options)).notes)


def dated(content: str, minutes: int = 0, **fields: Any) -> ContextItem:
    return ContextItem(content, 10, timestamp=NOW + timedelta(minutes=minutes), **fields)


# --- the best item is out


BEST = item("best hit", 120, 0.95)
JUNK = [item(f"junk {i}", 10, 0.15 + i / 100) for i in range(12)]
OUT = "the best item that fits was left out (score 0.95, 120 tokens), because "


def test_the_best_item_that_fits_is_out() -> None:
    assert notes([BEST, *JUNK], 120, HINTS) == [
        f"{OUT}others have more score per token; use GreedySlice(best_first=True)"
    ]
    assert notes([BEST, *JUNK], 120, HINTS, KnapsackSlice(1)) == [
        f"{OUT}others together score more; use GreedySlice(best_first=True)"
    ]
    assert len(notes([BEST, *JUNK], 120, HINTS, MinScoreSlice(GreedySlice(), 0.1))) == 1


def test_the_remedy_helps() -> None:
    assert notes([BEST, *JUNK], 120, HINTS, GreedySlice(best_first=True)) == []


def test_nothing_is_said_if_the_best_is_in_or_cannot_fit_or_is_equalled() -> None:
    assert notes([BEST, *JUNK], 240, HINTS) == []
    assert notes([BEST, *JUNK], 110, HINTS) == []
    assert (
        notes([item("large", 120, 0.5), *(item(f"small {i}", 10, 0.5 - i / 50) for i in range(12))], 120, HINTS) == []
    )


class Whimsical:
    """A custom slicer selects as it likes."""

    def slice(self, scored_items: Any, budget: ContextBudget, /) -> list[ContextItem]:
        return [scored_items[-1].item]


class Subclassed(KnapsackSlice):
    """A subclass may mean something else by the options."""

    def slice(self, scored_items: Any, budget: ContextBudget, /) -> list[ContextItem]:
        return []


def test_nothing_is_said_about_what_custom_slicers_do() -> None:
    assert notes([BEST, *JUNK], 120, HINTS, Whimsical()) == []
    assert notes([BEST, *JUNK], 50, HINTS, Subclassed()) == []
    assert notes([BEST, *JUNK], 120, HINTS, MinScoreSlice(Whimsical(), 0.0)) == []
    counts = CountQuotaSlice([CountQuotaEntry("Message", cap_count=0)])
    assert notes([BEST, *JUNK], 120, HINTS, counts) == []


# --- hints


CLAMPED = 'use ReflexiveScorer(rescale="auto"), or rescale_hints(items)'


@pytest.mark.parametrize("scorer", [HINTS, ScaledScorer(HINTS), CompositeScorer([(HINTS, 1), (PriorityScorer(), 1)])])
def test_clamped_hints(scorer: Any) -> None:
    items = [item("a", 1, 27.4, priority=1), item("b", 1, 0.5, priority=2), item("c", 1, -0.4), item("d", 1)]
    assert notes(items, 10, scorer) == [f"hints outside the range from 0 to 1 were clamped (2 of 4); {CLAMPED}"]


def test_hints_that_are_not_clamped() -> None:
    inside = [item("a", 1, 0.0), item("b", 1, 1.0), item("c", 1)]
    strange = [item("a", 1, float("nan")), item("b", 1, float("inf")), item("c", 1, 0.5)]
    assert notes(inside, 10, HINTS) == notes(strange, 10, HINTS) == []
    raw = [item("a", 1, 27.4), item("b", 1, 3.1)]
    assert notes(raw, 10, ReflexiveScorer(rescale="auto")) == []
    assert notes([item("a", 1, 27.4, priority=1)], 10, PriorityScorer()) == []


def equal_hints(*hints: float) -> list[ContextItem]:
    return [item(f"hit {i}", 10 + i, hint, kind="Document") for i, hint in enumerate(hints)]


BLEND = CompositeScorer([(HINTS, 3), (KindScorer(), 1)])


def test_hints_that_are_nearly_equal() -> None:
    fused = equal_hints(0.0164, 0.0161, 0.0159, 0.0156, 0.0154)
    remedy = "so other scores and the tokens decide; use ScaledScorer(ReflexiveScorer()), or hints that differ"
    assert notes(fused, 40, BLEND) == [f"all hints lie between 0.0154 and 0.0164, {remedy}"]
    assert notes(equal_hints(*[0.5] * 6), 40, HINTS) == [f"all hints lie between 0.5 and 0.5, {remedy}"]


def test_hints_that_are_an_order() -> None:
    fused = equal_hints(0.0164, 0.0161, 0.0159, 0.0156, 0.0154)
    assert notes(fused, 40, HINTS) == []  # alone, they are one
    assert notes(fused, 1_000, BLEND) == []  # everything is selected
    assert notes(fused[:4], 40, BLEND) == []  # so few may be equal by chance
    assert notes(fused, 40, CompositeScorer([(ScaledScorer(HINTS), 3), (KindScorer(), 1)])) == []
    assert notes(fused, 40, CompositeScorer([(HINTS, 1), (KindScorer(), 3)])) == []
    assert notes(equal_hints(0.5, 0.9, 0.2, 0.3, 0.5), 40, BLEND) == []
    assert notes(equal_hints(*[1.0] * 6), 40, BLEND) == []  # a yes is a hint, too


# --- fields


def test_little_weight_may_read_nothing() -> None:
    items = [dated("a"), dated("b", 1)]
    assert notes(items, 100, CompositeScorer([(RecencyScorer(), 3), (PriorityScorer(), 2)])) == []
    half = CompositeScorer([(RecencyScorer(), 0.1), (PriorityScorer(), 0.1)])
    assert notes(items, 100, half) == [
        (
            "no item sets priority, so PriorityScorer gives every item the same score; "
            "set it, or choose a policy without that scorer"
        )
    ]


def test_a_boost_has_no_weight() -> None:
    assert notes([dated("a")], 100, BoostedScorer(RecencyScorer(), MetadataTrustScorer())) == []


def test_relevance_goes_by_the_query_where_there_are_no_hints() -> None:
    scorer = CompositeScorer([(HINTS, 5), (RelevanceScorer(optional=True), 3), (KindScorer(), 1)])
    bare = [item("a pump", 10), item("a valve", 10)]
    pipeline = Pipeline(scorer)
    assert select(bare, 100, pipeline, query="pump").notes == ()
    assert select(bare, 100, pipeline).notes == (
        (
            "no item sets future_relevance_hint, so ReflexiveScorer gives every item the same score; "
            "set it, pass query=..., or choose a policy without that scorer"
        ),
    )
    assert select([item("a pump", 10, 0.5), *bare], 100, pipeline).notes == ()


def hints_without_a_reader(*hints: float | None) -> list[ContextItem]:
    return [item(f"hit {i}", 100, hint, kind="Document") for i, hint in enumerate(hints)]


def test_a_field_that_no_scorer_reads() -> None:
    hits = hints_without_a_reader(*[i / 50 for i in range(50)])
    assert select(hits, 500).items == hits[:5]
    assert select(hits, 500).notes == (
        (
            "items set future_relevance_hint (50), which no scorer of the policy reads; "
            "add a ReflexiveScorer, or choose a policy that has one, such as 'rag'"
        ),
    )
    assert select(hits, 500, "rag").notes == ()
    ranked = [item(f"page {i}", 10, kind="Document", priority=i or None) for i in range(4)]
    expected = (
        "items set priority (3), which no scorer of the policy reads; "
        "add a PriorityScorer, or choose a policy that has one, such as 'tool-use'"
    )
    assert select(ranked, 30).notes == (expected,)
    assert select(ranked, 30, "tool-use").notes == ()
    assert notes(ranked, 30, KindScorer()) == [expected]


def test_hints_that_no_scorer_reads_if_the_largest_is_left_out() -> None:
    old = [dated(f"page {i}", i, future_relevance_hint=1 - i / 10, kind="Document") for i in range(3)]
    assert old[0] not in select(old, 20).items
    (note,) = select(old, 20).notes
    assert note.startswith("items set future_relevance_hint (3), which no scorer of the policy reads; ")
    assert select(old[::-1], 20, "rag").notes == select(old, 30).notes == select(old, 5).notes[1:] == ()
    assert select([replace(each, future_relevance_hint=0.5) for each in old], 20).notes == ()
    assert notes(old, 20, RecencyScorer()) == []  # the order that was asked for
    assert select(old, 20, query="page 2").notes == ()  # the question decides


def test_a_field_that_would_change_nothing() -> None:
    assert select(hints_without_a_reader(0.1, 0.9), 500).notes == ()  # everything is selected
    assert select(hints_without_a_reader(0.5, 0.5, 0.5), 200).notes == ()  # they are no order
    assert select(hints_without_a_reader(0.9, 0.5, None), 100).notes == ()  # the best are selected anyway
    assert select([*hints_without_a_reader(0.1), item("too large", 101, 0.9, kind="Document")], 100).notes == ()
    urgent = [item("urgent", 10, priority=9), item("later", 10, priority=1)]
    assert notes(urgent, 10, RecencyScorer("position")) == []  # the policy has another order
    assert notes(urgent[::-1], 10, BoostedScorer(KindScorer(), PriorityScorer())) == []


class Constant:
    """A custom scorer, which may read any field."""

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        return 1.0


def test_custom_strategies_may_read_any_field() -> None:
    items = [item("a", 10, priority=1), item("b", 10, priority=2)]
    assert notes(items, 10, Constant()) == notes(items[::-1], 10, KindScorer(), Whimsical()) == []


def test_a_scorer_that_occurs_twice_is_noted_like_two_equal_ones() -> None:
    """The note about a policy from a file, where nothing is shared, is the same."""
    items = [item(f"page {i}", 10) for i in range(3)]
    shared = FrequencyScorer()
    entries: list[tuple[Any, float]] = [(shared, 1), (RecencyScorer(), 1), (shared, 1)]
    copies: list[tuple[Any, float]] = [(replace(scorer), weight) for scorer, weight in entries]
    (note,) = notes(items, 20, CompositeScorer(entries))
    assert [note] == notes(items, 20, CompositeScorer(copies))
    assert note.startswith("no item sets tags or timestamp, so FrequencyScorer and RecencyScorer give every item")


# --- the question


@pytest.mark.parametrize("query", ["kubernetes ingress", "to be or not to be"])
def test_a_query_that_matches_nothing(query: str) -> None:
    pages = [item("Our office dog", 8, kind="Document"), item("To be, or not to be: that is it", 8, kind="Document")]
    unmatched = "no item contains a word of the query, so it has no effect; rephrase it, or use a SimilarityScorer"
    assert select(pages, 8, "rag", query=query).notes == (unmatched,)
    assert select(pages, 16, "rag", query=query).notes == ()  # everything is selected
    assert select(pages, 8, "rag", query="dogs").notes == select(pages, 8, "rag", query="").notes[1:] == ()


# --- kinds


def tickets(kind: str = "Ticket") -> list[ContextItem]:
    return [item(f"ticket {i}", 10, 0.1, kind=kind) for i in range(3)] + [item("document", 10, 0.9, kind="Document")]


def test_kinds_that_the_weights_do_not_know() -> None:
    expected = (
        "KindScorer has no weight for the kind of items that were left out (3), so it gives them 0; "
        "add a weight for 'Ticket'"
    )
    assert notes(tickets(), 10, BLEND) == [expected]
    assert notes(tickets()[:3], 10, KindScorer()) == [expected.replace("(3)", "(2)")]


def test_kinds_that_do_no_harm() -> None:
    assert notes(tickets(), 1_000, BLEND) == []  # nothing is left out
    assert notes(tickets("Message"), 10, BLEND) == []
    assert notes(tickets()[:3], 10, BLEND) == []  # they compete with each other only
    known = CompositeScorer([(HINTS, 3), (KindScorer({"Ticket": 0.0, "Document": 1.0}), 1)])
    assert notes(tickets(), 10, known) == []


# --- system prompts


PROMPT = ContextItem("You are a pump.", 10, kind="SystemPrompt")
UNPINNED = "no SystemPrompt was selected, although there is one that fits; set pinned=True to always select it"


def test_a_system_prompt_that_was_left_out() -> None:
    messages = [item(f"message {i}", 10) for i in range(8)]
    result = select([PROMPT, *messages], 40)
    assert PROMPT not in result.items
    assert result.notes == (UNPINNED,)
    assert select([PROMPT, ContextItem("Be brief.", 10, kind="systemprompt"), *messages], 40).notes == (UNPINNED,)
    assert notes([replace(PROMPT, future_relevance_hint=0.1)], 40, HINTS, MinScoreSlice(GreedySlice(), 0.5)) == [
        UNPINNED
    ]


def test_a_system_prompt_that_is_in_or_could_not_be() -> None:
    messages = [item(f"message {i}", 10) for i in range(8)]
    assert select([replace(PROMPT, pinned=True), *messages], 40).notes == ()
    assert select([PROMPT, *messages], 90).notes == ()
    assert select([replace(PROMPT, tokens=50), *messages], 40).notes == ()  # pinned, it would be an error
    prompts = [item(f"prompt {i}", 10, i / 10, kind="SystemPrompt") for i in range(3)]
    assert notes(prompts, 20, HINTS) == []  # a choice among prompts


# --- nothing fits


def test_nothing_fits() -> None:
    large = [item("larger", 200), item("large", 100)]
    nothing = "nothing fits: the smallest item has 100 tokens, but only"
    remedy = "use a larger budget, or smaller items"
    assert select(large, 40).notes == (f"{nothing} 40 are available; {remedy}",)
    assert notes(large, 40, HINTS, KnapsackSlice(1))[-1] == f"{nothing} 40 are available; {remedy}"

    def of(**limits: Any) -> str:
        (note,) = select(large, ContextBudget(140, **limits)).notes
        return note.removeprefix(f"{nothing} ").removesuffix(f"; {remedy}")

    assert of(reserved_slots={"a": 100}) == "40 of 140 are available (100 reserved)"
    assert of(reserved_slots={"a": 200}) == "0 of 140 are available (200 reserved)"
    assert of(output_reserve=40, reserved_slots={"a": 1}) == "99 of 140 are available (41 reserved)"
    assert of(estimation_safety_margin_percent=50) == "70 of 140 are available (safety margin 50 percent)"
    assert of(target_tokens=60) == "60 of 140 are available (target 60)"
    pinned = item("pinned", 50, pinned=True)
    assert select([pinned, *large], ContextBudget(140, output_reserve=1)).notes == (
        f"{nothing} 89 of 140 are available (1 reserved, 50 for pinned items); {remedy}",
    )


def test_nothing_is_said_if_something_fits_or_there_is_no_budget() -> None:
    large = item("large", 100)
    assert select([large], 100).notes == select([large, item("small", 40)], 40).notes == select([], 40).notes == ()
    assert select([large], 0).notes == ()
    assert select([ContextItem("invalid", -1)], 40).notes == ()
    assert select([item("pinned", 10, pinned=True)], 10).notes == ()
    assert notes([item("small", 10, 0.1)], 40, HINTS, MinScoreSlice(GreedySlice(), 0.5)) == []


# --- equal texts in a chat


SAID_AGAIN = (
    "1 message was dropped because another has the same text; use deduplication=False to keep repeated messages"
)


def test_equal_texts_in_a_chat() -> None:
    chat = [dated("ok"), dated("and now?", 1), dated("ok", 2)]
    assert notes(chat, 100, RecencyScorer()) == [SAID_AGAIN]
    assert notes(chat, 100, RecencyScorer(), deduplication=False) == []
    undated = [item("ok", 10), item("and now?", 10), item("ok", 10)]
    assert notes(undated, 100, RecencyScorer("position")) == [SAID_AGAIN]
    assert notes([*chat, dated("ok", 3)], 100, RecencyScorer()) == [
        SAID_AGAIN.replace("1 message was", "2 messages were")
    ]


def test_other_duplicates_are_dropped_without_a_word() -> None:
    once = dated("ok")
    assert notes([once, once], 100, RecencyScorer()) == []
    assert notes([once, dated("ok")], 100, RecencyScorer()) == []
    assert notes([dated("ok", kind="Document"), dated("ok", 1, kind="Document")], 100, RecencyScorer()) == []
    assert notes([item("ok", 10, 0.4), item("ok", 10, 0.5)], 100, HINTS) == []
    prompt = dated("ok", pinned=True)
    assert notes([prompt, dated("ok", 1)], 100, RecencyScorer(), dedupe_against_pinned=True) == []


# --- knapsacks


def test_a_knapsack_with_coarse_buckets() -> None:
    """KN-02."""
    items = [item("a", 30, 0.5), item("b", 150, 0.9), item("free", 0, 0.5)]
    assert notes(items, 60, HINTS, KnapsackSlice()) == [
        "nothing fits into 60 tokens if tokens are counted in buckets of 100; use KnapsackSlice(bucket_size=1)"
    ]
    assert notes(items[1:], 199, HINTS, KnapsackSlice()) == [
        "nothing fits into 199 tokens if tokens are counted in buckets of 100; use KnapsackSlice(bucket_size=1)"
    ]
    assert notes(items, 60, HINTS, KnapsackSlice(bucket_size=1)) == []
    assert notes(items, 100, HINTS, KnapsackSlice()) == []
    assert notes([item("a", 1, 0.9), item("b", 99, 0.8)], 60, HINTS, KnapsackSlice(100)) == [
        "nothing fits into 60 tokens if tokens are counted in buckets of 100; use KnapsackSlice(bucket_size=1)"
    ]


def test_a_knapsack_that_refuses_everything() -> None:
    """KN-01."""
    items = [item("a", 10, priority=1), item("b", 10, priority=1)]
    assert notes(items, 1_000, PriorityScorer(), KnapsackSlice(1)) == [
        (
            "nothing was selected, because no item that fits scores 0.0001 or more; "
            "use KnapsackSlice(fill_free=True), or GreedySlice()"
        )
    ]
    assert notes(items, 1_000, PriorityScorer(), KnapsackSlice(1, fill_free=True)) == []
    kept = MinScoreSlice(KnapsackSlice(1), 0.0)
    assert len(notes(items, 1_000, PriorityScorer(), kept)) == 1


# --- undated items


UNDATED = (
    "items without a timestamp are placed after those that have one (1); "
    "set it, or list their kinds in FramedPlacer(first=...)"
)


def test_a_system_prompt_behind_the_messages() -> None:
    prompt = ContextItem("You are a pump.", 5, kind="SystemPrompt", pinned=True)
    chat = [prompt, dated("a"), dated("b", 1)]
    assert notes(chat, 100, RecencyScorer()) == [UNDATED]
    assert notes(chat, 100, RecencyScorer(), placer=FramedPlacer(first=("Document",))) == [UNDATED]
    assert notes(chat, 100, RecencyScorer(), placer=FramedPlacer()) == []
    assert notes(chat, 100, RecencyScorer(), placer=FramedPlacer(FramedPlacer(), first=("Memory",))) == []


@pytest.mark.parametrize(
    "placer", [UShapedPlacer(), FramedPlacer(UShapedPlacer()), FramedPlacer(first=lambda each: each.pinned)]
)
def test_other_orders_do_not_care(placer: Any) -> None:
    prompt = ContextItem("You are a pump.", 5, kind="SystemPrompt", pinned=True)
    assert notes([prompt, dated("a"), dated("b", 1)], 100, RecencyScorer(), placer=placer) == []


def test_all_or_none_may_be_undated() -> None:
    undated = [item("a", 10, 0.5), item("b", 10, 0.6)]
    assert notes(undated, 100, HINTS) == notes([dated("a"), dated("b", 1)], 100, RecencyScorer()) == []
    assert notes([], 100, HINTS) == []
    only_prompts = [ContextItem("You are a pump.", 5, kind="SystemPrompt", pinned=True)]
    assert notes(only_prompts, 100, HINTS, placer=FramedPlacer(ChronologicalPlacer())) == []


def test_undated_messages_beside_a_dated_one() -> None:
    messages = [item(f"message {i}", 10) for i in range(7)]
    mixed = [*messages, dated("message 7")]
    assert select(mixed, 40).items == [mixed[7], *mixed[:3]]
    score_only = "items without a timestamp score 0 for recency (7); set it on all items"
    score_and_place = score_only.replace(";", ", and are placed after those that have one;")
    assert select(mixed, 40).notes == (score_and_place,)
    assert notes(mixed, 40, RecencyScorer()) == [score_and_place]
    # Other placers do not go by time.
    assert notes(mixed, 40, RecencyScorer(), placer=UShapedPlacer()) == [score_only]
    assert notes(mixed, 10, RecencyScorer()) == [score_only]


def test_undated_items_that_lose_nothing() -> None:
    mixed = [item("message", 10), dated("message 1")]
    assert notes(mixed, 100, RecencyScorer(), placer=UShapedPlacer()) == []  # everything is selected
    assert notes(mixed, 10, HINTS, placer=UShapedPlacer())[1:] == []  # recency does not count
    documents = [item("a document", 10, kind="Document"), dated("message 1")]
    assert notes(documents, 10, RecencyScorer(), placer=UShapedPlacer()) == []  # they have no place in a conversation


def test_a_missing_timestamp_is_told_once() -> None:
    told = notes([dated("now", pinned=True), item("a", 10), item("b", 10)], 100, RecencyScorer())
    assert [note.split(",")[0] for note in told] == ["no item sets timestamp"]


# --- quotas


STARVING = [
    *(item(f"message {i}", 10, 0.9) for i in range(20)),
    *(item(f"memory {i}", 100, 0.5, kind="Memory") for i in range(50)),
]


def starving(**options: Any) -> list[str]:
    """The issue's example: 67 per cent of the budget stay empty."""
    return notes(STARVING, 1_000, HINTS, QuotaSlice([QuotaEntry("Memory", cap=30)], **options))


def test_shares_that_starve() -> None:
    assert starving() == [
        (
            "670 of 1000 tokens stay unused, although 17 excluded items would fit: "
            "the share of kind 'Message' was 38 tokens; use QuotaSlice(..., redistribute=True)"
        )
    ]
    assert starving(redistribute=True) == []
    [note] = notes(STARVING[19:30], 300, HINTS, QuotaSlice([QuotaEntry("Memory", cap=30)]))
    assert note.startswith("300 of 300 tokens stay unused, although 1 excluded item would fit: the share of kind 'Mess")


def test_of_shares_that_starve_equally_the_one_with_the_best_item_is_named() -> None:
    offered = [
        item("too long", 300, 0.9, kind="Document"),
        item("good", 20, 0.8, kind="Memory"),
        item("fair", 20, 0.7, kind="Document"),
        item("far too long", 10_000, 0.6),
    ]
    [note] = notes(offered, 100, HINTS, QuotaSlice([QuotaEntry("Memory", cap=30)]))
    assert "2 excluded items would fit: the share of kind 'Memory' was 0 tokens" in note


def test_counts_pass_on_what_the_slicer_inside_has_to_say() -> None:
    def counted(cap_count: int) -> list[str]:
        counts = [CountQuotaEntry("Message", require_count=1, cap_count=cap_count)]
        return notes(STARVING, 1_000, HINTS, CountQuotaSlice(counts, QuotaSlice([QuotaEntry("Memory", cap=30)])))

    assert counted(20) == [
        (
            "760 of 990 tokens stay unused, although 16 excluded items would fit: "
            "the share of kind 'Message' was 36 tokens; use QuotaSlice(..., redistribute=True)"
        )
    ]
    # Here it is the count that leaves tokens unused.
    assert counted(3) == []


def test_counts_do_not_pass_on_that_a_kind_is_absent_if_they_took_it() -> None:
    items = [item("a", 10, 0.9), item("b", 10, 0.8, kind="Memory")]
    counts = [CountQuotaEntry("Memory", require_count=1, cap_count=2)]
    assert notes(items, 100, HINTS, CountQuotaSlice(counts, QuotaSlice([QuotaEntry("Memory", require=5)]))) == []


def test_shares_that_are_used_and_caps_that_are_meant() -> None:
    items = [item("a", 10, 0.9), item("b", 10, 0.8), item("c", 10, 0.5, kind="Memory"), item("d", 10, kind="Memory")]
    assert notes(items, 20, HINTS, QuotaSlice([])) == []
    assert notes(items, 1_000, HINTS, QuotaSlice([])) == []
    assert notes(items[2:], 100, HINTS, QuotaSlice([QuotaEntry("Memory", cap=10)])) == []
    assert notes([], 100, HINTS, QuotaSlice([])) == []
    assert notes(items, 0, HINTS, QuotaSlice([QuotaEntry("Tool", require=10)])) == []
    # A knapsack has reasons of its own to leave something out.
    assert notes(items, 1_000, HINTS, QuotaSlice([], KnapsackSlice(1))) == []


def test_a_requirement_for_a_kind_that_is_not_there() -> None:
    items = [item("a", 10, 0.9), item("b", 10, 0.8)]
    entries = [QuotaEntry("Memery", require=20), QuotaEntry("message", require=10), QuotaEntry("Tool", cap=10)]
    assert notes(items, 100, HINTS, QuotaSlice(entries, redistribute=True)) == [
        (
            "no candidate has kind 'Memery', for which QuotaSlice requires 20 percent of the budget; "
            "correct the kind, or leave out the entry"
        )
    ]
    small = notes(items, 100, HINTS, QuotaSlice([QuotaEntry("Memory", require=1)]))
    assert any("QuotaSlice requires 1 percent of the budget" in each for each in small)


def test_several_requirements_are_told_in_one_sentence() -> None:
    entries = [QuotaEntry("x" * 900, require=20), QuotaEntry("y", require=10)]
    (note,) = notes([item("a", 10, 0.9)], 100, HINTS, QuotaSlice(entries, redistribute=True))
    assert "requires 20 percent of the budget (and 1 more like it); correct" in note
    assert len(note) < 250


def test_fractions_in_place_of_percentages() -> None:
    items = [item("a", 1, 0.9), item("b", 1, 0.8)]
    entries = [QuotaEntry("Message", require=0.3, cap=1), QuotaEntry("Tool", cap=0)]
    told = notes(items, 1_000, HINTS, QuotaSlice(entries, redistribute=True))
    assert told == [
        (
            "QuotaEntry(kind='Message', require=0.3, cap=1.0) means 0.3 percent of the budget (and 1 more like it); "
            "write 30 for 30 percent"
        )
    ]
    inside = MinScoreSlice(QuotaSlice(entries, redistribute=True), 0.0)
    assert notes(items, 1_000, HINTS, inside) == told
    # Nobody means 150 percent.
    assert notes(items, 1_000, HINTS, QuotaSlice([QuotaEntry("Message", cap=1.5)])) == []


# --- runs where nothing is wrong


def test_documents_beside_a_short_history_need_no_timestamps() -> None:
    history = [{"role": "system", "content": "You are a pump."}, {"role": "user", "content": "What is E42?"}]
    documents = [f"document {i} about E{i} and a good deal more" for i in range(40)]
    for policy in (Pipeline(RecencyScorer()), Pipeline(CompositeScorer([(RecencyScorer(), 3), (KindScorer(), 1)]))):
        selection = select_messages(history, 200, provider="openai", documents=documents, policy=policy)
        assert selection.dropped_documents
        assert selection.notes == ()


def test_a_history_is_not_placed_by_its_pipeline() -> None:
    """The items of messages have timestamps, those of documents have none."""
    history = [{"role": "user", "content": f"message {i} " * 9} for i in range(9)]
    documents = ["a document", "another document"]
    policy = Pipeline(RecencyScorer())
    selection = select_messages(history, 200, provider="openai", documents=documents, policy=policy, explain=True)
    assert selection.documents
    assert selection.dropped
    assert selection.report.notes == selection.notes == ()


def test_a_report_has_the_same_notes_whoever_asks() -> None:
    pipeline = Pipeline(HINTS)
    expected = select([BEST, *JUNK], 120, pipeline).notes
    report = pipeline.dry_run([BEST, *JUNK], 120)
    assert report.notes == pipeline.select(pipeline.rank([BEST, *JUNK]), 120).notes == expected
    assert pipeline.rank([BEST, *JUNK]).notes == ()
