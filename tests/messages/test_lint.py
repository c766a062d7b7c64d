"""The rules of ECOSYSTEM A.3, one by one."""

from __future__ import annotations

from copy import deepcopy
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest

from pycupel.errors import MessageShapeError, ProviderAmbiguousError
from pycupel.messages import Finding, lint_messages, select_messages
from pycupel.messages.options import ProviderName
from tests.messages.mistral_oracle import rejected_by_mistral

Message = dict[str, Any]

SYSTEM: Message = {"role": "system", "content": "s"}
USER: Message = {"role": "user", "content": "u"}
SAID: Message = {"role": "assistant", "content": "a"}


def nine(name: str) -> str:
    """An id that Mistral accepts, too."""
    return f"{name:0<9}"


def calls(*names: str) -> Message:
    function = {"name": "f", "arguments": "{}"}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": nine(n), "function": function} for n in names]}


def result(name: str) -> Message:
    return {"role": "tool", "tool_call_id": nine(name), "content": "r"}


def uses(*ids: str, first: tuple[Message, ...] = ()) -> Message:
    blocks = [{"type": "tool_use", "id": i, "name": "f", "input": {}} for i in ids]
    return {"role": "assistant", "content": [*first, *blocks]}


def results(*ids: str, text: str | None = None) -> Message:
    said = [] if text is None else [{"type": "text", "text": text}]
    return {"role": "user", "content": [*({"type": "tool_result", "tool_use_id": i} for i in ids), *said]}


def item(call_id: str) -> Message:
    return {"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}"}


def output(call_id: str) -> Message:
    return {"type": "function_call_output", "call_id": call_id, "output": "r"}


REASONING: Message = {"type": "reasoning", "id": "rs_1", "summary": []}
THOUGHT: Message = {"type": "thinking", "thinking": "Hm.", "signature": "x"}

ASKED: Message = {"role": "user", "parts": [{"text": "u"}]}
TOLD: Message = {"role": "model", "parts": [{"text": "a"}]}


def turn(*names: str) -> Message:
    return {"role": "model", "parts": [{"function_call": {"name": name}} for name in names]}


def reply(*names: str, text: str | None = None) -> Message:
    said = [] if text is None else [{"text": text}]
    return {"role": "user", "parts": [*({"function_response": {"name": name}} for name in names), *said]}


def found(messages: list[Message], provider: ProviderName) -> list[tuple[int, str]]:
    return [(finding.index, finding.rule) for finding in lint_messages(messages, provider)]


ORPHAN, UNANSWERED, OPEN, TWICE = "orphan-tool-result", "unanswered-tool-call", "open-tool-call", "duplicate-id"


@pytest.mark.parametrize("provider", ["openai", "mistral"])
@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([USER, calls("a", "b"), result("b"), result("a"), SAID, USER], []),
        ([USER, calls("a"), result("a"), calls("a"), result("a")], []),
        ([USER, result("a"), USER], [(1, ORPHAN)]),
        ([USER, calls("a"), result("a"), result("b")], [(3, ORPHAN)]),
        ([USER, calls("a"), result("b"), result("a")], [(2, ORPHAN)]),
        ([USER, calls("a", "b"), result("a"), USER], [(1, UNANSWERED)]),
        ([USER, calls("a", "b"), USER], [(1, UNANSWERED), (1, UNANSWERED)]),
        ([USER, calls("a"), USER, result("a"), USER], [(1, UNANSWERED), (3, ORPHAN)]),
        ([USER, calls("a"), SAID, result("a"), USER], [(1, UNANSWERED), (3, ORPHAN)]),
        ([USER, result("a"), calls("a"), USER], [(1, ORPHAN), (2, UNANSWERED)]),
        ([USER, calls("a", "a"), result("a")], [(1, TWICE)]),
        ([USER, calls("a"), result("a"), result("a")], [(3, TWICE)]),
        ([USER, calls("a", "b")], [(1, OPEN), (1, OPEN)]),
        ([USER, calls("a", "b"), result("b")], [(1, OPEN)]),
    ],
)
def test_a_result_follows_its_call_and_every_call_is_answered(
    provider: ProviderName, messages: list[Message], expected: list[tuple[int, str]]
) -> None:
    """Rows 1, 2 and 8. Ids may be used again in a later exchange."""
    assert found(messages, provider) == expected


