"""Lists, and objects whose keys the author chooses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pycupel.codecs import base
from pycupel.codecs.base import Codec, Context, FunctionCodec, as_object, key_step, must_be, note_mistake
from pycupel.codecs.scalars import key as string_key
from pycupel.errors import DocumentError

__all__ = ["list_of", "map_of"]


def list_of(element: Codec, *, at_least: int = 0, build: Callable[[list[Any]], Any] = tuple) -> Codec:
    """A list in the document; in the value, what `build` makes of one. `at_least` is its minimum length."""
    read_element, write_element = element.read, element.write

    def read(value: Any, context: Context) -> Any:
        if not isinstance(value, (list, tuple)):
            raise must_be("a list", value)
        elements: list[Any] | tuple[Any, ...] = value  # pyright: ignore[reportUnknownVariableType] - from outside
        if len(elements) < at_least:
            raise DocumentError(f"must have at least {at_least} entry")
        if not context.collect:
            return build(base.convert_each(read_element, elements, context))
        result: list[Any] = []
        mistakes: list[DocumentError] = []
        for i, each in enumerate(elements):
            try:
                result.append(read_element(each, context))
            except DocumentError as error:
                note_mistake(error, f"[{i}]", context, mistakes)
        base.raise_mistakes(mistakes)
        return build(result)

    def write(value: Any, context: Context) -> list[Any]:
        return base.convert_each(write_element, value, context)

    minimum = {"minItems": at_least} if at_least else {}
    return FunctionCodec({"type": "array", "items": element.schema(), **minimum}, read, write)


def map_of(key: Codec, value: Codec) -> Codec:
    """An object whose keys the author chooses: kinds, for example."""

    def read(given: Any, context: Context) -> dict[Any, Any]:
        members: dict[Any, Any] = {}
        mistakes: list[DocumentError] = []
        for name, member in as_object(given).items():
            try:
                chosen = key.read(string_key(name, context), context)
                if chosen in members:
                    # Only kinds can be equal: a document has each string once.
                    raise DocumentError(f"duplicate kind '{chosen}' (kinds are case-insensitive)")  # noqa: TRY301
                members[chosen] = value.read(member, context)
            except DocumentError as error:
                note_mistake(error, key_step(name), context, mistakes)
        base.raise_mistakes(mistakes)
        return members

    def write(members: Any, context: Context) -> dict[str, Any]:
        return base.convert_members(key.write, value.write, members, context)

    names = {rule: limit for rule, limit in key.schema().items() if rule != "type"}
    described = {"propertyNames": names} if names else {}
    return FunctionCodec({"type": "object", "additionalProperties": value.schema(), **described}, read, write)
