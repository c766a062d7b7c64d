"""Policies and their dictionaries: what is read, what is written, and what every mistake says."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

import pytest

from pycupel import (
    BoostedScorer,
    ChronologicalPlacer,
    CompositeScorer,
    ContextBudget,
    ContextItem,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    CountQuotaSlice,
    DecayScorer,
    Exponential,
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
    Step,
    StreamSlice,
    SystemTimeProvider,
    TagScorer,
    UShapedPlacer,
    Window,
)
from pycupel.errors import DocumentError, InvalidArgumentError
from pycupel.policies import CHAT, policy_from_dict, policy_to_dict
from pycupel.registry import CLOCKS
from tests import registries
from tests.strategies import NOW, FixedClock

RECENCY = {"type": "recency", "weight": 1}
HOUR = timedelta(hours=1)

MINIMAL = {
    "scorers": [{"type": "recency", "weight": 1}],
    "slicerType": "greedy",
    "placerType": "chronological",
    "deduplicationEnabled": True,
    "overflowStrategy": "throw",
}
FULL = {
    "name": "Full",
    "description": "…",
    "scorers": [
        {"type": "recency", "weight": 2},
        {"type": "kind", "weight": 1.5, "kindWeights": {"Message": 0.8, "Document": 1.2}},
        {"type": "tag", "weight": 1, "tagWeights": {"important": 2, "low": 0.5}},
        {"type": "scaled", "weight": 2, "innerScorer": {"type": "priority", "weight": 1}},
    ],
    "slicerType": "knapsack",
    "knapsackBucketSize": 50,
    "placerType": "uShaped",
    "deduplicationEnabled": False,
    "overflowStrategy": "truncate",
    "quotas": [{"kind": "Message", "minPercent": 10, "maxPercent": 60}, {"kind": "Document", "maxPercent": 40}],
}
FULL_POLICY = Policy(
    CompositeScorer(
        [
            (RecencyScorer(), 2),
            (KindScorer({"Message": 0.8, "Document": 1.2}), 1.5),
            (TagScorer({"important": 2, "low": 0.5}), 1),
            (ScaledScorer(PriorityScorer()), 2),
        ]
    ),
    QuotaSlice([QuotaEntry("Message", 10, 60), QuotaEntry("Document", 0, 40)], KnapsackSlice(50)),
    UShapedPlacer(),
    deduplication=False,
    overflow_strategy=OverflowStrategy.TRUNCATE,
    name="Full",
    description="…",
)


@pytest.fixture(autouse=True)
def _keep_the_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    registries.keep(monkeypatch)


def read(**fields: Any) -> Policy:
    """The policy of a document with one scorer, unless the fields say otherwise."""
    return policy_from_dict({"scorers": [RECENCY], **fields})


def scorer_of(entry: Any) -> Scorer:
    return policy_from_dict({"scorers": [entry]}).scorer


def slicer_of(slicer: Any) -> Slicer:
    return read(slicer=slicer).slicer


def refused(action: Callable[[], object]) -> DocumentError:
    with pytest.raises(DocumentError) as caught:
        action()
    return caught.value


def mistakes(document: Any) -> list[str]:
    """Every mistake, as path and message."""
    error = refused(lambda: policy_from_dict(document))
    assert error.errors
    assert all(str(each) in str(error) for each in error.errors)
    return [str(each) for each in error.errors]


def mistake(**fields: Any) -> str:
    (only,) = mistakes({"scorers": [RECENCY], **fields})
    return only


# --- the documents of the .NET implementation


@pytest.mark.parametrize(("document", "policy"), [(MINIMAL, Policy(RecencyScorer())), (FULL, FULL_POLICY)])
def test_dot_net_documents_load_build_run_and_come_back(document: dict[str, Any], policy: Policy) -> None:
    """REFERENCE-FACTS 5: the minimal and the fuller document."""
    loaded = policy_from_dict(document)
    assert loaded == policy
    items = [
        ContextItem("a", 30, tags=["important"], priority=2, timestamp=NOW),
        ContextItem("b", 40, kind="Document", timestamp=NOW - HOUR, priority=1),
        ContextItem("c", 50, tags=["low"]),
        ContextItem("d", 20, kind="Document", priority=3),
    ]
    budget = ContextBudget(400, 200)
    selected = Pipeline.from_policy(loaded).run(items, budget)
    assert selected
    assert selected == Pipeline.from_policy(policy).run(items, budget)
    assert policy_from_dict(policy_to_dict(loaded)) == loaded


def test_the_minimal_document_is_the_canonical_form() -> None:
    """REFERENCE-FACTS 5: enums as strings, camelCase, nulls omitted."""
    assert policy_to_dict(policy_from_dict(MINIMAL)) == MINIMAL


def test_the_fuller_document_is_canonical_but_for_a_limit_that_is_written_out() -> None:
    written = policy_to_dict(policy_from_dict(FULL))
    assert written["quotas"][1] == {"kind": "Document", "minPercent": 0, "maxPercent": 40}
    assert {**written, "quotas": FULL["quotas"]} == FULL
    assert list(written)[:3] == ["name", "description", "scorers"]


def test_only_the_scorers_are_needed() -> None:
    """REFERENCE-FACTS 5: only `scorers` is needed on input; PB-01: the defaults are those of the library."""
    assert policy_from_dict({"scorers": [{"type": "recency"}]}) == Policy(RecencyScorer())


def test_null_is_absent_everywhere() -> None:
    """REFERENCE-FACTS 2: optional parameters are null by default."""
    optional = (
        "name description slicerType knapsackBucketSize streamBatchSize quotas slicer placerType placer "
        "deduplicationEnabled dedupeAgainstPinned overflowStrategy"
    )
    fields = dict.fromkeys(optional.split())
    scorer = {"type": "kind", "weight": None, "kindWeights": None, "tagWeights": None, "innerScorer": None}
    assert policy_from_dict({"scorers": [scorer], **fields}) == Policy(KindScorer())
    assert mistakes({"scorers": None}) == ["scorers: is missing"]
    assert mistakes({"scorers": [{"type": None}]}) == ["scorers[0].type: is missing"]


def test_unknown_properties_are_ignored() -> None:
    """REFERENCE-FACTS 5: unknown properties are ignored."""
    scorer = {"type": "recency", "weight": 1, "colour": "red", "kindWeights": "not looked at"}
    document: Any = {"$schema": "x", "version": 3, "scorers": [scorer], 5: "five", "overflow": "too far away"}
    assert policy_from_dict(document) == Policy(RecencyScorer())


def test_fields_of_another_scorer_are_not_taken_for_misspelled_ones() -> None:
    """REFERENCE-FACTS 2: an entry of .NET has the fields of all types; `kindWeights` is not nearly `weight`."""
    entry = {"type": "tag", "weight": 1, "tagWeights": {"a": 1}, "kindWeights": {"Note": 1}}
    assert scorer_of(entry) == TagScorer({"a": 1})


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("slicertype", "slicerType"),
        ("slicer-type", "slicerType"),
        ("SlicerType", "slicerType"),
        ("placerTyp", "placerType"),
        ("deduplication", "deduplicationEnabled"),
        ("quota", "quotas"),
        ("knapsackBucket", "knapsackBucketSize"),
        ("Name", "name"),
        ("scorer", "scorers"),
    ],
)
def test_a_property_that_is_nearly_a_known_one_is_a_mistake(key: str, meant: str) -> None:
    """The issue: unknown properties are ignored, except one that is nearly a known name."""
    place = key if "-" not in key else f'["{key}"]'
    assert mistake(**{key: "x"}) == f"{place}: unknown field; did you mean {meant!r}?"


def test_a_property_of_a_scorer_that_is_nearly_a_known_one_is_a_mistake() -> None:
    entry = {"type": "kind", "wieght": 2, "kindWeight": {}}
    assert mistakes({"scorers": [entry]}) == [
        "scorers[0].wieght: unknown field; did you mean 'weight'?",
        "scorers[0].kindWeight: unknown field; did you mean 'kindWeights'?",
    ]


# --- every strategy, as an object, in both spellings

SCORERS = [
    ({"type": "recency"}, RecencyScorer()),
    ({"type": "priority"}, PriorityScorer()),
    ({"type": "frequency"}, FrequencyScorer()),
    ({"type": "reflexive"}, ReflexiveScorer()),
    ({"type": "kind"}, KindScorer()),
    ({"type": "kind", "kindWeights": {}}, KindScorer({})),
    ({"type": "kind", "kindWeights": {"Note": 0.5}}, KindScorer({"Note": 0.5})),
    ({"type": "tag", "tagWeights": {}}, TagScorer({})),
    ({"type": "tag", "tagWeights": {"a": 1}, "caseInsensitive": True}, TagScorer({"a": 1}, case_insensitive=True)),
    ({"type": "metadataTrust"}, MetadataTrustScorer()),
    ({"type": "metadataTrust", "defaultScore": 0.25}, MetadataTrustScorer(0.25)),
    ({"type": "metadataKey", "key": "k", "value": "", "boost": 1.5}, MetadataKeyScorer("k", "", 1.5)),
    (
        {
            "type": "scaled",
            "innerScorer": {"type": "scaled", "weight": 1, "innerScorer": {"type": "kind", "weight": 1}},
        },
        ScaledScorer(ScaledScorer(KindScorer())),
    ),
    (
        {
            "type": "composite",
            "scorers": [{"type": "recency", "weight": 3}, {"type": "composite", "weight": 1, "scorers": [RECENCY]}],
        },
        CompositeScorer([(RecencyScorer(), 3), (CompositeScorer([(RecencyScorer(), 1)]), 1)]),
    ),
    (
        {
            "type": "boosted",
            "innerScorer": {"type": "recency", "weight": 1},
            "boosts": [{"type": "metadataKey", "weight": 1, "key": "k", "value": "v", "boost": 2}],
        },
        BoostedScorer(RecencyScorer(), MetadataKeyScorer("k", "v", 2)),
    ),
    ({"type": "boosted", "innerScorer": {"type": "recency", "weight": 1}}, BoostedScorer(RecencyScorer())),
    (
        {"type": "decay", "time": "system", "curve": {"type": "exponential", "halfLifeSeconds": 3600}},
        DecayScorer(SystemTimeProvider(), Exponential(HOUR)),
    ),
    (
        {
            "type": "decay",
            "time": "system",
            "curve": {"type": "window", "maxAgeSeconds": 0.5},
            "nullTimestampScore": 0,
        },
        DecayScorer(SystemTimeProvider(), Window(HOUR / 7200), 0.0),
    ),
    (
        {
            "type": "decay",
            "time": "system",
            "curve": {
                "type": "step",
                "windows": [{"maxAgeSeconds": 60, "score": 1}, {"maxAgeSeconds": 3600, "score": 0.1}],
            },
        },
        DecayScorer(SystemTimeProvider(), Step([(HOUR / 60, 1.0), (HOUR, 0.1)])),
    ),
]

COUNTS = [{"kind": "Note", "requireCount": 1, "capCount": 2}, {"kind": "Memo", "capCount": 0}]
COUNT_ENTRIES = [CountQuotaEntry("Note", cap_count=2, require_count=1), CountQuotaEntry("Memo", cap_count=0)]
SHARES = [{"kind": "Note", "minPercent": 10, "maxPercent": 100}]
SHARE_ENTRIES = [QuotaEntry("Note", 10)]

SLICERS: list[tuple[dict[str, Any], Slicer]] = [
    ({"type": "knapsack", "fillFree": True}, KnapsackSlice(fill_free=True)),
    (
        {"type": "knapsack", "bucketSize": 5, "maxCells": "unlimited", "maxStates": 9},
        KnapsackSlice(5, max_cells=None, max_states=9),
    ),
    ({"type": "knapsack", "maxCells": 7}, KnapsackSlice(max_cells=7)),
    ({"type": "stream", "batchSize": 8, "replace": True}, StreamSlice(8, replace=True)),
    ({"type": "quota", "entries": []}, QuotaSlice([])),
    ({"type": "quota", "entries": SHARES, "redistribute": True}, QuotaSlice(SHARE_ENTRIES, redistribute=True)),
    (
        {"type": "quota", "entries": SHARES, "inner": {"type": "countQuota", "entries": COUNTS}},
        QuotaSlice(SHARE_ENTRIES, CountQuotaSlice(COUNT_ENTRIES)),
    ),
    ({"type": "quota", "entries": SHARES, "inner": {"type": "stream"}}, QuotaSlice(SHARE_ENTRIES, StreamSlice())),
    (
        {"type": "quota", "entries": SHARES, "inner": {"type": "knapsack", "maxStates": 9}},
        QuotaSlice(SHARE_ENTRIES, KnapsackSlice(max_states=9)),
    ),
    (
        {
            "type": "countQuota",
            "entries": COUNTS,
            "inner": {"type": "quota", "entries": SHARES},
            "scarcity": "throw",
            "capOrder": "score",
        },
        CountQuotaSlice(COUNT_ENTRIES, QuotaSlice(SHARE_ENTRIES), ScarcityBehavior.THROW, cap_order="score"),
    ),
    ({"type": "countConstrainedKnapsack", "entries": []}, CountConstrainedKnapsackSlice([])),
    (
        {
            "type": "countConstrainedKnapsack",
            "entries": COUNTS,
            "knapsack": {"bucketSize": 5, "maxCells": "unlimited"},
            "scarcity": "throw",
        },
        CountConstrainedKnapsackSlice(COUNT_ENTRIES, KnapsackSlice(5, max_cells=None), ScarcityBehavior.THROW),
    ),
]


@pytest.mark.parametrize(("entry", "scorer"), SCORERS)
def test_every_scorer_is_read_and_written(entry: dict[str, Any], scorer: Scorer) -> None:
    """PO-06 and the issue: a policy expresses everything that the library can do."""
    assert scorer_of(entry) == scorer
    (written,) = policy_to_dict(Policy(CompositeScorer([(scorer, 1)])))["scorers"][0]["scorers"]
    assert written == {"type": entry["type"], "weight": 1, **entry}
    assert list(written)[:2] == ["type", "weight"]


@pytest.mark.parametrize(("entry", "slicer"), SLICERS)
def test_every_slicer_is_read_and_written(entry: dict[str, Any], slicer: Slicer) -> None:
    """PO-06 and the issue: count quotas and inner slicers included."""
    assert slicer_of(entry) == slicer
    written = policy_to_dict(Policy(RecencyScorer(), slicer))["slicer"]
    assert slicer_of(written) == slicer
    assert {**written, "entries": None} == {**entry, "entries": None}


@pytest.mark.parametrize(
    "name", ["metadataTrust", "metadata_trust", "metadata-trust", "MetadataTrust", "METADATATRUST"]
)
def test_case_hyphens_and_underscores_in_the_name_of_a_type_do_not_matter(name: str) -> None:
    """The conformance vectors write `metadata_trust` and `u-shaped`, .NET writes `uShaped`."""
    assert scorer_of({"type": name}) == MetadataTrustScorer()


@pytest.mark.parametrize("name", ["uShaped", "u_shaped", "u-shaped", "U-Shaped"])
def test_nor_do_they_in_the_name_of_a_placer(name: str) -> None:
    assert read(placerType=name).placer == UShapedPlacer()
    assert read(placer={"type": name}).placer == UShapedPlacer()


def test_nor_in_any_other_name_of_a_file() -> None:
    """WF-06: another implementation writes `Throw`."""
    counts = {"type": "count-quota", "entries": COUNTS, "scarcity": "THROW", "capOrder": "Score"}
    policy = policy_from_dict(
        {
            "scorers": [{"type": "Decay", "time": "System", "curve": {"type": "WINDOW", "maxAgeSeconds": 60}}],
            "slicer": {"type": "Quota", "entries": SHARES, "inner": counts},
            "overflowStrategy": "Truncate",
        }
    )
    inner = CountQuotaSlice(COUNT_ENTRIES, scarcity=ScarcityBehavior.THROW, cap_order="score")
    assert policy == Policy(
        DecayScorer(SystemTimeProvider(), Window(timedelta(minutes=1))),
        QuotaSlice(SHARE_ENTRIES, inner),
        overflow_strategy=OverflowStrategy.TRUNCATE,
    )
    assert slicer_of({"type": "knapsack", "maxCells": "Unlimited"}) == KnapsackSlice(max_cells=None)
    assert read(slicerType="Knap-Sack", knapsackBucketSize=5).slicer == KnapsackSlice(5)


def test_kinds_and_tags_are_data_and_keep_their_spelling() -> None:
    """DM-09: `tool-output` and `ToolOutput` are two kinds."""
    assert scorer_of({"type": "kind", "kindWeights": {"tool-output": 1, "ToolOutput": 2}}) == KindScorer(
        {"tool-output": 1, "ToolOutput": 2}
    )
    assert scorer_of({"type": "tag", "tagWeights": {"a-b": 1, "ab": 2}}) == TagScorer({"a-b": 1, "ab": 2})


def test_every_field_may_be_spelled_in_snake_case() -> None:
    """The issue: camelCase and snake_case."""
    document = {
        "scorers": [
            {"type": "kind", "kind_weights": {"Note": 1}},
            {"type": "tag", "tag_weights": {"a": 1}, "case_insensitive": True},
            {"type": "scaled", "inner_scorer": {"type": "metadata_trust", "default_score": 0.1}},
            {"type": "decay", "time": "system", "curve": {"type": "window", "max_age_seconds": 3600}},
        ],
        "slicer_type": "knapsack",
        "knapsack_bucket_size": 5,
        "quotas": [{"kind": "Note", "min_percent": 10, "max_percent": 60}],
        "placer_type": "u_shaped",
        "deduplication_enabled": True,
        "dedupe_against_pinned": True,
        "overflow_strategy": "proceed",
    }
    policy = policy_from_dict(document)
    assert policy == Policy(
        CompositeScorer(
            [
                (KindScorer({"Note": 1}), 1),
                (TagScorer({"a": 1}, case_insensitive=True), 1),
                (ScaledScorer(MetadataTrustScorer(0.1)), 1),
                (DecayScorer(SystemTimeProvider(), Window(HOUR)), 1),
            ]
        ),
        QuotaSlice([QuotaEntry("Note", 10, 60)], KnapsackSlice(5)),
        UShapedPlacer(),
        dedupe_against_pinned=True,
        overflow_strategy=OverflowStrategy.PROCEED,
    )
    assert policy_from_dict(policy_to_dict(policy)) == policy


def test_any_mapping_is_a_document_and_is_left_alone() -> None:
    document: Mapping[str, Any] = MappingProxyType({"scorers": ({"type": "tag", "tagWeights": MappingProxyType({})},)})
    assert policy_from_dict(document) == Policy(TagScorer({}))


def test_stream_documents_are_read_validated_and_written() -> None:
    """The issue: `slicerType: stream` and `streamBatchSize`; without it, 32."""
    assert read(slicerType="stream").slicer == StreamSlice(32)
    assert read(slicerType="stream", streamBatchSize=8).slicer == StreamSlice(8)
    written = policy_to_dict(Policy(RecencyScorer(), StreamSlice(8)))
    assert (written["slicerType"], written["streamBatchSize"]) == ("stream", 8)
    assert read(slicerType="stream", quotas=[]).slicer == StreamSlice()


# --- weights and single scorers


def test_a_single_scorer_is_used_as_it_is_and_its_weight_means_nothing() -> None:
    """CS-04: a composite of one would be the same, but not equal."""
    assert scorer_of({"type": "recency", "weight": 7}) == RecencyScorer()


def test_a_composite_of_one_is_written_as_what_it_is() -> None:
    policy = Policy(CompositeScorer([(RecencyScorer(), 3)]))
    assert policy_to_dict(policy)["scorers"] == [
        {"type": "composite", "weight": 1, "scorers": [{"type": "recency", "weight": 3}]}
    ]
    assert policy_from_dict(policy_to_dict(policy)) == policy


def test_an_inner_scorer_is_written_with_the_weight_that_others_demand() -> None:
    """REFERENCE-FACTS 2: the inner entry's weight is required but unused."""
    written = policy_to_dict(Policy(ScaledScorer(RecencyScorer())))
    assert written["scorers"] == [{"type": "scaled", "weight": 1, "innerScorer": {"type": "recency", "weight": 1}}]
    unread = {"type": "recency", "weight": "not looked at"}
    assert scorer_of({"type": "scaled", "innerScorer": unread}) == ScaledScorer(RecencyScorer())