def test_openai_does_not_care_who_speaks_first_or_last_or_where_instructions_are() -> None:
    assert found([SAID, USER, SAID, SYSTEM, calls("a"), result("a"), SYSTEM, SAID], "openai") == []


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([USER, REASONING, item("a"), output("a"), REASONING, SAID], []),
        ([USER, REASONING, REASONING, item("a"), item("b"), output("b"), output("a")], []),
        ([USER, item("a"), USER, output("a"), SYSTEM], []),
        ([USER, REASONING, USER], [(1, "reasoning-without-item")]),
        ([USER, REASONING, REASONING], [(1, "reasoning-without-item"), (2, "reasoning-without-item")]),
        ([USER, item("a"), REASONING, output("a")], [(2, "reasoning-without-item")]),
        ([USER, output("a")], [(1, ORPHAN)]),
        ([USER, output("a"), item("a"), USER], [(1, ORPHAN), (2, UNANSWERED)]),
        ([USER, item("a"), item("b"), output("a"), USER], [(2, UNANSWERED)]),
        ([USER, item("a"), output("a"), output("a")], [(3, TWICE)]),
        ([USER, item("a"), output("a"), item("a"), output("a")], [(3, TWICE)]),
        ([USER, REASONING, item("a"), item("b"), output("b")], [(2, OPEN)]),
        ([USER, item("a"), SAID], [(1, OPEN)]),
    ],
)
def test_reasoning_calls_and_outputs_of_responses(items: list[Message], expected: list[tuple[int, str]]) -> None:
    """Row 3. Outputs are found by their call id, wherever they stand behind the call."""
    assert found(items, "responses") == expected


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([USER, uses("a", "b"), results("b", "a"), SAID, USER], []),
        ([USER, uses("a"), results("a", text="now this"), SAID, USER], []),
        ([USER, USER, SAID, SAID, USER], []),
        ([USER, uses("a"), USER, results("a")], [(1, UNANSWERED), (3, ORPHAN)]),
        ([USER, uses("a"), SAID, results("a")], [(1, UNANSWERED), (3, ORPHAN)]),
        ([USER, uses("a"), results("b"), USER], [(1, UNANSWERED), (2, ORPHAN)]),
        ([USER, uses("a", "b"), results("a", text="x"), USER], [(1, UNANSWERED)]),
        ([USER, uses("a"), results("a", "a")], [(2, TWICE)]),
        ([USER, uses("a"), results("a"), uses("a"), results("a")], [(3, TWICE)]),
        ([USER, uses("a", "b"), results("a")], [(1, OPEN)]),
        ([USER, uses("a", "b"), results("a"), results("b")], [(3, "split-results")]),
        (
            [USER, uses("a", "b"), results("a", text="x"), results("b")],
            [(1, UNANSWERED), (3, ORPHAN), (3, "split-results")],
        ),
    ],
)
def test_results_are_in_the_next_message_for_anthropic(
    messages: list[Message], expected: list[tuple[int, str]]
) -> None:
    """Row 4. Messages of one role that follow each other are joined (row 5), so results may be split, if need be."""
    assert found(messages, "anthropic") == expected


