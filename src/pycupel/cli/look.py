"""The verbs about logged sessions: `context` and `replay`.

What they show is described in `pycupel.replay.describe`, once for the terminal, the pages and `--json`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from itertools import chain
from math import inf
from pathlib import Path
from time import time
from typing import Any

from pycupel.cli.exits import OK, InputError
from pycupel.cli.inputs import HISTORY, TRANSCRIPT, check_files, errors_about, hint_in, name_of, open_bytes
from pycupel.cli.output import Screen, abridged, visible, write_page
from pycupel.cli.parsers import (
    DROPPING,
    Parser,
    Verb,
    add_budget,
    add_counter,
    add_input,
    add_several_policies,
    add_shared,
    budget_of,
    history_policy_of,
    parse_amount,
)
from pycupel.errors import InvalidArgumentError
from pycupel.messages import Finding
from pycupel.model.budget import ModelLimits
from pycupel.model.checks import find_name
from pycupel.render._layout import (
    ALARM,
    BAR,
    HEADING,
    QUIET,
    SYMBOLS,
    Line,
    Row,
    Span,
    Table,
    ansi_of,
    bar,
    count,
    listed,
    not_shown,
    paragraph,
    plural,
    share,
)
from pycupel.render.html import Bar, Bars, Figure, Figures, Level, Panel, render_panels
from pycupel.replay import (
    AS_LOGGED,
    NEWEST_FIRST,
    CacheRates,
    ContextUsage,
    History,
    Log,
    PolicyReplay,
    WindowShare,
    context_usage,
    read_log,
    replay,
)
from pycupel.replay.describe import (
    POLICY_COLUMNS,
    Gauge,
    basis_of,
    context_panels,
    gauge_of,
    group_of,
    label_of,
    miss_heading,
    money_heading,
    money_note,
    policies_panel,
    policy_document,
    policy_legend,
    redundant_parts,
    relevant_findings,
    replay_panels,
    usage_document,
)
from pycupel.replay.run import BASELINES, BASELINES_HINT
from pycupel.replay.transcripts import newest_session, sessions_in
from pycupel.replay.usage import NOT_IN_FILE, Money, cache_misses, money_of, replay_as_counted
from pycupel.tokens.models import find_limits, prices_in, prices_table

# Read logs and the policies to compare.


_REPLAYING = "calls replayed:"
_USUAL = (AS_LOGGED, NEWEST_FIRST, "chat", "chat+drop")


class _NoConversationError(InputError):
    """A file has no conversation."""


def _read(path: str, max_line: int, screen: Screen) -> Log:
    """Read the log in a file; a note says how many lines could not be read."""
    with open_bytes(path, max_line, screen) as lines:
        first = next(lines, b"")
        log = read_log(chain([first], lines))
    name = name_of(path)
    which = "that is not a JSON object" if log.skipped_lines == 1 else "that are not JSON objects"
    skipped = f"skipped {plural(log.skipped_lines, 'line')} {which}"
    if not log.histories:
        hint = hint_in(first, TRANSCRIPT, HISTORY)
        raise _NoConversationError(f"{name}: no conversation found{f'; {skipped}' if log.skipped_lines else ''}{hint}")
    if log.skipped_lines:
        screen.warn(f"{name}: {skipped}")
    return log


def _add_comparison(parser: Parser) -> None:
    """Add `--policy`, once for each policy to compare, `--counter`, `--json` and `--html`."""
    more = f", {DROPPING}; may be repeated; default: {', '.join(_USUAL)}"
    add_several_policies(parser, more)
    add_counter(parser, "token counter")
    add_shared(parser, "--json", "--html")


def _policies_of(names: Sequence[str] | None) -> dict[str, Any]:
    """Return the policies by label: presets and files, with or without `+drop`, and the baselines."""
    try:
        return {name: find_name(name, BASELINES) or history_policy_of(name) for name in names or _USUAL}
    except InvalidArgumentError as error:
        error.add_note(BASELINES_HINT)
        raise


def _write_policies(results: Sequence[PolicyReplay], screen: Screen) -> None:
    """Write a table with a line for each policy, and explain its columns."""
    columns = [column for column in POLICY_COLUMNS if not column.is_wide]
    rows: list[Row] = []
    for result in results:
        cells: list[Span] = []
        for column in columns:
            value = column.value(result)
            text = count(value) if isinstance(value, int) else abridged("-" if value is None else value)
            is_wrong = value not in {0, None, "0%"}
            cells.append(Span(text, (ALARM if is_wrong else QUIET) if column.is_alarm else ""))
        rows.append(Row(cells))
    screen.table([f"{'>' if n else '<'}{column.title}" for n, column in enumerate(columns)], rows)
    screen.text("")
    screen.terms(policy_legend(results))


# `context`: show where the window of a logged session goes, and what policies would have sent.


def _add_context(parser: Parser) -> None:
    file = (
        "a transcript, requests or messages; - for stdin; a folder for its newest session; default: the newest of all"
    )
    add_input(parser, file, optional=True)
    for name, text in (
        ("--newest", "show the newest session of this directory's project, or else of all, without a terminal, too"),
        ("--list", "list the sessions of coding agents, the newest first"),
        ("--text", "have contents in the page of a session that was found, too"),
    ):
        parser.add_argument(name, action="store_true", help=text)
    add_budget(parser, required=False, text="budget at which to compare policies; default: half the largest prompt")
    parser.add_argument(
        "--conversation",
        type=int,
        metavar="N",
        help="which conversation to show, counting from 1; default: the largest",
    )
    parser.add_argument("--prices", metavar="FILE", help="prices of models, a line each, that go before the known ones")
    _add_comparison(parser)


def _context(options: Any, screen: Screen) -> int:
    """Write the usage, or a page of it."""
    # A mistake need not wait for a long log.
    policies = _policies_of(options.policy)
    if options.budget is not None:
        parse_amount(options.budget)
    if options.list:
        return _list(options, screen)
    prices = prices_table()
    if options.prices is not None:
        with errors_about(options.prices):
            prices = {**prices, **prices_in(Path(options.prices).read_text(encoding="utf-8"))}
    is_found = _find_file(options, screen)
    log = _read(options.file, options.max_line, screen)
    with errors_about(options.file), screen.progress_of(_REPLAYING) as progress:
        usage = context_usage(_chosen(log, options.conversation), counter=options.counter)
        budget = usage.total // 2 if options.budget is None else budget_of(options, usage.history.model)
        # The budget also has to hold what is not in the file.
        room = budget - usage.not_in_file
        results = replay(usage.history, room, policies, counter=usage.counter, progress=progress) if room > 0 else ()
    findings = relevant_findings(usage)
    gauge = gauge_of(usage, _known_limits(options, usage.history.model))
    money = money_of(usage, results, prices)
    if money is not None and (_today() - money.prices.date).days > _OLD_PRICES:
        screen.note(f"the prices of {money.model} were checked on {money.prices.date}: --prices FILE has newer ones")
    if options.html is not None:
        # A page may be shared, and a path may reveal more than the name of the file.
        name = Path(name_of(options.file)).name
        # What was found may have been meant for nobody else.
        panels = context_panels(usage, gauge, findings, budget, results, money, text=options.text or not is_found)
        page = render_panels("Where the window goes", panels, subtitle=name, quiet=(NOT_IN_FILE,))
        write_page(options.html, page, screen)
    if options.json:
        policies_sent = [policy_document(each) for each in results]
        screen.json({**usage_document(usage, gauge, money), "instead": {"budget": budget, "policies": policies_sent}})
    elif options.html is None:
        screen.lines(_usage_lines(options.file, log, usage, gauge, findings, screen))
        hidden = f", without the {usage.not_in_file:,} of them that are not in the file" if usage.not_in_file else ""
        screen.lines(paragraph(f"ALTERNATIVES at {budget:,} tokens per prompt{hidden}", screen.width, code=HEADING))
        if results:
            _write_policies(results, screen)
        else:
            screen.text("  The part that is not in the file exceeds this budget: pass a larger --budget.")
        screen.lines(_money_lines(usage, money, screen))
    return OK


def _today() -> date:
    """Return the day; tests, and builds that must be equal, set the usual variable."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(epoch) if epoch.isdecimal() else time(), UTC).date()


