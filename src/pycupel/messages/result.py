"""What `select_messages` returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pycupel.diagnostics import ExclusionReason, SelectionReport
from pycupel.messages.options import ProviderName
from pycupel.messages.usage import Usage
from pycupel.model import ContextBudget

__all__ = ["Dropped", "ExplainedSelection", "MessageSelection"]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A message or document that was left out.

    Attributes:
        index: Its index in the caller's list.
        reason: Why it was left out.
    """

    index: int
    reason: ExclusionReason


@dataclass(frozen=True, slots=True, repr=False)
class MessageSelection:
    """What `select_messages` selected. It holds lists, so it is not hashable.

    Attributes:
        messages: The selected messages: the caller's own objects, in their order.
        total_tokens: What they cost, documents included.
        dropped: The other messages, each with its reason.
        documents: The selected documents: the caller's own objects, the best ones at both edges.
        dropped_documents: The other documents, each with its reason.
        kept: The indices of the selected messages in the caller's list.
        stable_prefix_tokens: What `messages` and those of the previous selection have in common at the start.
        report: Every unit and document with its score and reason; None without `explain=True`.
        budget: What the budget left to messages and documents: without the margin of an estimate, and without what
            travels beside the messages.
        counter: The name and version of what counted the tokens.
        provider: The provider whose rules were kept.
        usage: Where the window goes: system prompt, tools, history by kind, documents, reply, and what is free.
        notes: Advisory notes, such as that a scorer found its field on no message.
        source: The caller's whole history.
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
    provider: ProviderName
    usage: Usage
    notes: tuple[str, ...] = ()
    source: tuple[Any, ...] = ()

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride]

    def continues(self, messages: Sequence[Any]) -> bool:
        """Whether a history starts with the one that this selection was made from."""
        before = self.source
        return len(before) <= len(messages) and all(
            then is now or then == now for then, now in zip(before, messages, strict=False)
        )

    def __repr__(self) -> str:
        documents = ""
        if self.documents or self.dropped_documents:
            total = len(self.documents) + len(self.dropped_documents)
            documents = f", {len(self.documents)} of {total} documents"
        return (
            f"<{type(self).__name__}: {len(self.messages)} of {len(self.source)} messages{documents}, "
            f"{self.total_tokens} tokens for {self.provider}, counted by {self.counter}>"
        )


@dataclass(frozen=True, slots=True, repr=False)
class ExplainedSelection(MessageSelection):
    """What `select_messages` selected with `explain=True`: its `report` is never None."""

    report: SelectionReport

    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride]
