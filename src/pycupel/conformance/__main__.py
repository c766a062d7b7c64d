"""`python -m pycupel.conformance DIRECTORY [--suite NAME]`.

The exit code is 0 only if at least one vector ran and all of them passed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from pycupel import __version__
from pycupel.conformance.suite import SuiteResult, run_suite
from pycupel.errors import InvalidArgumentError
from pycupel.text import escaped


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the vectors in a directory, print the results, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m pycupel.conformance", description="Run Cupel conformance vectors.")
    parser.add_argument("directory", help="directory of *.toml vectors, searched recursively")
    parser.add_argument("--suite", metavar="NAME", help="name and version of the suite, to claim a level")
    parser.add_argument("-v", "--verbose", action="store_true", help="list the vectors that pass, too")
    options = parser.parse_args(arguments)
    try:
        suite = run_suite(options.directory, suite=options.suite)
    except (FileNotFoundError, InvalidArgumentError) as error:
        print(escaped(str(error)), file=sys.stderr)
        return 2
    if not suite.results:
        print(f"no vectors (*.toml) found in {escaped(options.directory)}", file=sys.stderr)
    else:
        print_results(suite, verbose=options.verbose)
    return 0 if suite.ok else 1


def print_results(suite: SuiteResult, *, verbose: bool) -> None:
    """Print the vectors that failed, or all of them, and what they prove."""
    for result in suite.results:
        if not result.passed:
            print(f"FAILED  {result.path}: {result.name}\n        {result.problem}")
        elif verbose:
            print(f"passed  {result.path}")
    for tier, (passed, total) in suite.tiers.items():
        print(f"{tier}: {passed} of {total}")
    passed = len(suite.results) - len(suite.failures)
    print(f"{passed} of {len(suite.results)} vectors passed")
    print(f"pycupel {__version__}: {suite.level}{f', by {suite.suite}' if suite.suite else ''}")


if __name__ == "__main__":
    sys.exit(main())
