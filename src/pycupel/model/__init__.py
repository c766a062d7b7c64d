"""The values that flow through the pipeline: validated when they are built, immutable afterwards."""

from __future__ import annotations

from pycupel.model.budget import ContextBudget
from pycupel.model.item import ContextItem, ScoredItem
from pycupel.model.kind import ContextKind, ContextSource, OverflowStrategy, ScarcityBehavior
from pycupel.model.quota import CountQuotaEntry, QuotaConstraint, QuotaConstraintMode, QuotaEntry

__all__ = [
    "ContextBudget",
    "ContextItem",
    "ContextKind",
    "ContextSource",
    "CountQuotaEntry",
    "OverflowStrategy",
    "QuotaConstraint",
    "QuotaConstraintMode",
    "QuotaEntry",
    "ScarcityBehavior",
    "ScoredItem",
]