def test_whole_numbers_are_written_without_a_fraction() -> None:
    weights = {"whole": 2.0, "half": 0.5, "huge": 1e300, "none": -0.0}
    (written,) = policy_to_dict(Policy(TagScorer(weights)))["scorers"]
    assert [repr(weight) for weight in written["tagWeights"].values()] == ["2", "0.5", "1e+300", "0"]


# --- the flat fields of slicers and placers, or objects


@pytest.mark.parametrize(
    ("slicer", "fields"),
    [
        (GreedySlice(), {"slicerType": "greedy"}),
        (KnapsackSlice(), {"slicerType": "knapsack"}),
        (KnapsackSlice(50), {"slicerType": "knapsack", "knapsackBucketSize": 50}),
        (QuotaSlice(SHARE_ENTRIES), {"slicerType": "greedy", "quotas": SHARES}),
        (
            QuotaSlice(SHARE_ENTRIES, KnapsackSlice(50)),
            {"slicerType": "knapsack", "knapsackBucketSize": 50, "quotas": SHARES},
        ),
    ],
)
def test_flat_fields_are_written_where_they_suffice(slicer: Slicer, fields: dict[str, Any]) -> None:
    """REFERENCE-FACTS 2: so that the .NET implementation reads them, too."""
    written = policy_to_dict(Policy(RecencyScorer(), slicer))
    assert {name: value for name, value in written.items() if name in {"slicer", *fields}} == fields
    assert policy_from_dict(written).slicer == slicer


