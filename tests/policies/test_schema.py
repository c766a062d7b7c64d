"""The JSON Schema, against the validator: both come from one table."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pycupel import RecencyScorer
from pycupel.errors import DocumentError
from pycupel.policies import policy_from_dict, policy_json_schema
from pycupel.registry import SCORERS as SCORER_NAMES
from tests import registries
from tests.policies.samples import COUNTS, FULL, MINIMAL, SCORERS, SHARES, SLICERS

SCHEMA = policy_json_schema()
VALIDATOR = Draft202012Validator(SCHEMA)
RECENCY = {"type": "recency"}


def accepted(document: Any) -> tuple[bool, bool]:
    """What the validator says, and what the schema says."""
    try:
        policy_from_dict(document)
    except DocumentError:
        return False, VALIDATOR.is_valid(document)
    return True, VALIDATOR.is_valid(document)


def policy(**fields: Any) -> dict[str, Any]:
    return {"scorers": [RECENCY], **fields}


def scorer(**fields: Any) -> dict[str, Any]:
    return {"scorers": [fields]}


def decay(**fields: Any) -> dict[str, Any]:
    return scorer(**{"type": "decay", "time": "system", "curve": {"type": "window", "maxAgeSeconds": 60}, **fields})


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_the_schema_is_made_anew_each_time() -> None:
    policy_json_schema()["$defs"].clear()
    assert policy_json_schema() == SCHEMA


def test_editors_are_told_what_fields_are_for() -> None:
    assert SCHEMA["properties"]["slicerType"]["description"] == "the slicer, which selects the items that fit"
    assert SCHEMA["properties"]["slicer_type"] == SCHEMA["properties"]["slicerType"]


def descriptions(strategy: str, name: str) -> dict[str, str]:
    """What the schema says about each option of a type."""
    (case,) = (
        case
        for case in policy_json_schema()["$defs"][strategy]["allOf"]
        if name in case["if"]["properties"]["type"]["enum"]
    )
    return {key: value.get("description", "") for key, value in case["then"]["properties"].items()}


def test_options_are_described_as_in_the_docstring_of_their_class() -> None:
    whole = "How much of the best neighbour's score is added, from 0 to 1."
    assert descriptions("scorer", "relevance")["share"] == whole
    wrapped = descriptions("slicer", "stream")["replace"]
    assert wrapped.startswith(
        "Whether each batch competes with the selection so far: both are sorted by score together"
    )
    assert wrapped.endswith("A later item may then replace earlier ones with lower scores.")
    assert descriptions("slicer", "countConstrainedKnapsack")["knapsack"] == "The slicer that selects the rest."


def test_options_that_are_other_in_a_file_have_another_description() -> None:
    assert descriptions("slicer", "knapsack")["maxCells"].endswith('or "unlimited".')
    assert descriptions("placer", "framed")["first"] == "The kinds to place at the start."


def test_every_option_of_a_built_in_type_is_described() -> None:
    for strategy, definition in SCHEMA["$defs"].items():
        for case in definition["allOf"]:
            name = case["if"]["properties"]["type"]["enum"][0]
            assert [key for key, text in descriptions(strategy, name).items() if not text] == [], name


def test_a_plug_in_may_describe_its_options_too(monkeypatch: pytest.MonkeyPatch) -> None:
    registries.keep(monkeypatch)

    def brief(limit: int = 5, *, unit: str = "words", other: bool = False) -> RecencyScorer:  # noqa: D417
        """Prefer short contents.

        Args:
            limit (int): The length
                of a short content.
            unit: What is counted: words or lines.

        Returns:
            other: This is no parameter.
        """
        return RecencyScorer()

    SCORER_NAMES.register("brief", brief)
    assert descriptions("scorer", "brief") == {
        "limit": "The length of a short content.",
        "unit": "What is counted: words or lines.",
        "other": "",
    }


def test_a_class_without_source_has_no_descriptions(monkeypatch: pytest.MonkeyPatch) -> None:
    registries.keep(monkeypatch)
    space: dict[str, Any] = {}
    exec("class Typed:\n    def __init__(self, limit: int = 1) -> None:\n        self.limit = limit", space)  # noqa: S102
    SCORER_NAMES.register("typed", space["Typed"])
    assert descriptions("scorer", "typed") == {"limit": ""}


def test_the_limits_are_those_of_the_classes() -> None:
    """Also of strategies that nobody described for files, and of the numbers in a list."""
    cases = SCHEMA["$defs"]["shortener"]["allOf"]
    fields = {case["if"]["properties"]["type"]["enum"][0]: case["then"]["properties"] for case in cases}
    assert fields["headAndTail"]["tokens"]["exclusiveMinimum"] == 0
    share = fields["keyLines"]["shares"]["items"]
    assert (share["minimum"], share["maximum"]) == (0, 1)


@pytest.mark.parametrize(
    "document",
    [
        MINIMAL,
        FULL,
        *({"scorers": [entry]} for entry, _ in SCORERS),
        *(policy(slicer=slicer) for slicer, _ in SLICERS),
        policy(placerType="u-shaped"),
        policy(slicer_type="stream", stream_batch_size=8),
        policy(unknown={"what": ["ever"]}),
        scorer(type="metadata-trust", default_score=0.5),
        scorer(type="kind", weight=2, kindWeights={"Note": 0}),
    ],
)
def test_what_is_right_is_right_for_both(document: Any) -> None:
    assert accepted(document) == (True, True)


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        "chat",
        {},
        {"scorers": []},
        {"scorers": RECENCY},
        {"scorers": ["recency"]},
        scorer(),
        scorer(type="recensy"),
        scorer(type=5),
        scorer(type="recency", weight="1"),
        scorer(type="recency", weight=0),
        scorer(type="recency", weight=True),
        scorer(type="kind", kindWeights=[]),
        scorer(type="kind", kindWeights={" ": 1}),
        scorer(type="kind", kindWeights={"Note": -1}),
        scorer(type="kind", kind_weights={"Note": "1"}),
        scorer(type="tag"),
        scorer(type="scaled"),
        scorer(type="scaled", innerScorer={"type": "scaled", "innerScorer": {"type": "tag"}}),
        scorer(type="composite", scorers=[]),
        scorer(type="composite", scorers=[{"type": "recency", "weight": -1}]),
        scorer(type="boosted", innerScorer=RECENCY, boosts=[{}]),
        scorer(type="metadataTrust", defaultScore=1.5),
        scorer(type="metadataKey", key="k", value=1, boost=1),
        scorer(type="metadataKey", key="k", value="v", boost=0),
        decay(time="sytem"),
        decay(time=None),
        decay(curve={"type": "window"}),
        decay(curve={"type": "window", "maxAgeSeconds": 0}),
        decay(curve={"type": "window", "maxAgeSeconds": 6e-7}),
        decay(curve={"type": "window", "maxAgeSeconds": 8.64e13}),
        decay(curve={"type": "step", "windows": []}),
        decay(curve={"type": "step", "windows": [{"maxAgeSeconds": 5, "score": 2}]}),
        decay(nullTimestampScore=-1),
        policy(name=5),
        policy(slicerType="gredy"),
        policy(slicerType="knapsack", knapsackBucketSize=0),
        policy(slicerType="knapsack", knapsackBucketSize=True),
        policy(slicerType="stream", streamBatchSize=1.5),
        policy(quotas=5),
        policy(quotas=[{"minPercent": 5}]),
        policy(quotas=[{"kind": "", "minPercent": 5}]),
        policy(quotas=[{"kind": "Note", "minPercent": 101}]),
        policy(placerType="ushape"),
        policy(placer="uShaped"),
        policy(deduplicationEnabled="yes"),
        policy(slicer={"type": "quota"}),
        policy(slicer={"type": "quota", "entries": SHARES, "inner": {"type": "quota"}}),
        policy(slicer={"type": "knapsack", "maxCells": "unlimted"}),
        policy(slicer={"type": "knapsack", "maxCells": 0}),
        policy(slicer={"type": "countQuota", "entries": [{"kind": "Note"}]}),
        policy(slicer={"type": "countQuota", "entries": COUNTS, "scarcity": "explode"}),
        policy(slicer={"type": "countQuota", "entries": COUNTS, "capOrder": "random"}),
        policy(slicer={"type": "countConstrainedKnapsack", "entries": COUNTS, "knapsack": {"bucketSize": 0}}),
    ],
)
def test_what_is_wrong_is_wrong_for_both(document: Any) -> None:
    assert accepted(document) == (False, False)


@pytest.mark.parametrize(
    "document",
    [
        policy(name=None),
        policy(slicerType=None, quotas=None),
        scorer(type="recency", weight=None),
        scorer(type="kind", kindWeights=None),
        policy(overflowStrategy="Throw"),
        policy(slicerType="KNAPSACK"),
        policy(slicer={"type": "knapsack", "maxCells": "Unlimited"}),
    ],
)
def test_what_only_the_validator_accepts(document: Any) -> None:
    """Deliberate differences: .NET may write null, and an editor completes the usual spellings of names."""
    assert accepted(document) == (True, False)


@pytest.mark.parametrize(
    "document",
    [
        # Names: a schema would have to forbid what it does not know.
        policy(placerTyp="uShaped"),
        scorer(type="recency", wieght=2),
        policy(slicerType="greedy", slicer_type="greedy"),
        # 50.0 is an integer in JSON Schema.
        policy(slicerType="knapsack", knapsackBucketSize=50.0),
        # Fields that do not go together.
        policy(knapsackBucketSize=50),
        policy(slicerType="greedy", streamBatchSize=50),
        policy(slicerType="stream", quotas=SHARES),
        policy(slicerType="greedy", slicer={"type": "greedy"}),
        policy(quotas=SHARES, slicer={"type": "greedy"}),
        policy(placerType="uShaped", placer={"type": "uShaped"}),
        policy(slicerType="quota"),
        policy(deduplicationEnabled=False, dedupeAgainstPinned=True),
        policy(quotas=[{"kind": "Note"}]),
        scorer(type="recency", innerScorer=RECENCY),
        # Values that do not go together.
        policy(quotas=[{"kind": "Note", "minPercent": 60, "maxPercent": 5}]),
        policy(quotas=[{"kind": "A", "minPercent": 60}, {"kind": "B", "minPercent": 60}]),
        policy(quotas=[{"kind": "A", "minPercent": 6}, {"kind": "a", "minPercent": 6}]),
        policy(slicer={"type": "countQuota", "entries": [{"kind": "A", "capCount": 1, "requireCount": 2}]}),
        policy(slicer={"type": "countQuota", "entries": [], "inner": {"type": "knapsack"}}),
        scorer(type="kind", kindWeights={"A": 1, "a": 1}),
        scorer(type="tag", tagWeights={"A": 1, "a": 1}, caseInsensitive=True),
        scorer(type="tag", tagWeights={"a": 1e308, "b": 1e308}),
        scorer(type="composite", scorers=[{"type": "recency", "weight": 1e308}] * 2),
        decay(curve={"type": "step", "windows": [{"maxAgeSeconds": 5, "score": 1}] * 2}),
        # What JSON does not have.
        scorer(type="recency", weight=float("inf")),
        policy(name="\ud800"),
    ],
)
def test_what_only_the_validator_notices(document: Any) -> None:
    """The list of deliberate differences: an editor helps with fields and types, loading checks the rest."""
    assert accepted(document) == (False, True)
