"""`pycupel context`: show where the window of a logged session goes, and what policies would have sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pycupel.cli import logs
from pycupel.cli.exits import FINE, InputError
from pycupel.cli.inputs import name_of, naming
from pycupel.cli.logs import label_of
from pycupel.cli.options import add_budget, add_counter, add_input, add_json, budget_of, parse_amount
from pycupel.cli.output import Screen, abridged, add_html, visible, write_page
from pycupel.cli.parsers import Parser
from pycupel.messages import Finding
from pycupel.render._layout import ALARM, HEADING, QUIET, Line, Row, Span, Table, count, paragraph, plural, share
from pycupel.replay import ContextUsage, History, Log, Part, PolicyReplay, WindowShare, context_usage, replay

_MAX_TOOLS, _MAX_FINDINGS = 8, 5
# ANSI's code for cyan, the colour of bars.
_BAR = "36"


def usage_lines(path: str, log: Log, usage: ContextUsage, findings: Sequence[Finding], screen: Screen) -> list[Line]:
    """Describe the usage of the window in a session of the log; a blank line ends each section."""
    return [
        *_headline(path, log, usage, screen),
        *_window(usage, screen),
        *_largest(usage, screen),
        *_waste(usage, screen),
        *_findings(findings, screen),
        *_growth(usage, screen),
    ]


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


def _window(usage: ContextUsage, screen: Screen) -> list[Line]:
    rows: list[Row] = []
    by_kind: dict[str, list[WindowShare]] = {}
    for row in usage.rows:
        by_kind.setdefault(row.kind, []).append(row)
    for kind, shares in by_kind.items():
        rows.append(_share_row(kind, shares, usage, screen, HEADING))
        if shares[0].tool:
            named = shares[:_MAX_TOOLS]
            rows += [_share_row(f"  {abridged(each.tool)}", [each], usage, screen, "") for each in named]
            if len(shares) > _MAX_TOOLS:
                rest = shares[_MAX_TOOLS:]
                rows.append(_share_row(f"  {len(rest)} other tools", rest, usage, screen, QUIET))
    return _section("WHERE THE WINDOW GOES", ("<what", ">parts", ">tokens", ">share", "<"), rows, screen, text="")


def _share_row(label: str, shares: list[WindowShare], usage: ContextUsage, screen: Screen, code: str) -> Row:
    tokens, parts = sum(each.tokens for each in shares), sum(each.parts for each in shares)
    bar = screen.bar(tokens / max(1, usage.total), max(10, screen.width - 62))
    color = _BAR if code == HEADING else QUIET
    return Row(
        (
            Span(label, code),
            Span(count(parts) if parts else "", QUIET),
            Span(count(tokens)),
            Span(share(tokens, usage.total)),
            Span(bar, color),
        )
    )


def _largest(usage: ContextUsage, screen: Screen) -> list[Line]:
    rows = [
        Row((Span(count(part.tokens)), Span(share(part.tokens, usage.total)), Span(_place(part))), label_of(part))
        for part in usage.largest
    ]
    return _section("THE LARGEST PARTS", (">tokens", ">share", ">message"), rows, screen)


def _place(part: Part) -> str:
    return count(part.message) if part.message >= 0 else "-"


def _waste(usage: ContextUsage, screen: Screen) -> list[Line]:
    wasted = {
        "results that a later call has outdated": usage.superseded,
        "other parts whose text is repeated later": usage.repeated,
    }
    rows = [
        Row((Span(count(waste.tokens)), Span(share(waste.tokens, usage.total)), Span(count(waste.parts))), what)
        for what, waste in wasted.items()
        if waste.parts
    ]
    if not rows:
        return [[Span("REDUNDANT: nothing", HEADING)], []]
    return _section("REDUNDANT", (">tokens", ">share", ">parts"), rows, screen)


def _findings(found: Sequence[Finding], screen: Screen) -> list[Line]:
    if not found:
        return [[Span("LINT: nothing that the provider would reject", HEADING)], []]
    rows = [
        Row((Span(count(each.index)), Span(each.severity, ALARM), Span(each.rule)), visible(each.message))
        for each in found[:_MAX_FINDINGS]
    ]
    return _section(f"LINT: {plural(len(found), 'finding')}", (">message", "<", "<rule"), rows, screen)


def _section(
    heading: str, columns: Sequence[str], rows: Sequence[Row], screen: Screen, *, text: str = "what"
) -> list[Line]:
    table = Table(columns, rows, screen.width)
    return [[Span(heading, HEADING)], *table.titles(text), *table.lines(rows), []]


def _growth(usage: ContextUsage, screen: Screen) -> list[Line]:
    growth = usage.growth
    if len(growth) < 2:
        return []
    marks = [each.compacted for each in growth]
    compacted = f", {plural(sum(marks), 'compaction')} (C)" if any(marks) else ""
    heading = f"GROWTH, in tokens per prompt: {plural(len(growth), 'call')}{compacted}"
    return [[Span(heading, HEADING)], *_chart([each.tokens for each in growth], marks, screen), []]


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
        yield [Span(f"  {label:>9} "), Span(blocks, _BAR)]
    axis = "".join("C" + " " * (width - 1) if any(marks[group]) else " " * width for group in groups)
    yield [Span(f"  {'call':>9} "), Span(_axis(axis, len(values)), QUIET)]


def _axis(marks: str, calls: int) -> str:
    """Label the first and the last call, where no mark is in the way."""
    last = str(calls)
    line = marks if marks.startswith("C") else "1" + marks[1:]
    return line if "C" in line[-len(last) :] or len(line) < len(last) + 2 else line[: -len(last)] + last


EXAMPLE = """
pycupel demo transcript > session.jsonl
pycupel context session.jsonl
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the verb."""
    add_input(parser, "a transcript, requests or messages; - for stdin")
    add_budget(parser, required=False, text="budget at which to compare policies; default: half the largest prompt")
    logs.add_policies(parser)
    parser.add_argument(
        "--conversation",
        type=int,
        metavar="N",
        help="which conversation to show, counting from 1; default: the largest",
    )
    add_counter(parser, "token counter")
    add_json(parser)
    add_html(parser)


def run(options: Any, screen: Screen) -> int:
    """Write the usage, or a page of it."""
    # A mistake need not wait for a long log.
    policies = logs.policies_of(options.policy or logs.USUAL)
    if options.budget is not None:
        parse_amount(options.budget)
    log = logs.read(options.file, options.max_line, screen)
    with naming(options.file), logs.progress_bar(screen) as progress:
        usage = context_usage(_chosen(log, options), counter=options.counter)
        budget = usage.total // 2 if options.budget is None else budget_of(options, usage.history.model)
        # The budget also has to hold what is not in the file.
        room = budget - usage.not_in_file
        results = replay(usage.history, room, policies, counter=usage.counter, progress=progress) if room > 0 else ()
    findings = _relevant_findings(usage)
    if options.html is not None:
        from pycupel.cli.logs import context_page  # noqa: PLC0415 - most calls print

        # A page may be shared, and a path may reveal more than the name of the file.
        name = Path(name_of(options.file)).name
        write_page(options.html, context_page(name, usage, findings, budget, results), screen)
    if options.json:
        screen.json(_document(usage, budget, results))
    elif options.html is None:
        screen.lines(usage_lines(options.file, log, usage, findings, screen))
        _write_policies(usage, budget, results, screen)
    return FINE


def _chosen(log: Log, options: Any) -> Log | History:
    number: int | None = options.conversation
    if number is None:
        return log
    if not 1 <= number <= len(log.histories):
        raise InputError(f"there is no conversation {number}: the file has {len(log.histories)}")
    return log.histories[number - 1]


def _relevant_findings(usage: ContextUsage) -> list[Finding]:
    """Return the findings, without warnings about the last message: a log may end anywhere."""
    last = len(usage.history.messages) - 1
    return [each for each in usage.findings if each.severity == "error" or each.index < last]


def _write_policies(usage: ContextUsage, budget: int, results: Sequence[PolicyReplay], screen: Screen) -> None:
    hidden = f", {usage.not_in_file:,} of them not in the file" if usage.not_in_file else ""
    screen.lines(paragraph(f"ALTERNATIVES at {budget:,} tokens per prompt{hidden}", screen.width, code=HEADING))
    if results:
        logs.write_policies(results, screen)
    else:
        screen.text("  The part that is not in the file exceeds this budget: pass a larger --budget.")


def _document(usage: ContextUsage, budget: int, results: Sequence[PolicyReplay]) -> dict[str, Any]:
    return {
        "model": usage.history.model,
        "calls": len(usage.growth),
        "messages": len(usage.history.messages),
        "largestPrompt": {"call": usage.call, "tokens": usage.total, "countedByProvider": usage.counted_by is not None},
        "counter": str(usage.counter),
        "window": [row._asdict() for row in usage.rows],
        "largest": [
            {"message": part.message, "kind": part.kind, "tool": part.tool, "tokens": part.tokens}
            for part in usage.largest
        ],
        "superseded": usage.superseded._asdict(),
        "repeated": usage.repeated._asdict(),
        "findings": [asdict(finding) for finding in usage.findings],
        "growth": [each._asdict() for each in usage.growth],
        "instead": {"budget": budget, "policies": [logs.document(result) for result in results]},
    }
