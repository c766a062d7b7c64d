"""Comparing: vectors that are right pass, and every kind of mismatch is found.

Each table starts from a vector that passes and changes one thing in it, so that a failure has one cause.
"""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from pycupel.conformance.check import check_vector
from pycupel.conformance.compare import MismatchError
from pycupel.conformance.load import VectorError
from pycupel.errors import (
    CupelError,
    CycleError,
    InvalidBudgetError,
    PinnedExceedsBudgetError,
    ScorerConfigError,
    SlicerConfigError,
)

SCORING = """
[test]
name = "A scoring vector"
stage = "scoring"
scorer = "recency"
[[items]]
content = "old"
tokens = 1
timestamp = 2024-01-01T00:00:00Z
[[items]]
content = "new"
tokens = 1
timestamp = 2024-01-02T00:00:00Z
[[expected]]
content = "new"
score_approx = 1.0
[[expected]]
content = "old"
score_approx = 0.0
"""

# a is committed, b is removed by the cap, c is selected; Memory has no candidate.
SLICING = """
[test]
name = "A slicing vector"
stage = "slicing"
slicer = "count_quota"
[budget]
target_tokens = 100
[[config.entries]]
kind = "ToolOutput"
require_count = 1
cap_count = 1
[[config.entries]]
kind = "Memory"
require_count = 1
cap_count = 2
[[scored_items]]
content = "a"
tokens = 10
score = 0.9
kind = "ToolOutput"
[[scored_items]]
content = "b"
tokens = 10
score = 0.8
kind = "ToolOutput"
[[scored_items]]
content = "c"
tokens = 10
score = 0.5
[expected]
selected_contents = ["c", "a"]
shortfall_count = 1
cap_excluded_count = 1
cap_excluded_contents = ["b"]
[[expected.shortfalls]]
kind = "Memory"
required_count = 1
satisfied_count = 0
"""

PLACING = """
[test]
name = "A placing vector"
stage = "placing"
placer = "u-shaped"
[[items]]
content = "a"
tokens = 1
score = 0.1
[[items]]
content = "b"
tokens = 1
score = 0.5
[[items]]
content = "c"
tokens = 1
score = 0.9
[expected]
ordered_contents = ["c", "a", "b"]
"""

# The pinned item leaves 90 of 100 tokens: good, twin and free take 60 of them.
PIPELINE = """
[test]
name = "A pipeline vector"
stage = "pipeline"
[budget]
max_tokens = 1000
target_tokens = 100
[config]
slicer = "count_quota"
placer = "chronological"
deduplication = true
[[config.scorers]]
type = "reflexive"
weight = 1.0
[[config.entries]]
kind = "Memory"
require_count = 1
cap_count = 2
[[items]]
content = "pin"
tokens = 10
pinned = true
[[items]]
content = "good"
tokens = 50
futureRelevanceHint = 0.9
[[items]]
content = "free"
tokens = 0
futureRelevanceHint = 0.5
[[items]]
content = "twin"
tokens = 10
futureRelevanceHint = 0.8
[[items]]
content = "twin"
tokens = 5
futureRelevanceHint = 0.3
[[items]]
content = "large"
tokens = 500
futureRelevanceHint = 0.7
[[items]]
content = "displaced"
tokens = 95
futureRelevanceHint = 0.6
[[items]]
content = "negative"
tokens = -5
[[expected_output]]
content = "pin"
[[expected_output]]
content = "good"
[[expected_output]]
content = "twin"
[[expected_output]]
content = "free"
[expected]
overflow = false
[expected.diagnostics.summary]
total_candidates = 8
total_tokens_considered = 665
[[expected.diagnostics.included]]
content = "pin"
score_approx = 1.0
inclusion_reason = "Pinned"
[[expected.diagnostics.included]]
content = "good"
score_approx = 0.9
inclusion_reason = "Scored"
[[expected.diagnostics.included]]
content = "twin"
score_approx = 0.8
inclusion_reason = "Scored"
[[expected.diagnostics.included]]
content = "free"
score_approx = 0.5
inclusion_reason = "ZeroToken"
[[expected.diagnostics.excluded]]
content = "large"
score_approx = 0.7
exclusion_reason = "BudgetExceeded"
item_tokens = 500
available_tokens = 30
[[expected.diagnostics.excluded]]
content = "displaced"
score_approx = 0.6
exclusion_reason = "PinnedOverride"
displaced_by = "pin"
[[expected.diagnostics.excluded]]
content = "twin"
score_approx = 0.3
exclusion_reason = "Deduplicated"
deduplicated_against = "twin"
[[expected.diagnostics.excluded]]
content = "negative"
score_approx = 0.0
exclusion_reason = "NegativeTokens"
tokens = -5
[[expected.diagnostics.shortfalls]]
kind = "Memory"
required_count = 1
satisfied_count = 0
"""

