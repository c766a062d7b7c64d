"""Objects with named fields, in camelCase or snake_case."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

from pycupel.codecs.base import BuildError, Codec, Context, Schema, as_object, constructor_error, key_step, must_be
from pycupel.errors import CupelError, DocumentError
from pycupel.model.names import suggestion
from pycupel.text import quoted, shortened

REQUIRED: Final[Any] = object()
"""The default of a field that must be present."""

OPTIONAL: Final[Any] = object()
"""The default of a field that may be absent, but is always written."""


def snake(name: str) -> str:
    """Convert `metadataTrust` to `metadata_trust`. A name like `BM25` stays unchanged."""
    return re.sub(r"(?<=[a-z0-9])[A-Z]", lambda match: f"_{match[0].lower()}", name)


def camel(name: str) -> str:
    """Convert `metadata_trust` to `metadataTrust`."""
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


class Field:
    """A field of an object.

    Args:
        name: The name in the document, in camelCase or snake_case. The other spelling is read, too.
        codec: The codec of the value.
        default: REQUIRED, OPTIONAL, or the default value. A field with its default value is not written.
        description: The description in the schema, or a function that finds it when a schema is made.
        attribute: The name of the constructor's parameter and of the attribute; by default, `name` in snake_case.
    """

    __slots__ = ("attribute", "codec", "default", "description", "name", "other", "spellings")

    def __init__(
        self,
        name: str,
        codec: Codec,
        default: Any = REQUIRED,
        description: str | Callable[[], str] = "",
        attribute: str = "",
    ) -> None:
        words = snake(name)
        other = camel(name) if words == name else words
        self.name = name
        self.other = "" if other == name else other
        self.spellings = (name, other) if self.other else (name,)
        self.codec = codec
        self.default = default
        self.description = description
        self.attribute = attribute or words


class Record(Codec):
    """A codec for objects with named fields. Null means absent; absent fields get the constructor's defaults.

    Args:
        build: Builds the value. It is called with the fields that are present, as keyword arguments.
        fields: The fields, in the order in which they are written.
        other_keys: Keys of the same object that another codec reads.
        related_keys: Keys of related objects, which are not taken for misspellings. Each maps to the error message
            that rejects it, or to an empty string if it is ignored.
        fast_read: Reads common dicts faster, and ignores unknown fields. For any other dict, it returns None or raises
            a DocumentError, and the dict is read field by field.
        check: Returns mistakes that involve several fields. A field that is wrong by itself is None.
    """

    def __init__(
        self,
        build: Callable[..., Any],
        fields: Iterable[Field],
        *,
        other_keys: Collection[str] = (),
        related_keys: Mapping[str, str] | None = None,
        fast_read: Callable[[dict[Any, Any], Context], Any] | None = None,
        check: Callable[[Mapping[str, Any]], Iterable[DocumentError]] | None = None,
    ) -> None:
        super().__init__(self._schema, self._read, self._write)
        self._build = build
        self.fields = tuple(fields)
        self._fast_read = fast_read
        self._check = check
        self._type: Any = build if isinstance(build, type) else object
        self._names = (*other_keys, *(field.name for field in self.fields))
        self._known = {*other_keys, *(name for field in self.fields for name in field.spellings)}
        self._related_keys: Mapping[str, str] = {} if related_keys is None else related_keys

    def _read(self, value: Any, context: Context) -> Any:
        if self._fast_read is not None and type(value) is dict and not (context.strict or context.suggest):
            try:
                made = self._fast_read(value, context)  # pyright: ignore[reportUnknownArgumentType] - from outside
            except DocumentError:
                made = None
            if made is not None:
                return made
        data = as_object(value)
        arguments = self._arguments(data, context)
        try:
            return self._build(**arguments)
        except (DocumentError, RecursionError):
            raise
        except (CupelError, TypeError, ValueError) as error:
            raise constructor_error(error, self._field_of(error, data)) from error
        except Exception as error:
            raise BuildError(error) from error
        except SystemExit as error:
            # A plug-in must not end the program.
            raise DocumentError(f"raised {shortened(error)} when it was built") from error

    def _arguments(self, data: Mapping[Any, Any], context: Context) -> dict[str, Any]:
        """Read the fields that are present, by attribute."""
        mistakes: list[DocumentError] = []
        if (context.strict or context.suggest) and not self._known.issuperset(data):
            self._check_names(data, context, mistakes)
        arguments: dict[str, Any] = {}
        for field in self.fields:
            name, other = field.name, field.other
            given, problem = data.get(name), ""
            if other and (alternative := data.get(other)) is not None:
                problem = "" if given is None else f"is given twice: also as {other}"
                name, given = other, alternative
            elif given is None and field.default is REQUIRED:
                problem = f"is missing{self._misspelt(name, data, context)}"
            if problem:
                context.note(DocumentError(problem), field.name, mistakes)
                arguments[field.attribute] = None
            elif given is not None:
                arguments[field.attribute] = context.attempt(field.codec.read, given, name, mistakes)
        if self._check is not None:
            mistakes += self._check(arguments)
        context.raise_all(mistakes)
        return arguments

    def _misspelt(self, name: str, data: Mapping[Any, Any], context: Context) -> str:
        """Return a hint if an unknown key is probably a misspelling of a missing field."""
        # With `suggest`, the key has a mistake of its own.
        unknown = () if context.suggest else [key for key in data if key not in self._known]
        meant = next((key for key in unknown if suggestion(key, [name])), None)
        return "" if meant is None else f"; {quoted(meant)} is unknown: did you mean {name!r}?"

    def _check_names(self, data: Mapping[Any, Any], context: Context, mistakes: list[DocumentError]) -> None:
        for key, value in data.items():
            if key in self._known:
                continue
            if context.strict:
                problem = f"unknown field; expected one of {', '.join(self._names)}"
            elif key in self._related_keys:
                problem = "" if value is None else self._related_keys[key]
            else:
                near = suggestion(key, self._names)
                problem = near and f"unknown field{near}"
            if problem:
                context.note(DocumentError(problem), key_step(key), mistakes)

    def _field_of(self, error: Exception, data: Mapping[Any, Any]) -> str:
        """Return the name of the field that an error of the constructor is about, as it is spelled in the document."""
        argument = getattr(error, "argument", None)
        for field in self.fields:
            if field.attribute == argument:
                return next((each for each in field.spellings if data.get(each) is not None), field.name)
        return ""

    def _write(self, value: Any, context: Context) -> dict[str, Any]:
        if not isinstance(value, self._type):
            raise must_be(f"of type {self._type.__name__}", value)
        document: dict[str, Any] = {}
        mistakes: list[DocumentError] = []
        for field in self.fields:
            part, default = getattr(value, field.attribute), field.default
            if default is REQUIRED or (part is not default and part != default):
                document[field.name] = context.attempt(field.codec.write, part, field.name, mistakes)
        context.raise_all(mistakes)
        return document

    def _schema(self) -> Schema:
        """Return a schema with both spellings of each field. A required field needs one of them."""
        properties: Schema = {}
        for field in self.fields:
            description = field.description() if callable(field.description) else field.description
            described = {"description": description} if description else {}
            for name in field.spellings:
                properties[name] = {**field.codec.schema(), **described}
        required = [
            {"anyOf": [{"required": [name]} for name in field.spellings]}
            for field in self.fields
            if field.default is REQUIRED
        ]
        return {"type": "object", "properties": properties, **({"allOf": required} if required else {})}
