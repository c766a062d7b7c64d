"""Messages as each provider writes them (ECOSYSTEM A.2), read into one shape."""

from __future__ import annotations

import re
from collections import UserDict
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from mistral_common.protocol.instruct.messages import AssistantMessage, ToolMessage, UserMessage
from mistral_common.protocol.instruct.tool_calls import FunctionCall, ToolCall

from pycupel.errors import InvalidArgumentError, MessageShapeError
from pycupel.messages import lint_messages
from pycupel.messages.options import checked_list
from pycupel.messages.parts import MessageView
from tests.messages.histories import PIXEL
from tests.messages.reading import read_messages
from tests.messages.stand_ins import as_object


def view(message: Any, provider: str) -> MessageView:
    return read_messages([message], provider)[0]


def structure(message: Any, provider: str) -> tuple[Any, ...]:
    """Everything but the tokens and the parts."""
    seen = view(message, provider)
    return (*seen[:3], *seen[4:-1])


def refused(message: Any, provider: str) -> MessageShapeError:
    """The error for the second message of a history."""
    fine = {"role": "user", "parts": [{"text": "hi"}]} if provider == "gemini" else {"role": "user", "content": "hi"}
    with pytest.raises(MessageShapeError) as caught:
        read_messages([fine, message], provider)
    assert caught.value.index == 1
    return caught.value


def call(call_id: str, name: str = "f", arguments: str = '{"a": 1}') -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


class TestOpenAI:
    @pytest.mark.parametrize(
        ("role", "expected"),
        [("system", "system"), ("developer", "system"), ("user", "user"), ("assistant", "assistant")],
    )
    @pytest.mark.parametrize("more", [{}, {"name": "Ann"}])
    def test_a_text(self, role: str, expected: str, more: dict[str, Any]) -> None:
        message = {"role": role, "content": "hello", **more}
        assert structure(message, "openai") == (0, expected, "hello", (), (), role == "user", False, ())

    def test_parts_are_read_for_their_text_and_pictures_are_not(self) -> None:
        """A.6.5: never count base64."""
        parts = [
            {"type": "text", "text": "look"},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
            {"type": "input_audio", "input_audio": {"data": PIXEL, "format": "wav"}},
            {"type": "refusal", "refusal": "no"},
            "plain",
        ]
        assert view({"role": "user", "content": parts}, "openai").text == "look\nno\nplain"

    def test_calls_with_names_and_arguments(self) -> None:
        custom = {"id": "c2", "type": "custom", "custom": {"name": "g", "input": "free text"}}
        message = {"role": "assistant", "content": None, "tool_calls": [call("c1"), custom], "refusal": "hm"}
        assert structure(message, "openai") == (
            0,
            "assistant",
            'hm\nf\n{"a": 1}\ng\nfree text',
            ("c1", "c2"),
            (),
            False,
            False,
            (),
        )

    @pytest.mark.parametrize("content", ["done", [{"type": "text", "text": "done"}]])
    def test_a_result(self, content: Any) -> None:
        message = {"role": "tool", "tool_call_id": "c1", "content": content}
        assert structure(message, "openai") == (0, "tool", "done", (), ("c1",), False, False, ())

    def test_a_result_without_any_part_is_a_result(self) -> None:
        message = {"role": "tool", "tool_call_id": "c1", "parts": []}
        assert structure(message, "openai") == (0, "tool", "", (), ("c1",), False, False, ("empty-result",))

    def test_the_functions_of_old_answer_by_name(self) -> None:
        asked = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
        answered = {"role": "function", "name": "f", "content": "done"}
        first, second = read_messages([asked, answered], "openai")
        assert first.calls == second.results
        assert (first.text, second.role) == ("f\n{}", "tool")

    @pytest.mark.parametrize(
        ("message", "key"),
        [
            ({"content": "x"}, "role"),
            ({"role": "model", "content": "x"}, "role"),
            ({"role": ["user"], "content": "x"}, "role"),
            ("hello", "role"),
            (7, "role"),
            ({"role": "user"}, "content"),
            ({"role": "user", "parts": []}, "content"),
            ({"role": "user", "content": 7}, "content"),
            ({"role": "user", "content": iter(())}, "content"),
            ({"role": "user", "content": [{"type": "text", "text": "x"}, {"image": 1}]}, "content[1].type"),
            ({"role": "assistant", "tool_calls": 7}, "tool_calls"),
            ({"role": "assistant", "tool_calls": [call("c1"), call("")]}, "tool_calls[1].id"),
            ({"role": "assistant", "function_call": {"arguments": "{}"}}, "function_call.name"),
            ({"role": "tool", "content": "x", "tool_call_id": ""}, "tool_call_id"),
            ({"role": "tool", "content": "x", "tool_call_id": 5}, "tool_call_id"),
            ({"role": "function", "content": "x"}, "name"),
        ],
    )
    def test_an_unknown_shape_names_the_index_and_the_key(self, message: Any, key: str) -> None:
        error = refused(message, "openai")
        assert error.key == key
        assert str(error).startswith(f"messages[1].{key}: ")

    def test_objects_are_read_by_their_attributes(self) -> None:
        function = SimpleNamespace(name="f", arguments="{}")
        message = SimpleNamespace(
            role="assistant", content=None, tool_calls=[SimpleNamespace(id="c1", function=function)]
        )
        assert view(message, "openai").calls == ("c1",)
        function = SimpleNamespace(name="f", args=SimpleNamespace(a=SimpleNamespace(b=1), c=3j))
        message = SimpleNamespace(
            role="assistant", content=None, tool_calls=[SimpleNamespace(id="c1", function=function)]
        )
        assert view(message, "openai").text == 'f\n{"a":{"b":1},"c":"3j"}'
        assert view(UserDict(role="user", content="hi"), "openai").text == "hi"

    def test_dataclasses_with_slots(self) -> None:
        @dataclass(frozen=True, slots=True)
        class Message:
            role: str
            content: str

        assert structure(Message("user", "hi"), "openai") == (0, "user", "hi", (), (), True, False, ())


