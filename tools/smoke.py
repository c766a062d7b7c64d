"""What a user's first minute looks like, with nothing but the wheel installed."""

from __future__ import annotations

import sys

before = set(sys.modules)

import importlib.metadata
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pycupel
from pycupel import CompositeScorer, ContextBudget, ContextItem, KindScorer, Pipeline, RecencyScorer, UShapedPlacer

assert "site-packages" in Path(pycupel.__file__).parts, pycupel.__file__
assert importlib.metadata.version("pycupel") == pycupel.__version__
assert all("extra ==" in requirement for requirement in importlib.metadata.requires("pycupel") or [])
assert (Path(pycupel.__file__).parent / "py.typed").exists()

now = datetime(2026, 1, 1, tzinfo=UTC)
items = [ContextItem("You are a helpful assistant.", 6, kind="SystemPrompt", pinned=True)]
items += [ContextItem(f"message {i}", 40, timestamp=now + timedelta(minutes=i)) for i in range(20)]
items += [ContextItem(f"document {i}", 90, kind="Document", source="Rag") for i in range(10)]
pipeline = Pipeline(CompositeScorer([(RecencyScorer(), 3), (KindScorer(), 1)]), placer=UShapedPlacer())
budget = ContextBudget(1_000, output_reserve=200)
selected = pipeline.run(items, budget)
report = pipeline.dry_run(items, budget)

assert 0 < len(selected) < len(items)
assert sum(item.tokens for item in selected) <= 800
assert report.items == selected
assert report.total_candidates == len(items)
# The template, the style sheet and the script are in the wheel.
assert report.to_html(pipeline=pipeline, items=items).startswith("<!doctype html>")
loaded = {name.partition(".")[0] for name in sys.modules.keys() - before}
assert loaded - sys.stdlib_module_names == {"pycupel"}, loaded
print(f"smoke test: {len(selected)} of {len(items)} items selected with pycupel {pycupel.__version__}")  # noqa: T201
