"""What chat messages cost, in the shapes of each provider.

The tests count with `len`, so a text costs its letters: what is expected is the letters of what the model reads, and
the prices of what is not text.
"""

from __future__ import annotations

from collections import UserDict
from enum import StrEnum
from typing import Any

import pytest

from pycupel import tokens
from pycupel.errors import InvalidArgumentError, ProviderAmbiguousError
from pycupel.messages import select_messages, to_items
from pycupel.messages.counting import count_messages
from pycupel.messages.providers import PROVIDERS
from pycupel.tokens import get_counter
from tests.messages import histories
from tests.messages.stand_ins import as_object

SMALL, LARGE = "iVBORw0K" * 128, "iVBORw0K" * 131_072


def cost(message: Any, provider: str = "openai") -> int:
    """Without what each message adds."""
    return PROVIDERS[provider].price([message], len) - PROVIDERS[provider].prices.message


def call(name: str = "search", arguments: Any = '{"q":1}', **fields: Any) -> dict[str, Any]:
    return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}, **fields}


def said(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(parts)}


def shown(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


OPENAI: dict[str, tuple[Any, int]] = {
    "text": ({"role": "user", "content": "hello"}, 5),
    "nothing": ({"role": "assistant", "content": None}, 0),
    "text parts": (said({"type": "text", "text": "hello"}, {"type": "text", "text": "you"}), 8),
    "name": ({"role": "user", "name": "Ann", "content": "hello"}, 9),
    "refusal": ({"role": "assistant", "content": None, "refusal": "No."}, 3),
    "refusal part": ({"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}, 3),
    "call": ({"role": "assistant", "content": None, "tool_calls": [call()]}, 13),
    "calls": ({"role": "assistant", "content": "", "tool_calls": [call(), call("f", "{}")]}, 16),
    "call and text": ({"role": "assistant", "content": "Hm.", "tool_calls": [call()]}, 16),
    "call without content": ({"role": "assistant", "tool_calls": [call()]}, 13),
    "call and thought": ({"role": "assistant", "reasoning_content": "Hm.", "tool_calls": [call()]}, 16),
    "call and refusal": ({"role": "assistant", "content": None, "refusal": "No.", "tool_calls": [call()]}, 16),
    "call with a dict": ({"role": "assistant", "content": None, "tool_calls": [call(arguments={"q": 1})]}, 13),
    "custom call": (
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"type": "custom", "custom": {"name": "f", "input": "x=1"}}],
        },
        4,
    ),
    "old call": ({"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}, 3),
    "no calls": ({"role": "assistant", "content": None, "tool_calls": []}, 0),
    "calls are none": ({"role": "assistant", "content": "Hm.", "tool_calls": None}, 3),
    "result": ({"role": "tool", "tool_call_id": "call_1", "content": "sunny"}, 5),
    "named result": ({"role": "tool", "tool_call_id": "call_1", "name": "search", "content": "sunny"}, 12),
    "result in parts": ({"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "sunny"}]}, 5),
    "reasoning": ({"role": "assistant", "content": "Yes.", "reasoning": "Hm."}, 7),
    "picture": (said({"type": "image_url", "image_url": {"url": SMALL}}), 765),
    "low picture": (said({"type": "image_url", "image_url": {"url": SMALL, "detail": "low"}}), 85),
    "high picture": (said({"type": "image_url", "image_url": {"url": SMALL, "detail": "high"}}), 765),
    "auto picture": (said({"type": "image_url", "image_url": {"url": SMALL, "detail": "auto"}}), 765),
    "picture by its address": (said({"type": "image_url", "image_url": "https://pictures.invalid/1"}), 765),
    "audio": (said({"type": "input_audio", "input_audio": {"data": SMALL, "format": "wav"}}), 1000),
    "file": (said({"type": "file", "file": {"file_data": SMALL, "filename": "a.pdf"}}), 2265),
}
RESPONSES: dict[str, tuple[Any, int]] = {
    "text": ({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}, 5),
    "answer": ({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}, 2),
    "call": ({"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": '{"q":1}'}, 8),
    "result": ({"type": "function_call_output", "call_id": "c", "output": "sunny"}, 5),
    "result in parts": ({"type": "function_call_output", "output": [{"type": "input_text", "text": "sunny"}]}, 5),
    "picture as result": (
        {"type": "function_call_output", "output": [{"type": "input_image", "image_url": SMALL}]},
        765,
    ),
    "reasoning": (
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "x" * 80},
        13,
    ),
    "reasoning without summary": ({"type": "reasoning", "summary": [], "encrypted_content": None}, 0),
    "compaction": ({"type": "compaction", "encrypted_content": "x" * 81}, 10),
    "custom call": ({"type": "custom_tool_call", "name": "f", "input": "x=1"}, 4),
    "custom result": ({"type": "custom_tool_call_output", "output": "sunny"}, 5),
    "computer": ({"type": "computer_call", "action": {"type": "click", "x": 1}}, len('{"type":"click","x":1}')),
    "screenshot": (
        {"type": "computer_call_output", "output": {"type": "computer_screenshot", "image_url": SMALL}},
        765,
    ),
    "shell": ({"type": "shell_call", "action": {"commands": ["ls"]}}, len('{"commands":["ls"]}')),
    "shell's output": ({"type": "shell_call_output", "output": [{"stdout": "a.py", "stderr": "no"}]}, 6),
    "patch": ({"type": "apply_patch_call", "operation": {"diff": "+a"}}, len('{"diff":"+a"}')),
    "patch's output": ({"type": "apply_patch_call_output", "output": "done"}, 4),
    "interpreter": ({"type": "code_interpreter_call", "code": "1+1", "outputs": [{"type": "logs", "logs": "2"}]}, 4),
    "file search": ({"type": "file_search_call", "queries": ["a", "b"]}, len('["a","b"]')),
    "found tools": ({"type": "tool_search_output", "tools": [{"name": "f"}]}, len('[{"name":"f"}]')),
    "drawn picture": ({"type": "image_generation_call", "result": SMALL}, 765),
    "picture": (said({"type": "input_image", "image_url": SMALL, "detail": "auto"}), 765),
    "low picture": (said({"type": "input_image", "image_url": SMALL, "detail": "low"}), 85),
    "file": (said({"type": "input_file", "file_data": SMALL, "filename": "a.pdf"}), 2265),
    "reference": ({"type": "item_reference", "id": "msg_1"}, 0),
}
ANTHROPIC: dict[str, tuple[Any, int]] = {
    "text": (said({"type": "text", "text": "hello", "cache_control": {"type": "ephemeral"}}), 5),
    "call": (
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"q": 1}}]},
        8 + 88,
    ),
    "result": (said({"type": "tool_result", "tool_use_id": "t", "content": "sunny", "is_error": False}), 5),
    "result in blocks": (said({"type": "tool_result", "content": [{"type": "text", "text": "sunny"}]}), 5),
    "no result": (said({"type": "tool_result", "tool_use_id": "t"}), 0),
    "picture as result": (
        said({"type": "tool_result", "content": [{"type": "image", "source": {"data": SMALL}}]}),
        1600,
    ),
    "document as result": (
        said({"type": "tool_result", "content": [{"type": "document", "source": {"type": "text", "data": "hello"}}]}),
        5,
    ),
    "unknown part as result": (
        said({"type": "tool_result", "content": [{"type": "poll", "votes": 1}]}),
        len('{"type":"poll","votes":1}'),
    ),
    "thinking": (
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "x" * 80}]},
        13,
    ),
    "redacted thinking": ({"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x" * 80}]}, 10),
    "nothing redacted": ({"role": "assistant", "content": [{"type": "redacted_thinking", "data": None}]}, 0),
    "picture": (said({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": SMALL}}), 1600),
    "document": (said({"type": "document", "source": {"type": "base64", "data": SMALL}}), 3100),
    "document with text": (said({"type": "document", "source": {"type": "text", "data": "hello"}}), 5),
    "document of blocks": (
        said({"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "hello"}]}}),
        5,
    ),
    "document of a text": (said({"type": "document", "source": {"type": "content", "content": "hello"}}), 5),
    "document elsewhere": (said({"type": "document", "source": {"type": "url", "url": "https://a.invalid"}}), 3100),
    "file for the container": (said({"type": "container_upload", "file_id": "file_1"}), 3100),
    "search result": (
        said({"type": "search_result", "source": "a", "title": "News", "content": [{"type": "text", "text": "hello"}]}),
        9,
    ),
    "web search": (
        {
            "role": "assistant",
            "content": [
                {"type": "server_tool_use", "name": "web_search", "input": {"query": "a"}},
                {
                    "type": "web_search_tool_result",
                    "content": [{"type": "web_search_result", "title": "News", "encrypted_content": "x" * 80}],
                },
            ],
        },
        88 + len("web_search") + len('{"query":"a"}') + 4 + 10,
    ),
}
GEMINI: dict[str, tuple[Any, int]] = {
    "text": (shown({"text": "hello"}), 5),
    "bare text": ({"role": "user", "parts": "hello"}, 5),
    "bare texts": (shown("hello", "you"), 8),
    "thought": ({"role": "model", "parts": [{"text": "Hm.", "thought": True, "thought_signature": b"x" * 80}]}, 13),
    "call": ({"role": "model", "parts": [{"function_call": {"id": "1", "name": "f", "args": {"q": 1}}}]}, 8 + 12),
    "call on the wire": (
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"q": 1}}, "thoughtSignature": "x" * 80}]},
        18 + 12,
    ),
    "result": (shown({"function_response": {"name": "f", "response": {"q": 1}}}), 8),
    "result on the wire": (shown({"functionResponse": {"name": "f", "response": {"q": 1}}}), 8),
    "picture as result": (
        shown({"function_response": {"name": "f", "parts": [{"inline_data": {"mime_type": "image/png"}}]}}),
        1121,
    ),
    "code": ({"role": "model", "parts": [{"executable_code": {"code": "1+1", "language": "PYTHON"}}]}, 3),
    "code as a text": ({"role": "model", "parts": [{"executable_code": "1+1"}]}, 3),
    "code on the wire": ({"role": "model", "parts": [{"executableCode": {"code": "1+1"}}]}, 3),
    "code's output": ({"role": "model", "parts": [{"code_execution_result": {"output": "2"}}]}, 1),
    "code's output on the wire": ({"role": "model", "parts": [{"codeExecutionResult": {"output": "2"}}]}, 1),
    "picture": (shown({"inline_data": {"mime_type": "image/png", "data": SMALL}}), 1120),
    "picture on the wire": (shown({"inlineData": {"mimeType": "image/png", "data": SMALL}}), 1120),
    "picture elsewhere": (shown({"file_data": {"mime_type": "image/png", "file_uri": "gs://a"}}), 1120),
    "audio": (shown({"inline_data": {"mime_type": "audio/wav", "data": SMALL}}), 3200),
    "file": (shown({"fileData": {"mimeType": "application/pdf", "fileUri": "gs://a"}}), 1500),
    "call by the server": (
        {"role": "model", "parts": [{"tool_call": {"id": "1", "tool_type": "SEARCH", "args": {"q": 1}}}]},
        13 + 12,
    ),
    "call by the server on the wire": (
        {"role": "model", "parts": [{"toolCall": {"toolType": "SEARCH", "args": {"q": 1}}}]},
        13 + 12,
    ),
    "result by the server": (
        {"role": "model", "parts": [{"tool_response": {"tool_type": "SEARCH", "response": {"q": 1}}}]},
        13,
    ),
    "result by the server on the wire": (
        {"role": "model", "parts": [{"toolResponse": {"toolType": "SEARCH", "response": {"q": 1}}}]},
        13,
    ),
    "file of some kind": (shown({"file_data": {"file_uri": "gs://a"}}), 1500),
}
MISTRAL: dict[str, tuple[Any, int]] = {
    "text": ({"role": "user", "content": "hello"}, 5),
    "call": ({"role": "assistant", "content": "", "tool_calls": [call(index=0)]}, 14 + 60),
    "result": ({"role": "tool", "tool_call_id": "c", "name": "f", "content": "sunny"}, 6 + 2),
    "call with a dict": ({"role": "assistant", "content": "", "tool_calls": [call(arguments={"q": 1})]}, 13 + 60),
    "result of two lines": ({"role": "tool", "tool_call_id": "c", "content": "a\nb"}, 3 + 3),
    "result of JSON": ({"role": "tool", "tool_call_id": "c", "content": '{"q":1,"r":2}'}, 13 + 3),
    "result in parts": ({"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "sunny"}]}, 5),
    "thinking": (
        {"role": "assistant", "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]},
        3,
    ),
    "picture": (said({"type": "image_url", "image_url": SMALL}), 1406),
    "document": (said({"type": "document_url", "document_url": "https://a.invalid"}), 1500),
}
# What frameworks make of these.
OTHERS: dict[str, tuple[Any, int]] = {
    "calls with args": ({"type": "ai", "content": "", "tool_calls": [{"name": "f", "args": {"q": 1}}]}, 8),
    "invalid calls": ({"type": "ai", "content": "", "invalid_tool_calls": [{"name": "f", "args": "{q"}]}, 3),
    "text twice": ({"type": "ai", "content": "hello", "text": "hello"}, 5),
    "text only": ({"type": "ai", "text": "hello"}, 5),
    "text and parts": ({"type": "ai", "content": [{"type": "text", "text": "hello"}], "text": "hello"}, 5),
    "calls that are no list": ({"role": "assistant", "content": None, "tool_calls": 7}, 0),
    "calls without a function": ({"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}, 0),
    "parts that are none": (said(None, 7, True), 0),
    "a tuple of parts": ({"role": "user", "content": ({"type": "text", "text": "hello"},)}, 5),
    "effort": ({"role": "assistant", "content": "hi", "reasoning": {"effort": "low"}}, 2),
    "video": (said({"type": "video_url", "video_url": {"url": SMALL}}), 2265),
    "video elsewhere": (said({"type": "video", "url": "https://a.invalid"}), 2265),
    "unknown part": (said({"type": "poll", "votes": [1, 2]}), len('{"type":"poll","votes":[1,2]}')),
    "unknown part with data": (said({"type": "scan", "data": SMALL}), len('{"type":"scan","data":""}') + 2265),
    "unknown part with a text": (said({"type": "poll", "text": "x"}), len('{"type":"poll","text":"x"}')),
}
SHAPES = [
    pytest.param(provider, message, tokens, id=f"{provider}: {name}")
    for provider, shapes in (
        ("openai", OPENAI),
        ("responses", RESPONSES),
        ("anthropic", ANTHROPIC),
        ("gemini", GEMINI),
        ("mistral", MISTRAL),
        ("openai", OTHERS),
    )
    for name, (message, tokens) in shapes.items()
]


@pytest.mark.parametrize(("provider", "message", "tokens"), SHAPES)
def test_a_message_costs_what_the_model_reads_of_it(provider: str, message: Any, tokens: int) -> None:
    """Be it a dict, another mapping, or an object of the provider's library."""
    assert cost(message, provider) == tokens
    assert cost(UserDict(message), provider) == tokens
    assert cost(as_object(message), provider) == tokens


@pytest.mark.parametrize(("provider", "message", "tokens"), SHAPES)
def test_what_is_encoded_is_never_counted_by_its_length(provider: str, message: Any, tokens: int) -> None:
    """A megabyte costs what a kilobyte costs."""

    def swollen(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: swollen(each) for name, each in value.items()}
        return [swollen(each) for each in value] if isinstance(value, list) else LARGE if value == SMALL else value

    assert cost(swollen(message), provider) == tokens


def test_the_name_of_an_object_is_no_method_of_it() -> None:
    """Some libraries' messages have methods where others have fields."""

    class Message:
        content = "hello"

        def text(self) -> str:
            return "hello"

        def name(self) -> str:
            return "nobody"

    assert cost(Message()) == 5


def test_texts_of_other_makes_are_texts() -> None:
    class Word(StrEnum):
        HELLO = "hello"

    assert cost({"role": "user", "content": Word.HELLO}) == 5
    assert cost(said({"type": "text", "text": Word.HELLO})) == 5
    assert cost({"type": "custom_tool_call", "name": "f", "input": Word.HELLO}) == 6


def test_arguments_are_counted_as_json_without_blanks() -> None:
    """In the letters that the model sees, and whatever they are made of."""

    class Model:
        def model_dump(self, *, exclude_none: bool) -> dict[str, Any]:
            return {"q": 1} if exclude_none else {"q": 1, "r": None}

    def arguments(value: Any) -> int:
        return cost({"type": "function_call", "arguments": value})

    assert arguments({"city": "Köln", "days": [1, 2]}) == len('{"city":"Köln","days":[1,2]}')
    assert arguments({"at": 1j, (1, 2): "skipped"}) == len('{"at":"1j"}')
    assert arguments(Model()) == len('{"q":1}')
    assert arguments([]) == 2


def test_each_message_adds_something_and_the_reply_is_not_counted() -> None:
    messages = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
    assert count_messages(messages, "openai", len) == (4 + 5) + (4 + 2)
    assert count_messages(messages, "gemini", len) == (2 + 5) + (2 + 2)
    assert count_messages(iter(messages), "auto", len) == count_messages(messages, "openai", len)
    assert count_messages([], "openai", len) == 0


def test_tools_are_counted_as_they_are_sent() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    letters = len('{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}')
    assert count_messages([], "openai", len, tools=[tool]) == letters + 8 + 12
    assert count_messages([], "anthropic", len, tools=iter([tool, tool])) == 2 * (letters + 16) + 346
    assert count_messages([], "anthropic", len, tools=[]) == count_messages([], "anthropic", len) == 0


def test_messages_are_counted_by_any_counter() -> None:
    messages = [{"role": "user", "content": "Hello, world!"}]
    assert count_messages(messages, "openai", "o200k_base") == 4 + 4
    assert count_messages(messages) == 4 + get_counter()("Hello, world!")
    with pytest.raises(InvalidArgumentError, match="cannot be negative"):
        count_messages(messages, counter=lambda text: -1)


@pytest.mark.parametrize("provider", histories.PROVIDERS)
def test_every_provider_has_prices(provider: str) -> None:
    prices = PROVIDERS[provider].prices
    assert all(price >= 0 for price in prices)
    assert min(prices.message, prices.reply, prices.tool, prices.image, prices.audio, prices.file) > 0
    assert prices.small_image <= prices.image


@pytest.mark.parametrize(
    ("provider", "hint"),
    [("opena", "; did you mean 'openai'?"), ("Claude", ""), ("antropic", "; did you mean 'anthropic'?")],
)
def test_an_unknown_provider_is_refused(provider: Any, hint: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        count_messages([], provider)
    names = "auto, openai, responses, anthropic, gemini, mistral, converse, interactions"
    assert str(caught.value) == f"provider must be one of {names}, not {provider!r}{hint}"
    assert caught.value.argument == "provider"


@pytest.mark.parametrize("provider", [None, 7, ["openai"]])
def test_a_provider_is_a_name(provider: Any) -> None:
    with pytest.raises(TypeError, match=r"^provider must be a str"):
        count_messages([], provider)


@pytest.mark.parametrize("value", ["hello", b"hello", None, 7])
def test_only_lists_have_messages_and_tools(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^messages must be a list of messages, not "):
        count_messages(value)
    if value is None:
        return
    with pytest.raises(TypeError, match=r"^tools must be a list of tools, not "):
        count_messages([], tools=value)


@pytest.mark.parametrize("value", [5, 0.5, True, b"Be brief."])
def test_a_plain_value_is_no_system_prompt_and_no_tool(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^system must be a string, blocks or a message, not "):
        count_messages([], system=value)
    for tool in (value, "look_up", None):
        with pytest.raises(TypeError, match=r"^tools\[1\] must be a definition, not "):
            count_messages([], tools=[{"name": "f"}, tool])


def test_selecting_and_counting_agree() -> None:
    messages = [OPENAI["text"][0], OPENAI["call"][0], {**OPENAI["result"][0], "tool_call_id": "call_1"}]
    tokens = sum(each.tokens for each in to_items(messages, "openai", counter=len))
    assert tokens == count_messages(messages, "openai", len)


def test_the_provider_is_told_by_the_messages() -> None:
    thought = {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x" * 80}]}
    picture = {"role": "user", "content": [{"type": "image", "source": {"type": "base64", "data": SMALL}}]}
    assert count_messages([thought, picture], counter=len) == (3 + 10) + (3 + 1600)
    assert count_messages([shown("hello")], counter=len) == 2 + 5
    with pytest.raises(ProviderAmbiguousError):
        count_messages([thought, shown("hello")], counter=len)


def test_names_are_matched_in_any_spelling() -> None:
    name: Any = "Gem-ini"
    assert count_messages([shown("hello")], name, len) == count_messages([shown("hello")], "gemini", len)


def test_calls_that_langchain_holds_twice_are_counted_once() -> None:
    use = {"type": "tool_use", "id": "t", "name": "f", "input": {"q": 1}}
    message = {"type": "ai", "content": [{"type": "text", "text": "Hm."}, use]}
    calls = [{"name": "f", "args": {"q": 1}, "id": "t"}]
    assert cost({**message, "tool_calls": calls}) == cost(message) == 3 + 1 + 7
    assert cost({**message, "tool_calls": calls}, "anthropic") == cost(message, "anthropic") == 3 + 1 + 7 + 88


@pytest.mark.parametrize("kind", ["tool_call", "function_call", "custom_tool_call"])
def test_calls_that_langchain_holds_in_two_shapes_are_counted_once(kind: str) -> None:
    part = {"type": kind, "id": "t", "name": "f", "args": {"q": 1}}
    message = {"type": "ai", "content": [part], "tool_calls": [{"name": "f", "args": {"q": 1}, "id": "t"}]}
    assert cost(message) == 1 + 7
    invalid = {"type": "ai", "content": [part], "tool_calls": [], "invalid_tool_calls": [{"name": "f", "args": "{q"}]}
    assert cost(invalid) == 1 + 2


class Slow(dict[str, Any]):
    """A message that the fast path for plain dicts does not take."""


@pytest.mark.parametrize("model", [None, "gpt-4o", "mistral-large-latest", "claude-sonnet-4-5", "llama-3.1-70b"])
def test_plain_dicts_cost_what_other_messages_cost(model: str | None) -> None:
    """The prices are those of the model, which may be another provider's."""
    call = {"id": "a" * 9, "type": "function", "function": {"name": "look", "arguments": '{"q": "a\\n\\"b"}'}}
    history: list[dict[str, Any]] = [
        {"role": "system", "content": 'Be "brief".\n'},
        {"role": "user", "content": 'Look at "this"\n\tand that.'},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a" * 9, "content": '"quoted"\n' * 20},
    ]
    plain, slow = (
        select_messages(messages, 10_000, provider="openai", model=model, counter=len)
        for messages in (history, [Slow(message) for message in history])
    )
    assert plain.total_tokens == slow.total_tokens
    assert plain.total_tokens == count_messages(history, "openai", len, model=model)


def test_a_result_that_only_looks_like_deeply_nested_json_is_a_text() -> None:
    result = {"role": "tool", "tool_call_id": "a" * 9, "content": "[" * 100_000}
    assert count_messages([result], "mistral", len) > 100_000


def test_what_pycupel_tokens_offers_is_the_same_function() -> None:
    assert tokens.count_messages is count_messages
    assert "count_messages" in dir(tokens)
