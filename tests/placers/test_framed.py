"""FramedPlacer: what the vectors `framed-*` do not show."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pycupel import ContextItem, ContextKind, Pipeline, ReflexiveScorer, ScoredItem, UShapedPlacer
from pycupel.errors import InvalidArgumentError, PlacerContractError
from pycupel.placers import FramedPlacer

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def item(content: str, kind: str = "Message", hour: int | None = None, **options: Any) -> ContextItem:
    stamp = None if hour is None else NOON + timedelta(hours=hour)
    return ContextItem(content, 10, kind=kind, timestamp=stamp, **options)


SYSTEM = item("system", "SystemPrompt")
LATE = item("late", hour=2)
EARLY = item("early", hour=1)
NOTE = item("note", "Memory", hour=3)


def placed(placer: FramedPlacer, *items: ContextItem) -> list[str]:
    scored = [ScoredItem(each, 1.0 - i / 10) for i, each in enumerate(items)]
    return [each.content for each in placer.place(scored)]


def test_a_function_can_pick() -> None:
    """What both pick comes first."""
    placer = FramedPlacer(
        first=lambda each: "late" in each.content, last=lambda each: each.kind != ContextKind.SYSTEM_PROMPT
    )
    assert placed(placer, EARLY, SYSTEM, LATE, NOTE) == ["late", "system", "early", "note"]


def test_pinned_items_come_first_among_those_of_the_frame() -> None:
    """In a pipeline, the placer receives pinned items before the others."""
    unpinned = item("unpinned", "SystemPrompt", future_relevance_hint=1.0)
    pinned = item("pinned", "SystemPrompt", pinned=True)
    pipeline = Pipeline(ReflexiveScorer(), placer=FramedPlacer())
    assert [each.content for each in pipeline.run([LATE, unpinned, pinned], 100)] == ["pinned", "unpinned", "late"]


def test_a_custom_inner_placer_is_held_to_its_contract() -> None:
    class Losing:
        def place(self, scored_items: Any, /) -> list[ContextItem]:
            return [pair.item for pair in scored_items][1:]

    with pytest.raises(PlacerContractError, match="Losing"):
        placed(FramedPlacer(Losing()), SYSTEM, LATE, EARLY)


def test_placers_are_nested_100_levels_deep_at_most() -> None:
    """PY-08: as slicers and scorers are; what can be built can be shown, compared and run."""
    placer, other = FramedPlacer(), FramedPlacer()
    for _ in range(99):
        placer, other = FramedPlacer(placer), FramedPlacer(other)
    assert placed(placer, LATE, SYSTEM, EARLY) == ["system", "early", "late"]
    assert placer == other
    assert repr(placer) == repr(other)
    with pytest.raises(InvalidArgumentError, match=r"^placers may be nested at most 100 levels deep$") as caught:
        FramedPlacer(placer)
    assert caught.value.argument == "inner"


def test_a_kind_cannot_be_first_and_last() -> None:
    with pytest.raises(InvalidArgumentError, match="cannot be both first and last") as caught:
        FramedPlacer(first=["Memory"], last=["memory"])
    assert caught.value.argument == "last"


def test_one_end_may_be_a_function_and_the_other_kinds() -> None:
    placer = FramedPlacer(first=lambda item: item.content == "late", last=["SystemPrompt"])
    assert placed(placer, SYSTEM, LATE, EARLY) == ["late", "early", "system"]


def test_is_a_value() -> None:
    placer = FramedPlacer(UShapedPlacer(), first=("Memory", "memory"), last=("note",))
    assert placer.first == (ContextKind.MEMORY,)
    assert placer == pickle.loads(pickle.dumps(placer)) != FramedPlacer()
    assert hash(FramedPlacer()) == hash(FramedPlacer(first=["SystemPrompt"]))
