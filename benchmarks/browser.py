"""How fast the page is in Chromium: `python -m benchmarks.browser` after `make setup-browser`.

5,000 items and a sweep of 64 budgets. "Interactive" is the time from the start of the navigation until the panels are
filled and a task of the page's own has run; a move of the slider is the time until the next frame has been painted.
"""

from __future__ import annotations

import random
import tempfile
import timeit
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from pycupel import (
    CompositeScorer,
    ContextBudget,
    ContextItem,
    FrequencyScorer,
    KindScorer,
    Pipeline,
    PriorityScorer,
    RecencyScorer,
)
from tests.browser.launch import launched

ITEMS = 5_000
BUDGET = ContextBudget(128_000, 100_000, output_reserve=8_000)
PIPELINE = Pipeline(
    CompositeScorer([(RecencyScorer(), 3), (KindScorer(), 1), (PriorityScorer(), 1), (FrequencyScorer(), 1)])
)
KINDS = ("Message", "Document", "ToolOutput", "Memory", "SystemPrompt")
SENTENCE = "the checkout service retries a payment after every timeout and writes the order number to its log"
WORDS = SENTENCE.split()

# Runs in the page: moves the slider, and waits for the frame that shows the result.
MOVE = """async (value) => {
  const slider = document.getElementById("budget-slider");
  const start = performance.now();
  slider.value = value;
  slider.dispatchEvent(new Event("input", {bubbles: true}));
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - start;
}"""


def make_items(count: int) -> list[ContextItem]:
    chance = random.Random(17)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        ContextItem(
            f"{i}: {' '.join(chance.choices(WORDS, k=60))}",
            chance.randint(20, 200),
            kind=chance.choice(KINDS),
            priority=chance.randint(0, 9),
            tags=chance.sample(WORDS, 2),
            timestamp=start + timedelta(minutes=i),
        )
        for i in range(count)
    ]


def measure(page: Any, address: str) -> tuple[float, list[float]]:
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    interactive = page.evaluate("() => new Promise((done) => setTimeout(() => done(performance.now())))")
    points = int(page.get_attribute("#budget-slider", "max"))
    moves = [page.evaluate(MOVE, point) for point in [*range(points + 1), 0, points, points // 2, 0]]
    return interactive, moves


def main() -> None:
    items = make_items(ITEMS)
    report = PIPELINE.dry_run(items, BUDGET)
    run = min(timeit.repeat(lambda: PIPELINE.dry_run(items, BUDGET).excluded, number=1, repeat=5))
    with tempfile.TemporaryDirectory() as folder, launched() as browser:
        path = Path(folder) / "report.html"
        made = min(timeit.repeat(lambda: report.to_html(path, pipeline=PIPELINE, items=items), number=1, repeat=3))
        runs = [measure(browser.new_page(), path.as_uri()) for _ in range(5)]
        moves = [move for _, each in runs for move in each]
        size = path.stat().st_size
    print(f"{ITEMS} items: page of {size / 1e6:.1f} MB made in {made:.2f} s, the time of {made / run:.0f} dry runs")
    print(
        f"interactive after {median(first for first, _ in runs):.0f} ms (worst of 5: {max(runs)[0]:.0f} ms; limit 2000)"
    )
    print(f"slider move {median(moves):.0f} ms (worst of {len(moves)}: {max(moves):.0f} ms; limit 100)")


if __name__ == "__main__":
    main()
