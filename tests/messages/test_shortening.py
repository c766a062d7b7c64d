"""Results become shorter before their exchange is dropped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pycupel import ContextItem
from pycupel.errors import InvalidArgumentError, UnitTooLargeError
from pycupel.messages import MessageSelection, lint_messages, select_messages
from pycupel.messages.result import ExplainedSelection
from pycupel.protocols import ShortenContext
from pycupel.replay import read_log
from pycupel.shorten import make_version
from pycupel.wire import dumps, loads

PROVIDERS = ("openai", "responses", "anthropic", "gemini", "mistral")


def log(number: int, lines: int = 40) -> str:
    plain = [f"line {i} says nothing of interest to anybody here" for i in range(lines)]
    plain[lines // 2] = f"setting_{number}: src/app/module_{number}.py"
    return "\n".join(plain) + "\n"


def exchange(provider: str, number: int, result: str) -> list[Any]:
    name, call_id = "read_file", f"call{number:05d}"
    arguments = {"path": f"log_{number}.txt"}
    if provider in ("openai", "mistral"):
        call = {
            "id": call_id,
            "type": "function",
            "function": {"name": name, "arguments": str(arguments).replace("'", '"')},
        }
        return [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call_id, "content": result},
        ]
    if provider == "responses":
        return [
            {"type": "function_call", "call_id": call_id, "name": name, "arguments": str(arguments).replace("'", '"')},
            {"type": "function_call_output", "call_id": call_id, "output": result},
        ]
    if provider == "anthropic":
        return [
            {"role": "assistant", "content": [{"type": "tool_use", "id": call_id, "name": name, "input": arguments}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": result}]},
        ]
    return [
        {"role": "model", "parts": [{"functionCall": {"name": name, "args": arguments}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": name, "response": {"result": result}}}]},
    ]


def question(provider: str, text: str) -> Any:
    return {"role": "user", "parts": [{"text": text}]} if provider == "gemini" else {"role": "user", "content": text}


def history(provider: str, results: int) -> list[Any]:
    messages = [question(provider, "What do the logs say?")]
    for number in range(results):
        messages += exchange(provider, number, log(number))
    return messages


def select(messages: list[Any], budget: int, provider: str, **options: Any) -> MessageSelection:
    return select_messages(messages, budget, provider=provider, counter=lambda text: len(text) // 4, **options)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_old_results_are_shortened_before_they_are_dropped(provider: str) -> None:
    messages = history(provider, 20)
    plain = select(messages, 4_000, provider)
    shorter = select(messages, 4_000, provider, shorten="results")
    assert len(shorter.messages) > len(plain.messages)
    assert shorter.shortened
    assert not lint_messages(shorter.messages, provider)  # type: ignore[arg-type]
    assert all(each.tokens < each.original_tokens for each in shorter.shortened)
    changed = {each.index for each in shorter.shortened}
    for n, message in zip(shorter.kept, shorter.messages, strict=True):
        assert (message is messages[n]) is (n not in changed)
    assert shorter.total_tokens <= 4_000
    text = str(shorter.messages)
    assert sum(f"setting_{number}" in text for number in range(20)) > sum(
        f"setting_{number}" in str(plain.messages) for number in range(20)
    )


@pytest.mark.parametrize("provider", PROVIDERS)
def test_versions_are_the_same_in_later_calls_and_never_longer(provider: str) -> None:
    messages = history(provider, 24)
    previous: MessageSelection | None = None
    before: dict[int, Any] = {}
    for end in range(3, len(messages) + 1, 2):
        stateless = select(messages[:end], 3_000, provider, shorten="results")
        chained = select(messages[:end], 3_000, provider, shorten="results", previous=previous)
        assert chained.messages == stateless.messages
        now = dict(zip(stateless.kept, stateless.messages, strict=True))
        sizes = {each.index: each.tokens for each in stateless.shortened}
        for n, message in before.items():
            if n in now and stateless.cut is None:
                assert now[n] == message
        assert set(sizes) <= set(now)
        previous, before = chained, now


def test_excluded_tools_and_small_results_stay() -> None:
    messages = history("openai", 20)
    assert select(messages, 4_000, "openai", shorten="results", exclude=["read_file"]).shortened == ()


def test_a_result_that_must_stay_and_is_too_large_is_shortened() -> None:
    messages = [question("openai", "Read it."), *exchange("openai", 1, log(1, 2_000))]
    with pytest.raises(UnitTooLargeError):
        select(messages, 2_000, "openai")
    selection = select(messages, 2_000, "openai", too_large="shorten")
    assert len(selection.messages) == 3
    assert selection.total_tokens <= 2_000
    assert "setting_1: src/app/module_1.py" in str(selection.messages)
    assert selection.shortened[0].index == 2


def test_errors_come_last_and_pictures_first() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "x"}}
    messages = history("anthropic", 20)
    messages[2]["content"][0]["content"] = [{"type": "text", "text": "a picture"}, picture]
    messages[4]["content"][0]["is_error"] = True
    selection = select(messages, 6_000, "anthropic", shorten="results")
    assert not lint_messages(selection.messages, "anthropic")
    by_index = dict(zip(selection.kept, selection.messages, strict=True))
    assert 4 in by_index
    assert "'type': 'image'" not in str(selection.messages)


def test_what_was_shortened_survives_json() -> None:
    selection = select(history("openai", 20), 4_000, "openai", shorten="results", explain=True)
    assert selection.report is not None
    again = loads(ExplainedSelection, dumps(selection))
    assert again.shortened == selection.shortened
    reasons = {tuple(each.item.metadata["pycupel.unit"]): str(each.reason) for each in again.report.included}
    changed = {each.index for each in selection.shortened}
    assert {unit for unit, reason in reasons.items() if reason == "Shortened"} == {
        unit for unit in reasons if changed.intersection(unit)
    }


class Halves:
    def shorten(self, item: ContextItem, context: ShortenContext, /) -> list[ContextItem]:
        half = item.content[: len(item.content) // 2]
        return [make_version(item, half, context.count(item, half), "Halves")]


def test_a_maker_of_ones_own() -> None:
    selection = select(history("openai", 20), 6_000, "openai", shorten=Halves())
    assert selection.shortened


def test_everything_that_fits_stays_as_it_is() -> None:
    messages = history("openai", 5)
    selection = select(messages, 100_000, "openai", shorten="results", too_large="shorten")
    assert selection.shortened == ()
    assert all(now is then for now, then in zip(selection.messages, messages, strict=True))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"shorten": "result"}, InvalidArgumentError),
        ({"shorten": 3}, TypeError),
        ({"keep": -1}, InvalidArgumentError),
        ({"exclude": [3]}, TypeError),
    ],
)
def test_options_are_checked(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match=next(iter(options))):
        select(history("openai", 2), 1_000, "openai", **options)


def test_what_must_stay_and_cannot_be_shortened_is_an_error() -> None:
    with pytest.raises(UnitTooLargeError):
        select([question("openai", "x" * 9_000)], 1_000, "openai", too_large="shorten")


HISTORIES = sorted((Path(__file__).parents[3] / "shared/histories").glob("*.jsonl.xz"))


@pytest.mark.skipif(not HISTORIES, reason="there are no real histories beside the project")
@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.name)
def test_real_histories_are_valid_at_ten_budgets(path: Path) -> None:
    for log in read_log(path).histories[:5]:
        messages, provider = list(log.messages), log.provider
        whole = select(messages, 10**9, provider).total_tokens
        for tenth in range(1, 11):
            budget = whole * tenth // 10
            try:
                selection = select(messages, budget, provider, shorten="results", too_large="shorten")
            except UnitTooLargeError:
                continue
            assert selection.total_tokens <= budget
            assert not [each for each in lint_messages(selection.messages, provider) if each.severity == "error"]
