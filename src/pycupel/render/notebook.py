"""What results show of themselves in a notebook: a page of panels in a frame, which runs nothing outside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pycupel.analytics import BudgetPoint
from pycupel.diagnostics import Explanation
from pycupel.diagnostics.reasons import reason_name
from pycupel.render._layout import clipped, count, number, plural, share
from pycupel.render.html import (
    Bar,
    Bars,
    Figure,
    Figures,
    GrowthChart,
    Notes,
    Panel,
    Rows,
    WindowGauge,
    render_frame,
    render_panels,
)
from pycupel.render.text import render_explanation
from pycupel.selecting import ContextResult

_LONGEST_TEXT, _LONGEST_LINE = 200, 2_000


def result_html(result: ContextResult) -> str:
    """Show what `select` returned: its report, or the selected items if there is none."""
    if result.report is not None:
        return render_frame(result.report.to_html())
    kinds: dict[str, int] = {}
    for item in result.items:
        kinds[item.kind.value] = kinds.get(item.kind.value, 0) + item.tokens
    rows = [
        (i, item.kind.value, item.tokens, clipped(item.content, _LONGEST_TEXT))
        for i, item in enumerate(result.items, 1)
    ]
    return _framed(
        "Selected items",
        [
            Figures([Figure("Items", len(result.items)), Figure("Tokens", result.total_tokens)]),
            Bars("Tokens by kind", [Bar(kind, tokens) for kind, tokens in kinds.items()]),
            Rows("In the order in which the model reads them", ("#", "Kind", "Tokens", "Content"), rows),
            *_notes(result.notes),
        ],
    )


def selection_html(selection: Any) -> str:
    """Show what `select_messages` returned, whose type stands in a layer above: the window, and what was left out."""
    usage = selection.usage
    groups = {"system": usage.system, "tools": usage.tools, **usage.history, "documents": usage.documents}
    bars = [Bar(name, tokens) for name, tokens in groups.items() if tokens]
    reasons = Counter(reason_name(each.reason) for each in (*selection.dropped, *selection.dropped_documents))
    kept = Figure("Messages", len(selection.messages), f"of {count(selection.history_length)}")
    counted = f"for {selection.provider}, counted by {selection.counter}"
    figures = [kept, Figure("Prompt", usage.prompt, counted), Figure("Free", usage.free, "tokens")]
    panels: list[Panel] = [
        Figures(figures),
        WindowGauge("The window", bars, usage.window - usage.reply, usage.reply),
        Rows("Left out", ("Reason", "Messages and documents"), [*reasons.items()]),
    ]
    return _framed("Selected messages", [*panels[: 3 if reasons else 2], *_notes(selection.notes)])


def explanation_html(explanation: Explanation) -> str:
    """Show why one item was selected or left out."""
    parts = [
        Bar(part.scorer, round(part.weight * part.score, 4), f"weight {part.weight:.2f}, score {number(part.score)}")
        for part in explanation.parts
    ]
    # Each sentence in one line; what is a table in a terminal has a panel of its own.
    _, *lines = render_explanation(replace(explanation, parts=(), instead=()), width=_LONGEST_LINE).splitlines()
    panels: list[Panel] = [Notes("Why", [line.strip() for line in lines])]
    if parts:
        panels.append(Bars("Score by scorer", parts, unit="", shares=False))
    if explanation.instead:
        rows = [(item.tokens, clipped(item.content, _LONGEST_TEXT)) for item in explanation.instead]
        panels.append(Rows("Selected instead, lowest scores first", ("Tokens", "Content"), rows))
    return _framed(clipped(explanation.item.content, 80), panels)


def sweep_html(points: Sequence[BudgetPoint]) -> str:
    """Show what several budgets select."""
    rows = [
        (
            point.budget.max_tokens,
            len(point.items) if point.feasible else "too small",
            point.tokens,
            share(point.tokens, point.budget.max_tokens),
            round(point.score, 4),
        )
        for point in points
    ]
    tokens = [point.tokens if point.feasible else None for point in points]
    chart = [GrowthChart("Tokens selected, from budget to budget", tokens, point="budget")] if len(points) > 1 else []
    title = f"What {plural(len(points), 'budget')} select"
    return _framed(title, [*chart, Rows("Budgets", ("Budget", "Items", "Tokens", "Used", "Score"), rows)])


def _notes(notes: Sequence[str]) -> list[Panel]:
    return [Notes("Notes", notes)] if notes else []


def _framed(title: str, panels: Sequence[Panel]) -> str:
    return render_frame(render_panels(title, panels), height=420)
