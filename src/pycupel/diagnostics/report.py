"""`SelectionReport`: what a run selected, what it left out, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from math import isnan
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, overload

from pycupel.diagnostics.reasons import CountRequirementShortfall, ExcludedItem, IncludedItem, TraceEvent
from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import checked_iterable, checked_path, wrong_type
from pycupel.model.item import version_mark, whole_tokens
from pycupel.text import number_text, quantity
from pycupel.values import hold, sealed

if TYPE_CHECKING:
    from typing import TypedDict, Unpack

    from pycupel.diagnostics.explanation import Explanation, ScoreParts
    from pycupel.pipeline.policy import Policy, PresetName
    from pycupel.testing.chain import SelectionReportAssertionChain

    class _PageOptions(TypedDict, total=False):
        """The other options of `to_html`."""

        pipeline: Policy | PresetName | None
        items: Iterable[ContextItem] | None
        other: SelectionReport | None
        text: bool


class _Lazy:
    """A field that is read from the record of the run when it is first asked for, and then kept in the report.

    Python looks for it in the report's `__dict__` first, so reading it again costs nothing.
    """

    # With `__getattr__`, Python would make and drop an exception for each field, which takes longer than all the rest.

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, report: Any, owner: object = None) -> Any:
        if report is None:
            return self
        held = report.__dict__
        # If two threads read it at once, both get what was kept first.
        return held.setdefault(self.name, getattr(held["_record"], self.name))


@sealed
@dataclass(frozen=True, init=False)
class SelectionReport:
    """What a run selected, left out, and why. Every candidate is in `included` or `excluded`, exactly once.

    The report of a run is lazy: it builds its lists when they are first read. It is still immutable: comparable,
    hashable, picklable, and safe to share between threads.
    """

    events: tuple[TraceEvent, ...]
    """The events of the run, in order."""

    included: tuple[IncludedItem, ...]
    """The selection, in the order in which it was placed."""

    excluded: tuple[ExcludedItem, ...]
    """The rest, best score first; of equal scores, what was excluded earlier comes first."""

    total_candidates: int
    """How many items there were."""

    total_tokens_considered: int
    """Their tokens, negative counts included."""

    count_requirement_shortfalls: tuple[CountRequirementShortfall, ...]
    """The count requirements that could not be met."""

    budget: ContextBudget | None
    """The budget in force, if it is known."""

    notes: tuple[str, ...]
    """Advisory notes, for example that no item sets the field that a scorer reads."""

    def __init__(
        self,
        events: Iterable[TraceEvent],
        included: Iterable[IncludedItem],
        excluded: Iterable[ExcludedItem],
        total_candidates: int,
        total_tokens_considered: int,
        count_requirement_shortfalls: Iterable[CountRequirementShortfall] = (),
        budget: ContextBudget | None = None,
        notes: Iterable[str] = (),
    ) -> None:
        lists: dict[str, object] = {"events": events, "included": included, "excluded": excluded}
        lists |= {"count_requirement_shortfalls": count_requirement_shortfalls, "notes": notes}
        hold(self, **{name: tuple(checked_iterable(name, "an iterable", each)) for name, each in lists.items()})
        hold(self, total_candidates=total_candidates, total_tokens_considered=total_tokens_considered)
        hold(self, budget=None if budget is None else ContextBudget.of(budget))
        candidates = len(self.included) + len(self.excluded)
        if self.total_candidates != candidates:
            raise InvalidArgumentError(
                f"total_candidates must be {candidates} ({len(self.included)} included + "
                f"{len(self.excluded)} excluded), not {number_text(self.total_candidates)}",
                argument="total_candidates",
                value=self.total_candidates,
            )
        # A total that differs shows a report that was damaged or edited.
        tokens = considered_tokens([*self.included, *self.excluded])
        if self.total_tokens_considered != tokens:
            raise InvalidArgumentError(
                f"total_tokens_considered is {number_text(self.total_tokens_considered)}, but the items have "
                f"{number_text(tokens)} tokens",
                argument="total_tokens_considered",
                value=self.total_tokens_considered,
            )

    @property
    def items(self) -> list[ContextItem]:
        """The selected items, in the order in which they were placed: what `Pipeline.run` returns."""
        return [included.item for included in self.included]

    @property
    def shortened(self) -> list[IncludedItem]:
        """The selected items that are shorter versions; their `original_tokens` are the tokens of the whole item."""
        return [included for included in self.included if version_mark(included.item) is not None]

    @property
    def included_tokens(self) -> int:
        """The tokens of the selected items."""
        return sum([included.item.tokens for included in self.included])

    def same_selection(self, other: SelectionReport) -> bool:
        """Whether the same items are in and out, with equal scores, reasons and shortfalls.

        Unlike `==`, this ignores measured durations, which differ from run to run.
        """
        checked_report("other", other)
        return (
            _comparable(self.included) == _comparable(other.included)
            and _comparable(self.excluded) == _comparable(other.excluded)
            and self.count_requirement_shortfalls == other.count_requirement_shortfalls
        )

    def why(
        self,
        item: ContextItem | int | str,
        *,
        pipeline: Policy | PresetName | None = None,
        items: Iterable[ContextItem] | None = None,
    ) -> Explanation:
        """Explain why one item was selected or left out: `print(report.why("Parts list"))`.

        Args:
            item: The item, its index in `items`, or the start of its content. An item is found by identity, or else if
                exactly one candidate equals it. The start must match one content only, unless it is a whole content;
                of several items with that content, a selected one is explained, or the best one.
            pipeline: For `min_budget`: the `Pipeline`, `Policy` or preset name that selected. It is run again with
                larger budgets. For a run with a question, pass `pipeline.for_query(query)`.
            items: The candidates of the run, for an index and for `min_budget`.

        Raises:
            InvalidArgumentError: no candidate or several candidates match, the index is out of range, or a pipeline is
                given for the report of a chat history.
        """
        from pycupel.diagnostics.explanation import explain  # noqa: PLC0415 - few reports are asked for one item

        if pipeline is not None:
            refuse_history([*self.items, *(each.item for each in self.excluded)])
        return explain(self, item, score_parts(self), slicer_notes(self), pipeline, items)

    def should(self) -> SelectionReportAssertionChain:
        """Start a chain of assertions: `report.should().include_item_with_kind("Document")`."""
        from pycupel.testing.chain import SelectionReportAssertionChain  # noqa: PLC0415

        return SelectionReportAssertionChain(self)

    def to_text(self, *, color: bool = False, parts: bool = False, unicode: bool = True) -> str:
        """Format the whole report for a terminal of 80 columns; `pycupel.render` has more options.

        Args:
            color: Whether to use the terminal's colours.
            parts: Whether to show the scores of the best items by scorer, too. Only a report that a run returned has
                them.
            unicode: False shows a `?` for each character beyond ASCII.
        """
        # Imported late, because rendering is a higher layer and most runs never need it.
        from pycupel.render.text import render_report  # noqa: PLC0415

        return render_report(self, color=color, parts=parts, unicode=unicode)

    @overload
    def to_html(self, path: None = None, **options: Unpack[_PageOptions]) -> str: ...

    @overload
    def to_html(self, path: str | PathLike[str], **options: Unpack[_PageOptions]) -> None: ...

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        pipeline: Policy | PresetName | None = None,
        items: Iterable[ContextItem] | None = None,
        other: SelectionReport | None = None,
        text: bool = True,
    ) -> str | None:
        """Make a self-contained HTML page of the report: `report.to_html("report.html")`.

        Args:
            path: The file to write. Without it, the page is returned.
            pipeline: For a slider over other budgets: the `Pipeline`, `Policy` or preset name that selected. It is run
                again for at most 64 budgets. For a run with a question, pass `pipeline.for_query(query)`.
            items: The candidates of the run, for the slider.
            other: A second report, to show both side by side.
            text: False leaves out contents, tags and metadata, so that the page can be shared.

        Raises:
            InvalidArgumentError: `items` and the report differ in number, or there is no such preset.
        """
        from pycupel.render.html import render_html  # noqa: PLC0415 - as for to_text

        file_name = None if path is None else checked_path("path", path)
        page = render_html(self, pipeline=pipeline, items=items, other=other, text=text)
        if file_name is None:
            return page
        with open(file_name, "w", encoding="utf-8", newline="\n") as file:  # noqa: PTH123 - pathlib is slow to import
            file.write(page)
        return None

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:  # noqa: ARG002
        """Return the page in a frame for a notebook, or the summary where only text is shown."""
        from pycupel.render.html import render_frame  # noqa: PLC0415 - as for to_text

        return {"text/plain": str(self), "text/html": render_frame(self.to_html())}

    def __repr__(self) -> str:
        # All candidates would be too long for a traceback.
        return (
            f"<SelectionReport: {len(self.included)} of {quantity(self.total_candidates, 'item')}, "
            f"{number_text(self.included_tokens)} of {quantity(self.total_tokens_considered, 'token')}>"
        )

    def __str__(self) -> str:
        """A few lines; `to_text` shows everything."""
        from pycupel.render.text import render_summary  # noqa: PLC0415

        return render_summary(self)


for _field in fields(SelectionReport):
    setattr(SelectionReport, _field.name, _Lazy(_field.name))


def checked_report(name: str, value: Any) -> SelectionReport:
    """Check for a report; `name` is what an error calls the argument."""
    if not isinstance(value, SelectionReport):
        raise wrong_type(name, "a SelectionReport", value)
    return value


def considered_tokens(entries: Iterable[IncludedItem | ExcludedItem]) -> int:
    """Add up the tokens that a run considered. A shorter version was considered as a whole (SR-04)."""
    return sum([whole_tokens(entry.item) for entry in entries])


def report_over(record: Any, **known: object) -> SelectionReport:
    """Make a report over the record of a run, or over another report: each field is read from it when first asked for.

    Those in `known` are not read from there, and not checked.
    """
    report = object.__new__(SelectionReport)
    report.__dict__.update(known, _record=record)
    return report


def score_parts(report: SelectionReport) -> ScoreParts | None:
    """Return the scores that the report's run kept, by scorer; None if the report was not made by a run."""
    record = _record_of(report)
    parts: ScoreParts | None = None if record is None else record.score_parts
    return parts