def test_empty_quotas_are_no_quotas() -> None:
    assert read(quotas=[]).slicer == GreedySlice()


def test_the_placer_is_written_by_name() -> None:
    assert policy_to_dict(Policy(RecencyScorer(), placer=UShapedPlacer()))["placerType"] == "uShaped"
    assert read(placerType="chronological").placer == ChronologicalPlacer()


def test_an_opt_in_is_written_only_if_it_is_on() -> None:
    assert "dedupeAgainstPinned" not in policy_to_dict(Policy(RecencyScorer()))
    assert policy_to_dict(Policy(RecencyScorer(), dedupe_against_pinned=True))["dedupeAgainstPinned"] is True


# --- mistakes


@pytest.mark.parametrize(
    ("document", "text"),
    [
        (None, "must be an object, not None (NoneType)"),
        ([], "must be an object, not a list"),
        ("chat", "must be an object, not 'chat' (str)"),
        ({}, "scorers: is missing"),
        ({"scorers": []}, "scorers: must have at least 1 entry"),
        ({"scorers": {"type": "recency"}}, "scorers: must be a list, not an object"),
        ({"scorers": "recency"}, "scorers: must be a list, not 'recency' (str)"),
        ({"scorers": ["recency"]}, "scorers[0]: must be an object with a type, not 'recency' (str)"),
        ({"scorers": [{}]}, "scorers[0].type: is missing"),
    ],
)
def test_documents_that_are_no_policies(document: Any, text: str) -> None:
    assert mistakes(document) == [text]


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({"type": 0}, "type: must be the name of a scorer, not 0 (int)"),
        ({"type": ["recency"]}, "type: must be the name of a scorer, not a list"),
        ({"type": "recency", "weight": "1"}, "weight: must be a number, not '1' (str)"),
        ({"type": "recency", "weight": True}, "weight: must be a number, not True (bool)"),
        ({"type": "recency", "weight": 0}, "weight: must be greater than 0, not 0 (int)"),
        ({"type": "recency", "weight": -1.5}, "weight: must be greater than 0, not -1.5 (float)"),
        ({"type": "recency", "weight": float("nan")}, "weight: must be finite, not nan"),
        ({"type": "recency", "weight": 10**400}, "weight: must be finite, not inf"),
        (
            {"type": "recency", "innerScorer": {"type": "kind"}},
            "innerScorer: is only valid for scaled and boosted; remove it or change the type",
        ),
        ({"type": "scaled"}, "innerScorer: is missing"),
        (
            {"type": "scaled", "innerScorer": "recency"},
            "innerScorer: must be an object with a type, not 'recency' (str)",
        ),
        ({"type": "scaled", "innerScorer": {"type": "tag"}}, "innerScorer.tagWeights: is missing"),
        ({"type": "tag", "tagWeights": []}, "tagWeights: must be an object, not a list"),
        ({"type": "tag", "tagWeights": {"a b": -1}}, 'tagWeights["a b"]: must be at least 0, not -1 (int)'),
        ({"type": "tag", "tagWeights": {1: 1}}, 'tagWeights["1"]: every key must be a string, not 1 (int)'),
        ({"type": "tag", "tagWeights": {"a": 1e308, "b": 1e308}}, "tagWeights: the sum of tag_weights must be finite"),
        (
            {"type": "tag", "tagWeights": {"a": 1, "A": 1}, "caseInsensitive": True},
            "tagWeights: tag_weights names the tag 'A' twice, in different case",
        ),
        (
            {"type": "tag", "tagWeights": {}, "caseInsensitive": 1},
            "caseInsensitive: must be true or false, not 1 (int)",
        ),
        ({"type": "kind", "kindWeights": {" ": 1}}, 'kindWeights[" "]: ContextKind must not be empty or blank'),
        (
            {"type": "kind", "kindWeights": {"A": 1, "a": 1}},
            "kindWeights.a: duplicate kind 'a' (kinds are case-insensitive)",
        ),
        ({"type": "metadataTrust", "defaultScore": 1.5}, "defaultScore: must be at most 1, not 1.5 (float)"),
        ({"type": "metadataKey", "key": "k", "value": 5, "boost": 1}, "value: must be a string, not 5 (int)"),
        ({"type": "composite", "scorers": []}, "scorers: must have at least 1 entry"),
        (
            {"type": "composite", "scorers": [{"type": "recency", "weight": 1e308}] * 2},
            "scorers: the sum of all weights must be finite",
        ),
        ({"type": "boosted", "innerScorer": RECENCY, "boosts": RECENCY}, "boosts: must be a list, not an object"),
    ],
)
def test_mistakes_in_a_scorer(entry: dict[str, Any], text: str) -> None:
    """REFERENCE-FACTS 2: the rules of a ScorerEntry, and what the scorers themselves refuse; each with its path."""
    assert mistakes({"scorers": [RECENCY, entry]}) == [f"scorers[1].{text}"]


