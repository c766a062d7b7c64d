"""Gemini's own objects, as they come out of a call and are appended to a history."""

from __future__ import annotations

from typing import Any

from google.genai import interactions, types
from openai.types import responses
from pydantic import TypeAdapter

from pycupel.messages import lint_messages, select_messages
from tests.integrations_env.sdk import SHAPE, check


def test_gemini() -> None:
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
    assert texts[:3] == ["hi", 'Hm.\nf\n{"a":1}\nf\n{}\nf\n{"r":2}\nf\n{"r":1}', "done"]
    # The same as the JSON of the API, in camel case.
    dumped = [each.model_dump(by_alias=True, exclude_none=True) for each in (user, asked, result, told, user)]
    assert check(dumped, "gemini", expected) == texts


def test_several_responses_to_one_call() -> None:
    user = types.Content(role="user", parts=[types.Part.from_text(text="hi")])
    call = types.Part(function_call=types.FunctionCall(id="1", name="f", args={}))
    responses = [types.FunctionResponse(id="1", name="f", response={"r": n}, will_continue=n < 2) for n in range(3)]
    result = types.Content(role="user", parts=[types.Part(function_response=each) for each in responses])
    history = [user, types.Content(role="model", parts=[call]), result, user]
    assert [each for each in lint_messages(history) if each.severity == "error"] == []
    assert select_messages(history, 10_000).kept == (0, 1, 2, 3)


def steps(*given: dict[str, Any]) -> list[Any]:
    """Interactions' own objects, as a response has them."""
    return [TypeAdapter(interactions.Step).validate_python(each) for each in given]


def test_interactions() -> None:
    text = {"type": "text", "text": "hi"}
    history = steps(
        {"type": "user_input", "content": [text]},
        {"type": "thought", "signature": "c2ln", "summary": [{"type": "text", "text": "Hm."}]},
        {"type": "function_call", "id": "1", "name": "f", "arguments": {"a": 1}},
        {"type": "function_result", "call_id": "1", "name": "f", "result": "r"},
        {"type": "model_output", "content": [{"type": "text", "text": "done"}]},
        {"type": "user_input", "content": [text]},
    )
    assert [type(each).__name__ for each in history][:3] == ["UserInputStep", "ThoughtStep", "FunctionCallStep"]
    assert check(history, "interactions", SHAPE) == ["hi", 'Hm.\nf\n{"a":1}\nf\nr', "done", "hi"]


def test_a_compaction_of_responses() -> None:
    item = responses.ResponseCompactionItem.model_validate(
        {"id": "cmp_1", "type": "compaction", "encrypted_content": "A" * 80}
    )
    user = {"role": "user", "content": "hi"}
    history = [user, {"role": "assistant", "content": "old"}, item, user]
    selection = select_messages(history, 10_000)
    assert (selection.provider, selection.kept) == ("responses", (2, 3))
    assert lint_messages(history) == []
