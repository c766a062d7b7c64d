"""Test your context: assertions about reports, snapshots, and checks for your own strategies.

    report.should().include_item_with_kind("Document").have_no_exclusions_for_kind("SystemPrompt")

Nothing here needs pytest. For pytest there is a plug-in, `pycupel_pytest`, with a fixture and options.

| module        | contents                                                      |
|---------------|---------------------------------------------------------------|
| `chain`       | the assertions: the specification's 13, and three of our own  |
| `_subject`    | the report that they are about, and how they fail             |
| `errors`      | the error that they raise                                     |
| `_arguments`  | checks of their arguments                                     |
| `_edges`      | edge positions, and the scores that belong there              |
| `_listing`    | kinds, reasons and entries, as failures show them             |
| `_difference` | the differences between two reports                           |
| `snapshots`   | JSON files to compare reports with                            |
| `runs`        | `ReportRunner`, which the plug-in's fixture returns           |
| `_artifacts`  | the reports of a failing test as files                        |
| `checks`      | `check_scorer`, `check_slicer`, `check_placer`                |
| `_contract`   | what they check                                               |
| `_samples`    | the inputs that they use                                      |
| `clock`       | `FixedTimeProvider`                                           |
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
