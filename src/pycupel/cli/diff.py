"""`pycupel diff`: show what policies select differently. Exit 1 if they do."""

from __future__ import annotations

from typing import Any

from pycupel.analytics import PolicySensitivityReport, policy_sensitivity
from pycupel.cli.exits import FINDINGS, FINE, InputError
from pycupel.cli.inputs import read_items, shown_items
from pycupel.cli.options import add_json, add_selection, bound, budget_of, policy_of
from pycupel.cli.output import Screen, add_html, write_page
from pycupel.cli.parsers import Parser
from pycupel.model import ContextItem
from pycupel.pipeline import Policy
from pycupel.render import render_sensitivity

EXAMPLE = "pycupel demo items | pycupel diff - -b 2000 -p chat -p debugging"


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the verb."""
    add_selection(parser, policies=True)
    add_json(parser)
    add_html(parser)


def run(options: Any, screen: Screen) -> int:
    """Write the differences."""
    names: list[str] = options.policy or []
    if len(names) < 2:
        raise InputError("diff compares policies: give at least two, like -p chat -p rag.toml")
    budget, policies = budget_of(options), [(name, policy_of(name)) for name in names]
    items = shown_items(read_items(options, screen), options)
    report = policy_sensitivity(items, budget, policies, query=options.query)
    if options.html is not None:
        write_page(options.html, _page(report, policies[0][1], items, options.query), screen)
    if options.json:
        screen.json(_document(report))
    elif options.html is None:
        screen.text(render_sensitivity(report, width=screen.width, color=screen.color, unicode=screen.unicode))
    return FINDINGS if report.diffs else FINE


def _page(report: PolicySensitivityReport, policy: Policy, items: list[ContextItem], query: str | None) -> str:
    """Make a page of the first two policies, side by side."""
    from pycupel.render.html import render_html  # noqa: PLC0415 - most calls print

    (name, first), (other_name, second), *_ = report.variants
    title = f"{name} and {other_name}"
    return render_html(
        first, pipeline=bound(policy, query), items=items, other=second, title=title, names=(name, other_name)
    )


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
