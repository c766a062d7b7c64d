"""The base of the assertion chain: its report, lookups in it, and failures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self, cast

from pycupel.diagnostics import ExcludedItem, IncludedItem, SelectionReport
from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import wrong_type
from pycupel.testing._arguments import check_predicate, hiding
from pycupel.testing._listing import listing
from pycupel.testing.errors import SelectionReportAssertionError
from pycupel.values import sealed

# Makes pytest tracebacks end at the assertion in the test, not in this module.
__tracebackhide__ = True

_ITEM_PREDICATE = 'lambda item: "refund" in item.content'


@sealed
@dataclass(frozen=True, slots=True)
class ReportSubject:
    """The subject of assertions."""

    report: SelectionReport
    """The report that the assertions are about."""

    def __post_init__(self) -> None:
        if not isinstance(cast(Any, self.report), SelectionReport):
            raise wrong_type("report", "a SelectionReport", self.report)

    def _expect(
        self,
        holds: object,
        message: str,
        *,
        expected: object,
        actual: object,
        listed: tuple[str, Sequence[IncludedItem | ExcludedItem], Sequence[int] | None] | None = None,
    ) -> Self:
        """Fail with the message and a table of entries, unless the assertion holds."""
        if holds:
            return self
        raise SelectionReportAssertionError(
            message,
            assertion=message.partition(" ")[0].partition("(")[0],
            expected=expected,
            actual=actual,
            report=self.report,
            note=listing(*listed) if listed else "",
        )

    def _excluded_matching(
        self, predicate: Callable[[ContextItem], object]
    ) -> tuple[Sequence[ExcludedItem], list[int]]:
        """Return the excluded items, and the indices of those that satisfy the predicate."""
        check_predicate(predicate, _ITEM_PREDICATE)
        excluded = self.report.excluded
        return excluded, [i for i, entry in enumerate(excluded) if predicate(entry.item)]

    def _budget(self, budget: Any) -> ContextBudget:
        if budget is not None:
            return hiding(ContextBudget.of, budget)
        if self.report.budget is None:
            raise InvalidArgumentError("the report has no budget; pass one", argument="budget")
        return self.report.budget
