"""Strategies are values: equal if their options are, hashable, immutable, and the same after pickling and copying."""

from __future__ import annotations

import copy
import dataclasses
import datetime as dt
import gc
import pickle
import weakref
from typing import Any

import pytest

import pycupel.placers
import pycupel.scorers
import pycupel.slicers
from pycupel import (
    BoostedScorer,
    ContextBudget,
    ContextItem,
    CountQuotaSlice,
    DecayScorer,
    GreedySlice,
    KindScorer,
    KnapsackSlice,
    MetadataKeyScorer,
    MetadataTrustScorer,
    Pipeline,
    QuotaEntry,
    QuotaSlice,
    RecencyScorer,
    ScoredItem,
    TagScorer,
    UShapedPlacer,
)
from pycupel.model import ScarcityBehavior
from pycupel.scorers import Exponential, Step, SystemTimeProvider, Window
from tests.samples import DAY, NOW, PLACERS, SCORERS, SLICERS

STRATEGIES: list[Any] = [*SCORERS, *SLICERS, *PLACERS]
EACH = pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: type(strategy).__name__)
ITEMS = [
    ContextItem(name, 5 * i, kind=kind, tags=[name], priority=-i, timestamp=NOW - i * DAY, metadata={"level": str(i)})
    for i, (name, kind) in enumerate([("alpha", "Document"), ("GAMMA", "note"), ("x", "ToolOutput"), ("y", "Memory")])
]


def result(strategy: Any) -> list[Any]:
    """What a scorer, slicer or placer makes of the items."""
    if hasattr(strategy, "score"):
        return [*(strategy.score(item, ITEMS) for item in ITEMS), *strategy.score_all(ITEMS)]
    scored = [ScoredItem(item, 1.0 / (i + 1)) for i, item in enumerate(ITEMS)]
    selected: list[Any] = strategy.slice(scored, ContextBudget(20)) if strategy in SLICERS else strategy.place(scored)
    return selected


def test_the_list_is_complete() -> None:
    packages: tuple[Any, ...] = (pycupel.scorers, pycupel.slicers, pycupel.placers)
    public = {getattr(package, name) for package in packages for name in package.__all__}
    strategies = {cls for cls in public if any(hasattr(cls, method) for method in ("score", "slice", "place"))}
    assert strategies == set(map(type, STRATEGIES))


