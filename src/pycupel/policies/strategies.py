"""How each strategy is written in a document: an object with a `type` and that strategy's own fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from pycupel.codecs.base import (
    INVALID,
    Codec,
    Context,
    FunctionCodec,
    Schema,
    attempt,
    must_be,
    note_mistake,
    prefix_path,
    raise_mistakes,
)
from pycupel.codecs.containers import list_of
from pycupel.codecs.records import REQUIRED, Field, Record, camel, snake, tagged_schema
from pycupel.errors import DocumentError, plain
from pycupel.model.checks import quoted, shortened
from pycupel.model.names import suggestion
from pycupel.policies.derive import derive_fields
from pycupel.policies.values import POSITIVE
from pycupel.protocols import Placer, Scorer, Shortener, Slicer, TimeProvider
from pycupel.registry import CLOCKS, CURVES, PLACERS, SCORERS, SHORTENERS, SLICERS, Registry
from pycupel.scorers.decay import Curve
from pycupel.scorers.similarity import SimilarityScorer

__all__ = [
    "CLOCK",
    "CURVE",
    "INNER_SCORER",
    "PLACER",
    "SCORER",
    "SHORTENER",
    "SHORTENER_OR_NAME",
    "SLICER",
    "WEIGHTED_SCORERS",
    "ByName",
    "Strategy",
]


class _Name:
    """The name of an entry of a registry: its canonical spelling when it is read, the entry when it is written."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry

    def read(self, value: Any, _: Context, /) -> Any:
        what = self.registry.what
        if not isinstance(value, str):
            raise must_be(f"the name of a {what}", value)
        name = self.registry.canonical_name(value)
        if name is None:
            near = suggestion(value, self.registry)
            raise DocumentError(f"unknown {what} {quoted(value)}; choose from {', '.join(self.registry)}{near}")
        return name

    def write(self, value: Any, _: Context, /) -> str:
        name = self.registry.name_of(value)
        if name is None:
            if value is SimilarityScorer:
                raise DocumentError(
                    "a SimilarityScorer holds a function, which no file can; save the policy without it, and add it "
                    "to the scorer after loading"
                )
            what = self.registry.what
            raise DocumentError(
                f"{_qualname(value)} is not a registered {what}, so it has no name in a "
                f"file; register it with pycupel.registry.{what.upper()}S.register(name, ...)"
            )
        return name

    def schema(self) -> Schema:
        """The usual spellings, for editors to complete. All others are read, too."""
        return {"enum": [spelling for name in self.registry for spelling in _spellings(name)]}


def _qualname(value: Any) -> str:
    return plain(getattr(value, "__qualname__", "")) or shortened(value, 200)


def _spellings(name: str) -> list[str]:
    """`metadataTrust`, `metadata_trust` and `metadata-trust`, whichever of them is the name."""
    words = snake(name).replace("-", "_")
    return list(dict.fromkeys((name, camel(words), words, words.replace("_", "-"))))


class _Clock(_Name):
    """A clock is a name in the document, and an object in the scorer."""

    def read(self, value: Any, context: Context, /) -> Any:
        return self.registry[super().read(value, context)]


class Strategy:
    """An object with a `type`. The fields of built-in types are defined here, those of plug-ins by their class."""

    def __init__(self, registry: Registry, *beside: str, refused: Mapping[str, str] | None = None) -> None:
        """Describe the strategies of a registry.

        Args:
            registry: The strategies and their names.
            beside: Keys of the object that are no options, beside `type`.
            refused: Options of one type that are refused for others, with the reason. All others are ignored.
        """
        self.registry = registry
        self._name = _Name(registry)
        self._beside = ("type", *beside)
        # By identity: a plug-in need not be hashable.
        self._records: dict[int, Record] = {}
        self._foreign = dict(refused or {})

    def define(self, cls: type[Any], *fields: Field, build: Callable[..., Any] | None = None) -> None:
        """Define the fields of a built-in type, and what builds it if the class itself does not."""
        self._records[id(cls)] = self._record(build or cls, fields)
        for field in fields:
            for name in field.spellings:
                self._foreign.setdefault(name, "")

    def _record(self, build: Callable[..., Any], fields: Iterable[Field]) -> Record:
        # A field of another type is no misspelling: entries of .NET have the fields of all types.
        return Record(build, fields, beside=self._beside, foreign=self._foreign)

    def record(self, cls: Any) -> Record:
        """The fields of a registered class."""
        known = self._records.get(id(cls))
        return self._record(cls, derive_fields(cls, _CODECS)) if known is None else known

    def read(self, value: Any, context: Context, /) -> Any:
        """Return the strategy that an object describes."""
        if not isinstance(value, Mapping):
            raise must_be("an object with a type", value)
        data: Mapping[Any, Any] = value  # pyright: ignore[reportUnknownVariableType] - from outside
        if data.get("type") is None:
            raise DocumentError("is missing", path="type")
        try:
            name = self._name.read(data["type"], context)
        except DocumentError as error:
            prefix_path(error, "type")
            raise
        return self.record(self.registry[name]).read(data, context)

    def write(self, value: Any, context: Context, /) -> dict[str, Any]:
        """Return the object that describes a strategy."""
        name = self._name.write(type(value), context)
        try:
            return {"type": name, **self.record(type(value)).write(value, context)}
        except AttributeError as error:
            text = f"{_qualname(type(value))} does not keep its options as attributes: {error}"
            raise DocumentError(text) from error
        except (DocumentError, RecursionError):
            raise
        except Exception as error:
            # Somebody else's comparison, for example.
            raise DocumentError(f"{_qualname(type(value))} cannot be written: {shortened(error, 200)}") from error

    def schema(self) -> Schema:
        """Return a reference to the definition."""
        return {"$ref": f"#/$defs/{self.registry.what}"}

    def definition(self) -> Schema:
        """The schema of every type that is known at this moment, for the `$defs` of a document's schema."""
        cases = [(_spellings(name), self._fields_schema(name)) for name in self.registry]
        return tagged_schema("type", self._name.schema(), cases)

    def _fields_schema(self, name: str) -> Schema:
        # A plug-in that cannot be loaded, or cannot be used in a file, must not break the schema for the others.
        with suppress(Exception):
            entry = self.registry.get_imported(name)
            return {} if entry is None else self.record(entry).schema()
        return {}


