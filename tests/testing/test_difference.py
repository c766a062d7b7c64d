"""The difference between two reports, as pytest shows it for `assert left == right`."""

from __future__ import annotations

import math

from pycupel import ContextBudget, ContextItem, ContextKind, Pipeline, ReflexiveScorer, SelectionReport
from pycupel.diagnostics import (
    BudgetExceeded,
    CountRequirementShortfall,
    ExcludedItem,
    IncludedItem,
    InclusionReason,
    PinnedOverride,
)
from pycupel.testing.reports import explain_inequality
from tests.testing.reports import dropped, kept, report_of

ONLY_EVENTS = [
    "The selections are the same; only the events differ, which hold",
    "measured times. Compare with left.same_selection(right).",
]


def test_two_runs_differ_in_their_events_only() -> None:
    """Which is why two runs are never equal."""
    pipeline, items = Pipeline(ReflexiveScorer()), [ContextItem("a", 1), ContextItem("b", 2)]
    left, right = (pipeline.dry_run(items, ContextBudget(9)) for _ in range(2))
    assert left.same_selection(right)
    assert explain_inequality(left, right) == ["<report: 2 of 2 items> == <report: 2 of 2 items>", *ONLY_EVENTS]


def test_what_is_selected_on_one_side_only_comes_first() -> None:
    pump = ContextItem("the pump", 60, kind="Document")
    plant = ContextItem("the plant", 90, kind="Memory")
    log = ContextItem("a log", 30)
    left = report_of(
        [IncludedItem(pump, 0.9, InclusionReason.SCORED), IncludedItem(log, 0.2, InclusionReason.SCORED)],
        [ExcludedItem(plant, 0.9, BudgetExceeded(90, 10))],
    )
    right = report_of(
        [IncludedItem(plant, 0.9, InclusionReason.SCORED)],
        [ExcludedItem(pump, 0.8, PinnedOverride("the pin"))],
    )
    assert explain_inequality(left, right) == [
        "<report: 2 of 3 items> == <report: 1 of 2 items>",
        "selected on the left only:",
        "  Document 'the pump' (PinnedOverride)",
        "  Message 'a log' (no candidate)",
        "selected on the right only:",
        "  Memory 'the plant' (BudgetExceeded)",
        "with another score:",
        "  Document 'the pump': 0.9 != 0.8",
    ]


def test_the_first_place_in_another_order() -> None:
    a, b, c = (kept(content=content) for content in "abc")
    assert explain_inequality(report_of([a, b, c]), report_of([a, c, b])) == [
        "<report: 3 of 3 items> == <report: 3 of 3 items>",
        "in another order:",
        "  at 1: Message 'b' != Message 'c'",
    ]


def test_what_was_left_out_in_another_order() -> None:
    a, b = dropped(content="a" * 40), dropped(content="b" * 40)
    assert explain_inequality(report_of(excluded=[a, b]), report_of(excluded=[b, a]))[1:] == [
        "left out in another order:",
        "  at 0:",
        f"    Message '{'a' * 23}...'",
        f"    != Message '{'b' * 23}...'",
    ]


def test_other_reasons() -> None:
    left = report_of([kept()], [dropped(content="x", reason=BudgetExceeded(90, 30)), dropped(content="y")])
    right = report_of(
        [kept(reason=InclusionReason.PINNED)],
        [dropped(content="x", reason=BudgetExceeded(90, 20)), dropped(content="y")],
    )
    assert explain_inequality(left, right)[1:] == [
        "with another reason:",
        "  Message 'text': Scored != Pinned",
        "  Message 'x':",
        "    BudgetExceeded(item_tokens=90, available_tokens=30)",
        "    != BudgetExceeded(item_tokens=90, available_tokens=20)",
    ]


def test_a_candidate_on_one_side_only() -> None:
    left, right = report_of(excluded=[dropped()]), report_of()
    assert explain_inequality(left, right)[1:] == [
        "with another reason:",
        "  Message 'text':",
        "    BudgetExceeded(item_tokens=90, available_tokens=30)",
        "    != no candidate",
    ]


def test_equal_items_are_told_apart_by_their_number() -> None:
    """One of three equal items is missing, the others are where they were."""
    left, right = report_of([kept(), kept()], [dropped(tokens=10)]), report_of([kept()], [dropped(tokens=10)])
    assert explain_inequality(left, right) == [
        "<report: 2 of 3 items> == <report: 1 of 2 items>",
        "selected on the left only:",
        "  Message 'text' (BudgetExceeded)",
        "with another reason:",
        "  Message 'text':",
        "    BudgetExceeded(item_tokens=90, available_tokens=30)",
        "    != no candidate",
    ]


def test_nan_is_no_difference() -> None:
    left, right = report_of([kept(score=float("nan"))]), report_of([kept(score=float("nan"))])
    assert left != right
    assert explain_inequality(left, right)[1:] == ONLY_EVENTS
    other = report_of([kept(score=math.inf)])
    assert explain_inequality(left, other)[1:] == ["with another score:", "  Message 'text': nan != inf"]


def test_budgets_and_shortfalls_come_last() -> None:
    shortfall = CountRequirementShortfall(ContextKind("Tool"), 3, 1)
    left = SelectionReport((), [], [], 0, 0, [shortfall], ContextBudget(200, 160))
    right = SelectionReport((), [], [], 0, 0, [])
    assert explain_inequality(left, right)[1:] == [
        "besides:",
        "  too few: 1 of 3 Tool != none",
        '  budget: {"maxTokens": 200, "targetTokens": 160} != unknown',
    ]


def test_no_line_is_too_long_for_a_terminal() -> None:
    """Beside the ten columns by which pytest indents it."""
    names = ("Kind " * 20, "Sort " * 20)
    left = report_of([kept(name, 1 / 3, "long " * 99) for name in names], [dropped(names[0], 1e-300, content="x" * 99)])
    right = report_of(
        [kept(name, 2 / 3, "long " * 99, reason="from elsewhere " * 9) for name in names[::-1]],
        [dropped(names[0], 2e-300, PinnedOverride("y" * 99), content="x" * 99)],
    )
    assert max(map(len, explain_inequality(left, right))) <= 70
