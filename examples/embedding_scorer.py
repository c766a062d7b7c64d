"""A scorer of your own embeddings, beside the words of the question, and a scorer written by hand.

Run ``python examples/embedding_scorer.py``. ``embed`` stands for your model: here it counts letters, so that nothing is
downloaded. It is called once, with all new texts.
"""

from collections.abc import Sequence

from pycupel import CompositeScorer, ContextItem, Pipeline, RelevanceScorer, SimilarityScorer
from pycupel.testing import check_scorer

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def embed(texts: Sequence[str]) -> list[list[float]]:
    """A vector for each text."""
    print(f"embedding {len(texts)} texts")
    return [[float(text.lower().count(letter)) for letter in ALPHABET] for text in texts]


class ShorterFirst:
    """Prefers short items."""

    def score(self, item: ContextItem, all_items: Sequence[ContextItem]) -> float:
        """One for the shortest item, less for longer ones."""
        return min(other.tokens for other in all_items) / item.tokens if item.tokens else 1.0


def main() -> None:
    """Check the scorer, then use all three."""
    check_scorer(ShorterFirst())
    items = [
        ContextItem("The retry limit is three.", 6),
        ContextItem("Payments are retried by the worker, at most three times.", 12),
        ContextItem("The garden opens at nine.", 6),
    ]
    scorer = CompositeScorer([(RelevanceScorer(), 2), (SimilarityScorer(embed), 2), (ShorterFirst(), 1)])
    pipeline = Pipeline(scorer)
    for question in ("How often are payments retried?", "What is the retry limit?"):
        print(question)
        for included in pipeline.dry_run(items, 100, query=question).included:
            print(f"  {included.score:.2f} {included.item.content}")


if __name__ == "__main__":
    main()
