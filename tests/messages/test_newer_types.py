"""The types of 2026 (ECOSYSTEM, "Shapes of November 2026"): what they cost, what they belong to, how long they last."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any, ClassVar
from zipfile import ZipFile

import pytest

from pycupel.errors import UnitTooLargeError
from pycupel.messages import count_messages, lint_messages, select_messages
from pycupel.messages.counting import tokens_by_kind
from pycupel.messages.detect import detect_provider
from pycupel.messages.providers import PROVIDERS
from tests.messages.chats import Message, answer, question, select
from tests.messages.reading import read_messages, units_of
from tests.messages.stand_ins import as_object
from tools.sdk_types import Modules, Root, missing

FACTS = json.loads(Path(__file__).with_name("sdk_types.json").read_text(encoding="utf-8"))


def members(messages: list[Any], provider: str) -> list[tuple[int, ...]]:
    return [unit.indices for unit in units_of(messages, provider)]


def cost(block: Any, role: str = "assistant", provider: Any = "anthropic") -> int:
    """What a block adds to a message."""
    text = {"type": "text", "text": "x"}
    one, both = ([question(), {"role": role, "content": content}] for content in ([text], [text, block]))
    return count_messages(both, provider, len) - count_messages(one, provider, len)


def test_the_tables_have_every_type_of_the_sdks() -> None:
    """The facts are what `make sdk-types` last found."""
    assert missing(FACTS) == []
    assert sorted(FACTS["versions"]) == ["anthropic", "botocore", "google-genai", "mistralai", "openai"]
    assert {name for name in FACTS if " " in name} == {
        *("anthropic parts", "openai parts", "mistral parts", "responses parts", "interactions parts"),
        *("responses items", "interactions items", "gemini fields", "converse fields"),
    }
    assert missing({**FACTS, "openai parts": ["text", "dream"]}) == ["openai parts: dream"]


class TestAnthropic:
    def test_a_fallback_costs_nothing(self) -> None:
        block = {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}, "trigger": None}
        assert cost(block) == 0
        assert lint_messages([question(), {"role": "assistant", "content": [block]}, question()], "anthropic") == []

    def test_encrypted_output_counts(self) -> None:
        inner = {"type": "encrypted_code_execution_result", "encrypted_stdout": "A" * 800, "stderr": "", "content": []}
        block = {"type": "code_execution_tool_result", "tool_use_id": "s", "content": inner}
        assert cost(block) == 100

    def test_only_the_content_of_a_compaction_counts(self) -> None:
        block = {"type": "compaction", "content": "So far.", "signature": "A" * 80, "encrypted_content": "A" * 80}
        plain, more = (
            [{"role": "assistant", "content": [each]}] for each in ({"type": "text", "text": "So far."}, block)
        )
        assert count_messages(more, "anthropic", len) == count_messages(plain, "anthropic", len)

    def system(self, *blocks: Any, **more: Any) -> Message:
        return {"role": "system", "content": list(blocks), **more}

    def reference(self, kind: str, name: str = "look") -> Message:
        return {"type": kind, "tool": {"type": "tool_reference", "tool_name": name}}

    def definition(self, name: str = "look") -> Message:
        tool = {"name": name, "input_schema": {"type": "object"}}
        return {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": tool}}

    def test_definitions_count_as_tools(self) -> None:
        history = [question(), self.system(self.definition()), answer()]
        tokens = len('{"name":"look","input_schema":{"type":"object"}}') + PROVIDERS["anthropic"].prices.tool
        assert tokens_by_kind(history, "anthropic", len)["tools"] == tokens
        selection = select(history, 1_000, provider="anthropic")
        assert (selection.usage.tools, selection.usage.system) == (tokens, PROVIDERS["anthropic"].prices.message)
        assert "tools" not in selection.usage.history

    def history(self, *changes: Message) -> list[Message]:
        """Each change between a question and its answer, with small talk before and after each."""
        said: list[Message] = []
        for n, change in enumerate(changes):
            said += [question(f"question {n}"), change, answer(f"answer {n}")]
            said += [question("And?"), answer("So.")] * 4
        return [*said, question("Now?"), self.system({"type": "text", "text": "Newest."}), answer(), question("Go.")]

    def kept(self, history: list[Message]) -> tuple[list[Message], list[str]]:
        """What of the system messages stays when everything else goes, and what is wrong with that."""
        must = select_messages(history, 10**6, provider="anthropic", counter=len).usage.prompt
        for budget in range(150, must, 10):
            try:
                selection = select_messages(history, budget, provider="anthropic", counter=len)
            except UnitTooLargeError:
                continue
            left = [message for message in selection.messages if message["role"] == "system"]
            wrong = [each.rule for each in lint_messages(selection.messages, "anthropic") if each.severity == "error"]
            return left, wrong
        raise AssertionError

    def test_an_addition_in_force_stays_with_its_neighbours(self) -> None:
        added = self.system(self.reference("tool_addition"))
        left, wrong = self.kept(self.history(added))
        assert (left[0], len(left), wrong) == (added, 2, [])

    def test_an_addition_that_was_removed_goes_with_its_removal(self) -> None:
        added, removed = self.system(self.definition()), self.system(self.reference("tool_removal"))
        left, wrong = self.kept(self.history(added, removed))
        assert (len(left), wrong) == (1, [])

    def test_tools_of_two_servers_may_have_the_same_name(self) -> None:
        tools = [{"type": "mcp_tool_reference", "name": "look", "server_name": name} for name in ("one", "other")]
        added, removed = ({"type": kind, "tool": tools[0]} for kind in ("tool_addition", "tool_removal"))
        other = {"type": "tool_addition", "tool": tools[1]}
        history = self.history(*(self.system(each) for each in (added, other, removed)))
        assert self.kept(history)[0][0] == self.system(other)

    def test_the_removal_of_a_tool_of_the_request_stays(self) -> None:
        removed = self.system(self.reference("tool_removal"))
        left, _ = self.kept(self.history(removed))
        assert left[0] == removed

    def test_a_tool_that_is_back_needs_its_definition(self) -> None:
        defined, removed = self.system(self.definition()), self.system(self.reference("tool_removal"))
        added = self.system(self.reference("tool_addition"))
        history = self.history(defined, removed, added)
        assert self.kept(history)[0][:2] == [defined, added]
        # The removal alone would name a tool that nobody defined.
        units = units_of(history, "anthropic")
        places = {unit.indices: n for n, unit in enumerate(units)}
        assert places[(1,)] in units[places[(12,)]].needs

    def test_more_messages_take_a_tool_away_again(self) -> None:
        """What the last call read is used again, and what was in force then no longer is."""
        added, removed = self.system(self.definition()), self.system(self.reference("tool_removal"))
        history = self.history(added, removed)
        first = select_messages(history[:8], 200, provider="anthropic", counter=len)
        again = select_messages(history, 200, provider="anthropic", counter=len, previous=first)
        anew = select_messages(history, 200, provider="anthropic", counter=len)
        assert (again.kept, again.total_tokens, again.notes) == (anew.kept, anew.total_tokens, anew.notes)
        assert 1 not in again.kept

    def test_a_message_for_one_turn_costs_nothing_after_it(self) -> None:
        for content in ("Only now.", [{"type": "text", "text": "Only now."}]):
            for_now = {"role": "system", "content": content, "clear_at": "next_user_message"}
            open_end = read_messages([question(), for_now], "anthropic")[1]
            ended = read_messages([question(), for_now, answer(), question()], "anthropic")[1]
            lasting = read_messages([question(), {**for_now, "clear_at": "never"}, answer(), question()], "anthropic")
            assert (open_end.tokens, ended.tokens) == (lasting[1].tokens, 0)
            assert lasting[1].tokens > 0

    def test_what_a_message_for_one_turn_does_to_the_tools_lasts(self) -> None:
        text = {"type": "text", "text": "Only now."}
        both = self.system(text, self.definition(), clear_at="next_user_message")
        ended = read_messages([question(), both, answer(), question()], "anthropic")[1]
        tools = tokens_by_kind([question(), self.system(self.definition()), answer()], "anthropic", len)["tools"]
        assert (ended.tokens, ended.text) == (tools, "")
        left, wrong = self.kept(self.history(both))
        assert (left[0], wrong) == (both, [])

    @pytest.mark.parametrize("more", [{}, {"content": None}, {"clear_at": "never"}])
    def test_a_system_message_may_have_only_options(self, more: Message) -> None:
        options = {"role": "system", "output_config": {"effort": "low"}, **more}
        history = [question(), options, answer(), question()]
        assert select(history, 1_000, provider="anthropic").messages == history

    def test_what_it_cost_before_does_not_matter_to_the_next_call(self) -> None:
        for_now = {"role": "system", "content": "Only now.", "clear_at": "next_user_message"}
        talk = [question("And?"), answer("So.")] * 9
        history = [question(), for_now, answer(), *talk, question("Go.")]
        previous = select_messages(history[:2], 150, provider="anthropic", counter=len)
        stored = replace(previous, memory=previous.memory.stored())
        for end in range(3, len(history) + 1, 2):
            for before in (previous, stored) if end == 3 else (previous,):
                selection = select_messages(history[:end], 150, provider="anthropic", counter=len, previous=before)
                anew = select_messages(history[:end], 150, provider="anthropic", counter=len)
                assert (selection.kept, selection.notes) == (anew.kept, anew.notes)
                previous = selection

    @pytest.mark.parametrize("option", [{"clear_at": "next_user_message"}, {"output_config": {"effort": "low"}}])
    def test_its_options_tell_whose_it_is(self, option: Message) -> None:
        assert detect_provider([question(), {"role": "system", "content": "Be brief.", **option}]).name == "anthropic"

    def test_a_message_that_has_ended_is_not_the_newest_system_message(self) -> None:
        reminder = self.system({"type": "text", "text": "Be brief."})
        for_now = {"role": "system", "content": "Only now.", "clear_at": "next_user_message"}
        talk = [question("And?"), answer("So.")] * 20
        history = [question(), reminder, answer(), *talk, question(), for_now, answer(), *talk, question("Go.")]
        left, wrong = self.kept(history)
        assert (left, wrong) == ([reminder], [])
        assert [unit.role for unit in units_of(history, "anthropic")].count("ended") == 1
        # At the end of the history it is in force, and the newest.
        assert self.kept(history[:45])[0] == [for_now]


class TestResponses:
    def test_messages_between_agents(self) -> None:
        content = [
            {"type": "input_text", "text": "Look."},
            {"type": "encrypted_content", "encrypted_content": "A" * 80},
        ]
        item = {"type": "agent_message", "author": "/a", "recipient": "/b", "content": content}
        [view] = read_messages([item], "responses")
        assert (view.role, view.text, view.tokens) == ("assistant", "Look.", len("Look.") + 10 + 4)
        assert lint_messages([question(), item], "responses") == []

    def test_the_results_of_a_search_count(self) -> None:
        item = {
            "type": "file_search_call",
            "id": "f",
            "queries": ["q"],
            "results": [{"text": "found", "filename": "a"}],
        }
        assert read_messages([item], "responses")[0].text == '["q"]\nfound'

    def test_the_schema_of_a_configuration_counts(self) -> None:
        schema = {"type": "json_schema", "name": "s", "schema": {"type": "object"}}
        item = {"type": "configuration_update", "text": {"format": schema}, "reasoning": {"effort": "low"}}
        for given in (item, as_object(item)):
            assert len(json.dumps(schema, separators=(",", ":"))) <= read_messages([given], "responses")[0].tokens - 4
        assert read_messages([{**item, "text": {"format": None}}], "responses")[0].tokens == 4

    def call(self, call_id: str, name: str = "f") -> Message:
        return {"type": "function_call", "call_id": call_id, "name": name, "arguments": "{}"}

    def output(self, name: str | None = None, **more: Any) -> Message:
        named = {} if name is None else {"name": name}
        return {"type": "function_call_output", "output": "x", **named, **more}

    def test_an_output_may_name_its_function(self) -> None:
        items = [
            question(),
            *(self.call("1"), self.call("2", "g"), self.call("3")),
            *(self.output("g"), self.output("f"), self.output(call_id="3")),
            *(answer(), question()),
        ]
        assert lint_messages(items, "responses") == []
        assert [view.results for view in read_messages(items, "responses")[4:7]] == [("2",), ("1",), ("3",)]
        assert members(items, "responses")[1] == (1, 2, 3, 4, 5, 6)

    def test_without_any_name_it_answers_the_first_call_that_is_left(self) -> None:
        items = [question(), self.call("1"), self.call("2"), self.output(call_id="1"), self.output()]
        assert read_messages(items, "responses")[4].results == ("2",)
        assert lint_messages([*items, self.output("f"), self.output()], "responses")[0].rule == "orphan-tool-result"

    def test_what_was_read_before_is_found_again(self) -> None:
        items = [question(), self.call("1"), self.output("f"), self.call("2"), self.output("f"), question()]
        first = select_messages(items[:4], 1_000, provider="responses", counter=len)
        again = select_messages(items, 1_000, provider="responses", counter=len, previous=first)
        assert again.kept == (0, 1, 2, 3, 4, 5)
        assert again.stable_prefix_tokens > 0


@pytest.mark.parametrize("provider", ["openai", "responses"])
@pytest.mark.parametrize("make", [dict, as_object])
def test_more_than_four_breakpoints(provider: Any, make: Any) -> None:
    kind = "text" if provider == "openai" else "input_text"
    part = {"type": kind, "text": "x", "prompt_cache_breakpoint": {"mode": "explicit"}}
    fine = make({"role": "user", "content": [part, part, {"type": kind, "text": "y"}]})
    assert lint_messages([fine, fine], provider) == []
    [found] = lint_messages([fine, fine, fine], provider)
    assert (found.index, found.rule, found.severity) == (2, "excess-cache-breakpoints", "warning")
    assert found.message in select([fine] * 3, 10_000, provider=provider).notes[-1]


def test_breakpoints_in_outputs_count_as_well() -> None:
    part = {"type": "input_text", "text": "x", "prompt_cache_breakpoint": {}}
    marked = {**part, "prompt_cache_breakpoint": {"mode": "explicit"}}
    items = [
        question(),
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": [part, *[marked] * 5]},
    ]
    assert [each.rule for each in lint_messages(items, "responses")] == ["excess-cache-breakpoints"]
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    told = {"role": "tool", "tool_call_id": "c", "content": [{**marked, "type": "text"}] * 5}
    history = [question(), {"role": "assistant", "content": None, "tool_calls": [call]}, told]
    assert [each.rule for each in lint_messages(history, "openai")] == ["excess-cache-breakpoints"]


class TestGemini:
    def call(self, *calls: Message) -> Message:
        return {"role": "model", "parts": [{"function_call": each} for each in calls]}

    def told(self, *responses: Message) -> Message:
        return {"role": "user", "parts": [{"function_response": {"response": {}, **each}} for each in responses]}

    ASKED: ClassVar[Message] = {"role": "user", "parts": [{"text": "Hi."}]}
    SAID: ClassVar[Message] = {"role": "model", "parts": [{"text": "So."}]}

    @pytest.mark.parametrize("call", [{"name": "f", "id": "1"}, {"name": "f"}])
    @pytest.mark.parametrize("more", ["will_continue", "willContinue"])
    def test_several_responses_to_one_call(self, call: Message, more: str) -> None:
        going_on = {**call, more: True}
        together = [self.ASKED, self.call(call), self.told(going_on, going_on, call), self.SAID, self.ASKED]
        apart = [self.ASKED, self.call(call), self.told(going_on), self.told(call), self.SAID, self.ASKED]
        later = [self.ASKED, self.call(call), self.told(going_on), self.SAID, self.told(call), self.SAID, self.ASKED]
        assert members(together, "gemini") == [(0,), (1, 2), (3,), (4,)]
        assert members(apart, "gemini") == [(0,), (1, 2, 3), (4,), (5,)]
        assert members(later, "gemini") == [(0,), (1, 2, 3, 4), (5,), (6,)]
        assert [lint_messages(history, "gemini") for history in (together, apart, later)] == [[], [], []]

    def test_without_the_announcement_it_is_one_too_many(self) -> None:
        call = {"name": "f", "id": "1"}
        [found] = lint_messages([self.ASKED, self.call(call), self.told(call, call), self.ASKED], "gemini")
        assert found.rule == "duplicate-id"

    @pytest.mark.parametrize("name", ["part_metadata", "audioTranscription", "media_processing", "speech_metadata"])
    def test_descriptions_cost_nothing(self, name: str) -> None:
        plain, more = ({"role": "user", "parts": [{"text": "Hi.", **each}]} for each in ({}, {name: {"a": "b" * 99}}))
        assert count_messages([plain], "gemini", len) == count_messages([more], "gemini", len)


class TestWithoutIds:
    """Ollama's calls have no ids, and Mistral's results may have none."""

    def call(self, *names: str, **more: Any) -> Message:
        made = [{"function": {"name": name, "arguments": {"a": 1}}, **more} for name in names]
        return {"role": "assistant", "content": "", "tool_calls": made}

    def told(self, name: str = "", **more: Any) -> Message:
        return {"role": "tool", "content": "x", **({"tool_name": name} if name else {}), **more}

    def warnings(self, history: list[Message], provider: Any = "openai") -> set[str]:
        return {each.rule for each in lint_messages(history, provider)}

    @pytest.mark.parametrize("provider", ["openai", "mistral"])
    @pytest.mark.parametrize("more", [{}, {"id": None}, {"id": "null"}])
    @pytest.mark.parametrize("make", [dict, as_object])
    def test_they_are_paired_in_order(self, provider: Any, more: Message, make: Any) -> None:
        history = [question(), self.call("f", "g", "f", **more), self.told(), self.told(), self.told(), answer()]
        history += [question(), self.call("h", **more), self.told(**({"tool_call_id": "null"} if more else {}))]
        made = [make(message) for message in history]
        assert members(made, provider) == [(0,), (1, 2, 3, 4), (5,), (6,), (7, 8)]
        assert detect_provider(made).name == "openai"
        assert self.warnings(history, provider) <= {"odd-arguments", "ends-with-assistant"}

    def test_an_id_that_stands_for_none(self) -> None:
        """What Mistral's library sends; as real ids, all calls would be the same one."""
        made = [{"id": "null", "function": {"name": name, "arguments": "{}"}} for name in "fg"]
        history = [question(), {"role": "assistant", "content": None, "tool_calls": made}, self.told(), self.told()]
        assert members(history, "openai") == [(0,), (1, 2, 3)]

    def test_names_are_paired_first(self) -> None:
        views = read_messages([question(), self.call("f", "g"), self.told("g"), self.told("f")], "openai")
        assert views[2].results + views[3].results == views[1].calls[::-1]

    def test_a_call_with_an_id_may_be_answered_without(self) -> None:
        history = [question(), self.call("f", id="abcdefghi"), self.told("f"), answer(), question()]
        assert read_messages(history, "mistral")[2].results == ("abcdefghi",)

    def test_a_result_without_a_call_is_an_orphan(self) -> None:
        assert [each.rule for each in lint_messages([question(), self.told()], "openai")] == ["orphan-tool-result"]
        history = [question(), self.call("f"), self.told(), self.told(), answer()]
        assert "orphan-tool-result" in self.warnings(history)

    def test_thoughts_beside_the_text(self) -> None:
        message = {"role": "assistant", "content": "So.", "thinking": "Hm."}
        assert tokens_by_kind([message], "openai", len) == {"assistant": 4 + 3, "thinking": 3}

    def test_images_beside_the_text(self) -> None:
        plain, more = ({"role": "user", "content": "Hi.", **each} for each in ({}, {"images": ["A" * 9_999, "B"]}))
        prices = PROVIDERS["openai"].prices
        assert count_messages([more], "openai", len) - count_messages([plain], "openai", len) == 2 * prices.image


