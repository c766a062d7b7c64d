"""`pycupel batch`: select the context of every request in a log."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager
from threading import current_thread, main_thread
from time import perf_counter
from typing import Any

from pycupel.batch import BatchSummary, run_batch
from pycupel.cli.exits import FINE, InputError
from pycupel.cli.inputs import HISTORY, REQUESTS, hint_in, open_bytes
from pycupel.cli.options import add_input, add_json, add_policy, policy_of
from pycupel.cli.output import Screen, abridged, visible
from pycupel.cli.parsers import Parser
from pycupel.render._layout import ALARM, Row, Span, count, plural

EXAMPLE = """
pycupel demo requests > requests.jsonl
pycupel batch requests.jsonl -p rag -o selected
"""

_MAX_LISTED = 5


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the verb."""
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
    add_json(parser)


def run(options: Any, screen: Screen) -> int:
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
        screen.json(_document(summary))
    else:
        _show(summary, options, screen)
    if not summary.requests:
        screen.warn(f"no requests in {', '.join(options.files)}")
    if summary.errors and summary.errors == summary.requests:
        with open_bytes(options.files[0], options.max_line) as lines:
            hint = hint_in(next(lines, b""), REQUESTS, HISTORY)
        raise InputError(f"every request failed; first error: {summary.first_error}{hint}")
    if summary.errors:
        screen.note(f"first error: {summary.first_error}")
    return FINE


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
    bar = _ProgressBar(screen)
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


class _ProgressBar:
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


def _show(summary: BatchSummary, options: Any, screen: Screen) -> None:
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
        _show_differences(summary, options, screen)
    if summary.slowest:
        screen.note(
            "slowest requests: "
            + ", ".join(f"{name} ({seconds * 1e3:.1f} ms)" for name, seconds in summary.slowest[:_MAX_LISTED])
        )
    screen.note(f"rows written to {options.output}")


def _show_differences(summary: BatchSummary, options: Any, screen: Screen) -> None:
    screen.text("")
    screen.heading(f"{options.compare} would select differently in {plural(summary.differing, 'request')}")
    screen.lines([[Span(f"  tokens       {count(summary.other_tokens)}")]])
    if summary.swings:
        screen.text("")
        rows = [
            Row((Span(count(each.only_first)), Span(count(each.only_second))), visible(each.content, laid_out=True))
            for each in summary.swings
        ]
        screen.table((f">only {abridged(options.policy)}", f">only {abridged(options.compare)}"), rows, text="item")


def _document(summary: BatchSummary) -> dict[str, Any]:
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
