"""One description of a session and of what policies would have sent: the terminal, the pages and `--json` show it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from pycupel.messages import Finding
from pycupel.messages.counting import (
    ASSISTANT,
    FILES,
    IMAGES,
    SYSTEM,
    THOUGHTS,
    TOOL_CALLS,
    TOOL_RESULTS,
    TOOLS,
    USER,
)
from pycupel.model.budget import ModelLimits
from pycupel.render._layout import plural, share
from pycupel.render.html import (
    Band,
    Bar,
    Bars,
    Figure,
    Figures,
    GrowthChart,
    Level,
    Mark,
    Notes,
    Panel,
    Rows,
    WindowGauge,
)
from pycupel.replay.parts import Part, Prompts
from pycupel.replay.run import PolicyReplay, call_indices, prompt_start
from pycupel.replay.usage import NOT_IN_FILE, ContextUsage, Redundant
from pycupel.shorten.superseded import arguments_of

_LONGEST_LABEL = 160
# A longer path is cut at its start, because paths of one project begin alike.
_LONGEST_PATH = 50


def label_of(part: Part) -> str:
    """Describe a part: for a call or a result, the tool and its main argument."""
    if not part.tool or part.call is None:
        # A summary is sent as a message of the user, but is not among the messages.
        kind = "summary" if part.kind == USER and part.message < 0 else part.kind
        return f"{kind}: {part.text}" if part.text else kind
    main, _ = arguments_of(part.call.arguments)
    is_call = part.kind == TOOL_CALLS
    asked = main or (part.text if is_call else "")
    if main and len(main) > _LONGEST_PATH and " " not in main and main.count("/") > 3:
        asked = f".../{'/'.join(main.split('/')[-3:])}"
    return f"{'call of ' if is_call else ''}{part.tool}: {asked}"


def group_of(kind: str, tool: str) -> str:
    """Return what a part is shown as: a result as its tool, which has one colour everywhere."""
    return tool if kind == TOOL_RESULTS and tool else kind


class Gauge(NamedTuple):
    """How much of a model's window the largest prompt of a session used."""

    limit: int
    """The most tokens of a prompt."""

    reserve: int
    """The rest of the window, which is for the reply."""

    used: int
    """The tokens of the largest prompt."""

    groups: tuple[tuple[str, int], ...]
    """Those tokens by what they are: a name, and its tokens."""

    @property
    def free(self) -> int:
        """The tokens that the prompt left."""
        return max(0, self.limit - self.used)


_MAX_TOOLS = 5
# What a reader looks for in a window. Results are shown by tool.
_GROUPS = {
    SYSTEM: "system and tools",
    TOOLS: "system and tools",
    USER: "user",
    ASSISTANT: "assistant",
    TOOL_CALLS: "assistant",
    THOUGHTS: "thinking",
    IMAGES: "images and files",
    FILES: "images and files",
}


def gauge_of(usage: ContextUsage, limits: ModelLimits | None) -> Gauge | None:
    """Compare the largest prompt with the limits of a model; None if they are unknown."""
    if limits is None:
        return None
    groups: dict[str, int] = {}
    tools = sorted((row for row in usage.rows if row.kind == TOOL_RESULTS), key=lambda row: -row.tokens)
    large = {row.tool for row in tools[:_MAX_TOOLS]}
    for row in usage.rows:
        name = group_of(row.kind, row.tool) if row.tool in large else _GROUPS.get(row.kind, row.kind)
        name = "other tools" if name == TOOL_RESULTS else name
        groups[name] = groups.get(name, 0) + row.tokens
    return Gauge(limits.input, limits.window - limits.input, usage.total, tuple(groups.items()))


def redundant_parts(usage: ContextUsage) -> dict[str, Redundant]:
    """Return what the largest prompt has twice, by what it is."""
    found = {
        "results that a later call has outdated": usage.superseded,
        "other parts whose text is repeated later": usage.repeated,
    }
    return {what: each for what, each in found.items() if each.parts}


