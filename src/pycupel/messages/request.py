"""Prepare a call of `select_messages`: check the arguments, read the history, plan the budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, get_args

from pycupel.errors import InvalidArgumentError
from pycupel.messages.counting import Beside, resolve_counter
from pycupel.messages.detect import resolve_provider
from pycupel.messages.fingerprints import Fingerprints
from pycupel.messages.history import History
from pycupel.messages.options import DEFAULT_KEEP, TooLarge, UnitName, checked_list
from pycupel.messages.plan import Plan, limits_of, summary_room
from pycupel.messages.reading import read_on
from pycupel.messages.result import MessageSelection
from pycupel.messages.slicing import document_share
from pycupel.model import ContextBudget
from pycupel.model.checks import checked_bool, checked_count, checked_iterable, checked_name, checked_str, wrong_type
from pycupel.pipeline.policy import as_policy
from pycupel.tokens.limits import BudgetLike, allowance

if TYPE_CHECKING:
    from pycupel.messages.documents import DocumentItem
    from pycupel.messages.shortened import Shortening


class Request:
    """A prepared call of `select_messages`, which documents the arguments.

    Attributes:
        source: The caller's messages.
        documents: The caller's documents.
        budget: The caller's budget in tokens, within the limits of the model.
        policy: The policy.
        query: The caller's query, or None.
        previous: The previous selection, or None.
        summarize: The caller's function, or None.
        explain: Whether to make a report.
        too_large: What to do with a unit that is larger than the budget.
        shortening: How to shorten results; None if they are not shortened.
        notes: Which options have no effect, and whether the model takes less than the budget.
        strategies: The scorer, the slicer and the shortener.
        count: Counts the tokens of a text.
        beside: What is sent beside the messages.
        fingerprints: The fingerprints of the messages.
        history: The history.
        hits: The documents, each in its newest version.
        replaced: The older versions, each with the document that replaces it.
        summary_room: The tokens reserved for a summary.
        plan: How many tokens the history may use.
        facts: Everything besides the messages that cuts depend on.
    """

    def __init__(
        self,
        messages: Iterable[Any],
        budget: BudgetLike,
        *,
        provider: Any,
        model: Any,
        policy: Any,
        query: Any,
        unit: Any,
        counter: Any,
        pin: Any,
        previous: Any,
        documents: Any,
        system: Any,
        tools: Any,
        stable: Any,
        shorten: Any,
        keep: Any,
        exclude: Any,
        summarize: Any,
        summary_tokens: Any,
        too_large: Any,
        explain: Any,
    ) -> None:
        self.policy = as_policy(policy)
        self.query = None if query is None else checked_str("query", query)
        shortener = self.policy.shorten if shorten is None else shorten
        usual = "drop" if shortener is None else "shorten"
        self.too_large = usual if too_large is None else checked_name("too_large", too_large, get_args(TooLarge))
        newest = checked_count("keep", keep, InvalidArgumentError)
        names = enumerate(checked_iterable("exclude", "names of tools", exclude))
        excluded = frozenset(checked_str(f"exclude[{i}]", each) for i, each in names)
        self.shortening = _shortening(shortener, newest, excluded, to_fit=self.too_large == "shorten")
        self.notes = tuple(_unused(newest, excluded)) if self.shortening is None else ()
        self.strategies = (self.policy.scorer, self.policy.slicer, shortener)
        if previous is not None and not isinstance(previous, MessageSelection):
            raise wrong_type("previous", "a MessageSelection", previous)
        self.previous = previous
        self.explain = checked_bool("explain", explain)
        unit_name = checked_name("unit", unit, get_args(UnitName))
        self.source = tuple(checked_list("messages", messages))
        allowed = allowance(budget, model, self.policy.models)
        self.budget = allowed.budget
        self.notes += allowed.notes

        known_provider = resolve_provider(self.source, provider, model)
        self.count = resolve_counter(counter, known_provider, model)
        self.beside = Beside(known_provider, self.count, system, tools)
        self.fingerprints = Fingerprints(self.source)
        past = None if previous is None else previous.reading
        views = read_on(self.source, known_provider, self.count, self.fingerprints, past)
        self.history = History(self.source, known_provider, views, unit_name, pin)
        _refuse_broken(self.history)
        self.documents = [] if documents is None else checked_list("documents", documents)
        self.hits, self.replaced = _read_documents(self.documents, self.count)

        limits = limits_of(self.budget, self.count.margin_percent, self.beside.tokens + self.beside.reply)
        self.summarize = summarize
        self.summary_room = summary_room(summarize, summary_tokens, max(0, limits.unreserved_capacity))
        self.plan = Plan(
            limits,
            self.hits,
            0.0 if documents is None else document_share(self.policy.slicer),
            has_target=isinstance(self.budget, ContextBudget),
            stable=checked_bool("stable", stable),
            summary_room=self.summary_room,
        )
        self.facts = (*self.plan.facts, unit_name, repr(self.policy.scorer), repr(self.policy.slicer))
        if allowed.limits is not None:
            self.facts += tuple(allowed.limits)
        if summarize is not None:
            # Without anything to summarise, a missing summary does not mean that it failed.
            self.facts += ("summarize",)
        if self.shortening is not None:
            self.facts += self.shortening.facts


def _shortening(shortener: Any, keep: int, exclude: frozenset[str], *, to_fit: bool) -> Shortening | None:
    if shortener is None and not to_fit:
        return None
    from pycupel.messages.shortened import shortening_of  # noqa: PLC0415 - a quarter of what there is to import

    return shortening_of(shortener, keep, exclude, to_fit=to_fit)


def _unused(keep: int, exclude: frozenset[str]) -> Iterator[str]:
    """Say which options are only for results that are shortened."""
    changed = {"keep": keep != DEFAULT_KEEP, "exclude": bool(exclude)}
    names = [name for name, is_changed in changed.items() if is_changed]
    if names:
        have = "has" if len(names) == 1 else "have"
        yield f'{" and ".join(names)} {have} no effect, because results are not shortened; pass shorten="results"'


def _refuse_broken(history: History) -> None:
    """Raise if every message is broken, because an empty list would be rejected without a reason."""
    if history.units and len(history.broken) == len(history.units):
        raise InvalidArgumentError(
            f"{history.provider.name} would reject every message. First problem: {history.broken[0]}",
            argument="messages",
            hint="lint_messages lists all problems.",
        )


def _read_documents(
    documents: Sequence[Any], count: Callable[[str], int]
) -> tuple[list[DocumentItem], list[tuple[DocumentItem, DocumentItem]]]:
    """Return the newest version of each document, and the older ones, each with its replacement."""
    if not documents:
        return [], []
    from pycupel.messages.documents import newest_of_each, read_documents  # noqa: PLC0415 - few callers have any

    return newest_of_each(read_documents(documents, count))