class LangChain:
    """A message that has a type and no role."""

    def __init__(self, kind: str, content: Any, **fields: Any) -> None:
        self.type = kind
        self.content = content
        self.__dict__.update(fields)


class TestLangChain:
    @pytest.mark.parametrize(
        ("kind", "role"),
        [("human", "user"), ("HumanMessageChunk", "user"), ("ai", "assistant"), ("AIMessageChunk", "assistant")],
    )
    def test_types_are_roles(self, kind: str, role: str) -> None:
        assert view(LangChain(kind, "hi"), "openai")[:3] == (0, role, "hi")

    def test_calls_that_could_not_be_parsed_count_as_well(self) -> None:
        good = {"name": "f", "args": {"a": "ü"}, "id": "c1", "type": "tool_call"}
        bad = {"name": "g", "args": "{", "id": "c2", "error": None, "type": "invalid_tool_call"}
        content = [{"type": "text", "text": "hm"}, {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": "ü"}}]
        seen = view(LangChain("ai", content, tool_calls=[good], invalid_tool_calls=[bad]), "openai")
        assert (seen.calls, seen.text) == (("c1", "c2"), 'hm\nf\n{"a":"ü"}\ng\n{')

    def test_results(self) -> None:
        assert view(LangChain("tool", "done", tool_call_id="c1"), "openai").results == ("c1",)

    def test_an_unknown_type_is_kept(self) -> None:
        assert view(LangChain("remove", ""), "openai").role == "assistant"


class TestMistral:
    def test_the_objects_of_mistral_common(self) -> None:
        asked = AssistantMessage(tool_calls=[ToolCall(id="c1", function=FunctionCall(name="f", arguments="{}"))])
        views = read_messages(
            [UserMessage(content="hi"), asked, ToolMessage(content="x", tool_call_id="c1")], "mistral"
        )
        assert [(each.role, each.calls, each.results) for each in views] == [
            ("user", (), ()),
            ("assistant", ("c1",), ()),
            ("tool", (), ("c1",)),
        ]

    @pytest.mark.parametrize("thought", ["Hm.", [{"type": "text", "text": "Hm."}]])
    def test_thoughts_and_prefixes(self, thought: Any) -> None:
        content = [{"type": "thinking", "thinking": thought}, {"type": "text", "text": "So"}]
        seen = view({"role": "assistant", "content": content, "prefix": True}, "mistral")
        assert (seen.text, seen.marks) == ("Hm.\nSo", ("prefix",))


class TestResponses:
    @pytest.mark.parametrize("more", [{}, {"type": "message"}])
    def test_messages(self, more: dict[str, Any]) -> None:
        message = {"role": "user", "content": [{"type": "input_text", "text": "hi"}, {"type": "input_image"}], **more}
        assert structure(message, "responses") == (0, "user", "hi", (), (), True, False, ())
        assert view({"role": "developer", "content": "x", **more}, "responses").role == "system"

    def test_reasoning_is_read_without_what_is_encrypted(self) -> None:
        summary = [{"type": "summary_text", "text": "Hm."}]
        item = {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": PIXEL}
        assert structure(item, "responses") == (0, "assistant", "Hm.", (), (), False, True, ())

    @pytest.mark.parametrize(
        ("item", "calls", "text"),
        [
            ({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "id": "fc"}, ("c",), "f\n{}"),
            ({"type": "custom_tool_call", "call_id": "c", "name": "f", "input": "x"}, ("c",), "f\nx"),
            ({"type": "computer_call", "call_id": "c", "action": {"type": "wait"}}, ("c",), '{"type":"wait"}'),
            (
                {"type": "local_shell_call", "call_id": "c", "id": "l", "action": {"command": ["ls"]}},
                ("c",),
                '{"command":["ls"]}',
            ),
            ({"type": "apply_patch_call", "call_id": "c", "operation": {"path": "a"}}, ("c",), '{"path":"a"}'),
            ({"type": "program", "call_id": "c", "code": "1+1", "fingerprint": PIXEL}, ("c",), "1+1"),
            ({"type": "mcp_approval_request", "id": "c", "name": "f", "arguments": "{}"}, ("c",), "f\n{}"),
            ({"type": "web_search_call", "id": "w", "action": {"query": "x"}}, (), '{"query":"x"}'),
            ({"type": "tool_search_call", "id": "t", "call_id": None, "arguments": {}}, (), "{}"),
            ({"type": "image_generation_call", "id": "i", "result": PIXEL, "revised_prompt": "a cat"}, (), ""),
            ({"type": "mcp_call", "id": "m", "name": "f", "arguments": "{}", "output": "x"}, (), "f\n{}\nx"),
            ({"type": "mcp_list_tools", "id": "m", "tools": []}, (), "[]"),
            ({"type": "tool_search_output", "tools": [{"name": "f"}]}, (), '[{"name":"f"}]'),
            ({"type": "item_reference", "id": "msg_1"}, (), ""),
            ({"id": "msg_1"}, (), ""),
        ],
    )
    def test_what_the_model_does(self, item: Any, calls: tuple[str, ...], text: str) -> None:
        assert structure(item, "responses") == (0, "assistant", text, calls, (), False, False, ())

    @pytest.mark.parametrize(
        ("item", "text"),
        [
            ({"type": "function_call_output", "call_id": "c", "output": "x"}, "x"),
            ({"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "x"}]}, "x"),
            ({"type": "computer_call_output", "call_id": "c", "output": {"image_url": PIXEL}}, ""),
            ({"type": "shell_call_output", "call_id": "c", "output": [{"stdout": "x", "stderr": "y"}]}, "x\ny"),
            ({"type": "local_shell_call_output", "id": "c", "output": "x"}, "x"),
            ({"type": "program_output", "call_id": "c", "result": "x"}, "x"),
            ({"type": "mcp_approval_response", "approval_request_id": "c", "approve": True, "reason": "x"}, "x"),
            ({"type": "tool_search_output", "call_id": "c", "tools": [{"name": "x"}]}, '[{"name":"x"}]'),
        ],
    )
    def test_results(self, item: Any, text: str) -> None:
        assert structure(item, "responses") == (0, "tool", text, (), ("c",), False, False, ())

    @pytest.mark.parametrize("kind", ["compaction", "additional_tools", "configuration_update"])
    def test_what_changes_everything_behind_it_counts_as_a_system_message(self, kind: str) -> None:
        assert view({"type": kind, "role": "developer"}, "responses").role == "system"

    @pytest.mark.parametrize(
        ("item", "key"),
        [
            ({"type": 7}, "type"),
            ({"content": "x"}, "role"),
            ({"type": "message", "role": "tool"}, "role"),
            ({"type": "message", "role": "user"}, "content"),
            ({"type": "shell_call_output", "output": []}, "call_id"),
            ({"type": "function_call", "call_id": ""}, "call_id"),
            ({"type": "mcp_approval_request", "id": 7}, "id"),
        ],
    )
    def test_an_unknown_shape_names_the_index_and_the_key(self, item: Any, key: str) -> None:
        assert refused(item, "responses").key == key


class TestAnthropic:
    def test_a_text(self) -> None:
        assert structure({"role": "user", "content": "hi"}, "anthropic") == (0, "user", "hi", (), (), True, False, ())
        assert view({"role": "system", "content": "x"}, "anthropic").role == "system"
        assert view({"role": "system", "output_config": {}}, "anthropic").text == ""

    def test_calls_and_thoughts(self) -> None:
        blocks = [
            {"type": "thinking", "thinking": "Hm.", "signature": PIXEL},
            {"type": "redacted_thinking", "data": PIXEL},
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}},
        ]
        text = 'Hm.\nLet me look.\nf\n{"a":1}'
        assert structure({"role": "assistant", "content": blocks}, "anthropic") == (
            0, "assistant", text, ("t1",), (), False, True, ()
        )  # fmt: skip

    def test_a_message_of_nothing_but_results_is_a_tool_and_opens_no_turn(self) -> None:
        blocks = [
            {"type": "tool_result", "tool_use_id": "t1", "content": "one"},
            {
                "type": "tool_result",
                "tool_use_id": "t2",
                "content": [{"type": "text", "text": "two"}, {"type": "image"}],
            },
            {"type": "tool_result", "tool_use_id": "t3"},
        ]
        seen = structure({"role": "user", "content": blocks}, "anthropic")
        assert seen == (0, "tool", "one\ntwo", (), ("t1", "t2", "t3"), False, False, ())
        mixed = view({"role": "user", "content": [*blocks, {"type": "text", "text": "go on"}]}, "anthropic")
        assert (mixed.role, mixed.results, mixed.opens_turn) == ("user", ("t1", "t2", "t3"), False)

    def test_documents_and_pictures(self) -> None:
        blocks = [
            {"type": "image", "source": {"type": "base64", "data": PIXEL}},
            {"type": "document", "title": "A", "source": {"type": "text", "data": "words"}},
            {"type": "document", "source": {"type": "base64", "data": PIXEL}},
            {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "more"}]}},
            {
                "type": "search_result",
                "title": "B",
                "source": "https://b",
                "content": [{"type": "text", "text": "hit"}],
            },
        ]
        assert view({"role": "user", "content": blocks}, "anthropic").text == "A\nwords\nmore\nB\nhit"

    def test_server_tools_are_no_calls(self) -> None:
        """A.2: they carry call and result inside one assistant message."""
        blocks = [
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
            {
                "type": "web_search_tool_result",
                "tool_use_id": "s1",
                "content": [{"title": "B", "encrypted_content": PIXEL}],
            },
        ]
        seen = view({"role": "assistant", "content": blocks}, "anthropic")
        assert (seen.calls, seen.results, seen.text) == ((), (), 'web_search\n{"query":"x"}\nB')

    @pytest.mark.parametrize(
        ("role", "content", "marks"),
        [
            ("user", " \n", ("empty-text",)),
            ("assistant", [], ("empty-text",)),
            ("assistant", [{"type": "text", "text": ""}], ("empty-text",)),
            ("assistant", [{"type": "thinking", "thinking": "Hm."}], ("unsigned-thinking",)),
            (
                "user",
                [{"type": "text", "text": "x"}, {"type": "tool_result", "tool_use_id": "t"}],
                ("text-before-result",),
            ),
        ],
    )
    def test_marks(self, role: str, content: Any, marks: tuple[str, ...]) -> None:
        assert view({"role": role, "content": content}, "anthropic").marks == marks

    @pytest.mark.parametrize(
        ("message", "key"),
        [
            ({"role": "tool", "content": "x"}, "role"),
            ({"role": "user"}, "content"),
            ({"role": "user", "content": ["x"]}, "content[0].type"),
            ({"role": "user", "content": [{"type": "tool_use", "id": "t"}]}, "content[0].type"),
            ({"role": "assistant", "content": [{"type": "tool_result", "tool_use_id": "t"}]}, "content[0].type"),
            ({"role": "assistant", "content": [{"type": "text", "text": "x"}, {"type": "tool_use"}]}, "content[1].id"),
            ({"role": "user", "content": [{"type": "tool_result"}]}, "content[0].tool_use_id"),
        ],
    )
    def test_an_unknown_shape_names_the_index_and_the_key(self, message: Any, key: str) -> None:
        assert refused(message, "anthropic").key == key


