"""Sessions for the tests: a Codex rollout, and a request of each provider, after their published formats."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pycupel.cli.demo import transcript

Row = dict[str, Any]


def row(kind: str, payload: Row) -> Row:
    return {"timestamp": "2026-10-14T09:00:00.000Z", "type": kind, "payload": payload}


def item(**fields: Any) -> Row:
    return row("response_item", fields)


def said(role: str, text: str) -> Row:
    kind = "output_text" if role == "assistant" else "input_text"
    return item(type="message", role=role, content=[{"type": kind, "text": text}])


def counted(prompt: int, cached: int, output: int, total: int) -> Row:
    last = {
        "input_tokens": prompt,
        "cached_input_tokens": cached,
        "output_tokens": output,
        "total_tokens": prompt + output,
    }
    info = {"total_token_usage": {"input_tokens": total}, "last_token_usage": last, "model_context_window": 258_400}
    return row("event_msg", {"type": "token_count", "info": info, "rate_limits": None})


ROLLOUT: list[Row] = [
    row("session_meta", {"id": "0199-aa", "cwd": "/work", "cli_version": "0.65.0", "instructions": "Be careful."}),
    said("user", "<environment_context>linux</environment_context>"),
    said("user", "Why does checkout fail?"),
    row("event_msg", {"type": "user_message", "message": "Why does checkout fail?"}),
    row("turn_context", {"cwd": "/work", "model": "gpt-5-codex", "effort": "high"}),
    row("event_msg", {"type": "token_count", "info": None, "rate_limits": {}}),
    item(type="reasoning", summary=[{"type": "summary_text", "text": "Look first."}], encrypted_content="x" * 80),
    item(type="function_call", name="shell", arguments='{"command": ["ls", "src"]}', call_id="call_1"),
    counted(4_000, 3_000, 60, 4_000),
    counted(4_000, 3_000, 60, 4_000),
    item(type="function_call_output", call_id="call_1", output="src/checkout/retry.py src/checkout/client.py"),
    item(type="custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="call_2", status="completed"),
    counted(4_200, 4_000, 20, 8_200),
    item(type="custom_tool_call_output", call_id="call_2", output="Success"),
    row("response_item", {"type": "ghost_snapshot", "ghost_commit": {}}),
    said("assistant", "The key in src/checkout/retry.py was drawn twice."),
    row("event_msg", {"type": "agent_message", "message": "The key was drawn twice."}),
    counted(4_300, 4_200, 30, 12_500),
    row("compacted", {"message": "", "replacement_history": [{"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "Summary: the key was drawn twice."}]}]}),
    said("user", "Thanks. Test it."),
    item(type="web_search_call", status="completed", action={"type": "search", "query": "idempotency"}),
    said("assistant", "It passes."),
    counted(1_200, 0, 10, 13_700),
]  # fmt: skip

HISTORY = [{"role": "user", "content": "Which files?"}, {"role": "assistant", "content": "retry.py"}]
TOOL = {"name": "ls", "description": "List files.", "input_schema": {"type": "object", "properties": {}}}

REQUESTS: dict[str, Row] = {
    "openai": {
        "model": "gpt-4o",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "ls", "arguments": '{"path": "src"}'}}]},
            {"role": "tool", "tool_call_id": "a", "content": "src/checkout/retry.py"},
            {"role": "assistant", "content": "It is retry.py.", "reasoning_content": "Just one."},
            {"role": "user", "content": "Thanks."},
        ],
        "tools": [{"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}],
    },
    "anthropic": {
        "model": "claude-sonnet-4-5",
        "max_tokens": 1_000,
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Which files?"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Look.", "signature": "c2ln"},
                {"type": "tool_use", "id": "a", "name": "ls", "input": {"path": "src"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [
                    {"type": "text", "text": "src/checkout/retry.py"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}]}]},
        ],
        "tools": [TOOL],
    },
    "gemini": {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [
                {"text": "Which files?"}, {"inlineData": {"mimeType": "image/png", "data": "AA=="}}]},
            {"role": "model", "parts": [
                {"text": "Look.", "thought": True}, {"functionCall": {"name": "ls", "args": {"path": "src"}}}]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "ls", "response": {"output": "src/checkout/retry.py"}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "ls"}]}],
    },
    "mistral": {
        "model": "mistral-large-latest",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Which files?"},
            {"role": "assistant", "content": "", "tool_calls": [
                {"id": "abcdefghi", "function": {"name": "ls", "arguments": '{"path": "src"}'}}]},
            {"role": "tool", "tool_call_id": "abcdefghi", "name": "ls", "content": "src/checkout/retry.py"},
        ],
    },
    "responses": {
        "model": "gpt-5",
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "Which files?"}]},
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Look."}]},
            {"type": "function_call", "call_id": "a", "name": "ls", "arguments": '{"path": "src"}'},
            {"type": "function_call_output", "call_id": "a", "output": "src/checkout/retry.py"},
        ],
        "tools": [{"type": "function", "name": "ls", "parameters": {"type": "object"}}],
    },
    "converse": {
        "modelId": "anthropic.claude-sonnet-4-5",
        "system": [{"text": "Be brief."}],
        "messages": [
            {"role": "user", "content": [{"text": "Which files?"}]},
            {"role": "assistant", "content": [
                {"reasoningContent": {"reasoningText": {"text": "Look.", "signature": "c2ln"}}},
                {"toolUse": {"toolUseId": "a", "name": "ls", "input": {"path": "src"}}}]},
            {"role": "user", "content": [
                {"toolResult": {"toolUseId": "a", "content": [{"text": "src/checkout/retry.py"}]}}]},
        ],
        "toolConfig": {"tools": [{"toolSpec": {"name": "ls", "inputSchema": {"json": {}}}}]},
    },
    "interactions": {
        "model": "gemini-3-pro",
        "system_instruction": "Be brief.",
        "input": [
            {"type": "user_input", "content": [{"type": "text", "text": "Which files?"}]},
            {"type": "thought", "signature": "c2ln", "summary": [{"type": "text", "text": "Look."}]},
            {"type": "function_call", "id": "a", "name": "ls", "arguments": {"path": "src"}},
            {"type": "function_result", "call_id": "a", "name": "ls", "result": "src/checkout/retry.py"},
        ],
        "tools": [{"type": "function", "name": "ls", "parameters": {"type": "object"}}],
    },
}  # fmt: skip


def lines(*rows: Row) -> list[str]:
    return [json.dumps(each) for each in rows]


def planted_rows() -> Iterator[str]:
    """Return the lines of a session in which what is needed later is planted in results that later calls outdate."""
    return map(json.dumps, transcript(Path(__file__).with_name("planted_session.jsonl")))
