"""Other people's objects in metadata: they may raise, lie or return arrays, and still nothing happens to the others."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    MetadataKeyScorer,
    MetadataTrustScorer,
    OverflowStrategy,
    Pipeline,
    RelevanceScorer,
    Scorer,
    select,
    wire,
)
from pycupel.analytics import find_min_budget_for, get_marginal_items, sweep_budgets
from pycupel.errors import DocumentError, InvalidItemError
from tests.hostile import Raising, nested
from tests.samples import PLACERS, SCORERS, SLICERS

KEYS = ("cupel:trust", "level", "session", "other")


class Lying:
    """Equals everything, and hashes like nothing else."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 7


class Array:
    """Compares like an array: element by element, and has no truth."""

    def __eq__(self, other: object) -> Any:
        return Array()

    def __ne__(self, other: object) -> Any:
        return Array()

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise ValueError("the truth of an array is ambiguous")


class LyingText(str):
    """A string that says it is another one."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")

    __hash__ = str.__hash__


class Number(Fraction):
    """A number that is none."""

    def __float__(self) -> float:
        raise RuntimeError("float")


def deep() -> list[Any]:
    return nested(100_000)


HOSTILE: dict[str, Callable[[], Any]] = {
    "raising": Raising,
    "lying": Lying,
    "array": Array,
    "text": lambda: LyingText("0.5"),
    "number": lambda: Number(1, 2),
    "deep": deep,
    "unhashable": lambda: [1],
}
DEEP = deep()


def items(make: Callable[[], Any]) -> list[ContextItem]:
    """Build eight items, four of which hold something hostile under every key."""
    return [
        ContextItem(
            f"content {i}",
            10,
            priority=i,
            future_relevance_hint=i / 8,
            metadata=dict.fromkeys(KEYS, make() if i % 2 else "1"),
        )
        for i in range(8)
    ]


def reading_scorers() -> Iterator[Scorer]:
    yield from SCORERS
    yield MetadataKeyScorer("level", "1", 2.0)
    yield MetadataTrustScorer()
    yield RelevanceScorer("content 3")


@pytest.mark.parametrize("name", HOSTILE)
def test_every_pipeline_runs_over_them(name: str) -> None:
    """The same selection as with harmless metadata, except where a scorer reads it."""
    candidates = items(HOSTILE[name])
    for scorer, slicer in product(reading_scorers(), SLICERS[::4]):
        pipeline = Pipeline(scorer, slicer, PLACERS[0], overflow_strategy=OverflowStrategy.TRUNCATE)
        result = pipeline.run(candidates, ContextBudget(45))
        report = pipeline.dry_run(candidates, ContextBudget(45))
        assert [id(each.item) for each in report.included] == list(map(id, result))
        assert report.to_text()
        assert repr(report)
        assert str(report.why(candidates[1]))


@pytest.mark.unmeasured
@pytest.mark.parametrize("name", HOSTILE)
def test_everything_that_shows_or_simulates_survives_them(name: str) -> None:
    candidates = items(HOSTILE[name])
    pipeline = Pipeline(SCORERS[8])
    assert [repr(item) for item in candidates]
    assert select(candidates, 45).items
    assert get_marginal_items(pipeline, candidates, ContextBudget(45), 20)
    assert find_min_budget_for(pipeline, candidates, candidates[3], 100)
    assert repr(sweep_budgets(pipeline, candidates, [10, 45]))
    assert copy.copy(candidates[1]).content == "content 1"


@pytest.mark.parametrize("name", ["raising", "lying", "array", "deep"])
def test_what_is_no_json_is_refused_with_its_path(name: str) -> None:
    report = Pipeline(SCORERS[8]).dry_run(items(HOSTILE[name]), 45)
    with pytest.raises(DocumentError, match=r"^(included|excluded)\[\d\]\.item\.metadata"):
        wire.dumps(report)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tags": [Raising()]}, r"^tags\[0\] must be a str, not \.\.\. \(Raising\)$"),
        ({"tags": ["a", Array()]}, r"^tags\[1\] must be a str, not <"),
        ({"tags": [LyingText("a"), 5]}, r"^tags\[1\] must be a str, not 5"),
        ({"metadata": {5: "x"}}, "^metadata: key must be a str, not 5"),
        ({"content": DEEP}, r"^content must be a str, not \.\.\. \(list\)$"),
        ({"tokens": DEEP}, r"^tokens must be an int, not \.\.\. \(list\)$"),
        ({"kind": DEEP}, r"^kind must be a str or a ContextKind, not \.\.\. \(list\)$"),
        ({"timestamp": Raising()}, r"^timestamp must be a datetime, not \.\.\. \(Raising\)$"),
    ],
)
def test_a_hostile_argument_is_described(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, InvalidItemError), match=message):
        ContextItem(**{"content": "x", "tokens": 1, **arguments})


@pytest.mark.parametrize("value", [DEEP, Raising()], ids=["deep", "raising"])
def test_a_hostile_budget_is_described(value: Any) -> None:
    for arguments in ({"max_tokens": value}, {"max_tokens": 1, "reserved_slots": value}):
        with pytest.raises(TypeError, match=r"not \.\.\. \((list|Raising)\)$"):
            ContextBudget(**arguments)
    with pytest.raises(TypeError, match=r"^budget must be a ContextBudget or an int, not \.\.\. "):
        select([ContextItem("x", 1)], value)