def model(*calls: Any) -> dict[str, Any]:
    return {"role": "model", "parts": [{"function_call": each} for each in calls]}


def answer(*results: Any) -> dict[str, Any]:
    return {"role": "user", "parts": [{"function_response": each} for each in results]}


class TestGemini:
    @pytest.mark.parametrize("parts", ["hi", ["hi"], [{"text": "hi"}, {"inline_data": {"data": PIXEL}}]])
    def test_a_text(self, parts: Any) -> None:
        assert structure({"role": "user", "parts": parts}, "gemini") == (0, "user", "hi", (), (), True, False, ())
        assert view({"parts": parts}, "gemini").role == "user"
        assert view({"role": "model", "parts": parts}, "gemini").role == "assistant"

    def test_code_that_gemini_runs_itself(self) -> None:
        parts = [{"executable_code": {"code": "1+1"}}, {"codeExecutionResult": {"output": "2"}}]
        assert structure({"role": "model", "parts": parts}, "gemini") == (
            0,
            "assistant",
            "1+1\n2",
            (),
            (),
            False,
            False,
            (),
        )

    def test_thoughts(self) -> None:
        assert view({"role": "model", "parts": [{"text": "Hm.", "thought": True}]}, "gemini").reasoning

    def test_calls_without_ids_are_paired_by_name_and_order(self) -> None:
        history = [
            model({"name": "f"}, {"name": "g"}, {"name": "f"}),
            answer({"name": "g"}, {"name": "f"}, {"name": "f"}),
        ]
        first, second = read_messages(history, "gemini")
        assert len(set(first.calls)) == 3
        assert second.results == (first.calls[1], first.calls[0], first.calls[2])
        assert second.role == "tool"

    def test_ids_pair_where_both_have_them(self) -> None:
        asked = model({"name": "f", "id": "1", "args": {"a": 1}}, {"name": "f", "id": "2"})
        answered = answer({"name": "f", "id": "2", "response": {"r": 1}}, {"name": "f"}, {"name": "f", "id": "3"})
        first, second = read_messages([asked, answered], "gemini")
        assert (first.calls, first.text) == (("1", "2"), 'f\n{"a":1}\nf')
        assert (second.results, second.text) == (("2", "1", "3"), 'f\n{"r":1}\nf\nf')

    def test_the_order_of_the_fields_does_not_matter(self) -> None:
        """The library writes the arguments before the name."""
        assert view(model({"args": {"a": 1}, "name": "f"}), "gemini").text == 'f\n{"a":1}'

    def test_an_id_that_only_the_result_has_does_not_matter(self) -> None:
        first, second = read_messages([model({"name": "f"}), answer({"name": "f", "id": "9"})], "gemini")
        assert first.calls == second.results

    def test_the_json_of_the_api(self) -> None:
        asked = {"role": "model", "parts": [{"functionCall": {"name": "f"}}]}
        answered = {
            "role": "function",
            "parts": [{"functionResponse": {"name": "f", "response": {}}}, {"text": "go on"}],
        }
        first, second = read_messages([asked, answered], "gemini")
        assert first.calls == second.results
        assert (second.role, second.opens_turn) == ("user", False)

    def test_the_model_may_have_had_nothing_to_say(self) -> None:
        assert view(SimpleNamespace(role="model", parts=None), "gemini").text == ""

    @pytest.mark.parametrize(
        ("message", "key"),
        [
            ({"role": "system", "parts": []}, "role"),
            ({"content": "x"}, "role"),
            ({"role": "user", "content": "x"}, "parts"),
            ({"role": "model", "content": "x"}, "parts"),
            ({"role": "user", "parts": [7]}, "parts[0]"),
            ({"role": "model", "parts": [{"function_call": {}}]}, "parts[0].function_call.name"),
            ({"role": "user", "parts": [{"text": ""}, {"function_response": {}}]}, "parts[1].function_response.name"),
        ],
    )
    def test_an_unknown_shape_names_the_index_and_the_key(self, message: Any, key: str) -> None:
        assert refused(message, "gemini").key == key

    def test_a_system_prompt_is_told_where_to_go(self) -> None:
        assert refused({"role": "system", "parts": []}, "gemini").__notes__ == [
            "Instructions go into config.system_instruction."
        ]


