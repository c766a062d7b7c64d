"""Policies of any nesting: every format gives them back, and they select what a pipeline built by hand selects."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from typing import Any, Literal, NamedTuple

import pytest
from hypothesis import assume, given, strategies as st
from jsonschema import Draft202012Validator

from pycupel import (
    BoostedScorer,
    CompositeScorer,
    ContextBudget,
    ContextItem,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    CountQuotaSlice,
    DecayScorer,
    FrequencyScorer,
    GreedySlice,
    KindScorer,
    KnapsackSlice,
    MetadataKeyScorer,
    MetadataTrustScorer,
    OverflowStrategy,
    Pipeline,
    Policy,
    PriorityScorer,
    QuotaEntry,
    QuotaSlice,
    RecencyScorer,
    ReflexiveScorer,
    ScaledScorer,
    ScarcityBehavior,
    Scorer,
    Slicer,
    StreamSlice,
    TagScorer,
    select,
)
from pycupel.errors import CupelError, DocumentError
from pycupel.policies import dump_policy, parse_policy, policy_from_dict, policy_json_schema, policy_to_dict
from pycupel.policies.files import PolicyFormat
from pycupel.registry import CLOCKS, SCORERS
from pycupel.scorers import Exponential, Step, SystemTimeProvider, Window
from tests import registries, strategies
from tests.examples import examples

FORMATS: list[PolicyFormat] = ["json", "toml", "yaml"]
SOME = examples(60)


@pytest.fixture(scope="module", autouse=True)
def _registered() -> Iterator[None]:
    """The clock and the scorer without manners that the strategies of whole runs use."""
    with pytest.MonkeyPatch.context() as patch:
        registries.keep(patch)
        CLOCKS.register("fixed", strategies.FixedClock())
        SCORERS.register("rawHint", strategies.RawHintScorer)
        yield


# --- policies with all values that a document can hold

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
KINDS = TEXTS.filter(lambda name: name.strip() != "") | st.just("(each)")
SHARES = st.floats(0, 1)
PERCENTS = st.floats(0, 100)
WEIGHTS = st.floats(0, 1e300)
POSITIVE = st.floats(0, 1e300, exclude_min=True)
COUNTS = st.integers(0, 10**20)
SIZES = st.integers(1, 10**20)
AGES = st.timedeltas(timedelta(microseconds=1), timedelta(days=3650)) | st.sampled_from(
    (timedelta(microseconds=1), timedelta(days=1), timedelta(days=36500))
)


def folded(name: str) -> str:
    return "".join(chr(ord(letter) + 32) if "A" <= letter <= "Z" else letter for letter in name)


def by_kind(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[tuple[str, Any]]]:
    return st.lists(st.tuples(KINDS, values), unique_by=lambda pair: folded(pair[0]), max_size=3)


@cache
def leaves() -> st.SearchStrategy[Scorer]:
    """Scorers with no other inside."""
    windows = st.lists(st.tuples(AGES, SHARES), unique_by=lambda pair: pair[0], min_size=1, max_size=3).map(sorted)
    curves = st.builds(Exponential, AGES) | st.builds(Window, AGES) | st.builds(Step, windows)
    clocks: st.SearchStrategy[Any] = st.sampled_from((SystemTimeProvider(), strategies.FixedClock()))
    return st.one_of(
        st.sampled_from((RecencyScorer(), PriorityScorer(), FrequencyScorer(), ReflexiveScorer(), KindScorer())),
        by_kind(WEIGHTS).map(dict).map(KindScorer),
        st.builds(TagScorer, st.dictionaries(TEXTS, WEIGHTS, max_size=3)),
        st.builds(TagScorer, by_kind(WEIGHTS).map(dict), case_insensitive=st.just(True)),
        st.builds(MetadataTrustScorer, SHARES),
        st.builds(MetadataKeyScorer, TEXTS, TEXTS, POSITIVE),
        st.builds(DecayScorer, clocks, curves, SHARES),
    )


def wrappers(inner: st.SearchStrategy[Scorer]) -> st.SearchStrategy[Scorer]:
    return st.one_of(
        st.builds(ScaledScorer, inner),
        st.builds(CompositeScorer, st.lists(st.tuples(inner, POSITIVE), min_size=1, max_size=3)),
        st.builds(lambda scorers: BoostedScorer(*scorers), st.lists(inner, min_size=1, max_size=3)),
    )


KNAPSACKS = st.builds(
    KnapsackSlice, SIZES | st.just(100), st.none() | SIZES | st.just(50_000_000), SIZES, st.booleans()
)


def required(kind: str, pair: tuple[Any, Any]) -> Any:
    """Return the lower number; nothing can be required of each value."""
    return 0 if folded(kind) == "(each)" else min(pair)


COUNT_ENTRIES = by_kind(st.tuples(COUNTS, COUNTS)).map(
    lambda chosen: [
        CountQuotaEntry(kind, cap_count=max(pair), require_count=required(kind, pair)) for kind, pair in chosen
    ]
)


def quota_entries(chosen: list[tuple[str, tuple[float, float]]]) -> list[QuotaEntry]:
    return [QuotaEntry(kind, required(kind, pair) / 3, max(pair)) for kind, pair in chosen]


def nesting_slicers(inner: st.SearchStrategy[Slicer]) -> st.SearchStrategy[Slicer]:
    legal = inner.filter(lambda slicer: not isinstance(slicer, KnapsackSlice))
    scarcity = st.sampled_from(ScarcityBehavior)
    return st.one_of(
        st.builds(
            lambda entries, slicer, flag: QuotaSlice(entries, slicer, redistribute=flag),
            by_kind(st.tuples(PERCENTS, PERCENTS)).map(quota_entries),
            inner,
            st.booleans(),
        ),
        st.builds(
            lambda entries, slicer, behavior, order: CountQuotaSlice(entries, slicer, behavior, cap_order=order),
            COUNT_ENTRIES,
            legal,
            scarcity,
            st.sampled_from(("inner", "score")),
        ),
        st.builds(CountConstrainedKnapsackSlice, COUNT_ENTRIES, KNAPSACKS, scarcity),
    )


SCORER_TREES = st.recursive(leaves(), wrappers, max_leaves=8)
SLICER_TREES = st.recursive(
    st.just(GreedySlice()) | KNAPSACKS | st.builds(StreamSlice, SIZES | st.just(32), replace=st.booleans()),
    nesting_slicers,
    max_leaves=5,
)


_DEDUPLICATIONS: list[tuple[bool | Literal["normalized"], bool]] = [
    (True, True),
    (True, False),
    (False, False),
    ("normalized", True),
    ("normalized", False),
]


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Draw any policy."""
    deduplication, against_pinned = draw(st.sampled_from(_DEDUPLICATIONS))
    return Policy(
        draw(SCORER_TREES),
        draw(SLICER_TREES),
        draw(strategies.placers()),
        deduplication=deduplication,
        dedupe_against_pinned=against_pinned,
        overflow_strategy=draw(st.sampled_from(OverflowStrategy)),
        name=draw(st.none() | TEXTS),
        description=draw(st.none() | TEXTS),
    )


