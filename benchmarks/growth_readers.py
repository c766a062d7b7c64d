"""The worst known input of each reader, at any size."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.growth_strategies import NOW, Case, Work
from pycupel import ContextItem, KindScorer, Pipeline, Policy, PriorityScorer, SelectionReport, wire
from pycupel.batch import select_request
from pycupel.errors import DocumentError
from pycupel.messages import lint_messages, select_messages
from pycupel.messages.options import ProviderName
from pycupel.policies import dump_policy, parse_policy
from pycupel.policies.files import PolicyFormat
from pycupel.replay import read_log

Message = dict[str, Any]


def policy_text(form: PolicyFormat) -> Callable[[int], Work]:
    """N weights of kinds, which are as many keys."""

    def prepare(n: int) -> Work:
        scorer = KindScorer({f"kind {i}": float(i) for i in range(n)})
        return partial(parse_policy, dump_policy(Policy(scorer), form), form)

    return prepare


def refused(work: Work) -> Work:
    def attempt() -> object:
        try:
            return work()
        except DocumentError as error:
            return error

    return attempt


def duplicate_keys(n: int) -> Work:
    members = ", ".join(f'"k{i}": 1' for i in range(n))
    return refused(partial(parse_policy, f'{{{members}, "k{n - 1}": 2}}'))


def dotted_keys(n: int) -> Work:
    keys = "\n".join(f"k{i}.{'.'.join('a' * 60)} = 1" for i in range(n))
    return partial(parse_policy, f"scorers = [{{type = 'recency'}}]\n{keys}", "toml")


def aliases(n: int) -> Work:
    lines = ["a0: &a0 [1]", *(f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, n))]
    return refused(partial(parse_policy, "\n".join(lines), "yaml"))


def item_lines(n: int) -> Work:
    items = [ContextItem(f"{i}", 1, tags=[f"t{i}"], metadata={"a": {"b": [i]}}, timestamp=NOW) for i in range(n)]
    lines = list(map(wire.dumps, items))
    return lambda: list(wire.read_items(lines))


def report_text(n: int) -> Work:
    items = [ContextItem(f"{i}", 1, priority=i) for i in range(n)]
    text = wire.dumps(Pipeline(PriorityScorer()).dry_run(items, n // 2))
    return partial(wire.loads, SelectionReport, text)


def requests(n: int) -> Work:
    """Conversations that begin alike."""
    system = {"role": "system", "content": "Be brief."}
    lines = [json.dumps({"messages": [system, {"role": "user", "content": f"{i}"}]}) for i in range(n)]
    return partial(read_log, lines)


def transcript(n: int) -> Work:
    row = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "x"}}
    return partial(read_log, [json.dumps({**row, "uuid": f"{i}", "isCompactSummary": i % 2 == 0}) for i in range(n)])


def batch_request(n: int) -> Work:
    items = [{"content": f"{i}", "tokens": 1, "metadata": {"a": {"b": [i]}}} for i in range(n)]
    return partial(select_request, {"id": "r", "items": items, "budget": n // 2}, "chat")


def linting(provider: ProviderName, make: Callable[[int], list[Message]]) -> Callable[[int], Work]:
    return lambda n: partial(lint_messages, make(n), provider)


def trimming(provider: ProviderName, make: Callable[[int], list[Message]], **options: Any) -> Callable[[int], Work]:
    """A window for a tenth of the history, so that it was cut many times."""

    def prepare(n: int) -> Work:
        messages = make(n)
        window = sum(len(json.dumps(message)) for message in messages) // 10
        return partial(select_messages, messages, window, provider=provider, counter=len, **options)

    return prepare


def long_results(n: int) -> list[Message]:
    """Results that all say something new."""
    messages = [HELLO]
    for i in range(n // 2):
        lines = "\n".join(f"value_{i}_{j} = {j}" for j in range(40))
        messages += used(i), said("user", [{**result(i), "content": lines}])
    return messages


def said(role: str, content: Any, **more: Any) -> Message:
    return {"role": role, "content": content, **more}


def called(ids: list[str]) -> Message:
    function = {"name": "f", "arguments": "{}"}
    return said("assistant", None, tool_calls=[{"id": each, "type": "function", "function": function} for each in ids])


def used(i: int) -> Message:
    return said("assistant", [{"type": "tool_use", "id": f"t{i}", "name": "f", "input": {}}])


def result(i: int) -> Message:
    return {"type": "tool_result", "tool_use_id": f"t{i}", "content": "done"}


def ids(n: int) -> list[str]:
    return [f"c{i}" for i in range(n)]


HELLO = said("user", "Hello")
REMINDER = {"type": "text", "text": "Remember the plan."}
BROKEN: dict[str, tuple[ProviderName, Callable[[int], list[Message]]]] = {
    "N orphaned results": ("anthropic", lambda n: [said("user", [result(i) for i in range(n)])]),
    "one result N times": ("anthropic", lambda n: [HELLO, used(0), said("user", [result(0)] * n)]),
    "N unanswered calls": ("openai", lambda n: [HELLO, called(ids(n)), HELLO]),
    "N calls with one id": ("openai", lambda n: [HELLO, called(["c"] * n), said("tool", "done", tool_call_id="c")]),
    "Gemini, N calls, one name": (
        "gemini",
        lambda n: [
            {"role": "user", "parts": [{"text": "Hello"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}] * n},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}] * (n // 2)},
        ],
    ),
    "Responses, N open calls": (
        "responses",
        lambda n: [
            {"type": "function_call", "call_id": f"c{i}", "name": "f", "arguments": "{}", "id": f"fc_{i}"}
            for i in range(n)
        ],
    ),
}
VALID: dict[str, tuple[ProviderName, Callable[[int], list[Message]]]] = {
    "one exchange of N calls": (
        "openai",
        lambda n: [HELLO, called(ids(n)), *(said("tool", "done", tool_call_id=each) for each in ids(n)), HELLO],
    ),
    "N/2 results with reminders": (
        "anthropic",
        lambda n: [
            HELLO,
            *(each for i in range(n // 2) for each in (used(i), said("user", [result(i), REMINDER]))),
        ],
    ),
    "N/2 system messages": (
        "openai",
        lambda n: [each for _ in range(n // 2) for each in (said("system", "Be brief."), HELLO)],
    ),
}
CASES = (
    # From 3,000 on, because the names of fewer kinds are remembered from call to call.
    Case("policy in JSON, N kinds", 3_000, policy_text("json")),
    Case("policy in JSON, a duplicate key", 1_000, duplicate_keys),
    Case("policy in TOML, N kinds", 1_000, policy_text("toml")),
    Case("policy in TOML, 60 dots in a key", 100, dotted_keys),
    Case("policy in YAML, N kinds", 300, policy_text("yaml")),
    Case("policy in YAML, N aliases", 300, aliases),
    Case("items in JSON lines", 1_000, item_lines),
    Case("report in JSON", 1_000, report_text),
    Case("log of N requests", 1_000, requests),
    Case("transcript with N/2 summaries", 1_000, transcript),
    Case("batch request, N items", 1_000, batch_request),
    *(Case(f"lint, {name}", 1_000, linting(*broken)) for name, broken in BROKEN.items()),
    *(Case(f"trim, {name}", 1_000, trimming(*valid)) for name, valid in VALID.items()),
    Case("trim, N/2 results shortened", 100, trimming("anthropic", long_results, shorten="results")),
)
