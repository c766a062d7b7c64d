"""Make the pages that `context --html` and `replay --html` write."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from pycupel.cli.logs import label_of, legend
from pycupel.messages import Finding
from pycupel.render._layout import plural, share
from pycupel.render.html import render_panels
from pycupel.render.panels import Bar, Bars, Figure, Figures, Growth, Life, Mark, Notes, Panel, Rows
from pycupel.replay import ContextUsage, PolicyReplay
from pycupel.replay.parts import Part, Prompts
from pycupel.replay.session import call_indices, prompt_start
from pycupel.replay.window import NOT_IN_FILE

__all__ = ["context_page", "replay_page"]

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