@pytest.mark.parametrize("make", [dict, as_object])
@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"type": "text", "text": "Hi."}, "Hi."),
        ({"type": "image", "data": "A" * 99, "mimeType": "image/png"}, ""),
        ({"type": "resource", "resource": {"uri": "file:///a", "text": "words"}}, "words"),
    ],
)
def test_the_messages_of_an_mcp_prompt(make: Any, content: Message, text: str) -> None:
    """Their content is one object."""
    history = [make({"role": "user", "content": content}), answer(), question()]
    assert lint_messages(history, "openai") == []
    assert text in read_messages(history, "openai")[0].text
    assert select(history, 10_000, provider="openai").messages == history


class TestSignedThoughts:
    CHUNK: ClassVar[Message] = {
        "type": "thinking",
        "thinking": [{"type": "text", "text": "Hm."}],
        "signature": "A",
        "closed": True,
    }
    BLOCK: ClassVar[Message] = {"type": "thinking", "thinking": "Hm.", "signature": "A"}

    def said(self, part: Message) -> Message:
        return {"role": "assistant", "content": [part, {"type": "text", "text": "So."}]}

    def test_mistrals_have_chunks(self) -> None:
        assert detect_provider([question(), self.said(self.CHUNK)]).name == "openai"
        assert detect_provider([question(), self.said(self.CHUNK)], PROVIDERS["mistral"]).name == "mistral"

    def test_a_text_is_anthropics_unless_the_others_or_the_model_are_not(self) -> None:
        call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        others = [{"role": "assistant", "content": "", "tool_calls": [call]}, question()]
        history = [question(), self.said(self.BLOCK)]
        assert detect_provider(history).name == "anthropic"
        assert detect_provider(history, PROVIDERS["mistral"]).name == "mistral"
        assert detect_provider(history + others, PROVIDERS["mistral"]).name == "mistral"
        assert detect_provider(others + history).name == "openai"


