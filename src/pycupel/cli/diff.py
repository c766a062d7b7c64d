"""`pycupel diff`: what policies select differently. Exit 1 if they do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pycupel.analytics import PolicySensitivityReport, policy_sensitivity
from pycupel.cli.exits import FINDINGS, FINE, InputError
from pycupel.cli.inputs import read_items
from pycupel.cli.output import Screen, visible
from pycupel.cli.parsers import Parser, add_budget, add_items, add_json, add_policy, add_query, budget_of, policy_of
from pycupel.render import render_sensitivity

__all__ = ["EXAMPLE", "add_arguments", "run"]

EXAMPLE = "pycupel demo items | pycupel diff - -b 2000 -p chat -p debugging"


def add_arguments(parser: Parser) -> None:
    """Add what the verb takes."""
    add_items(parser)
    add_budget(parser)
    add_policy(parser, many=True)
    add_query(parser)
    add_json(parser)


def run(options: Any, screen: Screen) -> int:
    """Write the differences."""
    names: list[str] = options.policy or []
    if len(names) < 2:
        raise InputError("diff compares policies: give at least two, like -p chat -p rag.toml")
    budget, policies = budget_of(options), [(name, policy_of(name)) for name in names]
    items = read_items(options, screen)
    if not options.json:
        items = [replace(item, content=visible(item.content)) for item in items]
    report = policy_sensitivity(items, budget, policies, query=options.query)
    if options.json:
        screen.json(_document(report))
    else:
        screen.text(
            render_sensitivity(report, width=screen.width, color=screen.color, unicode=screen.unicode),
        )
    return FINDINGS if report.diffs else FINE


def _document(report: PolicySensitivityReport) -> dict[str, Any]:
    return {
        "variants": [
            {"policy": label, "items": len(each.included), "tokens": each.included_tokens}
            for label, each in report.variants
        ],
        "differences": [
            {"content": diff.content, "selectedBy": [label for label, status in diff.statuses if status == "Included"]}
            for diff in report.diffs
        ],
    }
