"""The command line: `python -m pycupel.conformance DIRECTORY`."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from pycupel import __version__
from pycupel.cli import main as command_line
from pycupel.conformance import SPECIFICATION
from tests.conformance.passing_vectors import RIGHT, WRONG

VECTORS = Path(__file__).parents[2] / "vectors"


def write(root: Path, **files: str) -> str:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".toml").write_text(text, encoding="utf-8")
    return str(root)


def main(arguments: list[str]) -> int:
    return command_line(["conformance", *arguments])


def test_exit_code_0_if_all_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 0 only when all pass."""
    directory = write(tmp_path, required__a=RIGHT, required__b=RIGHT, optional__c=RIGHT, d=RIGHT)
    assert main([directory]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "required: 2 of 2",
        "optional: 1 of 1",
        "other: 1 of 1",
        "4 of 4 vectors passed",
        f"pycupel {__version__}: no conformance level: these vectors are not a known suite",
    ]
    assert err == ""


@pytest.mark.proves("S-CF-03")
def test_a_named_suite_shows_a_level(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([write(tmp_path, required__a=RIGHT, optional__b=RIGHT), "--suite", "My suite 1.0"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"pycupel {__version__}: Cupel Fully Conformant, by My suite 1.0"


def test_exit_code_2_if_the_suite_has_no_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([write(tmp_path, required__a=RIGHT), "--suite", " "]) == 2
    assert capsys.readouterr() == ("", "pycupel: suite must not be empty\n")


def test_exit_code_1_if_one_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The failing vector is shown with path, name and problem."""
    directory = write(tmp_path, required__a=RIGHT, required__b=WRONG)
    assert main([directory, "--suite", "S"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        f"FAILED  {Path('required/b.toml')}: A wrong one",
        "        MismatchError: order: expected ['x'], got []",
        "required: 1 of 2",
        "1 of 2 vectors passed",
        f"pycupel {__version__}: not conformant, by S",
    ]


@pytest.mark.parametrize("tier", ["optional", "extended", "somewhere"])
def test_exit_code_1_if_one_fails_that_the_level_does_not_need(tmp_path: Path, tier: str) -> None:
    assert main([write(tmp_path, required__a=RIGHT, **{f"{tier}__b": WRONG})]) == 1


@pytest.mark.parametrize("option", ["-v", "--verbose"])
def test_verbose_names_the_vectors_that_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str) -> None:
    directory = write(tmp_path, required__a=RIGHT, required__b=WRONG)
    assert main([directory, option]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [f"passed  {Path('required/a.toml')}", f"FAILED  {Path('required/b.toml')}: A wrong one"]


def test_exit_code_1_if_there_are_no_vectors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A directory without vectors fails: nothing has been shown."""
    assert main([str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"pycupel: warning: no vectors (*.toml) found in {tmp_path}\n"


def test_exit_code_2_if_there_is_no_such_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "missing")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"pycupel: no such directory: {tmp_path / 'missing'}\n"


@pytest.mark.parametrize("arguments", [[], ["a", "b"], ["a", "--nonsense"]])
def test_exit_code_2_for_wrong_arguments(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert "pycupel conformance" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "code"), [(RIGHT, 0), (WRONG, 1)])
def test_the_module_exits_with_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, code: int) -> None:
    monkeypatch.setattr(sys, "argv", ["conformance", write(tmp_path, a=text)])
    # Other tests may have imported every module.
    monkeypatch.delitem(sys.modules, "pycupel.conformance.__main__", raising=False)
    with pytest.raises(SystemExit) as caught:
        runpy.run_module("pycupel.conformance", run_name="__main__")
    assert caught.value.code == code


def test_the_command_line_runs_the_vectors_of_the_project() -> None:
    """CV-11."""
    command = [sys.executable, "-I", "-m", "pycupel.conformance", str(VECTORS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "no conformance level" in done.stdout
    assert SPECIFICATION not in done.stdout
    assert done.stderr == ""
