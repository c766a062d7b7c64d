"""Lists, objects with arbitrary keys, and any JSON value, with a limit on nesting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pycupel.codecs.base import (
    Codec,
    Context,
    Convert,
    FunctionCodec,
    as_object,
    describe_value,
    key_step,
    must_be,
    note_mistake,
    prefix_path,
    raise_mistakes,
)
from pycupel.codecs.scalars import INTEGER, NUMBER, text
from pycupel.errors import DocumentError, cut
from pycupel.model.checks import quoted

__all__ = ["JSON", "OBJECT", "TOO_DEEP", "check_depth", "list_of", "map_of"]

_MAX_DEPTH = 64
"""The maximum depth of nested objects and lists in a document."""

TOO_DEEP = f"is nested more than {_MAX_DEPTH} levels deep"


def list_of(element: Codec, *, at_least: int = 0, build: Callable[[list[Any]], Any] = tuple) -> Codec:
    """Return a codec for lists of `at_least` elements or more; `build` converts the list of elements to the value."""

    def read(value: Any, context: Context) -> Any:
        if not isinstance(value, (list, tuple)):
            raise must_be("a list", value)
        elements: list[Any] | tuple[Any, ...] = value  # pyright: ignore[reportUnknownVariableType] - from outside
        if len(elements) < at_least:
            raise DocumentError(f"must have at least {at_least} entry")
        return build(_convert_elements(element.read, elements, context))

    def write(value: Any, context: Context) -> list[Any]:
        return _convert_elements(element.write, value, context)

    minimum = {"minItems": at_least} if at_least else {}
    return FunctionCodec({"type": "array", "items": element.schema(), **minimum}, read, write)


def map_of(key: Codec, value: Codec) -> Codec:
    """Return a codec for objects with arbitrary keys, such as kinds."""

    def read_key(name: Any, context: Context) -> Any:
        return key.read(_string_key(name, context), context)

    def read(given: Any, context: Context) -> dict[Any, Any]:
        return _convert_members(read_key, value.read, as_object(given), context)

    def write(members: Any, context: Context) -> dict[str, Any]:
        return _convert_members(key.write, value.write, members, context)

    schema = {"type": "object", "propertyNames": key.schema(), "additionalProperties": value.schema()}
    return FunctionCodec(schema, read, write)


def _convert_elements(convert: Convert, values: Iterable[Any], context: Context) -> list[Any]:
    converted: list[Any] = []
    mistakes: list[DocumentError] = []
    for i, value in enumerate(values):
        try:
            converted.append(convert(value, context))
        except DocumentError as error:
            note_mistake(error, f"[{i}]", context, mistakes)
    raise_mistakes(mistakes)
    return converted


def _convert_members(key: Convert, value: Convert, members: Mapping[Any, Any], context: Context) -> dict[Any, Any]:
    converted: dict[Any, Any] = {}
    mistakes: list[DocumentError] = []
    for name, member in members.items():
        try:
            converted_key = key(name, context)
            if converted_key in converted:
                # Only kinds can collide: the keys of an object are unique.
                raise DocumentError(f"duplicate kind {quoted(str(converted_key))} (kinds are case-insensitive)")  # noqa: TRY301
            converted[converted_key] = value(member, context)
        except DocumentError as error:
            note_mistake(error, key_step(name), context, mistakes)
    raise_mistakes(mistakes)
    return converted


def _string_key(value: Any, context: Context) -> str:
    if not isinstance(value, str):
        raise DocumentError(f"every key must be a string, not {describe_value(value)}")
    return text(value, context)


def check_depth(document: Any) -> None:
    """Reject a document that is nested too deeply or contains itself.

    Raises:
        DocumentError: the document is nested too deeply; `path` says where.
    """
    try:
        _check(document, _MAX_DEPTH, set())
    except DocumentError as error:
        error.path = cut(error.path)
        raise


def _check(value: Any, levels: int, seen: set[tuple[int, int]]) -> None:
    is_list = isinstance(value, list)
    # Scalars come first, because checking for an abstract base class is slowest.
    if isinstance(value, (str, int, float)) or not isinstance(value, (dict, list, Mapping)):
        return
    if not levels:
        raise DocumentError(TOO_DEEP)
    container: Any = value  # pyright: ignore[reportUnknownVariableType] - from outside
    # Visit a shared container, such as a YAML alias, only once per level.
    if (id(container), levels) in seen:
        return
    seen.add((id(container), levels))
    for key, part in enumerate(container) if is_list else container.items():
        try:
            _check(part, levels - 1, seen)
        except DocumentError as error:
            prefix_path(error, f"[{key}]" if is_list else key_step(key))
            raise


def _json(value: Any, context: Context) -> Any:
    """Copy any JSON value. A tuple is rejected: it would be read back as a list, which is not equal to it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return text(value, context)
    if isinstance(value, int):
        return INTEGER.read(value, context)
    if isinstance(value, float):
        return NUMBER.read(value, context)
    if isinstance(value, list):
        return _convert_elements(_json, value, context)  # pyright: ignore[reportUnknownArgumentType] - from outside
    if isinstance(value, Mapping):
        return _convert_members(_string_key, _json, value, context)  # pyright: ignore[reportUnknownArgumentType] - from outside
    raise must_be("a string, number, bool, None, list or dict", value)


def _object(value: Any, context: Context) -> dict[str, Any]:
    members = as_object(value)
    check_depth(members)
    return _convert_members(_string_key, _json, members, context)


JSON = FunctionCodec({}, _json, _json)
OBJECT = FunctionCodec({"type": "object"}, _object, _object)
