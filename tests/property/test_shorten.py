"""Choosing among versions: at most one of each item, within the budget, and nothing changed if everything fits."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, strategies as st

from pycupel import ContextItem, CountQuotaEntry, CountQuotaSlice, GreedySlice, Pipeline, QuotaEntry, QuotaSlice
from pycupel.protocols import ShortenContext, Shortener, Slicer
from pycupel.scorers import ReflexiveScorer
from pycupel.shorten import ByFormat, HeadAndTail, KeyLines, Stub, make_version
from tests.examples import examples

texts = st.text(st.sampled_from("ab_/.: \n\r\t{}|@-+#\x1b\u0301\u202e\ud800\udc00\U0001f600"), min_size=1, max_size=400)


class Shares:
    def shorten(self, item: ContextItem, context: ShortenContext, /) -> Sequence[ContextItem]:
        return [make_version(item, "x", size, "Shares") for size in range(item.tokens // 5, item.tokens, 7)]


items = st.lists(
    st.builds(
        ContextItem,
        texts,
        st.integers(0, 60),
        kind=st.sampled_from(["Message", "Document"]),
        future_relevance_hint=st.floats(0, 1),
        pinned=st.sampled_from([False] * 9 + [True]),
    ),
    max_size=12,
)
makers = st.sampled_from([Shares(), ByFormat(), KeyLines(), KeyLines((0.5,)), HeadAndTail(10), Stub()])
slicers = st.sampled_from(
    [
        GreedySlice(),
        QuotaSlice([QuotaEntry("Document", 30, 60)]),
        QuotaSlice([QuotaEntry("Document", 30, 60)], redistribute=True),
        CountQuotaSlice([CountQuotaEntry("Document", cap_count=3)]),
    ]
)


@given(items, makers, slicers, st.integers(0, 300))
@examples(300)
def test_at_most_one_version_of_each_item_within_the_budget(
    given_items: list[ContextItem], maker: Shortener, slicer: Slicer, budget: int
) -> None:
    budget += sum(item.tokens for item in given_items if item.pinned)
    pipeline = Pipeline(ReflexiveScorer(), slicer, shorten=maker, deduplication=False)
    selection = pipeline.select(pipeline.rank(given_items), budget)
    report = selection.report
    assert selection.total_tokens <= budget
    assert len(report.included) + len(report.excluded) == len(given_items)
    originals = {id(each.version): each.item for each in selection.shortened}
    whole = [originals.get(id(item), item) for item in selection.items]
    remaining = [id(item) for item in given_items]
    for item in whole:
        remaining.remove(id(item))
    for item, version in selection.shortened:
        assert version.tokens < item.tokens == version.original_tokens
        assert version.content
    again = pipeline.select(pipeline.rank(given_items), budget)
    assert again.items == selection.items


@given(items, makers, slicers)
@examples(100)
def test_what_fits_is_selected_as_without_shortening(
    given_items: list[ContextItem], maker: Shortener, slicer: Slicer
) -> None:
    budget = 5 * sum(item.tokens for item in given_items) + 1
    plain = Pipeline(ReflexiveScorer(), slicer).run(given_items, budget)
    if slicer == GreedySlice():
        assert Pipeline(ReflexiveScorer(), slicer, shorten=maker).run(given_items, budget) == plain


@given(st.lists(texts, min_size=1, max_size=5), makers)
@examples(300)
def test_versions_are_never_broken(contents: list[str], maker: Shortener) -> None:
    candidates = [ContextItem(content, len(content)) for content in contents]
    context = ShortenContext(candidates)
    for item in candidates:
        for version in maker.shorten(item, context):
            assert 0 <= version.tokens < item.tokens
            assert version.content
            assert version.kind == item.kind
            assert maker.shorten(item, ShortenContext(candidates))
