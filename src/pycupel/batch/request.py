"""Select the context of one logged request, and describe what was selected."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, TypeGuard, cast

from pycupel.analytics.measures import fraction
from pycupel.codecs.base import TOO_DEEP, Context, check_depth, format_json, key_step
from pycupel.diagnostics import BudgetExceeded, Deduplicated
from pycupel.diagnostics.reasons import reason_name
from pycupel.errors import CupelError, DocumentError
from pycupel.fields import MESSAGE_KEYS
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import suggestion
from pycupel.pipeline import Pipeline, Policy, PresetName, Selection
from pycupel.pipeline.pipeline import select_once
from pycupel.policies import policy_to_dict
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
        """Make the row of a request."""
        name = None
        try:
            name = _checked_id(request) if is_object(request) else None
            return self._selected(name, _checked_request(request))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one bad request must not stop the others
            return error_row(name, self.policy_hash, error)

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
            if is_object(row) and row.get("tokens") is None and isinstance(row.get("content"), str):
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
        return self._row(name, [*found.kept], excluded, shortened, found.total_tokens, window, found.counter)

    def _row(
        self,
        name: Any,
        selected: list[int],
        excluded: Iterable[tuple[int, str]],
        shortened: list[int],
        tokens: int,
        window: int,
        counter: str | None,
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
            "error": None,
        }


def error_row(name: Any, policy: str | None, error: BaseException) -> dict[str, Any]:
    """Make the row of a request that failed."""
    return {
        "id": name,
        "selected": [],
        "excluded": [],
        "shortened": [],
        "tokens": 0,
        "utilization": 0.0,
        "policy_hash": policy,
        "counter": None,
        "error": f"{type(error).__name__}: {error}",
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


def is_object(value: Any) -> TypeGuard[Mapping[str, Any]]:
    """Whether a value is a JSON object."""
    # `isinstance` with an abstract class is slower, and this is called for every item.
    return value.__class__ is dict or isinstance(value, Mapping)


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
    if not is_object(request):
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
    if not is_object(value):
        return ContextBudget.of(value)
    budget: ContextBudget = _CONTEXT.attempt(BUDGET.read, value, "budget", [])
    return budget
