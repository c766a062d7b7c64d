"""Codecs for strategies: an object with a `type` and the strategy's options, or only the name."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pycupel.codecs.base import Codec, Context, Schema, must_be
from pycupel.codecs.derive import derive_fields
from pycupel.codecs.records import REQUIRED, Field, Record, camel, snake
from pycupel.errors import DocumentError, InvalidArgumentError
from pycupel.model.names import suggestion
from pycupel.registry import Registry
from pycupel.scorers.similarity import SimilarityScorer
from pycupel.text import one_line, quoted, shortened

_RESERVED = ("type", "weight")


def registered_name(registry: Registry) -> Codec:
    """Return a codec for the entries of a registry, written as their names."""
    what = registry.what

    def read(value: Any, _: Context) -> Any:
        if not isinstance(value, str):
            raise must_be(f"the name of a {what}", value)
        if registry.canonical_name(value) is None:
            near = suggestion(value, registry)
            raise DocumentError(f"unknown {what} {quoted(value)}; choose from {', '.join(registry)}{near}")
        return registry[value]

    def write(value: Any, _: Context) -> str:
        name = registry.name_of(value)
        if name is not None:
            return name
        if value is SimilarityScorer:
            raise DocumentError(
                "a SimilarityScorer contains a function, which cannot be written to a file; save the policy "
                "without it, and add it after loading"
            )
        raise DocumentError(
            f"{_qualname(value)} is not a registered {what}, so a file cannot "
            f"name it; register it with pycupel.registry.{what.upper()}S.register(name, ...)"
        )

    def schema() -> Schema:
        # The usual spellings, for completion in editors. Others are read, too.
        return {"enum": [spelling for name in registry for spelling in _spellings(name)]}

    return Codec(schema, read, write)


def _qualname(value: Any) -> str:
    return one_line(getattr(value, "__qualname__", "")) or shortened(value, 200)


def _spellings(name: str) -> list[str]:
    """Return the usual spellings of a name: `metadataTrust`, `metadata_trust` and `metadata-trust`."""
    words = snake(name).replace("-", "_")
    return list(dict.fromkeys((name, camel(words), words, words.replace("_", "-"))))


def _field_name(name: str) -> str:
    """Return the name of a parameter in documents: camelCase, unless that cannot be converted back."""
    return camel(name) if snake(camel(name)) == name else name


class Strategy(Codec):
    """A codec for objects with a `type`. Their other fields are the parameters of the class that the type names.

    Args:
        registry: The classes by name.
        types: The codec for each type of parameter.
        other_keys: Keys of the object that are not options, apart from `type`.
    """

    def __init__(self, registry: Registry, types: Mapping[Any, Codec], *other_keys: str) -> None:
        super().__init__(self._schema, self._read, self._write)
        self.registry = registry
        self.name = registered_name(registry)
        self.related_keys: dict[str, str] = {}
        """Options that other types have. Each maps to the error message that rejects it; if empty, it is ignored."""
        self._types = types
        self._type = Record(dict, [Field("type", self.name)])
        self._other_keys = ("type", *other_keys)
        # Keyed by id, because a plug-in may not be hashable.
        self._built_in: dict[int, Record] = {}

    def define(self, cls: type[Any], *fields: Field, **codecs: Codec) -> None:
        """Define a built-in type.

        Args:
            cls: The class.
            fields: Fields whose name or description differs from that of the parameter.
            codecs: Codecs for parameters whose annotations are not specific enough.
        """
        own = (Field(_field_name(name), codec, attribute=name) for name, codec in codecs.items())
        record = self._built_in[id(cls)] = self._derived(cls, *fields, *own)
        self.related_keys |= {name: "" for field in record.fields for name in field.spellings}

    def record(self, cls: Any) -> Record:
        """Return the codec for the options of a registered class."""
        return self._built_in.get(id(cls)) or self._derived(cls)

    def _derived(self, cls: Any, *fields: Field) -> Record:
        derived = derive_fields(cls, self._types, fields, spell=_field_name)
        for field in derived:
            if field.attribute in _RESERVED:
                raise InvalidArgumentError(
                    f"{shortened(cls, 200)} has a parameter {field.attribute!r}, which is a reserved name in policy "
                    "files"
                )
        # A field of another type is not a misspelling: .NET writes the fields of all types.
        return Record(cls, derived, other_keys=self._other_keys, related_keys=self.related_keys)

    def _read(self, value: Any, context: Context) -> Any:
        if not isinstance(value, Mapping):
            raise must_be("an object with a type", value)
        # Read the type first, because it decides which other fields are allowed.
        return self.record(self._type.read(value, Context())["type"]).read(value, context)

    def _write(self, value: Any, context: Context) -> dict[str, Any]:
        name = self.name.write(type(value), context)
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

    def _schema(self) -> Schema:
        """Return a reference to the definition in `$defs`."""
        return {"$ref": f"#/$defs/{self.registry.what}"}

    def definition(self) -> Schema:
        """Return the schema of all types registered now, for the `$defs` of a document's schema."""

        def named(names: Schema) -> Schema:
            return {"properties": {"type": names}, "required": ["type"]}

        cases = [{"if": named({"enum": _spellings(name)}), "then": self._fields_schema(name)} for name in self.registry]
        return {"type": "object", **named(self.name.schema()), "allOf": cases}

    def _fields_schema(self, name: str) -> Schema:
        # A plug-in that cannot be loaded or used in a file must not break the schema of the others.
        with suppress(Exception):
            entry = self.registry.get_imported(name)
            return {} if entry is None else self.record(entry).schema()
        return {}


def by_name(strategy: Strategy, field: str) -> Codec:
    """Return a codec for strategies written as a name, such as `slicerType`; `field` takes them as objects."""

    def read(value: Any, context: Context) -> Any:
        record = strategy.record(strategy.name.read(value, context))
        for option in record.fields:
            if option.default is REQUIRED:
                name = strategy.registry.canonical_name(value)
                example = f'"{field}": {{"type": "{name}", "{option.name}": ...}}'
                raise DocumentError(f"needs options; write it as an object: {example}")
        return record.read({}, context)

    return Codec(strategy.name.schema, read, strategy.write)


def name_or_object(strategy: Strategy, field: str) -> Codec:
    """Return a codec for strategies written as an object, or as a name if they need no options."""
    named = by_name(strategy, field)

    def read(value: Any, context: Context) -> Any:
        return (named if isinstance(value, str) else strategy).read(value, context)

    def write(value: Any, context: Context) -> Any:
        document = strategy.write(value, context)
        return document["type"] if len(document) == 1 else document

    return Codec(lambda: {"anyOf": [named.schema(), strategy.schema()]}, read, write)
