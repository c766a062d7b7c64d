"""The text of a comparison: what it promises about words, columns and colours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    CountQuotaEntry,
    CountQuotaSlice,
    Pipeline,
    PriorityScorer,
    QuotaEntry,
    QuotaSlice,
    ReflexiveScorer,
    SelectionReport,
    UShapedPlacer,
)
from pycupel.analytics import ItemStatus, PolicySensitivityDiffEntry, PolicySensitivityReport, policy_sensitivity
from pycupel.diagnostics import (
    BudgetExceeded,
    CountCapExceeded,
    Deduplicated,
    ExcludedItem,
    ExclusionReason,
    Filtered,
    IncludedItem,
    InclusionReason,
    NegativeTokens,
    PinnedOverride,
    QuotaCapExceeded,
    UnknownReason,
)
from pycupel.errors import InvalidArgumentError
from pycupel.pipeline import Policy
from pycupel.render.sensitivity import render_sensitivity

ITEMS = [
    ContextItem("You are a travel agent.", 20, kind="SystemPrompt", pinned=True),
    ContextItem("Trains from Bern to Milan", 60, priority=2, future_relevance_hint=0.9),
    ContextItem("Hotels in Milan,\nnear the station", 80, priority=1, future_relevance_hint=0.8),
    ContextItem("Museums in Milan", 120, priority=3, future_relevance_hint=0.6),
    ContextItem("Weather", 5, kind="ToolOutput", priority=2, future_relevance_hint=0.1),
]
BUDGET = ContextBudget(300, 220)
PRIORITY, REFLEXIVE = Policy(PriorityScorer()), Policy(ReflexiveScorer())
ONE = Policy(ReflexiveScorer(), CountQuotaSlice([CountQuotaEntry("Message", cap_count=1)]))
HALF = Policy(ReflexiveScorer(), QuotaSlice([QuotaEntry("Message", cap=50)]))

EXAMPLE = policy_sensitivity(ITEMS, BUDGET, {"priority": PRIORITY, "reflexive": REFLEXIVE, "one": ONE, "half": HALF})
EXAMPLE_TEXT = """\
3 differences between 4 variants, among 5 items

DIFFERENCES
  tokens  priority  reflexive  one      half     content
      80  no room   in         capped   skipped  Hotels in Milan, near the st...
     120  in        no room    skipped  skipped  Museums in Milan
       5  in        in         in       skipped  Weather

  no room  Did not fit (BudgetExceeded)
  capped   Enough of its kind (CountCapExceeded)
  skipped  Would fit, but was not chosen (BudgetExceeded)

