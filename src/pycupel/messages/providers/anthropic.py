"""Anthropic Messages: blocks inside messages, results in the next user message, thoughts with a signature."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pycupel.errors import MessageShapeError
from pycupel.messages.providers._anthropic_rules import (
    EMPTY_TEXT,
    TEXT_BEFORE_RESULT,
    UNSIGNED_THINKING,
    faults,
    misplaced_system,
    needs,
    split_results,
    thinking_not_first,
)
from pycupel.messages.providers._base import (
    MessageView,
    Pairing,
    Provider,
    as_json,
    entries,
    field,
    id_of,
    is_list,
    joined,
    role_of,
)
from pycupel.messages.providers._pairing import orphan, pair_adjacent
from pycupel.messages.providers._rules import ends_with_assistant, first_not_user
from pycupel.model.checks import describe

__all__ = ["ANTHROPIC"]

_T = TypeVar("_T")

_ROLES = {"user": "user", "assistant": "assistant", "system": "system"}
_SPEAKERS = {"tool_use": "assistant", "tool_result": "user"}
# A document's source may be a text or blocks, or else a file that nobody reads here.
_READABLE = ("text", "content")
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})

_BEGINS = "begins "
_ENDS = "ends "


def _read(messages: Sequence[Any]) -> list[MessageView]:
    return [_read_message(message, index) for index, message in enumerate(messages)]


def _read_message(message: Any, index: int) -> MessageView:
    role = role_of(message, index, _ROLES)
    content = field(message, "content")
    if isinstance(content, str):
        marks = () if content.strip() else (EMPTY_TEXT,)
        return MessageView(index, role, content, (), (), role == "user", False, marks)
    if content is None and role == "system":
        # It may hold options alone.
        return MessageView(index, role, "")
    return _read_blocks(entries(content, index, "content"), role, index)


def _read_blocks(blocks: Sequence[Any], role: str, index: int) -> MessageView:
    kinds = [_kind(block, role, index, n) for n, block in enumerate(blocks)]
    texts = [_block_text(block) for block in blocks]
    calls = _ids(blocks, kinds, index, "tool_use", "id")
    results = _ids(blocks, kinds, index, "tool_result", "tool_use_id")
    only_results = bool(results) and len(results) == len(blocks)
    return MessageView(
        index,
        "tool" if only_results else role,
        joined(texts),
        calls,
        results,
        role == "user" and not only_results,
        bool(kinds) and kinds[0] in _THOUGHTS,
        tuple(_marks(blocks, kinds, texts, len(results))),
    )


def _kind(block: Any, role: str, index: int, n: int) -> str:
    kind = field(block, "type")
    if not isinstance(kind, str):
        raise MessageShapeError(f"every block needs a type, and this is {describe(block)}", index, f"content[{n}].type")
    speaker = _SPEAKERS.get(kind, role)
    if speaker != role:
        raise MessageShapeError(f"a {kind} block belongs into a message of the {speaker}", index, f"content[{n}].type")
    return kind


def _ids(blocks: Sequence[Any], kinds: Sequence[str], index: int, kind: str, name: str) -> tuple[str, ...]:
    if kind not in kinds:
        return ()
    places = (n for n, each in enumerate(kinds) if each == kind)
    return tuple(id_of(field(blocks[n], name), index, f"content[{n}].{name}") for n in places)


def _marks(blocks: Sequence[Any], kinds: Sequence[str], texts: Sequence[str], results: int) -> Iterator[str]:
    if not blocks or ("text" in kinds and not all(text.strip() for text in _of("text", kinds, texts))):
        yield EMPTY_TEXT
    if results and any(kind != "tool_result" for kind in kinds[:results]):
        yield TEXT_BEFORE_RESULT
    if "thinking" in kinds and not all(field(block, "signature") for block in _of("thinking", kinds, blocks)):
        yield UNSIGNED_THINKING
    if any("_tool_" in kind for kind in kinds):
        yield from _server_marks(blocks, kinds)


def _of(kind: str, kinds: Sequence[str], values: Sequence[_T]) -> Iterator[_T]:
    return (value for each, value in zip(kinds, values, strict=True) if each == kind)


def _server_marks(blocks: Sequence[Any], kinds: Sequence[str]) -> Iterator[str]:
    """The calls of server tools that a message leaves unanswered, and the results of such calls in earlier ones."""
    pairs = list(zip(kinds, blocks, strict=True))
    uses = [field(block, "id") for kind, block in pairs if kind.endswith("_tool_use")]
    ends = [field(block, "tool_use_id") for kind, block in pairs if kind.endswith("_tool_result")]
    yield from (_BEGINS + str(each) for each in uses if each not in ends)
    yield from (_ENDS + str(each) for each in ends if each not in uses)


def _block_text(block: Any) -> str:
    """Whatever is text in a block, and in the blocks that are its content."""
    text = field(block, "text")
    if text is not None:
        return as_json(text)
    source = field(block, "source")
    texts = [as_json(field(block, key)) for key in ("title", "name", "input", "thinking")]
    texts.append(_contents(field(block, "content")))
    if field(source, "type") in _READABLE:
        texts += (as_json(field(source, "data")), _contents(field(source, "content")))
    return joined(texts)


def _contents(content: Any) -> str:
    if is_list(content):
        return joined([_block_text(block) for block in content])
    return content if isinstance(content, str) else ""


def _pair(views: Sequence[MessageView]) -> Pairing:
    """Messages with their results; and where a server's tool waits for the caller's, all up to its own result."""
    groups, findings = pair_adjacent(views, ids_once=True)
    begun: dict[str, int] = {}
    spans: dict[int, int] = {}
    for view in views:
        for mark in view.marks:
            if mark.startswith(_BEGINS):
                begun[mark.removeprefix(_BEGINS)] = view.index
            elif mark.startswith(_ENDS):
                call_id = mark.removeprefix(_ENDS)
                if call_id in begun:
                    spans[begun[call_id]] = view.index
                else:
                    findings.append(orphan(view.index, call_id))
    return Pairing(_joined_over(groups, spans) if spans else groups, findings)


def _joined_over(groups: list[list[int]], spans: Mapping[int, int]) -> list[list[int]]:
    """The groups, those that share a span made one. A span goes from one index to another."""
    whole: list[list[int]] = []
    end = -1
    for group in groups:
        if group[0] <= end:
            whole[-1] = sorted(whole[-1] + group)
        else:
            whole.append(group)
        end = max(end, *(spans.get(index, -1) for index in group))
    return whole


ANTHROPIC = Provider(
    _read,
    _pair,
    (faults, first_not_user, misplaced_system, split_results, thinking_not_first, ends_with_assistant),
    needs,
)
