"""The hook for the Claude Agent SDK: results under the budget, in the shape that the tool has, and JSON that parses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from pycupel.errors import InvalidArgumentError
from pycupel.fields import as_json
from pycupel.integrations.claude_agent import shorten_tool_output
from pycupel.tokens import get_counter

BUDGET = 400
UNCHANGED = object()


def count(text: str) -> int:
    return len(text) // 4


def updated(
    result: Any, *, tool: str = "Bash", event: str = "PostToolUse", budget: int = BUDGET, **options: Any
) -> Any:
    """What the model gets instead of a result."""
    hook = shorten_tool_output(budget, **{"counter": count, **options})
    given = {"hook_event_name": event, "tool_name": tool, "tool_input": {"command": "make"}, "tool_response": result}
    output = asyncio.run(hook(given, "toolu_1", {"signal": None}))
    if not output:
        return UNCHANGED
    assert output.keys() == {"hookSpecificOutput"}
    specific = output["hookSpecificOutput"]
    assert specific["hookEventName"] == "PostToolUse"
    return specific["updatedToolOutput"]


def log(seed: int) -> str:
    return "\n".join(f"10:{n % 60:02d} step {n * seed} of build {chr(97 + n % 26) * 5} done" for n in range(300))


def rows(seed: int) -> str:
    return json.dumps([{"id": n, "name": f"row {n * seed}", "note": "x" * (n % 40)} for n in range(200)])


SHAPES: dict[str, Callable[[int], Any]] = {
    "text": log,
    "Bash": lambda seed: {"stdout": log(seed), "stderr": log(seed + 1), "interrupted": False, "isImage": False},
    "Read": lambda seed: {"type": "text", "file": {"filePath": "a.py", "content": log(seed), "numLines": 300}},
    "MCP": lambda seed: [{"type": "text", "text": rows(seed)}, {"type": "image", "data": "iVBOR" * 900}],
    "Glob": lambda seed: {"filenames": [f"src/{seed}/module_{n}.py" for n in range(2_000)], "numFiles": 2_000},
}


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("shape", SHAPES)
def test_a_large_result_fits_and_keeps_its_shape(shape: str, seed: int) -> None:
    result = SHAPES[shape](seed)
    before = as_json(result)
    short = updated(result)
    assert as_json(result) == before
    assert shape_of(short) == shape_of(result)
    shown = short if isinstance(short, str) else as_json(short).replace("iVBOR" * 900, "")
    assert 0 < count(shown) <= BUDGET
    assert shown
    if shape == "MCP":
        assert json.loads(short[0]["text"])
        assert short[1] == result[1]


def shape_of(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shape_of(each) for key, each in value.items()}
    return [*map(shape_of, value[:1])] if isinstance(value, list) else type(value)


def test_a_small_result_stays_as_it_is() -> None:
    assert updated({"stdout": "ok", "stderr": ""}) is UNCHANGED
    assert updated([{"type": "image", "data": "iVBOR" * 9_000}]) is UNCHANGED


def test_what_stands_under_a_name_of_files_but_is_none_counts() -> None:
    """Many services return their rows as `data`."""
    shorter = updated({"data": {"rows": json.loads(rows(3)), "log": log(2)}})
    assert shorter is not UNCHANGED
    assert count(as_json(shorter)) <= BUDGET
    assert shorter.keys() == {"data"}
    assert updated(None) is UNCHANGED


def test_the_longest_text_is_the_first_to_become_shorter() -> None:
    short = updated({"stdout": log(1), "stderr": "one line of a warning that is not so short " * 4})
    assert short["stderr"].startswith("one line")
    assert len(short["stderr"]) > 100


def test_other_events_and_excluded_tools_are_left_alone() -> None:
    assert updated(log(1), event="PreToolUse") is UNCHANGED
    assert updated(log(1), tool="Read", exclude=["Read"]) is UNCHANGED


def test_an_object_with_too_many_keys_becomes_smaller_json() -> None:
    short = updated({f"key {n}": n for n in range(2_000)})
    assert isinstance(short, dict)
    assert count(as_json(short)) <= BUDGET


def test_what_cannot_become_small_enough_becomes_as_small_as_it_can() -> None:
    for budget in (0, 3):
        assert updated("word " * 400, budget=budget).startswith("[ToolOutput left out:")
    assert updated({f"key {n}": [n, n] for n in range(300)}, budget=1) == {f"key {n}": [n, n] for n in range(300)}
    assert updated({f"key {n}": n for n in range(2_000)}, budget=14).keys() == {"..."}


def test_the_margin_of_an_estimate_counts() -> None:
    counter = get_counter("estimator")
    short = updated(log(3), counter="estimator")
    assert counter.margin_percent > 0
    assert counter(short) * (100 + counter.margin_percent) <= BUDGET * 100


def test_a_wrong_argument_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="budget"):
        shorten_tool_output(-1)
    with pytest.raises(TypeError, match="budget"):
        shorten_tool_output("many")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="exclude"):
        shorten_tool_output(10, exclude=[3])  # type: ignore[list-item]
