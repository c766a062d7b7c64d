"""The options of `select_messages`, checked once, and the names that they may have."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from pycupel import slicers
from pycupel.errors import InvalidArgumentError
from pycupel.model.checks import (
    checked_bool,
    checked_count,
    checked_iterable,
    checked_name,
    checked_str,
    find_name,
    wrong_type,
)
from pycupel.pipeline.policy import Policy, as_policy
from pycupel.protocols import Scorer, Shortener, Slicer, checked_shortener
from pycupel.scorers._traits import bind_query
from pycupel.text import quoted
from pycupel.values import hold, sealed

ResolvedProviderName: TypeAlias = Literal[
    "openai", "responses", "anthropic", "gemini", "mistral", "converse", "interactions"
]
"""The names of the providers."""

ProviderName: TypeAlias = Literal["auto", ResolvedProviderName]
"""The names of the providers; "auto" detects the provider from the messages."""

UnitName: TypeAlias = Literal["auto", "turn"]
"""What stays or goes as a whole: "auto" for messages and exchanges of calls and results, "turn" for turns."""

TooLarge: TypeAlias = Literal["results", "shorten", "drop", "error"]
"""What `select_messages` does with what is larger than the budget."""

DEFAULT_KEEP = 3
"""How many of the newest results stay whole by default."""

RECALL_TOOL = "recall_result"
"""The usual name of the tool that gives shortened results back."""

Pin: TypeAlias = Iterable[int] | Callable[[Any], object]
Summarize: TypeAlias = Callable[[list[Any], str | None], str | Awaitable[str]]


@sealed
@dataclass(frozen=True, slots=True)
class Shorten:
    """How `select_messages` shortens tool results: `shorten=Shorten(recall=True)`.

    Raises:
        TypeError: a field has the wrong type.
        InvalidArgumentError: `keep` is negative, or `recall` is an empty name.
    """

    shortener: Any = "results"
    """"results" for the usual one, or a shortener."""

    _: KW_ONLY
    keep: int = DEFAULT_KEEP
    """How many of the newest results stay whole while they fit."""

    exclude: Iterable[str] = ()
    """The names of tools whose results are never shortened."""

    recall: bool | str = False
    """Whether shortened results name a handle, with which a tool gives the original back; or the name of that tool,
    which is "recall_result" for True. Offer it with `recall_tool`, and answer its calls with `recall`.
    """

    def __post_init__(self) -> None:
        checked_count("keep", self.keep, InvalidArgumentError)
        hold(self, exclude=checked_tools(self.exclude))
        if not isinstance(self.recall, bool) and not checked_str("recall", self.recall):
            raise InvalidArgumentError("recall must not be an empty name", argument="recall", value=self.recall)


class Shortening(NamedTuple):
    """How to shorten results."""

    shortener: Shortener | None
    """Makes the versions of results; None if they are only shortened to fit."""

    keep: int
    """How many of the newest results stay whole while they fit."""

    exclude: frozenset[str]
    """The names of tools whose results are never shortened."""

    at_cuts: bool
    """Whether results are shortened before their exchange is dropped."""

    to_fit: bool
    """Whether results that must stay are shortened if they do not fit."""

    question_to_fit: bool
    """Whether the last user message is shortened, too, if it does not fit."""

    recall: str = ""
    """The name of the tool that gives results back; empty if there is none, and shortened results name no handle."""


@dataclass(frozen=True)
class Options:
    """How to select, whatever the history: the options of `select_messages` that need no message to be checked."""

    policy: Policy
    """How to rank the units of a history, and the documents."""

    query: str | None
    """What the documents should be relevant to; None for the last user message."""

    unit: UnitName
    """What stays or goes as a whole."""

    too_large: TooLarge
    """What to do with a unit that is larger than the budget."""

    shortening: Shortening | None
    """How to shorten results; None if they are not shortened."""

    stable: bool
    """Whether the start of the prompt should stay the same from call to call."""

    summarize: Any
    """The caller's function, or None."""

    summary_tokens: int | None
    """The tokens reserved for a summary; None for the default share of the window."""

    explain: bool
    """Whether to make a report."""

    notes: tuple[str, ...]
    """Which options have no effect."""

    @cached_property
    def scorer(self) -> Scorer:
        """The policy's scorer for messages. Nothing answers an empty query, so it ranks as if there were none."""
        bound, count = bind_query(self.policy.scorer, "")
        return bound if count else self.policy.scorer

    @cached_property
    def slicer(self) -> Slicer | None:
        """The policy's slicer, if it does more than take what fits."""
        return inner_slicer(self.policy.slicer)


