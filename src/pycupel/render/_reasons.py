"""Say in words and numbers why an item was left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pycupel.diagnostics import (
    BudgetExceeded,
    CountCapExceeded,
    Deduplicated,
    ExcludedItem,
    ExclusionReason,
    NegativeTokens,
    PinnedOverride,
    UnknownReason,
)
from pycupel.diagnostics.reasons import reason_name
from pycupel.render._layout import clipped, count, number

_LONGEST_NAME = 40
_LONGEST_QUOTE = 24


class Explanation(NamedTuple):
    """Why an item was left out: `title` is the same for all items with this reason, `why` is about this one."""

    title: str
    why: str


def name_of(reason: ExclusionReason) -> str:
    """Return the reason's name in the wire format, shortened, since it may be any string."""
    return clipped(reason_name(reason), _LONGEST_NAME)


def explain(excluded: ExcludedItem, positions: Mapping[str, int], digits: int) -> Explanation:
    """Explain an exclusion. `positions` are the numbers by which selected contents are referred to."""
    reason = excluded.reason
    match reason:
        case BudgetExceeded(item_tokens=needed, available_tokens=left):
            # A quota or a bucket of a knapsack can be full while the budget is not (ER-05).
            title = "Did not fit" if needed > left else "Would fit, but was not chosen"
            why = f"needs {count(needed, digits)}, {count(left, digits)} left"
        case Deduplicated(deduplicated_against=content):
            title = "Same text as another candidate"
            itself = "an excluded item" if content == excluded.item.content else _quoted(content)
            why = f"copy of {_selected(content, positions) or itself}"
        case NegativeTokens(tokens=tokens):
            title, why = "Negative token count", f"counted as {count(tokens)}"
        case PinnedOverride(displaced_by=content):
            title = "Would fit without the pinned items"
            why = f"displaced by {_selected(content, positions) or _quoted(content)}"
        case CountCapExceeded(kind=kind, cap=cap, count=chosen):
            title = "Enough of its kind"
            of_kind = "" if excluded.item.kind == kind else f" of kind {_quoted(kind)}"
            why = f"capped at {count(cap)}, {count(chosen)} selected{of_kind}"
        case _:
            return Explanation(name_of(reason), _fields(reason))
    return Explanation(f"{title} ({name_of(reason)})", why)


def _selected(content: str, positions: Mapping[str, int]) -> str:
    return f"#{positions[content]}" if content in positions else ""


def _quoted(text: str) -> str:
    return f"'{clipped(text, _LONGEST_QUOTE)}'"


def _fields(reason: ExclusionReason) -> str:
    """Show the fields of a reason that this module does not know."""
    if isinstance(reason, UnknownReason):
        fields = reason.fields
    else:
        fields = {name: getattr(reason, name) for name in getattr(reason, "__match_args__", ())}
    fields_text = ", ".join(f"{clipped(name, _LONGEST_QUOTE)} {_value(value)}" for name, value in fields.items())
    return fields_text and clipped(fields_text, _LONGEST_NAME)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return count(value)
    return number(value) if isinstance(value, float) else _quoted(str(value))
