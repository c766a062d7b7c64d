"""The result of a selection: what was kept, dropped, cut and shortened."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil
from typing import Any, ClassVar, NamedTuple

from pycupel.diagnostics import ExclusionReason, SelectionReport
from pycupel.errors import InvalidArgumentError
from pycupel.messages.counting import Usage
from pycupel.messages.memory import Reading
from pycupel.messages.options import ResolvedProviderName
from pycupel.model import ContextBudget
from pycupel.model.checks import checked_float
from pycupel.values import draft_of, sealed


@sealed
@dataclass(frozen=True, slots=True)
class Dropped:
    """A message or document that was left out."""

    index: int
    """Its index in the caller's list."""

    reason: ExclusionReason
    """Why it was left out."""


@sealed
@dataclass(frozen=True, slots=True)
class ShortenedMessage:
    """A message that was selected with shorter results."""

    index: int
    """Its index in the caller's list."""

    original_tokens: int
    """Its tokens in the caller's list."""

    tokens: int
    """Its tokens in the selection."""


@sealed
@dataclass(frozen=True, slots=True)
class Cut:
    """What a cut costs: the provider reads everything after the first change again, at a higher price."""

    removed: int
    """The tokens that the cut removed."""

    rewritten: int
    """The tokens after the first change, which are not in the provider's prompt cache."""

    def pays_after(self, write: float = 1.25, read: float = 0.1) -> int:
        """Return the number of calls after which the cut pays for itself.

        Each call saves the price of reading the removed tokens from the cache. The rewritten tokens cost, once, the
        difference between writing and reading.

        Args:
            write: The price of a token written to the cache, relative to an uncached token.
            read: The price of a token read from the cache.

        Raises:
            InvalidArgumentError: `read` is not above 0 or nothing was removed, so the cut would never pay; or a price
                is not finite.
        """
        write, read = (
            checked_float(name, price, InvalidArgumentError) for name, price in (("write", write), ("read", read))
        )
        if self.removed <= 0:
            raise InvalidArgumentError(
                "a cut that removed nothing never pays for itself", argument="removed", value=self.removed
            )
        if read <= 0:
            raise InvalidArgumentError(
                f"read must be above 0, not {read:g}: if reading is free, a cut never pays",
                argument="read",
                value=read,
            )
        return max(0, ceil(self.rewritten * (write - read) / (self.removed * read)))


_DroppedDraft: Any = draft_of(Dropped)


def make_dropped(reasons: Iterable[tuple[int, ExclusionReason]]) -> tuple[Dropped, ...]:
    """Make the entry of each dropped message or document."""
    dropped: list[Dropped] = []
    # There may be thousands, and a draft takes a third of the constructor's time.
    for index, reason in reasons:
        draft = _DroppedDraft()
        draft.index = index
        draft.reason = reason
        draft.__class__ = Dropped
        dropped.append(draft)
    return tuple(dropped)


# The results of `select_messages`.


class ResultText(NamedTuple):
    """The shortened text of a result in a selection."""

    message: int
    """The index of its message."""

    number: int
    """Its number among the results of the message."""

    text: str
    """The shorter text."""


class Checkpoint(NamedTuple):
    """Where the next selection of the same history may continue, instead of starting at its first message."""

    end: int
    """The number of messages seen so far."""

    gone: tuple[int, ...]
    """The indices of the first messages of the units dropped so far."""

    shape: str
    """A fingerprint of which messages belonged together."""

    texts: tuple[ResultText, ...] = ()
    """The texts of the results shortened so far."""


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class MessageSelection:
    """The result of `select_messages`. It holds lists, so it is not hashable."""

    messages: list[Any]
    """The selected messages, in the same order: your own objects, except those in `shortened`."""

    total_tokens: int
    """Their tokens, documents included."""

    dropped: tuple[Dropped, ...]
    """The other messages, each with its reason."""

    documents: list[Any]
    """The selected documents: your own objects, with the best at both ends."""

    dropped_documents: tuple[Dropped, ...]
    """The other documents, each with its reason."""

    kept: tuple[int, ...]
    """The indices of the selected messages in the caller's list."""

    stable_prefix_tokens: int
    """The tokens of the prefix that `messages` shares with the previous selection; 0 without `previous`."""

    report: SelectionReport | None
    """Every unit and document with its score and reason; None without `explain=True`."""

    budget: ContextBudget
    """What is left for messages and documents, after the estimate's margin and after the system prompt and the tools
    that are sent beside the messages.
    """

    counter: str
    """The name and version of the token counter."""

    provider: ResolvedProviderName
    """The provider whose rules were applied."""

    usage: Usage
    """Where the window goes: system prompt, tools, history by kind, documents, reply, and free tokens."""

    notes: tuple[str, ...] = ()
    """Advisory notes, such as that no message has the field a scorer reads."""

    cut: Cut | None = None
    """What the cut in this call removed, and what that costs; None if nothing was cut."""

    summary: str | None = None
    """The text that `summarize` returned for the dropped messages.

    Its message follows the system prompt in `messages`, and has no entry in `kept`.
    """

    shortened: tuple[ShortenedMessage, ...] = ()
    """The selected messages that are copies with shorter results."""

    fingerprint: str = ""
    """Identifies the history and the arguments, so that a later selection can recognise this one."""

    checkpoints: tuple[Checkpoint, ...] = ()
    """Where a later selection may continue."""

    source: tuple[Any, ...] = field(default=(), compare=False)
    """The caller's whole history. It is not compared."""

    reading: Reading | None = field(default=None, compare=False)
    """The messages as they were read, so that a later selection counts only newer ones.

    It is neither compared nor stored.
    """

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride]

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


class ExplainedSelection(MessageSelection):
    """The result of `select_messages` with `explain=True`: its `report` is never None."""

    __slots__ = ()

    report: SelectionReport
    """Every unit and document with its score and reason."""
