"""Pydantic AI, with a model that is a function: what the model sees, and what the agent's history keeps."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from copy import deepcopy
from itertools import pairwise
from typing import Any

import pytest
from pydantic_ai import Agent, AgentRunResult, BinaryContent, CachePoint, ImageUrl
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import (
    CompactionPart,
    FilePart,
    InstructionPart,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    RetryFeedbackPart,
    RetryInfo,
    RetryPromptPart,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import ToolDefinition

from pycupel.errors import InvalidArgumentError, UnitTooLargeError
from pycupel.integrations.pydantic_ai import CupelHistory
from pycupel.messages import MessageSelection, Shorten
from pycupel.messages.options import ProviderName
from pycupel.messages.providers.openai import OPENAI
from pycupel.tokens import count_messages
from tests.integrations_env.provider import running
from tests.integrations_env.sessions import LARGE, RESULTS, SYSTEM, agent_session, count_words

BUDGET = 700


def history(seed: int = 1, turns: int = 12) -> list[ModelMessage]:
    """The session without its last question, which is the run's. The first request also holds the system prompt."""
    messages: list[ModelMessage] = []
    parts: list[Any] = []
    for message in agent_session(seed, turns)[:-1]:
        match message["role"]:
            case "system":
                parts.append(SystemPromptPart(message["content"]))
            case "user":
                parts.append(UserPromptPart(message["content"]))
            case "tool":
                parts.append(ToolReturnPart("look_up", message["content"], message["tool_call_id"]))
            case _:
                if parts:
                    messages.append(ModelRequest(parts))
                    parts = []
                calls = [ToolCallPart("look_up", {"key": "k"}, each["id"]) for each in message.get("tool_calls", ())]
                messages.append(ModelResponse([*calls] or [TextPart(message["content"])]))
    return messages


class Recorder:
    """A model that calls the tool `calls` times, then answers; remembers what it was shown."""

    def __init__(self, calls: int = 2) -> None:
        self.calls = calls
        self.seen: list[list[ModelMessage]] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.seen.append(list(messages))
        if len(self.seen) <= self.calls:
            return ModelResponse([ToolCallPart("look_up", {"key": "k"}, f"now_{len(self.seen)}")])
        return ModelResponse([TextPart("Done.")])


def run(agent: Agent[None, str], prompt: str, messages: Sequence[ModelMessage] = ()) -> AgentRunResult[str]:
    return asyncio.run(agent.run(prompt, message_history=messages))


def agent_with(capability: Any, recorder: Recorder, **options: Any) -> Agent[None, str]:
    agent = Agent(FunctionModel(recorder), capabilities=[capability], **options)

    @agent.tool_plain
    def look_up(key: str) -> str:
        return "found " * 40

    return agent


def ids(messages: Sequence[ModelMessage], part_type: Any) -> list[str]:
    return [part.tool_call_id for message in messages for part in message.parts if isinstance(part, part_type)]


def size(messages: Sequence[ModelMessage]) -> int:
    texts = [getattr(part, "content", "") for message in messages for part in message.parts]
    return sum(count_words(text) for text in texts)


def assert_acceptable(messages: Sequence[ModelMessage]) -> None:
    """Every call is answered by the next message, and every result answers one (ECOSYSTEM A.3.9)."""
    assert isinstance(messages[0], ModelRequest)
    assert isinstance(messages[-1], ModelRequest)
    assert sorted(ids(messages, ToolCallPart)) == sorted(ids(messages, ToolReturnPart))
    for before, after in pairwise(messages):
        if isinstance(before, ModelResponse):
            assert sorted(ids([before], ToolCallPart)) == sorted(ids([after], ToolReturnPart))


