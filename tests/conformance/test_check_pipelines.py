"""Comparing what a vector of a whole pipeline expects: its output, its diagnostics and its overflow."""

from __future__ import annotations

import tomllib

import pytest

from pycupel.conformance.check import check_vector
from tests.conformance.passing_vectors import (
    CAPPED,
    OVERFLOW,
    PIPELINE,
    PLACING,
    REFUSED_SCORER,
    SCORING,
    SLICING,
    changed,
    defect_of,
    problem_of,
)

OUTPUT = "output: expected {}, got ['pin', 'good', 'twin', 'free']"


def test_a_pipeline_vector_without_a_list_of_output_expects_none() -> None:
    """CV-04: a missing list is an empty one."""
    vector = tomllib.loads(PIPELINE)
    del vector["expected_output"]
    assert problem_of(vector) == OUTPUT.format("[]")


@pytest.mark.proves("S-CF-05")
@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            '[[expected_output]]\ncontent = "pin"\n[[expected_output]]\ncontent = "good"',
            '[[expected_output]]\ncontent = "good"\n[[expected_output]]\ncontent = "pin"',
            OUTPUT.format("['good', 'pin', 'twin', 'free']"),
        ),
        ('[[expected_output]]\ncontent = "free"\n', "", OUTPUT.format("['pin', 'good', 'twin']")),
        (
            "[expected]\n",
            '[[expected_output]]\ncontent = "large"\n[expected]\n',
            OUTPUT.format("['pin', 'good', 'twin', 'free', 'large']"),
        ),
        ("total_candidates = 8", "total_candidates = 7", "total_candidates: expected 7, got 8"),
        (
            "total_tokens_considered = 665",
            "total_tokens_considered = 670",
            "total_tokens_considered: expected 670, got 665",
        ),
        ("score_approx = 0.9", "score_approx = 0.91", "included 'good': expected 0.91, got 0.9 (epsilon 1e-09)"),
        ("score_approx = 1.0", "score_approx = 0.0", "included 'pin': expected 0.0, got 1.0 (epsilon 1e-09)"),
        ('"Pinned"', '"Scored"', "reason of 'pin': expected 'Scored', got 'Pinned'"),
        ('"ZeroToken"', '"Scored"', "reason of 'free': expected 'Scored', got 'ZeroToken'"),
        (
            '[[expected.diagnostics.included]]\ncontent = "good"',
            '[[expected.diagnostics.included]]\ncontent = "better"',
            "included: expected ['pin', 'better', 'twin', 'free'], got ['pin', 'good', 'twin', 'free']",
        ),
        (
            '[[expected.diagnostics.excluded]]\ncontent = "large"',
            '[[expected.diagnostics.excluded]]\ncontent = "larger"',
            (
                "excluded: expected ['larger', 'displaced', 'twin', 'negative'], "
                "got ['large', 'displaced', 'twin', 'negative']"
            ),
        ),
        ("score_approx = 0.7", "score_approx = 0.0", "excluded 'large': expected 0.0, got 0.7 (epsilon 1e-09)"),
        (
            '"BudgetExceeded"',
            '"PinnedOverride"',
            "reason of 'large': expected 'PinnedOverride', got 'BudgetExceeded'",
        ),
        (
            '"PinnedOverride"',
            '"BudgetExceeded"',
            "reason of 'displaced': expected 'BudgetExceeded', got 'PinnedOverride'",
        ),
        ("item_tokens = 500", "item_tokens = 501", "item_tokens of 'large': expected 501, got 500"),
        ("available_tokens = 30", "available_tokens = 40", "available_tokens of 'large': expected 40, got 30"),
        ('displaced_by = "pin"', 'displaced_by = "x"', "displaced_by of 'displaced': expected 'x', got 'pin'"),
        (
            'deduplicated_against = "twin"',
            'deduplicated_against = "x"',
            "deduplicated_against of 'twin': expected 'x', got 'twin'",
        ),
        (
            '"NegativeTokens"\ntokens = -5',
            '"NegativeTokens"\ntokens = 5',
            "tokens of 'negative': expected 5, got -5",
        ),
        ("required_count = 1", "required_count = 2", "shortfalls: expected [('Memory', 2, 0)], got [('Memory', 1, 0)]"),
        (
            "satisfied_count = 0",
            "satisfied_count = 1",
            "shortfalls: expected [('Memory', 1, 1)], got [('Memory', 1, 0)]",
        ),
    ],
)
def test_wrong_output_or_diagnostics_are_found(old: str, new: str, problem: str) -> None:
    """Running a Pipeline Test. CV-06: diagnostics are checked whenever a vector states them."""
    assert problem_of(changed(PIPELINE, old, new)) == problem


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('kind = "Note"\ncap = 1', 'kind = "note"\ncap = 1', "kind of 'two': expected 'note', got 'Note'"),
        ("cap = 1", "cap = 2", "cap of 'two': expected 2, got 1"),
        ("\ncount = 1", "\ncount = 0", "count of 'two': expected 0, got 1"),
        (
            '"CountCapExceeded"',
            '"BudgetExceeded"',
            "reason of 'two': expected 'BudgetExceeded', got 'CountCapExceeded'",
        ),
    ],
)
def test_wrong_fields_of_a_count_cap_are_found(old: str, new: str, problem: str) -> None:
    """ER-02: kind, cap and count."""
    assert problem_of(changed(CAPPED, old, new)) == problem


