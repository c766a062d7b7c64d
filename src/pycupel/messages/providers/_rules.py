"""Rules that several providers share, and the pairing of calls with the results that must directly follow them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pycupel.fields import field, filled, is_filled, is_list, text_of
from pycupel.messages.parts import MessageView
from pycupel.messages.providers._base import (
    CACHED,
    COMPACTION,
    ERROR,
    OUTSIDE,
    WARNING,
    Check,
    Finding,
    Pairing,
    Rule,
    Severity,
)
from pycupel.messages.providers._tables import ITEM_TYPES, PART_TYPES, ROLES, STEP_TYPES, TEXTS, UNKNOWN, known_fields
from pycupel.text import quoted

# The mark of an assistant message that the model is asked to continue.
PREFIX = "prefix"

ORPHAN = Rule(
    "orphan-tool-result",
    ERROR,
    "a result follows the message that makes its call",
    "the tool result {} matches no pending tool call",
    "Put it directly after the message that makes the call, or drop it.",
)
REPEATED = Rule(
    "duplicate-id",
    ERROR,
    "an id belongs to one call, which has one result",
    "the tool call id {} was used before",
    "Give each call an id of its own, and each call one result.",
)
UNANSWERED = Rule(
    "unanswered-tool-call",
    ERROR,
    "every call is answered before anything else follows",
    "the tool call {} is not followed by its result",
    "Put a result directly after the message that makes the call (an error result is fine), or drop the call.",
)
OPEN = Rule(
    "open-tool-call",
    WARNING,
    "calls at the end are answered before the history is sent",
    "the tool call {} is not answered yet",
    "Append its result before you send the history.",
)
# All providers require these: autogen#3178, litellm#10696; for Responses, vercel/ai#7099, continue#8933; for Anthropic,
# claude-code#8612, #28515, anthropic-sdk-typescript#653; for Gemini, gemini-cli#11814, langchain#27799,
# python-genai#529.
PAIRING_RULES = (ORPHAN, UNANSWERED, OPEN, REPEATED)

# A warning, because only some models and servers reject empty texts.
EMPTY_TEXT = Rule(
    "empty-text",
    WARNING,
    "no text is empty (some models and servers reject it)",
    "the message has an empty text, which some models reject",
    "Remove the empty text, or the whole message.",
)


def _of_unknown_types(views: Sequence[MessageView]) -> Iterator[tuple[int, str, str, str]]:
    for view in views:
        if UNKNOWN in view.marks:
            # None is left if it was in a result that has been shortened.
            for part in [part for part in view.parts if part.kind == UNKNOWN][:1]:
                yield view.message_index, part.arguments, quoted(part.tool), _nearest(part.tool, part.arguments)


def _nearest(name: str, what: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only names that are newer than these tables need it

    known = {"role": ROLES, "field": known_fields()}.get(what) or {*PART_TYPES, *ITEM_TYPES, *STEP_TYPES}
    if name in known:
        return "other providers, or other places of a message, have it"
    # The names of types are short; a long one takes time that grows with its length.
    return f"the nearest known one is {quoted(get_close_matches(name[:64], sorted(known), n=1, cutoff=0.0)[0])}"


# A warning, because providers have new types before this library has them.
UNKNOWN_TYPE = Rule(
    "unknown-type",
    WARNING,
    "types of parts and items, and roles, are known",
    "the {} {} is unknown; {}",
    "It is kept as it is, and counted as its JSON; correct the name if it is misspelt.",
    _of_unknown_types,
)


def excess_cached(rule_id: str, severity: Severity, field_name: str, most: int, remedy: str) -> Rule:
    """Make the rule against more parts that ask for caching than the provider takes."""

    def check(views: Sequence[MessageView]) -> Iterator[tuple[int]]:
        count = 0
        for view in views:
            cached = view.marks.count(CACHED)
            count += cached
            if cached and count > most:
                yield (view.message_index,)

    return Rule(
        rule_id,
        severity,
        f"no more than {'four' if most == 4 else most} blocks have {field_name}",
        f"the history has more than {most} blocks with {field_name}",
        remedy,
        check,
    )


def empty_message(parts: str) -> Rule:
    """Make the rule against messages that have neither of these parts."""
    # "[] is too short - 'messages.0.content'"
    return Rule(
        "empty-message",
        ERROR,
        "a message has a content, parts or calls",
        f"the message has neither {parts}",
        "Drop the message.",
    )


def pair_adjacent(views: Sequence[MessageView], *, one_message: bool = False, ids_once: bool = False) -> Pairing:
    """Group each message that makes calls with the results that follow it.

    With `one_message`, only the very next message may have results. With `ids_once`, no id may be used again later.
    """
    groups: list[list[int]] = []
    findings: list[Finding] = []
    used: set[str] = set()
    end = 0
    for position, view in enumerate(views):
        if position < end:
            continue
        index, calls, results = view[0], view[4], view[5]
        groups.append([index])
        if results:
            findings += (ORPHAN.at(index, quoted(each)) for each in results)
        if not calls:
            continue
        ids = {*calls}
        if ids_once or len(ids) < len(calls):
            findings += repeated_calls(view, used)
        if not ids_once:
            used.clear()
        # The results directly after the calls; a message with anything else ends the run.
        end = position + 1
        answers: list[int] = []
        answered: list[str] = []
        while end < len(views) and views[end].results:
            answers.append(views[end].message_index)
            answered += views[end].results
            end += 1
            if views[end - 1].role == "user":
                break
        is_whole = len(ids) == len(calls) == len(answered) and ids == {*answered}
        if is_whole and (len(answers) == 1 or not one_message):
            # Most calls have one result each.
            groups[-1] += answers
            continue
        is_open = end == len(views) and views[-1].role != "user"
        findings += _pair(view, views[position + 1 : end], groups, one_message=one_message, is_open=is_open)
    return groups, findings


def _pair(
    view: MessageView, answers: Sequence[MessageView], groups: list[list[int]], *, one_message: bool, is_open: bool
) -> Iterator[Finding]:
    """Add the answers to the group of their call, which is the last one, or as new groups after it."""
    group = groups[-1]
    pending = dict.fromkeys(view.calls)
    made = frozenset(pending)
    for n, answer in enumerate(answers):
        accepted = {} if one_message and n > 0 else pending
        if accepted.keys().isdisjoint(answer.results):
            groups.append([answer.message_index])
        else:
            group.append(answer.message_index)
        for each in answer.results:
            if each in accepted:
                del accepted[each]
            else:
                rule = ORPHAN if each in pending or each not in made else REPEATED
                yield rule.at(answer.message_index, quoted(each))
    for each in pending:
        yield (OPEN if is_open else UNANSWERED).at(view.message_index, quoted(each))


def repeated_calls(view: MessageView, used: set[str]) -> Iterator[Finding]:
    """Report the calls whose id was used before, and mark all ids as used."""
    for each in view.calls:
        if each in used:
            yield REPEATED.at(view.message_index, quoted(each))
        used.add(each)


def merge_spans(groups: list[list[int]], spans: Mapping[int, int]) -> list[list[int]]:
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


def has_empty_text(content: Any) -> bool:
    """Whether a content is an empty text, or has one among its parts."""
    if not is_list(content):
        return not is_filled(content)
    return not content or any(
        not part if isinstance(part, str) else text_of(part, "type") in TEXTS and not is_filled(field(part, "text"))
        for part in content
    )


def system_neighbours(roles: Sequence[str]) -> Iterator[tuple[int, int | None, int | None]]:
    """Return the index of each system role, with the nearest indices before and after it that have another role."""
    before: int | None = None
    run: list[int] = []
    for n, role in enumerate(roles):
        if role == "system":
            run.append(n)
            continue
        yield from ((each, before, n) for each in run)
        run.clear()
        before = n
    yield from ((each, before, None) for each in run)


def system_needs(units: Mapping[int, Sequence[MessageView]]) -> dict[int, tuple[int, ...]]:
    """Return the units between which each system message stands, except those at the start, by unit index."""
    indices = list(units)
    neighbours = system_neighbours([units[index][0].role for index in indices])
    return {
        indices[n]: tuple([indices[near] for near in (before, after) if near is not None])
        for n, before, after in neighbours
        if before is not None
    }


def system_where(is_wrong: Callable[[str, str], bool]) -> Check:
    """Make the check of system messages between two roles, each empty at the start or the end of the history."""

    def check(views: Sequence[MessageView]) -> Iterator[tuple[int]]:
        roles = [view.role for view in views]
        for n, before, after in system_neighbours(roles):
            if is_wrong("" if before is None else roles[before], "" if after is None else roles[after]):
                yield (views[n].message_index,)

    return check


def _speaks_first(views: Sequence[MessageView]) -> Iterator[tuple[int]]:
    """Find assistant messages before the first user message, except one with the results of its own calls."""
    for view in views:
        if view.opens_turn or COMPACTION in view.marks:
            # A compaction comes first, in place of what it stands for.
            return
        if view.role == "assistant":
            yield (view.message_index,)


FIRST_NOT_USER = Rule(
    "first-not-user",
    ERROR,
    "the user speaks first",
    "an assistant message precedes the first user message",
    "Start the history with a user message.",
    _speaks_first,
)


def _speaks_last(views: Sequence[MessageView]) -> Iterator[tuple[int]]:
    if views and views[-1].role == "assistant" and not views[-1].calls and PREFIX not in views[-1].marks:
        yield (views[-1].message_index,)


# A warning, because a user message may still be appended, and some models continue the last message.
ENDS_WITH_ASSISTANT = Rule(
    "ends-with-assistant",
    WARNING,
    "the last message is the user's or a tool's",
    "the history ends with an assistant message, which only some models continue",
    "Append a user message before you send the history.",
    _speaks_last,
)


def _defined_twice(
    _system: Any, tools: Iterable[Any] | None, _views: Sequence[MessageView]
) -> Iterator[tuple[Any, ...]]:
    names = (
        text_of(each, "name") or text_of(filled(each, "function", "custom", "toolSpec"), "name") for each in tools or ()
    )
    for name, number in Counter(filter(None, names)).items():
        if number > 1:
            yield OUTSIDE, quoted(name)


def duplicate_tool(severity: Severity) -> Rule:
    """Make the rule against tools with the same name."""
    # "Tool names must be unique" (claude-code#10687)
    return Rule(
        "duplicate-tool",
        severity,
        "tools have different names (with `tools=`)",
        "the tool {} is defined more than once",
        "Rename the tool, or remove the duplicate definitions.",
        _defined_twice,
    )
