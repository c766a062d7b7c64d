from pycupel.testing._contract import (
    FixedTimeProvider as FixedTimeProvider,
    StrategyCheckError as StrategyCheckError,
    check_placer as check_placer,
    check_scorer as check_scorer,
    check_slicer as check_slicer,
)
from pycupel.testing.chain import SelectionReportAssertionChain as SelectionReportAssertionChain, should as should
from pycupel.testing.reports import (
    ReportRunner as ReportRunner,
    SelectionReportAssertionError as SelectionReportAssertionError,
    SelectionReportAssertionException as SelectionReportAssertionException,
)
