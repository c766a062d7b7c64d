"""Check that a custom strategy keeps its contract, on samples that find the usual mistakes; and a clock that stands."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from math import isnan
from operator import attrgetter
from textwrap import fill
from typing import Any, NamedTuple, TypeVar, cast

from pycupel.errors import CountRequirementError, InvalidArgumentError, TableTooLargeError
from pycupel.kernels.order import indices_by_identity
from pycupel.model import ContextBudget, ContextItem, ScoredItem
from pycupel.model.checks import as_float, checked_aware, checked_bool, checked_iterable, wrong_type
from pycupel.model.item import checked_items
from pycupel.protocols import Placer, Scorer, Slicer, checked_placer, checked_scorer, checked_slicer
from pycupel.scorers._base import score_all
from pycupel.slicers._base import slice_by_index
from pycupel.text import describe
from pycupel.values import hold, sealed

_NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
_KINDS = ("Message", "Document", "ToolOutput", "Memory", "note")
_TAGS = ("urgent", "Urgent", "billing", "travel")
_SCRIPTS = (
    "caf\u00e9",
    "cafe\u0301",
    "\u65e5\u672c\u8a9e",
    "\u0633\u0644\u0627\u0645",
    "\U0001f9ed",
    " ",
    "line\nbreak\0",
    "x" * 5_000,
)
_STRANGE_SCORES = (float("inf"), 1e308, 2.0, 1.0, 5e-324, 0.0, -0.0, -3.5, float("-inf"), float("nan"), float("nan"))


class Sample(NamedTuple):
    """An input. Scorers get the items, placers the scored items, and slicers the scored items and the budget."""

    name: str
    items: Sequence[ContextItem]
    scored: Sequence[ScoredItem]
    budget: ContextBudget = ContextBudget(0)

    def copied(self) -> Sample:
        """Return an equal sample of copies, in lists. An object that occurs twice is copied once."""
        twins = {id(item): copy(item) for item in self.items}
        items = [twins[id(item)] for item in self.items]
        return self._replace(items=items, scored=[ScoredItem(twins[id(item)], score) for item, score in self.scored])


def samples(own: Any = None) -> list[Sample]:
    """Return the built-in samples, and one with the caller's items."""
    one, two, three, *more = [_item(i) for i in range(8)]
    plain = [ContextItem(f"plain {i}", 10 + i) for i in range(4)]
    free = [ContextItem(f"free {i}", 0) for i in range(2)]
    equal = [ContextItem("equal", 10) for _ in range(3)]
    scripts = [ContextItem(text, i + 1) for i, text in enumerate(_SCRIPTS)]
    strange = [_item(i) for i, _ in enumerate(_STRANGE_SCORES)]
    built_in = [
        _sample("no items", []),
        _sample("one item", [one]),
        _sample("items with equal scores", [one, two, three, *more], [0.5] * 8),
        _sample("items with nothing but content and tokens", plain),
        _sample("items without tokens", [free[0], one, free[1], two]),
        _sample("nothing but items without tokens", free),
        _sample("items that are equal", [one, *equal, two], [0.9, 0.8, 0.8, 0.1, 0.1]),
        _sample("one object twice", [one, two, one, three]),
        _sample("contents in many scripts", scripts),
        _sample("scores that are infinite, negative or NaN", strange, _STRANGE_SCORES),
        _sample("items in no order", [three, one, *more], [0.1, 0.9, 0.4, 0.4, 0.8, 0.0, 0.7]),
        _sample("200 items", [_item(i) for i in range(200)]),
    ]
    return built_in if own is None else [*built_in, _sample("your items", checked_items(own))]


