"""Cupel.Testing Vocabulary: the 13 patterns, their messages and their edge cases; decisions TV-01 to TV-14."""

from __future__ import annotations

import itertools
import math
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, get_args

import pytest
from hypothesis import given, strategies as st

import pycupel.testing
from pycupel import (
    ContextBudget,
    ContextItem,
    ContextKind,
    Pipeline,
    ReflexiveScorer,
    SelectionReport,
    UShapedPlacer,
    wire,
)
from pycupel.diagnostics import (
    BudgetExceeded,
    CountCapExceeded,
    CountRequireCandidatesExhausted,
    Deduplicated,
    ExclusionReason,
    Filtered,
    IncludedItem,
    InclusionReason,
    NegativeTokens,
    PinnedOverride,
    QuotaCapExceeded,
    QuotaRequireDisplaced,
    ScoredTooLow,
    UnknownReason,
)
from pycupel.diagnostics.reasons import EXCLUSION_REASONS
from pycupel.errors import InvalidArgumentError, InvalidItemError
from pycupel.testing import SelectionReportAssertionChain, SelectionReportAssertionError, should
from pycupel.testing.chain import ReasonName
from tests.examples import examples
from tests.testing.reports import dropped, kept, report_of, scored

EMPTY = report_of()
COPY = Deduplicated("text")
IMPOSSIBLE = NegativeTokens(-1)

Assertion = Callable[[SelectionReportAssertionChain], SelectionReportAssertionChain]


def passes(report: SelectionReport, assertion: Assertion) -> None:
    chain = report.should()
    assert assertion(chain) is chain


def failure(report: SelectionReport, assertion: Assertion) -> SelectionReportAssertionError:
    with pytest.raises(SelectionReportAssertionError) as caught:
        assertion(report.should())
    return caught.value


def message(report: SelectionReport, assertion: Assertion) -> str:
    return str(failure(report, assertion))


def notes(report: SelectionReport, assertion: Assertion) -> list[str]:
    return getattr(failure(report, assertion), "__notes__", [])


# --- the chain (PD-4)


@pytest.mark.proves("S-TV-01")
def test_a_report_begins_a_chain_that_holds_it() -> None:
    chain = EMPTY.should()
    assert isinstance(chain, SelectionReportAssertionChain)
    assert chain.report is EMPTY
    assert should(EMPTY) == chain


def test_the_chain_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        EMPTY.should().report = scored(0.5)  # type: ignore[misc]


@pytest.mark.proves("S-TV-02", "S-TV-E1")
def test_there_are_the_13_assertions_of_the_chapter_and_extensions() -> None:
    """TV-02, TV-14: the chapter's names in snake_case."""
    assert [name for name in vars(SelectionReportAssertionChain) if not name.startswith("_") and name != "report"] == [
        "include_item_with_kind",
        "include_item_matching",
        "include_exactly_n_items_with_kind",
        "exclude_item_with_reason",
        "exclude_item_matching_with_reason",
        "exclude_item_with_budget_details",
        "have_no_exclusions_for_kind",
        "have_at_least_n_exclusions",
        "excluded_items_are_sorted_by_score_descending",
        "have_budget_utilization_above",
        "have_kind_coverage_count",
        "place_item_at_edge",
        "place_top_n_scored_at_edges",
        "shorten_item_matching",
        "shorten_exactly_n_items",
        "match_snapshot",
        "place_item_first",
        "place_item_last",
    ]


@pytest.mark.proves("S-TV-01")
def test_assertions_are_chained_until_the_first_that_fails() -> None:
    report = report_of([kept("Document", 0.9), kept("Message", 0.4)], [dropped("Message", 0.3)])
    chain = report.should().include_item_with_kind("Document").have_at_least_n_exclusions(1)
    assert chain.have_kind_coverage_count(2).report is report
    with pytest.raises(SelectionReportAssertionError, match=r"HaveKindCoverageCount\(3\)"):
        chain.have_kind_coverage_count(3).include_item_with_kind("Memory")


@pytest.mark.proves("S-TV-07")
def test_assertions_that_pass_change_nothing() -> None:
    """PD-4: no side effects on success; each returns the very chain."""
    report = report_of([kept("Document", 0.9, tokens=30)], [dropped("Message", 0.3, BudgetExceeded(90, 30))])
    before = (wire.dumps(report), list(map(id, (report.included, report.excluded))))
    chain = report.should()
    passing: list[Assertion] = [
        lambda c: c.include_item_with_kind("Document"),
        lambda c: c.include_item_matching(bool),
        lambda c: c.include_exactly_n_items_with_kind("Document", 1),
        lambda c: c.exclude_item_with_reason(BudgetExceeded),
        lambda c: c.exclude_item_matching_with_reason(bool, BudgetExceeded),
        lambda c: c.exclude_item_with_budget_details(bool, 90, 30),
        lambda c: c.have_no_exclusions_for_kind("Document"),
        lambda c: c.have_at_least_n_exclusions(1),
        lambda c: c.excluded_items_are_sorted_by_score_descending(),
        lambda c: c.have_budget_utilization_above(0.3, 100),
        lambda c: c.have_kind_coverage_count(1),
        lambda c: c.place_item_at_edge(bool),
        lambda c: c.place_top_n_scored_at_edges(1),
    ]
    for assertion in passing:
        assert assertion(chain) is chain
    assert chain == report.should()
    assert (wire.dumps(report), list(map(id, (report.included, report.excluded)))) == before


FAILING: list[Assertion] = [
    lambda c: c.include_item_with_kind("Memory"),
    lambda c: c.include_item_matching(lambda _: False),
    lambda c: c.include_exactly_n_items_with_kind("Document", 7),
    lambda c: c.exclude_item_with_reason(Filtered),
    lambda c: c.exclude_item_matching_with_reason(bool, Filtered),
    lambda c: c.exclude_item_with_budget_details(bool, 91, 31),
    lambda c: c.have_no_exclusions_for_kind("Message"),
    lambda c: c.have_at_least_n_exclusions(7),
    lambda c: c.excluded_items_are_sorted_by_score_descending(),
    lambda c: c.have_budget_utilization_above(0.9, 100),
    lambda c: c.have_kind_coverage_count(7),
    lambda c: c.place_item_at_edge(lambda _: False),
    lambda c: c.place_top_n_scored_at_edges(7),
]


