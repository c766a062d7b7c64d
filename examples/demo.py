"""Choose what a coding agent shows its model next, and say why.

Run ``python examples/demo.py``. The session beside this file is invented: an engineer and an agent look for the cause
of a failing checkout service, and have gathered far more text than the model should read.
"""

import json
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

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
from pycupel.diagnostics import (
    BudgetExceeded,
    Deduplicated,
    ExcludedItem,
    InclusionReason,
    NegativeTokens,
    PinnedOverride,
    SelectionReport,
)

SESSION = Path(__file__).with_name("agent_session.json")

# The model takes 8,000 tokens and needs 1,000 of them for its answer. A target of 6,000 leaves some room to spare.
BUDGET = ContextBudget(8_000, 6_000, output_reserve=1_000)

# What is recent, of a kind that matters, or marked as relevant or urgent scores high. The greedy slicer fills the
# target with the best score per token, and the placer puts the selection back into the order of events.
PIPELINE = Pipeline(
    CompositeScorer([(RecencyScorer(), 2), (KindScorer(), 2), (ReflexiveScorer(), 3), (PriorityScorer(), 1)]),
    GreedySlice(),
    ChronologicalPlacer(),
)


def load_item(data: dict[str, Any]) -> ContextItem:
    """Build one item; what the session leaves out has a sensible default."""
    return ContextItem(
        data["content"],
        data["tokens"],
        kind=data.get("kind", "Message"),
        source=data.get("source", "Chat"),
        priority=data.get("priority"),
        tags=data.get("tags", ()),
        timestamp=datetime.fromisoformat(data["timestamp"]),
        future_relevance_hint=data.get("futureRelevanceHint"),
        pinned=data.get("pinned", False),
    )


def preview(text: str, width: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 3] + "..."


def explain(excluded: ExcludedItem) -> tuple[str, str]:
    """Return a heading for this kind of exclusion and a short text with the numbers of this one."""
    match excluded.reason:
        case BudgetExceeded(item_tokens=needed, available_tokens=left):
            return "Did not fit; the best score per token went first", f"needs {needed:,}, {left:,} left"
        case Deduplicated():
            return "Same text as another candidate", f"copy from {excluded.item.source}"
        case NegativeTokens(tokens=tokens):
            return "Impossible token count", f"counted as {tokens:,}"
        case PinnedOverride(displaced_by=pinned):
            return "Would fit but for a pinned item", preview(pinned, 21)
        case other:
            return "Other", type(other).__name__


def print_selected(report: SelectionReport) -> None:
    size = f"{len(report.included)} items, {report.included_tokens:,} tokens"
    print(f"\nSELECTED: {size}, in the order in which the model reads them")
    print("\n  #  kind          tokens  score      content")
    for position, included in enumerate(report.included, start=1):
        item, reason = included.item, included.reason
        # Pinned items and items without tokens are selected whatever their score.
        score = f"{included.score:.2f}" if reason is InclusionReason.SCORED else reason.value
        print(f"{position:3}  {item.kind!s:12}  {item.tokens:6,}  {score:9}  {preview(item.content, 42)}")


def print_left_out(report: SelectionReport) -> None:
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for excluded in report.excluded:
        heading, why = explain(excluded)
        text = preview(excluded.item.content, 32)
        groups[heading].append(f"     {excluded.item.kind!s:12}  {excluded.score:.2f}  {why:21}  {text}")
    print(f"\nLEFT OUT: {len(report.excluded)} items")
    for heading, lines in groups.items():
        print(f"\n  {heading}: {len(lines)}", *lines, sep="\n")


def main() -> None:
    items = [load_item(data) for data in json.loads(SESSION.read_text(encoding="utf-8"))]
    report = PIPELINE.dry_run(items, BUDGET)

    room = f"{BUDGET.max_tokens:,} tokens, {BUDGET.output_reserve:,} kept for the answer"
    print(f"CANDIDATES: {report.total_candidates} items, {report.total_tokens_considered:,} tokens")
    print(f"BUDGET: {room}, target {BUDGET.target_tokens:,}")
    print_selected(report)
    print_left_out(report)


if __name__ == "__main__":
    main()
