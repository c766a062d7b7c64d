"""Objects with named fields: which there are, how they are spelled, and what goes wrong with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from pycupel.errors import CupelError, DocumentError
from pycupel.wire.values import Codec, Mode, as_object, joined, must_be, step

__all__ = ["Field", "camel", "record", "snake"]

_ALWAYS = object()


class Field(NamedTuple):
    """A field by the name of its attribute.

    Absent or null, it is an error if it is `required`; else the constructor's default stands. Holding `omitted`, it is
    not written.
    """

    name: str
    codec: Codec
    required: bool = True
    omitted: Any = _ALWAYS


def snake(name: str) -> str:
    """Diagnostics are written as their attributes are called (WF-01)."""
    return name


def camel(name: str) -> str:
    """Items and budgets are written as the data model spells them (WF-01)."""
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


def record(
    cls: type[Any], fields: Sequence[Field], spell: Callable[[str], str] = snake, *, beside: Collection[str] = ()
) -> Codec:
    """The codec of a class. `beside` are keys that somebody else reads from the same object."""
    made = _Record(cls, fields, spell, beside)
    return Codec(made.read, made.write)


class _Record:
    __slots__ = ("_cls", "_fields", "_keys", "_known")

    def __init__(
        self, cls: type[Any], fields: Sequence[Field], spell: Callable[[str], str], beside: Collection[str]
    ) -> None:
        self._cls = cls
        self._fields = [(field, spell(field.name), _other_spelling(field.name, spell)) for field in fields]
        self._keys = {field.name: key for field, key, _ in self._fields}
        self._known = {*beside, *(name for _, *both in self._fields for name in both)}

    def read(self, value: Any, mode: Mode) -> Any:
        data = as_object(value)
        if mode.strict:
            self._refuse_unknown(data)
        arguments: dict[str, Any] = {}
        for field, key, other in self._fields:
            used, given = _lookup(data, key, other)
            if given is not None:
                try:
                    arguments[field.name] = field.codec.read(given, mode)
                except DocumentError as error:
                    error.path = joined(used, error.path)
                    raise
            elif field.required:
                raise DocumentError("is missing", path=key)
        return self._build(arguments)

    def write(self, value: Any, mode: Mode) -> dict[str, Any]:
        if not isinstance(value, self._cls):
            raise must_be(f"of type {self._cls.__name__}", value)
        document: dict[str, Any] = {}
        for field, key, _ in self._fields:
            held = getattr(value, field.name)
            if held == field.omitted:
                continue
            try:
                document[key] = field.codec.write(held, mode)
            except DocumentError as error:
                error.path = joined(key, error.path)
                raise
        return document

    def _refuse_unknown(self, data: Mapping[Any, Any]) -> None:
        for key in data:
            if key not in self._known:
                raise DocumentError(f"is not known; known are {', '.join(self._keys.values())}", path=step(key))

    def _build(self, arguments: dict[str, Any]) -> Any:
        try:
            return self._cls(**arguments)
        except CupelError as error:
            raise DocumentError(str(error), path=self._blamed(str(error))) from error

    def _blamed(self, message: str) -> str:
        """The field that the model complains about. Its sentences start with the name, or with `ContextKind`."""
        name = re.split(r"\W", message, maxsplit=1)[0]
        return self._keys.get(name.removeprefix("Context").lower(), self._keys.get(name, ""))


def _other_spelling(name: str, spell: Callable[[str], str]) -> str:
    return snake(name) if spell is camel else camel(name)


def _lookup(data: Mapping[Any, Any], key: str, other: str) -> tuple[str, Any]:
    """A value, and the spelling it was found under."""
    given, alternative = data.get(key), data.get(other)
    if alternative is None or key == other:
        return key, given
    if given is not None:
        raise DocumentError(f"is given twice, also as {other}", path=key)
    return other, alternative
