"""The pytest plug-in of pycupel. `pytest -p no:pycupel` turns it off.

pytest loads it in every run in the same environment, so it imports pycupel only when a test uses it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pycupel.testing import ReportRunner, SelectionReportAssertionError

pytest.register_assert_rewrite("pycupel.testing")

_RUNNER = pytest.StashKey["ReportRunner"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options `--cupel-update-snapshots` and `--cupel-report-dir`."""
    group = parser.getgroup("pycupel", "context selection (pycupel)")
    group.addoption(
        "--cupel-update-snapshots",
        action="store_true",
        help="rewrite the snapshots of `report.should().match_snapshot(...)`",
    )
    group.addoption(
        "--cupel-report-dir",
        metavar="DIR",
        help="write the selection reports of each failing test to DIR, as JSON, text and HTML",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Tell snapshots to update, if the option is set."""
    if config.getoption("cupel_update_snapshots"):
        # Snapshots also work without pytest, so they read only the variable.
        environment = pytest.MonkeyPatch()
        environment.setenv("CUPEL_UPDATE_SNAPSHOTS", "1")
        config.add_cleanup(environment.undo)


@pytest.fixture
def cupel_pipeline() -> Any:
    """What `cupel_report` runs by default: the preset `chat`. Override it in your `conftest.py`."""
    return "chat"


@pytest.fixture
def cupel_report(request: pytest.FixtureRequest, cupel_pipeline: Any) -> ReportRunner:
    """Run a pipeline dry and get its report: `cupel_report(items, budget, pipeline)`.

    The budget is a `ContextBudget` or a number of tokens. The pipeline is a `Pipeline`, a `Policy`, a preset's name or
    a scorer; by default it is `cupel_pipeline`. With `--cupel-report-dir`, the reports of a failing test are saved.
    """
    from pycupel.testing import ReportRunner  # noqa: PLC0415

    runner = request.node.stash[_RUNNER] = ReportRunner(cupel_pipeline)
    return runner


def pytest_assertrepr_compare(op: str, left: Any, right: Any) -> list[str] | None:
    """Explain why `assert left == right` failed for two reports."""
    diagnostics = sys.modules.get("pycupel.diagnostics")
    if op != "==" or diagnostics is None:
        return None
    if not isinstance(left, diagnostics.SelectionReport) or not isinstance(right, diagnostics.SelectionReport):
        return None
    from pycupel.testing.reports import explain_inequality  # noqa: PLC0415

    return explain_inequality(left, right)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Show the message of a failed assertion in the summary, and save the reports of a failing test."""
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    if report.failed and call.excinfo is not None:
        failure = _failure(call.excinfo.value)
        if failure is not None:
            _shorten_summary(report, failure)
        directory = item.config.getoption("cupel_report_dir")
        if directory:
            _save_reports(item, report, failure, directory)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the snapshots that this run wrote."""
    snapshots = sys.modules.get("pycupel.testing.reports")
    written = [path for path, is_new in snapshots.USED.items() if is_new] if snapshots else []
    if written:
        terminalreporter.section("cupel snapshots written", sep="-")
        for path in written:
            terminalreporter.line(_shown(terminalreporter.config, str(path)))


def _failure(error: Any) -> SelectionReportAssertionError | None:
    """The error, if an assertion about a report raised it."""
    errors = sys.modules.get("pycupel.testing.reports")
    return error if errors and isinstance(error, errors.SelectionReportAssertionError) else None


def _shorten_summary(report: pytest.TestReport, failure: SelectionReportAssertionError) -> None:
    """Leave out the error's name, so that its message fits into the summary line."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        crash.message = str(failure)


def _save_reports(
    item: pytest.Item, report: pytest.TestReport, failure: SelectionReportAssertionError | None, directory: str
) -> None:
    runner = item.stash.get(_RUNNER, None)
    reports = [*runner.reports] if runner else []
    if failure is not None and failure.report is not None and not any(failure.report is each for each in reports):
        reports.append(failure.report)
    if reports:
        from pycupel.testing.reports import save_reports  # noqa: PLC0415

        lines = save_reports(reports, item.config.invocation_params.dir / directory, item.nodeid)
        report.sections.append(("cupel reports", "\n".join(_shown(item.config, line) for line in lines)))


def _shown(config: pytest.Config, path: str) -> str:
    return path.removeprefix(f"{config.invocation_params.dir}{os.sep}")
