"""The text of a report: what it promises about words, numbers, columns and colours."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from typing import Any

import pytest

from pycupel import (
    ChronologicalPlacer,
    CompositeScorer,
    ContextBudget,
    ContextItem,
    ContextKind,
    CountQuotaEntry,
    CountQuotaSlice,
    GreedySlice,
    KindScorer,
    OverflowStrategy,
    Pipeline,
    QuotaEntry,
    QuotaSlice,
    RecencyScorer,
    ReflexiveScorer,
    SelectionReport,
    UShapedPlacer,
)
from pycupel.diagnostics import (
    BudgetExceeded,
    CountCapExceeded,
    CountRequirementShortfall,
    Deduplicated,
    ExcludedItem,
    ExclusionReason,
    Filtered,
    IncludedItem,
    InclusionReason,
    NegativeTokens,
    PinnedOverride,
    PipelineStage,
    QuotaCapExceeded,
    ScoredTooLow,
    TraceEvent,
    UnknownReason,
)
from pycupel.errors import InvalidArgumentError
from pycupel.messages import select_messages
from pycupel.render import render_report, render_summary
from pycupel.render._layout import columns

ESCAPE = re.compile("\x1b\\[[0-9]+m")


def included(
    content: str, tokens: int, score: float = 0.5, reason: InclusionReason = InclusionReason.SCORED, **options: Any
) -> IncludedItem:
    return IncludedItem(ContextItem(content, tokens, **options), score, reason)


def excluded(content: str, tokens: int, score: float, reason: ExclusionReason, **options: Any) -> ExcludedItem:
    return ExcludedItem(ContextItem(content, tokens, **options), score, reason)


def make_report(
    included: Sequence[IncludedItem] = (), excluded: Sequence[ExcludedItem] = (), **options: Any
) -> SelectionReport:
    """A report whose totals are right."""
    tokens = sum(each.item.tokens for each in included) + sum(each.item.tokens for each in excluded)
    return SelectionReport(
        options.pop("events", ()), included, excluded, len(included) + len(excluded), tokens, **options
    )


def why(reason: ExclusionReason, **options: Any) -> str:
    """The line of one item that was left out for this reason, from its score on; and the title above it."""
    report = make_report(options.pop("included", ()), [excluded("the item", 7, 0.5, reason, **options)])
    lines = render_report(report, width=120).splitlines()
    (row,) = (i for i, line in enumerate(lines) if line.endswith("the item"))
    return f"{lines[row - 1].strip()} | {lines[row].partition('0.50')[2].removesuffix('the item').strip()}"


def section(text: str, title: str) -> list[str]:
    """The lines below a heading, up to the next one."""
    _, _, rest = text.partition(f"\n{title}")
    return re.split(r"\n\n(?=\S)", rest)[0].splitlines()[1:]


def hinted(content: str, tokens: int, score: float, **options: Any) -> ContextItem:
    """An item that ReflexiveScorer gives this score."""
    return ContextItem(content, tokens, future_relevance_hint=score, **options)


EXAMPLE = make_report(
    included=[
        included("You answer for a bicycle shop.", 300, 1.0, InclusionReason.PINNED, kind="SystemPrompt"),
        included("My order has not\narrived:  4711.", 100, 0.25),
        included(
            "Order 4711: handed to the carrier on 2 January, and expected at the door.", 350, 0.9, kind="Document"
        ),
        included("[cleared]", 0, 0.004, InclusionReason.ZERO_TOKEN),
    ],
    excluded=[
        excluded("The shop's history since 1972, chapter one.", 640, 0.8, BudgetExceeded(640, 150), kind="Document"),
        excluded("Order 4711: handed over.", 20, 0.7, Deduplicated("Order 4711: handed over."), kind="Document"),
        excluded("Parcels take three days.", 12, 0.1, BudgetExceeded(12, 150), kind="Document"),
        excluded("[image]", -1, 0.0, NegativeTokens(-1), kind="ToolOutput"),
    ],
    events=[
        TraceEvent(PipelineStage.CLASSIFY, 0.0625, 7),
        TraceEvent(PipelineStage.SCORE, 0.0, 1, "Score: 0.9"),
        TraceEvent(PipelineStage.SCORE, 1.25, 6),
    ],
    count_requirement_shortfalls=[CountRequirementShortfall(ContextKind("Memory"), 2, 0)],
    budget=ContextBudget(2_000, 1_000, output_reserve=500, reserved_slots={"Memory": 100}),
)

EXAMPLE_TEXT = """\
4 of 8 items selected, 750 of 1,421 tokens
budget: target 1,000 (75.0% used), max 2,000, output reserve 500,
  reserved slots 100

