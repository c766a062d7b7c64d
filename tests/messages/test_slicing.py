"""The slicer of histories: by score, with what is needed, the oldest in one piece, and documents in their share."""

from __future__ import annotations

from collections.abc import Sequence

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
from pycupel.messages.cuts import fill, never_dropped, without_lone_questions
from pycupel.messages.documents import DocumentsSlice, document_share
from pycupel.messages.options import inner_slicer
from pycupel.protocols import Slicer


def item(content: str, tokens: int, kind: str = "Message", hint: float = 0.5) -> ContextItem:
    return ContextItem(content, tokens, kind=kind, future_relevance_hint=hint)


Scored = list[tuple[ContextItem, float]]
Needs = dict[ContextItem, list[ContextItem]]


def take(
    scored: Scored, target: int, needs: Needs | None = None, answered: Sequence[ContextItem] = (), *, whole: bool = True
) -> str:
    """What is taken, by content and in order of the scores, which are descending."""
    needed = [each for tied_to in (needs or {}).values() for each in tied_to]
    units = list(dict.fromkeys([*(each for each, _ in scored), *needed]))
    ties = [[units.index(need) for need in (needs or {}).get(unit, ())] for unit in units]
    taken = fill(range(len(scored)), [each.tokens for each in units], ties, target, in_one_piece=whole)
    answers = {units.index(each): 0 for each in answered}
    return "".join(units[i].content for i in sorted(without_lone_questions(taken, ties, answers, 1)))


def select(scored: Scored, target: int, history: Sequence[ContextItem], inner: Slicer | None = None) -> str:
    """What is selected if this history stays."""
    units = {id(each): i for i, each in enumerate(history)}
    candidates = [ScoredItem(*pair) for pair in scored]
    chosen = DocumentsSlice(inner, units, range(len(history))).slice(candidates, ContextBudget(target))
    return "".join(each.content for each in chosen)


A, B, C, D = (item(name, 10) for name in "abcd")


# By score, and with what is needed


def test_what_goes_is_the_worst_not_the_least_dense() -> None:
    """`GreedySlice` would keep the short one."""
    short, long = item("s", 1), item("l", 50)
    assert take([(long, 0.9), (short, 0.1)], 50) == "l"
    assert GreedySlice().slice([ScoredItem(long, 0.9), ScoredItem(short, 0.1)], ContextBudget(50)) == [short]


def test_an_item_brings_what_it_needs() -> None:
    assert take([(A, 0.9), (B, 0.8), (C, 0.7), (D, 0.1)], 30, {A: [D]}) == "abd"


def test_an_item_is_dropped_if_what_it_needs_does_not_fit() -> None:
    large = item("x", 25)
    assert take([(A, 0.9), (B, 0.8), (C, 0.7), (large, 0.1)], 30, {A: [large]}) == "bc"


@pytest.mark.parametrize(
    ("limit", "left", "expected"),
    [
        (150, 150, {0, 1, 2, 3, 4}),
        (149, 149, {4}),
        (99, 99, set()),
        (300, 50, {0, 1, 2, 3, 4}),
        (300, 49, {2, 3, 4}),
        (300, 20, {3, 4}),
        (300, -8, set()),
    ],
)
def test_all_units_stay_if_they_take_a_third_of_the_room_or_else_the_newest_that_take_a_tenth(
    limit: int, left: int, expected: set[int]
) -> None:
    assert never_dropped([4, 3, 2, 1, 0], [10] * 5, [()] * 5, limit, left) == expected


def test_a_unit_that_is_never_dropped_brings_what_it_needs() -> None:
    sizes, ties = [10, 200, 10, 10], [(), (), (0,), (1,)]
    assert never_dropped([3, 2, 1, 0], sizes, ties, 200, 200) == {0, 2}


def test_what_is_needed_may_need_something_else() -> None:
    assert take([(A, 0.9), (D, 0.8), (B, 0.2), (C, 0.1)], 30, {A: [B], B: [C], C: [A]}) == "abc"


def test_what_two_need_is_paid_for_once() -> None:
    assert take([(A, 0.9), (B, 0.8), (C, 0.1)], 30, {A: [C], B: [C]}) == "abc"
    assert take([(A, 0.9), (C, 0.1)], 20, {A: [C, C]}) == "ac"


def test_what_is_needed_and_no_candidate_is_pinned_and_costs_nothing_here() -> None:
    assert take([(A, 0.9), (B, 0.1)], 20, {A: [D]}) == "ab"


def test_without_room_only_what_costs_nothing_is_selected() -> None:
    assert take([(A, 0.9), (item("z", 0), 0.1)], 0) == "z"
    assert take([], 10) == ""


# In one piece


def test_the_first_that_does_not_fit_ends_the_selection() -> None:
    """In contiguous blocks where scores allow: a small old message would stay without what was said around it."""
    large, small = item("x", 15), item("s", 1)
    assert take([(A, 0.9), (B, 0.8), (large, 0.7), (small, 0.6)], 30) == "ab"


def test_a_large_item_does_not_end_the_selection_while_less_than_half_is_used() -> None:
    huge = item("x", 95)
    assert take([(A, 0.9), (huge, 0.8), (B, 0.7), (C, 0.6)], 100) == "abc"
    assert take([(huge, 0.8), (A, 0.7)], 90) == "a"


