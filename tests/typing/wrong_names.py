"""A user's program full of mistakes: mypy and pyright must find each line that ends in `# error`, and no other.

It is never run. `test_typing.py` compares the marks with what the checkers say.
"""
# ruff: noqa: B018, I001, PLC0414

from __future__ import annotations

import pycupel
from pycupel import ContextItem, CountConstrainedKnapsackSlice, CountQuotaSlice, DiagnosticTraceCollector, Pipeline
from pycupel import Policy, RecencyScorer, aselect, select
from pycupel import GreedySlicer as GreedySlicer  # error
from pycupel.analytics import find_minimum_budget as find_minimum_budget  # error
from pycupel.messages import select_message as select_message  # error
from pycupel.policies import RAGG as RAGG  # error
from pycupel.analytics import policy_sensitivity, sweep_budgets
from pycupel.integrations.otel import CupelOtelTraceCollector
from pycupel.messages import aselect_messages, lint_messages, select_messages
from pycupel.model import QuotaConstraint
from pycupel.replay import Log, replay

items = [ContextItem("text", 1)]
history = [{"role": "user", "content": "Hello"}]
report = Pipeline.from_policy("chat").dry_run(items, 1)

# Names that do not exist.
pycupel.Nonexistent()  # error
pycupel.policies.RAGG  # error
pycupel.messages.select_message(history, 1)  # error
pycupel.selct(items, 1)  # error
pycupel.tokens.estimate("text")  # error

# Presets, providers and options that do not exist.
select(items, 1, "chatt")  # error
aselect(items, 1, "chatt")  # error
aselect(items, 1, modle="gpt-5")  # error
Pipeline.from_policy("chatt")  # error
sweep_budgets("chatt", items, [1])  # error
policy_sensitivity(items, 1, {"a": "rag", "b": "chatt"})  # error
replay(Log(()), 1, ["chatt"])  # error
replay(Log(()), 1, {"a": "chatt"})  # error
select_messages(history, 1, provider="opnai")  # error
select_messages(history, 1, policy="chatt")  # error
select_messages(history, 1, unit="turns")  # error
select_messages(history, 1, too_large="raise")  # error
lint_messages(history, provider="opnai")  # error
aselect_messages(history, 1, unit="turns")  # error
aselect_messages(history, 1, unit="turns", explain=True)  # error
CountQuotaSlice([], scarcity="thro")  # error
CountConstrainedKnapsackSlice([], scarcity="thro")  # error
DiagnosticTraceCollector("itemm")  # error
CupelOtelTraceCollector(verbosity="Everything")  # error
Policy(RecencyScorer(), overflow_strategy="thro")  # error
Pipeline(RecencyScorer(), overflow_strategy="thro")  # error
QuotaConstraint("Document", "percent", 0, 1)  # error

# Objects without any method of a collector.
Pipeline.from_policy("chat").run(items, 1, collector=3)  # error
Pipeline.from_policy("chat").run(items, 1, collector=DiagnosticTraceCollector)  # error
Pipeline.from_policy("chat").run_stream_sync(items, 1, collector=print)  # error

# Arguments, fields and types that do not exist.
ContextItem("text", 1, knid="Document")  # error
ContextItem("text", "1")  # error
pycupel.tokens.item("text", knid="Document")  # error
select(items, 1, explain="yes")  # error
select(items, 1.5)  # error
select(items, 1).item  # error
select(items, 1).report.excluded  # error
Pipeline.from_policy("chat").run(items, 1.5)  # error
report.should().exclude_item_with_reason("BudgetExceded")  # error
report.should().include_items_with_kind("Document")  # error
