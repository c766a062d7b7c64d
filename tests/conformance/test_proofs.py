"""Every statement of the specification has a proof, and `docs/conformance.md` lists them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import conformance_page
from tools.conformance_page import (
    LIMITED,
    PAGE,
    READINGS,
    REASONS,
    Statement,
    collect_proofs,
    page,
    problems,
    read_statements,
)

STATEMENTS = [Statement("S-A-01", "A", "1", "one"), Statement("S-A-02", "A", "2", "another")]


def test_every_statement_has_a_proof_or_a_reason() -> None:
    assert problems(read_statements(), collect_proofs()) == []


def test_the_page_is_up_to_date() -> None:
    """`make conformance-page` writes it."""
    assert PAGE.read_text(encoding="utf-8") == page(read_statements(), collect_proofs())


def test_the_list_is_whole() -> None:
    statements = read_statements()
    assert len(statements) == len({each.id for each in statements}) == 504
    assert {*REASONS, *LIMITED, *READINGS} <= {each.id for each in statements}


def test_what_is_missing_or_unknown_is_named() -> None:
    assert problems(STATEMENTS, {"S-A-01": ["x"], "S-A-02": ["y"]}) == []
    assert problems(STATEMENTS, {"S-A-02": ["x"], "S-A-20": ["y", "z"]}) == [
        "S-A-01 has no proof",
        "S-A-20 is no statement, but named by y, z",
    ]
    reason = Statement("S-XP-01", "X", "3", "a probe")
    assert problems([reason], {}) == []
    assert problems([reason], {"S-XP-01": ["x"]}) == ["S-XP-01 has a proof and a reason why there is none"]


def project(root: Path, test: str, vector: str = "[test]\n") -> Path:
    """Write a project of one test module and one vector."""
    for name, text in (("tests/sub/test_it.py", test), ("vectors/required/it.toml", vector)):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def test_marks_are_found_on_functions_classes_and_parameters(tmp_path: Path) -> None:
    test = """
import pytest

@pytest.mark.proves("S-A-01", "S-A-02")
async def test_one(): ...

@pytest.mark.proves("S-A-03")
class TestAll:
    @pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.proves("S-A-04")), pytest.param(
        3, marks=[pytest.mark.slow, pytest.mark.proves("S-A-01")])])
    def test_two(self, n): ...
"""
    assert collect_proofs(project(tmp_path, test, '[test]\nproves = ["S-A-02"]\n')) == {
        "S-A-01": ["tests/sub/test_it.py::TestAll::test_two", "tests/sub/test_it.py::test_one"],
        "S-A-02": ["tests/sub/test_it.py::test_one", "vectors/required/it.toml"],
        "S-A-03": ["tests/sub/test_it.py::TestAll"],
        "S-A-04": ["tests/sub/test_it.py::TestAll::test_two"],
    }


@pytest.mark.parametrize("lost", ["PROVES = pytest.mark.proves('S-A-01')", "def test(): pytest.mark.proves('S-A-01')"])
def test_a_mark_that_belongs_to_no_test_is_an_error(lost: str, tmp_path: Path) -> None:
    """It would be lost without a word."""
    with pytest.raises(ValueError, match=r"^tests/sub/test_it.py: a mark that proves something"):
        collect_proofs(project(tmp_path, f"import pytest\n{lost}\n"))


def test_tests_that_are_not_run_prove_nothing(tmp_path: Path) -> None:
    root = project(tmp_path, "")
    (root / "tests" / "browser").mkdir()
    (root / "tests" / "browser" / "test_it.py").write_text("@pytest.mark.proves('S-A-01')\ndef test(): ...\n")
    assert collect_proofs(root) == {}


def test_a_row_has_its_proofs_its_reason_or_its_decision() -> None:
    rows = [
        Statement("S-TA-11", "TagScorer", "1040", "a sum"),
        Statement("S-XP-01", "Extra", "3", "a probe"),
        Statement("S-TA-01", "TagScorer", "1031", "a weight"),
    ]
    text = page(rows, {"S-TA-11": ["a::b"], "S-TA-01": ["c", "d"]})
    assert text.split("## ", 1)[1] == (
        "TagScorer\n\n| id | line | statement | proof |\n|---|---|---|---|\n"
        "| S-TA-11 | 1040 | a sum | [CS-02](decisions.md#cs-compositescorer)<br>`a::b` |\n"
        "| S-TA-01 | 1031 | a weight | `c`<br>`d` |\n"
        "\n## Extra\n\n| id | line | statement | proof |\n|---|---|---|---|\n"
        "| S-XP-01 | 3 | a probe | *probe* |\n"
    )


def test_the_page_is_written_only_if_nothing_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(conformance_page, "PAGE", tmp_path / "page.md")
    assert conformance_page.main() == 0
    assert (tmp_path / "page.md").read_bytes() == PAGE.read_bytes()
    monkeypatch.setattr(conformance_page, "collect_proofs", dict)
    (tmp_path / "page.md").unlink()
    assert conformance_page.main() == 1
    assert "S-IN-01 has no proof\n" in capsys.readouterr().err
    assert not (tmp_path / "page.md").exists()
