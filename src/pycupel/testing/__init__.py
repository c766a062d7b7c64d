"""Test your context: assertions about reports, snapshots, and checks for your own strategies.

    report.should().include_item_with_kind("Document").have_no_exclusions_for_kind("SystemPrompt")

Nothing here needs pytest. For pytest there is a plug-in, `pycupel_pytest`, with a fixture and options.

| module      | contents                                                                              |
|-------------|---------------------------------------------------------------------------------------|
| `chain`     | the assertions: the specification's 13, and three of our own                          |
| `reports`   | `ReportRunner`, which the plug-in's fixture returns; snapshots, and their differences |
| `_contract` | `check_scorer`, `check_slicer`, `check_placer`, and their inputs; a fixed clock       |
"""

from __future__ import annotations

from pycupel.lazy import load_when_used

__all__, __getattr__, __dir__ = load_when_used(__name__)
