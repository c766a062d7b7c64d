"""Messages with several entries: results and the rest are kept or dropped on their own."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import pytest

from pycupel.integrations._history import (
    Entries,
    HistoryHook,
    HistorySelector,
    HookOptions,
    media_block,
    model_called,
    response_schema,
    response_tools,
    results_and_rest,
)
from pycupel.messages import MessageSelection
from pycupel.messages.providers._writing import Call, MessagePart, openai_part, role_named, text
from pycupel.tokens import count_messages
from tests.integrations.test_history import count_words

# A message is a role and a list of strings: results are "call=text", calls are "call()".
Message = tuple[str, list[str]]


def _result(entry: str) -> MessagePart | None:
    call, is_result, said = entry.partition("=")
    return MessagePart("tool", [text(said)], answers=call) if is_result else None


def _rest(message: Message, entries: Any) -> MessagePart:
    calls = [Call(each[:-2], "look_up", {}) for each in entries if each.endswith("()")]
    role: Any = message[0]
    return MessagePart(role, [text(each) for each in entries if not each.endswith("()")], calls)


ENTRIES = Entries(
    of=itemgetter(1),
    pieces=results_and_rest(itemgetter(1), _result, _rest),
    copied=lambda message, entries: (message[0], entries),
    with_text=lambda entry, shorter: f"{entry.partition('=')[0]}={shorter}",
)


def sent(messages: list[Message], budget: int = 200, **options: Any) -> list[Message]:
    selector = HistorySelector(budget, {"counter": count_words, **options}, hook="test")  # type: ignore[typeddict-item]
    found: list[Message] = selector.send(messages, ENTRIES, conversation="c")
    return found


def test_what_fits_is_sent_as_it_is() -> None:
    messages: list[Message] = [("user", ["Look."]), ("assistant", ["a()", "b()"]), ("user", ["a=one", "b=two"])]
    found = sent(messages)
    assert [id(each) for each in found] == [id(each) for each in messages]


def test_a_message_without_entries_stays() -> None:
    messages: list[Message] = [("user", []), ("user", ["Look."])]
    assert sent(messages) == messages


def test_a_message_of_which_a_part_is_dropped_is_copied() -> None:
    """The result is dropped with its call; what the user said in the same message stays."""
    both: Message = ("user", ["a=" + "word " * 300, "And this?"])
    messages: list[Message] = [
        ("user", ["Look."]),
        ("assistant", ["a()"]),
        both,
        ("assistant", ["Hm."]),
        ("user", ["Well?"]),
    ]
    found = sent(messages, too_large="drop", shorten=None)
    assert ("user", ["And this?"]) in found
    assert ("assistant", ["a()"]) not in found
    assert len(both[1]) == 2


def test_a_message_of_which_nothing_stays_is_dropped() -> None:
    old: list[Message] = [(role, ["word " * 60]) for role in ("user", "assistant") * 4]
    found = sent([*old, ("user", ["Well?"])])
    assert found[-1] == ("user", ["Well?"])
    assert len(found) < 9


def test_a_result_that_does_not_fit_is_copied_with_a_shorter_text() -> None:
    large = " \n".join(f"row {n} holds value_{n}" for n in range(300))
    messages: list[Message] = [("user", ["Look."]), ("assistant", ["a()", "b()"]), ("user", ["a=one", f"b={large}"])]
    found = sent(messages)
    assert found[2][1][0] == "a=one"
    assert found[2][1][1].startswith("b=")
    assert count_words(found[2][1][1]) < 200
    assert messages[2][1][1] == f"b={large}"


@pytest.mark.parametrize(
    ("name", "kinds", "expected"),
    [
        ("openrouter/anthropic/claude-sonnet-4-5", [], ("anthropic", "claude-sonnet-4-5")),
        ("gemini/gemini-2.5-pro", [], ("gemini", "gemini-2.5-pro")),
        ("gpt-4o", ["LiteLlm"], (None, "gpt-4o")),
        ("gpt-4o", ["OpenAIModel"], ("openai", "gpt-4o")),
        (None, [], (None, None)),
    ],
)
def test_a_model_is_known_by_its_name(name: str | None, kinds: list[str], expected: Any) -> None:
    assert tuple(model_called(name, kinds)) == expected


def test_a_file_is_known_by_its_type() -> None:
    types = ("image/png", "audio/wav", "application/pdf", None)
    assert [media_block(each)["type"] for each in types] == ["image_url", "input_audio", "file", "file"]


class Schema:
    """A class as Pydantic makes it."""

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        return {"type": "object"}


@pytest.mark.parametrize(
    ("schema", "parameters"),
    [(Schema, [{"type": "object"}]), ({"type": "array"}, [{"type": "array"}]), (None, []), ("text", [])],
)
def test_the_schema_of_a_response_counts_as_a_tool(schema: Any, parameters: list[Any]) -> None:
    assert response_tools(schema) == [{"name": "response", "parameters": each} for each in parameters]


JSON = {"type": "object", "properties": {"reason": {"type": "string"}}}


@pytest.mark.parametrize(
    ("request_with", "schema"),
    [
        ({}, None),
        ({"response_format": Schema}, Schema),
        ({"response_format": JSON}, JSON),
        ({"response_format": {"type": "text"}}, None),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "v", "schema": JSON}}},
            {"name": "v", "schema": JSON},
        ),
        ({"response_format": {"type": "json_object", "response_schema": JSON}}, JSON),
        ({"text_format": Schema}, Schema),
        ({"text": {"format": {"type": "json_schema", "name": "v", "schema": JSON}}}, JSON),
        ({"text": {"verbosity": "low"}}, None),
        ({"output_config": {"format": {"type": "json_schema", "schema": JSON}}}, JSON),
        ({"output_format": {"type": "json_schema", "schema": JSON}}, JSON),
    ],
)
def test_the_schema_of_a_response_is_found_in_any_request(request_with: dict[str, Any], schema: Any) -> None:
    assert response_schema(request_with) == schema


def test_roles_are_known_by_the_names_of_any_framework() -> None:
    names = ("developer", "ai", "model", "function", "human")
    assert [role_named(each) for each in names] == ["system", "assistant", "assistant", "tool", "user"]


# --- messages of OpenAI's shape


class Dumped:
    """An object as a library returns it."""

    def __init__(self, **fields: Any) -> None:
        self._fields = fields

    def model_dump(self, *, exclude_none: bool) -> dict[str, Any]:
        assert exclude_none
        return self._fields


THINKING = {"type": "thinking", "thinking": "Let me see.", "signature": "abc"}
CALL = {"id": "c", "type": "function", "function": {"name": "look_up", "arguments": '{"key": "k"}'}}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"role": "developer", "content": "Be brief."}, MessagePart("system", [text("Be brief.")])),
        ({"role": "user", "content": [{"type": "image_url"}]}, MessagePart("user", [{"type": "image_url"}])),
        (
            {"role": "assistant", "content": None, "tool_calls": [CALL], "thinking_blocks": [THINKING]},
            MessagePart("assistant", [THINKING], [Call("c", "look_up", '{"key": "k"}')]),
        ),
        (
            Dumped(role="tool", tool_call_id="c", name="look_up", content="found"),
            MessagePart("tool", [text("found")], answers="c", tool="look_up", name="look_up"),
        ),
        ({"role": "user", "content": "Hi", "thinking_blocks": [THINKING]}, MessagePart("user", [text("Hi")])),
    ],
)
def test_a_message_of_openais_shape_is_read_whoever_it_is_sent_to(message: Any, expected: MessagePart) -> None:
    assert openai_part(message) == expected._replace(calls=list(expected.calls))


def test_messages_of_openais_shape_are_trimmed() -> None:
    old = [{"role": role, "content": "word " * 60} for role in ("user", "assistant") * 4]
    messages = [*old, {"role": "user", "content": "Well?"}]
    found = HistorySelector(200, {"counter": count_words}).send_openai(messages, model=model_called("claude-x"))
    assert 0 < len(found) < 9
    assert found[-1] is messages[-1]


def test_names_of_messages_count_where_they_are_sent() -> None:
    """They were left out, so a prompt with many results could be larger than its budget."""
    messages: list[dict[str, Any]] = [{"role": "user", "name": "ann", "content": "Look it all up."}]
    for n in range(30):
        messages.append({"role": "assistant", "content": None, "tool_calls": [{**CALL, "id": f"c{n}"}]})
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "name": "look_up", "content": "found " * 9})
    seen: list[MessageSelection] = []
    for budget in range(100, 400):
        options: HookOptions = {"counter": count_words, "on_selection": seen.append}
        sent = HistorySelector(budget, options).send_openai(messages, model=model_called("gpt-4o"))
        assert count_messages(sent, "openai", count_words) == seen[-1].total_tokens <= budget


@pytest.mark.parametrize("message", [None, 5, "hi", [{"role": "user"}], object()])
def test_what_is_no_message_is_a_type_error(message: Any) -> None:
    """It was an AttributeError."""
    with pytest.raises(TypeError, match="every message must be a dict or an object of the library, not "):
        HistorySelector(200, {}).send_openai([{"role": "user", "content": "hi"}, message])


def test_a_message_is_taken_apart_into_results_and_the_rest() -> None:
    pieces = results_and_rest(itemgetter(1), _result, _rest)
    assert [indices for indices, _ in pieces(("user", ["Well?", "a=1", "b=2", "Hm."]))] == [[1], [2], [0, 3]]
    assert [indices for indices, _ in pieces(("user", ["a=1"]))] == [[0]]
    assert [indices for indices, _ in pieces(("user", []))] == [[]], "an empty message is kept or dropped, too"


def test_a_hook_comes_before_the_class_of_its_framework() -> None:
    class Framework:
        def __init__(self) -> None:
            self.is_ready = True

    class Hook(HistoryHook, Framework):
        _framework = "test"

        def sent(self, messages: list[Any]) -> list[Any]:
            return self._selector.send_openai(messages)

    hook = Hook(100, counter=count_words)
    assert hook.is_ready
    asked = [{"role": "user", "content": "Well?"}]
    assert (
        hook.sent([{"role": "user", "content": "word " * 200}, {"role": "assistant", "content": "Hm."}, *asked])
        == asked
    )
    with pytest.raises(TypeError, match="did you mean 'counter'"):
        Hook(100, countr=count_words)  # type: ignore[call-arg]
