"""Tests of your context: assertions about reports, snapshots, and checks for strategies of your own.

    report.should().include_item_with_kind("Document").have_no_exclusions_for_kind("SystemPrompt")

Nothing here needs pytest. The plug-in `pycupel_pytest`, which pytest finds by itself, adds a fixture and options.

| module        | holds                                                         |
|---------------|---------------------------------------------------------------|
| `chain`       | the 13 assertions of the specification, and `match_snapshot`  |
| `_subject`    | the report that they are about, and how they fail             |
| `errors`      | their failure                                                 |
| `_arguments`  | what assertions take, checked at the door                     |
| `_edges`      | which positions are edges, and whose they are                 |
| `_listing`    | kinds, reasons and entries, as failures name them             |
| `_difference` | what is different between two reports                         |
| `snapshots`   | JSON files with which tests compare reports                   |
| `runs`        | what the plug-in's fixture gives to a test                    |
| `_artifacts`  | the reports of a failing test as files                        |
| `checks`      | `check_scorer`, `check_slicer`, `check_placer`                |
| `clock`       | `FixedTimeProvider`                                           |
"""

from __future__ import annotations

from pycupel.testing.chain import SelectionReportChain, should
from pycupel.testing.checks import StrategyCheckError, check_placer, check_scorer, check_slicer
from pycupel.testing.clock import FixedTimeProvider
from pycupel.testing.errors import SelectionReportAssertionError, SelectionReportAssertionException
from pycupel.testing.runs import ReportRunner

__all__ = [
    "FixedTimeProvider",
    "ReportRunner",
    "SelectionReportAssertionError",
    "SelectionReportAssertionException",
    "SelectionReportChain",
    "StrategyCheckError",
    "check_placer",
    "check_scorer",
    "check_slicer",
    "should",
]
