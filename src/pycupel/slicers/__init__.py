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

from pycupel.lazy import load_when_used

__all__, __getattr__, __dir__ = load_when_used(__name__)
