"""MetadataKeyScorer: a multiplier for items whose metadata has a certain value."""

from __future__ import annotations

import dataclasses
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from pycupel import ContextItem, MetadataKeyScorer
from pycupel.errors import ScorerConfigError


def score_of(metadata: dict[str, Any], key: str = "cupel:priority", value: str = "high", boost: float = 1.5) -> float:
    """What `score` and `score_all` agree on."""
    item = ContextItem("x", 1, metadata=metadata)
    scorer = MetadataKeyScorer(key, value, boost)
    (batch,) = scorer.score_all([item])
    assert scorer.score(item, [item]) == batch
    return batch


@pytest.mark.parametrize(
    ("metadata", "score"),
    [
        pytest.param({"cupel:priority": "high"}, 1.5, id="match"),
        pytest.param({"cupel:priority": "high", "other": 1}, 1.5, id="match among others"),
        pytest.param({"cupel:priority": "normal"}, 1.0, id="other value"),
        pytest.param({"cupel:priority": "whatever"}, 1.0, id="unknown values are not refused"),
        pytest.param({"other": "high"}, 1.0, id="other key"),
        pytest.param({}, 1.0, id="no metadata"),
        pytest.param({"cupel:priority": "High"}, 1.0, id="values are case-sensitive"),
        pytest.param({"cupel:priority": "high "}, 1.0, id="values are not trimmed"),
        pytest.param({"cupel:priority": ""}, 1.0, id="empty value"),
        pytest.param({"Cupel:Priority": "high"}, 1.0, id="keys are case-sensitive"),
        pytest.param({"cupel:priority": ["high"]}, 1.0, id="no element of a list"),
    ],
)
def test_a_match_is_boosted_and_anything_else_neutral(metadata: dict[str, Any], score: float) -> None:
    """MetadataKeyScorer, Edge Cases and Conformance Vector Outlines; DM-21."""
    assert score_of(metadata) == score


@pytest.mark.parametrize(
    ("raw", "value", "score"),
    [
        (1, "1", 1.5),
        (1, "1.0", 1.0),
        (1.0, "1.0", 1.5),
        (True, "True", 1.5),
        (True, "true", 1.0),
        (Decimal("1.50"), "1.50", 1.5),
        (["a"], "['a']", 1.5),
        (None, "None", 1.0),
        (None, "", 1.0),
        ("1.0", "1", 1.0),
        ("", "", 1.5),
        ("e\u0301", "\u00e9", 1.0),
    ],
)
def test_values_are_compared_as_strings(raw: Any, value: str, score: float) -> None:
    """MK-02: a string as it is, None never, anything else by its str()."""
    assert score_of({"key": raw}, key="key", value=value) == score


def test_key_and_value_may_be_empty() -> None:
    """MK-02: the constraint on both is (none)."""
    assert score_of({"": ""}, key="", value="") == 1.5
    assert score_of({"x": ""}, key="", value="") == 1.0


@pytest.mark.parametrize("boost", [0.5, 5e-324, 1.0, 1e308, 3, Fraction(5, 2), Decimal("1.25")])
def test_any_positive_finite_boost_is_returned_as_it_is(boost: Any) -> None:
    """MetadataKeyScorer: not clamped; MK-03: below 1 is legal."""
    assert score_of({"key": "v"}, key="key", value="v", boost=boost) == boost
    assert type(MetadataKeyScorer("key", "v", boost).boost) is float


@pytest.mark.parametrize("boost", [0.0, -0.0, 0, -1.0, -5e-324, math.nan, math.inf, -math.inf])
def test_a_boost_that_is_not_positive_and_finite_is_refused(boost: float) -> None:
    """MetadataKeyScorer, Validation; MK-01: at construction, as a ScorerConfigError, which is a ValueError."""
    with pytest.raises(ScorerConfigError, match="boost") as caught:
        MetadataKeyScorer("cupel:priority", "high", boost)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("boost", ["1.5", True, None, b"1"])
def test_a_boost_that_is_no_number_is_a_type_error(boost: Any) -> None:
    """PB-05: the message names the argument."""
    with pytest.raises(TypeError, match="boost"):
        MetadataKeyScorer("cupel:priority", "high", boost)


@pytest.mark.parametrize("wrong", [None, 1, b"key", True])
def test_key_and_value_are_strings(wrong: Any) -> None:
    """MK-02: the message names the argument."""
    with pytest.raises(TypeError, match="key"):
        MetadataKeyScorer(wrong, "high", 1.5)
    with pytest.raises(TypeError, match="value"):
        MetadataKeyScorer("cupel:priority", wrong, 1.5)


def test_the_neutral_multiplier_is_no_parameter() -> None:
    """MetadataKeyScorer: defaultMultiplier is always 1.0 and is NOT a constructor parameter."""
    assert [field.name for field in dataclasses.fields(MetadataKeyScorer)] == ["key", "value", "boost"]


def test_other_items_do_not_matter() -> None:
    """MetadataKeyScorer is absolute: allItems is ignored."""
    items = [ContextItem("x", 1, metadata={"k": raw}) for raw in ("v", "w", None)] + [ContextItem("y", 1)]
    scorer = MetadataKeyScorer("k", "v", 2.0)
    assert [scorer.score(item, []) for item in items] == scorer.score_all(items) == [2.0, 1.0, 1.0, 1.0]
