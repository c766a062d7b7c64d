"""Run vectors, one stage by stage or a directory of them, and determine the conformance level that they prove."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from pycupel import errors
from pycupel.conformance import vectors as build
from pycupel.conformance.vectors import (
    TomlTable,
    VectorError,
    read_vector,
    reject_misspelt,
    require,
    section,
    spelled,
    tables,
)
from pycupel.diagnostics import ExcludedItem, IncludedItem, OverflowEvent, SelectionReport
from pycupel.errors import InvalidArgumentError
from pycupel.fields import is_list
from pycupel.model import ContextItem
from pycupel.model.checks import checked_path, checked_str
from pycupel.protocols import Placer, Scorer, SliceOutcome
from pycupel.registry import PLACERS, SCORERS, SLICERS, Registry
from pycupel.scorers._base import score_all
from pycupel.text import describe
from pycupel.values import sealed

_SUMMARY = ("total_candidates", "total_tokens_considered")

# Scores are about 0 to 1: with a larger tolerance, a vector would pass whatever they are.
_MAX_EPSILON = 1e-3


class MismatchError(Exception):
    """The implementation does not do what the vector expects."""


def compare_overflow(overflows: Sequence[OverflowEvent], expected: TomlTable) -> None:
    """Raise unless there was one overflow, of the expected size."""
    tokens = require(expected, "tokens_over_budget", "[expected.overflow]")
    reject_misspelt(expected, "[expected.overflow]", ("tokens_over_budget", "contents"))
    same("overflow events", len(overflows), 1)
    same("tokens_over_budget", overflows[0].tokens_over_budget, tokens)
    contents = [item.content for item in overflows[0].overflowing_items]
    same("overflowing items", contents, expected.get("contents", contents))


def compare_diagnostics(report: SelectionReport, expected: TomlTable, epsilon: float) -> None:
    """Raise unless the report is as expected, as far as the vector says."""
    summary = section(expected, "summary")
    reject_misspelt(expected, "[expected.diagnostics]", ("included", "excluded", "shortfalls", "summary"))
    reject_misspelt(summary, "[expected.diagnostics.summary]", _SUMMARY)
    if "included" in expected:
        for included, entry, where in _entries("included", report.included, expected, epsilon):
            same(f"reason of {entry['content']!r}", str(included.reason), require(entry, "inclusion_reason", where))
    if "excluded" in expected:
        for excluded, entry, where in _entries("excluded", report.excluded, expected, epsilon):
            reason: Any = excluded.reason
            same(f"reason of {entry['content']!r}", type(reason).__name__, require(entry, "exclusion_reason", where))
            for name in getattr(reason, "__match_args__", ()):
                # What the specification counts are kinds.
                wanted = entry.get(name, "kind") if name == "by" else require(entry, name, where)
                same(f"{name} of {entry['content']!r}", getattr(reason, name), wanted)
    if "shortfalls" in expected:
        same_shortfalls(report.count_requirement_shortfalls, expected)
    for name in _SUMMARY:
        if name in summary:
            same(name, getattr(report, name), summary[name])


def _entries(
    name: str, items: Sequence[Any], expected: TomlTable, epsilon: float
) -> Iterable[tuple[IncludedItem | ExcludedItem, TomlTable, str]]:
    """Pair the entries of a report with those of the vector, and check that contents and scores match."""
    entries = tables(expected, name)
    contents = [require(entry, "content", f"an entry of {name}") for entry in entries]
    same(name, [each.item.content for each in items], contents)
    for each, entry, content in zip(items, entries, contents, strict=True):
        where = f"the entry for {content!r}"
        same_score(f"{name} {content!r}", each.score, require(entry, "score_approx", where), epsilon)
        yield each, entry, where


def same_shortfalls(shortfalls: Iterable[Any], expected: TomlTable) -> None:
    """Raise unless the shortfalls are those of the table, in order."""
    fields = ("kind", "required_count", "satisfied_count")
    entries = tables(expected, "shortfalls")
    wanted = [tuple(require(entry, field, "a shortfall") for field in fields) for entry in entries]
    same("shortfalls", [(s.kind.value, s.required_count, s.satisfied_count) for s in shortfalls], wanted)


def same(what: str, actual: object, expected: object) -> None:
    """Raise unless the values are equal. True is not the number 1."""
    if actual != expected or isinstance(actual, bool) != isinstance(expected, bool):
        raise MismatchError(f"{what}: expected {expected!r}, got {actual!r}")


def same_score(what: str, actual: float, expected: Any, epsilon: float) -> None:
    """Raise unless the scores differ by less than epsilon; an expected NaN matches NaN."""
    if not _is_number(expected):
        raise VectorError(f"score_approx must be a number, not {describe(expected)}")
    matches = math.isnan(actual) if math.isnan(expected) else actual == expected or abs(actual - expected) < epsilon
    if not matches:
        raise MismatchError(f"{what}: expected {expected!r}, got {actual!r} (epsilon {epsilon!r})")


def epsilon_of(vector: TomlTable) -> float:
    """Return a vector's tolerance for scores."""
    epsilon = section(vector, "tolerance").get("score_epsilon", 1e-9)
    if not _is_number(epsilon) or not 0 < epsilon <= _MAX_EPSILON:
        raise VectorError(f"score_epsilon must be a number above 0, at most {_MAX_EPSILON}, not {describe(epsilon)}")
    return float(epsilon)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# Reject vectors that would pass without checking anything.


