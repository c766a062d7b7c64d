"""A server on the loopback address that answers like Anthropic and OpenAI, and remembers what it was sent.

The frameworks' real models talk to it, so what is checked is what really would have been sent. To each question it
answers with rounds of tool calls, of which the first starts with thoughts, and then with a text.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count, pairwise
from threading import Thread
from typing import Any

from pycupel.messages import lint_messages
from pycupel.messages.options import ProviderName
from pycupel.tokens import count_messages
from tests.integrations_env.agents import renumbered
from tests.integrations_env.sessions import count_words

__all__ = ["STEPS", "Ask", "Provider", "check_at_once", "running"]

STEPS = 2
Ask = Callable[[str, str], Awaitable[object]]
"""Asks the agent of a conversation, by its name."""
SIGNATURE = "c2lnbmVk" * 8


class Provider:
    """What a server was sent: the bodies of all requests. To each question there are `steps` rounds of calls."""

    def __init__(self, url: str, steps: int) -> None:
        self.url = url
        self._steps = steps
        self.sent: list[dict[str, Any]] = []
        self._ids = count()

    def check(self, provider: ProviderName, budget: int, *, requests: int, whole: int) -> None:
        """No request would have been refused, none was too large, and the last was cut from `whole` messages."""
        assert len(self.sent) == requests
        for body in self.sent:
            messages = body["input" if provider == "responses" else "messages"]
            assert {each.rule for each in lint_messages(messages, provider)} == set()
            tools, system = body.get("tools"), body.get("system", body.get("instructions"))
            size = count_messages(messages, provider, count_words, system=system, tools=tools)
            assert size <= budget
        assert len(messages) < whole

    def answer(self, path: str, body: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        """What to send, as the events of a stream; the first one alone if it is not asked for."""
        self.sent.append(body)
        if path.endswith("/messages"):
            return _anthropic_events(self._anthropic(body["messages"][-1]))
        if path.endswith("/responses"):
            return _responses_events(self._responses(body["input"][-1]))
        return _openai_events(self._openai(body["messages"][-1]))

    def _next_call(self, step: int) -> str:
        return f"{next(self._ids):06d}s{step:02d}"

    def _anthropic(self, last: dict[str, Any]) -> dict[str, Any]:
        results = [each for each in last["content"] if isinstance(each, dict) and each["type"] == "tool_result"]
        step = _step_after(results[-1]["tool_use_id"]) if results else 0
        content: list[dict[str, Any]] = [{"type": "text", "text": "Done, " + "as far as I can tell. " * 5}]
        if step < self._steps:
            calls = [self._next_call(step) for _ in range(1 + (step == 0))]
            content = [{"type": "tool_use", "id": each, "name": "look_up", "input": {"key": "k"}} for each in calls]
        if step == 0:
            content.insert(0, {"type": "thinking", "thinking": "Let me look that up first.", "signature": SIGNATURE})
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-haiku-4-5",
            "content": content,
            "stop_reason": "tool_use" if step < self._steps else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }

    def _openai(self, last: dict[str, Any]) -> dict[str, Any]:
        step = _step_after(last["tool_call_id"]) if last["role"] == "tool" else 0
        message: dict[str, Any] = {"role": "assistant", "content": "Done, " + "as far as I can tell. " * 5}
        if step < self._steps:
            function = {"name": "look_up", "arguments": '{"key": "k"}'}
            ids = [self._next_call(step) for _ in range(1 + (step == 0))]
            calls = [{"id": each, "type": "function", "function": function} for each in ids]
            message = {"role": "assistant", "content": None, "tool_calls": calls}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if step < self._steps else "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return {
            "id": "c",
            "object": "chat.completion",
            "created": 0,
            "model": "gpt-4o",
            "choices": [choice],
            "usage": usage,
        }

    def _responses(self, last: dict[str, Any]) -> dict[str, Any]:
        step = _step_after(last["call_id"]) if last.get("type") == "function_call_output" else 0
        part = {"type": "output_text", "text": "Done, " + "as far as I can tell. " * 5, "annotations": []}
        done = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
        output: list[dict[str, Any]] = [done]
        if step < self._steps:
            ids = [self._next_call(step) for _ in range(1 + (step == 0))]
            call = {"type": "function_call", "name": "look_up", "arguments": '{"key": "k"}', "status": "completed"}
            output = [{"type": "reasoning", "id": f"rs_{ids[0]}", "summary": []}]
            output += ({**call, "id": f"fc_{each}", "call_id": each} for each in ids)
        head = {"id": "resp_1", "object": "response", "created_at": 0, "model": "gpt-4o", "status": "completed"}
        return {**head, "output": output, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}


def _step_after(call_id: str) -> int:
    return int(call_id[-2:]) + 1


def _responses_events(response: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "", response
    yield "response.completed", {"type": "response.completed", "sequence_number": 0, "response": response}


def _anthropic_events(message: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "", message
    yield "message_start", {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        kind = block["type"]
        empty: Any = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}, "tool_use": {"input": {}}}[
            kind
        ]
        yield (
            "content_block_start",
            {"type": "content_block_start", "index": index, "content_block": {**block, **empty}},
        )
        for delta in _deltas(block):
            yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 1}}
    yield "message_stop", {"type": "message_stop"}


def _deltas(block: dict[str, Any]) -> list[dict[str, Any]]:
    if block["type"] == "text":
        return [{"type": "text_delta", "text": block["text"]}]
    if block["type"] == "tool_use":
        return [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
    return [
        {"type": "thinking_delta", "thinking": block["thinking"]},
        {"type": "signature_delta", "signature": block["signature"]},
    ]


def _openai_events(completion: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "", completion
    [choice] = completion["choices"]
    delta = dict(choice["message"])
    if "tool_calls" in delta:
        delta["tool_calls"] = [{"index": n, **call} for n, call in enumerate(delta["tool_calls"])]
    for each, reason in ((delta, None), ({}, choice["finish_reason"])):
        chunk = {"index": 0, "delta": each, "finish_reason": reason}
        yield "", {**completion, "object": "chat.completion.chunk", "choices": [chunk], "usage": None}
    yield "", "[DONE]"


@contextmanager
def running(steps: int = STEPS) -> Iterator[Provider]:
    """A server, until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            whole, *events = provider.answer(self.path.partition("?")[0], body)
            is_stream = body.get("stream", False)
            text = "".join(map(_event, events)) if is_stream else json.dumps(whole[1])
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream" if is_stream else "application/json")
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *args: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = Provider(f"http://127.0.0.1:{server.server_port}", steps)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()


