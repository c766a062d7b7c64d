"""Read Codex's rollouts: a JSON object for each event of a session, including items of the Responses API.

A row is `{"timestamp", "type", "payload"}`. Older files have the items themselves, after a first line of metadata.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import accumulate, compress
from typing import Any

from pycupel.replay.log import Call, Compaction, History
from pycupel.replay.shapes import as_dict, as_dicts, as_name, text_of

__all__ = ["Codex"]

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
            self._add_payload(str(kind), as_dict(row["payload"]))
            return True
        if not _is_item(row) or (kind == "message" and not _has_parts(row)):
            return False
        self._add_item(dict(row))
        return True

    def _add_payload(self, kind: str, payload: Mapping[str, Any]) -> None:
        match kind:
            case "session_meta":
                self._name = self._name or str(payload.get("id", ""))
                instructions = payload.get("base_instructions") or payload.get("instructions")
                self._system = self._system or text_of(instructions) or None
            case "turn_context":
                self._model = as_name(payload.get("model")) or self._model
            case "response_item" if _is_item(payload):
                self._add_item(dict(payload))
            case "compacted":
                replaced = as_dicts(payload.get("replacement_history"))
                summary = "\n".join(map(text_of, replaced)) if replaced else text_of(payload.get("message"))
                self._compactions.append(Compaction(len(self._items), summary))
            case _ if payload.get("type") == "token_count":
                self._count(as_dict(payload.get("info")))
            case _:
                pass

    def _add_item(self, item: _Item) -> None:
        if self._reply is None and _is_output(item):
            self._reply = len(self._items)
        self._items.append(item)

    def _count(self, info: Mapping[str, Any]) -> None:
        """Record the counts of the last call. They are repeated with every change of the limits."""
        usage, total = info.get("last_token_usage"), info.get("total_token_usage")
        if self._reply is None or not usage or (total is not None and total == self._counted):
            return
        self._calls.append(Call.of(self._reply, self._model, usage))
        self._reply, self._counted = None, total

    def histories(self) -> Iterator[History]:
        """Return the session, with only what the provider accepts."""
        keep = _accepted(self._items)
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


def _accepted(items: list[_Item]) -> list[bool]:
    """Return whether each item may stay: results need their calls, and calls their results unless they are last."""
    called = {as_name(item["call_id"]): n for n, item in enumerate(items) if _is_call(item) and "call_id" in item}
    answered = {
        as_name(item["call_id"]): n
        for n, item in enumerate(items)
        if _is_result(item) and called.get(as_name(item.get("call_id")), n) < n
    }
    last = max((n for n, item in enumerate(items) if not _is_call(item)), default=-1)
    keep = [_is_whole(n, item, answered, last) for n, item in enumerate(items)]
    for n in range(len(items) - 1, -1, -1):
        # Reasoning belongs to what follows it.
        if items[n].get("type") == "reasoning" and n + 1 < len(items) and not keep[n + 1]:
            keep[n] = False
    return keep


def _is_whole(n: int, item: _Item, answered: Mapping[str | None, int], last: int) -> bool:
    """Whether an item is complete. Calls without an id, such as searches, were answered by the provider itself."""
    if _is_result(item):
        return answered.get(as_name(item.get("call_id", ""))) == n
    return not _is_call(item) or "call_id" not in item or as_name(item["call_id"]) in answered or n > last


def _is_item(value: Mapping[str, Any]) -> bool:
    kind = value.get("type")
    return isinstance(kind, str) and (kind in {"message", "reasoning"} or kind.endswith(("_call", "_output")))


def _has_parts(message: Mapping[str, Any]) -> bool:
    return any(as_name(part.get("type")) in _PARTS for part in as_dicts(message.get("content")))


def _is_call(item: Mapping[str, Any]) -> bool:
    return str(item.get("type")).endswith("_call")


def _is_result(item: Mapping[str, Any]) -> bool:
    return str(item.get("type")).endswith("_output")


def _is_output(item: Mapping[str, Any]) -> bool:
    """Whether the model wrote an item."""
    return item.get("role") == "assistant" if item["type"] == "message" else not _is_result(item)
