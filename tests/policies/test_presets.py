"""The seven presets, against their rows."""

from __future__ import annotations

from typing import Any

import pytest

from pycupel import (
    ChronologicalPlacer,
    CompositeScorer,
    FramedPlacer,
    FrequencyScorer,
    GreedySlice,
    KindScorer,
    KnapsackSlice,
    OverflowStrategy,
    Policy,
    PriorityScorer,
    PromptPlacer,
    RecencyScorer,
    ReflexiveScorer,
    RelevanceScorer,
    UShapedPlacer,
    policies,
)
from pycupel.errors import InvalidArgumentError
from pycupel.policies import PRESETS, dump_policy, parse_policy, policy_to_dict, preset
from pycupel.policies.files import PolicyFormat

FORMATS: list[PolicyFormat] = ["json", "toml", "yaml"]
RECENCY, KIND, PRIORITY = RecencyScorer(), KindScorer(), PriorityScorer()
REFLEXIVE, FREQUENCY = ReflexiveScorer(), FrequencyScorer()
GREEDY, CHRONOLOGICAL, U_SHAPED = GreedySlice(), ChronologicalPlacer(), UShapedPlacer()

HINTS, QUERY = ReflexiveScorer("auto"), RelevanceScorer(length_exponent=0.15, optional=True)
POSITION = RecencyScorer("position")
CONVERSATION = FramedPlacer(FramedPlacer(ChronologicalPlacer("position"), first=["Memory", "Document"]))
EDGES = PromptPlacer()

ROWS: list[tuple[str, str, list[tuple[Any, float]], Any]] = [
    ("chat", "Chat", [(QUERY, 6), (POSITION, 3), (KIND, 0.5)], CONVERSATION),
    (
        "code-review",
        "CodeReview",
        [(HINTS, 3), (QUERY, 3), (PRIORITY, 1), (POSITION, 0.25), (KIND, 0.25)],
        CONVERSATION,
    ),
    ("rag", "Rag", [(HINTS, 3), (QUERY, 3), (KIND, 0.25)], EDGES),
    ("document-qa", "DocumentQa", [(HINTS, 3), (QUERY, 3), (PRIORITY, 1), (KIND, 0.25)], EDGES),
    ("tool-use", "ToolUse", [(POSITION, 3), (QUERY, 1), (PRIORITY, 1), (KIND, 0.5)], CONVERSATION),
    ("long-running", "LongRunning", [(QUERY, 3), (POSITION, 0.5), (FREQUENCY, 0.25), (KIND, 0.25)], CONVERSATION),
    ("debugging", "Debugging", [(QUERY, 6), (POSITION, 3), (PRIORITY, 3), (KIND, 0.5)], CONVERSATION),
]

UPSTREAM_ROWS: list[tuple[str, list[tuple[Any, float]], Any, Any]] = [
    ("chat", [(RECENCY, 3), (KIND, 1)], GREEDY, CHRONOLOGICAL),
    ("code-review", [(KIND, 2), (PRIORITY, 2), (RECENCY, 1)], GREEDY, CHRONOLOGICAL),
    ("rag", [(REFLEXIVE, 3), (KIND, 1)], GREEDY, U_SHAPED),
    ("document-qa", [(KIND, 2), (REFLEXIVE, 2), (PRIORITY, 1)], KnapsackSlice(100), U_SHAPED),
    ("tool-use", [(KIND, 2), (RECENCY, 2), (PRIORITY, 1)], GREEDY, CHRONOLOGICAL),
    ("long-running", [(RECENCY, 3), (FREQUENCY, 1), (KIND, 1)], GREEDY, CHRONOLOGICAL),
    ("debugging", [(PRIORITY, 3), (KIND, 2), (RECENCY, 1)], GREEDY, CHRONOLOGICAL),
]


@pytest.mark.parametrize(("intent", "name", "entries", "placer"), ROWS)
def test_every_preset_is_its_row(intent: str, name: str, entries: list[tuple[Any, float]], placer: Any) -> None:
    """The table in `docs/policies.md`: all of them take items by score, deduplicate and raise on overflow."""
    policy = preset(intent)
    assert policy == Policy(
        CompositeScorer(entries),
        GreedySlice(cost_exponent=0, best_first=True),
        placer,
        deduplication="normalized" if intent in ("rag", "document-qa") else True,
        overflow_strategy=OverflowStrategy.THROW,
        name=name,
        description=policy.description,
    )
    assert policy.description


@pytest.mark.parametrize(("intent", "entries", "slicer", "placer"), UPSTREAM_ROWS)
def test_the_preset_of_the_dot_net_implementation_is_there_on_demand(
    intent: str, entries: list[tuple[Any, float]], slicer: Any, placer: Any
) -> None:
    """REFERENCE-FACTS 2: deduplication on, overflow Throw, and scorers, slicer and placer of the table."""
    name = preset(intent).name
    assert preset(intent, upstream=True) == Policy(CompositeScorer(entries), slicer, placer, name=name)
    assert preset(intent.upper(), upstream=True) == preset(intent, upstream=True)
    assert preset(intent, upstream=True) != preset(intent)


def test_there_are_seven_presets_and_each_is_a_constant_too() -> None:
    assert list(PRESETS) == [intent for intent, *_ in ROWS]
    for intent, policy in PRESETS.items():
        assert getattr(policies, intent.upper().replace("-", "_")) is policy
        assert preset(intent) is policy


@pytest.mark.parametrize("upstream", [False, True])
@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_written_and_read(name: str, upstream: bool) -> None:
    policy = preset(name, upstream=upstream)
    for form in FORMATS:
        assert parse_policy(dump_policy(policy, form), form) == policy


@pytest.mark.parametrize("name", PRESETS)
def test_every_upstream_preset_is_a_file_of_the_dot_net_format(name: str) -> None:
    """Flat fields and the scorers' own names only, so that both implementations read them."""
    document = policy_to_dict(preset(name, upstream=True))
    flat = {"name", "scorers", "slicerType", "placerType", "deduplicationEnabled", "overflowStrategy"}
    assert document.keys() - {"knapsackBucketSize"} == flat
    assert {key for scorer in document["scorers"] for key in scorer} == {"type", "weight"}


@pytest.mark.parametrize("name", ["Code-Review", "code_review", "CODE_REVIEW", "CodeReview"])
def test_case_and_hyphens_do_not_matter(name: str) -> None:
    assert preset(name) is policies.CODE_REVIEW


@pytest.mark.parametrize(
    ("name", "near"), [("chatt", "; did you mean 'chat'?"), ("codereviw", "; did you mean 'code-review'?"), ("x", "")]
)
def test_an_unknown_preset_is_refused_with_a_suggestion(name: str, near: str) -> None:
    """An unknown name is an `InvalidArgumentError` with a suggestion."""
    with pytest.raises(InvalidArgumentError) as caught:
        preset(name)
    assert str(caught.value) == (
        f"unknown preset {name!r}; choose from chat, code-review, rag, document-qa, tool-use, long-running, "
        f"debugging{near}"
    )
    assert (caught.value.argument, caught.value.value) == ("name", name)


def test_the_name_of_a_preset_is_a_string() -> None:
    with pytest.raises(TypeError, match=r"^name must be a str, not None \(NoneType\)$"):
        preset(None)  # type: ignore[arg-type]


def test_upstream_is_a_bool() -> None:
    with pytest.raises(TypeError, match=r"^upstream must be a bool, not 'yes' \(str\)$"):
        preset("chat", upstream="yes")  # type: ignore[arg-type]


def test_presets_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        PRESETS["chat"] = policies.RAG  # type: ignore[index]
