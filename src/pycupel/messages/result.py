"""What `select_messages` returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any, ClassVar

from pycupel.diagnostics import ExclusionReason, SelectionReport
from pycupel.errors import InvalidArgumentError
from pycupel.messages.options import ProviderName
from pycupel.messages.usage import Usage
from pycupel.model import ContextBudget

__all__ = ["Checkpoint", "Cut", "Dropped", "ExplainedSelection", "MessageSelection", "ShortenedMessage"]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A message or document that was left out.

    Attributes:
        index: Its index in the caller's list.
        reason: Why it was left out.
    """

    index: int
    reason: ExclusionReason


@dataclass(frozen=True, slots=True)
class ShortenedMessage:
    """A message that was selected with shorter results.

    Attributes:
        index: Its index in the caller's list.
        original_tokens: What it costs in the caller's list.
        tokens: What it costs in the selection.
    """

    index: int
    original_tokens: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Cut:
    """What a cut costs: the provider has to read anew, at a higher price, what follows the first change.

    Attributes:
        removed: The tokens that the cut removed.
        rewritten: The tokens behind the first change, which are not in the provider's prompt cache.
    """

    removed: int
    rewritten: int

    def pays_after(self, write: float = 1.25, read: float = 0.1) -> int:
        """The number of calls after which the cut has paid for itself.

        Each call saves what reading the removed tokens from the cache would have cost; once, what is rewritten costs
        the difference between writing and reading.

        Args:
            write: The price of a token that is written to the cache, in prices of an uncached token.
            read: The price of a token that is read from the cache.

        Raises:
            InvalidArgumentError: `read` is not above 0, so that nothing is ever saved.
        """
        if read <= 0:
            raise InvalidArgumentError(
                f"read must be above 0, not {read}: where reading costs nothing, a cut never pays",
                argument="read",
                value=read,
            )
        return max(0, ceil(self.rewritten * (write - read) / (self.removed * read)))


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where the next selection of the same history may go on, instead of starting at its first message.

    Attributes:
        end: The number of messages that had been looked at.
        gone: The indices of the messages that had been dropped until then.
        shape: A fingerprint of what belonged together.
    """

    end: int
    gone: tuple[int, ...]
    shape: str


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
        shortened: The selected messages that have shorter results, which are copies; all others are the very objects.
        notes: Advisory notes, such as that a scorer found its field on no message.
        cut: What the cut in this call removed, and what that costs; None if nothing was cut.
        fingerprint: Of the history and the arguments; a later selection recognises this one by it.
        checkpoints: Where a later selection may go on.
        source: The caller's whole history. It is not compared.
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
    shortened: tuple[ShortenedMessage, ...] = ()
    cut: Cut | None = None
    fingerprint: str = ""
    checkpoints: tuple[Checkpoint, ...] = ()
    source: tuple[Any, ...] = field(default=(), compare=False)

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride]

    def continues(self, messages: Sequence[Any]) -> bool:
        """Whether a history starts with the one that this selection was made from."""
        before = self.source
        return len(before) <= len(messages) and all(
            then is now or then == now for then, now in zip(before, messages, strict=False)
        )

    @property
    def history_length(self) -> int:
        """The number of messages in the caller's list."""
        return len(self.kept) + len(self.dropped)

    def __repr__(self) -> str:
        documents = ""
        if self.documents or self.dropped_documents:
            total = len(self.documents) + len(self.dropped_documents)
            documents = f", {len(self.documents)} of {total} documents"
        return (
            f"<{type(self).__name__}: {len(self.messages)} of {self.history_length} messages{documents}, "
            f"{self.total_tokens} tokens for {self.provider}, counted by {self.counter}>"
        )


@dataclass(frozen=True, slots=True, repr=False)
class ExplainedSelection(MessageSelection):
    """What `select_messages` selected with `explain=True`: its `report` is never None."""

    report: SelectionReport

    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride]