@pytest.mark.proves("S-TV-08")
@pytest.mark.parametrize("assertion", FAILING)
def test_messages_name_the_assertion_and_nothing_of_the_implementation(assertion: Assertion) -> None:
    """Error message contract (D032): the name as a label; no class, module or method of ours."""
    report = report_of([kept("Document")], [dropped("Message", 0.1), dropped("Message", 0.2)])
    error = failure(report, assertion)
    assert re.match(rf"{error.assertion}(\(.*?\))? failed: ", str(error))
    assert not re.search(r"pycupel|\b(IncludedItem|ExcludedItem|SelectionReport\w*|tuple|lambda|_\w+)\b|<", str(error))


def test_only_a_report_has_a_chain() -> None:
    with pytest.raises(TypeError, match="report must be a SelectionReport, not 3"):
        should(3)  # type: ignore[arg-type]


# --- the error (PD-4, TV-09)


@pytest.mark.proves("S-TV-E0")
def test_a_failure_is_an_assertion_error_of_its_own_type() -> None:
    """TV-09."""
    assert SelectionReportAssertionError.__mro__[1] is AssertionError
    assert pycupel.testing.SelectionReportAssertionException is SelectionReportAssertionError


@pytest.mark.proves("S-TV-08")
def test_a_failure_says_which_assertion_failed_what_was_expected_and_what_was_found() -> None:
    report = report_of([kept("Message")])
    error = failure(report, lambda chain: chain.have_kind_coverage_count(3))
    assert (error.assertion, error.expected, error.actual) == ("HaveKindCoverageCount", 3, 1)
    assert error.report is report


@pytest.mark.proves("S-TV-E0")
def test_a_failure_can_be_pickled() -> None:
    """So that a process pool can hand it on."""
    report = Pipeline(ReflexiveScorer()).dry_run([ContextItem("a", 5, metadata={"b": 1})], ContextBudget(9))
    error = failure(report, lambda chain: chain.include_exactly_n_items_with_kind("Message", 3))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is SelectionReportAssertionError
    assert str(again) == str(error)
    assert (again.assertion, again.expected, again.actual) == ("IncludeExactlyNItemsWithKind", 3, 1)
    assert again.report == report
    assert again.__notes__ == error.__notes__
    assert str(SelectionReportAssertionError("by hand")) == "by hand"


@pytest.mark.parametrize(
    ("assertion", "expected", "actual"),
    [
        (lambda c: c.include_item_with_kind("Memory"), ContextKind("Memory"), (ContextKind("Message"),)),
        (lambda c: c.include_item_matching(lambda _: False), 1, 0),
        (lambda c: c.include_exactly_n_items_with_kind("Message", 3), 3, 2),
        (lambda c: c.exclude_item_with_reason(Filtered), "Filtered", ("BudgetExceeded",)),
        (lambda c: c.exclude_item_matching_with_reason(bool, Filtered), "Filtered", ("BudgetExceeded",)),
        (lambda c: c.exclude_item_with_budget_details(bool, 1, 2), BudgetExceeded(1, 2), BudgetExceeded(90, 30)),
        (lambda c: c.exclude_item_with_budget_details(lambda _: False, 1, 2), BudgetExceeded(1, 2), None),
        (lambda c: c.have_no_exclusions_for_kind("Message"), 0, 2),
        (lambda c: c.excluded_items_are_sorted_by_score_descending(), "non-increasing scores", (0.1, 0.2)),
        (lambda c: c.have_budget_utilization_above(0.9, ContextBudget(100)), 0.9, 0.2),
        (lambda c: c.place_item_at_edge(lambda _: False), (0, 1), ()),
        (lambda c: c.place_top_n_scored_at_edges(3), (0, 1), (0, 1)),
    ],
)
def test_expected_and_actual_are_in_the_terms_of_the_assertion(
    assertion: Assertion, expected: object, actual: object
) -> None:
    report = report_of([kept(), kept()], [dropped(score=0.1), dropped(score=0.2)])
    error = failure(report, assertion)
    assert (error.expected, error.actual) == (expected, actual)


# --- 1 IncludeItemWithKind


@pytest.mark.proves("S-TV-01", "S-TV-10")
def test_one_included_item_of_the_kind_is_enough() -> None:
    passes(report_of([kept("Message"), kept("Document")]), lambda c: c.include_item_with_kind("Document"))
    passes(report_of([kept("Document")]), lambda c: c.include_item_with_kind(ContextKind("DOCUMENT")))


@pytest.mark.proves("S-TV-10", "S-TV-12")
def test_excluded_items_of_the_kind_do_not_count_as_included() -> None:
    report = report_of([kept("Message")], [dropped("Document")])
    assert message(report, lambda c: c.include_item_with_kind("Document")) == (
        "IncludeItemWithKind(Document) failed: Included contained 0 items with Kind=Document. "
        "Included had 1 items with kinds: [Message]."
    )


@pytest.mark.proves("S-TV-12")
def test_kinds_are_listed_once_in_order_of_first_appearance() -> None:
    """TV-03: distinct by the equality of kinds, in the first spelling."""
    report = report_of([kept("ToolOutput"), kept("Message"), kept("TOOLOUTPUT"), kept("Document"), kept("message")])
    assert message(report, lambda c: c.include_item_with_kind("memory")) == (
        "IncludeItemWithKind(memory) failed: Included contained 0 items with Kind=memory. "
        "Included had 5 items with kinds: [ToolOutput, Message, Document]."
    )


@pytest.mark.proves("S-TV-11")
def test_nothing_included_has_no_kinds() -> None:
    assert message(EMPTY, lambda c: c.include_item_with_kind(ContextKind.MEMORY)) == (
        "IncludeItemWithKind(Memory) failed: Included contained 0 items with Kind=Memory. "
        "Included had 0 items with kinds: []."
    )


@pytest.mark.proves("S-TV-13")
def test_any_is_a_kind_like_others() -> None:
    """TV-08."""
    passes(report_of([kept("Any")]), lambda c: c.include_item_with_kind("Any"))
    failure(report_of([kept("Message")]), lambda c: c.include_item_with_kind("Any"))


# --- 2 IncludeItemMatching


def test_one_match_is_enough() -> None:
    passes(scored(0.1, 0.9), lambda c: c.include_item_matching(lambda included: included.score > 0.8))


@pytest.mark.proves("S-TV-04")
def test_the_predicate_sees_item_score_and_reason() -> None:
    """PD-1."""
    seen: list[IncludedItem] = []
    report = report_of([kept("Document", 0.25, "a", 3, InclusionReason.PINNED)])
    failure(report, lambda c: c.include_item_matching(seen.append))
    assert seen == [IncludedItem(ContextItem("a", 3, kind="Document"), 0.25, InclusionReason.PINNED)]


