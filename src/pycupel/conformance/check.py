"""Running one vector and comparing what comes out."""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pycupel.conformance import build
from pycupel.conformance.load import Table
from pycupel.diagnostics import ExclusionReason, OverflowEvent, SelectionReport
from pycupel.errors import (
    BudgetOverflowError,
    CountRequirementError,
    CupelError,
    CycleError,
    InvalidBudgetError,
    InvalidItemError,
    PinnedExceedsBudgetError,
    PipelineConfigError,
    ScorerConfigError,
    SlicerConfigError,
    TableTooLargeError,
)
from pycupel.scorers._base import score_all

__all__ = ["MismatchError", "check_vector"]

_ERRORS: Mapping[str, type[CupelError]] = {
    "PinnedExceedsBudget": PinnedExceedsBudgetError,
    "Overflow": BudgetOverflowError,
    "TableTooLarge": TableTooLargeError,
    "CountRequirement": CountRequirementError,
    "SlicerConfig": SlicerConfigError,
    "ScorerConfig": ScorerConfigError,
    "PipelineConfig": PipelineConfigError,
    "InvalidBudget": InvalidBudgetError,
    "InvalidItem": InvalidItemError,
    "Cycle": CycleError,
}

_DEFAULT_EPSILON = 1e-9


class MismatchError(Exception):
    """The implementation does not do what the vector expects."""


def check_vector(vector: Table) -> None:
    """Raise `MismatchError` unless everything that the vector expects holds."""
    stage = vector["test"]["stage"]
    if stage not in _STAGES:
        raise MismatchError(f"unknown stage {stage!r}; known are {', '.join(_STAGES)}")
    build_parts, run = _STAGES[stage]
    if vector["test"].get("expect_construction_error"):
        _expect_failure(lambda: build_parts(vector), _expected(vector))
    elif "error" in _expected(vector):
        _expect_failure(lambda: run(vector), _expected(vector))
    else:
        run(vector)


def _expected(vector: Table) -> Table:
    """The table of that name; in scoring vectors it is a list of scores instead."""
    expected: Table = {} if isinstance(vector.get("expected"), list) else vector.get("expected", {})
    return expected


def _expect_failure(action: Callable[[], object], expected: Table) -> None:
    error_type: tuple[type[Exception], ...] = (CupelError, TypeError)
    if "error" in expected:
        if expected["error"] not in _ERRORS:
            raise MismatchError(f"unknown error {expected['error']!r}; known are {', '.join(_ERRORS)}")
        error_type = (_ERRORS[expected["error"]],)
    try:
        # What comes out instead of the error does not matter.
        with contextlib.suppress(MismatchError):
            action()
    except error_type as error:
        message = expected.get("error_message", str(error))
        if str(error) != message:
            raise MismatchError(f"expected the error {message!r}, got {str(error)!r}") from error
        return
    raise MismatchError(f"expected {error_type[0].__name__}, but there was no error")


def _build_scoring(vector: Table) -> Any:
    return build.build_scorer(vector["test"]["scorer"], vector.get("config", {}))


def _run_scoring(vector: Table) -> None:
    scorer = _build_scoring(vector)
    items = tuple(map(build.build_item, vector.get("items", [])))
    epsilon = vector.get("tolerance", {}).get("score_epsilon", _DEFAULT_EPSILON)
    for method, scores in (
        ("score", [scorer.score(item, items) for item in items]),
        ("score_all", score_all(scorer, items)),
    ):
        remaining = list(zip((item.content for item in items), scores, strict=True))
        for expected in () if _expected(vector) else vector.get("expected", ()):
            content = expected["content"]
            found = next((i for i, (name, _) in enumerate(remaining) if name == content), None)
            if found is None:
                raise MismatchError(f"there is no item {content!r}")
            _same_score(f"{method} of {content!r}", remaining.pop(found)[1], expected["score_approx"], epsilon)


def _build_slicing(vector: Table) -> Any:
    return build.build_slicer(vector["test"]["slicer"], vector.get("config", {}))


def _run_slicing(vector: Table) -> None:
    slicer = _build_slicing(vector)
    scored = [build.build_scored_item(table) for table in vector.get("scored_items", [])]
    outcome = slicer.slice_detailed(scored, build.build_budget(vector["budget"]))
    expected = _expected(vector)
    _same_contents("selected", (item.content for item in outcome.selected), expected.get("selected_contents", []))
    capped = [item.content for item, _ in outcome.cap_excluded]
    if "cap_excluded_contents" in expected:
        _same_contents("cap_excluded", capped, expected["cap_excluded_contents"])
    _same("cap_excluded_count", len(capped), expected.get("cap_excluded_count", len(capped)))
    _same("shortfall_count", len(outcome.shortfalls), expected.get("shortfall_count", len(outcome.shortfalls)))
    if "shortfalls" in expected:
        _same_shortfalls(outcome.shortfalls, expected["shortfalls"])


