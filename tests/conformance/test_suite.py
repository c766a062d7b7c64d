"""Running a directory of vectors, the project's own above all, and the decisions that everything refers to."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from pycupel import conformance
from pycupel.conformance import SPECIFICATION, SuiteResult, VectorResult, check as suite_module, run_suite
from pycupel.diagnostics import Filtered, QuotaCapExceeded, QuotaRequireDisplaced, ScoredTooLow
from pycupel.errors import InvalidArgumentError
from tests.conformance.passing_vectors import RIGHT, WRONG

ROOT = Path(__file__).parents[2]
VECTORS = ROOT / "vectors"
UPSTREAM = ROOT.parent / "shared" / "conformance"
# The ids of statements begin with S-, which is none of these.
DECISION = re.compile(
    r"(?<!S-)\b(?:META|DM|EB|CL|SC|DD|SO|SL|PL|RS|KS|TS|FS|RX|CS|SS|MT|MK|DS|GS|KN|QS|CQ|CK|CP|UP|TC|EV|ER|SR|WF|PB|AN|OT|BS|PO"
    r"|TV|CV|PY)-\d\d\b"
)

# The contents of two vectors, for a digest.
VECTOR = (RIGHT.encode(), WRONG.encode())


def write(root: Path, *files: tuple[str, str]) -> Path:
    for name, text in files:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def result(tier: str, *, passed: bool = True) -> VectorResult:
    return VectorResult(Path(tier) / "x.toml", tier, "a vector", "" if passed else "a problem")


def suite(**tiers: list[bool]) -> SuiteResult:
    results = (result(tier, passed=passed) for tier, all_passed in tiers.items() for passed in all_passed)
    return SuiteResult(tuple(results), "A suite")


# --- results


def test_a_vector_passed_if_it_has_no_problem() -> None:
    assert VectorResult(Path("x.toml"), "required", "name").passed
    assert not VectorResult(Path("x.toml"), "required", "name", "problem").passed


def test_the_results_of_a_suite_have_a_short_representation() -> None:
    assert repr(suite(required=[True] * 100 + [False])) == "<SuiteResult: 100 of 101 vectors passed>"


@pytest.mark.proves("S-CF-02")
@pytest.mark.parametrize(
    ("outcome", "level"),
    [
        (suite(required=[True]), "Cupel Conformant"),
        (suite(required=[True, True], optional=[True]), "Cupel Fully Conformant"),
        (suite(required=[True], optional=[True, False]), "Cupel Conformant"),
        (suite(required=[True, False], optional=[True]), "not conformant"),
        (suite(required=[False]), "not conformant"),
        (suite(required=[True], optional=[True], extended=[False]), "Cupel Fully Conformant"),
        (suite(required=[True], other=[False]), "Cupel Conformant"),
        (suite(optional=[True]), "no conformance level: there are no required vectors"),
        (suite(extended=[True]), "no conformance level: there are no required vectors"),
        (suite(), "no conformance level: there are no required vectors"),
    ],
)
def test_the_level_follows_from_the_tiers(outcome: SuiteResult, level: str) -> None:
    """Claiming Conformance: all Required vectors, or all Required and all Optional ones."""
    assert outcome.level == level


NO_LEVEL = "no conformance level: these vectors are not a known suite"


def test_vectors_that_are_no_known_suite_show_no_level() -> None:
    """A folder named `required` with one vector in it is no suite."""
    assert SuiteResult(suite(required=[True], optional=[True]).results).level == NO_LEVEL


def test_required_vectors_say_nothing_about_optional_ones() -> None:
    """The optional tier is not claimed for a suite that was recognised by its required vectors."""
    results = suite(required=[True], optional=[True]).results
    assert SuiteResult(results, "A suite", required_only=True).level == "Cupel Conformant"


@pytest.mark.parametrize(
    ("outcome", "ok"),
    [
        (suite(required=[True], optional=[True]), True),
        (suite(other=[True]), True),
        (suite(required=[True, False]), False),
        (suite(required=[True], optional=[False]), False),
        (suite(required=[True], extended=[False]), False),
        (suite(), False),
    ],
)
def test_a_suite_is_fine_if_all_passed_and_there_was_something_to_pass(outcome: SuiteResult, ok: bool) -> None:
    assert outcome.ok is ok


def test_the_tiers_are_counted_in_a_fixed_order() -> None:
    outcome = suite(other=[True], extended=[False], optional=[True, False, False], required=[True, True])
    assert list(outcome.tiers.items()) == [
        ("required", (2, 2)),
        ("optional", (1, 3)),
        ("extended", (0, 1)),
        ("other", (1, 1)),
    ]


def test_tiers_that_do_not_occur_are_left_out() -> None:
    assert suite(optional=[True]).tiers == {"optional": (1, 1)}


def test_failures_are_the_results_that_did_not_pass() -> None:
    outcome = suite(required=[True, False], optional=[False])
    assert outcome.failures == (result("required", passed=False), result("optional", passed=False))


@pytest.mark.parametrize("value", [result("required"), suite(required=[True])])
def test_results_cannot_be_changed(value: Any) -> None:
    field = "problem" if isinstance(value, VectorResult) else "results"
    with pytest.raises(FrozenInstanceError):
        setattr(value, field, ())


# --- running


def test_every_toml_file_in_any_depth_is_run_in_the_order_of_names(tmp_path: Path) -> None:
    """RUN-CONFORMANCE-SUITE: GLOB(vectorDir, "**/*.toml"). CV-10: optional ones too."""
    write(
        tmp_path,
        ("required/b.toml", RIGHT),
        ("required/a/deep/er.toml", RIGHT),
        ("optional/c.toml", RIGHT),
        ("extended/d.toml", RIGHT),
        ("e.toml", RIGHT),
        ("required/readme.md", "no vector"),
    )
    outcome = run_suite(tmp_path, suite="A suite")
    assert [(result.path.as_posix(), result.tier) for result in outcome.results] == [
        ("e.toml", "other"),
        ("extended/d.toml", "extended"),
        ("optional/c.toml", "optional"),
        ("required/a/deep/er.toml", "required"),
        ("required/b.toml", "required"),
    ]
    assert outcome.ok
    assert outcome.level == "Cupel Fully Conformant"


def test_the_upstream_suite_is_recognised_by_its_required_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By their names and contents: wherever they are, with any line ends, and whatever else is beside them."""
    monkeypatch.setattr(suite_module, "_UPSTREAM_REQUIRED", sha256(b"a/b.toml\0%b\0c.toml\0%b\0" % VECTOR).hexdigest())
    write(tmp_path, ("conformance/required/a/b.toml", RIGHT), ("conformance/required/c.toml", WRONG))
    (tmp_path / "conformance" / "required" / "c.toml").write_bytes(WRONG.encode().replace(b"\n", b"\r\n"))
    for directory in ("conformance", "conformance/required"):
        outcome = run_suite(tmp_path / directory)
        assert (outcome.suite, outcome.required_only, outcome.level) == (SPECIFICATION, True, "not conformant")
    write(tmp_path, ("conformance/optional/d.toml", RIGHT), ("conformance/e.toml", RIGHT))
    assert run_suite(tmp_path / "conformance").suite == SPECIFICATION
    assert run_suite(tmp_path / "conformance", suite="Mine").suite == "Mine"
    write(tmp_path, ("conformance/required/f.toml", RIGHT))
    assert run_suite(tmp_path / "conformance").suite is None


