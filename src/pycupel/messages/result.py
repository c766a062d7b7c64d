"""What `select_messages` returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pycupel.diagnostics import ExclusionReason, SelectionReport
from pycupel.model import ContextBudget

__all__ = ["Dropped", "MessageSelection"]


class Dropped(NamedTuple):
    """A message that was left out, by its place in the caller's list."""

    index: int  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride] - not the method
    reason: ExclusionReason


@dataclass(frozen=True, slots=True)
class MessageSelection:
    """What `select_messages` selected.

    Attributes:
        messages: The caller's own objects, in their order.
        total_tokens: What they cost, documents included.
        dropped: The rest, each with its reason.
        documents: The selected documents, the caller's own objects, the best ones at both edges.
        dropped_documents: The rest of them, by their place in the caller's list.
        kept: The places of the messages in the caller's list.
        stable_prefix_tokens: What `messages` and those of the previous selection have in common at the start.
        report: Every block and document with its score and reason, if `explain` asked for it.
        budget: The budget in force, with the counter's safety margin.
        counter: The name and version of what counted the tokens.
        provider: Whose rules were kept.
        notes: What users should know.
    """

    messages: list[Any]
    total_tokens: int
    dropped: tuple[Dropped, ...]
    documents: list[Any]
    dropped_documents: tuple[Dropped, ...]
    kept: tuple[int, ...]
    stable_prefix_tokens: int
    report: SelectionReport | None
    budget: ContextBudget
    counter: str
    provider: str
    notes: tuple[str, ...] = ()
    source: tuple[Any, ...] = field(default=(), repr=False)

    def continues(self, messages: Sequence[Any]) -> bool:
        """Whether a history starts with the one that this selection was made from."""
        before = self.source
        return len(before) <= len(messages) and all(
            then is now or then == now for then, now in zip(before, messages, strict=False)
        )
