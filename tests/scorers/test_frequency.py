"""FrequencyScorer: the share of the other items that have a tag in common."""

from __future__ import annotations

import copy
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


@pytest.mark.parametrize(
    ("tags", "scores"),
    [
        pytest.param([], [], id="no items"),
        pytest.param([""], [0.0], id="a lone item without tags"),
        pytest.param(["a"], [0.0], id="only one item"),
        pytest.param(["", "", ""], [0.0, 0.0, 0.0], id="no tags anywhere"),
        pytest.param(["a", "b", "c"], [0.0, 0.0, 0.0], id="no peer shares a tag"),
        pytest.param(["a", "a b", "a c"], [1.0, 1.0, 1.0], id="all peers share a tag"),
        pytest.param(["a", "", "a"], [0.5, 0.0, 0.5], id="a peer without tags does not match, but divides"),
        pytest.param(["a", "b", "a b", "c", ""], [0.25, 0.25, 0.5, 0.0, 0.0], id="fractions"),
        pytest.param(["a b", "b c", "c d", "d a"], [2 / 3] * 4, id="a ring"),
        pytest.param(["a b", "a b", "a"], [1.0, 1.0, 1.0], id="two tags in common count once"),
        pytest.param(["a a a", "a", "b"], [0.5, 0.5, 0.0], id="a repeated tag counts once"),
        pytest.param(["Important", "important", "IMPORTANT", "x"], [2 / 3, 2 / 3, 2 / 3, 0.0], id="ASCII case folds"),
        pytest.param(["a A", "A", "b"], [0.5, 0.5, 0.0], id="two spellings on one item"),
        pytest.param(["\u00c9", "\u00e9", "\u212a", "k"], [0.0] * 4, id="other letters do not fold"),
    ],
)
def test_the_score_is_the_share_of_peers_with_a_common_tag(tags: list[str], scores: list[float]) -> None:
    """FrequencyScorer, Edge Cases; FS-02."""
    expect(tagged(*tags), scores)


def test_an_equal_copy_is_a_peer() -> None:
    """FrequencyScorer, Self-Exclusion: MUST use reference identity, not structural equality."""
    (item,) = tagged("a")
    twin = copy.copy(item)
    assert twin == item
    assert twin is not item
    expect([item, twin], [1.0, 1.0])


def test_an_object_is_no_peer_of_itself_however_often_it_occurs() -> None:
    """FS-01: every slot with that very object is skipped, and the divisor stays N - 1."""
    one, other = tagged("a", "a")
    expect([one, one], [0.0, 0.0])
    expect([one, one, other], [0.5, 0.5, 1.0])
    expect([one, other, one, one], [1 / 3, 1.0, 1 / 3, 1 / 3])


def test_the_same_object_twice_does_not_disturb_the_others() -> None:
    """FS-01: each is counted by its own number of places."""
    one, two, three = tagged("a", "a b", "b")
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
