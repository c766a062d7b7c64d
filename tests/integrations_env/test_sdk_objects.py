"""OpenAI's own objects, as they come out of a call and are appended to a history. Both environments have them."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin, get_type_hints

from openai.types import chat, responses
from openai.types.responses.response_input_item_param import ResponseInputItemParam

from tests.integrations_env.sdk import SHAPE, check
from tests.messages.reading import read_messages


def test_openai_chat() -> None:
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
    kinds: set[str] = set()
    for param in get_args(ResponseInputItemParam):
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
