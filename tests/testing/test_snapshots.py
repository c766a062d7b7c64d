"""`match_snapshot`, an extension: TV-12 asks it to leave measured durations out."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import pytest

from pycupel import ContextBudget, ContextItem, KindScorer, Pipeline, ReflexiveScorer, SelectionReport
from pycupel.diagnostics import Deduplicated, ExclusionReason, UnknownReason
from pycupel.errors import DocumentError, InvalidArgumentError
from pycupel.testing import SelectionReportAssertionError, reports
from pycupel.wire import loads
from tests.testing.reports import dropped, kept, report_of

ITEMS = [
    ContextItem("Grüezi, what is E42?", 30, future_relevance_hint=1.0),
    ContextItem("E42: the pump has lost pressure.", 60, kind="Document", future_relevance_hint=0.9),
    ContextItem("Parts list of the whole plant.", 130, kind="Document", future_relevance_hint=0.5),
]
UPDATE = "If the selection is right, run pytest with --cupel-update-snapshots,\nor set CUPEL_UPDATE_SNAPSHOTS=1."
SHARED = "Another test in this run uses a snapshot of the same name: use a different name in each."


def run(budget: int = 100) -> SelectionReport:
    return Pipeline(ReflexiveScorer()).dry_run(ITEMS, ContextBudget(budget))


def names_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def failure(report: SelectionReport, name: str, directory: Path) -> SelectionReportAssertionError:
    with pytest.raises(SelectionReportAssertionError) as caught:
        report.should().match_snapshot(name, directory=directory)
    return caught.value


def new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget which snapshots have been used, as another run would."""
    monkeypatch.setattr(reports, "USED", {})


@pytest.fixture(autouse=True)
def _outside_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    new_process(monkeypatch)
    for variable in ("CI", "BUILD_NUMBER", "CUPEL_UPDATE_SNAPSHOTS"):
        monkeypatch.delenv(variable, raising=False)


# --- writing and comparing


def test_the_first_run_writes_and_later_runs_compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chain = run().should()
    assert chain.match_snapshot("pump", directory=tmp_path) is chain
    path = tmp_path / "__snapshots__" / "pump.json"
    written = path.read_bytes()
    for _ in range(3):
        new_process(monkeypatch)
        run().should().match_snapshot("pump", directory=str(tmp_path))
    assert path.read_bytes() == written
    assert names_in(path.parent) == ["pump.json"]


def test_a_snapshot_is_a_report_on_the_wire_without_events(tmp_path: Path) -> None:
    """TV-12: durations are measured; notes are advice, and their wording may change."""
    report = dataclasses.replace(run(), notes=("a scorer found its field on no item",))
    assert any(event.duration_ms for event in report.events)
    report.should().match_snapshot("pump", directory=tmp_path)
    text = (tmp_path / "__snapshots__" / "pump.json").read_text(encoding="utf-8")
    assert loads(SelectionReport, text) == dataclasses.replace(report, events=(), notes=())
    assert "duration" not in text
    assert text.startswith('{\n  "events": [],\n  "included": [\n')
    assert text.endswith("\n}\n")
    assert "Grüezi" in text


def test_a_snapshot_is_beside_the_file_that_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "somewhere" / "test_it.py"
    file.parent.mkdir()
    file.write_text("def check(report):\n    report.should().match_snapshot('pump')\n", encoding="utf-8")
    namespace: dict[str, Any] = {}
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), namespace)  # noqa: S102 - the caller's file
    monkeypatch.chdir(tmp_path)
    namespace["check"](run())
    assert (tmp_path / "somewhere" / "__snapshots__" / "pump.json").is_file()


def test_without_a_file_there_has_to_be_a_directory() -> None:
    """At a prompt, for example."""
    code = compile("report.should().match_snapshot('pump')", "<stdin>", "exec")
    with pytest.raises(
        InvalidArgumentError,
        match="<stdin> is not a file, so there is no directory for snapshots beside it; pass directory=",
    ):
        exec(code, {"report": run()})  # noqa: S102 - what a prompt does