def test_results_come_first_in_their_message_for_anthropic() -> None:
    """Row 4: messages behind tool_use blocks must begin with tool_result blocks."""
    late = {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "tool_result", "tool_use_id": "a"}]}
    assert found([USER, uses("a"), late], "anthropic") == [(2, "text-before-result")]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([SAID, SAID, USER], [(0, "first-not-user"), (1, "first-not-user")]),
        ([uses("a"), results("a"), USER], [(0, "first-not-user")]),
        ([uses("a"), results("a", text="x"), SAID, USER], [(0, "first-not-user"), (2, "first-not-user")]),
        ([SYSTEM, USER], [(0, "system-first")]),
        ([USER, SYSTEM, SAID, USER, SYSTEM], []),
        ([USER, uses("a"), results("a"), SYSTEM, SYSTEM, SAID, USER], []),
        ([USER, SYSTEM, USER], [(1, "system-misplaced")]),
        ([USER, SAID, SYSTEM, SAID, USER], [(2, "system-misplaced")]),
        ([USER, SAID, SYSTEM], [(2, "system-misplaced")]),
        ([USER, {"role": "user", "content": " "}], [(1, "empty-text")]),
        ([USER, {"role": "assistant", "content": []}, USER], [(1, "empty-text")]),
        ([USER, {"role": "user", "content": [{"type": "text", "text": "\n"}, {"type": "image"}]}], [(1, "empty-text")]),
        ([USER, SAID], [(1, "ends-with-assistant")]),
    ],
)
def test_who_speaks_first_and_last_and_says_something_for_anthropic(
    messages: list[Message], expected: list[tuple[int, str]]
) -> None:
    """Row 5."""
    assert found(messages, "anthropic") == expected


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([USER, uses("a", first=(THOUGHT,)), results("a"), uses("b"), results("b")], []),
        ([USER, uses("a", first=({"type": "redacted_thinking", "data": "x"},)), results("a")], []),
        ([USER, uses("a"), results("a")], []),
        ([USER, uses("a"), results("a"), uses("b", first=(THOUGHT,)), results("b")], [(1, "thinking-not-first")]),
        ([USER, uses("a", first=(THOUGHT,)), results("a", text="x"), uses("b"), results("b")], []),
        ([USER, uses("a", first=(THOUGHT,)), results("a"), USER, SAID, USER], []),
        ([USER, uses("a", first=({"type": "thinking", "thinking": "Hm."},)), results("a")], [(1, "unsigned-thinking")]),
    ],
)
def test_thinking_starts_the_last_turn_with_tools_and_is_signed(
    messages: list[Message], expected: list[tuple[int, str]]
) -> None:
    """Row 6."""
    assert found(messages, "anthropic") == expected


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        ([ASKED, turn("f", "g"), reply("g", "f"), TOLD, ASKED], []),
        ([ASKED, turn("f"), reply("f", text="now this"), turn("f"), reply("f")], []),
        ([ASKED, TOLD, TOLD, ASKED], []),
        ([ASKED, TOLD, TOLD, turn("f"), reply("f")], [(1, "call-after-model"), (2, "call-after-model")]),
        ([ASKED, turn("f", "g"), reply("f"), reply("g"), ASKED], [(1, UNANSWERED), (3, ORPHAN)]),
        ([ASKED, turn("f"), ASKED, reply("f")], [(1, UNANSWERED), (3, ORPHAN)]),
        ([ASKED, turn("f"), reply("f", "g")], [(2, ORPHAN)]),
        ([ASKED, turn("f"), reply("f", "f")], [(2, ORPHAN)]),
        ([ASKED, turn("f", "g"), reply("g")], [(1, OPEN)]),
        ([TOLD, ASKED], [(0, "first-not-user")]),
        ([turn("f"), reply("f"), ASKED], [(0, "first-not-user")]),
        ([ASKED, TOLD], [(1, "ends-with-assistant")]),
    ],
)
def test_the_turns_of_gemini(contents: list[Message], expected: list[tuple[int, str]]) -> None:
    """Row 7."""
    assert found(contents, "gemini") == expected


PREFIX: Message = {"role": "assistant", "content": "So", "prefix": True}


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([SYSTEM, SAID, calls("a"), result("a"), USER], []),
        ([SAID, calls("a"), result("a"), USER, SYSTEM, SYSTEM, SAID, USER], []),
        ([USER, PREFIX], []),
        ([calls("a"), result("a"), calls("b"), result("b"), USER], [(0, "first-not-user"), (2, "first-not-user")]),
        ([USER, SAID, SYSTEM, USER], [(2, "system-misplaced")]),
        ([USER, calls("a"), result("a"), SYSTEM, SYSTEM, USER], [(3, "system-misplaced"), (4, "system-misplaced")]),
        ([USER, PREFIX, USER], [(1, "prefix-not-last")]),
        ([USER, SAID], [(1, "ends-with-assistant")]),
    ],
)
def test_the_order_of_mistral(messages: list[Message], expected: list[tuple[int, str]]) -> None:
    """Row 8, with the validator as a witness."""
    assert found(messages, "mistral") == expected
    assert (rejected_by_mistral(messages) is not None) == bool(expected)


@pytest.mark.parametrize(
    ("call_id", "is_odd"),
    [("call_1", True), ("callcall12", True), ("call_1234", True), ("cäll12345", True), ("aB3456789", False)],
)
def test_ids_of_mistral_are_nine_letters_and_digits(call_id: str, is_odd: bool) -> None:
    """Row 8: the validator for older models demands it, and the one for newer models does not."""
    call = {"id": call_id, "function": {"name": "f", "arguments": "{}"}}
    answer = {"role": "tool", "tool_call_id": call_id, "content": "r"}
    messages = [USER, {"role": "assistant", "tool_calls": [call]}, answer]
    findings = lint_messages(messages, "mistral")
    assert [(each.index, each.rule, each.severity) for each in findings] == [
        (index, "odd-id", "warning") for index in (1, 2) if is_odd
    ]
    assert all(repr(call_id) in each.message for each in findings)
    assert rejected_by_mistral(messages) is None
    assert (rejected_by_mistral(messages, old=True) is not None) == is_odd


