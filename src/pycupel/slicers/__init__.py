"""The slicers: they drop, and nothing else.

| slicer | selects |
|---|---|
| `GreedySlice` | by score per token, where a long top hit can lose to many short, weak items, or by score |
| `KnapsackSlice` | the combination with the highest total score: best when the budget is tight |
| `StreamSlice` | by score, batch by batch, until the budget is full: for items that are still coming in |
| `QuotaSlice` | within shares of the budget for each kind, through another slicer |
| `CountQuotaSlice` | a minimum and a maximum number of items of a kind, through another slicer |
| `CountConstrainedKnapsackSlice` | the same, through a knapsack |
| `MinScoreSlice` | nothing below a minimum score, through another slicer (an extension) |
"""

from __future__ import annotations

from pycupel.slicers._base import IndexSlice, exclusion_notes, slice_by_index
from pycupel.slicers.count_constrained_knapsack import CountConstrainedKnapsackSlice
from pycupel.slicers.count_quota import CountQuotaSlice
from pycupel.slicers.greedy import GreedySlice
from pycupel.slicers.knapsack import KnapsackSlice
from pycupel.slicers.min_score import MinScoreSlice
from pycupel.slicers.quota import QuotaSlice
from pycupel.slicers.stream import StreamSlice

__all__ = [
    "CountConstrainedKnapsackSlice",
    "CountQuotaSlice",
    "GreedySlice",
    "IndexSlice",
    "KnapsackSlice",
    "MinScoreSlice",
    "QuotaSlice",
    "StreamSlice",
    "exclusion_notes",
    "slice_by_index",
]