def decay(**fields: Any) -> dict[str, Any]:
    curve = {"type": "window", "maxAgeSeconds": 60}
    return {"scorers": [{"type": "decay", "time": "system", "curve": curve, **fields}]}


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"time": None}, "time: is missing"),
        ({"time": "sytem"}, "time: unknown clock 'sytem'; choose from system; did you mean 'system'?"),
        ({"time": 5}, "time: must be the name of a clock, not 5 (int)"),
        ({"curve": "window"}, "curve: must be an object with a type, not 'window' (str)"),
        ({"curve": {"type": "window"}}, "curve.maxAgeSeconds: is missing"),
        ({"curve": {"type": "window", "maxAgeSeconds": 0}}, "curve.maxAgeSeconds: must be greater than 0, not 0 (int)"),
        (
            {"curve": {"type": "window", "maxAgeSeconds": 1e-9}},
            "curve.maxAgeSeconds: must be at least 1e-06, not 1e-09 (float)",
        ),
        (
            {"curve": {"type": "exponential", "halfLifeSeconds": 8.64e13}},
            "curve.halfLifeSeconds: must be at most 8.64e+13, not 86400000000000.0 (float)",
        ),
        ({"curve": {"type": "step", "windows": []}}, "curve.windows: must have at least 1 entry"),
        (
            {
                "curve": {
                    "type": "step",
                    "windows": [{"maxAgeSeconds": 5, "score": 1}, {"maxAgeSeconds": 5, "score": 1}],
                }
            },
            "curve.windows: windows must be sorted from youngest to oldest, but windows[1] ends at 0:00:05",
        ),
        ({"curve": {"type": "step", "windows": [{"maxAgeSeconds": 5}]}}, "curve.windows[0].score: is missing"),
        (
            {"curve": {"type": "exponentl"}},
            "curve.type: unknown curve 'exponentl'; choose from exponential, step, window; did you mean 'exponential'?",
        ),
        ({"nullTimestampScore": -0.5}, "nullTimestampScore: must be at least 0, not -0.5 (float)"),
    ],
)
def test_mistakes_in_a_decay_scorer(fields: dict[str, Any], text: str) -> None:
    """The issue: a file names the clock. DS-05: durations are positive."""
    assert mistakes(decay(**fields)) == [f"scorers[0].{text}"]


