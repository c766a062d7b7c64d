from pycupel.model.budget import ContextBudget as ContextBudget
from pycupel.model.item import ContextItem as ContextItem, ScoredItem as ScoredItem
from pycupel.model.kind import (
    ContextKind as ContextKind,
    ContextSource as ContextSource,
    OverflowStrategy as OverflowStrategy,
    ScarcityBehavior as ScarcityBehavior,
)
from pycupel.model.quota import (
    CountQuotaEntry as CountQuotaEntry,
    QuotaConstraint as QuotaConstraint,
    QuotaConstraintMode as QuotaConstraintMode,
    QuotaEntry as QuotaEntry,
)
