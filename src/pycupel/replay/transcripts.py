"""Read the transcripts of Claude Code and Codex, and find those on this machine."""

from __future__ import annotations

import json
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import accumulate, compress
from pathlib import Path
from typing import Any, NamedTuple

from pycupel.codecs.json_values import Located, errors_naming, limited_lines, open_binary, read_values
from pycupel.errors import DocumentError
from pycupel.messages.providers._tables import CALL, ITEM_TYPES, PART_TYPES, RESULT, STEP_TYPES
from pycupel.model.checks import checked_iterable, wrong_type
from pycupel.replay.log import Call, Compaction, History, Log, Requests, as_dict, as_dicts, as_name, as_time, text_in

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
        is_sidechain = bool(row.get("isSidechain"))
        name = str(row.get("sessionId", ""))
        if is_sidechain:
            uuid = as_name(row.get("uuid"))
            name = str(row.get("agentId") or self._sidechain_of.get(as_name(row.get("parentUuid"))) or uuid)
            self._sidechain_of[uuid] = name
        message = as_dict(row.get("message"))
        if as_name(row.get("type")) not in {"user", "assistant"} or "content" not in message:
            return "sessionId" in row
        conversation = self._conversations.setdefault(name, _Conversation(name, is_sidechain))
        if row.get("isCompactSummary"):
            conversation.summaries.append((len(conversation.messages), text_in(message["content"])))
        elif not row.get("isMeta") and message.get("model") != _SYNTHETIC:
            conversation.add(as_name(row.get("uuid")), row["type"], message, row.get("timestamp"))
        return True

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
    time: object = None


@dataclass(slots=True)
class _Conversation:
    name: str
    is_sidechain: bool
    messages: list[_Message] = field(default_factory=list[_Message])
    # The summaries, each with the number of messages before it.
    summaries: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    seen: set[object] = field(default_factory=set[object])

    def add(self, uuid: object, role: str, message: Mapping[str, Any], time: object = None) -> None:
        """Add the message of a row, once: resumed sessions repeat rows."""
        if uuid is not None and uuid in self.seen:
            return
        self.seen.add(uuid)
        content = message["content"]
        given = [{"type": "text", "text": content}] if isinstance(content, str) else as_dicts(content)
        blocks = [block for block in given if isinstance(block.get("type"), str)]
        if role == "user":
            if not self.messages or self.messages[-1].role != "user":
                self.messages.append(_Message("user", []))
            self.messages[-1].blocks += blocks
            return
        # A row of a reply belongs to the last reply, unless its id says that a new one has started.
        name = message.get("id")
        reply = next((each for each in reversed(self.messages) if each.role == "assistant"), None)
        if reply is None or name is None or reply.id != name:
            reply = _Message("assistant", [], name, time=time)
            self.messages.append(reply)
        reply.blocks += blocks
        # The last row of a reply has the final token count.
        reply.model, reply.usage = message.get("model"), message.get("usage")

    def history(self) -> History:
        """Build the history, with only what the provider accepts."""
        before = sum(len(message.blocks) for message in self.messages)
        kept, calls, compactions = list[dict[str, Any]](), list[Call](), list[Compaction]()
        summaries = deque(self.summaries)
        for index, blocks in enumerate(_accepted_blocks(self.messages)):
            while summaries and summaries[0][0] <= index:
                compactions.append(Compaction(len(kept), summaries.popleft()[1]))
            message = self.messages[index]
            if blocks and (kept or message.role == "user"):
                if message.role == "assistant":
                    calls.append(Call.of(len(kept), message.model, message.usage, message.time))
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


