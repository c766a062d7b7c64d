"""Anthropic Messages: blocks inside messages, results in the next user message, signed thinking."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from pycupel.errors import MessageShapeError
from pycupel.fields import field, filled, is_filled, is_list, text_of
from pycupel.messages.parts import MessageView, PartReader, view_of
from pycupel.messages.providers._base import (
    BEGINS,
    CACHED,
    COMPACTION,
    ENDED,
    ENDS,
    ERROR,
    FOREIGN,
    LASTING,
    OUTSIDE,
    PASSING,
    WARNING,
    Pairing,
    Provider,
    Rule,
    one_by_one,
)
from pycupel.messages.providers._rules import (
    EMPTY_TEXT,
    ENDS_WITH_ASSISTANT,
    FIRST_NOT_USER,
    ORPHAN,
    PAIRING_RULES,
    UNANSWERED,
    UNKNOWN_TYPE,
    duplicate_tool,
    excess_cached,
    merge_spans,
    pair_adjacent,
    system_needs,
    system_where,
)
from pycupel.messages.providers._shapes import entries, id_of, role_of
from pycupel.messages.providers._tables import CACHE_CONTROL, PART_TYPES, THINKING, TOOL, UNKNOWN, Prices
from pycupel.text import describe, quoted

_ROLES = {"user": "user", "assistant": "assistant", "system": "system"}
# The blocks of the caller's tools, each with its meaning.
_PAIRED = {kind: meaning for kind, meaning in PART_TYPES.items() if meaning.only == "anthropic" and meaning.needs_id}
_USE, _RESULT = _PAIRED

# Marks, before the name of a tool: what a system message does with it.
ADDS, _DEFINES, REMOVES = "adds ", "defines ", "removes "
_TOOL_MARKS = (ADDS, _DEFINES, REMOVES)
_CHANGES = {"tool_addition": ADDS, "tool_removal": REMOVES}
_COMPACTION = "compaction"

# claude-code#23440, #73821
_EMPTY_TEXT = EMPTY_TEXT._replace(
    severity=ERROR,
    requires="no text is empty or whitespace only",
    sentence="the message has an empty or whitespace-only text block",
    remedy="Remove the text block, or the whole message if it holds nothing else.",
)
_TEXT_BEFORE_RESULT = Rule(
    "text-before-result",
    ERROR,
    "tool results stand at the start of their message",
    "other content precedes the tool results in the message",
    "Move the tool results to the start of the message.",
)
# n8n#22550
_UNSIGNED_THINKING = Rule(
    "unsigned-thinking",
    ERROR,
    "thinking blocks keep their signature",
    "the message has a thinking block without its signature",
    "Send thinking blocks back unchanged, or not at all.",
)
# "tool_use.input: Input should be a valid dictionary" (anthropic-sdk-typescript#648). As an error, it would make a
# selection drop the exchange, even an open one; some libraries parse JSON.
_ODD_INPUT = Rule(
    "odd-input",
    WARNING,
    "the input of a call is an object (some libraries parse JSON)",
    "the input of a tool call is not an object",
    "Parse it if it is JSON; if there are no arguments, send {}.",
)


def _read(message: Any, index: int, reader: PartReader) -> MessageView:
    get = message.get if message.__class__ is dict else partial(field, message)
    role, content = get("role"), get("content")
    if role.__class__ is not str or role not in _ROLES:
        role = role_of(message, index, _ROLES)
    if role == "system" and (get("clear_at") is not None or not isinstance(content, str)):
        return _read_system(message, index, reader)
    if isinstance(content, str):
        marks = (EMPTY_TEXT.id,) if not content.strip() else (_TRAILING_SPACE.id,) if content[-1].isspace() else ()
        return view_of(index, role, reader(message), reader.overhead, marks)
    blocks = entries(content, index, "content", "a string or a list of blocks")
    kinds = [_kind(block, role, index, n) for n, block in enumerate(blocks)]
    results = kinds.count(_RESULT)
    speaker = "tool" if results and results == len([kind for kind in kinds if kind in PART_TYPES]) else role
    view = view_of(index, speaker, reader(message), reader.overhead, tuple(_marks(blocks, kinds, results)))
    return _compacted(view, blocks, kinds) if _COMPACTION in kinds else view


def _compacted(view: MessageView, blocks: Sequence[Any], kinds: Sequence[str]) -> MessageView:
    """Mark a message with a compaction that did not fail; what it has before that is sent, but not counted.

    In a message that is rejected it stands for nothing, because otherwise what it stands for would be lost with it.
    """
    places = [n for n, kind in enumerate(kinds) if kind == _COMPACTION and is_filled(field(blocks[n], "content"))]
    if not places or EMPTY_TEXT.id in view.marks or _UNSIGNED_THINKING.id in view.marks:
        return view
    last = places[-1]
    # Other fields of the message, such as a name, are no blocks, and stand nowhere.
    where = [part.path[1] if part.path[:1] == ("content",) else last for part in view.parts]
    before = [n for n, place in enumerate(where) if int(place) < last]
    parts = [part._replace(tokens=0) if n in before else part for n, part in enumerate(view.parts)]
    after = [part.kind for part, place in zip(parts, where, strict=True) if int(place) > last and part.kind != UNKNOWN]
    return view._replace(
        tokens=view.tokens - sum([view.parts[n].tokens for n in before]),
        reasoning=after[:1] == [THINKING],
        marks=(*view.marks, COMPACTION),
        parts=tuple(parts),
    )


def _read_system(message: Any, index: int, reader: PartReader) -> MessageView:
    """Read a system message that may change the tools, or be there for one turn only."""
    content = field(message, "content")
    # It may have only options.
    has_blocks = content is not None and not isinstance(content, str)
    blocks = entries(content, index, "content", "a string or a list of blocks") if has_blocks else ()
    kinds = [_kind(block, "system", index, n) for n, block in enumerate(blocks)]
    found = _marks(blocks, kinds, 0) if has_blocks else ()
    marks = [*found, *map(_tool_mark, kinds, blocks)]
    if text_of(message, "clear_at") == "next_user_message":
        marks.append(PASSING)
    return view_of(index, "system", reader(message), reader.overhead, tuple(filter(None, marks)))


def _tool_mark(kind: str, block: Any) -> str:
    """Return a mark for a change of the tools; an empty text for any other block."""
    if kind not in _CHANGES:
        return ""
    tool = field(block, "tool")
    definition = field(tool, "definition")
    named = tool if definition is None else definition
    # Two MCP servers may have tools of the same name.
    name = f"{filled(named, 'mcp_server_name', 'server_name') or ''}/{filled(named, 'tool_name', 'name') or ''}"
    return (_DEFINES if definition is not None else _CHANGES[kind]) + name


def _kind(block: Any, role: str, index: int, n: int) -> str:
    """Return the type of a block, checked: it must be one, in the right message, and calls and results need ids."""
    kind = block.get("type") if block.__class__ is dict else field(block, "type")
    paired = _PAIRED.get(kind) if isinstance(kind, str) else None
    if paired is not None and paired.role == role:
        [name] = paired.ids
        own = block.get(name) if block.__class__ is dict else field(block, name)
        if own.__class__ is not str or not own:
            id_of(own, index, f"content[{n}].{name}")
    elif paired is not None:
        raise MessageShapeError(
            f"{kind} blocks are only allowed in {paired.role} messages", index, f"content[{n}].type"
        )
    if isinstance(kind, str):
        return kind
    wrong = f"must be a string naming the block's type, not {describe(kind)}"
    raise MessageShapeError(
        f"block has no type: {describe(block)}" if kind is None else wrong, index, f"content[{n}].type"
    )


def _marks(blocks: Sequence[Any], kinds: Sequence[str], results: int) -> Iterator[str]:
    found = set[str]()
    cached = 0
    for kind, block in zip(kinds, blocks, strict=True):
        get = block.get if block.__class__ is dict else partial(field, block)
        if kind in _FAULTS:
            name, is_wrong, mark = _FAULTS[kind]
            if is_wrong(get(name)):
                found.add(mark)
        if get(CACHE_CONTROL) is not None:
            cached += is_filled(get(CACHE_CONTROL))
        content = get("content") if kind == _RESULT else None
        if content.__class__ is not str and is_list(content):
            cached += sum(is_filled(field(part, CACHE_CONTROL)) for part in content)
    if not blocks or EMPTY_TEXT.id in found:
        yield EMPTY_TEXT.id
    if results and [kind for kind in kinds if kind in PART_TYPES][:results].count(_RESULT) < results:
        yield _TEXT_BEFORE_RESULT.id
    yield from (mark for mark in (_UNSIGNED_THINKING.id, _ODD_INPUT.id) if mark in found)
    last = field(blocks[-1], "text") if kinds and kinds[-1] == "text" else None
    if isinstance(last, str) and last[-1:].isspace():
        yield _TRAILING_SPACE.id
    yield from (CACHED,) * cached
    if any("_tool_" in kind and kind in PART_TYPES for kind in kinds):
        yield from _server_marks(blocks, kinds)


def _is_blank(text: Any) -> bool:
    return not text.strip() if isinstance(text, str) else not is_filled(text)


def _is_no_object(value: Any) -> bool:
    is_plain = value is None or isinstance(value, (str, bytes, int, float))
    return is_plain or (value.__class__ is not dict and is_list(value))


# The field of a block that may be wrong, how, and the mark for that.
_FAULTS: Mapping[str, tuple[str, Callable[[Any], bool], str]] = {
    "text": ("text", _is_blank, EMPTY_TEXT.id),
    "thinking": ("signature", lambda value: not is_filled(value), _UNSIGNED_THINKING.id),
    _USE: ("input", _is_no_object, _ODD_INPUT.id),
}


def _server_marks(blocks: Sequence[Any], kinds: Sequence[str]) -> Iterator[str]:
    """Return a message's unanswered calls of server tools, and its results of such calls in earlier messages."""
    pairs = [(kind, block) for kind, block in zip(kinds, blocks, strict=True) if kind in PART_TYPES]
    uses = [text_of(block, "id") for kind, block in pairs if kind.endswith("_tool_use")]
    ends = [text_of(block, "tool_use_id") for kind, block in pairs if kind.endswith("_tool_result")]
    begun, ended = set(uses), set(ends)
    yield from (BEGINS + each for each in uses if each not in ended)
    yield from (ENDS + each for each in ends if each not in begun)


