"""Select the context for the next step of a coding agent, and print the reasons.

Run ``python examples/demo.py``. The session in ``agent_session.json`` is invented: an engineer and an agent investigate
a failing checkout service, and have gathered far more text than the model should read.
"""

import json
from datetime import UTC, datetime
from pathlib import Path

from pycupel import (
    ChronologicalPlacer,
    CompositeScorer,
    ContextBudget,
    ContextItem,
    GreedySlice,
    KindScorer,
    Pipeline,
    PriorityScorer,
    RecencyScorer,
    ReflexiveScorer,
)
from pycupel.wire import from_dict

EPOCH = datetime.min.replace(tzinfo=UTC)
SESSION = Path(__file__).with_name("agent_session.json")

# The window has 8,000 tokens, of which 1,000 are for the answer. A target of 6,000 leaves a margin.
BUDGET = ContextBudget(8_000, 6_000, output_reserve=1_000)

# Recent, relevant and urgent items and important kinds score high. The greedy slicer fills the target with the best
# score per token, and the placer puts the selection into chronological order.
PIPELINE = Pipeline(
    CompositeScorer([(RecencyScorer(), 2), (KindScorer(), 2), (ReflexiveScorer(), 3), (PriorityScorer(), 1)]),
    GreedySlice(),
    ChronologicalPlacer(),
)


def main() -> None:
    """Print the selected items in order, why the others were left out, and what newest-first would have selected."""
    items = [from_dict(ContextItem, entry) for entry in json.loads(SESSION.read_text(encoding="utf-8"))]
    report = PIPELINE.dry_run(items, BUDGET)
    print(report.to_text())
    print("\nWHY this one is in, and the next one is not?\n")
    print(report.why("Mira: Good. Fix that one too"))
    print()
    print(report.why("$ query_logs service=checkout", pipeline=PIPELINE, items=items))
    print_side_by_side(report.items, newest_first(items, BUDGET.target_tokens))


def newest_first(items: list[ContextItem], target: int) -> list[ContextItem]:
    """The usual way: what is pinned, then the newest items until one does not fit."""
    chosen = [item for item in items if item.pinned]
    dated = [item for item in items if item.timestamp and not item.pinned and item.tokens >= 0]
    for item in sorted(dated, key=lambda item: item.timestamp or EPOCH, reverse=True):
        if sum(each.tokens for each in chosen) + item.tokens > target:
            break
        chosen.append(item)
    return chosen


def print_side_by_side(selected: list[ContextItem], newest: list[ContextItem]) -> None:
    """Both selections, oldest first, each item in its own line."""
    print("\nTHE SAME BUDGET, oldest first")
    print(f"  {titled('selected above', selected):38}  {titled('newest first', newest):38}".rstrip())
    for item in sorted(
        {id(item): item for item in [*selected, *newest]}.values(), key=lambda item: item.timestamp or EPOCH
    ):
        text = " ".join(item.content.split())
        text = text if len(text) <= 38 else f"{text[:35]}..."
        left = text if any(each is item for each in selected) else "-"
        right = text if any(each is item for each in newest) else "-"
        print(f"  {left:38}  {right:38}".rstrip())


def titled(name: str, items: list[ContextItem]) -> str:
    """The name of a selection, with its size."""
    return f"{name.upper()}: {len(items)}, {sum(item.tokens for item in items):,} tokens"


if __name__ == "__main__":
    main()
