"""The slicers, which select the items that fit into the budget.

| slicer | selects |
|---|---|
| `GreedySlice` | by score per token; a long top hit can lose to many short weak ones. `cost_exponent=0`: by score |
| `KnapsackSlice` | the combination with the highest total score; best when the budget is tight |
| `StreamSlice` | by score, batch by batch, until the budget is full; for items that are still arriving |
| `QuotaSlice` | every kind, listed or not, gets a fixed share; unused share stays empty unless `redistribute=True` |
| `CountQuotaSlice` | a minimum and a maximum number of items of a kind; another slicer selects the rest |
| `CountConstrainedKnapsackSlice` | the same, with a knapsack for the rest |
| `MinScoreSlice` | nothing below a minimum score; another slicer selects the rest (an extension) |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pycupel.lazy import load_when_used, public_names

if TYPE_CHECKING:
    from pycupel.slicers.counts import (
        CountConstrainedKnapsackSlice as CountConstrainedKnapsackSlice,
        CountQuotaSlice as CountQuotaSlice,
    )
    from pycupel.slicers.greedy import GreedySlice as GreedySlice, MinScoreSlice as MinScoreSlice
    from pycupel.slicers.knapsack import KnapsackSlice as KnapsackSlice
    from pycupel.slicers.quota import QuotaSlice as QuotaSlice
    from pycupel.slicers.stream import StreamSlice as StreamSlice
else:
    # Imported on first use, because a program needs only a few of them.
    _NAMES = {
        ".counts": "CountConstrainedKnapsackSlice CountQuotaSlice",
        ".greedy": "GreedySlice MinScoreSlice",
        ".knapsack": "KnapsackSlice",
        ".quota": "QuotaSlice",
        ".stream": "StreamSlice",
    }
    __all__ = public_names(_NAMES)  # noqa: PLE0605 - by the table
    __getattr__, __dir__ = load_when_used(__name__, _NAMES)
