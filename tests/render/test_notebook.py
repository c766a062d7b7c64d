"""What results show of themselves in a notebook."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest

from pycupel import ContextItem, Pipeline, ReflexiveScorer, select
from pycupel.analytics import sweep_budgets
from pycupel.messages import select_messages

ITEMS = [
    ContextItem("pinned </script>", 3, kind="SystemPrompt", pinned=True),
    ContextItem("good", 4, future_relevance_hint=0.9),
    ContextItem("bad", 5, kind="Document", future_relevance_hint=0.1),
]
PIPELINE = Pipeline(ReflexiveScorer())


def page_of(value: Any) -> dict[str, Any]:
    """Return the data of the page in the frame."""
    frame = re.fullmatch(
        r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts" .*</iframe>', value._repr_html_(), re.DOTALL
    )
    assert frame
    page = html.unescape(frame[1])
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def panels_of(value: Any) -> dict[str, Any]:
    return {panel.get("title", panel["type"]): panel for panel in page_of(value)["panels"]}


def test_a_selection_shows_its_items() -> None:
    panels = panels_of(select(ITEMS, 8, PIPELINE))
    assert [row[1:] for row in panels["In the order in which the model reads them"]["rows"]] == [
        ["SystemPrompt", 3, "pinned </script>"],
        ["Message", 4, "good"],
    ]
    assert [bar[:2] for bar in panels["Tokens by kind"]["bars"]] == [["SystemPrompt", 3], ["Message", 4]]
    assert "Notes" not in panels
    assert panels_of(select([ContextItem("a", 1)], 8, PIPELINE))["Notes"]["lines"], "no item has a hint"


def test_with_a_report_it_is_that_of_the_report() -> None:
    result = select(ITEMS, 8, PIPELINE, explain=True)
    assert page_of(result)["report"]["candidates"] == 3
    assert result._repr_html_() == result.report._repr_mimebundle_()["text/html"]


def test_messages_show_the_window_and_what_was_left_out() -> None:
    history = [{"role": "user", "content": f"question {n} " * 40} for n in range(4)]
    whole, some = (select_messages(history, budget, counter="estimator") for budget in (10_000, 300))
    panels = panels_of(some)
    assert panels["The window"]["limit"] + panels["The window"]["reserve"] == 300
    assert panels["Left out"]["rows"] == [["BudgetExceeded", len(some.dropped)]]
    assert panels["figures"]["figures"][0] == ["Messages", len(some.messages), "of 4"]
    assert "Left out" not in panels_of(whole)


@pytest.mark.parametrize(("content", "verdict"), [("good", "selected"), ("bad", "left out")])
def test_an_explanation_shows_reason_and_scores(content: str, verdict: str) -> None:
    why = select(ITEMS, 8, PIPELINE, explain=True).report.why(content)
    assert page_of(why)["title"] == content
    panels = panels_of(why)
    assert verdict in panels["Why"]["lines"][0]
    assert panels["Score by scorer"]["bars"][0][0] == "ReflexiveScorer"
    # Sentences only: what is a table in a terminal is no note.
    assert not any(line.startswith(("weight", "selected instead")) for line in panels["Why"]["lines"])
    assert [row[0] for row in panels.get("Selected instead, lowest scores first", {"rows": []})["rows"]] == [
        item.tokens for item in why.instead
    ]
    assert bool(why.instead) is (content == "bad")


def test_an_item_without_scores_has_no_chart() -> None:
    assert "Score by scorer" not in panels_of(select(ITEMS, 8, PIPELINE, explain=True).report.why("pinned"))


def test_a_sweep_shows_its_points() -> None:
    points = sweep_budgets(PIPELINE, ITEMS, [1, 8, 12])
    assert points == tuple(points)
    panels = panels_of(points)
    assert [row[:3] for row in panels["Budgets"]["rows"]] == [[1, "too small", 0], [8, 2, 7], [12, 3, 12]]
    assert panels["Tokens selected, from budget to budget"]["totals"] == [None, 7, 12]
    assert [*panels_of(sweep_budgets(PIPELINE, ITEMS, [8]))] == ["Budgets"]
