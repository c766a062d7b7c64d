"""Reject vectors that would pass without checking anything."""

from __future__ import annotations

from typing import Any

from pycupel.conformance.load import Table, VectorError, is_list, reject_misspelt, section
from pycupel.text import describe

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


def check_statements(vector: Table, stage: str) -> None:
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


def expected_of(vector: Table) -> Table:
    """Return the table `[expected]`; empty if there is none, or a list of scores instead."""
    return {} if is_list(vector.get("expected")) else section(vector, "expected")


def _check_lists(vector: Table, stage: str) -> None:
    own = _items_of(stage)
    other = "items" if own == "scored_items" else "scored_items"
    if other in vector:
        raise VectorError(f"a {stage} vector has its items in {own}, not in {other}")
    if "expected_output" in vector and stage != "pipeline":
        raise VectorError("expected_output is for pipeline vectors")


def _check_error(vector: Table, expected: Table) -> None:
    ignored = [name for name in _OUTCOMES if name in expected]
    if "expected_output" in vector:
        ignored.append("expected_output")
    if ignored:
        raise VectorError(f"a vector that expects an error has no outcome to compare with {', '.join(ignored)}")


def _check_outcome(vector: Table, expected: Table, stage: str) -> None:
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