def _accepted_blocks(messages: list[_Message]) -> Iterator[list[_Block]]:
    """Return the blocks of each message that the provider accepts, results first. Calls at the very end may be open."""
    called: set[object] = set()
    for index, message in enumerate(messages):
        blocks = list(filter(_is_sound, message.blocks))
        if message.role == "user":
            # Only the first result of each call in the previous message counts.
            results: dict[object, _Block] = {}
            for block in blocks:
                if _is(RESULT, block) and as_name(block.get("tool_use_id")) in called:
                    results.setdefault(as_name(block.get("tool_use_id")), block)
            yield [*results.values(), *(block for block in blocks if not _is(RESULT, block))]
            continue
        if index + 1 < len(messages):
            answered = {as_name(block.get("tool_use_id")) for block in messages[index + 1].blocks}
            blocks = [block for block in blocks if not _is(CALL, block) or as_name(block.get("id")) in answered]
        called = {as_name(block.get("id")) for block in blocks if _is(CALL, block)}
        yield blocks


def _is(kind: str, block: _Block) -> bool:
    """Whether a block is a call that the caller answers, or its result."""
    meaning = PART_TYPES.get(block["type"])
    return meaning is not None and meaning.kind == kind and meaning.needs_id


def _is_sound(block: _Block) -> bool:
    if block["type"] == "text":
        return bool(str(block.get("text", "")).strip())
    return block["type"] != "thinking" or bool(block.get("signature"))


# Read Codex's rollouts: a JSON object for each event of a session, including items of the Responses API.
#
# A row is `{"timestamp", "type", "payload"}`. Older files have the items themselves, after a first line of metadata.


_Item = dict[str, Any]

_ROWS = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})
_PARTS = frozenset({"input_text", "output_text", "input_image"})


class Codex:
    """Collects the rows of one session."""

    def __init__(self) -> None:
        self._name = ""
        self._model: str | None = None
        self._system: str | None = None
        self._items: list[_Item] = []
        self._calls: list[Call] = []
        self._compactions: list[Compaction] = []
        # Where the reply that has not been counted yet starts.
        self._reply: int | None = None
        self._counted: object = None

    def add(self, row: Mapping[str, Any]) -> bool:
        """Add a row. Returns whether it belongs to a rollout."""
        kind = as_name(row.get("type"))
        if kind in _ROWS and "payload" in row:
            self._add_payload(str(kind), as_dict(row["payload"]), row.get("timestamp"))
            return True
        # Other logs have messages, too, but with other parts.
        parts = {as_name(part.get("type")) for part in as_dicts(row.get("content"))}
        if kind not in STEP_TYPES and (not _is_item(row) or (kind == "message" and not parts & _PARTS)):
            return False
        self._add_item(dict(row))
        return True

    def _add_payload(self, kind: str, payload: Mapping[str, Any], time: object) -> None:
        match kind:
            case "session_meta":
                self._name = self._name or str(payload.get("id", ""))
                instructions = payload.get("base_instructions") or payload.get("instructions")
                self._system = self._system or text_in(instructions) or None
            case "turn_context":
                self._model = as_name(payload.get("model")) or self._model
            case "response_item" if _is_item(payload):
                self._add_item(dict(payload))
            case "compacted":
                replaced = as_dicts(payload.get("replacement_history"))
                summary = "\n".join(map(text_in, replaced)) if replaced else text_in(payload.get("message"))
                self._compactions.append(Compaction(len(self._items), summary))
            case _ if payload.get("type") == "token_count":
                # The counts of the last call are repeated with every change of the limits.
                info = as_dict(payload.get("info"))
                usage, total = info.get("last_token_usage"), info.get("total_token_usage")
                if self._reply is not None and usage and (total is None or total != self._counted):
                    self._calls.append(Call.of(self._reply, self._model, usage, time))
                    self._reply, self._counted = None, total
            case _:
                pass

    def _add_item(self, item: _Item) -> None:
        by_model = item.get("role") == "assistant" if item["type"] == "message" else not _is_result(item)
        if self._reply is None and by_model:
            self._reply = len(self._items)
        self._items.append(item)

    def histories(self) -> Iterator[History]:
        """Return the session, with only what the provider accepts."""
        if any(item["type"] in STEP_TYPES and item["type"] not in ITEM_TYPES for item in self._items):
            # Calls look the same in Interactions and Responses; the other steps tell.
            yield History(tuple(self._items), "interactions")
            return
        keep = _accepted_items(self._items)
        # The index of each item among the kept ones.
        indices = [*accumulate(keep, initial=0)]
        yield History(
            tuple(compress(self._items, keep)),
            "responses",
            tuple(replace(call, index=indices[call.index]) for call in self._calls),
            tuple(Compaction(indices[each.index], each.summary) for each in self._compactions),
            self._name,
            dropped_blocks=keep.count(False),
            system=self._system,
            model=self._model,
        )


