"""Vectors that pass. Each test changes one thing in one of them, so that a failure has one cause."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from pycupel.conformance.check import MismatchError, check_vector
from pycupel.conformance.vectors import VectorError

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

PASSING = {
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


# The shortest vector that passes, and one that fails.
RIGHT = """[test]
name = "A right one"
stage = "placing"
placer = "u-shaped"
[expected]
ordered_contents = []
"""
WRONG = RIGHT.replace("right", "wrong").replace("[]", '["x"]')
