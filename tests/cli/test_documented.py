"""Every example of the help and of the pages is run.

In a page, the `console` blocks that call `pycupel` are one session in a terminal; see `tests/cli/console.py`.
`UPDATE_GOLDEN=1 pytest tests/cli/test_documented.py` writes what the commands print into the pages.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from pycupel.cli import VERBS
from pycupel.cli.parsers import load_verb, verb_parser
from tests.cli.console import ROOT, Shell, steps_of, text_of

BLOCK = re.compile(r"^```console\n(\$ pycupel .*?)^```\n", re.MULTILINE | re.DOTALL)
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if BLOCK.search(page.read_text("utf-8"))
]


@pytest.mark.parametrize("name", VERBS)
def test_the_example_of_a_verb_works_when_it_is_pasted(name: str, quick_shell: Shell) -> None:
    verb = load_verb(name)
    example = verb.example.strip()
    shown = verb_parser(name, verb).format_help().split("example:\n")[1]
    assert [line.strip() for line in shown.splitlines()] == example.splitlines()
    # The playground opens a browser and runs until Ctrl-C, which this browser sends.
    browser = quick_shell.directory.parent / "browser"
    browser.write_text("#!/bin/sh\nkill -INT $PPID\n", encoding="utf-8")
    browser.chmod(0o755)
    for line in example.splitlines():
        until = "BROWSER=../browser timeout --foreground 60 " if line.startswith("pycupel play ") else ""
        done = quick_shell.run(until + line)
        assert done.returncode == (1 if name == "diff" else 0), done.stderr
        assert "Traceback" not in done.stderr


def test_the_pages_are_there() -> None:
    assert {"command-line.md", "where-does-my-window-go.md"} <= {page.name for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_prints_what_the_page_says(page: Path, quick_shell: Shell) -> None:
    text = page.read_text(encoding="utf-8")

    def run(block: re.Match[str]) -> str:
        printed = [quick_shell.step(step.command) for step in steps_of(block[1])]
        return f"```console\n{text_of(printed)}```\n"

    actual = BLOCK.sub(run, text)
    if os.environ.get("UPDATE_GOLDEN"):
        page.write_text(actual, encoding="utf-8")
        return
    assert actual == text


def test_the_page_lists_every_verb() -> None:
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in text for name in VERBS)
