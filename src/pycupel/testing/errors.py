"""The failure of an assertion about a report."""

from __future__ import annotations

from pycupel.diagnostics import SelectionReport

__all__ = ["SelectionReportAssertionError", "SelectionReportAssertionException"]


class SelectionReportAssertionError(AssertionError):
    """A report is not what a test expects. Test runners show a failure, because it is an `AssertionError` (TV-09).

    The text is the specification's message. What else helps to find the cause follows as a note, which every
    traceback shows.

    Attributes:
        assertion: The assertion as the specification calls it, like `IncludeItemWithKind`.
        expected: What the test expects, in the terms of that assertion: a kind, a count, positions.
        actual: What is there instead, in the same terms.
        report: The report in question.
    """

    # Where users find it, and short enough for a line of a traceback.
    __module__ = "pycupel.testing"

    def __init__(
        self,
        message: str,
        *,
        assertion: str = "",
        expected: object = None,
        actual: object = None,
        report: SelectionReport | None = None,
        note: str = "",
    ) -> None:
        super().__init__(message)
        self.assertion = assertion
        self.expected = expected
        self.actual = actual
        self.report = report
        if note:
            self.add_note(note)


# The specification's name.
SelectionReportAssertionException = SelectionReportAssertionError