TOKENS, as shares of the target
  [#######################==========================++++++++--------...........]
     kind          tokens  share  items
  #  SystemPrompt     300  30.0%      1  pinned
  =  Document         350  35.0%      1
  +  Message          100  10.0%      2
  -  (held)           100  10.0%         reserved slots
  .  (free)           150  15.0%

SELECTED, in the order in which the model reads it
  #  kind          tokens  score  reason     content
  1  SystemPrompt     300   1.00  Pinned     You answer for a bicycle shop.
  2  Message          100   0.25  Scored     My order has not arrived: 4711.
  3  Document         350   0.90  Scored     Order 4711: handed to the carrie...
  4  Message            0  0.004  ZeroToken  [cleared]

LEFT OUT: 4 items, 671 tokens
    #  kind        score  why                       content

  Did not fit (BudgetExceeded): 1 item; the selection left 150 free
    5  Document     0.80  640 tokens                The shop's history since ...

  Same text as another candidate (Deduplicated): 1 item
    6  Document     0.70  copy of an excluded item  Order 4711: handed over.

  Would fit, but was not chosen (BudgetExceeded): 1 item; the selection left 150
    free
    7  Document     0.10  12 tokens                 Parcels take three days.

  Negative token count (NegativeTokens): 1 item
    8  ToolOutput   0.00  counted as -1             [image]

TOO FEW to meet a count requirement
  kind    required  found
  Memory         2      0

TIME: 1.312 ms in 2 stages, 1 item event
  stage     items     ms
  Classify      7  0.062
  Score         6  1.250"""

EXAMPLE_SUMMARY = """\
4 of 8 items selected, 750 of 1,421 tokens
budget: target 1,000 (75.0% used), max 2,000, output reserve 500,
  reserved slots 100
left out: 2 BudgetExceeded, 1 Deduplicated, 1 NegativeTokens
too few: 0 of 2 Memory"""


# --- the whole


def test_an_example_from_the_first_to_the_last_character() -> None:
    assert render_report(EXAMPLE) == EXAMPLE_TEXT


def test_the_short_form_from_the_first_to_the_last_character() -> None:
    assert render_summary(EXAMPLE) == EXAMPLE_SUMMARY


def test_the_report_renders_itself() -> None:
    assert EXAMPLE.to_text() == EXAMPLE_TEXT
    assert "café" in make_report([included("café", 1)]).to_text()
    assert "caf?" in make_report([included("café", 1)]).to_text(unicode=False)
    assert EXAMPLE.to_text(color=True) == render_report(EXAMPLE, color=True) != EXAMPLE_TEXT
    assert str(EXAMPLE) == f"{EXAMPLE}" == EXAMPLE_SUMMARY


@pytest.mark.parametrize("unicode", [False, True])
def test_columns_are_aligned_beside_wide_and_combining_characters(*, unicode: bool) -> None:
    """Characters were counted, but a wide one takes two columns, and a combining mark none."""
    kinds = ("Document", "\u6587\u66f8", "cafe\u0301", "\u0e17\u0e35\u0e48")
    report = make_report([included("the item", 7, kind=kind) for kind in kinds])
    assert [*map(columns, kinds)] == [8, 4, 4, 1]
    rows = section(report.to_text(unicode=unicode), "SELECTED")
    assert len({columns(row.partition("the item")[0]) for row in rows[1:]}) == 1


def test_the_repr_is_one_line() -> None:
    """A report holds every candidate, which nobody wants to see in a traceback."""
    assert repr(EXAMPLE) == "<SelectionReport: 4 of 8 items, 750 of 1421 tokens>"


def test_rendering_changes_nothing() -> None:
    before = dataclasses.replace(EXAMPLE)
    assert render_report(EXAMPLE) == render_report(EXAMPLE)
    assert before == EXAMPLE


def test_a_report_without_anything_says_so() -> None:
    text = render_report(make_report())
    assert text == "0 of 0 items selected, 0 of 0 tokens\n\nSELECTED: nothing\n\nLEFT OUT: nothing"
    assert str(make_report()) == "0 of 0 items selected, 0 of 0 tokens"


def test_one_is_no_plural() -> None:
    text = render_report(make_report(excluded=[excluded("a", 1, 0.5, BudgetExceeded(1, 0))]))
    assert text.startswith("0 of 1 item selected, 0 of 1 token\n")
    assert "\nLEFT OUT: 1 item, 1 token\n" in text


# --- what is refused


@pytest.mark.parametrize("width", [39, 1, 0, -80])
def test_a_narrow_page_is_refused(width: int) -> None:
    with pytest.raises(InvalidArgumentError, match=f"width must be at least 40, not {width}") as caught:
        render_report(EXAMPLE, width=width)
    assert (caught.value.argument, caught.value.value) == ("width", width)


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="limit must be 0 or more, not -1") as caught:
        render_report(EXAMPLE, limit=-1)
    assert (caught.value.argument, caught.value.value) == ("limit", -1)


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ({"width": "80"}, "width must be an int"),
        ({"width": 80.0}, "width must be an int"),
        ({"limit": "all"}, "limit must be an int"),
        ({"color": "red"}, "color must be a bool"),
    ],
)
def test_options_of_a_wrong_type_are_refused(option: dict[str, Any], sentence: str) -> None:
    with pytest.raises(TypeError, match=sentence):
        render_report(EXAMPLE, **option)


@pytest.mark.parametrize("render", [render_report, render_summary])
def test_only_reports_are_rendered(render: Any) -> None:
    with pytest.raises(TypeError, match="report must be a SelectionReport, not 'x'"):
        render("x")


# --- the headline and the budget


def headline(budget: ContextBudget | None, tokens: int = 0) -> str:
    report = make_report([included("a", tokens)] if tokens else [], budget=budget)
    return render_report(report, width=200).partition("\n\n")[0].partition("\n")[2]


def test_the_budget_is_told_if_it_is_known() -> None:
    assert headline(None) == ""
    assert headline(ContextBudget(8_000), 2_000) == "budget: target 8,000 (25.0% used), max 8,000, output reserve 0"
    assert headline(ContextBudget(0)) == "budget: target 0, max 0, output reserve 0"


def test_notes_are_told_before_everything_else() -> None:
    """The issue: the text report says when a scorer found its field on no item."""
    report = Pipeline(RecencyScorer()).dry_run([ContextItem("a", 5)], ContextBudget(10))
    note = [
        "note: no item sets timestamp, so RecencyScorer gives every item the same score;",
        "  set it, or choose a policy without that scorer",
    ]
    assert report.to_text().split("\n\n")[0].splitlines()[2:] == note
    assert str(report).splitlines()[2:] == note


def test_notes_of_any_kind_are_told_on_safe_lines() -> None:
    report = make_report(notes=["red \x1b[31m", "two\nlines", "caf\u00e9"])
    assert str(report).splitlines()[1:] == ["note: red ?[31m", "note: two lines", "note: café"]


def test_notes_are_wrapped_by_columns_and_lose_nothing() -> None:
    """A wide character takes two columns, so half of a long line was cut off."""
    note = "\u8fd4\u91d1" * 50
    lines = str(make_report(notes=[note])).splitlines()[1:]
    assert "".join(line.strip() for line in lines) == f"note: {note}"
    assert max(map(columns, lines)) <= 80


def test_reserved_slots_and_the_margin_are_told_if_there_are_any() -> None:
    budget = ContextBudget(100, 90, reserved_slots={"A": 5, "B": 7}, estimation_safety_margin_percent=12.5)
    assert headline(budget) == (
        "budget: target 90 (0.0% used), max 100, output reserve 0, reserved slots 12, safety margin 12.5%"
    )


def test_too_much_is_told() -> None:
    assert headline(ContextBudget(100, 80), 90) == (
        "budget: target 80 (112.5% used), exceeded by 10, max 100, output reserve 0"
    )
    assert headline(ContextBudget(0), 10).startswith("budget: target 0, exceeded by 10, ")


# --- the bar and its legend


def bar_of(report: SelectionReport, width: int = 80) -> str:
    (bar,) = re.findall(r"^  \[(.*)\]$", render_report(report, width=width), re.MULTILINE)
    return str(bar)


def test_the_bar_is_in_proportion_to_the_target() -> None:
    report = make_report(
        [included("a", 50, kind="A"), included("b", 25, kind="B"), included("c", 1, kind="B")],
        budget=ContextBudget(104),
    )
    bar = bar_of(report, 56)
    assert bar == "#" * 25 + "=" * 13 + "." * 14


def test_the_bar_is_in_proportion_to_the_selection_without_a_budget() -> None:
    report = make_report([included("a", 30, kind="A"), included("b", 10, kind="B")])
    assert bar_of(report, 44) == "#" * 30 + "=" * 10
    assert section(render_report(report), "TOKENS, as shares of the selection")[1:] == [
        "     kind  tokens  share  items",
        "  #  A         30  75.0%      1",
        "  =  B         10  25.0%      1",
    ]


@pytest.mark.parametrize("width", [40, 60, 79, 80, 133])
def test_the_bar_fills_the_width(width: int) -> None:
    assert len(bar_of(EXAMPLE, width)) == width - 4


def test_a_bar_of_nothing_is_empty() -> None:
    assert bar_of(make_report(budget=ContextBudget(0))).strip() == ""
    assert len(bar_of(make_report(budget=ContextBudget(0)))) == 76
    assert bar_of(make_report([included("a", 0, reason=InclusionReason.ZERO_TOKEN)])).strip() == ""


def test_the_kinds_are_told_by_tokens_whatever_their_case() -> None:
    items = [included("a", 1, kind="Note"), included("b", 5, kind="Doc"), included("c", 2, kind="NOTE")]
    assert section(render_report(make_report(items)), "TOKENS")[2:] == [
        "  #  Doc        5  62.5%      1",
        "  =  Note       3  37.5%      2",
    ]


def test_pinned_items_come_first_and_apart() -> None:
    items = [included("a", 6), included("b", 2, 1.0, InclusionReason.PINNED), included("c", 2)]
    assert section(render_report(make_report(items, budget=ContextBudget(20))), "TOKENS")[2:] == [
        "  #  Message       2  10.0%      1  pinned",
        "  =  Message       8  40.0%      2",
        "  .  (free)       10  50.0%",
    ]


def test_what_exceeds_the_target_is_told_below_a_full_bar() -> None:
    report = make_report([included("a", 60, kind="A"), included("b", 60, kind="B")], budget=ContextBudget(100))
    assert bar_of(report, 64) == "#" * 30 + "=" * 30
    assert section(render_report(report), "TOKENS")[-1] == "     (over)      20  20.0%"


@pytest.mark.parametrize(
    ("budget", "held", "keeper"),
    [
        (ContextBudget(100, 80, reserved_slots={"A": 30}), 30, "reserved slots"),
        (ContextBudget(100, 80, output_reserve=40), 20, "output reserve"),
        (ContextBudget(100, 80, estimation_safety_margin_percent=50), 35, "margin"),
        (ContextBudget(100, 80, output_reserve=30, reserved_slots={"A": 5}), 15, "output reserve, reserved slots"),
    ],
)
def test_what_no_slicer_gets_is_not_called_free(budget: ContextBudget, held: int, keeper: str) -> None:
    pipeline = Pipeline(ReflexiveScorer())
    items = [hinted("pinned", 10, 1.0, pinned=True), hinted("small", 1, 0.5), hinted("large", 99, 0.9)]
    report = pipeline.dry_run(items, budget)
    *_, held_row, free_row = section(render_report(report), "TOKENS")
    assert re.match(rf"  -  \(held\) +{held} .*%  +{keeper}$", held_row)
    assert f" {80 - 11 - held} " in free_row
    assert f"; the selection left {80 - 11 - held} free\n" in render_report(report)


def test_requirements_may_use_what_is_held() -> None:
    report = make_report([included("a", 75)], budget=ContextBudget(100, 80, reserved_slots={"A": 30}))
    assert [row.split()[1:3] for row in section(render_report(report), "TOKENS")[-2:]] == [
        ["(held)", "5"],
        ["(free)", "0"],
    ]


def test_more_kinds_than_signs() -> None:
    report = make_report([included("a", 100 - i, kind=f"kind {i}") for i in range(25)])
    rows = section(render_report(report), "TOKENS")[2:]
    assert [row.split()[2] for row in rows] == [str(i) for i in range(25)]
    assert rows[0].split()[0] == rows[10].split()[0] == rows[20].split()[0] == "#"
    assert len({row.split()[0] for row in rows}) == 10


# --- what is in


def test_items_are_told_in_placed_order() -> None:
    items = [hinted(name, 10, score) for name, score in [("low", 0.1), ("high", 0.9), ("middle", 0.5)]]
    report = Pipeline(ReflexiveScorer(), GreedySlice(), UShapedPlacer()).dry_run(items, ContextBudget(100))
    rows = section(render_report(report), "SELECTED")[1:]
    assert [row.split()[0] for row in rows] == ["1", "2", "3"]
    assert [row.split()[-1] for row in rows] == [item.content for item in report.items] == ["high", "low", "middle"]


@pytest.mark.parametrize(
    ("score", "told"),
    [
        (0.0, "0.00"),
        (-0.0, "0.00"),
        (0.5, "0.50"),
        (-0.25, "-0.25"),
        (0.01, "0.01"),
        (0.004, "0.004"),
        (0.00004, "4e-05"),
        (999.0, "999.00"),
        (1234.5, "1,234"),
        (1e6, "1e+06"),
        (-1.7e308, "-1.7e+308"),
        (math.nan, "nan"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
    ],
)
def test_scores_are_told_in_few_characters(score: float, told: str) -> None:
    (row,) = section(render_report(make_report([included("a", 10, score)])), "SELECTED")[1:]
    assert row.split() == ["1", "Message", "10", told, "Scored", "a"]


@pytest.mark.parametrize(
    ("tokens", "told"),
    [
        (1_000, "1,000"),
        (1_000_000_000, "1,000,000,000"),
        (9_999_999_999, "9,999,999,999"),
        (10_000_000_000, "1.0e+10"),
        pytest.param(123 * 10**5_000, "1.2e+5002", id="more digits than Python writes"),
        (-(10**20), "-1.0e+20"),
    ],
)
def test_tokens_are_told_exactly_or_by_magnitude(tokens: int, told: str) -> None:
    (row,) = section(render_report(make_report([included("a", tokens)])), "SELECTED")[1:]
    assert row.split() == ["1", "Message", told, "0.50", "Scored", "a"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("one\n two\t\tthree ", "one two three"),
        ("a" * 100, "a" * 35 + "..."),
        ("word " * 10_000, "word " * 7 + "..."),
        (" \n ", "(blank)"),
        ("caf\u00e9 \u201cx\u201d", "caf\u00e9 \u201cx\u201d"),
        ("\u65e5\u672c\u8a9e", "\u65e5\u672c\u8a9e"),
        ("\u65e5" * 30, "\u65e5" * 17 + "..."),
        ("red \x1b[31m \x07\x00\x7f\x9b", "red ?[31m ????"),
        ("lone \ud800 surrogate", "lone ? surrogate"),
        ("e\u0301\u200b", "e\u0301?"),
    ],
)
def test_contents_are_told_on_one_safe_line(content: str, told: str) -> None:
    items = [included(content, 1), included("second", 100, kind="SystemPrompt")]
    first, second = section(render_report(make_report(items)), "SELECTED")[1:]
    assert first == f"  1  Message            1   0.50  Scored  {told}"
    assert second == "  2  SystemPrompt     100   0.50  Scored  second"


def test_kinds_are_told_on_one_safe_line() -> None:
    report = make_report([included("a", 1, kind="x" * 200), included("b", 1, kind="two\nlines \x1b[31m \u00e9")])
    text = render_report(report)
    assert section(text, "SELECTED")[1:] == [
        "  1  xxxxxxxxxxxxx...       1   0.50  Scored  a",
        "  2  two lines ?[3...       1   0.50  Scored  b",
    ]


# --- what is out


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (BudgetExceeded(640, 14), "Did not fit (BudgetExceeded): 1 item; the selection left 14 free | 640 tokens"),
        (
            BudgetExceeded(640, -20),
            "Did not fit (BudgetExceeded): 1 item; the selection exceeds the target by 20 | 640 tokens",
        ),
        (
            BudgetExceeded(5, 14),
            "Would fit, but was not chosen (BudgetExceeded): 1 item; the selection left 14 free | 5 tokens",
        ),
        (
            BudgetExceeded(0, 0),
            "Would fit, but was not chosen (BudgetExceeded): 1 item; the selection left 0 free | 0 tokens",
        ),
        (NegativeTokens(-3), "Negative token count (NegativeTokens): 1 item | counted as -3"),
        (
            Deduplicated("the item"),
            "Same text as another candidate (Deduplicated): 1 item | copy of an excluded item",
        ),
        (Deduplicated("tool_17"), "Same text as another candidate (Deduplicated): 1 item | copy of 'tool_17'"),
        (
            PinnedOverride("a system\nprompt that is rather long"),
            "Would fit without the pinned items (PinnedOverride): 1 item | displaced by 'a system prompt that ...'",
        ),
        (CountCapExceeded("message", 2, 2), "Enough of its kind (CountCapExceeded): 1 item | capped at 2, 2 selected"),
        (
            CountCapExceeded("Tool", 2, 2),
            "Enough of its kind (CountCapExceeded): 1 item | capped at 2, 2 selected of kind 'Tool'",
        ),
        (ScoredTooLow(0.25, 0.5), "ScoredTooLow: 1 item | score 0.25, threshold 0.50"),
        (QuotaCapExceeded("Doc", 500, 1_620), "QuotaCapExceeded: 1 item | kind 'Doc', cap 500, actual 1,620"),
        (Filtered("pii"), "Filtered: 1 item | filter_name 'pii'"),
        (UnknownReason("TooOld", {"days": 90, "strict": True}), "TooOld: 1 item | days 90, strict True"),
        (UnknownReason("TooOld", {"limits": [1, 2], "by": None}), "TooOld: 1 item | limits '[1, 2]', by 'None'"),
        (UnknownReason("TooOld"), "TooOld: 1 item |"),
        (UnknownReason(""), "(blank): 1 item |"),
        (UnknownReason("x" * 99, {"y": "z" * 99}), f"{'x' * 37}...: 1 item | y '{'z' * 21}...'"),
        (UnknownReason("N", dict.fromkeys("abcdefghijkl", 1)), "N: 1 item | a 1, b 1, c 1, d 1, e 1, f 1, g 1, h ..."),
    ],
    ids=str,
)
def test_every_reason_comes_with_its_numbers(reason: ExclusionReason, told: str) -> None:
    assert why(reason).strip() == told


def test_a_reason_of_somebody_else_is_told_by_its_fields() -> None:
    @dataclasses.dataclass(frozen=True)
    class TooSecret(ExclusionReason):
        level: int

    class Forbidden(ExclusionReason):
        pass

    assert why(TooSecret(7)) == "TooSecret: 1 item | level 7"
    assert why(Forbidden()) == "Forbidden: 1 item | "
    assert "left out: 1 Forbidden" in str(make_report(excluded=[excluded("a", 1, 0.5, Forbidden())]))


def test_items_that_are_in_are_named_by_their_number() -> None:
    chosen = [included("first", 1, 1.0, InclusionReason.PINNED), included("twice", 1), included("twice", 1)]
    assert why(Deduplicated("twice"), included=chosen).endswith("| copy of #2")
    assert why(PinnedOverride("first"), included=chosen).endswith("| displaced by #1")


def test_groups_come_in_order_of_appearance_and_the_best_score_first() -> None:
    left_out = [
        excluded("a", 9, 0.1, BudgetExceeded(9, 5)),
        excluded("b", -1, 0.0, NegativeTokens(-1)),
        excluded("c", 9, math.nan, BudgetExceeded(9, 5)),
        excluded("d", 9, 0.9, BudgetExceeded(9, 5)),
        excluded("e", -1, 0.0, NegativeTokens(-1)),
    ]
    rows = section(render_report(make_report(excluded=left_out)), "LEFT OUT")
    assert [row.split()[-1] for row in rows if row.startswith("    ")][1:] == ["d", "a", "c", "b", "e"]
    assert [row for row in rows if re.match(r"  \S", row)] == [
        "  Did not fit (BudgetExceeded): 3 items; the selection left 5 free",
        "  Negative token count (NegativeTokens): 2 items",
    ]


def test_a_run_tells_its_reasons() -> None:
    items = [
        hinted("the pinned one", 50, 1.0, pinned=True),
        hinted("the best", 30, 0.9),
        hinted("the best", 30, 0.8),
        hinted("too large without pins", 100, 0.7),
        hinted("large because of pins", 45, 0.6),
        hinted("does not fit", 35, 0.4),
        hinted("broken", -4, 0.3),
    ]
    report = Pipeline(ReflexiveScorer()).dry_run(items, ContextBudget(90))
    assert section(render_report(report), "LEFT OUT") == [
        "    #  kind     score  why              content",
        "",
        "  Same text as another candidate (Deduplicated): 1 item",
        "    3  Message   0.80  copy of #2       the best",
        "",
        "  Did not fit (BudgetExceeded): 2 items; the selection left 10 free",
        "    4  Message   0.70  100 tokens       too large without pins",
        "    6  Message   0.40  35 tokens        does not fit",
        "",
        "  Would fit without the pinned items (PinnedOverride): 1 item",
        "    5  Message   0.60  displaced by #1  large because of pins",
        "",
        "  Negative token count (NegativeTokens): 1 item",
        "    7  Message   0.00  counted as -4    broken",
    ]


def test_a_quota_that_is_full_is_no_lack_of_room() -> None:
    slicer = QuotaSlice([QuotaEntry("Document", 0, 10)])
    report = Pipeline(ReflexiveScorer(), slicer).dry_run([hinted("doc", 20, 0.9, kind="Document")], ContextBudget(100))
    assert section(render_report(report), "LEFT OUT")[-3:] == [
        "  Would fit, but was not chosen (BudgetExceeded): 1 item; 10% of the 100 tokens",
        "    left by pinned items is 10; Document has 0",
        "    1  Document   0.90  20 tokens  doc",
    ]
    told = str(report.why("doc")).splitlines()[1:4]
    assert told == [
        "  Document of 20 tokens, left out: Would fit, but was not chosen",
        "    (BudgetExceeded), 20 tokens; 10% of the 100 tokens left by pinned items is",
        "    10; Document has 0",
    ]


def test_a_cut_of_a_history_leaves_less_than_what_is_free() -> None:
    """It keeps room to grow. The report says both, and names each by what it is."""
    messages = [{"role": "user" if i % 2 == 0 else "assistant", "content": f"message {i} " * 20} for i in range(21)]
    report = select_messages(messages, 500, counter="estimator", explain=True).report
    assert report is not None
    text = render_report(report)
    assert re.search(r"\(free\) +[1-9]", text)
    assert "; the cut left 0 tokens for more\n" in text
    assert "the selection left" not in text
    assert "the cut left 0 tokens for more" in " ".join(str(report.why("message 3")).split())


def test_caps_and_shortfalls_of_counts_are_told() -> None:
    entries = [CountQuotaEntry("Message", cap_count=1), CountQuotaEntry("Memory", cap_count=3, require_count=2)]
    items = [hinted("first", 10, 0.9), hinted("second", 10, 0.8), hinted("only", 10, 0.7, kind="Memory")]
    report = Pipeline(ReflexiveScorer(), CountQuotaSlice(entries)).dry_run(items, ContextBudget(100))
    text = render_report(report)
    assert section(text, "LEFT OUT")[-2:] == [
        "  Enough of its kind (CountCapExceeded): 1 item",
        "    3  Message   0.80  capped at 1, 1 selected  second",
    ]
    assert section(text, "TOO FEW") == ["  kind    required  found", "  Memory         2      1"]
    assert str(report).endswith("\nleft out: 1 CountCapExceeded\ntoo few: 1 of 2 Memory")


# --- events


def test_stages_are_told_with_their_times_and_items_are_counted() -> None:
    events = [
        TraceEvent(PipelineStage.SCORE, 0.0, 1, "Score: 0.5"),
        TraceEvent(PipelineStage.SCORE, 1.25, 10),
        TraceEvent(PipelineStage.SLICE, 0.0, 1, ""),
        TraceEvent(PipelineStage.SLICE, 1_234.5, 2_000),
    ]
    text = render_report(make_report(events=events))
    assert "\nTIME: 1,235.750 ms in 2 stages, 2 item events\n" in text
    assert section(text, "TIME") == [
        "  stage  items         ms",
        "  Score     10      1.250",
        "  Slice  2,000  1,234.500",
    ]


def test_without_events_there_is_nothing_about_time() -> None:
    assert "TIME" not in render_report(make_report())
    assert "EVENTS" not in render_report(make_report())


def test_events_about_items_alone_are_counted() -> None:
    events = [TraceEvent(PipelineStage.SCORE, 0.0, 1, "Score: 0.5")]
    assert render_report(make_report(events=events)).endswith("\n\nEVENTS: 1 item event")


@pytest.mark.parametrize(
    ("duration", "told"), [(math.nan, "nan"), (math.inf, "inf"), (1e300, "1e+300"), (-1.0, "-1.000"), (0, "0.000")]
)
def test_strange_durations_are_told(duration: float, told: str) -> None:
    text = render_report(make_report(events=[TraceEvent(PipelineStage.PLACE, duration, 10**50)]))
    assert section(text, "TIME")[1].split() == ["Place", "1.0e+50", told]
    assert f"TIME: {told} ms in 1 stage, 0 item events" in text


def test_every_stage_of_a_run_is_told() -> None:
    report = Pipeline(ReflexiveScorer()).dry_run([hinted("a", 1, 0.5)], ContextBudget(10))
    stages = [event for event in report.events if event.message is None]
    rows = section(render_report(report), "TIME")[1:]
    assert [row.split()[0] for row in rows] == [str(event.stage) for event in stages]


# --- long lists


def many(count: int) -> SelectionReport:
    return make_report(
        [included(f"in {i}", 1, kind=f"kind {i}") for i in range(count)],
        [excluded(f"out {i}", 9, 0.5, BudgetExceeded(9, 5)) for i in range(count)]
        + [excluded("broken", -1, 0.0, NegativeTokens(-1))],
        events=[TraceEvent(PipelineStage.SCORE, 1.0, 1)] * count,
        count_requirement_shortfalls=[CountRequirementShortfall(ContextKind("A"), 2, 1)] * count,
        budget=ContextBudget(1_000),
    )


def test_forty_rows_are_shown_and_the_rest_is_counted() -> None:
    assert "more" not in render_report(many(40))
    text = render_report(many(1_240))
    assert text.count("\n    ... and 1,200 more\n") == 4
    assert text.endswith("\n    ... and 1,200 more")
    assert "in 39\n" in text
    assert "in 40\n" not in text
    assert "  broken\n" in text
    assert "\n    ... and 1,200 more\n     (over) " in text


def test_the_limit_can_be_chosen() -> None:
    text = render_report(many(5), limit=3)
    assert text.count("    ... and 2 more") == 5
    nothing = render_report(many(5), limit=0)
    assert nothing.count("    ... and 5 more") == 5
    assert nothing.count("    ... and 1 more") == 1
    assert "broken" not in nothing


def test_no_limit_shows_everything() -> None:
    text = render_report(many(100), limit=None)
    assert "more" not in text
    assert all(f"  in {i}\n" in text and f"  out {i}\n" in text for i in range(100))


# --- width


def test_columns_that_do_not_fit_continue_below() -> None:
    report = make_report(
        [included("the content of it", 10**9, -1.7e308, InclusionReason.ZERO_TOKEN, kind="Transcript")],
        [excluded("what was left out", 10**9, 0.5, BudgetExceeded(10**9, 10**9 - 1), kind="Transcript")],
    )
    text = render_report(report, width=60)
    assert section(text, "SELECTED") == [
        "  #  kind               tokens      score  reason",
        "  1  Transcript  1,000,000,000  -1.7e+308  ZeroToken",
        "      the content of it",
    ]
    assert section(text, "LEFT OUT")[-2:] == [
        "    2  Transcript   0.50  1,000,000,000 tokens",
        "        what was left out",
    ]
    text = render_report(report, width=40)
    assert section(text, "SELECTED")[1:] == [
        "  #  kind      tokens      score",
        "      reason     content",
        "  1  Trans...  1.0e+9  -1.7e+308",
        "      ZeroToken  the content of it",
    ]
    assert section(text, "LEFT OUT")[-3:] == [
        "    the selection left 1.0e+9 free",
        "    2  Trans...   0.50  1.0e+9 tokens",
        "        what was left out",
    ]


def test_what_fits_nowhere_is_cut_with_a_mark() -> None:
    report = make_report(excluded=[excluded("a", 1, 0.5, PinnedOverride("x" * 100))])
    assert "        displaced by 'xxxxxxxxxxxxxxx...\n" in render_report(report, width=40)


def test_marks_that_are_shown_as_characters_take_room_like_them() -> None:
    """A combining mark takes no room in a terminal, but here it is a question mark."""
    text = render_report(make_report([included("x" * 34 + "\N{COMBINING GRAVE ACCENT}", 0)]), width=40, unicode=False)
    assert max(map(len, text.splitlines())) <= 40


def test_an_empty_continuation_takes_no_line() -> None:
    left_out = [excluded("a", 1, 0.5, UnknownReason("New")), excluded("b", 1, 0.4, PinnedOverride("x" * 100))]
    text = render_report(make_report(excluded=left_out), width=40)
    assert "  New: 1 item\n    1  Message   0.50\n        a\n" in text


def test_the_summary_breaks_between_its_parts() -> None:
    shortfalls = [CountRequirementShortfall(ContextKind(f"a kind {i}"), 2, 1) for i in range(8)]
    lines = str(make_report(count_requirement_shortfalls=shortfalls)).splitlines()
    assert lines[1:] == [
        "too few: 1 of 2 a kind 0, 1 of 2 a kind 1, 1 of 2 a kind 2, 1 of 2 a kind 3,",
        "  1 of 2 a kind 4, 1 of 2 a kind 5, 1 of 2 a kind 6, 1 of 2 a kind 7",
    ]


# --- colours


def test_headings_kinds_and_segments_have_colours() -> None:
    text = render_report(EXAMPLE, color=True)
    assert text.startswith("\x1b[1m4 of 8 items selected, 750 of 1,421 tokens\x1b[0m\n")
    kind = set(re.findall("\x1b\\[([0-9]+)m  Document", text))
    assert kind
    assert all(f"\x1b[{code}m======" in text for code in kind)
    over = make_report([included("a", 5)], budget=ContextBudget(3))
    assert "\x1b[31m  (over) " in render_report(over, color=True)


def test_every_colour_ends() -> None:
    for line in render_report(EXAMPLE, color=True).splitlines():
        assert re.sub("\x1b\\[[0-9]+m[^\x1b]+\x1b\\[0m", "", line).count("\x1b") == 0


def test_overflow_that_was_accepted_is_told() -> None:
    items = [hinted("pinned", 60, 1.0, pinned=True), hinted("other", 10, 0.5)]
    pipeline = Pipeline(
        ReflexiveScorer(), GreedySlice(), ChronologicalPlacer(), overflow_strategy=OverflowStrategy.PROCEED
    )
    report = pipeline.dry_run(items, ContextBudget(100, 50))
    assert "target 50 (120.0% used), exceeded by 10, " in str(report)


# --- the parts of the scores


def test_the_parts_of_the_scores_are_shown_on_demand() -> None:
    items = [
        ContextItem("the best one", 5, future_relevance_hint=0.9),
        ContextItem("a pinned one", 5, pinned=True),
        ContextItem("one that is too large", 500, future_relevance_hint=0.5),
        *(ContextItem(f"other {i}", 5, future_relevance_hint=0.1) for i in range(10)),
    ]
    scorer = CompositeScorer([(ReflexiveScorer(), 3), (KindScorer(), 1)])
    report = Pipeline(scorer).dry_run(items, ContextBudget(100))
    text = report.to_text(parts=True)
    assert text.split("SCORES of ")[1].splitlines()[:4] == [
        "the best items, by scorer and weight",
        "  score  Reflexive 0.75  Kind 0.25  content",
        "   0.73            0.90       0.20  the best one",
        "   0.42            0.50       0.20  one that is too large",
    ]
    assert text.split("SCORES of ")[1].split("\n\n")[0].count("other") == 8
    assert "SCORES" not in report.to_text()
    assert "SCORES" not in render_report(make_report(), parts=True)
    with pytest.raises(TypeError, match="parts"):
        render_report(report, parts="yes")  # type: ignore[arg-type]
