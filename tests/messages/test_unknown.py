"""Types and roles that are newer than the tables: nothing stops, nothing breaks, nothing is lost."""

from __future__ import annotations

from collections import UserDict
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, strategies as st

from pycupel.errors import MessageShapeError
from pycupel.messages import count_messages, lint_messages, select_messages, to_items
from pycupel.messages.detect import detect_provider
from pycupel.messages.history import History, Unit
from pycupel.messages.options import ProviderName
from pycupel.messages.providers import PROVIDERS as PROVIDER_RECORDS
from pycupel.messages.providers._base import prompts_end
from tests.examples import examples
from tests.messages.chats import Message, answer, calls, question, result, select, system
from tests.messages.histories import PROVIDERS, histories
from tests.messages.reading import read_messages, units_of
from tests.messages.stand_ins import as_object

ROBOT: Message = {"role": "robot", "content": "Beep."}
DREAM: Message = {"type": "dream", "sheep": [1, 2]}
ROBOT_TOKENS, DREAM_TOKENS = len('{"role":"robot","content":"Beep."}'), len('{"type":"dream","sheep":[1,2]}')

each_provider = pytest.mark.parametrize("provider", PROVIDERS)


def user(provider: str, *parts: Any) -> Message:
    if provider == "gemini":
        return {"role": "user", "parts": [{"text": "Hi."}, *parts]}
    if provider == "converse":
        return {"role": "user", "content": [{"text": "Hi."}, *parts]}
    if provider == "interactions":
        return {"type": "user_input", "content": [{"type": "text", "text": "Hi."}, *parts]}
    return {"role": "user", "content": [{"type": "text", "text": "Hi."}, *parts]}


def members(messages: list[Any], provider: str = "openai") -> list[tuple[int, ...]]:
    return [unit.indices for unit in units_of(messages, provider)]


@each_provider
@pytest.mark.parametrize("make", [dict, UserDict, as_object])
@pytest.mark.parametrize(
    ("message", "tokens", "finding"),
    [(ROBOT, ROBOT_TOKENS, "the role 'robot' is unknown"), (DREAM, DREAM_TOKENS, "the type 'dream' is unknown")],
)
def test_a_message_of_an_unknown_role_or_type_is_kept_and_priced_by_its_json(
    provider: ProviderName, make: Any, message: Message, tokens: int, finding: str
) -> None:
    history = [user(provider), make(message)]
    seen = read_messages(history, provider)[1]
    selection = select(history, 10_000, provider=provider)
    assert selection.messages[1] is history[1]
    assert seen[1:2] == ("assistant",)
    alone = count_messages(history[:1], provider, len)
    assert count_messages(history, provider, len) - alone == seen.tokens >= tokens
    [found] = [each for each in lint_messages(history, provider) if each.rule == "unknown-type"]
    assert (found.index, found.severity, found.message.partition(";")[0]) == (1, "warning", finding)
    assert [note for note in selection.notes if "unknown" in note] == [f"messages[1]: {found.message}. {found.remedy}"]


@each_provider
def test_a_part_of_an_unknown_type_is_kept_and_priced_by_its_json(provider: ProviderName) -> None:
    has_types = provider not in ("gemini", "converse")
    part = DREAM if has_types else {"dream": {"sheep": 2}}
    history = [user(provider, part)]
    tokens = DREAM_TOKENS if has_types else len('{"dream":{"sheep":2}}')
    [view] = read_messages(history, provider)
    assert sum(each.tokens for each in view.parts) == tokens + len("Hi.")
    assert [each.rule for each in lint_messages(history, provider)] == ["unknown-type"]
    assert select(history, 10_000, provider=provider).messages == history


def test_a_part_inside_a_result_counts_beside_it() -> None:
    history = [question(), calls("a"), {**result("a"), "content": [{"type": "text", "text": "x"}, DREAM]}]
    [part, beside] = read_messages(history, "openai")[2].parts
    assert (part.said, part.tokens, part.beside, beside.tokens) == ("x", 1, DREAM_TOKENS, DREAM_TOKENS)
    assert [each.rule for each in lint_messages(history, "openai")] == ["unknown-type"]