def test_an_unknown_type_is_told_with_all_known_ones() -> None:
    """REFERENCE-FACTS 5: unknown scorer types are refused with a list."""
    known = (
        "recency, priority, kind, tag, frequency, reflexive, scaled, composite, metadataTrust, metadataKey, decay, "
        "boosted"
    )
    assert mistakes({"scorers": [{"type": "embedding"}, {"type": "recencey"}]}) == [
        f"scorers[0].type: unknown scorer 'embedding'; choose from {known}",
        f"scorers[1].type: unknown scorer 'recencey'; choose from {known}; did you mean 'recency'?",
    ]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"name": 5}, "name: must be a string, not 5 (int)"),
        ({"description": "\ud800"}, "description: has a lone surrogate at index 0, which cannot be written"),
        ({"deduplicationEnabled": "yes"}, "deduplicationEnabled: must be true or false, not 'yes' (str)"),
        (
            {"deduplicationEnabled": False, "dedupeAgainstPinned": True},
            "dedupeAgainstPinned: dedupe_against_pinned needs deduplication=True",
        ),
        (
            {"overflowStrategy": "thorw"},
            "overflowStrategy: must be one of throw, truncate, proceed, not 'thorw' (str); did you mean 'throw'?",
        ),
        ({"overflowStrategy": 0}, "overflowStrategy: must be one of throw, truncate, proceed, not 0 (int)"),
        (
            {"placerType": "ushape"},
            "placerType: unknown placer 'ushape'; choose from chronological, uShaped; did you mean 'uShaped'?",
        ),
        ({"placer": "uShaped"}, "placer: must be an object with a type, not 'uShaped' (str)"),
        (
            {"placer": {"type": "uShaped"}, "placerType": "uShaped"},
            "placer: cannot be combined with placerType; write its type into the object",
        ),
        (
            {"slicerType": "gredy"},
            (
                "slicerType: unknown slicer 'gredy'; choose from greedy, knapsack, stream, quota, countQuota, "
                "countConstrainedKnapsack; did you mean 'greedy'?"
            ),
        ),
        (
            {"slicerType": "countQuota"},
            'slicerType: needs options; write it as an object: "slicer": {"type": "countQuota", "entries": ...}',
        ),
        (
            {"slicerType": "greedy", "slicer": {"type": "greedy"}},
            "slicer: cannot be combined with slicerType; write its type into the object",
        ),
        (
            {"slicer": {"type": "greedy"}, "quotas": SHARES},
            "quotas: cannot be combined with slicer; write them into the object",
        ),
        ({"slicerType": "greedy", "slicer_type": "greedy"}, "slicerType: is given twice, also as slicer_type"),
        ({"knapsackBucketSize": 50}, "knapsackBucketSize: can only be specified when slicerType is knapsack"),
        (
            {"slicerType": "greedy", "knapsackBucketSize": 50},
            "knapsackBucketSize: can only be specified when slicerType is knapsack",
        ),
        (
            {"slicer": {"type": "knapsack"}, "knapsackBucketSize": 50},
            "knapsackBucketSize: can only be specified when slicerType is knapsack",
        ),
        (
            {"slicerType": "knapsack", "streamBatchSize": 8},
            "streamBatchSize: can only be specified when slicerType is stream",
        ),
        (
            {"slicerType": "knapsack", "knapsackBucketSize": 0},
            "knapsackBucketSize: must be greater than 0, not 0 (int)",
        ),
        (
            {"slicerType": "knapsack", "knapsackBucketSize": True},
            "knapsackBucketSize: must be an integer, not True (bool)",
        ),
        (
            {"slicerType": "knapsack", "knapsackBucketSize": 50.0},
            "knapsackBucketSize: must be an integer, not 50.0 (float)",
        ),
        ({"slicerType": "stream", "streamBatchSize": -1}, "streamBatchSize: must be greater than 0, not -1 (int)"),
        (
            {"slicerType": "stream", "quotas": SHARES},
            "quotas: cannot be combined with slicerType stream, which does not wait for all items",
        ),
        ({"quotas": [{"kind": "Note"}]}, "quotas[0]: needs minPercent, maxPercent or both"),
        ({"quotas": [{"minPercent": 5}]}, "quotas[0].kind: is missing"),
        ({"quotas": [{"kind": 5, "minPercent": 5}]}, "quotas[0].kind: must be a string, not 5 (int)"),
        ({"quotas": [{"kind": "", "minPercent": 5}]}, "quotas[0].kind: ContextKind must not be empty or blank"),
        ({"quotas": [{"kind": "Note", "maxPercent": 101}]}, "quotas[0].maxPercent: must be at most 100, not 101 (int)"),
        (
            {"quotas": [{"kind": "Note", "minPercent": 60, "maxPercent": 5.5}]},
            "quotas[0]: minPercent (60) must not exceed maxPercent (5.5)",
        ),
        (
            {"quotas": [{"kind": "A", "minPercent": 60}, {"kind": "B", "minPercent": 60}]},
            "quotas: the required percentages must not exceed 100 together, but are 120.0",
        ),
        (
            {"quotas": [{"kind": "A", "minPercent": 6}, {"kind": "a", "minPercent": 6}]},
            "quotas: entries names the kind 'a' twice; kinds do not differ by case",
        ),
    ],
)
def test_mistakes_in_the_fields_of_a_policy(fields: dict[str, Any], text: str) -> None:
    """REFERENCE-FACTS 2: the validation of a policy; QS-02, QS-10."""
    assert mistake(**fields) == text


