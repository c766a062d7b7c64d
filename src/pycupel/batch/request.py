"""Select the context of one logged request, describe it in a row, and count over all rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from heapq import nlargest
from typing import Any, NamedTuple, TypeGuard, cast

from pycupel.analytics.measures import fraction
from pycupel.codecs.base import TOO_DEEP, Context, check_depth, format_json, key_step
from pycupel.diagnostics import BudgetExceeded, Deduplicated
from pycupel.diagnostics.reasons import reason_name
from pycupel.errors import CupelError, DocumentError
from pycupel.fields import MESSAGE_KEYS, is_mapping
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import suggestion
from pycupel.pipeline import Pipeline, Policy, PresetName, Selection
from pycupel.pipeline.pipeline import select_once
from pycupel.policies import policy_to_dict
from pycupel.text import one_line
from pycupel.values import sealed
from pycupel.wire import BUDGET, ITEM, usual_item

_BUDGET_EXCEEDED, _DEDUPLICATED = BudgetExceeded.__name__, Deduplicated.__name__


def decisions(selection: Selection, items: Sequence[ContextItem]) -> tuple[list[int], dict[int, str]]:
    """Return the selected items in order, and the reason of each other item. No item occurs twice in a request."""
    ranking, sliced, placement = selection.ranking, selection.sliced, selection.placement
    is_usual = len(ranking.classified.scoreable) == len(items) and len(placement.kept) == len(placement.items)
    if is_usual and not sliced.cap_excluded:
        # Nothing is pinned, invalid, capped or truncated, so the indices of the stages say everything.
        order, chosen = ranking.order, sliced.selected
        reasons = dict.fromkeys(order, _BUDGET_EXCEEDED) | dict.fromkeys(ranking.duplicates, _DEDUPLICATED)
        selected = [order[chosen[i]] for i in placement.order]
        for i in selected:
            del reasons[i]
        return selected, reasons
    index = {id(item): i for i, item in enumerate(items)}
    for i, version in sliced.versions.items():
        # A shorter version counts as the item.
        index[id(version)] = index[id(ranking.items[i])]
    reasons = {index[id(item)]: reason_name(reason) for item, _, reason in selection.reasons}
    return [index[id(item)] for item in selection.items], reasons


# The contract of a batch: one request and a policy give one row, whatever happens.


_CONTEXT = Context()

# Arguments of `select_messages` that a logged request may have, besides the messages and the budget.
_MESSAGE_OPTIONS = ("provider", "model", "system", "tools", "query")

# Keys of requests that may be misspelt. An id has too few letters to tell.
_KEYS = ("items", "messages", "budget", *_MESSAGE_OPTIONS)
_SHORTEST_KEY, _LONGEST_KEY = 5, 40

# The most that Parquet and most readers of JSON can represent.
_MAX_TOKENS = 2**63 - 1


def select_request(request: Mapping[str, Any], policy: Policy | PresetName) -> dict[str, Any]:
    """Select the context of one logged request. A mistake in the request becomes a row with an error.

    Args:
        request: An object with `id`, `items`, `budget` and perhaps `query`; or with `id`, `messages`, `budget` and
            perhaps `provider`, `model`, `system`, `tools`; or with what the provider's API calls these. Items without
            `tokens` are counted. The budget of messages may be a share of the model's window, such as "75%".
        policy: A policy, a pipeline, or the name of a preset.

    Returns:
        A row: `id`; `selected`, the indices of the selected items or messages in order; `excluded`, objects with the
        `index` and the `reason` of each other one; `shortened`, the indices of those selected that are shorter than
        they were; `tokens`; `utilization`, the share of `max_tokens`; `policy_hash`, which identifies the policy;
        `counter`, the counter used, or None; `error`, or None.
    """
    return RequestSelector(policy).row(request)


class RequestSelector:
    """`select_request` with one policy, for many requests."""

    def __init__(self, policy: Policy | PresetName) -> None:
        self._pipeline = Pipeline.from_policy(policy)
        self.policy_hash = policy_hash(self._pipeline)
        self._count: Callable[[str], int] | None = None

    def row(self, request: Any) -> dict[str, Any]:
        """Make the row of a request, or of the error of a line that cannot be read."""
        name = None
        try:
            name = _checked_id(request) if is_mapping(request) else None
            return self._selected(name, _checked_request(request))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one bad request must not stop the others
            return self._row(name, [], (), [], 0, 0, None, f"{type(error).__name__}: {error}")

    def _selected(self, name: Any, request: Mapping[str, Any]) -> dict[str, Any]:
        if request.get("items") is None:
            return self._messages(name, request)
        budget = _budget(request["budget"])
        items, counter = self._items(request["items"])
        selection = select_once(self._pipeline, items, budget, request.get("query"), recorded=False)
        selected, excluded = decisions(selection, items)
        shorter = {id(whole) for whole, _ in selection.shortened}
        shortened = [i for i in selected if id(items[i]) in shorter] if shorter else []
        tokens, window = selection.total_tokens, budget.max_tokens
        return self._row(name, selected, excluded.items(), shortened, tokens, window, counter)

    def _items(self, rows: Any) -> tuple[list[ContextItem], str | None]:
        if not is_array(rows):
            raise DocumentError("must be an array", path="items")
        try:
            usual = [usual_item(row, _CONTEXT) for row in rows if type(row) is dict]  # pyright: ignore[reportUnknownArgumentType] - from outside
        except DocumentError:
            usual = []
        if len(usual) == len(rows) and all(usual):
            return cast(list[ContextItem], usual), None
        # Something is unusual or wrong, or tokens have to be counted: read the items one by one.
        items: list[ContextItem] = []
        counter: str | None = None
        for i, row in enumerate(rows):
            if is_mapping(row) and row.get("tokens") is None and isinstance(row.get("content"), str):
                if self._count is None:
                    from pycupel.tokens import get_counter  # noqa: PLC0415 - most items have their tokens

                    self._count = get_counter("auto")
                row, counter = {**row, "tokens": self._count(row["content"])}, str(self._count)  # noqa: PLW2901
            items.append(_CONTEXT.attempt(ITEM.read, row, f"items[{i}]", []))
        return items, counter

    def _messages(self, name: Any, request: Mapping[str, Any]) -> dict[str, Any]:
        from pycupel.diagnostics.collector import unobserved  # noqa: PLC0415 - not every log has chat histories
        from pycupel.messages import select_messages  # noqa: PLC0415
        from pycupel.replay.log import system_and_tools  # noqa: PLC0415
        from pycupel.tokens.models import as_budget  # noqa: PLC0415

        asked = request["budget"]
        # For a number or a share, `select_messages` also leaves room for the next calls.
        given = asked if isinstance(asked, (int, str)) else _budget(asked)
        options: dict[str, Any] = {key: request[key] for key in _MESSAGE_OPTIONS if request.get(key) is not None}
        # The APIs have other names for some of them.
        system, tools = system_and_tools(request)
        options = {"model": request.get("modelId"), "system": system, "tools": tools or None} | options
        limits = as_budget(given, options["model"], self._pipeline.models)
        window = _budget(limits).max_tokens
        # A batch has too many requests for a span each; its rows say more.
        with unobserved():
            found = select_messages(messages_of(request), limits, policy=self._pipeline, **options)
        excluded = [(each.index, reason_name(each.reason)) for each in found.dropped]
        shortened = [each.index for each in found.shortened]
        tokens, counter = found.total_tokens, found.counter
        return self._row(name, [*found.kept], excluded, shortened, tokens, window, counter)

    def _row(
        self,
        name: Any,
        selected: list[int],
        excluded: Iterable[tuple[int, str]],
        shortened: list[int],
        tokens: int,
        window: int,
        counter: str | None,
        error: str | None = None,
    ) -> dict[str, Any]:
        if tokens > _MAX_TOKENS:
            raise OverflowError("tokens exceed 64 bits")
        if tokens and not window:
            # The share would be infinite, which JSON cannot represent.
            raise OverflowError("tokens exceed a budget of 0")
        return {
            "id": name,
            "selected": selected,
            "excluded": [{"index": i, "reason": reason} for i, reason in sorted(excluded)],
            "shortened": sorted(shortened),
            "tokens": tokens,
            "utilization": fraction(tokens, window),
            "policy_hash": self.policy_hash,
            "counter": counter,
            "error": error,
        }


def policy_hash(policy: Policy | PresetName) -> str | None:
    """Return a hash that is the same for equal policies; None for one that cannot be written to a file."""
    try:
        document = policy_text(policy)
    except CupelError:
        return None
    return sha256(document.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def policy_text(policy: Policy | PresetName) -> str:
    """Write a policy as in a file."""
    return format_json(policy_to_dict(policy))


def is_array(value: Any) -> TypeGuard[list[Any]]:
    """Whether a value is a JSON array."""
    return isinstance(value, list)


def _checked_id(request: Mapping[str, Any]) -> Any:
    """Return the id. It is written to the row, so it must be JSON, and not nested too deeply."""
    name = request.get("id")
    if isinstance(name, (str, int)):
        return name
    try:
        check_depth(name)
        # What is no JSON at all is the caller's own object. Python reads and writes NaN as if it were JSON.
        json.dumps(name, allow_nan=False, default=str, skipkeys=True)
    except DocumentError:
        raise DocumentError(TOO_DEEP, path="id") from None
    except ValueError:
        raise DocumentError("must not contain NaN or an infinite number", path="id") from None
    return name


def messages_of(request: Mapping[str, Any]) -> Any:
    """Return the messages of a request, whatever its API calls them; None if it has none."""
    # Beside items, an `input` is the log's own.
    keys = MESSAGE_KEYS if request.get("items") is None else MESSAGE_KEYS[:1]
    found = {key: request[key] for key in keys if request.get(key) is not None}
    return next((value for key, value in found.items() if key == MESSAGE_KEYS[0] or is_array(value)), None)


def _checked_request(request: Any) -> Mapping[str, Any]:
    if isinstance(request, DocumentError):
        raise request
    if not is_mapping(request):
        raise DocumentError(f"a request must be an object, not {type(request).__name__}")
    # A key may be a misspelling of one that is missing. Other keys are the log's own.
    for key in request:
        if (
            key not in (*_KEYS, *MESSAGE_KEYS)
            and isinstance(cast(Any, key), str)
            and _SHORTEST_KEY <= len(key) <= _LONGEST_KEY
        ):
            meant = _near_name(key)
            if meant is not None and request.get(meant) is None:
                raise DocumentError(f"unknown field; did you mean {meant!r}?", path=key_step(key))
    both = [each for each in (request.get("items"), messages_of(request)) if each is not None]
    if len(both) != 1:
        raise DocumentError("a request must have either items or messages" + (", not both" if both else ""))
    if request.get("budget") is None:
        raise DocumentError("is missing", path="budget")
    return request


# Logs have the same keys in every request, and comparing them is slow.
@lru_cache(maxsize=1_000)
def _near_name(key: str) -> str | None:
    """Return the name that a key may be a misspelling of. A longer one, such as `model_id`, is another name."""
    return next((name for name in _KEYS if abs(len(name) - len(key)) <= 1 and suggestion(key, [name])), None)


def _budget(value: Any) -> ContextBudget:
    if not is_mapping(value):
        return ContextBudget.of(value)
    budget: ContextBudget = _CONTEXT.attempt(BUDGET.read, value, "budget", [])
    return budget


# Count over all rows. The counts of the chunks add up to those of the run, in any order.


# How many of the slowest requests, and of the items with the most differences, a summary lists.
_MAX_LISTED = 10
# How many items are remembered for that, so that memory does not grow with the log.
_MAX_SWINGS = 10_000
_TENTHS = 10


class ItemDifference(NamedTuple):
    """An item that one policy selects and the other does not."""

    content: str
    """The beginning of its content."""

    only_first: int
    """How many requests select it under the first policy only."""

    only_second: int
    """How many requests select it under the second policy only."""


class Tally:
    """The counts over some rows.

    Attributes:
        counts: Requests, errors, tokens, and with a second policy its tokens and how many requests differ.
        reasons: The exclusions by reason.
        tenths: The requests by tenths of the window that they use.
        swings: For the beginning of a content, how many requests select it under only one of two policies.
        first_error: The error of the first request that has one, after its id or location; None if no request has one.
        slowest: Seconds, and ids or locations of requests. These are not saved: they differ from run to run.
    """

    def __init__(self, saved: Mapping[str, Any] | None = None) -> None:
        known: Mapping[str, Any] = {} if saved is None else saved
        self.counts: Counter[str] = Counter(known.get("counts"))
        self.reasons: Counter[str] = Counter(known.get("reasons"))
        self.tenths: Counter[str] = Counter(known.get("tenths"))
        self.swings: dict[str, list[int]] = {key: [*pair] for key, pair in known.get("swings", {}).items()}
        self.first_error: str | None = known.get("first_error")
        self.slowest: list[tuple[float, str]] = []

    def add_row(self, row: Mapping[str, Any], seconds: float, location: str) -> None:
        """Count a row. A request without an id is named by its location."""
        counts = self.counts
        counts["requests"] += 1
        if row["error"] is not None:
            counts["errors"] += 1
            if self.first_error is None:
                name = location if row["id"] is None else f"id {one_line(str(row['id']))}"
                # The error about a line that is not JSON says where it is.
                self.first_error = row["error"] if location in row["error"] else f"{name}: {row['error']}"
            return
        counts["tokens"] += row["tokens"]
        self.tenths[str(min(_TENTHS - 1, int(row["utilization"] * _TENTHS)))] += 1
        # Unlike floats, integers add up to the same in any order.
        counts["utilization"] += round(row["utilization"] * 1_000_000)
        self.reasons.update(each["reason"] for each in row["excluded"])
        self.slowest.append((seconds, location if row["id"] is None else one_line(str(row["id"]))))

    def add_difference(self, row: Mapping[str, Any], other: Mapping[str, Any], contents: Any) -> None:
        """Count what another policy selects instead. `contents(i)` is the content of an item or message."""
        if row["error"] is not None or other["error"] is not None:
            self.counts["differing"] += row["error"] != other["error"]
            return
        self.counts["other_tokens"] += other["tokens"]
        first, second = set(row["selected"]), set(other["selected"])
        self.counts["differing"] += first != second
        for side, indices in enumerate((first - second, second - first)):
            for i in indices:
                self.swings.setdefault(contents(i), [0, 0])[side] += 1

    def add(self, other: Tally) -> None:
        """Add the counts of another tally."""
        self.counts += other.counts
        self.reasons += other.reasons
        self.tenths += other.tenths
        if self.first_error is None:
            self.first_error = other.first_error
        for content, pair in other.swings.items():
            known = self.swings.setdefault(content, [0, 0])
            known[0] += pair[0]
            known[1] += pair[1]
        if len(self.swings) > _MAX_SWINGS:
            self.swings = dict(_most_swinging(self.swings, _MAX_SWINGS // 2))
        self.slowest = nlargest(_MAX_LISTED, [*self.slowest, *other.slowest])

    def saved(self) -> dict[str, Any]:
        """Return what a later run needs, as JSON."""
        return {
            "counts": self.counts,
            "reasons": self.reasons,
            "tenths": self.tenths,
            "swings": self.swings,
            "first_error": self.first_error,
        }

    def summary(self) -> BatchSummary:
        """Return the figures."""
        counts = self.counts
        served = counts["requests"] - counts["errors"]
        return BatchSummary(
            requests=counts["requests"],
            errors=counts["errors"],
            tokens=counts["tokens"],
            utilization=fraction(counts["utilization"], served * 1_000_000),
            tenths=tuple(self.tenths[str(i)] for i in range(_TENTHS)),
            reasons=dict(sorted(self.reasons.items(), key=lambda each: (-each[1], each[0]))),
            slowest=tuple((name, seconds) for seconds, name in self.slowest),
            differing=counts["differing"],
            other_tokens=counts["other_tokens"],
            swings=tuple(ItemDifference(content, *pair) for content, pair in _most_swinging(self.swings, _MAX_LISTED)),
            first_error=self.first_error,
        )


@sealed
@dataclass(frozen=True, slots=True)
class BatchSummary:
    """The figures of a batch."""

    requests: int
    """How many requests there were."""

    errors: int
    """How many of them failed."""

    tokens: int
    """The tokens of everything selected."""

    utilization: float
    """The mean share of `max_tokens` that is used, over the requests without an error."""

    tenths: tuple[int, ...]
    """How many requests use less than a tenth of `max_tokens`, less than two tenths, and so on."""

    reasons: dict[str, int]
    """How many items were excluded for each reason, the most frequent first."""

    slowest: tuple[tuple[str, float], ...] = field(default=(), compare=False)
    """The slowest requests of this run: their ids, or files and lines if they have none, and the seconds they took."""

    differing: int = 0
    """With a second policy: in how many requests it selects differently."""

    other_tokens: int = 0
    """With a second policy: the tokens that it selects."""

    swings: tuple[ItemDifference, ...] = ()
    """With a second policy: the items on which the two policies differ most often."""

    first_error: str | None = None
    """The error of the first request that has one, after its id, or its file and line if it has none; else None."""


def _most_swinging(swings: Mapping[str, list[int]], count: int) -> Iterable[tuple[str, list[int]]]:
    """Return the items that differ in the most requests; ties are in alphabetical order."""
    return sorted(swings.items(), key=lambda each: (-sum(each[1]), each[0]))[:count]
