"""`make soak`: hundreds of thousands of random runs in one process, whose memory must stay flat.

`python -m tests.fuzz.soak --items 200000 --histories 20000 --seed 1`. Every run is checked as the fuzzers check theirs.
Inputs come from a small stock of texts, so that caches are full after the first runs; from then on, what is held must
not grow.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from pycupel import (
    BoostedScorer,
    ChronologicalPlacer,
    CompositeScorer,
    ContextBudget,
    ContextItem,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    CountQuotaSlice,
    FramedPlacer,
    FrequencyScorer,
    GreedySlice,
    KindScorer,
    KnapsackSlice,
    MetadataKeyScorer,
    MinScoreSlice,
    Pipeline,
    PriorityScorer,
    QuotaEntry,
    QuotaSlice,
    RecencyScorer,
    ReflexiveScorer,
    RelevanceScorer,
    ScaledScorer,
    Scorer,
    Slicer,
    StreamSlice,
    UShapedPlacer,
    messages,
)
from pycupel.errors import UnitTooLargeError
from pycupel.messages import lint_messages, select_messages
from tests.fuzz.pipelines import check
from tests.messages.histories import WRITERS, Features, write_history

__all__ = ["Checkpoint", "growth", "main", "run_history", "run_items"]

KINDS = ("Message", "Document", "ToolOutput", "Memory", "SystemPrompt", "note")
WORDS = [f"word{i}" for i in range(300)]
_STOCK = Random(0)
TEXTS = [" ".join(_STOCK.choices(WORDS, k=_STOCK.randint(1, 60))) for _ in range(1_000)]

FLAGS = ("greeting", "thinks", "pictures", "empty", "reminders", "talks", "remarks")

# How often the memory is looked at, and by how much it may have grown between the second look and the last.
LOOKS = 20
MAX_GROWTH_PERCENT, MAX_GROWTH_MEGABYTES, MAX_GROWTH_OBJECTS = 3.0, 8.0, 2_000


class Checkpoint(NamedTuple):
    """What the process holds after so many runs."""

    runs: int
    megabytes: float
    objects: int


def random_item(random: Random) -> ContextItem:
    return ContextItem(
        random.choice(TEXTS),
        random.choice((0, 1, random.randint(1, 90), random.randint(1, 900))),
        kind=random.choice(KINDS),
        priority=random.choice((None, random.randint(-5, 5))),
        tags=random.sample(WORDS[:8], random.randint(0, 3)),
        metadata={"file": random.choice(WORDS[:5])} if random.random() < 0.3 else {},
        future_relevance_hint=random.choice((None, random.random())),
        pinned=random.random() < 0.05,
    )


def random_scorer(random: Random) -> Scorer:
    leaves: list[Scorer] = [
        RecencyScorer(random.choice(("oldest", "position"))),
        PriorityScorer(),
        KindScorer(),
        FrequencyScorer(),
        ReflexiveScorer(random.choice(("never", "auto"))),
        RelevanceScorer(" ".join(random.choices(WORDS, k=3))),
        ScaledScorer(PriorityScorer()),
        BoostedScorer(ReflexiveScorer(), MetadataKeyScorer("file", WORDS[0], 2.0)),
    ]
    chosen = random.sample(leaves, random.randint(1, 4))
    return chosen[0] if len(chosen) == 1 else CompositeScorer([(each, random.randint(1, 9)) for each in chosen])


def random_slicer(random: Random, depth: int = 0) -> Slicer:
    plain: list[Callable[[], Slicer]] = [
        lambda: GreedySlice(random.choice((0.0, 0.5, 1.0)), best_first=random.random() < 0.5),
        lambda: KnapsackSlice(random.choice((1, 10, 100)), fill_free=random.random() < 0.5),
        lambda: StreamSlice(random.choice((1, 7, 32)), replace=random.random() < 0.5),
    ]
    if depth == 2:
        return random.choice(plain)()
    kinds = random.sample(KINDS, 2)
    counts = [CountQuotaEntry(kind, cap_count=random.randint(1, 4)) for kind in kinds]
    wrapping: list[Callable[[], Slicer]] = [
        lambda: QuotaSlice([QuotaEntry(kind, 10, 60) for kind in kinds], random_slicer(random, depth + 1)),
        lambda: CountQuotaSlice(counts, GreedySlice()),
        lambda: CountConstrainedKnapsackSlice(counts),
        lambda: MinScoreSlice(random_slicer(random, depth + 1), random.random() / 2),
    ]
    return random.choice(plain + wrapping)()


def run_items(random: Random) -> None:
    """Run a random pipeline over random items, and check what holds for every run."""
    pipeline = Pipeline(
        random_scorer(random),
        random_slicer(random),
        random.choice((ChronologicalPlacer("position"), UShapedPlacer(), FramedPlacer())),
        deduplication=random.random() < 0.7,
        overflow_strategy=random.choice(("throw", "truncate", "proceed")),
    )
    items = [random_item(random) for _ in range(random.choice((0, 1, 5, 20, 60)))]
    check(pipeline, items, ContextBudget(random.randint(0, 20_000), output_reserve=0))


def run_history(random: Random) -> None:
    """Select from a random history of a random provider, and check that the provider accepts the result."""
    provider: Any = random.choice([*WRITERS])
    flags: Any = {name: random.random() < 0.5 for name in FLAGS}
    end = random.choice(("question", "exchange", "open", "answer"))
    sizes = [random.randint(0, 4) for _ in range(random.randint(1, 6))]
    history = write_history(
        provider, Features(prompts=random.randint(0, 2), end=end, **flags), random.randrange(2**16), sizes
    )
    whole = len(str(history))
    try:
        selection = select_messages(
            history,
            random.randint(whole // 20, whole),
            provider=provider,
            counter=len,
            shorten=random.choice((None, None, "results")),
            explain=random.random() < 0.2,
        )
    except UnitTooLargeError:
        return
    found = [finding for finding in lint_messages(selection.messages, provider=provider) if finding.severity == "error"]
    known = {finding.rule for finding in lint_messages(history, provider=provider)}
    assert not [finding for finding in found if finding.rule not in known], found


def look(runs: int) -> Checkpoint:
    """Measure what the process holds now."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return Checkpoint(runs, pages * os.sysconf("SC_PAGE_SIZE") / 2**20, len(gc.get_objects()))