@pytest.mark.parametrize(
    ("name", "is_odd"),
    [("look_up-2", False), ("f" * 64, False), ("f" * 65, True), ("look.up", True), ("größe", True), ("", True)],
)
def test_functions_of_mistral_have_plain_names(name: str, is_odd: bool) -> None:
    """Row 8: in calls, and in results that have a name."""
    call = {"id": nine("a"), "function": {"name": name, "arguments": "{}"}}
    messages = [USER, {"role": "assistant", "tool_calls": [call]}, {**result("a"), "name": name}]
    findings = lint_messages(messages, "mistral")
    assert [(each.index, each.rule, each.severity) for each in findings] == [
        (index, "odd-name", "warning") for index in (1, 2) if is_odd
    ]
    assert (rejected_by_mistral(messages) is not None) == is_odd
    assert (rejected_by_mistral([USER, calls("a"), messages[2]]) is not None) == is_odd
    assert lint_messages(messages, "openai") == []
    # A selection must not lose an open exchange because of a name, which only the caller can change.
    assert select_messages(messages, 1_000, provider="mistral", counter=len).messages == messages


def test_a_call_of_langchain_has_its_name_beside_its_arguments() -> None:
    call = {"id": nine("a"), "name": "look up", "args": {}}
    messages = [USER, {"type": "ai", "content": "", "tool_calls": [call]}, result("a")]
    assert [(each.index, each.rule) for each in lint_messages(messages, "mistral")] == [(1, "odd-name")]


def test_old_function_calls_have_their_names_checked() -> None:
    call = {"role": "assistant", "content": None, "function_call": {"name": "look up", "arguments": "{}"}}
    messages = [USER, call, {"role": "function", "name": "look up", "content": "Found."}]
    findings = lint_messages(messages, "mistral")
    assert [each.index for each in findings if each.rule == "odd-name"] == [1, 2]


def cached(count: int) -> list[Message]:
    return [{"type": "text", "text": str(n), "cache_control": {"type": "ephemeral"}} for n in range(count)]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([{"role": "user", "content": cached(4)}], []),
        ([{"role": "user", "content": cached(5)}], [0]),
        ([{"role": "user", "content": cached(1)}, USER] * 6, [8, 10]),
        ([USER, uses("a"), {"role": "user", "content": [{**results("a")["content"][0], "content": cached(5)}]}], [2]),
        ([{"role": "user", "content": [{**each, "cache_control": None} for each in cached(5)]}], []),
    ],
)
def test_no_more_than_four_blocks_have_cache_control_for_anthropic(
    messages: list[Message], expected: list[int]
) -> None:
    assert found(messages, "anthropic") == [(index, "excess-cache-control") for index in expected]
    # No message is to blame alone, so none is dropped; a note says it.
    selection = select_messages(messages, 10_000, provider="anthropic")
    assert selection.messages == messages
    note = (
        "anthropic would reject the request: the history has more than 4 blocks with cache_control. "
        "Keep cache_control on the last blocks only; system and tools count, too."
    )
    assert selection.notes == ((note,) if expected else ())


def test_dropped_blocks_with_cache_control_do_not_count() -> None:
    messages = [{"role": "user", "content": cached(1)}, {"role": "assistant", "content": "a" * 4_000}] * 6
    selection = select_messages([*messages, USER], 3_000, provider="anthropic")
    assert len(selection.dropped) > 4
    assert selection.notes == ()


def said(content: Any, role: str = "assistant") -> Message:
    return {"role": role, "content": content}