@pytest.mark.proves("S-TV-20")
def test_no_match_at_all() -> None:
    assert message(scored(0.1, 0.9), lambda c: c.include_item_matching(lambda _: False)).splitlines()[0] == (
        "IncludeItemMatching failed: no item in Included matched the predicate. Included had 2 items."
    )


@pytest.mark.proves("S-TV-20")
def test_nothing_to_match() -> None:
    assert message(EMPTY, lambda c: c.include_item_matching(lambda _: True)) == (
        "IncludeItemMatching failed: no item in Included matched the predicate. Included had 0 items."
    )
    assert notes(EMPTY, lambda c: c.include_item_matching(lambda _: True)) == []


@pytest.mark.proves("S-TV-21")
def test_up_to_five_items_are_shown_below_the_message() -> None:
    """With kind, score and reason, and appended to the message, as the chapter asks; there is no note as well."""
    report = report_of([kept("Message", i / 8, f"text {i}\nand more") for i in range(7)])
    assert notes(report, lambda c: c.include_item_matching(lambda _: False)) == []
    assert message(report, lambda c: c.include_item_matching(lambda _: False)) == (
        "IncludeItemMatching failed: no item in Included matched the predicate. Included had 7 items.\n"
        "Included:\n"
        "  idx  kind     tokens  score  reason  content\n"
        "    0  Message      10      0  Scored  text 0 and more\n"
        "    1  Message      10  0.125  Scored  text 1 and more\n"
        "    2  Message      10   0.25  Scored  text 2 and more\n"
        "    3  Message      10  0.375  Scored  text 3 and more\n"
        "    4  Message      10    0.5  Scored  text 4 and more\n"
        "  ... and 2 more"
    )


def test_what_is_shown_is_printable_and_fits_a_terminal() -> None:
    """Beside the eight columns by which pytest indents it."""
    report = report_of(
        [kept("Übergroße-Sorte" * 9, 1e300, "ein sehr \x1b langer Text " * 99, 10**99, "A reason from elsewhere" * 9)],
        [dropped("Message", -0.1234567, UnknownReason("A reason from elsewhere, which has no end"))],
    )
    shown = [
        *notes(report, lambda c: c.exclude_item_with_reason("Filtered")),
        message(report, lambda c: c.include_item_matching(lambda _: False)).partition("\n")[2],
    ]
    assert len(shown) == 2
    for note in shown:
        assert note.replace("\n", "").isprintable()
        assert max(map(len, note.splitlines())) <= 72


def test_contents_and_names_are_shown_as_they_are() -> None:
    """Every character beyond ASCII was a question mark."""
    report = report_of([kept("Auskunft für", 0.5, "\u8fd4\u91d1 \u00fcber", 7)])
    shown = message(report, lambda c: c.include_item_matching(lambda _: False))
    assert shown.splitlines()[2:] == [
        "  idx  kind          tokens  score  reason  content",
        "    0  Auskunft für       7    0.5  Scored  \u8fd4\u91d1 \u00fcber",
    ]


# --- 3 IncludeExactlyNItemsWithKind


@pytest.mark.proves("S-TV-30")
def test_exactly_n_items_of_the_kind() -> None:
    report = report_of([kept("Document"), kept("document"), kept("Message")])
    passes(report, lambda c: c.include_exactly_n_items_with_kind("DOCUMENT", 2))
    passes(report, lambda c: c.include_exactly_n_items_with_kind("Memory", 0))
    passes(EMPTY, lambda c: c.include_exactly_n_items_with_kind("Memory", 0))


@pytest.mark.proves("S-TV-30", "S-TV-31")
@pytest.mark.parametrize("n", [0, 1, 3])
def test_another_number_of_items_of_the_kind(n: int) -> None:
    report = report_of([kept("Document"), kept("document"), kept("Message")])
    assert message(report, lambda c: c.include_exactly_n_items_with_kind("Document", n)) == (
        f"IncludeExactlyNItemsWithKind(Document, {n}) failed: expected {n} items with Kind=Document in Included, "
        "but found 2. Included had 3 items total."
    )


def test_n_items_of_a_kind_in_an_empty_selection() -> None:
    assert message(EMPTY, lambda c: c.include_exactly_n_items_with_kind("Document", 1)) == (
        "IncludeExactlyNItemsWithKind(Document, 1) failed: expected 1 items with Kind=Document in Included, "
        "but found 0. Included had 0 items total."
    )


def test_absent_from_included_is_not_absent_from_excluded() -> None:
    """The chapter's distinction between patterns 3 and 7."""
    report = report_of([kept("Message")], [dropped("Document")])
    passes(report, lambda c: c.include_exactly_n_items_with_kind("Document", 0).have_no_exclusions_for_kind("Message"))
    failure(report, lambda c: c.have_no_exclusions_for_kind("Document"))
    failure(report, lambda c: c.include_exactly_n_items_with_kind("Message", 0))


# --- 4 ExcludeItemWithReason


@pytest.mark.proves("S-TV-40")
@pytest.mark.parametrize(
    "reason", [BudgetExceeded, "BudgetExceeded", "budget_exceeded", "BUDGET-EXCEEDED", BudgetExceeded(1, 2)]
)
def test_a_reason_is_a_class_a_name_or_an_instance(reason: Any) -> None:
    """TV-13: only the variant is compared."""
    report = report_of(excluded=[dropped(reason=COPY), dropped(reason=BudgetExceeded(90, 30))])
    passes(report, lambda c: c.exclude_item_with_reason(reason))
    assert message(report_of(excluded=[dropped(reason=COPY)]), lambda c: c.exclude_item_with_reason(reason)) == (
        "ExcludeItemWithReason(BudgetExceeded) failed: no excluded item had reason BudgetExceeded. "
        "Excluded had 1 items with reasons: [Deduplicated]."
    )


@pytest.mark.proves("S-TV-41")
@pytest.mark.parametrize(
    "reason",
    [
        BudgetExceeded(1, 2),
        ScoredTooLow(0.1, 0.2),
        Deduplicated("a"),
        QuotaCapExceeded("a", 1, 2),
        QuotaRequireDisplaced("a"),
        NegativeTokens(-1),
        PinnedOverride("a"),
        Filtered("a"),
        CountCapExceeded("a", 1, 1),
        CountRequireCandidatesExhausted("a"),
    ],
    ids=lambda reason: type(reason).__name__,
)
def test_every_variant_can_be_asked_for_reserved_ones_included(reason: ExclusionReason) -> None:
    report = report_of(excluded=[dropped(reason=reason)])
    for way in (type(reason), type(reason).__name__, reason):
        passes(report, lambda c, way=way: c.exclude_item_with_reason(way))  # type: ignore[misc]
        failure(EMPTY, lambda c, way=way: c.exclude_item_with_reason(way))  # type: ignore[misc]