def test_a_block_without_a_type_inside_a_result() -> None:
    """Converse's blocks are named by their only field, wherever they are."""
    told = {"toolResult": {"toolUseId": "t", "content": [{"text": "x"}, {"dream": {"sheep": 2}}]}}
    use = {"toolUse": {"toolUseId": "t", "name": "f", "input": {}}}
    history = [user("converse"), {"role": "assistant", "content": [use]}, {"role": "user", "content": [told]}]
    [part, beside] = read_messages(history, "converse")[2].parts
    tokens = len('{"dream":{"sheep":2}}')
    assert (part.said, part.tokens, part.beside, beside.tokens) == ("x", 1, tokens, tokens)
    assert [each.rule for each in lint_messages(history, "converse")] == ["unknown-type"]


@each_provider
@pytest.mark.parametrize(
    "more", [{"parts": [{"text": "x"}]}, {"tool_calls": [{}]}, {"content": [5]}, {"content": [{"type": "tool_use"}]}]
)
def test_it_says_nothing_about_the_provider(provider: ProviderName, more: Message) -> None:
    """Whatever is in it."""
    known = [user(provider), {"type": "function_call", "id": "c"}] if provider == "interactions" else [user(provider)]
    for unknown in ({"role": "robot"}, {"type": "dream"}):
        history = [{**unknown, **more}, *known]
        assert detect_provider(history).name == detect_provider(known).name
        assert read_messages([user(provider), history[0]], provider)[1].role == "assistant"


def test_what_cannot_be_written_is_refused() -> None:
    endless: Message = {"role": "robot"}
    endless["self"] = endless
    with pytest.raises(MessageShapeError, match=r"messages\[1\].content: cannot be written as JSON"):
        lint_messages([question(), endless])


def test_a_history_goes_on_behind_it() -> None:
    """Gemini's results are read with their calls, which may have been read before."""
    call = {"role": "model", "parts": [{"function_call": {"name": "f"}}]}
    told = {"role": "user", "parts": [{"function_response": {"name": "f", "response": {}}}]}
    history = [user("gemini"), call, ROBOT, told, user("gemini")]
    first = select(history[:3], 1_000, provider="gemini")
    assert select(history, 1_000, provider="gemini", previous=first).kept == (0, 1, 2, 3, 4)
    assert members(history, "gemini") == [(0,), (1, 2, 3), (4,)]


def test_encoded_data_counts_as_a_file() -> None:
    short, long = ({"role": "robot", "data": "A" * size} for size in (10, 100_000))
    difference = count_messages([question(), long], counter=len) - count_messages([question(), short], counter=len)
    assert 0 < difference < 3_000
    binary = {"role": "robot", "data": bytes(100_000)}
    assert count_messages([question(), binary], counter=len) < 3_000


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("usr", "'user'"), ("assistent", "'assistant'"), ("x" * 10_000, "'"), ("\U0001f916", "'")],
)
def test_the_nearest_known_name_is_told(name: str, nearest: str) -> None:
    [found] = lint_messages([question(), {"role": name, "content": "x"}])
    assert f"; the nearest known one is {nearest}" in found.message


def test_a_type_of_another_provider_is_not_its_own_nearest() -> None:
    [found] = lint_messages([question(), {"type": "tool_use", "id": "a"}], provider="responses")
    assert found.message == "the type 'tool_use' is unknown; other providers, or other places of a message, have it"


@pytest.mark.parametrize(("messages", "end"), [((), 0), ((system(), ROBOT, system()), 3), ((system(), question()), 1)])
def test_the_first_system_prompts_may_have_it_between_them(messages: tuple[Message, ...], end: int) -> None:
    assert prompts_end(read_messages(messages, "openai")) == end


def test_it_joins_the_unit_before_it() -> None:
    assert members([system(), ROBOT, question(), DREAM, answer(), ROBOT, ROBOT]) == [(0, 1), (2, 3), (4, 5, 6)]