@pytest.mark.parametrize(
    ("slicer", "text"),
    [
        (
            {"type": "countQuota", "entries": COUNTS, "inner": {"type": "knapsack"}},
            (
                "inner: CountQuotaSlice does not support KnapsackSlice as its inner slicer. Use GreedySlice inside, or "
                "CountConstrainedKnapsackSlice instead of CountQuotaSlice."
            ),
        ),
        ({"type": "countQuota", "entries": [{"kind": "Note"}]}, "entries[0].capCount: is missing"),
        (
            {"type": "countQuota", "entries": [{"kind": "Note", "capCount": 1, "requireCount": 2}]},
            "entries[0].requireCount: Note: require_count (2) must not exceed cap_count (1)",
        ),
        (
            {"type": "countQuota", "entries": [{"kind": "Note", "capCount": -1}]},
            "entries[0].capCount: must be at least 0, not -1 (int)",
        ),
        (
            {"type": "countQuota", "entries": COUNTS, "capOrder": "scores"},
            "capOrder: must be one of inner, score, not 'scores' (str); did you mean 'score'?",
        ),
        (
            {"type": "countConstrainedKnapsack", "entries": [], "scarcity": "explode"},
            "scarcity: must be one of degrade, throw, not 'explode' (str)",
        ),
        (
            {"type": "countConstrainedKnapsack", "entries": [], "knapsack": {"bucketSize": 0}},
            "knapsack.bucketSize: must be greater than 0, not 0 (int)",
        ),
        (
            {"type": "knapsack", "maxCells": "unlimted"},
            "maxCells: must be an integer or \"unlimited\", not 'unlimted' (str)",
        ),
        ({"type": "knapsack", "maxCells": 0}, "maxCells: must be greater than 0, not 0 (int)"),
        (
            {"type": "quota", "entries": [], "inner": {"type": 7}},
            "inner.type: must be the name of a slicer, not 7 (int)",
        ),
    ],
)
def test_mistakes_in_a_slicer(slicer: dict[str, Any], text: str) -> None:
    """PO-06: what the slicers themselves refuse gets a path, too."""
    assert mistake(slicer=slicer) == f"slicer.{text}"