@pytest.mark.proves("S-TV-42")
def test_reasons_are_listed_once_in_order_of_first_appearance() -> None:
    """TV-03."""
    report = report_of(excluded=[dropped(reason=r) for r in (COPY, IMPOSSIBLE, COPY, UnknownReason("Rusty"))])
    assert message(report, lambda c: c.exclude_item_with_reason(Filtered)) == (
        "ExcludeItemWithReason(Filtered) failed: no excluded item had reason Filtered. "
        "Excluded had 4 items with reasons: [Deduplicated, NegativeTokens, Rusty]."
    )


@pytest.mark.proves("S-TV-42")
def test_nothing_excluded_has_no_reasons() -> None:
    assert message(scored(0.5), lambda c: c.exclude_item_with_reason("Filtered")) == (
        "ExcludeItemWithReason(Filtered) failed: no excluded item had reason Filtered. "
        "Excluded had 0 items with reasons: []."
    )


def test_an_unknown_reason_is_asked_for_by_its_name_or_as_any() -> None:
    report = report_of(excluded=[dropped(reason=UnknownReason("Rusty", {"depth": 3}))])
    passes(report, lambda c: c.exclude_item_with_reason(UnknownReason("Rusty")))
    passes(report, lambda c: c.exclude_item_with_reason(UnknownReason))
    assert message(report, lambda c: c.exclude_item_with_reason(UnknownReason("Dusty"))) == (
        "ExcludeItemWithReason(Dusty) failed: no excluded item had reason Dusty. "
        "Excluded had 1 items with reasons: [Rusty]."
    )


class TooBoring(ExclusionReason, NamedTuple("_", [("degree", int)])):
    __slots__ = ()


def test_a_reason_of_ones_own_is_asked_for_by_class_or_instance() -> None:
    report = report_of(excluded=[dropped(reason=TooBoring(3))])
    passes(report, lambda c: c.exclude_item_with_reason(TooBoring).exclude_item_with_reason(TooBoring(9)))
    assert "[TooBoring]" in message(report, lambda c: c.exclude_item_with_reason(Filtered))


# --- 5 ExcludeItemMatchingWithReason


@pytest.mark.proves("S-TV-51")
def test_one_item_has_to_match_both_ways() -> None:
    report = report_of(excluded=[dropped("Message", reason=COPY), dropped("Document", reason=IMPOSSIBLE)])
    passes(report, lambda c: c.exclude_item_matching_with_reason(lambda item: item.kind == "Document", IMPOSSIBLE))
    assert message(
        report, lambda c: c.exclude_item_matching_with_reason(lambda item: item.kind == "Document", COPY)
    ) == (
        "ExcludeItemMatchingWithReason(reason=Deduplicated) failed: predicate matched 1 excluded item(s) "
        "but none had reason Deduplicated. Matched items had reasons: [NegativeTokens]."
    )


@pytest.mark.proves("S-TV-50")
def test_the_predicate_about_excluded_items_sees_the_item() -> None:
    """TV-01."""
    seen: list[ContextItem] = []
    report = report_of(excluded=[dropped("Document", content="a", tokens=4)])
    failure(report, lambda c: c.exclude_item_matching_with_reason(seen.append, COPY))
    assert seen == [ContextItem("a", 4, kind="Document")]


@pytest.mark.parametrize("report", [EMPTY, report_of(excluded=[dropped()])], ids=["nothing excluded", "no match"])
def test_a_predicate_that_matches_nothing_is_told_apart(report: SelectionReport) -> None:
    assert message(report, lambda c: c.exclude_item_matching_with_reason(lambda _: False, BudgetExceeded)) == (
        "ExcludeItemMatchingWithReason(reason=BudgetExceeded) failed: predicate matched 0 excluded item(s) "
        "but none had reason BudgetExceeded. Matched items had reasons: []."
    )


@pytest.mark.proves("S-TV-51")
def test_reasons_of_matched_items_are_listed_once() -> None:
    report = report_of(excluded=[dropped(reason=r) for r in (IMPOSSIBLE, COPY, IMPOSSIBLE)] + [dropped("Memory")])
    assert message(
        report, lambda c: c.exclude_item_matching_with_reason(lambda item: item.kind == "Message", "Filtered")
    ) == (
        "ExcludeItemMatchingWithReason(reason=Filtered) failed: predicate matched 3 excluded item(s) "
        "but none had reason Filtered. Matched items had reasons: [NegativeTokens, Deduplicated]."
    )


def test_the_matched_items_are_shown_with_their_indices_or_else_all() -> None:
    report = report_of(excluded=[dropped("Message", content="a"), dropped("Document", content="b")])
    (matched,) = notes(
        report, lambda c: c.exclude_item_matching_with_reason(lambda item: item.kind == "Document", COPY)
    )
    assert matched == (
        "Excluded, and matching:\n"
        "  idx  kind      tokens  score  reason          content\n"
        "    1  Document      90    0.5  BudgetExceeded  b"
    )
    (everything,) = notes(report, lambda c: c.exclude_item_matching_with_reason(lambda _: False, COPY))
    assert everything.splitlines()[0] == "Excluded:"
    assert len(everything.splitlines()) == 4


# --- 6 ExcludeItemWithBudgetDetails

LARGE = report_of(
    excluded=[
        dropped("Document", reason=COPY, content="copy"),
        dropped("Document", reason=BudgetExceeded(90, 30), content="first"),
        dropped("Document", reason=BudgetExceeded(70, 30), content="second"),
    ]
)


@pytest.mark.proves("S-TV-60")
def test_the_numbers_may_be_those_of_any_match() -> None:
    """TV-07: the second match has them."""
    passes(LARGE, lambda c: c.exclude_item_with_budget_details(lambda item: item.kind == "Document", 70, 30))
    passes(LARGE, lambda c: c.exclude_item_with_budget_details(lambda item: item.content == "first", 90, 30))


