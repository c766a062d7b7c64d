"""How each strategy is written in a document: an object with a `type` and that strategy's own fields."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pycupel.errors import DocumentError
from pycupel.model.names import suggestion
from pycupel.policies.containers import ListOf
from pycupel.policies.derive import derive_record
from pycupel.policies.records import Record, snake
from pycupel.policies.values import BAD, POSITIVE, Problems, Schema, Value
from pycupel.protocols import Placer, Scorer, Slicer, TimeProvider
from pycupel.registry import CLOCKS, CURVES, PLACERS, SCORERS, SLICERS, Registry
from pycupel.scorers.decay import Curve
from pycupel.wire.records import camel
from pycupel.wire.values import found, joined

__all__ = ["CLOCK", "CURVE", "INNER_SCORER", "PLACER", "SCORER", "SLICER", "WEIGHTED_SCORERS", "Named", "Strategy"]


def spellings(name: str) -> list[str]:
    """`metadataTrust`, `metadata_trust` and `metadata-trust`, whichever of them is the name."""
    words = snake(name).replace("-", "_")
    return list(dict.fromkeys((name, camel(words), words, words.replace("_", "-"))))


@dataclass(frozen=True, slots=True)
class Named:
    """The name of something in a registry."""

    registry: Registry

    def read(self, value: Any, path: str, problems: Problems, /) -> Any:
        """The canonical name."""
        for name in self.registry:
            if value in spellings(name):
                return name
        what = self.registry.what
        if not isinstance(value, str):
            return problems.add(path, f"must be the name of a {what}, not {found(value)}")
        near = suggestion(value, self.registry)
        return problems.add(path, f"unknown {what} {value!r}; known are {', '.join(self.registry)}{near}")

    def write(self, value: Any, path: str, /) -> Any:
        """The name of a class or of a clock."""
        name = self.registry.name_of(value)
        if name is None:
            what = self.registry.what
            raise DocumentError(
                f"{getattr(value, '__qualname__', repr(value))} is not a registered {what}, so it has no name in a "
                f"file; register it with pycupel.registry.{what.upper()}S.register(name, ...)",
                path=path,
            )
        return name

    def schema(self) -> Schema:
        return {"enum": [each for name in self.registry for each in spellings(name)]}


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock is a name in the document and the object itself in the scorer."""

    def read(self, value: Any, path: str, problems: Problems, /) -> Any:
        name = Named(CLOCKS).read(value, path, problems)
        return BAD if name is BAD else CLOCKS[name]

    def write(self, value: Any, path: str, /) -> Any:
        return Named(CLOCKS).write(value, path)

    def schema(self) -> Schema:
        return Named(CLOCKS).schema()


@dataclass(frozen=True, slots=True)
class Strategy:
    """An object with a `type`. `records` are the fields of the built-in types; plug-ins' are derived from the class."""

    registry: Registry
    beside: Collection[str] = ("type",)
    records: dict[type[Any], Record] = field(default_factory=dict[type[Any], Record])

    def record(self, cls: Any) -> Record:
        return self.records[cls] if cls in self.records else derive_record(cls, _VALUES)

    def read(self, value: Any, path: str, problems: Problems, /) -> Any:
        if not isinstance(value, Mapping):
            return problems.add(path, f"must be an object with a type, not {found(value)}")
        data: Mapping[Any, Any] = value  # pyright: ignore[reportUnknownVariableType] - from outside
        if data.get("type") is None:
            return problems.add(joined(path, "type"), "is missing")
        name = Named(self.registry).read(data["type"], joined(path, "type"), problems)
        if name is BAD:
            return BAD
        record = self.record(self.registry[name])
        self._refuse_inner_scorer(data, path, problems, record)
        # A field of another type is no misspelling: .NET entries have those of all types.
        foreign = {name for other in self.records.values() for each in other.fields for name in each.spellings}
        return record.read(data, path, problems, self.beside, foreign)

    def _refuse_inner_scorer(self, data: Mapping[Any, Any], path: str, problems: Problems, record: Record) -> None:
        """An inner scorer that nobody asks for is the one foreign field that other implementations refuse, too."""
        expected = {name for field in record.fields for name in field.spellings}
        for name in ("innerScorer", "inner_scorer"):
            if data.get(name) is not None and name not in expected and self.registry is SCORERS:
                problems.add(joined(path, name), "is only valid for scaled and boosted; remove it or change the type")

    def write(self, value: Any, path: str, /) -> dict[str, Any]:
        name = Named(self.registry).write(type(value), path)
        try:
            return {"type": name, **self.record(type(value)).write(value, path)}
        except AttributeError as error:
            raise DocumentError(
                f"{type(value).__qualname__} does not keep its options as attributes: {error}", path=path
            ) from error

    def schema(self) -> Schema:
        return {"$ref": f"#/$defs/{self.registry.what}"}

    def definition(self) -> Schema:
        """The object for every type that is known at this moment, for the `$defs` of a schema."""
        return {
            "type": "object",
            "properties": {"type": Named(self.registry).schema()},
            "required": ["type"],
            "allOf": [
                {
                    "if": {"properties": {"type": {"enum": spellings(name)}}, "required": ["type"]},
                    "then": self._fields_schema(name),
                }
                for name in self.registry
            ],
        }

    def _fields_schema(self, name: str) -> Schema:
        # A plug-in that cannot be loaded, or not be used in a file, must not take the schema from the others.
        with suppress(Exception):
            return self.record(self.registry[name]).schema()
        return {}


@dataclass(frozen=True, slots=True)
class WeightedScorer:
    """A scorer with its weight, as `CompositeScorer` takes them: a pair, in one object."""

    def read(self, value: Any, path: str, problems: Problems, /) -> Any:
        scorer = SCORER.read(value, path, problems)
        weight = 1.0
        if isinstance(value, Mapping) and value.get("weight") is not None:  # pyright: ignore[reportUnknownMemberType]
            weight = POSITIVE.read(value["weight"], joined(path, "weight"), problems)
        return BAD if scorer is BAD or weight is BAD else (scorer, weight)

    def write(self, value: Any, path: str, /) -> dict[str, Any]:
        scorer, weight = value
        document = SCORER.write(scorer, path)
        return {"type": document.pop("type"), "weight": POSITIVE.write(weight, joined(path, "weight")), **document}

    def schema(self) -> Schema:
        return {"allOf": [SCORER.schema(), {"properties": {"weight": POSITIVE.schema()}}]}


@dataclass(frozen=True, slots=True)
class InnerScorer:
    """A scorer inside another. It has a weight because other implementations demand one, and nobody reads it."""

    def read(self, value: Any, path: str, problems: Problems, /) -> Any:
        return SCORER.read(value, path, problems)

    def write(self, value: Any, path: str, /) -> dict[str, Any]:
        return WeightedScorer().write((value, 1.0), path)

    def schema(self) -> Schema:
        return SCORER.schema()


SCORER = Strategy(SCORERS, beside=("type", "weight"))
SLICER = Strategy(SLICERS)
PLACER = Strategy(PLACERS)
CURVE = Strategy(CURVES)
CLOCK = Clock()
INNER_SCORER = InnerScorer()
WEIGHTED_SCORERS = ListOf(WeightedScorer(), at_least=1)

_VALUES: Mapping[Any, Value] = {Scorer: INNER_SCORER, Slicer: SLICER, Placer: PLACER, Curve: CURVE, TimeProvider: CLOCK}