def _accepted_items(items: list[_Item]) -> list[bool]:
    """Return whether each item may stay: results need their calls, and calls their results unless they are last."""
    called = {as_name(item["call_id"]): n for n, item in enumerate(items) if _is_call(item) and "call_id" in item}
    answered = {
        as_name(item["call_id"]): n
        for n, item in enumerate(items)
        if _is_result(item) and called.get(as_name(item.get("call_id")), n) < n
    }
    last = max((n for n, item in enumerate(items) if not _is_call(item)), default=-1)
    keep: list[bool] = []
    for n, item in enumerate(items):
        if _is_result(item):
            keep.append(answered.get(as_name(item.get("call_id", ""))) == n)
        else:
            # Calls without an id, such as searches, were answered by the provider itself.
            is_open = _is_call(item) and "call_id" in item and as_name(item["call_id"]) not in answered
            keep.append(not is_open or n > last)
    for n in range(len(items) - 1, -1, -1):
        # Reasoning belongs to what follows it.
        if items[n].get("type") == "reasoning" and n + 1 < len(items) and not keep[n + 1]:
            keep[n] = False
    return keep


def _is_item(value: Mapping[str, Any]) -> bool:
    kind = value.get("type")
    return isinstance(kind, str) and (
        kind in {"message", "reasoning", "compaction"} or kind.endswith(("_call", "_output"))
    )


def _is_call(item: Mapping[str, Any]) -> bool:
    return str(item.get("type")).endswith("_call")


def _is_result(item: Mapping[str, Any]) -> bool:
    return str(item.get("type")).endswith("_output")


# Read a log of unknown origin: detect the format of each line.


_NOT_JSON = object()


def read_log(source: str | os.PathLike[str] | Iterable[str] | Iterable[bytes]) -> Log:
    """Read the conversations in a log of JSON lines, or in a JSON document.

    Four kinds of objects are understood, on lines or in an array; all others are ignored:

    - Claude Code's transcripts. Rows of one message are merged, results go into the next user message, sidechains
      become histories of their own, and a compacted session stays one history. Rows that were not part of the
      conversation (`isMeta`, summaries, errors of the API) are left out.
    - Codex's rollouts: the items of the Responses API, with the counts in its events. Compacted items stay in the
      history.
    - Requests of the providers' APIs: objects with `messages`, `input` or `contents`, at the top or under `request` or
      `body`, with the `response` and its `usage` if there is one. A request that begins with all the messages of an
      earlier one continues its history.
    - Messages: objects with a `role`; or steps of Interactions. All of them are one history.

    Args:
        source: The path of a file, which may be compressed (.gz, .bz2, .xz), or its lines.

    Raises:
        DocumentError: the file is compressed and damaged, or has a line of more than 256 MiB.
    """
    if not isinstance(source, (str, os.PathLike)):
        return _read(checked_iterable("source", "a path or an iterable of lines", source))
    with open_binary(source) as file, errors_naming(os.fspath(source)):
        return _read(limited_lines(file))


def _checked_lines(lines: Iterable[Any]) -> Iterator[str | bytes]:
    for i, line in enumerate(lines):
        if not isinstance(line, (str, bytes)):
            raise wrong_type(f"source[{i}]", "a line of text: a str or bytes", line)
        yield line


