"""The pytest plug-in, used as people use it: by pytest."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    KindScorer,
    Pipeline,
    Policy,
    PriorityScorer,
    SelectionReport,
    UShapedPlacer,
    select,
)
from pycupel.diagnostics import ExclusionReason
from pycupel.errors import InvalidArgumentError
from pycupel.shorten import HeadAndTail
from pycupel.testing import ReportRunner
from pycupel.testing.reports import save_reports
from pycupel.wire import loads
from tests.testing.reports import dropped, kept, report_of

USES_IT = """
import pytest
from pycupel import ContextItem, PriorityScorer

ITEMS = [
    ContextItem("What does E42 mean?", 30, priority=3),
    ContextItem("E42: the pump has lost pressure.", 60, kind="Document", priority=2),
    ContextItem("Parts list of the whole plant.", 130, kind="Document", priority=1),
]

@pytest.fixture
def report(cupel_report):
    return cupel_report(ITEMS, 100, PriorityScorer())
"""


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """80 columns, and not in CI, where pytest shortens nothing."""
    monkeypatch.setenv("COLUMNS", "80")
    for variable in ("CI", "BUILD_NUMBER", "CUPEL_UPDATE_SNAPSHOTS", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(variable, raising=False)


def run(pytester: pytest.Pytester, code: str, *options: str, alone: bool = False) -> pytest.RunResult:
    """With no other plug-in: loading those that the tests use takes longer than all the rest.

    Tests that write snapshots run alone, in a new process, because which snapshots were written is known until it ends.
    """
    pytester.makepyfile(test_it=USES_IT + code)
    start = pytester.runpytest_subprocess if alone else pytester.runpytest_inprocess
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        return start("-p", "no:cacheprovider", "-p", "pycupel_pytest", *options)


def files_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


# --- what it costs those who do not use it


def test_a_run_that_uses_none_of_it_loads_nothing_of_pycupel(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_nothing_of_pycupel_is_loaded(request):
            assert request.config.pluginmanager.hasplugin("pycupel")
            assert "pycupel_pytest" in sys.modules
            assert not [name for name in sys.modules if name.partition(".")[0] == "pycupel"]

        def test_a_failure_and_a_comparison_load_nothing_either():
            try:
                assert [1, 2] == [1, 3]
            finally:
                test_nothing = [name for name in sys.modules if name.partition(".")[0] == "pycupel"]
                print("loaded:", test_nothing)

        def test_at_last():
            assert not [name for name in sys.modules if name.partition(".")[0] == "pycupel"]
        """
    )
    result = pytester.runpytest_subprocess("--cupel-report-dir", "reports", "--cupel-update-snapshots")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*At index 1 diff: 2 != 3*", "loaded: []"])
    assert not (pytester.path / "reports").exists()


def test_the_plug_in_imports_only_what_pytest_has_loaded_already() -> None:
    code = "import pytest, sys; before = {*sys.modules}; import pycupel_pytest; print({*sys.modules} - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "{'pycupel_pytest'}\n"


