"""`pycupel conformance`: run conformance vectors. Exit 1 if one fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pycupel.cli.exits import FINDINGS, FINE, InputError
from pycupel.cli.options import add_json
from pycupel.cli.output import Screen
from pycupel.cli.parsers import Parser
from pycupel.conformance import SuiteResult, run_suite
from pycupel.conformance.__main__ import print_results

EXAMPLE = """
mkdir -p vectors
pycupel demo vector > vectors/recency.toml
pycupel conformance vectors
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("directory", metavar="DIRECTORY", help="directory of *.toml vectors, searched recursively")
    parser.add_argument("--suite", metavar="NAME", help="name and version of the suite, to claim a level")
    parser.add_argument("-v", "--verbose", action="store_true", help="list the vectors that pass, too")
    add_json(parser)


def run(options: Any, screen: Screen) -> int:
    """Run the vectors, and write the results."""
    if Path(options.directory).is_file():
        raise InputError(f"{options.directory} is a file; pass the directory that contains it")
    try:
        suite = run_suite(options.directory, suite=options.suite)
    except FileNotFoundError as error:
        raise InputError(str(error)) from None
    if options.json:
        screen.json(_document(suite))
    elif suite.results:
        print_results(suite, verbose=options.verbose)
    if not suite.results:
        screen.warn(f"no vectors (*.toml) found in {options.directory}")
    return FINE if suite.ok else FINDINGS


def _document(suite: SuiteResult) -> dict[str, Any]:
    return {
        "level": suite.level,
        "tiers": {tier: {"passed": passed, "total": total} for tier, (passed, total) in suite.tiers.items()},
        "failures": [{"path": str(each.path), "name": each.name, "problem": each.problem} for each in suite.failures],
    }
