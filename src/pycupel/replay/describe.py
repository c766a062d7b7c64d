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
from pycupel.model.checks import find_name
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
    Tile,
    Treemap,
    WindowGauge,
)
from pycupel.replay.parts import Part, Prompts
from pycupel.replay.run import PROVIDER_SIDE, PolicyReplay, SentCall, call_indices, compaction_before
from pycupel.replay.usage import (
    CAUSES,
    NOT_IN_FILE,
    CacheMiss,
    ContextUsage,
    Money,
    Redundant,
    Spent,
    cache_misses,
    largest_prompt_of,
)
from pycupel.shorten.outdated import arguments_of

_LONGEST_LABEL = 160
# A longer path is cut at its start, because paths of one project begin alike.
_LONGEST_PATH = 50


def label_of(part: Part, *, text: bool = True) -> str:
    """Describe a part: for a call or a result, the tool and its main argument; without its text, just what it is."""
    is_call = part.kind == TOOL_CALLS
    if not part.tool or part.call is None:
        # A summary is sent as a message of the user, but is not among the messages.
        kind = "summary" if part.kind == USER and part.message < 0 else part.kind
        return f"{kind}: {part.text}" if part.text and text else kind
    if not text:
        return f"{'call of ' if is_call else ''}{part.tool}"
    main, _ = arguments_of(part.call.arguments)
    asked = main or (part.text if is_call else "")
    if main and len(main) > _LONGEST_PATH and " " not in main and main.count("/") > 3:
        asked = f".../{'/'.join(main.split('/')[-3:])}"
    return f"{'call of ' if is_call else ''}{part.tool}: {asked}"


def group_of(kind: str, tool: str) -> str:
    """Return what a part is shown as: a result as its tool, which has one colour everywhere."""
    return tool if kind == TOOL_RESULTS and tool else kind


class Gauge(NamedTuple):
    """How much of a model's window the largest prompt of a session used, in tokens."""

    limit: int  # The most tokens of a prompt.
    reserve: int  # The rest of the window, which is for the reply.
    used: int
    groups: tuple[tuple[str, int], ...]  # What was used, by what it is.

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
    ASSISTANT: "assistant and calls",
    TOOL_CALLS: "assistant and calls",
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


def bands_of(usage: ContextUsage, *, text: bool = True) -> list[Band]:
    """Return every part of the prompts in prompt order, with the first and the last call that sent it."""
    history, calls = usage.history, call_indices(usage.history)
    prompts = Prompts(history, usage.counter)
    compacted = [compaction_before(history, index) for index in calls]
    starts = [0 if each is None else each.index for each in compacted]
    bands = [_band(part, 0, len(calls) - 1, text=text) for part in prompts.beside]
    for compaction in history.compactions:
        alive = [n for n, each in enumerate(compacted) if each is compaction]
        if alive:
            bands.append(_band(prompts.summary(compaction), alive[0], alive[-1], text=text))
    for part in prompts.parts:
        # The first call after the message, and the last one before a compaction replaced it.
        first, last = bisect_right(calls, part.message), bisect_right(starts, part.message) - 1
        while last + 1 < len(calls) and (after := compacted[last + 1]) is not None and after.sends(part.message):
            last += 1
        if first <= last:
            bands.append(_band(part, first, last, text=text))
    return [*_hidden(usage, bands), *bands]


def _band(part: Part, first: int, last: int, *, text: bool) -> Band:
    return Band(label_of(part, text=text)[:_LONGEST_LABEL], group_of(part.kind, part.tool), first, last, part.tokens)


def _hidden(usage: ContextUsage, bands: Sequence[Band]) -> Iterator[Band]:
    """Return what all prompts contain and the file does not show: the smallest difference, because it grows."""
    changes = [0] * (len(usage.growth) + 1)
    for band in bands:
        changes[band.start] += int(band.size)
        changes[band.end + 1] -= int(band.size)
    hidden = min(call.tokens - shown for call, shown in zip(usage.growth, accumulate(changes), strict=False))
    if hidden > 0 and usage.not_in_file:
        yield Band("not in the file, at every call", NOT_IN_FILE, 0, len(usage.growth) - 1, hidden)


def money_heading(money: Money) -> str:
    """Say what the amounts are."""
    return f"Money, in USD at the prices of {', '.join((money.model, *money.others))} on {money.prices.date}"


def money_note(usage: ContextUsage, money: Money) -> str:
    """Say where the prices are from, and what estimates leave out."""
    hidden = f" and the {usage.not_in_file:,} tokens of each that are not in the file" if usage.not_in_file else ""
    at = f" at the prices of {money.model}" if money.others else ""
    return f"Prices: {money.prices.source}. Prompts with a policy are estimated{at}, without replies{hidden}."