def settled(views: Sequence[MessageView]) -> list[MessageView]:
    """Find what later messages have ended: texts that are only for one turn, and tools that are gone again.

    A message that changes the tools lasts while a change of it is the newest one of its tool. The removal of a tool
    that a message defined only ends that definition. A compaction stands for nothing if calls of its message will never
    be answered, because then the message is rejected.
    """
    views = [view if COMPACTION not in view.marks else _without_lost(view, views) for view in views]
    if not any(view.role == "system" and view.marks for view in views):
        # Most histories have no such messages.
        return views
    changes = {name: view.message_index for view in views for name in _tools_in(view.marks, *_TOOL_MARKS)}
    defined = {name for view in views for name in _tools_in(view.marks, _DEFINES)}
    last_user = max((view.message_index for view in views if view.role in ("user", "tool")), default=-1)
    settled: list[MessageView] = []
    for view in views:
        index, marks = view.message_index, tuple([mark for mark in view.marks if mark not in (LASTING, ENDED)])
        added = any(changes[name] == index for name in _tools_in(marks, ADDS, _DEFINES))
        removed = any(changes[name] == index and name not in defined for name in _tools_in(marks, REMOVES))
        if added or removed:
            marks = (*marks, LASTING)
        if PASSING in marks and index < last_user:
            # The text is gone, but not the tools.
            tools = tuple([part for part in view.parts if part.kind == TOOL])
            view = view._replace(tokens=sum([part.tokens for part in tools]), text="", parts=tools)  # noqa: PLW2901
            marks = marks if LASTING in marks else (*marks, ENDED)
        settled.append(view if marks == view.marks else view._replace(marks=marks))
    return settled


