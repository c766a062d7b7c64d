"""Hints of several retrievers: what the vectors do not show of `FusedScorer` and of groups in `ReflexiveScorer`."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import inf, isfinite, nan
from typing import Any

import pytest

from pycupel import CompositeScorer, ContextItem, FusedScorer, Pipeline, Policy, ReflexiveScorer, select
from pycupel.errors import DocumentError, InvalidArgumentError, ScorerConfigError
from pycupel.policies import policy_to_dict
from pycupel.scorers import rescale_hints
from pycupel.testing import check_scorer

AUTO = ReflexiveScorer("auto")


def hit(content: str, hint: float | None, retriever: Any = None, source: str = "Rag") -> ContextItem:
    metadata = {} if retriever is None else {"retriever": retriever}
    return ContextItem(content, 10, source=source, metadata=metadata, future_relevance_hint=hint)


def from_each(*hints: tuple[float, ...], **fields: Any) -> list[ContextItem]:
    """Hits of a retriever for each tuple."""
    return [hit(f"{n} {i}", hint, n, **fields) for n, group in enumerate(hints) for i, hint in enumerate(group)]


def from_sources(*hints: tuple[float, ...]) -> list[ContextItem]:
    return [hit(f"{n} {i}", hint, source=f"s{n}") for n, group in enumerate(hints) for i, hint in enumerate(group)]


COSINES, WORDS, LOGITS = (0.9, 0.4, -0.2), (31.0, 12.0, 3.0), (-1.5, -4.0, 2.0)


@pytest.mark.parametrize("items", [from_each(COSINES, WORDS, LOGITS), from_sources(COSINES, WORDS, LOGITS)])
def test_retrievers_of_different_scales_are_fused(items: list[ContextItem]) -> None:
    scores = AUTO.score_all(items)
    assert [round(score, 3) for score in scores] == [1, 0.492, 0, 1, 0.492, 0, 0.492, 0, 1]
    assert [AUTO.score(item, items) for item in items] == scores


@pytest.mark.parametrize(
    "items",
    [
        pytest.param(from_each(WORDS, (2.0, 0.0, 5.0)), id="none negative and some above 1"),
        pytest.param(from_each(LOGITS, (-3.0, 9.0)), id="any"),
        pytest.param([hit(str(i), hint) for i, hint in enumerate((*COSINES, *WORDS))], id="one source"),
        pytest.param(from_sources(COSINES, WORDS[:2]), id="too few hints of a source"),
        pytest.param(from_sources(COSINES, *[WORDS] * 5), id="too many sources"),
    ],
)
def test_one_scale_and_one_group_are_scaled_as_before(items: list[ContextItem]) -> None:
    without = ReflexiveScorer("auto", by=None)
    assert AUTO.score_all(items) == without.score_all(items)
    assert [AUTO.score(item, items) for item in items] == AUTO.score_all(items)
    assert not any("scales" in note for note in select(items, 1_000, "rag").notes)


def test_cosines_are_of_one_scale_and_are_not_even_grouped() -> None:
    items = from_each((-1.0, 0.4, 0.9), (0.1, 0.5, 1.0))
    without = ReflexiveScorer("auto", by=None)
    assert AUTO.score_all(items) == without.score_all(items)
    assert [AUTO.score(item, items) for item in items] == AUTO.score_all(items)
    logits = from_each((-1.5, 0.4, 0.9), (0.1, 0.5, 1.0))
    assert AUTO.score_all(logits) != without.score_all(logits)


def test_groups_can_be_turned_off() -> None:
    items = from_each(COSINES, WORDS)
    scorer = ReflexiveScorer("auto", by=None)
    assert max(scorer.score_all(items)[:3]) < min(scorer.score_all(items)[3:])
    assert ReflexiveScorer("auto", by="none") == scorer != AUTO  # type: ignore[arg-type]
    assert repr(scorer) == "ReflexiveScorer(rescale='auto', by=None)"
    with pytest.raises(ScorerConfigError, match="by must be one of auto, none, not 'kind'"):
        ReflexiveScorer("auto", by="kind")  # type: ignore[arg-type]


def test_items_without_the_key_are_one_retriever() -> None:
    items = [*from_each(WORDS), *(hit(f"cosine {hint}", hint) for hint in COSINES)]
    scores = AUTO.score_all(items)
    assert scores[:3] == scores[3:]
    [note] = [note for note in select(items, 10, "rag").notes if "scales" in note]
    assert "2 retrievers have different scales ('0' 3 to 31, (none) -0.2 to 0.9)" in note


def test_a_note_lists_five_retrievers() -> None:
    [note] = [note for note in select(from_each(COSINES, *[WORDS] * 6), 10, "rag").notes if "scales" in note]
    assert "the hints of 7 retrievers have different scales ('0' -0.2 to 0.9, '1' 3 to 31," in note
    assert " and 2 more)" in note


def test_content_that_several_retrievers_have_found_is_better() -> None:
    items = [hit("a", 9.0, "words"), hit("b", 8.0, "words"), hit("b", 0.5, "vectors"), hit("c", 0.9, "vectors")]
    scores = AUTO.score_all(items)
    assert scores[1] == scores[2] == 1.0
    assert max(scores[0], scores[3]) < 1.0
    assert scores == [AUTO.score(item, items) for item in items]


def test_a_content_that_one_retriever_has_twice_has_its_better_rank() -> None:
    items = [hit("a", 9.0, "words"), hit("a", 1.0, "words"), hit("b", 5.0, "words"), hit("c", 0.5, "vectors")]
    assert AUTO.score_all(items) == [1.0, 1.0, 0.0, 1.0]


def test_what_has_no_finite_hint_scores_0() -> None:
    items = [*from_each(COSINES, WORDS), hit("x", None, 0), hit("y", nan, 0), hit("0 0", inf, 1)]
    assert AUTO.score_all(items)[-3:] == [0.0, 0.0, 0.0]
    assert [AUTO.score(item, items) for item in items] == AUTO.score_all(items)
    assert FusedScorer().score_all(items) == AUTO.score_all(items)
    stranger = hit("stranger", 0.4, 0)
    assert FusedScorer().score(stranger, items) == AUTO.score(stranger, items) == 0.0


def test_one_group_is_fused_by_its_ranks_if_asked_for() -> None:
    items = [hit(str(hint), hint) for hint in (0.9, 0.1, 0.5)]
    assert [round(score, 2) for score in FusedScorer(k=0).score_all(items)] == [1.0, 0.0, 0.25]
    assert FusedScorer().score_all(items[:1]) == [0.5]
    assert FusedScorer().score_all([]) == []


def long_way(items: list[ContextItem], key: Callable[[ContextItem], Any], k: int) -> list[float]:
    """The fused ranks by their definition, worked out for each item."""
    hinted = [item for item in items if item.future_relevance_hint is not None and isfinite(item.future_relevance_hint)]
    groups = list(dict.fromkeys(map(key, hinted)))

    def fused(content: str) -> float:
        result = 0.0
        for group in groups:
            hints = {id(item): item.future_relevance_hint or 0.0 for item in hinted if key(item) == group}
            own = [hints[id(item)] for item in hinted if item.content == content and id(item) in hints]
            if own:
                result += 1.0 / (k + 1 + len([hint for hint in hints.values() if hint > max(own)]))
        return result

    sums = [fused(item.content) for item in hinted]
    spans = {id(item): 0.5 if min(sums) == max(sums) else None for item in hinted}
    for item, each in zip(hinted, sums, strict=True):
        if spans[id(item)] is None:
            spans[id(item)] = (each - min(sums)) / (max(sums) - min(sums))
    return [spans.get(id(item)) or 0.0 for item in items]


def test_score_and_score_all_are_equal_to_the_bit() -> None:
    draw = random.Random(34)
    for _ in range(200):
        items = [
            hit(
                f"content {draw.randrange(12)}",
                draw.choice((None, nan, draw.uniform(-1, 1), draw.uniform(0, 40), draw.uniform(-9, 9))),
                draw.choice((None, "a", "b", 3)),
                draw.choice(("Rag", "Tool")),
            )
            for _ in range(draw.randrange(1, 25))
        ]
        for scorer in (
            AUTO,
            FusedScorer("source"),
            FusedScorer(lambda item: item.tokens),
            FusedScorer("metadata:x", 1),
        ):
            assert [scorer.score(item, items) for item in items] == scorer.score_all(items)
        by_retriever = FusedScorer().score_all(items)
        assert by_retriever == long_way(items, lambda item: str(item.metadata.get("retriever", "")), 60)
        assert FusedScorer("source", 1).score_all(items) == long_way(items, lambda item: item.source.key, 1)


def test_the_contract_holds() -> None:
    check_scorer(FusedScorer("source"), from_sources(COSINES, WORDS, LOGITS))


class Unspeakable:
    """A value that cannot be written."""

    def __str__(self) -> str:
        raise RuntimeError


def test_groups_are_compared_as_texts() -> None:
    """A value without a text is none."""
    by = FusedScorer("metadata:retriever")
    items = [hit("a", 2.0, 7), hit("b", 1.0, "7"), hit("c", 0.5, Unspeakable()), hit("d", 0.1)]
    assert by.score_all(items) == FusedScorer(lambda item: item.content in "ab").score_all(items)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("retreiver",), ScorerConfigError, "by must be one of retriever, source, metadata:KEY, not 'retreiver'; did"),
        (("metadata:",), ScorerConfigError, "by must be one of"),
        ((7,), TypeError, r"by must be 'retriever', 'source', 'metadata:KEY' or a function that takes an item, not 7"),
        (("source", -1), ScorerConfigError, "k must be 0 or more, not -1"),
    ],
)
def test_wrong_arguments(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        FusedScorer(*arguments)


def test_a_key_that_no_item_has_is_noted() -> None:
    """Else hints of different scales are ranked as those of one retriever."""
    items = [hit("a", 27.0, "bm25"), hit("b", 0.9, "cosine")]
    [note] = Pipeline(FusedScorer("metadata:retreiver")).dry_run(items, 100).notes
    assert note == (
        "no candidate has a value for 'metadata:retreiver', so FusedScorer takes them all for one group, (none); "
        "correct the option by; did you mean 'retriever'?"
    )
    assert Pipeline(FusedScorer()).dry_run(items, 100).notes == ()
    assert Pipeline(FusedScorer("metadata:x")).dry_run([], 100).notes == ()
    two = CompositeScorer([(FusedScorer("metadata:retreiver"), 1), (FusedScorer("metadata:x"), 1)])
    assert [first[:50] for first in Pipeline(two).dry_run(items, 100).notes] == [
        "no candidate has a value for 'metadata:retreiver',",
        "no candidate has a value for 'metadata:x', so Fuse",
    ]


def test_a_function_cannot_be_saved() -> None:
    with pytest.raises(
        DocumentError, match="a function cannot be written to a file; pass a name, such as metadata:KEY"
    ):
        policy_to_dict(Policy(FusedScorer(lambda item: item.kind)))


# rescale_hints


def test_hints_can_be_fused_in_the_items() -> None:
    items = [*from_each(COSINES, WORDS), hit("none", None, 0), hit("nan", nan, 1)]
    fused = rescale_hints(items, by="retriever")
    assert [item.future_relevance_hint for item in fused[:6]] == AUTO.score_all(items)[:6]
    assert fused[6:] == items[6:]
    assert rescale_hints(items[3:6], "source") == rescale_hints(items[3:6])
    with pytest.raises(InvalidArgumentError, match="by must be one of retriever, source, metadata:KEY, not 'auto'"):
        rescale_hints(items, "auto")


@pytest.mark.parametrize(
    ("distances", "expected"),
    [((0.25, 1.0, 0.0), [0.75, 0.0, 1.0]), ((2.0, 4.0, 3.0), [1.0, 0.0, 0.5]), ((-1.0, 1.0), [1.0, 0.0])],
)
def test_distances_are_turned_round(distances: tuple[float, ...], expected: list[float]) -> None:
    items = [hit(str(distance), distance) for distance in distances]
    turned = rescale_hints([*items, hit("none", None), hit("inf", inf)], lower_is_better=True)
    assert [item.future_relevance_hint for item in turned] == [*expected, None, inf]
    with pytest.raises(TypeError, match="lower_is_better must be a bool"):
        rescale_hints(items, lower_is_better=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("by", ["retriever", "source"])
def test_a_k_beyond_floats_makes_all_ranks_equal(by: Any) -> None:
    items = from_each((3.0, 2.0), (0.5,))
    scorer = FusedScorer(by, 10**5000)
    assert scorer.score_all(items) == [scorer.score(item, items) for item in items] == [0.5] * 3
