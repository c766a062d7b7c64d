"""Assertions about a report.

The specification's 13 patterns of assertions in order, with its messages.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan
from os import PathLike
from typing import Any, Literal, NamedTuple, Self, TypeAlias, cast

from pycupel.analytics import budget_utilization
from pycupel.diagnostics import BudgetExceeded, ExcludedItem, ExclusionReason, IncludedItem, SelectionReport
from pycupel.diagnostics.reasons import EXCLUSION_REASONS, reason_name
from pycupel.errors import InvalidArgumentError
from pycupel.kernels.order import descending
from pycupel.model import ContextBudget, ContextItem, ContextKind
from pycupel.model.checks import checked_count, checked_float, checked_int, find_name, suggestion, wrong_type
from pycupel.render._layout import Row, Span, Table, clipped, count, finish
from pycupel.testing.reports import SelectionReportAssertionError, check_snapshot, directory_of, hiding
from pycupel.text import number_text
from pycupel.values import sealed

# Makes pytest tracebacks end at the assertion in the test, not in this module.
__tracebackhide__ = True

Kind: TypeAlias = ContextKind | str
ReasonName: TypeAlias = Literal[
    "BudgetExceeded",
    "ScoredTooLow",
    "Deduplicated",
    "QuotaCapExceeded",
    "QuotaRequireDisplaced",
    "NegativeTokens",
    "PinnedOverride",
    "Filtered",
    "CountCapExceeded",
    "CountRequireCandidatesExhausted",
]
Reason: TypeAlias = type[ExclusionReason] | ExclusionReason | ReasonName

_Entries: TypeAlias = Sequence[IncludedItem | ExcludedItem]
# What a failure lists: a title, entries, and the indices of those to show, or None for all.
_Listed: TypeAlias = tuple[str, _Entries, Sequence[int] | None]

_INCLUDED_PREDICATE = "lambda included: included.score > 0.5"
_ITEM_PREDICATE = 'lambda item: "refund" in item.content'

# Test runners indent what they show.
_WIDTH = 72
_MAX_ROWS = 5


def edge_positions(count: int, n: int) -> list[int]:
    """Return the `n` outermost of `count` positions, from both ends inwards: 0, count - 1, 1, count - 2 and so on."""
    return [count - 1 - i // 2 if i % 2 else i // 2 for i in range(min(n, count))]


def should(report: SelectionReport) -> SelectionReportAssertionChain:
    """Start a chain of assertions, like `report.should()`."""
    return SelectionReportAssertionChain(report)


@sealed
@dataclass(frozen=True, slots=True)
class SelectionReportAssertionChain:
    """Assertions about a report, to be chained: each returns the chain, or raises `SelectionReportAssertionError`.

    Kinds may be strings. A predicate is a function that returns something true or false. A reason is a class or its
    name; an instance stands for its class, and its fields are not compared.
    """

    report: SelectionReport
    """The report that the assertions are about."""

    def __post_init__(self) -> None:
        if not isinstance(cast(Any, self.report), SelectionReport):
            raise wrong_type("report", "a SelectionReport", self.report)

    # --- inclusion

    def include_item_with_kind(self, kind: Kind) -> Self:
        """At least one selected item has this kind."""
        wanted, included = checked_kind(kind), self.report.included
        kinds = kinds_of(included)
        return self._expect(
            wanted in kinds,
            f"IncludeItemWithKind({wanted}) failed: Included contained 0 items with Kind={wanted}. "
            f"Included had {len(included)} items with kinds: [{comma_separated(kinds)}].",
            expected=wanted,
            actual=kinds,
            listed=("Included", included, None),
        )

    def include_item_matching(self, predicate: Callable[[IncludedItem], object]) -> Self:
        """At least one selected item satisfies the predicate, which gets the item with its score and reason."""
        check_predicate(predicate, _INCLUDED_PREDICATE)
        included = self.report.included
        found = any(map(predicate, included))
        # Of this pattern alone, the specification wants the first items in the message itself, after its own words.
        table = "" if found else _listing("Included", included)
        return self._expect(
            found,
            "IncludeItemMatching failed: no item in Included matched the predicate. "
            f"Included had {len(included)} items." + (f"\n{table}" if table else ""),
            expected=1,
            actual=0,
        )

    def include_exactly_n_items_with_kind(self, kind: Kind, n: int) -> Self:
        """Exactly `n` selected items have this kind."""
        wanted, expected, included = checked_kind(kind), checked_n(n), self.report.included
        found = sum(entry.item.kind == wanted for entry in included)
        return self._expect(
            found == expected,
            f"IncludeExactlyNItemsWithKind({wanted}, {expected}) failed: expected {expected} items with Kind={wanted} "
            f"in Included, but found {found}. Included had {len(included)} items total.",
            expected=expected,
            actual=found,
            listed=("Included", included, None),
        )

    # --- exclusion

    def exclude_item_with_reason(self, reason: Reason) -> Self:
        """At least one item was excluded for this reason."""
        variant, excluded = Variant.of(reason), self.report.excluded
        reasons = reasons_of(excluded)
        return self._expect(
            any(variant.matches(entry.reason) for entry in excluded),
            f"ExcludeItemWithReason({variant.name}) failed: no excluded item had reason {variant.name}. "
            f"Excluded had {len(excluded)} items with reasons: [{comma_separated(reasons)}].",
            expected=variant.name,
            actual=reasons,
            listed=("Excluded", excluded, None),
        )

    def exclude_item_matching_with_reason(self, predicate: Callable[[ContextItem], object], reason: Reason) -> Self:
        """At least one item that satisfies the predicate, which gets the item, was excluded for this reason."""
        variant = Variant.of(reason)
        matched, listed = self._excluded_matching(predicate)
        reasons = reasons_of(matched)
        return self._expect(
            any(variant.matches(entry.reason) for entry in matched),
            f"ExcludeItemMatchingWithReason(reason={variant.name}) failed: predicate matched {len(matched)} excluded "
            f"item(s) but none had reason {variant.name}. Matched items had reasons: [{comma_separated(reasons)}].",
            expected=variant.name,
            actual=reasons,
            listed=listed,
        )

    def exclude_item_with_budget_details(
        self,
        predicate: Callable[[ContextItem], object],
        expected_item_tokens: int,
        expected_available_tokens: int,
    ) -> Self:
        """At least one item matching the predicate was excluded as `BudgetExceeded` with exactly these numbers."""
        matched, listed = self._excluded_matching(predicate)
        expected = BudgetExceeded(
            hiding(checked_int, "expected_item_tokens", expected_item_tokens),
            hiding(checked_int, "expected_available_tokens", expected_available_tokens),
        )
        too_large = [entry.reason for entry in matched if isinstance(entry.reason, BudgetExceeded)]
        if too_large:
            instead = f"found {_token_counts(too_large[0])}."
        else:
            reasons = f"Matching items had reasons: [{comma_separated(reasons_of(matched))}]."
            others = reasons if matched else "No excluded item matched."
            instead = f"no matching item had reason BudgetExceeded.\n{others}"
        return self._expect(
            expected in too_large,
            f"ExcludeItemWithBudgetDetails failed: expected BudgetExceeded with {_token_counts(expected)}, "
            f"but {instead}",
            expected=expected,
            actual=too_large[0] if too_large else None,
            listed=listed,
        )

    def have_no_exclusions_for_kind(self, kind: Kind) -> Self:
        """No item of this kind was excluded."""
        wanted, excluded = checked_kind(kind), self.report.excluded
        found = [i for i, entry in enumerate(excluded) if entry.item.kind == wanted]
        first = [f"First: score={excluded[i].score:.4f}, reason={reason_name(excluded[i].reason)}." for i in found[:1]]
        return self._expect(
            not found,
            f"HaveNoExclusionsForKind({wanted}) failed: found {len(found)} excluded item(s) with Kind={wanted}. "
            f"{''.join(first)}",
            expected=0,
            actual=len(found),
            listed=("Excluded, of that kind", excluded, found),
        )

    # --- aggregate counts

    def have_at_least_n_exclusions(self, n: int) -> Self:
        """At least `n` items were excluded."""
        expected, excluded = checked_n(n), self.report.excluded
        return self._expect(
            len(excluded) >= expected,
            f"HaveAtLeastNExclusions({expected}) failed: expected at least {expected} excluded items, "
            f"but Excluded had {len(excluded)}.",
            expected=expected,
            actual=len(excluded),
            listed=("Excluded", excluded, None),
        )

    def excluded_items_are_sorted_by_score_descending(self) -> Self:
        """No excluded item has a higher score than the one before it. NaN is below every number."""
        scores = tuple(entry.score for entry in self.report.excluded)
        for i, (score, following) in enumerate(pairwise(scores)):
            self._expect(
                following <= score or isnan(following),
                f"ExcludedItemsAreSortedByScoreDescending failed: item at index {i + 1} (score={following:.6f}) "
                f"is higher than item at index {i} (score={score:.6f}). Expected non-increasing scores.",
                expected="non-increasing scores",
                actual=scores,
            )
        return self

    # --- budget

    def have_budget_utilization_above(self, threshold: float, budget: ContextBudget | int | None = None) -> Self:
        """The selected tokens are at least this share of `max_tokens`.

        Args:
            threshold: The share, from 0 to 1; exactly this share is enough.
            budget: The budget to compare with, or just a number of tokens; by default the report's own.
        """
        expected = hiding(checked_float, "threshold", threshold, InvalidArgumentError)
        window = self.report.budget if budget is None else hiding(ContextBudget.of, budget)
        if window is None:
            raise InvalidArgumentError("the report has no budget; pass one", argument="budget")
        actual = budget_utilization(self.report, window)
        return self._expect(
            actual >= expected,
            f"HaveBudgetUtilizationAbove({expected}) failed: computed utilization was {actual:.6f} "
            f"(includedTokens={number_text(self.report.included_tokens)}, "
            f"budget.MaxTokens={number_text(window.max_tokens)}).",
            expected=expected,
            actual=actual,
        )

    # --- coverage

    def have_kind_coverage_count(self, n: int) -> Self:
        """The selected items have at least `n` different kinds."""
        expected, kinds = checked_n(n), kinds_of(self.report.included)
        return self._expect(
            len(kinds) >= expected,
            f"HaveKindCoverageCount({expected}) failed: expected at least {expected} distinct ContextKind values "
            f"in Included, but found {len(kinds)}: [{comma_separated(kinds)}].",
            expected=expected,
            actual=len(kinds),
        )

    # --- ordering

    def place_item_at_edge(self, predicate: Callable[[IncludedItem], object]) -> Self:
        """The first or the last selected item satisfies the predicate, which gets it with its score and reason."""
        check_predicate(predicate, _INCLUDED_PREDICATE)
        included = self.report.included
        if included and (predicate(included[0]) or predicate(included[-1])):
            return self
        last = len(included) - 1
        matches = [i for i, entry in enumerate(included) if predicate(entry)]
        found = "no item in Included matched the predicate."
        if matches:
            found = (
                f"item matching predicate was at index {matches[0]} (not at edge). "
                f"Edge positions: 0 and {last}. Included had {len(included)} items."
            )
        return self._expect(
            False,
            f"PlaceItemAtEdge failed: {found}",
            expected=(0, last) if included else (),
            actual=tuple(matches),
            listed=("At the edges", included, edge_positions(len(included), 2)),
        )

    def place_top_n_scored_at_edges(self, n: int) -> Self:
        """The `n` highest scores are at the outermost positions: first, last, second, last but one and so on.

        Of equal scores, any may be the higher one. There must be at least `n` selected items.
        """
        wanted, included = checked_n(n), self.report.included
        edges = edge_positions(len(included), wanted)
        # Of equal scores, those on an edge come first. So if one of them is not on an edge, no way of breaking ties
        # puts the top scores at the edges (TV-06).
        others = sorted(set(range(len(included))).difference(edges))
        scores = [entry.score for entry in included]
        top = descending(scores, [*sorted(edges), *others])[: len(edges)]
        missing = wanted - len(top)
        elsewhere = len(set(top).difference(edges)) + missing
        shown = comma_separated(f"(kind={included[i].item.kind}, score={included[i].score:.6f}, idx={i})" for i in top)
        too_few = f"\nIncluded had {len(included)} items, fewer than n={wanted}." if missing else ""
        return self._expect(
            not elsewhere,
            f"PlaceTopNScoredAtEdges({wanted}) failed: {elsewhere} of the top-{wanted} scored items were "
            f"not at expected edge positions. Top-{wanted} items (by score): [{shown}]. "
            f"Expected edge positions: [{comma_separated(edges)}].{too_few}",
            expected=tuple(edges),
            actual=tuple(top),
            listed=("At the edges", included, edges),
        )

    # --- extensions

    def shorten_item_matching(self, predicate: Callable[[IncludedItem], object]) -> Self:
        """At least one item that satisfies the predicate was selected in a shorter version."""
        check_predicate(predicate, _INCLUDED_PREDICATE)
        shortened = self.report.shortened
        return self._expect(
            any(map(predicate, shortened)),
            "ShortenItemMatching failed: no shortened item in Included matched the predicate. "
            f"Included had {len(self.report.included)} items, {len(shortened)} of them shortened.",
            expected=1,
            actual=0,
            listed=("Shortened", shortened, None),
        )

    def shorten_exactly_n_items(self, n: int) -> Self:
        """Exactly `n` items were selected in a shorter version."""
        expected, shortened = checked_n(n), self.report.shortened
        return self._expect(
            len(shortened) == expected,
            f"ShortenExactlyNItems({expected}) failed: expected {expected} shortened items in Included, but found "
            f"{len(shortened)}. Included had {len(self.report.included)} items total.",
            expected=expected,
            actual=len(shortened),
            listed=("Shortened", shortened, None),
        )

    def match_snapshot(self, name: str, *, directory: str | PathLike[str] | None = None) -> Self:
        """The selection equals the one in a snapshot file, `__snapshots__/<name>.json`.

        If there is no such file, it is written, except in CI. `pytest --cupel-update-snapshots` replaces it; without
        pytest, set CUPEL_UPDATE_SNAPSHOTS=1. Events are not part of a snapshot, because they contain measured times.
        `directory` is where `__snapshots__` is; by default, beside the file that calls this.
        """
        caller = sys._getframe(1)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        check_snapshot(self.report, name, directory_of(caller.f_code.co_filename) if directory is None else directory)
        return self

    def place_item_first(self, predicate: Callable[[IncludedItem], object]) -> Self:
        """The first selected item satisfies the predicate, which gets it with its score and reason. An extension."""
        return self._place_item_at("PlaceItemFirst", "first", 0, predicate)

    def place_item_last(self, predicate: Callable[[IncludedItem], object]) -> Self:
        """The last selected item satisfies the predicate, which gets it with its score and reason. An extension."""
        return self._place_item_at("PlaceItemLast", "last", max(0, len(self.report.included) - 1), predicate)

    def _place_item_at(self, name: str, where: str, at: int, predicate: Callable[[IncludedItem], object]) -> Self:
        check_predicate(predicate, _INCLUDED_PREDICATE)
        included = self.report.included
        matches = [i for i, entry in enumerate(included) if predicate(entry)]
        found = f"item matching predicate was at index {matches[0]}" if matches else "no item in Included matched"
        return self._expect(
            at in matches,
            f"{name} failed: {found}, not {where} (index {at}). Included had {len(included)} items.",
            expected=at,
            actual=tuple(matches),
            listed=(where.capitalize(), included, [at] if included else []),
        )

    def _expect(
        self, holds: object, message: str, *, expected: object, actual: object, listed: _Listed | None = None
    ) -> Self:
        """Fail with the message and a table of entries, unless the assertion holds."""
        if holds:
            return self
        raise SelectionReportAssertionError(
            message,
            assertion=message.partition(" ")[0].partition("(")[0],
            expected=expected,
            actual=actual,
            report=self.report,
            note=_listing(*listed) if listed else "",
        )

    def _excluded_matching(self, predicate: Callable[[ContextItem], object]) -> tuple[list[ExcludedItem], _Listed]:
        """Return the excluded items that satisfy the predicate, and what a failure lists: these, or all."""
        check_predicate(predicate, _ITEM_PREDICATE)
        excluded = self.report.excluded
        indices = [i for i, entry in enumerate(excluded) if predicate(entry.item)]
        title = "Excluded, and matching" if indices else "Excluded"
        return [excluded[i] for i in indices], (title, excluded, indices or None)


def checked_kind(kind: Any) -> ContextKind:
    """Return the kind that a test names."""
    if not isinstance(kind, (str, ContextKind)):
        raise wrong_type("kind", "a str or a ContextKind", kind)
    return hiding(ContextKind.of, kind, "kind")


def checked_n(n: Any) -> int:
    """Return the number that a test expects."""
    return hiding(checked_count, "n", n, InvalidArgumentError)


def check_predicate(predicate: object, example: str) -> None:
    """Raise if a predicate cannot be called; the example shows what it looks like."""
    if not callable(predicate):
        raise wrong_type("predicate", f"a function like `{example}`", predicate)


class Variant(NamedTuple):
    """A kind of exclusion reason: a class, or all unknown reasons of one name (TV-13)."""

    cls: type[ExclusionReason]
    name: str

    @classmethod
    def of(cls, reason: Any) -> Self:
        """Return the variant that a class, a name or an instance stands for."""
        if isinstance(reason, ExclusionReason):
            return cls(type(reason), reason_name(reason))
        if isinstance(reason, str):
            known = find_name(reason, EXCLUSION_REASONS)
            if known is None:
                raise InvalidArgumentError(
                    f"unknown exclusion reason {reason!r}{suggestion(reason, EXCLUSION_REASONS)}",
                    argument="reason",
                    value=reason,
                    hint="For your own reason, pass its class; for one from another implementation, "
                    "UnknownReason(name).",
                )
            return cls(EXCLUSION_REASONS[known], known)
        if reason is ExclusionReason:
            raise InvalidArgumentError(
                "reason must be a specific reason, not ExclusionReason itself", argument="reason"
            )
        if isinstance(reason, type) and issubclass(reason, ExclusionReason):
            return cls(reason, reason.__name__)
        raise wrong_type("reason", "an exclusion reason: its class, its name or an instance", cast(object, reason))

    def matches(self, reason: ExclusionReason) -> bool:
        """Whether a reason is of this variant."""
        return isinstance(reason, self.cls) and self.name in {self.cls.__name__, reason_name(reason)}


def kinds_of(included: Iterable[IncludedItem]) -> tuple[ContextKind, ...]:
    """Return each kind once, in order of first appearance (TV-03)."""
    return tuple(dict.fromkeys(entry.item.kind for entry in included))


def reasons_of(excluded: Iterable[ExcludedItem]) -> tuple[str, ...]:
    """Return the name of each reason once, in order of first appearance (TV-03)."""
    return tuple(dict.fromkeys(reason_name(entry.reason) for entry in excluded))


def comma_separated(values: Iterable[object]) -> str:
    """List values as the specification's messages do."""
    return ", ".join(map(str, values))


def _listing(title: str, entries: _Entries, indices: Sequence[int] | None = None) -> str:
    """Format the first few entries, or those with the given indices, as a table; empty if there are none."""
    chosen = range(len(entries)) if indices is None else indices
    if not chosen:
        return ""
    rows: list[Row] = []
    for i in chosen[:_MAX_ROWS]:
        item, score, reason = entries[i].item, entries[i].score, entries[i].reason
        name = reason if isinstance(reason, str) else reason_name(reason)
        cells = (str(i), clipped(item.kind.value, 16), count(item.tokens), f"{score:.6g}", clipped(name, 24))
        rows.append(Row([Span(cell) for cell in cells], item.content))
    table = Table((">idx", "<kind", ">tokens", ">score", "<reason"), rows, _WIDTH)
    lines = [[Span(f"{title}:")], *table.titles("content"), *table.lines(rows)]
    if len(chosen) > _MAX_ROWS:
        lines.append([Span(f"  ... and {len(chosen) - _MAX_ROWS} more")])
    return finish(lines, _WIDTH, color=False)


def _token_counts(reason: BudgetExceeded) -> str:
    return f"item_tokens={number_text(reason.item_tokens)}, available_tokens={number_text(reason.available_tokens)}"
