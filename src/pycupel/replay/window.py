"""What `context_usage` returns: the window of a session, and where it goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from pycupel.messages import Finding
from pycupel.replay.log import History
from pycupel.replay.parts import Part
from pycupel.tokens.counters import Counter
from pycupel.values import sealed

__all__ = ["NOT_IN_FILE", "ContextUsage", "Growth", "Waste", "WindowShare"]

NOT_IN_FILE = "not in the file"
"""The kind of what the provider counted and the log does not show."""


class WindowShare(NamedTuple):
    """A row of the window."""

    kind: str
    """"system", "tools", "user", "assistant", "thinking", "tool_calls", "tool_results", "images", "files", or
    "not in the file" for what the provider counted and the log does not show.
    """

    tool: str
    """For results, the name of the tool."""

    parts: int
    """How many parts there are."""

    tokens: int
    """Their tokens."""


class Waste(NamedTuple):
    """Redundant parts of the window."""

    parts: int
    """How many there are."""

    tokens: int
    """Their tokens."""


class Growth(NamedTuple):
    """A call in the growth of the context."""

    tokens: int
    """The size of its prompt."""

    compacted: bool
    """Whether the context was compacted since the previous call."""


@sealed
@dataclass(frozen=True, slots=True)
class ContextUsage:
    """Where the window of a session goes, at its largest prompt."""

    history: History
    """The session."""

    call: int
    """Which of its calls had the largest prompt, from 1; 0 if no call was logged."""

    total: int
    """The tokens of that prompt."""

    rows: tuple[WindowShare, ...]
    """The tokens by kind; results by tool."""

    largest: tuple[Part, ...]
    """The ten largest parts."""

    superseded: Waste
    """Results that a later call has outdated, as `pycupel.shorten.superseded` finds them."""

    repeated: Waste
    """Other parts whose text is repeated later."""

    findings: tuple[Finding, ...]
    """What the provider would reject in the session as logged."""

    growth: tuple[Growth, ...]
    """The prompts from call to call."""

    counter: Counter
    """The counter of the parts."""

    counted_by: str | None
    """The model whose provider counted the prompts; None if the counter did."""

    @property
    def not_in_file(self) -> int:
        """The tokens that the provider counted and the log does not show."""
        return sum(row.tokens for row in self.rows if row.kind == NOT_IN_FILE)

    def __repr__(self) -> str:
        return f"<ContextUsage: {self.total} tokens at call {self.call} of {self.history!r}>"
