"""What holds for every comparison of policies, whatever the pipelines, the items and the budget."""

from __future__ import annotations

from hypothesis import given, reject, strategies as st

from pycupel import ContextBudget, ContextItem, CupelError, Pipeline
from pycupel.analytics import ItemStatus, PolicySensitivityReport, policy_sensitivity
from pycupel.render.sensitivity import render_sensitivity
from tests import strategies
from tests.examples import examples
from tests.property.test_text import ESCAPE, check_lines

LABELS = st.text(max_size=12) | st.sampled_from(("recency", "quota", "a label that is much too long for a column"))
VARIANTS = st.lists(st.tuples(LABELS, strategies.pipelines()), min_size=2, max_size=4)


def compared(
    items: list[ContextItem], budget: ContextBudget, variants: list[tuple[str, Pipeline]]
) -> PolicySensitivityReport:
    try:
        return policy_sensitivity(items, budget, variants)
    except CupelError:
        reject()


@examples(50)
@given(strategies.item_lists(), strategies.budgets(), VARIANTS)
def test_the_differences_follow_from_the_variants(
    items: list[ContextItem], budget: ContextBudget, variants: list[tuple[str, Pipeline]]
) -> None:
    """Diff semantics, PO-01, PO-03: recomputed from the reports, one content after the other."""
    report = compared(items, budget, variants)
    assert [label for label, _ in report.variants] == [label for label, _ in variants]
    expected = []
    for place, item in enumerate(items):
        verdicts = [any(item.content == chosen.content for chosen in each.items) for _, each in report.variants]
        is_first = all(item.content != earlier.content for earlier in items[:place])
        if is_first and any(verdicts) and not all(verdicts):
            status = {True: ItemStatus.INCLUDED, False: ItemStatus.EXCLUDED}
            statuses = [(label, status[verdict]) for (label, _), verdict in zip(variants, verdicts, strict=True)]
            expected.append((item.content, tuple(statuses)))
    assert [*report.diffs] == expected


@examples(50)
@given(
    strategies.item_lists(),
    strategies.budgets(),
    VARIANTS,
    st.integers(1, 6),
    st.sampled_from((40, 60, 80, 120)),
    st.sampled_from((None, 40, 2, 0)),
)
def test_every_comparison_keeps_within_the_page(
    items: list[ContextItem],
    budget: ContextBudget,
    variants: list[tuple[str, Pipeline]],
    times: int,
    width: int,
    limit: int | None,
) -> None:
    report = compared(items, budget, variants * times)
    plain = render_sensitivity(report, width=width, limit=limit)
    check_lines(plain, width)
    ascii_only = render_sensitivity(report, width=width, limit=limit, unicode=False)
    assert ascii_only.isascii()
    check_lines(ascii_only, width)
    assert ESCAPE.sub("", render_sensitivity(report, width=width, limit=limit, color=True)) == plain
