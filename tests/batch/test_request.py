"""One request and a policy give one row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    CountQuotaEntry,
    CountQuotaSlice,
    GreedySlice,
    OverflowStrategy,
    Pipeline,
    Policy,
    ReflexiveScorer,
    ScoredItem,
    select,
)
from pycupel.batch import select_request
from pycupel.errors import InvalidArgumentError
from pycupel.messages import select_messages
from pycupel.policies import preset
from pycupel.replay import read_log
from pycupel.shorten import HeadAndTail
from pycupel.wire import from_dict
from tests.batch.requests import request
from tests.replay.sessions import REQUESTS

KEYS = ["id", "selected", "excluded", "shortened", "tokens", "utilization", "policy_hash", "counter", "error"]


def test_a_row_says_what_select_selects() -> None:
    """Issue: id, selected, excluded, tokens, utilization, policy_hash, counter, error."""
    asked = request(1)
    items = [from_dict(ContextItem, each) for each in asked["items"]]
    expected = select(items, 300, "rag", query="item 3", explain=True)
    row = select_request(asked, "rag")
    assert list(row) == KEYS
    assert [items[i] for i in row["selected"]] == expected.items
    assert {each["index"]: each["reason"] for each in row["excluded"]} == {
        next(i for i, item in enumerate(items) if item is each.item): type(each.reason).__name__
        for each in expected.report.excluded
    }
    assert (row["id"], row["tokens"], row["counter"], row["error"]) == (1, expected.total_tokens, None, None)
    assert row["utilization"] == expected.total_tokens / 300
    assert [each["index"] for each in row["excluded"]] == sorted(each["index"] for each in row["excluded"])
    json.dumps(row)


def test_a_shorter_version_stands_for_the_whole_item() -> None:
    items = [{"content": f"{n} " * 400, "tokens": 400, "futureRelevanceHint": 0.5 + n / 10} for n in range(4)]
    shortening = Policy(ReflexiveScorer(), shorten=HeadAndTail(100))
    row = select_request({"id": 1, "items": items, "budget": 700}, shortening)
    assert (row["error"], row["selected"], row["tokens"]) == (None, [3, 2, 1, 0], 700)
    assert row["shortened"] == [i for i in range(4) if i in row["shortened"]] != []
    pinned = {"content": "pin", "tokens": 100, "pinned": True}
    beside = select_request({"id": 1, "items": [pinned, *items], "budget": 800}, shortening)
    assert (beside["error"], beside["selected"], beside["tokens"]) == (None, [0, 4, 3, 2, 1], 800)


class Everything:
    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        return [pair.item for pair in scored_items]


def test_every_reason_has_its_index() -> None:
    """A row is made from indices where it can be; pinned, invalid, capped and truncated items are found by identity."""
    plain = [{"content": f"item {n % 5}", "tokens": 40 + n, "futureRelevanceHint": n / 10} for n in range(8)]
    unusual = [{"content": "pin", "tokens": 60, "pinned": True}, {"content": "broken", "tokens": -1}]
    capped = CountQuotaSlice([CountQuotaEntry("Message", require_count=0, cap_count=2)])
    seen: set[str] = set()
    for slicer in (GreedySlice(), capped, Everything()):
        policy = Policy(ReflexiveScorer(), slicer, overflow_strategy=OverflowStrategy.TRUNCATE)
        for documents in (plain, [*plain[:3], *unusual, *plain[3:]]):
            items = [from_dict(ContextItem, each) for each in documents]
            report = Pipeline.from_policy(policy).dry_run(items, 150)
            row = select_request({"id": 1, "items": documents, "budget": 150}, policy)
            index = {id(item): i for i, item in enumerate(items)}
            assert row["selected"] == [index[id(item)] for item in report.items]
            assert row["excluded"] == [
                {"index": i, "reason": reason}
                for i, reason in sorted((index[id(each.item)], type(each.reason).__name__) for each in report.excluded)
            ]
            seen.update(each["reason"] for each in row["excluded"])
    assert seen == {"BudgetExceeded", "CountCapExceeded", "Deduplicated", "NegativeTokens", "PinnedOverride"}


def test_what_neither_json_nor_parquet_can_represent_is_an_error() -> None:
    policy = Policy(ReflexiveScorer(), Everything(), overflow_strategy=OverflowStrategy.PROCEED)
    for tokens, budget, expected in (
        (2**63 - 1, 2**63, None),
        (2**63, 2**63, "OverflowError: tokens exceed 64 bits"),
        (10**400, 1, "OverflowError: tokens exceed 64 bits"),
        (1, 0, "OverflowError: tokens exceed a budget of 0"),
        (0, 0, None),
    ):
        row = select_request({"id": 1, "items": [{"content": "x", "tokens": tokens}], "budget": budget}, policy)
        assert (list(row), row["error"]) == (KEYS, expected)


def test_a_budget_may_be_an_object_or_a_number() -> None:
    asked = request(0)
    assert select_request(asked, "rag") == select_request(
        {**asked, "budget": {"max_tokens": 400, "target_tokens": 300}}, "rag"
    )
    assert select_request({**asked, "budget": 300}, "rag")["utilization"] != select_request(asked, "rag")["utilization"]


def test_a_row_says_which_messages_are_shorter() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Read the logs."}]
    for n in range(9):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "read", "arguments": f'{{"n": {n}}}'}}
        lines = "".join(f"12:00 worker_{n} waits for job_{line}\n" for line in range(60))
        messages += [
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": lines},
        ]
    expected = select_messages(messages, 4_000)
    row, dropping = (
        select_request({"messages": messages, "budget": 4_000}, policy)
        for policy in ("chat", replace(preset("chat"), shorten="none"))
    )
    assert row["shortened"] == [each.index for each in expected.shortened] != []
    assert dropping["shortened"] == []
    assert dropping["policy_hash"] != row["policy_hash"]


def test_chat_histories() -> None:
    """Issue: `{"id": ..., "messages": [...], "budget": N}` for logged chat requests."""
    asked = request(4)
    expected = select_messages(asked["messages"], 150)
    row = select_request(asked, "chat")
    assert (row["selected"], row["tokens"], row["counter"]) == (
        [*expected.kept],
        expected.total_tokens,
        expected.counter,
    )
    assert [each["index"] for each in row["excluded"]] == [each.index for each in expected.dropped]
    assert row["excluded"]
    beside: dict[str, Any] = {
        "model": "gpt-4",
        "system": "Be brief.",
        "tools": [{"type": "function", "function": {"name": "find"}}],
    }
    told = select_messages(asked["messages"], 150, **beside)
    row_beside = select_request({**asked, **beside}, "chat")
    assert (row_beside["tokens"], row_beside["counter"]) == (told.total_tokens, told.counter)
    assert row_beside["counter"] != row["counter"]
    mistral = select_request({**asked, "provider": "mistral"}, "chat")
    assert mistral["error"] is None
    roomy = select_request({**asked, "budget": {"maxTokens": 150, "targetTokens": 140}}, "chat")
    assert len(roomy["selected"]) > len(row["selected"])


@pytest.mark.parametrize("provider", REQUESTS)
def test_requests_of_every_api(provider: str) -> None:
    """They have their messages, system prompts, tools and models where the API wants them."""
    logged = REQUESTS[provider]
    [history] = read_log([json.dumps(logged)]).histories
    told = select_messages(
        history.messages,
        2_000,
        provider=history.provider,
        model=history.model,
        system=history.system,
        tools=history.tools or None,
    )
    row = select_request({"id": 1, "budget": 2_000, **logged}, "chat")
    assert (row["error"], row["selected"], row["counter"]) == (None, [*told.kept], told.counter)
    # What stands beside the messages counts, so that not all of them fit without room for it.
    tight = select_request({"id": 1, "budget": told.usage.prompt - 5, **logged}, "chat")
    assert tight["selected"] != row["selected"]


def test_an_input_beside_items_is_the_logs_own() -> None:
    items = [{"content": "a", "tokens": 1}]
    assert select_request({"id": 1, "items": items, "input": [1], "budget": 5}, "chat")["selected"] == [0]
    assert "either items or messages" in select_request({"id": 1, "input": "text", "budget": 5}, "chat")["error"]


def test_the_budget_of_messages_may_be_a_share_of_the_models_window() -> None:
    asked = {**request(4), "budget": "0.5%", "model": "gpt-4o"}
    told = select_messages(asked["messages"], "0.5%", model="gpt-4o")
    row = select_request(asked, "chat")
    assert (row["error"], row["selected"], row["tokens"]) == (None, [*told.kept], told.total_tokens)
    assert row["utilization"] == told.total_tokens / 640
    assert "no model was given" in select_request({**request(4), "budget": "75%"}, "chat")["error"]
    assert "budget must be" in select_request({**request(4), "budget": True}, "chat")["error"]
    assert "budget must be" in select_request({**request(1), "budget": "75%", "model": "gpt-4o"}, "chat")["error"]


def test_null_means_absent() -> None:
    """As in every other document, and in Arrow."""
    asked = {"id": 1, "items": [{"content": "a", "tokens": 1}], "messages": None, "budget": 5}
    assert select_request(asked, "chat")["error"] is None


def test_items_without_tokens_are_counted() -> None:
    asked = {
        "id": "a",
        "items": [{"content": "some words"}, {"content": "more"}, {"content": "known", "tokens": 5}],
        "budget": 100,
    }
    row = select_request(asked, "rag")
    assert row["error"] is None
    assert row["tokens"] > 5
    assert row["counter"]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"budget": None}, "DocumentError: budget: is missing"),
        ({"budget": -1}, "must be 0 or more"),
        ({"budget": {"maxTokens": "x"}}, "DocumentError: budget.maxTokens: must be an integer"),
        ({"budget": []}, "budget must be"),
        ({"items": {}}, "DocumentError: items: must be an array"),
        ({"items": [{"content": "a", "tokens": 1}, {"tokens": 1}]}, "DocumentError: items[1].content: is missing"),
        ({"items": [7]}, "DocumentError: items[0]: must be an object"),
        ({"messages": []}, "DocumentError: a request must have either items or messages, not both"),
        ({"items": [{"content": "a", "tokens": 5, "kind": " "}]}, "DocumentError: items[0].kind: "),
        ({"items": [{"content": "a", "tokens": 500, "pinned": True}]}, "PinnedExceedsBudgetError"),
        ({"query": 3}, "TypeError: query must be"),
    ],
)
def test_a_mistake_is_a_row_with_an_error(change: dict[str, Any], error: str) -> None:
    """Issue: errors of single requests become rows with the error."""
    row = select_request({**request(1), **change}, "rag")
    assert error in row["error"]
    assert list(row) == KEYS
    assert (row["id"], row["selected"], row["excluded"], row["tokens"], row["utilization"]) == (1, [], [], 0, 0.0)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"qurey": "a"}, "qurey: unknown field; did you mean 'query'?"),
        ({"Model": "gpt-4o"}, "Model: unknown field; did you mean 'model'?"),
        ({"budget": None, "budgt": 10}, "budgt: unknown field; did you mean 'budget'?"),
    ],
)
def test_a_misspelt_key_is_a_row_with_an_error(change: dict[str, Any], error: str) -> None:
    assert select_request({**request(1), "query": None, **change}, "rag")["error"].startswith(f"DocumentError: {error}")


def test_other_keys_of_a_log_are_ignored() -> None:
    """As are those that are close to a key that is there, or longer: they are the log's own."""
    asked = request(1)
    own: dict[Any, Any] = {
        "_id": 1,
        "uid": 2,
        "mode": "fast",
        "model_id": "a",
        "query_id": 7,
        "tools_used": [],
        "items_": 3,
        7: 8,
        "x" * 5_000: 9,
    }
    items = [{**each, "title": "a", "id": 3, "score": 0.5, "tag": "b", 7: 8} for each in asked["items"]]
    assert select_request({**asked, "items": items, **own}, "rag") == select_request(asked, "rag")


@pytest.mark.parametrize("wrong", [None, 5, "text", [], {}])
def test_what_is_no_request_is_a_row_too(wrong: Any) -> None:
    assert select_request(wrong, "rag")["error"].startswith("DocumentError: a request must")


def test_equal_policies_have_equal_hashes() -> None:
    """Issue: policy_hash tells policies apart."""

    @dataclass(frozen=True)
    class Custom:
        def score(self, item: ContextItem, all_items: object, /) -> float:
            return 0.5

    def hash_of(policy: Any) -> Any:
        return select_request(request(1), policy)["policy_hash"]

    assert hash_of("rag") == hash_of(preset("rag")) == hash_of(Pipeline.from_policy("rag"))
    assert hash_of("rag") != hash_of("chat")
    assert hash_of(Policy(ReflexiveScorer())) != hash_of(replace(Policy(ReflexiveScorer()), deduplication=False))
    assert hash_of(Policy(Custom())) is None


def test_a_wrong_policy_is_the_callers_mistake() -> None:
    with pytest.raises(InvalidArgumentError, match="chatt"):
        select_request(request(1), "chatt")  # type: ignore[arg-type]
