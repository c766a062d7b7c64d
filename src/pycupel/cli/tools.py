"""The verbs beside single selections: `batch`, `policy`, `conformance` and `completion`.

They have little in common, so each imports what it needs.
"""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager
from threading import current_thread, main_thread
from time import perf_counter
from typing import TYPE_CHECKING, Any, get_args

from pycupel import __version__
from pycupel.cli import VERBS as ALL_VERBS
from pycupel.cli.exits import FINDINGS, OK, InputError, report
from pycupel.cli.output import Screen, abridged, visible
from pycupel.cli.parsers import (
    Parser,
    Verb,
    add_input,
    add_policy,
    add_quiet,
    add_shared,
    as_sentence,
    load_verb,
    policy_of,
    verb_parser,
)

if TYPE_CHECKING:
    from pycupel.batch import BatchSummary
    from pycupel.conformance import SuiteResult

# `batch`: select the context of every request in a log.


_MAX_LISTED = 5


def _add_batch(parser: Parser) -> None:
    add_input(parser, "logged requests: JSON lines, or Parquet files", several="INPUT")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="output directory, created if missing")
    add_policy(parser)
    parser.add_argument(
        "--compare", metavar="NAME|FILE", help="a second policy, to show what it would select differently"
    )
    parser.add_argument("--engine", choices=("local", "dask"), default="local", help="default: local")
    parser.add_argument("--workers", type=int, metavar="N", help="processes; default: one for each processor")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="a Dask scheduler; default: a cluster on this machine")
    parser.add_argument("--resume", action="store_true", help="continue an interrupted job")
    add_shared(parser, "--json")


def run_batch_verb(options: Any, screen: Screen) -> int:
    """Write the rows into the directory, and a summary to stdout."""
    if "-" in options.files:
        raise InputError("batch cannot read stdin: pass a file, so that --resume works")
    try:
        with _interrupted_by_sigterm():
            summary = _select_all(options, screen)
    except KeyboardInterrupt:
        screen.note("interrupted; use --resume to continue")
        raise
    if options.json:
        screen.json(_summary_document(summary))
    else:
        _show_summary(summary, options, screen)
    if not summary.requests:
        screen.warn(f"no requests in {', '.join(options.files)}")
    if summary.errors and summary.errors == summary.requests:
        from pycupel.cli.inputs import HISTORY, REQUESTS, hint_in, open_bytes  # noqa: PLC0415 - only for this error

        with open_bytes(options.files[0], options.max_line) as lines:
            hint = hint_in(next(lines, b""), REQUESTS, HISTORY)
        raise InputError(f"every request failed; first error: {summary.first_error}{hint}")
    if summary.errors:
        screen.note(f"first error: {summary.first_error}")
    return OK


@contextmanager
def _interrupted_by_sigterm() -> Generator[None]:
    """Treat SIGTERM like Ctrl-C, so that workers end and the user is told how to go on."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    if current_thread() is not main_thread():
        # Only the main thread gets signals.
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _select_all(options: Any, screen: Screen) -> BatchSummary:
    from pycupel.batch import run_batch  # noqa: PLC0415

    bar = BatchProgress(screen)
    try:
        return run_batch(
            options.files,
            policy_of(options.policy),
            options.output,
            options.engine,
            options.workers,
            scheduler=options.scheduler,
            resume=options.resume,
            compare=None if options.compare is None else policy_of(options.compare),
            progress=bar.show,
            max_line=options.max_line,
        )
    finally:
        screen.progress("")


class BatchProgress:
    """Shows the progress of the whole job, and the speed and remaining time of this run."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._start = perf_counter()
        # Of the whole job.
        self._done, self._share = 0, 0.0
        # Of this run.
        self._selected, self._worked_off = 0, 0.0

    def show(self, done: int, share: float) -> None:
        """Show how many requests are done, and what share of the input that is."""
        now = perf_counter()
        if done > self._done and share > self._share:
            self._selected += done - self._done
            self._worked_off += share - self._share
        elif not self._selected:
            # Requests that were done before are skipped, and took no time in this run.
            self._start = now
        self._done, self._share = done, share
        line = f"{done:,} requests {self._screen.bar(share, 20)}"
        if self._selected:
            seconds = now - self._start
            remaining = (1 - share) * seconds / self._worked_off
            line += f" {self._selected / seconds:,.0f}/s, {remaining:,.0f} s left"
        self._screen.progress(line)