def _money_document(money: Money | None) -> dict[str, Any] | None:
    if money is None:
        return None
    rows = [
        {"what": row.what, "tokens": row.tokens, "usd": round(row.usd, 6), "measured": row.is_measured}
        for row in money.rows
    ]
    row = money.prices
    usd = {"input": row.input, "cached": row.cached, "cacheWrite": row.cache_write, "output": row.output}
    prices = {**usd, "date": row.date.isoformat(), "source": row.source}
    return {"model": money.model, "otherModels": [*money.others], "prices": prices, "rows": rows}


def usage_document(usage: ContextUsage, gauge: Gauge | None, money: Money | None) -> dict[str, Any]:
    """Convert the usage of a window to JSON."""
    groups = [] if gauge is None else [{"group": name, "tokens": tokens} for name, tokens in gauge.groups]
    return {
        "gauge": None if gauge is None else {**gauge._asdict(), "groups": groups, "free": gauge.free},
        "money": _money_document(money),
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
        "cacheMisses": [
            {
                "call": each.call,
                "cause": each.cause,
                "tokens": each.tokens,
                "cost": each.cost,
                "measured": each.is_measured,
            }
            for each in cache_misses(usage)
        ],
    }


def miss_heading(misses: Sequence[CacheMiss]) -> str:
    """Sum up which calls lost the prompt cache."""
    tokens = sum(each.tokens for each in misses)
    return f"The prompt cache was lost at {plural(len(misses), 'call')}, {plural(tokens, 'token')}"


def basis_of(known: CacheMiss | Spent) -> str:
    """Say how a loss or an amount is known."""
    return "measured" if known.is_measured else "likely" if isinstance(known, CacheMiss) else "estimated"


# What policies would have sent: a row for each.


@dataclass(frozen=True, slots=True)
class PolicyColumn:
    """A column of the table of policies; a cell is a number, a share as a text, or None for what does not apply."""

    title: str
    value: Callable[[PolicyReplay], int | str | None]
    is_alarm: bool = False  # Whether anything but 0 means that a session would have failed.
    is_wide: bool = False  # Whether only a page has room for it.


POLICY_COLUMNS = (
    PolicyColumn("policy", lambda each: each.policy),
    PolicyColumn("tokens sent", lambda each: each.tokens),
    PolicyColumn("reused", lambda each: f"{each.reused_share:.0%}"),
    PolicyColumn("cost", lambda each: round(each.cost)),
    PolicyColumn("largest prompt", lambda each: each.largest, is_wide=True),
    PolicyColumn("cuts", lambda each: each.cuts),
    PolicyColumn("refused", lambda each: each.refused, is_alarm=True),
    PolicyColumn("lost", lambda each: f"{1 - each.kept_share:.0%}" if each.needed else None, is_alarm=True),
)
"""The columns of the table of policies."""


