"""Codecs for strategies: an object with a `type` and the strategy's options, or only the name."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pycupel.codecs.base import Codec, Context, Schema, must_be
from pycupel.codecs.derive import derive_fields
from pycupel.codecs.records import REQUIRED, Field, Record, camel, snake
from pycupel.errors import DocumentError, InvalidArgumentError, plain
from pycupel.model.checks import quoted, shortened
from pycupel.model.names import suggestion
from pycupel.registry import Registry
from pycupel.scorers.similarity import SimilarityScorer

__all__ = ["ByName", "NameOrObject", "RegisteredName", "Strategy"]

_RESERVED = ("type", "weight")


class RegisteredName:
    """A codec for an entry of a registry, written as its name."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry

    def read(self, value: Any, _: Context, /) -> Any:
        """Return the entry of that name."""
        what = self.registry.what
        if not isinstance(value, str):
            raise must_be(f"the name of a {what}", value)
        if self.registry.canonical_name(value) is None:
            near = suggestion(value, self.registry)
            raise DocumentError(f"unknown {what} {quoted(value)}; choose from {', '.join(self.registry)}{near}")
        return self.registry[value]

    def write(self, value: Any, _: Context, /) -> str:
        """Return the name of an entry."""
        name = self.registry.name_of(value)
        if name is None:
            if value is SimilarityScorer:
                raise DocumentError(
                    "a SimilarityScorer contains a function, which cannot be written to a file; save the policy "
                    "without it, and add it after loading"
                )
            what = self.registry.what
            raise DocumentError(
                f"{_qualname(value)} is not a registered {what}, so a file cannot "
                f"name it; register it with pycupel.registry.{what.upper()}S.register(name, ...)"
            )
        return name

    def schema(self) -> Schema:
        """Return the usual spellings, for completion in editors. Other spellings are read, too."""
        return {"enum": [spelling for name in self.registry for spelling in _spellings(name)]}


def _qualname(value: Any) -> str:
    return plain(getattr(value, "__qualname__", "")) or shortened(value, 200)


def _spellings(name: str) -> list[str]:
    """Return the usual spellings of a name: `metadataTrust`, `metadata_trust` and `metadata-trust`."""
    words = snake(name).replace("-", "_")
    return list(dict.fromkeys((name, camel(words), words, words.replace("_", "-"))))


def _field_name(name: str) -> str:
    """Return the name of a parameter in documents: camelCase, unless that cannot be converted back."""
    return camel(name) if snake(camel(name)) == name else name