class Unset:
    """Where a field is missing, Mistral's library has an object of a class with this name, which is false."""

    def __bool__(self) -> bool:
        return False


@pytest.mark.parametrize("provider", ["openai", "mistral"])
def test_a_field_that_a_library_marks_as_missing(provider: str) -> None:
    message = SimpleNamespace(role="assistant", content="hello", tool_calls=Unset(), name=Unset())
    assert view(message, provider) == view({"role": "assistant", "content": "hello"}, provider)


@pytest.mark.parametrize(
    ("response", "path"),
    [
        ({"id": "x", "choices": [{"message": {"role": "assistant", "content": "hello"}}]}, "choices[0].message"),
        ({"id": "x", "output": [{"type": "reasoning"}]}, "output"),
        ({"id": "x", "output": []}, "output"),
        ({"candidates": [{"content": {"role": "model"}}], "parts": [{"text": "hello"}]}, "candidates[0].content"),
        ({"message": {"role": "assistant", "content": "hello"}}, "message"),
    ],
)
@pytest.mark.parametrize("provider", ["openai", "responses", "anthropic", "gemini", "mistral"])
@pytest.mark.parametrize("kind", [dict, as_object])
def test_a_response_is_not_a_message(response: Any, path: str, provider: str, kind: Any) -> None:
    error = refused(kind(response), provider)
    assert error.key == "role"
    assert error.__notes__ == [f"This looks like a response of the model: its {path} belongs in the history."]


