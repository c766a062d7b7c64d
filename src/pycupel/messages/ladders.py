"""Ladders: the results in a history that may become shorter, and for each unit what it saves and loses step by step."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heapreplace
from typing import Any, NamedTuple

from pycupel.messages.history import History
from pycupel.messages.results import ResultPart, calls_of, result_parts
from pycupel.model import ContextItem
from pycupel.pipeline.shorten import item_versions, units_of_whole
from pycupel.protocols import ShortenContext, Shortener
from pycupel.shorten import ToolCall
from pycupel.shorten.stub import call_origin, stub_text
from pycupel.shorten.superseded import superseded_by

__all__ = [
    "LEAST_TOKENS",
    "Key",
    "Ladder",
    "Result",
    "climbed",
    "find_results",
    "ladder_of",
    "stub_of",
    "without_media",
]

LEAST_TOKENS = 100
"""Nothing that costs less is shortened."""

# What any unit is worth beside what it holds, and what a stub is.
_BASE_UNITS = 0.5
_STUB_UNITS = 0.05
# What the agent and the user said themselves counts less: most of it was about what is done.
_SPOKEN = 0.25
# What results that report errors say counts more.
_ERRORS = 2.0

Key = tuple[int, int]
"""The index of a message, and the number of a result in it."""


class Result(NamedTuple):
    """A result of a call.

    Attributes:
        unit: The index of its unit.
        message: The index of its message.
        part: What it is.
        call: The call.
        outdated_at: The index of the message with a result that makes it out of date; None if there is none.
    """

    unit: int
    message: int
    part: ResultPart
    call: ToolCall
    outdated_at: int | None = None

    @property
    def key(self) -> Key:
        """Where to find it."""
        return self.message, self.part.number


def find_results(history: History, messages: Sequence[Any]) -> list[Result]:
    """All results of a history that may say less, in the order of the messages."""
    found = sorted(_results(history, messages), key=lambda result: result.key)
    later = superseded_by([result.call for result in found])
    return [
        result if by is None else result._replace(outdated_at=found[by].message)
        for result, by in zip(found, later, strict=True)
    ]


def _results(history: History, messages: Sequence[Any]) -> Iterator[Result]:
    for i, unit in enumerate(history.units):
        if unit.problem is not None:
            continue
        # Ids may be used again later.
        calls: dict[str, ToolCall] = {}
        for n in unit.indices:
            view = history.views[n]
            calls.update(zip(view.calls, calls_of(messages[n]) if view.calls else (), strict=False))
            for call_id, part in zip(view.results, result_parts(messages[n]) if view.results else (), strict=False):
                # A call of no known shape is like no other.
                yield Result(i, n, part, calls.get(call_id, ToolCall("", {"result": [n, part.number]})))


def stub_of(result: Result, tokens: int) -> str:
    """One line in place of a result that costs so much."""
    return stub_text("result", result.part.text, tokens, _origin(result))


def without_media(result: Result, tokens: int) -> str:
    """The text of a result, with one line in place of its pictures and files, which cost so much."""
    line = stub_text("picture or file", "", tokens, _origin(result))
    return f"{result.part.text}\n{line}" if result.part.text else line


def _origin(result: Result) -> str:
    return call_origin(*result.call) if result.call.name else ""


class _Step(NamedTuple):
    """What one more step saves and loses, and what the result says then."""

    saved: int
    lost: float
    key: Key
    text: str


@dataclass(frozen=True, slots=True)
class Ladder:
    """The versions of a unit: whole first, then one step after the other.

    Attributes:
        size: What the unit costs now.
        units: How much it holds now.
        rungs: The steps of each result, by where it is found.
        errors: Those of the results that report errors.
    """

    size: int
    units: float
    rungs: Mapping[Key, Sequence[_Step]]
    errors: frozenset[Key] = field(default=frozenset())

    def saves(self, key: Key) -> int:
        """What can be saved of a result."""
        return sum([step.saved for step in self.rungs.get(key, ())])

    @property
    def least(self) -> int:
        """What the unit costs with all results as short as they get."""
        return self.size - sum(map(self.saves, self.rungs))

    def without(self, keys: Collection[Key]) -> Ladder:
        """The ladder with these results as they are."""
        if not self.rungs.keys() & set(keys):
            return self
        rungs = {key: steps for key, steps in self.rungs.items() if key not in keys}
        return Ladder(self.size, self.units, rungs, self.errors)


def climbed(ladder: Ladder) -> tuple[list[int], list[float], list[_Step]]:
    """What each version costs and holds, and the steps between them: always the one that loses least for its tokens."""
    sizes, units, taken = [ladder.size], [ladder.units], list[_Step]()
    heads = [(_price(steps[0]), key, 0) for key, steps in ladder.rungs.items()]
    heapify(heads)
    while heads:
        _, key, k = heads[0]
        steps = ladder.rungs[key]
        taken.append(steps[k])
        sizes.append(sizes[-1] - steps[k].saved)
        units.append(max(0.0, units[-1] - steps[k].lost))
        if k + 1 < len(steps):
            heapreplace(heads, (_price(steps[k + 1]), key, k + 1))
        else:
            heappop(heads)
    return sizes, units, taken


def _price(step: _Step) -> float:
    return step.lost / step.saved


def ladder_of(
    size: int,
    results: Iterable[tuple[Result, ContextItem]],
    spoken: ContextItem | None,
    maker: Shortener,
    context: ShortenContext,
    count: Callable[[str], int],
    more: Sequence[Shortener] = (),
) -> Ladder:
    """The ladder of a unit.

    Args:
        size: What the unit costs now.
        results: The results that may become shorter, with what they say now.
        spoken: What else the unit says.
        maker: Makes the versions.
        context: What else there is.
        count: Counts the tokens of a text.
        more: Makers of further versions.
    """
    total = _BASE_UNITS
    if spoken is not None:
        total += _SPOKEN * units_of_whole(maker, spoken, context)
    rungs: dict[Key, Sequence[_Step]] = {}
    errors: set[Key] = set()
    for result, item in results:
        own = item_versions(maker, item, context)
        weight = _ERRORS if result.part.is_error else 1.0
        made = list(zip(own.shorter, own.units, strict=True))
        for other in more:
            made += [
                (each, own.whole * each.tokens / item.tokens) for each in item_versions(other, item, context).shorter
            ]
        versions = [(each.tokens, units * weight, each.content) for each, units in made]
        stub = stub_of(result, item.tokens)
        versions.append((count(stub), min(_STUB_UNITS, own.whole) * weight, stub))
        steps = list(_steps(result.key, item.tokens, own.whole * weight, versions))
        total += own.whole * weight
        if steps:
            rungs[result.key] = steps
            if result.part.is_error:
                errors.add(result.key)
    return Ladder(size, total, rungs, frozenset(errors))


def _steps(key: Key, tokens: int, units: float, versions: list[tuple[int, float, str]]) -> Iterator[_Step]:
    """From the whole to the shortest version, without those that hold no more than a shorter one."""
    best: list[tuple[int, float, str]] = []
    for version in sorted(versions, key=lambda version: (version[0], -version[1])):
        if version[0] < tokens and (not best or version[1] > best[-1][1]):
            best.append(version)
    for size, held, text in reversed(best):
        yield _Step(tokens - size, max(0.0, units - held), key, text)
        tokens, units = size, min(units, held)
