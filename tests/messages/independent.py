"""What each provider rejects, written down once more: plain loops over dicts, which share nothing with the library.

Only the shapes of `tests.messages.histories` are known here. `rejected(provider, messages)` says what is wrong, or
None. Calls at the end may be open, because their results may still be appended; calls before what the user said last
may not. An item of Responses without a type is a message, as its SDK has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.messages.mistral_oracle import rejected_by_mistral

__all__ = ["rejected", "rejected_as_sent", "torn"]

Message = dict[str, Any]


def rejected(provider: str, messages: Sequence[Message]) -> str | None:
    if provider in ("responses", "interactions"):
        return _items(provider, messages)
    return _turns(provider, messages) or (_misplaced(messages) if provider == "anthropic" else None)


def _calls_and_results(provider: str, message: Message) -> tuple[list[str], list[str]]:
    """The ids, or for Gemini the names, of calls and results in a message."""
    if provider in ("openai", "mistral"):
        calls = [call["id"] for call in message.get("tool_calls") or ()]
        return calls, [message["tool_call_id"]] if message["role"] == "tool" else []
    if provider == "gemini":
        parts = message["parts"]
        return (
            [part["function_call"]["name"] for part in parts if "function_call" in part],
            [part["function_response"]["name"] for part in parts if "function_response" in part],
        )
    blocks = message["content"] if isinstance(message["content"], list) else []
    if provider == "converse":
        return (
            [block["toolUse"]["toolUseId"] for block in blocks if "toolUse" in block],
            [block["toolResult"]["toolUseId"] for block in blocks if "toolResult" in block],
        )
    return (
        [block["id"] for block in blocks if block["type"] == "tool_use"],
        [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"],
    )


def _turns(provider: str, messages: Sequence[Message]) -> str | None:
    """Results directly follow their calls: in one message, or in several for OpenAI and Mistral."""
    waiting: list[str] = []
    used: set[str] = set()
    before = ""
    calls_before = False
    for n, message in enumerate(messages):
        calls, results = _calls_and_results(provider, message)
        for each in results:
            if each not in waiting:
                return f"messages[{n}]: nobody asked for {each}"
            waiting.remove(each)
        if waiting and not results:
            return f"messages[{n}]: {waiting[0]} is not answered"
        if results and not calls_before and provider in ("gemini", "converse"):
            return f"messages[{n}]: the results are not directly behind their calls"
        calls_before = bool(calls)
        if len(set(calls)) < len(calls) and provider != "gemini":
            return f"messages[{n}]: an id is used twice"
        own = _own_rules(provider, message, calls, used, before)
        if own:
            return f"messages[{n}]: {own}"
        waiting = calls or waiting
        role = message["role"]
        is_first = role not in ("user", "system") and not before and not _has_summary(message)
        if provider in ("anthropic", "gemini", "converse") and is_first:
            return f"messages[{n}]: the user does not speak first"
        if provider == "converse" and role == before:
            return f"messages[{n}]: {role} speaks twice"
        before = before if role == "system" else role
    return None


def _misplaced(messages: Sequence[Message]) -> str | None:
    """Anthropic's system messages, behind the first ones, come after the user's and before the assistant's, if any."""
    roles = [each["role"] for each in messages]
    for n, role in enumerate(roles):
        before = [each for each in roles[:n] if each != "system"]
        after = [each for each in roles[n:] if each != "system"]
        if role == "system" and before and (before[-1] != "user" or after[:1] == ["user"]):
            return f"messages[{n}]: the system speaks between others than the user and the assistant"
    return None


def _has_summary(message: Message) -> bool:
    """Whether a message has a compaction, in which the user has spoken, too."""
    blocks = message.get("content") or ()
    return any(block.get("type") == "compaction" and block["content"] for block in blocks if isinstance(block, dict))


