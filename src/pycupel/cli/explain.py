"""`pycupel explain`: write the report on a selection, or explain one item."""

from __future__ import annotations

from typing import Any

from pycupel.cli.exits import FINE
from pycupel.cli.items import read_shown_items
from pycupel.cli.options import add_json, add_selection, bound, budget_of, policy_of
from pycupel.cli.output import Screen
from pycupel.cli.pages import add_html, write_page
from pycupel.cli.parsers import Parser
from pycupel.diagnostics import SelectionReport
from pycupel.diagnostics.report import with_fields
from pycupel.model import ContextItem
from pycupel.render import render_report
from pycupel.render.explanation import render_explanation
from pycupel.selecting import select
from pycupel.wire import to_dict

__all__ = ["EXAMPLE", "add_arguments", "run"]

EXAMPLE = """
pycupel demo items | pycupel explain - -b 2000
pycupel demo items | pycupel explain - -b 2000 --why 'Runbook'
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the verb."""
    add_selection(parser)
    parser.add_argument("--why", metavar="INDEX|START", help="explain one item: its index, or the start of its content")
    parser.add_argument("--all", action="store_true", help="list all items, not only the first 40 of each list")
    add_json(parser)
    add_html(parser)


def run(options: Any, screen: Screen) -> int:
    """Write the report, or the explanation of one item."""
    budget, policy = budget_of(options), policy_of(options.policy)
    items = read_shown_items(options, screen)
    timed = select(items, budget, policy, query=options.query, explain=True).report
    # Leave out the times of the stages, so that the same input gives the same output.
    report = with_fields(timed, events=())
    if options.html is not None:
        from pycupel.render.html import render_html  # noqa: PLC0415 - most calls print

        write_page(options.html, render_html(timed, pipeline=bound(policy, options.query), items=items), screen)
    if options.why is not None:
        _explain_one(options, report, policy, items, screen)
    elif options.json:
        screen.json(to_dict(report))
    elif options.html is None:
        limit = None if options.all else 40
        text = render_report(report, color=screen.color, width=screen.width, limit=limit, unicode=screen.unicode)
        screen.text(text)
    return FINE


def _explain_one(options: Any, report: SelectionReport, policy: Any, items: list[ContextItem], screen: Screen) -> None:
    wanted: str = options.why
    where = int(wanted) if wanted.isdecimal() else wanted
    found = report.why(where, pipeline=bound(policy, options.query), items=items)
    if not options.json:
        screen.text(render_explanation(found, width=screen.width, unicode=screen.unicode))
        return
    screen.json(
        {
            "item": to_dict(found.item),
            "included": found.included,
            "reason": found.reason if isinstance(found.reason, str) else to_dict(found.reason),
            "score": found.score,
            "rank": found.rank,
            "parts": [part._asdict() for part in found.parts],
            "instead": [to_dict(item) for item in found.instead],
            "minBudget": found.min_budget,
            "minBudgetIsExact": found.min_budget_is_exact,
        }
    )