def test_the_types_of_an_sdk_are_found_in_its_source(tmp_path: Path) -> None:
    """Through imports, aliases, unions and lists, and only where there is content."""
    sources = {
        "sdk/step.py": """
            from .inner import Part as Piece
            from outside import Other
            class Call(TypedDict):
                type: Required[Literal["call"]]
                content: Union[str, List["Piece"], Other]
                caller: Caller
            class Caller(TypedDict):
                type: Literal["caller"]
            Step = TypeAliasType("Step", Union[Call])
        """,
        "sdk/inner.py": """
            class Text(TypedDict):
                type: Literal["text"]
                summary: Iterable[Part]
            Part: TypeAlias = Union[Text]
        """,
    }
    with ZipFile(tmp_path / "sdk.whl", "w") as files:
        for name, source in sources.items():
            files.writestr(name, dedent(source))
    with ZipFile(tmp_path / "sdk.whl") as files:
        modules = Modules(files)
        found = dict(modules.listed(Root("sdk items", "sdk", "sdk/step", "Step")))
        fields = dict(modules.listed(Root("sdk fields", "sdk", "sdk/inner", "Text", fields=True)))
    assert found == {"sdk items": {"call"}, "sdk parts": {"text"}}
    assert fields == {"sdk fields": {"type", "summary"}}
