"""Answer the requests of the playground's page: select with these settings, and use other items."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Any, NamedTuple

from pycupel.diagnostics import SelectionReport
from pycupel.errors import CupelError, InvalidArgumentError
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import checked_iterable, checked_mapping, checked_str
from pycupel.pipeline import Pipeline, Policy, PresetName
from pycupel.pipeline.classify import classify_items
from pycupel.pipeline.policy import as_policy
from pycupel.policies import PRESETS, dump_policy, policy_from_dict, policy_to_dict
from pycupel.registry import SCORERS
from pycupel.render._data import script_number
from pycupel.render._sweep import all_tokens
from pycupel.render.html import page_data, render_page
from pycupel.wire import read_items

# The choices that the page offers by name; everything else can be written as JSON.
_SLICERS = {
    "best score first": {"type": "greedy", "costExponent": 0, "bestFirst": True},
    "best score per token": {"type": "greedy"},
    "knapsack": {"type": "knapsack"},
    "stream": {"type": "stream"},
}
_PLACERS = {
    "chronological": {"type": "chronological"},
    "system prompt first, then chronological": {"type": "framed", "inner": {"type": "chronological"}},
    "best at both edges": {"type": "uShaped"},
    "system prompt first, best at both edges": {"type": "framed", "inner": {"type": "uShaped"}},
}


class _Settings(NamedTuple):
    policy: Policy
    budget: ContextBudget
    query: str | None


class Bench:
    """The items of a playground, and selections among them. Safe to use from several threads.

    Args:
        items: The candidates.
        policy: The initial policy: a policy, a pipeline, or the name of a preset.
        budget: The initial budget; by default half of all tokens.
        query: The initial question.
        name: What the page calls the items, such as the name of their file.
        read: Reads the text of a file that was dropped onto the page; by default as JSON lines.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidArgumentError: there is no such preset.
        DocumentError: the policy has a part that cannot be written to a file.
    """

    def __init__(
        self,
        items: Iterable[ContextItem],
        policy: Policy | PresetName = "chat",
        budget: ContextBudget | int | None = None,
        query: str | None = None,
        *,
        name: str = "items",
        read: Callable[[str], Iterable[ContextItem]] | None = None,
    ) -> None:
        self._items, self._name = list(checked_iterable("items", "an iterable of ContextItem", items)), name
        classify_items(self._items)
        self._read = read or _read_lines
        limits = _half(self._items) if budget is None else ContextBudget.of(budget)
        self._first = _Settings(as_policy(policy), limits, query)
        self._document = policy_to_dict(policy)
        # One selection at a time: the playground has one user.
        self._lock = Lock()

    def page(self) -> str:
        """Return the page, with the first selection and all possible settings."""
        with self._lock:
            data = _response_of(lambda: self._selection(self._first, None))
            offer = self._choices()
        return render_page("Playground", {**data, "play": offer}, connect="'self'")

    def answer(self, name: str, request: Any) -> dict[str, Any]:
        """Answer a request of the page; a mistake in the settings becomes an error in the response.

        Args:
            name: The request: `select` or `items`.
            request: The body of the request.

        Raises:
            KeyError: there is no such request.
        """
        handler = {"select": self._select, "items": self._use_items}[name]
        with self._lock:
            return _response_of(lambda: handler(checked_mapping("the request", "an object", request)))

    def _select(self, request: Mapping[str, Any]) -> dict[str, Any]:
        other = request.get("other")
        return self._selection(_settings(request), None if other is None else _settings(other))

    def _use_items(self, request: Mapping[str, Any]) -> dict[str, Any]:
        items = list(self._read(checked_str("text", request.get("text"))))
        if not items:
            raise InvalidArgumentError("the file has no items", argument="text")
        self._items, self._name = items, checked_str("name", request.get("name"))[:200]
        return {"play": self._choices() | {"budget": _budget_data(_half(items))}}

    def _selection(self, settings: _Settings, other: _Settings | None) -> dict[str, Any]:
        report = self._report(settings)
        second = None if other is None else self._report(other)
        formats = {each: dump_policy(settings.policy, each) for each in ("json", "toml")}
        return {
            **page_data(report, items=self._items, other=second),
            "names": ["now", "kept"],
            "policy": formats,
        }

    def _report(self, settings: _Settings) -> SelectionReport:
        return Pipeline.from_policy(settings.policy).dry_run(self._items, settings.budget, query=settings.query)

    def _choices(self) -> dict[str, Any]:
        return {
            "name": self._name,
            "items": len(self._items),
            "tokens": script_number(all_tokens(self._items)),
            "kinds": sorted({item.kind.value for item in self._items}),
            "policy": self._document,
            "budget": _budget_data(self._first.budget),
            "query": self._first.query or "",
            "presets": {name: policy_to_dict(preset) for name, preset in PRESETS.items()},
            "scorers": [name for name in SCORERS if _needs_no_options(name)],
            "slicers": _SLICERS,
            "placers": _PLACERS,
        }


def _response_of(make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the result of the call, or the error."""
    try:
        return make()
    except (CupelError, TypeError) as error:
        return {"error": str(error)}


def _settings(request: Any) -> _Settings:
    fields = checked_mapping("settings", "an object", request)
    budget = checked_mapping("budget", "an object", fields.get("budget"))
    query = fields.get("query")
    return _Settings(
        policy_from_dict(checked_mapping("policy", "an object", fields.get("policy"))),
        ContextBudget(budget.get("max"), budget.get("target"), output_reserve=budget.get("reserve", 0)),  # type: ignore[arg-type]
        checked_str("query", query) if query else None,
    )


def _needs_no_options(scorer: str) -> bool:
    try:
        policy_from_dict({"scorers": [{"type": scorer, "weight": 1}]})
    except CupelError:
        return False
    return True


def _half(items: Iterable[ContextItem]) -> ContextBudget:
    return ContextBudget(all_tokens(items) // 2)


def _budget_data(budget: ContextBudget) -> dict[str, int]:
    return {"max": budget.max_tokens, "target": budget.target_tokens, "reserve": budget.output_reserve}


def _read_lines(text: str) -> Iterable[ContextItem]:
    return read_items(io.StringIO(text))
