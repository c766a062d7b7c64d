"""A model that asks for results that were shortened, whatever the framework, and what its tool must answer."""

from __future__ import annotations

import re
from typing import Any

from tests.integrations_env.sessions import RESULTS

__all__ = ["CALLS", "WINDOW", "Forgetful"]

WINDOW = 1_000
CALLS = 4


class Forgetful:
    """Asks for a result by the handle that stands in its place, for a line of it, and for what is not there."""

    def __init__(self, name: str = "recall_result") -> None:
        self.name = name
        self.handle = ""
        self.asked: list[dict[str, Any]] = []
        self.answers: list[str] = []

    def next(self, shown: str) -> dict[str, Any] | None:
        """The arguments of the next call, for a model that is shown this; None if it is time to answer."""
        if not self.handle:
            found = re.search(self.name + r'\(\\*"([\w.-]+)\\*"\)', shown)
            assert found is not None, shown
            self.handle = found[1]
            assert RESULTS[self._number] not in shown
        if len(self.asked) == CALLS:
            return None
        word = f"value_{self._number}_7"
        # Some models write what they could leave out.
        others: tuple[dict[str, str], ...] = ({}, {"match": word, "lines": ""}, {"lines": "first"}, {"id": "nothing"})
        self.asked.append({"id": self.handle, **others[len(self.asked)]})
        return self.asked[-1]

    @property
    def _number(self) -> int:
        """The handles are the ids c0 to c5."""
        return int(self.handle[1:])

    def check(self, answers: list[str]) -> None:
        """The first answers are the text as it was, and the others say what is wrong."""
        whole, line, no_range, unknown = answers
        text = RESULTS[self._number]
        assert whole == text
        assert line == f"8: {text.splitlines()[7]}"
        assert 'lines must be a range such as "200-260"' in no_range
        assert "no result has the id 'nothing'; the newest ones are" in unknown
        assert self.handle in unknown
