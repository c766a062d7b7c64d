"""Run one vector, stage by stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from pycupel import errors
from pycupel.conformance import build
from pycupel.conformance.compare import (
    MismatchError,
    compare_diagnostics,
    compare_overflow,
    epsilon_of,
    same,
    same_score,
    same_shortfalls,
)
from pycupel.conformance.load import Table, VectorError, choose, is_list, require, section, tables
from pycupel.conformance.statements import check_statements, expected_of
from pycupel.diagnostics import OverflowEvent, SelectionReport
from pycupel.model import ContextItem
from pycupel.protocols import Placer, Scorer, SliceOutcome
from pycupel.registry import PLACERS, SCORERS, SLICERS, Registry
from pycupel.scorers._base import score_all
from pycupel.text import describe

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

    build: Callable[[Table], object]
    run: Callable[[Table], Any]
    compare: Callable[[Table, Any], None]


def check_vector(vector: Table) -> None:
    """Run a vector.

    Raises:
        MismatchError: the outcome is not what the vector expects.
        VectorError: the vector cannot be run, or does not state what it expects.
    """
    test = require(vector, "test", "the vector")
    name = choose("stage", require(test, "stage", "[test]"), _STAGES)
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


def _expect_error(action: Callable[[Table], object], vector: Table) -> None:
    expected = section(vector, "expected")
    error_type = _ERRORS[choose("error", expected["error"], _ERRORS)] if "error" in expected else errors.CupelError
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


def _build_strategy(registry: Registry, vector: Table) -> Any:
    """Build the strategy that a vector of one stage is about."""
    name = require(vector["test"], registry.what, "[test]")
    return build.build_strategy(registry, name, section(vector, "config"))


# --- scoring


def _run_scorer(vector: Table) -> dict[str, list[tuple[ContextItem, float]]]:
    scorer: Scorer = _build_strategy(SCORERS, vector)
    items = tuple(map(build.build_item, tables(vector, "items")))
    one_by_one = [scorer.score(item, items) for item in items]
    return {
        "score": list(zip(items, one_by_one, strict=True)),
        "score_all": list(zip(items, score_all(scorer, items), strict=True)),
    }


def _compare_scores(vector: Table, scores: dict[str, list[tuple[ContextItem, float]]]) -> None:
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


def _run_slicer(vector: Table) -> SliceOutcome:
    slicer = _build_strategy(SLICERS, vector)
    scored = [build.build_scored_item(table) for table in tables(vector, "scored_items")]
    budget = build.build_budget(require(vector, "budget", "the vector"))
    if not hasattr(slicer, "slice_detailed"):
        return SliceOutcome(slicer.slice(scored, budget))
    outcome: SliceOutcome = slicer.slice_detailed(scored, budget)
    return outcome


def _compare_slice(vector: Table, outcome: SliceOutcome) -> None:
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


def _run_placer(vector: Table) -> list[str]:
    placer: Placer = _build_strategy(PLACERS, vector)
    scored = [build.build_scored_item(table) for table in tables(vector, "items")]
    return [item.content for item in placer.place(scored)]


def _compare_order(vector: Table, order: list[str]) -> None:
    same("order", order, require(section(vector, "expected"), "ordered_contents", "[expected]"))


# --- pipeline


class _PipelineRun(NamedTuple):
    output: list[str]
    report: SelectionReport
    overflows: list[OverflowEvent]


def _build_pipeline(vector: Table, on_overflow: Callable[[OverflowEvent], object] | None = None) -> Any:
    return (
        build.build_pipeline(section(vector, "config"), on_overflow),
        [build.build_item(table) for table in tables(vector, "items")],
        build.build_budget(require(vector, "budget", "the vector")),
    )


def _run_pipeline(vector: Table) -> _PipelineRun:
    overflows: list[OverflowEvent] = []
    pipeline, items, budget = _build_pipeline(vector, overflows.append)
    output = [item.content for item in pipeline.run(items, budget)]
    return _PipelineRun(output, pipeline.dry_run(items, budget), overflows)


def _compare_run(vector: Table, run: _PipelineRun) -> None:
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
