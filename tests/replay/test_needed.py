"""What was needed later: by hand, and as the measure beside the project finds it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from pycupel.messages.providers import PROVIDERS
from pycupel.replay.parts import identifiers, needed_of, parts_of

SHARED = Path(__file__).parents[3] / "shared/histories"


def test_identifiers_are_paths_names_and_numbers_with_letters() -> None:
    text = (
        "The file src/app.py: call charge_with_retry(), see FerropayTimeout; plain words do not count, nor does v1.2."
    )
    assert identifiers(text) == {"src/app.py", "charge_with_retry", "FerropayTimeout"}


def call(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {"q": text}}]}


def result(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": text}]}


def says(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def test_what_only_results_held_and_the_agent_wrote_later_was_needed() -> None:
    messages = [
        says("user", "look at told_before"),
        result("told_before needed_once needed_twice shown_again said_by_user never_used"),
        says("assistant", "hm"),
        result("shown_again"),
        says("user", "and said_by_user"),
        call("needed_once told_before said_by_user"),
        says("assistant", "shown_again and needed_twice"),
        says("assistant", "needed_twice"),
    ]
    needed = needed_of(len(messages), parts_of(PROVIDERS["anthropic"].read(messages)))
    assert needed.intervals == {"needed_once": (1, 5), "needed_twice": (1, 6), "shown_again": (3, 6)}
    assert [sorted(needed.at(cut)) for cut in (1, 2, 4, 6, 7)] == [
        [],
        ["needed_once", "needed_twice"],
        ["needed_once", "needed_twice", "shown_again"],
        ["needed_twice", "shown_again"],
        [],
    ]
    assert "never_used" in needed.held[1]


@pytest.mark.unmeasured
@pytest.mark.skipif(not SHARED.is_dir(), reason="the histories are not beside the project")
@pytest.mark.parametrize("name", ["coding-agent-258c", "coding-agent-ae4a"])
def test_needed_is_measured_as_for_the_shared_histories(name: str) -> None:
    spec = importlib.util.spec_from_file_location("shared_needed", SHARED / "needed.py")
    assert spec is not None
    assert spec.loader is not None
    shared: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(shared)
    messages = shared.read_transcript(SHARED / f"{name}.jsonl.xz")
    needed = needed_of(len(messages), parts_of(PROVIDERS["anthropic"].read(messages)))
    for cut in range(0, len(messages), 37):
        assert needed.at(cut) == shared.needed_later(messages, cut)
