"""Choose what a coding agent shows its model next, and say why.

Run ``python examples/demo.py``. The session beside this file is invented: an engineer and an agent look for the cause
of a failing checkout service, and have gathered far more text than the model should read.
"""

import json
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


def main() -> None:
    """Select, and print what is in, in order, and why the rest is not."""
    items = [from_dict(ContextItem, entry) for entry in json.loads(SESSION.read_text(encoding="utf-8"))]
    print(PIPELINE.dry_run(items, BUDGET).to_text())


if __name__ == "__main__":
    main()
