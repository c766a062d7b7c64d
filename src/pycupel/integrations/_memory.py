"""What the hooks for chat histories share: how they select, and the memory that keeps a prompt's start as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any, TypedDict

from pycupel.messages import Dropped, MessageSelection, select_messages
from pycupel.model import ContextBudget
from pycupel.pipeline import Policy

__all__ = ["HistorySelector", "HookOptions", "Memory"]

# So many conversations are remembered for a hook. One that was forgotten is selected from anew, which costs no more
# than the provider's prompt cache, once.
_CONVERSATIONS = 64

# The place of the system prompt, which is no message.
_SYSTEM = -1


class HookOptions(TypedDict, total=False):
    """What every hook for histories takes beside its budget.

    They are those of `select_messages`, and `on_selection`, which is called with each selection, for a log or a test.
    `pin` is asked about the library's own messages, and the places in a selection are places among these.
    """

    policy: Policy | str
    unit: str
    counter: Any
    pin: Callable[[Any], bool]
    too_large: str
    explain: bool
    on_selection: Callable[[MessageSelection], object]


class Memory:
    """The last selection of each conversation, the latest last. Safe to share between threads."""

    def __init__(self, size: int = _CONVERSATIONS) -> None:
        self._size = size
        self._lock = Lock()
        self._selections: tuple[MessageSelection, ...] = ()

    def recall(self, messages: Sequence[Any]) -> MessageSelection | None:
        """The selection from the longest history that these messages continue."""
        known = [each for each in self._selections if each.continues(messages)]
        return max(known, key=lambda each: len(each.source), default=None)

    def remember(self, selection: MessageSelection, previous: MessageSelection | None) -> None:
        """Also forgets the previous one, because the conversation goes on from here."""
        with self._lock:
            others = tuple(each for each in self._selections if each is not previous)
            self._selections = (*others, selection)[-self._size :]


class HistorySelector:
    """Selects for a hook, which may serve many conversations, also at the same time in several threads."""

    def __init__(self, budget: ContextBudget | int, provider: str, options: HookOptions) -> None:
        self._options: dict[str, Any] = {"budget": budget, "provider": provider, **options}
        self._pin: Callable[[Any], bool] | None = self._options.pop("pin", None)
        self._on_selection: Callable[[MessageSelection], object] | None = self._options.pop("on_selection", None)
        self._memory = Memory()
        # Wrong options are found where they are written, and not when a model is called for the first time.
        select_messages((), **self._options)

    def select(
        self,
        messages: Sequence[Any],
        pieces: Sequence[Sequence[Any]] | None = None,
        *,
        system: str | None = None,
        keep: Iterable[int] = (),
    ) -> list[list[int]]:
        """Which pieces of each message should be sent.

        Args:
            messages: The library's own messages.
            pieces: What each of them says, in the provider's shape; by default, the message itself.
            system: What is sent beside the messages and has to fit, too.
            keep: The places of messages that must stay.
        """
        prompt = {_SYSTEM: [{"role": "system", "content": system}]} if system else {}
        said = prompt | dict(enumerate([(message,) for message in messages] if pieces is None else pieces))
        places = [(index, number) for index, parts in said.items() for number in range(len(parts))]
        stay = {*keep, *(index for index, message in enumerate(messages) if self._pin and self._pin(message))}
        selection = self._next_selection(
            [shape for parts in said.values() for shape in parts],
            [place for place, (index, _) in enumerate(places) if index in stay],
        )
        kept: list[list[int]] = [[] for _ in messages]
        for index, number in (places[i] for i in selection.kept):
            if index != _SYSTEM:
                kept[index].append(number)
        if self._on_selection is not None:
            self._on_selection(_among(messages, selection, places, kept))
        return kept

    def _next_selection(self, shapes: list[Any], pinned: list[int]) -> MessageSelection:
        previous = self._memory.recall(shapes)
        selection = select_messages(shapes, **self._options, pin=pinned, previous=previous)
        self._memory.remember(selection, previous)
        return selection


def _among(
    messages: Sequence[Any],
    selection: MessageSelection,
    places: Sequence[tuple[int, int]],
    kept: Sequence[Sequence[int]],
) -> MessageSelection:
    """The selection in terms of the library's messages. A message of which a piece was kept was not dropped."""
    reasons: Mapping[int, Dropped] = {
        index: Dropped(index, each.reason)
        for each in selection.dropped
        for index, _ in (places[each.index],)
        if not kept[index]
    }
    indices = tuple(index for index, numbers in enumerate(kept) if numbers)
    return replace(
        selection,
        messages=[messages[index] for index in indices],
        kept=indices,
        dropped=tuple(reasons.values()),
        source=tuple(messages),
    )
