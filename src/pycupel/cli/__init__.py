"""The command line: `pycupel VERB ...`, or `python -m pycupel VERB ...`.

| module | what it is |
|---|---|
| `exits` | exit codes, and errors as messages |
| `parsers` | parsing, the help, the options that verbs share, and suggestions for mistakes |
| `inputs` | reading items and chat histories, with errors that name file, line, record and field |
| `output` | writing: tables, bars, pages and JSON, for a terminal or a pipe |
| `look`, `select`, `histories`, `project`, `tools` | the verbs, a module for each group |
| `demo` | the invented session that `demo` shows and writes |

A module of verbs has a table `VERBS`; it is imported when one of them is called, so that `pycupel --help` does not load
the library.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pycupel.cli.exits import InputError, run_guarded

__all__ = ["GROUPS", "VERBS", "main"]

GROUPS = {
    "look": {
        "demo": "run a demonstration, or write data to try the other verbs on",
        "context": "show where the window of a logged session goes",
        "replay": "show what policies would have sent in logged sessions",
    },
    "select": {
        "select": "select the items that fit into a budget",
        "explain": "say why items are in or out",
        "sweep": "show what other budgets would select",
        "diff": "show what policies select differently",
        "play": "try policies and budgets in a browser",
    },
    "histories": {
        "trim": "trim a chat history to a budget",
        "lint": "find what a provider would reject in a chat history",
        "count": "count the tokens of texts, items and chat histories",
    },
    "project": {
        "check": "hold files and stored sessions to the limits in pyproject.toml",
        "skill": "teach a coding agent to look at its own context window",
    },
    "tools": {
        "batch": "select the context of every request in a log",
        "policy": "list, show, check and convert policies",
        "conformance": "run conformance vectors",
        "completion": "print the completion script for bash, zsh or fish",
    },
}
"""The verbs by group, each with what it does. The module of a group has its name; `demo` has its own."""

VERBS = {name: summary for verbs in GROUPS.values() for name, summary in verbs.items()}
"""All verbs, each with what it does."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code: 0 success, 1 findings, 2 wrong usage or input, 3 does not fit."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    return run_guarded(lambda: _run(given))


def _run(given: list[str]) -> int:
    # Inside `run_guarded`, so that Ctrl-C ends the program without a traceback during the imports, too.
    from pycupel.cli.parsers import load_verb, run_without_verb, verb_parser  # noqa: PLC0415

    if not given or given[0] not in VERBS:
        return run_without_verb(given)
    name, *rest = given
    verb = load_verb(name)
    options = verb_parser(name, verb).parse_args(rest)
    from pycupel.cli.output import Screen  # noqa: PLC0415 - the help of a verb does not need it
    from pycupel.diagnostics.collector import unobserved  # noqa: PLC0415

    for module in options.imports:
        _import(module)
    with unobserved():
        return verb.run(options, Screen.of_process(quiet=options.quiet, color=options.color))


def _import(module: str) -> None:
    """Import a module of the user, also from the current directory, as `python -m` does."""
    from importlib import import_module  # noqa: PLC0415 - only for --import

    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        # One that the module itself imports is a defect of it, which needs its traceback.
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise InputError(f"--import {module}: there is no such module here or among the installed ones") from None
