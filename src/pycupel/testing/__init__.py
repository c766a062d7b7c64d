"""Test your context: assertions about reports, snapshots, and checks for your own strategies.

    report.should().include_item_with_kind("Document").have_no_exclusions_for_kind("SystemPrompt")

Nothing here needs pytest. For pytest there is a plug-in, `pycupel_pytest`, with a fixture and options.

| module      | contents                                                              |
|-------------|-----------------------------------------------------------------------|
| `chain`     | the assertions: the specification's 13, and three of our own          |
| `snapshots` | JSON files to compare reports with, and differences of two reports    |
| `runs`      | `ReportRunner`, which the plug-in's fixture returns, and a fixed clock |
| `_contract` | `check_scorer`, `check_slicer`, `check_placer`, and their inputs      |
"""

from __future__ import annotations

from pycupel.testing._contract import StrategyCheckError, check_placer, check_scorer, check_slicer
from pycupel.testing.chain import SelectionReportAssertionChain, should
from pycupel.testing.runs import (
    FixedTimeProvider,
    ReportRunner,
    SelectionReportAssertionError,
    SelectionReportAssertionException,
)

__all__ = [
    "FixedTimeProvider",
    "ReportRunner",
    "SelectionReportAssertionChain",
    "SelectionReportAssertionError",
    "SelectionReportAssertionException",
    "StrategyCheckError",
    "check_placer",
    "check_scorer",
    "check_slicer",
    "should",
]
