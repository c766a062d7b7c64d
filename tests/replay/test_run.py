"""Replaying policies over logged sessions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pycupel import KindScorer, Policy, PriorityScorer, RecencyScorer
from pycupel.errors import InvalidArgumentError
from pycupel.messages import count_messages, lint_messages
from pycupel.messages.providers import PROVIDERS
from pycupel.policies import preset
from pycupel.replay import AS_LOGGED, NEWEST_FIRST, CacheRates, Compaction, History, Log, PolicyReplay, read_log, replay
from pycupel.replay.run import BASELINES, BASELINES_HINT, Session, caching_counter, call_indices
from pycupel.shorten import KeyLines
from tests.replay.sessions import REQUESTS, ROLLOUT, lines

SHARED = Path(__file__).parents[3] / "shared/histories"


EACH = PROVIDERS["openai"].prices.message
# A message of `chat`.
M = 10 + EACH


def words(text: str) -> int:
    return len(text.split())


def chat(turns: int, size: int = 10) -> History:
    """Each question has its answer; every message costs its words and what OpenAI adds."""
    messages = [
        {"role": role, "content": " ".join([f"{role}_{n}"] * size)}
        for n in range(turns)
        for role in ("user", "assistant")
    ]
    return History(tuple(messages), "openai")


def test_what_was_sent_before_is_not_read_again() -> None:
    """It is linted as if it were."""
    call: dict[str, Any] = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "42"}]}
    ask: dict[str, Any] = {"role": "user", "content": "Go on."}
    session = Session(History((ask, call, result, ask), "anthropic"), 100, len)
    for sent in (
        [ask],
        [ask, call],
        [ask, call, result],
        [ask, call, result],
        [ask, result],
        [ask, result, ask],
        [ask],
    ):
        findings = lint_messages(sent, "anthropic")
        assert session._is_invalid(sent) == any(each.severity == "error" for each in findings)
    assert session._is_invalid([ask, result])
    # The call is not read again, whatever it has become.
    session._is_invalid([ask, call])
    call["content"] = 5
    assert not session._is_invalid([ask, call, result])


def test_without_calls_there_is_one_before_each_reply() -> None:
    assert call_indices(chat(3)) == [1, 3, 5]
    [rollout] = read_log(lines(*ROLLOUT)).histories
    assert call_indices(rollout) == [2, 5, 7, 9]
    [responses] = read_log([json.dumps(REQUESTS["responses"])]).histories
    assert call_indices(responses) == [1, 4]


def test_what_fits_is_sent_and_reused() -> None:
    [result] = replay(chat(3), 1_000, ["chat"], counter=words)
    assert result == PolicyReplay("chat", calls=3, tokens=9 * M, reused_tokens=4 * M, largest=5 * M)
    assert (result.reused_share, result.kept_share) == (4 / 9, 1.0)
    assert result.cost == pytest.approx(4 * M * 0.1 + 5 * M * 1.25)


def test_newest_first_keeps_the_system_prompt_and_the_newest() -> None:
    history = chat(4)
    system = {"role": "system", "content": "be brief"}
    [result] = replay(History((system, *history.messages), "openai"), 37, [NEWEST_FIRST], counter=words)
    # The prompt, and two messages.
    prompt = 2 + EACH
    assert (result.calls, result.cuts, result.largest, result.reused_tokens) == (4, 3, prompt + 2 * M, prompt * 3)


def test_as_logged_is_everything_since_the_last_compaction() -> None:
    history = chat(4)
    compacted = History(history.messages, "openai", compactions=(Compaction(2, "in short"), Compaction(4, "shorter")))
    [whole] = replay(history, 35, [AS_LOGGED], counter=words)
    [cut] = replay(compacted, 35, [AS_LOGGED], counter=words)
    assert (whole.tokens, whole.cuts) == (16 * M, 0)
    assert (cut.tokens, cut.cuts) == (M + (2 + EACH + M) + (1 + EACH + M) + (1 + EACH + 3 * M), 2)


def exchange(n: int, text: str) -> list[dict[str, Any]]:
    call = {"id": f"c{n}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{n}", "content": text},
    ]


def asking(*names: str) -> dict[str, Any]:
    """A call whose arguments have these names."""
    function = {"name": "f", "arguments": json.dumps({"names": names})}
    return {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "type": "function", "function": function}]}


# --- what providers do on their side


def agent(*results: str) -> History:
    """A question, and an exchange for each result; the last call has its reply still to come."""
    system = {"role": "system", "content": "be brief"}
    messages = [system, {"role": "user", "content": "go"}]
    return History((*messages, *(each for n, text in enumerate(results) for each in exchange(n, text))), "openai")


LONG = "word " * 40


def sent_at_the_end(history: History, budget: int, name: str) -> list[str]:
    """Return the contents that a baseline sends at the last call."""
    session = Session(history, budget, caching_counter(history, words))
    keys = BASELINES[name](session, len(history.messages))  # type: ignore[index]
    return [session._message(key)[0]["content"] for key in keys]


def test_clearing_keeps_the_newest_three_results_and_short_ones() -> None:
    history = agent(LONG, "x" * 46, LONG, LONG, LONG, LONG)
    assert sent_at_the_end(history, 10_000, "clear-tool-uses") == [each["content"] for each in history.messages]
    contents = sent_at_the_end(history, 200, "clear-tool-uses")
    assert contents[3::2] == ["[result cleared]", "x" * 46, "[result cleared]", LONG, LONG, LONG]
    assert sent_at_the_end(history, 100, "clear-tool-uses") == [], "what is left is too large"


def test_clearing_in_a_message_with_several_results() -> None:
    calls = [{"type": "tool_use", "id": f"t{n}", "name": "f", "input": {}} for n in range(4)]
    results = [{"type": "tool_result", "tool_use_id": f"t{n}", "content": LONG} for n in range(4)]
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": calls},
        {"role": "user", "content": results},
    ]
    budget = count_messages(messages, "anthropic", words) - 10
    [last] = sent_at_the_end(History(tuple(messages), "anthropic"), budget, "clear-tool-uses")[2:]
    assert [each["content"] for each in last] == ["[result cleared]", LONG, LONG, LONG]  # type: ignore[index]


def test_clearing_begins_at_the_providers_trigger_even_if_more_would_fit() -> None:
    history = agent(*["word " * 30_000] * 5)
    contents = sent_at_the_end(history, 1_000_000, "clear-tool-uses")
    assert contents.count("[result cleared]") == 2


def test_truncation_drops_calls_with_their_outputs_from_the_start() -> None:
    history = agent(LONG, LONG, LONG)
    assert len(sent_at_the_end(history, 10_000, "truncation-auto")) == 8
    contents = sent_at_the_end(history, 110, "truncation-auto")
    assert contents == ["be brief", "", LONG, "", LONG]
    assert sent_at_the_end(history, 20, "truncation-auto") == []


def test_what_providers_do_is_not_rejected_and_is_shown_call_by_call() -> None:
    """Without the question, the prompt begins with a call: the provider's own doing."""
    cleared, truncated, newest = replay(
        agent(LONG, LONG, LONG, LONG), 110, ["clear-tool-uses", "truncation-auto", NEWEST_FIRST], counter=words
    )
    assert (truncated.invalid, truncated.too_large) == (0, 0)
    assert cleared.too_large > 0
    for each in (cleared, truncated, newest):
        assert sum(call.tokens for call in each.sent) == each.tokens
        assert sum(call.reused for call in each.sent) == each.reused_tokens
        assert sum(call.is_cut for call in each.sent) == each.cuts
        assert sum(call.is_refused for call in each.sent) == each.refused
        assert len(each.sent) == each.calls