def growth(looks: list[Checkpoint]) -> str:
    """Say by how much the memory has grown since caches were full, if that is too much; otherwise nothing."""
    settled, last = looks[min(len(looks) // 4, len(looks) - 1)], looks[-1]
    megabytes = last.megabytes - settled.megabytes
    if megabytes > max(MAX_GROWTH_MEGABYTES, settled.megabytes * MAX_GROWTH_PERCENT / 100):
        return f"{megabytes:.1f} MB more than after {settled.runs:,} runs"
    objects = last.objects - settled.objects
    if objects > max(MAX_GROWTH_OBJECTS, settled.objects * MAX_GROWTH_PERCENT / 100):
        return f"{objects:,} objects more than after {settled.runs:,} runs"
    return ""


def soak(name: str, run: Callable[[Random], None], count: int, seed: int) -> bool:
    """Run that often, and say whether the memory stayed flat."""
    random = Random(seed)
    looks: list[Checkpoint] = []
    start = time.process_time()
    for done in range(1, count + 1):
        run(random)
        if done % max(1, count // LOOKS) == 0:
            looks.append(look(done))
            print(f"{name}: {done:>9,} runs {looks[-1].megabytes:8.1f} MB {looks[-1].objects:>9,} objects", flush=True)  # noqa: T201
    problem = growth(looks) if looks else ""
    seconds = time.process_time() - start
    print(f"{name}: {count:,} runs in {seconds:,.0f} s of processor time; {problem or 'everything held'}", flush=True)  # noqa: T201
    return not problem


def main(arguments: list[str] | None = None) -> int:
    """Run the soak; the exit code is 0 if nothing failed and the memory stayed flat."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=200_000, help="how many runs over items")
    parser.add_argument("--histories", type=int, default=20_000, help="how many runs over histories")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    # If conversations are remembered, their memory must be full before the first look, too.
    limit = getattr(messages, "set_memory_limit", None)
    if limit is not None:
        limit(1_000_000)
    flat = [
        soak("items", run_items, options.items, options.seed),
        soak("histories", run_history, options.histories, options.seed),
    ]
    return 0 if all(flat) else 1


if __name__ == "__main__":
    sys.exit(main())