@pytest.mark.proves("S-TV-60", "S-TV-61")
@pytest.mark.parametrize(("item_tokens", "available_tokens"), [(90, 31), (91, 30), (30, 90), (70, 31)])
def test_other_numbers_report_those_of_the_first_match(item_tokens: int, available_tokens: int) -> None:
    """TV-07."""
    assert message(
        LARGE, lambda c: c.exclude_item_with_budget_details(lambda _: True, item_tokens, available_tokens)
    ) == (
        f"ExcludeItemWithBudgetDetails failed: expected BudgetExceeded with item_tokens={item_tokens}, "
        f"available_tokens={available_tokens}, but found item_tokens=90, available_tokens=30."
    )


@pytest.mark.proves("S-TV-62")
def test_a_match_with_another_reason_shows_that_reason() -> None:
    assert message(
        LARGE, lambda c: c.exclude_item_with_budget_details(lambda item: item.content == "copy", 90, 30)
    ) == (
        "ExcludeItemWithBudgetDetails failed: expected BudgetExceeded with item_tokens=90, available_tokens=30, "
        "but no matching item had reason BudgetExceeded.\n"
        "Matching items had reasons: [Deduplicated]."
    )


@pytest.mark.proves("S-TV-62")
@pytest.mark.parametrize("report", [EMPTY, LARGE], ids=["nothing excluded", "no match"])
def test_no_match_with_budget_details(report: SelectionReport) -> None:
    assert message(report, lambda c: c.exclude_item_with_budget_details(lambda _: False, 1, -2)) == (
        "ExcludeItemWithBudgetDetails failed: expected BudgetExceeded with item_tokens=1, available_tokens=-2, "
        "but no matching item had reason BudgetExceeded.\n"
        "No excluded item matched."
    )


# --- 7 HaveNoExclusionsForKind


@pytest.mark.proves("S-TV-70")
def test_no_exclusions_for_a_kind() -> None:
    report = report_of([kept("Document")], [dropped("Message")])
    passes(report, lambda c: c.have_no_exclusions_for_kind("Document"))
    passes(EMPTY, lambda c: c.have_no_exclusions_for_kind("Document"))


@pytest.mark.proves("S-TV-70", "S-TV-71")
def test_the_first_exclusion_of_the_kind_is_shown() -> None:
    """TV-04: four decimals."""
    report = report_of(
        excluded=[
            dropped("Message", 0.9),
            dropped("document", 0.56785, IMPOSSIBLE),
            dropped("Document", 0.1, COPY),
        ]
    )
    assert message(report, lambda c: c.have_no_exclusions_for_kind("Document")) == (
        "HaveNoExclusionsForKind(Document) failed: found 2 excluded item(s) with Kind=Document. "
        f"First: score={0.56785:.4f}, reason=NegativeTokens."
    )
    (note,) = notes(report, lambda c: c.have_no_exclusions_for_kind("Document"))
    assert [line.split()[0] for line in note.splitlines()[2:]] == ["1", "2"]


# --- 8 HaveAtLeastNExclusions


@pytest.mark.proves("S-TV-80")
@pytest.mark.parametrize("n", [0, 1, 2])
def test_at_least_n_exclusions(n: int) -> None:
    passes(report_of(excluded=[dropped(), dropped()]), lambda c: c.have_at_least_n_exclusions(n))


@pytest.mark.proves("S-TV-80")
def test_no_exclusions_are_at_least_zero() -> None:
    passes(EMPTY, lambda c: c.have_at_least_n_exclusions(0))


@pytest.mark.proves("S-TV-81")
def test_fewer_than_n_exclusions() -> None:
    assert message(report_of(excluded=[dropped()]), lambda c: c.have_at_least_n_exclusions(2)) == (
        "HaveAtLeastNExclusions(2) failed: expected at least 2 excluded items, but Excluded had 1."
    )
    assert message(EMPTY, lambda c: c.have_at_least_n_exclusions(1)) == (
        "HaveAtLeastNExclusions(1) failed: expected at least 1 excluded items, but Excluded had 0."
    )


# --- 9 ExcludedItemsAreSortedByScoreDescending


def excluded_with(*scores: float) -> SelectionReport:
    return report_of(excluded=[dropped(score=score) for score in scores])


@pytest.mark.proves("S-TV-90")
@pytest.mark.parametrize("scores", [(), (0.5,), (0.9, 0.5, 0.5, -1.0), (math.inf, 0.0, -0.0, math.nan, math.nan)])
def test_sorted_exclusions(scores: tuple[float, ...]) -> None:
    """SC-03, SR-07: NaN is below every number, so that it comes last."""
    passes(excluded_with(*scores), lambda c: c.excluded_items_are_sorted_by_score_descending())


@pytest.mark.proves("S-TV-90", "S-TV-91")
def test_the_first_pair_out_of_order_is_reported() -> None:
    """TV-04: six decimals."""
    report = excluded_with(0.9, 0.25, 0.5, 0.1, 0.9)
    assert message(report, lambda c: c.excluded_items_are_sorted_by_score_descending()) == (
        "ExcludedItemsAreSortedByScoreDescending failed: item at index 2 (score=0.500000) is higher than item at "
        "index 1 (score=0.250000). Expected non-increasing scores."
    )


def test_a_number_after_nan_is_out_of_order() -> None:
    assert message(excluded_with(math.nan, 0.5), lambda c: c.excluded_items_are_sorted_by_score_descending()) == (
        "ExcludedItemsAreSortedByScoreDescending failed: item at index 1 (score=0.500000) is higher than item at "
        "index 0 (score=nan). Expected non-increasing scores."
    )


# --- 10 HaveBudgetUtilizationAbove

HALF = report_of([kept(tokens=30), kept(tokens=20)], [dropped(tokens=999)])


@pytest.mark.proves("S-TV-05", "S-TV-06", "S-TV-A0")
@pytest.mark.parametrize("threshold", [-1.0, 0, 0.25, 0.5])
def test_utilization_above_or_at_the_threshold(threshold: float) -> None:
    """TV-11; PD-2: the share of `max_tokens`, not of the target."""
    passes(HALF, lambda c: c.have_budget_utilization_above(threshold, ContextBudget(100, target_tokens=60)))


