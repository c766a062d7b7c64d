"""Documents with the policies that they describe, and short ways to read one or to have it refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from pycupel import (
    BoostedScorer,
    CompositeScorer,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    CountQuotaSlice,
    DecayScorer,
    FrequencyScorer,
    FusedScorer,
    KindScorer,
    KnapsackSlice,
    MetadataKeyScorer,
    MetadataTrustScorer,
    OverflowStrategy,
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
    UShapedPlacer,
)
from pycupel.errors import DocumentError
from pycupel.policies import policy_from_dict
from pycupel.scorers import Exponential, Step, SystemTimeProvider, Window

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


SCORERS = [
    ({"type": "recency"}, RecencyScorer()),
    ({"type": "priority"}, PriorityScorer()),
    ({"type": "frequency"}, FrequencyScorer()),
    ({"type": "reflexive"}, ReflexiveScorer()),
    ({"type": "reflexive", "rescale": "auto", "by": "none"}, ReflexiveScorer("auto", by=None)),
    ({"type": "fused"}, FusedScorer()),
    ({"type": "fused", "by": "metadata:index", "k": 10}, FusedScorer("metadata:index", k=10)),
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


def decay(**fields: Any) -> dict[str, Any]:
    curve = {"type": "window", "maxAgeSeconds": 60}
    return {"scorers": [{"type": "decay", "time": "system", "curve": curve, **fields}]}