CAPPED = """
[test]
name = "A count cap in a pipeline"
stage = "pipeline"
[budget]
target_tokens = 100
[config]
slicer = "count_quota"
[[config.scorers]]
type = "reflexive"
[[config.entries]]
kind = "Note"
cap_count = 1
[[items]]
content = "one"
tokens = 1
kind = "Note"
futureRelevanceHint = 0.9
[[items]]
content = "two"
tokens = 1
kind = "Note"
futureRelevanceHint = 0.8
[[expected_output]]
content = "one"
[[expected.diagnostics.excluded]]
content = "two"
score_approx = 0.8
exclusion_reason = "CountCapExceeded"
kind = "Note"
cap = 1
count = 1
"""

OVERFLOW = """
[test]
name = "An accepted overflow"
stage = "pipeline"
[budget]
max_tokens = 100
target_tokens = 50
[config]
overflow_strategy = "proceed"
[[config.scorers]]
type = "recency"
[[items]]
content = "first"
tokens = 40
pinned = true
[[items]]
content = "second"
tokens = 20
pinned = true
[[expected_output]]
content = "first"
[[expected_output]]
content = "second"
[expected.overflow]
tokens_over_budget = 10
contents = ["first", "second"]
"""

FAILING_RUN = """
[test]
name = "A run that fails"
stage = "pipeline"
[budget]
max_tokens = 50
target_tokens = 50
[[config.scorers]]
type = "recency"
[[items]]
content = "pin"
tokens = 60
pinned = true
[expected]
error = "PinnedExceedsBudget"
error_message = "Pinned items require 60 tokens, but only 50 are available"
"""

REFUSED_SLICER = """
[test]
name = "A slicer that cannot be built"
stage = "slicing"
slicer = "knapsack"
expect_construction_error = true
[budget]
target_tokens = 50
[config]
bucket_size = 0
[expected]
error = "SlicerConfig"
"""

REFUSED_SCORER = """
[test]
name = "A scorer that cannot be built"
stage = "scoring"
scorer = "metadata_key"
expect_construction_error = true
[config]
key = "k"
value = "v"
boost = 0.0
"""

REFUSED_BUDGET = """
[test]
name = "A budget that cannot be built"
stage = "pipeline"
expect_construction_error = true
[budget]
max_tokens = 50
target_tokens = 60
[[config.scorers]]
type = "recency"
[expected]
error = "InvalidBudget"
error_message = "target_tokens (60) must not exceed max_tokens (50)"
"""

RIGHT = {
    "scoring": SCORING,
    "slicing": SLICING,
    "placing": PLACING,
    "pipeline": PIPELINE,
    "capped": CAPPED,
    "overflow": OVERFLOW,
    "failing-run": FAILING_RUN,
    "refused-slicer": REFUSED_SLICER,
    "refused-scorer": REFUSED_SCORER,
    "refused-budget": REFUSED_BUDGET,
}


def changed(vector: str, old: str, new: str) -> dict[str, Any]:
    """The vector with the first occurrence of `old` replaced."""
    assert old in vector
    return tomllib.loads(vector.replace(old, new, 1))


def problem_of(vector: dict[str, Any]) -> str:
    with pytest.raises(MismatchError) as caught:
        check_vector(vector)
    return str(caught.value)


def defect_of(vector: dict[str, Any]) -> str:
    """What is wrong with the vector itself: it would pass without showing anything, or cannot be run."""
    with pytest.raises(VectorError) as caught:
        check_vector(vector)
    return str(caught.value)


@pytest.mark.parametrize("vector", RIGHT.values(), ids=RIGHT.keys())
def test_a_right_vector_passes(vector: str) -> None:
    check_vector(tomllib.loads(vector))


