"""Every error of a constructor names its argument, as an attribute: readers of documents find the field by it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Any

import pytest

from pycupel import (
    BoostedScorer,
    ChronologicalPlacer,
    CompositeScorer,
    ContextBudget,
    ContextItem,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    CountQuotaSlice,
    CupelError,
    DecayScorer,
    DiagnosticTraceCollector,
    FramedPlacer,
    GreedySlice,
    KindScorer,
    KnapsackSlice,
    MetadataKeyScorer,
    MetadataTrustScorer,
    MinScoreSlice,
    OverflowStrategy,
    Pipeline,
    Policy,
    QuotaEntry,
    QuotaSlice,
    RecencyScorer,
    ReflexiveScorer,
    RelevanceScorer,
    ScaledScorer,
    ScarcityBehavior,
    Scorer,
    SelectionReport,
    StreamSlice,
    TagScorer,
    TraceDetailLevel,
    UShapedPlacer,
)
from pycupel.analytics import (
    ItemStatus,
    budget_utilization,
    find_min_budget_for,
    kind_diversity,
    policy_sensitivity,
    quota_utilization,
    sweep_budgets,
)
from pycupel.batch import run_batch
from pycupel.conformance import run_suite
from pycupel.diagnostics import InclusionReason, PipelineStage
from pycupel.messages import Shorten, lint_messages, select_messages
from pycupel.model import QuotaConstraintMode
from pycupel.policies import load_policy, preset, save_policy
from pycupel.registry import CLOCKS, SCORERS
from pycupel.replay import CacheRates, read_log, replay
from pycupel.scorers import Exponential, Step, SystemTimeProvider, Window
from pycupel.shorten import ToolCall, make_version, superseded
from pycupel.testing.reports import ReportRunner
from pycupel.tokens import Counter, item
from pycupel.web import State, play
from pycupel.wire import dumps, write_items
from tests.model.numbers import NUMPY_TRUE

RECENCY = RecencyScorer()
CLOCK = SystemTimeProvider()
HOUR = timedelta(hours=1)
NONE: Any = None
WRONG: Any = "x"
NUMBER: Any = 5
NUMBERS: Any = [5]

ITEM = ContextItem("a", 1)
REPORT = Pipeline(RECENCY).dry_run([ITEM], 10)
LOG = read_log(['{"role": "user", "content": "a"}'])

Build = Callable[[], object]


def nested(wrap: Callable[[Scorer], Scorer]) -> Scorer:
    """More scorers inside each other than there may be."""
    scorer: Scorer = RECENCY
    for _ in range(200):
        scorer = wrap(scorer)
    return scorer


@pytest.mark.parametrize(
    ("build", "argument", "value"),
    [
        (lambda: CompositeScorer([]), "entries", None),
        (lambda: CompositeScorer([(NONE, 1)]), "entries", None),
        (lambda: CompositeScorer([(RECENCY, 0)]), "entries", 0.0),
        (lambda: CompositeScorer([(RECENCY, float("inf"))]), "entries", float("inf")),
        (lambda: CompositeScorer([(RECENCY, 1e308), (RECENCY, 1e308)]), "entries", None),
        (lambda: KindScorer({"a": -1}), "weights", -1.0),
        (lambda: KindScorer({"a": float("inf")}), "weights", float("inf")),
        (lambda: KindScorer({"a": 1, "A": 2}), "weights", "A"),
        (lambda: KindScorer({" ": 1}), "weights", " "),
        (lambda: TagScorer({"a": -1}), "tag_weights", -1.0),
        (lambda: TagScorer({"a": 1, "A": 2}, case_insensitive=True), "tag_weights", "A"),
        (lambda: TagScorer({"a": 1e308, "b": 1e308}), "tag_weights", None),
        (lambda: MetadataKeyScorer("key", "value", 0), "boost", 0.0),
        (lambda: MetadataTrustScorer(2), "default_score", 2.0),
        (lambda: DecayScorer(CLOCK, Window(HOUR), 2), "null_timestamp_score", 2.0),
        (lambda: Exponential(timedelta(0)), "half_life", timedelta(0)),
        (lambda: Window(-HOUR), "max_age", -HOUR),
        (lambda: Step([]), "windows", None),
        (lambda: Step([(timedelta(0), 1)]), "windows", timedelta(0)),
        (lambda: Step([(HOUR, 2)]), "windows", 2.0),
        (lambda: Step([(HOUR, 1), (HOUR, 0)]), "windows", None),
        (lambda: KnapsackSlice(0), "bucket_size", 0),
        (lambda: KnapsackSlice(max_cells=0), "max_cells", 0),
        (lambda: KnapsackSlice(max_states=0), "max_states", 0),
        (lambda: StreamSlice(0), "batch_size", 0),
        (lambda: QuotaSlice([QuotaEntry("a", 60), QuotaEntry("b", 60)]), "entries", 120.0),
        (lambda: QuotaSlice([QuotaEntry("a"), QuotaEntry("A")]), "entries", "A"),
        (lambda: CountQuotaSlice([CountQuotaEntry("a", cap_count=1)] * 2), "entries", "a"),
        (lambda: CountQuotaSlice([], KnapsackSlice()), "inner", KnapsackSlice()),
        (lambda: CountQuotaSlice([], scarcity=WRONG), "scarcity", "x"),
        (lambda: CountQuotaSlice([], cap_order=WRONG), "cap_order", "x"),
        (lambda: CountConstrainedKnapsackSlice([], scarcity=WRONG), "scarcity", "x"),
        (lambda: CountConstrainedKnapsackSlice([CountQuotaEntry("a", cap_count=1)] * 2), "entries", "a"),
        (lambda: GreedySlice(-0.1), "cost_exponent", -0.1),
        (lambda: GreedySlice(2.1), "cost_exponent", 2.1),
        (lambda: GreedySlice(float("inf")), "cost_exponent", float("inf")),
        (lambda: MinScoreSlice(GreedySlice(), float("inf")), "min_score", float("inf")),
        (lambda: ReflexiveScorer("always"), "rescale", "always"),  # type: ignore[arg-type]
        (lambda: Pipeline(RECENCY, overflow_strategy=WRONG), "overflow_strategy", "x"),
        (lambda: Pipeline.from_policy(WRONG), "policy", "x"),
        (lambda: find_min_budget_for(WRONG, [ITEM], ITEM, 10), "pipeline", "x"),
        (lambda: REPORT.why(ITEM, pipeline=WRONG, items=[ITEM]), "pipeline", "x"),
        (lambda: REPORT.why(ITEM, pipeline=WRONG), "pipeline", "x"),
        (lambda: REPORT.to_html(pipeline=WRONG, items=[ITEM]), "pipeline", "x"),
        (lambda: REPORT.to_html(pipeline=WRONG), "pipeline", "x"),
        (lambda: ReportRunner(WRONG), "default", "x"),
        (lambda: ReportRunner()([ITEM], 50, WRONG), "pipeline", "x"),
        (lambda: Pipeline(RECENCY).run([ITEM], -5), "budget", -5),
        (lambda: sweep_budgets("rag", [ITEM], [50, -5]), "budgets", -5),
        (lambda: FramedPlacer(first=[""]), "first", ""),
        (lambda: ChronologicalPlacer("first"), "undated", "first"),  # type: ignore[arg-type]
        (lambda: REPORT.should().include_item_with_kind(" "), "kind", " "),
        (lambda: preset("x"), "name", "x"),
        (lambda: policy_sensitivity([ITEM], 50, {"a": "rag", "b": WRONG}), "variants", "x"),
        (lambda: find_min_budget_for("rag", [], ITEM, 10), "target_item", ITEM),
        (lambda: SelectionReport([], [], [], 1, 0), "total_candidates", 1),
        (lambda: SelectionReport([], [], [], 0, 1), "total_tokens_considered", 1),
        (lambda: ContextBudget(50).resized(-1), "max_tokens", -1),
        (lambda: ContextBudget(50).effective(-1), "pinned_tokens", -1),
        (lambda: Pipeline(RECENCY).dry_run([ITEM], 0).why("a", pipeline="rag", items=[]), "items", None),
        (lambda: replay(LOG, 50, rates=CacheRates(read=-1)), "rates", -1),
        (lambda: replay(LOG, 50, {"a": WRONG}), "policies", "x"),
        (lambda: dumps(ITEM, indent=-1), "indent", -1),
        (lambda: dumps(ITEM, indent=10**400), "indent", 10**400),
        (lambda: nested(ScaledScorer), "inner", None),
        (lambda: nested(lambda scorer: CompositeScorer([(scorer, 1)])), "entries", None),
        (lambda: nested(BoostedScorer), "inner", None),
        (lambda: nested(lambda scorer: BoostedScorer(RECENCY, scorer)), "boosts", None),
        (lambda: nested(lambda scorer: BoostedScorer(RECENCY, boosts=[RECENCY, scorer])), "boosts", None),
    ],
)
def test_a_wrong_value(build: Build, argument: str, value: Any) -> None:
    with pytest.raises(CupelError) as caught:
        build()
    error: Any = caught.value
    assert (error.argument, error.value) == (argument, value)


@pytest.mark.parametrize(
    ("build", "argument"),
    [
        (lambda: Pipeline(RECENCY, overflow_strategy=NONE), "overflow_strategy"),
        (lambda: FramedPlacer(last=NUMBERS), "last"),
        (lambda: FramedPlacer(last=NUMBER), "last"),
        (lambda: FramedPlacer(first=WRONG), "first"),
        (lambda: RelevanceScorer(NUMBER), "query"),
        (lambda: RelevanceScorer(group=NONE), "group"),
        (lambda: play(NUMBERS), "state"),
        (lambda: State(NUMBERS), "items"),
        (lambda: State(NUMBER), "items"),
        (lambda: read_log(NUMBERS), "source"),
        (lambda: write_items(NONE, [ITEM]), "stream"),
        (lambda: select_messages([{"role": "user", "content": "a"}], 50, query=NUMBER), "query"),
        (lambda: RecencyScorer(NUMBER), "undated"),
        (lambda: REPORT.why(0, items=NUMBER), "items"),
        (lambda: REPORT.same_selection(NUMBER), "other"),
        (lambda: budget_utilization(NUMBER, 5), "report"),
        (lambda: kind_diversity(NONE), "report"),
        (lambda: quota_utilization(NUMBER, "rag", 5), "report"),
        (lambda: SelectionReport((), (), (), 0, 0, (), WRONG), "budget"),
        (lambda: SelectionReport(NUMBER, (), (), 0, 0), "events"),
        (lambda: SelectionReport((), NONE, (), 0, 0), "included"),
        (lambda: SelectionReport((), (), WRONG, 0, 0), "excluded"),
        (lambda: SelectionReport((), (), (), 0, 0, NUMBER), "count_requirement_shortfalls"),
        (lambda: SelectionReport((), (), (), 0, 0, notes=WRONG), "notes"),
        (lambda: ContextBudget(50).resized(WRONG), "max_tokens"),
        (lambda: ContextBudget(50).resized(5, WRONG), "target_tokens"),
        (lambda: ContextBudget(50).effective(WRONG), "pinned_tokens"),
        (lambda: find_min_budget_for("rag", NUMBERS, NUMBER, 10), "items"),
        (lambda: ReportRunner(NUMBER), "default"),
        (lambda: BoostedScorer(RECENCY, boosts=WRONG), "boosts"),
        (lambda: Exponential(WRONG), "half_life"),
        (lambda: Window(WRONG), "max_age"),
        (lambda: Step([(WRONG, 1)]), "windows"),
        (lambda: CountQuotaSlice([], scarcity=NONE), "scarcity"),
        (lambda: CountConstrainedKnapsackSlice([], WRONG), "knapsack"),
        (lambda: CountConstrainedKnapsackSlice([], scarcity=NONE), "scarcity"),
        (lambda: ReflexiveScorer(NONE), "rescale"),
        (lambda: preset(NONE), "name"),
        (lambda: policy_sensitivity([], 50, {"a": "rag", "b": NONE}), "variants"),
        (lambda: policy_sensitivity([], 50, {"a": "rag", NONE: "rag"}), "variants"),
        (lambda: SCORERS.register("q", 3), "entry"),
        (lambda: SCORERS.canonical_name(NUMBER), "name"),
        (lambda: SCORERS.get_imported(NUMBER), "name"),
        (lambda: run_suite(NUMBER), "directory"),
        (lambda: ContextBudget(50).effective(NONE), "pinned_tokens"),
        (lambda: CLOCKS.register("q", SystemTimeProvider), "entry"),
        (lambda: REPORT.to_html(NUMBER), "path"),
        (lambda: item(NONE), "content"),
        (lambda: make_version(WRONG, "b", 1, "me"), "item"),
        (lambda: make_version(ITEM, "b", 1, NONE), "maker"),
        (lambda: make_version(ITEM, "b", 1, "me", WRONG), "units"),
        (lambda: replay(LOG, 50, rates=WRONG), "rates"),
        (lambda: replay(LOG, 50, progress=WRONG), "progress"),
        (lambda: replay(LOG, 50, NUMBERS), "policies"),
        (lambda: run_batch(NUMBERS, "rag", "out"), "inputs"),
        (lambda: run_batch(["log.jsonl"], "rag", NONE), "output"),
        (lambda: run_batch(["log.jsonl"], "rag", "out", resume=WRONG), "resume"),
        (lambda: run_batch(["log.jsonl"], "rag", "out", progress=WRONG), "progress"),
        (lambda: select_messages([{"role": "user", "content": "a"}], 50, pin=WRONG), "pin"),
        (lambda: select_messages([{"role": "user", "content": "a"}], 50, pin=[WRONG]), "pin"),
        (lambda: lint_messages([], "openai", system=NUMBER), "system"),
        (lambda: lint_messages([], "openai", tools=NUMBERS), "tools"),
        (lambda: Shorten(exclude=NUMBERS), "exclude"),
        (lambda: select_messages([{"role": "user", "content": "a"}], 50, counter=Window), "counter"),  # type: ignore[arg-type]
        (lambda: Pipeline(RECENCY).run(NUMBERS, 50), "items"),
        (lambda: Pipeline(RECENCY).run_stream_sync(NUMBERS, 50), "source"),
        (lambda: load_policy(NONE), "path"),
        (lambda: save_policy("rag", NUMBER), "path"),
        (lambda: dumps(ITEM, indent=WRONG), "indent"),
        (lambda: Counter(NONE, "x"), "function"),
        (lambda: Counter(len, "len", batch=WRONG), "batch"),
        (lambda: superseded(NUMBER), "calls"),
        (lambda: superseded(NUMBERS), "calls"),
        (lambda: superseded([ToolCall(NONE, {})]), "calls"),
    ],
)
def test_a_wrong_type(build: Build, argument: str) -> None:
    with pytest.raises(TypeError) as caught:
        build()
    assert getattr(caught.value, "argument", None) == argument


# What each constructor refuses with a TypeError that names the argument.
REFUSED: list[tuple[Sequence[Any], dict[str, Sequence[Callable[[Any], object]]]]] = [
    (
        ["1", b"1", True, None, [1.0], 1j],
        {
            "entries": [lambda value: CompositeScorer([(RECENCY, 1), (RECENCY, value)])],
            "weights": [lambda value: KindScorer({"a": value})],
            "tag_weights": [lambda value: TagScorer({"a": value})],
            "boost": [lambda value: MetadataKeyScorer("key", "value", value)],
            "default_score": [MetadataTrustScorer],
            "null_timestamp_score": [lambda value: DecayScorer(CLOCK, Window(HOUR), value)],
            "windows": [lambda value: Step([(HOUR, value)])],
            "cost_exponent": [GreedySlice],
            "min_score": [lambda value: MinScoreSlice(GreedySlice(), value)],
            "k1": [lambda value: RelevanceScorer(k1=value)],
            "share": [lambda value: RelevanceScorer(share=value)],
        },
    ),
    (
        [True, 1.0, "1", [1]],
        {
            "bucket_size": [KnapsackSlice],
            "max_cells": [lambda value: KnapsackSlice(max_cells=value)],
            "max_states": [lambda value: KnapsackSlice(max_states=value)],
            "batch_size": [StreamSlice],
            "window": [lambda value: RelevanceScorer(window=value)],
        },
    ),
    ([None], {"bucket_size": [KnapsackSlice], "max_states": [lambda value: KnapsackSlice(max_states=value)]}),
    (
        [1, 0, "yes"],
        {
            "case_insensitive": [lambda value: TagScorer({}, case_insensitive=value)],
            "best_first": [lambda value: GreedySlice(best_first=value)],
            "fill_free": [lambda value: KnapsackSlice(fill_free=value)],
            "redistribute": [lambda value: QuotaSlice([], redistribute=value)],
            "replace": [lambda value: StreamSlice(replace=value)],
            "optional": [lambda value: RelevanceScorer(optional=value)],
            "deduplication": [lambda value: Policy(RECENCY, deduplication=value)],
            "dedupe_against_pinned": [lambda value: Policy(RECENCY, dedupe_against_pinned=value)],
        },
    ),
    (
        [None, 1, b"key", True],
        {
            "key": [lambda value: MetadataKeyScorer(value, "value", 1)],
            "value": [lambda value: MetadataKeyScorer("key", value, 1)],
        },
    ),
    (
        [3, "recency", object(), RecencyScorer, RECENCY.score],
        {
            "scorer": [Pipeline, Policy],
            "entries": [lambda value: CompositeScorer([(RECENCY, 1), (value, 1)])],
            "inner": [ScaledScorer, BoostedScorer],
            "boosts": [
                lambda value: BoostedScorer(RECENCY, RECENCY, value),
                lambda value: BoostedScorer(RECENCY, boosts=[value]),
            ],
        },
    ),
    (
        [None, 3, "greedy", object(), GreedySlice, UShapedPlacer()],
        {
            "slicer": [lambda value: Pipeline(RECENCY, value), lambda value: Policy(RECENCY, value)],
            "inner": [
                lambda value: QuotaSlice([], value),
                lambda value: CountQuotaSlice([], value),
                lambda value: MinScoreSlice(value, 0),
            ],
        },
    ),
    (
        [None, 3, "uShaped", object(), UShapedPlacer, RECENCY],
        {
            "placer": [
                lambda value: Pipeline(RECENCY, placer=value),
                lambda value: Policy(RECENCY, placer=value),
            ],
            "inner": [FramedPlacer],
        },
    ),
    (
        [1, b"x", True, ScarcityBehavior],
        {
            "overflow_strategy": [
                lambda value: Pipeline(RECENCY, overflow_strategy=value),
                lambda value: Policy(RECENCY, overflow_strategy=value),
            ],
            "name": [lambda value: Policy(RECENCY, name=value)],
            "description": [lambda value: Policy(RECENCY, description=value)],
        },
    ),
    (
        [None, HOUR, 3, "now", SystemTimeProvider, Window],
        {
            "time_provider": [lambda value: DecayScorer(value, Window(HOUR))],
            "curve": [lambda value: DecayScorer(CLOCK, value)],
        },
    ),
    (
        [None, 5, "ab", b"ab", RECENCY, ["a"], [None], [(RECENCY,)], [(RECENCY, 1, 1)], [QuotaEntry]],
        {
            "entries": [CompositeScorer, QuotaSlice, CountQuotaSlice, CountConstrainedKnapsackSlice],
            "windows": [Step],
        },
    ),
    (
        [[("a", 1.0)], "a", 3, {1: 1.0}],
        {"weights": [KindScorer], "tag_weights": [TagScorer]},
    ),
]


@pytest.mark.parametrize(
    ("build", "argument", "value"),
    [
        (build, argument, value)
        for values, arguments in REFUSED
        for argument, builds in arguments.items()
        for build in builds
        for value in values
    ],
)
def test_a_value_of_a_wrong_type(build: Callable[[Any], object], argument: str, value: Any) -> None:
    with pytest.raises(TypeError, match=argument) as caught:
        build(value)
    assert getattr(caught.value, "argument", None) == argument


@pytest.mark.parametrize(
    ("build", "spelling", "attribute", "kept"),
    [
        (lambda name: RecencyScorer(undated=name), "Position", "undated", "position"),
        (lambda name: ReflexiveScorer(rescale=name), "AUTO", "rescale", "auto"),
        (lambda name: CountQuotaSlice([], cap_order=name), "Score", "cap_order", "score"),
        (lambda name: CountQuotaSlice([], scarcity=name), "Throw", "scarcity", "throw"),
        (lambda name: CountConstrainedKnapsackSlice([], scarcity=name), "THROW", "scarcity", "throw"),
        (lambda name: ChronologicalPlacer(undated=name), "posi_tion", "undated", "position"),
        (DiagnosticTraceCollector, "stage", "detail_level", "Stage"),
        (lambda name: Pipeline(RECENCY, overflow_strategy=name), "-PROCEED", "overflow_strategy", "proceed"),
    ],
)
def test_an_option_takes_any_spelling_and_keeps_the_usual_one(
    build: Callable[[Any], object], spelling: str, attribute: str, kept: str
) -> None:
    assert getattr(build(spelling), attribute) == kept


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda flag: ContextItem("a", 1, pinned=flag), "pinned"),
        (lambda flag: Policy(RecencyScorer(), deduplication=flag), "deduplication"),
        (lambda flag: Policy(RecencyScorer(), dedupe_against_pinned=flag), "dedupe_against_pinned"),
        (lambda flag: RelevanceScorer(optional=flag), "optional"),
        (lambda flag: TagScorer({"a": 1}, case_insensitive=flag), "case_insensitive"),
        (lambda flag: GreedySlice(best_first=flag), "best_first"),
        (lambda flag: KnapsackSlice(fill_free=flag), "fill_free"),
        (lambda flag: QuotaSlice([], redistribute=flag), "redistribute"),
        (lambda flag: StreamSlice(replace=flag), "replace"),
    ],
)
def test_a_bool_of_numpy_becomes_a_plain_one(build: Callable[[Any], object], field: str) -> None:
    """A plain one can be written to a file."""
    assert getattr(build(NUMPY_TRUE), field) is True


@pytest.mark.parametrize(
    "choices",
    [
        OverflowStrategy,
        ScarcityBehavior,
        QuotaConstraintMode,
        PipelineStage,
        InclusionReason,
        TraceDetailLevel,
        ItemStatus,
    ],
)
def test_an_enumeration_finds_its_members_in_any_spelling(choices: type[StrEnum]) -> None:
    for member in choices:
        assert choices(member.value.swapcase()) is choices(f"_{member.value}") is member
    for unknown in ("", "x", None):
        with pytest.raises(ValueError, match=f"is not a valid {choices.__name__}"):
            choices(unknown)  # type: ignore[arg-type]


def test_an_unknown_preset_among_variants_names_the_variant() -> None:
    with pytest.raises(CupelError, match=r"^variant 'b': unknown preset 'x'; choose from "):
        policy_sensitivity([ITEM], 50, {"a": "rag", "b": WRONG})
    with pytest.raises(TypeError, match=r"^variants\['b'\] must be a Policy, a Pipeline or the name of a preset, not "):
        policy_sensitivity([ITEM], 50, {"a": "rag", "b": NONE})
