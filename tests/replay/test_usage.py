"""Where windows go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from pycupel.errors import InvalidArgumentError
from pycupel.messages import ProviderName, count_messages
from pycupel.messages.providers import PROVIDERS
from pycupel.replay import (
    Call,
    Compaction,
    ContextUsage,
    Growth,
    History,
    Log,
    Redundant,
    WindowShare,
    context_usage,
    read_log,
)
from pycupel.shorten import ToolCall, superseded
from tests.replay.sessions import REQUESTS, ROLLOUT, lines, planted_rows

SHARED = Path(__file__).parents[3] / "shared/histories"


EACH = PROVIDERS["openai"].prices.message


def words(text: str) -> int:
    return len(text.split())


def usage_of(*rows: Any) -> ContextUsage:
    return context_usage(read_log(lines(*rows)), counter=words)


def by_kind(usage: ContextUsage) -> dict[str, int]:
    found = dict.fromkeys((row.kind for row in usage.rows), 0)
    for row in usage.rows:
        found[row.kind] += row.tokens
    return found


def test_a_history_without_calls_is_counted_whole() -> None:
    usage = context_usage(History(({"role": "user", "content": "one two three"},), "openai"), counter=words)
    assert usage.rows == (WindowShare("user", "", 1, 3 + EACH),)
    assert (usage.call, usage.total, usage.not_in_file, usage.counted_by) == (1, 3 + EACH, 0, None)
    assert usage.superseded == usage.repeated == Redundant(0, 0)


def test_the_model_decides_what_messages_cost_whatever_their_format() -> None:
    """As with a router: OpenAI's format, another provider's model."""
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = (
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "two"},
        {"role": "user", "content": "three"},
    )
    for model in ("gpt-4o", "claude-sonnet-4-5"):
        for provider in get_args(ProviderName)[:2]:
            usage = context_usage(History(messages, provider, model=model), counter=len)
            assert usage.total == count_messages(messages, "openai", len, model=model)


def test_reprs_are_short() -> None:
    """Issue: the repr of a log was as long as the log."""
    log = read_log(planted_rows())
    usage = context_usage(log, counter=words)
    history = "<History: 48 messages for anthropic, 24 calls>"
    assert repr(log) == "<Log: 1 history, 0 skipped lines>"
    assert repr(log.histories) == f"({history},)"
    assert repr(usage) == f"<ContextUsage: {usage.total} tokens at call 24 of {history}>"
    assert max(len(repr(part)) for part in usage.largest) < 600


def test_a_reply_alone_was_never_a_prompt() -> None:
    usage = context_usage(History(({"role": "assistant", "content": "one two"},), "openai"), counter=words)
    assert (usage.call, usage.total, usage.growth) == (0, 2 + EACH, ())


@pytest.mark.parametrize("provider", REQUESTS)
def test_every_provider(provider: str) -> None:
    usage = usage_of(REQUESTS[provider])
    kinds = by_kind(usage)
    assert {"system", "tool_results"} <= kinds.keys()
    assert ("tools" in kinds) is (provider != "mistral")
    assert usage.total == sum(kinds.values())
    assert [row.tool for row in usage.rows if row.kind == "tool_results"] == ["ls"]


def test_the_largest_prompt_of_a_rollout() -> None:
    usage = usage_of(*ROLLOUT)
    assert (usage.call, usage.total, usage.counted_by) == (3, 4_300, "gpt-5-codex")
    assert sum(by_kind(usage).values()) == 4_300
    assert usage.not_in_file > 4_000
    assert by_kind(usage)["system"] == 2 + EACH
    assert usage.growth == (Growth(4_000, False), Growth(4_200, False), Growth(4_300, False), Growth(1_200, True))


def test_after_a_compaction_the_prompt_is_the_summary_and_what_follows() -> None:
    messages = tuple(
        {"role": role, "content": "word " * size} for role, size in (("user", 9), ("assistant", 9), ("user", 30))
    )
    calls = (Call(1), Call(3))
    usage = context_usage(History(messages, "openai", calls, (Compaction(2, "in short"),)), counter=words)
    assert (usage.call, by_kind(usage)) == (2, {"user": 32 + 2 * EACH})
    assert usage.growth == (Growth(9 + EACH, False), Growth(32 + 2 * EACH, True))
    assert [part.text for part in usage.largest if part.message < 0] == ["in short"]


def exchange(n: int, path: str, text: str) -> list[dict[str, Any]]:
    call = {"id": f"c{n}", "type": "function", "function": {"name": "read", "arguments": json.dumps({"path": path})}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{n}", "content": text},
    ]


def test_what_says_nothing_new() -> None:
    text = "word " * 30
    messages = [
        {"role": "user", "content": "go"},
        *exchange(1, "a", "first version"),
        *exchange(2, "a", "second version"),
        *exchange(3, "b", text),
        *exchange(4, "c", text),
        {"role": "user", "content": "go"},
    ]
    usage = context_usage(History(tuple(messages), "openai"), counter=words)
    assert usage.superseded == Redundant(1, 2 + EACH)
    assert usage.repeated == Redundant(1, 30 + EACH)
    assert usage.largest[0].tokens == 30 + EACH


def test_results_are_outdated_as_the_shortener_finds_them() -> None:
    """Issue: of one history, `superseded` said that a result is outdated, and `context_usage` that none is."""
    messages = [
        {"role": "user", "content": "go"},
        *exchange(1, "src/a.py", "one"),
        *exchange(2, "src/a.py", "Error: no such file"),
        *exchange(3, "src/b.py", "three"),
    ]
    asked: list[tuple[str, dict[str, Any]]] = [
        ("view", {"offset": 3}),
        ("read", {"limit": 9}),
        ("write", {"content": ""}),
    ]
    for n, (name, arguments) in enumerate(asked):
        call = messages[1 + 2 * n]["tool_calls"][0]["function"]
        call.update(name=name, arguments=json.dumps({"path": "src/a.py", **arguments}))
    calls = [ToolCall("view", {"path": "src/a.py", "offset": 3})]
    calls += [ToolCall("read", {"path": "src/a.py", "limit": 9}, failed=True)]
    calls += [ToolCall("write", {"path": "src/a.py", "content": ""})]
    usage = context_usage(History(tuple(messages), "openai"), counter=words)
    assert superseded(calls) == [True, True, False]
    assert usage.superseded == Redundant(2, 1 + EACH + 4 + EACH)


def test_the_largest_history_is_looked_at_and_no_sidechain() -> None:
    small, large = (History(({"role": "user", "content": "word " * n},), "openai") for n in (3, 9))
    side = History(({"role": "user", "content": "word " * 90},), "openai", is_sidechain=True)
    assert context_usage(Log((small, large, side)), counter=words).history is large
    assert context_usage(side, counter=words).history is side


def test_the_counter_is_corrected_by_what_prompts_grew_by() -> None:
    usage = context_usage(read_log(planted_rows()), counter="estimator")
    assert str(usage.counter).startswith("estimator x ")
    # The sample was written with 9,400 hidden tokens.
    assert usage.not_in_file == pytest.approx(9_400, rel=0.1)


def grown(factor: int, calls: int) -> History:
    messages = tuple({"role": role, "content": "word " * 50} for _ in range(calls) for role in ("user", "assistant"))
    prompts = (Call(2 * n + 1, "m", 1_000 + factor * 2 * (50 + EACH) * n) for n in range(calls))
    return History(messages, "openai", tuple(prompts))


@pytest.mark.parametrize(
    ("history", "name"),
    [(grown(2, 8), "words x 2.000"), (grown(9, 8), "words"), (grown(2, 3), "words"), (grown(-1, 8), "words")],
)
def test_counts_that_cannot_be_compared_change_nothing(history: History, name: str) -> None:
    assert context_usage(history, counter=words).counter.name == name


def test_more_in_the_file_than_was_counted_is_not_hidden() -> None:
    messages = ({"role": "user", "content": "word " * 50}, {"role": "assistant", "content": "no"})
    usage = context_usage(History(messages, "openai", (Call(1, None, 10),)), counter=words)
    assert (usage.total, usage.not_in_file, usage.counted_by) == (10, 0, "openai")


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="log must be a Log or a History"):
        context_usage("log.jsonl")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="the log has no conversation"):
        context_usage(Log(()))


@pytest.mark.unmeasured
@pytest.mark.skipif(not SHARED.is_dir(), reason="the histories are not beside the project")
@pytest.mark.parametrize(("name", "total"), [("coding-agent-258c", 166_759), ("coding-agent-ae4a", 141_787)])
def test_real_sessions(name: str, total: int) -> None:
    usage = context_usage(read_log(SHARED / f"{name}.jsonl.xz"), counter="estimator")
    assert (usage.total, sum(row.tokens for row in usage.rows)) == (total, total)
    # The first prompts are 26,000 tokens that the files do not show; later ones have more of them.
    assert 26_000 < usage.not_in_file < total // 2
    # Not what was tried again and failed, which says something new.
    assert usage.superseded.tokens > 2_000
    assert sum(each.compacted for each in usage.growth) == 1
