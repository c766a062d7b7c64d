"""KindScorer: what the vectors `kind-*` do not show."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from typing import Any

import pytest

from pycupel import ContextItem, ContextKind, KindScorer
from pycupel.errors import ScorerConfigError


def score_of(scorer: KindScorer, kind: str) -> float:
    """What `score` and `score_all` agree on."""
    item = ContextItem("x", 1, kind=kind)
    (batch,) = scorer.score_all([item])
    assert scorer.score(item, [item]) == batch
    return batch


@pytest.mark.proves("S-KI-01")
def test_there_are_no_other_defaults() -> None:
    """KindScorer: the default weight map MUST contain exactly the five."""
    weights = {"SystemPrompt": 1.0, "Memory": 0.8, "ToolOutput": 0.6, "Document": 0.4, "Message": 0.2}
    assert {str(kind): weight for kind, weight in KindScorer().weights.items()} == weights
    assert KindScorer() == KindScorer(None) == KindScorer(weights)


def test_keys_may_be_kinds_and_weights_any_number() -> None:
    """DM-11; Scorers: scores are 64-bit floats."""
    weights: dict[ContextKind, Any] = {ContextKind.MEMORY: 2, ContextKind("Image"): Fraction(1, 4)}
    scorer = KindScorer(weights)
    assert score_of(scorer, "memory") == 2.0
    assert score_of(scorer, "image") == 0.25
    assert {type(weight) for weight in scorer.weights.values()} == {float}


@pytest.mark.proves("S-KI-02", "S-KI-03")
@pytest.mark.parametrize("weight", [-0.1, -1, -math.inf])
def test_a_negative_weight_is_refused(weight: float) -> None:
    """VALIDATE-KIND-WEIGHTS: a negative weight, before anything else that is wrong with it."""
    with pytest.raises(ScorerConfigError) as caught:
        KindScorer({"Memory": 1.0, "Image": weight})
    assert str(caught.value) == "Weight for kind must be non-negative"
    assert "Image" in "".join(caught.value.__notes__)


@pytest.mark.proves("S-KI-02", "S-KI-04")
@pytest.mark.parametrize("weight", [math.nan, math.inf])
def test_a_weight_that_is_not_finite_is_refused(weight: float) -> None:
    """VALIDATE-KIND-WEIGHTS."""
    with pytest.raises(ScorerConfigError) as caught:
        KindScorer({"Memory": 1.0, "Image": weight})
    assert str(caught.value) == "Weight for kind must be finite"
    assert "Image" in "".join(caught.value.__notes__)
    assert isinstance(caught.value, ValueError)


def test_the_map_is_copied_and_read_only() -> None:
    """DM-06: what the caller does to it later has no effect."""
    weights = {"Message": 0.5}
    scorer = KindScorer(weights)
    weights["Message"] = 9.0
    weights["Image"] = 9.0
    assert score_of(scorer, "Message") == 0.5
    assert score_of(scorer, "Image") == 0.0
    with pytest.raises(TypeError):
        scorer.weights[ContextKind.MESSAGE] = 9.0  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError):
        scorer.weights = {}  # type: ignore[misc]
