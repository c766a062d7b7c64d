"""The documentation is run: each Python block of a page after the other, in one namespace.

A `text` block right after a Python block is what that block prints.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from tests.registries import keep

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def test_the_pages_with_examples_are_there() -> None:
    names = [page.name for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))]
    assert {"README.md", "getting-started.md", "strategies.md"} <= set(names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_runs_and_prints_what_the_page_says(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(monkeypatch)
    text = page.read_text(encoding="utf-8")
    namespace: dict[str, Any] = {"__name__": "docs"}
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start()) + 2
        code = compile("\n" * (line - 1) + block["code"], str(page), "exec", dont_inherit=True)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, namespace)  # noqa: S102 - the project's own documentation
        assert printed.getvalue() == (block["output"] or ""), f"{page.name}, line {line}"


def test_every_link_between_pages_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def anchors_of(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_anchor_is_a_heading() -> None:
    found = 0
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
            found += 1
            assert anchor in anchors_of(page.parent / target if target else page), f"{page.name}: {target}#{anchor}"
    assert found > 10


def test_the_demo_prints_at_most_80_ascii_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code = (ROOT / "examples" / "demo.py").read_text(encoding="utf-8")
    exec(  # noqa: S102 - the project's own example
        compile(code, "demo.py", "exec"), {"__name__": "__main__", "__file__": str(ROOT / "examples" / "demo.py")}
    )
    printed = capsys.readouterr().out
    assert printed.isascii()
    assert max(map(len, printed.splitlines())) <= 80
    for word in (
        "TOKENS, as shares of the target",
        "left out: Did not fit",
        "; the selection left",
        "rank",
        "ReflexiveScorer",
        "The newest messages that fit",
    ):
        assert word in printed
