"""The objects of Anthropic and LangChain, as they come out of a call and are appended to a history."""

from __future__ import annotations

from typing import Any

import botocore.session
import pytest
from anthropic import types
from anthropic.types import beta
from botocore.validate import ParamValidator
from langchain_core import messages

from pycupel.diagnostics import Filtered
from pycupel.messages import Summarize, count_messages, lint_messages, select_messages
from pycupel.replay import Call
from tests.integrations_env.sdk import SHAPE, check
from tests.messages.histories import WRITERS, Exchange
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


USAGE = {"input_tokens": 1, "output_tokens": 1}
ENVELOPE = {"type": "message", "role": "assistant", "model": "claude", "stop_sequence": None, "usage": USAGE}


def reply(*blocks: dict[str, Any]) -> beta.BetaMessage:
    return beta.BetaMessage.model_validate({**ENVELOPE, "id": "m", "stop_reason": "end_turn", "content": blocks})


COMPACTION: dict[str, Any] = {"type": "compaction", "content": "So far.", "signature": "s" * 99}


def test_anthropic_compactions() -> None:
    compacted = reply(COMPACTION, {"type": "text", "text": "Done."})
    failed = reply({**COMPACTION, "content": None}, {"type": "text", "text": "Done."})
    user = {"role": "user", "content": "hi"}
    assert isinstance(compacted.content[0], beta.BetaCompactionBlock)
    history = [user, reply({"type": "text", "text": "old"}), user, compacted, user]
    selection = select_messages(history, 10_000)
    assert (selection.provider, selection.kept) == ("anthropic", (3, 4))
    assert {each.reason for each in selection.dropped} == {Filtered("compacted")}
    assert lint_messages(history) == []
    assert count_messages(history, counter=len) == count_messages([compacted, user], counter=len)
    assert select_messages([user, failed, user], 10_000, provider="anthropic").kept == (0, 1, 2)
    # On demand, it comes first; and it may be what summarizes.
    on_demand = reply(COMPACTION)
    assert lint_messages([on_demand, user]) == []
    long = [user, *(each for _ in range(40) for each in (reply({"type": "text", "text": "old " * 20}), user))]
    options: dict[str, Any] = {"provider": "anthropic", "counter": len}
    summed = select_messages(long, 1_000, summarize=Summarize(lambda *_: on_demand.content[0], tokens=60), **options)
    assert summed.messages[0] == {"role": "assistant", "content": [summed.summary]}
    assert lint_messages(summed.messages, "anthropic") == []


def test_anthropic_system_messages_and_fallbacks() -> None:
    reference = {"type": "tool_reference", "name": "f"}
    added = beta.BetaResponseToolAdditionBlock.model_validate({"type": "tool_addition", "tool": reference})
    user = {"role": "user", "content": "hi"}
    system = {"role": "system", "content": [added]}
    said = [user, reply({"type": "text", "text": "old " * 20})] * 20
    selection = select_messages([*said, user, system, *said[1:], user], 600, provider="anthropic", counter=len)
    assert 41 in selection.kept
    assert selection.cut is not None
    taken = beta.BetaFallbackBlock.model_construct(type="fallback")
    [view] = read_messages([{"role": "assistant", "content": [taken, {"type": "text", "text": "x"}]}], "anthropic")
    assert view.tokens == read_messages([{"role": "assistant", "content": "x"}], "anthropic")[0].tokens


def test_anthropic_iterations() -> None:
    numbers = {**USAGE, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 4}
    rounds = [{**numbers, "type": "compaction"}, {**numbers, "type": "message", "model": "claude", "input_tokens": 7}]
    usage = beta.BetaUsage.model_validate({**USAGE, "iterations": rounds})
    call = Call.of(1, "claude", usage.model_dump())
    assert (call.prompt_tokens, call.compaction_tokens) == (11, 5)


@pytest.fixture(scope="module")
def converse() -> Any:
    """What botocore accepts as the input of Converse."""
    model = botocore.session.get_session().get_service_model("bedrock-runtime")
    return model.operation_model("Converse").input_shape


@pytest.mark.parametrize("budget", [300, 900, 100_000])
@pytest.mark.parametrize("shorten", [None, "results"])
def test_converse(converse: Any, budget: int, shorten: Any) -> None:
    """Its messages are dicts, which botocore checks before it sends them: those that go in, and those that come out."""
    writer = WRITERS["converse"]
    history: list[Any] = []
    for n in range(20):
        history += writer.user(f"question {n}", picture=False)
        history += writer.exchange(Exchange(((f"call{n:05d}", "read"),), (0,)))
        history += writer.assistant(f"answer {n}", thinks=n % 3 == 0)
    history += writer.user("last", picture=False)
    options: dict[str, Any] = {"counter": len, "shorten": shorten}
    selection = select_messages(history, budget, **options, summarize=Summarize(lambda *_: "So far.", tokens=30))
    assert selection.provider == "converse"
    for sent in (history, selection.messages):
        report = ParamValidator().validate({"modelId": "m", "messages": sent}, converse)
        assert report.generate_report() == ""


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