@pytest.mark.parametrize(
    ("first", "results"),
    [
        ([SystemPromptPart("Be brief."), UserPromptPart("Go.")], 1),
        ([SystemPromptPart("Be brief."), SystemPromptPart("Be kind."), UserPromptPart("Go.")], 3),
    ],
)
def test_each_call_continues_where_the_last_one_ended(first: list[Any], results: int) -> None:
    """Nothing is pinned only because it is the last message."""
    selections: list[MessageSelection] = []
    hook = CupelHistory(BUDGET, counter=count_words, on_selection=selections.append)
    messages: list[ModelMessage] = [ModelRequest(first)]
    for n in range(3):
        hook.select(messages, conversation="1")
        calls = [ToolCallPart("look_up", {"key": "k"}, f"{n}.{m}") for m in range(results)]
        found = [ToolReturnPart("look_up", "found", call.tool_call_id) for call in calls]
        messages += [ModelResponse(calls), ModelRequest(found)]
    assert [selection.notes for selection in selections] == [(), (), ()]


def test_the_model_sees_what_fits_and_the_history_keeps_everything() -> None:
    messages, recorder = history(), Recorder()
    agent = agent_with(CupelHistory(BUDGET, counter=count_words), recorder)
    result = run(agent, "And what follows from all this?", messages)
    assert result.output == "Done."
    assert len(recorder.seen) == 3
    for seen in recorder.seen:
        assert_acceptable(seen)
        assert len(seen) < len(messages)
        assert size(seen) <= BUDGET
        assert seen[0].parts[0] == messages[0].parts[0]
    assert result.all_messages()[: len(messages)] == messages
    assert len(result.all_messages()) == len(messages) + 6
    assert len(result.new_messages()) == 6


@pytest.mark.parametrize("seed", range(5))
def test_whatever_the_budget_the_model_can_accept_what_it_sees(seed: int) -> None:
    messages = [*history(seed), ModelRequest([UserPromptPart("Well?")])]
    for budget in range(100, 4_000, 100):
        kept = CupelHistory(budget, counter=count_words).select(messages)
        assert_acceptable(_merged(kept))
        assert size(kept) <= budget


