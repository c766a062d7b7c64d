"""Check whether your own scorer, slicer or placer honours its contract.

A strategy is called with many inputs, some of them unusual, and always the same. One `StrategyCheckError` lists
everything that is wrong.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from textwrap import fill

from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import checked_bool
from pycupel.protocols import Placer, Scorer, Slicer, checked_placer, checked_scorer, checked_slicer
from pycupel.testing._contract import BrokenProperty, PlacerContract, ScorerContract, SlicerContract
from pycupel.testing._samples import budgeted, samples
from pycupel.text import describe


class StrategyCheckError(AssertionError):
    """A strategy violates its contract. The text lists every problem."""

    strategy: str
    """The name of the strategy's class."""

    broken: tuple[BrokenProperty, ...]
    """The violated properties."""

    def __init__(self, strategy: str, broken: Iterable[BrokenProperty]) -> None:
        self.strategy = strategy
        self.broken = tuple(broken)
        super().__init__(strategy, self.broken)

    def __str__(self) -> str:
        texts = [f"- {each.name}: {each.problem}, with {each.sample}. {each.advice}" for each in self.broken]
        lines = [fill(text, 80, subsequent_indent="  ", break_long_words=False) for text in texts]
        return "\n".join([f"{self.strategy} violates its contract:", *lines])


def check_scorer(scorer: Scorer, items: Iterable[ContextItem] | None = None) -> None:
    """Check that a scorer gives every item a number, always the same one, and that `score_all` agrees with `score`.

    NaN is legal and ranks below every number, but is rarely intended, so it causes a warning.

    Args:
        scorer: The scorer.
        items: Items to check it with, in addition to the built-in ones.

    Raises:
        TypeError: an argument has the wrong type.
        StrategyCheckError: the scorer violates its contract.
    """
    contract = ScorerContract(checked_scorer("scorer", scorer))
    _raise_if_broken(scorer, contract.check(samples(items)))
    if contract.nan is not None:
        warnings.warn(
            f"{type(scorer).__name__} gives {describe(contract.nan)} the score NaN, which ranks below every number; "
            "return 0.0 if that is not intended",
            stacklevel=2,
        )


def check_slicer(
    slicer: Slicer,
    items: Iterable[ContextItem] | None = None,
    budgets: Iterable[ContextBudget | int] | None = None,
    *,
    may_overflow: bool = False,
) -> None:
    """Check that a slicer selects some of the items that it gets, always the same ones, and that they fit.

    Args:
        slicer: The slicer.
        items: Items to check it with, in addition to the built-in ones.
        budgets: Budgets to check it with, or numbers of tokens, in addition to the built-in ones.
        may_overflow: Whether the selection may exceed the budget, because of requirements that take precedence, as in a
            `CountQuotaSlice` with a `require_count`.

    Raises:
        TypeError: an argument has the wrong type.
        StrategyCheckError: the slicer violates its contract.
    """
    checked_bool("may_overflow", may_overflow)
    contract = SlicerContract(checked_slicer("slicer", slicer), may_overflow=may_overflow)
    _raise_if_broken(slicer, contract.check(budgeted(samples(items), budgets)))


def check_placer(placer: Placer, items: Iterable[ContextItem] | None = None) -> None:
    """Check that a placer returns all the items that it gets, always in the same order.

    Args:
        placer: The placer.
        items: Items to check it with, in addition to the built-in ones.

    Raises:
        TypeError: an argument has the wrong type.
        StrategyCheckError: the placer violates its contract.
    """
    contract = PlacerContract(checked_placer("placer", placer))
    _raise_if_broken(placer, contract.check(samples(items)))


def _raise_if_broken(strategy: object, broken: list[BrokenProperty]) -> None:
    if broken:
        raise StrategyCheckError(type(strategy).__name__, broken)
