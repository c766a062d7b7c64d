"""What strategies promise, and asking them in every way that could show that they do not keep it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import deepcopy
from itertools import zip_longest
from math import isnan
from typing import Any, NamedTuple, TypeVar

from pycupel.errors import CountRequirementError, TableTooLargeError
from pycupel.kernels.identity import indices_by_identity
from pycupel.model import ContextItem
from pycupel.model.checks import as_float, describe
from pycupel.scorers._base import score_all
from pycupel.slicers._base import slice_by_index
from pycupel.testing._samples import Sample

__all__ = ["BrokenProperty", "PlacerContract", "ScorerContract", "SlicerContract"]

_Value = TypeVar("_Value")

# One line for each score or item, so that answers can be compared and shown.
_Answer = list[str]

_STRANGER = "an item that it was not given"

# What a slicer may say instead of an answer.
_REFUSALS = (CountRequirementError, TableTooLargeError)

_ADVICE = {
    "answers": "A strategy copes with any items, and gets them in a tuple, which it cannot change.",
    "repeatable": (
        "Use nothing but the arguments: no random numbers, no clock. A scorer that has a time provider can be given a "
        "FixedTimeProvider."
    ),
    "independent": (
        "Keep nothing from one call to the next. A cache has to know everything that an answer depends on, the other "
        "items, too."
    ),
    "by value": "Equal arguments have equal answers: do not let id() or `is` decide.",
    "hands off": "Work on a copy: sorted(items), not items.sort().",
    "number": "Return a float; 0.0 for an item that there is nothing to say about.",
    "batch": "Do the arithmetic of score, in the same order, and without sum() of floats; or do without score_all.",
    "list": "Return a list of items.",
    "subset": "Return the very objects, not copies, each at most as often as it was given.",
    "nothing": "Return [] if there are no items, or if budget.target_tokens is 0.",
    "budget": (
        "Stay within budget.target_tokens, not max_tokens. For requirements that come before the budget, check with "
        "may_overflow=True."
    ),
    "detail": "Let slice return slice_detailed(scored_items, budget).selected.",
    "permutation": "Return all the items, each as often as it was given, and nothing else.",
}


class BrokenProperty(NamedTuple):
    """A property that a strategy does not have: what happened, with which input first, and what to do about it."""

    name: str
    problem: str
    sample: str
    advice: str


class _Contract(ABC):
    """Asks a strategy again and again, and keeps of each broken property the first sample that shows it."""

    method: str
    # The optional method, and the property that it gives the same answers.
    optional: tuple[str, str] = ("", "")

    def __init__(self, strategy: Any) -> None:
        self.strategy = strategy
        self.broken: dict[str, BrokenProperty] = {}

    @abstractmethod
    def ask(self, strategy: Any, sample: Sample) -> _Answer: ...

    def ask_optional(self, sample: Sample, answer: _Answer) -> _Answer:  # noqa: ARG002
        """What the optional method says in place of `answer`."""
        return answer

    def check(self, given: Sequence[Sample]) -> list[BrokenProperty]:
        fresh = _copy_of(self.strategy)
        answers = [self._ask_twice(sample) for sample in given]
        # Where two calls in a row differ, there is nothing to learn from others.
        if "repeatable" not in self.broken:
            for sample, answer in zip(reversed(given), reversed(answers), strict=True):
                self.expect(answer, self._attempt(fresh, sample), "independent", "and after other calls", sample)
            for sample, answer in zip(given, answers, strict=True):
                self._ask_with_copies(sample, answer)
        return list(self.broken.values())

    def _ask_twice(self, sample: Sample) -> _Answer:
        answer = self._attempt(self.strategy, sample)
        self.expect(answer, self._attempt(self.strategy, sample), "repeatable", "and for the same arguments", sample)
        return answer

    def _ask_with_copies(self, sample: Sample, expected: _Answer) -> None:
        copied = sample.copied()
        before = repr(copied)
        answer = self._attempt(self.strategy, copied)
        if repr(copied) == before:
            # Where a repeated question has another answer anyway, an equal one proves nothing.
            if not self.broken.keys() & {"answers", "independent"}:
                self.expect(expected, answer, "by value", "and for equal arguments", sample)
            self._compare_optional(copied, answer)
        if repr(copied) != before:
            self.blame("hands off", "an argument has been changed", sample)

    def _compare_optional(self, sample: Sample, answer: _Answer) -> None:
        # What is wrong with the answers themselves would only be said again.
        if self.broken.keys() & {"answers", "number", "list", "subset"}:
            return
        method, name = self.optional
        try:
            self.expect(answer, self.ask_optional(sample, answer), name, f"but {method}", sample)
        except Exception as error:  # noqa: BLE001 - whatever it is, the author has to know
            self.blame(name, f"asking {method} ended in {type(error).__name__}: {error}", sample)

    def _attempt(self, strategy: Any, sample: Sample) -> _Answer:
        try:
            return self.ask(strategy, sample)
        except Exception as error:  # noqa: BLE001 - whatever it is, the author has to know
            self.blame("answers", f"{self.method} raised {type(error).__name__}: {error}", sample)
            return [type(error).__name__]

    def expect(self, one: _Answer, other: _Answer, name: str, then: str, sample: Sample) -> None:
        for a, b in zip_longest(one, other, fillvalue="nothing"):
            if a != b:
                self.blame(name, f"{self.method} gave {a}, {then} {b}", sample)
                return

    def blame(self, name: str, problem: str, sample: Sample) -> None:
        self.broken.setdefault(name, BrokenProperty(name, problem, sample.name, _ADVICE[name]))

    def is_list(self, returned: object, sample: Sample) -> bool:
        if not isinstance(returned, list):
            self.blame("list", f"{self.method} returned {describe(returned)}", sample)
        return isinstance(returned, list)


class ScorerContract(_Contract):
    method = "score"
    optional = ("score_all", "batch")
    nan: ContextItem | None = None

    def ask(self, strategy: Any, sample: Sample) -> _Answer:
        return [self._score(strategy, item, sample) for item in _spread(sample.items)]

    def ask_optional(self, sample: Sample, answer: _Answer) -> _Answer:
        # A pipeline does not ask a scorer if there are no items.
        if not sample.items or not hasattr(self.strategy, "score_all"):
            return answer
        return list(map(repr, _spread(score_all(self.strategy, sample.items))))

    def _score(self, strategy: Any, item: ContextItem, sample: Sample) -> str:
        score = strategy.score(item, sample.items)
        try:
            number = as_float("the score", score)
        except TypeError:
            self.blame("number", f"score returned {describe(score)}", sample)
            return type(score).__name__
        if isnan(number):
            self.nan = self.nan or item
        return repr(number)


class SlicerContract(_Contract):
    method = "slice"
    optional = ("slice_detailed", "detail")

    def __init__(self, strategy: Any, *, may_overflow: bool) -> None:
        super().__init__(strategy)
        self.may_overflow = may_overflow

    def ask(self, strategy: Any, sample: Sample) -> _Answer:
        try:
            selected = strategy.slice(sample.scored, sample.budget)
        except _REFUSALS as error:
            return [str(error)]
        if not self.is_list(selected, sample):
            return []
        answer = _names(selected, sample.items)
        if _STRANGER in answer:
            stranger = describe(selected[answer.index(_STRANGER)])
            self.blame("subset", f"slice returned {stranger}, which it was not given, or not that often", sample)
        elif answer:
            self._check_room(selected, sample)
        return answer

    def _check_room(self, selected: list[ContextItem], sample: Sample) -> None:
        target = sample.budget.target_tokens
        tokens = sum(item.tokens for item in selected)
        if target <= 0:
            self.blame("nothing", f"slice selected {len(selected)} items", sample)
        elif tokens > target and not self.may_overflow:
            self.blame("budget", f"slice selected {tokens} tokens", sample)

    def ask_optional(self, sample: Sample, answer: _Answer) -> _Answer:
        if not hasattr(self.strategy, "slice_detailed"):
            return answer
        scores = [pair.score for pair in sample.scored]
        try:
            outcome = slice_by_index(self.strategy, sample.items, scores, sample.budget)
        except _REFUSALS as error:
            return [str(error)]
        detailed = _names([sample.items[i] for i in outcome.selected], sample.items)
        # In which order a slicer selects is its own business.
        return answer if sorted(detailed) == sorted(answer) else detailed


class PlacerContract(_Contract):
    method = "place"

    def ask(self, strategy: Any, sample: Sample) -> _Answer:
        placed = strategy.place(sample.scored)
        if not self.is_list(placed, sample):
            return []
        answer = _names(placed, sample.items)
        if sorted(answer) != sorted(_names(sample.items, sample.items)):
            given, returned = len(sample.items), len(answer)
            self.blame("permutation", f"place was given {given} items and returned {returned}, not the same", sample)
        return answer


def _names(returned: Sequence[object], items: Sequence[ContextItem]) -> _Answer:
    """What was returned, by its places among the items, each place once."""
    places = indices_by_identity(items)
    return [f"item {places[id(item)].pop()}" if places.get(id(item)) else _STRANGER for item in returned]


def _spread(values: Sequence[_Value]) -> Sequence[_Value]:
    """All of a few, some of many: asking for each of 200 scores takes a nested scorer a while."""
    return values[:: max(1, len(values) // 8)]


def _copy_of(strategy: Any) -> Any:
    """A strategy that has never been asked. One that cannot be copied has to do."""
    try:
        return deepcopy(strategy)
    except Exception:  # noqa: BLE001 - nobody has to support copying
        return strategy