@given(policies())
@SOME
def test_every_policy_comes_back_equal_from_every_format(policy: Policy) -> None:
    """The issue: a policy round-trips through JSON and TOML, for policies of any nesting; and through YAML."""
    for form in FORMATS:
        text = dump_policy(policy, form)
        again = parse_policy(text, form)
        assert again == policy
        assert dump_policy(again, form) == text


@given(policies())
@SOME
def test_every_written_document_is_right_for_the_schema(policy: Policy) -> None:
    assert schema().is_valid(policy_to_dict(policy))


@cache
def schema() -> Draft202012Validator:
    return Draft202012Validator(policy_json_schema())


def outcome(pipeline: Pipeline, items: list[ContextItem], budget: ContextBudget) -> Any:
    """What is selected and why, or which error there is."""
    try:
        report = pipeline.dry_run(items, budget)
    except CupelError as error:
        return type(error), str(error)
    included = [(entry.item, repr(entry.score), entry.reason) for entry in report.included]
    excluded = [(entry.item, repr(entry.score), entry.reason) for entry in report.excluded]
    return included, excluded, report.count_requirement_shortfalls, report.notes


@given(
    strategies.pipelines(),
    strategies.item_lists(),
    strategies.budgets(),
    st.sampled_from(FORMATS),
    st.none() | st.builds(StreamSlice, st.integers(1, 4), replace=st.booleans()),
)
@SOME
def test_a_policy_from_a_file_selects_what_the_pipeline_built_by_hand_selects(
    by_hand: Pipeline, items: list[ContextItem], budget: ContextBudget, form: PolicyFormat, stream: StreamSlice | None
) -> None:
    """The issue: the pipeline built from it selects the same as the hand-built one."""
    policy = Policy(
        by_hand.scorer,
        stream or by_hand.slicer,
        by_hand.placer,
        deduplication=by_hand.deduplication,
        overflow_strategy=by_hand.overflow_strategy,
        dedupe_against_pinned=by_hand.dedupe_against_pinned,
    )
    pipeline = Pipeline.from_policy(parse_policy(dump_policy(policy, form), form))
    assert pipeline == Pipeline.from_policy(policy)
    if stream is None:
        assert pipeline == by_hand
    assert outcome(pipeline, items, budget) == outcome(Pipeline.from_policy(policy), items, budget)