def _own_rules(provider: str, message: Message, calls: list[str], used: set[str], before: str) -> str:
    """What some providers want of a message besides."""
    if provider == "gemini" and calls and before == "model":
        return "the call does not follow the user or a result"
    if provider in ("anthropic", "converse"):
        if not used.isdisjoint(calls):
            return "an id is used again"
        used.update(calls)
        blocks = message["content"] if isinstance(message["content"], list) else [{"text": message["content"]}]
        if any(not str(block["text"]).strip() for block in blocks if "text" in block):
            return "a text is empty"
        is_result = [block.get("type") == "tool_result" for block in blocks]
        if is_result != sorted(is_result, reverse=True):
            return "something stands before the results"
    return ""


def _items(provider: str, messages: Sequence[Message]) -> str | None:
    """Results come anywhere after their calls, all calls but the last are answered, and reasoning leads somewhere."""
    asked: dict[str, int] = {}
    last_spoken = -1
    for n, item in enumerate(messages):
        kind = item.get("type")
        if kind == "function_call":
            own = item["call_id" if provider == "responses" else "id"]
            if own in asked:
                return f"messages[{n}]: {own} is used twice"
            asked[own] = n
        elif kind in ("function_call_output", "function_result"):
            if item["call_id"] not in asked:
                return f"messages[{n}]: nobody asked for {item['call_id']}"
            if asked[item["call_id"]] < 0:
                return f"messages[{n}]: {item['call_id']} is answered twice"
            asked[item["call_id"]] = -1
        if kind in ("user_input", "message", None) and item.get("role") != "assistant":
            last_spoken = n
        if kind == "reasoning" and _is_the_users([each for each in messages[n + 1 :] if each.get("type") != kind][:1]):
            return f"messages[{n}]: the reasoning leads to nothing"
    open_calls = [each for each, place in asked.items() if 0 <= place < last_spoken]
    return f"{open_calls[0]} is not answered" if open_calls else None


def _is_the_users(items: Sequence[Message]) -> bool:
    return (
        not items
        or items[0].get("role") in ("user", "developer", "system")
        or str(items[0].get("type")).endswith("_output")
    )


def torn(provider: str, messages: Sequence[Message], kept: Sequence[int]) -> str | None:
    """What a selection of these messages has without the thoughts that led to it, which the provider wants as well."""
    if provider == "responses":
        lost = [n for n in kept if n and _is_output(messages[n]) and _thinks(messages[n - 1]) and n - 1 not in kept]
        return f"messages[{lost[0]}] has lost its reasoning" if lost else None
    if provider != "anthropic" or any(map(_has_summary, messages)):
        return None
    turns = [_last_turn(each) for each in (messages, [messages[n] for n in kept])]
    starts = [next((each for each in turn if each["role"] == "assistant"), {}) for turn in turns]
    uses = any(_calls_and_results(provider, each)[0] for each in turns[1])
    return "the last turn has lost its thinking" if uses and _thinks(starts[0]) and not _thinks(starts[1]) else None


def _is_output(item: Message) -> bool:
    return item.get("type") in ("reasoning", "function_call") or item.get("role") == "assistant"


def _thinks(message: Message) -> bool:
    first = [message, *(message["content"] if isinstance(message.get("content"), list) else ())]
    return any(each.get("type") in ("reasoning", "thinking") for each in first[:2])


def _last_turn(messages: Sequence[Message]) -> Sequence[Message]:
    """What follows the last message of the user that is not only results."""
    questions = [n for n, each in enumerate(messages) if each["role"] == "user" and "tool_result" not in str(each)]
    return messages[questions[-1] :] if questions else messages


def rejected_as_sent(provider: str, messages: Sequence[Message]) -> str | None:
    """Also ask Mistral's own validator, with what has to follow before it is asked."""
    found = rejected(provider, messages)
    if found is None and provider == "mistral" and messages:
        callers = [n for n, message in enumerate(messages) if message.get("tool_calls")]
        last = callers[-1] if callers else len(messages)
        answered = [message.get("tool_call_id") for message in messages[last:]]
        calls = [call["id"] for message in messages[last : last + 1] for call in message["tool_calls"]]
        missing = [{"role": "tool", "tool_call_id": each, "content": "x"} for each in calls if each not in answered]
        return rejected_by_mistral([*messages, *missing, {"role": "user", "content": "continue"}], serving=True)
    return found
