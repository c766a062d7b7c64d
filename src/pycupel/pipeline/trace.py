"""What is gathered while the stages run, because it cannot be made later: times, and what custom code contributes.

The stages know nothing of this. A plain `Pipeline.run` has no `Trace` and reads no clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from pycupel.pipeline.classify import Classified
from pycupel.pipeline.explain import slice_notes
from pycupel.pipeline.place import Placement
from pycupel.pipeline.slice import Sliced
from pycupel.protocols import Scorer, Slicer
from pycupel.scorers._notes import scorer_notes

if TYPE_CHECKING:
    from pycupel.pipeline.rank import Ranking

__all__ = ["NoteSources", "Trace"]


class NoteSources(NamedTuple):
    """Who may have notes about a run. Those of custom code are gathered during it, ours can be made at any time."""

    scorer: Scorer
    slicer: Slicer
    has_custom_scorer: bool
    has_custom_slicer: bool

    @classmethod
    def of(cls, scorer: Scorer, slicer: Slicer) -> NoteSources:
        return cls(scorer, slicer, not _is_built_in(scorer), not _is_built_in(slicer))


class Trace:
    """Is told of each stage as it completes.

    Attributes:
        sources: The scorer and the slicer.
        laps: For each stage its duration in seconds, and how many items came out.
        scorer_notes: What the scorer has to say, if custom code is involved; else that can be made when asked for.
        slice_notes: What the slicer has to say, likewise.
        with_items: Whether a report should have events for items, too.
    """

    __slots__ = ("_mark", "laps", "scorer_notes", "slice_notes", "sources")

    with_items = True

    def __init__(self, sources: NoteSources, ranked: Trace | None = None) -> None:
        """Begin, or go on from where a ranking was made."""
        self.sources = sources
        self.laps: list[tuple[float, int]] = [] if ranked is None else ranked.laps[:3]
        self.scorer_notes: tuple[str, ...] | None = None if ranked is None else ranked.scorer_notes
        self.slice_notes: list[str] | None = None
        self._mark = perf_counter()

    def classified(self, classified: Classified) -> None:
        self._lap(len(classified.pinned) + len(classified.scoreable))

    def scored(self, classified: Classified, scores: Sequence[float]) -> None:
        self._lap(len(scores))
        if self.sources.has_custom_scorer:
            self.scorer_notes = scorer_notes(self.sources.scorer, classified.scoreable)
            self._mark = perf_counter()

    def deduplicated(self, classified: Classified, scores: Sequence[float], dropped: Sequence[int]) -> None:  # noqa: ARG002
        self._lap(len(scores) - len(dropped))

    def sliced(self, ranking: Ranking, sliced: Sliced) -> None:
        self._lap(len(sliced.selected))
        if self.sources.has_custom_slicer and self.with_items:
            self.slice_notes = slice_notes(ranking, sliced, self.sources.slicer)
            self._mark = perf_counter()

    def placed(self, ranking: Ranking, placement: Placement) -> None:  # noqa: ARG002
        self._lap(len(placement.order))

    def failed(self, error: BaseException) -> None:
        """The run has raised."""

    def _lap(self, count: int) -> None:
        now = perf_counter()
        self.laps.append((now - self._mark, count))
        self._mark = now


def _is_built_in(strategy: Any) -> bool:
    """Whether a scorer or slicer, and all that are inside it, are ours, so that they say the same at any time."""
    inside = _attribute_of_inner(strategy.__class__)
    if not inside:
        return inside is None
    inner = getattr(strategy, inside)
    return all(map(_is_built_in, inner)) if inside == "children" else inner is None or _is_built_in(inner)


@lru_cache(maxsize=512)
def _attribute_of_inner(cls: type[object]) -> str | None:
    """Where a strategy of ours keeps the inner ones; None if it has none, and an empty string if it is not ours."""
    if not cls.__module__.startswith("pycupel."):
        return ""
    return next((name for name in ("children", "engine", "inner") if hasattr(cls, name)), None)