def _without_lost(view: MessageView, views: Sequence[MessageView]) -> MessageView:
    """Take the mark of a compaction from a message with calls that are not answered where they have to be."""
    rest = [each for each in views[view.message_index :] if FOREIGN not in each.marks]
    if (view.message_index, UNANSWERED.id) not in [(each.index, each.rule) for each in pair_adjacent(rest)[1]]:
        return view
    return view._replace(marks=tuple([mark for mark in view.marks if mark != COMPACTION]))


def _tools_in(marks: Sequence[str], *prefixes: str) -> Iterator[str]:
    """Return the names of the tools that a message adds, defines or removes."""
    return (mark.removeprefix(prefix) for mark in marks for prefix in prefixes if mark.startswith(prefix))


def _pair(views: Sequence[MessageView]) -> Pairing:
    """Group calls with their results. If a server tool waits for the caller's results, add everything up to its own."""
    groups, findings = pair_adjacent(views, ids_once=True)
    begun: dict[str, int] = {}
    spans: dict[int, int] = {}
    for view in views:
        for mark in view.marks:
            if mark.startswith(BEGINS):
                begun[mark.removeprefix(BEGINS)] = view.message_index
            elif mark.startswith(ENDS):
                call_id = mark.removeprefix(ENDS)
                if call_id in begun:
                    spans[begun[call_id]] = view.message_index
                else:
                    findings.append(ORPHAN.at(view.message_index, quoted(call_id)))
    return merge_spans(groups, spans) if spans else groups, findings