@pytest.mark.parametrize("change", ["rename", "edit", "remove"])
def test_other_vectors_are_not_the_upstream_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    monkeypatch.setattr(suite_module, "_UPSTREAM_REQUIRED", sha256(b"a/b.toml\0%b\0c.toml\0%b\0" % VECTOR).hexdigest())
    second = {"rename": [("d.toml", WRONG)], "edit": [("c.toml", RIGHT)], "remove": []}[change]
    write(tmp_path / "required", ("a/b.toml", RIGHT), *second)
    assert run_suite(tmp_path).level == NO_LEVEL


def test_one_vector_in_a_folder_named_required_shows_no_level(tmp_path: Path) -> None:
    outcome = run_suite(write(tmp_path, ("required/a.toml", RIGHT)))
    assert outcome.ok
    assert (outcome.suite, outcome.level) == (None, NO_LEVEL)


@pytest.mark.parametrize("name", ["", " \n"])
def test_the_name_of_a_suite_is_not_empty(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"^suite must not be empty$") as caught:
        run_suite(tmp_path, suite=name)
    assert caught.value.argument == "suite"


def test_the_name_of_a_suite_is_a_string(tmp_path: Path) -> None:
    wrong: Any = 1
    with pytest.raises(TypeError, match="suite must be a str"):
        run_suite(tmp_path, suite=wrong)


@pytest.mark.parametrize("as_text", [True, False])
def test_the_directory_may_be_a_string_and_a_tier_itself(tmp_path: Path, as_text: bool) -> None:
    directory = write(tmp_path / "required", ("a.toml", RIGHT))
    assert run_suite(str(directory) if as_text else directory).tiers == {"required": (1, 1)}