def test_at_the_start_it_joins_the_one_after_it() -> None:
    assert members([ROBOT, DREAM, question(), answer()]) == [(0, 1, 2), (3,)]
    assert members([ROBOT, DREAM]) == [(0, 1)]
    assert select([ROBOT], 1_000).messages == [ROBOT]


def test_between_a_call_and_its_results_it_joins_the_exchange() -> None:
    history = [question(), calls("a", "b"), ROBOT, result("a"), ROBOT, result("b"), answer()]
    assert members(history) == [(0,), (1, 2, 3, 4, 5), (6,)]
    assert lint_messages(history)[0].severity == "warning"
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c", "output": "x"}
    items = [question(), call, question(), DREAM, output, DREAM, question()]
    assert members(items, "responses") == [(0,), (1, 3, 4, 5), (2,), (6,)]


def test_a_unit_keeps_its_role() -> None:
    """An unknown message after a reminder does not make it a system prompt, nor a question an exchange."""
    units = units_of([system(), ROBOT, question(), ROBOT, system("Soon."), ROBOT, calls("a"), ROBOT], "openai")
    assert [unit.role for unit in units] == ["system", "user", "reminder", "exchange"]
    assert units[3] == Unit((6, 7), "exchange", 1, None, (1,), is_open=True)


def test_rules_of_order_look_through_it() -> None:
    """Anthropic wants the user first and results right after calls, and says nothing about what it adds itself."""
    use = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}
    told = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}
    history = [ROBOT, question(), use, ROBOT, told, ROBOT]
    assert {each.rule for each in lint_messages(history, "anthropic")} == {"unknown-type"}
    assert [unit.problem for unit in units_of(history, "anthropic")] == [None, None]


def test_a_block_before_thoughts_does_not_hide_them() -> None:
    """Requests with thinking need the thoughts that start a turn."""
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "A"}
    history: list[Message] = [question()]
    for n in range(2):
        use = {"type": "tool_use", "id": f"t{n}", "name": "f", "input": {}}
        told = {"type": "tool_result", "tool_use_id": f"t{n}", "content": "x"}
        thoughts = [DREAM, thought] if n == 0 else []
        history += [{"role": "assistant", "content": [*thoughts, use]}, {"role": "user", "content": [told]}]
    assert {each.rule for each in lint_messages(history, "anthropic")} == {"unknown-type"}
    assert [unit.needs for unit in units_of(history, "anthropic")] == [(), (0,), (0, 1)]


def test_it_opens_no_turn_and_is_no_call_of_the_model() -> None:
    """The replay selects before each call of the model; a message of an unknown role is not one."""
    views = read_messages([question(), ROBOT, answer(), ROBOT, question()], "openai")
    assert [view.opens_turn for view in views] == [True, False, False, False, True]
    history = History([], PROVIDER_RECORDS["openai"], views, "auto", [])
    assert history.call_positions == [2]


@pytest.mark.parametrize("message", [DREAM, {"type": "dream_call", "call_id": "c"}, {"type": "dream_output"}])
def test_an_unknown_type_is_no_ones(message: Message) -> None:
    use = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}
    assert detect_provider([question(), message]).name == "openai"
    assert detect_provider([question(), use, message]).name == "anthropic"
    assert detect_provider([{"role": "user", "content": "Hi.", "type": "dream"}]).name == "openai"


def test_an_item_that_is_named_like_a_call_or_an_output_is_no_orphan() -> None:
    history = [question(), {"type": "dream_call", "call_id": "c"}, {"type": "nightmare_output", "call_id": "d"}]
    assert {each.rule for each in lint_messages(history, "responses")} == {"unknown-type"}
    assert select(history, 1_000, provider="responses").kept == (0, 1, 2)
    block = {"type": "dream_tool_result", "tool_use_id": "t"}
    assert {each.rule for each in lint_messages([user("anthropic", block)], "anthropic")} == {"unknown-type"}


UNKNOWN = st.sampled_from(
    (ROBOT, DREAM, {"type": "dream_call", "call_id": "c"}, {"type": "dream_output", "output": "x"})
)


