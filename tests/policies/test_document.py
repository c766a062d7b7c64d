"""Policies and their dictionaries: what is read and what is written."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any

import pytest

from pycupel import (
    ChronologicalPlacer,
    CompositeScorer,
    ContextBudget,
    ContextItem,
    CountQuotaSlice,
    DecayScorer,
    GreedySlice,
    KindScorer,
    KnapsackSlice,
    MetadataTrustScorer,
    OverflowStrategy,
    Pipeline,
    Policy,
    QuotaEntry,
    QuotaSlice,
    RecencyScorer,
    ScaledScorer,
    ScarcityBehavior,
    Scorer,
    Slicer,
    StreamSlice,
    TagScorer,
    UShapedPlacer,
)
from pycupel.errors import InvalidArgumentError
from pycupel.policies import CHAT, policy_from_dict, policy_json_schema, policy_to_dict
from pycupel.scorers import SystemTimeProvider, Window
from tests import registries
from tests.policies.samples import (
    COUNT_ENTRIES,
    COUNTS,
    FULL,
    FULL_POLICY,
    HOUR,
    MINIMAL,
    SCORERS,
    SHARE_ENTRIES,
    SHARES,
    SLICERS,
    mistakes,
    read,
    scorer_of,
    slicer_of,
)
from tests.strategies import NOW


@pytest.fixture(autouse=True)
def _keep_the_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    registries.keep(monkeypatch)


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
        "deduplicationEnabled deduplication dedupeAgainstPinned overflowStrategy"
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
def test_case_hyphens_and_underscores_in_the_name_of_a_placer_do_not_matter(name: str) -> None:
    assert read(placerType=name).placer == UShapedPlacer()
    assert read(placer={"type": name}).placer == UShapedPlacer()


def test_case_and_hyphens_do_not_matter_in_any_other_name() -> None:
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


def test_normalized_deduplication_is_written_beside_the_flag() -> None:
    """An implementation that does not know the name still deduplicates."""
    policy = Policy(RecencyScorer(), deduplication="normalized")
    document = policy_to_dict(policy)
    assert (document["deduplicationEnabled"], document["deduplication"]) == (True, "normalized")
    assert policy_from_dict(document) == read(deduplication="Normalized") == policy
    assert "deduplication" not in policy_to_dict(Policy(RecencyScorer(), deduplication=False))
    assert policy_json_schema()["properties"]["deduplication"]["enum"] == ["normalized"]


def test_an_opt_in_is_written_only_if_it_is_on() -> None:
    assert "dedupeAgainstPinned" not in policy_to_dict(Policy(RecencyScorer()))
    assert policy_to_dict(Policy(RecencyScorer(), dedupe_against_pinned=True))["dedupeAgainstPinned"] is True


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
