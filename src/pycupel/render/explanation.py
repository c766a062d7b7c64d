"""Format the explanation of one item."""

from __future__ import annotations

from pycupel.diagnostics import ExcludedItem, Explanation
from pycupel.diagnostics.reasons import ExclusionReason
from pycupel.model.version import version_mark
from pycupel.render._layout import HEADING, Line, Row, Span, Table, clipped, count, finish, number, paragraph, plural
from pycupel.render._reasons import explain

__all__ = ["render_explanation"]

_WIDTH = 80
_QUOTE = 40


def render_explanation(explanation: Explanation, *, width: int = _WIDTH, unicode: bool = True) -> str:
    """Format an explanation: the item, whether it was selected and why, its score, and what would select it.

    Args:
        explanation: The explanation.
        width: The maximum length of a line.
        unicode: False shows a `?` for each character beyond ASCII.
    """
    item = explanation.item
    lines = paragraph(clipped(item.content, width), width, code=HEADING)

    def indented(text: str) -> list[Line]:
        return paragraph(text, width, indent="  ")

    what = f"{clipped(item.kind.value, _QUOTE)} of {plural(item.tokens, 'token')}"
    if version_mark(item) is not None and item.original_tokens is not None:
        what = f"{what}, shortened from {count(item.original_tokens)}"
    lines += indented(f"{what}, {'selected' if explanation.included else 'left out'}: {_reason(explanation)}")
    rank = "" if explanation.rank is None else f", rank {count(explanation.rank)}"
    lines += indented(f"score {number(explanation.score)}{rank}")
    if explanation.parts:
        rows = [
            Row((Span(f"{part.weight:.2f}"), Span(number(part.score)), Span(clipped(part.scorer, _QUOTE))))
            for part in explanation.parts
        ]
        table = Table((">weight", ">score", "<scorer"), rows, width, indent="  ")
        lines += [*table.titles(), *table.lines(rows)]
    if explanation.instead:
        lines += indented("selected instead, lowest scores first:")
        lines += [
            line
            for other in explanation.instead
            for line in indented(f"  {count(other.tokens)} tokens: {clipped(other.content, _QUOTE)}")
        ]
    if explanation.min_budget is not None:
        which = "next" if explanation.min_budget_is_exact else "a"
        lines += indented(f"{which} larger budget that selects it: {count(explanation.min_budget)}")
    return finish(lines, width, color=False, unicode=unicode)


def _reason(explanation: Explanation) -> str:
    reason = explanation.reason
    if not isinstance(reason, ExclusionReason):
        return clipped(reason, _QUOTE)
    cause = explain(ExcludedItem(explanation.item, explanation.score, reason), {}, 13)
    return f"{cause.title}, {cause.why}" if cause.why else cause.title
