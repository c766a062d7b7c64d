"""RelevanceScorer on random items: `score_all` is `score`, bit for bit."""

from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st

from pycupel import ContextItem
from pycupel.scorers import ReflexiveScorer, RelevanceScorer
from pycupel.scorers._base import score_all
from tests.examples import examples
from tests.strategies import HINTS

WORDS = st.sampled_from(
    ("plan", "planned", "getPlan", "plan_b", "the", "42", "caf\u00e9", "\u65e5\u672c\u8a9e", "?", "other", "words")
)
TEXTS = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)
SHARES = st.sampled_from((0.0, 0.2, 0.5, 1.0))
GROUPS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    ({}, {}, {"session": 1}, {"session": "a"}, {"session": ["no group"]}, {"session": float("nan")})
)


@st.composite
def candidates(draw: st.DrawFn) -> list[ContextItem]:
    """Draw items with words in common, in groups or not, some objects several times."""
    grouped = draw(st.booleans())
    distinct = draw(
        st.lists(
            st.builds(
                ContextItem,
                TEXTS,
                st.just(1),
                kind=st.sampled_from(("Message", "Document", "ToolOutput")),
                metadata=GROUPS if grouped else st.just({}),
                future_relevance_hint=st.sampled_from((*HINTS, -3.0, 12.5, 1e308)),
            ),
            min_size=1,
            max_size=8,
        )
    )
    return distinct + draw(st.lists(st.sampled_from(distinct), max_size=3))


@examples(100)
@given(
    items=candidates(),
    query=TEXTS,
    k1=st.sampled_from((0.0, 1.2, 5.0)),
    b=SHARES,
    window=st.integers(0, 4),
    share=SHARES,
    group_share=SHARES,
    length_exponent=SHARES,
)
def test_the_batch_is_the_pseudocode(items: list[ContextItem], query: str, **options: Any) -> None:
    scorer = RelevanceScorer(query, **options)
    scores = score_all(scorer, items)
    assert scores == [scorer.score(item, items) for item in items]
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert max(scores) in {0.0, 1.0}


@examples(100)
@given(items=candidates())
def test_rescaled_hints_keep_their_order(items: list[ContextItem]) -> None:
    """Larger is never below smaller, and the batch is the pseudocode."""
    scorer = ReflexiveScorer("auto")
    scores = score_all(scorer, items)
    assert scores == [scorer.score(item, items) for item in items]
    hints = [item.future_relevance_hint for item in items]
    known = [(hint, score) for hint, score in zip(hints, scores, strict=True) if hint is not None and abs(hint) < 2e308]
    assert all(a[1] <= b[1] for a in known for b in known if a[0] < b[0])
