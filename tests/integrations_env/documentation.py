"""The blocks of the pages about hooks, by title or heading. They need libraries, so no other test runs them."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from pathlib import Path
from typing import Any

__all__ = ["block_of", "blocks_under", "headings_with_blocks", "run_blocks"]

PAGE = Path(__file__).parents[2] / "docs" / "frameworks.md"
PAGES = PAGE.with_suffix("")
TRACES = PAGE.with_name("opentelemetry.md")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _sections(language: str = "py") -> dict[str, list[str]]:
    both = "".join(page.read_text(encoding="utf-8") for page in (PAGE, TRACES))
    _, *sections = re.split(r"^## ", both, flags=re.MULTILINE)
    sections += [page.read_text(encoding="utf-8").removeprefix("# ") for page in sorted(PAGES.glob("*.md"))]
    return {
        section.split("\n", 1)[0]: [block for kind, block in BLOCK.findall(section) if kind == language]
        for section in sections
    }


def headings_with_blocks() -> set[str]:
    return {heading for heading, blocks in _sections().items() if blocks}


def blocks_under(heading: str) -> list[str]:
    return _sections()[heading]


def block_of(heading: str, language: str) -> str:
    """The only block of another language under a heading."""
    [block] = _sections(language)[heading]
    return block


def run_blocks(heading: str, **names: Any) -> dict[str, Any]:
    """Everything that the blocks under a heading define, given what stands for the reader's own."""
    namespace: dict[str, Any] = {"__name__": "docs", **names}
    for block in blocks_under(heading):
        code = compile(block, str(PAGE), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        result = eval(code, namespace)  # noqa: S307 - the project's own documentation
        if inspect.iscoroutine(result):
            asyncio.run(result)
    return namespace
