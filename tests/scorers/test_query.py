"""Binding a question to every scorer that asks for one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from pycupel import BoostedScorer, CompositeScorer, ContextItem, KindScorer, RecencyScorer, ScaledScorer
from pycupel.scorers import RelevanceScorer
from pycupel.scorers._base import bind_query, score_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pycupel import Scorer


@dataclass(frozen=True)
class Counting:
    """A user's scorer that asks for a question, and counts how often it gets one."""

    query: str = ""
    bound: list[str] = field(default_factory=list, compare=False)

    def for_query(self, query: str) -> Counting:
        self.bound.append(query)
        return replace(self, query=query)

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        return float(self.query in item.content)


class Loud(ScaledScorer):
    """A subclass, which stays one."""

    __slots__ = ()


OPEN = RelevanceScorer()
BOUND = RelevanceScorer("q")
PLAIN = RecencyScorer()


@pytest.mark.parametrize(
    ("scorer", "expected", "count"),
    [
        pytest.param(OPEN, BOUND, 1, id="itself"),
        pytest.param(RelevanceScorer("other"), BOUND, 1, id="another question is replaced"),
        pytest.param(Counting(), Counting("q"), 1, id="a user's scorer"),
        pytest.param(
            CompositeScorer([(PLAIN, 3), (OPEN, 1)]), CompositeScorer([(PLAIN, 3), (BOUND, 1)]), 1, id="in a composite"
        ),
        pytest.param(ScaledScorer(OPEN), ScaledScorer(BOUND), 1, id="scaled"),
        pytest.param(Loud(OPEN), Loud(BOUND), 1, id="in a subclass"),
        pytest.param(BoostedScorer(OPEN, KindScorer()), BoostedScorer(BOUND, KindScorer()), 1, id="boosted"),
        pytest.param(BoostedScorer(PLAIN, OPEN, PLAIN), BoostedScorer(PLAIN, BOUND, PLAIN), 1, id="a boost"),
        pytest.param(
            ScaledScorer(CompositeScorer([(ScaledScorer(OPEN), 1), (Counting(), 1)])),
            ScaledScorer(CompositeScorer([(ScaledScorer(BOUND), 1), (Counting("q"), 1)])),
            2,
            id="deep inside",
        ),
    ],
)
def test_everything_that_asks_is_bound(scorer: Scorer, expected: Scorer, count: int) -> None:
    bound, found = bind_query(scorer, "q")
    assert bound == expected
    assert type(bound) is type(expected)
    assert found == count


@pytest.mark.parametrize(
    "scorer", [PLAIN, CompositeScorer([(PLAIN, 1), (ScaledScorer(PLAIN), 1)]), BoostedScorer(PLAIN)]
)
def test_what_does_not_ask_stays_the_same_object(scorer: Scorer) -> None:
    bound, count = bind_query(scorer, "q")
    assert bound is scorer
    assert count == 0


def test_a_shared_scorer_is_bound_once_and_stays_shared() -> None:
    shared = Counting()
    twice = ScaledScorer(shared)
    bound, count = bind_query(CompositeScorer([(shared, 1), (twice, 1), (twice, 2)]), "q")
    assert isinstance(bound, CompositeScorer)
    one, two, three = bound.children
    assert isinstance(two, ScaledScorer)
    assert two is three
    assert two.inner is one
    assert shared.bound == ["q"]
    assert count == 1


def test_what_is_bound_can_score() -> None:
    scorer, _ = bind_query(CompositeScorer([(OPEN, 1), (PLAIN, 1)]), "yes")
    assert score_all(scorer, [ContextItem("yes", 1), ContextItem("no", 1, kind="Document")]) == [0.5, 0.0]


def test_the_arguments_are_checked() -> None:
    with pytest.raises(TypeError, match="query must be a str"):
        bind_query(OPEN, None)  # type: ignore[arg-type]

    class Wrong(Counting):
        def for_query(self, query: str) -> Any:
            return None

    with pytest.raises(TypeError, match=r"^the result of Wrong\.for_query must be a scorer"):
        bind_query(Wrong(), "q")
