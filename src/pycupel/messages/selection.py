"""`select_messages`: the part of a chat history that fits, that no provider refuses, and that begins like the last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from pycupel.diagnostics import ExclusionReason
from pycupel.errors import InvalidArgumentError, UnitTooLargeError
from pycupel.messages.choice import choose
from pycupel.messages.documents import checked_documents, newest_of_each, read_documents
from pycupel.messages.history import History, read_history
from pycupel.messages.plan import Plan, limits_of, make_plan
from pycupel.messages.result import Dropped, MessageSelection
from pycupel.messages.shapes import checked_messages
from pycupel.messages.slicing import document_share
from pycupel.model import ContextBudget
from pycupel.model.checks import checked_bool, wrong_type
from pycupel.pipeline import Policy
from pycupel.pipeline.policy import as_policy
from pycupel.tokens import get_counter

__all__ = ["select_messages"]

_NOT_CONTINUED = "the history does not start with that of the previous selection, which therefore was not kept"


def select_messages(
    messages: Sequence[Any],
    budget: ContextBudget | int,
    *,
    provider: str = "auto",
    policy: Policy | str = "chat",
    unit: str = "auto",
    counter: Any = "auto",
    pin: Any = None,
    previous: MessageSelection | None = None,
    documents: Iterable[Any] | None = None,
    too_large: str = "drop",
    explain: bool = False,
) -> MessageSelection:
    """Select from a chat history what fits into a budget, so that the provider accepts it.

    A tool call, its results and its reasoning stay together, with the user message that they are about. The system
    prompt, the last user message and the exchange that is open or last stay in any case. The order does not change.

    Nothing is dropped until the history outgrows `max_tokens - output_reserve`. Then it is cut to `target_tokens`, so
    that the following calls only append to it: pass the last selection as `previous`, and it stays as it is until the
    next cut.

    Args:
        messages: Dicts or the SDK's objects; neither is changed.
        budget: The limits, or a number of tokens, of which 65 % are then the target.
        provider: openai, responses, anthropic, gemini or mistral; auto tells them apart by shape.
        policy: What ranks the history, or the name of a preset.
        unit: "auto" drops exchanges and messages one by one, "turn" whole turns.
        counter: Counts tokens: a function from str to int, or what `pycupel.tokens.get_counter` takes.
        pin: Messages that must stay: their indices, or a function that is asked about each.
        previous: The selection from the last call with this history.
        documents: Retrieved texts that share the budget; see `documents` of the result.
        too_large: What happens to an old unit that is larger than the budget: "drop" or "error".
        explain: Whether the result should have a report.

    Raises:
        UnitTooLargeError: what must stay does not fit; or something else does not, and `too_large` is "error".
        MessageShapeError: a message has a shape that the provider does not know.
        ProviderAmbiguousError: nobody can tell which provider the history is for.
    """
    if too_large not in ("drop", "error"):
        raise InvalidArgumentError(f"too_large must be 'drop' or 'error', not {too_large!r}", argument="too_large")
    if previous is not None and not isinstance(previous, MessageSelection):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("previous", "a MessageSelection", previous)
    rules = as_policy(policy)
    source = tuple(checked_messages(messages))
    counts = get_counter(counter)
    history = read_history(source, provider, unit, counts, pin)
    given = [] if documents is None else checked_documents(documents)
    hits, replaced = newest_of_each(read_documents(given, counts))
    known = previous if previous is not None and previous.continues(source) else None
    sizes = {hit.place: hit.item.tokens for hit in hits}
    share = document_share(rules.slicer, [hit.item for hit in hits])
    plan = make_plan(history, hits, limits_of(budget, counts.margin_percent), share, known)
    if too_large == "error":
        _refuse_too_large(history, plan)
    choice = choose(history, plan, hits, replaced, rules, explain=checked_bool("explain", explain))
    kept = sorted([i for place in choice.units for i in history.units[place].indices])
    tokens = history.tokens
    return MessageSelection(
        messages=[source[i] for i in kept],
        total_tokens=sum([tokens[i] for i in kept]) + sum([sizes[place] for place in choice.documents]),
        dropped=_dropped((history.units[place].indices, reason) for place, reason in choice.reasons.items()),
        documents=[given[place] for place in choice.documents],
        dropped_documents=_dropped(((place,), reason) for place, reason in choice.document_reasons.items()),
        kept=tuple(kept),
        stable_prefix_tokens=_stable_prefix(tokens, kept, known),
        report=choice.report,
        budget=plan.budget,
        counter=str(counts),
        provider=history.provider,
        notes=(*choice.notes, *((_NOT_CONTINUED,) if previous is not known else ())),
        source=source,
    )


def _refuse_too_large(history: History, plan: Plan) -> None:
    for place, (unit, tokens) in enumerate(zip(history.units, history.sizes, strict=True)):
        if tokens > plan.room and place not in plan.pinned and unit.problem is None:
            raise UnitTooLargeError(unit.indices, tokens, plan.room, hint='It could be dropped, with too_large="drop".')


def _dropped(reasons: Iterable[tuple[Sequence[int], ExclusionReason]]) -> tuple[Dropped, ...]:
    return tuple(sorted([Dropped(i, reason) for indices, reason in reasons for i in indices], key=itemgetter(0)))


def _stable_prefix(tokens: Sequence[int], kept: Sequence[int], previous: MessageSelection | None) -> int:
    stable = 0
    for now, then in zip(kept, () if previous is None else previous.kept, strict=False):
        if now != then:
            break
        stable += tokens[now]
    return stable
