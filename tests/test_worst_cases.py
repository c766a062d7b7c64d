"""Inputs that once took minutes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial

import pytest

from pycupel import (
    BoostedScorer,
    CompositeScorer,
    ContextBudget,
    ContextItem,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    CountQuotaSlice,
    FrequencyScorer,
    KnapsackSlice,
    Pipeline,
    QuotaEntry,
    QuotaSlice,
    ReflexiveScorer,
    ScaledScorer,
    ScoredItem,
    Scorer,
    Slicer,
)
from pycupel.codecs.json_values import read_values
from pycupel.errors import TableTooLargeError
from pycupel.kernels.versions import choose_versions
from pycupel.replay import read_log
from pycupel.scorers._base import score_all
from pycupel.slicers import StreamSlice
from tests.processor_time import within


def spelled(word: str, number: int) -> str:
    """The word with upper case letters where the number has bits."""
    return "".join(letter.upper() if number >> i & 1 else letter for i, letter in enumerate(word))


def sampled_tags(items: int, each: int, known: int) -> list[list[str]]:
    dice = random.Random(1)
    names = [f"tag{i}" for i in range(known)]
    return [dice.sample(names, each) for _ in range(items)]


def spellings_of_one_tag(items: int) -> list[list[str]]:
    return [[spelled("abcdefghijklmnopq", i)] for i in range(items)]


@pytest.mark.parametrize(
    ("make_tags", "limit"),
    [
        (partial(sampled_tags, 10_000, each=10, known=700), 3.0),
        (partial(sampled_tags, 3_000, each=100, known=7_000), 3.0),
        (partial(spellings_of_one_tag, 100_000), 5.0),
    ],
    ids=["10 of 700 tags", "100 of 7,000 tags", "spellings of one tag"],
)
def test_frequencies_of_any_tags_take_seconds_at_most(make_tags: Callable[[], list[list[str]]], limit: float) -> None:
    """PY-09: 15 s, 26 s and 18 s before."""
    items = [ContextItem("-", 1, tags=tags) for tags in make_tags()]
    within(limit, lambda: score_all(FrequencyScorer(), items))


@pytest.mark.parametrize(("count", "target"), [(1_000, 40_000), (500, 49_500)])
def test_scores_in_proportion_to_tokens_are_no_trap_for_a_knapsack(count: int, target: int) -> None:
    """KN-03: 45 s and 37 s before; the specification's table takes about 5 s."""
    dice = random.Random(1)
    items = [ContextItem("-", dice.randint(5, 600)) for _ in range(count)]
    scored = [ScoredItem(item, item.tokens / 1_000) for item in items]
    slicer, budget = KnapsackSlice(bucket_size=1), ContextBudget(target)
    within(6.0, lambda: slicer.slice(scored, budget))


@pytest.mark.parametrize(("count", "target"), [(1_000, 60_000), (10_000, 1_000_000)])
def test_a_knapsack_beyond_all_limits_is_refused_in_time(count: int, target: int) -> None:
    """KN-03: 2 s and 6 s before, when every score is in proportion and nobody limits the table."""
    dice = random.Random(1)
    items = [ContextItem("-", dice.randint(5, 600)) for _ in range(count)]
    scored = [ScoredItem(item, item.tokens / 1_000) for item in items]
    slicer, budget = KnapsackSlice(bucket_size=1, max_cells=None), ContextBudget(target)

    def refused() -> None:
        with pytest.raises(TableTooLargeError, match="more than max_states=2000000"):
            slicer.slice(scored, budget)

    within(1.0, refused)


def test_replacing_in_a_stream_takes_no_walk_for_each_batch() -> None:
    """StreamSlice: 30 s before."""
    dice = random.Random(1)
    scored = [ScoredItem(ContextItem("-", dice.randint(5, 600)), dice.random()) for _ in range(20_000)]
    slicer, budget = StreamSlice(1, replace=True), ContextBudget(2_400_000)
    within(3.0, lambda: slicer.slice(scored, budget))


def test_as_many_versions_that_must_stay_as_items_take_no_walk_for_each() -> None:
    """A list of required items: looking each of them up in it, 20,000 took 2.6 s."""
    count = 50_000
    sizes = [[2, 1]] * count
    choice = within(3.0, lambda: choose_versions(sizes, sizes, count + 10, list(range(count))))
    assert -1 not in choice.versions


def count_quotas(kinds: list[str]) -> list[object]:
    entries = [CountQuotaEntry(kind, cap_count=1, require_count=1) for kind in kinds]
    return [
        pytest.param(QuotaSlice([], CountQuotaSlice(entries)), id="quota(count)"),
        pytest.param(QuotaSlice([], CountConstrainedKnapsackSlice(entries)), id="quota(constrained)"),
        pytest.param(CountQuotaSlice(entries, CountQuotaSlice(entries)), id="count(count)"),
    ]


