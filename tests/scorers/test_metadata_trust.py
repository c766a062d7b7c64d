"""MetadataTrustScorer: the caller's trust in an item."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from pycupel import ContextItem, MetadataTrustScorer
from pycupel.errors import ScorerConfigError

DEFAULT = 0.3


def score_of(metadata: dict[str, Any], default: float = DEFAULT) -> float:
    """What `score` and `score_all` agree on."""
    item = ContextItem("x", 1, metadata=metadata)
    scorer = MetadataTrustScorer(default)
    (batch,) = scorer.score_all([item])
    assert scorer.score(item, [item]).hex() == batch.hex()
    return batch


@pytest.mark.parametrize(
    ("raw", "score"),
    [
        ("0.85", 0.85),
        ("0.0", 0.0),
        ("0.75", 0.75),
        ("1.0", 1.0),
        ("-0.1", 0.0),
        ("1.5", 1.0),
        ("1", 1.0),
        ("+.5", 0.5),
        (".5", 0.5),
        ("5.", 1.0),
        ("0.", 0.0),
        ("1e-1", 0.1),
        ("1E-1", 0.1),
        ("25e-2", 0.25),
        ("2.5e+3", 1.0),
        ("-1e9", 0.0),
        ("000.5", 0.5),
        ("1e-999", 0.0),
        ("0." + "3" * 5000, 1 / 3),
    ],
)
def test_a_decimal_string_is_the_score_within_bounds(raw: str, score: float) -> None:
    """MetadataTrustScorer, Edge Cases and Conformance Vector Outlines; MT-02."""
    assert score_of({"cupel:trust": raw}) == score


@pytest.mark.parametrize(
    ("raw", "score"),
    [(0.85, 0.85), (0, 0.0), (1, 1.0), (7, 1.0), (-3, 0.0), (1.5, 1.0), (-0.1, 0.0), (Fraction(1, 4), 0.25)],
)
def test_a_number_is_the_score_within_bounds(raw: Any, score: float) -> None:
    """MT-01: a double or another numeric type is used directly, without string conversion."""
    assert score_of({"cupel:trust": raw}) == score


def test_a_number_is_used_to_its_last_bit() -> None:
    """MetadataTrustScorer: it MUST be used directly."""
    assert score_of({"cupel:trust": 0.1 + 0.2}) == 0.30000000000000004
    assert score_of({"cupel:trust": -0.0}).hex() == "-0x0.0p+0"


@pytest.mark.parametrize(
    "raw",
    [
        "high",
        "",
        " ",
        "NaN",
        "nan",
        "Infinity",
        "+Infinity",
        "-Infinity",
        "inf",
        "-inf",
        " 0.5",
        "0.5 ",
        "0.5\n",
        "1_0",
        "0,5",
        "0x1",
        "1e",
        "e1",
        ".",
        "+",
        "--1",
        "1.2.3",
        "\u0660.\u0665",
        "\uff10.\uff15",
        "\u00bd",
        "50%",
    ],
)
def test_a_string_that_is_no_decimal_number_gives_the_default(raw: str) -> None:
    """MT-02: never an error, and never what Python's float() would make of it."""
    assert score_of({"cupel:trust": raw}) == DEFAULT


@pytest.mark.parametrize("raw", ["1e999", "-1e999", "9" * 400, math.nan, math.inf, -math.inf, 10**400, -(10**400)])
def test_a_value_that_is_not_finite_gives_the_default(raw: Any) -> None:
    """MetadataTrustScorer: non-finite values MUST return defaultScore, not be clamped to a range boundary."""
    assert score_of({"cupel:trust": raw}) == DEFAULT


@pytest.mark.parametrize("raw", [True, False, None, b"0.5", ["0.5"], {"value": 0.5}, 0.5j, Decimal("0.5"), object()])
def test_any_other_type_gives_the_default(raw: Any) -> None:
    """MT-01: any other type MUST be treated as a parse failure; a bool is no number."""
    assert score_of({"cupel:trust": raw}) == DEFAULT


@pytest.mark.parametrize("metadata", [{}, {"trust": "0.9"}, {"Cupel:Trust": "0.9"}, {"cupel:trust ": "0.9"}])
def test_without_the_key_it_gives_the_default(metadata: dict[str, Any]) -> None:
    """MetadataTrustScorer, Edge Cases; DM-21: keys match exactly."""
    assert score_of(metadata) == DEFAULT


def test_the_default_is_one_half() -> None:
    """MT-03."""
    assert MetadataTrustScorer().default_score == 0.5
    assert MetadataTrustScorer().score_all([ContextItem("x", 1)]) == [0.5]


@pytest.mark.parametrize("default", [0, 1, 0.0, 1.0, 0.25, Fraction(1, 2), Decimal("0.75")])
def test_a_default_within_bounds_is_accepted(default: Any) -> None:
    """MetadataTrustScorer: defaultScore MUST be in [0.0, 1.0], bounds included."""
    scorer = MetadataTrustScorer(default)
    assert scorer.default_score == default
    assert type(scorer.default_score) is float
    assert score_of({}, default) == default


@pytest.mark.parametrize(
    "default", [-0.1, 1.1, -5e-324, math.nextafter(1.0, 2.0), 2, -1, math.nan, math.inf, -math.inf]
)
def test_a_default_out_of_bounds_is_refused(default: float) -> None:
    """MT-03: also NaN; the message names the argument."""
    with pytest.raises(ScorerConfigError, match="default_score"):
        MetadataTrustScorer(default)


@pytest.mark.parametrize("default", ["0.5", True, None, b"1"])
def test_a_default_that_is_no_number_is_a_type_error(default: Any) -> None:
    """PB-05: the message names the argument."""
    with pytest.raises(TypeError, match="default_score"):
        MetadataTrustScorer(default)


def test_other_items_do_not_matter() -> None:
    """MetadataTrustScorer is absolute: allItems is ignored."""
    items = [ContextItem("x", 1, metadata={"cupel:trust": raw}) for raw in ("0.1", 0.9, "?")]
    scorer = MetadataTrustScorer(DEFAULT)
    assert [scorer.score(item, []) for item in items] == scorer.score_all(items) == [0.1, 0.9, DEFAULT]