def _read(lines: Iterable[Any]) -> Log:
    readers = (ClaudeCode(), Codex(), Requests())
    skipped = 0
    for row in _rows(line for line in _checked_lines(lines) if line.strip()):
        if row.__class__ is not dict:
            skipped += 1
            continue
        try:
            # The first reader that accepts a row gets it.
            any(reader.add(row) for reader in readers)
        except RecursionError:
            skipped += 1
    return Log.of((history for reader in readers for history in reader.histories()), skipped)


def _rows(lines: Iterator[Any]) -> Iterator[Any]:
    """Return the values on the lines; or, if the first line or all of them are a document, those in it."""
    first = next(lines, None)
    if first is None:
        return
    values = _values([first])
    if values is None and first.lstrip()[:1] in {"{", "[", b"{", b"["}:
        # A document may span lines. If it does not, the line is incomplete, but the following ones are still good.
        held = [first, *lines]
        values, lines = _values(held), iter(())
        if values is None:
            lines = iter(held[1:])
    yield from (each.value for each in values) if values else [_NOT_JSON]
    for line in lines:
        found = _values([line]) or []
        yield found[0].value if len(found) == 1 and not found[0].is_element else _NOT_JSON


def _values(lines: Iterable[Any]) -> list[Located] | None:
    """Return the values in the lines; None if they are not JSON."""
    texts = (line if isinstance(line, str) else line.decode("utf-8-sig", "surrogatepass") for line in lines)
    try:
        return [*read_values(texts)]
    except (DocumentError, UnicodeDecodeError):
        return None


# Find the sessions that coding agents have logged on this machine. Files are looked at where they are, not copied.


# The directory of each agent's sessions, below the one that a variable names.
_HOMES = (("CLAUDE_CONFIG_DIR", ".claude", "projects"), ("CODEX_HOME", ".codex", "sessions"))
# How much of a file's start names its directory, and how much of its end the time of its last row.
_HEAD, _TAIL = 2**16, 2**18
_DIRECTORY = re.compile(rb'"cwd":\s*("(?:[^"\\]|\\.)*")')
# Inside a text, the quotes would be escaped.
_TIME = re.compile(rb'"timestamp":\s*"([^"\\]+)"')


class SessionFile(NamedTuple):
    """A logged session."""

    time: datetime  # Of its last row; or, if no row has one, when the file was changed.
    path: Path


def sessions_in(folder: Path | None = None) -> list[SessionFile]:
    """Return the sessions in a folder, or those of all agents, the newest first; files of subagents are left out."""
    homes = [Path(os.environ.get(name) or Path.home() / usual, below) for name, usual, below in _HOMES]
    files = (path for each in ([folder] if folder else homes) for path in each.rglob("*.jsonl") if path.is_file())
    found = [
        SessionFile(_time_of(path), path)
        for path in files
        if path.parent.name != "subagents" and not path.name.startswith("agent-")
    ]
    return sorted(found, key=lambda each: (each.time, each.path), reverse=True)


def newest_session(directory: Path) -> Path | None:
    """Return the newest session that ran in the directory, or else anywhere; None if there is none."""
    sessions = [each.path for each in sessions_in()]
    return next((path for path in sessions if _ran_in(path, directory)), next(iter(sessions), None))


def _ran_in(path: Path, directory: Path) -> bool:
    with path.open("rb") as file:
        found = _DIRECTORY.search(file.read(_HEAD))
    # Agents write other letters than ASCII as they are, or escape them.
    names = [json.dumps(str(directory), ensure_ascii=each).encode("utf-8", "surrogateescape") for each in (True, False)]
    return found is not None and found[1] in names


def _time_of(path: Path) -> datetime:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        times = _TIME.findall(file.read())
    known = filter(None, (as_time(text.decode(errors="replace")) for text in reversed(times)))
    return next(known, datetime.fromtimestamp(path.stat().st_mtime, UTC))
