"""Select the context for the next step of a coding agent, and print the reasons.

Run ``python examples/demo.py``. The session in ``agent_session.json`` is invented: an engineer and an agent investigate
a failing checkout service, and have gathered far more text than the model should read.
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
    """Print the selected items in order, and why the others were left out."""
    items = [from_dict(ContextItem, entry) for entry in json.loads(SESSION.read_text(encoding="utf-8"))]
    print(PIPELINE.dry_run(items, BUDGET).to_text())


if __name__ == "__main__":
    main()