@pytest.mark.parametrize("slicer", count_quotas([f"kind{i}" for i in range(10_000)]))
def test_as_many_count_entries_as_items_take_seconds_at_most(slicer: Slicer) -> None:
    """CQ-03: a partition asks for its own entry only, and an entry for its own candidates."""
    scored = [ScoredItem(ContextItem("-", 5, kind=f"kind{i}"), 0.5) for i in range(10_000)]
    within(3.0, lambda: slicer.slice(scored, ContextBudget(30_000)))


def test_as_many_requirements_as_items_in_nested_quotas_take_seconds_at_most() -> None:
    """QS-07: equal percentages are summed once."""
    kinds = [f"kind{i}" for i in range(5_000)]
    slicer = QuotaSlice([], QuotaSlice([QuotaEntry(kind, 99 / len(kinds)) for kind in kinds]))
    scored = [ScoredItem(ContextItem("-", 500, kind=kind), 0.5) for kind in kinds]
    within(3.0, lambda: slicer.slice(scored, ContextBudget(2_000_000_000)))


def test_entries_of_quotas_between_others_are_not_checked_for_each_kind() -> None:
    """CQ-03: 2,000 kinds took 3 s, and twice as many four times as long."""
    kinds = [f"kind{i}" for i in range(5_000)]
    counts = CountQuotaSlice([CountQuotaEntry(kind, cap_count=1) for kind in kinds])
    slicer = QuotaSlice([], QuotaSlice([QuotaEntry(kind, cap=50) for kind in kinds], counts))
    scored = [ScoredItem(ContextItem("-", 5, kind=kind), 0.5) for kind in kinds]
    assert within(6.0, lambda: slicer.slice(scored, ContextBudget(50_000))) == [item for item, _ in scored]


@pytest.mark.parametrize(
    "wrap", [lambda inner: CompositeScorer([(inner, 1.0), (inner, 1.0)]), lambda inner: BoostedScorer(inner, inner)]
)
def test_one_scorer_shared_at_every_level_is_asked_once(wrap: Callable[[Scorer], Scorer]) -> None:
    """CS-01: with 2**40 positions."""
    scorer: Scorer = ReflexiveScorer()
    for _ in range(40):
        scorer = wrap(scorer)
    items = [ContextItem("a", 1, future_relevance_hint=1.0), ContextItem("b", 1)]
    report = Pipeline(scorer).dry_run(items, 10)
    assert sorted(included.score for included in report.included) == [0.0, 1.0]


def test_many_scorers_that_wrap_others_are_checked_once_each() -> None:
    """CS-01: 3,000 took 6 s, because every scorer's siblings were looked at again."""
    within(1.0, lambda: CompositeScorer([(ScaledScorer(ReflexiveScorer()), 1.0) for _ in range(10_000)]))


class Label(str):
    __slots__ = ()


def test_tags_that_are_no_plain_strings_are_checked_once_each() -> None:
    """5,000 took a second, because each was searched for among those before it."""
    tags = [Label(f"tag{i}") for i in range(30_000)]
    assert within(1.0, lambda: ContextItem("-", 1, tags=tags)).tags == tuple(tags)


def requests(count: int) -> list[str]:
    """Conversations that begin with the same message, and go on once."""
    system = {"role": "system", "content": "Be brief."}
    first = [[system, {"role": "user", "content": f"question {i}"}] for i in range(count)]
    second = [[*messages, {"role": "assistant", "content": "Yes."}] for messages in first]
    return [json.dumps({"messages": messages}) for messages in (*first, *second)]


def test_each_of_many_conversations_is_found_without_a_search() -> None:
    """`read_log` compared a request with every conversation before it: 20,000 took a minute."""
    lines = requests(10_000)
    log = within(5.0, lambda: read_log(lines))
    assert [len(history.messages) for history in log.histories] == [3] * 10_000


def test_many_summaries_at_one_point_of_a_session_are_no_trap() -> None:
    row = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "x"}}
    lines = [json.dumps({**row, "isCompactSummary": True})] * 50_000
    log = within(5.0, lambda: read_log([*lines, json.dumps(row)]))
    assert len(log.histories[0].compactions) == 50_000


def test_the_elements_of_an_array_on_one_line_are_found_without_counting_lines_again() -> None:
    """The line of each element was counted from the start of the text: 20,000 items took a minute."""
    line = json.dumps([{"content": "x" * 400, "tokens": 3}] * 20_000)
    found = within(5.0, lambda: list(read_values([line])))
    assert [each.line for each in found] == [1] * 20_000