def relevant_findings(usage: ContextUsage) -> list[Finding]:
    """Return the findings, without warnings about the last message: a log may end anywhere."""
    last = len(usage.history.messages) - 1
    return [each for each in usage.findings if each.severity == "error" or each.index < last]


def bands_of(usage: ContextUsage) -> list[Band]:
    """Return every part of the prompts in prompt order, with the first and the last call that sent it."""
    history, calls = usage.history, call_indices(usage.history)
    prompts = Prompts(history, usage.counter)
    starts = [prompt_start(history, index)[0] for index in calls]
    bands = [_band(part, 0, len(calls) - 1) for part in prompts.beside]
    for compaction in history.compactions:
        alive = [n for n, start in enumerate(starts) if start == compaction.index]
        if alive:
            bands.append(_band(prompts.summary(compaction.summary), alive[0], alive[-1]))
    for part in prompts.parts:
        # The first call after the message, and the last one before a compaction replaced it.
        first, last = bisect_right(calls, part.message), bisect_right(starts, part.message) - 1
        if first <= last:
            bands.append(_band(part, first, last))
    return [*_hidden(usage, bands), *bands]


def _band(part: Part, first: int, last: int) -> Band:
    return Band(label_of(part)[:_LONGEST_LABEL], group_of(part.kind, part.tool), first, last, part.tokens)


def _hidden(usage: ContextUsage, bands: Sequence[Band]) -> Iterator[Band]:
    """Return what all prompts contain and the file does not show: the smallest difference, because it grows."""
    changes = [0] * (len(usage.growth) + 1)
    for band in bands:
        changes[band.start] += int(band.size)
        changes[band.end + 1] -= int(band.size)
    hidden = min(call.tokens - shown for call, shown in zip(usage.growth, accumulate(changes), strict=False))
    if hidden > 0 and usage.not_in_file:
        yield Band("not in the file, at every call", NOT_IN_FILE, 0, len(usage.growth) - 1, hidden)


def usage_document(usage: ContextUsage, gauge: Gauge | None) -> dict[str, Any]:
    """Convert the usage of a window to JSON."""
    groups = [] if gauge is None else [{"group": name, "tokens": tokens} for name, tokens in gauge.groups]
    return {
        "gauge": None if gauge is None else {**gauge._asdict(), "groups": groups, "free": gauge.free},
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
    }


# What policies would have sent: a row for each.


@dataclass(frozen=True, slots=True)
class PolicyColumn:
    """A column of the table of policies."""

    title: str
    """Its title."""

    value: Callable[[PolicyReplay], int | str | None]
    """Its cell: a number, a share as a text, or None for what does not apply."""

    is_alarm: bool = False
    """Whether anything but 0 means that a session would have failed."""

    is_wide: bool = False
    """Whether only a page has room for it."""


POLICY_COLUMNS = (
    PolicyColumn("policy", lambda each: each.policy),
    PolicyColumn("tokens sent", lambda each: each.tokens),
    PolicyColumn("reused", lambda each: f"{each.reused_share:.0%}"),
    PolicyColumn("cost", lambda each: round(each.cost)),
    PolicyColumn("largest prompt", lambda each: each.largest, is_wide=True),
    PolicyColumn("cuts", lambda each: each.cuts),
    PolicyColumn("refused", lambda each: each.refused, is_alarm=True),
    PolicyColumn("lost", lambda each: f"{1 - each.kept_share:.0%}" if each.needed else None),
)
"""The columns of the table of policies."""


def policy_legend(results: Sequence[PolicyReplay]) -> dict[str, str]:
    """Explain the columns of the table of policies."""
    rates, needed = results[0].rates, results[0].needed
    return {
        "reused": "share of tokens in the prefix shared with the previous call",
        "cost": f"in tokens at the usual price: {rates.read:g} if reused, {rates.write:g} otherwise",
        "refused": "calls that the provider would have rejected, or that could not be sent",
        "lost": f"share of the {needed:,} values that the model did not get, though arguments of later calls have them "
        "from a result and from no message since; at a refused call, all of them are lost",
    }


def policy_document(result: PolicyReplay) -> Mapping[str, Any]:
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


