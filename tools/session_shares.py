"""Print what sessions of agents consist of: python -m tools.session_shares FILE... (the bundled one is always shown).

The bundled session should look like a real one, so each of its figures lies between the smallest and the largest of
real sessions, which `REAL` holds; `tests/cli/test_bundled.py` compares them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pycupel.cli.demo import transcript
from pycupel.messages.counting import ASSISTANT, TOOL_CALLS, TOOL_RESULTS
from pycupel.replay import History, context_usage, read_log
from pycupel.replay.parts import Prompts
from pycupel.shorten import ToolCall
from pycupel.shorten.outdated import superseded_by

# The smallest and the largest figure of six sessions of coding agents, between 72,000 and 249,000 tokens each.
REAL = {
    "results": (0.52, 0.78),
    "calls": (0.13, 0.43),
    "texts": (0.02, 0.08),
    "largest tenth": (0.46, 0.69),
    "re-read": (0.06, 0.12),
    "re-read tokens": (0.03, 0.30),
    "median": (48, 181),
    "third quartile": (287, 1_176),
    "ninth tenth": (842, 2_351),
}
"""The ranges, by figure."""


def shares(history: History) -> dict[str, float]:
    """Measure a session: its results, calls and texts as shares of all tokens, and how long and how new results are."""
    usage = context_usage(history)
    parts = Prompts(usage.history, usage.counter).parts
    results = [part for part in parts if part.kind == TOOL_RESULTS]
    lengths = sorted(part.tokens for part in results)
    later = superseded_by([part.call or ToolCall("", {}) for part in results])
    old = [part.tokens for part, by in zip(results, later, strict=True) if by is not None]
    whole, count = sum(part.tokens for part in parts), len(results)

    def share(kind: str) -> float:
        return sum(part.tokens for part in parts if part.kind == kind) / whole

    return {
        "results": sum(lengths) / whole,
        "calls": share(TOOL_CALLS),
        "texts": share(ASSISTANT),
        "largest tenth": sum(lengths[-round(count / 10) :]) / sum(lengths),
        "re-read": len(old) / count,
        "re-read tokens": sum(old) / sum(lengths),
        "median": lengths[count // 2],
        "third quartile": lengths[count * 3 // 4],
        "ninth tenth": lengths[count * 9 // 10],
    }


def bundled() -> History:
    """Return the bundled session."""
    [history] = read_log(map(json.dumps, transcript())).histories
    return history


def main() -> None:
    """Print a column for each session, and the ranges."""
    sessions = {Path(path).name: read_log(path).histories[0] for path in sys.argv[1:]}
    columns = [("bundled", shares(bundled())), *((name, shares(each)) for name, each in sessions.items())]
    lines: list[str] = []
    for name, ends in REAL.items():
        values = [f"{column[name]:8.2f}" if column[name] < 1 else f"{column[name]:8.0f}" for _, column in columns]
        lines.append(f"{name:15}{''.join(values)}  {ends[0]} to {ends[1]}")
    print(*lines, f"columns: {', '.join(name for name, _ in columns)}", sep="\n")  # noqa: T201


if __name__ == "__main__":
    main()
