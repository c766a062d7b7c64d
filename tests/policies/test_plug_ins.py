"""Strategies of others in policy files: registered by a program, or offered by an installed package."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    ContextKind,
    DecayScorer,
    GreedySlice,
    KnapsackSlice,
    Pipeline,
    Placer,
    Policy,
    RecencyScorer,
    ReflexiveScorer,
    ScaledScorer,
    ScoredItem,
    Scorer,
    Slicer,
    UShapedPlacer,
)
from pycupel.errors import DocumentError, InvalidArgumentError
from pycupel.policies import dump_policy, parse_policy, policy_from_dict, policy_json_schema, policy_to_dict
from pycupel.policies.files import PolicyFormat
from pycupel.protocols import TimeProvider
from pycupel.registry import CURVES, PLACERS, SCORERS, SLICERS
from pycupel.scorers import SystemTimeProvider, Window
from pycupel.scorers.decay import Curve
from tests import registries

FORMATS: list[PolicyFormat] = ["json", "yaml", "toml"]
MINUTE = timedelta(minutes=1)
GREEDY = GreedySlice()


@pytest.fixture(autouse=True)
def _keep_the_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    registries.keep(monkeypatch)


class Mood(StrEnum):
    CALM = "calm"
    CROSS = "cross"


class ScorerBase:
    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        return 0.5


@dataclass(frozen=True)
class LengthScorer(ScorerBase):
    """Short contents first."""

    longest: int = 100

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        return max(0.0, 1.0 - len(item.content) / self.longest)


@dataclass(frozen=True)
class Everything(ScorerBase):
    """An option of each type that a file knows."""

    flag: bool
    count: int
    share: float
    text: str
    kind: ContextKind
    age: timedelta
    mood: Mood
    speed: Literal["slow", "fast"]
    maybe: int | None
    names: list[str]
    pairs: tuple[int, ...]
    sequence: Sequence[float]
    iterable: Iterable[str]
    collection: Collection[bool]
    weights: Mapping[str, float]
    by_kind: dict[ContextKind, int]
    scorer: Scorer
    slicer: Slicer
    placer: Placer
    curve: Curve
    clock: TimeProvider
    scorers: tuple[Scorer, ...]
    either: int | str
    anything: Any
    with_default: str = "as usual"


EVERYTHING = Everything(
    flag=True,
    count=3,
    share=0.5,
    text="t",
    kind=ContextKind("Note"),
    age=MINUTE,
    mood=Mood.CROSS,
    speed="fast",
    maybe=7,
    names=["a", "b"],
    pairs=(1, 2),
    sequence=(0.5, 1.0),
    iterable=("x",),
    collection=(True, False),
    weights={"a": 0.5},
    by_kind={ContextKind("Note"): 2},
    scorer=ScaledScorer(RecencyScorer()),
    slicer=KnapsackSlice(7),
    placer=UShapedPlacer(),
    curve=Window(MINUTE),
    clock=SystemTimeProvider(),
    scorers=(RecencyScorer(), ReflexiveScorer()),
    either="either",
    anything={"json": [1, None, "x"]},
)


def policy_of(entry: dict[str, Any], **fields: Any) -> Policy:
    return policy_from_dict({"scorers": [entry], **fields})


def mistakes(document: Any) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        policy_from_dict(document)
    return [str(each) for each in caught.value.errors]


# --- registered


def test_a_registered_scorer_works_from_a_file_and_back() -> None:
    """The issue: custom scorers by registration, and they really work from a file."""
    assert SCORERS.register("length", LengthScorer) is LengthScorer
    text = '{"scorers": [{"type": "length", "weight": 1, "longest": 10}]}'
    policy = parse_policy(text)
    assert policy == Policy(LengthScorer(10))
    items = [ContextItem("long content", 5), ContextItem("short", 5)]
    assert Pipeline.from_policy(policy).run(items, ContextBudget(5)) == [items[1]]
    for form in FORMATS:
        assert parse_policy(dump_policy(policy, form), form) == policy
    assert policy_to_dict(Policy(LengthScorer()))["scorers"] == [{"type": "length", "weight": 1}]


def test_a_registered_scorer_may_be_inside_others() -> None:
    SCORERS.register("length", LengthScorer)
    assert policy_of({"type": "scaled", "innerScorer": {"type": "length", "longest": 7}}).scorer == ScaledScorer(
        LengthScorer(7)
    )


@pytest.mark.parametrize(
    ("name", "spellings"),
    [
        ("shortestFirst", ["shortestFirst", "shortest_first", "shortest-first"]),
        ("shortest_first", ["shortestFirst", "shortest_first", "shortest-first"]),
        ("shortest-first", ["shortestFirst", "shortest_first", "SHORTEST-FIRST"]),
        ("BM25", ["BM25", "bm25", "bm-25"]),
    ],
)
def test_a_registered_name_is_spelled_like_the_others(name: str, spellings: list[str]) -> None:
    SCORERS.register(name, LengthScorer)
    assert [policy_of({"type": spelling}).scorer for spelling in spellings] == [LengthScorer()] * len(spellings)
    assert policy_to_dict(Policy(LengthScorer()))["scorers"][0]["type"] == name


def test_options_get_their_types_from_the_signature() -> None:
    """Every type of option, both ways, in every format that can hold it."""
    SCORERS.register("everything", Everything)
    policy = Policy(EVERYTHING)
    for form in FORMATS[:2]:
        assert parse_policy(dump_policy(policy, form), form) == policy
    read: Any = policy_from_dict(policy_to_dict(policy)).scorer
    assert isinstance(read.kind, ContextKind)
    assert {type(value) for value in (read.names, read.pairs, read.iterable)} == {list, tuple}
    (written,) = policy_to_dict(policy)["scorers"]
    assert written["age"] == 60
    assert written["byKind"] == {"Note": 2}
    assert written["scorer"] == {
        "type": "scaled",
        "weight": 1,
        "innerScorer": {"type": "recency", "weight": 1},
    }
    assert "withDefault" not in written


def test_what_toml_cannot_hold_is_told() -> None:
    SCORERS.register("everything", Everything)
    with pytest.raises(DocumentError, match=r"^cannot be written as TOML: TOML cannot express None$"):
        dump_policy(Policy(EVERYTHING), "toml")


def test_all_mistakes_in_the_options_of_a_plug_in_are_told() -> None:
    SCORERS.register("everything", Everything)
    (good,) = policy_to_dict(Policy(EVERYTHING))["scorers"]
    bad = {
        **good,
        "flag": 1,
        "count": 1.5,
        "kind": " ",
        "age": 0,
        "mood": "kross",
        "speed": "fst",
        "names": "a",
        "weights": {"a": "b"},
        "slicer": {"type": "gredy"},
        "text": None,
        "anything": float("nan"),
        "withDefalt": "x",
    }
    paths = [text.partition(": ")[0].removeprefix("scorers[0].") for text in mistakes({"scorers": [bad]})]
    assert paths == [
        "withDefalt",
        "flag",
        "count",
        "text",
        "kind",
        "age",
        "mood",
        "speed",
        "names",
        "weights.a",
        "slicer.type",
        "anything",
    ]


class Marked(NamedTuple):
    kind: ContextKind
    bonus: float = 0.5

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        return self.bonus if item.kind == self.kind else 0.0


def test_a_named_tuple_has_options_with_types_too() -> None:
    SCORERS.register("marked", Marked)
    policy = policy_of({"type": "marked", "kind": "Note", "bonus": 1})
    assert policy.scorer == Marked(ContextKind("Note"), 1.0)
    assert policy_to_dict(policy)["scorers"] == [{"type": "marked", "weight": 1, "kind": "Note", "bonus": 1}]
    assert mistakes({"scorers": [{"type": "marked", "kind": " ", "bonus": "1"}]}) == [
        "scorers[0].kind: ContextKind must not be empty or blank",
        "scorers[0].bonus: must be a number, not '1' (str)",
    ]


class Plain(ScorerBase):
    """No annotations: whatever JSON there is, is up to the constructor."""

    def __init__(self, size, *, half_life_2x=None):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN204
        self.size = size
        self.half_life_2x = half_life_2x


class Inherited(Plain):
    pass


@pytest.mark.parametrize("cls", [Plain, Inherited])
def test_options_without_types_may_be_any_json(cls: type[Any]) -> None:
    SCORERS.register("plain", cls)
    scorer: Any = policy_of({"type": "plain", "size": [1, {"a": 2}], "half_life_2x": 5}).scorer
    assert (scorer.size, scorer.half_life_2x) == ([1, {"a": 2}], 5)
    assert policy_to_dict(Policy(scorer))["scorers"] == [
        {"type": "plain", "weight": 1, "size": [1, {"a": 2}], "half_life_2x": 5}
    ]


class Variadic(ScorerBase):
    def __init__(self, *extra: int, size: int = 5, **more: int) -> None:
        self.size = size


def test_only_named_parameters_are_options() -> None:
    SCORERS.register("variadic", Variadic)
    scorer: Any = policy_of({"type": "variadic", "size": 7, "extra": [1], "more": {}}).scorer
    assert scorer.size == 7
    assert policy_to_dict(Policy(scorer))["scorers"] == [{"type": "variadic", "weight": 1, "size": 7}]


class Unresolved(ScorerBase):
    def __init__(self, size: Nowhere = 5) -> None:  # type: ignore[name-defined]  # noqa: F821
        self.size = size


def test_annotations_that_cannot_be_resolved_are_none() -> None:
    SCORERS.register("unresolved", Unresolved)
    scorer: Any = policy_of({"type": "unresolved", "size": "any"}).scorer
    assert scorer.size == "any"


def test_a_function_may_build_a_strategy_but_only_a_class_can_be_written() -> None:
    def brief(limit: int = 5) -> Scorer:
        return LengthScorer(limit)

    SCORERS.register("brief", brief)
    policy = policy_of({"type": "brief", "limit": 9})
    assert policy.scorer == LengthScorer(9)
    assert mistakes({"scorers": [{"type": "brief", "limit": "9"}]}) == [
        "scorers[0].limit: must be an integer, not '9' (str)"
    ]
    with pytest.raises(DocumentError, match=r"^scorers\[0\]: LengthScorer is not a registered scorer"):
        policy_to_dict(policy)


@dataclass(frozen=True)
class Backwards:
    twice: bool = False

    def place(self, scored_items: Sequence[ScoredItem], /) -> list[ContextItem]:
        return [scored.item for scored in reversed(scored_items)]


@dataclass(frozen=True)
class First:
    """The first so many, whatever they cost."""

    limit: int = 1
    inner: Slicer = GREEDY

    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        return self.inner.slice(scored_items[: self.limit], budget)


@dataclass(frozen=True)
class Linear:
    span: timedelta

    def at(self, age: timedelta, /) -> float:
        return max(0.0, 1.0 - age / self.span)


def test_slicers_placers_and_curves_may_be_registered_too() -> None:
    """The issue: custom scorers, slicers and placers."""
    SLICERS.register("first", First)
    PLACERS.register("backwards", Backwards)
    CURVES.register("linear", Linear)
    document = {
        "scorers": [{"type": "decay", "time": "system", "curve": {"type": "linear", "span": 60}}],
        "slicer": {"type": "first", "limit": 2, "inner": {"type": "knapsack", "bucketSize": 1}},
        "placerType": "backwards",
    }
    policy = policy_from_dict(document)
    assert policy == Policy(DecayScorer(SystemTimeProvider(), Linear(MINUTE)), First(2, KnapsackSlice(1)), Backwards())
    assert policy_from_dict(policy_to_dict(policy)) == policy
    items = [ContextItem(name, 1) for name in "abc"]
    assert [item.content for item in Pipeline.from_policy(policy).run(items, ContextBudget(9))] == ["b", "a"]


def test_a_slicer_without_options_is_written_by_name_and_may_have_quotas() -> None:
    SLICERS.register("first", First)
    document = {"slicerType": "first", "quotas": [{"kind": "Note", "maxPercent": 50}]}
    policy = policy_of({"type": "recency"}, **document)
    written = policy_to_dict(policy)
    assert (written["slicerType"], len(written["quotas"])) == ("first", 1)
    assert policy_from_dict(written) == policy
    assert "slicer" in policy_to_dict(Policy(RecencyScorer(), First(3)))


@dataclass(frozen=True)
class NeedsMore:
    pattern: str
    depth: int

    def place(self, scored_items: Sequence[ScoredItem], /) -> list[ContextItem]:
        return [scored.item for scored in scored_items]


def test_a_placer_with_required_options_is_written_as_an_object() -> None:
    PLACERS.register("needsMore", NeedsMore)
    assert mistakes({"scorers": [{"type": "recency"}], "placerType": "needs-more"}) == [
        'placerType: needs options; write it as an object: "placer": {"type": "needsMore", "pattern": ...}'
    ]
    policy = Policy(RecencyScorer(), placer=NeedsMore("x", 2))
    assert policy_to_dict(policy)["placer"] == {"type": "needsMore", "pattern": "x", "depth": 2}
    assert policy_from_dict(policy_to_dict(policy)) == policy


# --- plug-ins that go wrong


class Fragile(ScorerBase):
    def __init__(self, error: str = "") -> None:
        if error:
            raise {"value": ValueError, "type": TypeError, "own": InvalidArgumentError, "key": KeyError}[error](
                "no way"
            )


@pytest.mark.parametrize("error", ["value", "type", "own"])
def test_what_the_constructor_refuses_is_a_mistake_of_the_document(error: str) -> None:
    SCORERS.register("fragile", Fragile)
    entry = {"type": "fragile", "error": error}
    assert mistakes({"scorers": [{"type": "recency"}, entry], "name": 5}) == [
        "name: must be a string, not 5 (int)",
        "scorers[1]: no way",
    ]


def test_any_other_error_of_a_constructor_is_raised_and_says_where() -> None:
    """It is a bug of the plug-in, so its traceback is needed."""
    SCORERS.register("fragile", Fragile)
    with pytest.raises(KeyError, match="no way") as caught:
        policy_of({"type": "scaled", "innerScorer": {"type": "fragile", "error": "key"}})
    assert "Raised while building scorers[0].innerScorer of a policy document." in caught.value.__notes__


def test_a_constructor_that_recurses_too_deeply_is_told_like_a_document_that_does() -> None:
    def bottomless() -> Scorer:
        return bottomless()

    SCORERS.register("bottomless", bottomless)
    assert mistakes({"scorers": [{"type": "bottomless"}]}) == ["is nested too deeply"]


def test_an_option_that_is_not_kept_is_told_when_it_is_written() -> None:
    SCORERS.register("fragile", Fragile)
    with pytest.raises(DocumentError) as caught:
        policy_to_dict(Policy(ScaledScorer(Fragile())))
    assert caught.value.path == "scorers[0].innerScorer"
    assert str(caught.value) == (
        "scorers[0].innerScorer: Fragile does not store its options as attributes: "
        "'Fragile' object has no attribute 'error'"
    )


def test_a_value_that_an_option_should_not_hold_is_told_when_it_is_written() -> None:
    SCORERS.register("length", LengthScorer)
    with pytest.raises(DocumentError, match=r"^scorers\[0\]\.longest: must be an integer, not 'x' \(str\)$"):
        policy_to_dict(Policy(LengthScorer("x")))  # type: ignore[arg-type]


class Reserved(ScorerBase):
    def __init__(self, weight: float = 1.0) -> None:
        self.weight = weight


def test_a_parameter_with_a_name_of_the_format_is_refused() -> None:
    SCORERS.register("reserved", Reserved)
    with pytest.raises(InvalidArgumentError, match="has a parameter 'weight', which is a reserved name"):
        policy_of({"type": "reserved"})


@pytest.mark.parametrize(
    ("register", "document", "text"),
    [
        (SCORERS, {"scorers": [{"type": "nothing"}]}, "scorer must "),
        (SCORERS, {"scorers": [{"type": "recency"}, {"type": "nothing"}]}, "scorers: entries[1]: scorer must "),
        (SLICERS, {"scorers": [{"type": "recency"}], "slicerType": "nothing"}, "slicer: must "),
        (
            SLICERS,
            {
                "scorers": [{"type": "recency"}],
                "slicerType": "nothing",
                "quotas": [{"kind": "Note", "maxPercent": 1}],
            },
            "slicerType: must ",
        ),
        (PLACERS, {"scorers": [{"type": "recency"}], "placerType": "nothing"}, "placer: must "),
    ],
)
def test_a_factory_that_builds_something_else_is_told(register: Any, document: dict[str, Any], text: str) -> None:
    class Nothing:
        pass

    register.register("nothing", Nothing)
    (found,) = mistakes(document)
    assert found.startswith(text)


def test_the_schema_describes_what_is_registered_and_survives_what_cannot_be_described() -> None:
    SCORERS.register("length", LengthScorer)
    SCORERS.register("reserved", Reserved)
    definition = policy_json_schema()["$defs"]["scorer"]
    cases = {case["if"]["properties"]["type"]["enum"][0]: case["then"] for case in definition["allOf"]}
    assert cases["length"] == {"type": "object", "properties": {"longest": {"type": "integer"}}}
    assert cases["reserved"] == {}


# --- installed

PACKAGE = '''
from dataclasses import dataclass


@dataclass(frozen=True)
class Vowels:
    """The share of vowels in the content."""

    letters: str = "aeiou"
    floor: float = 0.0

    def score(self, item, all_items):
        found = sum(letter in self.letters for letter in item.content)
        return max(self.floor, found / len(item.content))


@dataclass(frozen=True)
class Cheapest:
    def slice(self, scored_items, budget):
        return [min(scored_items, key=lambda scored: scored.item.tokens).item]


@dataclass(frozen=True)
class Shuffled:
    def place(self, scored_items):
        return [scored.item for scored in scored_items][::-1]


def noon():
    from datetime import datetime, timezone
    return datetime(2026, 1, 5, 12, tzinfo=timezone.utc)
'''
ENTRY_POINTS = """
[pycupel.scorers]
vowels = vowel_scorers:Vowels
recency = vowel_scorers:Vowels
broken = vowel_scorers.nowhere:Nothing
wrong = vowel_scorers:__doc__
two-fold = vowel_scorers:Vowels
twoFold = vowel_scorers:Cheapest

