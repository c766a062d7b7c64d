"""A user's program: `test_typing.py` has it checked by mypy and pyright in their strict modes. It is never run.

A line that must be an error would end in the mark that `wrong_names.py` has; here there is none.
"""
# ruff: noqa: T201

from __future__ import annotations

from typing import Any, Literal, assert_type

import pycupel
from pycupel import (
    CompositeScorer,
    ContextBudget,
    ContextItem,
    ContextResult,
    CountQuotaEntry,
    CountQuotaSlice,
    DiagnosticTraceCollector,
    ExplainedResult,
    OverflowStrategy,
    Pipeline,
    Policy,
    QuotaEntry,
    QuotaSlice,
    RecencyScorer,
    ReflexiveScorer,
    ScarcityBehavior,
    SelectionReport,
    TraceDetailLevel,
    UShapedPlacer,
    aselect,
    select,
)
from pycupel.analytics import (
    BudgetPoint,
    PolicySensitivityReport,
    budget_utilization,
    find_min_budget_for,
    get_marginal_items,
    policy_sensitivity,
    quota_utilization,
    sweep_budgets,
)
from pycupel.conformance import SuiteResult, run_suite
from pycupel.diagnostics import BudgetExceeded, Deduplicated, TraceEvent
from pycupel.integrations.otel import CupelOtelTraceCollector, CupelVerbosity
from pycupel.messages import ExplainedSelection, MessageSelection, aselect_messages, lint_messages, select_messages
from pycupel.policies import CHAT, RAG, preset
from pycupel.testing import ReportRunner, check_scorer, check_slicer

items = [
    ContextItem("You are a helpful assistant.", 6, kind="SystemPrompt", pinned=True),
    ContextItem("Passwords are reset under Settings.", 7, kind="Document", source="Rag", future_relevance_hint=0.9),
]
budget = ContextBudget(8_000, 6_000, output_reserve=1_000)
history: list[dict[str, Any]] = [{"role": "user", "content": "Hello"}]


def selecting(explain: bool) -> None:
    """The report is there if, and only if, `explain` is True."""
    plain = select(items, 8_000)
    assert_type(plain.items, list[ContextItem])
    assert_type(plain.total_tokens, int)

    explained = select(items, budget, "rag", explain=True)
    assert_type(explained.report, SelectionReport)
    assert_type(explained.items, list[ContextItem])
    for excluded in explained.report.excluded:
        print(excluded.item.content, excluded.score, excluded.reason)

    either: ContextResult = select(items, budget, policy=RAG, explain=explain)
    if either.report is not None:
        print(either.report.to_text(color=True))
        assert_type(either.report.to_html(pipeline=RAG, items=items, other=either.report, text=False), str)


def pipelines() -> None:
    """A policy is a `Policy`, a `Pipeline` or a preset's name; a budget is an int or a `ContextBudget`."""
    pipeline = Pipeline.from_policy("chat")
    assert_type(pipeline, Pipeline)
    assert_type(pipeline.run(items, 100), list[ContextItem])
    assert_type(pipeline.dry_run(items, budget), SelectionReport)
    assert_type(pipeline.dry_run_with_policy(items, 100, "code-review"), SelectionReport)
    own = Policy(
        CompositeScorer([(RecencyScorer(), 2), (ReflexiveScorer(), 1)]),
        QuotaSlice([QuotaEntry("Document", require=20, cap=60)]),
        UShapedPlacer(),
        name="mine",
    )
    assert_type(Pipeline(RecencyScorer(), overflow_strategy="throw").overflow_strategy, OverflowStrategy)
    assert_type(Policy(RecencyScorer(), overflow_strategy=OverflowStrategy.PROCEED).overflow_strategy, OverflowStrategy)
    for policy in (own, Pipeline.from_policy(own), CHAT, preset("code_review")):
        select(items, 100, policy)


class StageCounter:
    """A collector of one's own, without a base class."""

    def record_stage_event(self, event: TraceEvent) -> None:
        """Count it."""


def collectors() -> None:
    """Levels are given by member or by name."""
    pipeline = Pipeline(RecencyScorer(), CountQuotaSlice([], scarcity="throw"))
    pipeline = Pipeline(RecencyScorer(), CountQuotaSlice([], scarcity=ScarcityBehavior.DEGRADE))
    for level in (TraceDetailLevel.ITEM, TraceDetailLevel.STAGE):
        pipeline.run(items, 100, collector=DiagnosticTraceCollector(level))
    pipeline.run(items, 100, collector=DiagnosticTraceCollector("Item"))
    pipeline.run(items, 100, collector=CupelOtelTraceCollector("StageOnly"))
    pipeline.run(items, 100, collector=CupelOtelTraceCollector(CupelVerbosity.FULL))
    pipeline.run(items, 100, collector=StageCounter())


