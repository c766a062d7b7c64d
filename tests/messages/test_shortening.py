"""Results become shorter before their exchange is dropped."""

from __future__ import annotations

from typing import Any

import pytest

from pycupel.errors import UnitTooLargeError
from pycupel.messages import MessageSelection, lint_messages, select_messages
from pycupel.wire import dumps, loads

PROVIDERS = ("openai", "responses", "anthropic", "gemini", "mistral")


def log(number: int, lines: int = 40) -> str:
    plain = [f"line {i} says nothing of interest to anybody here" for i in range(lines)]
    plain[lines // 2] = f"setting_{number}: src/app/module_{number}.py"
    return "\n".join(plain) + "\n"


def exchange(provider: str, number: int, result: str) -> list[Any]:
    name, call_id = "read_file", f"call{number:05d}"
    arguments = {"path": f"log_{number}.txt"}
    if provider in ("openai", "mistral"):
        call = {
            "id": call_id,
            "type": "function",
            "function": {"name": name, "arguments": str(arguments).replace("'", '"')},
        }
        return [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call_id, "content": result},
        ]
    if provider == "responses":
        return [
            {"type": "function_call", "call_id": call_id, "name": name, "arguments": str(arguments).replace("'", '"')},
            {"type": "function_call_output", "call_id": call_id, "output": result},
        ]
    if provider == "anthropic":
        return [
            {"role": "assistant", "content": [{"type": "tool_use", "id": call_id, "name": name, "input": arguments}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": result}]},
        ]
    return [
        {"role": "model", "parts": [{"functionCall": {"name": name, "args": arguments}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": name, "response": {"result": result}}}]},
    ]


def question(provider: str, text: str) -> Any:
    return {"role": "user", "parts": [{"text": text}]} if provider == "gemini" else {"role": "user", "content": text}


def history(provider: str, results: int) -> list[Any]:
    messages = [question(provider, "What do the logs say?")]
    for number in range(results):
        messages += exchange(provider, number, log(number))
    return messages


def select(messages: list[Any], budget: int, provider: str, **options: Any) -> MessageSelection:
    return select_messages(messages, budget, provider=provider, counter=lambda text: len(text) // 4, **options)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_old_results_are_shortened_before_they_are_dropped(provider: str) -> None:
    messages = history(provider, 20)
    plain = select(messages, 4_000, provider)
    shorter = select(messages, 4_000, provider, shorten="results")
    assert len(shorter.messages) > len(plain.messages)
    assert shorter.shortened
    assert not lint_messages(shorter.messages, provider)  # type: ignore[arg-type]
    assert all(each.tokens < each.original_tokens for each in shorter.shortened)
    changed = {each.index for each in shorter.shortened}
    for n, message in zip(shorter.kept, shorter.messages, strict=True):
        assert (message is messages[n]) is (n not in changed)
    assert shorter.total_tokens <= 4_000
    text = str(shorter.messages)
    assert sum(f"setting_{number}" in text for number in range(20)) > sum(
        f"setting_{number}" in str(plain.messages) for number in range(20)
    )


@pytest.mark.parametrize("provider", PROVIDERS)
def test_versions_are_the_same_in_later_calls_and_never_longer(provider: str) -> None:
    messages = history(provider, 24)
    previous: MessageSelection | None = None
    before: dict[int, Any] = {}
    for end in range(3, len(messages) + 1, 2):
        stateless = select(messages[:end], 3_000, provider, shorten="results")
        chained = select(messages[:end], 3_000, provider, shorten="results", previous=previous)
        assert chained.messages == stateless.messages
        now = dict(zip(stateless.kept, stateless.messages, strict=True))
        sizes = {each.index: each.tokens for each in stateless.shortened}
        for n, message in before.items():
            if n in now and stateless.cut is None:
                assert now[n] == message
        assert set(sizes) <= set(now)
        previous, before = chained, now


def test_excluded_tools_and_small_results_stay() -> None:
    messages = history("openai", 20)
    assert select(messages, 4_000, "openai", shorten="results", exclude=["read_file"]).shortened == ()


def test_a_result_that_must_stay_and_is_too_large_is_shortened() -> None:
    messages = [question("openai", "Read it."), *exchange("openai", 1, log(1, 2_000))]
    with pytest.raises(UnitTooLargeError):
        select(messages, 2_000, "openai")
    selection = select(messages, 2_000, "openai", too_large="shorten")
    assert len(selection.messages) == 3
    assert selection.total_tokens <= 2_000
    assert "setting_1: src/app/module_1.py" in str(selection.messages)
    assert selection.shortened[0].index == 2


def test_what_was_shortened_survives_json() -> None:
    selection = select(history("openai", 20), 4_000, "openai", shorten="results")
    assert loads(MessageSelection, dumps(selection)).shortened == selection.shortened