@given(strategies.pipelines(), strategies.item_lists(), strategies.budgets())
@SOME
def test_select_selects_what_a_pipeline_selects(
    pipeline: Pipeline, items: list[ContextItem], budget: ContextBudget
) -> None:
    policy = policy_from_dict(policy_to_dict(Policy(pipeline.scorer, pipeline.slicer, pipeline.placer)))
    try:
        expected = Pipeline.from_policy(policy).dry_run(items, budget)
    except CupelError as error:
        with pytest.raises(type(error)):
            select(items, budget, policy)
        return
    plain, explained = select(items, budget, policy), select(items, budget, policy, explain=True)
    assert plain.items == explained.items == expected.items
    assert plain.notes == explained.notes == expected.notes
    assert plain.total_tokens == explained.total_tokens == expected.included_tokens
    assert plain.report is None
    assert explained.report is not None
    assert explained.report.same_selection(expected)


# --- documents with one mistake


class Place(NamedTuple):
    """A member of the document: where it is, and what it holds."""

    container: Any
    key: Any
    value: Any
    unread: bool


WEIGHT_MAPS = ("kindWeights", "tagWeights")
REQUIRED = {"type", "scorers", "entries", "kind", "capCount", "innerScorer", "tagWeights", "time", "curve"} | {
    "halfLifeSeconds",
    "maxAgeSeconds",
    "windows",
    "score",
    "key",
    "value",
    "boost",
}
NAMES = ("type", "time", "slicerType", "placerType", "overflowStrategy", "scarcity", "capOrder")


def places(container: Any, *, inside: str = "") -> Iterator[Place]:
    """Every member of every object and list. `unread` is the weight of an inner scorer."""
    members = container.items() if isinstance(container, dict) else enumerate(container)
    for key, value in list(members):
        yield Place(container, key, value, key == "weight" and inside in {"innerScorer", "boosts"})
        if isinstance(value, dict | list) and key not in WEIGHT_MAPS:
            yield from places(value, inside=key if isinstance(container, dict) else inside)


def one_of(data: st.DataObject, document: dict[str, Any], wanted: Any) -> Place:
    found = [place for place in places(document) if wanted(place)]
    assume(found)
    return found[data.draw(st.integers(0, len(found) - 1))]


def refused_by_both(document: dict[str, Any]) -> bool:
    with pytest.raises(DocumentError):
        policy_from_dict(document)
    return not schema().is_valid(document)


def documents() -> st.SearchStrategy[dict[str, Any]]:
    return policies().map(policy_to_dict).map(copy.deepcopy)


@given(documents(), st.data())
@SOME
def test_a_value_of_a_wrong_type_is_refused_by_validator_and_schema(
    document: dict[str, Any], data: st.DataObject
) -> None:
    place = one_of(data, document, lambda place: not place.unread)
    place.container[place.key] = "wrong" if isinstance(place.value, dict) else {"wrong": True}
    assert refused_by_both(document)


@given(documents(), st.data())
@SOME
def test_a_missing_field_is_refused_by_validator_and_schema(document: dict[str, Any], data: st.DataObject) -> None:
    place = one_of(data, document, lambda place: place.key in REQUIRED and isinstance(place.container, dict))
    del place.container[place.key]
    assert refused_by_both(document)


@given(documents(), st.data(), st.sampled_from((-1, -0.5, -(10**30))))
@SOME
def test_a_number_out_of_range_is_refused_by_validator_and_schema(
    document: dict[str, Any], data: st.DataObject, number: float
) -> None:
    """No number in a policy may be negative."""
    place = one_of(
        data,
        document,
        lambda place: isinstance(place.value, int | float) and not isinstance(place.value, bool) and not place.unread,
    )
    place.container[place.key] = number
    assert refused_by_both(document)


@given(documents(), st.data())
@SOME
def test_an_unknown_name_is_refused_by_validator_and_schema(document: dict[str, Any], data: st.DataObject) -> None:
    place = one_of(data, document, lambda place: place.key in NAMES)
    place.container[place.key] = f"{place.value}x"
    assert refused_by_both(document)
