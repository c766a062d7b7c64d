"""RelevanceScorer on random items: `score_all` is what it documents, worked out for each item, bit for bit."""

from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st

from pycupel import ContextItem
from pycupel.kernels.words import Corpus, analysis_of, bm25, query_terms
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


def long_way(scorer: RelevanceScorer, items: list[ContextItem]) -> list[float]:
    """The scores, with the neighbours and the group of each item looked up among all items."""
    assert scorer.query is not None
    terms = query_terms(scorer.query)
    if not terms:
        return [0.0] * len(items)
    texts = [analysis_of(item.content) for item in items]
    groups = scorer._groups(items)
    indices = range(len(items))

    def group(i: int) -> list[int]:
        return [j for j in indices if groups[i] is not None and groups[i] == groups[j]]

    def neighbours(i: int) -> list[int]:
        return [j for j in group(i) if i != j and abs(i - j) <= scorer.window]

    def scaled(scores: list[float]) -> list[float]:
        return [score / max(scores) for score in scores] if max(scores) > 0.0 else scores

    scores = scaled(bm25(terms, texts, scorer.k1, scorer.b, Corpus()))
    for share, others in ((scorer.share, neighbours), (scorer.group_share, group)):
        best = [max((scores[j] for j in others(i)), default=0.0) for i in indices]
        scores = scaled([scores[i] + share * best[i] for i in indices])
    if scorer.length_exponent:
        lengths = [(text.length or 1) ** scorer.length_exponent for text in texts]
        scores = scaled([score and score / length for score, length in zip(scores, lengths, strict=True)])
    return [max(scores[j] for j in indices if items[j] is item) for item in items]


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
    assert scores == long_way(scorer, items)
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
