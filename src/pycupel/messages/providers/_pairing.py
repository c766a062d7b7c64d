"""Pair calls with the results that must directly follow them, as every provider except Responses requires."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pycupel.messages.providers._base import CALL_OPEN, WARNING, Finding, MessageView, Pairing
from pycupel.text import quoted

__all__ = ["orphan", "pair_adjacent", "repeated", "repeated_calls", "unanswered", "waiting"]


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
        index, _, _, _, calls, results, _, _, _, _ = view
        groups.append([index])
        if results:
            findings += (orphan(index, each) for each in results)
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
            elif each in pending or each not in made:
                yield orphan(answer.message_index, each)
            else:
                yield repeated(answer.message_index, each)
    for each in pending:
        yield (waiting if is_open else unanswered)(view.message_index, each)


def repeated_calls(view: MessageView, used: set[str]) -> Iterator[Finding]:
    """Report the calls whose id was used before, and mark all ids as used."""
    for each in view.calls:
        if each in used:
            yield repeated(view.message_index, each)
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
        f"the tool call {quoted(call_id)} is not followed by its result",
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
