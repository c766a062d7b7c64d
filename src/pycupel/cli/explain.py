"""`pycupel explain`: write the report on a selection, or explain one item."""

from __future__ import annotations

from itertools import chain
from typing import Any, NamedTuple

from pycupel.cli.exits import FINE, InputError
from pycupel.cli.inputs import is_report, items_of, name_of, open_text, shown_items, values_in
from pycupel.cli.options import add_json, add_selection, bound, budget_of, policy_of
from pycupel.cli.output import Screen, add_html, visible, write_page
from pycupel.cli.parsers import Parser
from pycupel.diagnostics import SelectionReport
from pycupel.diagnostics.report import report_over
from pycupel.errors import DocumentError
from pycupel.model import ContextItem
from pycupel.render import render_report
from pycupel.render._layout import QUIET, clipped, paragraph
from pycupel.render.text import render_explanation
from pycupel.selecting import select
from pycupel.wire import from_dict, to_dict

EXAMPLE = """
pycupel demo items | pycupel explain - -b 2000
pycupel demo items | pycupel explain - -b 2000 --why 'Runbook'
"""

_DEFAULT_POLICY = "chat"
_LONGEST_QUERY = 200


class _Explained(NamedTuple):
    """A report, and the candidates and the policy of its run; None for a stored report."""

    report: SelectionReport
    items: list[ContextItem] | None = None
    policy: Any = None


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the verb."""
    add_selection(parser, file="items: a JSON array or JSON lines; or a stored report", needs_budget=False)
    # So that a policy for a stored report is noticed.
    parser.set_defaults(policy=None)
    parser.add_argument("--why", metavar="INDEX|START", help="explain one item: its index, or the start of its content")
    parser.add_argument("--all", action="store_true", help="list all items, not only the first 40 of each list")
    add_json(parser)
    add_html(parser)


def run(options: Any, screen: Screen) -> int:
    """Write the report, or the explanation of one item."""
    explained = _read(options, screen)
    # Leave out the times of the stages, so that the same input gives the same output.
    report = explained.report if explained.items is None else report_over(explained.report, events=())
    if options.html is not None:
        write_page(options.html, _page(options, explained), screen)
    if options.why is not None:
        _explain_one(options, explained._replace(report=report), screen)
    elif options.json:
        screen.json(to_dict(report))
    elif options.html is None:
        screen.lines(paragraph(_asked(options, explained), screen.width, code=QUIET))
        limit = None if options.all else 40
        text = render_report(report, color=screen.color, width=screen.width, limit=limit, unicode=screen.unicode)
        screen.text(text)
    return FINE


def _read(options: Any, screen: Screen) -> _Explained:
    """Read a stored report, or read items and select from them."""
    # Mistakes in the options are found before a long file is read.
    policy = policy_of(options.policy or _DEFAULT_POLICY)
    budget = None if options.budget is None else budget_of(options, policy=policy)
    with open_text(options.file, options.max_line) as lines:
        values = values_in(lines)
        first = next(values)
        if is_report(first.value):
            return _stored(first.value, [*values], options)
        items = shown_items(items_of(chain([first], values), options, screen), options)
    if budget is None:
        raise InputError(
            "the following arguments are required: -b/--budget\n  pycupel explain --help lists its arguments"
        )
    report = select(items, budget, policy, query=options.query, explain=True).report
    return _Explained(report, items, bound(policy, options.query))


def _stored(document: Any, rest: list[Any], options: Any) -> _Explained:
    given = {"-b": options.budget, "-p": options.policy, "-q": options.query}
    useless = [name for name, value in given.items() if value is not None]
    if useless:
        raise DocumentError(f"is a stored report; {useless[0]} selects again, which needs the items")
    if rest:
        raise DocumentError("must contain a single stored report")
    return _Explained(from_dict(SelectionReport, document, strict=options.strict, allow_nan=True))


def _asked(options: Any, explained: _Explained) -> str:
    """Say what was asked: the file, the policy and the query."""
    file = visible(name_of(options.file))
    if explained.items is None:
        return f"stored report {file}"
    query = "" if options.query is None else f", query '{clipped(visible(options.query), _LONGEST_QUERY)}'"
    return f"{file}, policy {visible(options.policy or _DEFAULT_POLICY)}{query}"


def _page(options: Any, explained: _Explained) -> str:
    from pycupel.render.html import render_html  # noqa: PLC0415 - most calls print

    report, items, policy = explained
    return render_html(report, pipeline=policy, items=items, subtitle=_asked(options, explained))


def _explain_one(options: Any, explained: _Explained, screen: Screen) -> None:
    report, items, policy = explained
    wanted: str = options.why
    # A stored report does not know the order of the items.
    where = int(wanted) if wanted.isdecimal() and items is not None else wanted
    found = report.why(where, pipeline=policy, items=items)
    if not options.json:
        screen.text(render_explanation(found, width=screen.width, unicode=screen.unicode))
        return
    screen.json(
        {
            "file": name_of(options.file),
            "policy": None if items is None else options.policy or _DEFAULT_POLICY,
            "query": options.query,
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
