"""The page about hooks: its blocks run, with fake models in place of the reader's."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from haystack import Document as HaystackDocument, component
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from llama_index.core import Document as LlamaDocument, VectorStoreIndex
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.tools import FunctionTool
from pydantic_ai.models.function import FunctionModel

from pycupel.messages import select_messages
from tests.integrations_env.a import (
    test_haystack as haystack,
    test_langchain as langchain,
    test_llama_index as llama_index,
    test_pydantic_ai as pydantic_ai,
)
from tests.integrations_env.documentation import headings_with_blocks, run_blocks


@component
class FakeGenerator:
    """Answers with the number of messages that it was shown."""

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None) -> dict[str, Any]:
        return {"replies": [ChatMessage.from_assistant(str(len(messages)))]}


def test_langchain() -> None:
    model, messages = langchain.FakeModel(seen=[]), langchain.history(turns=60)
    retriever = langchain.Retriever(found=langchain.documents(1_000, 9_000, 1_000))
    names = run_blocks("LangChain", model=model, tools=[langchain.look_up], messages=messages, retriever=retriever)
    assert len(model.seen[0]) < len(messages) < len(names["state"]["messages"])
    assert len(names["documents"]) == 2


def test_pydantic_ai() -> None:
    recorder, messages = pydantic_ai.Recorder(calls=0), pydantic_ai.history(turns=60)
    names = run_blocks("Pydantic AI", model=FunctionModel(recorder), messages=messages)
    assert len(recorder.seen[0]) < len(messages) == len(names["history"]) - 2


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_llama_index() -> None:
    documents = [LlamaDocument(text=f"cache {n} " + "word " * 500) for n in range(20)]
    index = VectorStoreIndex.from_documents(documents, embed_model=MockEmbedding(embed_dim=4))
    tool = FunctionTool.from_defaults(llama_index.look_up)
    names = run_blocks("LlamaIndex", index=index, model=llama_index.FakeAnthropic(max_tokens=8), tools=[tool])
    assert 0 < len(names["response"].source_nodes) < 20
    assert names["history"][0].role.value == "user"
    assert len(names["history"]) > 1


def test_haystack() -> None:
    store = InMemoryDocumentStore()
    store.write_documents([HaystackDocument(content=f"cache {n} " + "word " * 500) for n in range(20)])
    messages = [each for seed in range(5) for each in haystack.history(seed)]
    retriever = InMemoryBM25Retriever(store, top_k=20)
    names = run_blocks("Haystack", retriever=retriever, messages=messages, model=FakeGenerator(), tools=[])
    assert names["conversation"][: len(messages)] == messages
    assert 0 < len(names["documents"]) < 20
    assert 0 < int(names["replies"][0].text) < len(messages)


def test_options_of_the_history_hooks(caplog: pytest.LogCaptureFixture) -> None:
    names = run_blocks("Options of the history hooks")
    selection = select_messages([{"role": "user", "content": "Hello!"}], 100)
    with caplog.at_level(logging.INFO):
        names["log"](selection)
    assert caplog.messages == ["1 messages kept, 0 dropped"]
    assert names["middleware"].name == "CupelMiddleware"


def test_every_block_is_run_here_or_in_another_environment() -> None:
    assert headings_with_blocks() == {
        "Claude Agent SDK",
        "Google's ADK",
        "LiteLLM",
        "Microsoft Agent Framework",
        "Strands Agents",
        "crewAI",
        "deepagents and LangGraph",
        "LangChain",
        "Pydantic AI",
        "OpenAI Agents SDK",
        "LlamaIndex",
        "Haystack",
        "Options of the history hooks",
        "An agent's run",
    }