# The lists of a vector.
_LISTS = ("items", "scored_items", "expected", "expected_output")

# What a vector may state in [expected] about an outcome.
_OUTCOMES = (
    "selected_contents",
    "cap_excluded_contents",
    "cap_excluded_count",
    "shortfall_count",
    "shortfalls",
    "ordered_contents",
    "diagnostics",
    "overflow",
)


def check_statements(vector: TomlTable, stage: str) -> None:
    """Reject statements that the stage would ignore: misspelt, in the wrong list, or without an outcome."""
    test, expected = section(vector, "test"), expected_of(vector)
    reject_misspelt(vector, "the vector", ("expected", "expected_output"))
    reject_misspelt(test, "[test]", ("expect_construction_error",))
    reject_misspelt(expected, "[expected]", ("error", "error_message", *_OUTCOMES))
    own, other = ("scored_items", "items") if stage == "slicing" else ("items", "scored_items")
    if other in vector:
        raise VectorError(f"a {stage} vector has its items in {own}, not in {other}")
    if "expected_output" in vector and stage != "pipeline":
        raise VectorError("expected_output is for pipeline vectors")
    fails_early = test.get("expect_construction_error", False)
    if not isinstance(fails_early, bool):
        raise VectorError(f"expect_construction_error must be true or false, not {describe(fails_early)}")
    if fails_early or "error" in expected:
        ignored = [name for name in _OUTCOMES if name in expected]
        ignored += ["expected_output"] if "expected_output" in vector else []
        if ignored:
            raise VectorError(f"a vector that expects an error has no outcome to compare with {', '.join(ignored)}")
        return
    if "error_message" in expected:
        raise VectorError("error_message requires error")
    # Misspelt items, ignored like any unknown field (CV-02), would leave nothing to run.
    unknown = [
        name
        for name, value in vector.items()
        if name not in _LISTS and is_list(value) and any(isinstance(each, dict) for each in value)
    ]
    if own not in vector and unknown:
        raise VectorError(f"a {stage} vector has its items in {own}, but this one has only {', '.join(unknown)}")


def expected_of(vector: TomlTable) -> TomlTable:
    """Return the table `[expected]`; empty if there is none, or a list of scores instead."""
    return {} if is_list(vector.get("expected")) else section(vector, "expected")


_ERRORS: Mapping[str, type[errors.CupelError]] = {
    "PinnedExceedsBudget": errors.PinnedExceedsBudgetError,
    "Overflow": errors.BudgetOverflowError,
    "TableTooLarge": errors.TableTooLargeError,
    "CountRequirement": errors.CountRequirementError,
    "SlicerConfig": errors.SlicerConfigError,
    "ScorerConfig": errors.ScorerConfigError,
    "PipelineConfig": errors.PipelineConfigError,
    "InvalidBudget": errors.InvalidBudgetError,
    "InvalidItem": errors.InvalidItemError,
    "Cycle": errors.CycleError,
}


