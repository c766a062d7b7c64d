"""The slicer of histories: by score, with what is needed, the oldest in one piece, and documents in their share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    CountQuotaEntry,
    CountQuotaSlice,
    GreedySlice,
    KnapsackSlice,
    Pipeline,
    QuotaEntry,
    QuotaSlice,
    ReflexiveScorer,
    ScoredItem,
    StreamSlice,
)
from pycupel.messages.slicing import TiedSlice, document_share, inner_slicer


def item(content: str, tokens: int, kind: str = "Message", hint: float = 0.5) -> ContextItem:
    return ContextItem(content, tokens, kind=kind, future_relevance_hint=hint)


Needs = dict[ContextItem, list[ContextItem]]


def tied(
    needs: Needs | None = None, documents: Sequence[ContextItem] = (), **options: Any
) -> Callable[[Sequence[ContextItem]], TiedSlice]:
    """A slicer for candidates of which all but the documents belong to a history, like everything that they need."""

    def slicer(candidates: Sequence[ContextItem]) -> TiedSlice:
        needed = [each for tied_to in (needs or {}).values() for each in tied_to]
        units = [each for each in dict.fromkeys([*candidates, *needed]) if each not in documents]
        ties = [[units.index(need) for need in (needs or {}).get(unit, ())] for unit in units]
        return TiedSlice(options.get("inner"), {id(unit): i for i, unit in enumerate(units)}, ties, *others)

    others = options.get("share", 0.0), options.get("whole", False)
    return slicer


def select(
    slicer: Callable[[Sequence[ContextItem]], TiedSlice], scored: list[tuple[ContextItem, float]], target: int
) -> str:
    candidates = [ScoredItem(*pair) for pair in scored]
    chosen = slicer([item for item, _ in scored]).slice(candidates, ContextBudget(target))
    return "".join(each.content for each in chosen)


A, B, C, D = (item(name, 10) for name in "abcd")


# By score, and with what is needed


def test_what_goes_is_the_worst_not_the_least_dense() -> None:
    """`GreedySlice` would keep the short one."""
    short, long = item("s", 1), item("l", 50)
    assert select(tied(), [(long, 0.9), (short, 0.1)], 50) == "l"
    assert GreedySlice().slice([ScoredItem(long, 0.9), ScoredItem(short, 0.1)], ContextBudget(50)) == [short]


def test_an_item_brings_what_it_needs() -> None:
    assert select(tied({A: [D]}), [(A, 0.9), (B, 0.8), (C, 0.7), (D, 0.1)], 30) == "abd"


def test_or_it_stays_out_with_it() -> None:
    large = item("x", 25)
    assert select(tied({A: [large]}), [(A, 0.9), (B, 0.8), (C, 0.7), (large, 0.1)], 30) == "bc"


def test_what_is_needed_may_need_something_else() -> None:
    assert select(tied({A: [B], B: [C], C: [A]}), [(A, 0.9), (D, 0.8), (B, 0.2), (C, 0.1)], 30) == "abc"


def test_what_two_need_is_paid_for_once() -> None:
    assert select(tied({A: [C], B: [C]}), [(A, 0.9), (B, 0.8), (C, 0.1)], 30) == "abc"
    assert select(tied({A: [C, C]}), [(A, 0.9), (C, 0.1)], 20) == "ac"


def test_what_is_needed_and_no_candidate_is_pinned_and_costs_nothing_here() -> None:
    assert select(tied({A: [D]}), [(A, 0.9), (B, 0.1)], 20) == "ab"


def test_without_room_only_what_costs_nothing_is_selected() -> None:
    assert select(tied(), [(A, 0.9), (item("z", 0), 0.1)], 0) == "z"
    assert select(tied(), [], 10) == ""


# In one piece


def test_the_first_that_does_not_fit_ends_the_selection() -> None:
    """In contiguous blocks where scores allow: a small old message would stay without what was said around it."""
    large, small = item("x", 15), item("s", 1)
    assert select(tied(), [(A, 0.9), (B, 0.8), (large, 0.7), (small, 0.6)], 30) == "ab"


def test_but_a_large_one_does_not_take_everything_along_while_less_than_half_is_used() -> None:
    huge = item("x", 95)
    assert select(tied(), [(A, 0.9), (huge, 0.8), (B, 0.7), (C, 0.6)], 100) == "abc"
    assert select(tied(), [(huge, 0.8), (A, 0.7)], 90) == "a"


def test_what_another_slicer_chose_need_not_be_in_one_piece() -> None:
    """Here the choice is the policy's; only what has no room beside what others need goes."""
    needed, small = item("n", 25), item("s", 1)
    scored = [(A, 0.9), (B, 0.8), (C, 0.7), (small, 0.6), (needed, 0.0)]
    assert select(tied({C: [needed]}, inner=KnapsackSlice(1)), scored, 35) == "abs"


# Documents


def test_documents_get_their_share_before_the_history_and_what_it_leaves() -> None:
    hits = [item(name, 10, "Document") for name in "123456"]
    scored = [(A, 0.9), (B, 0.8), *((hit, 0.5) for hit in hits)]
    slicer = tied(documents=hits, share=0.3)
    assert select(slicer, [(each, 0.9) for each in (A, B, C, D)] + scored[2:], 40) == "abc1"
    assert select(slicer, scored, 100) == "ab123456"
    assert select(slicer, scored, 40) == "ab12"


