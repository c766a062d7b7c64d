"""`pycupel conformance`: run conformance vectors. Exit 1 if one fails."""

from __future__ import annotations

from typing import Any

from pycupel.cli.exits import FINDINGS, FINE, InputError
from pycupel.cli.output import Screen
from pycupel.cli.parsers import Parser, add_json
from pycupel.conformance import run_suite
from pycupel.conformance.__main__ import main

__all__ = ["EXAMPLE", "add_arguments", "run"]

EXAMPLE = """
mkdir -p vectors
pycupel demo vector > vectors/recency.toml
pycupel conformance vectors
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("directory", metavar="DIRECTORY", help="where the *.toml files are, in any depth")
    parser.add_argument("--suite", metavar="NAME", help="name and version of the suite, to claim a level")
    parser.add_argument("-v", "--verbose", action="store_true", help="list the vectors that pass, too")
    add_json(parser)


def run(options: Any, screen: Screen) -> int:
    """Run the vectors, and write the results."""
    if not options.json:
        named = ["--suite", options.suite] if options.suite is not None else []
        return main([options.directory, *named, *(["--verbose"] if options.verbose else [])])
    try:
        suite = run_suite(options.directory, suite=options.suite)
    except FileNotFoundError as error:
        raise InputError(str(error)) from None
    screen.json(
        {
            "level": suite.level,
            "tiers": {tier: {"passed": passed, "total": total} for tier, (passed, total) in suite.tiers.items()},
            "failures": [
                {"path": str(each.path), "name": each.name, "problem": each.problem} for each in suite.failures
            ],
        }
    )
    return FINE if suite.ok else FINDINGS