def test_what_was_needed_later_is_measured_where_the_history_does_not_fit() -> None:
    filler = "word " * 30
    messages = [
        {"role": "user", "content": "go"},
        *exchange(1, "found_it_here"),
        *exchange(2, filler),
        *exchange(3, filler),
        asking("found_it_here"),
    ]
    history = History(tuple(messages), "openai")
    everything, newest = replay(history, 60, [AS_LOGGED, NEWEST_FIRST], counter=words)
    assert (everything.needed, everything.kept, everything.kept_share) == (1, 1, 1.0)
    assert (newest.needed, newest.kept, newest.kept_share) == (1, 0, 0.0)
    assert newest.invalid == 0


def test_at_a_refused_call_everything_needed_is_lost() -> None:
    """Issue: a refused call counted nothing as needed, so a policy that failed there looked better."""
    messages = [
        {"role": "user", "content": "go"},
        *exchange(1, "found_it_here"),
        *exchange(2, "large_one " + "word " * 60),
        asking("found_it_here", "large_one"),
    ]
    # The last result fits, but not with its call: one way tears them apart, and the other sends nothing.
    whole, torn, strict = replay(
        History(tuple(messages), "openai"), 70, [AS_LOGGED, NEWEST_FIRST, "chat"], counter=words
    )
    assert [(each.refused, each.needed, each.kept) for each in (whole, torn, strict)] == [
        (0, 2, 2),
        (1, 2, 0),
        (1, 2, 0),
    ]
    assert (torn.invalid, strict.too_large) == (1, 1)