# --- scoring


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "score_approx = 1.0",
            "score_approx = 0.9",
            "score of 'new': expected 0.9, got 1.0 (epsilon 1e-09)",
        ),
        ("score_approx = 0.0", "score_approx = 1e-9", "score of 'old': expected 1e-09, got 0.0 (epsilon 1e-09)"),
        ("score_approx = 0.0", "score_approx = nan", "score of 'old': expected nan, got 0.0 (epsilon 1e-09)"),
        ('[[expected]]\ncontent = "new"', '[[expected]]\ncontent = "newer"', "there is no item 'newer'"),
        (
            '[[expected]]\ncontent = "old"',
            '[[expected]]\ncontent = "new"',
            "there is no item 'new'",
        ),
    ],
)
def test_a_wrong_score_is_found(old: str, new: str, problem: str) -> None:
    """Running a Scoring Test. CV-08: `abs(a - e) < eps` is strict."""
    assert problem_of(changed(SCORING, old, new)) == problem


def test_a_score_of_nan_is_no_number() -> None:
    """SC-03: NaN differs from whatever number a vector expects."""
    text = """
    [test]
    stage = "scoring"
    scorer = "boosted"
    [config]
    inner_scorer = {type = "kind", weights = [{kind = "Message", weight = 1e308}]}
    boosts = [
        {type = "metadata_key", key = "k", value = "v", boost = 1e308},
        {type = "reflexive"},
    ]
    [[items]]
    content = "x"
    tokens = 1
    metadata = {k = "v"}
    [[expected]]
    content = "x"
    score_approx = nan
    """
    check_vector(tomllib.loads(text))
    assert "expected 0.5, got nan" in problem_of(changed(text, "score_approx = nan", "score_approx = 0.5"))


@pytest.mark.parametrize(("epsilon", "passes"), [(0.11, True), (0.09, False)])
def test_a_vector_may_have_its_own_tolerance(epsilon: float, passes: bool) -> None:
    """Score Comparison: a custom [tolerance] table."""
    text = f"{SCORING}\n[tolerance]\nscore_epsilon = {epsilon}\n"
    vector = changed(text, "score_approx = 1.0", "score_approx = 0.9")
    if passes:
        check_vector(vector)
    else:
        assert f"(epsilon {epsilon})" in problem_of(vector)


def test_a_tolerance_is_exclusive() -> None:
    """CV-08: a difference of exactly epsilon is too much."""
    vector = changed(f"{SCORING}\n[tolerance]\nscore_epsilon = 0.5\n", "score_approx = 1.0", "score_approx = 0.5")
    assert "score of 'new'" in problem_of(vector)


def test_expectations_of_one_content_are_matched_in_order() -> None:
    """`docs/vectors.md`: if a content occurs in several items."""
    twins = SCORING.replace('"new"', '"old"')
    assert "score of 'old'" in problem_of(tomllib.loads(twins))
    swapped = twins.replace("score_approx = 1.0", "score_approx = 0.5")
    swapped = swapped.replace("score_approx = 0.0", "score_approx = 1.0").replace("0.5", "0.0")
    check_vector(tomllib.loads(swapped))


NEW_AND_OLD = '[[expected]]\ncontent = "new"\nscore_approx = 1.0\n[[expected]]\ncontent = "old"\nscore_approx = 0.0\n'


@pytest.mark.parametrize(
    ("old", "new", "defect"),
    [
        (NEW_AND_OLD, "", "no expected score for 'old', 'new'"),
        (NEW_AND_OLD, NEW_AND_OLD.replace("expected", "expcted"), "no expected score for 'old', 'new'"),
        ('[[expected]]\ncontent = "old"\nscore_approx = 0.0\n', "", "no expected score for 'old'"),
        (NEW_AND_OLD, "[expected]\n", "expected must be a list of tables, [[expected]], not {} (dict)"),
        (
            NEW_AND_OLD,
            '[expected]\ncontent = "new"\nscore_approx = 1.0\n',
            "expected must be a list of tables, [[expected]], not {'content': 'new', 'score_approx': 1.0} (dict)",
        ),
        ("score_approx = 1.0", "score_aprox = 1.0", "missing field 'score_approx' in an expected score"),
        ('content = "new"\nscore', "score", "missing field 'content' in an expected score"),
        ("score_approx = 1.0", "score_approx = true", "score_approx must be a number, not True (bool)"),
    ],
)
def test_a_scoring_vector_has_one_expectation_for_each_item(old: str, new: str, defect: str) -> None:
    """Without one it would show nothing about that item."""
    assert defect_of(changed(SCORING, old, new)) == defect


