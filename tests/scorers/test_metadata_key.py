"""MetadataKeyScorer: what the vectors `metadata-key-*` do not show."""

from __future__ import annotations

import dataclasses
import math
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import pytest

from pycupel import ContextItem, MetadataKeyScorer
from pycupel.errors import ScorerConfigError
from tests.hostile import Raising


class Level(str, Enum):  # noqa: UP042 - unlike StrEnum, its str() is no longer its text
    """A string with another str()."""

    HIGH = "high"


def score_of(metadata: dict[str, Any], key: str = "cupel:priority", value: str = "high", boost: float = 1.5) -> float:
    """What `score` and `score_all` agree on."""
    item = ContextItem("x", 1, metadata=metadata)
    scorer = MetadataKeyScorer(key, value, boost)
    (batch,) = scorer.score_all([item])
    assert scorer.score(item, [item]) == batch
    return batch


@pytest.mark.proves("S-MK-26")
@pytest.mark.parametrize(
    ("raw", "value", "score"),
    [
        (1.0, "1.0", 1.5),
        (Decimal("1.50"), "1.50", 1.5),
        (["a"], "['a']", 1.5),
        (None, "None", 1.0),
        (None, "", 1.0),
        ("e\u0301", "\u00e9", 1.0),
        (Level.HIGH, "high", 1.5),
        (Level.HIGH, "Level.HIGH", 1.0),
    ],
)
def test_values_are_compared_as_strings(raw: Any, value: str, score: float) -> None:
    """MK-02: a string as it is, None never, anything else by its str()."""
    assert score_of({"key": raw}, key="key", value=value) == score


@pytest.mark.proves("S-MK-28")
def test_a_value_that_cannot_be_a_string_matches_nothing() -> None:
    scorer = MetadataKeyScorer("key", "str", 2.0)
    item = ContextItem("a", 1, metadata={"key": Raising()})
    assert scorer.score(item, [item]) == 1.0
    assert scorer.score_all([item]) == [1.0]


@pytest.mark.parametrize("boost", [5e-324, 1e308, 3, Fraction(5, 2), Decimal("1.25")])
def test_any_positive_finite_boost_is_returned_as_it_is(boost: Any) -> None:
    """MetadataKeyScorer: not clamped."""
    assert score_of({"key": "v"}, key="key", value="v", boost=boost) == boost
    assert type(MetadataKeyScorer("key", "v", boost).boost) is float


@pytest.mark.proves("S-MK-02", "S-MK-10", "S-MK-11", "S-MK-12", "S-MK-13", "S-MK-14", "S-MK-15", "S-MK-16")
@pytest.mark.parametrize("boost", [0.0, -0.0, 0, -1.0, -5e-324, math.nan, math.inf, -math.inf])
def test_a_boost_that_is_not_positive_and_finite_is_refused(boost: float) -> None:
    """MetadataKeyScorer, Validation; MK-01: at construction, as a ScorerConfigError, which is a ValueError."""
    with pytest.raises(ScorerConfigError, match="boost") as caught:
        MetadataKeyScorer("cupel:priority", "high", boost)
    assert isinstance(caught.value, ValueError)


@pytest.mark.proves("S-MK-27")
def test_the_neutral_multiplier_is_no_parameter() -> None:
    """MetadataKeyScorer: defaultMultiplier is always 1.0 and is NOT a constructor parameter."""
    assert [field.name for field in dataclasses.fields(MetadataKeyScorer)] == ["key", "value", "boost"]
