"""Where a window goes, in the shapes of each provider; what travels beside the messages; shares of a model's window."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from pycupel import ContextBudget
from pycupel.errors import InvalidArgumentError, UnitTooLargeError
from pycupel.messages import Usage, count_messages, select_messages, tokens_by_kind
from pycupel.messages.detect import resolve_provider
from pycupel.messages.options import ProviderName
from pycupel.messages.providers import PROVIDERS
from pycupel.tokens import get_counter
from tests.messages.chats import cost, exchange, long_turn, question, select, small_talk, system
from tests.messages.histories import WRITERS, Exchange
from tests.messages.mistral_oracle import counted_by_mistral


def parts_of(usage: Usage) -> int:
    return usage.system + usage.tools + sum(usage.history.values()) + usage.documents + usage.reply + usage.free


# By kind

CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
SHAPES: list[tuple[ProviderName, Any, dict[str, int]]] = [
    ("openai", {"role": "user", "content": "hello"}, {"user": 9}),
    ("openai", {"role": "developer", "content": "hello"}, {"system": 9}),
    ("openai", {"role": "assistant", "content": "Hm.", "tool_calls": [CALL]}, {"assistant": 7, "tool_calls": 6}),
    (
        "openai",
        {"role": "assistant", "content": None, "tool_calls": [CALL], "refusal": "No."},
        {"assistant": 7, "tool_calls": 6},
    ),
    ("openai", {"role": "assistant", "content": "hi", "reasoning_content": "Hm."}, {"assistant": 6, "thinking": 3}),
    (
        "openai",
        {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "Hm."}]},
        {"assistant": 4, "thinking": 3},
    ),
    ("openai", {"role": "tool", "tool_call_id": "c1", "content": "sunny"}, {"tool_results": 9}),
    (
        "responses",
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"assistant": 4, "tool_calls": 3},
    ),
    ("responses", {"type": "shell_call", "call_id": "c", "action": {}}, {"assistant": 4, "tool_calls": 2}),
    ("responses", {"type": "function_call_output", "call_id": "c", "output": "sunny"}, {"tool_results": 9}),
    (
        "responses",
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "x" * 80},
        {"assistant": 4, "thinking": 13},
    ),
    (
        "anthropic",
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "x" * 80},
                {"type": "text", "text": "Yes."},
                {"type": "tool_use", "id": "t", "name": "f", "input": {}},
            ],
        },
        {"assistant": 7, "thinking": 13, "tool_calls": 3 + 88},
    ),
    (
        "anthropic",
        {
            "role": "assistant",
            "content": [
                {"type": "server_tool_use", "id": "s", "name": "code_execution", "input": {}},
                {"type": "code_execution_tool_result", "tool_use_id": "s", "content": {"stdout": "sunny"}},
                {"type": "text", "text": "Yes."},
            ],
        },
        {"assistant": 7, "tool_calls": 16 + 88, "tool_results": 5},
    ),
    (
        "anthropic",
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "sunny"}]},
                {"type": "text", "text": "Go on."},
            ],
        },
        {"user": 9, "tool_results": 5},
    ),
    (
        "gemini",
        {
            "role": "model",
            "parts": [
                {"text": "Hm.", "thought": True},
                {"text": "Yes."},
                {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "x" * 80},
            ],
        },
        {"assistant": 6, "thinking": 13, "tool_calls": 3 + 12},
    ),
    (
        "gemini",
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}, {"text": "Go on."}]},
        {"user": 8, "tool_results": 3},
    ),
    (
        "mistral",
        {"role": "assistant", "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]},
        {"assistant": 3, "thinking": 3},
    ),
]


@pytest.mark.parametrize(("provider", "message", "kinds"), SHAPES)
def test_the_tokens_of_a_message_by_kind(provider: ProviderName, message: Any, kinds: dict[str, int]) -> None:
    assert tokens_by_kind([message], provider, len) == kinds
    assert sum(kinds.values()) == PROVIDERS[provider].price([message], len)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_kinds_add_up_to_the_total(provider: ProviderName) -> None:
    writer = WRITERS[provider]
    history = [*writer.system("Be brief."), *writer.user("Go.", picture=True)]
    for n in range(5):
        history += writer.exchange(Exchange(((f"call{n:05d}", "read"),), (0,), text="Let me see.", thinks=True))
    history += writer.assistant("So.", thinks=False)
    history += writer.user("And now?", picture=False)
    selection = select(history, 100_000, provider=provider)
    usage = selection.usage
    assert usage.system + sum(usage.history.values()) == selection.total_tokens
    assert {"user", "tool_calls", "tool_results"} <= set(usage.history)
    assert parts_of(usage) == usage.window == 100_000
    assert tokens_by_kind(history, provider, len).get("system", 0) == usage.system


# The window


def test_a_cut_leaves_room() -> None:
    selection = select(long_turn(40), 800)
    usage = selection.usage
    assert parts_of(usage) == usage.window == 800
    assert usage.free == 800 - 3 - selection.total_tokens
    assert usage.reply == 3


def test_the_reserve_is_for_the_reply() -> None:
    usage = select(small_talk(3), ContextBudget(1_000, output_reserve=200)).usage
    assert (usage.window, usage.reply) == (1_000, 203)
    assert parts_of(usage) == 1_000


def test_documents_have_their_part() -> None:
    usage = select(small_talk(3), 1_000, documents=["x" * 100, "y" * 50]).usage
    assert usage.documents == 150
    assert parts_of(usage) == 1_000


def test_what_travels_beside_the_messages_takes_room() -> None:
    history = [question(), *exchange("c1"), question("next")]
    tool = {"type": "function", "function": {"name": "f"}}
    needed = cost(history) + 3 + (4 + 9) + (len('{"type":"function","function":{"name":"f"}}') + 8 + 12)
    selection = select(history, needed, system="Be brief.", tools=[tool])
    assert selection.messages == history
    assert (selection.usage.system, selection.usage.tools, selection.usage.free) == (13, needed - cost(history) - 16, 0)
    assert select(history, needed - 1, system="Be brief.", tools=[tool]).dropped
    with pytest.raises(UnitTooLargeError, match="the system prompt needs 44 tokens"):
        select(history, 40, system="x" * 40)


def test_messages_of_the_system_count_with_the_prompt_beside_them() -> None:
    usage = select([system(), question()], 1_000, system="Be brief.").usage
    assert usage.system == 2 * (4 + 9)
    assert usage.history == {"user": 4 + 8}


# System prompts and tools


@pytest.mark.parametrize(
    ("provider", "prompt"),
    [
        ("anthropic", "Be brief."),
        ("anthropic", [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]),
        ("gemini", "Be brief."),
        ("gemini", {"parts": [{"text": "Be brief."}]}),
        ("gemini", [{"text": "Be "}, {"text": "brief."}]),
        ("gemini", SimpleNamespace(role=None, parts=[SimpleNamespace(text="Be brief.")])),
        ("openai", {"role": "system", "content": "Be brief."}),
    ],
)
def test_a_system_prompt_in_any_shape(provider: ProviderName, prompt: Any) -> None:
    beside = count_messages([], provider, len, system=prompt)
    assert beside == PROVIDERS[provider].prices.message + 9


SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}
AS_SENT = '{"name":"f","description":"Finds.","input_schema":{"type":"object","properties":{"q":{"type":"string"}}}}'
GEMINI = '{"name":"f","description":"Finds."}'


def _find(q: str) -> str:
    """Finds."""
    return q


@pytest.mark.parametrize(
    ("tools", "letters", "number"),
    [
        ([{"name": "f", "description": "Finds.", "input_schema": SCHEMA}], len(AS_SENT), 1),
        ([{"name": "f", "description": "Finds.", "input_schema": SCHEMA, "cache_control": {}}], len(AS_SENT), 1),
        ([{"name": "f", "description": "Finds.", "inputSchema": SCHEMA, "annotations": {"a": 1}}], len(AS_SENT), 1),
        ([SimpleNamespace(name="f", description="Finds.", inputSchema=SCHEMA, meta="x")], len(AS_SENT), 1),
        ([{"function_declarations": 2 * [{"name": "f", "description": "Finds."}]}], 2 * len(GEMINI), 2),
        ([{"functionDeclarations": [{"name": "f", "description": "Finds."}]}], len(GEMINI), 1),
        ([_find], len("_find {'q': 'str', 'return': 'str'} Finds."), 1),
        ([{"type": "web_search"}], len('{"type":"web_search"}'), 1),
        ([], 0, 0),
    ],
)
def test_definitions_of_tools_in_any_shape(tools: list[Any], letters: int, number: int) -> None:
    prices = PROVIDERS["anthropic"].prices
    beside = count_messages([], "anthropic", len, tools=tools)
    assert beside == letters + number * prices.tool + bool(number) * prices.tools


def tool(draw: Random, name: str) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for n in range(draw.randint(0, 5)):
        properties[f"field_{n}"] = {"type": "string", "description": draw.choice(("", "The city.", "Größe in cm"))}
        if draw.random() < 0.4:
            properties[f"field_{n}"]["enum"] = [f"{draw.choice(('celsius', 'b c'))}{i}" for i in range(6)]
    parameters = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "description": "Finds it. ", "parameters": parameters}}


def published(tools: list[dict[str, Any]]) -> int:
    """OpenAI's formula for the definitions of functions, as its cookbook has it for GPT-4o."""
    count = get_counter("o200k_base")
    total = 12
    for function in (each["function"] for each in tools):
        properties = function["parameters"]["properties"]
        total += 7 + count(f"{function['name']}:{function['description']}") + (3 if properties else 0)
        for name, value in properties.items():
            total += 3 + count(f"{name}:{value['type']}:{value['description']}")
            total += sum(3 + count(each) for each in value["enum"]) - 3 if "enum" in value else 0
    return total