@pytest.mark.proves("S-TV-05", "S-TV-A1")
def test_utilization_below_the_threshold() -> None:
    """TV-04: the threshold as Python prints the float."""
    assert message(HALF, lambda c: c.have_budget_utilization_above(0.8, ContextBudget(150, target_tokens=60))) == (
        "HaveBudgetUtilizationAbove(0.8) failed: computed utilization was 0.333333 "
        "(includedTokens=50, budget.MaxTokens=150)."
    )
    assert message(HALF, lambda c: c.have_budget_utilization_above(1, ContextBudget(100))) == (
        "HaveBudgetUtilizationAbove(1.0) failed: computed utilization was 0.500000 "
        "(includedTokens=50, budget.MaxTokens=100)."
    )


@pytest.mark.proves("S-TV-06")
def test_the_threshold_has_no_tolerance() -> None:
    """PD-3."""
    failure(HALF, lambda c: c.have_budget_utilization_above(math.nextafter(0.5, 1), ContextBudget(100)))


@pytest.mark.proves("S-TV-A0")
def test_an_empty_selection_uses_nothing() -> None:
    passes(EMPTY, lambda c: c.have_budget_utilization_above(0.0, ContextBudget(100)))
    failure(EMPTY, lambda c: c.have_budget_utilization_above(0.001, ContextBudget(100)))


@pytest.mark.proves("S-TV-A0")
def test_more_than_everything_can_be_used() -> None:
    passes(HALF, lambda c: c.have_budget_utilization_above(1.25, ContextBudget(40)))


@pytest.mark.proves("S-TV-A2")
def test_an_empty_window_is_used_infinitely_or_not_at_all() -> None:
    """TV-10."""
    passes(HALF, lambda c: c.have_budget_utilization_above(1e300, ContextBudget(0)))
    assert message(EMPTY, lambda c: c.have_budget_utilization_above(0.1, ContextBudget(0))) == (
        "HaveBudgetUtilizationAbove(0.1) failed: computed utilization was 0.000000 "
        "(includedTokens=0, budget.MaxTokens=0)."
    )


def test_the_budget_may_be_a_number_of_tokens() -> None:
    passes(HALF, lambda c: c.have_budget_utilization_above(0.5, 100))
    assert "budget.MaxTokens=101" in message(HALF, lambda c: c.have_budget_utilization_above(0.5, 101))


def test_the_budget_may_be_the_reports_own() -> None:
    """An extension: a report of a run knows it."""
    report = report_of([kept(tokens=50)], budget=ContextBudget(100))
    passes(report, lambda c: c.have_budget_utilization_above(0.5))
    assert "budget.MaxTokens=100" in message(report, lambda c: c.have_budget_utilization_above(0.6))
    with pytest.raises(InvalidArgumentError, match="the report has no budget; pass one"):
        HALF.should().have_budget_utilization_above(0.5)


# --- 11 HaveKindCoverageCount


@pytest.mark.proves("S-TV-B0")
@pytest.mark.parametrize("n", [0, 1, 2])
def test_at_least_n_kinds(n: int) -> None:
    report = report_of([kept("Message"), kept("Document"), kept("MESSAGE")], [dropped("Memory")])
    passes(report, lambda c: c.have_kind_coverage_count(n))


@pytest.mark.proves("S-TV-B1")
def test_fewer_than_n_kinds() -> None:
    report = report_of([kept("Message"), kept("Document"), kept("MESSAGE")], [dropped("Memory")])
    assert message(report, lambda c: c.have_kind_coverage_count(3)) == (
        "HaveKindCoverageCount(3) failed: expected at least 3 distinct ContextKind values in Included, "
        "but found 2: [Message, Document]."
    )


@pytest.mark.proves("S-TV-B0")
def test_an_empty_selection_covers_nothing() -> None:
    passes(EMPTY, lambda c: c.have_kind_coverage_count(0))
    assert message(EMPTY, lambda c: c.have_kind_coverage_count(1)) == (
        "HaveKindCoverageCount(1) failed: expected at least 1 distinct ContextKind values in Included, but found 0: []."
    )


# --- 12 PlaceItemAtEdge

FOUR = report_of([kept("Message", 0.4), kept("Document", 0.9), kept("Message", 0.2), kept("Memory", 0.9)])


def of_kind(kind: str) -> Callable[[IncludedItem], bool]:
    return lambda included: included.item.kind == kind


@pytest.mark.proves("S-TV-C0")
@pytest.mark.parametrize("kind", ["Message", "Memory"])
def test_an_item_at_either_edge(kind: str) -> None:
    passes(FOUR, lambda c: c.place_item_at_edge(of_kind(kind)))


def test_the_match_at_an_edge_need_not_be_the_first_match() -> None:
    """TV-05: the first item with that score is inside, the second is last."""
    passes(FOUR, lambda c: c.place_item_at_edge(lambda included: included.score == 0.9))


@pytest.mark.proves("S-TV-C0")
def test_a_single_item_is_at_both_edges() -> None:
    passes(scored(0.5), lambda c: c.place_item_at_edge(lambda _: True))


@pytest.mark.proves("S-TV-C0", "S-TV-C1")
def test_an_item_inside_is_not_at_an_edge_whatever_its_score() -> None:
    """Position is the criterion: the last item has the same score."""
    assert message(FOUR, lambda c: c.place_item_at_edge(of_kind("Document"))) == (
        "PlaceItemAtEdge failed: item matching predicate was at index 1 (not at edge). "
        "Edge positions: 0 and 3. Included had 4 items."
    )
    (note,) = notes(FOUR, lambda c: c.place_item_at_edge(of_kind("Document")))
    assert [line.split()[:2] for line in note.splitlines()[2:]] == [["0", "Message"], ["3", "Memory"]]


def test_the_index_is_that_of_the_first_match() -> None:
    report = report_of([kept("Message"), kept("Document"), kept("Document"), kept("Message")])
    assert failure(report, lambda c: c.place_item_at_edge(of_kind("Document"))).actual == (1, 2)
    assert "was at index 1 (" in message(report, lambda c: c.place_item_at_edge(of_kind("Document")))


@pytest.mark.proves("S-TV-C2")
@pytest.mark.parametrize("report", [EMPTY, FOUR], ids=["nothing included", "no match"])
def test_no_item_to_be_at_an_edge(report: SelectionReport) -> None:
    assert message(report, lambda c: c.place_item_at_edge(lambda _: False)) == (
        "PlaceItemAtEdge failed: no item in Included matched the predicate."
    )


def test_an_empty_selection_has_no_edges() -> None:
    assert failure(EMPTY, lambda c: c.place_item_at_edge(lambda _: True)).expected == ()


# --- 13 PlaceTopNScoredAtEdges


