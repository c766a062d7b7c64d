"""What a plug-in's options are, taken from the signature of its class: a file can use them without further ado."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextKind
from pycupel.policies.containers import ListOf, MapOf
from pycupel.policies.records import REQUIRED, Field, Record, snake
from pycupel.policies.values import (
    ANYTHING,
    FLAG_VALUE,
    INTEGER_VALUE,
    KIND,
    NUMBER_VALUE,
    SECONDS,
    TEXT_VALUE,
    Choice,
    Value,
)
from pycupel.wire.records import camel

__all__ = ["derive_record"]

_SCALARS: Mapping[Any, Value] = {
    bool: FLAG_VALUE,
    int: INTEGER_VALUE,
    float: NUMBER_VALUE,
    str: TEXT_VALUE,
    ContextKind: KIND,
    timedelta: SECONDS,
}
_LISTS = {list, tuple, Sequence, Iterable, Collection}
_RESERVED = ("type", "weight")


def derive_record(factory: Any, strategies: Mapping[Any, Value]) -> Record:
    """A field for every parameter. `strategies` are the values of parameters that are strategies themselves."""
    hints = _hints(factory)
    named = [
        p for p in inspect.signature(factory).parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]
    for parameter in named:
        if parameter.name in _RESERVED:
            raise InvalidArgumentError(
                f"{factory!r} has a parameter {parameter.name!r}, which means something else in a policy file"
            )
    return Record(
        factory,
        tuple(
            Field(
                _spelled(parameter.name),
                parameter.name,
                _value_of(hints.get(parameter.name, Any), strategies),
                REQUIRED if parameter.default is parameter.empty else parameter.default,
            )
            for parameter in named
        ),
    )


def _spelled(name: str) -> str:
    """In camelCase, unless that would not lead back to the name."""
    return camel(name) if name in (camel(name), snake(camel(name))) else name


def _hints(factory: Any) -> dict[str, Any]:
    """The annotations of the constructor, or of the function; none if they cannot be resolved."""
    try:
        return get_type_hints(factory.__init__ if isinstance(factory, type) else factory)  # type: ignore[misc]
    except (NameError, TypeError):
        return {}


def _value_of(hint: Any, strategies: Mapping[Any, Value]) -> Value:
    """The value for an annotation. What is not recognised may be any JSON, and is up to the constructor."""
    if hint in _SCALARS:
        return _SCALARS[hint]
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return Choice(hint)
    for protocol, value in strategies.items():
        if hint is protocol:
            return value
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        some = [argument for argument in arguments if argument is not NoneType]
        return _value_of(some[0], strategies) if len(some) == 1 else ANYTHING
    if origin in _LISTS and arguments:
        return ListOf(_value_of(arguments[0], strategies), collect=list if origin is list else tuple)
    if origin in (dict, Mapping) and len(arguments) == 2 and arguments[0] in (str, ContextKind):
        return MapOf(_SCALARS[arguments[0]], _value_of(arguments[1], strategies))
    return ANYTHING