def test_the_directory_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run().should().match_snapshot("pump", directory="new/one")
    assert (tmp_path / "new" / "one" / "__snapshots__" / "pump.json").is_file()


def test_the_layout_of_the_file_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Formatters and Windows change it."""
    run().should().match_snapshot("pump", directory=tmp_path)
    path = tmp_path / "__snapshots__" / "pump.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(document, indent=8).replace("\n", "\r\n"), encoding="utf-8", newline="")
    new_process(monkeypatch)
    run().should().match_snapshot("pump", directory=tmp_path)


def test_scores_that_are_no_numbers_match_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = report_of([kept(score=math.nan)], [dropped(score=-math.inf)])
    report.should().match_snapshot("odd", directory=tmp_path)
    new_process(monkeypatch)
    report.should().match_snapshot("odd", directory=tmp_path)


def test_what_json_cannot_hold_has_no_snapshot(tmp_path: Path) -> None:
    class Boring(ExclusionReason):
        pass

    with pytest.raises(DocumentError, match=r"excluded\[0\].reason"):
        report_of(excluded=[dropped(reason=Boring())]).should().match_snapshot("boring", directory=tmp_path)
    assert not (tmp_path / "__snapshots__").exists()


# --- mismatches


def test_a_mismatch_is_a_failure_with_a_diff(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run().should().match_snapshot("pump", directory=tmp_path)
    new_process(monkeypatch)
    monkeypatch.chdir(tmp_path)
    error = failure(run(80), "pump", tmp_path)
    path = Path("__snapshots__") / "pump.json"
    assert str(error) == (
        f"MatchSnapshot(pump) failed: the selection differs from {path}.\n"
        "--- snapshot\n"
        "+++ now\n"
        "@@ -1,7 +1,7 @@\n"
        " selected:\n"
        "   Message 'Grüezi, what is E42?', 1.0, Scored\n"
        "-  Document 'E42: the pump has lost ...', 0.9, Scored\n"
        " left out:\n"
        "-  Document 'Parts list of the whole...', 0.5, BudgetExceeded(130, 10)\n"
        "+  Document 'E42: the pump has lost ...', 0.9, BudgetExceeded(60, 50)\n"
        "+  Document 'Parts list of the whole...', 0.5, BudgetExceeded(130, 50)\n"
        " too few: none\n"
        '-budget: {"maxTokens": 100, "targetTokens": 100}\n'
        '+budget: {"maxTokens": 80, "targetTokens": 80}'
    )
    assert error.__notes__ == [UPDATE]
    assert error.assertion == "MatchSnapshot"
    assert isinstance(error.expected, str)
    assert loads(SelectionReport, error.expected) == dataclasses.replace(run(), events=())
    assert isinstance(error.actual, str)
    assert loads(SelectionReport, error.actual) == dataclasses.replace(run(80), events=())
    assert error.report is not None
    assert error.report.same_selection(run(80))


def test_what_the_diff_of_the_selection_does_not_show_is_shown_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tagged(*tags: str) -> SelectionReport:
        return Pipeline(KindScorer()).dry_run([ContextItem("a", 1, tags=tags)], ContextBudget(9))

    tagged("x").should().match_snapshot("tags", directory=tmp_path)
    new_process(monkeypatch)
    lines = str(failure(tagged("y"), "tags", tmp_path)).splitlines()
    assert lines[1:3] == ["--- snapshot", "+++ now"]
    assert [line for line in lines[3:] if line[0] in "+-"] == ['-          "x"', '+          "y"']


@pytest.mark.parametrize("text", ["<<<<<<< HEAD\n{}\n", "{}", "", '{"events": 3}', "\udcff"])
def test_a_broken_snapshot_is_a_mismatch(tmp_path: Path, text: str) -> None:
    """By hand, or by an unfinished merge."""
    path = tmp_path / "__snapshots__" / "pump.json"
    path.parent.mkdir()
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    error = failure(run(), "pump", tmp_path)
    assert str(error).startswith(f"MatchSnapshot(pump) failed: {path} does not contain a report: ")
    assert "\n--- snapshot\n+++ now\n@@ " in str(error)
    assert '\n+  "total_candidates": 3,\n' in str(error)
    assert error.__notes__ == [UPDATE]


def test_a_diff_has_short_lines_and_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def many(score: float) -> SelectionReport:
        reason = UnknownReason("Rusty " * 40, {"depth": "deep" * 99})
        return report_of([kept("Kind" * 30, score, f"{i} word" * 99) for i in range(50)], [dropped(reason=reason)])

    many(0.1 + 0.2).should().match_snapshot("many", directory=tmp_path)
    new_process(monkeypatch)
    lines = str(failure(many(0.7 + 0.1), "many", tmp_path)).splitlines()[1:]
    assert max(map(len, lines)) <= 72
    assert len(lines) == 61
    assert lines[-1] == "... and 47 more lines"


# --- updating


@pytest.mark.parametrize("value", ["1", "true", "Yes"])
def test_an_update_replaces_the_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    run().should().match_snapshot("pump", directory=tmp_path)
    new_process(monkeypatch)
    monkeypatch.setenv("CUPEL_UPDATE_SNAPSHOTS", value)
    run(80).should().match_snapshot("pump", directory=tmp_path)
    new_process(monkeypatch)
    monkeypatch.delenv("CUPEL_UPDATE_SNAPSHOTS")
    run(80).should().match_snapshot("pump", directory=tmp_path)


@pytest.mark.parametrize("value", ["", "0", "false", "No", "off "])
def test_there_are_ways_to_say_no(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    run().should().match_snapshot("pump", directory=tmp_path)
    new_process(monkeypatch)
    monkeypatch.setenv("CUPEL_UPDATE_SNAPSHOTS", value)
    failure(run(80), "pump", tmp_path)


@pytest.mark.parametrize("updating", [False, True])
def test_two_tests_cannot_share_a_name_unnoticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, updating: bool
) -> None:
    """Else an update would write one over the other, and the next run would fail."""
    run().should().match_snapshot("pump", directory=tmp_path)
    if updating:
        monkeypatch.setenv("CUPEL_UPDATE_SNAPSHOTS", "1")
    assert failure(run(80), "pump", tmp_path).__notes__ == [SHARED]
    run().should().match_snapshot("pump", directory=tmp_path)


def test_a_name_is_shared_even_if_the_first_test_only_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run().should().match_snapshot("pump", directory=tmp_path)
    new_process(monkeypatch)
    monkeypatch.setenv("CUPEL_UPDATE_SNAPSHOTS", "1")
    run().should().match_snapshot("pump", directory=tmp_path)
    assert failure(run(80), "pump", tmp_path).__notes__ == [SHARED]


def test_only_what_was_written_counts_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run().should().match_snapshot("old", directory=tmp_path)
    new_process(monkeypatch)
    for name in ("old", "new", "new"):
        run().should().match_snapshot(name, directory=tmp_path)
    directory = tmp_path / "__snapshots__"
    assert {directory / "old.json": False, directory / "new.json": True} == reports.USED


def test_a_snapshot_that_was_deleted_is_written_again(tmp_path: Path) -> None:
    run().should().match_snapshot("pump", directory=tmp_path)
    path = tmp_path / "__snapshots__" / "pump.json"
    path.unlink()
    run(80).should().match_snapshot("pump", directory=tmp_path)
    assert path.is_file()


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run().should().match_snapshot("pump", directory=tmp_path)
    path = tmp_path / "__snapshots__" / "pump.json"
    before = path.read_bytes()
    new_process(monkeypatch)
    monkeypatch.setenv("CUPEL_UPDATE_SNAPSHOTS", "1")

    def full(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="the disk is full"):
        run(80).should().match_snapshot("pump", directory=tmp_path)
    assert names_in(path.parent) == ["pump.json"]
    assert path.read_bytes() == before


# --- CI


@pytest.mark.parametrize(("variable", "value"), [("CI", "true"), ("CI", "1"), ("BUILD_NUMBER", "77")])
def test_ci_writes_no_snapshot_and_says_how_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    monkeypatch.chdir(tmp_path)
    error = failure(run(), "pump", tmp_path)
    path = Path("__snapshots__") / "pump.json"
    assert str(error) == (
        f"MatchSnapshot(pump) failed: {path} does not exist, and snapshots are not written in CI. "
        "Run the test locally and commit the file."
    )
    assert error.__notes__ == [UPDATE]
    assert error.expected is None
    assert not (tmp_path / "__snapshots__").exists()


def test_ci_compares_with_a_snapshot_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run().should().match_snapshot("pump", directory=tmp_path)
    new_process(monkeypatch)
    monkeypatch.setenv("CI", "true")
    run().should().match_snapshot("pump", directory=tmp_path)
    failure(run(80), "pump", tmp_path)


def test_ci_writes_what_it_is_told_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("CUPEL_UPDATE_SNAPSHOTS", "1")
    run().should().match_snapshot("pump", directory=tmp_path)
    assert (tmp_path / "__snapshots__" / "pump.json").is_file()


def test_ci_false_is_not_ci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "false")
    run().should().match_snapshot("pump", directory=tmp_path)


# --- names


@pytest.mark.parametrize(
    "name", ["a", "refund request", "v1.2-final_3", "[x-1]", "Rückgabe", "お見積り", "हिन्दी", "x" * 200]
)
def test_a_name_may_be_in_any_language(tmp_path: Path, name: str) -> None:
    run().should().match_snapshot(name, directory=tmp_path)
    assert names_in(tmp_path / "__snapshots__") == [f"{name}.json"]


def test_two_ways_to_write_a_name_are_one_snapshot(tmp_path: Path) -> None:
    """File systems disagree on whether they are."""
    run().should().match_snapshot("re\u0301sume\u0301", directory=tmp_path)
    run().should().match_snapshot("r\u00e9sum\u00e9", directory=tmp_path)
    assert names_in(tmp_path / "__snapshots__") == ["r\u00e9sum\u00e9.json"]


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../pump",
        "a/b",
        "a\\b",
        "/etc/passwd",
        "C:pump",
        ".hidden",
        "ends.",
        "ends ",
        " begins",
        "what?",
        "a*b",
        'a"b',
        "a<b",
        "a|b",
        "a\nb",
        "a\0b",
        "a\u202eb",
        "\ud800",
        "nul",
        "NUL.backup",
        "Com1",
        "x" * 201,
        "ü" * 101,
    ],
)
def test_a_name_that_is_no_file_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidArgumentError, match="cannot be used as a file name") as caught:
        run().should().match_snapshot(name, directory=tmp_path)
    assert caught.value.value == name
    assert caught.value.__notes__ == ["Use letters, digits, spaces, '-', '_' and '.', as in 'refund request'."]
    assert names_in(tmp_path) == []


def test_a_name_is_a_str(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="name must be a str, not 3"):
        run().should().match_snapshot(3, directory=tmp_path)  # type: ignore[arg-type]


def test_names_that_only_begin_like_a_device_are_fine(tmp_path: Path) -> None:
    for name in ("console", "nullable", "common"):
        run().should().match_snapshot(name, directory=tmp_path)


def test_a_reason_with_a_text_is_shown_in_the_diff(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report_of(excluded=[dropped(reason=Deduplicated("a"))]).should().match_snapshot("copy", directory=tmp_path)
    new_process(monkeypatch)
    text = str(failure(report_of(excluded=[dropped(reason=Deduplicated("b"))]), "copy", tmp_path))
    assert "\n-  Message 'text', 0.5, Deduplicated('a')\n+  Message 'text', 0.5, Deduplicated('b')\n" in text
