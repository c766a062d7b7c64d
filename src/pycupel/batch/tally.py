"""Count over all rows. The counts of the chunks add up to those of the run, in any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Any, NamedTuple, TypeGuard

from pycupel.analytics.measures import fraction
from pycupel.batch.request import is_array, is_object
from pycupel.text import one_line
from pycupel.values import sealed

# How many of the slowest requests, and of the items with the most differences, a summary lists.
_MAX_LISTED = 10
# How many items are remembered for that, so that memory does not grow with the log.
_MAX_SWINGS = 10_000
_TENTHS = 10


class ItemDifference(NamedTuple):
    """An item that one policy selects and the other does not."""

    content: str
    """The beginning of its content."""

    only_first: int
    """How many requests select it under the first policy only."""

    only_second: int
    """How many requests select it under the second policy only."""


class Tally:
    """The counts over some rows.

    Attributes:
        counts: Requests, errors, tokens, and with a second policy its tokens and how many requests differ.
        reasons: The exclusions by reason.
        tenths: The requests by tenths of the window that they use.
        swings: For the beginning of a content, how many requests select it under only one of two policies.
        first_error: The error of the first request that has one, after its id or location; None if no request has one.
        slowest: Seconds, and ids or locations of requests. These are not saved: they differ from run to run.
    """

    def __init__(self, saved: Mapping[str, Any] | None = None) -> None:
        known: Mapping[str, Any] = {} if saved is None else saved
        self.counts: Counter[str] = Counter(known.get("counts"))
        self.reasons: Counter[str] = Counter(known.get("reasons"))
        self.tenths: Counter[str] = Counter(known.get("tenths"))
        self.swings: dict[str, list[int]] = {key: [*pair] for key, pair in known.get("swings", {}).items()}
        self.first_error: str | None = known.get("first_error")
        self.slowest: list[tuple[float, str]] = []

    def add_row(self, row: Mapping[str, Any], seconds: float, location: str) -> None:
        """Count a row. A request without an id is named by its location."""
        counts = self.counts
        counts["requests"] += 1
        if row["error"] is not None:
            counts["errors"] += 1
            if self.first_error is None:
                name = location if row["id"] is None else f"id {one_line(str(row['id']))}"
                # The error about a line that is not JSON says where it is.
                self.first_error = row["error"] if location in row["error"] else f"{name}: {row['error']}"
            return
        counts["tokens"] += row["tokens"]
        self.tenths[str(min(_TENTHS - 1, int(row["utilization"] * _TENTHS)))] += 1
        # Unlike floats, integers add up to the same in any order.
        counts["utilization"] += round(row["utilization"] * 1_000_000)
        self.reasons.update(each["reason"] for each in row["excluded"])
        self.slowest.append((seconds, location if row["id"] is None else one_line(str(row["id"]))))

    def add_difference(self, row: Mapping[str, Any], other: Mapping[str, Any], contents: Any) -> None:
        """Count what another policy selects instead. `contents(i)` is the content of an item or message."""
        if row["error"] is not None or other["error"] is not None:
            self.counts["differing"] += row["error"] != other["error"]
            return
        self.counts["other_tokens"] += other["tokens"]
        first, second = set(row["selected"]), set(other["selected"])
        self.counts["differing"] += first != second
        for side, indices in enumerate((first - second, second - first)):
            for i in indices:
                self.swings.setdefault(contents(i), [0, 0])[side] += 1

    def add(self, other: Tally) -> None:
        """Add the counts of another tally."""
        self.counts += other.counts
        self.reasons += other.reasons
        self.tenths += other.tenths
        if self.first_error is None:
            self.first_error = other.first_error
        for content, pair in other.swings.items():
            known = self.swings.setdefault(content, [0, 0])
            known[0] += pair[0]
            known[1] += pair[1]
        if len(self.swings) > _MAX_SWINGS:
            self.swings = dict(_most_swinging(self.swings, _MAX_SWINGS // 2))
        self.slowest = nlargest(_MAX_LISTED, [*self.slowest, *other.slowest])

    def saved(self) -> dict[str, Any]:
        """Return what a later run needs, as JSON."""
        # `is_saved_tally` checks it.
        return {
            "counts": self.counts,
            "reasons": self.reasons,
            "tenths": self.tenths,
            "swings": self.swings,
            "first_error": self.first_error,
        }

    def summary(self) -> BatchSummary:
        """Return the figures."""
        counts = self.counts
        served = counts["requests"] - counts["errors"]
        return BatchSummary(
            requests=counts["requests"],
            errors=counts["errors"],
            tokens=counts["tokens"],
            utilization=fraction(counts["utilization"], served * 1_000_000),
            tenths=tuple(self.tenths[str(i)] for i in range(_TENTHS)),
            reasons=dict(sorted(self.reasons.items(), key=lambda each: (-each[1], each[0]))),
            slowest=tuple((name, seconds) for seconds, name in self.slowest),
            differing=counts["differing"],
            other_tokens=counts["other_tokens"],
            swings=tuple(ItemDifference(content, *pair) for content, pair in _most_swinging(self.swings, _MAX_LISTED)),
            first_error=self.first_error,
        )


def is_saved_tally(saved: Any) -> TypeGuard[dict[str, Any]]:
    """Whether a value is what `Tally.saved` returns, and not the rest of a damaged file."""
    if not is_object(saved):
        return False
    counts = [saved.get(name) for name in ("counts", "reasons", "tenths")]
    swings = saved.get("swings")
    return (
        all(is_object(each) and all(type(number) is int for number in each.values()) for each in counts)
        and is_object(swings)
        and all(is_array(each) and [*map(type, each)] == [int, int] for each in swings.values())
        and isinstance(saved.get("first_error"), str | None)
    )


@sealed
@dataclass(frozen=True, slots=True)
class BatchSummary:
    """The figures of a batch."""

    requests: int
    """How many requests there were."""

    errors: int
    """How many of them failed."""

    tokens: int
    """The tokens of everything selected."""

    utilization: float
    """The mean share of `max_tokens` that is used, over the requests without an error."""

    tenths: tuple[int, ...]
    """How many requests use less than a tenth of `max_tokens`, less than two tenths, and so on."""

    reasons: dict[str, int]
    """How many items were excluded for each reason, the most frequent first."""

    slowest: tuple[tuple[str, float], ...] = field(default=(), compare=False)
    """The slowest requests of this run: their ids, or files and lines if they have none, and the seconds they took."""

    differing: int = 0
    """With a second policy: in how many requests it selects differently."""

    other_tokens: int = 0
    """With a second policy: the tokens that it selects."""

    swings: tuple[ItemDifference, ...] = ()
    """With a second policy: the items on which the two policies differ most often."""

    first_error: str | None = None
    """The error of the first request that has one, after its id, or its file and line if it has none; else None."""


def _most_swinging(swings: Mapping[str, list[int]], count: int) -> Iterable[tuple[str, list[int]]]:
    """Return the items that differ in the most requests; ties are in alphabetical order."""
    return sorted(swings.items(), key=lambda each: (-sum(each[1]), each[0]))[:count]