@pytest.mark.proves("S-TV-D0", "S-TV-D4")
@pytest.mark.parametrize(
    ("scores", "n"),
    [
        ((), 0),
        ((0.5,), 0),
        ((0.5,), 1),
        ((0.1, 0.9), 0),
        ((0.9, 0.1, 0.2, 0.8), 2),
        ((0.8, 0.1, 0.2, 0.9), 2),
        ((0.9, 0.7, 0.1, 0.2, 0.6, 0.8), 3),
        ((0.3, 0.9, 0.6), 3),
    ],
)
def test_the_top_scores_are_at_the_edges(scores: tuple[float, ...], n: int) -> None:
    """Steps 1 to 3: as a set, so that with n = count everything is at an edge (TV-06)."""
    passes(scored(*scores), lambda c: c.place_top_n_scored_at_edges(n))


@pytest.mark.proves("S-TV-D1")
@pytest.mark.parametrize(
    ("scores", "n"),
    [
        ((0.5, 0.5, 0.5, 0.5), 2),
        ((0.9, 0.5, 0.5), 2),
        ((0.5, 0.5, 0.9), 2),
        ((0.5, 0.9, 0.1, 0.5, 0.9), 3),
        ((math.nan, math.nan, math.nan), 1),
    ],
)
def test_ties_fall_either_way(scores: tuple[float, ...], n: int) -> None:
    """TV-06: whichever of the items with the n-th score is at the edge."""
    passes(scored(*scores), lambda c: c.place_top_n_scored_at_edges(n))


def test_a_tie_does_not_excuse_a_lower_score_at_an_edge() -> None:
    """TV-06: the second edge holds less than the second score, 0.5, which two items inside have."""
    assert message(scored(0.9, 0.5, 0.5, 0.1), lambda c: c.place_top_n_scored_at_edges(2)) == (
        "PlaceTopNScoredAtEdges(2) failed: 1 of the top-2 scored items were not at expected edge positions. "
        "Top-2 items (by score): [(kind=Message, score=0.900000, idx=0), (kind=Message, score=0.500000, idx=1)]. "
        "Expected edge positions: [0, 3]."
    )


@pytest.mark.proves("S-TV-D3")
def test_the_best_inside_is_not_at_an_edge() -> None:
    report = report_of([kept("Message", 0.2), kept("Document", 0.9), kept("Memory", 0.7), kept("Message", 0.1)])
    assert message(report, lambda c: c.place_top_n_scored_at_edges(2)) == (
        "PlaceTopNScoredAtEdges(2) failed: 2 of the top-2 scored items were not at expected edge positions. "
        "Top-2 items (by score): [(kind=Document, score=0.900000, idx=1), (kind=Memory, score=0.700000, idx=2)]. "
        "Expected edge positions: [0, 3]."
    )


@pytest.mark.proves("S-TV-D0")
def test_edges_are_counted_from_both_ends() -> None:
    """The chapter's example: 0, 5, 1, 4 for n=4 with count=6."""
    error = failure(scored(0.1, 0.2, 0.9, 0.8, 0.7, 0.6), lambda c: c.place_top_n_scored_at_edges(4))
    assert str(error).endswith("Expected edge positions: [0, 5, 1, 4].")
    assert error.expected == (0, 5, 1, 4)


def test_nan_is_below_every_number() -> None:
    """SC-03."""
    passes(scored(-math.inf, math.nan, 0.0), lambda c: c.place_top_n_scored_at_edges(2))
    failure(scored(math.nan, 0.1), lambda c: c.place_top_n_scored_at_edges(1))


@pytest.mark.proves("S-TV-D2")
def test_more_than_there_are_cannot_be_at_edges() -> None:
    """TV-06: the numbers are told."""
    assert message(scored(0.1, 0.9), lambda c: c.place_top_n_scored_at_edges(3)) == (
        "PlaceTopNScoredAtEdges(3) failed: 1 of the top-3 scored items were not at expected edge positions. "
        "Top-3 items (by score): [(kind=Message, score=0.900000, idx=1), (kind=Message, score=0.100000, idx=0)]. "
        "Expected edge positions: [0, 1].\n"
        "Included had 2 items, fewer than n=3."
    )
    assert message(EMPTY, lambda c: c.place_top_n_scored_at_edges(1)) == (
        "PlaceTopNScoredAtEdges(1) failed: 1 of the top-1 scored items were not at expected edge positions. "
        "Top-1 items (by score): []. Expected edge positions: [].\n"
        "Included had 0 items, fewer than n=1."
    )


def outermost(count: int, n: int) -> list[int]:
    """Walk inwards from both ends, as the chapter does."""
    left, right, found = 0, count - 1, list[int]()
    while len(found) < n:
        found.append(left)
        left += 1
        if len(found) < n:
            found.append(right)
            right -= 1
    return found


@examples(100)
@given(st.data(), st.lists(st.sampled_from((0.0, 0.25, 0.5, 1.0, -math.inf, math.nan)), max_size=6))
def test_top_scores_at_edges_by_the_definition(data: st.DataObject, scores: list[float]) -> None:
    """TV-06 by brute force: is any choice of the n best at the edges, and else, how near does one come."""
    n = data.draw(st.integers(0, len(scores)))
    edges = set(outermost(len(scores), n))
    rank = [(not math.isnan(score), 0.0 if math.isnan(score) else score) for score in scores]
    misplaced = min(
        len(edges.symmetric_difference(choice)) // 2
        for choice in itertools.combinations(range(len(scores)), n)
        if all(rank[i] >= rank[j] for i in choice for j in range(len(scores)) if j not in choice)
    )
    threshold = sorted(rank, reverse=True)[n - 1] if n else (True, math.inf)
    above_inside = sum(rank[i] > threshold for i in range(len(scores)) if i not in edges)
    below_at_edges = sum(rank[i] < threshold for i in edges)
    assert misplaced == max(above_inside, below_at_edges)
    if misplaced == 0:
        passes(scored(*scores), lambda c: c.place_top_n_scored_at_edges(n))
    else:
        text = message(scored(*scores), lambda c: c.place_top_n_scored_at_edges(n))
        assert text.startswith(f"PlaceTopNScoredAtEdges({n}) failed: {misplaced} of the top-{n} scored items were not")
        listed = [int(index) for index in re.findall(r"idx=(\d+)", text)]
        assert len(listed) == n
        assert sum(index not in edges for index in listed) == misplaced


# --- wrong arguments are mistakes of the test, not failures


