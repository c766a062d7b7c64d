"""The values that flow through the pipeline: validated when they are built, immutable afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pycupel.lazy import load_when_used
from pycupel.model.budget import ContextBudget
from pycupel.model.item import ContextItem, ScoredItem
from pycupel.model.kind import ContextKind, ContextSource, OverflowStrategy, ScarcityBehavior

if TYPE_CHECKING:
    from pycupel.model.quota import CountQuotaEntry, QuotaConstraint, QuotaConstraintMode, QuotaEntry
else:
    # Imported on first use: most programs have no quotas.
    _NAMES = {".quota": "CountQuotaEntry QuotaConstraint QuotaConstraintMode QuotaEntry"}
    __getattr__, __dir__ = load_when_used(__name__, _NAMES)

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
