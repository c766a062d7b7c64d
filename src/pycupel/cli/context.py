"""`pycupel context`: show where the window of a logged session goes, and what policies would have sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pycupel.cli import logs
from pycupel.cli.context_text import usage_lines
from pycupel.cli.exits import FINE, InputError
from pycupel.cli.inputs import name_of, naming
from pycupel.cli.options import add_budget, add_counter, add_input, add_json, budget_of, parse_amount
from pycupel.cli.output import Screen
from pycupel.cli.pages import add_html, write_page
from pycupel.cli.parsers import Parser
from pycupel.messages import Finding
from pycupel.render._layout import HEADING, paragraph
from pycupel.replay import ContextUsage, History, Log, PolicyReplay, context_usage, replay

__all__ = ["EXAMPLE", "add_arguments", "run"]

EXAMPLE = """
pycupel demo transcript > session.jsonl
pycupel context session.jsonl
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the verb."""
    add_input(parser, "a transcript, requests or messages; - for stdin")
    add_budget(parser, required=False, text="budget at which to compare policies; default: half the largest prompt")
    logs.add_policies(parser)
    parser.add_argument(
        "--conversation",
        type=int,
        metavar="N",
        help="which conversation to show, counting from 1; default: the largest",
    )
    add_counter(parser, "token counter")
    add_json(parser)
    add_html(parser)


def run(options: Any, screen: Screen) -> int:
    """Write the usage, or a page of it."""
    # A mistake need not wait for a long log.
    policies = logs.policies_of(options.policy or logs.USUAL)
    if options.budget is not None:
        parse_amount(options.budget)
    log = logs.read(options.file, options.max_line, screen)
    with naming(options.file), logs.progress_bar(screen) as progress:
        usage = context_usage(_chosen(log, options), counter=options.counter)
        budget = usage.total // 2 if options.budget is None else budget_of(options, usage.history.model)
        # The budget also has to hold what is not in the file.
        room = budget - usage.not_in_file
        results = replay(usage.history, room, policies, counter=usage.counter, progress=progress) if room > 0 else ()
    findings = _relevant_findings(usage)
    if options.html is not None:
        from pycupel.cli.log_pages import context_page  # noqa: PLC0415 - most calls print

        # A page may be shared, and a path may reveal more than the name of the file.
        name = Path(name_of(options.file)).name
        write_page(options.html, context_page(name, usage, findings, budget, results), screen)
    if options.json:
        screen.json(_document(usage, budget, results))
    elif options.html is None:
        screen.lines(usage_lines(options.file, log, usage, findings, screen))
        _write_policies(usage, budget, results, screen)
    return FINE


def _chosen(log: Log, options: Any) -> Log | History:
    number: int | None = options.conversation
    if number is None:
        return log
    if not 1 <= number <= len(log.histories):
        raise InputError(f"there is no conversation {number}: the file has {len(log.histories)}")
    return log.histories[number - 1]


def _relevant_findings(usage: ContextUsage) -> list[Finding]:
    """Return the findings, without warnings about the last message: a log may end anywhere."""
    last = len(usage.history.messages) - 1
    return [each for each in usage.findings if each.severity == "error" or each.index < last]


def _write_policies(usage: ContextUsage, budget: int, results: Sequence[PolicyReplay], screen: Screen) -> None:
    hidden = f", {usage.not_in_file:,} of them not in the file" if usage.not_in_file else ""
    screen.lines(paragraph(f"ALTERNATIVES at {budget:,} tokens per prompt{hidden}", screen.width, code=HEADING))
    if results:
        logs.write_policies(results, screen)
    else:
        screen.text("  The part that is not in the file exceeds this budget: pass a larger --budget.")


def _document(usage: ContextUsage, budget: int, results: Sequence[PolicyReplay]) -> dict[str, Any]:
    return {
        "model": usage.history.model,
        "calls": len(usage.growth),
        "messages": len(usage.history.messages),
        "largestPrompt": {"call": usage.call, "tokens": usage.total, "countedByProvider": usage.counted_by is not None},
        "counter": str(usage.counter),
        "window": [row._asdict() for row in usage.rows],
        "largest": [
            {"message": part.message, "kind": part.kind, "tool": part.tool, "tokens": part.tokens}
            for part in usage.largest
        ],
        "superseded": usage.superseded._asdict(),
        "repeated": usage.repeated._asdict(),
        "findings": [asdict(finding) for finding in usage.findings],
        "growth": [each._asdict() for each in usage.growth],
        "instead": {"budget": budget, "policies": [logs.document(result) for result in results]},
    }