@pytest.mark.parametrize(
    ("assertion", "error", "text"),
    [
        (lambda c: c.include_item_with_kind(3), TypeError, "kind must be a str or a ContextKind, not 3 (int)"),
        (lambda c: c.include_item_with_kind(" "), InvalidItemError, "ContextKind must not be empty or blank"),
        (
            lambda c: c.include_item_matching("Document"),
            TypeError,
            "predicate must be a function like `lambda included: included.score > 0.5`, not 'Document' (str)",
        ),
        (
            lambda c: c.place_item_at_edge(None),
            TypeError,
            "predicate must be a function like `lambda included: included.score > 0.5`, not None (NoneType)",
        ),
        (
            lambda c: c.exclude_item_matching_with_reason("Filtered", COPY),
            TypeError,
            "predicate must be a function like `lambda item: \"refund\" in item.content`, not 'Filtered' (str)",
        ),
        (
            lambda c: c.exclude_item_with_budget_details(True, 1, 2),
            TypeError,
            'predicate must be a function like `lambda item: "refund" in item.content`, not True (bool)',
        ),
        (
            lambda c: c.exclude_item_with_budget_details(bool, "1", 2),
            TypeError,
            "expected_item_tokens must be an int, not '1' (str)",
        ),
        (
            lambda c: c.exclude_item_with_budget_details(bool, 1, 2.0),
            TypeError,
            "expected_available_tokens must be an int, not 2.0 (float)",
        ),
        (lambda c: c.have_at_least_n_exclusions(-1), InvalidArgumentError, "n must be 0 or more, not -1"),
        (lambda c: c.have_at_least_n_exclusions(True), TypeError, "n must be an int, not True (bool)"),
        (
            lambda c: c.include_exactly_n_items_with_kind("Message", -2),
            InvalidArgumentError,
            "n must be 0 or more, not -2",
        ),
        (lambda c: c.have_kind_coverage_count(-1), InvalidArgumentError, "n must be 0 or more, not -1"),
        (lambda c: c.place_top_n_scored_at_edges(-1), InvalidArgumentError, "n must be 0 or more, not -1"),
        (
            lambda c: c.have_budget_utilization_above("high", ContextBudget(1)),
            TypeError,
            "threshold must be a number, not 'high' (str)",
        ),
        (
            lambda c: c.have_budget_utilization_above(math.nan, ContextBudget(1)),
            InvalidArgumentError,
            "threshold must be finite, not nan",
        ),
        (
            lambda c: c.have_budget_utilization_above(0.5, "100"),
            TypeError,
            "budget must be a ContextBudget or an int, not '100' (str)",
        ),
        (
            lambda c: c.exclude_item_with_reason("BudgetExceded"),
            InvalidArgumentError,
            "unknown exclusion reason 'BudgetExceded'; did you mean 'BudgetExceeded'?",
        ),
        (
            lambda c: c.exclude_item_with_reason("budget_exceded"),
            InvalidArgumentError,
            "unknown exclusion reason 'budget_exceded'; did you mean 'BudgetExceeded'?",
        ),
        (
            lambda c: c.exclude_item_matching_with_reason(bool, "rust"),
            InvalidArgumentError,
            "unknown exclusion reason 'rust'",
        ),
        (
            lambda c: c.exclude_item_with_reason(ExclusionReason),
            InvalidArgumentError,
            "reason must be a specific reason, not ExclusionReason itself",
        ),
        (
            lambda c: c.exclude_item_with_reason(int),
            TypeError,
            "reason must be an exclusion reason: its class, its name or an instance, not <class 'int'> (type)",
        ),
        (
            lambda c: c.exclude_item_with_reason(None),
            TypeError,
            "reason must be an exclusion reason: its class, its name or an instance, not None (NoneType)",
        ),
    ],
)
def test_wrong_arguments(assertion: Callable[[Any], object], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        assertion(EMPTY.should())
    assert str(caught.value) == text
    assert not isinstance(caught.value, AssertionError)


def test_type_checkers_know_the_names_of_all_reasons() -> None:
    assert get_args(ReasonName) == tuple(EXCLUSION_REASONS)


def test_an_unknown_reason_comes_with_advice() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        EMPTY.should().exclude_item_with_reason("Rusty")  # type: ignore[arg-type]
    assert caught.value.__notes__ == [
        "For your own reason, pass its class; for one from another implementation, UnknownReason(name)."
    ]
    assert caught.value.value == "Rusty"


def test_an_error_of_the_predicate_is_its_own() -> None:
    with pytest.raises(ZeroDivisionError):
        scored(0.5).should().include_item_matching(lambda included: included.score / 0)


# --- real runs


@pytest.mark.proves("S-TV-D0")
def test_a_run_keeps_what_the_chapter_says_about_the_u_shaped_placer() -> None:
    items = [ContextItem(f"{i}", 10, future_relevance_hint=i / 10) for i in range(10)]
    report = Pipeline(ReflexiveScorer(), placer=UShapedPlacer()).dry_run(items, ContextBudget(70))
    chain = report.should()
    for n in range(8):
        chain.place_top_n_scored_at_edges(n)
    chain.place_item_at_edge(lambda included: included.item is items[9])
    chain.excluded_items_are_sorted_by_score_descending().exclude_item_with_reason(BudgetExceeded)
    chain.exclude_item_with_budget_details(lambda item: item is items[0], 10, 0).have_budget_utilization_above(1.0)


@pytest.mark.proves("S-TV-03")
def test_the_chain_works_without_pytest() -> None:
    """In an interpreter that cannot import it."""
    code = """
import sys
sys.modules["pytest"] = sys.modules["_pytest"] = None
from pycupel import ContextBudget, ContextItem, Pipeline, RecencyScorer
report = Pipeline(RecencyScorer()).dry_run([ContextItem("a", 5)], ContextBudget(10))
report.should().include_item_with_kind("Message")
import pycupel.testing
try:
    pycupel.testing.should(report).include_item_with_kind("Document")
except pycupel.testing.SelectionReportAssertionError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "IncludeItemWithKind(Document) failed: Included contained 0 items with Kind=Document. "
        "Included had 1 items with kinds: [Message].\n"
    )


def test_a_traceback_shows_the_message_and_the_items() -> None:
    """The notes are part of every traceback."""
    error = failure(report_of(excluded=[dropped()]), lambda c: c.have_at_least_n_exclusions(2))
    assert error.__notes__[0].startswith("Excluded:\n")
    assert f"{type(error).__module__}.{type(error).__qualname__}" == "pycupel.testing.SelectionReportAssertionError"
