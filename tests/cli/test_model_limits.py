"""Budgets of the command line within the limits of a model: a share of its input, and the models of a policy file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.calls import Call

ITEMS = json.dumps([{"content": f"item {n}", "tokens": 100} for n in range(40)])
MESSAGES = [{"role": role, "content": f"{n} " + 300 * "word "} for n in range(9) for role in ("user", "assistant")]
POLICY = {"scorers": [{"type": "recency"}], "models": {"local": {"window": 4_000, "input": 2_000}}}


@pytest.fixture
def policy(tmp_path: Path) -> str:
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(POLICY), encoding="utf-8")
    return str(path)


def test_a_share_is_one_of_the_input_limit(call: Call) -> None:
    found = call("select", "-", "-b", "75%", "--model", "gpt-5", text=ITEMS)
    assert found.err.endswith("40 of 40 items, 4,000 of 204,000 tokens\n")


def test_the_models_of_a_policy_file_are_known_with_it_alone(call: Call, policy: str) -> None:
    for verb in ("select", "explain"):
        assert call(verb, "-", "-b", "50%", "--model", "local", "-p", policy, text=ITEMS).code == 0
        assert "unknown model 'local'" in call(verb, "-", "-b", "50%", "--model", "local", text=ITEMS).err
    swept = call("sweep", "-", "-b", "50%,100%", "--model", "local", "-p", policy, "--json", text=ITEMS)
    assert [point["budget"] for point in json.loads(swept.out)] == [1_000, 2_000]
    ranged = call("sweep", "-", "-b", "50%:100%:500", "--model", "local", "-p", policy, "--json", text=ITEMS)
    assert [point["budget"] for point in json.loads(ranged.out)] == [1_000, 1_500, 2_000]


def test_a_note_says_that_a_model_takes_less_than_the_budget(call: Call, policy: str) -> None:
    note = "note: a prompt has at most 2000 tokens, the most input that 'local' takes, although the budget allows 3000"
    for verb, text in (("select", ITEMS), ("trim", json.dumps(MESSAGES))):
        arguments = (verb, "-", "-b", "3000", "--model", "local", "-p", policy)
        found = call(*arguments, text=text)
        assert note in found.err
        assert "reply" not in found.err
        # A window that is given replaces the limits of the model.
        assert note not in call(*arguments, "--window", "9000", text=text).err


def test_a_share_leaves_room_for_the_reply_in_the_window_not_in_the_input(call: Call, policy: str) -> None:
    request = json.dumps({"model": "local", "max_tokens": 1_500, "messages": MESSAGES})
    arguments = ("trim", "-", "-b", "100%", "-p", policy, "--counter", "estimator")
    assert "because the request asks for a reply" not in call(*arguments, text=request).err
    larger = request.replace("1500", "2800")
    assert "the budget is 1,200 tokens, not 2,000, because the request asks for a reply of up to 2,800" in (
        call(*arguments, text=larger).err
    )
