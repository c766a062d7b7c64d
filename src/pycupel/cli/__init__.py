"""The command line: `pycupel VERB ...`, or `python -m pycupel VERB ...`.

| module | what it is |
|---|---|
| `parsers` | parsing, the help, and suggestions for mistakes |
| `options` | the options that verbs share |
| `inputs` | opening files and stdin, with errors that name the file |
| `items`, `conversations` | reading items and chat histories, with errors that name line, record and field |
| `hints` | what a file seems to contain, and the verb that reads it |
| `jsonstream` | the values of a JSON text, one at a time |
| `output` | writing: tables, bars and JSON, for a terminal or a pipe |
| `exits` | exit codes, and errors as messages |
| `logs` | common parts of the verbs about logged sessions |
| `context_text` | the sections that `context` prints |
| `sample` | the session that `demo` writes |
| `width` | how wide the screen is |
| `pages`, `log_pages` | what `--html` writes |

Every other module is a verb: `add_arguments(parser)` says what it takes, `run(options, screen)` does it and returns the
exit code. A verb is imported when it is called, so that `pycupel --help` does not load the library.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pycupel.cli.exits import guarded

__all__ = ["VERBS", "main"]

VERBS = {
    "context": "show where the window of a logged session goes",
    "replay": "show what policies would have sent in logged sessions",
    "select": "select the items that fit into a budget",
    "explain": "say why items are in or out",
    "sweep": "show what other budgets would select",
    "diff": "show what policies select differently",
    "trim": "trim a chat history to a budget",
    "lint": "find what a provider would reject in a chat history",
    "count": "count the tokens of texts, items and chat histories",
    "batch": "select the context of every request in a log",
    "play": "try policies and budgets in a browser",
    "policy": "list, show, check and convert policies",
    "conformance": "run conformance vectors",
    "completion": "print the completion script for bash or zsh",
    "demo": "run a demonstration, or write data to try the other verbs on",
}
"""The verbs, each with what it does."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code: 0 success, 1 findings, 2 wrong usage or input, 3 does not fit.

    Args:
        arguments: The arguments after the program's name; by default those of the process.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    return guarded(lambda: _run(given))


def _run(given: list[str]) -> int:
    from pycupel.cli.parsers import load_verb, run_without_verb, verb_parser  # noqa: PLC0415 - inside `guarded`

    if not given or given[0] not in VERBS:
        return run_without_verb(given, VERBS)
    name, *rest = given
    verb = load_verb(name)
    options = verb_parser(name, VERBS[name], verb).parse_args(rest)
    from pycupel.cli.output import Screen  # noqa: PLC0415
    from pycupel.diagnostics.observers import unobserved  # noqa: PLC0415

    with unobserved():
        return verb.run(options, Screen.of_process(quiet=options.quiet))
