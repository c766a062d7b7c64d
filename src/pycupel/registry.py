"""The strategies that policy files can name: built-in, registered, and from installed plug-ins.

A package provides strategies through entry points in the groups `pycupel.scorers`, `pycupel.slicers`,
`pycupel.placers`, `pycupel.shorteners`, `pycupel.curves` and `pycupel.clocks`. A program registers its own with
`SCORERS.register` and so on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from threading import RLock, Thread
from typing import Any, TypeVar, cast

from pycupel import placers, scorers, slicers
from pycupel.errors import InvalidArgumentError
from pycupel.model.checks import checked_callable, checked_str, name_key
from pycupel.protocols import NoShortener
from pycupel.scorers.decay import checked_clock
from pycupel.text import clip, quantity, quoted, shortened
from pycupel.values import is_equal

__all__ = ["CLOCKS", "CURVES", "PLACERS", "SCORERS", "SHORTENERS", "SLICERS", "Registry"]

_Entry = TypeVar("_Entry")

_IMPORT_SECONDS = 60.0


class Registry(Mapping[str, Any]):
    """A mapping from names to classes; in `CLOCKS`, to the clocks themselves.

    Names are found in any spelling: `metadataTrust`, `metadata_trust` and `metadata-trust` are the same name. If a name
    is not registered, installed plug-ins are searched, and loaded when they are used. Threads may share a registry.
    """

    what: str
    """The type of the entries: `scorer`, `slicer`, `placer`, `shortener`, `curve` or `clock`."""

    group: str
    """The entry point group of the plug-ins, such as `pycupel.scorers`."""

    def __init__(self, what: str, built_in: Mapping[str, Any], check: Callable[[str, Any], Any] | None = None) -> None:
        self.what = what
        self.group = f"pycupel.{what}s"
        self._check = check or _checked_factory
        self._names = {name_key(name): name for name in built_in}
        self._entries = {name_key(name): entry for name, entry in built_in.items()}
        self._built_in = frozenset(self._entries)
        self._points: dict[str, list[Any]] | None = None
        self._lock = RLock()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {quantity(len(self._entries), self.what)}>"

    def register(self, name: str, entry: _Entry) -> _Entry:
        """Register a class, a function that builds an instance, or a clock, so that policy files can name it.

        A strategy can be written to a file only if its class is registered; a function is enough for reading.
        Registering the same entry again under the same name is allowed.

        Raises:
            InvalidArgumentError: the name is taken, in this or another spelling.
        """
        key = name_key(checked_str("name", name))
        try:
            self._check(f"the {self.what} {quoted(name)}", entry)
        except TypeError as error:
            error.__dict__["argument"] = "entry"
            raise
        if not key.strip():
            message = f"name must have letters or digits, not {quoted(name)}"
            raise InvalidArgumentError(message, argument="name", value=name)
        with self._lock:
            present = self._entries.get(key)
            # A module that is imported twice, under two names or after a reload, registers its classes again.
            is_same = self._names.get(key) == name and (
                is_equal(present, entry) or (_origin(present) is not None and _origin(present) == _origin(entry))
            )
            if key in self._built_in or (present is not None and not is_same):
                raise InvalidArgumentError(
                    f"the {self.what} {quoted(self._names[key])} is already registered, as {shortened(present, 200)}; "
                    "choose another name",
                    argument="name",
                    value=name,
                )
            # Set the name first: another thread that finds the entry must also find its name.
            self._names[key] = name
            self._entries[key] = entry
        return entry

    def __getitem__(self, name: str) -> Any:
        # As in a dict, a key of another type is just missing.
        key = name_key(name) if isinstance(cast(Any, name), str) else ""
        if key not in self._entries and key in self._plug_ins():
            self._load(key)
        try:
            entry = self._entries[key]
        except KeyError:
            raise KeyError(clip(name) if key else name) from None
        if isinstance(entry, str):
            # A built-in class from a higher layer is registered like an entry point, and imported when it is used.
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
        """Return the registered spelling of a name, or None if there is no such name. Loads no plug-in."""
        key = name_key(checked_str("name", name))
        if key in self._entries:
            return self._names[key]
        return self._plug_ins()[key][0].name if key in self._plug_ins() else None

    def get_imported(self, name: str) -> Any:
        """Return the entry of a name, or None if a plug-in would have to be imported for it.

        Raises:
            KeyError: there is no such name.
        """
        key = name_key(checked_str("name", name))
        if key in self._entries or _is_imported(self._plug_ins()[key][0].module):
            return self[name]
        return None

    def name_of(self, entry: object) -> str | None:
        """Return the name under which a class or clock is registered, or None.

        Loads only plug-ins that are in the same package as the entry, or already imported.
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
        return next((self._names[key] for key in list(self._entries) if is_equal(self[key], entry)), None)

    def _plug_ins(self) -> dict[str, list[Any]]:
        """Return the entry points of each name, by its key. Normally there is one per name."""
        if self._points is None:
            # Imported here, because only policy files need it.
            from importlib.metadata import entry_points  # noqa: PLC0415

            points: dict[str, list[Any]] = {}
            for point in entry_points(group=self.group):
                points.setdefault(name_key(point.name), []).append(point)
            self._points = points
        return self._points

    def _load(self, key: str) -> None:
        """Load and register a plug-in, unless its name has been registered already."""
        point, *others = self._plug_ins()[key]
        if key in self._entries:
            return
        if others:
            raise InvalidArgumentError(
                f"{1 + len(others)} plug-ins offer the {self.what} {quoted(point.name)}: "
                f"{', '.join(each.value for each in (point, *others))}; uninstall all but one"
            )
        try:
            loaded = _load_entry_point(point)
            # The lock is taken only after the import, so that a plug-in that hangs does not block other threads.
            with self._lock:
                if key not in self._entries:
                    self.register(point.name, loaded)
        except Exception as error:
            error.add_note(f"Raised while loading the plug-in {quoted(point.name)} ({point.value}).")
            raise


