"""The Claude Agent SDK calls the hook, and sends its answer on. There is no live run: that needs an account.

A transport stands for Claude Code's process and speaks its protocol.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, get_type_hints

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, ResultMessage, Transport, query
from claude_agent_sdk.types import PostToolUseHookInput, PostToolUseHookSpecificOutput

from pycupel.integrations.claude_agent import shorten_tool_output
from tests.integrations_env.sessions import LARGE, count_words

BUDGET = 200


class FakeProcess(Transport):
    """Asks for the hook once, then ends the run."""

    def __init__(self, event: dict[str, Any]) -> None:
        self.event = event
        self.answer: Any = None
        self._messages: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

    async def connect(self) -> None:
        pass

    async def write(self, data: str) -> None:
        message = json.loads(data)
        if message["type"] == "control_request":
            request = message["request"]
            answer = {"subtype": "success", "request_id": message["request_id"], "response": {}}
            await self._messages.put({"type": "control_response", "response": answer})
            if request["subtype"] == "initialize":
                [matcher] = request["hooks"]["PostToolUse"]
                asked = {
                    "subtype": "hook_callback",
                    "callback_id": matcher["hookCallbackIds"][0],
                    "input": self.event,
                    "tool_use_id": "toolu_1",
                }
                await self._messages.put({"type": "control_request", "request_id": "r1", "request": asked})
        elif message["type"] == "control_response":
            self.answer = message["response"]["response"]
            result = {"subtype": "success", "duration_ms": 1, "duration_api_ms": 1, "is_error": False, "num_turns": 1}
            await self._messages.put({"type": "result", "session_id": "s", **result})
            await self._messages.put(None)

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        while (message := await self._messages.get()) is not None:
            yield message

    async def close(self) -> None:
        pass

    def is_ready(self) -> bool:
        return True

    async def end_input(self) -> None:
        pass


def answer_to(response: Any) -> Any:
    event = PostToolUseHookInput(
        session_id="s",
        transcript_path="/t.jsonl",
        cwd="/",
        hook_event_name="PostToolUse",
        tool_name="Bash",
        tool_input={"command": "make"},
        tool_response=response,
        tool_use_id="toolu_1",
    )

    async def run() -> Any:
        process = FakeProcess(dict(event))
        hooks: Any = {"PostToolUse": [HookMatcher(hooks=[shorten_tool_output(BUDGET, counter=count_words)])]}
        messages = [
            each async for each in query(prompt="Go.", options=ClaudeAgentOptions(hooks=hooks), transport=process)
        ]
        assert isinstance(messages[-1], ResultMessage)
        return process.answer

    return asyncio.run(run())


def test_a_large_result_is_replaced() -> None:
    answer = answer_to({"stdout": LARGE, "stderr": "", "interrupted": False})
    specific = answer["hookSpecificOutput"]
    assert specific.keys() <= get_type_hints(PostToolUseHookSpecificOutput).keys()
    short = specific["updatedToolOutput"]
    assert short.keys() == {"stdout", "stderr", "interrupted"}
    assert 0 < count_words(short["stdout"]) <= BUDGET


def test_a_small_result_is_left_alone() -> None:
    assert answer_to({"stdout": "ok", "stderr": "", "interrupted": False}) == {}
