"""FrequencyScorer: what the vectors `frequency-*` do not show."""

from __future__ import annotations

import random

import pytest

from pycupel import ContextItem, FrequencyScorer


def tagged(*tags: str) -> list[ContextItem]:
    """One item for each string, with a tag for each word."""
    return [ContextItem("x", 1, tags=words.split()) for words in tags]


def expect(items: list[ContextItem], scores: list[float]) -> None:
    scorer = FrequencyScorer()
    assert [scorer.score(item, items) for item in items] == scores
    assert scorer.score_all(items) == scores


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


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("count", "common", "rare"),
    [
        pytest.param(40, 3, 4, id="few items"),
        pytest.param(64, 5, 0, id="common tags only"),
        pytest.param(300, 3, 200, id="common and rare tags"),
        pytest.param(300, 0, 300, id="rare tags only"),
        pytest.param(300, 12, 70, id="tags on just few enough or just too many items"),
    ],
)
def test_many_items_are_counted_like_few(count: int, common: int, rare: int, seed: int) -> None:
    """PY-09: an index over the tags gives what the pseudocode gives, however often a tag occurs."""
    dice = random.Random(seed)
    items = []
    for i in range(count):
        tags = [dice.choice("aA") + str(dice.randrange(common)) for _ in range(dice.randrange(3)) if common]
        tags += [dice.choice("rR") + str(dice.randrange(rare)) for _ in range(dice.randrange(3)) if rare]
        items.append(ContextItem(f"{i}", 1, tags=tags))
    items += dice.sample(items, seed * 5)
    dice.shuffle(items)
    expected = [FrequencyScorer().score(item, items) for item in items]
    assert len(set(expected)) > 3, "the example says something"
    assert list(map(float.hex, FrequencyScorer().score_all(items))) == list(map(float.hex, expected))
