"""`make test-elsewhere` names the condition under which something fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.console import write_program
from tools.path_lengths import LENGTHS
from tools.test_elsewhere import Place


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A tree with three tests, each of which fails somewhere."""
    # pytest alone starts four times as fast.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in ("COLUMNS", "TZ"):
        monkeypatch.delenv(name, raising=False)
    tree, folder = tmp_path / "a tree", tmp_path / "folder"
    for path in (folder, tree / "tests", tree / ".venv" / "bin"):
        path.mkdir(parents=True)
    write_program(tree / ".venv" / "bin" / "python", f'"{sys.executable}"')
    (tree / "Makefile").write_text('demo:\n\t@test "$$TZ" != Pacific/Chatham\n', encoding="utf-8")
    (tree / "tests" / "test_it.py").write_text(
        "import os, pathlib\n\n"
        "def test_the_width():\n    assert os.environ.get('COLUMNS') != '40'\n\n"
        "def test_the_home():\n    if 'LITTER' in os.environ:\n        pathlib.Path.home().joinpath('it').touch()\n\n"
        "def test_the_tree():\n    assert not pathlib.Path('broken').exists()\n",
        encoding="utf-8",
    )
    return Place(tree, folder)


CONDITIONS = ["umask 077"]


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("condition", "shown"),
    [
        ("export COLUMNS=40", "1 failed, 2 passed"),
        ("export TZ=Pacific/Chatham", ": *** ["),
        ("export LITTER=yes", "left in HOME: it"),
    ],
)
def test_a_failure_names_its_condition(place: Place, condition: str, shown: str) -> None:
    failure = place.check([*CONDITIONS, condition], "tests/test_it.py")
    assert failure is not None
    assert shown in failure
    assert failure.endswith(f"\nFAILED under:\n  {condition}")


def test_a_failure_under_no_condition_says_so(place: Place) -> None:
    assert place.check(CONDITIONS, "tests/test_it.py") is None
    (place.tree / "broken").touch()
    failure = place.check(CONDITIONS, "tests/test_it.py")
    assert failure is not None
    assert "\nFAILED without any other condition than: a clone " in failure


def test_paths_have_every_length(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "def test_path(tmp_path):\n    assert ' ' in str(tmp_path) and len(str(tmp_path)) != 60\n\n"
        "def test_other():\n    pass\n"
    )
    result = pytester.runpytest("-p", "tools.path_lengths")
    result.assert_outcomes(passed=len(LENGTHS) - 1, failed=1, deselected=1)
    result.stdout.fnmatch_lines(["FAILED *::test_path[[]path of 60 characters] - *"])