def policies_panel(title: str, results: Sequence[PolicyReplay], hidden: int = 0) -> Rows:
    """Show what policies would have sent."""
    note = " ".join(f"{column.capitalize()}: {text}." for column, text in policy_legend(results).items())
    if hidden:
        note = f"Without the {hidden:,} tokens of each prompt that are not in the file. {note}"
    rows = [[column.value(each) for column in POLICY_COLUMNS] for each in results]
    return Rows(title, [column.title.capitalize() for column in POLICY_COLUMNS], rows, note)


# The panels of the pages.


# More would be too thin to see, and slow to draw.
_MAX_BANDS = 2_000


def context_panels(
    usage: ContextUsage,
    gauge: Gauge | None,
    findings: Sequence[Finding],
    budget: int,
    results: Sequence[PolicyReplay],
) -> list[Panel]:
    """Show where the window of a session goes."""
    redundant = sum(each.tokens for each in redundant_parts(usage).values())
    counted = f"counted by {'the provider' if usage.counted_by else usage.counter}"
    panels: list[Panel] = [
        Figures(
            [
                Figure("Largest prompt", usage.total, counted),
                Figure("Calls", len(usage.growth), f"the largest is call {usage.call}" if usage.call else ""),
                Figure("Messages", len(usage.history.messages), plural(len(usage.history.compactions), "compaction")),
                Figure(
                    "Redundant", redundant, f"{share(redundant, usage.total)}: results fetched again, repeated texts"
                ),
            ]
        ),
        *_gauge_panels(gauge),
        Bars(
            "The largest prompt, by its parts",
            [
                Bar(
                    f"{row.kind}: {row.tool}" if row.tool else row.kind,
                    row.tokens,
                    plural(row.parts, "part") if row.parts else "",
                    group_of(row.kind, row.tool),
                )
                for row in usage.rows
            ],
        ),
        *_growth_panels(usage, gauge, budget),
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
    ]
    if findings:
        found = [f"message {each.index}, {each.rule}: {each.message}" for each in findings]
        panels.append(Notes(f"What the provider would reject: {plural(len(found), 'finding')}", found))
    if results:
        title = f"Alternatives at {budget:,} tokens per prompt"
        panels.append(policies_panel(title, results, usage.not_in_file))
    return panels


def _gauge_panels(gauge: Gauge | None) -> list[Panel]:
    if gauge is None:
        return []
    bars = [Bar(name, tokens) for name, tokens in gauge.groups]
    note = f"The largest prompt used {share(gauge.used, gauge.limit)} of what the model takes."
    return [WindowGauge("The window", bars, gauge.limit, gauge.reserve, note=note)]


def _growth_panels(usage: ContextUsage, gauge: Gauge | None, budget: int) -> list[Panel]:
    """Chart the prompts from call to call, with the size and lifetime of each part."""
    if len(usage.growth) < 2:
        return []
    bands = bands_of(usage)
    kept = sorted(bands, key=lambda band: band.size, reverse=True)[:_MAX_BANDS]
    shown = {id(band) for band in kept}
    note = "Each band is a part of the prompt, from the call that first sent it to the last."
    if usage.counted_by:
        note += " The line is what the provider counted."
    if len(kept) < len(bands):
        note += f" The {plural(len(bands) - len(kept), 'smallest part')} are left out."
    chart = GrowthChart(
        "How the prompt grew",
        [each.tokens for each in usage.growth],
        [band for band in bands if id(band) in shown],
        [Mark(i, "compacted") for i, each in enumerate(usage.growth) if each.compacted],
        [Level("budget", budget), *([Level("input limit", gauge.limit)] if gauge else [])],
        note=note,
    )
    rows = [
        (band.label, band.group, band.size, band.start + 1, band.end + 1, int(band.size) * (band.end - band.start + 1))
        for band in kept
    ]
    columns = ("What", "Group", "Tokens", "First call", "Last call", "Sent in total")
    sent = sorted(rows, key=lambda row: row[5], reverse=True)
    return [chart, Rows("The life of each part", columns, sent, "The largest totals first.")]
