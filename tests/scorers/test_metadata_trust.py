"""MetadataTrustScorer: what the vectors `metadata-trust-*` do not show."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from pycupel import ContextItem, MetadataTrustScorer
from pycupel.errors import ScorerConfigError
from tests.processor_time import within

DEFAULT = 0.3


def score_of(metadata: dict[str, Any], default: float = DEFAULT) -> float:
    """What `score` and `score_all` agree on."""
    item = ContextItem("x", 1, metadata=metadata)
    scorer = MetadataTrustScorer(default)
    (batch,) = scorer.score_all([item])
    assert scorer.score(item, [item]).hex() == batch.hex()
    return batch


def test_a_decimal_string_may_be_long() -> None:
    """MT-02."""
    assert score_of({"cupel:trust": "0." + "3" * 5000}) == 1 / 3


def test_any_real_number_is_the_score() -> None:
    """MT-01: a double or another numeric type is used directly, without string conversion."""
    assert score_of({"cupel:trust": Fraction(1, 4)}) == 0.25


@pytest.mark.proves("S-MT-24")
def test_a_number_is_used_to_its_last_bit() -> None:
    """MetadataTrustScorer: it MUST be used directly."""
    assert score_of({"cupel:trust": 0.1 + 0.2}) == 0.30000000000000004
    assert score_of({"cupel:trust": -0.0}).hex() == "-0x0.0p+0"


@pytest.mark.proves("S-MT-21", "S-MT-22")
@pytest.mark.parametrize("raw", ["9" * 400, 10**400, -(10**400)])
def test_a_value_that_is_not_finite_gives_the_default(raw: Any) -> None:
    """MetadataTrustScorer: non-finite values MUST return defaultScore, not be clamped to a range boundary."""
    assert score_of({"cupel:trust": raw}) == DEFAULT


@pytest.mark.proves("S-MT-24")
@pytest.mark.parametrize("raw", [None, b"0.5", {"value": 0.5}, 0.5j, Decimal("0.5"), object()])
def test_any_other_type_gives_the_default(raw: Any) -> None:
    """MT-01: any other type MUST be treated as a parse failure."""
    assert score_of({"cupel:trust": raw}) == DEFAULT


@pytest.mark.parametrize("default", [0, 1, 0.0, 1.0, 0.25, Fraction(1, 2), Decimal("0.75")])
def test_a_default_within_bounds_is_accepted(default: Any) -> None:
    """MetadataTrustScorer: defaultScore MUST be in [0.0, 1.0], bounds included."""
    scorer = MetadataTrustScorer(default)
    assert scorer.default_score == default
    assert type(scorer.default_score) is float
    assert score_of({}, default) == default


@pytest.mark.proves("S-MT-20")
@pytest.mark.parametrize(
    "default", [-0.1, 1.1, -5e-324, math.nextafter(1.0, 2.0), 2, -1, math.nan, math.inf, -math.inf]
)
def test_a_default_out_of_bounds_is_refused(default: float) -> None:
    """MT-03: also NaN; the message names the argument."""
    with pytest.raises(ScorerConfigError, match="default_score"):
        MetadataTrustScorer(default)


@pytest.mark.parametrize("text", ["1" * 20_000 + "x", "1." + "1" * 20_000 + "x", "." + "1" * 20_000 + "e"])
def test_a_long_text_that_is_no_number_is_read_once(text: str) -> None:
    """20,000 digits took 17 s."""
    assert within(1.0, lambda: score_of({"cupel:trust": text})) == DEFAULT
