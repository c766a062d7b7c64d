"""Vectors that expect an error, and errors that no vector expects."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from pycupel.conformance.check import check_vector
from pycupel.errors import (
    CupelError,
    CycleError,
    PinnedExceedsBudgetError,
    ScorerConfigError,
)
from tests.conformance.passing_vectors import (
    FAILING_RUN,
    REFUSED_BUDGET,
    REFUSED_SCORER,
    REFUSED_SLICER,
    changed,
    defect_of,
    problem_of,
)


@pytest.mark.parametrize(
    ("vector", "old", "new", "problem"),
    [
        (FAILING_RUN, "pinned = true", "", "expected PinnedExceedsBudgetError, but there was no error"),
        (
            FAILING_RUN,
            "require 60 tokens",
            "need 60 tokens",
            (
                "expected the error 'Pinned items need 60 tokens, but only 50 are available', "
                "got 'Pinned items require 60 tokens, but only 50 are available'"
            ),
        ),
        (REFUSED_SLICER, "bucket_size = 0", "bucket_size = 1", "expected SlicerConfigError, but there was no error"),
        (REFUSED_SCORER, "boost = 0.0", "boost = 2.0", "expected CupelError, but there was no error"),
        (
            REFUSED_BUDGET,
            "target_tokens = 60",
            "target_tokens = 50",
            "expected InvalidBudgetError, but there was no error",
        ),
        (
            REFUSED_BUDGET,
            "target_tokens (60)",
            "targetTokens (60)",
            (
                "expected the error 'targetTokens (60) must not exceed max_tokens (50)', "
                "got 'target_tokens (60) must not exceed max_tokens (50)'"
            ),
        ),
    ],
)
def test_a_missing_or_different_error_is_found(vector: str, old: str, new: str, problem: str) -> None:
    """CV-03: construction must raise. `docs/vectors.md`: `error` and `error_message`."""
    assert problem_of(changed(vector, old, new)) == problem


@pytest.mark.parametrize(
    ("vector", "old", "new", "raised"),
    [
        (FAILING_RUN, FAILING_RUN.partition("[expected]")[2], "", PinnedExceedsBudgetError),
        (REFUSED_SCORER, "expect_construction_error = true", "", ScorerConfigError),
    ],
)
def test_an_error_that_was_not_expected_gets_through(vector: str, old: str, new: str, raised: type[CupelError]) -> None:
    """The suite reports it."""
    with pytest.raises(raised):
        check_vector(changed(vector, old, new))


@pytest.mark.parametrize(
    ("vector", "old", "new", "problem"),
    [
        (
            FAILING_RUN,
            '"PinnedExceedsBudget"',
            '"Overflow"',
            (
                "expected BudgetOverflowError, got PinnedExceedsBudgetError: "
                "Pinned items require 60 tokens, but only 50 are available"
            ),
        ),
        (
            REFUSED_SLICER,
            '"SlicerConfig"',
            '"ScorerConfig"',
            "expected ScorerConfigError, got SlicerConfigError: bucket_size must be greater than 0, not 0",
        ),
        (
            REFUSED_BUDGET,
            '"InvalidBudget"',
            '"InvalidItem"',
            ("expected InvalidItemError, got InvalidBudgetError: target_tokens (60) must not exceed max_tokens (50)"),
        ),
        # Only errors of the library are construction errors: a `TypeError` may come from anywhere.
        (
            REFUSED_SCORER,
            "boost = 0.0",
            'boost = "none"',
            "expected CupelError, got TypeError: boost must be a number, not 'none' (str)",
        ),
    ],
)
def test_another_error_than_the_expected_one_is_found(vector: str, old: str, new: str, problem: str) -> None:
    assert problem_of(changed(vector, old, new)) == problem


@pytest.mark.parametrize("statement", ["selected_contents = []", "overflow = false", "diagnostics = {included = []}"])
def test_a_vector_that_expects_an_error_expects_nothing_else(statement: str) -> None:
    """There is no outcome, so it would not be compared."""
    name = statement.partition(" ")[0]
    assert defect_of(changed(FAILING_RUN, "[expected]", f"[expected]\n{statement}")) == (
        f"a vector that expects an error has no outcome to compare with {name}"
    )


@pytest.mark.parametrize("vector", [FAILING_RUN, REFUSED_BUDGET])
def test_a_vector_that_expects_an_error_expects_no_output(vector: str) -> None:
    assert defect_of(changed(vector, "[test]", "expected_output = []\n[test]")) == (
        "a vector that expects an error has no outcome to compare with expected_output"
    )


@pytest.mark.parametrize(
    ("vector", "old", "new", "defect"),
    [
        (REFUSED_SCORER, "boost = 0.0", "bost = 0.0", "boost: is missing; 'bost' is unknown: did you mean 'boost'?"),
        (REFUSED_SCORER, 'key = "k"', "", "key: is missing"),
        (REFUSED_SCORER, "[config]", "[confg]", "key: is missing"),
        (REFUSED_BUDGET, "[[config.scorers]]", "[[config.scorer]]", "missing field 'scorers' in [config]"),
        (REFUSED_BUDGET, "target_tokens", "target", "missing field 'target_tokens' in [budget]"),
        (REFUSED_SCORER, '"metadata_key"', '"composite"', "scorers: is missing"),
        (REFUSED_SCORER, '"metadata_key"', '"scaled"', "inner_scorer: is missing"),
        (REFUSED_SCORER, '"metadata_key"', '"boosted"', "inner_scorer: is missing"),
        (REFUSED_SCORER, '"metadata_key"', '"decay"', "reference_time: is missing"),
        (REFUSED_SCORER, 'scorer = "metadata_key"', "", "missing field 'scorer' in [test]"),
    ],
)
def test_a_missing_field_is_no_construction_error(vector: str, old: str, new: str, defect: str) -> None:
    """The vector is wrong, not what it describes."""
    assert defect_of(changed(vector, old, new)) == defect


def test_an_error_needs_no_message() -> None:
    message = 'error_message = "Pinned items require 60 tokens, but only 50 are available"'
    check_vector(changed(FAILING_RUN, message, ""))


def test_an_error_of_the_whole_pipeline_has_a_name_too() -> None:
    """`docs/vectors.md`: building the whole pipeline must fail. The vectors have every other error."""
    text = """
    [test]
    stage = "pipeline"
    expect_construction_error = true
    [budget]
    target_tokens = 1
    [config]
    deduplication = false
    dedupe_against_pinned = true
    scorers = [{type = "recency"}]
    [expected]
    error = "PipelineConfig"
    """
    check_vector(tomllib.loads(text))


def test_an_invalid_item_is_named() -> None:
    """DM-01: also without a pipeline."""
    text = """
    [test]
    stage = "scoring"
    scorer = "recency"
    [[items]]
    content = ""
    tokens = 1
    [expected]
    error = "InvalidItem"
    """
    check_vector(tomllib.loads(text))


def test_scorers_nested_too_deeply_are_a_cycle_error() -> None:
    """PY-08: `Cycle` is the name for what cannot be evaluated."""
    config: dict[str, Any] = {"type": "recency"}
    for _ in range(101):
        config = {"type": "scaled", "inner_scorer": config}
    vector: dict[str, Any] = {
        "test": {"stage": "scoring", "scorer": "scaled", "expect_construction_error": True},
        "config": config,
        "expected": {"error": "Cycle"},
    }
    check_vector(vector)
    del vector["test"]["expect_construction_error"]
    vector["expected"] = []
    with pytest.raises(CycleError):
        check_vector(vector)


def test_an_unknown_error_name_does_not_pass() -> None:
    defect = defect_of(changed(FAILING_RUN, '"PinnedExceedsBudget"', '"Novelty"'))
    assert defect.startswith("unknown error 'Novelty'; expected one of PinnedExceedsBudget, Overflow")
