"""The blocks of the pages about hooks, by title or heading. They need libraries, so no other test runs them."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from pathlib import Path
from typing import Any

__all__ = ["blocks_under", "headings_with_blocks", "run_blocks"]

PAGE = Path(__file__).parents[2] / "docs" / "frameworks.md"
PAGES = PAGE.with_suffix("")
BLOCK = re.compile(r"^```py\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _sections() -> dict[str, list[str]]:
    _, *sections = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    sections += [page.read_text(encoding="utf-8").removeprefix("# ") for page in sorted(PAGES.glob("*.md"))]
    return {section.split("\n", 1)[0]: BLOCK.findall(section) for section in sections}


def headings_with_blocks() -> set[str]:
    return {heading for heading, blocks in _sections().items() if blocks}


def blocks_under(heading: str) -> list[str]:
    return _sections()[heading]


def run_blocks(heading: str, **names: Any) -> dict[str, Any]:
    """Everything that the blocks under a heading define, given what stands for the reader's own."""
    namespace: dict[str, Any] = {"__name__": "docs", **names}
    for block in blocks_under(heading):
        code = compile(block, str(PAGE), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        result = eval(code, namespace)  # noqa: S307 - the project's own documentation
        if inspect.iscoroutine(result):
            asyncio.run(result)
    return namespace