@each_provider
@examples(60)
@given(data=st.data(), share=st.sampled_from((0.3, 0.6, 1.0)))
def test_unknown_messages_anywhere_break_nothing(provider: ProviderName, data: st.DataObject, share: float) -> None:
    """Without them, everything is as if they had not been there."""
    messages = data.draw(histories(provider))
    places = data.draw(st.lists(st.integers(0, len(messages)), min_size=1, max_size=6))
    mixed: list[Any] = deepcopy(messages)
    for place in sorted(places, reverse=True):
        mixed.insert(place, dict(data.draw(UNKNOWN)))
    found = lint_messages(mixed, provider)
    assert {each.rule for each in found} - {"unknown-type"} == {each.rule for each in lint_messages(messages, provider)}
    items = to_items(mixed, provider, counter=len)
    assert sorted(n for item in items for n in item.metadata["pycupel.unit"]) == list(range(len(mixed)))
    must, size = (sum(item.tokens for item in items if item.pinned or every) for every in (False, True))
    selection = select_messages(mixed, must + int((size - must) * share) + 9, provider=provider, counter=len)
    assert {each.severity for each in lint_messages(selection.messages, provider)} <= {"warning"}
    units = [set(unit.indices) for unit in units_of(mixed, provider)]
    assert all(unit <= set(selection.kept) or unit.isdisjoint(selection.kept) for unit in units)


@each_provider
@examples(60)
@given(data=st.data())
def test_unknown_parts_anywhere_break_nothing(provider: ProviderName, data: st.DataObject) -> None:
    messages = deepcopy(data.draw(histories(provider)))
    name = "parts" if provider == "gemini" else "content"
    has_types = provider not in ("gemini", "converse")
    part = {"type": "dream_tool_result", "tool_use_id": "x"} if has_types else {"dream": {"sheep": 1}}
    lists = [message[name] for message in messages if isinstance(message.get(name), list)]
    before = lint_messages(messages, provider)
    for parts in lists:
        if data.draw(st.booleans()):
            parts.insert(data.draw(st.integers(0, len(parts))), dict(part))
    errors = [each for each in lint_messages(messages, provider) if each.severity == "error"]
    assert errors == [each for each in before if each.severity == "error"]
    assert select(messages, 10**7, provider=provider).messages == messages


def test_what_went_with_a_shortened_result_is_not_named() -> None:
    """The copy that is sent has nothing unknown any more."""
    content = [{"type": "hologram", "text": "no"}, {"type": "text", "text": "word " * 3_000}]
    history: list[Any] = [
        {"role": "user", "content": "read it"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "read", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": content}]},
    ]
    selection = select_messages(history, 1_000, provider="anthropic")
    assert [each.index for each in selection.shortened] == [2]
    assert not any("hologram" in note for note in selection.notes)


def test_prompts_after_something_unknown_are_still_the_first() -> None:
    """What a compaction stands for, and where a summary goes, are found by looking through it."""
    talk = [question(), answer("A long answer." * 9)] * 20
    block = {"role": "assistant", "content": [{"type": "compaction", "content": "So far."}]}
    for start in ([ROBOT, system()], [system(), ROBOT, system()]):
        prompts = [n for n, each in enumerate(start) if each is not ROBOT]
        kept = select([*start, *talk, block, question()], 10_000, provider="anthropic").kept
        assert kept == (*prompts, len(start) + 40, len(start) + 41)
        summarized = select([*start, *talk, question()], 900, summarize=lambda *_: "So far.")
        assert summarized.messages[: len(start) + 1] == [*start, question("So far.")]


def test_something_unknown_does_not_part_a_call_from_its_reasoning() -> None:
    thoughts, call = {"type": "reasoning", "summary": []}, {"type": "function_call", "call_id": "c", "name": "f"}
    output, block = {"type": "function_call_output", "call_id": "c", "output": "x"}, {"type": "compaction"}
    history = [question(), thoughts, DREAM, call, {**block, "encrypted_content": "A" * 80}, output, question()]
    assert select(history, 10_000, provider="responses").kept == (1, 2, 3, 4, 5, 6)