def _list(options: Any, screen: Screen) -> int:
    sessions = sessions_in(options.file and Path(options.file))
    if options.json:
        screen.json([{"time": each.time.isoformat(), "file": str(each.path)} for each in sessions])
        return OK
    for each in sessions:
        # Whole paths, even if they are longer than a line, because they are there to be copied.
        screen.text(visible(f"{each.time:%Y-%m-%d %H:%M}  {each.path}"))
    screen.note(f"{plural(len(sessions), 'session')}, by the time (UTC) of the last row")
    return OK


def _find_file(options: Any, screen: Screen) -> bool:
    """Set `options.file` if it is not given or a folder; return whether the session was found, and not named."""
    given: str | None = options.file
    if given is not None and (given == "-" or not Path(given).is_dir()):
        return False
    if given is not None:
        found = next((each.path for each in sessions_in(Path(given))), None)
    else:
        is_terminal = sys.stdin is not None and sys.stdin.isatty()  # pyright: ignore[reportUnnecessaryComparison]
        if not options.newest and not is_terminal:
            options.file = "-"
            return False
        if not options.newest and os.environ.get("CI"):
            raise InputError("name a FILE: in CI, `context` looks for the newest session only with --newest")
        found = newest_session(Path.cwd())
    if found is None:
        where = name_of(given) if given else "the folders of Claude Code and Codex"
        raise InputError(f"{where}: no sessions (*.jsonl) found")
    options.file = str(found)
    screen.note(options.file)
    return True


