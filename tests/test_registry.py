"""The names under which vectors and files know the strategies, and how others get one."""

from __future__ import annotations

from typing import Any

import pytest

import pycupel
from pycupel import placers, registry, scorers, slicers
from pycupel.errors import InvalidArgumentError
from pycupel.model.checks import suggestion
from pycupel.registry import CLOCKS, CURVES, PLACERS, SCORERS, SLICERS, Registry
from pycupel.shorten import Stub
from tests import registries
from tests.strategies import HOUR, NOW, FixedClock


@pytest.fixture(autouse=True)
def _keep_the_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    registries.keep(monkeypatch)


@pytest.mark.parametrize(
    ("name", "cls"),
    [
        ("recency", pycupel.RecencyScorer),
        ("priority", pycupel.PriorityScorer),
        ("kind", pycupel.KindScorer),
        ("tag", pycupel.TagScorer),
        ("frequency", pycupel.FrequencyScorer),
        ("reflexive", pycupel.ReflexiveScorer),
        ("composite", pycupel.CompositeScorer),
        ("scaled", pycupel.ScaledScorer),
        ("metadata_trust", pycupel.MetadataTrustScorer),
        ("decay", pycupel.DecayScorer),
        ("metadata_key", pycupel.MetadataKeyScorer),
        ("boosted", pycupel.BoostedScorer),
        ("relevance", pycupel.RelevanceScorer),
    ],
)
def test_scorers_by_name(name: str, cls: type[Any]) -> None:
    """Test Vector Format: `[test] scorer`; CV-02 for the names beyond the chapter."""
    assert SCORERS[name] is cls


@pytest.mark.parametrize(
    ("name", "cls"),
    [
        ("greedy", pycupel.GreedySlice),
        ("knapsack", pycupel.KnapsackSlice),
        ("stream", pycupel.StreamSlice),
        ("quota", pycupel.QuotaSlice),
        ("count_quota", pycupel.CountQuotaSlice),
        ("count_constrained_knapsack", pycupel.CountConstrainedKnapsackSlice),
        ("min_score", pycupel.MinScoreSlice),
    ],
)
def test_slicers_by_name(name: str, cls: type[Any]) -> None:
    """Test Vector Format: `[test] slicer`; CV-02 for the names beyond the chapter."""
    assert SLICERS[name] is cls


@pytest.mark.parametrize(
    ("name", "cls"),
    [
        ("chronological", pycupel.ChronologicalPlacer),
        ("u-shaped", pycupel.UShapedPlacer),
        ("framed", pycupel.FramedPlacer),
        ("prompt", pycupel.PromptPlacer),
    ],
)
def test_placers_by_name(name: str, cls: type[Any]) -> None:
    """Test Vector Format: `[test] placer`."""
    assert PLACERS[name] is cls


@pytest.mark.parametrize(
    ("names", "package", "suffix"),
    [(SCORERS, scorers, "Scorer"), (SLICERS, slicers, "Slice"), (PLACERS, placers, "Placer")],
)
def test_every_strategy_has_exactly_one_name(names: Any, package: Any, suffix: str) -> None:
    """A strategy that is added to its package must be added to the registry, too.

    All but `SimilarityScorer`: it holds the caller's function, which no file can name.
    """
    exported = {name for name in package.__all__ if name.endswith(suffix) and hasattr(pycupel, name)}
    exported -= {"SimilarityScorer"}
    assert sorted(cls.__name__ for cls in names.values()) == sorted(exported)


@pytest.mark.parametrize(
    ("name", "cls"), [("exponential", pycupel.scorers.Exponential), ("step", pycupel.scorers.Step)]
)
def test_curves_by_name(name: str, cls: type[Any]) -> None:
    assert CURVES[name] is cls


def test_a_class_of_a_higher_layer_is_imported_when_it_is_used() -> None:
    shorteners = Registry("shortener", {"stub": "pycupel.shorten:Stub"}, lambda name, entry: None)
    assert shorteners["stub"] is Stub
    assert shorteners["stub"] is Stub


def test_there_is_one_clock() -> None:
    assert dict(CLOCKS) == {"system": pycupel.scorers.SystemTimeProvider()}


@pytest.mark.parametrize(
    "name", ["metadataTrust", "metadata_trust", "metadata-trust", "MetadataTrust", "METADATATRUST"]
)
def test_case_hyphens_and_underscores_do_not_matter(name: str) -> None:
    assert name in SCORERS
    assert SCORERS[name] is pycupel.MetadataTrustScorer


def test_a_registry_is_a_mapping_of_canonical_names() -> None:
    assert list(PLACERS) == ["chronological", "uShaped", "framed", "prompt"]
    assert len(PLACERS) == 4
    assert "novelty" not in PLACERS
    with pytest.raises(KeyError, match=r"^'novelty'$") as caught:
        PLACERS["novelty"]
    assert caught.value.__cause__ is None
    with pytest.raises(TypeError):
        PLACERS["mine"] = object  # type: ignore[index]


def test_classes_and_clocks_have_names() -> None:
    assert SCORERS.name_of(pycupel.MetadataTrustScorer) == "metadataTrust"
    assert CLOCKS.name_of(pycupel.scorers.SystemTimeProvider()) == "system"
    assert SCORERS.name_of(pycupel.RecencyScorer()) is None
    assert SCORERS.name_of(object) is None


