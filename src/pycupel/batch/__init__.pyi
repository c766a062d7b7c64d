from pycupel.batch.arrow import select_batch as select_batch
from pycupel.batch.request import (
    BatchSummary as BatchSummary,
    ItemDifference as ItemDifference,
    select_request as select_request,
)
from pycupel.batch.run import run_batch as run_batch
