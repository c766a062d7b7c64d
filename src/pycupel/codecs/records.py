"""Objects with named fields, in camelCase or snake_case."""

from __future__ import annotations

import dataclasses
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
from pycupel.model.frozen import sealed
from pycupel.model.names import suggestion

__all__ = ["OPTIONAL", "REQUIRED", "Field", "Record", "camel", "snake", "tagged_schema"]

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


@sealed
@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """A field of an object."""

    name: str
    """Its name in the document, as it is written. The other one of camelCase and snake_case is read, too."""

    codec: Codec
    """What it holds."""

    default: Any = REQUIRED
    """REQUIRED, OPTIONAL, or a value: then it may be absent, and is not written if it holds that value."""

    description: str = ""
    """What it is for, for the schema."""

    attribute: str = ""
    """The parameter and attribute that it stands for; its name in snake_case, unless given."""

    other: str = dataclasses.field(init=False)
    """The other spelling of its name, or an empty string."""

    def __post_init__(self) -> None:
        other = snake(self.name)
        if other == self.name:
            other = camel(self.name)
        object.__setattr__(self, "other", "" if other == self.name else other)
        object.__setattr__(self, "attribute", self.attribute or snake(self.name))

    @property
    def spellings(self) -> tuple[str, ...]:
        """The name, and its other spelling if there is one."""
        return (self.name, self.other) if self.other else (self.name,)


class Record:
    """An object with named fields. Null counts as absent, and what is absent is left to the constructor."""

    def __init__(
        self,
        build: Callable[..., Any],
        fields: Iterable[Field] = (),
        *,
        beside: Collection[str] = (),
        foreign: Mapping[str, str] | None = None,
        quick: Callable[[dict[Any, Any], Context], Any] | None = None,
        check: Callable[[dict[str, Any]], Iterable[DocumentError]] | None = None,
    ) -> None:
        """Describe an object.

        Args:
            build: Makes the value of the fields that are there, by the names of the attributes.
            fields: The fields, in the order in which they are written.
            beside: Keys of the same object that another codec reads.
            foreign: Keys of related objects, which are no misspellings. Each has the sentence with which it is refused,
                or an empty string if it is ignored.
            quick: Makes the same value of a dict as most are, in less time, unknown fields ignored. For any other it
                returns None or raises a DocumentError, and the dict is read again, field by field.
            check: Finds what is wrong with the fields together; one that has a mistake of its own is INVALID.
        """
        self.build = build
        self.fields = tuple(fields)
        self._quick = quick
        self._check = check
        self._type: Any = build if isinstance(build, type) else object
        self._names = (*beside, *(field.name for field in self.fields))
        self._known = {*self._names, *(name for field in self.fields for name in field.spellings)}
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
            raise DocumentError(str(error), path=self._failing_field(error)) from error
        except Exception as error:
            raise BuildError(error) from error
        except SystemExit as error:
            # A plug-in must not end the program.
            raise DocumentError(f"raised {shortened(error)} when it was built") from error

    def read_fields(self, value: Any, context: Context, mistakes: list[DocumentError]) -> dict[str, Any]:
        """The fields that are there, by attribute. One with a mistake, which is added to the mistakes, is INVALID."""
        data = as_object(value)
        if context.strict or context.suggest:
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

    def _failing_field(self, error: Exception) -> str:
        """The field that a constructor's error is about, by its `argument`; empty if it names none."""
        argument = str(getattr(error, "argument", "")).partition("[")[0]
        return next((field.name for field in self.fields if field.attribute == argument), "")

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
        """Return a schema with both spellings of each field; one of a required field has to be there."""
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


def tagged_schema(tag: str, names: Schema, cases: Iterable[tuple[list[str], Schema]]) -> Schema:
    """The schema of an object whose other fields depend on the name in one: `names` describes it, a case its fields."""
    return {
        "type": "object",
        "properties": {tag: names},
        "required": [tag],
        "allOf": [
            {"if": {"properties": {tag: {"enum": spellings}}, "required": [tag]}, "then": fields}
            for spellings, fields in cases
        ],
    }
