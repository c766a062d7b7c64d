"""Haystack: the components in pipelines that run."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.builders import PromptBuilder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage, FileContent, ImageContent, ReasoningContent, TextContent, ToolCall
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.tools import create_tool_from_function

from pycupel.errors import InvalidArgumentError
from pycupel.integrations.haystack import CupelChatGenerator, CupelDocumentSelector, CupelMessageSelector
from pycupel.messages import MessageSelection, Shorten, lint_messages
from pycupel.messages.providers.openai import OPENAI
from pycupel.selecting import ContextResult
from tests.integrations_env.sessions import LARGE, RESULTS, agent_session, count_words

BUDGET = 700


def documents(*scores: float | None) -> list[Document]:
    return [Document(content=" ".join([f"hit{i}"] * 10), score=score) for i, score in enumerate(scores)]


def history(seed: int = 1) -> list[ChatMessage]:
    """As an agent would have written it: a result of a tool carries the call that it answers."""
    calls: dict[str, ToolCall] = {}
    messages: list[ChatMessage] = []
    for each in agent_session(seed, turns=12):
        made = [ToolCall("look_up", {"key": "k"}, call["id"]) for call in each.get("tool_calls", ())]
        calls |= {call.id: call for call in made if call.id}
        match each["role"]:
            case "system":
                messages.append(ChatMessage.from_system(each["content"]))
            case "user":
                messages.append(ChatMessage.from_user(each["content"]))
            case "tool":
                messages.append(ChatMessage.from_tool(each["content"], calls[each["tool_call_id"]]))
            case _:
                messages.append(ChatMessage.from_assistant(each["content"] or None, tool_calls=made))
    return messages


def select(selector: Any, messages: list[ChatMessage]) -> list[ChatMessage]:
    pipeline = Pipeline()
    pipeline.add_component("fit", selector)
    selected: list[ChatMessage] = pipeline.run({"fit": {"messages": messages}})["fit"]["messages"]
    return selected


def test_a_prompt_contains_the_retrieved_documents_that_fit() -> None:
    store = InMemoryDocumentStore()
    store.write_documents([Document(content=f"about cats {'and dogs ' * size}") for size in (1, 20, 2)])
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store))
    pipeline.add_component("fit", CupelDocumentSelector(15, counter=count_words))
    pipeline.add_component("prompt", PromptBuilder("{% for each in documents %}{{ each.content }}\n{% endfor %}"))
    pipeline.connect("retriever.documents", "fit.documents")
    pipeline.connect("fit.documents", "prompt.documents")
    prompt = pipeline.run({"retriever": {"query": "cats"}})["prompt"]["prompt"]
    assert len(prompt.splitlines()) == 2
    assert count_words(prompt) <= 15


def test_the_best_documents_are_at_both_edges() -> None:
    found = documents(0.3, 0.9, 0.5, 0.7)
    selected = CupelDocumentSelector(30, counter=count_words).run(found)["documents"]
    assert [found.index(each) for each in selected] == [1, 2, 3]
    assert selected[0] is found[1]


def test_a_document_selector_tells_what_it_left_out() -> None:
    results: list[ContextResult] = []
    CupelDocumentSelector(10, counter=count_words, on_selection=results.append).run(documents(0.1, 0.8))
    [result] = results
    assert result.report is not None
    assert [each.item.content[:4] for each in result.report.excluded] == ["hit0"]


def test_a_model_sees_the_messages_that_fit() -> None:
    messages = history()
    selected = select(CupelMessageSelector(BUDGET, counter=count_words), messages)
    assert 0 < len(selected) < len(messages)
    assert lint_messages([each.to_openai_dict_format() for each in selected], "openai") == []
    assert selected[0] == messages[0]
    assert selected[-1] == messages[-1]


@pytest.mark.parametrize("seed", range(5))
def test_whatever_the_budget_the_model_can_accept_what_it_sees(seed: int) -> None:
    for budget in range(100, 4_000, 100):
        selected = CupelMessageSelector(budget, counter=count_words).run(history(seed))["messages"]
        assert lint_messages([each.to_openai_dict_format() for each in selected], "openai") == []


def test_the_next_selection_starts_like_the_last_one() -> None:
    selector = CupelMessageSelector(BUDGET, counter=count_words)
    messages = history()
    before = selector.run(messages)["messages"]
    more = [ChatMessage.from_assistant("So. " * 60), ChatMessage.from_user("And then? " * 60)]
    assert selector.run([*messages, *more])["messages"] == [*before, *more]


def test_calls_without_ids_are_known_by_what_they_ask() -> None:
    call, other = ToolCall("look_up", {"key": "a"}), ToolCall("look_up", {"key": "b"})
    exchange = [
        ChatMessage.from_assistant(tool_calls=[call, other]),
        ChatMessage.from_tool("A.", call),
        ChatMessage.from_tool("B.", other),
    ]
    messages = [ChatMessage.from_user("Look both up."), *exchange]
    assert CupelMessageSelector(BUDGET, counter=count_words).run(messages)["messages"] == messages


def test_an_orphan_is_left_out() -> None:
    orphan = ChatMessage.from_tool("A.", ToolCall("look_up", {}, "c1"))
    messages = [orphan, ChatMessage.from_user("Hello!")]
    assert CupelMessageSelector(BUDGET).run(messages)["messages"] == messages[1:]


def test_a_shortened_result_is_a_copy_with_another_text() -> None:
    """A message may hold several results."""
    calls = [ToolCall("look_up", {"n": n}, f"c{n}") for n in range(3)]
    results = [
        ChatMessage.from_tool(LARGE, calls[0], meta={"page": 1}),
        ChatMessage.from_tool("short", calls[1]),
        ChatMessage.from_tool([TextContent(LARGE), ImageContent("iVBORw0KGgo=", mime_type="image/png")], calls[2]),
    ]
    both = ChatMessage(results[0].role, [results[1].tool_call_result, results[2].tool_call_result])
    messages = [ChatMessage.from_user("Look it up."), ChatMessage.from_assistant(tool_calls=calls), results[0], both]
    before = deepcopy(messages)
    selections: list[MessageSelection] = []
    selector = CupelMessageSelector(BUDGET, counter=count_words, on_selection=selections.append)
    selected = selector.run(messages)["messages"]
    assert messages == before
    assert [a is b for a, b in zip(selected, messages, strict=True)] == [True, True, False, False]
    assert selected[2].meta == {"page": 1}
    [first] = selected[2].tool_call_results
    second, third = selected[3].tool_call_results
    assert second is both.tool_call_results[0]
    for each, call in ((first, calls[0]), (third, calls[2])):
        assert each.origin is call
        assert 0 < count_words(each.result) < BUDGET
    assert [each.index for each in selections[0].shortened] == [2, 3]
    assert selections[0].messages == selected


@pytest.mark.parametrize("error", [True, False])
def test_results_that_report_errors_are_shortened_last(error: bool) -> None:
    messages = [ChatMessage.from_user("Look it all up.")]
    for n, result in enumerate(RESULTS):
        call = ToolCall("look_up", {"n": n}, f"c{n}")
        messages.append(ChatMessage.from_assistant(tool_calls=[call]))
        messages.append(ChatMessage.from_tool(result, call, error=error and n == 1))
    selector = CupelMessageSelector(1_000, counter=count_words, shorten=Shorten(keep=1))
    selected = selector.run(messages)["messages"]
    assert (messages[4] in selected) == error


def test_every_kind_of_content_is_counted() -> None:
    picture = ImageContent("iVBORw0KGgo=", "image/png")
    file = FileContent("JVBERi0=", "application/pdf")
    call = ToolCall("look_up", {"key": "five"}, "c1")
    messages = [
        ChatMessage.from_user(content_parts=["one two", picture, file]),
        ChatMessage.from_assistant("three", reasoning="four", tool_calls=[call]),
        ChatMessage.from_tool([TextContent("six"), picture], call),
    ]
    selections: list[MessageSelection] = []
    selector = CupelMessageSelector(8_000, counter=count_words, on_selection=selections.append, explain=True)
    assert selector.run(messages)["messages"] == messages
    report = selections[0].report
    assert report is not None
    text = "\n".join(each.item.content for each in report.included)
    for word in ("one two", "three", "four", "look_up", "five", "six"):
        assert word in text
    prices = OPENAI.prices
    assert 0 < selections[0].total_tokens - 2 * prices.image - prices.file < 100


def test_a_pin_is_asked_about_haystacks_messages() -> None:
    messages = history()
    selector = CupelMessageSelector(BUDGET, counter=count_words, pin=lambda each: each is messages[1])
    assert selector.run(messages)["messages"][1] is messages[1]


@component
class FakeClaude:
    """A chat generator that is called Claude, and answers with the number of messages that it was shown."""

    def __init__(self, model: str = "claude-haiku-4-5") -> None:
        self.model = model
        self.is_warm = False

    def warm_up(self) -> None:
        self.is_warm = True

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None, suffix: str = "") -> dict[str, Any]:
        return {"replies": [ChatMessage.from_assistant(f"{len(messages)}{suffix}")]}

    @component.output_types(replies=list[ChatMessage])
    async def run_async(self, messages: list[ChatMessage], tools: Any = None, suffix: str = "") -> dict[str, Any]:
        return self.run(messages, tools, suffix)


def claude_turn(size: int, *thoughts: dict[str, Any]) -> list[ChatMessage]:
    """As `AnthropicChatGenerator` writes it. Only the first answer starts with thoughts."""
    messages = [ChatMessage.from_user("Look it all up.")]
    reasoning = ReasoningContent("Hm.", {"reasoning_contents": [{"reasoning_content": each} for each in thoughts]})
    for n in range(size):
        call = ToolCall("look_up", {"key": "k"}, f"toolu_{n}")
        messages.append(ChatMessage.from_assistant(reasoning=reasoning if n == 0 else None, tool_calls=[call]))
        messages.append(ChatMessage.from_tool("found " * 40, call))
    return messages


@pytest.mark.parametrize(
    "thoughts", [{"reasoning_text": {"text": "Hm.", "signature": "x" * 64}}, {"redacted_thinking": "x" * 64}]
)
def test_the_thoughts_that_start_a_turn_stay_where_claude_demands_them(thoughts: dict[str, Any]) -> None:
    """A selector sees no model, but signed thoughts; one can also be told."""
    messages = claude_turn(30, thoughts)
    kept = select(CupelMessageSelector(BUDGET, counter=count_words), messages)
    assert kept[:2] == messages[:2]
    assert len(kept) < len(messages)
    assert messages[1] not in select(CupelMessageSelector(BUDGET, counter=count_words, provider="openai"), messages)


def test_a_generator_gets_the_messages_that_fit_and_knows_its_model_and_tools() -> None:
    messages, selections = claude_turn(30), list[MessageSelection]()
    claude = FakeClaude()
    generator = CupelChatGenerator(claude, 1_200, counter=count_words, on_selection=selections.append)
    generator.warm_up()
    assert claude.is_warm
    tool = create_tool_from_function(look_up)
    shown = generator.run(messages, suffix=" messages")["replies"][0].text
    assert shown == f"{len(selections[0].kept)} messages"
    assert len(selections[0].kept) < len(messages)
    assert asyncio.run(generator.run_async(messages, tools=[tool]))["replies"][0].text == str(len(selections[1].kept))
    assert [each.provider for each in selections] == ["anthropic", "anthropic"]
    assert selections[0].usage.tools == 0 < selections[1].usage.tools


def look_up(key: Annotated[str, "a key"]) -> str:
    """Look something up."""
    return key


def test_a_generator_need_not_have_to_warm_up() -> None:
    CupelChatGenerator(SimpleNamespace(run=print), BUDGET).warm_up()


def test_a_generator_can_be_saved_and_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    generator = CupelChatGenerator(OpenAIChatGenerator(model="gpt-4o"), 8_000, unit="turn")
    saved = generator.to_dict()
    loaded = CupelChatGenerator.from_dict(deepcopy(saved))
    assert loaded.chat_generator.model == "gpt-4o"
    assert loaded.to_dict() == saved


def test_a_pipeline_can_be_saved_and_loaded() -> None:
    pipeline = Pipeline()
    pipeline.add_component("documents", CupelDocumentSelector(4_000))
    pipeline.add_component("messages", CupelMessageSelector(8_000, unit="turn"))
    saved = pipeline.dumps()
    loaded = Pipeline.loads(saved, allowed_modules=["pycupel.integrations.haystack"])
    assert loaded.dumps() == saved
    both = {"documents": {"documents": documents(0.5)}, "messages": {"messages": [ChatMessage.from_user("Hello!")]}}
    assert loaded.run(both) == both


def test_wrong_options_are_found_where_they_are_written() -> None:
    with pytest.raises(InvalidArgumentError, match="rag"):
        CupelDocumentSelector(10, policy="ragg")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="too_large"):
        CupelMessageSelector(10, too_large="explode")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="chat_generator must be a chat generator, not 'gpt-4o'"):
        CupelChatGenerator("gpt-4o", 8_000)