def test_five_mistakes_are_five_errors_each_with_its_path() -> None:
    """The issue: a document with five mistakes reports five, each with a path and a "did you mean"."""
    document = {
        "scorers": [{"type": "recensy"}, {"type": "kind", "weight": -1}],
        "slicerType": "knapsak",
        "overflowStrategy": "trow",
        "deduplicationEnabeld": True,
    }
    error = refused(lambda: policy_from_dict(document))
    paths = ["deduplicationEnabeld", "scorers[0].type", "scorers[1].weight", "slicerType", "overflowStrategy"]
    assert [each.path for each in error.errors] == paths
    first, *lines = str(error).splitlines()
    assert first == "there are 5 mistakes in the policy:"
    assert lines == [f"  {each}" for each in error.errors]
    assert sum("did you mean" in line for line in lines) == 4
    assert error.path == ""


def test_one_mistake_is_told_on_one_line_with_its_path() -> None:
    error = refused(lambda: read(name=5))
    assert (error.path, str(error)) == ("name", "name: must be a string, not 5 (int)")
    assert [each.path for each in error.errors] == ["name"]


def test_all_mistakes_of_a_deep_document_are_found() -> None:
    inner = {"type": "composite", "scorers": [{"type": "tag"}, {"type": "decay"}, 7]}
    document = {
        "scorers": [{"type": "scaled", "innerScorer": inner}],
        "slicer": {
            "type": "quota",
            "entries": [{"kind": " "}, {"kind": "A", "minPercent": "x"}],
            "inner": {"type": "countQuota", "entries": 5},
        },
    }
    assert [each.partition(": ")[0] for each in mistakes(document)] == [
        "scorers[0].innerScorer.scorers[0].tagWeights",
        "scorers[0].innerScorer.scorers[1].time",
        "scorers[0].innerScorer.scorers[1].curve",
        "scorers[0].innerScorer.scorers[2]",
        "slicer.entries[0].kind",
        "slicer.entries[1].minPercent",
        "slicer.inner.entries",
    ]


def test_quotas_that_are_wrong_do_not_hide_that_they_do_not_go_with_stream() -> None:
    assert [
        each.partition(": ")[0] for each in mistakes({"scorers": [RECENCY], "slicerType": "stream", "quotas": 5})
    ] == [
        "quotas",
        "quotas",
    ]


# --- nesting


def nested(levels: int, wrap: Callable[[Any], Any], core: Any) -> Any:
    for _ in range(levels):
        core = wrap(core)
    return core


def test_scorers_may_be_nested_as_deeply_as_the_library_allows() -> None:
    """PY-08: 100 levels."""
    deepest: Any = nested(99, lambda inner: {"type": "scaled", "innerScorer": inner}, RECENCY)
    policy = policy_from_dict({"scorers": [deepest]})
    assert policy_from_dict(policy_to_dict(policy)) == policy
    composite: Any = nested(98, lambda inner: {"type": "composite", "scorers": [inner, RECENCY]}, RECENCY)
    policy = policy_from_dict({"scorers": [composite, RECENCY]})
    assert policy_from_dict(policy_to_dict(policy)) == policy


@pytest.mark.parametrize("levels", [101, 500, 10_000])
def test_scorers_that_are_nested_too_deeply_are_refused(levels: int) -> None:
    """PY-08: a DocumentError, no RecursionError."""
    scorer: Any = nested(levels, lambda inner: {"type": "scaled", "innerScorer": inner}, RECENCY)
    (text,) = mistakes({"scorers": [scorer]})
    assert text.endswith(("scorers may be nested 100 levels deep, not 101", "is nested too deeply"))


def test_a_composite_that_is_one_level_too_deep_because_of_the_policy_is_refused() -> None:
    deepest: Any = nested(100, lambda inner: {"type": "scaled", "innerScorer": inner}, RECENCY)
    assert isinstance(scorer_of(deepest), ScaledScorer)
    assert mistakes({"scorers": [deepest, RECENCY]}) == ["scorers: scorers may be nested 100 levels deep, not 101"]


