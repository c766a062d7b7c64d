"""What a user's first minute looks like, with nothing but the wheel installed."""

from __future__ import annotations

import importlib.metadata
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pycupel
from pycupel import CompositeScorer, ContextBudget, ContextItem, KindScorer, Pipeline, RecencyScorer, UShapedPlacer

here = Path(__file__).parent
assert here not in Path(pycupel.__file__).parents or "env" in Path(pycupel.__file__).parts, pycupel.__file__
assert importlib.metadata.version("pycupel") == pycupel.__version__
assert importlib.metadata.requires("pycupel") is None or all(
    "extra ==" in r for r in importlib.metadata.requires("pycupel") or []
)
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
third_party = (
    {name.partition(".")[0] for name in sys.modules} - sys.stdlib_module_names - {"pycupel", "__main__", "__mp_main__"}
)
assert not third_party, third_party
print(f"smoke test: {len(selected)} of {len(items)} items selected with pycupel {pycupel.__version__}")  # noqa: T201