[pycupel.slicers]
cheapest = vowel_scorers:Cheapest

[pycupel.placers]
shuffled = vowel_scorers:Shuffled

[pycupel.clocks]
noon = vowel_scorers:noon
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory into which a package with entry points was installed."""
    root = tmp_path_factory.mktemp("site")
    (root / "vowel_scorers").mkdir()
    (root / "vowel_scorers" / "__init__.py").write_text(PACKAGE, encoding="utf-8")
    info = root / "vowel_scorers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: vowel-scorers\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    return root


def with_site(site: Path, code: str) -> Any:
    """What a fresh interpreter, which has the package on its path, prints as JSON."""
    prelude = """
import json, sys
from pycupel import *
from pycupel.policies import *
from pycupel.registry import SCORERS
"""
    done = subprocess.run(
        [sys.executable, "-c", prelude + textwrap.dedent(code)],
        cwd=site,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_installed_plug_in_works_from_a_file(site: Path) -> None:
    """The issue: custom scorers, slicers and placers by entry point, and they really work from a file."""
    (site / "policy.toml").write_text(
        'slicerType = "cheapest"\nplacerType = "shuffled"\n[[scorers]]\ntype = "vowels"\nletters = "y"\n'
        '[[scorers]]\ntype = "decay"\ntime = "noon"\ncurve = { type = "window", maxAgeSeconds = 60 }\n',
        encoding="utf-8",
    )
    result = with_site(
        site,
        """
        before = "vowel_scorers" in sys.modules
        policy = load_policy("policy.toml")
        items = [ContextItem("sky", 3), ContextItem("sea", 2), ContextItem("dry", 4)]
        print(json.dumps({
            "before": before,
            "scorer": repr(policy.scorer.entries[0]),
            "selected": [item.content for item in select(items, 10, policy).items],
            "written": policy_to_dict(policy),
            "again": parse_policy(dump_policy(policy, "toml"), "toml") == policy,
        }))
        """,
    )
    assert result["before"] is False
    assert result["scorer"] == "(Vowels(letters='y', floor=0.0), 1.0)"
    assert result["selected"] == ["sea"]
    assert result["written"]["scorers"][0] == {"type": "vowels", "weight": 1, "letters": "y"}
    assert result["written"]["scorers"][1]["time"] == "noon"
    assert (result["written"]["slicerType"], result["written"]["placerType"]) == ("cheapest", "shuffled")
    assert result["again"] is True


def test_a_plug_in_cannot_take_a_built_in_name(site: Path) -> None:
    result = with_site(site, 'print(json.dumps(repr(policy_from_dict({"scorers": [{"type": "recency"}]}).scorer)))')
    assert result == "RecencyScorer()"


def test_a_broken_plug_in_breaks_only_the_files_that_use_it(site: Path) -> None:
    result = with_site(
        site,
        """
        import traceback
        told = {}
        for name in ("broken", "wrong", "two_fold"):
            try:
                policy_from_dict({"scorers": [{"type": name}]})
            except Exception as error:
                told[name] = [type(error).__name__, str(error), getattr(error, "__notes__", [])]
        class Mine:
            def score(self, item, all_items):
                return 0.0
        try:
            policy_to_dict(Policy(Mine()))
        except Exception as error:
            told["written"] = str(error)
        try:
            policy_from_dict({"scorers": [{"type": "vowel"}]})
        except Exception as error:
            told["unknown"] = str(error)
        cases = policy_json_schema()["$defs"]["scorer"]["allOf"]
        told["schema"] = {case["if"]["properties"]["type"]["enum"][0]: case["then"] for case in cases}
        told["others"] = repr(policy_from_dict({"scorers": [{"type": "vowels"}]}).scorer)
        print(json.dumps(told))
        """,
    )
    assert result["broken"] == [
        "ModuleNotFoundError",
        "No module named 'vowel_scorers.nowhere'",
        ["Raised while loading the plug-in 'broken' (vowel_scorers.nowhere:Nothing)."],
    ]
    assert result["wrong"][0] == "TypeError"
    assert result["wrong"][1].startswith(
        "the scorer 'wrong' must be a class or a function that builds an instance, not "
    )
    assert result["two_fold"] == [
        "InvalidArgumentError",
        "2 plug-ins offer the scorer 'two-fold': vowel_scorers:Vowels, vowel_scorers:Cheapest; uninstall all but one",
        [],
    ]
    assert result["written"].startswith("scorers[0]: Mine is not a registered scorer")
    assert result["unknown"].endswith(
        "boosted, relevance, fused, vowels, broken, wrong, two-fold; did you mean 'vowels'?"
    )
    assert result["schema"]["broken"] == result["schema"]["wrong"] == {}
    assert set(result["schema"]["vowels"]["properties"]) == {"letters", "floor"}
    assert result["others"] == "Vowels(letters='aeiou', floor=0.0)"


def test_what_the_program_registers_comes_before_an_installed_plug_in(site: Path) -> None:
    result = with_site(
        site,
        """
        class Mine:
            def score(self, item, all_items):
                return 0.0
        SCORERS.register("vowels", Mine)
        names = [name for name in SCORERS if name == "vowels"]
        print(json.dumps([type(policy_from_dict({"scorers": [{"type": "vowels"}]}).scorer).__name__, len(names),
                          len(SCORERS) == len(list(SCORERS))]))
        """,
    )
    assert result == ["Mine", 1, True]


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same package, for this process."""
    monkeypatch.syspath_prepend(str(site))
    for registry in registries.REGISTRIES:
        monkeypatch.setattr(registry, "_points", None)
    # So that it is forgotten afterwards.
    monkeypatch.setitem(sys.modules, "vowel_scorers", None)
    monkeypatch.delitem(sys.modules, "vowel_scorers")


@pytest.mark.usefixtures("installed")
def test_a_plug_in_is_loaded_when_it_is_used() -> None:
    assert "vowels" in list(SCORERS)
    assert "vowel_scorers" not in sys.modules
    scorer = policy_of({"type": "vowels", "floor": 0.5}).scorer
    assert repr(scorer) == "Vowels(letters='aeiou', floor=0.5)"
    assert policy_to_dict(Policy(scorer))["scorers"] == [{"type": "vowels", "weight": 1, "floor": 0.5}]


@pytest.mark.usefixtures("installed")
def test_a_plug_in_that_was_used_without_a_file_is_written_all_the_same() -> None:
    """Whoever imports the class knows nothing of registries."""
    vowels = importlib.import_module("vowel_scorers").Vowels
    assert SCORERS.name_of(vowels) == "vowels"
    assert SCORERS.name_of(int) is None


@pytest.mark.usefixtures("installed")
def test_a_plug_in_that_cannot_be_loaded_says_which_it_was() -> None:
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError) as caught:
            policy_of({"type": "broken"})
        assert caught.value.__notes__ == ["Raised while loading the plug-in 'broken' (vowel_scorers.nowhere:Nothing)."]
