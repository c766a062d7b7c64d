"""Requests as they are logged, the same for a given number and seed."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any


def request(n: int, seed: int = 0) -> dict[str, Any]:
    """A request with items; every fifth one with messages."""
    dice = random.Random(n * 1000 + seed)
    if n % 5 == 4:
        messages = [
            {"role": role, "content": f"{role} {turn} " + "word " * dice.randrange(30)}
            for turn in range(6)
            for role in ("user", "assistant")
        ]
        return {"id": f"chat-{n}", "messages": messages, "budget": 150}
    items = [
        {
            "content": f"item {dice.randrange(8)} of {n % 7}" + " x" * dice.randrange(40),
            "tokens": dice.randrange(5, 100),
            "kind": dice.choice(["Message", "Document", "ToolOutput"]),
            "futureRelevanceHint": round(dice.random(), 3),
            "timestamp": f"2026-01-{dice.randrange(1, 29):02}T12:00:00Z",
        }
        for _ in range(12)
    ]
    budget: Any = 300 if n % 2 else {"maxTokens": 400, "targetTokens": 300}
    return {"id": n, "items": items, "budget": budget, "query": "item 3"}


def write_log(path: Path, count: int, seed: int = 0) -> Path:
    """A file of JSON lines."""
    path.write_text("".join(json.dumps(request(n, seed)) + "\n" for n in range(count)), encoding="utf-8")
    return path


def rows_in(directory: Path) -> list[dict[str, Any]]:
    """The rows of an output, in order."""
    return [
        json.loads(line) for part in sorted(directory.glob("part-*.jsonl")) for line in part.read_text().splitlines()
    ]


def content_of(directory: Path) -> dict[str, bytes]:
    """Every file of an output."""
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}
