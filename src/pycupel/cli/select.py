"""`pycupel select`: write the items that fit, as JSON lines."""

from __future__ import annotations

from typing import Any

from pycupel.cli.exits import FINE
from pycupel.cli.inputs import read_items
from pycupel.cli.options import add_selection, budget_of, policy_of
from pycupel.cli.output import Screen
from pycupel.cli.parsers import Parser
from pycupel.codecs.base import Context
from pycupel.selecting import select
from pycupel.wire.items import ITEM

EXAMPLE = "pycupel demo items | pycupel select - -b 2000 -q 'why do payments fail?'"


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the verb."""
    add_selection(parser)


def run(options: Any, screen: Screen) -> int:
    """Write the selected items to stdout, in the order in which the model should read them."""
    policy = policy_of(options.policy)
    budget = budget_of(options, policy=policy)
    items = read_items(options, screen)
    # A window that is given replaces what is known about the model.
    model = options.model if options.window is None else None
    result = select(items, budget, policy, query=options.query, model=model)
    screen.json_lines(ITEM.write(item, Context()) for item in result.items)
    for note in result.notes:
        screen.note(f"note: {note}")
    screen.note(f"{len(result.items):,} of {len(items):,} items, {result.total_tokens:,} of {budget:,} tokens")
    return FINE