def _show_summary(summary: BatchSummary, options: Any, screen: Screen) -> None:
    from pycupel.render._layout import ALARM, Row, Span, count, plural  # noqa: PLC0415

    screen.heading(f"{plural(summary.requests, 'request')} under {options.policy}")
    screen.lines(
        [
            [Span(f"  errors       {count(summary.errors)}", ALARM if summary.errors else "")],
            [Span(f"  tokens       {count(summary.tokens)}")],
            [Span(f"  utilization  {summary.utilization:.0%} of the window on average")],
        ]
    )
    if summary.reasons:
        screen.text("")
        rows = [Row((Span(count(number)), Span(reason))) for reason, number in summary.reasons.items()]
        screen.table((">left out", "<reason"), rows)
    if options.compare is not None:
        screen.text("")
        screen.heading(f"{options.compare} would select differently in {plural(summary.differing, 'request')}")
        screen.lines([[Span(f"  tokens       {count(summary.other_tokens)}")]])
    if options.compare is not None and summary.swings:
        screen.text("")
        rows = [
            Row((Span(count(each.only_first)), Span(count(each.only_second))), visible(each.content, laid_out=True))
            for each in summary.swings
        ]
        screen.table((f">only {abridged(options.policy)}", f">only {abridged(options.compare)}"), rows, text="item")
    if summary.slowest:
        screen.note(
            "slowest requests: "
            + ", ".join(f"{name} ({seconds * 1e3:.1f} ms)" for name, seconds in summary.slowest[:_MAX_LISTED])
        )
    screen.note(f"rows written to {options.output}")


def _summary_document(summary: BatchSummary) -> dict[str, Any]:
    return {
        "requests": summary.requests,
        "errors": summary.errors,
        "firstError": summary.first_error,
        "tokens": summary.tokens,
        "utilization": round(summary.utilization, 4),
        "tenths": summary.tenths,
        "reasons": summary.reasons,
        "slowest": [{"id": name, "seconds": round(seconds, 6)} for name, seconds in summary.slowest],
        "differing": summary.differing,
        "otherTokens": summary.other_tokens,
        "swings": [
            {"content": each.content, "onlyFirst": each.only_first, "onlySecond": each.only_second}
            for each in summary.swings
        ],
    }


# `policy`: list, show, check and convert policies.


