"""Common parts of the hooks for retrieved documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pycupel.messages.documents import DocumentItem, read_documents
from pycupel.messages.plan import limits_of
from pycupel.model import ContextBudget
from pycupel.pipeline import Policy, PresetName
from pycupel.selecting import ContextResult, select
from pycupel.tokens import CounterLike, get_counter

__all__ = ["OnResult", "select_documents"]

OnResult = Callable[[ContextResult], object]


def select_documents(
    documents: Sequence[Any],
    budget: ContextBudget | int,
    policy: Policy | PresetName,
    counter: CounterLike,
    on_selection: OnResult | None = None,
) -> list[Any]:
    """Select the documents that fit, in the order of the policy's placer; they are the caller's own objects.

    `on_selection` is called with the result and its report.
    """
    counts = get_counter(counter)
    hits = _ranked(read_documents(documents, counts))
    limits = limits_of(ContextBudget.of(budget), counts.margin_percent)
    result = select([hit.item for hit in hits], limits, policy, explain=on_selection is not None)
    if on_selection is not None:
        on_selection(result)
    originals = {id(hit.item): documents[hit.index] for hit in hits}
    return [originals[id(item)] for item in result.items]


def _ranked(hits: list[DocumentItem]) -> list[DocumentItem]:
    """Rank the hits by the retriever's order if they have no scores."""
    if any(hit.item.future_relevance_hint is not None for hit in hits):
        return hits
    return [
        replace(hit, item=replace(hit.item, future_relevance_hint=1.0 - rank / len(hits)))
        for rank, hit in enumerate(hits)
    ]
