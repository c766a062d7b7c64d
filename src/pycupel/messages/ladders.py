"""Ladders: which results of a unit may be shortened, and what each step saves and loses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heapreplace
from typing import Any, NamedTuple

from pycupel.messages.history import History
from pycupel.messages.parts import MessageView, Part
from pycupel.messages.providers._tables import CALL, RESULT
from pycupel.messages.room import BASE_UNITS, ERROR_WEIGHT, SPOKEN_WEIGHT, STUB_UNITS
from pycupel.model import ContextItem
from pycupel.pipeline.shorten import item_versions, units_of_whole
from pycupel.protocols import ShortenContext, Shortener
from pycupel.shorten import ToolCall
from pycupel.shorten.extracts import call_origin, stub_text
from pycupel.shorten.superseded import superseded_by

_ERROR_STARTS = ("error", "exception", "traceback")

Key = tuple[int, int]
"""The index of a message, and the number of a result in it."""


class Result(NamedTuple):
    """A result of a call."""

    unit: int
    """The index of its unit."""

    message: int
    """The index of its message."""

    number: int
    """Its number among the results of the message that may be shortened."""

    part: Part
    """The result itself."""

    call: ToolCall
    """The call."""

    outdated_at: int | None = None
    """The index of the message whose result outdates it; None if there is none."""

    @property
    def key(self) -> Key:
        """The key of the result."""
        return self.message, self.number


def answered_calls(views: Iterable[MessageView]) -> Iterator[tuple[MessageView, Part, ToolCall]]:
    """Return each result with its message and its call, which says whether it failed, in message order.

    A call of unknown shape, or of the provider's own tools, equals no other.
    """
    calls: dict[Any, ToolCall] = {}
    for view in views:
        for part in view.parts:
            if part.kind == CALL and part.id is not None:
                # Ids may be used again later.
                calls[part.id] = ToolCall(part.tool, part.arguments)
            elif part.kind == RESULT:
                # Arguments that no other call has, so that nothing supersedes it.
                alone = ToolCall("", {"result": [view.message_index, part.path]})
                yield view, part, calls.get(part.id, alone)._replace(failed=_failed(part))


def _failed(part: Part) -> bool:
    """Whether a call failed. Some providers have no field for it; taking a text for an error only keeps more."""
    text = part.text if part.said is None else part.said
    return part.failed or text.lstrip()[:9].lower().startswith(_ERROR_STARTS)


def find_results(history: History) -> list[Result]:
    """Find all results of a history that may be shortened, in message order."""
    unit_of = {n: i for i, unit in enumerate(history.units) if unit.problem is None for n in unit.indices}
    found: list[Result] = []
    for view, part, call in answered_calls(history.views):
        n = view.message_index
        if n in unit_of and part.said is not None:
            # As `results_in` numbers them, which is how a stored selection names them.
            number = found[-1].number + 1 if found and found[-1].message == n else 0
            found.append(Result(unit_of[n], n, number, part, call))
    later = superseded_by([result.call for result in found])
    return [
        result if by is None else result._replace(outdated_at=found[by].message)
        for result, by in zip(found, later, strict=True)
    ]


def stub_of(result: Result, tokens: int) -> str:
    """Write one line in place of a result with this many tokens."""
    return stub_text("result", result.part.said or "", tokens, _origin(result))


def without_media(result: Result, tokens: int) -> str:
    """Replace the images and files of a result, which have this many tokens, by one line."""
    line = stub_text("picture or file", "", tokens, _origin(result))
    return f"{result.part.said}\n{line}" if result.part.said else line


def _origin(result: Result) -> str:
    return call_origin(result.call.name, result.call.arguments) if result.call.name else ""


class _Step(NamedTuple):
    """What one more step saves and loses, and the text of the result after it."""

    saved: int
    lost: float
    key: Key
    text: str


class Ladder(NamedTuple):
    """The versions of a unit: whole first, then step by step."""

    size: int
    """The tokens of the unit now."""

    units: float
    """How much information it has now."""

    rungs: Mapping[Key, Sequence[_Step]]
    """The steps of each result, by its key."""

    errors: frozenset[Key] = frozenset()
    """The keys of results that report errors."""

    def saves(self, key: Key) -> int:
        """Return the most tokens that a result can save."""
        return sum([step.saved for step in self.rungs.get(key, ())])

    @property
    def least(self) -> int:
        """Return the tokens of the unit with every result at its shortest."""
        return self.size - sum(map(self.saves, self.rungs))

    def without(self, keys: Collection[Key]) -> Ladder:
        """Return the ladder without the steps of these results."""
        if not self.rungs.keys() & set(keys):
            return self
        return self._replace(rungs={key: steps for key, steps in self.rungs.items() if key not in keys})


def ladder_versions(ladder: Ladder) -> tuple[list[int], list[float], list[_Step]]:
    """Return the tokens and units of each version, and the steps between them: the one that loses least per token."""
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
    shortener: Shortener,
    context: ShortenContext,
    more: Sequence[Shortener] = (),
) -> Ladder:
    """Make the ladder of a unit.

    Args:
        size: The tokens of the unit now.
        results: The results that may be shortened, with their current texts.
        spoken: The other text of the unit.
        shortener: Makes the versions.
        context: The competing items, and the counter.
        more: Shorteners that make further versions.
    """
    total = BASE_UNITS
    if spoken is not None:
        total += SPOKEN_WEIGHT * units_of_whole(shortener, spoken, context)
    rungs: dict[Key, Sequence[_Step]] = {}
    errors: set[Key] = set()
    for result, item in results:
        own = item_versions(shortener, item, context)
        weight = ERROR_WEIGHT if result.part.failed else 1.0
        made = list(zip(own.shorter, own.units, strict=True))
        for other in more:
            made += [
                (each, own.whole * each.tokens / item.tokens) for each in item_versions(other, item, context).shorter
            ]
        versions = [(each.tokens, units * weight, each.content) for each, units in made]
        stub = stub_of(result, item.tokens)
        versions.append((context.count(item, stub), min(STUB_UNITS, own.whole) * weight, stub))
        steps = list(_steps(result.key, item.tokens, own.whole * weight, versions))
        total += own.whole * weight
        if steps:
            rungs[result.key] = steps
            if result.part.failed:
                errors.add(result.key)
    return Ladder(size, total, rungs, frozenset(errors))


def _steps(key: Key, tokens: int, units: float, versions: list[tuple[int, float, str]]) -> Iterator[_Step]:
    """List the steps from the whole to the shortest version, without those that keep no more than a shorter one."""
    best: list[tuple[int, float, str]] = []
    for version in sorted(versions, key=lambda version: (version[0], -version[1])):
        if version[0] < tokens and (not best or version[1] > best[-1][1]):
            best.append(version)
    for size, held, text in reversed(best):
        yield _Step(tokens - size, max(0.0, units - held), key, text)
        tokens, units = size, min(units, held)
