"""KindScorer: a weight for each kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pycupel.errors import ScorerConfigError
from pycupel.model import ContextItem, ContextKind
from pycupel.scorers._weights import checked_weight, weight_items

__all__ = ["KindScorer"]

DEFAULT_WEIGHTS: Mapping[ContextKind, float] = MappingProxyType(
    {
        ContextKind.SYSTEM_PROMPT: 1.0,
        ContextKind.MEMORY: 0.8,
        ContextKind.TOOL_OUTPUT: 0.6,
        ContextKind.DOCUMENT: 0.4,
        ContextKind.MESSAGE: 0.2,
    }
)


@dataclass(frozen=True, slots=True, init=False)
class KindScorer:
    """The weight of the item's kind, 0.0 if it has none. Weights may exceed 1.0 and are not clamped."""

    weights: Mapping[ContextKind, float]
    _by_key: dict[str, float] = field(init=False, repr=False, compare=False)

    def __init__(self, weights: Mapping[ContextKind, float] | Mapping[str, float] | None = None) -> None:
        checked: dict[ContextKind, float] = {}
        for name, weight in weight_items("weights", DEFAULT_WEIGHTS if weights is None else weights):
            kind = ContextKind.of(name)
            if kind in checked:
                raise ScorerConfigError(
                    f"weights names the kind {kind.value!r} twice; kinds do not differ by case", argument="weights"
                )
            checked[kind] = checked_weight("Weight for kind", f"weights[{kind.value!r}]", weight)
        object.__setattr__(self, "weights", MappingProxyType(checked))
        object.__setattr__(self, "_by_key", {kind.key: weight for kind, weight in checked.items()})

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:  # noqa: ARG002 - absolute
        if item.kind in self.weights:
            return self.weights[item.kind]
        return 0.0

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        weight_of = self._by_key.get
        return [weight_of(item.kind.key, 0.0) for item in items]

    def __hash__(self) -> int:
        return hash(frozenset(self.weights.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self.weights),)
