"""Read Claude Code's transcripts: a JSON object for each event of a session, including messages.

A row of `type` "user" or "assistant" has a `message`. A reply is split into several rows with one `message.id`, one
block each, and the results of its first calls may come between them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pycupel.messages.providers._tables import CALL, PART_TYPES, RESULT
from pycupel.replay.log import Call, Compaction, History
from pycupel.replay.shapes import as_dict, as_dicts, as_name, text_of

__all__ = ["ClaudeCode"]

# The model of messages that Claude Code wrote itself, such as errors of the API.
_SYNTHETIC = "<synthetic>"

_Block = dict[str, Any]


class ClaudeCode:
    """Collects the rows of transcripts: a conversation for each session, and one for each sidechain."""

    def __init__(self) -> None:
        self._conversations: dict[str, _Conversation] = {}
        # Each row names the row before it, which separates sidechains that are written at the same time.
        self._sidechain_of: dict[object, str] = {}

    def add(self, row: Mapping[str, Any]) -> bool:
        """Add a row. Returns whether it belongs to a transcript."""
        inner = as_dict(as_dict(row.get("data")).get("message"))
        if row.get("type") == "progress" and inner:
            # The rows of a subagent, as newer versions write them.
            return self.add({"agentId": row["data"].get("agentId"), **inner, "isSidechain": True})
        name, is_sidechain = self._name(row)
        message = as_dict(row.get("message"))
        if as_name(row.get("type")) not in {"user", "assistant"} or "content" not in message:
            return "sessionId" in row
        conversation = self._conversations.setdefault(name, _Conversation(name, is_sidechain))
        if row.get("isCompactSummary"):
            conversation.compact(text_of(message["content"]))
        elif not row.get("isMeta") and message.get("model") != _SYNTHETIC:
            conversation.add(as_name(row.get("uuid")), row["type"], message)
        return True

    def _name(self, row: Mapping[str, Any]) -> tuple[str, bool]:
        if not row.get("isSidechain"):
            return str(row.get("sessionId", "")), False
        uuid = as_name(row.get("uuid"))
        name = row.get("agentId") or self._sidechain_of.get(as_name(row.get("parentUuid"))) or uuid
        self._sidechain_of[uuid] = str(name)
        return str(name), True

    def histories(self) -> Iterator[History]:
        """Return the conversations so far."""
        return (conversation.history() for conversation in self._conversations.values())


@dataclass(slots=True)
class _Message:
    role: str
    blocks: list[_Block]
    id: object = None
    model: object = None
    usage: object = None


@dataclass(slots=True)
class _Conversation:
    name: str
    is_sidechain: bool
    messages: list[_Message] = field(default_factory=list[_Message])
    # The summaries, each with the number of messages before it.
    summaries: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    seen: set[object] = field(default_factory=set[object])

    def add(self, uuid: object, role: str, message: Mapping[str, Any]) -> None:
        """Add the message of a row, once: resumed sessions repeat rows."""
        if uuid is not None and uuid in self.seen:
            return
        self.seen.add(uuid)
        blocks = _blocks(message["content"])
        if role == "user":
            last = self.messages[-1] if self.messages else None
            if last is None or last.role != "user":
                self.messages.append(_Message("user", blocks))
            else:
                last.blocks += blocks
            return
        reply = self._reply(message.get("id"))
        reply.blocks += blocks
        # The last row of a reply has the final token count.
        reply.model, reply.usage = message.get("model"), message.get("usage")

    def _reply(self, name: object) -> _Message:
        """Return the message that a row of a reply belongs to: the last one, unless a new one has started."""
        last = next((message for message in reversed(self.messages) if message.role == "assistant"), None)
        if last is None or name is None or last.id != name:
            last = _Message("assistant", [], name)
            self.messages.append(last)
        return last

    def compact(self, summary: str) -> None:
        self.summaries.append((len(self.messages), summary))

    def history(self) -> History:
        """Build the history, with only what the provider accepts."""
        before = sum(len(message.blocks) for message in self.messages)
        kept, calls, compactions = list[dict[str, Any]](), list[Call](), list[Compaction]()
        summaries = deque(self.summaries)
        for index, blocks in enumerate(_accepted(self.messages)):
            while summaries and summaries[0][0] <= index:
                compactions.append(Compaction(len(kept), summaries.popleft()[1]))
            message = self.messages[index]
            if blocks and (kept or message.role == "user"):
                if message.role == "assistant":
                    calls.append(Call.of(len(kept), message.model, message.usage))
                kept.append({"role": message.role, "content": blocks})
        compactions += [Compaction(len(kept), summary) for _, summary in summaries]
        dropped = before - sum(len(message["content"]) for message in kept)
        return History(
            tuple(kept),
            "anthropic",
            tuple(calls),
            tuple(compactions),
            self.name,
            self.is_sidechain,
            dropped,
            model=next((call.model for call in reversed(calls) if call.model), None),
        )


def _accepted(messages: list[_Message]) -> Iterator[list[_Block]]:
    """Return the blocks of each message that the provider accepts, results first. Calls at the very end may be open."""
    called: set[object] = set()
    for index, message in enumerate(messages):
        blocks = list(filter(_is_sound, message.blocks))
        if message.role == "user":
            yield [*_results(blocks, called), *(block for block in blocks if not _is(RESULT, block))]
            continue
        if index + 1 < len(messages):
            answered = {as_name(block.get("tool_use_id")) for block in messages[index + 1].blocks}
            blocks = [block for block in blocks if not _is(CALL, block) or as_name(block.get("id")) in answered]
        called = {as_name(block.get("id")) for block in blocks if _is(CALL, block)}
        yield blocks


def _results(blocks: list[_Block], called: set[object]) -> Iterator[_Block]:
    """Return the first result of each call in the previous message."""
    open_calls = set(called)
    for block in blocks:
        if _is(RESULT, block) and as_name(block.get("tool_use_id")) in open_calls:
            open_calls.remove(as_name(block.get("tool_use_id")))
            yield block


def _is(kind: str, block: _Block) -> bool:
    """Whether a block is a call that the caller answers, or its result."""
    meaning = PART_TYPES.get(block["type"])
    return meaning is not None and meaning.kind == kind and meaning.needs_id


def _is_sound(block: _Block) -> bool:
    if block["type"] == "text":
        return bool(str(block.get("text", "")).strip())
    return block["type"] != "thinking" or bool(block.get("signature"))


def _blocks(content: object) -> list[_Block]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in as_dicts(content) if isinstance(block.get("type"), str)]