def _event(event: tuple[str, Any]) -> str:
    name, data = event
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n"


def check_at_once(make: Callable[[Provider], Ask], provider: ProviderName, budget: int, turns: int = 8) -> None:
    """Check that conversations that run at the same time, with one hook, are each sent what they would be sent alone.

    They begin alike.
    """
    names = ("ann", "bob", "eve")

    def sent_to(*names: str) -> dict[str, str]:
        async def talk(ask: Ask, name: str) -> None:
            for turn in range(turns):
                await ask(name, f"Question {turn} " + ("is the same for all" if turn == 0 else f"by {name}"))

        async def all_at_once(ask: Ask) -> None:
            await asyncio.gather(*(talk(ask, name) for name in names))

        with running() as server:
            asyncio.run(all_at_once(make(server)))
            server.check(provider, budget, requests=len(names) * turns * (STEPS + 1), whole=turns * 6 - 1)
        prompts = [str(body["input" if provider == "responses" else "messages"]) for body in server.sent]
        # The first turn is nobody's.
        whose = [[name for name in names if f"by {name}" in prompt] for prompt in prompts]
        if len(names) > 1:
            # If they only took turns, they would alternate no more often than that.
            assert sum(a != b for a, b in pairwise(whose)) > len(names) * turns
        return {
            name: renumbered("\n".join(each for each, by in zip(prompts, whose, strict=True) if by == [name]))
            for name in names
        }

    together = sent_to(*names)
    for name in names:
        alone = sent_to(name)
        assert alone[name].count("\n") == (turns - 1) * (STEPS + 1) - 1
        assert together[name] == alone[name]
