"""Derive the fields of an object from the parameters of the class or function that builds it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pycupel.codecs.base import Codec
from pycupel.codecs.records import REQUIRED, Field
from pycupel.codecs.values import JSON, choice, list_of, map_of
from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextKind
from pycupel.text import shortened

__all__ = ["derive_fields"]

_LISTS = {list, tuple, Sequence, Iterable, Collection}


def derive_fields(
    factory: Any, codecs: Mapping[Any, Codec], given: Iterable[Field] = (), *, spell: Callable[[str], str] = str
) -> list[Field]:
    """Return a field for every parameter of a class or function.

    Args:
        factory: The class or function.
        codecs: The codec for each type of a parameter, or of the elements of a list or mapping.
        given: Fields that the signature does not fully describe. A missing default or description is taken from the
            parameter.
        spell: Converts the name of a parameter to the name of the field in the document.
    """
    hints, descriptions = _hints(factory), _descriptions(factory)
    known = {field.attribute: field for field in given}
    fields: list[Field] = []
    for parameter in _parameters(factory):
        name = parameter.name
        field = known.get(name) or Field(spell(name), _codec_of(hints.get(name, Any), codecs), attribute=name)
        default = field.default
        if default is REQUIRED and parameter.default is not parameter.empty:
            default = parameter.default
        fields.append(Field(field.name, field.codec, default, field.description or descriptions.get(name, ""), name))
    return fields


def _parameters(factory: Any) -> list[inspect.Parameter]:
    try:
        parameters = inspect.signature(factory).parameters.values()
    except Exception as error:
        # Some built-in functions have no signature, and computing that of a plug-in may fail.
        raise InvalidArgumentError(
            f"{shortened(factory, 200)} cannot be used in a policy file, because it has no readable signature: {error}"
        ) from error
    return [each for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]


def _hints(factory: Any) -> dict[str, Any]:
    """Return the annotations of the constructor or function; none if they cannot be resolved."""
    try:
        # The annotations of a named tuple are on the class.
        is_on_init = inspect.isclass(factory) and not hasattr(factory, "_fields")
        return get_type_hints(factory.__init__ if is_on_init else factory)
    except Exception:  # noqa: BLE001 - an annotation may be any expression
        return {}


def _descriptions(factory: Any) -> dict[str, str]:
    """Return the description of each parameter from the docstring's `Attributes:` or `Args:` section."""
    section = re.search(r"^(?:Attributes|Args):\n((?: .*\n|\n)+)", f"{inspect.getdoc(factory)}\n", re.MULTILINE)
    entries = re.findall(r"^ {4}(\w+)\b[^:\n]*: (.*(?:\n {5,}.*)*)", section[1] if section else "", re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in entries}


def _codec_of(hint: Any, codecs: Mapping[Any, Codec]) -> Codec:
    """Return the codec for an annotation. If there is none, accept any JSON value and let the constructor check it."""
    if hint in codecs:
        return codecs[hint]
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return choice(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal and all(isinstance(each, str) for each in arguments):
        return choice(arguments)
    if origin in (Union, UnionType):
        types = [argument for argument in arguments if argument is not NoneType]
        return _codec_of(types[0], codecs) if len(types) == 1 else JSON
    if origin in _LISTS and arguments:
        return list_of(_codec_of(arguments[0], codecs), build=list if origin is list else tuple)
    if origin in (dict, Mapping) and len(arguments) == 2 and arguments[0] in (str, ContextKind):
        return map_of(codecs[arguments[0]], _codec_of(arguments[1], codecs))
    return JSON