def test_what_another_slicer_chose_need_not_be_in_one_piece() -> None:
    """Here the choice is the policy's; only what has no room beside what others need goes."""
    needed, small = item("n", 25), item("s", 1)
    scored = [(A, 0.9), (B, 0.8), (C, 0.7), (small, 0.6), (needed, 0.0)]
    assert take(scored, 35, {C: [needed]}, whole=False) == "abs"


# Questions


def test_a_question_goes_with_the_last_of_its_answers() -> None:
    scored = [(A, 0.9), (B, 0.8), (C, 0.7)]
    large = item("x", 25)
    assert take([*scored, (large, 0.1)], 40, {large: [B]}, answered=[B]) == "ac"
    assert take(scored, 40, {A: [B]}, answered=[B]) == "abc"
    assert take(scored, 40) == "abc"


# Documents


def test_documents_get_what_the_history_leaves() -> None:
    hits = [item(name, 10, "Document") for name in "123456"]
    scored = [(A, 0.1), (B, 0.2), *((hit, 0.5) for hit in hits)]
    assert select(scored, 100, [A, B]) == "ab123456"
    assert select(scored, 40, [A, B]) == "ab12"
    assert select(scored, 40, [A]) == "a123"
    assert select(scored, 20, [A, B]) == "ab"


def test_a_document_that_does_not_fit_makes_room_for_a_smaller_one() -> None:
    hits = [item("1", 50, "Document"), item("2", 5, "Document")]
    assert select([(hits[0], 0.9), (hits[1], 0.1)], 30, []) == "2"


def test_a_history_stays_and_quotas_are_for_documents_alone() -> None:
    hits = [item(name, 10, "Document") for name in "123456"]
    scored = [(hit, 0.9) for hit in hits] + [(A, 0.2), (B, 0.1)]
    inner = QuotaSlice([QuotaEntry("Document", cap=20), QuotaEntry("Message", cap=5)])
    assert select(scored, 100, [A, B], inner) == "12ab"


@pytest.mark.parametrize(
    ("quotas", "share"),
    [
        ([], 0.3),
        ([QuotaEntry("document", require=50)], 0.5),
        ([QuotaEntry("Document", cap=20)], 0.2),
        ([QuotaEntry("Document", 20, 40), QuotaEntry("Memory", 25, 30)], 0.45),
        ([QuotaEntry("Memory", 25, 30)], 0.3),
        ([QuotaEntry("Message", require=90)], 0.3),
    ],
)
def test_the_share_of_documents_is_what_quotas_say(quotas: list[QuotaEntry], share: float) -> None:
    assert document_share(QuotaSlice(quotas)) == share


def test_counts_are_no_shares() -> None:
    slicer = CountQuotaSlice([CountQuotaEntry("Document", cap_count=2)])
    assert document_share(slicer) == 0.3
    assert document_share(GreedySlice()) == 0.3


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
    assert select(scored, 100, [A, B, C, D], inner_slicer(inner)) == "abcd125"


def test_shortfalls_and_caps_of_the_inner_slicer_are_passed_on() -> None:
    hit, other = item("1", 10, "Document"), item("2", 10, "Document")
    entries = [CountQuotaEntry("Memory", cap_count=2, require_count=1), CountQuotaEntry("Document", cap_count=1)]
    slicer = DocumentsSlice(CountQuotaSlice(entries), {id(A): 0}, {0})
    scored = [ScoredItem(A, 0.9), ScoredItem(hit, 0.8), ScoredItem(other, 0.7)]
    outcome = slicer.slice_detailed(scored, ContextBudget(100))
    assert [each.content for each in outcome.selected] == ["a", "1"]
    assert [each.kind for each in outcome.shortfalls] == ["Memory"]
    assert [each.content for each, _ in outcome.cap_excluded] == ["2"]


def test_notes_say_why_something_is_left_out_although_there_is_room() -> None:
    """ER-05: the reason alone would mislead."""
    large, small = item("x", 15, hint=0.7), item("s", 1, hint=0.6)
    a, b = item("a", 10, hint=0.9), item("b", 10, hint=0.8)
    units = {id(each): i for i, each in enumerate((a, b, large, small))}
    slicer = DocumentsSlice(None, units, {0, 1})
    report = Pipeline(ReflexiveScorer(), slicer).dry_run([a, b, large, small], ContextBudget(30))
    texts = [event.message for event in report.events if event.message and "Exceeded" in event.message]
    note = "messages it depends on do not fit, or the messages around it were cut"
    assert texts == [
        "BudgetExceeded: 15 tokens requested, 10 available",
        f"BudgetExceeded: 1 tokens requested, 10 available ({note})",
    ]
    hits = [item("1", 10, "Document", hint=0.9), item("2", 10, "Document", hint=0.8)]
    quota = DocumentsSlice(QuotaSlice([QuotaEntry("Document", cap=50)]), {}, ())
    report = Pipeline(ReflexiveScorer(), quota).dry_run(hits, ContextBudget(20))
    assert any("is 10; Document has 10" in (event.message or "") for event in report.events)