def test_a_failing_vector_is_reported_with_path_name_and_problem(tmp_path: Path) -> None:
    write(tmp_path, ("required/right.toml", RIGHT), ("required/wrong.toml", WRONG))
    outcome = run_suite(tmp_path, suite="A suite")
    assert outcome.failures == (
        VectorResult(
            Path("required/wrong.toml"), "required", "A wrong one", "MismatchError: order: expected ['x'], got []"
        ),
    )
    assert not outcome.ok
    assert outcome.level == "not conformant"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[test\n", "DocumentError: invalid TOML: "),
        ("[test]\nname = 0x" + "f" * 4_000, "DocumentError: invalid TOML: Exceeds the limit (4300 digits)"),
        ("", "VectorError: missing field 'test' in the vector"),
        ("[test]\n", "VectorError: missing field 'stage' in [test]"),
        ('[test]\nstage = "nowhere"\n', "VectorError: unknown stage 'nowhere'"),
        ('[test]\nstage = "placing"\nplacer = "novelty"\n', "VectorError: type: unknown placer 'novelty'"),
        (
            '[test]\nstage = "placing"\nplacer = "u-shaped"\n[[items]]\ncontent = ""\ntokens = 1\nscore = 1.0\n',
            "InvalidItemError: content must not be empty",
        ),
        (
            '[test]\nstage = "placing"\nplacer = "u-shaped"\n[[items]]\ncontent = "x"\ntokens = 1.5\nscore = 1.0\n',
            "TypeError: tokens must be an int",
        ),
    ],
)
def test_whatever_a_vector_brings_about_is_its_result(tmp_path: Path, text: str, problem: str) -> None:
    """RUN-CONFORMANCE-SUITE: errors are collected, and the others still run."""
    write(tmp_path, ("a.toml", text), ("b.toml", RIGHT))
    broken, right = run_suite(tmp_path).results
    assert broken.problem.startswith(problem)
    assert broken.name == "a.toml"
    assert right.passed


def test_a_file_that_is_no_utf_8_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b'[test]\nname = "\xff"\n')
    assert run_suite(tmp_path).failures[0].problem.startswith("UnicodeDecodeError: ")


def test_toml_1_1_is_read(tmp_path: Path) -> None:
    """CV-01."""
    items = '[[items]]\ncontent = "x"\ntokens = 1\ntimestamp = 2024-01-01T00:00Z\n'
    text = f'[test]\nstage = "scoring"\nscorer = "recency"\n{items}[[expected]]\ncontent = "x"\nscore_approx = 1.0\n'
    assert run_suite(write(tmp_path, ("a.toml", text))).ok


def test_a_directory_without_vectors_is_not_fine(tmp_path: Path) -> None:
    outcome = run_suite(write(tmp_path, ("readme.md", "")))
    assert outcome.results == ()
    assert not outcome.ok


@pytest.mark.parametrize("name", ["missing", "file.toml"])
def test_a_directory_must_be_there(tmp_path: Path, name: str) -> None:
    write(tmp_path, ("file.toml", RIGHT))
    with pytest.raises(FileNotFoundError) as caught:
        run_suite(tmp_path / name)
    assert str(caught.value) == f"no such directory: {tmp_path / name}"


def test_the_package_exports_what_the_api_names() -> None:
    assert conformance.__all__ == ["SPECIFICATION", "SuiteResult", "VectorResult", "run_suite"]


@pytest.mark.proves("S-CF-03")
def test_the_specification_is_identified() -> None:
    """META-01: the version numbers inside the text do not agree, so text and suite are named by date and commit."""
    assert SPECIFICATION == "Cupel spec text of 2026-03-25 (post-1.3.0), 67-vector suite at commit 0b82dad"


# --- the project's own vectors


@pytest.fixture(scope="module")
def outcome() -> SuiteResult:
    return run_suite(VECTORS)


@pytest.mark.proves("S-IN-01", "S-CF-01")
def test_all_vectors_of_the_project_pass(outcome: SuiteResult) -> None:
    """CV-11."""
    assert [(failure.path.as_posix(), failure.problem) for failure in outcome.failures] == []
    assert outcome.ok


@pytest.mark.proves("S-CF-01")
@pytest.mark.skipif(not UPSTREAM.is_dir(), reason="the upstream suite is not beside the project")
def test_the_upstream_suite_passes_where_it_is_beside_the_project() -> None:
    """Conformance Levels: MUST pass all Required vectors. `make conformance` runs it in the same place."""
    outcome = run_suite(UPSTREAM)
    assert [(result.path.name, result.problem) for result in outcome.failures] == []
    assert outcome.level == "Cupel Conformant"