def _known_limits(options: Any, model: str | None) -> ModelLimits | None:
    """Return the limits of the window that was given, or of the model; None if it is unknown."""
    if options.window:
        return ModelLimits(options.window, options.window, None)
    name = options.model or model
    return None if name is None else find_limits(name)


def _chosen(log: Log, number: int | None) -> Log | History:
    if number is None:
        return log
    if not 1 <= number <= len(log.histories):
        raise InputError(f"there is no conversation {number}: the file has {len(log.histories)}")
    return log.histories[number - 1]


# In the terminal.


# Prices that were checked longer ago, in days, may no longer be true.
_OLD_PRICES = 180
_MAX_TOOLS, _MAX_FINDINGS = 8, 5
_WINDOW = "<what >parts >tokens >share"


def _usage_lines(
    path: str, log: Log, usage: ContextUsage, gauge: Gauge | None, findings: Sequence[Finding], screen: Screen
) -> list[Line]:
    """Describe the usage of the window in a session of the log; a blank line ends each section."""
    largest = [
        _row(
            part.tokens,
            share(part.tokens, usage.total),
            part.message if part.message >= 0 else "-",
            text=label_of(part),
        )
        for part in usage.largest
    ]
    redundant = [
        _row(each.tokens, share(each.tokens, usage.total), each.parts, text=what)
        for what, each in redundant_parts(usage).items()
    ]
    lint = [_row(each.index, Span(each.severity, ALARM), each.rule, text=each.message) for each in findings]
    return [
        *_headline(path, log, usage, screen),
        *_gauge_lines(gauge, screen),
        *_section("WHERE THE WINDOW GOES", f"{_WINDOW} <", _window_rows(usage, screen), screen, text=""),
        *_section("THE LARGEST PARTS", ">tokens >share >message", largest, screen),
        *_section("REDUNDANT" if redundant else "REDUNDANT: nothing", ">tokens >share >parts", redundant, screen),
        *_section(
            f"LINT: {plural(len(findings), 'finding') if lint else 'nothing that the provider would reject'}",
            ">message < <rule",
            lint,
            screen,
            limit=_MAX_FINDINGS,
        ),
        *_growth_lines(usage, screen),
        *_miss_lines(usage, screen),
    ]


def _color_of(group: str) -> str:
    return QUIET if group == NOT_IN_FILE else ansi_of(group)


def _gauge_lines(gauge: Gauge | None, screen: Screen) -> list[Line]:
    """Draw the window as a bar: what the largest prompt used of it, what was free, and what is for the reply."""
    if gauge is None:
        return []
    over = f", {count(gauge.used - gauge.limit)} too many" if gauge.used > gauge.limit else ""
    used = f"{count(gauge.used)} of {plural(gauge.limit, 'token')} used, {share(gauge.used, gauge.limit)}"
    heading = f"THE WINDOW: {used}{over}"
    parts = [
        (name, tokens, SYMBOLS[i % len(SYMBOLS)], _color_of(name)) for i, (name, tokens) in enumerate(gauge.groups)
    ]
    parts += [("free", gauge.free, ".", QUIET), ("for the reply", gauge.reserve, "-", QUIET)]
    parts = [each for each in parts if each[1] > 0]
    drawn = bar([(tokens, Span(symbol, code)) for _, tokens, symbol, code in parts], screen.width - 4)
    legend = listed(f"{symbol} {visible(name)} {count(tokens)}" for name, tokens, symbol, _ in parts)
    return [[Span(heading, HEADING)], drawn, *paragraph(legend, screen.width, indent="  "), []]


def _section(
    heading: str, columns: str, rows: Sequence[Row], screen: Screen, *, text: str = "what", limit: int | None = None
) -> list[Line]:
    """Lay out a table below its heading; without rows, the heading says it all."""
    title = paragraph(heading, screen.width, code=HEADING)
    if not rows:
        return [*title, []]
    table = Table(columns.split(" "), rows[:limit], screen.width)
    return [*title, *table.titles(text), *table.lines(rows[:limit]), *not_shown(rows, limit), []]