def test_it_can_be_turned_off(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one(cupel_report): pass")
    result = pytester.runpytest_subprocess("-p", "no:pycupel")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fixture 'cupel_report' not found"])
    result = pytester.runpytest_subprocess("-p", "no:pycupel", "--cupel-update-snapshots")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_the_options_are_in_the_help(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--help")
    result.stdout.fnmatch_lines(["*pycupel*:", "*--cupel-update-snapshots*", "*--cupel-report-dir=DIR*"])


# --- failures of assertions


MEMORY = (
    "IncludeItemWithKind(Memory) failed: Included contained 0 items with Kind=Memory. "
    "Included had 2 items with kinds: [[]Message, Document[]]."
)


def test_a_failure_ends_at_the_line_of_the_test(pytester: pytest.Pytester) -> None:
    """And nothing is saved, unless asked for."""
    result = run(
        pytester,
        """
def test_memory(report):
    chain = report.should()
    chain.include_item_with_kind("Document").include_item_with_kind("Memory")
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "    def test_memory(report):",
            "        chain = report.should()",
            '>       chain.include_item_with_kind("Document").include_item_with_kind("Memory")',
            f"E       pycupel.testing.SelectionReportAssertionError: {MEMORY}",
            "E       Included:",
            "E         idx  kind      tokens  score  reason  content",
            "E           0  Message       30      1  Scored  What does E42 mean?",
            "E           1  Document      60    0.5  Scored  E42: the pump has lost pressure.",
            "",
            "test_it.py:*: SelectionReportAssertionError",
            "=* short test summary info *=",
            "FAILED test_it.py::test_memory - IncludeItemWithKind(Memory) failed: Included...",
        ],
        consecutive=True,
    )
    assert not list(pytester.path.rglob("*.json"))


CALLS = {
    "have_at_least_n_exclusions(9)": "HaveAtLeastNExclusions(9) failed: *",
    "exclude_item_matching_with_reason(bool, 'Filtered')": "ExcludeItemMatchingWithReason(reason=Filtered) failed: *",
    "have_at_least_n_exclusions('9')": "TypeError: n must be an int, not '9' (str)",
    "include_item_with_kind(' ')": "InvalidItemError: ContextKind must not be empty or blank",
    "include_item_with_kind(3)": "TypeError: kind must be a str or a ContextKind, not 3 (int)",
    "exclude_item_with_reason('Rusty')": "InvalidArgumentError: unknown exclusion reason 'Rusty'",
    "have_budget_utilization_above(float('nan'))": "InvalidArgumentError: threshold must be finite, not nan",
    "include_item_matching(None)": "TypeError: predicate must be a function like *",
    "match_snapshot('a/b')": "InvalidArgumentError: 'a/b' cannot be used as a file name",
}


def test_no_frame_of_pycupel_is_shown(pytester: pytest.Pytester) -> None:
    """Neither for failures nor for wrong arguments; and the summary has room for the message."""
    code = "\n".join(f"def test_{i}(report):\n    report.should().{call}\n" for i, call in enumerate(CALLS))
    result = run(pytester, code, "--tb=short")
    result.assert_outcomes(failed=len(CALLS))
    for i, (call, line) in enumerate(CALLS.items()):
        result.stdout.fnmatch_lines(
            [f"test_it.py:*: in test_{i}", f"    report.should().{call}", f"E   *{line}"], consecutive=True
        )
    assert not [line for line in result.outlines if re.search(r"pycupel.*\.py:", line)]
    result.stdout.fnmatch_lines(["FAILED test_it.py::test_0 - HaveAtLeastNExclusions(9) failed: expected at lea..."])


RUNS = {
    "cupel_report(ITEMS, '8k')": "TypeError: budget must be a ContextBudget or an int, not '8k' (str)",
    "cupel_report(ITEMS, 9, 'chatt')": "InvalidArgumentError: unknown preset 'chatt'; choose from *",
    "cupel_report([ContextItem('a', 9, pinned=True)], 5)": "PinnedExceedsBudgetError: Pinned items require 9 *",
}


def test_no_frame_of_pycupel_is_shown_for_a_run_that_fails(pytester: pytest.Pytester) -> None:
    code = "\n".join(f"def test_{i}(cupel_report):\n    {call}\n" for i, call in enumerate(RUNS))
    result = run(pytester, code, "--tb=short")
    result.assert_outcomes(failed=len(RUNS))
    for i, (call, line) in enumerate(RUNS.items()):
        result.stdout.fnmatch_lines([f"test_it.py:*: in test_{i}", f"    {call}", f"E   *{line}"], consecutive=True)
    assert not [line for line in result.outlines if re.search(r"pycupel.*\.py:", line)]


def test_an_error_of_a_scorer_shows_the_scorer(pytester: pytest.Pytester) -> None:
    code = (
        "class Broken:\n    def score(self, item, all_items):\n        return len(3)\n\n"
        "def test_it(cupel_report):\n    cupel_report(ITEMS, 100, Broken())\n"
    )
    result = run(pytester, code, "--tb=short")
    result.stdout.fnmatch_lines(
        ["test_it.py:*: in test_it", "test_it.py:*: in score", "E   TypeError: object of type*"]
    )


def test_an_error_of_a_predicate_shows_the_predicate(pytester: pytest.Pytester) -> None:
    code = "def test_it(report):\n    report.should().include_item_matching(lambda i: i.content)\n"
    result = run(pytester, code, "--tb=short")
    result.stdout.fnmatch_lines(["test_it.py:*: in test_it", "test_it.py:*: in <lambda>"])
    result.stdout.fnmatch_lines(["E   AttributeError: 'IncludedItem' object has no attribute 'content'"])


def test_other_ways_to_show_a_failure_are_left_alone(pytester: pytest.Pytester) -> None:
    """A plug-in may have replaced what pytest shows by a plain text."""
    pytester.makeconftest("def pytest_runtest_setup(item): item.repr_failure = lambda error: f'plain: {error.value}'")
    result = run(pytester, "def test_it(report):\n    report.should().have_kind_coverage_count(9)\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["plain: HaveKindCoverageCount(9) failed: *"])


# --- the fixture


def test_the_fixture_runs_pipelines(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
from pycupel import ContextBudget, Pipeline, Policy
from pycupel.testing import ReportRunner

def test_a_scorer(cupel_report):
    report = cupel_report(ITEMS, 100, PriorityScorer())
    assert report.budget == ContextBudget(100)
    report.should().have_at_least_n_exclusions(1)

def test_others(cupel_report: ReportRunner):
    scorer = PriorityScorer()
    for pipeline in (Pipeline(scorer), Policy(scorer), "rag", None):
        assert cupel_report(iter(ITEMS), ContextBudget(400), pipeline).items
    assert len(cupel_report.reports) == 4

def test_the_memory_is_that_of_one_test(cupel_report):
    assert cupel_report.reports == []

def test_assertions_in_the_package_explain_themselves():
    import pycupel.testing.chain
    assert type(pycupel.testing.chain.__loader__).__name__ == "AssertionRewritingHook"
""",
    )
    result.assert_outcomes(passed=4)


def test_a_project_has_its_own_pipeline(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture
        def cupel_pipeline():
            from pycupel import KindScorer, Pipeline, UShapedPlacer
            return Pipeline(KindScorer({"Document": 1.0}), placer=UShapedPlacer())
        """
    )
    result = run(
        pytester,
        """
def test_it(cupel_report):
    cupel_report(ITEMS, 100).should().place_item_at_edge(lambda i: i.item.kind == "Document")
    assert [i.score for i in cupel_report(ITEMS, 400).included] == [1, 0, 1]
""",
    )
    result.assert_outcomes(passed=1)


# --- comparisons


def test_equal_reports_are_explained_by_their_difference(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
def test_budget(report, cupel_report):
    assert report == cupel_report(ITEMS, 80, PriorityScorer())

def test_time(report, cupel_report):
    assert report == cupel_report(ITEMS, 100, PriorityScorer())

def test_something_else(report):
    assert report == 3

def test_not_equal(report):
    assert report != report
""",
    )
    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(
        [
            "E       *assert <report: 2 of 3 items> == <report: 1 of 3 items>",
            "E         selected on the left only:",
            "E           Document 'E42: the pump has lost ...' (BudgetExceeded)",
            "E         with another reason:",
            "E           Document 'Parts list of the whole...':",
            "E             BudgetExceeded(item_tokens=130, available_tokens=10)",
            "E             != BudgetExceeded(item_tokens=130, available_tokens=50)",
        ],
        consecutive=True,
    )
    result.stdout.fnmatch_lines(
        ["E       assert <report: 2 of 3 items> == <report: 2 of 3 items>", "E         The selections are the same;*"]
    )
    result.stdout.fnmatch_lines(["E       *assert <SelectionReport: 2 of 3 items, 90 of 220 tokens> == 3"])
    result.stdout.no_fnmatch_line("*<report:*!=*")


# --- snapshots


def test_a_snapshot_is_written_compared_and_updated(pytester: pytest.Pytester) -> None:
    code = "def test_it(cupel_report):\n    cupel_report(ITEMS, {}).should().match_snapshot('pump')\n"
    first = run(pytester, code.format(100), alone=True)
    first.assert_outcomes(passed=1)
    first.stdout.fnmatch_lines(
        ["-* cupel snapshots written *-", str(Path("__snapshots__/pump.json"))], consecutive=True
    )

    again = run(pytester, code.format(100), alone=True)
    again.assert_outcomes(passed=1)
    again.stdout.no_fnmatch_line("*cupel snapshots*")

    other = run(pytester, code.format(80), alone=True)
    other.assert_outcomes(failed=1)
    other.stdout.fnmatch_lines(
        [
            "E       *MatchSnapshot(pump) failed: the selection differs from __snapshots__/pump.json.",
            "E       --- snapshot",
            "E       +++ now",
            "E       @@ *",
        ],
        consecutive=True,
    )
    other.stdout.fnmatch_lines(["E       If the selection is right, run pytest with --cupel-update-snapshots,"])

    update = run(pytester, code.format(80), "--cupel-update-snapshots", alone=True)
    update.assert_outcomes(passed=1)
    update.stdout.fnmatch_lines(["-* cupel snapshots written *-"])


def test_parametrised_tests_cannot_share_a_snapshot(pytester: pytest.Pytester) -> None:
    code = """
@pytest.mark.parametrize("budget", [100, 80])
def test_it(cupel_report, budget):
    cupel_report(ITEMS, budget).should().match_snapshot("pump")
"""
    result = run(pytester, code, "--cupel-update-snapshots", alone=True)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["E       Another test in this run uses a snapshot of the same name: use a different name in each."]
    )


def test_ci_does_not_write_snapshots(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    code = "def test_it(report):\n    report.should().match_snapshot('pump')\n"
    result = run(pytester, code, alone=True)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E       *MatchSnapshot(pump) failed: __snapshots__/pump.json does not exist, and snapshots are *"]
    )
    run(pytester, code, "--cupel-update-snapshots", alone=True).assert_outcomes(passed=1)


def test_the_flag_ends_with_the_run(pytester: pytest.Pytester) -> None:
    """For programs that run pytest, and go on."""
    pytester.makepyfile(test_it="def test_it(): pass")
    pytester.makepyfile(
        program="""
        import os, sys, pytest
        assert pytest.main(["-q", "-p", "no:cacheprovider", "--cupel-update-snapshots", "test_it.py"]) == 0
        assert "CUPEL_UPDATE_SNAPSHOTS" not in os.environ
        """
    )
    assert pytester.runpython(pytester.path / "program.py").ret == 0


# --- reports of failing tests


def test_the_reports_of_failing_tests_are_saved(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
from pycupel import ContextBudget, Pipeline

def test_passes(report):
    report.should().include_item_with_kind("Document")

def test_fixture(report):
    assert report.items == []

def test_chain():
    Pipeline(PriorityScorer()).dry_run(ITEMS, ContextBudget(80)).should().have_kind_coverage_count(9)

def test_both(report):
    report.should().have_kind_coverage_count(9)

@pytest.mark.parametrize("name", ["a/b c"])
def test_several(report, cupel_report, name):
    other = cupel_report(ITEMS, 80)
    Pipeline(PriorityScorer()).dry_run(ITEMS, ContextBudget(400)).should().have_kind_coverage_count(9)

class TestClass:
    def test_setup(self, report, broken): pass

@pytest.fixture
def broken(report):
    raise ValueError

@pytest.mark.xfail
def test_expected(report):
    assert not report

def test_none():
    assert not ITEMS
""",
        "--cupel-report-dir",
        "out/reports",
    )
    result.assert_outcomes(passed=1, failed=5, errors=1, xfailed=1)
    directory = pytester.path / "out" / "reports"
    reports = {
        path.stem: loads(SelectionReport, path.read_text(encoding="utf-8")) for path in sorted(directory.glob("*.json"))
    }
    several = next(name for name in reports if "test_several" in name).removesuffix("-1")
    assert re.fullmatch(r"test_it\.py\.test_several\[a\.b_c\]-[0-9a-f]{8}", several)
    assert {name: len(report.included) for name, report in reports.items()} == {
        "test_it.py.TestClass.test_setup": 2,
        "test_it.py.test_both": 2,
        "test_it.py.test_chain": 1,
        "test_it.py.test_fixture": 2,
        f"{several}-1": 2,
        f"{several}-2": 1,
        f"{several}-3": 3,
    }
    endings = ("json", "txt", "html")
    assert files_in(directory) == sorted(f"{name}.{ending}" for name in reports for ending in endings)
    text = (directory / "test_it.py.test_chain.txt").read_text(encoding="utf-8")
    assert text == reports["test_it.py.test_chain"].to_text() + "\n"
    result.stdout.fnmatch_lines(
        [
            "*_ test_fixture _*",
            "-* cupel reports *-",
            str(Path("out/reports/test_it.py.test_fixture.json")),
            str(Path("out/reports/test_it.py.test_fixture.txt")),
        ],
    )


def test_a_test_that_changes_the_directory_does_not_move_the_reports(pytester: pytest.Pytester) -> None:
    code = "def test_it(report, monkeypatch, tmp_path):\n    monkeypatch.chdir(tmp_path)\n    assert not report\n"
    run(pytester, code, "--cupel-report-dir=out").assert_outcomes(failed=1)
    assert "test_it.py.test_it.json" in files_in(pytester.path / "out")


# --- its parts


def test_a_report_that_cannot_be_written_is_no_second_failure(tmp_path: Path) -> None:
    class Boring(ExclusionReason):
        pass

    lines = save_reports([report_of(excluded=[dropped(reason=Boring())])], tmp_path, "test_a.py::test_b")
    assert lines[0].startswith("test_a.py.test_b.json was not written: excluded[0].reason: must be an exclusion reason")
    assert lines[1] == str(tmp_path / "test_a.py.test_b.txt")


def test_a_directory_that_cannot_be_made_is_no_second_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    lines = save_reports([report_of()], tmp_path / "file" / "reports", "test_a.py::test_b")
    assert all("was not written: " in line for line in lines)


def test_odd_scores_and_texts_are_written(tmp_path: Path) -> None:
    report = report_of([kept(score=float("nan"), content="na\u00efve \U0001f600")])
    lines = save_reports([report], tmp_path, "test_a.py::test_b")
    assert json.loads(Path(lines[0]).read_text(encoding="utf-8"))["included"][0]["item"]["content"] == "naïve 😀"
    assert "naïve 😀" in Path(lines[1]).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("node_id", "name"),
    [
        ("tests/unit/test_a.py::test_b", r"tests\.unit\.test_a\.py\.test_b"),
        ("test_a.py::TestC::test_b[x-1]", r"test_a\.py\.TestC\.test_b\[x-1\]"),
        ("../test_a.py::test_b", r"test_a\.py\.test_b"),
        ("test_a.py::test_b[x y]", r"test_a\.py\.test_b\[x_y\]-[0-9a-f]{8}"),
        ("test_a.py::test_b[\\u00e9]", r"test_a\.py\.test_b\[_u00e9\]-[0-9a-f]{8}"),
        ("test_a.py::" + "x" * 300, r"test_a\.py\.x{110}-[0-9a-f]{8}"),
    ],
)
def test_files_are_named_after_the_test(tmp_path: Path, node_id: str, name: str) -> None:
    save_reports([report_of()], tmp_path, node_id)
    assert all(re.fullmatch(rf"{name}\.(json|txt|html)", file) for file in files_in(tmp_path))


def test_tests_with_similar_ids_have_different_files(tmp_path: Path) -> None:
    for mark in "?*:|":
        save_reports([report_of()], tmp_path, f"test_a.py::test_b[{mark}]")
    assert len(list(tmp_path.glob("*.json"))) == 4


def test_html_is_saved_too(tmp_path: Path) -> None:
    report = report_of()
    lines = save_reports([report], tmp_path, "test_a.py::test_b")
    assert Path(lines[2]).name == "test_a.py.test_b.html"
    assert Path(lines[2]).read_text(encoding="utf-8") == f"{report.to_html()}\n"


ITEMS = [ContextItem("a", 30, priority=3), ContextItem("b", 60, kind="Document", priority=2)]


@pytest.mark.parametrize(
    "pipeline",
    [
        Pipeline(PriorityScorer(), placer=UShapedPlacer()),
        Policy(PriorityScorer(), placer=UShapedPlacer()),
        PriorityScorer(),
    ],
    ids=["pipeline", "policy", "scorer"],
)
def test_a_runner_runs_whatever_can_rank(pipeline: Any) -> None:
    runner = ReportRunner()
    report = runner(ITEMS, 50, pipeline)
    assert report.items == [ITEMS[0]]
    assert report.budget == ContextBudget(50)
    assert runner.reports == [report]
    assert repr(runner) == "<ReportRunner: 1 report>"


def test_a_runner_has_a_default() -> None:
    """Chat, as for `select`."""
    kinds = ReportRunner(KindScorer({"Document": 0.5}))
    assert [entry.score for entry in kinds(ITEMS, 400).included] == [0.5, 0.0]
    assert ReportRunner()(ITEMS, 400).same_selection(ReportRunner()(ITEMS, 400, "chat"))


def test_a_runner_asks_and_shortens_as_select_does() -> None:
    """What a service selects for a question could not be tested."""
    pages = [ContextItem(f"Refunds of order {i} take three days.\n" * 9, 60, kind="Document") for i in range(2)]
    pages.append(ContextItem("Parcels are late.", 60, kind="Document"))
    runner = ReportRunner("rag")
    assert runner(pages, 60, query="Why are parcels late?").items == [pages[2]]
    assert runner(pages, 60, query="refunds").items == [pages[0]]
    report = runner(pages, 100, "rag", query="refunds", shorten=HeadAndTail(30))
    expected = select(pages, 100, "rag", query="refunds", shorten=HeadAndTail(30), explain=True).report
    assert report.same_selection(expected)
    assert report.shortened
    with pytest.raises(TypeError, match="query must be a str"):
        runner(pages, 60, query=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="shorten must be"):
        runner(pages, 60, shorten=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((ITEMS, "much"), TypeError, "budget must be a ContextBudget or an int, not 'much'"),
        ((ITEMS, 5, 3), TypeError, "pipeline must be a Policy, a Pipeline, the name of a preset or a scorer, not 3"),
        ((ITEMS, 5, KindScorer), TypeError, r"pipeline must be an instance; did you mean KindScorer\(\)\?"),
        ((ITEMS, 5, "cat"), InvalidArgumentError, "did you mean 'chat'"),
    ],
)
def test_a_runner_refuses_what_it_cannot_run(arguments: Sequence[Any], error: type[Exception], text: str) -> None:
    runner = ReportRunner()
    with pytest.raises(error, match=text):
        runner(*arguments)
    assert runner.reports == []


def test_a_failed_assertion_carries_its_report_once(tmp_path: Path) -> None:
    """Reports are told apart by identity: equal ones of two runs are both saved."""
    report = report_of([kept()])
    assert len(save_reports([report, dataclasses.replace(report)], tmp_path, "t.py::t")) >= 4
    assert {name.partition(".py.t")[2][:2] for name in files_in(tmp_path)} == {"-1", "-2"}