def _load_entry_point(point: Any) -> Any:
    """Import what an entry point names.

    The import runs in a thread of its own: an import cannot be stopped, but waiting for it can.
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
            f"importing {point.module} took longer than {_IMPORT_SECONDS:g} seconds; uninstall it, or import it first"
        )
    entry, error = outcome[0]
    if isinstance(error, Exception):
        raise error
    if error is not None:
        raise InvalidArgumentError(f"{point.module} raised {shortened(error)} when it was imported") from error
    return entry


def _is_imported(module: str) -> bool:
    """Check whether the import of a module has finished."""
    return module in sys.modules and not getattr(sys.modules[module].__spec__, "_initializing", False)


def _package(module: object) -> str:
    return str(module).partition(".")[0]


def _checked_factory(name: str, value: Any) -> Any:
    return checked_callable(name, "a class or a function that builds an instance", value)


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
        "fused": scorers.FusedScorer,
    },
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
)
"""The slicers that policy files can name."""

PLACERS = Registry(
    "placer",
    {
        "chronological": placers.ChronologicalPlacer,
        "uShaped": placers.UShapedPlacer,
        "framed": placers.FramedPlacer,
        "prompt": placers.PromptPlacer,
    },
)
"""The placers that policy files can name."""

SHORTENERS = Registry(
    "shortener",
    {
        "byFormat": "pycupel.shorten:ByFormat",
        "keyLines": "pycupel.shorten:KeyLines",
        "headAndTail": "pycupel.shorten:HeadAndTail",
        "stub": "pycupel.shorten:Stub",
        "none": NoShortener,
    },
)
"""The shorteners that policy files can name."""

CURVES = Registry("curve", {"exponential": scorers.Exponential, "step": scorers.Step, "window": scorers.Window})
"""The curves of a `DecayScorer` that policy files can name."""

CLOCKS = Registry("clock", {"system": scorers.SystemTimeProvider()}, checked_clock)
"""The clocks of a `DecayScorer` that policy files can name."""
