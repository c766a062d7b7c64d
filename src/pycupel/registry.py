"""The names of strategies in files: built-in classes, registered ones, and those of installed plug-ins.

A package registers its strategies for policy files by entry point, in the group `pycupel.scorers`, `pycupel.slicers`,
`pycupel.placers`, `pycupel.shorteners`, `pycupel.curves` or `pycupel.clocks`; a program registers its own
with `SCORERS.register` and so on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from threading import RLock, Thread
from typing import Any, TypeVar, cast

from pycupel import placers, scorers, slicers
from pycupel.errors import InvalidArgumentError, cut
from pycupel.model.checks import checked_str, quoted, shortened, wrong_type
from pycupel.model.names import name_key
from pycupel.scorers.decay import checked_clock

__all__ = ["CLOCKS", "CURVES", "PLACERS", "SCORERS", "SHORTENERS", "SLICERS", "Registry"]

_Entry = TypeVar("_Entry")

_IMPORT_SECONDS = 60.0


class Registry(Mapping[str, Any]):
    """Names and the classes that they stand for; in `CLOCKS`, the clocks.

    A name is found in any spelling: `metadataTrust`, `metadata_trust` and `metadata-trust` are one. Installed plug-ins
    are searched if a name is not found otherwise, and loaded when they are used. Threads may share a registry.

    Attributes:
        what: What the entries are: `scorer`, `slicer`, `placer`, `shortener`, `curve` or `clock`.
        group: The group of entry points of the plug-ins.
    """

    def __init__(self, what: str, built_in: Mapping[str, Any], check: Callable[[str, Any], Any]) -> None:
        self.what = what
        self.group = f"pycupel.{what}s"
        self._check = check
        self._names = {name_key(name): name for name in built_in}
        self._entries = {name_key(name): entry for name, entry in built_in.items()}
        self._built_in = frozenset(self._entries)
        self._points: dict[str, list[Any]] | None = None
        self._lock = RLock()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self._entries)} {self.what}s>"

    def register(self, name: str, entry: _Entry) -> _Entry:
        """Register a name under which policy files can use a class, a function that builds an instance, or a clock.

        Only a strategy whose class is registered can be written to a file, too. Registering the same entry again under
        the same name is allowed.

        Args:
            name: The name, as it is written to files.
            entry: The class or function; in `CLOCKS`, the clock itself.

        Returns:
            The entry itself.

        Raises:
            InvalidArgumentError: the name, in this or another spelling, is taken.
            TypeError: it is neither a class nor a function, or not a clock.
        """
        key = name_key(checked_str("name", name))
        try:
            self._check(f"the {self.what} {quoted(name)}", entry)
        except TypeError as error:
            error.__dict__["argument"] = "entry"
            raise
        if not key.strip():
            raise InvalidArgumentError(
                f"name must have letters or digits, not {quoted(name)}", argument="name", value=name
            )
        with self._lock:
            present = self._entries.get(key)
            is_same = self._names.get(key) == name and _same(present, entry)
            if key in self._built_in or (present is not None and not is_same):
                raise InvalidArgumentError(
                    f"the {self.what} {quoted(self._names[key])} is already registered, as {shortened(present, 200)}; "
                    "choose another name",
                    argument="name",
                    value=name,
                )
            # The name first: a thread that finds the entry must find its name.
            self._names[key] = name
            self._entries[key] = entry
        return entry

    def __getitem__(self, name: str) -> Any:
        # As in a dict, a key of another type is never there.
        key = name_key(name) if isinstance(cast(Any, name), str) else ""
        if key not in self._entries and key in self._plug_ins():
            self._load(key)
        try:
            entry = self._entries[key]
        except KeyError:
            raise KeyError(cut(name) if key else name) from None
        if isinstance(entry, str):
            # A built-in class that is above this package is named, as in an entry point, and imported when it is used.
            module, _, attribute = entry.partition(":")
            entry = self._entries[key] = getattr(import_module(module), attribute)
        return entry

    def __iter__(self) -> Iterator[str]:
        names = {key: self._names[key] for key in list(self._entries)}
        for key, (point, *_) in self._plug_ins().items():
            names.setdefault(key, point.name)
        return iter(names.values())

    def __len__(self) -> int:
        return len({*self._plug_ins(), *self._entries})

    def canonical_name(self, name: str) -> str | None:
        """Return the spelling in which a name was registered, or None if there is no such name. Loads no plug-in."""
        key = name_key(name)
        if key in self._entries:
            return self._names[key]
        return self._plug_ins()[key][0].name if key in self._plug_ins() else None

    def get_imported(self, name: str) -> Any:
        """Return what a name stands for, or None if a plug-in would have to be imported for it."""
        key = name_key(name)
        if key in self._entries or _is_imported(self._plug_ins()[key][0].module):
            return self[name]
        return None

    def name_of(self, entry: object) -> str | None:
        """Return the name under which a class, or a clock, is registered, or None.

        Of the plug-ins, only those of the entry's own package, or already imported, are loaded.
        """
        found = self._search(entry)
        if found is None:
            package = _package(getattr(entry, "__module__", ""))
            for key, (point, *_) in self._plug_ins().items():
                if _is_imported(point.module) or _package(point.module) == package:
                    # A plug-in that cannot be loaded did not define the entry.
                    with suppress(Exception):
                        self._load(key)
            found = self._search(entry)
        return found

    def _search(self, entry: object) -> str | None:
        return next((self._names[key] for key in list(self._entries) if _equal(self[key], entry)), None)

    def _plug_ins(self) -> dict[str, list[Any]]:
        """The entry points by the key of their names: normally one for each."""
        if self._points is None:
            # Imported here, because only policy files need it.
            from importlib.metadata import entry_points  # noqa: PLC0415

            points: dict[str, list[Any]] = {}
            for point in entry_points(group=self.group):
                points.setdefault(name_key(point.name), []).append(point)
            self._points = points
        return self._points

    def _load(self, key: str) -> None:
        """Register a plug-in, unless the program has registered something under its name."""
        point, *others = self._plug_ins()[key]
        if key in self._entries:
            return
        if others:
            raise InvalidArgumentError(
                f"{1 + len(others)} plug-ins offer the {self.what} {quoted(point.name)}: "
                f"{', '.join(each.value for each in (point, *others))}; uninstall all but one"
            )
        try:
            loaded = _loaded(point)
            # Import without the lock, so that a plug-in that hangs does not block other threads.
            with self._lock:
                if key not in self._entries:
                    self.register(point.name, loaded)
        except Exception as error:
            error.add_note(f"This happened while the plug-in {quoted(point.name)} ({point.value}) was loaded.")
            raise


def _loaded(point: Any) -> Any:
    """What an entry point names.

    It is imported in its own thread, because an import cannot be stopped, but waiting for it can.
    """
    if _is_imported(point.module):
        return point.load()
    outcome: list[tuple[Any, BaseException | None]] = []

    def load() -> None:
        try:
            outcome.append((point.load(), None))
        except BaseException as error:  # noqa: BLE001 - SystemExit among them
            outcome.append((None, error))

    thread = Thread(target=load, daemon=True)
    thread.start()
    thread.join(_IMPORT_SECONDS)
    if not outcome:
        raise InvalidArgumentError(
            f"{point.module} was not imported within {_IMPORT_SECONDS:g} seconds; uninstall it, or import it first"
        )
    entry, error = outcome[0]
    if isinstance(error, Exception):
        raise error
    if error is not None:
        raise InvalidArgumentError(f"{point.module} raised {shortened(error)} when it was imported") from error
    return entry


def _is_imported(module: str) -> bool:
    """Whether a module has been imported completely; one that hangs has not."""
    return module in sys.modules and not getattr(sys.modules[module].__spec__, "_initializing", False)


def _package(module: object) -> str:
    return str(module).partition(".")[0]


def _checked_factory(name: str, value: Any) -> Any:
    if not callable(value):
        raise wrong_type(name, "a class, or a function that builds one", value)
    return value


def _same(present: object, entry: object) -> bool:
    """Whether a registration is repeated, for example because a module was reloaded."""
    return _equal(present, entry) or (_origin(present) is not None and _origin(present) == _origin(entry))


def _equal(one: object, other: object) -> bool:
    """`==` of users' objects, which may raise, or return an array."""
    try:
        return one is other or (one == other) is True
    except Exception:  # noqa: BLE001 - whatever it raises
        return False


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
