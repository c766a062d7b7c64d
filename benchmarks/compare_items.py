"""Other ways to choose documents for a question, for `benchmarks.compare`: one entry of `PEERS` for each.

A method gets a question with its documents and returns what it selects for each budget, as `benchmarks.quality` has
it. A library that only ranks is filled up to the budget in its order. Libraries are imported where they are used.
"""

# The libraries may be missing when types are checked.
# ruff: noqa: PLC0415
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchmarks.quality import Baseline, Method, Question, by_policy, by_score, in_order
from pycupel import CompositeScorer, ContextItem, GreedySlice, Policy, RelevanceScorer, SimilarityScorer
from pycupel.policies import preset

_THINGS = (
    "engine printer bridge garden kitchen camera violin tractor lantern compass turbine window saddle kettle".split()
)
_NAMES = (
    "Alder Basil Cedar Dahlia Elmwood Fennel Ginger Hazel Indigo Juniper Laurel Myrtle Olive Poppy Rowan Sorrel".split()
)
# What is asked, and what a document says about it.
_FACTS = {
    "How much does {} cost?": "{} is sold at a price of {} euros.",
    "Who designed {}?": "The design of {} is by M. {}.",
    "When was {} first built?": "Construction of {} began in the year {}.",
    "How heavy is {}?": "{} has a weight of {} kilograms.",
    "Where is {} stored?": "{} is kept in hall {}.",
}
_FILLER = (
    "people of the town often come to see it because old stories say that rain never falls there in summer".split()
)


def pool(seed: int, size: int = 150) -> Question:
    """A question about one thing among others like it: a document has the fact, and another says what it is called."""
    source = random.Random(seed)
    names = source.sample([f"{name} {thing}" for name in _NAMES for thing in _THINGS], size // 3)
    texts: list[str] = []
    for name in names:
        for fact in source.sample(list(_FACTS.values()), 3):
            words = source.choices([*_FILLER, *_THINGS], k=source.randint(15, 120))
            words.insert(source.randrange(len(words)), fact.format(f"the {name}", source.randint(2, 2_000)))
            texts.append(" ".join(words))
    asked, alias = source.choice(names), f"model {source.randint(100, 999)}"
    ask, fact = source.choice([*_FACTS.items()])
    gold = [
        i
        for i, text in enumerate(texts)
        if f"the {asked}" in text and fact.partition("{}")[2].partition("{}")[0] in text
    ]
    if not gold:
        gold = [len(texts)]
        texts.append(f"Nobody doubts it any more. {fact.format(f'the {asked}', 77)}")
    texts.append(f"In the catalogue, the {asked} goes by {alias}, as most owners know.")
    items = tuple(ContextItem(text, len(text) // 4, kind="Document") for text in texts)
    return Question(ask.format(alias), frozenset([*gold, len(texts) - 1]), items)


class Peer(NamedTuple):
    name: str
    package: str
    start: Callable[[], Method]


@cache
def embed() -> Callable[[Sequence[str]], list[list[float]]]:
    """The vectors of wordllama, whose weights and tokenizer are in its package."""
    import wordllama

    folder = Path(str(wordllama.__file__)).parent
    model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    return lambda texts: model.embed(list(texts), norm=True).tolist()


def _words(text: str) -> list[str]:
    return text.lower().split()


def rank_bm25() -> Method:
    return lambda question: by_score(question, _bm25_scores(question))


def _bm25_scores(question: Question) -> list[float]:
    from rank_bm25 import BM25Okapi

    return [*BM25Okapi([_words(item.content) for item in question.items]).get_scores(_words(question.query))]


def embeddings_filter() -> Method:
    from langchain_classic.retrievers.document_compressors import EmbeddingsFilter
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings

    class WordLlama(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return embed()(texts)

        def embed_query(self, text: str) -> list[float]:
            return embed()([text])[0]

    def select(question: Question) -> list[set[int]]:
        documents = [Document(item.content, metadata={"index": i}) for i, item in enumerate(question.items)]
        ranked = EmbeddingsFilter(embeddings=WordLlama(), k=len(documents)).compress_documents(
            documents, question.query
        )
        return in_order(question, [each.metadata["index"] for each in ranked])

    return select


def similarity_postprocessor() -> Method:
    from llama_index.core.postprocessor import SimilarityPostprocessor
    from llama_index.core.schema import NodeWithScore, TextNode

    processor = SimilarityPostprocessor(similarity_cutoff=0.0)

    def select(question: Question) -> list[set[int]]:
        asked, *vectors = embed()([question.query, *(item.content for item in question.items)])
        nodes = [
            NodeWithScore(
                node=TextNode(text=item.content, id_=str(i)),
                score=sum(a * b for a, b in zip(asked, vector, strict=True)),
            )
            for i, (item, vector) in enumerate(zip(question.items, vectors, strict=True))
        ]
        nodes.sort(key=lambda node: -(node.score or 0.0))
        return in_order(question, [int(node.node_id) for node in processor.postprocess_nodes(nodes)])

    return select


def promptbudget() -> Method:
    from promptbudget import Item, Section, pack

    def select(question: Question) -> list[set[int]]:
        sizes = {item.content: item.tokens for item in question.items}
        pairs = zip(question.items, _bm25_scores(question), strict=True)
        items = [Item(item.content, score=score, metadata={"index": i}) for i, (item, score) in enumerate(pairs)]
        section = Section("documents", items, strategy="lowest_score_first", separator="")
        packed = [
            pack([section], budget, tokenizer=lambda text: sizes.get(text, len(text) // 4))
            for budget in question.budgets()
        ]
        return [{each.metadata["index"] for each in result.sections[0].items} for result in packed]

    return select


def ctxbudgeter() -> Method:
    from ctxbudgeter import ContextPack
    from ctxbudgeter.tokenizer import TokenCounter

    # It counts with a tokenizer of its own.
    count = TokenCounter().count

    def select(question: Question) -> list[set[int]]:
        scores = _bm25_scores(question)
        ratio = sum(count(item.content) for item in question.items) / sum(item.tokens for item in question.items)
        largest = max(scores) or 1.0
        found: list[set[int]] = []
        for budget in question.budgets():
            pack = ContextPack(token_budget=int(budget * ratio), reserved_output_tokens=0)
            for i, (item, score) in enumerate(zip(question.items, scores, strict=True)):
                pack.add(name=str(i), content=item.content, kind="retrieval", relevance=max(0.0, score / largest))
            found.append({int(each.name) for each in pack.compile(task=question.query).included_items})
        return found

    return select


def hybrid() -> Method:
    scorer = CompositeScorer([(RelevanceScorer(length_exponent=0.15), 1), (SimilarityScorer(embed(), cache=0), 1)])
    policy = Policy(scorer, GreedySlice(0, best_first=True))
    return lambda question: by_policy(question, policy, query=True)


PEERS = [
    Peer('`select(policy="rag", query=...)`', "pycupel", lambda: lambda q: by_policy(q, preset("rag"), query=True)),
    Peer("the same with wordllama's vectors", "pycupel", hybrid),
    Peer("a loop over BM25, with a stemmer", "", lambda: lambda q: by_score(q, Baseline().scores(q))),
    Peer("`BM25Okapi`, words in lower case", "rank-bm25", rank_bm25),
    Peer("`EmbeddingsFilter`", "langchain-classic", embeddings_filter),
    Peer("`SimilarityPostprocessor`", "llama-index-core", similarity_postprocessor),
    Peer("`pack`, with scores of rank-bm25", "promptbudget", promptbudget),
    Peer("`ContextPack`, with scores of rank-bm25", "ctxbudgeter", ctxbudgeter),
]
