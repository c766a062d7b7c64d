"""What other libraries do to a history when they trim it, beside what pycupel does (ECOSYSTEM A.4)."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import litellm
import pytest
from langchain_core.messages import convert_to_messages, trim_messages

from pycupel.messages import lint_messages, select_messages
from tests.integrations_env.a.comparison import PAGE, SESSIONS, SHARES, compare, documented_comparisons
from tests.integrations_env.a.trimmers import TRIMMERS
from tests.integrations_env.sessions import count_words

HISTORY: list[dict[str, Any]] = [
    {"role": "system", "content": "You are helpful."},
    {"role": "user", "content": "What is the weather like in Paris?"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Paris"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "Sunny, 21 degrees, no rain is expected before Friday."},
    {"role": "assistant", "content": "It is sunny in Paris."},
    {"role": "user", "content": "And tomorrow?"},
]


def rules_broken(messages: list[Any]) -> set[str]:
    return {finding.rule for finding in lint_messages(messages, "openai")}


def test_langchain_leaves_an_orphan_at_the_start() -> None:
    kept = trim_messages(convert_to_messages(HISTORY[1:]), strategy="last", max_tokens=3, token_counter=len)
    assert [message.type for message in kept] == ["tool", "ai", "human"]
    assert rules_broken(kept) == {"orphan-tool-result"}


def test_langchain_leaves_a_call_without_its_result_at_the_end() -> None:
    kept = trim_messages(convert_to_messages(HISTORY[1:]), strategy="first", max_tokens=2, token_counter=len)
    assert [message.type for message in kept] == ["human", "ai"]
    assert rules_broken(kept) == {"open-tool-call"}


def test_litellm_leaves_orphans_or_calls_without_results() -> None:
    broken = {budget: rules_broken(litellm.utils.trim_messages(HISTORY, max_tokens=budget)) for budget in range(20, 80)}
    assert {"orphan-tool-result"} in broken.values()


@pytest.mark.parametrize("budget", range(20, 80))
def test_pycupel_leaves_neither(budget: int) -> None:
    assert rules_broken(select_messages(HISTORY, budget, counter=count_words).messages) == set()


def test_the_documentation_compares_the_same_trimmers_and_versions() -> None:
    assert list(documented_comparisons()) == list(TRIMMERS)
    page = PAGE.read_text(encoding="utf-8")
    for package in ("langchain-core", "litellm", "llama-index-core"):
        assert f"{package} {version(package)}" in page


@pytest.mark.parametrize("name", TRIMMERS)
def test_the_comparison_in_the_documentation_is_what_is_measured(name: str) -> None:
    """200 trims: five sessions at 40 budgets. And one session trimmed before each call of the model."""
    assert len(SESSIONS) * len(SHARES) == 200
    documented, measured = documented_comparisons()[name], compare(TRIMMERS[name])
    assert documented.invalid == measured.invalid
    assert documented.reused == pytest.approx(measured.reused, abs=0.02)


def test_providers_accept_what_pycupel_leaves_and_can_reuse_most_of_it() -> None:
    rows = documented_comparisons()
    ours = rows.pop("pycupel, `select_messages`")
    assert ours.invalid == 0 < rows["litellm, `trim_messages`"].invalid
    assert ours.reused > max(row.reused for row in rows.values())
