"""One description of a session and of what policies would have sent: the terminal, the pages and `--json` show it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any

from pycupel.messages import Finding
from pycupel.messages.counting import TOOL_CALLS, USER
from pycupel.render.html import Band
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
    return Band(label_of(part)[:_LONGEST_LABEL], part.kind, first, last, part.tokens)


def _hidden(usage: ContextUsage, bands: Sequence[Band]) -> Iterator[Band]:
    """Return what all prompts contain and the file does not show: the smallest difference, because it grows."""
    changes = [0] * (len(usage.growth) + 1)
    for band in bands:
        changes[band.start] += int(band.size)
        changes[band.end + 1] -= int(band.size)
    hidden = min(call.tokens - shown for call, shown in zip(usage.growth, accumulate(changes), strict=False))
    if hidden > 0 and usage.not_in_file:
        yield Band("not in the file, at every call", NOT_IN_FILE, 0, len(usage.growth) - 1, hidden)


def usage_document(usage: ContextUsage) -> dict[str, Any]:
    """Convert the usage of a window to JSON."""
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
