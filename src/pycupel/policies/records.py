"""Objects with named fields, spelled in camelCase or snake_case."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pycupel.errors import CupelError
from pycupel.model.names import suggestion
from pycupel.policies.values import BAD, Problems, Schema, Value
from pycupel.wire.values import found, joined, step

__all__ = ["REQUIRED", "Field", "Record", "snake"]

REQUIRED: Any = object()


def snake(name: str) -> str:
    """`metadata_trust` for `metadataTrust`. A name like `BM25` has no words, and stays."""
    return re.sub(r"(?<=[a-z0-9])[A-Z]", lambda match: f"_{match[0].lower()}", name)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a document by its canonical, camelCase name, and the attribute of the value that it stands for.

    Absent or null, it is left to the constructor, unless it is REQUIRED; a value equal to the default is not written,
    unless it is to be written `always`.
    """

    name: str
    attribute: str
    value: Value
    default: Any = REQUIRED
    description: str = ""
    always: bool = False

    @property
    def spellings(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.name, snake(self.name))))


@dataclass(frozen=True, slots=True)
class Record:
    """The fields of an object. `build` makes the value of those that are there, by the names of the attributes."""

    build: Callable[..., Any]
    fields: tuple[Field, ...] = ()

    def read(
        self, value: Any, path: str, problems: Problems, /, beside: Collection[str] = (), foreign: Collection[str] = ()
    ) -> Any:
        """`beside` are keys that somebody else reads from the same object, `foreign` those that nobody has to read."""
        arguments = self.read_fields(value, path, problems, beside, foreign)
        if arguments is BAD or any(argument is BAD for argument in arguments.values()):
            return BAD
        try:
            return self.build(**arguments)
        except (CupelError, TypeError, ValueError) as error:
            return problems.add(joined(path, self.blamed(error)), str(error))
        except Exception as error:
            error.add_note(f"This happened while {path} of a policy document was built.")
            raise

    def read_fields(
        self,
        value: Any,
        path: str,
        problems: Problems,
        beside: Collection[str] = (),
        foreign: Collection[str] = (),
    ) -> Any:
        """The fields that are there, by attribute."""
        if not isinstance(value, Mapping):
            return problems.add(path, f"must be an object, not {found(value)}")
        data: Mapping[Any, Any] = value  # pyright: ignore[reportUnknownVariableType] - from outside
        names = [*beside, *(field.name for field in self.fields)]
        known = {*names, *foreign, *(name for field in self.fields for name in field.spellings)}
        _refuse_near_misses([key for key in data if key not in known], names, path, problems)
        arguments: dict[str, Any] = {}
        for field in self.fields:
            given = [name for name in field.spellings if data.get(name) is not None]
            if len(given) > 1:
                arguments[field.attribute] = problems.add(joined(path, given[0]), f"is given twice, also as {given[1]}")
            elif given:
                arguments[field.attribute] = field.value.read(data[given[0]], joined(path, given[0]), problems)
            elif field.default is REQUIRED:
                arguments[field.attribute] = problems.add(joined(path, field.name), "is missing")
        return arguments

    def blamed(self, error: Exception) -> str:
        """The field that a constructor complains about, or nothing if it does not say."""
        argument = getattr(error, "argument", None)
        return next((field.name for field in self.fields if field.attribute == argument), "")

    def write(self, value: Any, path: str, /) -> dict[str, Any]:
        document: dict[str, Any] = {}
        for field in self.fields:
            held = getattr(value, field.attribute)
            if field.always or field.default is REQUIRED or held != field.default:
                document[field.name] = field.value.write(held, joined(path, field.name))
        return document

    def schema(self) -> Schema:
        """Both spellings are described; of a required field, one has to be there."""
        properties: Schema = {}
        for field in self.fields:
            described = {"description": field.description} if field.description else {}
            for name in field.spellings:
                properties[name] = {**field.value.schema(), **described}
        required = [
            {"anyOf": [{"required": [name]} for name in field.spellings]}
            for field in self.fields
            if field.default is REQUIRED
        ]
        return {"type": "object", "properties": properties, **({"allOf": required} if required else {})}


def _refuse_near_misses(unknown: list[Any], names: list[str], path: str, problems: Problems) -> None:
    """What is not known is ignored, as others do, but not what is probably a known name misspelled."""
    for key in unknown:
        near = suggestion(key, names) if isinstance(key, str) else ""
        if near:
            problems.add(joined(path, step(key)), f"is not known{near}")
