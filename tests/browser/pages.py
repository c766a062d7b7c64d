"""Reports that the tests look at in a browser, and a browser that notes every complaint and every request."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pycupel import (
    CompositeScorer,
    ContextBudget,
    ContextItem,
    KindScorer,
    Pipeline,
    PriorityScorer,
    RecencyScorer,
    SelectionReport,
)
from tests.browser.launch import AXE

__all__ = ["BUDGET", "PIPELINE", "Opened", "make_items", "make_report", "rows_of", "serious"]

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BUDGET = ContextBudget(1_500, 1_000, output_reserve=200)
PIPELINE = Pipeline(CompositeScorer([(RecencyScorer(), 2), (KindScorer(), 1), (PriorityScorer(), 3)]))
_KINDS = ("Message", "Document", "ToolOutput", "Memory")


def make_items(count: int = 60) -> list[ContextItem]:
    """Items of several kinds; one is pinned, one was shortened, one is a duplicate."""
    items = [ContextItem("You are a helpful assistant.", 40, kind="SystemPrompt", pinned=True)]
    items += [
        ContextItem(
            f"item {i}: {'checkout ' if i % 5 == 0 else ''}about topic {i * 7 % 13}",
            15 + i * 37 % 90,
            kind=_KINDS[i % 4],
            priority=i * 31 % 17,
            tags=["even" if i % 2 == 0 else "odd"],
            metadata={"index": i},
            timestamp=NOW + timedelta(minutes=i),
            original_tokens=500 if i == 3 else None,
        )
        for i in range(count)
    ]
    return [*items, items[5]]


def make_report(items: list[ContextItem]) -> SelectionReport:
    return PIPELINE.dry_run(items, BUDGET)


class Opened:
    """Opens pages in a browser, each in a context of its own."""

    def __init__(self, browser: Any, folder: Path) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._browser, self._folder = browser, folder
        self._contexts: list[Any] = []

    def page(self, text: str, **options: Any) -> Any:
        """A file with this text, opened."""
        path = self._folder / f"page-{len(self._contexts)}.html"
        path.write_text(text, encoding="utf-8")
        return self.address(path.as_uri(), **options)

    def address(self, address: str, **options: Any) -> Any:
        """An address, opened; whatever else the page asks for is noted."""
        context = self._browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(20_000)
        self._contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", self._refuse)
        page.on("console", lambda line: self.complaints.append(line.text) if line.type != "log" else None)
        page.on("request", lambda request: self._note(request.url, address))
        page.goto(address)
        page.wait_for_selector("html[data-ready]")
        return page

    def _refuse(self, dialog: Any) -> None:
        self.complaints.append(dialog.message)
        dialog.dismiss()

    def _note(self, url: str, address: str) -> None:
        if not url.startswith((address, "data:")):
            self.requests.append(url)

    def close(self) -> None:
        for context in self._contexts:
            context.close()


def rows_of(page: Any) -> dict[int, str]:
    """The rows that the table holds at the moment, by number, with their state."""
    lines = page.locator("#items tr[data-row]").evaluate_all(
        "lines => lines.map(line => [Number(line.dataset.row), line.querySelector('.c-state').textContent])"
    )
    return {row: state.split()[-1] for row, state in lines}


def serious(page: Any) -> list[str]:
    """What axe finds, at its two highest levels."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("async () => (await axe.run()).violations")
    return [
        f"{each['id']}: {node['html'][:200]} {node['failureSummary']}"
        for each in found
        if each["impact"] in {"serious", "critical"}
        for node in each["nodes"]
    ]
