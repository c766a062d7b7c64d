"""What belongs together in a history: a unit is kept whole, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pycupel.messages.providers import provider_named
from pycupel.messages.providers._base import CALL_OPEN, ERROR, Finding, MessageView, Rule

__all__ = ["Unit", "group_messages", "turns"]

_UNTIED = frozenset({"system", "user"})


class Unit(NamedTuple):
    """Messages that only go together, by index.

    `role` is "system", "user", "assistant", or "exchange" for calls with their results. `anchor` is the place, in the
    list of units, of the one with the user message that opened the turn; `also` are the places of others that this one
    cannot do without. `state` is "complete", "open" (calls at the end of the history that are not all answered yet) or
    "broken", and then `problem` says why the provider would refuse it.

    A selection of units is accepted by the provider if none of them is broken, all system units are among them, and
    each has its anchor and what it also needs.
    """

    indices: tuple[int, ...]
    role: str
    anchor: int | None
    state: str
    problem: str | None
    text: str
    also: tuple[int, ...] = ()


def group_messages(views: Sequence[MessageView], provider: str) -> list[Unit]:
    """The units of a whole history, in order of their first messages. Every message is in exactly one."""
    rules = provider_named(provider)
    groups, findings = rules.pair(views)
    problems: dict[int, str] = {}
    states: dict[int, str] = {}
    if findings or rules.rules:
        places = {index: place for place, group in enumerate(groups) for index in group}
        problems = _problems(views, findings, rules.rules, places)
        states = {places[finding.index]: "open" for finding in findings if finding.rule == CALL_OPEN}
        states |= dict.fromkeys(problems, "broken")
    needs: Mapping[int, tuple[int, ...]] = {}
    if rules.needs is not None:
        whole = {place: group for place, group in enumerate(groups) if place not in problems}
        needs = rules.needs({place: [views[index] for index in group] for place, group in whole.items()})
    units: list[Unit] = []
    opener: int | None = None
    for place, group in enumerate(groups):
        if len(group) == 1:
            view = views[group[0]]
            role = "exchange" if view.calls or view.results else view.role
            text, opens_turn = view.text, view.opens_turn
        else:
            role, text, opens_turn = _summary([views[index] for index in group])
        anchor = None if role in _UNTIED else opener
        state = states.get(place, "complete")
        units.append(Unit(tuple(group), role, anchor, state, problems.get(place), text, needs.get(place, ())))
        if opens_turn and place not in problems:
            opener = place
    return units


def turns(units: Sequence[Unit]) -> list[list[int]]:
    """The places of the units of each turn: a user message and all that is tied to it, up to the next one.

    What is said before the first user message is a turn, too. Units that are broken or system messages are in none.
    """
    grouped: list[list[int]] = []
    for place, unit in enumerate(units):
        if unit.role == "system" or unit.state == "broken":
            continue
        if unit.role == "user" or not grouped:
            grouped.append([])
        grouped[-1].append(place)
    return grouped


def _problems(
    views: Sequence[MessageView], findings: Iterable[Finding], rules: Iterable[Rule], places: Mapping[int, int]
) -> dict[int, str]:
    """Why each broken unit is broken. A rule looks only at what the ones before it have left whole."""
    problems: dict[int, str] = {}
    _note(problems, findings, places)
    for rule in rules:
        whole = [view for view in views if places[view.index] not in problems] if problems else views
        _note(problems, rule(whole), places)
    return problems


def _note(problems: dict[int, str], findings: Iterable[Finding], places: Mapping[int, int]) -> None:
    for finding in findings:
        if finding.severity == ERROR:
            problems.setdefault(places[finding.index], f"messages[{finding.index}]: {finding.message}")


def _summary(members: Sequence[MessageView]) -> tuple[str, str, bool]:
    """The role of a unit of several messages, its text, and whether it opens a turn."""
    first = members[0]
    is_exchange = bool(first.calls) or any(view.calls or view.results for view in members)
    text = "\n".join([view.text for view in members if view.text])
    return "exchange" if is_exchange else first.role, text, True in [view.opens_turn for view in members]
