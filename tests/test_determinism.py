"""The same input gives the same selection, scores and reasons: for every hash seed, and on every Python.

Run as a module, this file prints the digest of its workload; it then needs nothing but pycupel.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from pycupel import ContextBudget, ContextItem, OverflowStrategy, Pipeline, ReflexiveScorer, SelectionReport
from tests.samples import DAY, NOW, PLACERS, SCORERS, SLICERS

DIGEST = "4a8ed7a04c890768e32852a716e37d35604be2ed5a09b77c87ffffbd46f50ea8"
HASH_SEEDS = ("0", "1", "2", "12345")

KINDS = ("Message", "Document", "ToolOutput", "Memory", "document", "note", "MEMORY")
TAGS = ("alpha", "beta", "Gamma", "gamma", "delta", "epsilon")
TRUSTS = ("0.85", "0.2", 0.5, 1, "high", None)


def items() -> list[ContextItem]:
    """Build 300 items with ties, duplicates and odd values; whole days make the powers of the decay curve exact."""
    random = Random(7)
    return [
        ContextItem(
            f"content {random.randrange(260)}",
            random.randrange(-1, 120) if random.random() < 0.9 else 0,
            kind=KINDS[random.randrange(len(KINDS))],
            priority=random.randrange(-5, 20) if random.random() < 0.8 else None,
            tags=[TAGS[random.randrange(len(TAGS))] for _ in range(random.randrange(4))],
            metadata={"cupel:trust": TRUSTS[random.randrange(len(TRUSTS))], "level": str(random.randrange(3))},
            timestamp=NOW - random.randrange(-2, 30) * DAY if random.random() < 0.9 else None,
            future_relevance_hint=random.random() * 1.2 - 0.1 if random.random() < 0.7 else None,
            pinned=random.random() < 0.02,
        )
        for _ in range(300)
    ]


def lines(report: SelectionReport, indices: dict[int, int]) -> Iterator[str]:
    """Tell of every decision, with items by their index in the input and scores to the last bit."""
    for item, score, reason in report.included:
        yield f"+{indices[id(item)]} {score.hex()} {reason}"
    for item, score, why in report.excluded:
        fields: Any = why
        yield f"-{indices[id(item)]} {score.hex()} {type(why).__name__} {tuple(fields)}"
    for kind, required, satisfied in report.count_requirement_shortfalls:
        yield f"!{kind.value} {required} {satisfied}"


def digest() -> str:
    """Hash what all pipelines of the workload select, score and say."""
    candidates = items()
    indices = {id(item): i for i, item in enumerate(candidates)}
    budgets = (ContextBudget(3000, 2500, output_reserve=300), ContextBudget(900, reserved_slots={"note": 40}))
    hashed = sha256()
    for turn, (scorer, slicer) in enumerate(product(SCORERS, SLICERS)):
        pipeline = Pipeline(scorer, slicer, PLACERS[turn % 2], overflow_strategy=OverflowStrategy.TRUNCATE)
        report = pipeline.dry_run(candidates, budgets[turn // 2 % 2])
        hashed.update("\n".join(lines(report, indices)).encode())
    return hashed.hexdigest()


def start_elsewhere(hash_seed: str) -> subprocess.Popen[str]:
    """Start this module in a new process."""
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-m", "tests.test_determinism"]
    root = Path(__file__).parents[1]
    return subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE, text=True)


def test_no_hash_seed_changes_a_selection_a_score_or_a_reason() -> None:
    """PY-16: no set ever decides an order; PY-01 and META-08: no sum depends on the version of Python."""
    processes = {seed: start_elsewhere(seed) for seed in HASH_SEEDS}
    digests = {seed: process.communicate()[0].strip() for seed, process in processes.items()}
    assert digests == dict.fromkeys(HASH_SEEDS, DIGEST)


def test_a_process_with_a_past_gives_the_same() -> None:
    """PB-04: nothing of other runs stays behind, in caches neither."""
    for slicer in SLICERS:
        Pipeline(ReflexiveScorer(), slicer, overflow_strategy=OverflowStrategy.PROCEED).run(items(), ContextBudget(500))
    assert digest() == DIGEST


def test_the_workload_is_worth_the_effort() -> None:
    """PY-16: it has duplicates, invalid and pinned items, and pipelines that select something but not everything."""
    candidates = items()
    assert len(candidates) == 300
    assert len({item.content for item in candidates}) < 250
    assert any(item.tokens < 0 for item in candidates)
    assert any(item.pinned for item in candidates)
    for slicer in SLICERS:
        pipeline = Pipeline(ReflexiveScorer(), slicer, overflow_strategy=OverflowStrategy.TRUNCATE)
        assert 20 < len(pipeline.run(candidates, ContextBudget(3000))) < 250


if __name__ == "__main__":
    sys.stdout.write(digest() + "\n")
