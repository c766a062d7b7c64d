"""`ReportRunner`: what the fixture `cupel_report` gives to a test."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from pycupel.diagnostics import SelectionReport
from pycupel.model import ContextBudget, ContextItem
from pycupel.pipeline import Pipeline, Policy, PresetName
from pycupel.protocols import Scorer
from pycupel.render._layout import plural

__all__ = ["ReportRunner"]

_Choice: TypeAlias = Policy | Scorer | PresetName


class ReportRunner:
    """Runs pipelines dry, and remembers their reports for the case that the test fails.

    Attributes:
        reports: What it has returned so far.
    """

    def __init__(self, default: _Choice = "chat") -> None:
        self._default: _Choice = default
        self.reports: list[SelectionReport] = []

    def __call__(
        self, items: Iterable[ContextItem], budget: ContextBudget | int, pipeline: _Choice | None = None
    ) -> SelectionReport:
        """The report of a dry run.

        Args:
            items: The candidates.
            budget: The budget, or just a number of tokens.
            pipeline: What runs: a pipeline, a policy, the name of a preset, or a scorer with nothing else.
        """
        runner = _pipeline(self._default if pipeline is None else pipeline)
        report = runner.dry_run(items, budget)
        self.reports.append(report)
        return report

    def __repr__(self) -> str:
        return f"<ReportRunner: {plural(len(self.reports), 'report')}>"


def _pipeline(choice: _Choice) -> Pipeline:
    if isinstance(choice, Pipeline):
        return choice
    return Pipeline.from_policy(choice) if isinstance(choice, (Policy, str)) else Pipeline(choice)
