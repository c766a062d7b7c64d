"""How the hooks write what a framework's messages say, in the shape of each provider."""

from __future__ import annotations

from typing import Any

import pytest

from pycupel.messages import lint_messages
from pycupel.messages.options import ResolvedProviderName
from pycupel.messages.overlay import read_results, with_result_texts
from pycupel.messages.providers import PROVIDERS
from pycupel.messages.providers._writing import Call, MessagePart, system_of, text, thought, written_for
from tests.messages.reading import units_of

SYSTEM = MessagePart("system", [text("Be brief.")])
USER = MessagePart("user", [text("Look both up.")])
THOUGHT = thought("Hm.", "signed")
CALLS = MessagePart("assistant", [THOUGHT, text("")], [Call("1", "f", {"a": 1}), Call("2", "f", {})])
RESULTS = [
    MessagePart("tool", [text("one")], answers="1", tool="f"),
    MessagePart("tool", [text("two")], answers="2", tool="f"),
]
ANSWER = MessagePart("assistant", [text("Done.")])
HISTORY = [SYSTEM, USER, CALLS, *RESULTS, ANSWER, USER]


def shapes(provider: ResolvedProviderName, parts: list[MessagePart]) -> list[dict[str, Any]]:
    return [each.shape for each in written_for(provider, parts)]


@pytest.mark.parametrize("provider", [each for each in PROVIDERS if each != "responses"])
def test_what_is_written_is_what_the_provider_accepts(provider: ResolvedProviderName) -> None:
    """Except that the libraries write arguments as JSON only when they send them."""
    findings = lint_messages(shapes(provider, HISTORY), provider)
    assert {each.rule for each in findings} <= {"odd-id", "odd-arguments", "empty-text", "split-results"}


def test_openai() -> None:
    function = {"name": "f", "arguments": {"a": 1}}
    assert shapes("openai", HISTORY)[:4] == [
        {"role": "system", "content": [text("Be brief.")]},
        {"role": "user", "content": [text("Look both up.")]},
        {
            "role": "assistant",
            "content": [THOUGHT, text("")],
            "tool_calls": [
                {"id": "1", "type": "function", "function": function},
                {"id": "2", "type": "function", "function": {"name": "f", "arguments": {}}},
            ],
        },
        {"role": "tool", "tool_call_id": "1", "content": [text("one")]},
    ]


def test_what_says_nothing_to_openai() -> None:
    parts = [MessagePart("user"), MessagePart("assistant", (), [Call("1", "f", {})]), MessagePart("tool", answers="1")]
    assert [each["content"] for each in shapes("openai", parts)] == ["", None, ""]


def test_anthropic() -> None:
    """Its system prompts and empty texts are not among the messages."""
    assert shapes("anthropic", HISTORY)[:3] == [
        {"role": "user", "content": [text("Look both up.")]},
        {
            "role": "assistant",
            "content": [
                THOUGHT,
                {"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1}},
                {"type": "tool_use", "id": "2", "name": "f", "input": {}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [text("one")]}]},
    ]


def test_gemini() -> None:
    """All results of a message are in one."""
    assert shapes("gemini", HISTORY)[1:3] == [
        {
            "role": "model",
            "parts": [
                THOUGHT,
                {"text": ""},
                {"function_call": {"id": "1", "name": "f", "args": {"a": 1}}},
                {"function_call": {"id": "2", "name": "f", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"function_response": {"id": "1", "name": "f", "response": {"result": "one"}}},
                {"function_response": {"id": "2", "name": "f", "response": {"result": "two"}}},
            ],
        },
    ]


@pytest.mark.parametrize("provider", [each for each in PROVIDERS if each != "responses"])
def test_what_results_are_is_known(provider: ResolvedProviderName) -> None:
    """Whether they report errors, and whether they hold more than text."""
    picture = {"type": "image_url"}
    parts = [
        RESULTS[0],
        RESULTS[1]._replace(failed=True, blocks=[text("two"), text("lines")]),
        MessagePart("tool", [text("three"), picture], answers="3"),
    ]
    results = [part for shape in shapes(provider, parts) for part in read_results(shape)]
    assert [part.said for part in results] == ["one", "two\nlines", "three"]
    assert [part.failed for part in results] == [False, True, False]
    assert [part.beside > 0 for part in results] == [False, False, True]


WRAPPED = MessagePart("tool", [text('no "key"\nhere')], answers="1", tool="f", failed=True, wrapped=True)


@pytest.mark.parametrize("provider", ["openai", "mistral"])
def test_a_wrapped_result_is_counted_as_json(provider: ResolvedProviderName) -> None:
    [shape] = shapes(provider, [WRAPPED])
    shorter = with_result_texts(shape, {0: "no"})
    assert [(part.said, part.failed) for part in read_results(shape)] == [('no "key"\nhere', True)]
    assert [(part.said, part.failed) for part in read_results(shorter)] == [("no", True)]
    read = [view.text for view in PROVIDERS[provider].read([shape, shorter], len)]
    assert read == ['{"error":"no \\"key\\"\\nhere"}', '{"error":"no"}']


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "converse", "interactions"])
def test_nothing_is_wrapped_where_results_can_be_marked_as_errors(provider: ResolvedProviderName) -> None:
    assert shapes(provider, [WRAPPED]) == shapes(provider, [WRAPPED._replace(wrapped=False)])


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "converse"])
def test_what_the_assistant_says_in_one_go_is_one_message(provider: ResolvedProviderName) -> None:
    written = written_for(provider, [USER, MessagePart("assistant", [THOUGHT]), CALLS, *RESULTS])
    assert written[1].origins == [1, 2]