class _Stage(NamedTuple):
    """How vectors of a stage are run: build what they describe, run it, and compare the outcome."""

    build: Callable[[TomlTable], object]
    run: Callable[[TomlTable], Any]
    compare: Callable[[TomlTable, Any], None]


def check_vector(vector: TomlTable) -> None:
    """Run a vector."""
    test = require(vector, "test", "the vector")
    name = spelled("stage", require(test, "stage", "[test]"), _STAGES)
    stage = _STAGES[name]
    check_statements(vector, name)
    # A wrong tolerance is a mistake even if there are no scores to compare.
    epsilon_of(vector)
    if test.get("expect_construction_error"):
        _expect_error(stage.build, vector)
    elif "error" in expected_of(vector):
        _expect_error(stage.run, vector)
    else:
        stage.compare(vector, stage.run(vector))


def _expect_error(action: Callable[[TomlTable], object], vector: TomlTable) -> None:
    expected = section(vector, "expected")
    error_type = _ERRORS[spelled("error", expected["error"], _ERRORS)] if "error" in expected else errors.CupelError
    try:
        action(vector)
    except (errors.CupelError, TypeError) as error:
        if not isinstance(error, error_type):
            raise MismatchError(f"expected {error_type.__name__}, got {type(error).__name__}: {error}") from error
        message = expected.get("error_message", str(error))
        if str(error) != message:
            raise MismatchError(f"expected the error {message!r}, got {str(error)!r}") from error
        return
    raise MismatchError(f"expected {error_type.__name__}, but there was no error")


def _build_strategy(registry: Registry, vector: TomlTable) -> Any:
    """Build the strategy that a vector of one stage is about."""
    name = require(vector["test"], registry.what, "[test]")
    return build.build_strategy(registry, name, section(vector, "config"))


# --- scoring


def _run_scorer(vector: TomlTable) -> dict[str, list[tuple[ContextItem, float]]]:
    scorer: Scorer = _build_strategy(SCORERS, vector)
    items = tuple(map(build.build_item, tables(vector, "items")))
    one_by_one = [scorer.score(item, items) for item in items]
    return {
        "score": list(zip(items, one_by_one, strict=True)),
        "score_all": list(zip(items, score_all(scorer, items), strict=True)),
    }


def _compare_scores(vector: TomlTable, scores: dict[str, list[tuple[ContextItem, float]]]) -> None:
    epsilon = epsilon_of(vector)
    if not tables(vector, "items") and not tables(vector, "expected"):
        raise VectorError("a scoring vector without items checks nothing")
    for method, remaining in scores.items():
        for entry in tables(vector, "expected"):
            content = require(entry, "content", "an expected score")
            found = next((i for i, (item, _) in enumerate(remaining) if item.content == content), None)
            if found is None:
                raise MismatchError(f"there is no item {content!r}")
            expected = require(entry, "score_approx", "an expected score")
            same_score(f"{method} of {content!r}", remaining.pop(found)[1], expected, epsilon)
        if remaining:
            raise VectorError(f"no expected score for {', '.join(repr(item.content) for item, _ in remaining)}")


# --- slicing


def _run_slicer(vector: TomlTable) -> SliceOutcome:
    slicer = _build_strategy(SLICERS, vector)
    scored = [build.build_scored_item(table) for table in tables(vector, "scored_items")]
    budget = build.build_budget(require(vector, "budget", "the vector"))
    if not hasattr(slicer, "slice_detailed"):
        return SliceOutcome(slicer.slice(scored, budget))
    outcome: SliceOutcome = slicer.slice_detailed(scored, budget)
    return outcome


