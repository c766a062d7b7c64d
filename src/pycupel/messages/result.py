"""The results of `select_messages`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from pycupel.diagnostics import SelectionReport
from pycupel.messages.counting import Usage
from pycupel.messages.options import ResolvedProviderName
from pycupel.messages.reading import Reading
from pycupel.model import ContextBudget
from pycupel.values import sealed

if TYPE_CHECKING:
    from pycupel.messages.changes import Cut, Dropped, ShortenedMessage


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
