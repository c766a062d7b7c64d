"""Rank documents by a question, but not the history: a cut that moved with every question would not be stable."""

from __future__ import annotations

from collections.abc import Sequence

from pycupel.model import ContextItem
from pycupel.pipeline.notes import IGNORED_QUERY
from pycupel.protocols import Scorer
from pycupel.scorers._base import score_all, score_one
from pycupel.scorers._traits import bind_query

_NO_DOCUMENTS = "the query was ignored: it ranks only documents, and none were passed"


class _DocumentsByQuery:
    """Scores the documents with one scorer and the history with another."""

    def __init__(self, history: Scorer, by_query: Scorer, documents: Sequence[ContextItem]) -> None:
        self.children = (history, by_query)
        self._document_ids = frozenset(map(id, documents))

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        history, by_query = self.children
        return score_one(by_query if id(item) in self._document_ids else history, item, all_items)

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        history, by_query = (score_all(child, items) for child in self.children)
        return [
            relevant if id(item) in self._document_ids else score
            for item, score, relevant in zip(items, history, by_query, strict=True)
        ]


def scorer_for(
    scorer: Scorer, documents: Sequence[ContextItem], query: str | None, last_question: str
) -> tuple[Scorer, tuple[str, ...]]:
    """Return the policy's scorer for a history and documents, and notes about the query.

    Args:
        scorer: The scorer of the policy.
        documents: The documents.
        query: The caller's query, or None.
        last_question: The query for the documents if the caller passes none.
    """
    # Nothing answers an empty query, so scorers that need one have no effect on the history.
    history, count = bind_query(scorer, "")
    if not count:
        return scorer, () if query is None else (IGNORED_QUERY,)
    if not documents:
        return history, () if query is None else (_NO_DOCUMENTS,)
    asked, _ = bind_query(scorer, last_question if query is None else query)
    return _DocumentsByQuery(history, asked, documents), ()