def test_a_response_does_not_make_a_history_ambiguous() -> None:
    history = [{"role": "assistant", "tool_calls": [call("c1")]}, {"id": "x", "choices": [{"message": {}}]}]
    with pytest.raises(MessageShapeError, match=re.escape("messages[1].role: the message has no role")):
        lint_messages(history)


def test_messages_of_frameworks_are_told_where_to_go() -> None:
    assert refused(SimpleNamespace(type="human", content="hi"), "anthropic").__notes__ == [
        'LangChain\'s messages have the format of provider="openai"; model= says whose tokens to count.'
    ]
    prompt = SimpleNamespace(part_kind="user-prompt", content="hi")
    assert refused(SimpleNamespace(kind="request", parts=[prompt]), "gemini").__notes__ == [
        "Pydantic AI has a hook of its own: CupelHistory."
    ]
    assert not hasattr(refused({"content": "hi"}, "openai"), "__notes__")


@pytest.mark.parametrize(
    ("provider", "expected"),
    [
        ("openai", "a string or a list of parts"),
        ("responses", "a string or a list of parts"),
        ("anthropic", "a string or a list of blocks"),
    ],
)
def test_content_may_be_a_text(provider: str, expected: str) -> None:
    error = refused({"role": "user", "content": 7}, provider)
    assert str(error) == f"messages[1].content: must be {expected}, not 7 (int)"


