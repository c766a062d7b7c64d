"""The chain of assertions about a report: one chapter, one file.

Cupel.Testing Vocabulary: the 13 patterns in the chapter's order, each message as the chapter has it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import isnan
from os import PathLike
from typing import Self

from pycupel.analytics import budget_utilization
from pycupel.diagnostics import BudgetExceeded, ExcludedItem, IncludedItem, SelectionReport
from pycupel.diagnostics.reasons import reason_name
from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import checked_float, checked_int
from pycupel.testing._arguments import (
    Kind,
    Reason,
    Variant,
    checked_count,
    checked_kind,
    checked_predicate,
    hiding,
)
from pycupel.testing._edges import edge_positions, top_scored
from pycupel.testing._listing import joined, kinds_of, listing, reasons_of
from pycupel.testing._subject import ReportSubject
from pycupel.testing.snapshots import check_snapshot, directory_of

__all__ = ["SelectionReportChain", "should"]

# Tracebacks of pytest end where a test calls an assertion, not in here.
__tracebackhide__ = True

_ABOUT_INCLUDED = "lambda included: included.score > 0.5"


def should(report: SelectionReport) -> SelectionReportChain:
    """The start of a chain of assertions, like `report.should()`."""
    return SelectionReportChain(report)


class SelectionReportChain(ReportSubject):
    """Assertions about a report. Each returns the chain, or raises a `SelectionReportAssertionError`."""

    __slots__ = ()

    # --- inclusion

    def include_item_with_kind(self, kind: Kind) -> Self:
        """At least one selected item is of the kind."""
        wanted, included = checked_kind(kind), self.report.included
        kinds = kinds_of(included)
        if wanted in kinds:
            return self
        raise self._failure(
            f"IncludeItemWithKind({wanted}) failed: Included contained 0 items with Kind={wanted}. "
            f"Included had {len(included)} items with kinds: [{joined(kinds)}].",
            expected=wanted,
            actual=kinds,
            note=listing("Included", included),
        )

    def include_item_matching(self, predicate: Callable[[IncludedItem], object]) -> Self:
        """At least one selected item satisfies the predicate, which is given the item with its score and reason."""
        checked_predicate(predicate, _ABOUT_INCLUDED)
        included = self.report.included
        if any(map(predicate, included)):
            return self
        raise self._failure(
            "IncludeItemMatching failed: no item in Included matched the predicate. "
            f"Included had {len(included)} items.",
            expected=1,
            actual=0,
            note=listing("Included", included),
        )

    def include_exactly_n_items_with_kind(self, kind: Kind, n: int) -> Self:
        """So many selected items are of the kind, no more and no fewer."""
        wanted, expected, included = checked_kind(kind), checked_count(n), self.report.included
        found = sum(entry.item.kind == wanted for entry in included)
        if found == expected:
            return self
        raise self._failure(
            f"IncludeExactlyNItemsWithKind({wanted}, {expected}) failed: expected {expected} items with Kind={wanted} "
            f"in Included, but found {found}. Included had {len(included)} items total.",
            expected=expected,
            actual=found,
            note=listing("Included", included),
        )

    # --- exclusion

    def exclude_item_with_reason(self, reason: Reason) -> Self:
        """At least one item was left out for the reason, given as a class, a name or an instance (TV-13)."""
        variant, excluded = Variant.of(reason), self.report.excluded
        if any(variant.matches(entry.reason) for entry in excluded):
            return self
        reasons = reasons_of(excluded)
        raise self._failure(
            f"ExcludeItemWithReason({variant.name}) failed: no excluded item had reason {variant.name}. "
            f"Excluded had {len(excluded)} items with reasons: [{joined(reasons)}].",
            expected=variant.name,
            actual=reasons,
            note=listing("Excluded", excluded),
        )

    def exclude_item_matching_with_reason(self, predicate: Callable[[ContextItem], object], reason: Reason) -> Self:
        """At least one item that satisfies the predicate was left out for the reason."""
        variant, indices = Variant.of(reason), self._excluded_matching(predicate)
        matched = [self.report.excluded[i] for i in indices]
        if any(variant.matches(entry.reason) for entry in matched):
            return self
        reasons = reasons_of(matched)
        raise self._failure(
            f"ExcludeItemMatchingWithReason(reason={variant.name}) failed: predicate matched {len(matched)} excluded "
            f"item(s) but none had reason {variant.name}. Matched items had reasons: [{joined(reasons)}].",
            expected=variant.name,
            actual=reasons,
            note=self._excluded_listing(indices),
        )

    def exclude_item_with_budget_details(
        self,
        predicate: Callable[[ContextItem], object],
        expected_item_tokens: int,
        expected_available_tokens: int,
    ) -> Self:
        """An item that satisfies the predicate did not fit, with exactly these numbers in its `BudgetExceeded`."""
        indices = self._excluded_matching(predicate)
        matched = [self.report.excluded[i] for i in indices]
        expected = BudgetExceeded(
            hiding(checked_int, "expected_item_tokens", expected_item_tokens),
            hiding(checked_int, "expected_available_tokens", expected_available_tokens),
        )
        too_large = [entry.reason for entry in matched if isinstance(entry.reason, BudgetExceeded)]
        if expected in too_large:
            return self
        raise self._failure(
            f"ExcludeItemWithBudgetDetails failed: expected BudgetExceeded with {_token_counts(expected)}, "
            f"{_instead(too_large, matched)}",
            expected=expected,
            actual=too_large[0] if too_large else None,
            note=self._excluded_listing(indices),
        )

    def have_no_exclusions_for_kind(self, kind: Kind) -> Self:
        """Nothing of the kind was left out."""
        wanted, excluded = checked_kind(kind), self.report.excluded
        found = [i for i, entry in enumerate(excluded) if entry.item.kind == wanted]
        if not found:
            return self
        first = excluded[found[0]]
        raise self._failure(
            f"HaveNoExclusionsForKind({wanted}) failed: found {len(found)} excluded item(s) with Kind={wanted}. "
            f"First: score={first.score:.4f}, reason={reason_name(first.reason)}.",
            expected=0,
            actual=len(found),
            note=listing("Excluded, of that kind", excluded, found),
        )

    # --- aggregate counts

    def have_at_least_n_exclusions(self, n: int) -> Self:
        """So many items were left out, or more."""
        expected, excluded = checked_count(n), self.report.excluded
        if len(excluded) >= expected:
            return self
        raise self._failure(
            f"HaveAtLeastNExclusions({expected}) failed: expected at least {expected} excluded items, "
            f"but Excluded had {len(excluded)}.",
            expected=expected,
            actual=len(excluded),
            note=listing("Excluded", excluded),
        )

    def excluded_items_are_sorted_by_score_descending(self) -> Self:
        """No item that was left out has a higher score than the one before it. NaN is below every number (SC-03)."""
        scores = tuple(entry.score for entry in self.report.excluded)
        for i, (score, following) in enumerate(pairwise(scores)):
            if following > score or (isnan(score) and not isnan(following)):
                raise self._failure(
                    f"ExcludedItemsAreSortedByScoreDescending failed: item at index {i + 1} (score={following:.6f}) "
                    f"is higher than item at index {i} (score={score:.6f}). Expected non-increasing scores.",
                    expected="non-increasing scores",
                    actual=scores,
                )
        return self

    # --- budget

    def have_budget_utilization_above(self, threshold: float, budget: ContextBudget | None = None) -> Self:
        """The selected tokens are at least that share of the window, `max_tokens`; exactly the share is enough.

        Without a budget it is the report's own.
        """
        expected = hiding(checked_float, "threshold", threshold, InvalidArgumentError)
        window = self._budget(budget)
        actual = budget_utilization(self.report, window)
        if actual >= expected:
            return self
        raise self._failure(
            f"HaveBudgetUtilizationAbove({expected}) failed: computed utilization was {actual:.6f} "
            f"(includedTokens={self.report.included_tokens}, budget.MaxTokens={window.max_tokens}).",
            expected=expected,
            actual=actual,
        )

    # --- coverage

    def have_kind_coverage_count(self, n: int) -> Self:
        """The selection has so many kinds, or more."""
        expected, kinds = checked_count(n), kinds_of(self.report.included)
        if len(kinds) >= expected:
            return self
        raise self._failure(
            f"HaveKindCoverageCount({expected}) failed: expected at least {expected} distinct ContextKind values "
            f"in Included, but found {len(kinds)}: [{joined(kinds)}].",
            expected=expected,
            actual=len(kinds),
        )

    # --- ordering

    def place_item_at_edge(self, predicate: Callable[[IncludedItem], object]) -> Self:
        """The first or the last selected item satisfies the predicate. What that means depends on the placer."""
        checked_predicate(predicate, _ABOUT_INCLUDED)
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
        raise self._failure(
            f"PlaceItemAtEdge failed: {found}",
            expected=(0, last) if included else (),
            actual=tuple(matches),
            note=listing("At the edges", included, edge_positions(len(included), 2)),
        )

    def place_top_n_scored_at_edges(self, n: int) -> Self:
        """The highest scores are at the outermost positions: 0, last, 1, last - 1 and so on. Ties fall either way."""
        wanted, included = checked_count(n), self.report.included
        edges = edge_positions(len(included), wanted)
        top = top_scored([entry.score for entry in included], edges)
        inside = len(set(top).difference(edges))
        missing = wanted - len(top)
        if not inside and not missing:
            return self
        listed = joined(f"(kind={included[i].item.kind}, score={included[i].score:.6f}, idx={i})" for i in top)
        too_few = f"\nIncluded had {len(included)} items, fewer than n={wanted}." if missing else ""
        raise self._failure(
            f"PlaceTopNScoredAtEdges({wanted}) failed: {inside + missing} of the top-{wanted} scored items were "
            f"not at expected edge positions. Top-{wanted} items (by score): [{listed}]. "
            f"Expected edge positions: [{joined(edges)}].{too_few}",
            expected=tuple(edges),
            actual=tuple(top),
            note=listing("At the edges", included, edges),
        )

    # --- an extension

    def match_snapshot(self, name: str, *, directory: str | PathLike[str] | None = None) -> Self:
        """The selection is the one in `__snapshots__/<name>.json`, beside the file that calls this or in `directory`.

        Without such a file it is written, except in CI. `pytest --cupel-update-snapshots` replaces it, and so does any
        run with CUPEL_UPDATE_SNAPSHOTS=1 in its environment. Events are left out, since they hold measured times.

        Raises:
            DocumentError: the report holds something that JSON cannot.
        """
        caller = sys._getframe(1)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        check_snapshot(self.report, name, directory_of(caller.f_code.co_filename) if directory is None else directory)
        return self


def _token_counts(reason: BudgetExceeded) -> str:
    return f"item_tokens={reason.item_tokens}, available_tokens={reason.available_tokens}"


def _instead(too_large: Sequence[BudgetExceeded], matched: Sequence[ExcludedItem]) -> str:
    if too_large:
        return f"but found {_token_counts(too_large[0])}."
    found = f"Matching items had reasons: [{joined(reasons_of(matched))}]." if matched else "No excluded item matched."
    return f"but no matching item had reason BudgetExceeded.\n{found}"