def _build_placing(vector: Table) -> Any:
    return build.build_placer(vector["test"]["placer"])


def _run_placing(vector: Table) -> None:
    scored = [build.build_scored_item(table) for table in vector.get("items", [])]
    placed = [item.content for item in _build_placing(vector).place(scored)]
    _same("order", placed, _expected(vector).get("ordered_contents", []))


def _build_pipeline(vector: Table) -> Any:
    items = [build.build_item(table) for table in vector.get("items", [])]
    return build.build_pipeline(vector.get("config", {})), items, build.build_budget(vector["budget"])


def _run_pipeline(vector: Table) -> None:
    items = [build.build_item(table) for table in vector.get("items", [])]
    budget = build.build_budget(vector["budget"])
    overflows: list[OverflowEvent] = []
    pipeline = build.build_pipeline(vector.get("config", {}), overflows.append)
    output = pipeline.run(items, budget)
    _same("output", [item.content for item in output], [e["content"] for e in vector.get("expected_output", [])])
    report = pipeline.dry_run(items, budget)
    _same("the report's items", [item.content for item in report.items], [item.content for item in output])
    expected = _expected(vector)
    epsilon = vector.get("tolerance", {}).get("score_epsilon", _DEFAULT_EPSILON)
    _check_diagnostics(report, expected.get("diagnostics", {}), epsilon)
    if expected.get("overflow") is False:
        _same("overflow events", len(overflows), 0)
    elif "overflow" in expected:
        _check_overflow(overflows, expected["overflow"])


def _check_overflow(overflows: Sequence[OverflowEvent], expected: Table) -> None:
    _same("overflow events", len(overflows), 1)
    _same("tokens_over_budget", overflows[0].tokens_over_budget, expected["tokens_over_budget"])
    contents = [item.content for item in overflows[0].overflowing_items]
    _same("overflowing items", contents, expected.get("contents", contents))


def _check_diagnostics(report: SelectionReport, expected: Table, epsilon: float) -> None:
    if "included" in expected:
        _same("included", [each.item.content for each in report.included], [e["content"] for e in expected["included"]])
        for included, entry in zip(report.included, expected["included"], strict=True):
            _same_score(f"included {entry['content']!r}", included.score, entry["score_approx"], epsilon)
            _same(f"reason of {entry['content']!r}", str(included.reason), entry["inclusion_reason"])
    if "excluded" in expected:
        _same("excluded", [each.item.content for each in report.excluded], [e["content"] for e in expected["excluded"]])
        for excluded, entry in zip(report.excluded, expected["excluded"], strict=True):
            _same_score(f"excluded {entry['content']!r}", excluded.score, entry["score_approx"], epsilon)
            _check_reason(excluded.reason, entry)
    if "shortfalls" in expected:
        _same_shortfalls(report.count_requirement_shortfalls, expected["shortfalls"])
    for name, value in expected.get("summary", {}).items():
        _same(name, getattr(report, name, value), value)


def _check_reason(reason: ExclusionReason, entry: Table) -> None:
    _same(f"reason of {entry['content']!r}", type(reason).__name__, entry["exclusion_reason"])
    fields: tuple[str, ...] = getattr(reason, "_fields", ())
    for name in fields:
        _same(f"{name} of {entry['content']!r}", getattr(reason, name), entry.get(name, getattr(reason, name)))


def _same_shortfalls(shortfalls: Iterable[Any], expected: Sequence[Table]) -> None:
    actual = [(s.kind.value, s.required_count, s.satisfied_count) for s in shortfalls]
    _same("shortfalls", actual, [(e["kind"], e["required_count"], e["satisfied_count"]) for e in expected])


def _same(what: str, actual: object, expected: object) -> None:
    if actual != expected:
        raise MismatchError(f"{what}: expected {expected!r}, got {actual!r}")


def _same_contents(what: str, actual: Iterable[str], expected: Iterable[str]) -> None:
    """As multisets: a set would hide duplicates (CV-07)."""
    _same(what, sorted(Counter(actual).elements()), sorted(Counter(expected).elements()))


def _same_score(what: str, actual: float, expected: float, epsilon: float) -> None:
    same = math.isnan(actual) if math.isnan(expected) else actual == expected or abs(actual - expected) < epsilon
    if not same:
        raise MismatchError(f"{what}: expected {expected!r}, got {actual!r} (epsilon {epsilon!r})")


_STAGES: Mapping[str, tuple[Callable[[Table], Any], Callable[[Table], None]]] = {
    "scoring": (_build_scoring, _run_scoring),
    "slicing": (_build_slicing, _run_slicing),
    "placing": (_build_placing, _run_placing),
    "pipeline": (_build_pipeline, _run_pipeline),
}
