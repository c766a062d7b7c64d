"""The options of a plug-in, derived from the signature of its class, so that files can use it as it is."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pycupel.codecs.base import Codec
from pycupel.codecs.containers import list_of, map_of
from pycupel.codecs.records import REQUIRED, Field, camel, snake
from pycupel.codecs.scalars import FINITE, FLAG, INTEGER, JSON, KIND, TEXT, choice
from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextKind
from pycupel.model.checks import shortened
from pycupel.policies.values import SECONDS

__all__ = ["derive_fields"]

_SCALARS: Mapping[Any, Codec] = {
    bool: FLAG,
    int: INTEGER,
    float: FINITE,
    str: TEXT,
    ContextKind: KIND,
    timedelta: SECONDS,
}
_LISTS = {list, tuple, Sequence, Iterable, Collection}
_RESERVED = ("type", "weight")


def derive_fields(factory: Any, strategies: Mapping[Any, Codec]) -> list[Field]:
    """A field for every parameter of a class or function.

    Args:
        factory: The class, or the function that builds a strategy.
        strategies: The codecs of parameters that are strategies themselves, by protocol.

    Raises:
        InvalidArgumentError: a parameter has a name that a policy file uses for something else, or the parameters are
            not known.
    """
    hints = _hints(factory)
    fields: list[Field] = []
    for parameter in _parameters(factory):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            continue
        name = parameter.name
        if name in _RESERVED:
            raise InvalidArgumentError(
                f"{shortened(factory, 200)} has a parameter {name!r}, which means something else in a policy file"
            )
        # In camelCase, unless that would not lead back to the name.
        spelled = camel(name) if snake(camel(name)) == name else name
        codec = _codec_of(hints.get(name, Any), strategies)
        default = REQUIRED if parameter.default is parameter.empty else parameter.default
        fields.append(Field(spelled, codec, default, attribute=name))
    return fields


def _parameters(factory: Any) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(factory).parameters.values())
    except Exception as error:
        # Some built-in functions have no signature, and a plug-in may compute one.
        raise InvalidArgumentError(
            f"the parameters of {shortened(factory, 200)} are not known, so it cannot be used in a policy file: {error}"
        ) from error


def _hints(factory: Any) -> dict[str, Any]:
    """The annotations of the constructor, or of the function; none if they cannot be resolved."""
    try:
        return get_type_hints(factory.__init__ if isinstance(factory, type) else factory)  # type: ignore[misc]
    except Exception:  # noqa: BLE001 - an annotation may be any expression
        return {}


def _codec_of(hint: Any, strategies: Mapping[Any, Codec]) -> Codec:
    """The codec for an annotation. If there is none, the parameter may be any JSON, and the constructor decides."""
    if hint in _SCALARS:
        return _SCALARS[hint]
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return choice(hint)
    for protocol, codec in strategies.items():
        if hint is protocol:
            return codec
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        some = [argument for argument in arguments if argument is not NoneType]
        return _codec_of(some[0], strategies) if len(some) == 1 else JSON
    if origin in _LISTS and arguments:
        return list_of(_codec_of(arguments[0], strategies), build=list if origin is list else tuple)
    if origin in (dict, Mapping) and len(arguments) == 2 and arguments[0] in (str, ContextKind):
        return map_of(_SCALARS[arguments[0]], _codec_of(arguments[1], strategies))
    return JSON
