"""What was needed later: values that the arguments of later calls took from results."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pycupel.messages.providers import PROVIDERS
from pycupel.replay.parts import Needed, needed_of, pieces, prompt_parts


def test_pieces_are_paths_and_identifiers() -> None:
    text = (
        "The file src/app.py: call charge_with_retry(), see FerropayTimeout; plain words do not count, nor does v1.2. "
        "Nor do well-known things, but /etc/hosts and @scope/name do."
    )
    found = {"src/app.py", "charge_with_retry", "FerropayTimeout", "/etc/hosts", "@scope/name"}
    assert pieces(text) == found


def call(**arguments: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": arguments}]}


def result(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": text}]}


def says(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def needed_in(*messages: dict[str, Any], provider: str = "anthropic") -> Needed:
    return needed_of(len(messages), prompt_parts(PROVIDERS[provider].read(messages)))


def test_what_a_later_call_takes_from_a_result_was_needed() -> None:
    needed = needed_in(
        says("user", "look at told_before"),
        result("told_before needed_once needed_twice shown_again said_by_user never_used"),
        says("assistant", "hm"),
        result("shown_again"),
        says("user", "and said_by_user"),
        call(command="grep needed_once told_before said_by_user"),
        result("nothing"),
        call(paths=["shown_again", {"other": "needed_twice"}], lines=7),
        call(path="needed_twice"),
    )
    assert sorted(needed.intervals) == [
        ("needed_once", 1, 5),
        # The user named it before the result did, and not between that and the call.
        ("needed_twice", 1, 7),
        ("needed_twice", 1, 8),
        ("shown_again", 3, 7),
        ("told_before", 1, 5),
    ]
    assert [sorted(needed.at(cut)) for cut in (1, 2, 4, 6, 8, 9)] == [
        [],
        ["needed_once", "needed_twice", "told_before"],
        ["needed_once", "needed_twice", "shown_again", "told_before"],
        ["needed_twice", "shown_again"],
        ["needed_twice"],
        [],
    ]
    assert "never_used" in needed.held[1]


def test_prose_is_not_counted() -> None:
    """Neither what the agent only says, nor the plain words of an argument."""
    needed = needed_in(result("charge_with_retry failed badly"), says("assistant", "charge_with_retry"))
    assert needed.intervals == []
    assert needed_in(result("it failed badly"), call(query="why it failed so badly")).intervals == []


def test_a_value_counts_as_a_whole_or_by_what_is_in_it() -> None:
    code = 'def charge():\n    return "src/app.py"\n'
    needed = needed_in(result(f"1\n{code}2"), call(old_string=code, new_string="def charge(): return src/app.py"))
    assert sorted(needed.intervals) == [(code, 0, 1), ("src/app.py", 0, 1)]
    assert needed.whole == {code}
    assert needed.in_text(f"before {code}") == {code, "src/app.py"}
    assert code not in needed.in_text(code[:-3])


def test_what_was_said_between_was_not_needed() -> None:
    told = (result("see src/app.py and lib/all of it"), says("assistant", "I will change src/app.py."))
    assert needed_in(*told, says("user", "go"), call(path="src/app.py")).intervals == []
    assert needed_in(*told, says("user", "go"), call(text="lib/all of it")).intervals == [("lib/all of it", 0, 3)]
    again = needed_in(*told, call(path="src/app.py"), result("src/app.py"), call(path="src/app.py"))
    assert again.intervals == [("src/app.py", 0, 2), ("src/app.py", 3, 4)], "a reply is not between, a result is new"


def test_a_reply_in_several_items_is_one() -> None:
    items: list[dict[str, Any]] = [
        {"type": "function_call", "call_id": "a", "name": "ls", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "src/app.py"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Open src/app.py."}]},
        {"type": "function_call", "call_id": "b", "name": "cat", "arguments": json.dumps({"path": "src/app.py"})},
    ]
    assert needed_in(*items, provider="responses").intervals == [("src/app.py", 1, 3)]


@pytest.mark.parametrize("arguments", ["src/app.py", "not json: src/app.py", "[" * 100_000 + " src/app.py"])
def test_arguments_that_are_no_object_are_a_text(arguments: str) -> None:
    message = {"type": "function_call", "call_id": "b", "name": "cat", "arguments": arguments}
    output = {"type": "function_call_output", "call_id": "a", "output": "src/app.py"}
    first = {"type": "function_call", "call_id": "a", "name": "ls", "arguments": "{}"}
    assert needed_in(first, output, message, provider="responses").intervals == [("src/app.py", 1, 2)]
