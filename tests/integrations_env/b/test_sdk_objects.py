"""Gemini's own objects, as they come out of a call and are appended to a history."""

from __future__ import annotations

from google.genai import types

from tests.integrations_env.sdk import check


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