def _row(*cells: int | str | Span, text: str = "") -> Row:
    texts = [count(each) if isinstance(each, int) else each for each in cells]
    return Row([each if isinstance(each, Span) else Span(each) for each in texts], visible(text, laid_out=True))


def _headline(path: str, log: Log, usage: ContextUsage, screen: Screen) -> list[Line]:
    history = usage.history
    model = f"{history.model}, " if history.model else ""
    facts = f"{model}{plural(len(usage.growth), 'call')}, {plural(len(history.messages), 'message')}"
    lines = paragraph(visible(f"{name_of(path)}: {facts}"), screen.width, code=HEADING)
    if len(log.histories) > 1:
        number = next(n for n, each in enumerate(log.histories, 1) if each is history)
        others = f"conversation {number} of {len(log.histories)}; --conversation N shows another"
        lines += paragraph(others, screen.width)
    place = f", call {usage.call}" if usage.call else ""
    counter = usage.counter.name
    who = f"by the provider, its parts by {counter}" if usage.counted_by else f"by {counter}"
    lines += paragraph(f"largest prompt: {plural(usage.total, 'token')}{place}", screen.width)
    return [*lines, *paragraph(f"counted {who}", screen.width), []]


def _window_rows(usage: ContextUsage, screen: Screen) -> list[Row]:
    rows: list[tuple[Row, tuple[float, str]]] = []
    by_kind: dict[str, list[WindowShare]] = {}
    for row in usage.rows:
        by_kind.setdefault(row.kind, []).append(row)
    for kind, shares in by_kind.items():
        rows.append(_share_row(kind, shares, usage, HEADING))
        if shares[0].tool:
            named, rest = shares[:_MAX_TOOLS], shares[_MAX_TOOLS:]
            rows += [_share_row(f"  {abridged(each.tool)}", [each], usage, "") for each in named]
            if rest:
                rows.append(_share_row(f"  {plural(len(rest), 'other tool')}", rest, usage, QUIET))
    return screen.with_bars(_WINDOW.split(), [row for row, _ in rows], [bar for _, bar in rows])


def _share_row(label: str, shares: list[WindowShare], usage: ContextUsage, code: str) -> tuple[Row, tuple[float, str]]:
    """Return a row, and the length and colour of its bar."""
    tokens, parts = sum(each.tokens for each in shares), sum(each.parts for each in shares)
    numbers = (Span(count(parts) if parts else "", QUIET), Span(count(tokens)), Span(share(tokens, usage.total)))
    color = _color_of(group_of(shares[0].kind, "" if code else shares[0].tool))
    return Row((Span(label, code), *numbers)), (tokens / max(1, usage.total), color)


def _growth_lines(usage: ContextUsage, screen: Screen) -> list[Line]:
    growth = usage.growth
    if len(growth) < 2:
        return []
    marks = [each.compacted for each in growth]
    compacted = f", {plural(sum(marks), 'compaction')} (C)" if any(marks) else ""
    heading = f"GROWTH, in tokens per prompt: {plural(len(growth), 'call')}{compacted}"
    return [[Span(heading, HEADING)], *_chart([each.tokens for each in growth], marks, screen), []]


def _miss_lines(usage: ContextUsage, screen: Screen) -> list[Line]:
    misses = cache_misses(usage)
    rows = [
        _row(each.call, each.tokens, each.cost, Span(basis_of(each), QUIET), each.cause)
        for each in sorted(misses, key=lambda each: -each.tokens)
    ]
    title = miss_heading(misses).replace("The prompt cache", "THE PROMPT CACHE", 1)
    return _section(title, ">call >tokens >cost < <cause", rows, screen, text="", limit=_MAX_FINDINGS) if rows else []


def _money_lines(usage: ContextUsage, money: Money | None, screen: Screen) -> list[Line]:
    if money is None:
        return []
    rows = [_row(each.tokens, f"{each.usd:,.3f}", Span(basis_of(each), QUIET), text=each.what) for each in money.rows]
    title = visible(money_heading(money))
    table = _section(title.replace("Money", "MONEY", 1), ">tokens >USD <", rows, screen)
    return [[], *table[:-1], *paragraph(visible(money_note(usage, money)), screen.width, code=QUIET)]


