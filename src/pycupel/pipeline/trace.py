"""What is gathered while the stages run, because it cannot be made later: times, and what custom code contributes.

The stages know nothing of this. A plain `Pipeline.run` has no `Trace` and reads no clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pycupel.pipeline.classify import Classified
from pycupel.pipeline.explain import slice_notes
from pycupel.pipeline.place import Placement
from pycupel.pipeline.slice import Sliced
from pycupel.protocols import Scorer, Slicer
from pycupel.scorers._notes import scorer_notes

if TYPE_CHECKING:
    from pycupel.pipeline.rank import Ranking

__all__ = ["Trace"]


class Trace:
    """Is told of each stage as it completes.

    Attributes:
        durations_ms: How long each stage took.
        scorer_notes: What the scorer has to say, if custom code is involved; else that can be made when asked for.
        slice_notes: What the slicer has to say, likewise.
    """

    __slots__ = ("_mark", "durations_ms", "scorer_notes", "slice_notes")

    def __init__(self, ranked: Trace | None = None) -> None:
        """Begin, or go on from where a ranking was made."""
        self.durations_ms: list[float] = [] if ranked is None else ranked.durations_ms[:3]
        self.scorer_notes: tuple[str, ...] | None = None if ranked is None else ranked.scorer_notes
        self.slice_notes: list[str] | None = None
        self._mark = perf_counter()

    def classified(self, classified: Classified) -> None:  # noqa: ARG002
        self._lap()

    def scored(self, classified: Classified, scores: Sequence[float], scorer: Scorer) -> None:  # noqa: ARG002
        self._lap()
        if not _is_built_in(scorer):
            self.scorer_notes = scorer_notes(scorer, classified.scoreable)
            self._mark = perf_counter()

    def deduplicated(self, classified: Classified, scores: Sequence[float], dropped: Sequence[int]) -> None:  # noqa: ARG002
        self._lap()

    def sliced(self, ranking: Ranking, sliced: Sliced, slicer: Slicer) -> None:
        self._lap()
        if not _is_built_in(slicer):
            self.slice_notes = slice_notes(ranking, sliced, slicer)
            self._mark = perf_counter()

    def placed(self, ranking: Ranking, placement: Placement) -> None:  # noqa: ARG002
        self._lap()

    def failed(self, error: BaseException) -> None:
        """The run has raised."""

    def _lap(self) -> None:
        now = perf_counter()
        self.durations_ms.append((now - self._mark) * 1e3)
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