@pytest.mark.unmeasured
@pytest.mark.parametrize("seed", range(20))
def test_tools_cost_no_more_than_was_counted(seed: int) -> None:
    draw = Random(seed)
    tools = [tool(draw, f"tool_{n}") for n in range(draw.randint(1, 6))]
    assert published(tools) <= count_messages([], "openai", tools=tools)
    reply = PROVIDERS["mistral"].prices.reply
    assert counted_by_mistral(PLAIN, tools) <= count_messages(PLAIN, "mistral", tools=tools) + reply


# Models


def test_a_budget_may_be_a_share_of_the_window() -> None:
    assert select(small_talk(3), "50%", model="gpt-4o").usage.window == 64_000
    assert select(small_talk(3), " 12.5 % ", model="gpt-4").usage.window == 1_024
    assert select(small_talk(3), "100%", model="claude-sonnet-4-5").usage.window == 200_000
    with pytest.raises(InvalidArgumentError, match="unknown model 'my-own-model'"):
        select(small_talk(3), "50%", model="my-own-model")


def test_a_share_of_nothing_says_what_to_pass() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        select(small_talk(3), "50%")
    assert caught.value.__notes__ == ["Pass model=, or a number of tokens."]


PLAIN: list[Any] = [{"role": "user", "content": "hello"}]
CALLS: list[Any] = [*PLAIN, *exchange("c1")]
CONTENTS: list[Any] = [{"role": "user", "parts": [{"text": "hello"}]}]
BLOCKS: list[Any] = [{"role": "user", "content": [{"type": "image", "source": {}}]}]