def test_a_policy_with_a_shortener_shortens_results() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for n in range(12):
        call = {"id": f"c{n}", "type": "function", "function": {"name": f"f{n}", "arguments": "{}"}}
        lines = [f"line {i} of nothing in particular" for i in range(80)]
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "content": "\n".join([*lines, f"setting_{n} = {n}"])})
    messages.append(asking(*(f"setting_{n}" for n in range(12))))
    history = History(tuple(messages), "openai")
    chat = preset("chat")
    shorter, whole, alias = replay(history, 2_000, ("chat", "chat+drop", "chat+shorten"), counter=words)
    assert [each.policy for each in (shorter, whole, alias)] == ["chat", "chat+drop", "chat+shorten"]
    assert replace(alias, policy="chat") == shorter
    assert replay(history, 2_000, {"none": replace(chat, shorten="none")}, counter=words)[0].kept == whole.kept
    assert whole.kept < shorter.kept == shorter.needed
    assert shorter.invalid == shorter.too_large == 0
    assert shorter.cuts
    # The last result alone does not fit, so it is shortened in any case.
    tight, fitted = replay(
        history, 300, {"chat+drop": "chat+drop", "lines": replace(chat, shorten=KeyLines())}, counter=words
    )
    assert tight.too_large == fitted.too_large == 0
    assert tight.needed == fitted.needed


def test_what_must_stay_and_does_not_fit_is_counted() -> None:
    [result] = replay(chat(2), 5, ["chat"], counter=words)
    assert (result.calls, result.too_large, result.tokens, result.reused_share) == (2, 2, 0, 0.0)


def test_an_empty_prompt_cannot_be_sent() -> None:
    """Nor can a system prompt alone."""
    system = {"role": "system", "content": "be brief"}
    history = History((system, *chat(2).messages), "openai")
    for budget in (0, M):
        [result] = replay(history, budget, [NEWEST_FIRST], counter=words)
        assert (result.calls, result.too_large, result.tokens) == (2, 2, 0)


def test_policies_by_label_and_alone() -> None:
    policy = Policy(RecencyScorer(), name="Recent")
    results = replay(chat(2), 100, ["chat", policy, Policy(RecencyScorer())], counter=words)
    assert [result.policy for result in results] == ["chat", "Recent", "policy"]
    assert [each.policy for each in replay(chat(2), 100, {"mine": policy, "yours": "rag"}, counter=words)] == [
        "mine",
        "yours",
    ]


def test_policies_of_one_name_are_numbered() -> None:
    policies: list[Any] = [Policy(RecencyScorer()), Policy(PriorityScorer()), "chat", "chat", Policy(KindScorer())]
    results = replay(chat(2), 100, policies, counter=words)
    assert [result.policy for result in results] == ["policy", "policy 2", "chat", "chat 2", "policy 3"]


def test_baselines_and_budgets_are_read_as_everywhere() -> None:
    class Tokens(int):
        pass

    [usual] = replay(chat(3), 20, ["newest-first"], counter=words)
    [other] = replay(chat(3), Tokens(20), {"newest-first": "Newest_First"}, counter=words)
    assert other == usual
    indexed: Any = type("Indexed", (), {"__index__": lambda self: 20})()
    assert replay(chat(3), indexed, ["newest-first"], counter=words) == (usual,)


def test_all_histories_of_a_log_add_up() -> None:
    log = Log((chat(2), chat(3)))
    steps: list[tuple[int, int]] = []
    [both] = replay(log, 50, ["chat"], counter=words, progress=lambda done, total: steps.append((done, total)))
    [one], [other] = (replay(history, 50, ["chat"], counter=words) for history in log.histories)
    assert both == one + other
    assert steps == [(n, 5) for n in range(1, 6)]


def test_rates() -> None:
    [result] = replay(chat(2), 100, ["chat"], counter=words, rates=CacheRates(read=0.5, write=1.0))
    assert result.cost == M * 0.5 + 3 * M


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="log must be a Log or a History"):
        replay("log.jsonl", 100)  # type: ignore[call-overload]
    with pytest.raises(InvalidArgumentError, match="at least one policy"):
        replay(chat(1), 100, [])
    with pytest.raises(InvalidArgumentError, match="unknown preset 'chatt'") as caught:
        replay(chat(1), 100, ["chatt"])  # type: ignore[list-item]
    assert caught.value.__notes__ == [BASELINES_HINT]
    with pytest.raises(TypeError, match="budget"):
        replay(chat(1), "100", ["chat"])  # type: ignore[call-overload]


@pytest.mark.unmeasured
@pytest.mark.skipif(not SHARED.is_dir(), reason="the histories are not beside the project")
def test_real_sessions_are_never_invalid() -> None:
    log = read_log(SHARED / "coding-agent-258c.jsonl.xz")
    session = log.histories[0]
    every_tenth = History(session.messages, session.provider, session.calls[::10], session.compactions)
    usual, chat_policy = replay(every_tenth, 40_000, counter="estimator")
    assert (chat_policy.calls, chat_policy.invalid, chat_policy.too_large) == (16, 0, 0)
    assert usual.invalid > 8
    assert chat_policy.reused_share > usual.reused_share
    assert 0 < chat_policy.kept <= chat_policy.needed
    assert replay(every_tenth, 40_000, ["chat"], counter="estimator") == (chat_policy,)
