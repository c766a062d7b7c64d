"""Record what cannot be made after the run: times, and the notes of custom code.

The stages do not know about this, and a plain `Pipeline.run` reads no clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pycupel.pipeline.classify import Classified
from pycupel.pipeline.explain import slice_notes
from pycupel.pipeline.place import Placement
from pycupel.pipeline.slice import Sliced
from pycupel.protocols import Placer, Scorer, Slicer
from pycupel.scorers._notes import ScorerTraits, scorer_notes, traits_of
from pycupel.scorers._parts import Shares, parts_of

if TYPE_CHECKING:
    from pycupel.pipeline.rank import Ranking
    from pycupel.pipeline.selection import Selection

__all__ = ["UNTRACED", "NoteSources", "TimedTrace", "Trace"]


@dataclass(slots=True, eq=False)
class NoteSources:
    """The sources of notes about a run. Custom code makes its notes during the run; built-in notes are made later.

    A pipeline keeps one for all its runs; for a run with a question, `dataclasses.replace` makes a copy.
    """

    scorer: Scorer
    """The scorer, with the question if there is one."""

    slicer: Slicer
    """The slicer."""

    placer: Placer
    """The placer."""

    ignores_query: bool = False
    """Whether there is a question that no scorer reads."""

    remarks: tuple[str, ...] = ()
    """Further notes."""

    has_custom_scorer: bool = field(init=False)
    """Whether the scorer or one inside it is custom code."""

    has_custom_slicer: bool = field(init=False)
    """Whether the slicer or one inside it is custom code."""

    _traits: ScorerTraits | None = field(init=False, default=None)
    _parts: Shares | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.has_custom_scorer = not _is_built_in(self.scorer)
        self.has_custom_slicer = not _is_built_in(self.slicer)

    @property
    def traits(self) -> ScorerTraits:
        """The traits of the scorer, for notes; computed when first read."""
        if self._traits is None:
            self._traits = traits_of(self.scorer)
        return self._traits

    @property
    def parts(self) -> Shares:
        """The scorers whose weighted sum is the score; computed when first read."""
        if self._parts is None:
            self._parts = parts_of(self.scorer)
        return self._parts


class Trace:
    """An observer of the stages. This base class ignores everything, for a plain run."""

    __slots__ = ()

    sources: NoteSources
    """The scorer and the slicer."""

    laps: Sequence[tuple[float, int]] = ()
    """For each stage, its duration in seconds and how many items came out."""

    traits: ScorerTraits | None = None
    """The traits of a custom scorer, for notes; recorded during the run, because they may change."""

    columns: dict[int, list[float]] | None = None
    """The scores of each scorer, by its id."""

    scorer_notes: tuple[str, ...] | None = ()
    """The scorer's notes; None if they can be made later."""

    slice_notes: Sequence[str] | None = ()
    """The slicer's notes about each item that it left out; None if they can be made later."""

    with_items: bool = False
    """Whether the report has events for items, too."""

    def classified(self, classified: Classified) -> None:
        """Classify has completed."""

    def scored(self, classified: Classified, scores: Sequence[float]) -> None:
        """Score has completed."""

    def deduplicated(self, classified: Classified, scores: Sequence[float], dropped: Sequence[int]) -> None:
        """Deduplicate has completed."""

    def sliced(self, ranking: Ranking, sliced: Sliced) -> None:
        """Slice has completed."""

    def placed(self, ranking: Ranking, placement: Placement) -> None:
        """Place has completed."""

    def resume(self, seconds: float) -> None:
        """Add this duration to the next stage that completes."""

    def completed(self, selection: Selection) -> None:
        """The run has completed."""

    def failed(self, error: BaseException) -> None:
        """The run has raised."""


UNTRACED = Trace()


class TimedTrace(Trace):
    """Measures the stages and collects the notes of custom scorers and slicers: enough for a report."""

    __slots__ = ("_mark", "columns", "laps", "scorer_notes", "slice_notes", "sources", "traits")

    with_items = True

    def __init__(self, sources: NoteSources) -> None:
        """Start the clock."""
        self.sources = sources
        self.laps: list[tuple[float, int]] = []  # pyright: ignore[reportIncompatibleVariableOverride]
        self.columns: dict[int, list[float]] | None = {}
        self.traits: ScorerTraits | None = None
        self.scorer_notes: tuple[str, ...] | None = None
        self.slice_notes: Sequence[str] | None = None
        self._mark = perf_counter()

    def continue_from(self, ranked: Trace) -> None:
        """Take over the times of a ranking, which keeps its own notes; the clock goes on."""
        self.laps.extend(ranked.laps[:3])

    def classified(self, classified: Classified) -> None:
        """Record the duration."""
        self._lap(perf_counter(), len(classified.pinned) + len(classified.scoreable))

    def scored(self, classified: Classified, scores: Sequence[float]) -> None:
        """Record the duration, and collect the notes of a custom scorer."""
        self._lap(perf_counter(), len(scores))
        if self.sources.has_custom_scorer:
            self.traits = traits_of(self.sources.scorer)
            self.scorer_notes = scorer_notes(self.traits, classified.scoreable)
            self._mark = perf_counter()

    def deduplicated(self, classified: Classified, scores: Sequence[float], dropped: Sequence[int]) -> None:  # noqa: ARG002
        """Record the duration."""
        self._lap(perf_counter(), len(scores) - len(dropped))

    def sliced(self, ranking: Ranking, sliced: Sliced) -> None:
        """Record the duration, and collect the notes of a custom slicer."""
        self._lap(perf_counter(), len(sliced.selected))
        if self.sources.has_custom_slicer and self.with_items:
            self.slice_notes = slice_notes(ranking, sliced, self.sources.slicer)
            self._mark = perf_counter()

    def placed(self, ranking: Ranking, placement: Placement) -> None:  # noqa: ARG002
        """Record the duration."""
        self._lap(perf_counter(), len(placement.order))

    def resume(self, seconds: float) -> None:
        """Move the start of the stage back."""
        self._mark = perf_counter() - seconds

    def __getstate__(self) -> dict[str, Any]:
        """Pair the columns with their scorers, because a copy of a scorer has another id."""
        state: Any = object.__getstate__(self)
        columns = self.columns and [(scorer, self.columns[id(scorer)]) for scorer, _ in self.sources.parts]
        return {**state[1], "columns": columns}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self.columns = {id(scorer): column for scorer, column in state["columns"] or ()}

    def _lap(self, now: float, count: int) -> None:
        self.laps.append((now - self._mark, count))
        self._mark = now


def _is_built_in(strategy: Any) -> bool:
    """Whether a scorer or slicer and everything in it is built in, so its notes can be made at any time."""
    known = {id(strategy)}
    pending = [strategy]
    while pending:
        strategy = pending.pop()
        inside = _attribute_of_inner(strategy.__class__)
        if inside == "":
            return False
        inner: Any = getattr(strategy, inside) if inside else None
        for each in inner if inside == "children" else (inner,):
            if each is not None and id(each) not in known:
                known.add(id(each))
                pending.append(each)
    return True


@lru_cache(maxsize=512)
def _attribute_of_inner(cls: type[object]) -> str | None:
    """Return the attribute with a built-in strategy's inner ones; None if it has none, empty for a custom class."""
    if not cls.__module__.startswith("pycupel."):
        return ""
    return next((name for name in ("children", "engine", "inner") if hasattr(cls, name)), None)