def test_the_vectors_of_the_project_are_not_the_upstream_suite(outcome: SuiteResult) -> None:
    """They have tiers like its own, but show no level."""
    assert (outcome.suite, outcome.level) == (None, NO_LEVEL)


def test_the_project_has_vectors_of_every_tier_and_stage(outcome: SuiteResult) -> None:
    """CV-11: a suite that finds no vectors must not look like one that passes."""
    assert len(outcome.results) >= 150
    assert set(outcome.tiers) == {"required", "optional", "extended"}
    places = {result.path.parent.as_posix() for result in outcome.results}
    assert places == {f"{t}/{s}" for t in outcome.tiers for s in ("scoring", "slicing", "placing", "pipeline")}


def test_no_two_vectors_have_one_name(outcome: SuiteResult) -> None:
    names = [result.name for result in outcome.results]
    assert sorted({name for name in names if names.count(name) > 1}) == []


@cache
def own_vectors() -> list[tuple[Path, dict[str, Any]]]:
    return [(path, tomllib.loads(path.read_text(encoding="utf-8"))) for path in sorted(VECTORS.rglob("*.toml"))]


def test_the_vectors_of_the_project_are_toml_1_0() -> None:
    """CV-01: any parser reads them."""
    assert len(own_vectors()) >= 150


def test_every_vector_is_in_the_directory_of_its_stage() -> None:
    misplaced = [path for path, vector in own_vectors() if path.parent.name != vector["test"]["stage"]]
    assert misplaced == []


def test_every_vector_explains_itself() -> None:
    """`docs/vectors.md`: a comment names the chapter or the decision."""
    silent = [path for path, _ in own_vectors() if not re.search(r"(?m)^\s*#", path.read_text(encoding="utf-8"))]
    assert silent == []


def test_no_vector_expects_a_reserved_reason() -> None:
    """ER-01: reserved variants MUST NOT be emitted by built-in stages. MinScoreSlice is an extension."""
    reserved = {cls.__name__ for cls in (ScoredTooLow, QuotaCapExceeded, QuotaRequireDisplaced, Filtered)}
    reasons = {
        entry["exclusion_reason"]
        for _, vector in own_vectors()
        if isinstance(vector.get("expected"), dict) and vector.get("config", {}).get("slicer") != "min_score"
        for entry in vector["expected"].get("diagnostics", {}).get("excluded", [])
    }
    assert {"BudgetExceeded", "Deduplicated", "NegativeTokens", "PinnedOverride", "CountCapExceeded"} <= reasons
    assert not reasons & reserved


# --- the decisions


def decided() -> list[str]:
    """The ids that have a row in the page."""
    rows = re.findall(r"(?m)^\| ([A-Z]+-\d\d) \|", (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8"))
    return [str(row) for row in rows]


def mentioned() -> Iterator[tuple[str, str]]:
    """Every id that is named anywhere, and where."""
    for top, pattern in [("src", "*.py"), ("tests", "*.py"), ("vectors", "*.toml"), ("docs", "*.md")]:
        for path in sorted((ROOT / top).rglob(pattern)):
            for decision in DECISION.findall(path.read_text(encoding="utf-8")):
                yield decision, path.relative_to(ROOT).as_posix()


def test_every_decision_is_listed_once() -> None:
    ids = decided()
    assert len(ids) >= 200
    assert sorted({each for each in ids if ids.count(each) > 1}) == []
    assert [each for each in ids if not DECISION.fullmatch(each)] == []


def test_every_decision_that_is_named_anywhere_exists() -> None:
    """Code, tests, vectors and documents refer to rows of `docs/decisions.md`."""
    known = set(decided())
    everywhere = list(mentioned())
    assert {place.partition("/")[0] for _, place in everywhere} == {"src", "tests", "vectors", "docs"}
    assert sorted({(decision, place) for decision, place in everywhere if decision not in known}) == []


def test_a_list_of_tests_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('[[test]]\nname = "A list"\n', encoding="utf-8")
    [result] = run_suite(tmp_path).results
    assert result.problem == "VectorError: test must be a table, not [{'name': 'A list'}] (list)"
    assert result.name == "a.toml"


@pytest.mark.posix
def test_a_required_vector_that_cannot_be_read_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "required" / "folder.toml").mkdir(parents=True)
    (tmp_path / "required" / "dangling.toml").symlink_to(tmp_path / "nowhere.toml")
    result = run_suite(tmp_path)
    assert len(result.failures) == 2
    assert result.level.startswith("no conformance level")
