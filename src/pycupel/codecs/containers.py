"""Lists, and objects whose keys the author chooses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pycupel.codecs.base import Codec, Context, FunctionCodec, as_object, convert_list, convert_members, must_be
from pycupel.codecs.scalars import key as string_key
from pycupel.errors import DocumentError

__all__ = ["list_of", "map_of"]


def list_of(element: Codec, *, at_least: int = 0, build: Callable[[list[Any]], Any] = tuple) -> Codec:
    """A list in the document; in the value, what `build` makes of one. `at_least` is its minimum length."""

    def read(value: Any, context: Context) -> Any:
        if not isinstance(value, (list, tuple)):
            raise must_be("a list", value)
        elements: list[Any] | tuple[Any, ...] = value  # pyright: ignore[reportUnknownVariableType] - from outside
        if len(elements) < at_least:
            raise DocumentError(f"must have at least {at_least} entry")
        return build(convert_list(element.read, elements, context))

    def write(value: Any, context: Context) -> list[Any]:
        return convert_list(element.write, value, context)

    minimum = {"minItems": at_least} if at_least else {}
    return FunctionCodec({"type": "array", "items": element.schema(), **minimum}, read, write)


def map_of(key: Codec, value: Codec) -> Codec:
    """An object whose keys the author chooses: kinds, for example."""

    def read_key(name: Any, context: Context) -> Any:
        return key.read(string_key(name, context), context)

    def read(given: Any, context: Context) -> dict[Any, Any]:
        return convert_members(read_key, value.read, as_object(given), context)

    def write(members: Any, context: Context) -> dict[str, Any]:
        return convert_members(key.write, value.write, members, context)

    names = {rule: limit for rule, limit in key.schema().items() if rule != "type"}
    described = {"propertyNames": names} if names else {}
    return FunctionCodec({"type": "object", "additionalProperties": value.schema(), **described}, read, write)
