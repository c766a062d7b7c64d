"""Converse (Amazon Bedrock, and Strands): user and assistant in turns, with blocks that are named by their only field.

Every rule is an error: Bedrock rejects two messages of the same role in a row, so what a cut leaves must alternate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pycupel.errors import MessageShapeError
from pycupel.fields import changed, field, is_mapping, text_of
from pycupel.messages.parts import MessageView, Part, PartReader, view_of
from pycupel.messages.providers._base import CACHED, ERROR, Provider, Rule, one_by_one
from pycupel.messages.providers._rules import (
    EMPTY_TEXT,
    ENDS_WITH_ASSISTANT,
    FIRST_NOT_USER,
    PAIRING_RULES,
    UNKNOWN_TYPE,
    duplicate_tool,
    empty_message,
    excess_cached,
    pair_adjacent,
    system_needs,
)
from pycupel.messages.providers._shapes import entries, id_of, role_of
from pycupel.messages.providers._tables import CACHE_POINT, CALL, RESULT, UNKNOWN
from pycupel.messages.providers.anthropic import ADDS, EMPTY_PROMPT, MISSING_TOOLS, PRICES, REMOVES, settled
from pycupel.text import describe

_ROLES = {"user": "user", "assistant": "assistant", "system": "system"}
# Who may make calls, and who may answer them.
_SPEAKERS = {CALL: "assistant", RESULT: "user"}
_NAMES = {CALL: "toolUse", RESULT: "toolResult"}
# Calls of this type are answered by the model's provider.
_SERVER = "server_tool_use"

_EMPTY_MESSAGE = empty_message("text nor other blocks")
# "The text field in the ContentBlock object is blank"
_EMPTY_TEXT = EMPTY_TEXT._replace(
    severity=ERROR,
    requires="no text is empty or whitespace only",
    sentence="the message has an empty or whitespace-only text",
    remedy="Remove the text, or the whole message if it holds nothing else.",
)


def _read(message: Any, index: int, reader: PartReader) -> MessageView:
    role = role_of(message, index, _ROLES)
    blocks = entries(field(message, "content"), index, "content", "a list of blocks")
    for n, block in enumerate(blocks):
        if not is_mapping(block) and not hasattr(block, "__dict__"):
            raise MessageShapeError(f"must be a block of Converse, not {describe(block)}", index, f"content[{n}]")
    parts = [_with_id(part, blocks, role, index) for part in reader(message)]
    points = sum(field(block, CACHE_POINT) is not None for block in blocks)
    results = sum(part.kind == RESULT and part.id is not None for part in parts)
    unknown = sum(part.kind == UNKNOWN and len(part.path) == 2 for part in parts)
    speaker = "tool" if results and results == len(blocks) - points - unknown else role
    marks = [*_marks(blocks), *(CACHED,) * points, *(_tool_marks(blocks) if role == "system" else ())]
    return view_of(index, speaker, parts, reader.overhead, tuple(marks))


def _with_id(part: Part, blocks: Sequence[Any], role: str, index: int) -> Part:
    """Check the id of a call of the caller's tools, or of a result; what the provider answers itself has none."""
    name = _NAMES.get(part.kind)
    if name is None or part.path[2:] != (name,):
        return part
    n = part.path[1]
    block = field(blocks[int(n)], name)
    if _SPEAKERS[part.kind] != role or text_of(block, "type") == _SERVER:
        return part._replace(id=None)
    id_of(part.id, index, f"content[{n}].{name}.toolUseId")
    return part


def _marks(blocks: Sequence[Any]) -> Iterator[str]:
    if not blocks:
        yield _EMPTY_MESSAGE.id
    texts = [field(block, "text") for block in blocks]
    if any(isinstance(text, str) and not text.strip() for text in texts):
        yield EMPTY_TEXT.id


def _tool_marks(blocks: Sequence[Any]) -> Iterator[str]:
    """Mark the tools that a system message adds or removes, as in Anthropic's messages."""
    for block in blocks:
        for name, change in (("toolAddition", ADDS), ("toolRemoval", REMOVES)):
            tool = field(field(block, name), "tool")
            if tool is not None:
                yield f"{change}{text_of(tool, 'serverName')}/{text_of(tool, 'name')}"


def _side(view: MessageView) -> str:
    """Return whose turn a message is: results are the user's."""
    return "user" if view.role == "tool" else view.role


def _in_a_row(views: Sequence[MessageView]) -> Iterator[tuple[int]]:
    """Find messages that are followed by another one of the same role.

    The later one stays, because it may be the newest question. What is left alternates: with a result goes its call,
    and so the message before that one may be followed by one of its own role.
    """
    left: list[MessageView] = []
    for view in views:
        if view.role == "system":
            continue
        while left and _side(left[-1]) == _side(view):
            last = left.pop()
            yield (last.message_index,)
            if last.results and left and set(last.results) & set(left[-1].calls):
                left.pop()
        left.append(view)


_RULES = (
    FIRST_NOT_USER,
    Rule(
        "same-role",
        ERROR,
        "the roles of messages alternate",
        "the message is followed by another one of the same role",
        "Merge the two into one message, or drop one of them.",
        _in_a_row,
    ),
    ENDS_WITH_ASSISTANT,
)


def _needs(units: Mapping[int, Sequence[MessageView]]) -> dict[int, tuple[int, ...]]:
    """What the user said or answered needs the last message of its turn, without which the next one would follow it.

    A system message needs its neighbours.
    """
    needed = system_needs(units)
    waiting: list[int] = []
    for index, members in units.items():
        if members[0].role == "system":
            continue
        if members[0].opens_turn:
            waiting = []
        if _side(members[-1]) == "user":
            waiting.append(index)
        else:
            needed.update(dict.fromkeys(waiting, (index,)))
    return needed


def _merge(first: Any, second: Any) -> Any:
    """Put the blocks of a user message before those of the next one, because they cannot follow each other."""
    return changed(second, content=[*field(first, "content"), *field(second, "content")])


CONVERSE = Provider(
    "converse",
    one_by_one(_read),
    partial(pair_adjacent, one_message=True, ids_once=True),
    PAIRING_RULES,
    (_EMPTY_MESSAGE, _EMPTY_TEXT),
    _RULES,
    _needs,
    PRICES,
    (
        UNKNOWN_TYPE,
        excess_cached("excess-cache-points", ERROR, CACHE_POINT, 4, "Keep the last ones; system and tools count, too."),
    ),
    (duplicate_tool(ERROR), EMPTY_PROMPT, MISSING_TOOLS._replace(severity=ERROR)),
    merge=_merge,
    system_beside=True,
    typical_model="claude",
    settle=settled,
)
