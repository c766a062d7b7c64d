"""Turn a history into units that are kept or dropped as a whole, and find what must stay at each point.

    0  user       What is in a.py?
    1  assistant  calls read("a.py")
    2  tool       the text of a.py
    3  assistant  It draws a key.
    4  user       And b.py?

The units are 0, (1, 2), 3 and 4. The exchange (1, 2) needs the question of its turn, and is tied to the answer. If the
history ends here, the last question must stay, and the exchange stays if there is room, with the units around it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from pycupel.errors import InvalidArgumentError
from pycupel.kernels.order import maker, records
from pycupel.messages.parts import MessageView
from pycupel.messages.providers._base import ENDED, ERROR, FOREIGN, LASTING, Finding, Provider, compaction_in
from pycupel.messages.providers._rules import FIRST_NOT_USER, OPEN
from pycupel.messages.providers._tables import TEXT, UNKNOWN
from pycupel.model.checks import checked_int, checked_iterable
from pycupel.text import number_text

# Why a message is left out that a compaction stands for. It is not broken, and nobody has to be told.
COMPACTED = "compacted"

# What appears under this role always stays.
_FIXED = "system"
_OF_SYSTEM = frozenset({"system", "reminder", "ended"})
_UNTIED = frozenset({*_OF_SYSTEM, "user"})


class Unit(NamedTuple):
    """Messages that the provider accepts only together.

    A selection of units is accepted by the provider if none of them is broken and each has what it needs.
    """

    indices: tuple[int, ...]
    """The indices of the messages."""

    role: str
    """"system", "reminder" for a system message after other sound messages, "ended" for one that the model no longer
    sees, "user", "assistant", or "exchange" for calls with their results.
    """

    anchor: int | None
    """The index of the unit with the user message that opened the turn."""

    problem: str | None = None
    """Why the provider would reject the unit, if it is broken."""

    needs: tuple[int, ...] = ()
    """The indices of the units without which the provider would reject this one: its anchor, and others."""

    is_open: bool = False
    """Whether it has calls at the end of the history that are not all answered yet."""

    has_user_text: bool = False
    """Whether the user wrote text beside the results of an exchange."""


# Views as they are remembered.


class BareView(MessageView):
    """A view as it is remembered: without texts, arguments, and parts that are nothing but text."""

    __slots__ = ()


_make_bare = maker(BareView)


def bare_view(view: MessageView) -> MessageView:
    """Return a view without what the message says."""
    index, role, _, tokens, calls, results, opens_turn, reasoning, marks, parts = view
    # Of an unknown part, the arguments say what of it is unknown.
    kept = [
        part._replace(
            text="", arguments=part.arguments if part.kind == UNKNOWN else None, said=None if part.said is None else ""
        )
        for part in parts
        if part.kind != TEXT
    ]
    return _make_bare((index, role, "", tokens, calls, results, opens_turn, reasoning, marks, tuple(kept)))


def whole_view(bare: MessageView, read: MessageView) -> MessageView:
    """Return a view with what the message says, read again without counting, and what it is known to cost."""
    if ENDED in bare.marks:
        return bare
    costs = {part.path: part.beside for part in bare.parts if part.said is not None}
    parts = [part if part.said is None else part._replace(beside=costs.get(part.path, 0)) for part in read.parts]
    return read._replace(tokens=bare.tokens, parts=tuple(parts))


def group_messages(views: Sequence[MessageView], provider: Provider, pins: Collection[int] = ()) -> list[Unit]:
    """Group a whole history into units, in order of their first messages. Every message is in exactly one.

    What a compaction stands for is in units of one message each, which are left out like broken ones.
    """
    covered = provider.covered(views, _kept_before(views, provider, pins))
    sent = [view for view in views if view.message_index not in covered] if covered else views
    (groups, findings), known = provider.grouped(sent)
    if covered:
        groups = sorted([*groups, *([n] for n in covered)])
    members = groups if len(known) == len(sent) else _known_members(groups, views)
    problems = {i: COMPACTED for i, group in enumerate(groups) if group[0] in covered} if covered else {}
    open_units: set[int] = set()
    checks = [*provider.findings(known)]
    if findings or checks:
        # Most histories of most providers are sound, and need no look at their units.
        unit_of = {index: unit_index for unit_index, group in enumerate(groups) for index in group}
        problems |= _problems(known, findings, checks, unit_of)
        open_units = {unit_of[finding.index] for finding in findings if finding.rule == OPEN.id}
    others: Mapping[int, tuple[int, ...]] = {}
    if provider.needs is not None:
        others = provider.needs({i: [views[n] for n in each] for i, each in enumerate(members) if i not in problems})
    rows: list[tuple[Any, ...]] = []
    opener: int | None = None
    opened: tuple[int, ...] = ()
    leading = True
    for unit_index, (group, own) in enumerate(zip(groups, members, strict=True)):
        has_user_text = False
        if len(own) == 1:
            view = views[own[0]]
            role, opens_turn = view[1], view[6]
            if view[4] or view[5]:
                role = "exchange"
            elif role == "system" and ENDED in view.marks:
                role = "ended"
            elif role == "system" and not leading and LASTING not in view.marks:
                role = "reminder"
        else:
            role, opens_turn, has_user_text = _role_of_group([views[index] for index in own])
        anchor = None if role in _UNTIED else opener
        needs = others.get(unit_index, ()) if others else ()
        # Without others, this is the same tuple for all units of a turn, and there may be thousands.
        needs = needs if anchor is None else opened + needs
        problem = problems.get(unit_index) if problems else None
        leading = leading and (role == "system" or problem is not None)
        rows.append((tuple(group), role, anchor, problem, needs, unit_index in open_units, has_user_text))
        if opens_turn and problem is None:
            opener, opened = unit_index, (unit_index,)
    return [*records(Unit, rows)]


def _kept_before(views: Sequence[MessageView], provider: Provider, pins: Collection[int]) -> set[int]:
    """Return the pinned messages before a compaction, and those without which the provider would reject them."""
    block = compaction_in(views) if pins else None
    early = {n for n in pins if block is not None and n < block}
    if not early:
        return early
    units = group_messages(views[:block], provider, early)
    pinned = [i for i, unit in enumerate(units) if unit.problem is None and not early.isdisjoint(unit.indices)]
    if FIRST_NOT_USER in provider.rules:
        # Others accept an answer without its question.
        pinned = with_needs(pinned, lambda i: units[i].needs)
    return early.union(*[units[i].indices for i in pinned])


def _known_members(groups: Iterable[list[int]], views: Sequence[MessageView]) -> list[list[int]]:
    """Leave out what is of an unknown role or type: it goes with its unit, and says nothing about it."""
    return [[n for n in group if FOREIGN not in views[n].marks] or group[:1] for group in groups]


def turns(units: Sequence[Unit]) -> list[list[int]]:
    """Group the indices of units by turn: a user message and everything up to the next one.

    Messages before the first user message form a turn, too. Broken units and system messages are in none.
    """
    grouped: list[list[int]] = []
    for unit_index, unit in enumerate(units):
        if unit.role in _OF_SYSTEM or unit.problem is not None:
            continue
        if unit.role == "user" or not grouped:
            grouped.append([])
        grouped[-1].append(unit_index)
    return grouped


def _problems(
    views: Sequence[MessageView],
    findings: Iterable[Finding],
    checks: Iterable[Callable[[Sequence[MessageView]], Iterator[Finding]]],
    unit_of: Mapping[int, int],
) -> dict[int, str]:
    """Find why each broken unit is broken. Each check sees only the units that earlier ones accepted."""
    problems: dict[int, str] = {}
    _add_problems(problems, findings, unit_of)
    for check in checks:
        whole = [view for view in views if unit_of[view.message_index] not in problems] if problems else views
        _add_problems(problems, check(whole), unit_of)
    return problems


def _add_problems(problems: dict[int, str], findings: Iterable[Finding], unit_of: Mapping[int, int]) -> None:
    for finding in findings:
        if finding.severity == ERROR:
            problems.setdefault(unit_of[finding.index], f"messages[{finding.index}]: {finding.message}")


def _role_of_group(members: Sequence[MessageView]) -> tuple[str, bool, bool]:
    """Return the role of a unit of several messages, whether it opens a turn, and whether the user speaks."""
    first = members[0]
    role = "exchange" if first.calls or any(view.calls or view.results for view in members) else first.role
    speaks = "user" in [view.role for view in members]
    return role, speaks and any(view.opens_turn for view in members), speaks


class History:
    """A history that has been read, in units. It does not change; what a cut changes is in an `Overlay`.

    If `unit` is "turn", whole turns are kept or dropped.

    Attributes:
        provider: The provider of the messages.
        messages: The messages, as `plain_messages` returns them.
        views: The messages as they were read, or are remembered.
        units: The units, or whole turns as units, in order of their first message.
        tokens: The tokens of each message.
        sizes: The tokens of each unit.
        ties: For each unit, the indices of the units it is kept with: those that the provider requires, and for an
            exchange, the assistant's answer.
        appearances: The units that may have to stay: the message in which each appears, its role, and its index.
        firsts: For each unit, its first message, ascending.
        reach: For each unit, the last message of this unit and all earlier ones.
        broken: Why the provider would reject a unit, by unit index; usually empty.
        call_positions: The number of messages before each call of the model, which is before each run of its output.
        pins: The indices of the messages that the caller pins.
    """

    def __init__(
        self, messages: Sequence[Any], provider: Provider, views: list[MessageView], unit: str, pins: list[int]
    ) -> None:
        self.provider = provider
        self.messages = messages
        self.views = views
        self.tokens = tokens = [view.tokens for view in views]
        self.pins = pins
        singles = group_messages(views, provider, self.pins)
        block = compaction_in(views)
        if block is not None:
            # It always stays.
            self.pins = sorted({*self.pins, block})
        self.units, unit_of = _whole_turns(singles) if unit == "turn" else (singles, _same)
        of_units = [each[0] for each in self.units]
        self.sizes = [tokens[each[0]] if len(each) == 1 else sum([tokens[n] for n in each]) for each in of_units]
        self.ties = _ties(self.units)
        self.appearances = sorted(_appearances(singles, self.pins, len(messages), unit_of))
        self.firsts = [each[0] for each in of_units]
        lasts = [each[-1] for each in of_units]
        # Units seldom overlap, and sorting what is sorted is the fastest way to see it.
        self.reach = lasts if sorted(lasts) == lasts else list(accumulate(lasts, max))
        self.broken = {i: each.problem for i, each in enumerate(self.units) if each.problem is not None}
        # What was sent before a compaction does not matter any more.
        sent = views if block is None else views[block:]
        known = [view for view in sent if not view[8] or FOREIGN not in view.marks]
        self.call_positions = [view[0] for before, view in pairwise(known) if view[1] == "assistant" != before[1]]

    @property
    def whole(self) -> list[int]:
        """Return the indices of the units that are not broken."""
        return [i for i in range(len(self.units)) if i not in self.broken]

    def pins_before(self, end: int) -> list[int]:
        """Return the indices of pinned messages before one."""
        return self.pins[: bisect_left(self.pins, end)]

    def staying(self, end: int | None = None) -> tuple[frozenset[int], frozenset[int]]:
        """Find what must stay if the history ends before the message `end`, and what stays if there is room."""
        return Staying(self).at(len(self.tokens) if end is None else end)

    @cached_property
    def answers(self) -> dict[int, int]:
        """Map each unit that opens a turn to the next unit in that turn."""
        answers: dict[int, int] = {}
        for i, unit in enumerate(self.units):
            if unit.anchor is not None and unit.problem is None:
                answers.setdefault(unit.anchor, i)
        return answers

    @cached_property
    def unit_of(self) -> dict[int, int]:
        """Map each message to its unit."""
        return {n: i for i, unit in enumerate(self.units) for n in unit.indices}

    @cached_property
    def has_results(self) -> bool:
        """Whether it has results that may be shortened."""
        return any(part.said is not None for view in self.views for part in view.parts)

    @cached_property
    def prompts(self) -> list[int]:
        """The first messages of the system prompts, ascending."""
        return [each[0][0] for each in self.units if each[1] == "system"]

    @cached_property
    def starts(self) -> list[int]:
        """The first message of the unit of each message."""
        starts = [*range(len(self.tokens))]
        for indices in [unit.indices for unit in self.units if len(unit.indices) > 1]:
            for n in indices:
                starts[n] = indices[0]
        return starts

    @cached_property
    def whole_views(self) -> list[MessageView]:
        """The messages with what they say. Those that are only remembered are read again, but not counted."""
        bare = [n for n, view in enumerate(self.views) if view.__class__ is BareView]
        if not bare:
            return self.views
        whole = self.views.copy()
        end = bare[-1] + 1
        for view in self.provider.read(self.messages[:end], uncounted, start=bare[0]):
            n = view.message_index
            whole[n] = whole_view(whole[n], view)
        return whole

    def text_of(self, unit_index: int) -> str:
        """Return the text of a unit."""
        indices, views = self.units[unit_index].indices, self.whole_views
        if len(indices) == 1:
            return views[indices[0]].text
        return "\n".join(filter(None, [views[n].text for n in indices]))


def uncounted(_text: str, /) -> int:
    """Count nothing, because counting would take longest."""
    return 0


def _same(unit_index: int) -> int:
    return unit_index


def _ties(units: Sequence[Unit]) -> list[tuple[int, ...]]:
    """Tie each unit to the units it needs, and each exchange also to the assistant's next answer in its turn.

    A provider would accept an exchange without its answer, but results without a conclusion do not help the model.
    """
    ties = [unit.needs for unit in units]
    answer = -1
    for i in range(len(units) - 1, -1, -1):
        unit = units[i]
        if unit.role == "assistant" and unit.problem is None:
            answer = i
        elif unit.role == "exchange" and answer >= 0 and units[answer].anchor == unit.anchor:
            ties[i] = (*ties[i], answer)
    return ties


def _whole_turns(units: Sequence[Unit]) -> tuple[list[Unit], Callable[[int], int]]:
    """Make a unit for each turn, and return the turn of each unit. Units in no turn remain as they are."""
    groups = turns(units)
    grouped = {i for group in groups for i in group}
    groups += [[i] for i in range(len(units)) if i not in grouped]
    groups.sort(key=lambda group: units[group[0]].indices)
    turn_of = {i: turn for turn, group in enumerate(groups) for i in group}
    whole = [_turn([units[i] for i in group], turn, turn_of) for turn, group in enumerate(groups)]
    return whole, turn_of.__getitem__


def _turn(members: Sequence[Unit], turn: int, turn_of: dict[int, int]) -> Unit:
    needs = {turn_of[need] for member in members for need in member.needs} - {turn}
    return members[0]._replace(
        indices=tuple(sorted(i for member in members for i in member.indices)),
        anchor=None,
        needs=tuple(sorted(needs)),
    )


def pinned_messages(messages: Sequence[Any], pin: Any) -> list[int]:
    """Return the indices of the messages that the caller pins, by a function or by index, ascending."""
    if pin is None:
        return []
    if callable(pin):
        return [i for i, message in enumerate(messages) if pin(message)]
    listed = checked_iterable("pin", "a function or indices", pin)
    indices = [checked_int(f"pin[{n}]", i) for n, i in enumerate(listed)]
    for i in indices:
        if not 0 <= i < len(messages):
            size = "1 message" if len(messages) == 1 else f"{len(messages)} messages"
            raise InvalidArgumentError(
                f"pin index {number_text(i)} is out of range: the history has {size}", argument="pin", value=i
            )
    return sorted(set(indices))


def _appearances(
    units: Sequence[Unit], pins: Sequence[int], count: int, unit_of: Callable[[int], int]
) -> Iterator[tuple[int, str, int]]:
    pinned = frozenset(pins)
    for i, (indices, role, _, problem, _, is_open, has_user_text) in enumerate(units):
        if problem is not None:
            continue
        unit = unit_of(i)
        if role not in ("assistant", "ended"):
            yield indices[0], role, unit
        elif indices[-1] == count - 1:
            # The model may be asked to continue a message of the assistant at the end.
            yield indices[-1], _FIXED, unit
        if has_user_text:
            # The results are at the end of an exchange, and the user's text is beside them.
            yield indices[-1], "user", unit
        if is_open:
            yield indices[0], _FIXED, unit
        if pinned:
            yield from ((n, _FIXED, unit) for n in indices if n in pinned)


class Staying:
    """What stays at the points of a history, carried forward from one to the next, so that none is searched again."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._passed = 0
        # What always stays: system prompts, pinned messages, and calls that are open at the end.
        self._fixed: set[int] = set()
        # The newest unit of each role: a system message after others, text of the user, calls with their results.
        self._newest: dict[str, int] = {}

    def at(self, end: int, gone: Container[int] = ()) -> tuple[frozenset[int], frozenset[int]]:
        """Find what must stay if the history ends before the message `end`, and what stays if there is room.

        Args:
            end: The number of messages, which is never less than before.
            gone: The units dropped so far.
        """
        units, ties = self._history.units, self._history.ties
        self._advance(end)
        begun = bisect_left(self._history.firsts, end)
        must = {*self._fixed, *self._unfinished(begun, end)}
        if "reminder" in self._newest:
            must.add(self._newest["reminder"])
        # Without a user message, keep the last message that is not a system message.
        speaker = self._newest.get("user")
        if speaker is None:
            spoken = (i for i in range(begun - 1, -1, -1) if units[i].problem is None)
            speaker = next((i for i in spoken if units[i].role not in _OF_SYSTEM), None)
        wanted = must
        if speaker is not None:
            must.add(speaker)
            # The newest exchange stays during its turn, and later if there is room.
            exchange = self._newest.get("exchange", speaker)
            if exchange > speaker:
                must.add(exchange)
            wanted = must if exchange in gone else must | {exchange}
        needed = frozenset(with_needs(must, lambda i: [n for n in units[i].needs if n < begun]))
        tied = with_needs(wanted, lambda i: [n for n in ties[i] if n < begun and n not in gone])
        return needed, frozenset(tied) - needed

    def _advance(self, end: int) -> None:
        appearances = self._history.appearances
        upto = bisect_left(appearances, (end,), self._passed)
        for _, role, unit in appearances[self._passed : upto]:
            if role == _FIXED:
                self._fixed.add(unit)
            else:
                self._newest[role] = unit
        self._passed = upto

    def _unfinished(self, begun: int, end: int) -> Iterator[int]:
        """Return the units that started before `end` and continue past it."""
        units, reach = self._history.units, self._history.reach
        i = begun - 1
        while i >= 0 and reach[i] >= end:
            if units[i].indices[-1] >= end and units[i].problem is None:
                yield i
            i -= 1


def with_needs(start: Iterable[int], needs: Callable[[int], Iterable[int]]) -> list[int]:
    """Add everything that the indices in `start` need, directly or indirectly.

    `needs` gives the indices that an index needs.
    """
    found = list(dict.fromkeys(start))
    seen = set(found)
    for index in found:
        # The list grows while it is walked, until nothing is missing.
        for need in needs(index):
            if need not in seen:
                seen.add(need)
                found.append(need)
    return found
