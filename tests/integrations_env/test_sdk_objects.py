"""The real objects of the providers' libraries, as they come out of a call and are appended to a history.

Each part needs its library (openai, anthropic, google-genai, langchain-core), and is left out where it is missing.
"""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from pycupel.messages import lint_messages
from pycupel.messages.detect import detect_provider
from pycupel.messages.shapes import read_messages
from pycupel.messages.units import group_messages

SHAPE = [("user", (0,)), ("exchange", (1, 2, 3)), ("assistant", (4,)), ("user", (5,))]


def check(messages: list[Any], provider: str, expected: list[tuple[str, tuple[int, ...]]]) -> list[str]:
    """The provider is found out, nothing is wrong, and these are the units. Gives their texts."""
    before = repr(messages)
    assert detect_provider(messages) == provider
    assert lint_messages(messages) == []
    units = group_messages(read_messages(messages, provider), provider)
    assert [(unit.role, unit.indices) for unit in units] == expected
    assert repr(messages) == before
    return [unit.text for unit in units]


def test_openai_chat() -> None:
    chat = pytest.importorskip("openai.types.chat")
    functions = [{"name": "f", "arguments": "{}"}, {"name": "g", "arguments": '{"a": 1}'}]
    calls = [{"id": f"c{n}", "type": "function", "function": each} for n, each in enumerate(functions)]
    asked = chat.ChatCompletionMessage.model_validate({"role": "assistant", "content": None, "tool_calls": calls})
    told = chat.ChatCompletionMessage.model_validate({"role": "assistant", "content": "done", "refusal": None})
    results = [{"role": "tool", "tool_call_id": call_id, "content": call_id} for call_id in ("c1", "c0")]
    user = {"role": "user", "content": "hi"}
    texts = check([user, asked, *results, told, user], "openai", SHAPE)
    assert texts[1:3] == ['f\n{}\ng\n{"a": 1}\nc1\nc0', "done"]
    # What people write as often: a dict with the calls of the object.
    half = {"role": "assistant", "content": None, "tool_calls": asked.tool_calls}
    assert check([user, half, *results, told, user], "openai", SHAPE) == texts


def test_openai_responses() -> None:
    responses = pytest.importorskip("openai.types.responses")
    summary = [{"type": "summary_text", "text": "Hm."}]
    reasoning = responses.ResponseReasoningItem.model_validate({"id": "rs_1", "type": "reasoning", "summary": summary})
    call = responses.ResponseFunctionToolCall.model_validate(
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "id": "fc_1", "status": "completed"}
    )
    text = {"type": "output_text", "text": "done", "annotations": []}
    message = responses.ResponseOutputMessage.model_validate(
        {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [text]}
    )
    user = {"role": "user", "content": "hi"}
    output = {"type": "function_call_output", "call_id": "c", "output": "r"}
    items = [user, reasoning, call, output, message, user]
    assert check(items, "responses", SHAPE)[1:3] == ["Hm.\nf\n{}\nr", "done"]


def test_every_input_item_of_responses_is_known() -> None:
    """If this fails, OpenAI has a new kind of item. Somebody has to say whether it is a result or not."""
    responses = pytest.importorskip("openai.types.responses.response_input_item_param")
    kinds: set[str] = set()
    for param in get_args(responses.ResponseInputItemParam):
        kinds |= set(_literals(get_type_hints(param)["type"]))
    assert len(kinds) > 25
    for kind in kinds:
        ids = {"call_id": "c", "approval_request_id": "c", "id": "c"}
        assert read_messages([{"type": kind, "role": "user", "content": "x", **ids}], "responses")


def _literals(hint: Any) -> list[Any]:
    """The values of a Literal, alone or in a union."""
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    return [value for each in get_args(hint) for value in _literals(each)]


def test_anthropic() -> None:
    types = pytest.importorskip("anthropic.types")
    usage = {"input_tokens": 1, "output_tokens": 1}
    envelope = {"type": "message", "role": "assistant", "model": "claude", "stop_sequence": None, "usage": usage}
    blocks = [
        {"type": "thinking", "thinking": "Hm.", "signature": "sig"},
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}},
    ]
    asked = types.Message.model_validate({**envelope, "id": "m1", "stop_reason": "tool_use", "content": blocks})
    said = [{"type": "text", "text": "done"}]
    told = types.Message.model_validate({**envelope, "id": "m2", "stop_reason": "end_turn", "content": said})
    user = {"role": "user", "content": "hi"}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "r"}]}
    expected = [("user", (0,)), ("exchange", (1, 2)), ("assistant", (3,)), ("user", (4,))]
    texts = check([user, asked, result, told, user], "anthropic", expected)
    assert texts[1:3] == ['Hm.\nLet me look.\nf\n{"a": 1}\nr', "done"]
    params = [{"role": "assistant", "content": message.content} for message in (asked, told)]
    assert check([user, params[0], result, params[1], user], "anthropic", expected) == texts


def test_gemini() -> None:
    types = pytest.importorskip("google.genai.types")
    user = types.Content(
        role="user", parts=[types.Part.from_text(text="hi"), types.Part.from_bytes(data=b"x", mime_type="image/png")]
    )
    asked = types.Content(
        role="model",
        parts=[
            types.Part(text="Hm.", thought=True),
            types.Part(function_call=types.FunctionCall(name="f", args={"a": 1}), thought_signature=b"sig"),
            types.Part(function_call=types.FunctionCall(id="2", name="f", args={})),
        ],
    )
    answers = [
        types.FunctionResponse(id="2", name="f", response={"r": 2}),
        types.FunctionResponse(name="f", response={"r": 1}),
    ]
    result = types.Content(role="user", parts=[types.Part(function_response=each) for each in answers])
    told = types.Content(role="model", parts=[types.Part.from_text(text="done")])
    expected = [("user", (0,)), ("exchange", (1, 2)), ("assistant", (3,)), ("user", (4,))]
    texts = check([user, asked, result, told, user], "gemini", expected)
    assert texts[:3] == ["hi", 'Hm.\nf\n{"a": 1}\nf\n{}\n{"r": 2}\n{"r": 1}', "done"]
    # The same as the JSON of the API, in camel case.
    dumped = [each.model_dump(by_alias=True, exclude_none=True) for each in (user, asked, result, told, user)]
    assert check(dumped, "gemini", expected) == texts


def test_langchain() -> None:
    messages = pytest.importorskip("langchain_core.messages")
    calls = [{"name": "f", "args": {"a": 1}, "id": "c1"}, {"name": "g", "args": {}, "id": "c2"}]
    content = [{"type": "text", "text": "Hm."}, {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}]
    history = [
        messages.HumanMessage("hi"),
        messages.AIMessage(content, tool_calls=calls),
        messages.ToolMessage("two", tool_call_id="c2"),
        messages.ToolMessage("one", tool_call_id="c1"),
        messages.AIMessageChunk("done"),
        messages.HumanMessage(
            [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:x"}}]
        ),
    ]
    texts = check(history, "openai", SHAPE)
    assert texts == ["hi", 'Hm.\nf\n{"a": 1}\ng\n{}\ntwo\none', "done", "look"]
    assert [view.role for view in read_messages([messages.SystemMessage("s"), *history], "openai")][:2] == [
        "system",
        "user",
    ]