def test_each_item_of_several_with_one_content_needs_an_expectation() -> None:
    twins = SCORING.replace('[[items]]\ncontent = "new"', '[[items]]\ncontent = "old"')
    assert problem_of(tomllib.loads(twins)) == "there is no item 'new'"
    without_new = twins.replace('[[expected]]\ncontent = "new"\nscore_approx = 1.0\n', "")
    assert defect_of(tomllib.loads(without_new)) == "no expected score for 'old'"


@pytest.mark.parametrize("vector", [SCORING, PIPELINE])
@pytest.mark.parametrize("epsilon", ["0", "0.0", "-1e-9", "nan", "inf", "true"])
def test_a_tolerance_is_finite_and_positive(vector: str, epsilon: str) -> None:
    """0 and NaN would let only equal scores pass, which the specification forbids; infinity would let all pass."""
    defect = defect_of(tomllib.loads(f"{vector}\n[tolerance]\nscore_epsilon = {epsilon}\n"))
    assert defect.startswith("score_epsilon must be a finite number above 0, not ")


# --- slicing


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('["c", "a"]', '["a"]', "selected: expected ['a'], got ['a', 'c']"),
        ('["c", "a"]', "[]", "selected: expected [], got ['a', 'c']"),
        ('["c", "a"]', '["a", "b", "c"]', "selected: expected ['a', 'b', 'c'], got ['a', 'c']"),
        ('["c", "a"]', '["a", "a", "c"]', "selected: expected ['a', 'a', 'c'], got ['a', 'c']"),
        ("shortfall_count = 1", "shortfall_count = 0", "shortfall_count: expected 0, got 1"),
        ("cap_excluded_count = 1", "cap_excluded_count = 0", "cap_excluded_count: expected 0, got 1"),
        ('cap_excluded_contents = ["b"]', "cap_excluded_contents = []", "cap_excluded: expected [], got ['b']"),
        (
            'kind = "Memory"\nrequired_count = 1',
            'kind = "memory"\nrequired_count = 1',
            "shortfalls: expected [('memory', 1, 0)], got [('Memory', 1, 0)]",
        ),
        (
            "required_count = 1",
            "required_count = 2",
            "shortfalls: expected [('Memory', 2, 0)], got [('Memory', 1, 0)]",
        ),
        (
            "satisfied_count = 0",
            "satisfied_count = 1",
            "shortfalls: expected [('Memory', 1, 1)], got [('Memory', 1, 0)]",
        ),
        (
            '[[expected.shortfalls]]\nkind = "Memory"\nrequired_count = 1\nsatisfied_count = 0\n',
            "[expected.unknown]\n",
            None,
        ),
    ],
)
def test_a_wrong_selection_is_found(old: str, new: str, problem: str | None) -> None:
    """Running a Slicing Test. CV-06: shortfalls and caps count. CV-07: as a multiset."""
    vector = changed(SLICING, old, new)
    if problem is None:
        check_vector(vector)
    else:
        assert problem_of(vector) == problem


def test_an_unexpected_shortfall_is_found() -> None:
    """CV-06: an empty list says that there is none."""
    assert "shortfalls: expected []" in problem_of(
        changed(SLICING, "[[expected.shortfalls]]", "[expected.x]")
        | {"expected": {"selected_contents": ["a", "c"], "shortfalls": []}}
    )


def test_a_second_copy_in_the_selection_is_found() -> None:
    """CV-07: a set would hide it."""
    twins = changed(SLICING.replace('content = "c"', 'content = "a"'), '["c", "a"]', '["a"]')
    assert problem_of(twins) == "selected: expected ['a'], got ['a', 'a']"


@pytest.mark.parametrize(
    ("vector", "old", "new", "defect"),
    [
        (SLICING, "selected_contents", "selected_content", "missing field 'selected_contents' in [expected]"),
        (SLICING, "[expected]", "[expcted]", "missing field 'selected_contents' in [expected]"),
        (SLICING, "target_tokens", "target", "missing field 'target_tokens' in [budget]"),
        (SLICING, "[budget]", "[bugdet]", "missing field 'budget' in the vector"),
        (SLICING, "score = 0.9", "", "missing field 'score' in an item"),
        (SLICING, "satisfied_count", "satisfied", "missing field 'satisfied_count' in a shortfall"),
        (PLACING, "ordered_contents", "order", "missing field 'ordered_contents' in [expected]"),
        (
            PLACING,
            "[expected]",
            "[[expected]]",
            "expected must be a table, not [{'ordered_contents': ['c', 'a', 'b']}] (list)",
        ),
    ],
)
def test_a_vector_with_items_states_what_it_expects(vector: str, old: str, new: str, defect: str) -> None:
    """A misspelt expectation is not an expectation of nothing."""
    vector = vector.replace("[[expected.shortfalls]]", "[[expcted.shortfalls]]") if "expcted]" in new else vector
    assert defect_of(changed(vector, old, new)) == defect