def budgeted(unbudgeted: Iterable[Sample], own: Any = None) -> list[Sample]:
    """Combine each sample with the caller's budgets, and with targets from 0 to more than enough."""
    given = checked_iterable("budgets", "an iterable of ContextBudget or int", () if own is None else own)
    extra = [ContextBudget.of(budget, f"budgets[{i}]") for i, budget in enumerate(given)]
    combined: list[Sample] = []
    for sample in unbudgeted:
        total = sum(max(0, item.tokens) for item in sample.items)
        targets = dict.fromkeys((0, 1, total // 3, total // 2, total, total + 1))
        for budget in (*(ContextBudget(target + total + 100, target) for target in targets), *extra):
            name = f"{sample.name} and target_tokens={budget.target_tokens}"
            combined.append(sample._replace(name=name, budget=budget))
    return combined


def _sample(name: str, items: Sequence[ContextItem], scores: Sequence[float] | None = None) -> Sample:
    """Make a sample. Without scores, the items are in descending order of score, as in a pipeline."""
    falling = [1.0 - i / len(items) for i in range(len(items))]
    return Sample(name, tuple(items), tuple(map(ScoredItem, items, falling if scores is None else scores)))


def _item(i: int) -> ContextItem:
    """Make an item like those of real programs: some fields are set, some are not, and some values repeat."""
    mixed = i * 7_919 % 101
    return ContextItem(
        f"item {i}",
        1 + mixed * 3 % 90,
        kind=_KINDS[mixed % 5],
        source=("Chat", "Tool", "Rag")[mixed % 3],
        priority=mixed % 7 - 2 if mixed % 4 else None,
        tags=_TAGS[mixed % 3 : mixed % 5],
        metadata={"cupel:trust": f"{mixed / 101:.2f}", "notes": ["a list", mixed]} if mixed % 2 else {},
        timestamp=_NEW_YEAR - timedelta(hours=mixed % 60) if mixed % 5 else None,
        future_relevance_hint=mixed / 101 if mixed % 3 else None,
        original_tokens=200 if mixed % 6 == 0 else None,
    )


# Check the contracts of strategies by calling them with many inputs in several ways.


_Value = TypeVar("_Value")

# One string per score or item, so that answers can be compared and shown.
_Answer = list[str]

_PLAIN_FIELDS = attrgetter(*(field.name for field in fields(ContextItem) if field.name != "metadata"))

_UNKNOWN_ITEM = "an item that it was not given"

# Errors that a slicer may raise instead of answering.
_ALLOWED_ERRORS = (CountRequirementError, TableTooLargeError)

_ADVICE = {
    "answers": "A strategy must accept any items. They are passed as a tuple, so it cannot modify them.",
    "repeatable": (
        "Depend only on the arguments: no randomness, no clock. Give a scorer that has a time provider a "
        "FixedTimeProvider."
    ),
    "independent": (
        "Keep no state between calls. The key of a cache must contain everything that the answer depends on, "
        "including the other items."
    ),
    "by value": "Equal arguments must give equal answers: do not decide by id() or `is`.",
    "hands off": "Work on a copy: sorted(items), not items.sort().",
    "number": "Return a float; 0.0 for an item without the data to score it.",
    "batch": "Do the same arithmetic as score, in the same order, without sum() of floats; or remove score_all.",
    "list": "Return a list of items.",
    "subset": "Return the objects that were passed, not copies, and none more often than it was passed.",
    "nothing": "Return [] if there are no items, or if budget.target_tokens is 0.",
    "budget": (
        "Stay within budget.target_tokens, not max_tokens. If requirements take precedence over the budget, check with "
        "may_overflow=True."
    ),
    "detail": "Implement slice as `return self.slice_detailed(scored_items, budget).selected`.",
    "permutation": "Return all the items, each as often as it was given, and nothing else.",
}


class BrokenProperty(NamedTuple):
    """A violated property of a strategy's contract."""

    name: str
    """The property, such as `repeatable`."""

    problem: str
    """What happened."""

    sample: str
    """The first input that shows it."""

    advice: str
    """What to do about it."""


class _Contract(ABC):
    """Calls a strategy repeatedly, and keeps the first sample that violates each property."""

    method: str
    # The optional method, and the property that says it agrees with the required one.
    optional: tuple[str, str] = ("", "")

    def __init__(self, strategy: Any) -> None:
        self.strategy = strategy
        self.broken: dict[str, BrokenProperty] = {}

    @abstractmethod
    def ask(self, strategy: Any, sample: Sample) -> _Answer: ...

    def ask_optional(self, sample: Sample, answer: _Answer) -> _Answer:  # noqa: ARG002
        """Call the optional method, or return `answer` if there is none."""
        return answer

    def check(self, given: Sequence[Sample]) -> None:
        """Raise an error that lists all violated properties, if there are any."""
        try:
            fresh = deepcopy(self.strategy)
        except Exception:  # noqa: BLE001 - strategies need not support copying
            fresh = self.strategy
        answers: list[_Answer] = []
        for sample in given:
            answers.append(answer := self._attempt(self.strategy, sample))
            again = self._attempt(self.strategy, sample)
            self.expect(answer, again, "repeatable", "then for the same arguments", sample)
        # If two calls in a row differ, further comparisons add nothing.
        if "repeatable" not in self.broken:
            for sample, answer in zip(reversed(given), reversed(answers), strict=True):
                self.expect(answer, self._attempt(fresh, sample), "independent", "but after other calls", sample)
            for sample, answer in zip(given, answers, strict=True):
                self._ask_with_copies(sample, answer)
        if self.broken:
            raise StrategyCheckError(type(self.strategy).__name__, self.broken.values())

    def _ask_with_copies(self, sample: Sample, expected: _Answer) -> None:
        copied = sample.copied()
        before = _state(copied)
        answer = self._attempt(self.strategy, copied)
        if _state(copied) == before:
            # If repeated calls differ anyway, a different answer to equal arguments adds nothing.
            if not self.broken.keys() & {"answers", "independent"}:
                self.expect(expected, answer, "by value", "but for equal arguments", sample)
            # Wrong answers would only be reported again.
            if not self.broken.keys() & {"answers", "number", "list", "subset"}:
                method, name = self.optional
                try:
                    self.expect(answer, self.ask_optional(copied, answer), name, f"but {method}", copied)
                except Exception as error:  # noqa: BLE001 - the author must see any error
                    self.report(name, f"{method} raised {type(error).__name__}: {error}", copied)
        if _state(copied) != before:
            self.report("hands off", "an argument has been changed", sample)

    def _attempt(self, strategy: Any, sample: Sample) -> _Answer:
        try:
            return self.ask(strategy, sample)
        except Exception as error:  # noqa: BLE001 - the author must see any error
            self.report("answers", f"{self.method} raised {type(error).__name__}: {error}", sample)
            return [type(error).__name__]

    def expect(self, one: _Answer, other: _Answer, name: str, then: str, sample: Sample) -> None:
        for a, b in zip_longest(one, other, fillvalue="nothing"):
            if a != b:
                self.report(name, f"{self.method} gave {a}, {then} {b}", sample)
                return

    def report(self, name: str, problem: str, sample: Sample) -> None:
        self.broken.setdefault(name, BrokenProperty(name, problem, sample.name, _ADVICE[name]))

    def is_list(self, returned: object, sample: Sample) -> bool:
        if not isinstance(returned, list):
            self.report("list", f"{self.method} returned {describe(returned)}", sample)
        return isinstance(returned, list)


class ScorerContract(_Contract):
    method = "score"
    optional = ("score_all", "batch")
    nan: ContextItem | None = None

    def ask(self, strategy: Any, sample: Sample) -> _Answer:
        answer: _Answer = []
        for item in _spread(sample.items):
            score = strategy.score(item, sample.items)
            try:
                number = as_float("the score", score)
            except TypeError:
                self.report("number", f"score returned {describe(score)}", sample)
                answer.append(type(score).__name__)
            else:
                answer.append(repr(number))
                if isnan(number):
                    self.nan = self.nan or item
        return answer

    def ask_optional(self, sample: Sample, answer: _Answer) -> _Answer:
        # A pipeline does not call a scorer without items.
        if not sample.items or not hasattr(self.strategy, "score_all"):
            return answer
        return list(map(repr, _spread(score_all(self.strategy, sample.items))))


class SlicerContract(_Contract):
    method = "slice"
    optional = ("slice_detailed", "detail")

    def __init__(self, strategy: Any, *, may_overflow: bool) -> None:
        super().__init__(strategy)
        self.may_overflow = may_overflow

    def ask(self, strategy: Any, sample: Sample) -> _Answer:
        try:
            selected = strategy.slice(sample.scored, sample.budget)
        except _ALLOWED_ERRORS as error:
            return [str(error)]
        if not self.is_list(selected, sample):
            return []
        answer = _names(selected, sample.items)
        if _UNKNOWN_ITEM in answer:
            stranger = describe(selected[answer.index(_UNKNOWN_ITEM)])
            self.report("subset", f"slice returned {stranger}, which it was not given or had returned already", sample)
            return answer
        tokens, target = sum(item.tokens for item in selected), sample.budget.target_tokens
        if selected and target <= 0:
            self.report("nothing", f"slice selected {len(selected)} items", sample)
        elif tokens > target and not self.may_overflow:
            self.report("budget", f"slice selected {tokens} tokens", sample)
        return answer

    def ask_optional(self, sample: Sample, answer: _Answer) -> _Answer:
        if not hasattr(self.strategy, "slice_detailed"):
            return answer
        scores = [pair.score for pair in sample.scored]
        try:
            outcome = slice_by_index(self.strategy, sample.items, scores, sample.budget)
        except _ALLOWED_ERRORS as error:
            return [str(error)]
        detailed = _names([sample.items[i] for i in outcome.selected], sample.items)
        # The order of a slicer's selection does not matter.
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
            self.report("permutation", f"place got {given} items and returned {returned}, not the same ones", sample)
        return answer


def _names(returned: Sequence[object], items: Sequence[ContextItem]) -> _Answer:
    """Name the returned items by their indices, each index at most once."""
    indices = indices_by_identity(items)
    return [f"item {indices[id(item)].pop()}" if indices.get(id(item)) else _UNKNOWN_ITEM for item in returned]


def _state(sample: Sample) -> list[object]:
    """Return what a strategy could change in its arguments. Of an item, only metadata can be changed in place."""
    values = [
        (*_PLAIN_FIELDS(item), repr(item.metadata) if item.metadata else "")
        for item in sample.items
        if isinstance(cast(Any, item), ContextItem)
    ]
    return [*sample.items, *sample.scored, *values]


def _spread(values: Sequence[_Value]) -> Sequence[_Value]:
    """Return all of a few values, or about eight of many, because a nested scorer is slow for 200 scores."""
    return values[:: max(1, len(values) // 8)]


class StrategyCheckError(AssertionError):
    """A strategy violates its contract. The text lists every problem."""

    strategy: str
    """The name of the strategy's class."""

    broken: tuple[BrokenProperty, ...]
    """The violated properties."""

    def __init__(self, strategy: str, broken: Iterable[BrokenProperty]) -> None:
        self.strategy = strategy
        self.broken = tuple(broken)
        super().__init__(strategy, self.broken)

    def __str__(self) -> str:
        texts = [f"- {each.name}: {each.problem}, with {each.sample}. {each.advice}" for each in self.broken]
        lines = [fill(text, 80, subsequent_indent="  ", break_long_words=False) for text in texts]
        return "\n".join([f"{self.strategy} violates its contract:", *lines])


def check_scorer(scorer: Scorer, items: Iterable[ContextItem] | None = None) -> None:
    """Check that a scorer gives every item a number, always the same one, and that `score_all` agrees with `score`.

    It is also checked with `items`, if there are any. NaN is legal and ranks below every number, but is rarely
    intended, so it causes a warning.
    """
    contract = ScorerContract(checked_scorer("scorer", scorer))
    contract.check(samples(items))
    if contract.nan is not None:
        warnings.warn(
            f"{type(scorer).__name__} gives {describe(contract.nan)} the score NaN, which ranks below every number; "
            "return 0.0 if that is not intended",
            stacklevel=2,
        )


def check_slicer(
    slicer: Slicer,
    items: Iterable[ContextItem] | None = None,
    budgets: Iterable[ContextBudget | int] | None = None,
    *,
    may_overflow: bool = False,
) -> None:
    """Check that a slicer selects some of the items that it gets, always the same ones, and that they fit.

    It is also checked with `items` and `budgets`, if there are any. With `may_overflow`, the selection may exceed the
    budget, because of requirements that take precedence, as in a `CountQuotaSlice` with a `require_count`.
    """
    checked_bool("may_overflow", may_overflow)
    contract = SlicerContract(checked_slicer("slicer", slicer), may_overflow=may_overflow)
    contract.check(budgeted(samples(items), budgets))


def check_placer(placer: Placer, items: Iterable[ContextItem] | None = None) -> None:
    """Check that a placer returns all the items that it gets, always in the same order; also with `items`, if given."""
    PlacerContract(checked_placer("placer", placer)).check(samples(items))


@sealed
@dataclass(frozen=True, slots=True, init=False, repr=False)
class FixedTimeProvider:
    """A time provider that always returns the same time, for a `DecayScorer` in tests."""

    instant: datetime
    """The time in UTC."""

    def __init__(self, now: datetime) -> None:
        hold(self, instant=checked_aware("now", now, InvalidArgumentError).astimezone(UTC))

    def now(self) -> datetime:
        """Return the fixed time."""
        return self.instant

    def advance(self, by: timedelta) -> FixedTimeProvider:
        """Return a new clock, fixed so much later; this one does not change."""
        if not isinstance(cast(Any, by), timedelta):
            raise wrong_type("by", "a timedelta", by)
        return FixedTimeProvider(self.instant + by)

    def __repr__(self) -> str:
        return f"FixedTimeProvider({self.instant!r})"
