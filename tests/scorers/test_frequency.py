"""FrequencyScorer: what the vectors `frequency-*` do not show."""

from __future__ import annotations

import pytest

from pycupel import ContextItem, FrequencyScorer


def tagged(*tags: str) -> list[ContextItem]:
    """One item for each string, with a tag for each word."""
    return [ContextItem("x", 1, tags=words.split()) for words in tags]


def expect(items: list[ContextItem], scores: list[float]) -> None:
    scorer = FrequencyScorer()
    assert [scorer.score(item, items) for item in items] == scores
    assert scorer.score_all(items) == scores


@pytest.mark.proves("S-FR-06", "S-FR-07", "S-FR-09")
def test_an_object_is_no_peer_of_itself_however_often_it_occurs() -> None:
    """FS-01: every slot with that very object is skipped, and the divisor stays N - 1."""
    one, two, three = tagged("a", "a b", "b")
    expect([one, one], [0.0, 0.0])
    expect([one, two, two, three, one], [0.5, 0.75, 0.75, 0.5, 0.5])


def test_an_item_outside_the_list_has_no_place_to_skip() -> None:
    """FREQUENCY-SCORE: all N may match, and the divisor is still N - 1."""
    (item,) = tagged("a")
    scorer = FrequencyScorer()
    assert scorer.score(item, tagged("a", "b", "a")) == 1.0
    assert scorer.score(item, tagged("a", "a", "a")) == 1.5
    assert scorer.score(item, tagged("a")) == 0.0
    assert scorer.score(item, []) == 0.0
