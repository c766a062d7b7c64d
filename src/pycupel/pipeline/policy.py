"""`Policy`: the choices that make a selection, as a value. It carries no budget."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from pycupel.errors import PipelineConfigError
from pycupel.model import OverflowStrategy
from pycupel.model.checks import checked_bool, checked_choice, checked_str
from pycupel.placers import ChronologicalPlacer
from pycupel.protocols import Placer, Scorer, Slicer, checked_placer, checked_scorer, checked_slicer
from pycupel.slicers import GreedySlice

__all__ = ["Choices", "Policy"]


@dataclass(frozen=True, slots=True)
class Choices:
    """What a policy and a pipeline have in common.

    Attributes:
        deduplication: Whether only the best of several items with the same content stays. Pinned items are not looked
            at, unless `dedupe_against_pinned` says so.
        overflow_strategy: What happens if pinned and selected items together exceed the target: raise, drop the
            lowest scores, or accept.
    """

    scorer: Scorer
    slicer: Slicer = GreedySlice()
    placer: Placer = ChronologicalPlacer()
    _: KW_ONLY
    deduplication: bool = True
    overflow_strategy: OverflowStrategy = OverflowStrategy.THROW
    dedupe_against_pinned: bool = False

    def __post_init__(self) -> None:
        checked_scorer("scorer", self.scorer)
        checked_slicer("slicer", self.slicer)
        checked_placer("placer", self.placer)
        checked_bool("deduplication", self.deduplication)
        checked_bool("dedupe_against_pinned", self.dedupe_against_pinned)
        strategy = checked_choice("overflow_strategy", self.overflow_strategy, OverflowStrategy, PipelineConfigError)
        object.__setattr__(self, "overflow_strategy", strategy)
        if self.dedupe_against_pinned and not self.deduplication:
            raise PipelineConfigError(
                "dedupe_against_pinned needs deduplication=True", argument="dedupe_against_pinned"
            )


@dataclass(frozen=True, slots=True)
class Policy(Choices):
    """What a policy file holds: comparable, and serialisable with `pycupel.policies`. A `Pipeline` runs one."""

    _: KW_ONLY
    name: str | None = None
    description: str | None = None

    def __post_init__(self) -> None:
        Choices.__post_init__(self)
        for field in ("name", "description"):
            if getattr(self, field) is not None:
                checked_str(field, getattr(self, field))