NO_MESSAGE, NO_TEXT = ("empty-message", "error"), ("empty-text", "warning")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (said(None), [NO_MESSAGE]),
        (said([]), [NO_MESSAGE]),
        (said([], "user"), [NO_MESSAGE]),
        ({"role": "assistant"}, [NO_MESSAGE]),
        ({**said(None), "tool_calls": []}, [NO_MESSAGE]),
        ({**said("a"), "tool_calls": []}, [("empty-calls", "warning")]),
        ({**said(""), "tool_calls": []}, [NO_TEXT, ("empty-calls", "warning")]),
        (said(""), [NO_TEXT]),
        (said("", "user"), [NO_TEXT]),
        (said("", "system"), [NO_TEXT]),
        (said([""]), [NO_TEXT]),
        (said([{"type": "text", "text": "a"}, {"type": "text", "text": ""}], "user"), [NO_TEXT]),
        (said([{"type": "text"}], "user"), [NO_TEXT]),
        ({**said(""), "refusal": "No."}, []),
        ({**said(None), "refusal": "No."}, []),
        ({**said(None), "audio": {"id": "x"}}, []),
        (said([{"type": "image_url", "image_url": {"url": "x"}}], "user"), []),
        (said(" ", "user"), []),
    ],
)
def test_what_says_nothing_to_openai(message: Message, expected: list[tuple[str, str]]) -> None:
    findings = lint_messages([USER, message, USER], "openai")
    assert [(each.rule, each.severity) for each in findings] == expected
    assert {each.index for each in findings} <= {1}


@pytest.mark.parametrize("content", [None, "", []])
def test_calls_and_results_need_no_text(content: Any) -> None:
    call = {**calls("a"), "content": content}
    assert found([USER, call, {**result("a"), "content": content or ""}, USER], "openai") == []


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (result("a"), []),
        ({**result("a"), "content": ""}, []),
        ({**result("a"), "content": None}, ["empty-result"]),
        ({"role": "tool", "tool_call_id": nine("a")}, ["empty-result"]),
    ],
)
def test_results_have_a_content_for_openai(message: Message, expected: list[str]) -> None:
    messages = [USER, calls("a"), message]
    findings = lint_messages(messages, "openai")
    assert [(each.index, each.rule, each.severity) for each in findings] == [(2, rule, "warning") for rule in expected]
    # Without the exchange, the model would make the same call again.
    assert select_messages(messages, 1_000, provider="openai", counter=len).messages == messages


def test_results_of_old_function_calls_need_no_content() -> None:
    call = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    assert found([USER, call, {"role": "function", "name": "f", "content": None}], "openai") == []


@pytest.mark.parametrize(
    ("call", "is_odd"),
    [
        ({"function": {"name": "f", "arguments": "{}"}}, False),
        ({"function": {"name": "f", "arguments": ""}}, False),
        ({"function": {"name": "f", "arguments": {"shelf": 1}}}, True),
        ({"function": {"name": "f", "arguments": None}}, True),
        ({"function": {"name": "f"}}, True),
        ({"function": SimpleNamespace(name="f", arguments="{}")}, False),
        ({"type": "custom", "custom": {"name": "f", "input": "x"}}, False),
        ({"name": "f", "args": {"shelf": 1}}, False),
    ],
)
def test_the_arguments_of_a_call_are_a_string_for_openai(call: Message, is_odd: bool) -> None:
    messages = [USER, {"role": "assistant", "content": None, "tool_calls": [{"id": nine("a"), **call}]}, result("a")]
    findings = lint_messages(messages, "openai")
    assert [(each.index, each.rule, each.severity) for each in findings] == [(1, "odd-arguments", "warning")] * is_odd
    # Some servers and libraries take a dict, so a selection keeps the exchange.
    assert select_messages(messages, 1_000, provider="openai", counter=len).messages == messages


@pytest.mark.parametrize(
    ("given", "is_odd"),
    [
        ({}, False),
        (MappingProxyType({"shelf": 1}), False),
        (SimpleNamespace(shelf=1), False),
        ("", True),
        ('{"shelf": 1}', True),
        ([], True),
        (1, True),
        (None, True),
    ],
)
def test_the_input_of_a_call_is_an_object_for_anthropic(given: Any, is_odd: bool) -> None:
    call = {**uses("a")["content"][0], "input": given}
    messages = [USER, said([call]), results("a"), USER]
    findings = lint_messages(messages, "anthropic")
    assert [(each.index, each.rule, each.severity) for each in findings] == [(1, "odd-input", "warning")] * is_odd
    # Some libraries parse JSON when they send it, so a selection keeps the exchange.
    assert select_messages(messages, 1_000, provider="anthropic", counter=len).messages == messages


