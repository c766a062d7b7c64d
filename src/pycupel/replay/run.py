"""`replay`: find what policies would have sent at each model call of logged sessions."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import replace
from itertools import chain, count
from typing import Any, TypeAlias, cast, overload

from pycupel.errors import InvalidArgumentError
from pycupel.messages.counting import resolve_counter
from pycupel.model import ContextBudget
from pycupel.model.checks import checked_callable, checked_float, checked_iterable, wrong_type
from pycupel.model.names import find_name
from pycupel.pipeline import Policy, PresetName
from pycupel.pipeline.policy import as_policy
from pycupel.replay.log import History, Log
from pycupel.replay.outcome import DEFAULT_RATES, CacheRates, PolicyReplay
from pycupel.replay.session import BASELINES, BASELINES_HINT, NEWEST_FIRST, BaselineName, Session, call_indices
from pycupel.text import shortened
from pycupel.tokens.counters import Counter, CounterLike

__all__ = ["counter_for", "histories_of", "replay"]

_Choice: TypeAlias = Policy | PresetName | BaselineName


# With a union instead of overloads, mypy infers str for the literals of a dict display.
@overload
def replay(
    log: Log | History,
    budget: ContextBudget | int,
    policies: Mapping[str, _Choice],
    *,
    counter: CounterLike = ...,
    rates: CacheRates = ...,
    progress: Callable[[int, int], object] | None = ...,
) -> tuple[PolicyReplay, ...]: ...


@overload
def replay(
    log: Log | History,
    budget: ContextBudget | int,
    policies: Iterable[_Choice] = ...,
    *,
    counter: CounterLike = ...,
    rates: CacheRates = ...,
    progress: Callable[[int, int], object] | None = ...,
) -> tuple[PolicyReplay, ...]: ...


def replay(
    log: Log | History,
    budget: ContextBudget | int,
    policies: Mapping[str, _Choice] | Iterable[_Choice] = (NEWEST_FIRST, "chat"),
    *,
    counter: CounterLike = "auto",
    rates: CacheRates = DEFAULT_RATES,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[PolicyReplay, ...]:
    """Find what policies would have sent at every model call.

    Compactions by the agent are ignored: a policy gets all the messages before a call. A policy with a shortener
    shortens tool results before it drops them.

    Args:
        log: The result of `read_log`, or one of its histories.
        budget: The limits for a prompt, or just a number of tokens.
        policies: A mapping from labels to policies, or just the policies. Each is a policy, the name of a preset,
            "newest-first" for the usual approach, or "as-logged" for what was sent.
        counter: Counts tokens: a function from str to int, or a name for `get_counter`.
        rates: The price of tokens.
        progress: Called with the number of calls replayed so far, and the total.

    Returns:
        One result for each policy, over all histories.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidBudgetError: the budget is negative.
        InvalidArgumentError: there is no such preset, there are no policies, or a rate is negative.
    """
    histories = histories_of(log)
    labelled = _labelled(policies)
    ContextBudget.of(budget)
    _check_rates(rates)
    if progress is not None:
        checked_callable("progress", "a function that takes two numbers", progress)
    total = len(labelled) * sum(len(call_indices(history)) for history in histories)
    results = {label: PolicyReplay(label, rates=rates) for label in labelled}
    done = 0
    for history in histories:
        session = Session(history, budget, counter_for(history, counter))
        for label, policy in labelled.items():
            for result in session.run(label, policy):
                results[label] += result
                done += 1
                if progress is not None:
                    progress(done, total)
    return tuple(results.values())


def counter_for(history: History, like: CounterLike) -> Counter:
    """Make a counter that caches each text, because a history hardly changes from call to call."""
    counter = resolve_counter(like, history.resolved_provider, history.model)
    known: dict[str, int] = {}

    def count(text: str) -> int:
        tokens = known.get(text)
        if tokens is None:
            tokens = known[text] = counter(text)
        return tokens

    return replace(counter, function=count, batch=None)


def histories_of(log: Any) -> tuple[History, ...]:
    """Return the histories of a log, or the one that was given."""
    if isinstance(log, History):
        return (log,)
    if not isinstance(log, Log):
        raise wrong_type("log", "a Log or a History", log)
    return log.histories


def _check_rates(rates: Any) -> None:
    if not isinstance(rates, CacheRates):
        raise wrong_type("rates", "CacheRates", rates)
    for name, rate in rates._asdict().items():
        checked_float(f"rates: {name}", rate, InvalidArgumentError, low=0.0)


def _labelled(policies: Any) -> dict[str, Policy | BaselineName]:
    """Return the policies by label, and the names of the baselines."""
    listed = checked_iterable("policies", "a mapping or an iterable of policies", policies)
    labelled: dict[str, Policy | BaselineName] = {}
    if isinstance(policies, Mapping):
        labelled = {
            label: _known(each, f"policies[{shortened(label)}]")
            for label, each in cast("Mapping[str, Any]", policies).items()
        }
    else:
        for i, each in enumerate(listed):
            labelled[_unique_label(each, labelled)] = _known(each, f"policies[{i}]")
    if not labelled:
        raise InvalidArgumentError("there must be at least one policy", argument="policies")
    return labelled


def _known(policy: Any, name: str) -> Policy | BaselineName:
    baseline = find_name(policy, BASELINES)
    if baseline is not None:
        return baseline
    try:
        return as_policy(policy, name)
    except InvalidArgumentError as error:
        error.add_note(BASELINES_HINT)
        raise


def _unique_label(policy: Any, taken: Container[str]) -> str:
    """Return the name of a policy, with a number if another one has the same name."""
    name = policy if isinstance(policy, str) else getattr(policy, "name", None) or "policy"
    labels = chain([name], (f"{name} {number}" for number in count(2)))
    return next(label for label in labels if label not in taken)
