"""The error that assertions about a report raise."""

from __future__ import annotations

from pycupel.diagnostics import SelectionReport


class SelectionReportAssertionError(AssertionError):
    """A report is not what a test expects. It is an `AssertionError`, so test runners count a failure, not an error.

    The text is the specification's message. A note, which every traceback shows, lists the entries concerned; those of
    `include_item_matching` are in the text itself.
    """

    # The public path, short enough for a line of a traceback.
    __module__ = "pycupel.testing"

    assertion: str
    """The assertion's name in the specification, such as `IncludeItemWithKind`."""

    expected: object
    """What the test expects: a kind, a count, or positions, depending on the assertion."""

    actual: object
    """What was found instead."""

    report: SelectionReport | None
    """The report, or None if it is not known."""

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


# The name in the specification.
SelectionReportAssertionException = SelectionReportAssertionError
