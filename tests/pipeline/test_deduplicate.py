"""Stage 3, Deduplicate: what the vectors `dedup-*` do not show."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pycupel import ContextBudget, ContextItem, DiagnosticTraceCollector, Pipeline, SelectionReport, StreamSlice
from pycupel.diagnostics import Deduplicated
from pycupel.errors import PipelineConfigError
from tests.strategies import RawHintScorer

NAN = math.nan
BUDGET = ContextBudget(1000)


def item(content: str, score: float = 0.5, **options: Any) -> ContextItem:
    return ContextItem(content, 10, future_relevance_hint=score, **options)


def report(items: list[ContextItem], **options: Any) -> SelectionReport:
    return Pipeline(RawHintScorer(), **options).dry_run(items, BUDGET)


def survivors(items: list[ContextItem], **options: Any) -> list[int]:
    """Tell which positions of the input survive; all items in it are different objects."""
    kept = set(map(id, report(items, **options).items))
    return [i for i, each in enumerate(items) if id(each) in kept]


@pytest.mark.parametrize(
    ("scores", "survivor"),
    [
        pytest.param([-0.0, 0.0], 0, id="zeros tie (SO-01)"),
        pytest.param([0.0, -0.0], 0, id="zeros tie (SO-01), the other way round"),
        pytest.param([NAN, -5.0], 1, id="a number beats NaN (DD-02)"),
        pytest.param([-5.0, NAN], 0, id="NaN does not beat a number (DD-02)"),
        pytest.param([NAN, NAN], 0, id="NaN ties with NaN (DD-02)"),
        pytest.param([NAN, -math.inf], 1, id="even minus infinity beats NaN (DD-02)"),
        pytest.param([1e300, math.inf], 1, id="infinity is ordinary (SC-03)"),
    ],
)
def test_any_scores_are_compared(scores: list[float], survivor: int) -> None:
    """Stage 3, Deduplicate: the highest score; on ties the lowest index."""
    assert survivors([item("same", score) for score in scores]) == [survivor]


def test_lone_surrogates_compare_like_other_characters() -> None:
    """DD-04; TOML cannot express them."""
    assert survivors([item("\ud800"), item("\ud801"), item("\ud801")]) == [0, 1]


def test_the_same_object_twice_is_a_duplicate_of_itself() -> None:
    """Stage 3, Deduplicate: the content is the same."""
    twice = item("same")
    result = report([twice, twice])
    assert result.items == [twice]
    assert [each.item is twice for each in result.excluded] == [True]


def test_negative_items_take_no_part() -> None:
    """Stage 1, Classify: they do not appear in any subsequent stage."""
    items = [ContextItem("same", -1, future_relevance_hint=9.0), item("same", 0.1)]
    assert survivors(items) == [1]


def test_dedupe_against_pinned_without_pinned_items_changes_nothing() -> None:
    """DD-01: and a pinned item that is invalid pins nothing."""
    items = [item("a", 0.1), item("a", 0.9), ContextItem("a", -1, pinned=True)]
    assert survivors(items, dedupe_against_pinned=True) == survivors(items) == [1]


def test_dedupe_against_pinned_needs_deduplication() -> None:
    """DD-01: the two contradict each other."""
    with pytest.raises(PipelineConfigError, match="dedupe_against_pinned") as caught:
        Pipeline(RawHintScorer(), deduplication=False, dedupe_against_pinned=True)
    assert caught.value.argument == "dedupe_against_pinned"


@pytest.mark.parametrize("name", ["deduplication", "dedupe_against_pinned"])
@pytest.mark.parametrize("value", [1, None, "yes"])
def test_the_options_are_bools(name: str, value: Any) -> None:
    """PB-05."""
    with pytest.raises(TypeError, match=f"{name} must be a bool"):
        Pipeline(RawHintScorer(), **{name: value})


# Documents that differ only in case and white space, with `deduplication="normalized"`.


def document(content: str, score: float = 0.5, **options: Any) -> ContextItem:
    return item(content, score, kind="document", **options)


def replaced(result: SelectionReport) -> dict[str, str]:
    """The contents that were dropped as copies, and what each was dropped for."""
    return {
        each.item.content: each.reason.deduplicated_against
        for each in result.excluded
        if isinstance(each.reason, Deduplicated)
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Some text here", "some  TEXT\there\n", id="case and white space"),
        pytest.param(" " * 100 + "a b", "A\u2003B", id="much white space before it, and a wide space"),
        pytest.param("a" + " " * 50 + "beginning with white space", "A Beginning with white space", id="inside"),
        pytest.param("Stra\u00dfe nach Gro\u00dfstadt", "STRASSE NACH GROSSSTADT", id="a letter that becomes two"),
        pytest.param("\u00df" * 40, "SS" * 40, id="only such letters"),
        pytest.param(" ", "\n\t", id="only white space"),
    ],
)
def test_normalized_documents_are_copies(one: str, other: str) -> None:
    """Whatever the first letters look like, which are compared first."""
    items = [document(one, 0.2), document("something else", 0.9), document(other, 0.4)]
    result = report(items, deduplication="normalized")
    assert replaced(result) == {one: other}
    assert survivors(items, deduplication="normalized") == [1, 2]
    assert survivors(items) == [0, 1, 2]


def test_normalized_documents_that_share_a_beginning_are_no_copies() -> None:
    texts = ["The same beginning, then one", "The same beginning, then two", "the  same beginning, then ONE"]
    assert survivors([document(text) for text in texts], deduplication="normalized") == [0, 1]


def test_normalized_documents_may_share_a_beginning_and_an_end() -> None:
    """Whatever white space is at the end, and however case folds, the copies among the chunks of one page are found."""
    title = "How to install the thing"
    texts = [
        f"{title}\nfirst Straße part",
        f"{title} other part",
        f"{title}  FIRST  STRASSE PART{' ' * 40}",
        f"{title} end",
    ]
    assert survivors([document(text) for text in texts], deduplication="normalized") == [0, 1, 3]
    same_edges = [f"{title} {middle} of the same page" for middle in ("one", "two", "ONE ")]
    assert survivors([document(text) for text in same_edges], deduplication="normalized") == [0, 1]


@pytest.mark.parametrize("kind", ["Message", "ToolOutput", "Memory"])
def test_only_documents_are_normalized(kind: str) -> None:
    items = [item("Yes", kind=kind), item("yes", kind=kind), item("yes", 0.4, kind=kind), document("YES")]
    assert survivors(items, deduplication="normalized") == [0, 1, 3]


def test_the_best_normalized_document_stays_and_all_others_name_it() -> None:
    """DD-02, ER-06: also those that lost to an equal content, which then lost itself."""
    items = [
        document("a b", 0.3),
        document("a b", 0.6),
        document("A b", NAN),
        document("A B", 0.9),
        document("a  B", 0.9),
    ]
    items.append(item("a b", 0.1))
    result = report(items, deduplication="normalized")
    assert [each.content for each in result.items] == ["A B"]
    assert replaced(result) == dict.fromkeys(["a b", "A b", "a  B"], "A B")
    assert len(result.excluded) == 5


def test_normalized_documents_are_compared_with_pinned_ones_on_request() -> None:
    """DD-01: a pinned message is compared character by character."""
    items = [
        document("Rule  one", pinned=True),
        item("Rule two", pinned=True),
        document("rule one", 0.9),
        document("rule two", 0.9),
        document("RULE TWO", 0.1),
        document("Rule two", 0.1),
    ]
    assert survivors(items, deduplication="normalized") == [0, 1, 2, 3]
    result = report(items, deduplication="normalized", dedupe_against_pinned=True)
    assert replaced(result) == {"rule one": "Rule  one", "Rule two": "Rule two", "RULE TWO": "rule two"}


@pytest.mark.parametrize("size", [1, 2, 3, 10])
@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("against_pinned", [True, False])
def test_normalized_documents_of_a_stream(size: int, replace: bool, against_pinned: bool) -> None:
    """With `replace`, the result is that of all items at once; a reason always names something that stayed."""
    texts = ["a b", "A b", "a  B", "a b", "c", "C", " c", "d", "A  B", "c"]
    scores = [0.3, 0.5, 0.1, 0.9, 0.2, 0.4, 0.3, 0.5, 0.9, 0.8]
    items = [document(text, score) for text, score in zip(texts, scores, strict=True)]
    items += [item("A b", 0.2), item("a b", 0.95), document("D ", 0.1, pinned=True), document("a b", 0.99)]
    options: dict[str, Any] = {"deduplication": "normalized", "dedupe_against_pinned": against_pinned}
    pipeline = Pipeline(RawHintScorer(), StreamSlice(size, replace=replace), **options)
    collector = DiagnosticTraceCollector()
    kept = pipeline.run_stream_sync(items, BUDGET, collector=collector)
    result = collector.build_report()
    contents = [each.content for each in kept]
    assert len(contents) == len(set(contents))
    documents = [" ".join(each.content.split()).casefold() for each in kept if each.kind == "Document"]
    assert len(documents) - len(set(documents)) == (0 if against_pinned else 1)
    assert set(replaced(result).values()) <= set(contents)
    # Without a collector, nothing is kept of what was dropped, and the selection is the same.
    assert pipeline.run_stream_sync(items, BUDGET) == kept


def test_deduplication_is_the_default_and_dedupe_against_pinned_is_not() -> None:
    """PB-01."""
    assert Pipeline(RawHintScorer()).deduplication is True
    assert Pipeline(RawHintScorer()).dedupe_against_pinned is False
