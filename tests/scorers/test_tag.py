"""TagScorer: what the vectors `tag-*` do not show."""

from __future__ import annotations

import math

import pytest

from pycupel import ContextItem, TagScorer
from pycupel.errors import ScorerConfigError

WEIGHTS = {"python": 3.0, "rust": 1.0}


def score_of(scorer: TagScorer, *tags: str) -> float:
    """What `score` and `score_all` agree on."""
    item = ContextItem("x", 1, tags=tags)
    (batch,) = scorer.score_all([item])
    assert scorer.score(item, [item]) == batch
    return batch


@pytest.mark.proves("S-TA-01")
@pytest.mark.parametrize("weight", [-0.1, -1, -math.inf])
def test_a_negative_weight_is_refused(weight: float) -> None:
    """CONSTRUCT-TAG-SCORER: a negative weight, before anything else that is wrong with it."""
    with pytest.raises(ScorerConfigError) as caught:
        TagScorer({"python": 1.0, "rust": weight})
    assert str(caught.value) == "Tag weight must be non-negative"
    assert "rust" in "".join(caught.value.__notes__)


@pytest.mark.proves("S-TA-02")
@pytest.mark.parametrize("weight", [math.nan, math.inf])
def test_a_weight_that_is_not_finite_is_refused(weight: float) -> None:
    """CONSTRUCT-TAG-SCORER."""
    with pytest.raises(ScorerConfigError) as caught:
        TagScorer({"python": 1.0, "rust": weight})
    assert str(caught.value) == "Tag weight must be finite"
    assert "rust" in "".join(caught.value.__notes__)
    assert isinstance(caught.value, ValueError)


@pytest.mark.proves("S-TA-11")
def test_weights_whose_sum_overflows_are_refused() -> None:
    """CS-02, for tags: dividing by an infinite total would make every score 0.0."""
    with pytest.raises(ScorerConfigError, match="sum"):
        TagScorer({"a": 1e308, "b": 1e308})
    assert score_of(TagScorer({"a": 1e308, "b": 5e307}), "a", "a", "a") == 1.0


def test_the_map_is_copied_and_read_only() -> None:
    """DM-06: what the caller does to it later has no effect."""
    weights = dict(WEIGHTS)
    scorer = TagScorer(weights)
    weights["python"] = 0.0
    assert score_of(scorer, "python") == 0.75
    with pytest.raises(TypeError):
        scorer.tag_weights["python"] = 0.0  # type: ignore[index]
