"""A prompt with documents of three sources, at most half of it from one, each with a number to cite.

Run ``python examples/rag_answer.py``. The retrievers are lists; what they return has scores that cannot be compared.
"""

from dataclasses import replace
from typing import Any

from pycupel import ContextItem, GreedySlice, QuotaEntry, QuotaSlice, select
from pycupel.policies import RAG

QUESTION = "How long does a refund take, and who approves it?"
WIKI = [
    "Refunds take five working days.",
    "The team lead approves refunds above 500 EUR.",
    "Refunds go back to the card that paid.",
]
TICKETS = [
    "Customer waited nine days for a refund.",
    "Refund approved after two reminders.",
    "Order 77: no refund without a receipt.",
]
POLICY = ["Refunds: the limit is 14 days by law.", "Approval of refunds needs two people above 5,000 EUR."]


def found(texts: list[str], source: str, scores: list[float]) -> list[dict[str, Any]]:
    """What a retriever returns: texts with scores, where they come from, and who found them."""
    hits = zip(texts, scores, strict=True)
    return [{"text": text, "score": score, "source": source, "retriever": source} for text, score in hits]


def main() -> None:
    """Select, number, and print the prompt, and what was left out."""
    candidates = [
        *found(WIKI, "wiki", [0.83, 0.81, 0.55]),  # cosines
        *found(TICKETS, "tickets", [14.2, 12.9, 3.3]),  # BM25
        *found(POLICY, "policy", [-0.4, -1.3]),  # a reranker's logits
    ]
    at_most_half = QuotaSlice([QuotaEntry.each(cap=50)], GreedySlice(cost_exponent=0), by="metadata:source")
    policy = replace(RAG, slicer=at_most_half)
    question = ContextItem(QUESTION, 14, kind="Message", pinned=True)
    result = select([question, *candidates], 56, policy, query=QUESTION, counter="estimator", explain=True)
    number = 0
    for item in result.items:
        if item.kind == "Document":
            number += 1
            print(f"[{number}] {item.content}  ({item.metadata['source']})")
        else:
            print(f"Question: {item.content}\nCite the numbers of what you use.")
    print()
    for excluded in result.report.excluded:
        print("left out:", excluded.item.content, excluded.reason)
    for note in result.notes:
        print("note:", note)


if __name__ == "__main__":
    main()