VARIANTS
             items  tokens  of target
  priority       4     205      93.2%
  reflexive      4     165      75.0%
  one            3      85      38.6%
  half           2      80      36.4%"""


class Stubborn:
    """Selects what is large."""

    def slice(self, scored_items: Sequence[Any], budget: ContextBudget, /) -> list[ContextItem]:
        return [item for item, _ in scored_items if item.tokens > 100]


def compare(variants: Any, items: Sequence[ContextItem] = ITEMS, **options: Any) -> str:
    return render_sensitivity(policy_sensitivity(items, BUDGET, variants), **options)


def section(text: str, title: str) -> list[str]:
    """The lines below a heading, up to the next one."""
    _, _, rest = text.partition(f"\n{title}\n")
    return re.split(r"\n\n(?=\S)", rest)[0].splitlines()


def verdict(*reasons: ExclusionReason) -> tuple[str, list[str]]:
    """What stands in the column of a variant that leaves a content out for these reasons, and the legend below."""
    item = ContextItem("x", 7)
    chosen = SelectionReport([], [IncludedItem(item, 0.5, InclusionReason.SCORED)], [], 1, 7)
    excluded = [ExcludedItem(item, 0.5, reason) for reason in reasons]
    left_out = SelectionReport([], [], excluded, len(excluded), 7 * len(excluded))
    statuses = (("yes", ItemStatus.INCLUDED), ("no", ItemStatus.EXCLUDED))
    report = PolicySensitivityReport((("yes", chosen), ("no", left_out)), (PolicySensitivityDiffEntry("x", statuses),))
    _, row, *legend = section(render_sensitivity(report), "DIFFERENCES")
    return row.removeprefix("       7  in   ").removesuffix("  x").strip(), legend[1:]


# --- the whole


def test_an_example_from_the_first_to_the_last_character() -> None:
    assert render_sensitivity(EXAMPLE) == EXAMPLE_TEXT


def test_the_report_renders_itself() -> None:
    assert EXAMPLE.to_text() == str(EXAMPLE) == f"{EXAMPLE}" == EXAMPLE_TEXT
    assert EXAMPLE.to_text(color=True) == render_sensitivity(EXAMPLE, color=True) != EXAMPLE_TEXT


def test_the_repr_stays_that_of_a_record() -> None:
    assert repr(EXAMPLE).startswith("PolicySensitivityReport(variants=(('priority', <SelectionReport: 4 of 5 items")


def test_without_a_difference_a_sentence_says_so() -> None:
    assert compare({"one": REFLEXIVE, "other": REFLEXIVE}) == (
        "No difference: both variants select the same contents.\n"
        "\n"
        "VARIANTS\n"
        "         items  tokens  of target\n"
        "  one        4     165      75.0%\n"
        "  other      4     165      75.0%"
    )
    three = compare(dict.fromkeys("abc", REFLEXIVE))
    assert three.startswith("No difference: all 3 variants select the same contents.\n\nVARIANTS\n")


def test_another_order_is_mentioned() -> None:
    """A placer never changes what is selected, and who compares placers should not read that nothing changes."""
    placed = Policy(ReflexiveScorer(), placer=UShapedPlacer())
    text = compare({"time": REFLEXIVE, "edges": placed})
    assert text.startswith("No difference: both variants select the same contents, in another order.\n")


def test_another_number_of_copies_is_no_other_order() -> None:
    """PO-01: contents are compared. How many items there are is told below."""
    items = [ContextItem("twice", 5), ContextItem("twice", 5), ContextItem("once", 5)]
    text = compare({"one": REFLEXIVE, "all": Policy(ReflexiveScorer(), deduplication=False)}, items)
    assert text.startswith("No difference: both variants select the same contents.\n")
    assert [row.split()[:3] for row in section(text, "VARIANTS")[1:]] == [["one", "2", "10"], ["all", "3", "15"]]


def test_one_difference_is_no_plural() -> None:
    text = compare({"one": ONE, "none": Policy(ReflexiveScorer(), Stubborn())}, ITEMS[4:])
    assert text.startswith("1 difference between 2 variants, among 1 item\n")


def test_without_a_target_there_are_no_shares() -> None:
    report = policy_sensitivity([], ContextBudget(0), {"p": PRIORITY, "r": REFLEXIVE})
    assert section(str(report), "VARIANTS")[1:] == [
        "  p      0       0          -",
        "  r      0       0          -",
    ]


# --- why a variant leaves something out


@pytest.mark.parametrize(
    ("reason", "word", "legend"),
    [
        (BudgetExceeded(7, 6), "no room", "Did not fit (BudgetExceeded)"),
        (BudgetExceeded(7, 7), "skipped", "Would fit, but was not chosen (BudgetExceeded)"),
        (Deduplicated("y"), "copy", "Same text as another candidate (Deduplicated)"),
        (PinnedOverride("y"), "displaced", "Would fit without the pinned items (PinnedOverride)"),
        (CountCapExceeded("Message", 1, 1), "capped", "Enough of its kind (CountCapExceeded)"),
        (NegativeTokens(-1), "invalid", "Negative token count (NegativeTokens)"),
        (QuotaCapExceeded("Doc", 5, 6), "QuotaCapE...", "QuotaCapExceeded"),
    ],
    ids=str,
)
def test_reasons_have_a_word_and_a_line_below(reason: ExclusionReason, word: str, legend: str) -> None:
    assert verdict(reason) == (word, [f"  {word}  {legend}"])


@pytest.mark.parametrize("reason", [Filtered("pii"), UnknownReason("TooOld", {"days": 90})], ids=str)
def test_a_short_name_explains_itself(reason: ExclusionReason) -> None:
    assert verdict(reason) == (reason.name if isinstance(reason, UnknownReason) else "Filtered", [])


def test_a_copy_says_less_than_the_item_that_it_is_a_copy_of() -> None:
    """If the content is out, so is the item that was kept for its copies, and its reason is the true one."""
    reasons: list[ExclusionReason] = [Deduplicated("x"), BudgetExceeded(7, 6)]
    assert [verdict(*order)[0] for order in permutations(reasons)] == ["no room", "no room"]


def test_of_several_reasons_that_of_the_best_item_is_told() -> None:
    """Excluded items are sorted by score."""
    assert verdict(BudgetExceeded(7, 6), CountCapExceeded("Message", 1, 1))[0] == "no room"
    assert verdict(CountCapExceeded("Message", 1, 1), BudgetExceeded(7, 6))[0] == "capped"


def test_without_a_known_reason_a_content_is_out() -> None:
    assert verdict() == ("out", [])


def test_the_tokens_are_those_of_the_item_that_the_first_variant_selects() -> None:
    """PO-01: items with one content may differ in tokens; the first of the first variant is told."""
    items = [
        ContextItem("twice", 10, priority=9, future_relevance_hint=0.1),
        ContextItem("twice", 130, priority=1, future_relevance_hint=0.9),
    ]
    every = Policy(PriorityScorer(), deduplication=False)
    variants = {"p": PRIORITY, "every": every, "large": Policy(ReflexiveScorer(), Stubborn())}
    text = compare({**variants, "none": Policy(PriorityScorer(), Stubborn())}, items)
    assert [row.split()[:5] for row in section(text, "DIFFERENCES")[1:2]] == [["10", "in", "in", "in", "skipped"]]
    text = compare({"every": every, "none": Policy(PriorityScorer(), Stubborn())}, items)
    assert section(text, "DIFFERENCES")[1].split()[0] == "10"


# --- columns


def columns(text: str) -> list[str]:
    return section(text, "DIFFERENCES")[0].split()[1:-1]


def test_labels_that_find_no_room_are_numbered_and_told_below() -> None:
    label = "a label that is too long to stand above a column, and almost for a line"
    text = compare({"priority": PRIORITY, label: REFLEXIVE})
    assert columns(text) == ["#1", "#2"]
    assert "no room" in text
    assert section(text, "VARIANTS") == [
        "      items  tokens  of target",
        "  #1      4     205      93.2%  priority",
        "  #2      4     165      75.0%  a label that is too long to stand above a col...",
    ]


@pytest.mark.parametrize("labels", [("same", "same"), ("", "b"), ("a\nb", "c"), ("\u00e4", "\u00f6"), (" a", "b")])
def test_labels_that_cannot_be_told_apart_as_they_are_shown_are_numbered(labels: tuple[str, str]) -> None:
    """PO-05: labels need not be unique."""
    assert columns(compare([(labels[0], PRIORITY), (labels[1], REFLEXIVE)])) == ["#1", "#2"]


def test_many_variants_say_in_or_out() -> None:
    policies = (PRIORITY, REFLEXIVE, ONE, HALF)
    text = compare({f"variant {i}": policies[i % 4] for i in range(8)})
    assert section(text, "DIFFERENCES") == [
        "  tokens  #1   #2   #3   #4   #5   #6   #7   #8   content",
        "      80  out  in   out  out  out  in   out  out  Hotels in Milan, near the s...",
        "     120  in   out  out  out  in   out  out  out  Museums in Milan",
        "       5  in   in   in   out  in   in   in   out  Weather",
    ]
    assert section(text, "VARIANTS")[1] == "  #1      4     205      93.2%  variant 0"


def test_short_labels_stay_although_the_reasons_find_no_room() -> None:
    policies = (PRIORITY, REFLEXIVE, ONE, HALF)
    text = compare({label: policies[i % 4] for i, label in enumerate("abcdefgh")})
    assert columns(text) == [*"abcdefgh"]
    assert section(text, "DIFFERENCES")[3] == "       5  in   in   in   out  in   in   in   out  Weather"
    assert section(text, "VARIANTS")[1] == "  a      4     205      93.2%"


def test_contents_keep_24_characters() -> None:
    fitting, too_long = ("p" * 14, "r" * 13, "o" * 13), ("p" * 14, "r" * 14, "o" * 13)
    policies = (PRIORITY, REFLEXIVE, ONE)
    text = compare(dict(zip(fitting, policies, strict=True)))
    assert columns(text) == [*fitting]
    assert section(text, "DIFFERENCES")[1].endswith("  Hotels in Milan, near...")
    assert columns(compare(dict(zip(too_long, policies, strict=True)))) == ["#1", "#2", "#3"]


def test_a_label_may_take_a_quarter_of_the_page() -> None:
    assert columns(compare({"p" * 20: PRIORITY, "r": REFLEXIVE})) == ["p" * 20, "r"]
    assert columns(compare({"p" * 21: PRIORITY, "r": REFLEXIVE})) == ["#1", "#2"]


def test_without_columns_there_is_nothing_to_number() -> None:
    labels = [f"a variant number {i}" for i in range(5)]
    text = compare(dict.fromkeys(labels, PRIORITY))
    assert section(text, "VARIANTS")[5] == "  a variant number 4      4     205      93.2%"


def test_numbers_come_before_reasons_are_dropped() -> None:
    labels = ["priority first", "reflexive only", "one message", "half of it"]
    variants = dict(zip(labels, (PRIORITY, REFLEXIVE, ONE, HALF), strict=True))
    text = compare(variants)
    assert columns(text) == ["#1", "#2", "#3", "#4"]
    assert "capped" in text
    assert columns(compare(variants, width=120)) != ["#1", "#2", "#3", "#4"]


def test_more_variants_than_a_line_holds_continue_below() -> None:
    text = compare([(f"v{i}", (PRIORITY, REFLEXIVE)[i % 2]) for i in range(30)])
    assert max(map(len, text.splitlines())) <= 80
    assert text.splitlines()[-1].split() == ["#30", "4", "165", "75.0%", "v29"]
    assert len(section(text, "VARIANTS")) == 31


def test_a_narrow_page() -> None:
    text = compare({"priority": PRIORITY, "reflexive": REFLEXIVE}, width=40)
    assert section(text, "DIFFERENCES") == [
        "  tokens  #1   #2   content",
        "      80  out  in   Hotels in Milan, ...",
        "     120  in   out  Museums in Milan",
    ]


def test_contents_are_told_on_one_safe_line() -> None:
    items = [
        ContextItem("red \x1b[31m\n\t caf\u00e9", 150, priority=2, future_relevance_hint=0.1),
        ContextItem("w " * 500, 150, priority=1, future_relevance_hint=0.9),
    ]
    rows = section(compare({"p": PRIORITY, "r": REFLEXIVE}, items), "DIFFERENCES")[1:3]
    assert rows == [
        "     150  in       no room  red ?[31m caf\u00e9",
        "     150  no room  in       w w w w w w w w w w w w w w w w w w w w w w w w w...",
    ]


# --- long lists


def test_a_list_that_is_too_long_is_cut_and_says_so() -> None:
    items = [ContextItem(f"item {i}", 4, priority=i, future_relevance_hint=1 - i / 100) for i in range(100)]
    report = policy_sensitivity(items, BUDGET, {"p": PRIORITY, "r": REFLEXIVE})
    assert len(report.diffs) == 90
    lines = section(str(report), "DIFFERENCES")
    assert lines[40] == "       4  no room  in  item 39"
    assert lines[41] == "    ... and 50 more"
    assert "more" not in render_sensitivity(report, limit=None)
    assert len(section(render_sensitivity(report, limit=None), "DIFFERENCES")) == 1 + 90 + 2
    assert section(render_sensitivity(report, limit=0), "DIFFERENCES") == [
        "  tokens  p  r  content",
        "    ... and 90 more",
    ]


def test_the_limit_cuts_no_variant() -> None:
    text = render_sensitivity(EXAMPLE, limit=1)
    assert "    ... and 2 more" in text
    assert len(section(text, "VARIANTS")) == 5


# --- colours


def test_what_is_in_stands_out() -> None:
    text = render_sensitivity(EXAMPLE, color=True)
    assert text.startswith("\x1b[1m3 differences between 4 variants, among 5 items\x1b[0m\n")
    assert "\x1b[2m  no room \x1b[0m\x1b[1m  in       \x1b[0m\x1b[2m  capped \x1b[0m" in text
    assert re.sub("\x1b\\[[0-9]+m", "", text) == EXAMPLE_TEXT
    narrow = render_sensitivity(EXAMPLE, width=40, color=True)
    assert "\x1b[2m  out\x1b[0m\x1b[1m  in \x1b[0m" in narrow


# --- what is refused


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ({"width": "80"}, "width must be an int"),
        ({"limit": "all"}, "limit must be an int"),
        ({"color": "red"}, "color must be a bool"),
    ],
)
def test_options_of_a_wrong_type_are_refused(option: dict[str, Any], sentence: str) -> None:
    with pytest.raises(TypeError, match=sentence):
        render_sensitivity(EXAMPLE, **option)


@pytest.mark.parametrize("option", [{"width": 39}, {"limit": -1}])
def test_options_out_of_range_are_refused(option: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        render_sensitivity(EXAMPLE, **option)


@pytest.mark.parametrize("report", ["x", None, Pipeline(ReflexiveScorer()).dry_run(ITEMS, BUDGET)])
def test_only_comparisons_are_rendered(report: Any) -> None:
    with pytest.raises(TypeError, match="report must be a PolicySensitivityReport, not "):
        render_sensitivity(report)
