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
    checked_callable,
    checked_count,
    checked_iterable,
    checked_name,
    checked_str,
    find_name,
    wrong_type,
)
from pycupel.pipeline.policy import Policy, as_policy
from pycupel.protocols import NoShortener, Scorer, Shortener, Slicer, checked_shortener
from pycupel.scorers._base import bind_query
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


class _Unset(str):
    """A text that is not the same object as an equal one that a caller passes."""

    __slots__ = ()


UNSET: Any = _Unset("results")
"""The default of `shorten`. Being a default, it is used only if the policy does not say how to shorten."""

Pin: TypeAlias = Iterable[int] | Callable[[Any], object]
# The last summary is what the function itself returned, so it knows more about its type.
Summarizer: TypeAlias = Callable[[list[Any], Any], str | dict[str, Any] | Awaitable[str | dict[str, Any] | None] | None]
"""A function that summarises dropped messages; its second argument is the last summary, or None."""


@sealed
@dataclass(frozen=True, slots=True)
class Shorten:
    """How `select_messages` shortens tool results: `shorten=Shorten(recall=True)`.

    Raises:
        TypeError: a field has the wrong type.
        InvalidArgumentError: `keep` is negative, or `recall` is an empty name.
    """

    shortener: Any = "results"
    """Makes the versions: "results" stands for the usual shortener, "none" or None for none at all."""

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
        names = enumerate(checked_iterable("exclude", "names of tools", self.exclude))
        hold(self, exclude=tuple([checked_str(f"exclude[{i}]", each) for i, each in names]))
        hold(self, shortener=usual_if_named(_checked_shorten(self.shortener)))
        if not isinstance(self.recall, bool) and not checked_str("recall", self.recall):
            raise InvalidArgumentError("recall must not be an empty name", argument="recall", value=self.recall)

    @property
    def recall_tool(self) -> str:
        """The name of the tool that gives results back; empty if there is none."""
        return RECALL_TOOL if self.recall is True else self.recall or ""


@sealed
@dataclass(frozen=True, slots=True)
class Summarize:
    """How `select_messages` summarises dropped messages: `summarize=Summarize(function, tokens=500)`.

    Raises:
        TypeError: a field has the wrong type.
        InvalidArgumentError: `tokens` is negative.
    """

    function: Summarizer
    """Called with the dropped messages that are in no summary yet, and the last summary or None."""

    _: KW_ONLY
    tokens: int | None = None
    """The tokens reserved for the message of the summary; None for 5 % of the window."""

    def __post_init__(self) -> None:
        checked_callable("summarize", "a function", self.function)
        if self.tokens is not None:
            checked_count("tokens", self.tokens, InvalidArgumentError)


class Shortening(NamedTuple):
    """How to shorten results."""

    shortener: Shortener | Literal["results"] | None
    """Makes the versions of results, before their exchange is dropped; None if they are only shortened to fit."""

    keep: int
    """How many of the newest results stay whole while they fit."""

    exclude: frozenset[str]
    """The names of tools whose results are never shortened."""

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

    summarize: Summarize | None
    """How to summarise dropped messages; None if they are not summarised."""

    explain: bool
    """Whether to make a report."""

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
    *, policy: Any, query: Any, unit: Any, stable: Any, shorten: Any, summarize: Any, too_large: Any, explain: Any
) -> Options:
    """Check the options of `select_messages`, which documents them.

    Raises:
        TypeError: an option has the wrong type.
        InvalidArgumentError: an option has an invalid value.
    """
    checked = as_policy(policy)
    text = None if query is None else checked_str("query", query)
    large: TooLarge = checked_name("too_large", too_large, get_args(TooLarge))
    to_fit, question_to_fit = large in ("results", "shorten"), large == "shorten"
    given = own_or_default(shorten, checked)
    if isinstance(given, Shorten):
        excluded, tool = frozenset(given.exclude), given.recall_tool
        shortening = Shortening(given.shortener, given.keep, excluded, to_fit, question_to_fit, tool)
    else:
        shortening = Shortening(_checked_shorten(given), DEFAULT_KEEP, frozenset(), to_fit, question_to_fit)
    if summarize is not None and not isinstance(summarize, Summarize):
        summarize = Summarize(summarize)
    return Options(
        checked,
        text,
        checked_name("unit", unit, get_args(UnitName)),
        large,
        shortening if to_fit or shortening.shortener is not None else None,
        checked_bool("stable", stable),
        summarize,
        checked_bool("explain", explain),
    )


def own_or_default(shorten: Any, policy: Policy) -> Any:
    """Return the argument `shorten`; if it was not given, the policy's; if that is unset, too, the default."""
    return policy.shorten if shorten is UNSET and policy.shorten is not None else shorten


def _checked_shorten(shorten: Any) -> Shortener | Literal["results"] | None:
    """Return a shortener, None if nothing is shortened, or "results", which takes a while to import."""
    if shorten is None:
        return None
    if isinstance(shorten, str):
        name = find_name(shorten, ("results", "none"))
        if name is None:
            raise InvalidArgumentError(
                f"shorten must be 'results', 'none' or a shortener, not {quoted(shorten)}",
                argument="shorten",
                value=shorten,
            )
        return "results" if name == "results" else None
    shortener = checked_shortener("shorten", shorten)
    return None if isinstance(shortener, NoShortener) else shortener


def usual_if_named(shortener: Shortener | Literal["results"] | None) -> Shortener | None:
    """Return the shortener that "results" stands for, or one that is given itself."""
    if not isinstance(shortener, str):
        return shortener
    from pycupel.shorten import ByFormat  # noqa: PLC0415 - histories that fit never need it

    return ByFormat()


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