def test_a_pipeline_vector_without_expected_output_expects_none() -> None:
    """CV-04."""
    misspelt = tomllib.loads(PIPELINE.replace("expected_output", "expcted_output"))
    assert problem_of(misspelt) == OUTPUT.format("[]")


# --- placing


@pytest.mark.parametrize(
    ("new", "problem"),
    [
        ('["c", "b", "a"]', "order: expected ['c', 'b', 'a'], got ['c', 'a', 'b']"),
        ('["c", "a"]', "order: expected ['c', 'a'], got ['c', 'a', 'b']"),
        ("[]", "order: expected [], got ['c', 'a', 'b']"),
    ],
)
def test_a_wrong_order_is_found(new: str, problem: str) -> None:
    """Running a Placing Test: an ordered comparison."""
    assert problem_of(changed(PLACING, '["c", "a", "b"]', new)) == problem


# --- pipeline

OUTPUT = "output: expected {}, got ['pin', 'good', 'twin', 'free']"


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


def test_a_pipeline_vector_may_have_its_own_tolerance() -> None:
    """Score Comparison: also in diagnostics."""
    text = f"{PIPELINE}\n[tolerance]\nscore_epsilon = 0.02\n"
    check_vector(changed(text, "score_approx = 0.9", "score_approx = 0.91"))


@pytest.mark.parametrize(
    ("vector", "old", "new"),
    [
        (SCORING, "[[expected]]", "[unknown]\nx = 1\n[[expected]]\nunknown = 1"),
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


# --- errors


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
        (FAILING_RUN, '"PinnedExceedsBudget"', '"Overflow"', PinnedExceedsBudgetError),
        (FAILING_RUN, 'error = "PinnedExceedsBudget"', "", PinnedExceedsBudgetError),
        (REFUSED_SLICER, '"SlicerConfig"', '"ScorerConfig"', SlicerConfigError),
        (REFUSED_SCORER, "expect_construction_error = true", "", ScorerConfigError),
        (REFUSED_BUDGET, '"InvalidBudget"', '"InvalidItem"', InvalidBudgetError),
    ],
)
def test_an_error_that_was_not_expected_gets_through(vector: str, old: str, new: str, raised: type[CupelError]) -> None:
    """Another error than the expected one is not swallowed, and the suite reports it."""
    with pytest.raises(raised):
        check_vector(changed(vector, old, new))


@pytest.mark.parametrize(
    ("vector", "old", "new", "defect"),
    [
        (REFUSED_SCORER, "boost = 0.0", "bost = 0.0", "missing field 'boost' in the config of 'metadata_key'"),
        (REFUSED_SCORER, 'key = "k"', "", "missing field 'key' in the config of 'metadata_key'"),
        (REFUSED_SCORER, "[config]", "[confg]", "missing field 'key' in the config of 'metadata_key'"),
        (REFUSED_BUDGET, "[[config.scorers]]", "[[config.scorer]]", "missing field 'scorers' in [config]"),
        (REFUSED_BUDGET, "target_tokens", "target", "missing field 'target_tokens' in [budget]"),
        (REFUSED_SCORER, '"metadata_key"', '"composite"', "missing field 'scorers' in the config of 'composite'"),
        (REFUSED_SCORER, '"metadata_key"', '"scaled"', "missing field 'inner_scorer' in the config of 'scaled'"),
        (REFUSED_SCORER, '"metadata_key"', '"boosted"', "missing field 'inner_scorer' in the config of 'boosted'"),
        (REFUSED_SCORER, '"metadata_key"', '"decay"', "missing field 'reference_time' in the config of 'decay'"),
        (REFUSED_SCORER, 'scorer = "metadata_key"', "", "missing field 'scorer' in [test]"),
    ],
)
def test_a_missing_field_is_no_construction_error(vector: str, old: str, new: str, defect: str) -> None:
    """The vector is wrong, not what it describes."""
    assert defect_of(changed(vector, old, new)) == defect


def test_a_field_of_a_wrong_type_is_no_construction_error() -> None:
    """Only errors of the library are: a `TypeError` may come from anywhere."""
    with pytest.raises(TypeError, match=r"^boost must be a number, not 'none'"):
        check_vector(changed(REFUSED_SCORER, "boost = 0.0", 'boost = "none"'))


