"""`ReportRunner`, the value of the fixture `cupel_report`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from pycupel.diagnostics import SelectionReport
from pycupel.errors import CupelError
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import refuse_class, wrong_type
from pycupel.pipeline import Pipeline, Policy, PresetName
from pycupel.pipeline.policy import as_policy
from pycupel.protocols import Scorer, Shortener
from pycupel.render._layout import plural
from pycupel.testing._arguments import hiding

# Tracebacks of pytest end where a test calls the fixture, not in here.
__tracebackhide__ = True

_Choice: TypeAlias = Policy | Scorer | PresetName


class ReportRunner:
    """Runs pipelines without side effects and keeps their reports, so that the plug-in can save them if a test fails.

    Args:
        default: What to run by default: a pipeline, a policy, the name of a preset, or a scorer.
    """

    reports: list[SelectionReport]
    """The reports so far, in the order of the calls."""

    def __init__(self, default: _Choice = "chat") -> None:
        self._default = _pipeline("default", default)
        self.reports = []

    def __call__(
        self,
        items: Iterable[ContextItem],
        budget: ContextBudget | int,
        pipeline: _Choice | None = None,
        *,
        query: str | None = None,
        shorten: Shortener | None = None,
    ) -> SelectionReport:
        """Dry-run a pipeline and return its report.

        Args:
            items: The candidates, in any iterable.
            budget: The limits, or just a number of tokens.
            pipeline: What to run instead of the default: a pipeline, a policy, the name of a preset, or a scorer for a
                pipeline with defaults.
            query: The question that the selection should be relevant to, for scorers that take one.
            shorten: Makes shorter versions of the items, as for `select`. It replaces the pipeline's own.
        """
        runner = self._default if pipeline is None else hiding(_pipeline, "pipeline", pipeline)
        if shorten is not None:
            runner = hiding(partial(replace, runner, shorten=shorten))
        limits = hiding(ContextBudget.of, budget)
        try:
            report = runner.dry_run(items, limits, query=query)
        except CupelError as error:
            # It says what is wrong. An error of a strategy's own needs its traceback.
            raise error.with_traceback(None)  # noqa: B904
        self.reports.append(report)
        return report

    def __repr__(self) -> str:
        return f"<ReportRunner: {plural(len(self.reports), 'report')}>"


def _pipeline(name: str, choice: Any) -> Pipeline:
    if isinstance(choice, (Policy, str)):
        return Pipeline.from_policy(as_policy(choice, name))
    refuse_class(name, choice)
    if not isinstance(choice, Scorer):
        raise wrong_type(name, "a Policy, a Pipeline, the name of a preset or a scorer", choice)
    return Pipeline(choice)