def _chart(values: list[int], marks: list[bool], screen: Screen) -> Iterator[Line]:
    """Draw a column chart of the calls: several calls per column, or several columns per call."""
    room = screen.width - 14
    width = max(1, min(3, room // len(values)))
    step = -(-len(values) * width // room)
    groups = [slice(n, n + step) for n in range(0, len(values), step)]
    tops = [max(values[group]) for group in groups]
    height, top = 6, max(tops)
    for level in range(height, 0, -1):
        label = count(top * level // height) if level in {height, height // 2} else ""
        blocks = "".join(screen.column(each / max(1, top) * height - (level - 1)) * width for each in tops)
        yield [Span(f"  {label:>9} "), Span(blocks, BAR)]
    axis = "".join("C" + " " * (width - 1) if any(marks[group]) else " " * width for group in groups)
    # Label the first and the last call, where no mark is in the way.
    last = str(len(values))
    axis = axis if axis.startswith("C") else "1" + axis[1:]
    has_room = "C" not in axis[-len(last) :] and len(axis) >= len(last) + 2
    axis = axis[: -len(last)] + last if has_room else axis
    yield [Span(f"  {'call':>9} "), Span(axis, QUIET)]


# `replay`: show what policies would have sent at each call of logged sessions.


def _add_replay(parser: Parser) -> None:
    add_input(parser, "transcripts or logs of requests; - for stdin", several="LOG")
    add_budget(parser)
    usual = CacheRates()
    for name, rate, token in (("read", usual.read, "a cached token"), ("write", usual.write, "any other token")):
        text = f"price of {token}; default: {rate}"
        parser.add_argument(f"--cache-{name}", type=float, default=rate, metavar="RATE", help=text)
    _add_comparison(parser)


def _replay(options: Any, screen: Screen) -> int:
    """Write a line for each policy, over all sessions."""
    check_files(options.files)
    # A share may be of the window of the model in a log, but a mistake need not wait for it.
    parse_amount(options.budget)
    results, budget, sessions, models = _replayed(options, screen)
    calls, conversations = results[0].calls, plural(sessions, "conversation")
    if options.html is not None:
        figures = [Figure("Calls", calls, f"in {conversations}"), Figure("Budget", budget, "tokens")]
        sent = Bars("Tokens sent", [Bar(each.policy, each.tokens, group="sent") for each in results], shares=False)
        panels: list[Panel] = [Figures(figures), sent, policies_panel("Policies", results)]
        limits = _known_limits(options, next(iter(models)) if len(models) == 1 else None)
        levels = [Level("budget", budget), *([Level("input limit", limits.input)] if limits else [])]
        facts = [*(Path(name_of(path)).name for path in options.files), *sorted(models)]
        window = f"window {count(limits.window)}" if limits else "window unknown"
        page = render_panels("Replay", [*panels, *replay_panels(results, levels)], subtitle=", ".join([*facts, window]))
        write_page(options.html, page, screen)
    if options.json:
        policies = [policy_document(each) for each in results]
        screen.json({"budget": budget, "sessions": sessions, "policies": policies})
    elif options.html is None:
        screen.heading(f"{plural(calls, 'call')} in {conversations}, at {plural(budget, 'token')} each")
        _write_policies(results, screen)
    return OK


def _replayed(options: Any, screen: Screen) -> tuple[list[PolicyReplay], int, int, set[str]]:
    """Replay all files, one after the other. Return the sums, the budget, the number of conversations, the models."""
    policies = _policies_of(options.policy)
    rates = CacheRates(options.cache_read, options.cache_write)
    if not all(0 <= rate < inf for rate in rates):
        raise InputError("a rate must be a finite number, 0 or more")
    budgets, models = set[int](), set[str]()
    results: list[PolicyReplay] = []
    sessions = 0
    for path in options.files:
        try:
            log = _read(path, options.max_line, screen)
        except _NoConversationError as error:
            # Among many transcripts, some are often empty.
            if len(options.files) == 1:
                raise
            screen.warn(str(error))
            continue
        budgets |= {budget_of(options, history.model) for history in log.histories}
        if len(budgets) > 1:
            raise InputError("the models in the logs have different windows: choose with --window N or --model NAME")
        [budget] = budgets
        sessions += len(log.histories)
        models |= {history.model for history in log.histories if history.model}
        for history in log.histories:
            with errors_about(path), screen.progress_of(_REPLAYING) as progress:
                found = replay_as_counted(history, budget, policies, options.counter, rates=rates, progress=progress)
            results = [before + now for before, now in zip(results, found, strict=True)] if results else [*found]
    if not results:
        raise InputError("no conversation found in any of the files")
    [budget] = budgets
    return results, budget, sessions, models


VERBS = {
    "context": Verb(
        _context,
        _add_context,
        """
pycupel demo transcript > session.jsonl
pycupel context session.jsonl
""",
    ),
    "replay": Verb(_replay, _add_replay, "pycupel demo transcript | pycupel replay - -b 12000 -p newest-first -p chat"),
}
