"""Bedrock's Converse and Gemini's Interactions: shapes, rules, prices, detection, and what is sent beside them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pycupel.errors import MessageShapeError, ProviderAmbiguousError
from pycupel.messages import count_messages, lint_messages, select_messages
from pycupel.messages.counting import tokens_by_kind
from pycupel.messages.detect import detect_provider
from pycupel.messages.overlay import read_results, with_result_texts
from pycupel.messages.providers import PROVIDERS
from pycupel.tokens.counters import reported_tokens
from tests.messages.chats import Message, errors
from tests.messages.histories import PIXEL
from tests.messages.reading import read_messages, units_of
from tests.messages.stand_ins import as_object


def said(role: str, *blocks: Message) -> Message:
    return {"role": role, "content": list(blocks)}


def use(call_id: str = "t1", **more: Any) -> Message:
    return {"toolUse": {"toolUseId": call_id, "name": "look", "input": {"a": 1}, **more}}


def told(call_id: str = "t1", *content: Message, **more: Any) -> Message:
    return {"toolResult": {"toolUseId": call_id, "content": list(content) or [{"text": "x"}], **more}}


ASKED, ANSWERED = said("user", {"text": "Hi."}), said("assistant", {"text": "So."})
POINT: Message = {"cachePoint": {"type": "default"}}


def tokens(block: Message, provider: Any = "converse") -> int:
    [view] = read_messages([said("user", block)], provider)
    return sum(part.tokens for part in view.parts)


class TestConverse:
    prices = PROVIDERS["converse"].prices

    @pytest.mark.parametrize(
        ("block", "text", "cost"),
        [
            ({"text": "Hi."}, "Hi.", 3),
            (use(), 'look\n{"a":1}', 4 + 7 + 88),
            (told("t1", {"text": "a"}, {"json": {"b": 2}}), 'a\n{"b":2}', 1 + 7),
            ({"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "A" * 80}}}, "Hm.", 3 + 10),
            ({"reasoningContent": {"redactedContent": b"A" * 80}}, "", 10),
            ({"image": {"format": "png", "source": {"bytes": PIXEL}}}, "", 1600),
            ({"document": {"name": "a", "format": "pdf", "source": {"bytes": b"x" * 99}}}, "", 3100),
            ({"document": {"name": "a", "source": {"text": "words"}}}, "a\nwords", 6),
            ({"document": {"name": "a", "source": {"content": [{"text": "words"}]}}}, "a\nwords", 6),
            ({"video": {"format": "mp4", "source": {"bytes": b""}}}, "", 3100),
            ({"audio": {"format": "wav", "source": {"bytes": b""}}}, "", 1000),
            ({"guardContent": {"text": {"text": "safe", "qualifiers": ["query"]}}}, "safe", 4),
            ({"citationsContent": {"content": [{"text": "cited"}], "citations": [{"title": "T"}]}}, "cited", 5),
            ({"searchResult": {"source": "s", "title": "T", "content": [{"text": "hit"}]}}, "T\nhit", 4),
            ({"toolAddition": {"tool": {"name": "f"}}}, '{"tool":{"name":"f"}}', 21),
            (POINT, "", 0),
        ],
    )
    @pytest.mark.parametrize("make", [dict, as_object])
    def test_blocks(self, block: Message, text: str, cost: int, make: Any) -> None:
        role = "assistant" if "toolUse" in block or "reasoningContent" in block else "user"
        made = block if "json" in str(block) else make(block)
        [view] = read_messages([said(role, made)], "converse")
        assert (view.text, view.tokens) == (text, cost + self.prices.message)

    def test_calls_and_results(self) -> None:
        history = [
            ASKED,
            said("assistant", {"text": "I look."}, use("a"), use("b")),
            said("user", told("b"), told("a")),
        ]
        views = read_messages(history, "converse")
        assert [(view.role, view.calls, view.results) for view in views[1:]] == [
            ("assistant", ("a", "b"), ()),
            ("tool", (), ("b", "a")),
        ]
        assert lint_messages([*history, ANSWERED, ASKED], "converse") == []
        assert views[2].parts[0].said == "x"

    def test_a_remark_and_a_cache_point_beside_results(self) -> None:
        plain, marked = said("user", told(), POINT), said("user", told(), {"text": "Go on."})
        assert [view.role for view in read_messages([plain, marked], "converse")] == ["tool", "user"]

    def test_the_provider_answers_its_own_calls(self) -> None:
        message = said(
            "assistant", use("s", type="server_tool_use"), told("s", type="server_tool_use"), {"text": "So."}
        )
        assert lint_messages([ASKED, message, ASKED], "converse") == []

    def test_errors_are_marked(self) -> None:
        [part] = read_results(said("user", told(status="error")))
        assert (part.failed, part.said) == (True, "x")

    @pytest.mark.parametrize(
        ("history", "rule"),
        [
            ([ASKED, ASKED], "same-role"),
            ([ASKED, ANSWERED, ANSWERED, ASKED], "same-role"),
            ([ASKED, said("assistant", use()), said("user", told()), ASKED], "same-role"),
            ([ANSWERED, ASKED], "first-not-user"),
            ([ASKED, said("assistant", use()), ASKED], "unanswered-tool-call"),
            ([ASKED, ANSWERED, said("user", told())], "orphan-tool-result"),
            ([said("user", {"text": " "})], "empty-text"),
            ([said("user")], "empty-message"),
            ([said("user", {"text": "x"}, *[POINT] * 5)], "excess-cache-points"),
        ],
    )
    def test_rules(self, history: list[Message], rule: str) -> None:
        assert rule in errors(history, "converse")

    def test_what_is_left_alternates(self) -> None:
        """With the results goes the call, and then the question before it is followed by another one."""
        history = [ASKED, said("assistant", use()), said("user", told()), said("user", {"text": "Stop."}), ANSWERED]
        kept = select_messages(history, 1_000, provider="converse", counter=len).kept
        assert kept == (3, 4)

    def test_system_messages_do_not_count(self) -> None:
        """They stand between a question and its answer."""
        told_so = said("system", {"text": "Be brief."})
        history = [ASKED, told_so, ANSWERED, ASKED, told_so, ANSWERED, ASKED]
        assert errors(history, "converse") == []
        assert select_messages(history, 1_000, provider="converse", counter=len).messages == history

    def test_a_tool_that_was_added_stays_with_the_messages_around_it(self) -> None:
        def change(kind: str, name: str = "look", **server: str) -> Message:
            return said("system", {kind: {"tool": {"name": name, **server}}})

        def kept(*changes: Message) -> list[int]:
            history = [message for each in changes for message in (ASKED, each, ANSWERED)] + [ASKED, ANSWERED] * 9
            newest = [ASKED, said("system", {"text": "Newest."}), ANSWERED, ASKED]
            selection = select_messages([*history, *newest], 150, provider="converse", counter=len)
            assert errors(selection.messages, "converse") == []
            assert len(selection.kept) < len(history)
            return [n for n in selection.kept if n < 3 * len(changes)]

        added, removed = change("toolAddition"), change("toolRemoval")
        assert kept(added) == [0, 1, 2]
        assert kept(removed) == [0, 1, 2]
        assert kept(said("system", {"text": "Be brief."}), added) == [3, 4, 5]
        assert kept(added, removed) == [3, 4, 5]
        # Another server may have a tool of the same name.
        assert 1 in kept(added, change("toolRemoval", serverName="other"))

    def test_a_question_stays_with_its_answer(self) -> None:
        """Without it, the next question would follow."""
        history = [ASKED, said("assistant", use()), said("user", told()), ANSWERED] * 9 + [ASKED]
        for n in range(9):
            history[4 * n + 1], history[4 * n + 2] = said("assistant", use(f"t{n}")), said("user", told(f"t{n}"))
        selection = select_messages(history, 260, provider="converse", counter=len, pin=[0])
        assert {0, 3} <= set(selection.kept) < set(range(37))
        assert errors(selection.messages, "converse") == []

    @pytest.mark.parametrize(
        ("message", "key"),
        [
            ({"role": "user", "content": "Hi."}, "content"),
            (said("user", "Hi."), "content[0]"),  # type: ignore[arg-type]
            (said("assistant", {"toolUse": {"name": "f"}}), "content[0].toolUse.toolUseId"),
            ({"content": [{"text": "x"}]}, "role"),
        ],
    )
    def test_what_cannot_be_read(self, message: Message, key: str) -> None:
        with pytest.raises(MessageShapeError) as caught:
            read_messages([ASKED, message], "converse")
        assert (caught.value.index, caught.value.key) == (1, key)

    def test_results_are_shortened_as_texts(self) -> None:
        message = said("user", told("t1", {"json": {"a": 1}}, status="error"))
        assert with_result_texts(message, {0: "short"}) == said("user", told("t1", {"text": "short"}, status="error"))

    def test_what_is_sent_beside_the_messages(self) -> None:
        spec = {"name": "look", "description": "Looks.", "inputSchema": {"json": {"type": "object"}}}
        system = [{"text": "Be brief."}, POINT]
        plain = count_messages([ASKED], "converse", len)
        with_system = count_messages([ASKED], "converse", len, system=system)
        assert with_system - plain == len("Be brief.") + self.prices.message
        tools = [{"toolSpec": spec}, POINT]
        definition = len('{"name":"look","description":"Looks.","input_schema":{"json":{"type":"object"}}}')
        both = count_messages([ASKED], "converse", len, tools=tools)
        assert both == count_messages([ASKED], "converse", len, tools=tools[:1])
        newer = {"dream": {"sheep": 2}}
        assert (
            count_messages([ASKED], "converse", len, system=[*system, newer]) - with_system
            == len(json.dumps(newer)) - 2
        )
        assert both - plain == definition + self.prices.tools + self.prices.tool
        twice = lint_messages([ASKED], "converse", tools=[{"toolSpec": spec}] * 2)
        assert [each.rule for each in twice] == ["duplicate-tool"]
        points = lint_messages([said("user", {"text": "x"}, *[POINT] * 3)], "converse", system=system, tools=tools)
        assert [each.rule for each in points] == ["excess-cache-points"]

    def test_detection(self) -> None:
        assert detect_provider([ASKED]).name == "converse"
        assert detect_provider([{"role": "user", "content": "Hi."}, said("assistant", use())]).name == "converse"

    def test_usage(self) -> None:
        assert reported_tokens({"inputTokens": 5, "cacheReadInputTokens": 7, "outputTokens": 1}) == 12


def text(value: str) -> Message:
    return {"type": "text", "text": value}


INPUT: Message = {"type": "user_input", "content": [text("Hi.")]}
OUTPUT: Message = {"type": "model_output", "content": [text("So.")]}
THOUGHT: Message = {"type": "thought", "signature": "A" * 80, "summary": [text("Hm.")]}


def call(call_id: str = "c1") -> Message:
    return {"type": "function_call", "id": call_id, "name": "look", "arguments": {"a": 1}}


def result(call_id: str = "c1", value: Any = "x", **more: Any) -> Message:
    return {"type": "function_result", "call_id": call_id, "name": "look", "result": value, **more}


class TestInteractions:
    prices = PROVIDERS["interactions"].prices

    @pytest.mark.parametrize(
        ("step", "role", "content", "cost"),
        [
            (INPUT, "user", "Hi.", 3),
            (OUTPUT, "assistant", "So.", 3),
            ({"type": "model_output"}, "assistant", "", 0),
            (THOUGHT, "assistant", "Hm.", 3 + 10),
            (call(), "assistant", 'look\n{"a":1}', 4 + 7 + 12),
            (result(), "tool", "look\nx", 5),
            (result(value={"rows": [1]}), "tool", 'look\n{"rows":[1]}', 4 + 12),
            (result(value=[text("a"), {"type": "image", "data": PIXEL}]), "tool", "look\na", 5 + 1120),
            (
                {"type": "google_search_call", "id": "g", "arguments": {"queries": ["q"]}},
                "assistant",
                '{"queries":["q"]}',
                29,
            ),
            (
                {"type": "google_search_result", "call_id": "g", "result": [{"title": "T"}], "signature": "A" * 8},
                "assistant",
                '[{"title":"T"}]',
                16,
            ),
            ({"type": "processing_call", "id": "p"}, "assistant", "", 12),
            ({"type": "file_search_call", "id": "f"}, "assistant", "", 12),
            ({"type": "user_input", "content": [{"type": "document", "data": PIXEL}]}, "user", "", 1500),
        ],
    )
    @pytest.mark.parametrize("make", [dict, as_object])
    def test_steps(self, step: Message, role: str, content: str, cost: int, make: Any) -> None:
        [view] = read_messages([make(step) if not isinstance(step.get("result"), dict) else step], "interactions")
        assert (view.role, view.text, view.tokens) == (role, content, cost + self.prices.message)

    def test_calls_and_results(self) -> None:
        history = [INPUT, THOUGHT, call("a"), call("b"), result("b"), result("a"), OUTPUT, INPUT]
        assert [unit.indices for unit in units_of(history, "interactions")] == [(0,), (1, 2, 3, 4, 5), (6,), (7,)]
        assert lint_messages(history, "interactions") == []

    def test_a_thought_may_stand_alone(self) -> None:
        assert lint_messages([INPUT, THOUGHT, INPUT], "interactions") == []

    @pytest.mark.parametrize(
        ("history", "rule"),
        [
            ([INPUT, result()], "orphan-tool-result"),
            ([INPUT, call(), INPUT], "unanswered-tool-call"),
            ([INPUT, call(), result(), call(), result()], "duplicate-id"),
            ([INPUT, call()], "open-tool-call"),
            ([INPUT, OUTPUT], "ends-with-assistant"),
            ([{"type": "user_input", "content": [text("")]}], "empty-text"),
        ],
    )
    def test_rules(self, history: list[Message], rule: str) -> None:
        assert rule in [each.rule for each in lint_messages(history, "interactions")]

    @pytest.mark.parametrize(
        ("step", "key"),
        [
            ({"role": "user", "content": "Hi."}, "type"),
            ({"content": "Hi."}, "type"),
            ({"type": 7}, "type"),
            ({"type": "user_input", "content": 7}, "content"),
            ({"type": "function_call", "name": "f"}, "id"),
            ({"type": "function_result", "result": "x"}, "call_id"),
        ],
    )
    def test_what_cannot_be_read(self, step: Message, key: str) -> None:
        with pytest.raises(MessageShapeError) as caught:
            read_messages([INPUT, step], "interactions")
        assert (caught.value.index, caught.value.key) == (1, key)

    @pytest.mark.parametrize("value", ["a long result", {"rows": [1]}, [text("a long result")]])
    def test_results_are_shortened_as_texts(self, value: Any) -> None:
        assert with_result_texts(result(value=value), {0: "short"}) == result(value="short")
        [part] = read_results(result(value=value, is_error=True))
        assert part.failed

    def test_kinds(self) -> None:
        kinds = tokens_by_kind([INPUT, THOUGHT, call(), result(), OUTPUT], "interactions", len)
        assert set(kinds) == {"user", "assistant", "thinking", "tool_calls", "tool_results"}

    @pytest.mark.parametrize(
        ("history", "provider"),
        [
            ([INPUT], "interactions"),
            ([OUTPUT], "interactions"),
            ([THOUGHT, call()], "interactions"),
            ([call(), result()], "interactions"),
            ([{"type": "google_search_result", "call_id": "g", "result": []}, call()], "interactions"),
            ([call()], "responses"),
            ([{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}], "responses"),
        ],
    )
    def test_detection(self, history: list[Message], provider: str) -> None:
        assert detect_provider(history).name == provider

    def test_steps_and_items_do_not_mix(self) -> None:
        with pytest.raises(ProviderAmbiguousError):
            detect_provider([INPUT, {"type": "reasoning", "summary": []}])

    def test_usage(self) -> None:
        assert reported_tokens({"total_input_tokens": 5, "total_cached_tokens": 3}) == 5
