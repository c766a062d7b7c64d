"""What every mistake in a policy document says, and where it is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from pycupel import GreedySlice, Policy, QuotaSlice, RecencyScorer, ScaledScorer, Slicer
from pycupel.policies import policy_from_dict, policy_to_dict
from pycupel.policies.strategies import name_as_in_policies
from pycupel.registry import PLACERS
from tests import registries
from tests.policies.samples import COUNTS, RECENCY, SHARES, decay, mistake, mistakes, read, refused, scorer_of


@pytest.fixture(autouse=True)
def _keep_the_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    registries.keep(monkeypatch)


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("slicertype", "slicerType"),
        ("slicer-type", "slicerType"),
        ("SlicerType", "slicerType"),
        ("placerTyp", "placerType"),
        ("deduplicationEnable", "deduplicationEnabled"),
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
            "tagWeights: duplicate tag 'A' (with case_insensitive=True)",
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
            "curve.windows: must be sorted from youngest to oldest, but windows[1] ends at 0:00:05",
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
        "boosted, relevance, fused"
    )
    assert mistakes({"scorers": [{"type": "embedding"}, {"type": "recencey"}]}) == [
        f"scorers[0].type: unknown scorer 'embedding'; choose from {known}",
        f"scorers[1].type: unknown scorer 'recencey'; choose from {known}; did you mean 'recency'?",
    ]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"name": 5}, "name: must be a string, not 5 (int)"),
        ({"description": "\ud800"}, "description: has a lone surrogate at index 0, which UTF-8 cannot encode"),
        ({"deduplicationEnabled": "yes"}, "deduplicationEnabled: must be true or false, not 'yes' (str)"),
        ({"deduplication": True}, "deduplication: must be one of normalized, not True (bool)"),
        (
            {"deduplicationEnabled": False, "deduplication": "normalized"},
            "deduplication: needs deduplicationEnabled: true",
        ),
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
            f"placerType: unknown placer 'ushape'; choose from {', '.join(PLACERS)}; did you mean 'uShaped'?",
        ),
        ({"placer": "uShaped"}, "placer: must be an object with a type, not 'uShaped' (str)"),
        (
            {"placer": {"type": "uShaped"}, "placerType": "uShaped"},
            "placer: cannot be combined with placerType; set the type in the object",
        ),
        (
            {"slicerType": "gredy"},
            (
                "slicerType: unknown slicer 'gredy'; choose from greedy, knapsack, stream, quota, countQuota, "
                "countConstrainedKnapsack, minScore; did you mean 'greedy'?"
            ),
        ),
        (
            {"slicerType": "countQuota"},
            'slicerType: needs options; write it as an object: "slicer": {"type": "countQuota", "entries": ...}',
        ),
        (
            {"slicerType": "greedy", "slicer": {"type": "greedy"}},
            "slicer: cannot be combined with slicerType; set the type in the object",
        ),
        (
            {"slicer": {"type": "greedy"}, "quotas": SHARES},
            "quotas: cannot be combined with slicer; set the entries in the object",
        ),
        ({"slicerType": "greedy", "slicer_type": "greedy"}, "slicerType: is given twice: also as slicer_type"),
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
            "quotas[0].minPercent: minPercent (60) must not exceed maxPercent (5.5)",
        ),
        (
            {"quotas": [{"kind": "A", "minPercent": 60}, {"kind": "B", "minPercent": 60}]},
            "quotas: the required percentages must not exceed 100 in total, but are 120.0",
        ),
        (
            {"quotas": [{"kind": "A", "minPercent": 6}, {"kind": "a", "minPercent": 6}]},
            "quotas: duplicate kind 'a' (kinds are case-insensitive)",
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
            {"type": "countQuota", "entries": [{"kind": "A", "capCount": 1}, {"kind": "a", "capCount": 1}]},
            "entries: duplicate kind 'a' (kinds are case-insensitive)",
        ),
        (
            {"type": "countQuota", "entries": [{"kind": "Note", "capCount": 1, "requireCount": 2}]},
            "entries[0].requireCount: requireCount (2) must not exceed capCount (1)",
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


def test_weights_that_do_not_go_together_do_not_hide_other_mistakes() -> None:
    document = {"name": 5, "scorers": [{"type": "recency", "weight": 1e308}] * 2, "slicerType": "gredy"}
    assert [each.partition(": ")[0] for each in mistakes(document)] == ["name", "scorers", "slicerType"]


# --- nesting


def nested(levels: int, wrap: Callable[[Any], Any], core: Any) -> Any:
    for _ in range(levels):
        core = wrap(core)
    return core


@pytest.mark.unmeasured
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
    assert text.endswith(("scorers may be nested at most 100 levels deep, not 101", "is nested too deeply"))


def test_a_composite_that_is_one_level_too_deep_because_of_the_policy_is_refused() -> None:
    deepest: Any = nested(100, lambda inner: {"type": "scaled", "innerScorer": inner}, RECENCY)
    assert isinstance(scorer_of(deepest), ScaledScorer)
    assert mistakes({"scorers": [deepest, RECENCY]}) == [
        "scorers: scorers may be nested at most 100 levels deep, not 101"
    ]


def test_slicers_that_are_nested_too_deeply_are_refused_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    document: Any = nested(10_000, lambda inner: {"type": "quota", "entries": [], "inner": inner}, {"type": "greedy"})
    assert mistake(slicer=document) == "is nested too deeply"
    monkeypatch.setattr("pycupel.model.checks.MAX_NESTING", 10_000)
    slicer: Slicer = nested(sys.getrecursionlimit(), lambda inner: QuotaSlice([], inner), GreedySlice())
    assert str(refused(lambda: policy_to_dict(Policy(RecencyScorer(), slicer)))) == "is nested too deeply"


def test_the_text_of_an_error_lists_the_first_mistakes_and_counts_the_others() -> None:
    """30,000 wrong names were a message of 6.3 MB."""
    error = refused(lambda: policy_from_dict({"scorers": [{"type": "recensy"}] * 3_000}))
    first, *lines, last = str(error).splitlines()
    assert (first, len(lines), last) == ("there are 3,000 mistakes in the policy:", 50, "  and 2,950 more")
    assert len(error.errors) == 3_000
    few = refused(lambda: policy_from_dict({"scorers": [{"type": "recensy"}] * 50}))
    assert not str(few).endswith("more")


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("add a RelevanceScorer, or choose another", "add the scorer 'relevance', or choose another"),
        ("use QuotaSlice(..., redistribute=True)", "use the slicer 'quota' with 'redistribute' true"),
        ("KnapsackSlice(bucket_size=1)", "the slicer 'knapsack' with 'bucketSize' 1"),
        ("use ScaledScorer(ReflexiveScorer())", "use the scorer 'scaled' around the scorer 'reflexive'"),
        ("list them in FramedPlacer(first=...)", "list them in the placer 'framed' with 'first'"),
        # What no file can name, and what is quoted, stays as it is.
        ("use a SimilarityScorer, or MyScorer(a=3)", "use a SimilarityScorer, or MyScorer(a=3)"),
        ("the kind 'GreedySlice'", "the kind 'GreedySlice'"),
    ],
)
def test_a_sentence_can_name_strategies_as_files_do(sentence: str, told: str) -> None:
    assert name_as_in_policies(sentence) == told