def _needs(units: Mapping[int, Sequence[MessageView]]) -> dict[int, tuple[int, ...]]:
    """A system message needs its neighbours; an answer without thinking needs the last thinking of its turn.

    A change of a tool needs the message that defines it.
    """
    needed = system_needs(units)
    thoughts: int | None = None
    defined: dict[str, int] = {}
    for index, members in units.items():
        if members[0].reasoning:
            thoughts = index
        elif members[0].role == "assistant" and thoughts is not None:
            needed[index] = (thoughts,)
        if any(view.opens_turn for view in members):
            thoughts = None
        if members[0].role == "system" and members[0].marks:
            changed = [name for name in _tools_in(members[0].marks, ADDS, REMOVES) if name in defined]
            needed[index] = (*needed.get(index, ()), *(defined[name] for name in changed))
            defined.update(dict.fromkeys(_tools_in(members[0].marks, _DEFINES), index))
    return needed


def _split(views: Sequence[MessageView]) -> Iterator[tuple[int]]:
    return ((view.message_index,) for before, view in pairwise(views) if before.results and view.results)


def _starts_without_thinking(views: Sequence[MessageView]) -> Iterator[tuple[int]]:
    spoken: list[MessageView] = []
    for view in views:
        if view.opens_turn:
            spoken = []
        elif view.role == "assistant":
            spoken.append(view)
    if any(view.calls for view in spoken) and not spoken[0].reasoning and any(view.reasoning for view in views):
        yield (spoken[0].message_index,)


def _ends_with_space(views: Sequence[MessageView]) -> Iterator[tuple[int]]:
    if views and views[-1].role == "assistant" and _TRAILING_SPACE.id in views[-1].marks:
        yield (views[-1].message_index,)


