"""Write `docs/conformance.md`, what proves each statement of the specification: `python -m tools.conformance_page`.

A test names what it proves by `@pytest.mark.proves("S-...")`, a vector by `[test] proves = ["S-..."]`. Both are read,
not run, so that the page is checked in a second.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "conformance.md"
STATEMENTS = ROOT / "tests" / "conformance" / "statements.tsv"
# `make test` does not run these, so what they show is no proof.
ELSEWHERE = {"browser", "engines_env", "integrations_env"}

# Statements that nothing in this project can prove or break, with what is said of them instead.
REASONS = {
    "S-DE-15": "other implementation",
    "S-OT-13": "other implementation",
    "S-MT-05": "convention for callers",
    "S-MK-04": "convention for callers",
    "S-XP-01": "probe",
    "S-XP-02": "probe",
    "S-XP-03": "probe",
    "S-XP-04": "probe",
}
# What pycupel does otherwise than the words say, or more narrowly; the proofs of these rows are proofs of the decision.
LIMITED = {"S-TA-11": "CS-02", "S-CO-10": "PY-08", "S-QU-17": "QS-12", "S-RP-10": "SR-04", "S-OT-15": "OT-03"}
# Statements that contradict another one, or leave a choice; the proofs show the reading that was decided on.
READINGS = {
    "S-IT-13": "DM-03",
    "S-IT-14": "DM-04",
    "S-BU-02": "DM-15",
    "S-BU-22": "EB-05",
    "S-BU-23": "DM-16",
    "S-SO-03": "SC-03",
    "S-SL-04": "EB-02",
    "S-SL-06": "EB-04",
    "S-MK-24": "CS-03",
    "S-GR-02": "GS-01",
    "S-QU-18": "QS-11",
    "S-ER-36": "PL-04",
    "S-RP-02": "SR-02",
    "S-RP-04": "SR-05",
    "S-RP-05": "SR-01",
    "S-OT-01": "OT-01",
    "S-BS-06": "BS-03",
    "S-PS-10": "PO-06",
    "S-TV-13": "TV-08",
    "S-TV-A2": "DM-13",
    "S-TV-D4": "TV-06",
    "S-TV-E1": "TV-12",
}

INTRODUCTION = """\
# Conformance

For contributors. The statements of the Cupel specification, each with the tests and vectors that prove it: they fail if
it does not hold. `make conformance-page` writes this page from `tests/conformance/statements.tsv` and the marks in
tests and vectors; a test fails if a statement has no proof, or if the page is out of date. The line is that of the
specification's text.

A row that begins with a decision is read as [Decisions](decisions.md) says, because the statement contradicts another
one, leaves a choice or is narrower here; its proofs are proofs of the decision. A row in italics has no proof, and says
why: a rule for *another implementation* or a *convention for callers* cannot be broken here, and a *probe* was a
question of those who listed the statements.
"""


class Statement(NamedTuple):
    """A row of the list."""

    id: str
    chapter: str
    line: str
    text: str


def read_statements(path: Path = STATEMENTS) -> list[Statement]:
    rows = path.read_text(encoding="utf-8").splitlines()[1:]
    return [Statement(*row.split("\t")) for row in rows]


def collect_proofs(root: Path = ROOT) -> dict[str, list[str]]:
    """Return what proves each statement: the names of tests and vectors, sorted."""
    proofs: dict[str, list[str]] = {}
    for proof, ids in (*_tests(root), *_vectors(root)):
        for each in ids:
            proofs.setdefault(each, []).append(proof)
    return {each: sorted(set(names)) for each, names in proofs.items()}


def _tests(root: Path) -> Iterator[tuple[str, list[str]]]:
    for path in sorted((root / "tests").rglob("test_*.py")):
        name = path.relative_to(root)
        text = path.read_text(encoding="utf-8")
        if ELSEWHERE.isdisjoint(name.parts) and "mark.proves" in text:
            tree = ast.parse(text, str(path))
            found = list(_marked(tree.body, name.as_posix()))
            yield from found
            # A mark that stands anywhere else belongs to no test, and would be lost without a word.
            if sum(len(ids) for _, ids in found) != len(_ids_within(tree)):
                raise ValueError(f"{name}: a mark that proves something is at no test, class or pytest.param")


def _marked(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, list[str]]]:
    """Yield tests and classes with the statements that their decorators name, in `pytest.param` or directly."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{prefix}::{node.name}"
            if ids := [each for decorator in node.decorator_list for each in _ids_within(decorator)]:
                yield name, ids
            if isinstance(node, ast.ClassDef):
                yield from _marked(node.body, name)


def _ids_within(tree: ast.AST) -> list[str]:
    return [
        ast.literal_eval(argument)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.proves"
        for argument in node.args
    ]


def _vectors(root: Path) -> Iterator[tuple[str, list[str]]]:
    for path in sorted((root / "vectors").rglob("*.toml")):
        ids = tomllib.loads(path.read_text(encoding="utf-8"))["test"].get("proves", [])
        yield path.relative_to(root).as_posix(), ids


def problems(statements: list[Statement], proofs: dict[str, list[str]]) -> list[str]:
    """Say what is wrong: statements without a proof or reason, and proofs of what is no statement."""
    known = {each.id for each in statements}
    return [
        *(f"{each.id} has no proof" for each in statements if each.id not in proofs and each.id not in REASONS),
        *(f"{each} has a proof and a reason why there is none" for each in REASONS if each in proofs),
        *(f"{each} is no statement, but named by {', '.join(proofs[each])}" for each in proofs if each not in known),
    ]


def page(statements: list[Statement], proofs: dict[str, list[str]]) -> str:
    sections = [INTRODUCTION]
    chapters = list(dict.fromkeys(each.chapter for each in statements))
    for chapter in chapters:
        rows = [each for each in statements if each.chapter == chapter]
        table = [f"## {chapter}", "", "| id | line | statement | proof |", "|---|---|---|---|"]
        table += [f"| {row.id} | {row.line} | {row.text} | {_proof(row.id, proofs)} |" for row in rows]
        sections.append("\n".join([*table, ""]))
    return "\n".join(sections)


def _proof(each: str, proofs: dict[str, list[str]]) -> str:
    if each in REASONS:
        return f"*{REASONS[each]}*"
    decision = LIMITED.get(each) or READINGS.get(each)
    link = [f"[{decision}](decisions.md#{_anchor(decision)})"] if decision else []
    return "<br>".join([*link, *(f"`{proof}`" for proof in proofs.get(each, []))])


def _anchor(decision: str) -> str:
    """Find the anchor of the section that a decision stands in."""
    prefix = decision.split("-", maxsplit=1)[0]
    lines = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8").splitlines()
    heading = next(line for line in lines if line.startswith(f"## {prefix}:"))
    return heading.removeprefix("## ").lower().replace(":", "").replace(" ", "-")


def main() -> int:
    statements, proofs = read_statements(), collect_proofs()
    found = problems(statements, proofs)
    if found:
        sys.stderr.write("\n".join([*found, ""]))
        return 1
    PAGE.write_text(page(statements, proofs), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
