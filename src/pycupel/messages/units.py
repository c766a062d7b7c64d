"""Units: messages of a history that are kept or dropped together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pycupel.kernels.records import maker
from pycupel.messages.parts import MessageView
from pycupel.messages.providers._base import ERROR, LASTING, Finding, Provider
from pycupel.messages.providers._rules import OPEN

__all__ = ["Unit", "group_messages", "turns"]

_UNTIED = frozenset({"system", "reminder", "user"})


class Unit(NamedTuple):
    """Messages that the provider accepts only together.

    A selection of units is accepted by the provider if none of them is broken and each has what it needs.
    """

    indices: tuple[int, ...]
    """The indices of the messages."""

    role: str
    """"system", "reminder" for a system message after other sound messages, "user", "assistant", or "exchange" for
    calls with their results.
    """

    anchor: int | None
    """The index of the unit with the user message that opened the turn."""

    problem: str | None = None
    """Why the provider would reject the unit, if it is broken."""

    needs: tuple[int, ...] = ()
    """The indices of the units without which the provider would reject this one: its anchor, and others."""

    is_open: bool = False
    """Whether it has calls at the end of the history that are not all answered yet."""

    remark: bool = False
    """Whether the user wrote text beside the results of an exchange."""


_unit = maker(Unit)


def group_messages(views: Sequence[MessageView], provider: Provider) -> list[Unit]:
    """Group a whole history into units, in order of their first messages. Every message is in exactly one."""
    groups, findings = provider.pair(views)
    unit_of = {index: unit_index for unit_index, group in enumerate(groups) for index in group}
    problems = _problems(views, findings, provider, unit_of)
    open_units = {unit_of[finding.index] for finding in findings if finding.rule == OPEN.id}
    others: Mapping[int, tuple[int, ...]] = {}
    if provider.needs is not None:
        others = provider.needs({i: [views[n] for n in group] for i, group in enumerate(groups) if i not in problems})
    units: list[Unit] = []
    opener: int | None = None
    leading = True
    for unit_index, group in enumerate(groups):
        remark = False
        if len(group) == 1:
            _, role, _, _, calls, results, opens_turn, _, marks, _ = views[group[0]]
            if calls or results:
                role = "exchange"
            elif role == "system" and not leading and LASTING not in marks:
                role = "reminder"
        else:
            role, opens_turn, remark = _role_of_group([views[index] for index in group])
        anchor = None if role in _UNTIED else opener
        needs = others.get(unit_index, ()) if others else ()
        needs = needs if anchor is None else (anchor, *needs)
        problem = problems.get(unit_index)
        leading = leading and (role == "system" or problem is not None)
        units.append(_unit((tuple(group), role, anchor, problem, needs, unit_index in open_units, remark)))
        if opens_turn and problem is None:
            opener = unit_index
    return units


def turns(units: Sequence[Unit]) -> list[list[int]]:
    """Group the indices of units by turn: a user message and everything up to the next one.

    Messages before the first user message form a turn, too. Broken units and system messages are in none.
    """
    grouped: list[list[int]] = []
    for unit_index, unit in enumerate(units):
        if unit.role in ("system", "reminder") or unit.problem is not None:
            continue
        if unit.role == "user" or not grouped:
            grouped.append([])
        grouped[-1].append(unit_index)
    return grouped


def _problems(
    views: Sequence[MessageView], findings: Iterable[Finding], provider: Provider, unit_of: Mapping[int, int]
) -> dict[int, str]:
    """Find why each broken unit is broken. Each rule sees only the units that earlier rules accepted."""
    problems: dict[int, str] = {}
    _add_problems(problems, findings, unit_of)
    for find in provider.findings(views):
        whole = [view for view in views if unit_of[view.message_index] not in problems] if problems else views
        _add_problems(problems, find(whole), unit_of)
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