# "final assistant content cannot end with trailing whitespace" (crewAI#4413). A warning, because a user message may
# still be appended.
_TRAILING_SPACE = Rule(
    "trailing-space",
    WARNING,
    "a text of the assistant at the end does not end with whitespace",
    "the assistant message at the end has a text that ends with whitespace",
    "Strip the text, or append a user message.",
    _ends_with_space,
)
_RULES = (
    FIRST_NOT_USER,
    Rule(
        "system-first",
        WARNING,
        "the first system prompt is a parameter of the request",
        "a system message precedes the first user message",
        "Send it as the system parameter.",
        system_where(lambda before, _: not before),
    ),
    Rule(
        "system-misplaced",
        ERROR,
        "a system message is between a user message and its answer, or at the end",
        "a system message is not between a user message and the assistant's answer to it",
        "Move it directly after a user message that is followed by an assistant message or is the last one.",
        system_where(lambda before, after: before == "assistant" or (before != "" and after not in ("", "assistant"))),
    ),
    # A warning: Anthropic merges consecutive user messages, but other servers with its protocol do not.
    Rule(
        "split-results",
        WARNING,
        "the results of parallel calls are in one message",
        "the results of parallel calls are spread over several messages",
        "Put all the results into one user message.",
        _split,
    ),
    # A warning, because the history does not show whether the request enables thinking.
    Rule(
        "thinking-not-first",
        WARNING,
        "with thinking, the last turn starts with a thinking block",
        "the last turn uses tools but does not start with a thinking block, which requests with thinking need",
        "Keep the thinking block that starts the turn, or disable thinking.",
        _starts_without_thinking,
    ),
    ENDS_WITH_ASSISTANT,
    _TRAILING_SPACE,
)


# "A maximum of 4 blocks with cache_control may be provided"
_EXCESS_CACHE_CONTROL = excess_cached(
    "excess-cache-control",
    ERROR,
    CACHE_CONTROL,
    4,
    "Keep cache_control on the last blocks only; system and tools count, too.",
)


def _empty_prompt(system: Any, _tools: Sequence[Any] | None, _views: Sequence[MessageView]) -> Iterator[tuple[int]]:
    blocks = system if is_list(system) else [system]
    texts = [block if isinstance(block, str) else field(block, "text") for block in blocks]
    if any(isinstance(text, str) and not text.strip() for text in texts):
        yield (OUTSIDE,)


def _undefined_tools(_system: Any, tools: Sequence[Any] | None, views: Sequence[MessageView]) -> Iterator[tuple[int]]:
    first = next((view.message_index for view in views if view.calls or view.results), None)
    if first is not None and tools is not None and not tools:
        yield (first,)


EMPTY_PROMPT = _EMPTY_TEXT._replace(
    requires="no text of the system prompt is empty (with `system=`)",
    sentence="the system prompt has an empty or whitespace-only text",
    remedy="Remove the empty text.",
    check=_empty_prompt,
)
# A warning, because only some servers reject it, such as Bedrock (anthropic-sdk-python#494).
MISSING_TOOLS = Rule(
    "missing-tools",
    WARNING,
    "a history with calls needs definitions (with `tools=`)",
    "the history has tool calls, but the request defines no tools",
    "Include the tool definitions in the request.",
    _undefined_tools,
)

PRICES = Prices(call=88, tool=16, tools=346, image=1600, small_image=1600, file=3100)

ANTHROPIC = Provider(
    "anthropic",
    one_by_one(_read),
    _pair,
    PAIRING_RULES,
    (_EMPTY_TEXT, _TEXT_BEFORE_RESULT, _UNSIGNED_THINKING, _ODD_INPUT),
    _RULES,
    _needs,
    PRICES,
    (UNKNOWN_TYPE, _EXCESS_CACHE_CONTROL),
    (duplicate_tool(ERROR), EMPTY_PROMPT, MISSING_TOOLS),
    system_beside=True,
    also_reads=(None,),
    typical_model="claude",
    settle=settled,
)
