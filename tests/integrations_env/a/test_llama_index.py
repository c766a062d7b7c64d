"""LlamaIndex, with a mock model: what a query engine's prompt contains."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core import QueryBundle, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode, get_response_synthesizer
from llama_index.core.schema import NodeWithScore, TextNode

from pycupel import ContextBudget
from pycupel.integrations.llama_index import CupelPostprocessor
from pycupel.selecting import ContextResult
from tests.integrations_env.sessions import count_words


def hits(*scores: float | None, size: int = 10) -> list[NodeWithScore]:
    return [
        NodeWithScore(node=TextNode(text=" ".join([f"hit{i}"] * size), id_=str(i)), score=score)
        for i, score in enumerate(scores)
    ]


class Retriever(BaseRetriever):
    def __init__(self, found: list[NodeWithScore]) -> None:
        self._found = found
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._found


def engine(found: list[NodeWithScore], postprocessor: CupelPostprocessor) -> RetrieverQueryEngine:
    synthesizer = get_response_synthesizer(llm=MockLLM(), response_mode=ResponseMode.SIMPLE_SUMMARIZE)
    return RetrieverQueryEngine(Retriever(found), synthesizer, [postprocessor])


def test_a_query_engine_sees_what_fits_the_best_nodes_at_both_edges() -> None:
    found = hits(0.3, 0.9, 0.5, 0.7)
    response: Any = engine(found, CupelPostprocessor(budget=30, counter=count_words)).query("Which?")
    assert [each.node_id for each in response.source_nodes] == ["1", "2", "3"]
    assert [each is found[int(each.node_id)] for each in response.source_nodes] == [True] * 3
    # The mock model answers with the prompt.
    prompt = str(response)
    assert "hit0" not in prompt
    assert prompt.index("hit1") < prompt.index("hit2") < prompt.index("hit3")


def test_an_index_takes_it_as_well() -> None:
    nodes = [each.node for each in hits(None, None, None)]
    index = VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=4))
    query_engine = index.as_query_engine(
        llm=MockLLM(),
        similarity_top_k=3,
        node_postprocessors=[CupelPostprocessor(budget=ContextBudget(20), counter=count_words)],
    )
    assert len(query_engine.query("Which?").source_nodes) == 2


def test_nodes_are_selected_asynchronously_as_well() -> None:
    postprocessor = CupelPostprocessor(budget=10, counter=count_words)
    [selected] = asyncio.run(postprocessor.apostprocess_nodes(hits(0.1, 0.8), query_str="Which?"))
    assert selected.node_id == "1"


def test_nodes_without_scores_rank_in_the_retrievers_order() -> None:
    postprocessor = CupelPostprocessor(budget=10, counter=count_words)
    assert [each.node_id for each in postprocessor.postprocess_nodes(hits(None, None))] == ["0"]


def test_a_postprocessor_tells_what_it_left_out() -> None:
    results: list[ContextResult] = []
    postprocessor = CupelPostprocessor(budget=10, counter=count_words, on_selection=results.append)
    postprocessor.postprocess_nodes(hits(0.1, 0.8))
    [result] = results
    assert result.report is not None
    assert [each.item.metadata["key"] for each in result.report.excluded] == ["0"]


def test_a_postprocessor_can_be_named_and_copied() -> None:
    postprocessor = CupelPostprocessor(budget=10)
    assert postprocessor.class_name() == "CupelPostprocessor"
    assert CupelPostprocessor.from_dict(postprocessor.to_dict()).budget == 10


def test_wrong_options_are_found_where_they_are_written() -> None:
    with pytest.raises(ValueError, match="rag"):
        CupelPostprocessor(budget=10, policy="ragg")