def test_an_error_needs_no_message() -> None:
    message = 'error_message = "Pinned items require 60 tokens, but only 50 are available"'
    check_vector(changed(FAILING_RUN, message, ""))


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("SlicerConfig", 'slicer = "knapsack"\nbucket_size = 0'),
        ("SlicerConfig", 'slicer = "count_quota"\nscarcity_behavior = "explode"'),
        ("ScorerConfig", 'scorers = [{type = "composite", children = []}]'),
        ("PipelineConfig", "deduplication = false\ndedupe_against_pinned = true"),
    ],
)
def test_every_kind_of_construction_error_has_a_name(name: str, config: str) -> None:
    """`docs/vectors.md`: building the whole pipeline must fail."""
    scorers = "" if "scorers" in config else 'scorers = [{type = "recency"}]'
    text = f"""
    [test]
    stage = "pipeline"
    expect_construction_error = true
    [budget]
    target_tokens = 1
    [config]
    {config}
    {scorers}
    [expected]
    error = "{name}"
    """
    check_vector(tomllib.loads(text))


@pytest.mark.parametrize(
    ("name", "config", "target"),
    [
        ("TableTooLarge", 'slicer = "knapsack"\nbucket_size = 1\nmax_cells = 5', 50),
        (
            "CountRequirement",
            (
                'slicer = "count_quota"\nscarcity_behavior = "throw"\n'
                'entries = [{kind = "X", require_count = 1, cap_count = 1}]'
            ),
            50,
        ),
        (
            "Overflow",
            'slicer = "count_quota"\nentries = [{kind = "Message", require_count = 1, cap_count = 1}]',
            5,
        ),
    ],
)
def test_every_kind_of_run_error_has_a_name(name: str, config: str, target: int) -> None:
    """`docs/vectors.md`: `error`."""
    text = f"""
    [test]
    stage = "pipeline"
    [budget]
    target_tokens = {target}
    [config]
    {config}
    scorers = [{{type = "reflexive"}}]
    [[items]]
    content = "x"
    tokens = 10
    futureRelevanceHint = 0.5
    [expected]
    error = "{name}"
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
    for _ in range(200):
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


# --- what a vector may leave out, and what it may not


@pytest.mark.parametrize(
    "text",
    [
        '[test]\nstage = "scoring"\nscorer = "recency"',
        '[test]\nstage = "slicing"\nslicer = "greedy"\n[budget]\ntarget_tokens = 5',
        '[test]\nstage = "placing"\nplacer = "u-shaped"',
        '[test]\nstage = "pipeline"\n[budget]\ntarget_tokens = 5\n[[config.scorers]]\ntype = "recency"',
    ],
)
def test_missing_lists_are_empty(text: str) -> None:
    """CV-04: empty-input vectors have neither items nor expectations."""
    check_vector(tomllib.loads(text))


@pytest.mark.parametrize(
    ("vector", "old", "new", "problem"),
    [
        (SCORING, '"recency"', '"novelty"', "unknown scorer 'novelty'"),
        (SLICING, '"count_quota"', '"novelty"', "unknown slicer 'novelty'"),
        (PLACING, '"u-shaped"', '"novelty"', "unknown placer 'novelty'"),
        (PIPELINE, 'type = "reflexive"', 'type = "novelty"', "unknown scorer 'novelty'"),
        (PIPELINE, '"count_quota"', '"novelty"', "unknown slicer 'novelty'"),
        (PIPELINE, '"chronological"', '"novelty"', "unknown placer 'novelty'"),
        (REFUSED_SCORER, '"metadata_key"', '"novelty"', "unknown scorer 'novelty'"),
        (REFUSED_SLICER, '"knapsack"', '"novelty"', "unknown slicer 'novelty'"),
    ],
)
def test_an_unknown_strategy_does_not_pass(vector: str, old: str, new: str, problem: str) -> None:
    """Nor does it count as the construction error that a vector expects."""
    assert defect_of(changed(vector, old, new)).startswith(f"{problem}; expected one of ")


def test_an_unknown_stage_does_not_pass() -> None:
    """RUN-CONFORMANCE-SUITE: an unknown stage is an error."""
    defect = defect_of(changed(SCORING, '"scoring"', '"sorting"'))
    assert defect == "unknown stage 'sorting'; expected one of scoring, slicing, placing, pipeline"
