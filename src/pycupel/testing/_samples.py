"""The inputs that strategies are checked with, always the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from pycupel.model import ContextBudget, ContextItem, ScoredItem
from pycupel.model.checks import checked_iterable
from pycupel.model.item import checked_items

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
    return [
        sample._replace(name=f"{sample.name} and target_tokens={budget.target_tokens}", budget=budget)
        for sample in unbudgeted
        for budget in (*_budgets(sum(max(0, item.tokens) for item in sample.items)), *extra)
    ]


def _budgets(total: int) -> list[ContextBudget]:
    targets = dict.fromkeys((0, 1, total // 3, total // 2, total, total + 1))
    return [ContextBudget(target + total + 100, target) for target in targets]


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
