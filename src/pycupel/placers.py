"""The placers, which order the selected items.

| placer | order |
|---|---|
| `ChronologicalPlacer` | oldest first; items without a timestamp last |
| `UShapedPlacer` | the highest scores at both edges, the lowest in the middle |
| `FramedPlacer` | system prompts first, the rest as another placer says (an extension) |
| `PromptPlacer` | system prompts, documents, the conversation, and the question last (an extension) |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set as AbstractSet
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, NamedTuple, Self

from pycupel.errors import InvalidArgumentError, PlacerContractError
from pycupel.kernels.order import descending, indices_by_identity, maker, u_shaped
from pycupel.model import ContextItem, ContextKind, ScoredItem
from pycupel.model.checks import STRING, check_inner, checked_iterable, checked_str, one_of, or_none, rule
from pycupel.model.item import split_scored
from pycupel.protocols import Placer, checked_placer
from pycupel.text import quoted
from pycupel.values import brief_repr, check_fields, hold, sealed

__all__ = ["ChronologicalPlacer", "FramedPlacer", "PromptPlacer", "UShapedPlacer"]


class Lineup(NamedTuple):
    """The items that a placer puts into order, and their scores.

    `positions` returns numbers that sort the items as in the input, which `place` does not receive. Few placers ask.
    """

    items: Sequence[ContextItem]
    scores: Sequence[float]
    positions: Callable[[], Sequence[int]] | None = None


make_lineup = maker(Lineup)


class IndexedPlacer(ABC):
    """The base class of the built-in placers."""

    __slots__ = ()

    def place(self, scored_items: Sequence[ScoredItem], /) -> list[ContextItem]:
        """Put items into order."""
        items, scores = split_scored(scored_items)
        return [items[i] for i in self._place_indices(Lineup(items, scores))]

    @abstractmethod
    def _place_indices(self, lineup: Lineup, /) -> list[int]:
        """Return the order as indices of the items."""


def place_by_index(placer: Any, lineup: Lineup, among: Sequence[int] | None = None) -> list[int]:
    """Run any placer on all items, or on those with the given indices, and return the order as indices.

    A custom placer must return all the objects that it was given, in any order (SL-04).
    """
    items, scores, positions = lineup
    if among is not None:
        own = None if positions is None else lambda: list(map(positions().__getitem__, among))
        part = make_lineup(([items[i] for i in among], [scores[i] for i in among], own))
        return [among[i] for i in place_by_index(placer, part)]
    if _is_indexed(placer.__class__):
        order: list[int] = placer._place_indices(lineup)
        return order
    returned: Any = placer.place(tuple(map(ScoredItem, items, scores)))
    try:
        iterable = checked_iterable(f"the order that {type(placer).__name__} returned", "a list of items", returned)
    except TypeError as error:
        raise PlacerContractError(str(error)) from None
    if isinstance(returned, AbstractSet):
        raise PlacerContractError(f"{type(placer).__name__} returned a set, which has no order")
    placed = list(iterable)
    if Counter(map(id, placed)) != Counter(map(id, items)):
        remedy = "a placer returns the items themselves, each as often as it was given"
        if any(isinstance(item, ScoredItem) for item in placed):
            remedy = "return the .item of a ScoredItem"
        raise PlacerContractError(
            f"{type(placer).__name__} was given {len(items)} items and returned {len(placed)}, not the same objects; "
            f"{remedy}"
        )
    indices = indices_by_identity(items)
    return [indices[id(item)].pop() for item in placed]


def placer_for(placer: Placer, query: str | None) -> Placer:
    """Return a placer for this question, if there is one and the placer takes it."""
    return placer.for_query(query) if query is not None and isinstance(placer, PromptPlacer) else placer


@lru_cache(maxsize=512)
def _is_indexed(cls: type[object]) -> bool:
    """Whether to call `_place_indices`: not for a subclass that overrides only `place`."""
    for owner in cls.__mro__:
        if "_place_indices" in vars(owner):
            return issubclass(cls, IndexedPlacer)
        if "place" in vars(owner):
            break
    return False


_Undated = Literal["received", "position"]


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class ChronologicalPlacer(IndexedPlacer):
    """Oldest first, items without a timestamp last. Equal timestamps keep their order; scores do not matter."""

    undated: _Undated = field(default="received", metadata=one_of(_Undated))
    """What to do if no item has a timestamp.

    "received" keeps the order in which the placer gets them, pinned items and then by score, as the specification says.
    "position" restores the order of the input; only in a pipeline, because `place` does not know that order.
    """

    def __post_init__(self) -> None:
        check_fields(self, InvalidArgumentError)

    __repr__ = brief_repr

    def _place_indices(self, lineup: Lineup, /) -> list[int]:
        """Return the order as indices: by time or, if no item has a timestamp, by position."""
        stamps: list[Any] = [item.timestamp for item in lineup.items]
        if all(stamps):
            return sorted(range(len(stamps)), key=stamps.__getitem__)
        if self.undated == "position" and lineup.positions is not None and not any(stamps):
            return sorted(range(len(stamps)), key=lineup.positions().__getitem__)
        # None does not compare with a datetime.
        timed = [i for i, stamp in enumerate(stamps) if stamp is not None]
        return sorted(timed, key=stamps.__getitem__) + [i for i, stamp in enumerate(stamps) if stamp is None]


@sealed
@dataclass(frozen=True, slots=True)
class UShapedPlacer(IndexedPlacer):
    """Puts the best item first, the second best last, and so on towards the middle.

    Models pay most attention to both ends. Pinned items have a score of 1.0 and are treated like any other.
    """

    def _place_indices(self, lineup: Lineup, /) -> list[int]:
        return u_shaped(descending(lineup.scores))


Picks = Callable[[ContextItem], object]


@sealed
@dataclass(frozen=True, slots=True, init=False)
class FramedPlacer(IndexedPlacer):
    """Puts some items first and some last, whatever their timestamps and scores; `inner` orders the rest.

    Both keep the order in which the placer receives them: pinned items, then by score. `last_inner` may order the last
    ones.

    Raises:
        InvalidArgumentError: a kind is both first and last, or placers are nested too deeply.
    """

    inner: Placer
    """The placer for the rest."""

    first: tuple[ContextKind, ...] | Picks
    """The kinds at the start, or a function that says whether an item belongs there."""

    last: tuple[ContextKind, ...] | Picks
    """The kinds at the end, or a function that says whether an item belongs there. `first` takes precedence."""

    last_inner: Placer | None
    """The placer for the last ones; None keeps the order in which they are received."""

    def __init__(
        self,
        inner: Placer = ChronologicalPlacer(),
        first: Iterable[ContextKind | str] | Picks = (ContextKind.SYSTEM_PROMPT,),
        last: Iterable[ContextKind | str] | Picks = (),
        *,
        last_inner: Placer | None = None,
    ) -> None:
        last_placer = None if last_inner is None else checked_placer("last_inner", last_inner)
        hold(self, inner=checked_placer("inner", inner), last_inner=last_placer)
        check_inner("placers", self, (FramedPlacer, PromptPlacer), InvalidArgumentError)
        start, end = _kinds_or_function("first", first), _kinds_or_function("last", last)
        hold(self, first=start, last=end)
        for kind in () if callable(end) else end:
            if not callable(start) and kind in start:
                message = f"kind {quoted(kind.value)} cannot be both first and last"
                raise InvalidArgumentError(message, argument="last", value=kind)

    def _place_indices(self, lineup: Lineup, /) -> list[int]:
        items = lineup.items
        first, others = _picked(self.first, items, range(len(items)))
        last, rest = _picked(self.last, items, others)
        if len(rest) == len(items):
            return place_by_index(self.inner, lineup)
        end = last if self.last_inner is None else place_by_index(self.last_inner, lineup, last)
        return [*first, *place_by_index(self.inner, lineup, rest), *end]


def _kinds_or_function(name: str, value: Any) -> tuple[ContextKind, ...] | Picks:
    if callable(value):
        picks: Picks = value
        return picks
    kinds = checked_iterable(name, "an iterable of kinds, or a function that takes an item", value)
    return tuple(dict.fromkeys(ContextKind.of(kind, f"{name}[{i}]") for i, kind in enumerate(kinds)))


def _picked(
    picks: tuple[ContextKind, ...] | Picks, items: Sequence[ContextItem], among: Sequence[int]
) -> tuple[list[int], Sequence[int]]:
    """Split the indices into picked and other items."""
    if callable(picks):
        picked = [i for i in among if picks(items[i])]
    else:
        keys = {kind.key for kind in picks}
        picked = [i for i in among if items[i].kind.key in keys] if keys else []
    out = set(picked)
    return picked, [i for i in among if i not in out] if out else among


_SYSTEM_PROMPT = ContextKind.SYSTEM_PROMPT.key
_MESSAGE = ContextKind.MESSAGE.key
_TOOL_OUTPUT = ContextKind.TOOL_OUTPUT.key
_CONVERSATION = frozenset({_SYSTEM_PROMPT, _MESSAGE, _TOOL_OUTPUT})
_IN_ORDER = ChronologicalPlacer("position")


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class PromptPlacer(IndexedPlacer):
    """The order of a prompt: system prompts, then documents as `inner` says, then the conversation, the question last.

    The question is the newest message; if a message is the call's query, it is that one. Without documents or anything
    else beside the conversation, `inner` orders everything, and only the query or the one pinned message goes last.
    """

    inner: Placer = field(default=UShapedPlacer(), metadata=rule(checked_placer))
    """The placer for what is neither a system prompt, a message nor the output of a tool."""

    query: str | None = field(default=None, metadata=or_none(STRING))
    """The question, or None if it is not known yet."""

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        check_fields(self, InvalidArgumentError)
        check_inner("placers", self, (FramedPlacer, PromptPlacer), InvalidArgumentError)

    def for_query(self, query: str) -> Self:
        """Return the same placer for this question."""
        bound = copy(self)
        hold(bound, query=checked_str("query", query))
        return bound

    def _place_indices(self, lineup: Lineup, /) -> list[int]:
        """Put the question last, and everything else before it."""
        items = lineup.items
        keys = [item.kind.key for item in items]
        if _CONVERSATION.isdisjoint(keys):
            # Most selections are documents alone.
            return place_by_index(self.inner, lineup)
        # Beside documents, the conversation comes last, in order.
        talk_kinds = () if _CONVERSATION.issuperset(keys) else (_MESSAGE, _TOOL_OUTPUT)
        messages = [i for i, key in enumerate(keys) if key == _MESSAGE]
        asked = [i for i in messages if items[i].content == self.query]
        if not asked and not talk_kinds:
            asked = [i for i in messages if items[i].pinned]
            asked = asked if len(asked) == 1 else []
        elif not asked:
            asked = messages
        question = place_by_index(_IN_ORDER, lineup, asked)[-1:] if asked else []
        first: list[int] = []
        inner: list[int] = []
        talk: list[int] = []
        for i, key in enumerate(keys):
            if i not in question:
                (first if key == _SYSTEM_PROMPT else talk if key in talk_kinds else inner).append(i)
        placed = place_by_index(self.inner, lineup, inner)
        return [*first, *placed, *place_by_index(_IN_ORDER, lineup, talk), *question]
