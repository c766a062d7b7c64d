"""Shortening a history: at a cut, old results become key lines, then stubs, before their exchange is dropped.

A cut decides about everything at once: each unit is whole, has shorter results, or is dropped, so that what stays holds
most of what is said nowhere else. What a cut has shortened stays as it is; a later cut may shorten it further.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pycupel.diagnostics import BudgetExceeded, ExclusionReason, SelectionReport
from pycupel.diagnostics.report import with_fields
from pycupel.kernels.versions import choose
from pycupel.messages.choice import HistoryCutter
from pycupel.messages.cuts import Candidates
from pycupel.messages.fields import field, is_list
from pycupel.messages.history import History
from pycupel.messages.options import checked_name
from pycupel.messages.plan import Plan
from pycupel.messages.result import ShortenedMessage
from pycupel.messages.results import ResultPart, result_parts, with_result_texts
from pycupel.messages.slicing import fill, without_lone_questions
from pycupel.model import ContextItem
from pycupel.model.version import stated_units
from pycupel.protocols import ShortenContext, Shortener, checked_shortener
from pycupel.shorten import KeyLines, ToolCall, superseded
from pycupel.shorten.stub import call_origin, stub_text

__all__ = ["SHORTENED", "ShorteningCutter", "checked_maker", "with_own_sizes", "with_reasons"]

SHORTENED = "Shortened"
"""The reason in a report for a unit that was selected with shorter results."""

# Nothing that costs less is shortened.
_LEAST_TOKENS = 100
_SCALE = 10_000
# What a stub is worth, and what any unit is worth beside what it holds.
_STUB_UNITS = 0.05
_BASE_UNITS = 0.5
# What the agent and the user said themselves counts less: most of it was about what is done.
_SPOKEN = 0.25
# Results that report errors are shortened last.
_ERRORS = 8.0
# The newest results stay whole while they take no more than this part of the room.
_KEPT_WHOLE = 4


def with_own_sizes(history: History) -> History:
    """The same history with lists of tokens and sizes that may be changed."""
    return history._replace(tokens=list(history.tokens), sizes=list(history.sizes), views=list(history.views))


def checked_maker(shorten: Any) -> Shortener | None:
    """The shortener that an argument stands for: key lines for "results"."""
    if shorten is None:
        return None
    if isinstance(shorten, str):
        checked_name("shorten", shorten, ("results",))
        return KeyLines()
    return checked_shortener("shorten", shorten)


def with_reasons(report: SelectionReport, shortened: Sequence[ShortenedMessage]) -> SelectionReport:
    """The report with a reason of its own for the units that have shorter results."""
    changed = {each.index for each in shortened}
    if not changed:
        return report
    included = [
        each._replace(reason=SHORTENED) if changed.intersection(each.item.metadata.get("pycupel.unit", ())) else each
        for each in report.included
    ]
    return with_fields(report, included=tuple(included))


class _Result(NamedTuple):
    """A result that may be shortened: its message, what it is, and how to get it again."""

    message: int
    part: ResultPart
    tokens: int
    origin: str
    is_open_to_change: bool
    is_out_of_date: bool = False


class _Option(NamedTuple):
    """A version of a unit: what it costs less than now, what it holds, and the texts of its results."""

    saved: int
    units: float
    texts: Mapping[tuple[int, int], str]


class ShorteningCutter:
    """Cuts a history like `HistoryCutter`, and shortens results first. It changes the sizes of the history."""

    def __init__(
        self,
        history: History,
        messages: Sequence[Any],
        plan: Plan,
        cutter: HistoryCutter,
        count: Callable[[str], int],
        maker: Shortener,
        keep: int,
        exclude: Collection[str],
        *,
        cuts: bool,
        fits: bool,
    ) -> None:
        self._history = history
        self._messages = messages
        self._plan = plan
        self._cutter = cutter
        self._count = count
        self._maker = maker
        self._keep = keep
        self._cuts = cuts
        self._fits = fits
        self._whole_tokens = list(history.tokens)
        self._found = _results(history, messages, count, frozenset(exclude))
        self._texts: dict[tuple[int, int], str] = {}
        # What the cut that came last has saved, by message.
        self.saved: dict[int, int] = {}

    def shortened(self, kept: Collection[int]) -> tuple[ShortenedMessage, ...]:
        """The messages that have shorter results."""
        changed = {n for n, _ in self._texts}
        tokens, whole = self._history.tokens, self._whole_tokens
        return tuple(ShortenedMessage(n, whole[n], tokens[n]) for n in kept if n in changed)

    def message(self, index: int) -> Any:
        """The message, or a copy with what its results are now."""
        texts = {number: text for (n, number), text in self._texts.items() if n == index}
        return with_result_texts(self._messages[index], texts) if texts else self._messages[index]

    def make_fit(self, must: frozenset[int], end: int, room: int) -> None:
        """Shortens the results of what must stay, so that it fits, if that is possible."""
        if not self._fits:
            return
        history = self._history
        results = self._results_before(end)
        units = sorted(i for i in must if i in results)
        others = [i for i in must if i not in results]
        options = self._options(units, others, results, end)
        sizes = [history.tokens_of([i], end) for i in units]
        weights = [[size - each.saved for each in own] for size, own in zip(sizes, options, strict=True)]
        values = [[1 + round(_SCALE * each.units) for each in own] for own in options]
        left = room - history.tokens_of(others, end)
        choice = choose(weights, values, max(0, left), range(len(units)))
        for k, version in enumerate(choice.versions):
            chosen = version if version >= 0 else min(range(len(weights[k])), key=weights[k].__getitem__)
            self._apply(units[k], options[k][chosen])

    def __call__(self, candidates: Candidates) -> Mapping[int, ExclusionReason]:
        """What goes, and why; and shorten what stays."""
        self.saved.clear()
        if not self._cuts:
            return self._cutter(candidates)
        history, pinned = self._history, candidates.pinned
        results = self._results_before(candidates.end)
        room, reserve = self._plan.goal(candidates.pinned_tokens, candidates.must_tokens)
        units = [i for i in candidates.units if i not in pinned]
        whole = self._newest_whole(units, results, room - reserve)
        free = [i for i in units if i not in whole]
        limit = room - reserve - history.tokens_of(whole)
        options = self._options(free, [*pinned, *whole], results, candidates.end)
        weights = [[history.sizes[i] - each.saved for each in own] for i, own in zip(free, options, strict=True)]
        values = [
            [round(_SCALE * each.units * (0.5 + 0.5 * (k + 1) / len(free))) for each in own]
            for k, own in enumerate(options)
        ]
        choice = choose(weights, values, max(0, limit))
        chosen = {free[k]: (k, version) for k, version in enumerate(choice.versions) if version >= 0}
        sizes = list(history.sizes)
        for i, (k, version) in chosen.items():
            sizes[i] = weights[k][version]
        density = {i: values[k][version] / max(1, sizes[i]) for i, (k, version) in chosen.items()}
        # What was not chosen comes last, the newest first: others may be tied to it, and there may be room for it.
        order = [*whole, *sorted(density, key=density.__getitem__, reverse=True)]
        order += [i for i in reversed(free) if i not in chosen]
        taken = fill(order, sizes, history.ties, room - reserve, in_one_piece=False)
        taken = without_lone_questions(taken, history.ties, self._cutter.answers, candidates.begun)
        for i, (k, version) in chosen.items():
            if i in taken:
                self._apply(i, options[k][version])
        left = room - history.tokens_of(taken)
        return {i: BudgetExceeded(history.sizes[i], left) for i in units if i not in taken}

    def _newest_whole(self, units: Sequence[int], results: Mapping[int, Sequence[_Result]], limit: int) -> list[int]:
        """The units with the newest results, while they fit."""
        whole: list[int] = []
        left = limit // _KEPT_WHOLE
        for i in [i for i in reversed(units) if i in results][: self._keep]:
            if self._history.sizes[i] <= left:
                left -= self._history.sizes[i]
                whole.append(i)
        return whole

    def _results_before(self, end: int) -> dict[int, list[_Result]]:
        """The results that there are before a message, by unit, with what is out of date by then."""
        there = [(i, result, call) for i, result, call in self._found if result.message < end]
        by_unit: dict[int, list[_Result]] = {}
        for (i, result, _), old in zip(there, superseded([call for _, _, call in there]), strict=True):
            if result.is_open_to_change:
                by_unit.setdefault(i, []).append(result._replace(is_out_of_date=old))
        return by_unit

    def _apply(self, unit: int, option: _Option) -> None:
        if not option.texts:
            return
        history = self._history
        self._texts.update(option.texts)
        for n in {message for message, _ in option.texts}:
            view = history.provider.read([self.message(n)], self._count)[0]
            self.saved[n] = history.tokens[n] - view.tokens
            # The ids stay: those of a provider without ids depend on the messages before.
            history.views[n] = history.views[n]._replace(text=view.text, tokens=view.tokens, shares=view.shares)
            history.tokens[n] = view.tokens
        history.sizes[unit] = sum([history.tokens[n] for n in history.units[unit].indices])

    def _options(
        self, units: Sequence[int], staying: Sequence[int], results: Mapping[int, Sequence[_Result]], end: int
    ) -> list[list[_Option]]:
        """For each unit, whole first, its versions."""
        history = self._history

        def text_of(unit: int, without: Collection[int] = ()) -> str:
            indices = history.units[unit].indices
            return "\n".join([history.views[n].text for n in indices if n < end and n not in without])

        items: list[list[tuple[_Result | None, ContextItem]]] = []
        for i in units:
            own: list[tuple[_Result | None, ContextItem]] = []
            for result in results.get(i, ()):
                key = result.message, result.part.number
                now = self._texts.get(key, result.part.text)
                tokens = self._count(now) if key in self._texts else result.tokens
                own.append((result, ContextItem(now or " ", max(1, tokens))))
            spoken = text_of(i, {result.message for result in results.get(i, ())})
            if spoken:
                own.append((None, ContextItem(spoken, 1)))
            items.append(own)
        everything = [item for own in items for _, item in own]
        context = ShortenContext(everything, [text_of(i) for i in staying], self._count)
        return [list(self._versions(own, context)) for own in items]

    def _units(self, item: ContextItem, context: ShortenContext) -> float:
        units: Any = getattr(self._maker, "units", None)
        return float(units(item, context)) if callable(units) else 1.0

    def _versions(
        self, own: Sequence[tuple[_Result | None, ContextItem]], context: ShortenContext
    ) -> Iterator[_Option]:
        maker = self._maker
        held = {id(item): self._units(item, context) * _weight(result) for result, item in own}
        total = _BASE_UNITS + sum(held.values())
        yield _Option(0, total, {})
        parts: list[tuple[_Result, ContextItem, list[tuple[str, int, float]]]] = []
        for result, item in own:
            if result is None or item.tokens < _LEAST_TOKENS:
                continue
            stub = stub_text("result", result.part.text, result.tokens, result.origin)
            # Pictures become a stub first, like what is out of date.
            made = [] if result.is_out_of_date or result.part.has_media else maker.shorten(item, context)
            share = held[id(item)] / item.tokens
            ladder = [
                (each.content, each.tokens, share * each.tokens if units is None else units * _weight(result))
                for each in made
                for units in [stated_units(each)]
            ]
            cost = self._count(stub)
            if cost < item.tokens:
                ladder.append((stub, cost, min(_STUB_UNITS, held[id(item)])))
            if ladder:
                parts.append((result, item, ladder))
        for level in range(max((len(ladder) for _, _, ladder in parts), default=0)):
            saved, units, texts = 0, total, {}
            for result, item, ladder in parts:
                text, tokens, each = ladder[min(level, len(ladder) - 1)]
                saved += item.tokens - tokens
                units += each - held[id(item)]
                texts[result.message, result.part.number] = text
            yield _Option(saved, max(units, 0.0), texts)


def _weight(result: _Result | None) -> float:
    """How much what is said counts: less if it was not a result, and more if the result reports an error."""
    return _SPOKEN if result is None else _ERRORS if result.part.is_error else 1.0


def _results(
    history: History, messages: Sequence[Any], count: Callable[[str], int], exclude: frozenset[str]
) -> list[tuple[int, _Result, ToolCall]]:
    """All results with their units and calls, in the order of the messages."""
    # The ids are those of the views: a provider without ids has some by position.
    calls = {
        call_id: call
        for view, message in zip(history.views, messages, strict=True)
        for call_id, call in zip(view.calls, _calls(message), strict=False)
    }
    found: list[tuple[int, _Result, ToolCall]] = []
    for i, unit in enumerate(history.units):
        if unit.problem is not None or unit.role != "exchange":
            continue
        for n in unit.indices:
            for part in result_parts(messages[n]):
                ids = history.views[n].results
                call_id = ids[part.number] if part.number < len(ids) else part.call_id
                call = calls.get(call_id, ToolCall("", {"result": [n, part.number]}))
                tokens = count(part.text) if part.text else 0
                if part.has_media:
                    # What is not text has a price of its own: the difference that a text in its place makes.
                    copy = with_result_texts(messages[n], {part.number: part.text or "-"})
                    tokens += max(0, history.tokens[n] - history.provider.read([copy], count)[0].tokens)
                is_open = call.name not in exclude and tokens >= _LEAST_TOKENS
                origin = call_origin(call.name, call.arguments) if call.name else ""
                found.append((i, _Result(n, part, tokens, origin, is_open), call))
    return sorted(found, key=lambda each: (each[1].message, each[1].part.number))


def _calls(message: Any) -> Iterator[ToolCall]:
    """The calls in a message."""
    if field(message, "type") in ("function_call", "custom_tool_call"):
        arguments = field(message, "arguments") or field(message, "input")
        yield ToolCall(str(field(message, "name")), arguments)
    for call in field(message, "tool_calls") or ():
        function = field(call, "function") or call
        arguments = field(function, "arguments") or field(function, "args")
        yield ToolCall(str(field(function, "name")), arguments)
    blocks = field(message, "content")
    blocks = field(message, "parts") if blocks is None else blocks
    for block in blocks if is_list(blocks) else ():
        if isinstance(block, str):
            continue
        if field(block, "type") == "tool_use":
            yield ToolCall(str(field(block, "name")), field(block, "input"))
        call = field(block, "function_call") or field(block, "functionCall")
        if call is not None:
            yield ToolCall(str(field(call, "name")), field(call, "args"))
