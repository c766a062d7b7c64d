"""`pycupel play`: open the playground in a browser."""

from __future__ import annotations

import io
from typing import Any

from pycupel.cli.exits import FINE, end_line_of_interrupt
from pycupel.cli.inputs import items_in, name_of, read_items
from pycupel.cli.options import add_selection, budget_of, policy_of
from pycupel.cli.output import Screen
from pycupel.cli.parsers import Parser
from pycupel.model import ContextItem
from pycupel.web import Bench, play

EXAMPLE = """
pycupel demo items > items.jsonl
pycupel play items.jsonl
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the verb."""
    add_selection(parser, budget="the initial budget; default: half of all tokens", needs_budget=False)
    parser.add_argument("--port", type=int, default=0, metavar="N", help="default: any free port")
    parser.add_argument("--no-browser", action="store_true", help="print the address without opening a browser")


def run(options: Any, screen: Screen) -> int:
    """Serve the page until Ctrl-C."""

    def read(text: str) -> list[ContextItem]:
        return items_in(io.StringIO(text), options, screen)

    def tell(address: str) -> None:
        screen.text(address)
        screen.out.flush()
        screen.note("Ctrl-C ends the playground")

    policy = policy_of(options.policy)
    budget = None if options.budget is None else budget_of(options, policy=policy)
    items = read_items(options, screen)
    bench = Bench(items, policy, budget, options.query, name=name_of(options.file), read=read)
    play(bench, options.port, browser=not options.no_browser, tell=tell)
    end_line_of_interrupt()
    return FINE
