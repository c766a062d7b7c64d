"""Common parts of the verbs about logged sessions: reading, labels, a progress bar, and the table of policies."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate, chain
from math import inf
from typing import Any

from pycupel.cli.exits import InputError
from pycupel.cli.inputs import HISTORY, TRANSCRIPT, hint_in, name_of, open_bytes
from pycupel.cli.options import SHORTENED, add_several_policies, history_policy_of
from pycupel.cli.output import Screen, abridged, visible
from pycupel.cli.parsers import Parser
from pycupel.errors import InvalidArgumentError
from pycupel.messages import Finding
from pycupel.messages.counting import TOOL_CALLS, USER
from pycupel.model.checks import find_name
from pycupel.render._layout import ALARM, QUIET, Row, Span, count, plural, share
from pycupel.render.html import Bar, Bars, Figure, Figures, Growth, Life, Mark, Notes, Panel, Rows, render_panels
from pycupel.replay import AS_LOGGED, NEWEST_FIRST, CacheRates, ContextUsage, Log, Part, PolicyReplay, read_log
from pycupel.replay.parts import Prompts
from pycupel.replay.run import BASELINES, BASELINES_HINT, call_indices, prompt_start
from pycupel.replay.usage import NOT_IN_FILE
from pycupel.shorten.superseded import arguments_of

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


# Make the pages that `context --html` and `replay --html` write.


# More would be too thin to see, and slow to draw.
_MAX_LIVES = 2_000
_LONGEST_LABEL = 160
_POLICY_COLUMNS = ("Policy", "Tokens sent", "Reused", "Cost", "Largest prompt", "Cuts", "Refused", "Lost")


def replay_page(results: Sequence[PolicyReplay], budget: int, sessions: int) -> str:
    """Make a page of what policies would have sent."""
    first = results[0]
    figures = [
        Figure("Calls", first.calls, f"in {plural(sessions, 'conversation')}"),
        Figure("Budget", budget, "tokens"),
    ]
    sent = Bars("Tokens sent", [Bar(each.policy, each.tokens) for each in results], shares=False)
    return render_panels("Replay", [Figures(figures), sent, _policies("Policies", results)])


def context_page(
    name: str,
    usage: ContextUsage,
    findings: Sequence[Finding],
    budget: int,
    results: Sequence[PolicyReplay],
) -> str:
    """Make a page of where the window of a session goes.

    Args:
        name: The name of the file.
        usage: The result of `context_usage`.
        findings: What the provider would reject.
        budget: The budget at which the policies were compared.
        results: What they would have sent.
    """
    panels: list[Panel] = [
        _figures(usage),
        _window(usage),
        *_growth(usage),
        Rows(
            "The largest parts",
            ("What", "Message", "Tokens", "Share"),
            [
                (
                    label_of(part),
                    part.message if part.message >= 0 else None,
                    part.tokens,
                    share(part.tokens, usage.total),
                )
                for part in usage.largest
            ],
        ),
        *_findings(findings),
    ]
    if results:
        panels.append(_policies(f"Alternatives at {budget:,} tokens per prompt", results))
    return render_panels("Where the window goes", panels, subtitle=name, quiet=(NOT_IN_FILE,))


def _figures(usage: ContextUsage) -> Figures:
    counted = f"counted by {'the provider' if usage.counted_by else usage.counter}"
    waste = usage.superseded.tokens + usage.repeated.tokens
    return Figures(
        [
            Figure("Largest prompt", usage.total, counted),
            Figure("Calls", len(usage.growth), f"the largest is call {usage.call}" if usage.call else ""),
            Figure("Messages", len(usage.history.messages), plural(len(usage.history.compactions), "compaction")),
            Figure("Redundant", waste, f"{share(waste, usage.total)}: results fetched again, repeated texts"),
        ]
    )


def _window(usage: ContextUsage) -> Bars:
    bars = [
        Bar(
            f"{row.kind}: {row.tool}" if row.tool else row.kind,
            row.tokens,
            plural(row.parts, "part") if row.parts else "",
            row.kind,
        )
        for row in usage.rows
    ]
    return Bars("The largest prompt, by its parts", bars)


def _growth(usage: ContextUsage) -> list[Panel]:
    """Chart the prompts from call to call, with the size and lifetime of each part."""
    calls = call_indices(usage.history)
    if len(calls) < 2:
        return []
    lives = _lives(usage, calls)
    kept = sorted(lives, key=lambda life: life.size, reverse=True)[:_MAX_LIVES]
    thin = len(lives) - len(kept)
    shown = {id(life) for life in kept}
    note = "Each band is a part of the prompt, from the call that first sent it to the last."
    if usage.counted_by:
        note += " The line is what the provider counted."
    if thin:
        note += f" The {plural(thin, 'smallest part')} are left out."
    marks = [Mark(i, "compacted") for i, each in enumerate(usage.growth) if each.compacted]
    picture = Growth(
        "How the prompt grew",
        [each.tokens for each in usage.growth],
        [life for life in lives if id(life) in shown],
        marks,
        note=note,
    )
    rows = [
        (life.label, life.group, life.size, life.start + 1, life.end + 1, int(life.size) * (life.end - life.start + 1))
        for life in kept
    ]
    sent = sorted(rows, key=lambda row: row[5], reverse=True)
    columns = ("What", "Group", "Tokens", "First call", "Last call", "Sent in total")
    return [picture, Rows("The life of each part", columns, sent, "The largest totals first.")]


def _lives(usage: ContextUsage, calls: Sequence[int]) -> list[Life]:
    """Return every part of the prompts, in prompt order."""
    history, last = usage.history, len(calls) - 1
    prompts = Prompts(history, usage.counter)
    starts = [prompt_start(history, index)[0] for index in calls]
    lives = [_life(part, 0, last) for part in prompts.beside]
    for compaction in history.compactions:
        alive = [n for n, start in enumerate(starts) if start == compaction.index]
        if alive:
            lives.append(_life(prompts.summary(compaction.summary), alive[0], alive[-1]))
    for part in prompts.parts:
        first = bisect_right(calls, part.message)
        end = bisect_right(starts, part.message) - 1
        if first <= end:
            lives.append(_life(part, first, end))
    return [*_hidden(usage, lives), *lives]


def _hidden(usage: ContextUsage, lives: Sequence[Life]) -> Iterator[Life]:
    """Return what all prompts contain and the file does not show: the smallest difference, because it grows."""
    changes = [0] * (len(usage.growth) + 1)
    for life in lives:
        changes[life.start] += int(life.size)
        changes[life.end + 1] -= int(life.size)
    hidden = min(call.tokens - shown for call, shown in zip(usage.growth, accumulate(changes), strict=False))
    if hidden > 0 and usage.not_in_file:
        yield Life("what the file does not show", NOT_IN_FILE, 0, len(usage.growth) - 1, hidden)


def _life(part: Part, first: int, last: int) -> Life:
    return Life(label_of(part)[:_LONGEST_LABEL], part.kind, first, last, part.tokens)


def _findings(findings: Sequence[Finding]) -> list[Panel]:
    found = [f"message {each.index}, {each.rule}: {each.message}" for each in findings]
    return [Notes(f"What the provider would reject: {plural(len(found), 'finding')}", found)] if found else []


def _policies(title: str, results: Sequence[PolicyReplay]) -> Rows:
    rows = [
        (
            each.policy,
            each.tokens,
            f"{each.reused_share:.0%}",
            round(each.cost),
            each.largest,
            each.cuts,
            each.refused,
            f"{1 - each.kept_share:.0%}" if each.needed else None,
        )
        for each in results
    ]
    note = " ".join(f"{column.capitalize()}: {text}." for column, text in legend(results).items())
    return Rows(title, _POLICY_COLUMNS, rows, note)
