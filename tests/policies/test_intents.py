"""Which policy for which purpose."""

from __future__ import annotations

from typing import Any

import pytest

from pycupel import Pipeline, Policy, RecencyScorer
from pycupel.errors import InvalidArgumentError
from pycupel.policies import CHAT, PRESETS, RAG, PolicyRegistry

MINE = Policy(RecencyScorer(), name="mine")


def test_a_registry_starts_empty() -> None:
    """REFERENCE-FACTS 2: presets are not registered by themselves."""
    registry = PolicyRegistry()
    assert (len(registry), list(registry), registry.try_get_policy("chat")) == (0, [], None)
    with pytest.raises(InvalidArgumentError) as caught:
        registry.get_policy("chat")
    assert caught.value.__notes__ == ["Registered intents: none"]


def test_a_registry_can_start_with_the_presets() -> None:
    registry = PolicyRegistry.with_presets()
    assert {intent: registry.get_policy(intent) for intent in registry} == dict(PRESETS)


@pytest.mark.parametrize("intent", ["code-review", "code_review", "CodeReview", "CODEREVIEW"])
def test_an_intent_is_found_in_any_spelling(intent: str) -> None:
    registry = PolicyRegistry().add_policy("code-review", MINE)
    assert intent in registry
    assert registry.get_policy(intent) is MINE


def test_a_policy_is_added_as_a_pipeline_or_by_the_name_of_a_preset() -> None:
    pipeline = Pipeline.from_policy(MINE)
    registry = PolicyRegistry().add_policy("talk", "chat").add_policy("search", pipeline)
    assert registry.get_policy("talk") is CHAT
    assert registry.get_policy("search") is pipeline
    with pytest.raises(InvalidArgumentError, match=r"^unknown preset 'chatt'"):
        registry.add_policy("talk", "chatt")  # type: ignore[arg-type]


def test_case_does_not_matter_but_blanks_do() -> None:
    """REFERENCE-FACTS 2: keys are case-insensitive; DM-09 for what that means."""
    registry = PolicyRegistry().add_policy("Code Search", MINE)
    assert registry.get_policy("code search") is registry.try_get_policy("CODE SEARCH") is MINE
    assert "code SEARCH" in registry
    assert "code" not in registry
    assert 5 not in registry
    assert list(registry) == ["Code Search"]
    registry.add_policy("\u212a", RAG)
    assert "k" not in registry


def test_adding_chains_and_the_last_one_wins() -> None:
    """REFERENCE-FACTS 2: AddPolicy overwrites and chains."""
    registry = PolicyRegistry().add_policy("a", CHAT).add_policy("b", RAG).add_policy("a", MINE)
    assert (len(registry), list(registry)) == (2, ["a", "b"])
    assert registry.get_policy("a") is MINE


@pytest.mark.parametrize("intent", ["code_review", "CodeReview", "Code-Review"])
def test_another_spelling_of_a_registered_intent_is_refused(intent: str) -> None:
    """Otherwise one of two policies would be lost silently, as with kinds (DM-12)."""
    registry = PolicyRegistry().add_policy("code-review", MINE)
    with pytest.raises(InvalidArgumentError) as caught:
        registry.add_policy(intent, RAG)
    assert str(caught.value) == (
        f"intent {intent!r} is already registered as 'code-review'; use that spelling to replace its policy"
    )
    assert (caught.value.argument, caught.value.value) == ("intent", intent)
    assert registry.get_policy(intent) is MINE


def test_an_unknown_intent_is_refused_in_the_words_of_dot_net_with_a_suggestion() -> None:
    """REFERENCE-FACTS 2: "No policy registered for intent '<intent>'."."""
    registry = PolicyRegistry().add_policy("search", RAG).add_policy("talk", CHAT)
    with pytest.raises(InvalidArgumentError) as caught:
        registry.get_policy("serch")
    assert str(caught.value) == "No policy registered for intent 'serch'."
    assert caught.value.__notes__ == ["Registered intents: search, talk; did you mean 'search'?"]
    assert (caught.value.argument, caught.value.value) == ("intent", "serch")


@pytest.mark.parametrize("intent", ["", " \t", "-", "_ -"])
def test_blank_intents_are_refused_everywhere(intent: str) -> None:
    """REFERENCE-FACTS 2."""
    registry = PolicyRegistry()
    for action in (registry.get_policy, registry.try_get_policy, lambda name: registry.add_policy(name, MINE)):
        with pytest.raises(InvalidArgumentError, match=r"^intent must not be blank$"):
            action(intent)


def test_wrong_types_are_refused() -> None:
    registry: Any = PolicyRegistry()
    with pytest.raises(
        TypeError, match=r"^policy must be a Policy, a Pipeline or the name of a preset, not 5 \(int\)$"
    ):
        registry.add_policy("talk", 5)
    with pytest.raises(TypeError, match=r"^intent must be a str, not 5 \(int\)$"):
        registry.add_policy(5, MINE)
    with pytest.raises(TypeError, match=r"^intent must be a str, not None \(NoneType\)$"):
        registry.get_policy(None)


def test_a_registry_shows_how_much_it_holds() -> None:
    assert repr(PolicyRegistry.with_presets()) == "<PolicyRegistry: 7 policies>"
    assert repr(PolicyRegistry().add_policy("mine", MINE)) == "<PolicyRegistry: 1 policy>"