@pytest.mark.parametrize(
    ("provider", "message", "text"),
    [
        ("openai", {"role": "user", "content": [{"a": 1}]}, "content[0].type: part has no type: {'a': 1} (dict)"),
        (
            "openai",
            {"role": "user", "content": [{"type": 3}]},
            "content[0].type: must be a string naming the part's type, not 3 (int)",
        ),
        ("responses", {"type": 3}, "type: must be a string naming the item's type, not 3 (int)"),
        ("anthropic", {"role": "user", "content": [{"a": 1}]}, "content[0].type: block has no type: {'a': 1} (dict)"),
        (
            "anthropic",
            {"role": "user", "content": [{"type": 3}]},
            "content[0].type: must be a string naming the block's type, not 3 (int)",
        ),
        ("gemini", {"role": "user", "parts": [3]}, "parts[0]: must be a Gemini part, not 3 (int)"),
    ],
)
def test_what_is_wrong_with_a_part(provider: str, message: Any, text: str) -> None:
    assert str(refused(message, provider)) == f"messages[1].{text}"


def test_a_message_without_content_is_told_how_to_be_empty() -> None:
    assert refused({"role": "user"}, "openai").__notes__ == ["For an empty message, use ''."]


def test_an_unknown_provider_is_refused() -> None:
    with pytest.raises(
        InvalidArgumentError,
        match="auto, openai, responses, anthropic, gemini, mistral, converse, interactions, not 'cohere'",
    ):
        lint_messages([], "cohere")  # type: ignore[arg-type]


@pytest.mark.parametrize("messages", [{"role": "user", "content": "hi"}, "hi", 7, None])
def test_messages_are_a_list(messages: Any) -> None:
    with pytest.raises(TypeError, match="messages must be a list of messages"):
        checked_list("messages", messages)


def test_messages_may_come_from_anywhere() -> None:
    assert checked_list("messages", (message for message in ("a", "b"))) == ["a", "b"]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ({"id": "c1", "type": "custom", "custom": {"name": "grep", "input": "x"}}, "grep\nx"),
        ({"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}, 'f\n{"a":1}'),
        ({"id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}, "f"),
        (SimpleNamespace(id="c1", function=SimpleNamespace(name="f", arguments="{}")), "f\n{}"),
    ],
)
def test_calls_that_are_not_written_as_most_are_read_all_the_same(call: Any, text: str) -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    view = read_messages([message], "openai")[0]
    assert (view.role, view.text, view.calls) == ("assistant", text, ("c1",))