def slicer_notes(report: SelectionReport) -> dict[int, str]:
    """Return what the slicer says about items that would have fitted, by the id of the item (ER-05).

    Empty for a report that was not made by a run.
    """
    record = _record_of(report)
    notes: dict[int, str] = {} if record is None else record.slicer_notes
    return notes


SELECTED_BY: Final = "pycupel.selected_by"
"""The key in the metadata of items that the report of a chat history has: what selected them."""


def are_of_history(items: Iterable[ContextItem]) -> bool:
    """Whether the items are of a report of a chat history.

    They say so themselves, because they may come from JSON, or without their report.
    """
    return any(SELECTED_BY in item.metadata for item in items)


def refuse_history(items: Iterable[ContextItem]) -> None:
    """Raise if the items are of a chat history: other budgets cut it, and a pipeline would select from it."""
    if are_of_history(items):
        raise InvalidArgumentError(
            "pipeline cannot try other budgets for a chat history, which is cut and not selected item by item; "
            "call select_messages with another budget instead",
            argument="pipeline",
        )


def _record_of(report: SelectionReport) -> Any:
    """Return the record of the run that made the report; None if it comes from JSON or a pickle."""
    record = report.__dict__.get("_record")
    while isinstance(record, SelectionReport):
        record = record.__dict__.get("_record")
    return record


def _comparable(entries: Iterable[IncludedItem | ExcludedItem]) -> list[tuple[object, ...]]:
    """Replace NaN in the entries by a value that equals itself."""
    return [(item, None if isnan(score) else score, reason) for item, score, reason in entries]
