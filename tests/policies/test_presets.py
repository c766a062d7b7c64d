"""The seven presets, against their rows."""

from __future__ import annotations

from typing import Any

import pytest

from pycupel import (
    ChronologicalPlacer,
    CompositeScorer,
    FrequencyScorer,
    GreedySlice,
    KindScorer,
    KnapsackSlice,
    OverflowStrategy,
    Policy,
    PriorityScorer,
    RecencyScorer,
    ReflexiveScorer,
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

ROWS: list[tuple[str, str, list[tuple[Any, float]], Any, Any]] = [
    ("chat", "Chat", [(RECENCY, 3), (KIND, 1)], GREEDY, CHRONOLOGICAL),
    ("code-review", "CodeReview", [(KIND, 2), (PRIORITY, 2), (RECENCY, 1)], GREEDY, CHRONOLOGICAL),
    ("rag", "Rag", [(REFLEXIVE, 3), (KIND, 1)], GREEDY, U_SHAPED),
    ("document-qa", "DocumentQa", [(KIND, 2), (REFLEXIVE, 2), (PRIORITY, 1)], KnapsackSlice(100), U_SHAPED),
    ("tool-use", "ToolUse", [(KIND, 2), (RECENCY, 2), (PRIORITY, 1)], GREEDY, CHRONOLOGICAL),
    ("long-running", "LongRunning", [(RECENCY, 3), (FREQUENCY, 1), (KIND, 1)], GREEDY, CHRONOLOGICAL),
    ("debugging", "Debugging", [(PRIORITY, 3), (KIND, 2), (RECENCY, 1)], GREEDY, CHRONOLOGICAL),
]


@pytest.mark.parametrize(("intent", "name", "entries", "slicer", "placer"), ROWS)
def test_every_preset_is_its_row(
    intent: str, name: str, entries: list[tuple[Any, float]], slicer: Any, placer: Any
) -> None:
    """REFERENCE-FACTS 2: deduplication on, overflow Throw, and scorers, slicer and placer of the table."""
    policy = preset(intent)
    assert policy == Policy(
        CompositeScorer(entries),
        slicer,
        placer,
        deduplication=True,
        overflow_strategy=OverflowStrategy.THROW,
        name=name,
        description=policy.description,
    )
    assert policy.description


def test_there_are_seven_presets_and_each_is_a_constant_too() -> None:
    assert list(PRESETS) == [intent for intent, *_ in ROWS]
    for intent, policy in PRESETS.items():
        assert getattr(policies, intent.upper().replace("-", "_")) is policy
        assert preset(intent) is policy


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_a_file_of_the_dot_net_format(name: str) -> None:
    """Flat fields only, so that both implementations read them."""
    document = policy_to_dict(preset(name))
    assert {"slicer", "placer"}.isdisjoint(document)
    for form in FORMATS:
        assert parse_policy(dump_policy(preset(name), form), form) == preset(name)


@pytest.mark.parametrize("name", ["Code-Review", "code_review", "CODE_REVIEW", "CodeReview"])
def test_case_and_hyphens_do_not_matter(name: str) -> None:
    assert preset(name) is policies.CODE_REVIEW


@pytest.mark.parametrize(
    ("name", "near"), [("chatt", "; did you mean 'chat'?"), ("codereviw", "; did you mean 'code-review'?"), ("x", "")]
)
def test_an_unknown_preset_is_refused_with_a_suggestion(name: str, near: str) -> None:
    """API: an unknown name is an `InvalidArgumentError` with a suggestion."""
    with pytest.raises(InvalidArgumentError) as caught:
        preset(name)
    assert str(caught.value) == (
        f"unknown preset {name!r}; choose from chat, code-review, rag, document-qa, tool-use, long-running, "
        f"debugging{near}"
    )
    assert (caught.value.argument, caught.value.value) == ("policy", name)


def test_the_name_of_a_preset_is_a_string() -> None:
    with pytest.raises(TypeError, match=r"^policy must be a str, not None \(NoneType\)$"):
        preset(None)  # type: ignore[arg-type]


def test_presets_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        PRESETS["chat"] = policies.RAG  # type: ignore[index]


def test_the_package_has_no_other_names() -> None:
    with pytest.raises(AttributeError, match=r"^module 'pycupel.policies' has no attribute 'load_polcy'$"):
        policies.load_polcy  # type: ignore[attr-defined]  # noqa: B018 - the access is the test
