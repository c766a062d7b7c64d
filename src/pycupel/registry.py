"""Where the names in files meet the classes: the built-in ones, registered ones, and those of installed plug-ins.

A package offers its strategies to policy files by entry point, in the group `pycupel.scorers`, `pycupel.slicers`,
`pycupel.placers`, `pycupel.curves` or `pycupel.clocks`; a program offers its own with `SCORERS.register` and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from pycupel import placers, scorers, slicers
from pycupel.errors import InvalidArgumentError
from pycupel.model.checks import checked_str, wrong_type
from pycupel.model.names import name_key
from pycupel.scorers.decay import checked_clock

__all__ = ["CLOCKS", "CURVES", "PLACERS", "SCORERS", "SLICERS", "Registry"]

_Entry = TypeVar("_Entry")


class Registry(Mapping[str, Any]):
    """Names and what they stand for. `metadataTrust`, `metadata_trust` and `metadata-trust` are one name.

    Plug-ins are looked for when something is not found among the rest, and loaded when they are used.
    """

    def __init__(self, what: str, built_in: Mapping[str, Any], check: Callable[[str, Any], Any]) -> None:
        self.what = what
        self._check = check
        self.group = f"pycupel.{what}s"
        self._names = {name_key(name): name for name in built_in}
        self._entries = {name_key(name): entry for name, entry in built_in.items()}
        self._built_in = frozenset(self._entries)
        self._points: dict[str, Any] | None = None

    def register(self, name: str, entry: _Entry) -> _Entry:
        """Let files use the name for a class, or for a function that builds one. A clock is registered itself.

        Only what is registered as a class can be written to a file, too.

        Raises:
            InvalidArgumentError: the name means something else already.
            TypeError: it is neither a class nor a function, or no clock.
        """
        self._check(f"the {self.what} {name!r}", entry)
        key = name_key(checked_str("name", name))
        if not key:
            raise InvalidArgumentError(f"name must have letters or digits, not {name!r}", argument="name", value=name)
        present = self._entries.get(key)
        if key in self._built_in or (present is not None and not _same(present, entry)):
            raise InvalidArgumentError(
                f"the {self.what} {self._names[key]!r} is registered already, as {present!r}; choose another name",
                argument="name",
                value=name,
            )
        self._entries[key] = entry
        self._names[key] = name
        return entry

    def __getitem__(self, name: str) -> Any:
        key = name_key(name)
        if key not in self._entries and key in self._plug_ins():
            self._load(key)
        try:
            return self._entries[key]
        except KeyError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        others = [point.name for key, point in self._plug_ins().items() if key not in self._names]
        return iter([*self._names.values(), *others])

    def __len__(self) -> int:
        return len({*self._plug_ins(), *self._entries})

    def name_of(self, entry: object) -> str | None:
        """The name under which a class, or a clock, is registered."""
        found = self._search(entry)
        if found is None:
            for key in self._plug_ins():
                # A plug-in that cannot be loaded has not made the thing that is looked for.
                with suppress(Exception):
                    self._load(key)
            found = self._search(entry)
        return found

    def _search(self, entry: object) -> str | None:
        return next((self._names[key] for key, known in self._entries.items() if known == entry), None)

    def _plug_ins(self) -> dict[str, Any]:
        if self._points is None:
            # Imported here, because only policy files need it.
            from importlib.metadata import entry_points  # noqa: PLC0415

            self._points = {name_key(point.name): point for point in entry_points(group=self.group)}
        return self._points

    def _load(self, key: str) -> None:
        """What the program registered itself comes first."""
        if key not in self._entries:
            point = self._plug_ins()[key]
            try:
                self.register(point.name, point.load())
            except Exception as error:
                error.add_note(f"This happened while the plug-in {point.name!r} ({point.value}) was loaded.")
                raise


def _checked_factory(name: str, value: Any) -> Any:
    if not callable(value):
        raise wrong_type(name, "a class, or a function that builds one", value)
    return value


def _same(present: object, entry: object) -> bool:
    """Whether a registration is repeated, by a module that is loaded again, for example."""
    return present == entry or (_origin(present) is not None and _origin(present) == _origin(entry))


def _origin(entry: Any) -> tuple[str, str] | None:
    return (entry.__module__, entry.__qualname__) if hasattr(entry, "__qualname__") else None


SCORERS = Registry(
    "scorer",
    {
        "recency": scorers.RecencyScorer,
        "priority": scorers.PriorityScorer,
        "kind": scorers.KindScorer,
        "tag": scorers.TagScorer,
        "frequency": scorers.FrequencyScorer,
        "reflexive": scorers.ReflexiveScorer,
        "scaled": scorers.ScaledScorer,
        "composite": scorers.CompositeScorer,
        "metadataTrust": scorers.MetadataTrustScorer,
        "metadataKey": scorers.MetadataKeyScorer,
        "decay": scorers.DecayScorer,
        "boosted": scorers.BoostedScorer,
    },
    _checked_factory,
)

SLICERS = Registry(
    "slicer",
    {
        "greedy": slicers.GreedySlice,
        "knapsack": slicers.KnapsackSlice,
        "stream": slicers.StreamSlice,
        "quota": slicers.QuotaSlice,
        "countQuota": slicers.CountQuotaSlice,
        "countConstrainedKnapsack": slicers.CountConstrainedKnapsackSlice,
    },
    _checked_factory,
)

PLACERS = Registry(
    "placer", {"chronological": placers.ChronologicalPlacer, "uShaped": placers.UShapedPlacer}, _checked_factory
)

CURVES = Registry(
    "curve", {"exponential": scorers.Exponential, "step": scorers.Step, "window": scorers.Window}, _checked_factory
)

CLOCKS = Registry("clock", {"system": scorers.SystemTimeProvider()}, checked_clock)
