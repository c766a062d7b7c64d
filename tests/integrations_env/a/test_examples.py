"""The examples that need a framework: each runs with one command, without keys or a network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"
PRINTED = {
    "langgraph_agent.py": [
        "27 of 27 messages",
        "9 shortened\nIt began on day 0, at 08:30 day 0: error E0: disk 0 is full.\n28 messages are stored",
    ],
    "pydantic_ai_agent.py": [
        "31 of 31 messages",
        "12 shortened\nRefund(order=13, reason='lost in transit')\n33 messages",
    ],
}


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_prints_what_it_should(name: str) -> None:
    done = subprocess.run([sys.executable, str(EXAMPLES / name)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [each for each in PRINTED[name] if each not in done.stdout] == [], done.stdout
