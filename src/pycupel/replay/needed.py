"""Find what an agent needed later and only tool results had, to measure what a cut loses.

An identifier, path or command is needed at a cut if tool results before the cut have it, no other message before the
cut has it, and the agent writes it after the cut before any message shows it again. So each one is needed at the cuts
after the last result that has it, up to the message in which the agent first writes it: one interval for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pycupel.messages.counting import ASSISTANT, SYSTEM, TOOL_CALLS, TOOL_RESULTS, USER
from pycupel.replay.parts import Part

__all__ = ["Needed", "identifiers", "needed_of"]

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_./:\-]{5,}")
# Unlike a word, an identifier has an underscore, a path, a digit, or a capital inside.
_IDENTIFIER = re.compile(r"[_/.\d:]|[a-z][A-Z]")
_BY_AGENT = frozenset({ASSISTANT, TOOL_CALLS})
_SPOKEN = frozenset({SYSTEM, USER, *_BY_AGENT})


def identifiers(text: str) -> set[str]:
    """Find the identifiers, paths and commands in a text."""
    return {word.strip("./:-") for word in _WORD.findall(text) if _IDENTIFIER.search(word)}


class Needed(NamedTuple):
    """What was needed later in a history."""

    held: Sequence[frozenset[str]]
    """The identifiers in each message."""

    intervals: Mapping[str, tuple[int, int]]
    """For each identifier that was needed: the last result before it was needed, and the message in which the agent
    wrote it. It was needed at every cut after the first and up to the second.
    """

    def at(self, cut: int) -> set[str]:
        """Return what is needed if the messages before this index are cut."""
        return {word for word, (last, written) in self.intervals.items() if last < cut <= written}


def needed_of(messages: int, parts: Iterable[Part]) -> Needed:
    """Find what was needed later in a history with this many messages and these parts."""
    spoken, results, by_agent = ([set[str]() for _ in range(messages)] for _ in range(3))
    for part in parts:
        if part.kind == TOOL_RESULTS:
            results[part.message] |= identifiers(part.text)
        elif part.kind in _SPOKEN:
            words = identifiers(part.text)
            spoken[part.message] |= words
            if part.kind in _BY_AGENT:
                by_agent[part.message] |= words
    last: dict[str, int] = {}
    said: set[str] = set()
    intervals: dict[str, tuple[int, int]] = {}
    for index in range(messages):
        for word in by_agent[index] - said:
            if word in last:
                intervals[word] = (last[word], index)
        said |= spoken[index]
        last.update(dict.fromkeys(results[index], index))
    return Needed([frozenset(one | other) for one, other in zip(spoken, results, strict=True)], intervals)
