"""KindScorer: a weight for each kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pycupel.errors import ScorerConfigError
from pycupel.model import ContextItem, ContextKind
from pycupel.model.checks import duplicate_kind, inside
from pycupel.scorers._weights import checked_weight, weight_items
from pycupel.text import quoted, shown
from pycupel.values import FrozenDict, hold, sealed

DEFAULT_WEIGHTS: FrozenDict[ContextKind, float] = FrozenDict(
    {
        ContextKind.SYSTEM_PROMPT: 1.0,
        ContextKind.MEMORY: 0.8,
        ContextKind.TOOL_OUTPUT: 0.6,
        ContextKind.DOCUMENT: 0.4,
        ContextKind.MESSAGE: 0.2,
    }
)


@sealed
@dataclass(frozen=True, slots=True, init=False)
class KindScorer:
    """The weight of the item's kind; 0.0 for a kind without a weight.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidItemError: a kind is empty or blank.
        ScorerConfigError: a weight is negative or not finite, or a kind is listed twice.
    """

    weights: Mapping[ContextKind, float] = field(metadata=inside(low=0.0))
    """A weight of 0 or more for each kind; it may exceed 1.

    Kinds may be plain strings. Default: system prompt 1.0, memory 0.8, tool output 0.6, document 0.4, message 0.2.
    """

    _by_key: dict[str, float] = field(init=False, repr=False, compare=False)

    def __init__(self, weights: Mapping[ContextKind, float] | Mapping[str, float] | None = None) -> None:
        checked: dict[ContextKind, float] = {}
        for name, weight in weight_items("weights", DEFAULT_WEIGHTS if weights is None else weights):
            kind = ContextKind.of(name, "weights: kind")
            if kind in checked:
                raise duplicate_kind("weights", kind.value, ScorerConfigError)
            checked[kind] = checked_weight("Weight for kind", f"weights[{quoted(kind.value)}]", weight)
        hold(self, weights=FrozenDict(checked), _by_key={kind.key: weight for kind, weight in checked.items()})

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:  # noqa: ARG002 - absolute
        """Return the weight of the item's kind."""
        if item.kind in self.weights:
            return self.weights[item.kind]
        return 0.0

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        weight_of = self._by_key.get
        return [weight_of(item.kind.key, 0.0) for item in items]

    def __repr__(self) -> str:
        weights = "" if self.weights == DEFAULT_WEIGHTS else f"weights={shown(self.weights)}"
        return f"{type(self).__name__}({weights})"
