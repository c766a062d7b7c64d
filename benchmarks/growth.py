"""`python -m benchmarks.growth`: how time grows with the input, for each strategy and reader at its worst known input.

The exponent is that of time from N to 10 N, the best of a few: 1 is linear, 2 quadratic. One above 1.3 is marked.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple

from pycupel import (
    BoostedScorer,
    ChronologicalPlacer,
    CompositeScorer,
    ContextBudget,
    ContextItem,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    CountQuotaSlice,
    FrequencyScorer,
    GreedySlice,
    KindScorer,
    KnapsackSlice,
    Pipeline,
    Placer,
    Policy,
    PriorityScorer,
    QuotaEntry,
    QuotaSlice,
    RecencyScorer,
    ReflexiveScorer,
    ScaledScorer,
    ScoredItem,
    Scorer,
    SelectionReport,
    Slicer,
    StreamSlice,
    TagScorer,
    UShapedPlacer,
    wire,
)
from pycupel.analytics import find_min_budget_for
from pycupel.errors import DocumentError
from pycupel.policies import dump_policy, parse_policy
from pycupel.policies.files import PolicyFormat
from pycupel.replay import read_log
from pycupel.scorers._base import score_all

LIMIT = 1.3
NOW = datetime(2025, 1, 1, tzinfo=UTC)

Work = Callable[[], object]


class Case(NamedTuple):
    """What grows, from which size to ten times that, and what prepares the work of a size."""

    name: str
    size: int
    prepare: Callable[[int], Work]


def scoring(
    scorer: Scorer, tags: Callable[[random.Random, int], list[str]] = lambda _, __: []
) -> Callable[[int], Work]:
    def prepare(n: int) -> Work:
        dice = random.Random(1)
        items = tuple(
            ContextItem(
                f"{i}",
                1,
                kind=f"kind{i}",
                priority=dice.randrange(n),
                timestamp=NOW + timedelta(seconds=dice.randrange(n)),
                tags=tags(dice, n),
            )
            for i in range(n)
        )
        return partial(score_all, scorer, items)

    return prepare


def shared(depth: int) -> Scorer:
    scorer: Scorer = ReflexiveScorer()
    for _ in range(depth):
        scorer = BoostedScorer(CompositeScorer([(scorer, 1.0), (scorer, 2.0)]), scorer)
    return scorer


def slicing(make: Callable[[list[str]], Slicer], share: float = 0.4) -> Callable[[int], Work]:
    """Scores in proportion to tokens, and as many kinds as items."""

    def prepare(n: int) -> Work:
        dice = random.Random(1)
        items = [ContextItem("-", dice.randint(5, 600), kind=f"kind{i}") for i in range(n)]
        scored = [ScoredItem(item, item.tokens / 1_000) for item in items]
        dice.shuffle(scored)
        budget = ContextBudget(int(share * sum(item.tokens for item in items)))
        return partial(make([item.kind.value for item in items]).slice, scored, budget)

    return prepare


def counts(kinds: list[str]) -> list[CountQuotaEntry]:
    return [CountQuotaEntry(kind, cap_count=1, require_count=1) for kind in kinds]


def percents(kinds: list[str]) -> list[QuotaEntry]:
    return [QuotaEntry(kind, 99 / len(kinds)) for kind in kinds]


def knapsack(n: int) -> Work:
    """A table of 10 000 buckets, whatever the number of candidates."""
    dice = random.Random(1)
    scored = [
        ScoredItem(item, item.tokens / 1_000) for item in (ContextItem("-", dice.randint(5, 600)) for _ in range(n))
    ]
    return partial(KnapsackSlice(1).slice, scored, ContextBudget(10_000))


def placing(placer: Placer) -> Callable[[int], Work]:
    def prepare(n: int) -> Work:
        items = [ContextItem(f"{i}", 1, timestamp=NOW - timedelta(seconds=i)) for i in range(n)]
        return partial(Pipeline(RecencyScorer(), placer=placer).dry_run, items, 2 * n)

    return prepare


def deduplicating(n: int) -> Work:
    items = [ContextItem("same", 1, priority=i) for i in range(n)]
    return partial(Pipeline(PriorityScorer()).dry_run, items, 10)


def exhaustive(n: int) -> Work:
    target = ContextItem("target", 1, priority=0)
    items = [target, *(ContextItem(f"{i}", 1, priority=1) for i in range(n))]
    return partial(find_min_budget_for, Pipeline(PriorityScorer()), items, target, 200, exhaustive=True)


def policy_text(form: PolicyFormat) -> Callable[[int], Work]:
    """N weights of kinds, which are as many keys."""

    def prepare(n: int) -> Work:
        scorer = KindScorer({f"kind {i}": float(i) for i in range(n)})
        return partial(parse_policy, dump_policy(Policy(scorer), form), form)

    return prepare


def refused(work: Work) -> Work:
    def attempt() -> object:
        try:
            return work()
        except DocumentError as error:
            return error

    return attempt


def duplicate_keys(n: int) -> Work:
    members = ", ".join(f'"k{i}": 1' for i in range(n))
    return refused(partial(parse_policy, f'{{{members}, "k{n - 1}": 2}}'))


def dotted_keys(n: int) -> Work:
    keys = "\n".join(f"k{i}.{'.'.join('a' * 60)} = 1" for i in range(n))
    return partial(parse_policy, f"scorers = [{{type = 'recency'}}]\n{keys}", "toml")


def aliases(n: int) -> Work:
    lines = ["a0: &a0 [1]", *(f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, n))]
    return refused(partial(parse_policy, "\n".join(lines), "yaml"))


def item_lines(n: int) -> Work:
    items = [ContextItem(f"{i}", 1, tags=[f"t{i}"], metadata={"a": {"b": [i]}}, timestamp=NOW) for i in range(n)]
    lines = list(map(wire.dumps, items))
    return lambda: list(wire.read_items(lines))


def report_text(n: int) -> Work:
    items = [ContextItem(f"{i}", 1, priority=i) for i in range(n)]
    text = wire.dumps(Pipeline(PriorityScorer()).dry_run(items, n // 2))
    return partial(wire.loads, SelectionReport, text)


def requests(n: int) -> Work:
    """Conversations that begin alike."""
    system = {"role": "system", "content": "Be brief."}
    lines = [json.dumps({"messages": [system, {"role": "user", "content": f"{i}"}]}) for i in range(n)]
    return partial(read_log, lines)


def transcript(n: int) -> Work:
    row = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "x"}}
    return partial(read_log, [json.dumps({**row, "uuid": f"{i}", "isCompactSummary": i % 2 == 0}) for i in range(n)])


CASES = (
    Case("RecencyScorer", 1_000, scoring(RecencyScorer())),
    Case("PriorityScorer", 1_000, scoring(PriorityScorer())),
    Case("KindScorer, N kinds", 1_000, scoring(KindScorer())),
    Case(
        "TagScorer, 100 tags",
        1_000,
        scoring(TagScorer({"t1": 1.0}), lambda d, _: [f"t{d.randrange(700)}" for _ in range(100)]),
    ),
    Case(
        "FrequencyScorer, 10 of 700",
        1_000,
        scoring(FrequencyScorer(), lambda d, _: [f"t{d.randrange(700)}" for _ in range(10)]),
    ),
    # From 10,000 on, because only the masks of 1,000 fit into the processor's cache.
    Case(
        "FrequencyScorer, 10 of N",
        10_000,
        scoring(FrequencyScorer(), lambda d, n: [f"t{d.randrange(n)}" for _ in range(10)]),
    ),
    Case(
        "FrequencyScorer, spellings",
        1_000,
        scoring(FrequencyScorer(), lambda d, _: [f"{d.randrange(2**20):020b}".replace("0", "a").replace("1", "A")]),
    ),
    Case("ScaledScorer", 1_000, scoring(ScaledScorer(PriorityScorer()))),
    Case("one scorer, 3**40 positions", 1_000, scoring(shared(40))),
    Case("GreedySlice", 1_000, slicing(lambda _: GreedySlice())),
    Case("KnapsackSlice, proportional", 100, knapsack),
    Case("StreamSlice", 1_000, slicing(lambda _: StreamSlice())),
    Case("StreamSlice, replace", 1_000, slicing(lambda _: StreamSlice(1, replace=True))),
    Case("QuotaSlice, N entries", 300, slicing(lambda kinds: QuotaSlice(percents(kinds)))),
    Case("CountQuotaSlice, N entries", 300, slicing(lambda kinds: CountQuotaSlice(counts(kinds)))),
    Case("Quota(CountQuota), N entries", 300, slicing(lambda kinds: QuotaSlice([], CountQuotaSlice(counts(kinds))))),
    Case(
        "Quota(CountConstrained), N",
        300,
        slicing(lambda kinds: QuotaSlice([], CountConstrainedKnapsackSlice(counts(kinds)))),
    ),
    Case(
        "CountQuota(CountQuota), N",
        300,
        slicing(lambda kinds: CountQuotaSlice(counts(kinds), CountQuotaSlice(counts(kinds)))),
    ),
    Case("Quota(Quota), N entries", 100, slicing(lambda kinds: QuotaSlice([], QuotaSlice(percents(kinds))))),
    Case("ChronologicalPlacer", 1_000, placing(ChronologicalPlacer())),
    Case("UShapedPlacer", 1_000, placing(UShapedPlacer())),
    Case("deduplication, one content", 1_000, deduplicating),
    Case("find_min_budget_for, 200 sizes", 300, exhaustive),
    Case("policy in JSON, N kinds", 1_000, policy_text("json")),
    Case("policy in JSON, a duplicate key", 1_000, duplicate_keys),
    Case("policy in TOML, N kinds", 1_000, policy_text("toml")),
    Case("policy in TOML, 60 dots in a key", 100, dotted_keys),
    Case("policy in YAML, N kinds", 300, policy_text("yaml")),
    Case("policy in YAML, N aliases", 300, aliases),
    Case("items in JSON lines", 1_000, item_lines),
    Case("report in JSON", 1_000, report_text),
    Case("log of N requests", 1_000, requests),
    Case("transcript with N/2 summaries", 1_000, transcript),
)


def best_of(work: Work) -> float:
    """The least processor time of a call, in milliseconds: of three, or as many as half a second allows."""
    best = math.inf
    calls = 0
    end = time.process_time() + 0.5
    while calls < 3 or time.process_time() < end:
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
        calls += 1
    return best * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    only = parser.parse_args().only
    print(f"{'case':32}{'N':>7}{'ms':>10}{'10 N':>8}{'ms':>10}  exponent (limit {LIMIT})")
    for name, size, prepare in CASES:
        if only in name:
            small, large = best_of(prepare(size)), best_of(prepare(10 * size))
            exponent = math.log10(large / small)
            mark = "  OVER" if exponent > LIMIT else ""
            print(f"{name:32}{size:7}{small:10.2f}{10 * size:8}{large:10.2f}  {exponent:5.2f}{mark}", flush=True)


if __name__ == "__main__":
    main()