# --- registering


class Mine(pycupel.RecencyScorer):
    pass


@pytest.mark.parametrize("registry", registries.REGISTRIES, ids=lambda registry: registry.what)
def test_what_is_registered_is_found_by_name_and_by_itself(registry: Registry) -> None:
    entry: Any = pycupel.scorers.SystemTimeProvider().now if registry is CLOCKS else Mine
    assert registry.register("my-own", entry) is entry
    assert registry["my-own"] is registry["myOwn"] is registry["MY_OWN"] is entry
    assert registry.name_of(entry) == list(registry)[-1] == "my-own"
    assert len(registry) == len(list(registry))


def test_registering_the_same_again_is_no_mistake() -> None:
    """A module may be loaded again, a cell of a notebook run again."""
    again = type("Mine", (pycupel.RecencyScorer,), {"__module__": Mine.__module__, "__qualname__": Mine.__qualname__})
    for entry in (Mine, Mine, again):
        SCORERS.register("mine", entry)
    assert SCORERS["mine"] is again
    clock = FixedClock()
    CLOCKS.register("mine", clock)
    CLOCKS.register("mine", FixedClock())
    assert CLOCKS["mine"] == clock


def test_the_canonical_name_is_the_one_that_was_registered() -> None:
    SCORERS.register("my-own", Mine)
    assert SCORERS.canonical_name("MyOwn") == "my-own"
    assert SCORERS.canonical_name("METADATA_TRUST") == "metadataTrust"
    assert SCORERS.canonical_name("novelty") is None


@pytest.mark.parametrize("name", ["recency", "Recency", "mine", "MINE"])
def test_a_name_that_means_something_else_is_refused(name: str) -> None:
    SCORERS.register("mine", Mine)
    with pytest.raises(InvalidArgumentError) as caught:
        SCORERS.register(name, pycupel.KindScorer)
    known = name.lower()
    assert str(caught.value) == (
        f"the scorer {known!r} is already registered, as {SCORERS[known]!r}; choose another name"
    )
    assert (caught.value.argument, caught.value.value) == ("name", name)


def test_a_built_in_name_is_refused_even_for_its_own_class() -> None:
    with pytest.raises(InvalidArgumentError, match="the scorer 'recency' is already registered"):
        SCORERS.register("recency", pycupel.RecencyScorer)


def test_another_clock_under_a_name_is_refused() -> None:
    CLOCKS.register("mine", FixedClock())
    with pytest.raises(InvalidArgumentError, match="the clock 'mine' is already registered, as FixedClock"):
        CLOCKS.register("mine", FixedClock(NOW - HOUR))


def test_another_spelling_of_a_name_is_refused_even_for_the_same_entry() -> None:
    """Otherwise the last spelling would decide what files have."""
    SCORERS.register("my-own", Mine)
    with pytest.raises(InvalidArgumentError, match="the scorer 'my-own' is already registered"):
        SCORERS.register("MyOwn", Mine)


def test_what_is_no_name_is_not_there() -> None:
    absent: Any = 5
    assert absent not in SCORERS
    assert SCORERS.get(absent) is None
    with pytest.raises(KeyError, match="5"):
        SCORERS[absent]


@pytest.mark.parametrize("name", ["", "-", "_-_", "  "])
def test_a_name_has_letters_or_digits(name: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"^name must have letters or digits, not {name!r}$"):
        SCORERS.register(name, Mine)


@pytest.mark.parametrize(
    ("registry", "name", "entry", "message"),
    [
        (SCORERS, 5, Mine, r"name must be a str, not 5 \(int\)"),
        (
            SCORERS,
            "mine",
            Mine(),
            r"the scorer 'mine' must be a class or a function that builds an instance, not Mine\(\)",
        ),
        (SLICERS, "mine", None, "the slicer 'mine' must be a class or a function that builds an instance, not None"),
        (CLOCKS, "mine", FixedClock, r"the clock 'mine' must be an instance; did you mean FixedClock\(\)\?"),
        (CLOCKS, "mine", NOW, r"the clock 'mine' must be an object with now\(\) or a function, not datetime"),
    ],
)
def test_what_cannot_be_used_is_refused_when_it_is_registered(
    registry: Registry, name: Any, entry: Any, message: str
) -> None:
    with pytest.raises(TypeError, match=f"^{message}"):
        registry.register(name, entry)


def test_suggestions_are_near_or_there_are_none() -> None:
    assert suggestion("metadata trust", SCORERS) == "; did you mean 'metadataTrust'?"
    assert suggestion("META_DATA_TRUST", SCORERS) == "; did you mean 'metadataTrust'?"
    assert suggestion("something else", SCORERS) == ""
    assert suggestion("anything", []) == ""


def test_the_registry_exports_its_tables() -> None:
    assert registry.__all__ == [
        "CLOCKS",
        "CURVES",
        "PLACERS",
        "SCORERS",
        "SHORTENERS",
        "SLICERS",
        "Registry",
    ]


def test_a_registry_shows_how_much_it_holds() -> None:
    assert repr(CURVES) == "<Registry: 3 curves>"
    assert repr(CLOCKS) == "<Registry: 1 clock>"
