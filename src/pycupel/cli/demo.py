"""`pycupel demo`: demonstrate a selection, or write data for the other verbs.

The session is invented: an engineer and an agent investigate a failing checkout service, and have gathered far more
text than the model should read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pycupel import (
    ChronologicalPlacer,
    CompositeScorer,
    ContextBudget,
    ContextItem,
    GreedySlice,
    KindScorer,
    Pipeline,
    PriorityScorer,
    RecencyScorer,
    ReflexiveScorer,
)
from pycupel.cli.exits import OK
from pycupel.cli.output import Screen
from pycupel.cli.parsers import Parser, Verb
from pycupel.render._layout import clipped
from pycupel.render.text import Page, headline, render_explanation, share_lines
from pycupel.wire import from_dict

# The system prompt and the definitions of the tools: the provider counts them, but no transcript shows them.
_HIDDEN_TOKENS = 9_400
# What the provider adds to each call.
_CALL_TOKENS = 88
_START = datetime(2026, 10, 14, 9, 0, tzinfo=UTC)
_MODEL = "claude-sonnet-4-5-20250929"


# What was said and done in the logged session, a message a line.
_STEPS = Path(__file__).with_name("coding_session.jsonl")


def _steps(path: Path) -> Iterator[tuple[int, str, str, dict[str, Any]]]:
    """Return the number, role and text of each message, and its call with the result; empty if it calls no tool."""
    with path.open(encoding="utf-8") as lines:
        for index, step in enumerate(map(json.loads, lines)):
            yield index, step.pop("role"), step.pop("text"), step


def transcript(path: Path = _STEPS) -> Iterator[dict[str, Any]]:
    """Return a session as Claude Code would log it: a row for each message."""
    sent, cached = _HIDDEN_TOKENS, 0
    number = 0
    for index, role, text, called in _steps(path):
        content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        name = f"toolu_{index:02}"
        if called:
            content.append({"type": "tool_use", "id": name, "name": called["tool"], "input": called["arguments"]})
        size = len(json.dumps(content)) // 4 + (_CALL_TOKENS if called else 0)
        usage = {
            "input_tokens": 4,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": sent - cached,
            "output_tokens": size,
        }
        message: dict[str, Any] = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{index:02}", "model": _MODEL, "usage": usage}
            cached = sent
        yield _row(number, role, message)
        number += 1
        sent += size
        if called:
            result = {"type": "tool_result", "tool_use_id": name, "content": called["result"]}
            yield _row(number, "user", {"role": "user", "content": [result]})
            number += 1
            sent += len(called["result"]) * 2 // 5


def _row(number: int, role: str, message: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": role,
        "uuid": f"row-{number}",
        "parentUuid": f"row-{number - 1}" if number else None,
        "sessionId": "sample",
        "timestamp": (_START + timedelta(seconds=20 * number)).isoformat(),
        "message": message,
    }


def demo_messages() -> list[dict[str, Any]]:
    """Return the conversation in OpenAI's shape."""
    found: list[dict[str, Any]] = [
        {"role": "system", "content": "You are the coding agent of Larkfield, a garden shop."}
    ]
    for index, role, text, called in _steps(_STEPS):
        message: dict[str, Any] = {"role": role, "content": text}
        found.append(message)
        if called:
            function = {"name": called["tool"], "arguments": json.dumps(called["arguments"])}
            message["tool_calls"] = [{"id": f"call_{index:02}", "type": "function", "function": function}]
            found.append({"role": "tool", "tool_call_id": f"call_{index:02}", "content": called["result"]})
    return found


SESSION = Path(__file__).with_name("agent_session.json")
"""The items of the session, as JSON."""

# The window has 4,000 tokens, of which 500 are for the reply. A target of 3,000 leaves a margin.
_BUDGET = ContextBudget(4_000, 3_000, output_reserve=500)

