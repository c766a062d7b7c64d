"""Shared by the hooks for chat histories: how they select, and the memory that keeps the start of a prompt stable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any, TypedDict

from pycupel.messages import Dropped, MessageSelection, select_messages
from pycupel.messages.options import ProviderName, TooLarge, UnitName
from pycupel.model import ContextBudget
from pycupel.pipeline import Policy, PresetName
from pycupel.tokens import CounterLike

__all__ = ["HistorySelector", "HookOptions", "Memory"]

# How many conversations a hook remembers. For a forgotten one a new choice is made, which costs the provider's prompt
# cache once.
_CONVERSATIONS = 64

# Stands for the index of the system prompt, which is not one of the messages.
_SYSTEM = -1


class HookOptions(TypedDict, total=False):
    """The options of every hook for histories, besides its budget: those of `select_messages`, and `on_selection`.

    Attributes:
        policy: What ranks the history: a policy, a pipeline, or the name of a preset.
        unit: "auto" drops exchanges and messages one by one, "turn" whole turns.
        counter: Counts tokens: a function from str to int, or what `pycupel.tokens.get_counter` takes.
        pin: Called with each of the library's own messages; says whether it must stay.
        too_large: What happens to an old unit that is larger than the budget: "drop" or "error".
        explain: Whether selections should have a report.
        on_selection: Called with each selection, for a log or a test. Its indices are those of the library's messages.
    """

    policy: Policy | PresetName
    unit: UnitName
    counter: CounterLike
    pin: Callable[[Any], bool]
    too_large: TooLarge
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

    def __init__(self, budget: ContextBudget | int, provider: ProviderName, options: HookOptions) -> None:
        self._options: dict[str, Any] = {"budget": budget, "provider": provider, **options}
        self._pin: Callable[[Any], bool] | None = self._options.pop("pin", None)
        self._on_selection: Callable[[MessageSelection], object] | None = self._options.pop("on_selection", None)
        self._memory = Memory()
        # Fails here if an option is wrong, not when the model is first called.
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
            system: The system prompt that is sent beside the messages and has to fit, too.
            keep: The indices of messages that must stay.

        Returns:
            For each message, the numbers of its pieces that are kept.
        """
        prompt = {_SYSTEM: [{"role": "system", "content": system}]} if system else {}
        said = prompt | dict(enumerate([(message,) for message in messages] if pieces is None else pieces))
        origins = [(index, number) for index, parts in said.items() for number in range(len(parts))]
        stay = {*keep, *(index for index, message in enumerate(messages) if self._pin and self._pin(message))}
        selection = self._next_selection(
            [shape for parts in said.values() for shape in parts],
            [n for n, (index, _) in enumerate(origins) if index in stay],
        )
        kept: list[list[int]] = [[] for _ in messages]
        for index, number in (origins[n] for n in selection.kept):
            if index != _SYSTEM:
                kept[index].append(number)
        if self._on_selection is not None:
            self._on_selection(_in_terms_of(messages, selection, origins, kept))
        return kept

    def _next_selection(self, shapes: list[Any], pinned: list[int]) -> MessageSelection:
        previous = self._memory.recall(shapes)
        selection: MessageSelection = select_messages(shapes, **self._options, pin=pinned, previous=previous)
        self._memory.remember(selection, previous)
        return selection


def _in_terms_of(
    messages: Sequence[Any],
    selection: MessageSelection,
    origins: Sequence[tuple[int, int]],
    kept: Sequence[Sequence[int]],
) -> MessageSelection:
    """The selection in terms of the library's messages. A message of which a piece was kept was not dropped."""
    reasons: Mapping[int, Dropped] = {
        index: Dropped(index, each.reason)
        for each in selection.dropped
        for index, _ in (origins[each.index],)
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
