"""`pycupel sweep`: show what each of several budgets selects."""

from __future__ import annotations

import re
from typing import Any

from pycupel.analytics import BudgetPoint, sweep_budgets
from pycupel.cli.exits import FINE, InputError
from pycupel.cli.inputs import read_items
from pycupel.cli.options import add_json, add_selection, percent_or_tokens, policy_of
from pycupel.cli.output import Screen
from pycupel.cli.parsers import Parser
from pycupel.render._layout import QUIET, Row, Span, count, number, share

EXAMPLE = "pycupel demo items | pycupel sweep - -b 1000:6000:1000"

_MAX_BUDGETS = 1_000


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the verb."""
    add_selection(parser, budget="budgets to try: 1000,2000 or 10%%,50%%, or a range FIRST:LAST:STEP")
    add_json(parser)


def run(options: Any, screen: Screen) -> int:
    """Write a line for each budget."""
    policy = policy_of(options.policy)
    budgets = _budgets(options, policy)
    items = read_items(options, screen)
    points = sweep_budgets(policy, items, budgets, query=options.query)
    if options.json:
        screen.json([_document(point) for point in points])
        return FINE
    room = max(10, screen.width - 60)
    screen.table(
        (">budget", ">items", ">tokens", ">used", ">score", "<"),
        [_row(point, len(items), screen, room) for point in points],
    )
    return FINE


def _budgets(options: Any, policy: Any) -> list[int]:
    first, *rest = options.budget.split(":")
    if not rest:
        each_budget = first.split(",")
        if any(re.fullmatch(r"0\d\d", each) for each in each_budget):
            raise InputError(f"a comma separates budgets here: write 1000, not 1,000, in {options.budget!r}")
        return [percent_or_tokens(each, options, policy=policy) for each in each_budget]
    if len(rest) != 2:
        raise InputError(f"a range of budgets is FIRST:LAST:STEP, like 1000:16000:500, not {options.budget!r}")
    low, high, step = (percent_or_tokens(each, options, policy=policy) for each in (first, *rest))
    if step < 1 or not low <= high <= low + step * _MAX_BUDGETS:
        raise InputError(
            f"a range of budgets must be ascending, with at most {_MAX_BUDGETS:,} steps, not {options.budget}"
        )
    return [*range(low, high + 1, step)]


def _row(point: BudgetPoint, candidates: int, screen: Screen, room: int) -> Row:
    budget = Span(count(point.budget.max_tokens))
    if not point.feasible:
        return Row((budget, *[Span("-", QUIET)] * 4, Span("too small for pinned or required items", QUIET)))
    used = share(point.tokens, point.budget.max_tokens)
    cells = (count(len(point.items)), count(point.tokens), used, number(point.score))
    return Row((budget, *map(Span, cells), Span(screen.bar(len(point.items) / max(1, candidates), room))))


def _document(point: BudgetPoint) -> dict[str, Any]:
    return {
        "budget": point.budget.max_tokens,
        "feasible": point.feasible,
        "items": len(point.items),
        "tokens": point.tokens,
        "utilization": point.utilization,
        "score": point.score,
    }
