"""`python -m benchmarks.relevance`: what a run with a question needs, in floors, on 1 000 paragraphs of MuSiQue."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path

from benchmarks.floor import best_of, floor_work
from benchmarks.quality import DATA, read_set
from pycupel import ContextBudget, ContextItem, Pipeline
from pycupel.policies import preset
from pycupel.scorers import clear_caches

SEEN_LIMIT = 15.0


def new_limit(words: float) -> float:
    """The most floors for contents that have not been seen, with so many words in the mean."""
    return 20.0 + 3.5 * words


def print_relevance(folder: Path = DATA) -> None:
    """Print the figures for presets with a query, for new contents and for equal strings seen before."""
    path = folder / "musique.jsonl.xz"
    if not path.exists():
        print(f"\nrelevance: {path} is not there")
        return
    questions = list(read_set(path))
    items = list(islice(chain.from_iterable(question.items for question in questions), 1_000))
    rows = [{"content": item.content, "tokens": item.tokens, "timestamp_ms": 0, "priority": 0} for item in items]
    words = sum(len(item.content.split()) for item in items) / len(items)
    budget = ContextBudget(sum(item.tokens for item in items) // 10)
    print(f"\na run with a query, 1 000 paragraphs of {words:.0f} words, in floors, with the limit in brackets")
    for name in ("rag", "document-qa"):
        run = partial(Pipeline.from_policy(preset(name)).run, query=questions[0].query)

        def run_new(run: Callable[..., object] = run) -> object:
            clear_caches()
            return run(items, budget)

        best = best_of(
            {
                "floor": floor_work(rows),
                "new": run_new,
                "seen": partial(run, items, budget),
                # Equal strings, but others: what the hash and the comparison cost.
                "equal": partial(run, [_copied(item) for item in items], budget),
            },
            1.0,
        )
        new, seen, equal = (best[each] / best["floor"] for each in ("new", "seen", "equal"))
        figures = f"new {new:6.1f} ({new_limit(words):.0f})  seen {seen:6.1f} ({SEEN_LIMIT:g})  equal {equal:6.1f}"
        print(f"{name:14}{figures}")


def _copied(item: ContextItem) -> ContextItem:
    return replace(item, content=item.content.encode().decode())


if __name__ == "__main__":
    print_relevance(*map(Path, sys.argv[1:2]))