def _compare_slice(vector: TomlTable, outcome: SliceOutcome) -> None:
    expected = section(vector, "expected")
    selected = require(expected, "selected_contents", "[expected]")
    # As multisets: a set would hide duplicates (CV-07).
    same("selected", sorted(item.content for item in outcome.selected), _sorted("selected_contents", selected))
    capped = sorted(item.content for item, _ in outcome.cap_excluded)
    if "cap_excluded_contents" in expected:
        same("cap_excluded", capped, _sorted("cap_excluded_contents", expected["cap_excluded_contents"]))
    for name, count in (("cap_excluded_count", len(capped)), ("shortfall_count", len(outcome.shortfalls))):
        if name in expected:
            same(name, count, _count(name, expected[name]))
    if "shortfalls" in expected:
        same_shortfalls(outcome.shortfalls, expected)


def _sorted(name: str, contents: Any) -> list[str]:
    if not is_list(contents) or not all(isinstance(content, str) for content in contents):
        raise VectorError(f"{name} must be a list of strings, not {describe(contents)}")
    return sorted(contents)


def _count(name: str, count: Any) -> int:
    if type(count) is not int:
        raise VectorError(f"{name} must be an integer, not {describe(count)}")
    return count


# --- placing


def _run_placer(vector: TomlTable) -> list[str]:
    placer: Placer = _build_strategy(PLACERS, vector)
    scored = [build.build_scored_item(table) for table in tables(vector, "items")]
    return [item.content for item in placer.place(scored)]


def _compare_order(vector: TomlTable, order: list[str]) -> None:
    same("order", order, require(section(vector, "expected"), "ordered_contents", "[expected]"))


# --- pipeline


class _PipelineRun(NamedTuple):
    output: list[str]
    report: SelectionReport
    overflows: list[OverflowEvent]


def _build_pipeline(vector: TomlTable, on_overflow: Callable[[OverflowEvent], object] | None = None) -> Any:
    return (
        build.build_pipeline(section(vector, "config"), on_overflow),
        [build.build_item(table) for table in tables(vector, "items")],
        build.build_budget(require(vector, "budget", "the vector")),
    )


def _run_pipeline(vector: TomlTable) -> _PipelineRun:
    overflows: list[OverflowEvent] = []
    pipeline, items, budget = _build_pipeline(vector, overflows.append)
    output = [item.content for item in pipeline.run(items, budget)]
    return _PipelineRun(output, pipeline.dry_run(items, budget), overflows)


def _compare_run(vector: TomlTable, run: _PipelineRun) -> None:
    # A missing list expects an empty output (CV-04).
    expected_output = tables(vector, "expected_output")
    same("output", run.output, [require(entry, "content", "expected_output") for entry in expected_output])
    same("the report's items", [item.content for item in run.report.items], run.output)
    expected = section(vector, "expected")
    compare_diagnostics(run.report, section(expected, "diagnostics"), epsilon_of(vector))
    if expected.get("overflow") is False:
        same("overflow events", len(run.overflows), 0)
    elif "overflow" in expected:
        compare_overflow(run.overflows, expected["overflow"])


_STAGES: Mapping[str, _Stage] = {
    "scoring": _Stage(partial(_build_strategy, SCORERS), _run_scorer, _compare_scores),
    "slicing": _Stage(partial(_build_strategy, SLICERS), _run_slicer, _compare_slice),
    "placing": _Stage(partial(_build_strategy, PLACERS), _run_placer, _compare_order),
    "pipeline": _Stage(_build_pipeline, _run_pipeline, _compare_run),
}


# A directory of vectors.


# By date and commit, because the version numbers inside the text disagree (META-01).
SPECIFICATION = "Cupel spec text of 2026-03-25 (post-1.3.0), 67-vector suite at commit 0b82dad"
"""The specification that this version implements, and the conformance suite for it."""

_TIERS = ("required", "optional", "extended")
# Names and contents of the 58 vectors in that suite's `required/`.
_UPSTREAM_REQUIRED = "ebe0c811df6725074abe9c410ca545302d5642f68ea7ee682af8aae2e1891a0f"