class Strategy:
    """A codec for objects with a `type`. Their other fields are the parameters of the class that the type names."""

    def __init__(
        self,
        registry: Registry,
        types: Mapping[Any, Codec],
        *other_keys: str,
        rejected: Mapping[str, str] | None = None,
    ) -> None:
        """Describe the strategies of a registry.

        Args:
            registry: The strategies and their names.
            types: The codec for each type of parameter.
            other_keys: Keys of the object that are not options, apart from `type`.
            rejected: Options to reject, with an error message, if a strategy does not have them. Other options of
                other strategies are ignored.
        """
        self.registry = registry
        self._types = types
        self._name = RegisteredName(registry)
        self._type = Record(dict, [Field("type", self._name)])
        self._other_keys = ("type", *other_keys)
        # Keyed by id, because a plug-in may not be hashable.
        self._built_in: dict[int, Record] = {}
        self._related_keys = dict(rejected or {})

    def define(self, cls: type[Any], *fields: Field, **codecs: Codec) -> None:
        """Define a built-in type.

        Args:
            cls: The class.
            fields: Fields whose name or description differs from that of the parameter.
            codecs: Codecs for parameters whose annotations are not specific enough.
        """
        own = (Field(_field_name(name), codec, attribute=name) for name, codec in codecs.items())
        record = self._built_in[id(cls)] = self._derived(cls, *fields, *own)
        for field in record.fields:
            for name in field.spellings:
                self._related_keys.setdefault(name, "")

    def _derived(self, cls: Any, *fields: Field) -> Record:
        derived = derive_fields(cls, self._types, fields, spell=_field_name)
        for field in derived:
            if field.attribute in _RESERVED:
                raise InvalidArgumentError(
                    f"{shortened(cls, 200)} has a parameter {field.attribute!r}, which is a reserved name in policy "
                    "files"
                )
        # A field of another type is not a misspelling: .NET writes the fields of all types.
        return Record(cls, derived, other_keys=self._other_keys, related_keys=self._related_keys)

    def record(self, cls: Any) -> Record:
        """Return the codec for the options of a registered class."""
        return self._built_in.get(id(cls)) or self._derived(cls)

    def read(self, value: Any, context: Context, /) -> Any:
        """Return the strategy that an object describes."""
        if not isinstance(value, Mapping):
            raise must_be("an object with a type", value)
        # Read the type first, because it decides which other fields are allowed.
        return self.record(self._type.read(value, Context())["type"]).read(value, context)

    def write(self, value: Any, context: Context, /) -> dict[str, Any]:
        """Return the object that describes a strategy."""
        name = self._name.write(type(value), context)
        try:
            return {"type": name, **self.record(type(value)).write(value, context)}
        except AttributeError as error:
            text = f"{_qualname(type(value))} does not store its options as attributes: {error}"
            raise DocumentError(text) from error
        except (DocumentError, RecursionError):
            raise
        except Exception as error:
            # For example, from the `__eq__` of an option.
            raise DocumentError(f"{_qualname(type(value))} cannot be written: {shortened(error, 200)}") from error

    def schema(self) -> Schema:
        """Return a reference to the definition in `$defs`."""
        return {"$ref": f"#/$defs/{self.registry.what}"}

    def definition(self) -> Schema:
        """Return the schema of all types registered now, for the `$defs` of a document's schema."""

        def named(names: Schema) -> Schema:
            return {"properties": {"type": names}, "required": ["type"]}

        cases = [{"if": named({"enum": _spellings(name)}), "then": self._fields_schema(name)} for name in self.registry]
        return {"type": "object", **named(self._name.schema()), "allOf": cases}

    def _fields_schema(self, name: str) -> Schema:
        # A plug-in that cannot be loaded or used in a file must not break the schema of the others.
        with suppress(Exception):
            entry = self.registry.get_imported(name)
            return {} if entry is None else self.record(entry).schema()
        return {}


class ByName(RegisteredName):
    """A codec for strategies written as a name, in a field such as `slicerType`."""

    def __init__(self, strategy: Strategy, field: str) -> None:
        """Describe a field of names; `field` is the field that takes the same strategies as objects."""
        super().__init__(strategy.registry)
        self._strategy = strategy
        self._field = field

    def read(self, value: Any, context: Context, /) -> Any:
        """Return the strategy of that name, which must have no required options."""
        record = self._strategy.record(super().read(value, context))
        for field in record.fields:
            if field.default is REQUIRED:
                name = self.registry.canonical_name(value)
                example = f'"{self._field}": {{"type": "{name}", "{field.name}": ...}}'
                raise DocumentError(f"needs options; write it as an object: {example}")
        return record.read({}, context)


class NameOrObject(ByName):
    """A codec for strategies written as an object, or as a name if they need no options."""

    def read(self, value: Any, context: Context, /) -> Any:
        """Return the strategy that a name or an object describes."""
        return super().read(value, context) if isinstance(value, str) else self._strategy.read(value, context)

    def write(self, value: Any, context: Context, /) -> Any:
        """Return the name of a strategy if all its options have their defaults, otherwise the object."""
        document = self._strategy.write(value, context)
        return document["type"] if len(document) == 1 else document

    def schema(self) -> Schema:
        """Return a schema that accepts either form."""
        return {"anyOf": [super().schema(), self._strategy.schema()]}
