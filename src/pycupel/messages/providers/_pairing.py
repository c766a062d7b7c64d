"""Calls and the results that have to follow them directly, which every provider but Responses demands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pycupel.messages.providers._base import CALL_OPEN, WARNING, Finding, MessageView, Pairing
from pycupel.model.checks import quoted

__all__ = ["orphan", "pair_adjacent", "repeated", "repeated_calls", "unanswered", "waiting"]


def pair_adjacent(views: Sequence[MessageView], *, one_message: bool = False, ids_once: bool = False) -> Pairing:
    """Groups each message that makes calls with the results that follow it.

    With `one_message`, only the very next message may hold results. With `ids_once`, no id may be used again later.
    """
    groups: list[list[int]] = []
    findings: list[Finding] = []
    used: set[str] = set()
    position = 0
    while position < len(views):
        view = views[position]
        position += 1
        groups.append([view.index])
        if view.results:
            findings += (orphan(view.index, each) for each in view.results)
        if view.calls:
            if ids_once or len(view.calls) > 1:
                findings += repeated_calls(view, used)
            if not ids_once:
                used.clear()
            end = _end_of_results(views, position)
            if end == position + 1 and views[position].results == view.calls and len({*view.calls}) == len(view.calls):
                # Most calls are answered in one message.
                groups[-1].append(views[position].index)
                position = end
                continue
            is_open = end == len(views) and views[-1].role != "user"
            findings += _pair(view, views[position:end], groups, one_message=one_message, is_open=is_open)
            position = end
    return Pairing(groups, findings)


def _end_of_results(views: Sequence[MessageView], position: int) -> int:
    """The position after the run of results that starts here. A message that says more than results ends it."""
    while position < len(views) and views[position].results:
        position += 1
        if views[position - 1].role == "user":
            break
    return position


def _pair(
    view: MessageView, answers: Sequence[MessageView], groups: list[list[int]], *, one_message: bool, is_open: bool
) -> Iterator[Finding]:
    """Adds the answers to the group of their call, which is the last one, or as new groups after it."""
    group = groups[-1]
    pending = dict.fromkeys(view.calls)
    made = frozenset(pending)
    for n, answer in enumerate(answers):
        accepted = {} if one_message and n > 0 else pending
        if accepted.keys().isdisjoint(answer.results):
            groups.append([answer.index])
        else:
            group.append(answer.index)
        for each in answer.results:
            if each in accepted:
                del accepted[each]
            elif each in pending or each not in made:
                yield orphan(answer.index, each)
            else:
                yield repeated(answer.index, each)
    for each in pending:
        yield (waiting if is_open else unanswered)(view.index, each)


def repeated_calls(view: MessageView, used: set[str]) -> Iterator[Finding]:
    """The calls whose id was used before; afterwards, theirs are used, too."""
    for each in view.calls:
        if each in used:
            yield repeated(view.index, each)
        used.add(each)


def orphan(index: int, call_id: str) -> Finding:
    return Finding(
        index,
        "orphan-tool-result",
        f"the tool result {quoted(call_id)} matches no pending tool call",
        "Put it directly after the message that makes the call, or drop it.",
    )


def repeated(index: int, call_id: str) -> Finding:
    return Finding(
        index,
        "duplicate-id",
        f"the tool call id {quoted(call_id)} was used before",
        "Give each call an id of its own, and each call one result.",
    )


def unanswered(index: int, call_id: str) -> Finding:
    return Finding(
        index,
        "unanswered-tool-call",
        f"the tool call {quoted(call_id)} has no result where it should follow",
        "Put a result directly after the message that makes the call (an error result is fine), or drop the call.",
    )


def waiting(index: int, call_id: str) -> Finding:
    return Finding(
        index,
        CALL_OPEN,
        f"the tool call {quoted(call_id)} is not answered yet",
        "Append its result before you send the history.",
        WARNING,
    )
