"""The workload: candidate items as plain dicts, the same for a given size and seed on every machine.

Chat messages, documents, tool outputs and memories with 5 to 600 tokens each; one content in twenty is a repetition.
The budget holds 40 % of all tokens. The public reference's figures in `reference.json` were taken on just these
items.
"""

from __future__ import annotations

import random
from typing import Any

__all__ = ["budget", "items"]

KINDS = ["Message", "Document", "ToolOutput", "Memory", "SystemPrompt"]
TAGS = ["auth", "db", "ui", "perf", "api", "ops", "doc", "test"]
FIRST_INSTANT_MS = 1_700_000_000_000


def items(n: int, seed: int = 1) -> list[dict[str, Any]]:
    source = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for i in range(n):
        row = {
            "content": f"item {i} " + "x" * source.randint(20, 400),
            "tokens": source.randint(5, 600),
            "kind": source.choice(KINDS),
            "timestamp_ms": FIRST_INSTANT_MS + source.randint(0, 10**10),
            "priority": source.randint(0, 100),
            "future_relevance_hint": round(source.random(), 4),
            "tags": source.sample(TAGS, source.randint(0, 3)),
        }
        if i and source.random() < 0.05:
            row["content"] = rows[source.randrange(i)]["content"]
        rows.append(row)
    return rows


def budget(rows: list[dict[str, Any]], share: float = 0.4) -> tuple[int, int]:
    total = sum(row["tokens"] for row in rows)
    return total, int(total * share)
