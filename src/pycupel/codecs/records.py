"""Objects with named fields, in camelCase or snake_case."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

from pycupel.codecs.base import (
    INVALID,
    BuildError,
    Codec,
    Context,
    Schema,
    as_object,
    attempt,
    key_step,
    must_be,
    note_mistake,
    raise_mistakes,
)
from pycupel.errors import CupelError, DocumentError
from pycupel.model.checks import shortened
from pycupel.model.names import suggestion

REQUIRED: Final[Any] = object()
"""The default of a field that has to be there."""

OPTIONAL: Final[Any] = object()
"""The default of a field that need not be there, but is always written."""


def snake(name: str) -> str:
    """`metadata_trust` for `metadataTrust`. A name like `BM25` has no words, and stays."""
    return re.sub(r"(?<=[a-z0-9])[A-Z]", lambda match: f"_{match[0].lower()}", name)


def camel(name: str) -> str:
    """`metadataTrust` for `metadata_trust`."""
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


class Field:
    """A field of an object."""

    __slots__ = ("attribute", "codec", "default", "description", "name", "other", "spellings")

    def __init__(
        self, name: str, codec: Codec, default: Any = REQUIRED, description: str = "", attribute: str = ""
    ) -> None:
        """Describe a field.

        Args:
            name: Its name in the document, in camelCase or snake_case. The other spelling is read, too.
            codec: What it holds.
            default: REQUIRED, OPTIONAL, or a value: then it may be absent, and is not written if it has that value.
            description: What the schema says about it.
            attribute: The parameter and attribute that it stands for; by default, its name in snake_case.
        """
        words = snake(name)
        other = camel(name) if words == name else words
        self.name = name
        self.other = "" if other == name else other
        self.spellings = (name, other) if self.other else (name,)
        self.codec = codec
        self.default = default
        self.description = description
        self.attribute = attribute or words


class Record:
    """An object with named fields. Null means absent, and the constructor has the defaults of absent fields."""

    def __init__(
        self,
        build: Callable[..., Any],
        fields: Iterable[Field],
        *,
        beside: Collection[str] = (),
        foreign: Mapping[str, str] | None = None,
        quick: Callable[[dict[Any, Any], Context], Any] | None = None,
        check: Callable[[dict[str, Any]], Iterable[DocumentError]] | None = None,
    ) -> None:
        """Describe an object.

        Args:
            build: Builds the value; it gets the fields that are present as keyword arguments.
            fields: The fields, in the order in which they are written.
            beside: Keys of the same object that another codec reads.
            foreign: Keys of related objects, which are no misspellings. Each has the message that rejects it, or an
                empty string if it is ignored.
            quick: Reads the usual kind of dict faster, and ignores unknown fields. For any other dict it returns None
                or raises a DocumentError; then the dict is read field by field.
            check: Finds mistakes across fields. A field that has a mistake itself is INVALID.
        """
        self.build = build
        self.fields = tuple(fields)
        self._quick = quick
        self._check = check
        self._type: Any = build if isinstance(build, type) else object
        self._names = (*beside, *(field.name for field in self.fields))
        self._known = {*beside, *(name for field in self.fields for name in field.spellings)}
        self._foreign: Mapping[str, str] = {} if foreign is None else foreign

    def read(self, value: Any, context: Context, /) -> Any:
        """Return what an object describes."""
        if self._quick is not None and type(value) is dict and not (context.strict or context.suggest):
            try:
                made = self._quick(value, context)  # pyright: ignore[reportUnknownArgumentType] - from outside
            except DocumentError:
                made = None
            if made is not None:
                return made
        mistakes: list[DocumentError] = []
        arguments = self.read_fields(value, context, mistakes)
        if self._check is not None:
            mistakes += self._check(arguments)
        raise_mistakes(mistakes)
        try:
            return self.build(**arguments)
        except (DocumentError, RecursionError):
            raise
        except (CupelError, TypeError, ValueError) as error:
            raise self._located(error, as_object(value)) from error
        except Exception as error:
            raise BuildError(error) from error
        except SystemExit as error:
            # A plug-in must not end the program.
            raise DocumentError(f"raised {shortened(error)} when it was built") from error

    def read_fields(self, value: Any, context: Context, mistakes: list[DocumentError]) -> dict[str, Any]:
        """The fields that are present, by attribute. Those with mistakes are INVALID; `mistakes` gets the errors."""
        data = as_object(value)
        if (context.strict or context.suggest) and not self._known.issuperset(data):
            self._check_names(data, context, mistakes)
        arguments: dict[str, Any] = {}
        for field in self.fields:
            name, other = field.name, field.other
            given, problem = data.get(name), ""
            if other and (alternative := data.get(other)) is not None:
                problem = "" if given is None else f"is given twice, also as {other}"
                name, given = other, alternative
            elif given is None and field.default is REQUIRED:
                problem = "is missing"
            if problem:
                note_mistake(DocumentError(problem), field.name, context, mistakes)
                arguments[field.attribute] = INVALID
            elif given is not None:
                arguments[field.attribute] = attempt(field.codec.read, given, name, context, mistakes)
        return arguments

    def _check_names(self, data: Mapping[Any, Any], context: Context, mistakes: list[DocumentError]) -> None:
        for key, value in data.items():
            if key in self._known:
                continue
            if context.strict:
                problem = f"unknown field; expected one of {', '.join(self._names)}"
            elif key in self._foreign:
                problem = "" if value is None else self._foreign[key]
            else:
                near = suggestion(key, self._names) if isinstance(key, str) else ""
                problem = near and f"unknown field{near}"
            if problem:
                note_mistake(DocumentError(problem), key_step(key), context, mistakes)

    def _located(self, error: Exception, data: Mapping[Any, Any]) -> DocumentError:
        """The error of a constructor, at the field that it is about, which is its `argument`."""
        text, argument = str(error), getattr(error, "argument", None)
        for field in self.fields:
            if field.attribute == argument:
                name = next((each for each in field.spellings if data.get(each) is not None), field.name)
                # The path says it already.
                is_named = text.startswith(f"{argument} must ")
                return DocumentError(text.removeprefix(f"{argument} ") if is_named else text, path=name)
        return DocumentError(text)

    def write(self, value: Any, context: Context, /) -> dict[str, Any]:
        """Return the object that describes a value."""
        if not isinstance(value, self._type):
            raise must_be(f"of type {self._type.__name__}", value)
        document: dict[str, Any] = {}
        mistakes: list[DocumentError] = []
        for field in self.fields:
            held, default = getattr(value, field.attribute), field.default
            if default is REQUIRED or (held is not default and held != default):
                document[field.name] = attempt(field.codec.write, held, field.name, context, mistakes)
        raise_mistakes(mistakes)
        return document

    def schema(self) -> Schema:
        """Return a schema with both spellings of each field, one of which is required if the field is."""
        properties: Schema = {}
        for field in self.fields:
            described = {"description": field.description} if field.description else {}
            for name in field.spellings:
                properties[name] = {**field.codec.schema(), **described}
        required = [
            {"anyOf": [{"required": [name]} for name in field.spellings]}
            for field in self.fields
            if field.default is REQUIRED
        ]
        return {"type": "object", "properties": properties, **({"allOf": required} if required else {})}
