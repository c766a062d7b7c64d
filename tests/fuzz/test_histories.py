"""The trims of `tests.fuzz.histories`, fewer of them."""

from __future__ import annotations

import pytest

from pycupel.messages.options import ProviderName
from tests.fuzz.histories import trims
from tests.messages.histories import PROVIDERS, Message
from tests.messages.independent import rejected, torn


@pytest.mark.parametrize("provider", PROVIDERS)
def test_no_trim_is_invalid(provider: ProviderName) -> None:
    made, cut = trims(provider, 500, seed=1)
    assert made == 500
    assert cut > 100


@pytest.mark.parametrize(
    ("provider", "messages"),
    [
        ("openai", [{"role": "tool", "tool_call_id": "a", "content": ""}]),
        ("anthropic", [{"role": "assistant", "content": "Hello."}]),
        ("gemini", [{"role": "user", "parts": [{"function_response": {"name": "f"}}]}]),
        ("converse", [{"role": "user", "content": [{"text": "a"}]}, {"role": "user", "content": [{"text": "b"}]}]),
        ("interactions", [{"type": "function_result", "call_id": "a"}]),
        ("responses", [{"type": "reasoning"}, {"role": "user"}]),
        ("responses", [{"type": "function_call", "call_id": "a"}, {"role": "user"}]),
        (
            "responses",
            [{"type": "function_call", "call_id": "a"}, *[{"type": "function_call_output", "call_id": "a"}] * 2],
        ),
        ("anthropic", [{"role": "user", "content": " "}]),
        ("anthropic", [{"role": role, "content": "a"} for role in ("user", "assistant", "system")]),
        ("anthropic", [{"role": role, "content": "a"} for role in ("user", "system", "user")]),
        (
            "anthropic",
            [
                {"role": "user", "content": "a"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]},
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "b"}, {"type": "tool_result", "tool_use_id": "a"}],
                },
            ],
        ),
        ("responses", [{"type": "reasoning"}, {"type": "reasoning"}, {"role": "user"}]),
        (
            "gemini",
            [
                {"role": "user", "parts": [{"text": "a"}]},
                {"role": "model", "parts": [{"text": "b"}]},
                {"role": "model", "parts": [{"function_call": {"name": "f"}}]},
            ],
        ),
        (
            "converse",
            [
                {"role": "user", "content": [{"text": "a"}]},
                {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a"}}]},
                {"role": "user", "content": [{"toolResult": {"toolUseId": "a"}}]},
                {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a"}}]},
            ],
        ),
    ],
)
def test_the_rules_find_something(provider: str, messages: list[dict[str, object]]) -> None:
    assert rejected(provider, messages) is not None


def test_thoughts_go_with_what_they_led_to() -> None:
    items: list[Message] = [{"role": "user"}, {"type": "reasoning"}, {"type": "function_call", "call_id": "a"}]
    assert torn("responses", items, (0, 1, 2)) is None
    assert torn("responses", items, (0, 2)) == "messages[2] has lost its reasoning"
    thought, use = {"type": "thinking", "thinking": "Hm."}, {"type": "tool_use", "id": "a"}
    messages: list[Message] = [
        {"role": "user", "content": "a"},
        *({"role": "assistant", "content": [each]} for each in (thought, use)),
    ]
    assert torn("anthropic", messages, (0, 1, 2)) is None
    assert torn("anthropic", messages, (0, 2)) == "the last turn has lost its thinking"


def test_a_compaction_may_come_first_unless_it_failed() -> None:
    for said, found in (("So far.", None), (None, "messages[0]: the user does not speak first")):
        message = {"role": "assistant", "content": [{"type": "compaction", "content": said}]}
        assert rejected("anthropic", [message, {"role": "user", "content": "Now?"}]) == found
