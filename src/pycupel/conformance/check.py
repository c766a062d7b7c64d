"""Run one vector, stage by stage."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from pycupel import errors
from pycupel.conformance import vectors as build
from pycupel.conformance.vectors import TomlTable, VectorError, reject_misspelt, require, section, spelled, tables
from pycupel.diagnostics import ExcludedItem, IncludedItem, OverflowEvent, SelectionReport
from pycupel.fields import is_list
from pycupel.model import ContextItem
from pycupel.protocols import Placer, Scorer, SliceOutcome
from pycupel.registry import PLACERS, SCORERS, SLICERS, Registry
from pycupel.scorers._base import score_all
from pycupel.text import describe

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
            _compare_reason(excluded, entry, where)
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


def _compare_reason(excluded: IncludedItem | ExcludedItem, entry: TomlTable, where: str) -> None:
    reason: Any = excluded.reason
    same(f"reason of {entry['content']!r}", type(reason).__name__, require(entry, "exclusion_reason", where))
    for name in getattr(reason, "__match_args__", ()):
        if name == "by" and name not in entry:
            # What the specification counts are kinds.
            entry = {**entry, "by": "kind"}
        same(f"{name} of {entry['content']!r}", getattr(reason, name), require(entry, name, where))


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
    """Reject a vector with statements that its stage would ignore: misspelt, in the wrong list, or without an outcome.

    Raises:
        VectorError: the vector states something that would be ignored.
    """
    test, expected = section(vector, "test"), expected_of(vector)
    reject_misspelt(vector, "the vector", ("expected", "expected_output"))
    reject_misspelt(test, "[test]", ("expect_construction_error",))
    reject_misspelt(expected, "[expected]", ("error", "error_message", *_OUTCOMES))
    _check_lists(vector, stage)
    fails_early = test.get("expect_construction_error", False)
    if not isinstance(fails_early, bool):
        raise VectorError(f"expect_construction_error must be true or false, not {describe(fails_early)}")
    if fails_early or "error" in expected:
        _check_error(vector, expected)
    else:
        _check_outcome(vector, expected, stage)


def expected_of(vector: TomlTable) -> TomlTable:
    """Return the table `[expected]`; empty if there is none, or a list of scores instead."""
    return {} if is_list(vector.get("expected")) else section(vector, "expected")


def _check_lists(vector: TomlTable, stage: str) -> None:
    own = _items_of(stage)
    other = "items" if own == "scored_items" else "scored_items"
    if other in vector:
        raise VectorError(f"a {stage} vector has its items in {own}, not in {other}")
    if "expected_output" in vector and stage != "pipeline":
        raise VectorError("expected_output is for pipeline vectors")


def _check_error(vector: TomlTable, expected: TomlTable) -> None:
    ignored = [name for name in _OUTCOMES if name in expected]
    if "expected_output" in vector:
        ignored.append("expected_output")
    if ignored:
        raise VectorError(f"a vector that expects an error has no outcome to compare with {', '.join(ignored)}")


def _check_outcome(vector: TomlTable, expected: TomlTable, stage: str) -> None:
    if "error_message" in expected:
        raise VectorError("error_message requires error")
    # Misspelt items, ignored like any unknown field (CV-02), would leave nothing to run.
    own = _items_of(stage)
    unknown = [name for name, value in vector.items() if name not in _LISTS and _is_list_of_tables(value)]
    if own not in vector and unknown:
        raise VectorError(f"a {stage} vector has its items in {own}, but this one has only {', '.join(unknown)}")


def _items_of(stage: str) -> str:
    return "scored_items" if stage == "slicing" else "items"


def _is_list_of_tables(value: Any) -> bool:
    return is_list(value) and any(isinstance(each, dict) for each in value)


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
    """Run a vector.

    Raises:
        MismatchError: the outcome is not what the vector expects.
        VectorError: the vector cannot be run, or does not state what it expects.
    """
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
