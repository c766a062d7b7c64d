"""Anthropic Messages: blocks inside messages, results in the next user message, signed thinking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pycupel.errors import MessageShapeError
from pycupel.messages.content import ContentReader, Prices
from pycupel.messages.fields import field, is_filled, is_list, is_mapping, text_of
from pycupel.messages.providers._anthropic_rules import (
    ODD_INPUT,
    TEXT_BEFORE_RESULT,
    TRAILING_SPACE,
    UNSIGNED_THINKING,
    empty_prompt,
    excess_cache_control,
    faults,
    misplaced_system,
    missing_tools,
    needs,
    split_results,
    thinking_not_first,
    trailing_space,
)
from pycupel.messages.providers._base import CACHED, ERROR, MessageView, Pairing, Provider, one_by_one
from pycupel.messages.providers._pairing import orphan, pair_adjacent
from pycupel.messages.providers._rules import EMPTY_TEXT, ends_with_assistant, first_not_user
from pycupel.messages.providers._shapes import entries, id_of, role_of
from pycupel.text import describe

__all__ = ["ANTHROPIC"]

_ROLES = {"user": "user", "assistant": "assistant", "system": "system"}
_SPEAKERS = {"tool_use": "assistant", "tool_result": "user"}
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})

# Marks, before the id of a server tool's call: its result is in a later message, or the call in an earlier one.
_BEGINS = "begins "
_ENDS = "ends "


def _read(message: Any, index: int, content: ContentReader) -> MessageView:
    role = role_of(message, index, _ROLES)
    blocks = field(message, "content")
    if isinstance(blocks, str):
        marks = (EMPTY_TEXT,) if not blocks.strip() else (TRAILING_SPACE,) if blocks[-1].isspace() else ()
        return MessageView(index, role, *content(message), (), (), role == "user", False, marks)
    if blocks is None and role == "system":
        # It may have only options.
        return MessageView(index, role, *content(message))
    blocks = entries(blocks, index, "content", "a string or a list of blocks")
    kinds = [_kind(block, role, index, n) for n, block in enumerate(blocks)]
    calls = _ids(blocks, kinds, index, "tool_use", "id")
    results = _ids(blocks, kinds, index, "tool_result", "tool_use_id")
    only_results = bool(results) and len(results) == len(blocks)
    return MessageView(
        index,
        "tool" if only_results else role,
        *content(message),
        calls,
        results,
        role == "user" and not results,
        bool(kinds) and kinds[0] in _THOUGHTS,
        tuple(_marks(blocks, kinds, len(results))),
        content.shares,
    )


def _kind(block: Any, role: str, index: int, n: int) -> str:
    kind, key = field(block, "type"), f"content[{n}].type"
    if kind is None:
        raise MessageShapeError(f"block has no type: {describe(block)}", index, key)
    if not isinstance(kind, str):
        raise MessageShapeError(f"must be a string naming the block's type, not {describe(kind)}", index, key)
    speaker = _SPEAKERS.get(kind, role)
    if speaker != role:
        raise MessageShapeError(f"{kind} blocks are only allowed in {speaker} messages", index, key)
    return kind


def _ids(blocks: Sequence[Any], kinds: Sequence[str], index: int, kind: str, name: str) -> tuple[str, ...]:
    if kind not in kinds:
        return ()
    numbers = (n for n, each in enumerate(kinds) if each == kind)
    return tuple(id_of(field(blocks[n], name), index, f"content[{n}].{name}") for n in numbers)


def _marks(blocks: Sequence[Any], kinds: Sequence[str], results: int) -> Iterator[str]:
    if not blocks or ("text" in kinds and any(map(_is_blank, _fields("text", "text", kinds, blocks)))):
        yield EMPTY_TEXT
    if results and any(kind != "tool_result" for kind in kinds[:results]):
        yield TEXT_BEFORE_RESULT
    if "thinking" in kinds and not all(map(is_filled, _fields("signature", "thinking", kinds, blocks))):
        yield UNSIGNED_THINKING
    if "tool_use" in kinds and not all(map(_is_object, _fields("input", "tool_use", kinds, blocks))):
        yield ODD_INPUT
    if kinds and kinds[-1] == "text" and text_of(blocks[-1], "text")[-1:].isspace():
        yield TRAILING_SPACE
    nested = [each for block in _fields("content", "tool_result", kinds, blocks) if is_list(block) for each in block]
    yield from (CACHED for block in (*blocks, *nested) if is_filled(field(block, "cache_control")))
    if any("_tool_" in kind for kind in kinds):
        yield from _server_marks(blocks, kinds)


def _fields(name: str, kind: str, kinds: Sequence[str], blocks: Sequence[Any]) -> Iterator[Any]:
    """Return a field of each block of a kind."""
    return (field(block, name) for each, block in zip(kinds, blocks, strict=True) if each == kind)


def _is_blank(text: Any) -> bool:
    return not text.strip() if isinstance(text, str) else not is_filled(text)


def _is_object(value: Any) -> bool:
    return is_mapping(value) or not (value is None or is_list(value) or isinstance(value, (str, bytes, int, float)))


def _server_marks(blocks: Sequence[Any], kinds: Sequence[str]) -> Iterator[str]:
    """Return a message's unanswered calls of server tools, and its results of such calls in earlier messages."""
    pairs = list(zip(kinds, blocks, strict=True))
    uses = [text_of(block, "id") for kind, block in pairs if kind.endswith("_tool_use")]
    ends = [text_of(block, "tool_use_id") for kind, block in pairs if kind.endswith("_tool_result")]
    begun, ended = set(uses), set(ends)
    yield from (_BEGINS + each for each in uses if each not in ended)
    yield from (_ENDS + each for each in ends if each not in begun)


def _pair(views: Sequence[MessageView]) -> Pairing:
    """Group calls with their results. If a server tool waits for the caller's results, add everything up to its own."""
    groups, findings = pair_adjacent(views, ids_once=True)
    begun: dict[str, int] = {}
    spans: dict[int, int] = {}
    for view in views:
        for mark in view.marks:
            if mark.startswith(_BEGINS):
                begun[mark.removeprefix(_BEGINS)] = view.message_index
            elif mark.startswith(_ENDS):
                call_id = mark.removeprefix(_ENDS)
                if call_id in begun:
                    spans[begun[call_id]] = view.message_index
                else:
                    findings.append(orphan(view.message_index, call_id))
    return _merge_spans(groups, spans) if spans else groups, findings


def _merge_spans(groups: list[list[int]], spans: Mapping[int, int]) -> list[list[int]]:
    """Merge the groups that share a span of messages, from one index to another."""
    whole: list[list[int]] = []
    end = -1
    for group in groups:
        if group[0] <= end:
            whole[-1] += group
        else:
            whole.append(group)
        end = max(end, *(spans.get(index, -1) for index in group))
    return [sorted(group) for group in whole]


ANTHROPIC = Provider(
    "anthropic",
    one_by_one(_read),
    _pair,
    (faults, first_not_user, misplaced_system, split_results, thinking_not_first, ends_with_assistant, trailing_space),
    needs,
    Prices(call=88, tool=16, tools=346, image=1600, small_image=1600, file=3100),
    (excess_cache_control,),
    (empty_prompt, missing_tools),
    duplicate_tools=ERROR,
    system_beside=True,
    also_reads=(None,),
    typical_model="claude",
)