class ByName(_Name):
    """A strategy that is only named, in a field such as `slicerType`."""

    def __init__(self, strategy: Strategy, field: str | None = None) -> None:
        """Read the names of strategies; `field` is where a document has them as objects, by default what they are."""
        super().__init__(strategy.registry)
        self._strategy = strategy
        self._field = field or strategy.registry.what

    def read(self, value: Any, context: Context, /) -> Any:
        """Return the strategy of that name, if it needs no options."""
        name = super().read(value, context)
        for field in self._strategy.record(self.registry[name]).fields:
            if field.default is REQUIRED:
                example = f'"{self._field}": {{"type": "{name}", "{field.name}": ...}}'
                raise DocumentError(f"needs options; write it as an object: {example}")
        return self._strategy.read({"type": name}, context)


# An unexpected inner scorer is the one foreign field that other implementations refuse, too.
_INNER_ONLY = "is only valid for scaled and boosted; remove it or change the type"

SCORER = Strategy(SCORERS, "weight", refused=dict.fromkeys(("innerScorer", "inner_scorer"), _INNER_ONLY))
SLICER = Strategy(SLICERS)
PLACER = Strategy(PLACERS)
SHORTENER = Strategy(SHORTENERS)
CURVE = Strategy(CURVES)
CLOCK = _Clock(CLOCKS)


class _ShortenerOrName:
    """A shortener as an object, or its name alone."""

    _by_name = ByName(SHORTENER, "shorten")

    def read(self, value: Any, context: Context, /) -> Any:
        return (self._by_name if isinstance(value, str) else SHORTENER).read(value, context)

    def write(self, value: Any, context: Context, /) -> Any:
        document = SHORTENER.write(value, context)
        return document["type"] if len(document) == 1 else document

    def schema(self) -> Schema:
        return {"anyOf": [self._by_name.schema(), SHORTENER.schema()]}


SHORTENER_OR_NAME = _ShortenerOrName()


def _read_weighted(value: Any, context: Context) -> Any:
    """A scorer with its weight, as `CompositeScorer` takes them: a pair, in one object."""
    mistakes: list[DocumentError] = []
    scorer, weight = INVALID, 1.0
    try:
        scorer = SCORER.read(value, context)
    except DocumentError as error:
        note_mistake(error, "", context, mistakes)
    if isinstance(value, Mapping) and value.get("weight") is not None:  # pyright: ignore[reportUnknownMemberType]
        weight = attempt(POSITIVE.read, value["weight"], "weight", context, mistakes)
    raise_mistakes(mistakes)
    return scorer, weight


def _write_weighted(value: Any, context: Context) -> dict[str, Any]:
    scorer, weight = value
    document = SCORER.write(scorer, context)
    weight = attempt(POSITIVE.write, weight, "weight", context, [])
    return {"type": document.pop("type"), "weight": weight, **document}


def _write_inner(value: Any, context: Context) -> dict[str, Any]:
    """Other implementations demand a weight of an inner scorer, too, and do not use it."""
    return _write_weighted((value, 1.0), context)


_WEIGHTED = {"allOf": [SCORER.schema(), {"properties": {"weight": POSITIVE.schema()}}]}
WEIGHTED_SCORERS = list_of(FunctionCodec(_WEIGHTED, _read_weighted, _write_weighted), at_least=1)
INNER_SCORER = FunctionCodec(SCORER.schema(), SCORER.read, _write_inner)

_CODECS: Mapping[Any, Codec] = {
    Scorer: INNER_SCORER,
    Slicer: SLICER,
    Placer: PLACER,
    Shortener: SHORTENER,
    Curve: CURVE,
    TimeProvider: CLOCK,
}
