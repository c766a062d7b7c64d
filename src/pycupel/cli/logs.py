"""Common parts of the verbs about logged sessions: reading, labels, a progress bar, and the table of policies."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from math import inf
from typing import Any

from pycupel.cli.exits import InputError
from pycupel.cli.hints import HISTORY, TRANSCRIPT, hint_in
from pycupel.cli.inputs import name_of, open_bytes
from pycupel.cli.options import SHORTENED, add_several_policies, history_policy_of
from pycupel.cli.output import Screen, abridged, visible
from pycupel.cli.parsers import Parser
from pycupel.errors import InvalidArgumentError
from pycupel.messages.counting import TOOL_CALLS, USER
from pycupel.model.names import find_name
from pycupel.render._layout import ALARM, QUIET, Row, Span, count, plural
from pycupel.replay import AS_LOGGED, NEWEST_FIRST, CacheRates, Log, Part, PolicyReplay, read_log
from pycupel.replay.session import BASELINES, BASELINES_HINT
from pycupel.shorten.superseded import arguments_of

__all__ = [
    "USUAL",
    "NoConversationError",
    "add_policies",
    "add_rates",
    "document",
    "label_of",
    "legend",
    "policies_of",
    "progress_bar",
    "rates_of",
    "read",
    "write_policies",
]

USUAL = (AS_LOGGED, NEWEST_FIRST, "chat", f"chat{SHORTENED}")
"""The policies to compare by default."""

_COLUMNS = ("<policy", ">tokens sent", ">reused", ">cost", ">cuts", ">refused", ">lost")


class NoConversationError(InputError):
    """A file has no conversation."""


def read(path: str, max_line: int, screen: Screen) -> Log:
    """Read the log in a file; a note says how many lines could not be read.

    Raises:
        NoConversationError: there is no conversation in it.
    """
    with open_bytes(path, max_line) as lines:
        first = next(lines, b"")
        log = read_log(chain([first], lines))
    name = name_of(path)
    which = "that is not a JSON object" if log.skipped_lines == 1 else "that are not JSON objects"
    skipped = f"skipped {plural(log.skipped_lines, 'line')} {which}"
    if not log.histories:
        hint = hint_in(first, TRANSCRIPT, HISTORY)
        raise NoConversationError(f"{name}: no conversation found{f'; {skipped}' if log.skipped_lines else ''}{hint}")
    if log.skipped_lines:
        screen.warn(f"{name}: {skipped}")
    return log


def add_policies(parser: Parser) -> None:
    """Add `--policy`, once for each policy to compare."""
    more = f", with `{SHORTENED}` to shorten old results; may be repeated; default: {', '.join(USUAL)}"
    add_several_policies(parser, more)


def policies_of(names: Sequence[str]) -> dict[str, Any]:
    """Return the policies by label: presets and files, with or without `+shorten`, and the baselines."""
    return {name: find_name(name, BASELINES) or _policy(name) for name in names}


def _policy(name: str) -> Any:
    try:
        return history_policy_of(name)
    except InvalidArgumentError as error:
        error.add_note(BASELINES_HINT)
        raise


def add_rates(parser: Parser) -> None:
    """Add `--cache-read` and `--cache-write`."""
    usual = CacheRates()
    for name, rate, token in (("read", usual.read, "a cached token"), ("write", usual.write, "any other token")):
        text = f"price of {token}; default: {rate}"
        parser.add_argument(f"--cache-{name}", type=float, default=rate, metavar="RATE", help=text)


def rates_of(options: Any) -> CacheRates:
    """Return the rates in the options."""
    if not all(0 <= rate < inf for rate in (options.cache_read, options.cache_write)):
        raise InputError("a rate must be a finite number, 0 or more")
    return CacheRates(options.cache_read, options.cache_write)


@contextmanager
def progress_bar(screen: Screen) -> Generator[Callable[[int, int], None]]:
    """Show the progress of a replay during the block, by calls of a function."""

    def show(done: int, total: int) -> None:
        screen.progress(f"replaying {done:,} of {total:,} calls {screen.bar(done / total, 30)}")

    try:
        yield show
    finally:
        screen.progress("")


def write_policies(results: Sequence[PolicyReplay], screen: Screen) -> None:
    """Write a table with a line for each policy, and explain its columns."""
    screen.table(_COLUMNS, [_row(result) for result in results])
    screen.text("")
    screen.terms(legend(results))


def legend(results: Sequence[PolicyReplay]) -> dict[str, str]:
    """Explain the columns of a table of policies."""
    rates, needed = results[0].rates, results[0].needed
    return {
        "reused": "share of tokens in the prefix shared with the previous call",
        "cost": f"in tokens at the usual price: {rates.read:g} if reused, {rates.write:g} otherwise",
        "refused": "calls that the provider would have rejected, or that could not be sent",
        "lost": f"share of the {needed:,} names, paths and commands needed later that the model did not get; "
        "at a refused call, all of them are lost",
    }


def _row(result: PolicyReplay) -> Row:
    lost = f"{1 - result.kept_share:.0%}" if result.needed else "-"
    return Row(
        (
            Span(abridged(result.policy)),
            Span(count(result.tokens)),
            Span(f"{result.reused_share:.0%}"),
            Span(count(round(result.cost))),
            Span(count(result.cuts)),
            Span(count(result.refused), ALARM if result.refused else QUIET),
            Span(lost),
        )
    )


def document(result: PolicyReplay) -> Mapping[str, Any]:
    """Convert a result to JSON."""
    return {
        "policy": result.policy,
        "calls": result.calls,
        "cuts": result.cuts,
        "tokens": result.tokens,
        "reusedShare": round(result.reused_share, 4),
        "cost": round(result.cost),
        "largestPrompt": result.largest,
        "invalid": result.invalid,
        "tooLarge": result.too_large,
        "neededLater": result.needed,
        "keptShare": round(result.kept_share, 4),
    }


def label_of(part: Part) -> str:
    """Describe a part: for a call or a result, the tool and its main argument."""
    if not part.tool or part.call is None:
        # A summary is sent as a message of the user, but is not among the messages.
        kind = "summary" if part.kind == USER and part.message < 0 else part.kind
        return visible(f"{kind}: {part.text}" if part.text else kind, laid_out=True)
    main, _ = arguments_of(part.call.arguments)
    is_call = part.kind == TOOL_CALLS
    asked = _shortened_path(main) if main else part.text if is_call else ""
    return visible(f"{'call of ' if is_call else ''}{part.tool}: {asked}", laid_out=True)


def _shortened_path(text: str) -> str:
    """Cut a long path at its start."""
    is_long_path = len(text) > 50 and " " not in text and text.count("/") > 3
    return f".../{'/'.join(text.split('/')[-3:])}" if is_long_path else text
