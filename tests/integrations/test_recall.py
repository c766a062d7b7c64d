"""How hooks give shortened results back, and trim messages that have a provider's shape, without any library."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest

from pycupel.integrations._history import HistoryHook, HistorySelector, ModelInUse, Request
from pycupel.messages import MessageSelection, Shorten, recall_tool
from pycupel.messages.options import ResolvedProviderName
from pycupel.messages.providers._writing import Call, MessagePart, text
from tests.integrations.test_history import count_words

RESULTS = ["\n".join(f"row {n} {m} holds value_{n}_{m}" for m in range(40)) for n in range(6)]
# Results of Responses are read from items, not written.
PROVIDERS = sorted({*get_args(ResolvedProviderName)} - {"responses"})


class Hook(HistoryHook):
    """A hook of no framework."""

    _framework = "test"

    def sent(self, parts: list[MessagePart], **request: Any) -> list[str]:
        given = Request(messages=parts, parts=[[each] for each in parts], with_texts=_with_text, **request)
        return [str(message.blocks) for message, numbers in self._selector.select(given) if numbers]

    def answer(self, arguments: dict[str, Any], parts: list[MessagePart], **request: Any) -> str:
        return self._selector.recall(arguments, parts, **request)

    def definition(self) -> dict[str, Any] | None:
        return self._recall_definition()


def _with_text(part: MessagePart, texts: Any) -> MessagePart:
    return part._replace(blocks=[text(texts[0])])


def session(*, ids: bool) -> list[MessagePart]:
    parts = [MessagePart("user", [text("Look it all up.")])]
    for n, result in enumerate(RESULTS):
        call_id = f"call0000{n}" if ids else None
        parts.append(MessagePart("assistant", calls=[Call(call_id, "look_up", {"n": n})]))
        parts.append(MessagePart("tool", [text(result)], answers=call_id, tool="look_up"))
    return parts


def hook_for(provider: Any, **options: Any) -> Hook:
    return Hook(1_000, counter=count_words, provider=provider, shorten=Shorten(**{"recall": True, **options}))


@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_handle_gives_back_what_it_stands_for(provider: Any, ids: bool) -> None:
    """Whoever gets the messages, and whether their calls have ids or not."""
    hook, parts = hook_for(provider), session(ids=ids)
    found = [re.search(r'recall_result\(\\*"([^"\\]+)\\*"\)', each) for each in hook.sent(parts)]
    handles = [each for each in found if each is not None]
    assert handles
    for each in handles:
        answer = hook.answer({"id": each[1]}, parts)
        assert answer in RESULTS
        # A shortened result says where it begins.
        assert "left out" in each.string or answer.splitlines()[0] in each.string


def test_a_handle_of_items() -> None:
    items: list[dict[str, Any]] = []
    for n, result in enumerate(RESULTS):
        items.append({"type": "function_call", "call_id": f"c{n}", "name": "look_up", "arguments": "{}"})
        items.append({"type": "function_call_output", "call_id": f"c{n}", "output": result})
    assert hook_for("auto").answer({"id": "c3", "lines": "2"}, [], items=items) == RESULTS[3].splitlines()[1]


def test_what_is_wrong_is_said_and_not_raised() -> None:
    hook, parts = hook_for("openai"), session(ids=True)
    assert "there are none" in hook.answer({"id": "x"}, [])
    assert "no result has the id 'x'; the newest ones are call00000 (look_up" in hook.answer({"id": "x"}, parts)
    assert "no result has the id ''" in hook.answer({}, parts)
    assert "id must be a str" in hook.answer({"id": 7}, parts)
    assert "lines must be a range" in hook.answer({"id": "call00000", "lines": "all"}, parts)


def test_at_most_a_quarter_of_the_window_is_given_back() -> None:
    parts = session(ids=True)
    hook = Hook(400, counter=count_words, shorten=Shorten(recall=True))
    answer = hook.answer({"id": "call00000"}, parts)
    assert "lines 17-40 are left" in answer
    # The model of a request may have another window than the one that checks the options.
    shares = Hook("25%", counter=count_words, shorten=Shorten(recall=True))
    shares.sent(parts, model=ModelInUse("openai", "gpt-4o"))
    assert shares.answer({"id": "call00000"}, parts) == RESULTS[0]


@pytest.mark.parametrize(("recall", "name"), [(True, "recall_result"), ("give_back", "give_back")])
def test_the_definition_of_the_tool(recall: Any, name: str) -> None:
    assert hook_for("auto", recall=recall).definition() == recall_tool("openai", name)["function"]
    assert hook_for("auto", recall=False).definition() is None
    assert Hook(1_000).definition() is None


def test_messages_that_have_the_shape_of_the_provider_are_trimmed_as_they_are() -> None:
    seen: list[MessageSelection] = []
    old = [{"role": role, "content": f"{role} " * 60} for role in ("user", "assistant") * 4]
    messages = [*old, {"role": "user", "content": "Well?"}]
    selector = HistorySelector(
        200, {"counter": count_words, "on_selection": seen.append, "pin": lambda each: each is messages[2]}
    )
    beside: dict[str, Any] = {"model": ModelInUse("anthropic", "claude-x"), "tools": (), "conversation": "c"}
    for _ in range(2):
        sent = selector.send_as_given(messages, "anthropic", system="Be brief.", **beside)
    assert sent[-1] is messages[-1]
    assert messages[2] in sent
    assert len(sent) < len(messages)
    assert [each.stable_prefix_tokens > 0 for each in seen] == [False, True]
    assert seen[0].usage.system > 0
    plain = HistorySelector(200, {"counter": count_words})
    assert plain.send_as_given(messages[-1:], "openai", system=None, **beside) == messages[-1:]