# Recent, relevant and urgent items and important kinds score high. The greedy slicer fills the target with the best
# score per token, and the placer puts the selection into chronological order.
_PIPELINE = Pipeline(
    CompositeScorer([(RecencyScorer(), 2), (KindScorer(), 2), (ReflexiveScorer(), 3), (PriorityScorer(), 1)]),
    GreedySlice(),
    ChronologicalPlacer(),
)

_NEXT = """
TRY NEXT
  pycupel context                            where your own window goes
  pycupel demo transcript > session.jsonl    a logged session of an agent
  pycupel replay session.jsonl -b 12000      what policies would have sent
  pycupel demo items > items.jsonl           the items of this demonstration
  pycupel explain items.jsonl -b 2000 -p rag -q 'why do payments fail twice?'
"""

_VECTOR = """\
[test]
name = "The newest item has the score 1"
stage = "scoring"
scorer = "recency"

[[items]]
content = "old"
tokens = 10
timestamp = 2026-01-01T00:00:00Z

[[items]]
content = "new"
tokens = 10
timestamp = 2026-01-02T00:00:00Z

[[expected]]
content = "old"
score_approx = 0.0

[[expected]]
content = "new"
score_approx = 1.0
"""


def _add_demo(parser: Parser) -> None:
    parser.add_argument(
        "data",
        nargs="?",
        choices=("items", "messages", "requests", "transcript", "vector"),
        help="write this instead: items, a chat history, logged requests, a coding agent's transcript, a vector",
    )


def _demo(options: Any, screen: Screen) -> int:
    """Write the demonstration, or data."""
    if options.data is None:
        _demonstrate(screen)
    elif options.data == "vector":
        screen.out.write(_VECTOR)
    elif options.data == "items":
        screen.json_lines(_rows())
    elif options.data == "requests":
        screen.json_lines(_requests())
    else:
        screen.json_lines(transcript() if options.data == "transcript" else [demo_messages()])
    return OK


def _rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(SESSION.read_text(encoding="utf-8"))
    return rows


def _requests() -> list[dict[str, Any]]:
    """Return the items at some moments of the session, as requests with a question."""
    rows = _rows()
    questions = ["why do payments fail twice?", "which deployment broke the checkout?", "what did Mira ask for?"]
    return [
        {"id": f"request-{end}", "items": rows[:end], "budget": 4_000, "query": questions[end % len(questions)]}
        for end in range(5, len(rows) + 1, 5)
    ]


def _demonstrate(screen: Screen) -> None:
    """Show what is selected, why an item was left out, and what newest-first would have lost."""
    items = [from_dict(ContextItem, row) for row in _rows()]
    report = _PIPELINE.dry_run(items, _BUDGET)
    page = Page.of(screen.width, None)
    screen.lines([*headline(report, page.width), [], *share_lines(report, page), []])
    why = replace(report.why("$ query_logs service=checkout", pipeline=_PIPELINE, items=items), instead=())
    screen.text(f"{render_explanation(why, width=screen.width, unicode=screen.unicode)}\n")
    newest = {id(item) for item in _newest_first(items, _BUDGET.target_tokens)}
    lost = [item for item in report.items if id(item) not in newest]
    screen.heading(f"The newest messages that fit would be {len(newest)}, without {len(lost)} of these, such as:")
    for item in lost[1:4]:
        screen.text(f"  {clipped(item.content, screen.width - 2)}")
    screen.text(_NEXT.rstrip())


def _newest_first(items: list[ContextItem], target: int) -> list[ContextItem]:
    """Select in the usual way: pinned items, then the newest items until one does not fit."""
    selected = [item for item in items if item.pinned]
    used = sum(item.tokens for item in selected)
    dated = [item for item in items if item.timestamp and not item.pinned and item.tokens >= 0]
    for item in sorted(dated, key=lambda item: item.timestamp or _START, reverse=True):
        used += item.tokens
        if used <= target:
            selected.append(item)
    return selected


VERBS = {
    "demo": Verb(
        _demo,
        _add_demo,
        """
pycupel demo
pycupel demo transcript > session.jsonl
pycupel context session.jsonl
""",
    )
}
