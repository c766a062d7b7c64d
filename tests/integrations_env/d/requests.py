"""Conversations of an agent in requests that have the shape of a provider: Anthropic's Messages, OpenAI's Responses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from tests.integrations_env.sessions import SYSTEM

__all__ = ["SHAPES", "converse"]

SHAPES = ("anthropic", "responses")
_SCHEMA = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
_TOOL = {"name": "look_up", "description": "Look something up."}
Send = Callable[..., Awaitable[dict[str, Any]]]
"""Sends the arguments of a request, and returns the response."""


async def converse(shape: str, send: Send, turns: int, result: str = "found " * 40) -> list[dict[str, Any]]:
    """Ask, answer the calls, and so on; return the whole history, which nobody else has changed."""
    history: list[dict[str, Any]] = []
    ask = {"anthropic": _ask_messages, "responses": _ask_responses}[shape]
    for turn in range(turns):
        history.append({"role": "user", "content": f"Question {turn} about the log"})
        while True:
            before = [*history]
            calls = await ask(send, history, result)
            assert history[: len(before)] == before
            if not calls:
                break
    return history


async def _ask_messages(send: Send, history: list[dict[str, Any]], result: str) -> int:
    tool = {**_TOOL, "input_schema": _SCHEMA}
    response = await send(messages=history, system=SYSTEM, tools=[tool], max_tokens=1_000)
    history.append({"role": "assistant", "content": response["content"]})
    calls = [each["id"] for each in response["content"] if each["type"] == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": each, "content": result} for each in calls]
    if results:
        history.append({"role": "user", "content": results})
    return len(calls)


async def _ask_responses(send: Send, history: list[dict[str, Any]], result: str) -> int:
    tool = {**_TOOL, "type": "function", "parameters": _SCHEMA}
    response = await send(input=history, instructions=SYSTEM, tools=[tool])
    history.extend(response["output"])
    calls = [each["call_id"] for each in response["output"] if each["type"] == "function_call"]
    history.extend({"type": "function_call_output", "call_id": each, "output": result} for each in calls)
    return len(calls)