@EACH
def test_a_copy_is_equal_looks_the_same_and_does_the_same(strategy: Any) -> None:
    """PB-04, PY-12."""
    pickled = [pickle.loads(pickle.dumps(strategy, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for copied in [copy.copy(strategy), copy.deepcopy(strategy), dataclasses.replace(strategy), *pickled]:
        assert type(copied) is type(strategy)
        assert copied == strategy
        assert hash(copied) == hash(strategy)
        assert repr(copied) == repr(strategy)
        assert result(copied) == result(strategy)


@EACH
def test_no_two_of_them_are_equal(strategy: Any) -> None:
    """PB-04: all options count."""
    assert [other for other in STRATEGIES if other == strategy] == [strategy]


@EACH
def test_options_cannot_be_changed(strategy: Any) -> None:
    for field in dataclasses.fields(strategy):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(strategy, field.name, None)
    assert not hasattr(strategy, "__dict__")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (KindScorer({"Message": 0.5, "Image": 2}), KindScorer({"image": 2.0, "MESSAGE": 0.5})),
        (TagScorer({"a": 1, "b": 2}), TagScorer({"b": 2.0, "a": 1.0})),
        (BoostedScorer(RecencyScorer(), KindScorer()), BoostedScorer(RecencyScorer(), boosts=[KindScorer()])),
        (QuotaSlice([QuotaEntry("A", 10)]), QuotaSlice([QuotaEntry("a", 10.0)], GreedySlice(), redistribute=False)),
        (
            CountQuotaSlice([], scarcity="throw"),
            CountQuotaSlice((), scarcity=ScarcityBehavior.THROW, cap_order="inner"),
        ),
        (Step([(DAY, 1)]), Step(((dt.timedelta(hours=24), 1.0),))),
    ],
)
def test_the_spelling_of_options_does_not_matter(one: Any, other: Any) -> None:
    assert one == other
    assert hash(one) == hash(other)


@pytest.mark.parametrize(
    ("strategy", "change"),
    [
        (KindScorer(), {"weights": {"a": -1.0}}),
        (MetadataKeyScorer("key", "value", 2.0), {"boost": 0.0}),
        (MetadataTrustScorer(), {"default_score": 2.0}),
        (DecayScorer(SystemTimeProvider(), Window(DAY)), {"null_timestamp_score": 7.0}),
        (Step([(DAY, 1.0)]), {"windows": ()}),
        (Window(DAY), {"max_age": dt.timedelta(0)}),
        (Exponential(DAY), {"half_life": dt.timedelta(0)}),
        (KnapsackSlice(), {"bucket_size": 0}),
        (CountQuotaSlice([]), {"inner": KnapsackSlice()}),
        (QuotaSlice([]), {"entries": [QuotaEntry("a", 60), QuotaEntry("b", 60)]}),
    ],
)
def test_a_replaced_option_is_checked(strategy: Any, change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must|does not support"):
        dataclasses.replace(strategy, **change)


@pytest.mark.parametrize(
    "text",
    [
        "RecencyScorer()",
        "KindScorer()",
        "KindScorer(weights={ContextKind('Image'): 2.0})",
        "TagScorer(tag_weights={'a': 1.0}, case_insensitive=True)",
        "MetadataTrustScorer(default_score=0.25)",
        "MetadataKeyScorer(key='key', value='value', boost=2.0)",
        "CompositeScorer(entries=((RecencyScorer(), 3.0), (ScaledScorer(inner=KindScorer()), 1.0)))",
        "BoostedScorer(inner=RecencyScorer(), boosts=())",
        "BoostedScorer(inner=RecencyScorer(), boosts=(KindScorer(),))",
        "KnapsackSlice(bucket_size=10, max_cells=None, max_states=2000000, fill_free=True)",
        "StreamSlice(batch_size=8, replace=True)",
        "QuotaSlice(entries=(QuotaEntry(kind='a', require=10.0),), inner=StreamSlice(batch_size=8, replace=True))",
        "QuotaSlice(entries=(), redistribute=True)",
        "CountQuotaSlice(entries=(CountQuotaEntry(kind='a', cap_count=3),), scarcity='throw', cap_order='score')",
        "CountConstrainedKnapsackSlice(entries=(), scarcity='throw')",
        "ChronologicalPlacer()",
    ],
)
def test_the_repr_is_a_call(text: str) -> None:
    """Slicers with quotas leave out options that have their default."""
    names = {name: getattr(pycupel, name) for name in dir(pycupel)}
    assert repr(eval(text, names | {"datetime": dt})) == text  # noqa: S307 - our own text


class Halves(QuotaSlice):
    """A subclass with a constructor of its own."""

    def __init__(self) -> None:
        super().__init__([QuotaEntry("a", 50)])


def test_the_repr_of_a_subclass_shows_options_that_its_constructor_does_not_take() -> None:
    entries = "(QuotaEntry(kind='a', require=50.0),)"
    assert repr(Halves()) == f"Halves(entries={entries}, inner=GreedySlice(), by='kind')"


def test_classes_that_a_program_makes_without_end_are_not_kept() -> None:
    """What is known about a class is remembered, but of a limited number of classes."""

    def select_with_new_classes() -> list[weakref.ref[type]]:
        classes = [type("Mine", (base,), {}) for base in (RecencyScorer, GreedySlice, UShapedPlacer)]
        pipeline = Pipeline(*(cls() for cls in classes))
        assert "slicer=Mine()" in repr(pipeline)
        pipeline.dry_run(ITEMS, 100)
        return [weakref.ref(cls) for cls in classes]

    first, *_ = [select_with_new_classes() for _ in range(600)]
    gc.collect()
    assert [cls() for cls in first] == [None, None, None]
