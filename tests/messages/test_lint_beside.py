"""The linter about what travels beside the messages: the system prompt and the definitions of tools."""

from __future__ import annotations

from typing import Any

import pytest

from pycupel.messages import lint_messages, select_messages
from pycupel.messages.options import ProviderName

HELLO: list[Any] = [{"role": "user", "content": "hello"}]
CACHED = {"cache_control": {"type": "ephemeral"}}
CALLED: list[Any] = [
    *HELLO,
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]},
]


def found(messages: list[Any], provider: ProviderName, **beside: Any) -> list[tuple[int, str, str]]:
    return [(each.index, each.rule, each.severity) for each in lint_messages(messages, provider, **beside)]


@pytest.mark.parametrize("prompt", ["", "  ", [{"type": "text", "text": ""}], [{"type": "text", "text": "a"}, "\n"]])
def test_anthropic_refuses_an_empty_system_prompt(prompt: Any) -> None:
    assert found(HELLO, "anthropic", system=prompt) == [(-1, "empty-text", "error")]
    assert found(HELLO, "openai", system=prompt) == []
    assert found([{"role": "user", "content": [{"text": "hello"}]}], "converse", system=prompt)[0][1] == "empty-text"


@pytest.mark.parametrize("prompt", [None, "Be brief.", [{"type": "text", "text": "Be brief."}], {"parts": []}])
def test_others_are_fine(prompt: Any) -> None:
    assert found(HELLO, "anthropic", system=prompt) == []


def test_blocks_with_cache_control_count_wherever_they_are() -> None:
    cached = [{"role": "user", "content": [{"type": "text", "text": "hello", **CACHED}]}]
    prompt = [{"type": "text", "text": "Be brief.", **CACHED}]
    tools = [{"name": f"f{n}", "input_schema": {}, **CACHED} for n in range(3)]
    assert found(cached, "anthropic", system=prompt, tools=tools[:2]) == []
    assert found(cached, "anthropic", system=prompt, tools=tools) == [(0, "excess-cache-control", "error")]
    both = found(cached, "anthropic", system=5 * prompt)
    assert both == [(-1, "excess-cache-control", "error"), (0, "excess-cache-control", "error")]
    assert select_messages(cached, 10_000, provider="anthropic", system=prompt, tools=tools[:2]).notes == ()
    for beside in ({"system": prompt, "tools": iter(tools)}, {"system": 5 * prompt}):
        [note] = select_messages(cached, 10_000, provider="anthropic", **beside).notes
        assert "more than 4 blocks with cache_control" in note


@pytest.mark.parametrize(
    ("provider", "tools", "severity"),
    [
        ("openai", 2 * [{"type": "function", "function": {"name": "f"}}], "warning"),
        ("openai", 2 * [{"type": "custom", "custom": {"name": "f"}}], "warning"),
        ("anthropic", 2 * [{"name": "f", "input_schema": {}}], "error"),
        ("gemini", [{"functionDeclarations": 2 * [{"name": "f"}]}], "error"),
    ],
)
def test_tools_have_different_names(provider: ProviderName, tools: list[Any], severity: str) -> None:
    messages = [{"role": "user", "parts": [{"text": "hello"}]}] if provider == "gemini" else HELLO
    assert found(messages, provider, tools=tools) == [(-1, "duplicate-tool", severity)]
    [finding] = lint_messages(messages, provider, tools=tools)
    assert finding.message == "the tool 'f' is defined more than once"
    assert found(messages, provider, tools=[{"type": "web_search"}, {"type": "web_search"}]) == []


def test_what_to_do_about_it() -> None:
    [empty] = lint_messages(HELLO, "anthropic", system=" ")
    [missing] = lint_messages(CALLED, "anthropic", tools=[])
    [twice] = lint_messages(HELLO, "anthropic", tools=2 * [{"name": "f", "input_schema": {}}])
    assert empty.remedy == "Remove the empty text."
    assert missing.remedy == "Include the tool definitions in the request."
    assert twice.remedy == "Rename the tool, or remove the duplicate definitions."


def test_calls_need_definitions() -> None:
    assert found(CALLED, "anthropic", tools=[]) == [(1, "missing-tools", "warning")]
    assert found(CALLED, "anthropic") == found(CALLED, "anthropic", tools=[{"name": "f", "input_schema": {}}]) == []
    assert found(HELLO, "anthropic", tools=[]) == []
    use, told = {"toolUse": {"toolUseId": "t", "name": "f"}}, {"toolResult": {"toolUseId": "t", "content": []}}
    asked = [{"role": "user", "content": [{"text": "hello"}]}, {"role": "assistant", "content": [use]}]
    history = [*asked, {"role": "user", "content": [told]}]
    assert found(history, "converse", tools=[]) == [(1, "missing-tools", "error")]
    assert found(history, "converse", tools=[{"toolSpec": {"name": "f"}}]) == found(history, "converse") == []
    with pytest.raises(TypeError, match="tools must be a list of tools"):
        lint_messages(HELLO, tools="f")
