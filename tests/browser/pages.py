"""Reports that the tests look at in a browser, and a browser that notes every complaint and every request."""

from __future__ import annotations

import json
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

__all__ = ["BUDGET", "PIPELINE", "Opened", "Tabs", "make_items", "make_report", "rows_of", "serious"]

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


class Tabs:
    """The tabs of a browser, one for each set of options. Opening one takes longer than most tests need it."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self._tabs: dict[str, Any] = {}

    def tab(self, options: dict[str, Any]) -> Any:
        key = json.dumps(options, sort_keys=True)
        if key not in self._tabs:
            context = self._browser.new_context(**options)
            context.set_default_timeout(60_000)
            self._tabs[key] = context.new_page()
        return self._tabs[key]


class Opened:
    """The page that a test has opened, in a tab that other tests use before and after it: pages store nothing."""

    def __init__(self, tabs: Tabs, folder: Path) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._tabs, self._path = tabs, folder / "page.html"
        self._tab: Any = None

    def page(self, text: str, **options: Any) -> Any:
        """A file with this text, opened."""
        self._path.write_text(text, encoding="utf-8")
        return self.address(self._path.as_uri(), **options)

    def address(self, address: str, **options: Any) -> Any:
        """An address, opened; whatever else the page asks for is noted."""
        assert self._tab is None, "a test opens one page"
        self._tab = tab = self._tabs.tab({"viewport": {"width": 1280, "height": 900}, **options})
        self._listeners = {
            "pageerror": lambda error: self.complaints.append(str(error)),
            "dialog": self._refuse,
            "console": lambda line: self.complaints.append(line.text) if line.type != "log" else None,
            "request": lambda request: self._note(request.url, address),
        }
        for event, listener in self._listeners.items():
            tab.on(event, listener)
        tab.goto(address)
        tab.wait_for_selector("html[data-ready]")
        return tab

    def _refuse(self, dialog: Any) -> None:
        self.complaints.append(dialog.message)
        dialog.dismiss()

    def _note(self, url: str, address: str) -> None:
        if not url.startswith((address, "data:")):
            self.requests.append(url)

    def close(self) -> None:
        """Leave the tab as if it were new, with nothing under the pointer."""
        if self._tab is not None:
            self._tab.mouse.move(0, 0)
            self._tab.goto("about:blank")
            for event, listener in self._listeners.items():
                self._tab.remove_listener(event, listener)


def rows_of(page: Any) -> dict[int, str]:
    """The rows that the table holds at the moment, by number, with their state."""
    lines = page.locator("#items tr[data-row]").evaluate_all(
        "lines => lines.map(line => [Number(line.dataset.row), line.querySelector('.c-state').textContent])"
    )
    return {row: state.split()[-1] for row, state in lines}


def serious(page: Any) -> list[str]:
    """What axe finds, at its two highest levels."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("async () => (await axe.run({ resultTypes: ['violations'] })).violations")
    return [
        f"{each['id']}: {node['html'][:200]} {node['failureSummary']}"
        for each in found
        if each["impact"] in {"serious", "critical"}
        for node in each["nodes"]
    ]