@sealed
@dataclass(frozen=True, slots=True)
class VectorResult:
    """The result of one vector."""

    path: Path
    """The vector's file, relative to the directory that was run."""

    tier: str
    """`required`, `optional` or `extended`, by the folder that the file is in; otherwise `other`."""

    name: str
    """The vector's own name for what it tests."""

    problem: str = ""
    """Why it failed; empty if it passed."""

    @property
    def passed(self) -> bool:
        """Whether the vector passed."""
        return not self.problem


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class SuiteResult:
    """The results of all vectors in a directory."""

    results: tuple[VectorResult, ...]
    """One result for each vector, in the order of their paths."""

    suite: str | None = None
    """The suite's name: the caller's, or the upstream suite's if the required vectors are recognised; else None."""

    required_only: bool = False
    """Whether the suite was recognised by its required vectors alone."""

    @property
    def failures(self) -> tuple[VectorResult, ...]:
        """The vectors that failed."""
        return tuple(result for result in self.results if not result.passed)

    @property
    def ok(self) -> bool:
        """Whether all vectors passed, and there was at least one."""
        return bool(self.results) and not self.failures

    @property
    def tiers(self) -> dict[str, tuple[int, int]]:
        """For each tier that occurs: how many of its vectors passed, and how many there are."""
        total = Counter(result.tier for result in self.results)
        passed = Counter(result.tier for result in self.results if result.passed)
        return {tier: (passed[tier], total[tier]) for tier in (*_TIERS, "other") if total[tier]}

    @property
    def level(self) -> str:
        """The conformance level that the vectors prove, or why they prove none.

        The levels are the specification's: `Cupel Conformant` if all required vectors pass, `Cupel Fully Conformant` if
        all optional ones pass, too.
        """
        if self.suite is None:
            return "no conformance level: these vectors are not a known suite"
        complete = {tier: passed == total for tier, (passed, total) in self.tiers.items()}
        if "required" not in complete:
            return "no conformance level: there are no required vectors"
        if not complete["required"]:
            return "not conformant"
        return "Cupel Fully Conformant" if complete.get("optional") and not self.required_only else "Cupel Conformant"

    def __repr__(self) -> str:
        total = len(self.results)
        return f"<SuiteResult: {total - len(self.failures)} of {total} vectors passed>"


def run_suite(directory: str | Path, *, suite: str | None = None) -> SuiteResult:
    """Run every `*.toml` below a directory, in the order of their paths.

    Args:
        directory: The directory of the vectors, searched recursively.
        suite: What the vectors are, with a version: by naming the suite, you claim that its tiers `required` and
            `optional` are complete, and the result has a conformance level. Without a name there is a level only if
            the required vectors are recognised as those of the upstream suite.
    """
    if suite is not None and not checked_str("suite", suite).strip():
        raise InvalidArgumentError("suite must not be empty", argument="suite", value=suite)
    root = Path(checked_path("directory", directory)).resolve()
    if not root.is_dir():
        raise FileNotFoundError(f"no such directory: {directory}")
    results = tuple(_run(path, root) for path in sorted(root.rglob("*.toml")))
    if suite is None and _digest(root, results) == _UPSTREAM_REQUIRED:
        return SuiteResult(results, SPECIFICATION, required_only=True)
    return SuiteResult(results, suite)


def _run(path: Path, root: Path) -> VectorResult:
    relative = path.relative_to(root)
    tier = next((part for part in (root.name, *relative.parts) if part in _TIERS), "other")
    name = relative.as_posix()
    try:
        vector = read_vector(path)
        name = str(section(vector, "test").get("name", name))
        check_vector(vector)
    except Exception as error:  # noqa: BLE001 - whatever a vector brings about is its result
        return VectorResult(relative, tier, name, f"{type(error).__name__}: {error}")
    return VectorResult(relative, tier, name)


def _digest(root: Path, results: Iterable[VectorResult]) -> str:
    """Digest the names and contents of the required vectors, whatever their line ends."""
    required: dict[str, Path] = {}
    for each in results:
        if each.tier == "required":
            parts = (root.name, *each.path.parts)
            required["/".join(parts[parts.index("required") + 1 :])] = each.path
    digest = sha256()
    for name in sorted(required):
        try:
            content = (root / required[name]).read_bytes().replace(b"\r\n", b"\n")
        except OSError:
            # It has already failed, so these cannot be the known vectors.
            return ""
        digest.update(name.encode() + b"\0" + content + b"\0")
    return digest.hexdigest()
