"""TagScorer: the weight of the tags that match, as a share of all weights."""

from __future__ import annotations

import math
from typing import Any

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


@pytest.mark.parametrize(
    ("tags", "score"),
    [
        pytest.param([], 0.0, id="no tags"),
        pytest.param(["go", "zig"], 0.0, id="none matches"),
        pytest.param(["python"], 0.75, id="share of all weights, not of the matched ones"),
        pytest.param(["rust"], 0.25, id="the lighter tag"),
        pytest.param(["python", "rust"], 1.0, id="all match"),
        pytest.param(["go", "rust", "zig"], 0.25, id="others do not count"),
        pytest.param(["rust", "rust"], 0.5, id="each occurrence adds"),
        pytest.param(["rust"] * 3 + ["python"], 1.0, id="clamped"),
        pytest.param(["rust"] * 100, 1.0, id="clamped, too"),
    ],
)
def test_the_score_is_the_matched_share(tags: list[str], score: float) -> None:
    """TagScorer, Edge Cases; TS-01."""
    assert score_of(TagScorer(WEIGHTS), *tags) == score


@pytest.mark.parametrize("weights", [{}, {"python": 0.0}, {"python": 0.0, "rust": -0.0}])
def test_without_weight_everything_scores_zero(weights: dict[str, float]) -> None:
    """TagScorer, Edge Cases: totalWeight is 0.0; TS-01: an empty map is legal."""
    assert score_of(TagScorer(weights), "python", "rust") == 0.0


def test_weights_are_added_from_left_to_right() -> None:
    """PY-01: no compensated sum, neither for the total nor for the match."""
    weights = {f"t{i}": 0.1 for i in range(10)}
    assert score_of(TagScorer({**weights, "other": 1.0}), *weights) == 0.9999999999999999 / 2.0
    assert score_of(TagScorer(weights), "t0") == 0.1 / 0.9999999999999999


def test_weights_are_added_in_the_order_of_the_mapping() -> None:
    """TS-01: the last bit depends on it."""
    forwards = TagScorer({"a": 0.1, "b": 0.2, "c": 0.3})
    backwards = TagScorer({"c": 0.3, "b": 0.2, "a": 0.1})
    assert score_of(forwards, "c") == 0.3 / (0.1 + 0.2 + 0.3)
    assert score_of(backwards, "c") == 0.3 / (0.3 + 0.2 + 0.1)
    assert score_of(forwards, "c") != score_of(backwards, "c")


@pytest.mark.parametrize("tag", ["Python", "PYTHON", "python ", " python"])
def test_tags_match_exactly_by_default(tag: str) -> None:
    """DM-03: the comparison defaults to ordinal."""
    assert score_of(TagScorer(WEIGHTS), tag) == 0.0


def test_two_spellings_are_two_tags_by_default() -> None:
    """DM-03: no collision where nothing folds."""
    scorer = TagScorer({"a": 1.0, "A": 3.0})
    assert score_of(scorer, "a") == 0.25
    assert score_of(scorer, "A") == 0.75


@pytest.mark.parametrize("configured", ["python", "PYTHON"])
@pytest.mark.parametrize("tag", ["python", "Python", "PYTHON"])
def test_ascii_case_folds_on_request(configured: str, tag: str) -> None:
    """DM-03: case_insensitive covers the MUST of the item chapter."""
    assert score_of(TagScorer({configured: 1.0, "x": 1.0}, case_insensitive=True), tag) == 0.5


@pytest.mark.parametrize(("configured", "tag"), [("\u00e9", "\u00c9"), ("k", "\u212a"), ("ss", "ß"), ("i", "İ")])
def test_letters_outside_ascii_never_fold(configured: str, tag: str) -> None:
    """DM-09: only A to Z fold."""
    scorer = TagScorer({configured: 1.0}, case_insensitive=True)
    assert score_of(scorer, tag) == 0.0
    assert score_of(scorer, configured) == 1.0


def test_every_spelling_on_an_item_counts() -> None:
    """TS-01 with DM-03: two spellings of one tag are two occurrences."""
    assert score_of(TagScorer({"a": 1.0, "b": 3.0}, case_insensitive=True), "a", "A") == 0.5


def test_two_spellings_are_refused_if_case_folds() -> None:
    """DM-12: one of the two weights would be lost."""
    with pytest.raises(ScorerConfigError, match=r"^tag_weights: duplicate tag "):
        TagScorer({"a": 1.0, "A": 1.0}, case_insensitive=True)


@pytest.mark.parametrize("weight", [-0.1, -1, -math.inf])
def test_a_negative_weight_is_refused(weight: float) -> None:
    """CONSTRUCT-TAG-SCORER: a negative weight, before anything else that is wrong with it."""
    with pytest.raises(ScorerConfigError) as caught:
        TagScorer({"python": 1.0, "rust": weight})
    assert str(caught.value) == "Tag weight must be non-negative"
    assert "rust" in "".join(caught.value.__notes__)


@pytest.mark.parametrize("weight", [math.nan, math.inf])
def test_a_weight_that_is_not_finite_is_refused(weight: float) -> None:
    """CONSTRUCT-TAG-SCORER."""
    with pytest.raises(ScorerConfigError) as caught:
        TagScorer({"python": 1.0, "rust": weight})
    assert str(caught.value) == "Tag weight must be finite"
    assert "rust" in "".join(caught.value.__notes__)
    assert isinstance(caught.value, ValueError)


def test_weights_whose_sum_overflows_are_refused() -> None:
    """CS-02, for tags: dividing by an infinite total would make every score 0.0."""
    with pytest.raises(ScorerConfigError, match="sum"):
        TagScorer({"a": 1e308, "b": 1e308})
    assert score_of(TagScorer({"a": 1e308, "b": 5e307}), "a", "a", "a") == 1.0


@pytest.mark.parametrize("weight", ["1", b"1", True, None, [1.0]])
def test_a_weight_that_is_no_number_is_a_type_error(weight: Any) -> None:
    """PY-05: no bool, no string; the message names the entry."""
    with pytest.raises(TypeError, match="rust"):
        TagScorer({"rust": weight})


@pytest.mark.parametrize("weights", [None, ["python"], "python", 3, {1: 1.0}])
def test_anything_but_a_mapping_from_strings_is_a_type_error(weights: Any) -> None:
    """PB-05: a wrong type is found on construction."""
    with pytest.raises(TypeError, match="tag_weights"):
        TagScorer(weights)


@pytest.mark.parametrize("flag", [1, 0, None, "yes"])
def test_case_insensitive_is_a_bool(flag: Any) -> None:
    """PB-05: a truthy value is not good enough."""
    with pytest.raises(TypeError, match="case_insensitive"):
        TagScorer(WEIGHTS, case_insensitive=flag)


def test_the_map_is_copied_and_read_only() -> None:
    """DM-06: what the caller does to it later has no effect."""
    weights = dict(WEIGHTS)
    scorer = TagScorer(weights)
    weights["python"] = 0.0
    assert score_of(scorer, "python") == 0.75
    with pytest.raises(TypeError):
        scorer.tag_weights["python"] = 0.0  # type: ignore[index]


def test_other_items_do_not_matter() -> None:
    """TagScorer is absolute: allItems is ignored."""
    item = ContextItem("x", 1, tags=["python"])
    other = ContextItem("y", 1, tags=["rust"])
    scorer = TagScorer(WEIGHTS)
    assert scorer.score(item, []) == scorer.score(item, [other] * 9) == 0.75
    assert scorer.score_all([other, item, ContextItem("z", 1)]) == [0.25, 0.75, 0.0]
