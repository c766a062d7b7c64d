"""What the page of the playground may ask for, without a server."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    CountQuotaEntry,
    CountQuotaSlice,
    FrequencyScorer,
    Pipeline,
    Policy,
    RecencyScorer,
)
from pycupel.errors import InvalidArgumentError
from pycupel.policies import PRESETS, dump_policy, parse_policy, policy_from_dict, policy_to_dict
from pycupel.web import State

ITEMS = [
    ContextItem("Be brief.", 10, kind="SystemPrompt", pinned=True),
    ContextItem("the old message", 60, priority=9),
    ContextItem("a document about refunds", 70, kind="Document", priority=3),
    ContextItem("a document about shipping", 70, kind="Document", priority=5),
    ContextItem("the new message", 50, priority=1),
]


def settings(policy: Any = None, **options: Any) -> dict[str, Any]:
    return {
        "policy": policy_to_dict("chat") if policy is None else policy,
        "budget": {"max": 150, "target": 140, "reserve": 10},
        "query": "",
        **options,
    }


def selected(answer: dict[str, Any]) -> list[int]:
    """The selected items by their index, in order."""
    rows = answer["report"]["rows"]
    return [index for index, is_in in zip(rows["input"], rows["in"], strict=True) if is_in]


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_the_page_begins_with_a_selection_and_with_what_can_be_chosen() -> None:
    page = State(ITEMS, "rag", ContextBudget(200, 150, output_reserve=20), "refunds", name="my items").page()
    data = data_of(page)
    offer = data["play"]
    assert selected(data) == [
        ITEMS.index(item)
        for item in Pipeline.from_policy("rag").run(ITEMS, ContextBudget(200, 150, output_reserve=20), query="refunds")
    ]
    assert (offer["name"], offer["items"], offer["tokens"]) == ("my items", 5, 260)
    assert offer["kinds"] == ["Document", "Message", "SystemPrompt"]
    assert offer["budget"] == {"max": 200, "target": 150, "reserve": 20}
    assert offer["query"] == "refunds"
    assert offer["policy"] == policy_to_dict("rag")
    assert offer["presets"].keys() == PRESETS.keys()
    assert "connect-src 'self'" in page.replace("&#x27;", "'")


def test_everything_on_offer_is_a_policy() -> None:
    offer = data_of(State(ITEMS).page())["play"]
    assert {"recency", "priority", "relevance"} <= {*offer["scorers"]}
    assert "tag" not in offer["scorers"]
    for scorer in offer["scorers"]:
        for slicer in offer["slicers"].values():
            for placer in offer["placers"].values():
                policy_from_dict({"scorers": [{"type": scorer, "weight": 1}], "slicer": slicer, "placer": placer})


def test_the_budget_is_half_of_all_tokens_unless_given() -> None:
    assert data_of(State(ITEMS).page())["play"]["budget"] == {"max": 130, "target": 130, "reserve": 0}
    assert data_of(State(ITEMS, budget=99).page())["play"]["budget"]["max"] == 99


def test_a_selection_is_that_of_the_engine() -> None:
    state = State(ITEMS)
    for weight in (0.1, 1, 5):
        document = {"scorers": [{"type": "recency", "weight": 1}, {"type": "priority", "weight": weight}]}
        answer = state.answer("select", settings(document))
        policy = policy_from_dict(document)
        truth = Pipeline.from_policy(policy).run(ITEMS, ContextBudget(150, 140, output_reserve=10))
        assert selected(answer) == [ITEMS.index(item) for item in truth]
        assert answer["policy"] == {"json": dump_policy(policy), "toml": dump_policy(policy, "toml")}
        assert parse_policy(answer["policy"]["toml"], "toml") == policy


def test_a_query_is_used() -> None:
    state = State(ITEMS)
    assert 2 in selected(state.answer("select", settings(query="refunds")))
    assert 3 in selected(state.answer("select", settings(query="shipping")))


def test_two_policies_side_by_side() -> None:
    answer = State(ITEMS).answer("select", settings(query="refunds", other=settings(query="shipping")))
    rows = answer["report"]["rows"]
    assert [
        index for index, is_in in zip(rows["input"], rows["other0_in"], strict=True) if is_in and index in {2, 3}
    ] == [3]
    assert answer["names"] == ["now", "kept"]


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        ([], "the request must be an object"),
        ({}, "budget must be an object"),
        (settings({"scorers": [{"type": "recencey", "weight": 1}]}), "recency"),
        (settings(budget={"max": -1}), "must be 0 or more"),
        (settings(budget={"max": "many"}), "max_tokens must be an int"),
        (settings(query=7), "query must be a str"),
        (settings(policy=[]), "policy must be an object"),
        (settings(other=[]), "settings must be an object"),
        (settings(budget={"max": 5}), "Pinned items require 10 tokens"),
    ],
)
def test_a_mistake_is_told(request_: Any, error: str) -> None:
    answer = State(ITEMS).answer("select", request_)
    assert list(answer) == ["error"]
    assert error in answer["error"]


def test_a_first_selection_that_fails_is_told_on_the_page() -> None:
    data = data_of(State(ITEMS, budget=5).page())
    assert "Pinned items require 10 tokens" in data["error"]
    assert data["play"]["items"] == 5


def test_an_unknown_request_is_none() -> None:
    with pytest.raises(KeyError):
        State(ITEMS).answer("page", {})


def test_another_file_takes_the_place_of_the_items() -> None:
    state = State(ITEMS)
    text = '{"content": "one", "tokens": 10}\n{"content": "two", "tokens": 20, "kind": "Memory"}\n'
    offer = state.answer("items", {"name": "other.jsonl", "text": text})["play"]
    assert (offer["name"], offer["items"], offer["tokens"]) == ("other.jsonl", 2, 30)
    assert offer["kinds"] == ["Memory", "Message"]
    assert offer["budget"] == {"max": 15, "target": 15, "reserve": 0}
    assert len(state.answer("select", settings())["report"]["rows"]["in"]) == 2


@pytest.mark.parametrize(
    ("file", "error"),
    [
        ({"name": "a", "text": ""}, "the file has no items"),
        ({"name": "a", "text": "nonsense"}, "line 1"),
        ({"name": "a"}, "text must be a str"),
        ({"name": 7, "text": '{"content": "one", "tokens": 10}'}, "name must be a str"),
    ],
)
def test_a_bad_file_is_told_and_the_items_stay(file: Any, error: str) -> None:
    state = State(ITEMS)
    assert error in state.answer("items", file)["error"]
    assert len(state.answer("select", settings())["report"]["rows"]["in"]) == 5


def test_a_reader_of_ones_own() -> None:
    state = State(ITEMS, read=lambda text: [ContextItem(word, 1) for word in text.split()])
    assert state.answer("items", {"name": "a", "text": "one two three"})["play"]["items"] == 3


def test_an_unknown_preset_is_refused_at_once() -> None:
    with pytest.raises(InvalidArgumentError, match="ragg"):
        State(ITEMS, "ragg")  # type: ignore[arg-type]


def test_a_budget_that_is_too_small_names_the_controls_of_the_page() -> None:
    """Issue: it said "raise max_tokens", which is not on the page."""
    items = [ContextItem("the prompt", 60, pinned=True), ContextItem("b", 50)]
    told = State(items, budget=50).page()
    assert "Raise Max, lower Output, or pin less: 'the prompt' (60 tokens)." in told
    overflow = ContextBudget(100, 40)
    policy = Policy(RecencyScorer(), CountQuotaSlice([CountQuotaEntry("Message", require_count=1, cap_count=9)]))
    assert "Raise Target, or choose another way" in State(items, policy, overflow).page()


def test_notes_name_strategies_as_the_controls_of_the_page_do() -> None:
    """Issue: it advised to add a PriorityScorer, where one adds 'priority'."""
    items = [ContextItem(f"{n}", 10, priority=n) for n in range(9)]
    [note] = data_of(State(items, Policy(FrequencyScorer()), 50).page())["report"]["notes"][-1:]
    assert "add the scorer 'priority', or" in note


def test_all_tokens_are_those_of_the_report() -> None:
    """Issue: `play` had 16,076 tokens where `explain` had 16,075."""
    data = data_of(State([ContextItem("a", 10), ContextItem("b", -1)]).page())
    assert (data["play"]["tokens"], data["report"]["considered"]) == (9, 9)
