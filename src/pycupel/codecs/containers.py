"""Lists, and objects whose keys the author chooses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pycupel.codecs.base import (
    Codec,
    Context,
    Schema,
    as_object,
    convert_each,
    convert_members,
    key_step,
    must_be,
    note_mistake,
    raise_mistakes,
)
from pycupel.codecs.scalars import key as string_key
from pycupel.errors import DocumentError

__all__ = ["ListOf", "MapOf"]


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list in the document; in the value, what `build` makes of one.

    Attributes:
        element: The codec of the elements.
        at_least: How many elements there have to be.
        build: Makes the value of the list of elements.
    """

    element: Codec
    at_least: int = 0
    build: Callable[[list[Any]], Any] = tuple

    def read(self, value: Any, context: Context, /) -> Any:
        if not isinstance(value, (list, tuple)):
            raise must_be("a list", value)
        elements: list[Any] | tuple[Any, ...] = value  # pyright: ignore[reportUnknownVariableType] - from outside
        if len(elements) < self.at_least:
            raise DocumentError(f"must have at least {self.at_least} entry")
        read = self.element.read
        converted: list[Any] = []
        mistakes: list[DocumentError] = []
        for i, element in enumerate(elements):
            try:
                converted.append(read(element, context))
            except DocumentError as error:
                note_mistake(error, f"[{i}]", context, mistakes)
        raise_mistakes(mistakes)
        return self.build(converted)

    def write(self, value: Any, context: Context, /) -> list[Any]:
        return convert_each(self.element.write, value, context)

    def schema(self) -> Schema:
        minimum = {"minItems": self.at_least} if self.at_least else {}
        return {"type": "array", "items": self.element.schema(), **minimum}


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object whose keys the author chooses: names of kinds, for example."""

    key: Codec
    value: Codec

    def read(self, value: Any, context: Context, /) -> dict[Any, Any]:
        members: dict[Any, Any] = {}
        mistakes: list[DocumentError] = []
        for name, member in as_object(value).items():
            try:
                key = self.key.read(string_key(name, context), context)
                if key in members:
                    # Only kinds can be equal: a document has each string once.
                    raise DocumentError(f"duplicate kind '{key}' (kinds are case-insensitive)")  # noqa: TRY301
                members[key] = self.value.read(member, context)
            except DocumentError as error:
                note_mistake(error, key_step(name), context, mistakes)
        raise_mistakes(mistakes)
        return members

    def write(self, value: Any, context: Context, /) -> dict[str, Any]:
        return convert_members(self.key.write, self.value.write, value, context)

    def schema(self) -> Schema:
        names = {name: rule for name, rule in self.key.schema().items() if name != "type"}
        return {
            "type": "object",
            "additionalProperties": self.value.schema(),
            **({"propertyNames": names} if names else {}),
        }