@pytest.mark.parametrize(
    ("messages", "provider", "model", "name", "prices"),
    [
        (PLAIN, "auto", None, "openai", "openai"),
        (PLAIN, "auto", "my-own-model", "openai", "openai"),
        (PLAIN, "auto", "gpt-4o", "openai", "openai"),
        (PLAIN, "auto", "claude-opus-4-6", "anthropic", "anthropic"),
        (PLAIN, "auto", "mistral-large-latest", "mistral", "mistral"),
        (PLAIN, "auto", "gemini-2.5-pro", "openai", "gemini"),
        (CALLS, "auto", "claude-opus-4-6", "openai", "anthropic"),
        (CALLS, "auto", "mistral-large-latest", "mistral", "mistral"),
        (CONTENTS, "auto", "mistral-large-latest", "gemini", "mistral"),
        (BLOCKS, "auto", "gpt-4o", "anthropic", "openai"),
        (PLAIN, "responses", "gpt-4o", "responses", "responses"),
        (PLAIN, "openai", "claude-opus-4-6", "openai", "anthropic"),
    ],
)
def test_the_model_says_whose_messages_they_are_where_they_do_not(
    messages: list[Any], provider: str, model: str | None, name: str, prices: str
) -> None:
    found = resolve_provider(messages, provider, model)
    assert found.name == name
    assert found.prices == PROVIDERS[prices].prices


def test_open_models_have_the_prices_of_their_chat_templates() -> None:
    found = resolve_provider(PLAIN, "auto", "llama-3.3-70b-instruct")
    assert (found.name, found.prices.message, found.prices.call) == ("openai", 6, 30)


def test_the_model_decides_how_tokens_are_counted() -> None:
    assert select_messages(PLAIN, 1_000).counter.startswith("o200k_base")
    assert select_messages(PLAIN, 1_000, model="gpt-4").counter.startswith("cl100k_base")
    assert select_messages(PLAIN, 1_000, provider="anthropic").counter.startswith("estimator for anthropic")
    assert select_messages(PLAIN, 1_000, model="claude-opus-4-6", counter=len).counter == "len"
    assert select_messages(PLAIN, 1_000, model="claude-opus-4-6", counter="AUTO").budget.max_tokens == 909 - 3