def reports(report: SelectionReport) -> None:
    """Reasons are matched by class."""
    for excluded in report.excluded:
        match excluded.reason:
            case BudgetExceeded(item_tokens=needed, available_tokens=left):
                assert_type(needed, int)
                assert_type(left, int)
            case Deduplicated(deduplicated_against=content):
                assert_type(content, str)
            case _:
                pass
    report.should().include_item_with_kind("Document").have_budget_utilization_above(0.5, 100)
    report.should().exclude_item_with_reason("Deduplicated").exclude_item_with_reason(BudgetExceeded)


def what_if(report: SelectionReport) -> None:
    """Analytics take what `select` takes."""
    assert_type(get_marginal_items("chat", items, 100, 10), list[ContextItem])
    assert_type(find_min_budget_for("rag", items, items[1], 1_000, base_budget=10), int | None)
    assert_type(sweep_budgets("chat", items, [100, budget]), tuple[BudgetPoint, ...])
    assert_type(sweep_budgets(RAG, items, range(100)), tuple[BudgetPoint, ...])
    assert_type(policy_sensitivity(items, 100, {"a": "rag", "b": "chat"}), PolicySensitivityReport)
    policy_sensitivity(items, budget, {"a": RAG, "b": Pipeline(RecencyScorer())})
    policy_sensitivity(items, 100, [("a", "rag"), ("b", CHAT)])
    assert_type(budget_utilization(report, 100), float)
    quota_utilization(report, CountQuotaSlice([CountQuotaEntry("Document", cap_count=2)]), 100)
    quota_utilization(report, "rag", budget)


def messages() -> None:
    """Chat histories may be lists of any mappings or objects."""
    selection = select_messages(history, 8_000, provider="openai", policy="chat", unit="turn", too_large="error")
    assert_type(selection, MessageSelection[dict[str, Any]])
    assert_type(selection.messages, list[dict[str, Any]])
    assert_type(
        selection.provider, Literal["openai", "responses", "anthropic", "gemini", "mistral", "converse", "interactions"]
    )
    again = select_messages(history, budget, previous=selection, explain=True)
    assert_type(again, ExplainedSelection[dict[str, Any]])
    assert_type(again.report, SelectionReport)
    texts = select_messages(map(str, [1, 2]), 100)
    assert_type(texts.messages, list[str])
    stored: MessageSelection = texts
    assert_type(stored.messages, list[Any])
    for finding in lint_messages(history, provider="anthropic"):
        print(finding)


async def waiting(explain: bool) -> None:
    """The same for programs with an event loop."""
    assert_type(await aselect(items, 8_000, "rag", query="Why?"), ContextResult)
    assert_type(await aselect(["a text"], budget, RAG, model="gpt-5", counter=len, explain=True), ExplainedResult)
    assert_type(await aselect(items, "75%", explain=explain), ContextResult)
    assert_type(await aselect_messages(history, 8_000, unit="turn", explain=True), ExplainedSelection[dict[str, Any]])
    assert_type(await aselect_messages(history, 8_000, policy="chat"), MessageSelection[dict[str, Any]])
    assert_type(await aselect_messages(history, 8_000, explain=explain), MessageSelection[dict[str, Any]])


def testing() -> None:
    """Checks take budgets as numbers, too."""
    runner = ReportRunner("rag")
    assert_type(runner(items, 100), SelectionReport)
    runner(items, budget, RecencyScorer())
    check_scorer(RecencyScorer(), items)
    check_slicer(QuotaSlice([]), items, [100, budget])
    assert_type(run_suite("vectors", suite="Mine 1.0"), SuiteResult)


def through_the_package() -> None:
    """`import pycupel` is enough."""
    assert_type(pycupel.policies.RAG, Policy)
    assert_type(pycupel.policies.preset("rag"), Policy)
    assert_type(pycupel.messages.select_messages(history, 1_000).total_tokens, int)
    assert_type(pycupel.select(items, 100).items, list[ContextItem])
    assert_type(pycupel.tokens.estimate_tokens("text"), int)
    assert_type(pycupel.__version__, str)
    try:
        pycupel.Pipeline.from_policy("debugging").run(items, 100)
    except pycupel.CupelError as error:
        print(error)