def test_converse() -> None:
    """Roles alternate: what the user says beside results is in their message, and two messages become one."""
    written = written_for("converse", [*HISTORY[:5], USER, ANSWER, USER, USER])
    assert [each.origins for each in written] == [[1], [2], [3, 4, 5], [6], [7, 8]]
    results = [
        {"toolResult": {"toolUseId": str(n), "content": [{"text": said}]}} for n, said in ((1, "one"), (2, "two"))
    ]
    assert written[1].shape == {
        "role": "assistant",
        "content": [
            THOUGHT,
            {"toolUse": {"toolUseId": "1", "name": "f", "input": {"a": 1}}},
            {"toolUse": {"toolUseId": "2", "name": "f", "input": {}}},
        ],
    }
    assert written[2].shape == {"role": "user", "content": [*results, {"text": "Look both up."}]}
    assert written[2].part(4, written[2].shape) == {"role": "user", "content": [results[1]]}
    assert lint_messages([each.shape for each in written], "converse") == []


def test_interactions() -> None:
    """A part may become several steps of the model, which stay or go together."""
    written = written_for("interactions", [*HISTORY, MessagePart("assistant")])
    assert [(each.shape["type"], each.origins) for each in written] == [
        ("user_input", [1]),
        ("model_output", [2]),
        *[("function_call", [2])] * 2,
        *(("function_result", [n]) for n in (3, 4)),
        ("model_output", [5]),
        ("user_input", [6]),
        ("model_output", [7]),
    ]
    assert written[0].shape == {"type": "user_input", "content": USER.blocks}
    assert written[6].shape == {"type": "model_output", "content": ANSWER.blocks}
    assert [unit.indices for unit in units_of([each.shape for each in written], "interactions")][:3] == [
        (0,),
        (1, 2, 3, 4, 5),
        (6,),
    ]


@pytest.mark.parametrize("provider", ["gemini", "converse"])
def test_a_result_that_matches_no_call_stays_alone(provider: ResolvedProviderName) -> None:
    orphan = MessagePart("tool", [text("?")], answers="9", tool="f")
    written = written_for(provider, [USER, CALLS, *RESULTS, orphan])
    assert [each.origins for each in written] == [[0], [1], [2, 3], [4]]


@pytest.mark.parametrize(
    ("provider", "count"),
    [("openai", 0), ("mistral", 0), ("anthropic", 1), ("gemini", 1), ("converse", 1), ("interactions", 1)],
)
def test_system_prompts_are_beside_the_messages_where_the_provider_wants_them(
    provider: ResolvedProviderName, count: int
) -> None:
    assert system_of(HISTORY, provider) == [text("Be brief.")] * count
    assert len(shapes(provider, [SYSTEM])) == 1 - count


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "converse", "interactions"])
def test_calls_and_results_without_ids_find_each_other(provider: ResolvedProviderName) -> None:
    calls = MessagePart("assistant", calls=[Call(None, "f", {}), Call("2", "f", {}), Call("", "f", {})])
    results = [MessagePart("tool", [text(str(n))], answers=each) for n, each in enumerate((None, "2", None))]
    written = shapes(provider, [USER, calls, *results, USER])
    assert [each.rule for each in lint_messages(written, provider) if each.severity == "error"] == []
    orphaned = shapes(provider, [USER, calls, *results, MessagePart("tool", [text("?")]), USER])
    # Where roles alternate, an orphan is also a second message of the user.
    also = {"same-role"} if provider == "converse" else set[str]()
    assert {each.rule for each in lint_messages(orphaned, provider) if each.severity == "error"} == {
        "orphan-tool-result",
        *also,
    }


def test_thoughts_without_a_signature_are_text() -> None:
    assert thought("Hm.", None) == text("Hm.")