def test_slicers_that_are_nested_too_deeply_are_refused_both_ways() -> None:
    document: Any = nested(10_000, lambda inner: {"type": "quota", "entries": [], "inner": inner}, {"type": "greedy"})
    assert mistake(slicer=document) == "is nested too deeply"
    slicer: Slicer = nested(sys.getrecursionlimit(), lambda inner: QuotaSlice([], inner), GreedySlice())
    assert str(refused(lambda: policy_to_dict(Policy(RecencyScorer(), slicer)))) == "is nested too deeply"


# --- what cannot be written


class Homemade:
    def score(self, item: ContextItem, all_items: Any, /) -> float:
        return 0.0

    def slice(self, scored_items: Any, budget: Any, /) -> list[ContextItem]:
        return []

    def place(self, scored_items: Any, /) -> list[ContextItem]:
        return []


@pytest.mark.parametrize(
    ("policy", "path", "what"),
    [
        (Policy(Homemade()), "scorers[0]", "scorer"),
        (
            Policy(CompositeScorer([(RecencyScorer(), 1), (ScaledScorer(Homemade()), 1)])),
            "scorers[1].innerScorer",
            "scorer",
        ),
        (Policy(BoostedScorer(RecencyScorer(), Homemade())), "scorers[0].boosts[0]", "scorer"),
        (Policy(RecencyScorer(), Homemade()), "slicer", "slicer"),
        (Policy(RecencyScorer(), QuotaSlice(SHARE_ENTRIES, Homemade())), "slicer.inner", "slicer"),
        (Policy(RecencyScorer(), placer=Homemade()), "placer", "placer"),
    ],
)
def test_what_is_not_registered_is_not_written_and_told_with_its_path(policy: Policy, path: str, what: str) -> None:
    error = refused(lambda: policy_to_dict(policy))
    assert error.path == path
    assert str(error) == (
        f"{path}: Homemade is not a registered {what}, so it has no name in a file; register it with "
        f"pycupel.registry.{what.upper()}S.register(name, ...)"
    )


class Pessimist(RecencyScorer):
    pass


def test_a_subclass_is_not_written_as_its_base() -> None:
    assert refused(lambda: policy_to_dict(Policy(Pessimist()))).path == "scorers[0]"


def test_a_lambda_as_a_clock_is_refused_and_told_which() -> None:
    """The issue: a policy that holds an unregistered callable refuses to serialise and says which."""
    scorer = CompositeScorer([(RecencyScorer(), 1), (ScaledScorer(DecayScorer(lambda: NOW, Window(HOUR))), 1)])
    error = refused(lambda: policy_to_dict(Policy(scorer)))
    assert error.path == "scorers[1].innerScorer.time"
    assert "<lambda> is not a registered clock" in str(error)
    assert "pycupel.registry.CLOCKS.register(name, ...)" in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_clock_object_that_is_not_registered_is_shown() -> None:
    error = refused(lambda: policy_to_dict(Policy(DecayScorer(FixedClock(), Window(HOUR)))))
    assert str(error).startswith("scorers[0].time: FixedClock(instant=datetime.datetime(2025, 1, 1, 12, 0, ")


def test_a_registered_clock_is_read_and_written_by_name() -> None:
    def newsroom() -> datetime:
        return NOW

    CLOCKS.register("newsroom", newsroom)
    policy = policy_from_dict(decay(time="newsroom"))
    assert isinstance(policy.scorer, DecayScorer)
    assert policy.scorer.time_provider is newsroom
    assert policy_to_dict(policy)["scorers"][0]["time"] == "newsroom"
    fresh = ContextItem("fresh", 1, timestamp=NOW)
    assert policy.scorer.score(fresh, [fresh]) == 1.0


@pytest.mark.parametrize(
    ("policy", "path"),
    [
        (Policy(RecencyScorer(), name="a\ud800"), "name"),
        (Policy(RecencyScorer(), description="\udfff"), "description"),
        (Policy(KindScorer({"\ud800": 1})), 'scorers[0].kindWeights["\\ud800"]'),
        (Policy(TagScorer({"\ud800": 1})), 'scorers[0].tagWeights["\\ud800"]'),
        (Policy(MetadataKeyScorer("\ud800", "v", 1)), "scorers[0].key"),
        (Policy(RecencyScorer(), CountQuotaSlice([CountQuotaEntry("\ud800", cap_count=1)])), "slicer.entries[0].kind"),
    ],
)
def test_lone_surrogates_are_not_written(policy: Policy, path: str) -> None:
    """DD-04: UTF-8 cannot hold them."""
    error = refused(lambda: policy_to_dict(policy))
    assert error.path == path
    assert "has a lone surrogate at index" in str(error)


@pytest.mark.parametrize("age", [timedelta.max, timedelta(days=999_999, microseconds=1)])
def test_a_duration_that_is_no_number_of_seconds_is_not_written(age: timedelta) -> None:
    error = refused(lambda: policy_to_dict(Policy(DecayScorer(SystemTimeProvider(), Window(age)))))
    assert error.path == "scorers[0].curve.maxAgeSeconds"
    assert "cannot be written exactly as a number of seconds" in str(error)


def test_a_policy_a_pipeline_or_the_name_of_a_preset_is_written() -> None:
    policy = Policy(RecencyScorer(), KnapsackSlice(50))
    assert policy_to_dict(Pipeline.from_policy(policy)) == policy_to_dict(policy)
    assert policy_to_dict("chat") == policy_to_dict(CHAT)
    with pytest.raises(
        TypeError, match=r"^policy must be a Policy, a Pipeline or the name of a preset, not 5 \(int\)$"
    ):
        policy_to_dict(5)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match=r"^unknown preset 'chatt'"):
        policy_to_dict("chatt")  # type: ignore[arg-type]