@pytest.mark.parametrize(
    ("vector", "line", "defect"),
    [
        (PIPELINE, "item_tokens = 500\n", "missing field 'item_tokens' in the entry for 'large'"),
        (PIPELINE, "available_tokens = 30\n", "missing field 'available_tokens' in the entry for 'large'"),
        (PIPELINE, 'displaced_by = "pin"\n', "missing field 'displaced_by' in the entry for 'displaced'"),
        (PIPELINE, 'deduplicated_against = "twin"\n', "missing field 'deduplicated_against' in the entry for 'twin'"),
        (PIPELINE, '"NegativeTokens"\ntokens = -5\n', "missing field 'tokens' in the entry for 'negative'"),
        (
            PIPELINE,
            'exclusion_reason = "BudgetExceeded"\n',
            "missing field 'exclusion_reason' in the entry for 'large'",
        ),
        (PIPELINE, 'inclusion_reason = "Pinned"\n', "missing field 'inclusion_reason' in the entry for 'pin'"),
        (PIPELINE, "score_approx = 0.9\n", "missing field 'score_approx' in the entry for 'good'"),
        (PIPELINE, "score_approx = 0.7\n", "missing field 'score_approx' in the entry for 'large'"),
        (CAPPED, "\ncap = 1\n", "missing field 'cap' in the entry for 'two'"),
        (CAPPED, 'kind = "Note"\ncap = 1\n', "missing field 'kind' in the entry for 'two'"),
        (CAPPED, "\ncount = 1\n", "missing field 'count' in the entry for 'two'"),
    ],
)
def test_an_entry_has_every_field_of_its_reason(vector: str, line: str, defect: str) -> None:
    """Diagnostics Vectors: `item_tokens` and `available_tokens` are required for BudgetExceeded."""
    kept = '"NegativeTokens"\n' if "Negative" in line else "\ncap = 1\n" if "kind" in line else "\n"
    assert defect_of(changed(vector, line, kept)) == defect


@pytest.mark.parametrize("table", ["included", "excluded", "shortfalls", "summary"])
def test_a_missing_diagnostics_table_is_not_checked(table: str) -> None:
    """Diagnostics Vectors: the sub-tables are independently optional."""
    vector = tomllib.loads(PIPELINE)
    del vector["expected"]["diagnostics"][table]
    check_vector(vector)


@pytest.mark.parametrize("table", ["included", "excluded", "shortfalls"])
def test_an_empty_diagnostics_table_says_that_there_is_nothing(table: str) -> None:
    """CV-06."""
    vector = tomllib.loads(PIPELINE)
    vector["expected"]["diagnostics"][table] = []
    assert problem_of(vector).startswith(f"{table}: expected []")