@pytest.mark.parametrize(
    ("content", "is_trailing"),
    [
        ("So", False),
        ("So ", True),
        ("So\n", True),
        ([{"type": "text", "text": "So "}], True),
        ([{"type": "text", "text": "So "}, {"type": "text", "text": "So"}], False),
        ([{"type": "text", "text": "So "}, {"type": "server_tool_use", "id": "s", "name": "f", "input": {}}], False),
    ],
)
def test_the_last_text_of_the_assistant_does_not_end_with_whitespace_for_anthropic(
    content: Any, is_trailing: bool
) -> None:
    """A selection keeps it, because a user message may follow, and then the whitespace does not matter."""
    messages = [USER, said(content)]
    expected = [(1, "ends-with-assistant")] + [(1, "trailing-space")] * is_trailing
    assert found(messages, "anthropic") == expected
    assert {each.severity for each in lint_messages(messages, "anthropic")} == {"warning"}
    assert select_messages(messages, 1_000, provider="anthropic", counter=len).messages == messages
    assert found([*messages, USER], "anthropic") == []
    assert found([said("So ", "user")], "anthropic") == []


@pytest.mark.parametrize("content", [None, [], ""])
def test_what_says_nothing_to_mistral(content: Any) -> None:
    """Row 8: the validator for older models refuses it."""
    messages = [USER, said(content), USER]
    assert found(messages, "mistral") == [(1, "empty-text" if content == "" else "empty-message")]
    assert rejected_by_mistral(messages, old=True) is not None


@pytest.mark.parametrize(
    ("content", "is_empty"),
    [
        ("", True),
        ([], True),
        ([{"type": "output_text", "text": ""}], True),
        ("a", False),
        ([{"type": "refusal"}], False),
    ],
)
def test_what_says_nothing_to_responses(content: Any, is_empty: bool) -> None:
    findings = lint_messages([USER, said(content)], "responses")
    assert [(each.index, each.rule, each.severity) for each in findings] == [(1, *NO_TEXT)] * is_empty


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([], [NO_MESSAGE]),
        (None, [NO_MESSAGE]),
        ([{}], [("empty-part", "error")]),
        ([{"text": "a"}, {"text": None, "thought": True}], [("empty-part", "error")]),
        ([SimpleNamespace(text=None, function_call=None)], [("empty-part", "error")]),
        ([{"text": ""}], [NO_TEXT]),
        ([""], [NO_TEXT]),
        (["a"], []),
        ([{"text": "", "thoughtSignature": "x"}], []),
        ([SimpleNamespace(text="", thought_signature=b"x")], []),
        ([{"inline_data": {"mime_type": "image/png", "data": "x"}}], []),
    ],
)
def test_what_says_nothing_to_gemini(parts: Any, expected: list[tuple[str, str]]) -> None:
    findings = lint_messages([ASKED, {"role": "model", "parts": parts}, ASKED], "gemini")
    assert [(each.rule, each.severity) for each in findings] == expected


def test_a_name_in_a_finding_is_cut_at_200_characters() -> None:
    for call_id in ("c" * 200, "c" * 10_000_000):
        [finding] = lint_messages([USER, {"role": "tool", "tool_call_id": call_id, "content": "r"}], "openai")
        assert "c" * 200 + "'" in finding.message
        assert len(finding.message) < 300


@pytest.mark.parametrize("provider", ["openai", "responses", "anthropic", "gemini", "mistral"])
def test_an_empty_history_has_nothing_wrong(provider: ProviderName) -> None:
    assert lint_messages([], provider) == []


def test_findings_say_where_what_and_what_to_do() -> None:
    [finding] = lint_messages([USER, result("c1")])
    assert finding == Finding(
        1,
        "orphan-tool-result",
        "the tool result 'c10000000' matches no pending tool call",
        "Put it directly after the message that makes the call, or drop it.",
        "error",
    )


def test_warnings_are_about_what_may_still_change() -> None:
    assert [finding.severity for finding in lint_messages([USER, calls("a")], "openai")] == ["warning"]
    assert [finding.severity for finding in lint_messages([ASKED, TOLD])] == ["warning"]


def test_the_provider_is_found_out() -> None:
    assert lint_messages([ASKED, TOLD, turn("f"), reply("f")])[0].rule == "call-after-model"
    with pytest.raises(ProviderAmbiguousError):
        lint_messages([ASKED, calls("a")])


def test_what_is_no_message_is_an_error() -> None:
    with pytest.raises(MessageShapeError):
        lint_messages([USER, {"text": "?"}])


def test_nothing_is_changed_and_nothing_has_to_be_changeable() -> None:
    messages = [USER, uses("a", first=(THOUGHT,)), results("a")]
    before = deepcopy(messages)
    lint_messages(messages)
    assert messages == before
    assert lint_messages(MappingProxyType(message) for message in (USER, calls("a"), result("a"))) == []