def _add_policy_actions(parser: Parser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION", parser_class=Parser)

    def add_action(name: str, summary: str) -> Parser:
        action = actions.add_parser(name, help=summary, description=as_sentence(summary))
        add_quiet(action)
        return action

    add_shared(add_action("list", "list the presets"), "--json")
    show = add_action("show", "print a preset or a file in the canonical form")
    show.add_argument("policy", metavar="NAME|FILE", help="a preset or a policy file")
    show.add_argument("--format", choices=("json", "toml", "yaml"), default="json", help="default: json")
    check = add_action("check", "find the mistakes in policy files")
    check.add_argument("files", nargs="+", metavar="FILE", help="policy files: JSON, TOML or YAML")
    add_action("schema", "print the JSON Schema of policy files")
    convert = add_action("convert", "convert a policy; the suffix of the new file sets the format")
    convert.add_argument("source", metavar="NAME|FILE", help="a preset or a policy file")
    convert.add_argument("target", metavar="FILE", help="the file to write: .json, .toml, .yaml or .yml")


def _policy(options: Any, screen: Screen) -> int:
    """Run the action."""
    from pycupel.policies import PRESETS, dump_policy, policy_json_schema, save_policy  # noqa: PLC0415

    if options.action == "check":
        return _check(options.files, screen)
    if options.action == "show":
        screen.out.write(dump_policy(policy_of(options.policy), options.format))
    elif options.action == "schema":
        screen.json(policy_json_schema())
    elif options.action == "convert":
        save_policy(policy_of(options.source), options.target)
    elif options.json:
        screen.json([{"name": name, "description": policy.description} for name, policy in PRESETS.items()])
    else:
        screen.terms({name: policy.description or "" for name, policy in PRESETS.items()})
    return OK


def _check(files: list[str], screen: Screen) -> int:
    """Check all files, even if the first one is wrong."""
    from pycupel.errors import CupelError  # noqa: PLC0415
    from pycupel.policies import load_policy  # noqa: PLC0415

    code = OK
    for file in files:
        try:
            load_policy(file)
        except (CupelError, OSError) as error:
            code = report(error)
        else:
            screen.text(f"{visible(file)}: fine")
    return code


# `conformance`: run conformance vectors. Exit 1 if one fails.


def _add_conformance(parser: Parser) -> None:
    parser.add_argument("directory", metavar="DIRECTORY", help="directory of *.toml vectors, searched recursively")
    parser.add_argument("--suite", metavar="NAME", help="name and version of the suite, to claim a level")
    parser.add_argument("-v", "--verbose", action="store_true", help="list the vectors that pass, too")
    add_shared(parser, "--json")


def _conformance(options: Any, screen: Screen) -> int:
    """Run the vectors, and write the results."""
    from pathlib import Path  # noqa: PLC0415

    from pycupel.conformance import run_suite  # noqa: PLC0415

    if Path(options.directory).is_file():
        raise InputError(f"{options.directory} is a file; pass the directory that contains it")
    try:
        suite = run_suite(options.directory, suite=options.suite)
    except FileNotFoundError as error:
        raise InputError(str(error)) from None
    if options.json:
        tiers = {tier: {"passed": passed, "total": total} for tier, (passed, total) in suite.tiers.items()}
        failures = [{"path": str(each.path), "name": each.name, "problem": each.problem} for each in suite.failures]
        screen.json({"level": suite.level, "tiers": tiers, "failures": failures})
    elif suite.results:
        _show_suite(suite, screen, verbose=options.verbose)
    if not suite.results:
        screen.warn(f"no vectors (*.toml) found in {options.directory}")
    return OK if suite.ok else FINDINGS


def _show_suite(suite: SuiteResult, screen: Screen, *, verbose: bool) -> None:
    """Write the vectors that failed, or all of them, and what they prove."""
    for result in suite.results:
        if not result.passed:
            screen.text(f"FAILED  {result.path}: {result.name}\n        {result.problem}")
        elif verbose:
            screen.text(f"passed  {result.path}")
    for tier, (passed, total) in suite.tiers.items():
        screen.text(f"{tier}: {passed} of {total}")
    screen.text(f"{len(suite.results) - len(suite.failures)} of {len(suite.results)} vectors passed")
    screen.text(f"pycupel {__version__}: {suite.level}{f', by {suite.suite}' if suite.suite else ''}")


# `completion`: print a script that completes verbs, options and names.


# zsh runs the same function through its emulation of bash's completion.
_ZSH = "autoload -U +X compinit && compinit -u\nautoload -U +X bashcompinit && bashcompinit\n"
_BASH = """\
_pycupel() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} words=
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="{verbs} --help --version"
    else
        case "$previous" in
            -p|--policy) words="{presets}" ;;
            --provider) words="{providers}" ;;
            *) case "${{COMP_WORDS[1]}}" in
{cases}
            esac ;;
        esac
    fi
    COMPREPLY=( $(compgen -W "$words" -- "$current") )
    # Everything else is a file.
    case "$current" in -*) ;; *) COMPREPLY+=( $(compgen -f -- "$current") ) ;; esac
}}
complete -o filenames -F _pycupel pycupel
"""


# fish completes files where nothing else is said.
_FISH = """\
complete -c pycupel -n __fish_use_subcommand -xa '{verbs}'
complete -c pycupel -s p -l policy -xa '{presets}'
complete -c pycupel -l provider -xa '{providers}'
{cases}
"""


def _add_completion(parser: Parser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def _completion(options: Any, screen: Screen) -> int:
    """Write the script."""
    from pycupel.messages.options import ProviderName  # noqa: PLC0415
    from pycupel.policies.presets import PRESETS  # noqa: PLC0415

    if options.shell == "fish":
        template, case = _FISH, "complete -c pycupel -n '__fish_seen_subcommand_from {}' -a '{}'"
    else:
        template, case = _BASH, '                {}) words="{}" ;;'
    script = template.format(
        verbs=" ".join(ALL_VERBS),
        presets=" ".join(PRESETS),
        providers=" ".join(get_args(ProviderName)),
        cases="\n".join(case.format(name, " ".join(_words(name))) for name in ALL_VERBS),
    )
    screen.out.write(f"{_ZSH}{script}" if options.shell == "zsh" else script)
    return OK


def _words(name: str) -> list[str]:
    """Return the options of a verb, and the words that it takes."""
    words: list[str] = []
    for action in verb_parser(name, load_verb(name))._actions:  # noqa: SLF001 - argparse has no public way
        words += action.option_strings or map(str, action.choices or ())
    return words


VERBS = {
    "batch": Verb(
        run_batch_verb,
        _add_batch,
        """
pycupel demo requests > requests.jsonl
pycupel batch requests.jsonl -p rag -o selected
""",
    ),
    "policy": Verb(
        _policy,
        _add_policy_actions,
        """
pycupel policy list
pycupel policy show rag > rag.json
pycupel policy convert rag.json rag.toml
pycupel policy check rag.json rag.toml
""",
    ),
    "conformance": Verb(
        _conformance,
        _add_conformance,
        """
mkdir -p vectors
pycupel demo vector > vectors/recency.toml
pycupel conformance vectors
""",
    ),
    "completion": Verb(_completion, _add_completion, "pycupel completion bash > pycupel.bash"),
}
