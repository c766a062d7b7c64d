"""The objects of Anthropic and LangChain, as they come out of a call and are appended to a history."""

from __future__ import annotations

from typing import Any

from anthropic import types
from langchain_core import messages

from pycupel.messages import lint_messages, select_messages
from tests.integrations_env.sdk import SHAPE, check
from tests.messages.reading import read_messages


def test_anthropic() -> None:
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
    assert texts[1:3] == ['Hm.\nLet me look.\nf\n{"a":1}\nr', "done"]
    params = [{"role": "assistant", "content": message.content} for message in (asked, told)]
    assert check([user, params[0], result, params[1], user], "anthropic", expected) == texts


def test_langchain() -> None:
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
    assert texts == ["hi", 'Hm.\nf\n{"a":1}\ng\n{}\ntwo\none', "done", "look"]
    assert [view.role for view in read_messages([messages.SystemMessage("s"), *history], "openai")][:2] == [
        "system",
        "user",
    ]


def test_shortened_results_are_copies_of_the_same_class() -> None:
    text = "\n".join(f"line {i} says value_{i}" for i in range(200))
    history: list[Any] = [messages.HumanMessage("hi")]
    for n in range(6):
        call = {"name": "f", "args": {"n": n}, "id": f"c{n}"}
        history += [messages.AIMessage("", tool_calls=[call]), messages.ToolMessage(text, tool_call_id=f"c{n}")]
    selection = select_messages(history, 2_000, counter="estimator", shorten="results")
    assert selection.shortened
    assert not lint_messages(selection.messages)
    sent = dict(zip(selection.kept, selection.messages, strict=True))
    changed = {each.index for each in selection.shortened}
    for n, message in sent.items():
        assert (message is history[n]) is (n not in changed)
        assert type(message) is type(history[n])
    for n in changed:
        assert sent[n].tool_call_id == history[n].tool_call_id
        assert len(sent[n].content) < len(text)
        assert history[n].content == text
