"""The names of strategies in files: built-in classes, registered ones, and those of installed plug-ins.

A package offers its strategies to policy files by entry point, in the group `pycupel.scorers`, `pycupel.slicers`,
`pycupel.placers`, `pycupel.shorteners`, `pycupel.curves` or `pycupel.clocks`; a program offers its own with
`SCORERS.register` and its like.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any, TypeVar

from pycupel import placers, scorers, slicers
from pycupel.errors import InvalidArgumentError
from pycupel.model.checks import checked_str, wrong_type
from pycupel.model.names import name_key
from pycupel.scorers.decay import checked_clock

__all__ = ["CLOCKS", "CURVES", "PLACERS", "SCORERS", "SHORTENERS", "SLICERS", "Registry"]

_Entry = TypeVar("_Entry")


class Registry(Mapping[str, Any]):
    """Names and the classes that they stand for; in `CLOCKS`, the clocks.

    A name is found in any spelling: `metadataTrust`, `metadata_trust` and `metadata-trust` are one. Installed plug-ins
    are looked for when a name is not found otherwise, and loaded when they are used.

    Attributes:
        what: What the entries are: `scorer`, `slicer`, `placer`, `shortener`, `curve` or `clock`.
        group: The group of entry points in which plug-ins are looked for.
    """

    def __init__(self, what: str, built_in: Mapping[str, Any], check: Callable[[str, Any], Any]) -> None:
        self.what = what
        self.group = f"pycupel.{what}s"
        self._check = check
        self._names = {name_key(name): name for name in built_in}
        self._entries = {name_key(name): entry for name, entry in built_in.items()}
        self._built_in = frozenset(self._entries)
        self._points: dict[str, Any] | None = None

    def register(self, name: str, entry: _Entry) -> _Entry:
        """Let files use a name for a class, a function that builds an instance, or a clock.

        Only a strategy whose class is registered can be written to a file, too. Registering the same entry again is
        allowed.

        Args:
            name: The name, as it is written to files.
            entry: The class or function; in `CLOCKS`, the clock itself.

        Returns:
            The entry itself.

        Raises:
            InvalidArgumentError: the name, in this or another spelling, is taken.
            TypeError: it is neither a class nor a function, or not a clock.
        """
        self._check(f"the {self.what} {name!r}", entry)
        key = name_key(checked_str("name", name))
        if not key:
            raise InvalidArgumentError(f"name must have letters or digits, not {name!r}", argument="name", value=name)
        present = self._entries.get(key)
        if key in self._built_in or (present is not None and not _same(present, entry)):
            raise InvalidArgumentError(
                f"the {self.what} {self._names[key]!r} is already registered, as {present!r}; choose another name",
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
            entry = self._entries[key]
        except KeyError:
            raise KeyError(name) from None
        if isinstance(entry, str):
            # A built-in class that is above this package is named, as in an entry point, and imported when it is used.
            module, _, attribute = entry.partition(":")
            entry = self._entries[key] = getattr(import_module(module), attribute)
        return entry

    def __iter__(self) -> Iterator[str]:
        others = [points[0].name for key, points in self._plug_ins().items() if key not in self._names]
        return iter([*self._names.values(), *others])

    def __len__(self) -> int:
        return len({*self._plug_ins(), *self._entries})

    def canonical_name(self, name: str) -> str | None:
        """Return the spelling in which a name was registered, or None if there is no such name. Loads no plug-in."""
        key = name_key(name)
        if key in self._names:
            return self._names[key]
        return self._plug_ins()[key][0].name if key in self._plug_ins() else None

    def name_of(self, entry: object) -> str | None:
        """Return the name under which a class, or a clock, is registered, or None."""
        found = self._search(entry)
        if found is None:
            for key in self._plug_ins():
                # A plug-in that cannot be loaded did not define the entry.
                with suppress(Exception):
                    self._load(key)
            found = self._search(entry)
        return found

    def _search(self, entry: object) -> str | None:
        return next((self._names[key] for key in list(self._entries) if self[key] == entry), None)

    def _plug_ins(self) -> dict[str, Any]:
        """The entry points by the key of their names: normally one for each."""
        if self._points is None:
            # Imported here, because only policy files need it.
            from importlib.metadata import entry_points  # noqa: PLC0415

            self._points = {}
            for point in entry_points(group=self.group):
                self._points.setdefault(name_key(point.name), []).append(point)
        return self._points

    def _load(self, key: str) -> None:
        """Register a plug-in, unless the program has registered something under its name."""
        if key in self._entries:
            return
        point, *others = self._plug_ins()[key]
        if others:
            raise InvalidArgumentError(
                f"{1 + len(others)} plug-ins offer the {self.what} {point.name!r}: "
                f"{', '.join(each.value for each in (point, *others))}; uninstall all but one"
            )
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
    """Whether a registration is repeated: a module may be reloaded, for example."""
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
        "relevance": scorers.RelevanceScorer,
    },
    _checked_factory,
)
"""The scorers that policy files can name."""

SLICERS = Registry(
    "slicer",
    {
        "greedy": slicers.GreedySlice,
        "knapsack": slicers.KnapsackSlice,
        "stream": slicers.StreamSlice,
        "quota": slicers.QuotaSlice,
        "countQuota": slicers.CountQuotaSlice,
        "countConstrainedKnapsack": slicers.CountConstrainedKnapsackSlice,
        "minScore": slicers.MinScoreSlice,
    },
    _checked_factory,
)
"""The slicers that policy files can name."""

PLACERS = Registry(
    "placer",
    {
        "chronological": placers.ChronologicalPlacer,
        "uShaped": placers.UShapedPlacer,
        "framed": placers.FramedPlacer,
    },
    _checked_factory,
)
"""The placers that policy files can name."""

SHORTENERS = Registry(
    "shortener",
    {
        "keyLines": "pycupel.shorten:KeyLines",
        "headAndTail": "pycupel.shorten:HeadAndTail",
        "stub": "pycupel.shorten:Stub",
    },
    _checked_factory,
)
"""The shorteners that policy files can name."""

CURVES = Registry(
    "curve", {"exponential": scorers.Exponential, "step": scorers.Step, "window": scorers.Window}, _checked_factory
)
"""The curves of a `DecayScorer` that policy files can name."""

CLOCKS = Registry("clock", {"system": scorers.SystemTimeProvider()}, checked_clock)
"""The clocks of a `DecayScorer` that policy files can name."""
