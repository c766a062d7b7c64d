"""Whatever a report holds, its text can be printed, has no trailing blanks and keeps within the page."""

from __future__ import annotations

import re

from hypothesis import given, reject, strategies as st

from pycupel import ContextBudget, ContextItem, ContextKind, CupelError, Pipeline, SelectionReport
from pycupel.diagnostics import (
    BudgetExceeded,
    CountCapExceeded,
    CountRequirementShortfall,
    Deduplicated,
    ExcludedItem,
    ExclusionReason,
    IncludedItem,
    InclusionReason,
    NegativeTokens,
    PinnedOverride,
    PipelineStage,
    ScoredTooLow,
    TraceEvent,
    UnknownReason,
)
from pycupel.render import render_report
from pycupel.render._layout import columns
from tests import strategies
from tests.examples import examples
from tests.render.test_text import make_report, section

ESCAPE = re.compile("\x1b\\[[0-9]+m")


def check(report: SelectionReport, width: int, limit: int | None) -> None:
    """What holds for the text of every report."""
    plain = render_report(report, width=width, limit=limit)
    check_lines(plain, width)
    check_lines(str(report), 80)
    assert ESCAPE.sub("", render_report(report, width=width, limit=limit, color=True)) == plain
    ascii_only = render_report(report, width=width, limit=limit, unicode=False)
    assert ascii_only.isascii()
    check_lines(ascii_only, width)


def check_lines(text: str, width: int) -> None:
    for line in text.split("\n"):
        assert line == line.rstrip()
        assert line.isprintable()
        assert columns(line) <= width


@examples(100)
@given(
    strategies.pipelines(),
    strategies.item_lists(),
    strategies.budgets(),
    st.sampled_from((40, 60, 80, 120)),
    st.sampled_from((None, 40, 2)),
)
def test_every_run_keeps_within_the_page(
    pipeline: Pipeline, items: list[ContextItem], budget: ContextBudget, width: int, limit: int | None
) -> None:
    try:
        report = pipeline.dry_run(items, budget)
    except CupelError:
        reject()
    check(report, width, limit)
    # So wide that no heading continues on a line of its own, which would look like a row.
    text = render_report(report, width=1_000)
    rows = [row for row in section(text, "LEFT OUT") if re.match(r" {4,}(#|\d+)  ", row)]
    assert len(rows) - bool(rows) == len(report.excluded)
    assert len(section(text, "SELECTED")[1:]) == len(report.included)


ANY_INT = st.integers(-1_000, 10_000) | st.sampled_from((10**9, 10**13, 10**400, -(10**30))) | st.integers()
ANY_FLOAT = st.floats()
ANY_NAME = st.text(min_size=1).filter(str.strip) | st.sampled_from(("Message", "x" * 300, "\u6f22\u5b57" * 20))
ANY_TEXT = st.text(min_size=1) | st.sampled_from(("w " * 500, "\x1b[2J", "\u6f22\u5b57" * 50, "\ud800", "a\u2028b"))
ANY_ITEM = st.builds(ContextItem, ANY_TEXT, ANY_INT, kind=ANY_NAME)
ANY_REASON: st.SearchStrategy[ExclusionReason] = st.one_of(
    st.builds(BudgetExceeded, ANY_INT, ANY_INT),
    st.builds(Deduplicated, ANY_TEXT),
    st.builds(NegativeTokens, ANY_INT),
    st.builds(PinnedOverride, ANY_TEXT),
    st.builds(CountCapExceeded, ANY_NAME, ANY_INT, ANY_INT),
    st.builds(ScoredTooLow, ANY_FLOAT, ANY_FLOAT),
    st.builds(
        lambda name, fields: UnknownReason(f"New{name}", {f"its {key}": value for key, value in fields.items()}),
        st.text(),
        st.dictionaries(st.text(), ANY_INT | ANY_FLOAT | st.text() | st.none() | st.lists(st.booleans())),
    ),
)
ANY_BUDGET = st.none() | strategies.budgets() | st.sampled_from((ContextBudget(10**9), ContextBudget(10**500, 1)))
ANY_EVENT = st.builds(TraceEvent, st.sampled_from(PipelineStage), ANY_FLOAT, ANY_INT, st.none() | ANY_TEXT)
ANY_SHORTFALL = st.builds(CountRequirementShortfall, ANY_NAME.map(ContextKind), ANY_INT, ANY_INT)
ANY_REPORT = st.builds(
    make_report,
    st.lists(st.builds(IncludedItem, ANY_ITEM, ANY_FLOAT, st.sampled_from(InclusionReason)), max_size=6),
    st.lists(st.builds(ExcludedItem, ANY_ITEM, ANY_FLOAT, ANY_REASON), max_size=6),
    events=st.lists(ANY_EVENT, max_size=4),
    count_requirement_shortfalls=st.lists(ANY_SHORTFALL, max_size=3),
    budget=ANY_BUDGET,
    notes=st.lists(ANY_TEXT, max_size=2),
)


@examples(100)
@given(ANY_REPORT, st.sampled_from((40, 41, 60, 80, 200)), st.sampled_from((None, 40, 2, 0)))
def test_every_imaginable_report_keeps_within_the_page(report: SelectionReport, width: int, limit: int | None) -> None:
    check(report, width, limit)
