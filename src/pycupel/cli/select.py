"""The verbs about items: `select`, `explain`, `sweep`, `diff` and `play`.

What only one verb needs is imported in it: the verbs share a start of some 40 ms, and pages, analytics and the server
of the playground would double it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Generator
from contextlib import contextmanager
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from pycupel.cli.exits import FINDINGS, OK, InputError, end_line_of_interrupt
from pycupel.cli.inputs import is_report, items_in, items_of, name_of, open_text, read_item_file, shown_items, values_in
from pycupel.cli.output import Screen, visible, write_page
from pycupel.cli.parsers import (
    Parser,
    Verb,
    add_selection,
    add_shared,
    bound,
    budget_of,
    policy_of,
)
from pycupel.codecs.base import Context
from pycupel.diagnostics.report import SelectionReport, report_over
from pycupel.errors import BudgetOverflowError, DocumentError, PinnedExceedsBudgetError
from pycupel.model import ContextItem
from pycupel.selecting import select

if TYPE_CHECKING:
    from pycupel.analytics import BudgetPoint, PolicySensitivityReport
    from pycupel.render._layout import Row


@contextmanager
def _advice_on_budget(items: list[ContextItem]) -> Generator[None]:
    """Say what to do about a budget that is too small, in the words of the command line."""
    try:
        yield
    except (PinnedExceedsBudgetError, BudgetOverflowError) as error:
        from pycupel.render.text import name_pinned  # noqa: PLC0415 - only for this error

        needed = error.pinned_tokens if isinstance(error, PinnedExceedsBudgetError) else error.merged_tokens
        pinned = visible(name_pinned(items))
        error.__notes__ = [f"Raise -b to {needed:,} or more, or pin less{f': {pinned}' if pinned else ''}."]
        raise


def _advice(notes: tuple[str, ...]) -> tuple[str, ...]:
    """Return notes that name strategies as policy files do: here, nobody calls a class."""
    if not notes:
        return ()
    from pycupel.policies.strategies import name_as_in_policies  # noqa: PLC0415 - few selections have notes

    return tuple(map(name_as_in_policies, notes))


# `select`: write the items that fit, as JSON lines.


def _select(options: Any, screen: Screen) -> int:
    """Write the selected items to stdout, in the order in which the model should read them."""
    from pycupel.wire import ITEM  # noqa: PLC0415 - `sweep` and `play` do not need it

    policy = policy_of(options.policy)
    budget = budget_of(options, policy=policy)
    items = read_item_file(options, screen)
    # A window that is given replaces what is known about the model.
    model = options.model if options.window is None else None
    with _advice_on_budget(items), screen.busy(f"selecting from {len(items):,} items"):
        result = select(items, budget, policy, query=options.query, model=model)
    screen.json_lines(ITEM.write(item, Context()) for item in result.items)
    for note in _advice(result.notes):
        screen.note(f"note: {note}")
    screen.note(f"{len(result.items):,} of {len(items):,} items, {result.total_tokens:,} of {budget:,} tokens")
    return OK


# `explain`: write the report on a selection, or explain one item.


_DEFAULT_POLICY = "chat"
_LONGEST_QUERY = 200


class _Explained(NamedTuple):
    """A report, and the candidates and the policy of its run; None for a stored report."""

    report: SelectionReport
    items: list[ContextItem] | None = None
    policy: Any = None


def _add_explain(parser: Parser) -> None:
    add_selection(parser, file="items: a JSON array or JSON lines; or a stored report", needs_budget=False)
    # So that a policy for a stored report is noticed.
    parser.set_defaults(policy=None)
    parser.add_argument("--why", metavar="N|START", help="explain one item: its number, or the start of its content")
    parser.add_argument("--all", action="store_true", help="list all items, not only the first 40 of each list")
    add_shared(parser, "--json", "--html")


def _explain(options: Any, screen: Screen) -> int:
    """Write the report, or the explanation of one item."""
    from pycupel.render._layout import QUIET, clipped, paragraph  # noqa: PLC0415

    explained = _read_or_select(options, screen)
    asked = f"stored report {visible(name_of(options.file))}"
    if explained.items is not None:
        query = "" if options.query is None else f", query '{clipped(visible(options.query), _LONGEST_QUERY)}'"
        asked = f"{visible(name_of(options.file))}, policy {visible(options.policy or _DEFAULT_POLICY)}{query}"
    if options.html is not None:
        from pycupel.render.html import render_html  # noqa: PLC0415 - most calls print

        report, items, policy = explained
        write_page(options.html, render_html(report, pipeline=policy, items=items, subtitle=asked), screen)
    # Leave out the times of the stages, so that the same input gives the same output.
    report = explained.report if explained.items is None else report_over(explained.report, events=())
    if options.why is not None:
        _explain_one(options, explained._replace(report=report), screen)
    elif options.json:
        from pycupel.wire import to_dict  # noqa: PLC0415

        screen.json(to_dict(report))
    elif options.html is None:
        from pycupel.render import render_report  # noqa: PLC0415

        screen.lines(paragraph(asked, screen.width, code=QUIET))
        limit = None if options.all else 40
        screen.text(render_report(report, color=screen.color, width=screen.width, limit=limit, unicode=screen.unicode))
    return OK


def _read_or_select(options: Any, screen: Screen) -> _Explained:
    """Read a stored report, or read items and select from them."""
    # Mistakes in the options are found before a long file is read.
    policy = policy_of(options.policy or _DEFAULT_POLICY)
    budget = None if options.budget is None else budget_of(options, policy=policy)
    with open_text(options.file, options.max_line, screen) as lines:
        values = values_in(lines)
        first = next(values)
        if is_report(first.value):
            return _stored(first.value, [*values], options)
        items = shown_items(items_of(chain([first], values), options, screen), options)
    if budget is None:
        raise InputError(
            "the following arguments are required: -b/--budget\n  pycupel explain --help lists its arguments"
        )
    with _advice_on_budget(items), screen.busy(f"selecting from {len(items):,} items"):
        report = select(items, budget, policy, query=options.query, explain=True).report
    return _Explained(report_over(report, notes=_advice(report.notes)), items, bound(policy, options.query))


def _stored(document: Any, rest: list[Any], options: Any) -> _Explained:
    from pycupel.wire import from_dict  # noqa: PLC0415

    given = {"-b": options.budget, "-p": options.policy, "-q": options.query}
    useless = [name for name, value in given.items() if value is not None]
    if useless:
        raise DocumentError(f"is a stored report; {useless[0]} selects again, which needs the items")
    if rest:
        raise DocumentError("must contain a single stored report")
    return _Explained(from_dict(SelectionReport, document, strict=options.strict, allow_nan=True))


def _explain_one(options: Any, explained: _Explained, screen: Screen) -> None:
    report, items, policy = explained
    wanted: Any = options.why
    if wanted.isdecimal():
        # The number that the report, and its page, give an item.
        candidates = [*report.items, *(each.item for each in report.excluded)]
        if not 0 < int(wanted) <= len(candidates):
            raise InputError(f"there is no item {wanted}: the report has {len(candidates):,}")
        wanted = candidates[int(wanted) - 1]
    found = report.why(wanted, pipeline=policy, items=items)
    if not options.json:
        from pycupel.render.text import render_explanation  # noqa: PLC0415

        screen.text(render_explanation(found, width=screen.width, unicode=screen.unicode))
        return
    from pycupel.wire import to_dict  # noqa: PLC0415

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
            "note": found.note,
        }
    )


# `sweep`: show what each of several budgets selects.


_MAX_BUDGETS = 1_000


def _add_sweep(parser: Parser) -> None:
    text = "budgets to try: 1000,2000 or 10%%,50%%, or a range FIRST:LAST:STEP; default: ten up to all tokens"
    add_selection(parser, budget=text, needs_budget=False)
    add_shared(parser, "--json")


def _sweep(options: Any, screen: Screen) -> int:
    """Write a line for each budget."""
    from pycupel.analytics import sweep_budgets  # noqa: PLC0415
    from pycupel.render._data import RowIndex  # noqa: PLC0415

    policy = policy_of(options.policy)
    budgets = None if options.budget is None else _budgets(options, policy)
    items = read_item_file(options, screen)
    everything = sum(max(0, item.tokens) for item in items)
    budgets = budgets or sorted({-(-everything * tenth // 10) for tenth in range(1, 11)})
    points = sweep_budgets(policy, items, budgets, query=options.query)
    # By their indices, because a shortened item is another object at each budget.
    index = RowIndex(items)
    found = [dict.fromkeys(row for row in index.find(point.items) if row is not None) for point in points]
    changes = [
        [[row for row in first if row not in second] for first, second in ((after, before), (before, after))]
        for before, after in pairwise([{}, *found])
    ]
    if options.json:
        documents = [
            {
                "budget": point.budget.max_tokens,
                "feasible": point.feasible,
                "items": len(point.items),
                "tokens": point.tokens,
                "utilization": point.utilization,
                "score": point.score,
                "enters": enters,
                "leaves": leaves,
            }
            for point, (enters, leaves) in zip(points, changes, strict=True)
        ]
        screen.json(documents)
        return OK
    from pycupel.render._layout import BAR, QUIET, Line, Span, Table, clipped, plural  # noqa: PLC0415

    columns = [">budget", ">items", ">tokens", ">used", ">score"]
    shares = [(len(point.items) / max(1, len(items)), BAR) for point in points]
    rows = screen.with_bars(columns, [_budget_row(point) for point in points], shares)
    table = Table([*columns, "<"], rows, screen.width)
    lines: list[Line] = [*table.titles()]
    for row, point, change in zip(rows, points, changes, strict=True):
        lines += table.lines([row])
        if not point.feasible:
            lines.append([Span("    too small for pinned or required items", QUIET)])
        for sign, changed in zip("+-", change, strict=True):
            if changed:
                names = ", ".join(clipped(visible(items[each].content, laid_out=True), 40) for each in changed)
                lines.append([Span(f"    {sign} {len(changed)}: {names}", QUIET)])
    screen.heading(f"{plural(len(points), 'budget')}, with what enters (+) and leaves (-) of {len(items):,} items")
    screen.lines(lines)
    return OK


def _budgets(options: Any, policy: Any) -> list[int]:
    first, *rest = options.budget.split(":")
    if not rest:
        each_budget = first.split(",")
        if any(re.fullmatch(r"0\d\d", each) for each in each_budget):
            raise InputError(f"a comma separates budgets here: write 1000, not 1,000, in {options.budget!r}")
        return [budget_of(options, policy=policy, given=each) for each in each_budget]
    if len(rest) != 2:
        raise InputError(f"a range of budgets is FIRST:LAST:STEP, like 1000:16000:500, not {options.budget!r}")
    low, high, step = (budget_of(options, policy=policy, given=each) for each in (first, *rest))
    if step < 1 or not low <= high <= low + step * _MAX_BUDGETS:
        raise InputError(
            f"a range of budgets must be ascending, with at most {_MAX_BUDGETS:,} steps, not {options.budget}"
        )
    return [*range(low, high + 1, step)]


def _budget_row(point: BudgetPoint) -> Row:
    from pycupel.render._layout import QUIET, Row, Span, count, number, share  # noqa: PLC0415

    budget = Span(count(point.budget.max_tokens))
    if not point.feasible:
        return Row((budget, *[Span("-", QUIET)] * 4))
    used = share(point.tokens, point.budget.max_tokens)
    cells = (count(len(point.items)), count(point.tokens), used, number(point.score))
    return Row((budget, *map(Span, cells)))


# `diff`: show what policies select differently. Exit 1 if they do.


def _add_diff(parser: Parser) -> None:
    add_selection(parser, policies=True)
    add_shared(parser, "--json", "--html")


def _diff(options: Any, screen: Screen) -> int:
    """Write the differences."""
    from pycupel.analytics import policy_sensitivity  # noqa: PLC0415

    names: list[str] = options.policy or []
    if len(names) < 2:
        raise InputError("diff compares policies: give at least two, like -p chat -p rag.toml")
    if options.html is not None:
        from pycupel.render.html import MOST_REPORTS  # noqa: PLC0415 - most calls print

        if len(names) > MOST_REPORTS:
            raise InputError(f"a page shows at most {MOST_REPORTS} policies side by side, not {len(names)}")
    budget, policies = budget_of(options), [(name, policy_of(name)) for name in names]
    items = shown_items(read_item_file(options, screen), options)
    with _advice_on_budget(items):
        report = policy_sensitivity(items, budget, policies, query=options.query)
    if options.html is not None:
        write_page(options.html, _diff_page(report, bound(policies[0][1], options.query), items), screen)
    if options.json:
        variants = [
            {"policy": label, "items": len(each.included), "tokens": each.included_tokens}
            for label, each in report.variants
        ]
        differences = [
            {"content": diff.content, "selectedBy": [label for label, status in diff.statuses if status == "Included"]}
            for diff in report.diffs
        ]
        screen.json({"variants": variants, "differences": differences})
    elif options.html is None:
        from pycupel.render import render_sensitivity  # noqa: PLC0415

        screen.text(render_sensitivity(report, width=screen.width, color=screen.color, unicode=screen.unicode))
    return FINDINGS if report.diffs else OK


def _diff_page(report: PolicySensitivityReport, policy: Any, items: list[ContextItem]) -> str:
    """Make a page of all policies, side by side."""
    from pycupel.render.html import render_html  # noqa: PLC0415

    names, (first, *others) = zip(*report.variants, strict=True)
    title = f"{', '.join(names[:-1])} and {names[-1]}"
    return render_html(first, pipeline=policy, items=items, other=others, title=title, names=names)


# `play`: open the playground in a browser.


def _add_play(parser: Parser) -> None:
    add_selection(parser, budget="the initial budget; default: half of all tokens", needs_budget=False)
    parser.add_argument("--port", type=int, default=0, metavar="N", help="default: any free port")
    parser.add_argument("--no-browser", action="store_true", help="print the address without opening a browser")


def _play(options: Any, screen: Screen) -> int:
    """Serve the page until Ctrl-C."""
    from pycupel import web  # noqa: PLC0415 - an HTTP server

    def read(text: str) -> list[ContextItem]:
        return items_in(io.StringIO(text), options, screen)

    def tell(address: str) -> None:
        screen.text(address)
        screen.out.flush()
        screen.note("Ctrl-C ends the playground")

    policy = policy_of(options.policy)
    budget = None if options.budget is None else budget_of(options, policy=policy)
    items = read_item_file(options, screen)
    state = web.State(items, policy, budget, options.query, name=name_of(options.file), read=read)
    web.play(state, options.port, browser=not options.no_browser, tell=tell)
    end_line_of_interrupt()
    return OK


VERBS = {
    "select": Verb(_select, add_selection, "pycupel demo items | pycupel select - -b 2000 -q 'why do payments fail?'"),
    "explain": Verb(
        _explain,
        _add_explain,
        """
pycupel demo items | pycupel explain - -b 2000
pycupel demo items | pycupel explain - -b 2000 --why 'Runbook'
""",
    ),
    "sweep": Verb(_sweep, _add_sweep, "pycupel demo items | pycupel sweep - -b 1000:6000:1000"),
    "diff": Verb(_diff, _add_diff, "pycupel demo items | pycupel diff - -b 2000 -p chat -p debugging"),
    "play": Verb(
        _play,
        _add_play,
        """
pycupel demo items > items.jsonl
pycupel play items.jsonl
""",
    ),
}