def policy_legend(results: Sequence[PolicyReplay]) -> dict[str, str]:
    """Explain the columns of the table of policies."""
    rates, needed = results[0].rates, results[0].needed
    labels = {each.policy: find_name(each.policy, PROVIDER_SIDE) for each in results}
    return {
        "tokens sent": "of what the log shows of each prompt",
        "reused": "share of tokens in the prefix shared with the previous call",
        "cost": f"in tokens at the usual price: {rates.read:g} if reused, {rates.write:g} otherwise",
        "refused": "calls that the provider would have rejected, or that could not be sent",
        "lost": "share of what was needed later that the model did not get, over all calls whose history exceeds the "
        f"budget: {needed:,} values that arguments of later calls have from a result and from no message since; at a "
        "refused call, all of them are lost",
        **{label: PROVIDER_SIDE[name] for label, name in labels.items() if name is not None},
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
    titles = [column.title.capitalize() for column in POLICY_COLUMNS]
    alarms = [n for n, column in enumerate(POLICY_COLUMNS) if column.is_alarm]
    return Rows(title, titles, rows, note, alarms)


def replay_panels(results: Sequence[PolicyReplay], levels: Sequence[Level]) -> list[Panel]:
    """Chart what each policy would have sent from call to call, with the same numbers as a table."""
    note = "Below, what the provider's cache could serve; above, what is new. Lines mark cuts and refused calls."
    charts: list[Panel] = []
    for each in results:
        bands: list[Band] = []
        for n, call in enumerate(each.sent):
            parts = (("cached", call.reused), ("rewritten", call.tokens - call.reused))
            bands += [Band(f"call {n + 1}", group, n, n, tokens) for group, tokens in parts]
        marks = [Mark(n, _event(call)) for n, call in enumerate(each.sent) if _event(call)]
        title = f"{each.policy}: from call to call"
        charts.append(GrowthChart(title, [call.tokens for call in each.sent], bands, marks, levels, note=note))
    rows: list[list[float | str | None]] = [
        [n, *(f"{call.tokens:,} ({call.reused:,}) {_event(call)}".strip() for call in calls)]
        for n, calls in enumerate(zip(*(each.sent for each in results), strict=True), 1)
    ]
    columns = ["Call", *(each.policy for each in results)]
    return [
        *charts,
        Rows("Call by call", columns, rows, "The tokens of each prompt, in brackets those that were cached."),
    ]


def _event(call: SentCall) -> str:
    return "refused" if call.is_refused else "cut" if call.is_cut else ""


# The panels of the pages.


# More would be too thin to see, and slow to draw.
_MAX_BANDS = 2_000
_MAX_TILES = 300


def context_panels(
    usage: ContextUsage,
    gauge: Gauge | None,
    findings: Sequence[Finding],
    budget: int,
    results: Sequence[PolicyReplay],
    money: Money | None = None,
    *,
    text: bool = True,
) -> list[Panel]:
    """Show where the window of a session goes; without `text`, nothing that was said in it."""
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
        *_tile_panels(usage, text=text),
        *_growth_panels(usage, gauge, budget, text=text),
        Rows(
            "The largest parts",
            ("What", "Message", "Tokens", "Share"),
            [
                (
                    label_of(part, text=text),
                    part.message if part.message >= 0 else None,
                    part.tokens,
                    share(part.tokens, usage.total),
                )
                for part in usage.largest
            ],
        ),
    ]
    misses = cache_misses(usage)
    if misses:
        lost = [(each.call, each.cause, basis_of(each), each.tokens, each.cost, CAUSES[each.cause]) for each in misses]
        columns = ("Call", "Cause", "How known", "Tokens", "Cost", "What it means")
        note = "Tokens that an earlier call had sent, and what it cost to read them anew, in tokens at the usual price."
        panels.append(Rows(miss_heading(misses), columns, lost, note))
    if findings:
        found = [f"message {each.index}, {each.rule}{f': {each.message}' if text else ''}" for each in findings]
        panels.append(Notes(f"What the provider would reject: {plural(len(found), 'finding')}", found))
    if results:
        title = f"Alternatives at {budget:,} tokens per prompt"
        panels.append(policies_panel(title, results, usage.not_in_file))
    if money is not None:
        amounts = [(row.what, row.tokens, f"{row.usd:,.3f}", basis_of(row)) for row in money.rows]
        titles = ("What", "Tokens", "USD", "How known")
        panels.append(Rows(money_heading(money), titles, amounts, money_note(usage, money)))
    return panels


def _gauge_panels(gauge: Gauge | None) -> list[Panel]:
    if gauge is None:
        return []
    bars = [Bar(name, tokens) for name, tokens in gauge.groups]
    note = f"The largest prompt used {share(gauge.used, gauge.limit)} of what the model takes."
    return [WindowGauge("The window", bars, gauge.limit, gauge.reserve, note=note)]


def _tile_panels(usage: ContextUsage, *, text: bool) -> list[Panel]:
    """Show the largest prompt as areas, by tool and then by what the tool was asked for, with the same numbers."""
    sizes: dict[tuple[str, str], list[int]] = {}
    for part, is_redundant in largest_prompt_of(usage):
        group = group_of(part.kind, part.tool)
        main = arguments_of(part.call.arguments)[0] if part.kind == TOOL_RESULTS and part.call and text else ""
        size = sizes.setdefault((group, (main or part.tool or group)[:_LONGEST_LABEL]), [0, 0])
        size[0] += part.tokens
        size[1] += part.tokens if is_redundant else 0
    if usage.not_in_file:
        sizes[NOT_IN_FILE, NOT_IN_FILE] = [usage.not_in_file, 0]
    tiles = sorted((Tile(*names, *size) for names, size in sizes.items()), key=lambda tile: -tile.size)
    shown = [tile for tile in tiles[:_MAX_TILES] if tile.size]
    note = (
        "An area is as large as its tokens, by tool and then by file or command; what a later part repeats is hatched."
    )
    rows = [(tile.label, tile.group, tile.size, tile.redundant, share(tile.size, usage.total)) for tile in shown]
    columns = ("What", "Group", "Tokens", "Redundant", "Share")
    left = f"Without {plural(len(tiles) - len(shown), 'smaller part')}." if len(tiles) > len(shown) else ""
    return [
        Treemap("The largest prompt, by tool and file", shown, note=note),
        Rows("The areas in numbers", columns, rows, left),
    ]


def _growth_panels(usage: ContextUsage, gauge: Gauge | None, budget: int, *, text: bool) -> list[Panel]:
    """Chart the prompts from call to call, with the size and lifetime of each part."""
    if len(usage.growth) < 2:
        return []
    bands = bands_of(usage, text=text)
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