def _merged(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """As the library sends them: requests that follow each other are one."""
    merged: list[ModelMessage] = []
    for message in messages:
        if merged and isinstance(message, ModelRequest) and isinstance(merged[-1], ModelRequest):
            merged[-1] = ModelRequest([*merged[-1].parts, *message.parts])
        else:
            merged.append(message)
    return merged


def test_what_is_seen_are_the_messages_themselves() -> None:
    """All but the first, of which only the system prompt stays."""
    messages = history()
    _, *whole = CupelHistory(BUDGET, counter=count_words, shorten=None).select(messages)
    places = [next(i for i, each in enumerate(messages) if each is message) for message in whole]
    assert places == sorted(places)
    assert places[-1] == len(messages) - 1


def test_within_a_run_the_prompt_only_grows_unless_it_is_cut() -> None:
    recorder, selections = Recorder(calls=4), list[MessageSelection]()
    capability = CupelHistory(BUDGET, counter=count_words, on_selection=selections.append)
    run(agent_with(capability, recorder), "Well?", history())
    assert len(recorder.seen) == 5
    for (before, after), selection in zip(pairwise(recorder.seen), selections[1:], strict=True):
        assert (after[: len(before)] == before) == (selection.cut is None)
    assert [selection.cut is None for selection in selections].count(False) == 1
    assert [selection.notes for selection in selections] == [()] * 5


def test_an_empty_history_stays_empty() -> None:
    assert CupelHistory(BUDGET, counter=count_words).select([]) == []


def test_everything_that_is_asked_at_once_stays() -> None:
    asked = ModelRequest([UserPromptPart("one"), UserPromptPart("two " * 400)])
    assert CupelHistory(BUDGET, counter=count_words).select([*history(), asked])[-1] is asked


def test_the_next_run_starts_like_the_last_one_also_from_json() -> None:
    recorder = Recorder(calls=0)
    agent = agent_with(CupelHistory(BUDGET, counter=count_words), recorder)
    first = run(agent, "Well?", history())
    stored = ModelMessagesTypeAdapter.validate_json(first.all_messages_json())
    run(agent, "And then?", stored)
    before, after = recorder.seen
    assert [each.parts for each in after[: len(before)]] == [each.parts for each in before]


def test_a_request_is_divided_where_only_some_of_it_stays() -> None:
    """The system prompt and the first question are in one request; the question is old."""
    messages, recorder = history(), Recorder(calls=0)
    run(agent_with(CupelHistory(BUDGET, counter=count_words), recorder), "Well?", messages)
    assert [type(part) for part in messages[0].parts] == [SystemPromptPart, UserPromptPart]
    assert [type(part) for part in recorder.seen[0][0].parts][:1] == [SystemPromptPart]
    assert messages[0].parts[1] not in [part for each in recorder.seen[0] for part in each.parts]


def test_results_and_a_question_in_one_request_are_kept_apart_as_well() -> None:
    """ECOSYSTEM A.3.9: the question may stay where the results go, and never the other way round."""
    messages: list[ModelMessage] = [
        ModelRequest([UserPromptPart("Look that up.")]),
        ModelResponse([ToolCallPart("look_up", {}, "c1"), ToolCallPart("look_up", {}, "c2")]),
        ModelRequest(
            [
                ToolReturnPart("look_up", "long " * 200, "c1"),
                UserPromptPart("Another question."),
                ToolReturnPart("look_up", "long " * 200, "c2"),
            ]
        ),
        ModelResponse([TextPart("An answer.")]),
        ModelRequest([UserPromptPart("The last question.")]),
    ]
    assert CupelHistory(1_000, counter=count_words).select(messages) == messages
    kept = CupelHistory(100, counter=count_words, shorten=None).select(messages)
    assert [[getattr(part, "content", None) for part in each.parts] for each in kept][-3:] == [
        ["Another question."],
        ["An answer."],
        ["The last question."],
    ]
    assert ids(kept, ToolCallPart) == ids(kept, ToolReturnPart) == []


def test_a_stream_is_served_as_well() -> None:
    messages, model = history(), TestModel(call_tools=[])
    agent = Agent(model, capabilities=[CupelHistory(BUDGET, counter=count_words)])

    async def stream() -> int:
        async with agent.run_stream("Well?", message_history=messages) as result:
            await result.get_output()
            return len(result.all_messages())

    assert asyncio.run(stream()) == len(messages) + 2


def test_instructions_and_tools_count() -> None:
    selections: list[MessageSelection] = []
    capability = CupelHistory(BUDGET, counter=count_words, on_selection=selections.append)
    run(agent_with(capability, Recorder(calls=0), instructions=SYSTEM), "Hello!")
    assert selections[0].usage.system >= count_words(SYSTEM)
    assert selections[0].usage.tools > 0


def test_the_schema_of_the_output_counts_once() -> None:
    schema = {"type": "object", "properties": {"answer": {"type": "string", "description": "word " * 200}}}
    described = OutputObjectDefinition(schema, "Answer")
    tool = ToolDefinition(name="final_result", parameters_json_schema=schema)
    for parameters in (
        ModelRequestParameters(output_mode="native", output_object=described),
        ModelRequestParameters(output_mode="prompted", output_object=described),
        ModelRequestParameters(output_mode="auto", output_object=described, output_tools=[tool]),
        ModelRequestParameters(output_mode="tool", output_tools=[tool]),
    ):
        selections: list[MessageSelection] = []
        capability = CupelHistory(BUDGET, counter=count_words, on_selection=selections.append)
        capability.select([ModelRequest([UserPromptPart("Well?")])], parameters=parameters)
        assert 200 < selections[0].usage.tools < 300


def test_a_selection_tells_the_places_of_the_messages_that_were_dropped() -> None:
    messages = history()
    selections: list[MessageSelection] = []
    capability = CupelHistory(BUDGET, counter=count_words, on_selection=selections.append)
    kept = capability.select([*messages, ModelRequest([UserPromptPart("Well?")])])
    [selection] = selections
    assert len(selection.kept) == len(kept)
    assert sorted((*selection.kept, *(each.index for each in selection.dropped))) == list(range(len(messages) + 1))


def test_a_pin_is_asked_about_the_librarys_messages() -> None:
    messages = history()
    first = next(each for each in messages if ids([each], ToolCallPart))
    kept = CupelHistory(BUDGET, counter=count_words, pin=lambda each: each is first).select(messages)
    assert first in kept
    assert ids(kept, ToolCallPart)[:1] == ids([first], ToolCallPart)[:1]


def test_what_the_library_needs_for_itself_stays() -> None:
    """Exchanges that load tools, and what stands for messages that were summarised."""
    loads = ToolCallPart("search_tools", {"queries": ["x"]}, "s1", tool_kind="tool-search")
    loaded = ToolReturnPart("search_tools", {"discovered_tools": []}, "s1", tool_kind="tool-search")
    start: list[ModelMessage] = [
        ModelRequest([UserPromptPart("Find a tool.")]),
        ModelResponse([loads]),
        ModelRequest([loaded]),
        ModelResponse([CompactionPart("All before."), TextPart("Found.")]),
    ]
    kept = CupelHistory(BUDGET, counter=count_words).select([*start, *history()[1:]])
    assert kept[:4] == start


def test_what_the_library_reads_itself_is_not_shortened() -> None:
    loads = ToolCallPart("search_tools", {"queries": ["x"]}, "s1", tool_kind="tool-search")
    found = [{"name": "f", "description": LARGE}]
    loaded = ToolReturnPart("search_tools", {"discovered_tools": found}, "s1", tool_kind="tool-search")
    messages = [ModelRequest([UserPromptPart("Find a tool.")]), ModelResponse([loads]), ModelRequest([loaded])]
    with pytest.raises(UnitTooLargeError):
        CupelHistory(BUDGET, counter=count_words).select(messages)


def test_a_shortened_result_is_a_copy_with_another_text() -> None:
    """Whatever is beside it in the request, and whatever it was: a text, a structure, a failure, or with a file."""
    calls = [ToolCallPart("look_up", {"n": n}, f"c{n}") for n in range(5)]
    parts: list[Any] = [
        UserPromptPart("And then?"),
        ToolReturnPart("look_up", LARGE, "c0", metadata={"rows": 1_000}),
        ToolReturnPart("look_up", "short", "c1"),
        ToolReturnPart("look_up", {"rows": LARGE}, "c2"),
        ToolReturnPart("look_up", LARGE, "c3", outcome="failed"),
        ToolReturnPart("look_up", [LARGE, BinaryContent(b"ID3", media_type="audio/mpeg")], "c4"),
    ]
    messages = [ModelRequest([UserPromptPart("Look it up.")]), ModelResponse(calls), ModelRequest(parts)]
    before = deepcopy(messages)
    selections: list[MessageSelection] = []
    kept = CupelHistory(1_000, counter=count_words, on_selection=selections.append).select(messages)
    assert messages == before
    assert kept[:2] == messages[:2]
    copies: list[Any] = list(kept[2].parts)
    assert [a is b for a, b in zip(copies, parts, strict=True)] == [True, False, True, False, False, False]
    for old, new in zip(parts, copies, strict=True):
        assert dataclasses.replace(old, content=new.content) == new
        assert isinstance(new.content, str)
    assert size(kept) <= 1_000
    assert [each.index for each in selections[0].shortened] == [2]
    assert selections[0].messages == kept


@pytest.mark.parametrize("outcome", ["failed", "retried", "success"])
def test_results_that_report_errors_are_shortened_last(outcome: Any) -> None:
    messages: list[ModelMessage] = [ModelRequest([UserPromptPart("Look it all up.")])]
    for n, result in enumerate(RESULTS):
        messages.append(ModelResponse([ToolCallPart("look_up", {"n": n}, f"c{n}")]))
        part = ToolReturnPart("look_up", result, f"c{n}", outcome=outcome if n == 1 else "success")
        messages.append(ModelRequest([part]))
    kept = CupelHistory(1_000, counter=count_words, shorten=Shorten(keep=1)).select(messages)
    assert (messages[4] in kept) == (outcome != "success")


def sent_and_counted(result: ToolReturnPart, provider: ProviderName) -> tuple[int, int]:
    """The characters of the messages that a provider gets, and those that the hook counted."""
    messages: list[ModelMessage] = [
        ModelRequest([UserPromptPart("Look it up.")]),
        ModelResponse([ToolCallPart(result.tool_name, {}, result.tool_call_id)]),
        ModelRequest([result]),
        ModelResponse([TextPart("Done.")]),
    ]
    selections: list[MessageSelection] = []
    with running(steps=0) as server:
        address: Any = {"base_url": server.url, "api_key": "none"}
        model: Model = AnthropicModel("claude-haiku-4-5", provider=AnthropicProvider(**address))
        if provider == "openai":
            model = OpenAIChatModel("gpt-4o", provider=OpenAIProvider(**address))
        hook = CupelHistory(10_000, counter=len, on_selection=selections.append)
        run(Agent(model, capabilities=[hook]), "And now?", messages)
    return count_messages(server.sent[0]["messages"], provider, len), selections[0].total_tokens


@pytest.mark.parametrize("outcome", ["failed", "retried", "denied"])
@pytest.mark.parametrize(
    ("provider", "content"),
    [
        ("openai", 'No such "key":\n\n  "k"'),
        ("openai", [{"type": "missing", "loc": ["key"]}]),
        ("anthropic", 'No such "key":\n\n  "k"'),
    ],
)
def test_what_the_library_writes_around_a_failed_result_is_counted(
    provider: ProviderName, content: Any, outcome: Any
) -> None:
    """Issue: OpenAI's results cannot be marked as errors, so the library sends them as JSON, with escapes."""
    fine = ToolReturnPart("look_up", content, "c1")
    failed = dataclasses.replace(fine, outcome=outcome)
    before, after = sent_and_counted(fine, provider), sent_and_counted(failed, provider)
    assert after[0] - before[0] == after[1] - before[1]
    assert (after[0] > before[0]) == (provider == "openai" and outcome != "denied")


@pytest.mark.filterwarnings("ignore:`RetryPromptPart` is deprecated")
def test_a_result_of_the_older_kind_is_shortened_as_well() -> None:
    retry = RetryPromptPart(LARGE, tool_name="look_up", tool_call_id="c1")  # type: ignore[deprecated]
    call = ToolCallPart("look_up", {"key": "k"}, "c1")
    messages = [ModelRequest([UserPromptPart("Look it up.")]), ModelResponse([call]), ModelRequest([retry])]
    [part] = CupelHistory(BUDGET, counter=count_words).select(messages)[2].parts
    assert part == dataclasses.replace(retry, content=part.content)
    assert 0 < size([ModelRequest([part])]) < BUDGET  # type: ignore[list-item]


def test_the_library_s_own_notes_stay() -> None:
    note = InstructionPart("Speak plainly.")
    messages = history()
    messages[4] = ModelRequest([note, *messages[4].parts])
    kept = CupelHistory(BUDGET, counter=count_words).select(messages)
    assert any(note is part for each in kept for part in each.parts)


def test_feedback_belongs_to_the_turn_of_the_question() -> None:
    """It does not take the place of the last question, which must stay."""
    feedback = RetryFeedbackPart("Not a number.", retry=RetryInfo(cause="model_retry"))
    messages: list[ModelMessage] = [
        *history(),
        ModelRequest([UserPromptPart("How many? " * 250)]),
        ModelResponse([TextPart("Some.")]),
        ModelRequest([feedback]),
    ]
    kept = CupelHistory(BUDGET, counter=count_words).select(messages)
    assert messages[-3] in kept
    assert kept[-1] is messages[-1]


def test_every_kind_of_content_is_counted() -> None:
    messages: list[ModelMessage] = [
        ModelRequest(
            [UserPromptPart(["one two", TextContent("three"), CachePoint(), ImageUrl("https://example.org/image.png")])]
        ),
        ModelResponse(
            [
                ThinkingPart("four"),
                NativeToolCallPart("web_search", {"query": "five"}, "n1"),
                NativeToolReturnPart("web_search", "six seven", "n1"),
                FilePart(BinaryContent(b"\x89PNG", media_type="image/png")),
                ToolCallPart("look_up", {"key": "eight"}, "c1"),
            ]
        ),
        ModelRequest([ToolReturnPart("look_up", ["nine", BinaryContent(b"ID3", media_type="audio/mpeg")], "c1")]),
    ]
    selections: list[MessageSelection] = []
    capability = CupelHistory(8_000, counter=count_words, on_selection=selections.append, explain=True)
    assert capability.select(messages) == messages
    report = selections[0].report
    assert report is not None
    text = "\n".join(each.item.content for each in report.included)
    for word in ("one two", "three", "four", "five", "six seven", "look_up", "eight", "nine"):
        assert word in text
    prices = OPENAI.prices
    assert 0 < selections[0].total_tokens - 2 * prices.image - prices.audio < 100


def claude_turn(size: int, thoughts: ThinkingPart) -> list[ModelMessage]:
    """Only the first response starts with thoughts."""
    messages: list[ModelMessage] = [ModelRequest([UserPromptPart("Look it all up.")])]
    for n in range(size):
        call = ToolCallPart("look_up", {"key": "k"}, f"c{n}")
        messages.append(ModelResponse([thoughts, call] if n == 0 else [call]))
        messages.append(ModelRequest([ToolReturnPart("look_up", "found " * 40, f"c{n}")]))
    return messages


@pytest.mark.parametrize("part_id", [None, "redacted_thinking"])
def test_the_thoughts_that_start_a_turn_stay_where_claude_demands_them(part_id: str | None) -> None:
    """Without a model, signed thoughts tell whose they are."""
    messages = claude_turn(30, ThinkingPart("Hm.", id=part_id, signature="x" * 64, provider_name="anthropic"))
    claude = AnthropicModel("claude-haiku-4-5", provider=AnthropicProvider(api_key="none"))
    for model in (claude, None):
        kept = CupelHistory(BUDGET, counter=count_words).select(messages, model=model)
        assert kept[:2] == messages[:2]
        assert len(kept) < len(messages)
    other = CupelHistory(BUDGET, counter=count_words, provider="openai").select(messages, model=claude)
    assert messages[1] not in other


def test_the_thoughts_of_other_models_are_counted_with_their_signature() -> None:
    selections: list[MessageSelection] = []
    capability = CupelHistory(8_000, counter=count_words, on_selection=selections.append)
    for signature in (None, "x" * 800):
        thoughts = ThinkingPart("Hm.", signature=signature, provider_name="openai")
        capability.select([*claude_turn(1, thoughts)])
    without, signed = (each.total_tokens for each in selections)
    assert signed - without == 100
    assert selections[0].provider == "openai"


def test_an_empty_request_stays() -> None:
    """A run with nothing but instructions sends one."""
    messages: list[ModelMessage] = [ModelRequest([UserPromptPart("Hello!")]), ModelResponse([TextPart("Hi.")])]
    assert CupelHistory(100).select([*messages, ModelRequest([])])[-1] == ModelRequest([])


def test_what_is_asked_now_is_never_dropped() -> None:
    with pytest.raises(UnitTooLargeError):
        CupelHistory(100, counter=count_words).select([ModelRequest([UserPromptPart("long " * 200)])])


def test_process_history_can_use_it_too() -> None:
    """Then the agent's own history is cut, because that is what `ProcessHistory` does."""
    messages, recorder = history(), Recorder(calls=0)
    processor = CupelHistory(BUDGET, counter=count_words)

    def process(messages: list[ModelMessage]) -> list[ModelMessage]:
        return processor.select(messages)

    result = run(agent_with(ProcessHistory(process), recorder), "Well?", messages)
    assert_acceptable(recorder.seen[0])
    assert len(result.all_messages()) < len(messages)


def test_wrong_options_are_found_where_they_are_written() -> None:
    with pytest.raises(InvalidArgumentError, match="unit"):
        CupelHistory(8_000, unit="word")  # type: ignore[arg-type]
