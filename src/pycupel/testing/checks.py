"""Checks for authors of strategies: whether a scorer, slicer or placer keeps its contract.

A strategy is asked about the same many inputs every time, some of them unusual. One `StrategyCheckError` lists
everything that is wrong.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from textwrap import fill

from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import checked_bool, describe
from pycupel.protocols import Placer, Scorer, Slicer, checked_placer, checked_scorer, checked_slicer
from pycupel.testing._contract import BrokenProperty, PlacerContract, ScorerContract, SlicerContract
from pycupel.testing._samples import budgeted, samples

__all__ = ["BrokenProperty", "StrategyCheckError", "check_placer", "check_scorer", "check_slicer"]


class StrategyCheckError(AssertionError):
    """All that is wrong with a strategy, as text and in `broken`."""

    def __init__(self, strategy: str, broken: Iterable[BrokenProperty]) -> None:
        self.strategy = strategy
        self.broken = tuple(broken)
        super().__init__(strategy, self.broken)

    def __str__(self) -> str:
        texts = [f"- {each.name}: {each.problem}, with {each.sample}. {each.advice}" for each in self.broken]
        lines = [fill(text, 80, subsequent_indent="  ", break_long_words=False) for text in texts]
        return "\n".join([f"{self.strategy} does not keep its contract:", *lines])


def check_scorer(scorer: Scorer, items: Iterable[ContextItem] | None = None) -> None:
    """Check that a scorer gives every item a number, always the same one, and that `score_all` agrees with `score`.

    `items` are tried beside the built-in ones. NaN is legal, because it ranks below every number, but hardly ever
    meant, so it is a warning.

    Raises:
        StrategyCheckError: the scorer does not keep its contract.
    """
    contract = ScorerContract(checked_scorer("scorer", scorer))
    _conclude(scorer, contract.check(samples(items)))
    if contract.nan is not None:
        warnings.warn(
            f"{type(scorer).__name__} gives {describe(contract.nan)} the score NaN, which ranks below every number; "
            "return 0.0 if that is not meant",
            stacklevel=2,
        )


def check_slicer(
    slicer: Slicer,
    items: Iterable[ContextItem] | None = None,
    budgets: Iterable[ContextBudget] | None = None,
    *,
    may_overflow: bool = False,
) -> None:
    """Check that a slicer selects some of the items that it gets, always the same ones, and that they fit.

    `items` and `budgets` are tried beside the built-in ones. `may_overflow=True` is for slicers with requirements that
    come before the budget, like a `CountQuotaSlice` with a `require_count` (CQ-06).

    Raises:
        StrategyCheckError: the slicer does not keep its contract.
    """
    checked_bool("may_overflow", may_overflow)
    contract = SlicerContract(checked_slicer("slicer", slicer), may_overflow=may_overflow)
    _conclude(slicer, contract.check(budgeted(samples(items), budgets)))


def check_placer(placer: Placer, items: Iterable[ContextItem] | None = None) -> None:
    """Check that a placer returns all the items that it gets, always in the same order.

    `items` are tried beside the built-in ones.

    Raises:
        StrategyCheckError: the placer does not keep its contract.
    """
    contract = PlacerContract(checked_placer("placer", placer))
    _conclude(placer, contract.check(samples(items)))


def _conclude(strategy: object, broken: list[BrokenProperty]) -> None:
    if broken:
        raise StrategyCheckError(type(strategy).__name__, broken)