@pytest.mark.parametrize(
    ("old", "new", "defect"),
    [
        ("excluded", "exluded", "'exluded' in [expected.diagnostics]; did you mean 'excluded'?"),
        ("summary", "sumary", "'sumary' in [expected.diagnostics]; did you mean 'summary'?"),
        (
            "total_candidates",
            "total_candidate",
            "'total_candidate' in [expected.diagnostics.summary]; did you mean 'total_candidates'?",
        ),
    ],
)
def test_a_misspelt_diagnostics_table_is_a_defect(old: str, new: str, defect: str) -> None:
    """Ignored like other unknown fields, it would not be checked."""
    assert defect_of(tomllib.loads(PIPELINE.replace(old, new))) == f"unknown field {defect}"


def test_a_pipeline_vector_may_have_its_own_tolerance() -> None:
    """Score Comparison: also in diagnostics."""
    text = f"{PIPELINE}\n[tolerance]\nscore_epsilon = 0.001\n"
    check_vector(changed(text, "score_approx = 0.9", "score_approx = 0.9005"))


@pytest.mark.proves("S-CF-04")
@pytest.mark.parametrize(
    ("vector", "old", "new"),
    [
        (SCORING, "[[expected]]", "[unknown]\nx = 1\n[[expected]]\nunknown = 1"),
        (SCORING, "[[expected]]", "[[unknown]]\nx = 1\n[[expected]]"),
        (REFUSED_SCORER, "[config]", "[[unknown]]\nx = 1\n[config]"),
        (SLICING, "[expected]", "[expected]\nunknown = 1"),
        (PLACING, "[expected]", "[expected]\nunknown = 1"),
        (PIPELINE, "[config]", "[config]\nunknown = 1"),
        (PIPELINE, "total_candidates = 8", "total_candidates = 8\nunknown = 1"),
        (PIPELINE, "item_tokens = 500", "item_tokens = 500\nunknown = 1"),
        (PIPELINE, '"Pinned"', '"Pinned"\nunknown = 1'),
    ],
)
def test_unknown_fields_are_ignored(vector: str, old: str, new: str) -> None:
    """Extensibility: implementations SHOULD ignore unknown fields. CV-02."""
    check_vector(changed(vector, old, new))


# --- overflow


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("tokens_over_budget = 10", "tokens_over_budget = 11", "tokens_over_budget: expected 11, got 10"),
        (
            '["first", "second"]',
            '["second", "first"]',
            "overflowing items: expected ['second', 'first'], got ['first', 'second']",
        ),
        ("target_tokens = 50", "target_tokens = 60", "overflow events: expected 1, got 0"),
    ],
)
def test_a_wrong_overflow_is_found(old: str, new: str, problem: str) -> None:
    """PL-05, CV-11."""
    assert problem_of(changed(OVERFLOW, old, new)) == problem


def test_an_overflow_that_is_ruled_out_is_found() -> None:
    """`docs/vectors.md`: `overflow = false` says that there must be none."""
    old = '[expected.overflow]\ntokens_over_budget = 10\ncontents = ["first", "second"]'
    assert problem_of(changed(OVERFLOW, old, "[expected]\noverflow = false")) == "overflow events: expected 0, got 1"


def test_the_items_of_an_overflow_may_be_left_out() -> None:
    check_vector(changed(OVERFLOW, 'contents = ["first", "second"]', ""))


@pytest.mark.parametrize(
    ("old", "new", "defect"),
    [
        ("tokens_over_budget", "tokens_over", "missing field 'tokens_over_budget' in [expected.overflow]"),
        ("contents", "content", "unknown field 'content' in [expected.overflow]; did you mean 'contents'?"),
        (
            '[expected.overflow]\ntokens_over_budget = 10\ncontents = ["first", "second"]',
            "[expected]\noverflow = true",
            "[expected.overflow] must be a table, not True (bool)",
        ),
    ],
)
def test_an_expected_overflow_has_its_size(old: str, new: str, defect: str) -> None:
    assert defect_of(changed(OVERFLOW, old, new)) == defect


def test_an_overflow_need_not_be_mentioned() -> None:
    old = '[expected.overflow]\ntokens_over_budget = 10\ncontents = ["first", "second"]'
    check_vector(changed(OVERFLOW, old, ""))
