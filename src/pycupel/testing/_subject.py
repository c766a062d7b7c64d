"""The report that a chain of assertions is about, and what they share: looking into it, and failing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from pycupel.diagnostics import SelectionReport
from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import wrong_type
from pycupel.testing._arguments import checked_predicate
from pycupel.testing._listing import listing
from pycupel.testing.errors import SelectionReportAssertionError

__all__ = ["ReportSubject"]

# Tracebacks of pytest end where a test calls an assertion, not in here.
__tracebackhide__ = True

_ABOUT_ITEM = 'lambda item: "refund" in item.content'


@dataclass(frozen=True, slots=True)
class ReportSubject:
    report: SelectionReport

    def __post_init__(self) -> None:
        if not isinstance(cast(Any, self.report), SelectionReport):
            raise wrong_type("report", "a SelectionReport", self.report)

    def _excluded_matching(self, predicate: Callable[[ContextItem], object]) -> list[int]:
        checked_predicate(predicate, _ABOUT_ITEM)
        return [i for i, entry in enumerate(self.report.excluded) if predicate(entry.item)]

    def _excluded_listing(self, matched: list[int]) -> str:
        excluded = self.report.excluded
        return listing("Excluded, and matching", excluded, matched) or listing("Excluded", excluded)

    def _budget(self, budget: Any) -> ContextBudget:
        if isinstance(budget, ContextBudget):
            return budget
        if budget is not None:
            raise wrong_type("budget", "a ContextBudget", budget)
        if self.report.budget is None:
            raise InvalidArgumentError("the report does not know its budget; pass one", argument="budget")
        return self.report.budget

    def _failure(
        self, message: str, *, expected: object, actual: object, note: str = ""
    ) -> SelectionReportAssertionError:
        assertion = message.partition(" ")[0].partition("(")[0]
        return SelectionReportAssertionError(
            message, assertion=assertion, expected=expected, actual=actual, report=self.report, note=note
        )