def check_options(
    *,
    policy: Any,
    query: Any,
    unit: Any,
    stable: Any,
    shorten: Any,
    keep: Any,
    exclude: Any,
    summarize: Any,
    summary_tokens: Any,
    too_large: Any,
    explain: Any,
) -> Options:
    """Check the options of `select_messages`, which documents them.

    Raises:
        TypeError: an option has the wrong type.
        InvalidArgumentError: an option has an invalid value.
    """
    recalled: bool | str = False
    if isinstance(shorten, Shorten):
        if keep != DEFAULT_KEEP or exclude != ():
            raise InvalidArgumentError(
                "keep and exclude are fields of Shorten; pass them there", argument="shorten", value=shorten
            )
        shorten, keep, exclude, recalled = shorten.shortener, shorten.keep, shorten.exclude, shorten.recall
    checked = as_policy(policy)
    text = None if query is None else checked_str("query", query)
    shortener = checked.shorten if shorten is None else shorten
    names_of_large: tuple[TooLarge, ...] = get_args(TooLarge)
    large = checked_name("too_large", too_large, names_of_large)
    newest = checked_count("keep", keep, InvalidArgumentError)
    excluded = frozenset(checked_tools(exclude))
    shortening: Shortening | None = None
    notes: tuple[str, ...] = ()
    to_fit = large in ("results", "shorten")
    if shortener is not None or to_fit:
        tool = RECALL_TOOL if recalled is True else recalled or ""
        made_by = None if shortener is None else _shortener(shortener)
        at_cuts, question_to_fit = shortener is not None, large == "shorten"
        shortening = Shortening(made_by, newest, excluded, at_cuts, to_fit, question_to_fit, tool)
    else:
        # These options are only for results that are shortened.
        unused = [name for name, is_set in (("keep", newest != DEFAULT_KEEP), ("exclude", excluded)) if is_set]
        have = "has" if len(unused) == 1 else "have"
        if unused:
            because = 'because results are not shortened; pass shorten="results"'
            notes = (f"{' and '.join(unused)} {have} no effect, {because}",)
    if summarize is not None and not callable(summarize):
        raise wrong_type("summarize", "a function", summarize)
    reserved: int | None = 0 if summarize is None else None
    if summary_tokens is not None:
        reserved = checked_count("summary_tokens", summary_tokens, InvalidArgumentError)
    return Options(
        checked,
        text,
        checked_name("unit", unit, get_args(UnitName)),
        large,
        shortening,
        checked_bool("stable", stable),
        summarize,
        reserved,
        checked_bool("explain", explain),
        notes,
    )


def checked_tools(exclude: Any) -> tuple[str, ...]:
    """Return the names of tools whose results are never shortened."""
    names = enumerate(checked_iterable("exclude", "names of tools", exclude))
    return tuple([checked_str(f"exclude[{i}]", each) for i, each in names])


def _shortener(shorten: Any) -> Shortener:
    """Return the shortener that the option names."""
    if isinstance(shorten, str) and find_name(shorten, ("results",)) is None:
        raise InvalidArgumentError(
            f"shorten must be 'results' or a shortener, not {quoted(shorten)}", argument="shorten", value=shorten
        )
    if isinstance(shorten, str):
        from pycupel.shorten import KeyLines  # noqa: PLC0415 - few callers shorten results

        return KeyLines()
    return checked_shortener("shorten", shorten)


def inner_slicer(slicer: Slicer) -> Slicer | None:
    """Return a policy's slicer, or None for `GreedySlice`, which `pycupel.messages.cuts.fill` replaces."""
    return None if type(slicer) is slicers.GreedySlice else _by_score(slicer)


def _by_score(slicer: Any) -> Slicer:
    """Replace every `GreedySlice` in a slicer by a single batch that is filled by score."""
    if type(slicer) is slicers.GreedySlice:
        return slicers.StreamSlice(sys.maxsize)
    changed: Slicer = slicer
    if type(slicer) in (slicers.QuotaSlice, slicers.CountQuotaSlice):
        changed = replace(slicer, inner=_by_score(slicer.inner))
    return changed


def checked_list(argument: str, value: Any) -> list[Any]:
    """Copy the caller's messages or documents to a list. A single one, a dict, is not accepted."""
    expected = f"a list of {argument}"
    if isinstance(value, Mapping):
        error = wrong_type(argument, expected, value)  # pyright: ignore[reportUnknownArgumentType]
        if argument in value:
            error.add_note(f"Pass the list itself: request[{argument!r}].")
        raise error
    return list(checked_iterable(argument, expected, value))
