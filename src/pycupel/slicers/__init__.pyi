from pycupel.slicers.counts import (
    CountConstrainedKnapsackSlice as CountConstrainedKnapsackSlice,
    CountQuotaSlice as CountQuotaSlice,
)
from pycupel.slicers.greedy import (
    GreedySlice as GreedySlice,
    MinScoreSlice as MinScoreSlice,
    StreamSlice as StreamSlice,
)
from pycupel.slicers.knapsack import KnapsackSlice as KnapsackSlice
from pycupel.slicers.quota import QuotaSlice as QuotaSlice