def test_a_document_that_does_not_fit_makes_room_for_a_smaller_one() -> None:
    hits = [item("1", 50, "Document"), item("2", 5, "Document")]
    assert select(tied(documents=hits, share=1.0), [(hits[0], 0.9), (hits[1], 0.1)], 30) == "2"


def test_a_whole_history_stays_and_quotas_are_for_documents_alone() -> None:
    hits = [item(name, 10, "Document") for name in "123456"]
    scored = [(hit, 0.9) for hit in hits] + [(A, 0.2), (B, 0.1)]
    inner = QuotaSlice([QuotaEntry("Document", cap=20), QuotaEntry("Message", cap=5)])
    assert select(tied(documents=hits, share=0.2, inner=inner, whole=True), scored, 100) == "12ab"
    assert select(tied(documents=hits, share=0.2, inner=inner), scored, 100) == "12"


@pytest.mark.parametrize(
    ("quotas", "kinds", "share"),
    [
        ([], ["Document"], 0.3),
        ([], ["Document", "Memory"], 0.3),
        ([], [], 0.0),
        ([QuotaEntry("document", require=50)], ["Document"], 0.5),
        ([QuotaEntry("Document", cap=20)], ["Document"], 0.2),
        ([QuotaEntry("Document", cap=20)], ["Document", "Memory"], 0.3),
        ([QuotaEntry("Document", 20, 40), QuotaEntry("Memory", 25, 30)], ["Memory", "Document", "Memory"], 0.45),
        ([QuotaEntry("Document", 20, 40), QuotaEntry("Memory", 25, 30)], ["Memory"], 0.3),
        ([QuotaEntry("Message", require=90)], ["Document"], 0.3),
    ],
)
def test_the_share_of_documents_is_what_quotas_say(quotas: list[QuotaEntry], kinds: list[str], share: float) -> None:
    assert document_share(QuotaSlice(quotas), [item("x", 1, kind) for kind in kinds]) == share


def test_counts_are_no_shares() -> None:
    slicer = CountQuotaSlice([CountQuotaEntry("Document", cap_count=2)])
    assert document_share(slicer, [item("x", 1, "Document")]) == 0.3
    assert document_share(GreedySlice(), [item("x", 1, "Document")]) == 0.3


# The policy's slicer


def test_where_a_slicer_goes_by_density_it_goes_by_score_here() -> None:
    by_score = StreamSlice(2**63 - 1)
    assert inner_slicer(GreedySlice()) is None
    assert inner_slicer(QuotaSlice([])) == QuotaSlice([], by_score)
    assert inner_slicer(CountQuotaSlice([], QuotaSlice([]))) == CountQuotaSlice([], QuotaSlice([], by_score))
    assert inner_slicer(KnapsackSlice(7)) == KnapsackSlice(7)
    assert inner_slicer(StreamSlice(2)) == StreamSlice(2)


def test_quotas_split_the_target_between_kinds() -> None:
    hits = [item(name, 10, "Document") for name in "1234"]
    memories = [item(name, 10, "Memory") for name in "567"]
    inner = QuotaSlice([QuotaEntry("Document", cap=20), QuotaEntry("Memory", require=10, cap=10)])
    scored = [(A, 0.9), (B, 0.8), (C, 0.7), (D, 0.6), *((each, 0.5) for each in hits + memories)]
    slicer = tied(documents=hits + memories, share=0.3, inner=inner_slicer(inner))
    assert select(slicer, scored, 100) == "abcd125"


def test_shortfalls_and_caps_of_the_inner_slicer_are_passed_on() -> None:
    inner = CountQuotaSlice(
        [CountQuotaEntry("Memory", cap_count=2, require_count=1), CountQuotaEntry("Message", cap_count=1)]
    )
    outcome = tied(inner=inner)([A, B]).slice_detailed([ScoredItem(A, 0.9), ScoredItem(B, 0.8)], ContextBudget(100))
    assert [each.content for each in outcome.selected] == ["a"]
    assert [each.kind for each in outcome.shortfalls] == ["Memory"]
    assert [each.content for each, _ in outcome.cap_excluded] == ["b"]


def test_notes_say_why_something_is_left_out_although_there_is_room() -> None:
    """ER-05: the reason alone would mislead."""
    large, small = item("x", 15, hint=0.7), item("s", 1, hint=0.6)
    a, b = item("a", 10, hint=0.9), item("b", 10, hint=0.8)
    report = Pipeline(ReflexiveScorer(), tied()([a, b, large, small])).dry_run([a, b, large, small], ContextBudget(30))
    texts = [event.message for event in report.events if event.message and "Exceeded" in event.message]
    note = "what it belongs to does not fit, or the cut is made where the messages around it end"
    assert texts == [
        "BudgetExceeded: 15 tokens requested, 10 available",
        f"BudgetExceeded: 1 tokens requested, 10 available ({note})",
    ]
    quota = tied(inner=QuotaSlice([QuotaEntry("Message", cap=50)]))
    report = Pipeline(ReflexiveScorer(), quota([a, b])).dry_run([a, b], ContextBudget(20))
    assert any("the share of kind 'Message' was 10 tokens" in (event.message or "") for event in report.events)
