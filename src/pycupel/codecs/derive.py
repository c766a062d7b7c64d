"""Derive the fields of an object from the parameters of the class or function that builds it."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields as dataclass_fields, is_dataclass
from enum import StrEnum
from functools import cache, partial
from itertools import pairwise
from textwrap import dedent
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, cast, get_args, get_origin, get_type_hints

from pycupel.codecs.base import Codec
from pycupel.codecs.records import REQUIRED, Field
from pycupel.codecs.values import JSON, choice, limited, list_of, map_of
from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextKind
from pycupel.text import shortened

_LISTS = {list, tuple, Sequence, Iterable, Collection}


DERIVED: Final[Any] = None
"""The codec of a given field that keeps the one of the parameter."""


def derive_fields(
    factory: Any, codecs: Mapping[Any, Codec], given: Iterable[Field] = (), *, spell: Callable[[str], str] = str
) -> list[Field]:
    """Return a field for every parameter of a class or function.

    The numbers in it have the limits that the class declares: see `pycupel.values`.

    Args:
        factory: The class or function.
        codecs: The codec for each type of a parameter, or of the elements of a list or mapping.
        given: Fields that the signature does not fully describe. A codec of DERIVED, a missing default or a missing
            description is taken from the parameter.
        spell: Converts the name of a parameter to the name of the field in the document.
    """
    hints, limits = _hints(factory), _limits(factory)
    # Only a schema needs them, and looking for them reads the source.
    descriptions = cache(lambda: _descriptions(factory))
    known = {field.attribute: field for field in given}
    fields: list[Field] = []
    for parameter in _parameters(factory):
        name = parameter.name
        field = known.get(name) or Field(spell(name), DERIVED, attribute=name)
        codec = field.codec
        if codec is DERIVED:
            codec = _codec_of(hints.get(name, Any), codecs, limits.get(name, {}))
        default = field.default
        if default is REQUIRED and parameter.default is not parameter.empty:
            default = parameter.default
        description = field.description or partial(_described, descriptions, name)
        fields.append(Field(field.name, codec, default, description, name))
    return fields


def _described(descriptions: Callable[[], dict[str, str]], name: str) -> str:
    return descriptions().get(name, "")


def _limits(factory: Any) -> dict[str, Mapping[str, float]]:
    """Return the limits of each field of a dataclass."""
    declared = dataclass_fields(factory) if is_dataclass(factory) else ()
    return {field.name: field.metadata.get("limits", {}) for field in declared}


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
    """Return the description of each parameter: from an `Attributes:` or `Args:` section, or below the field."""
    section = re.search(r"^(?:Attributes|Args):\n((?: .*\n|\n)+)", f"{inspect.getdoc(factory)}\n", re.MULTILINE)
    entries = re.findall(r"^ {4}(\w+)\b[^:\n]*: (.*(?:\n {5,}.*)*)", section[1] if section else "", re.MULTILINE)
    described = _field_docstrings(factory) if inspect.isclass(factory) else {}
    return described | {name: " ".join(text.split()) for name, text in entries}


def _field_docstrings(cls: type[Any]) -> dict[str, str]:
    """Return the docstrings below the fields of a class, which only its source has."""
    try:
        declaration = ast.parse(dedent(inspect.getsource(cls))).body[0]
    except (OSError, TypeError, SyntaxError):
        # Made without a file, such as in a shell.
        return {}
    return {
        statement.target.id: " ".join(below.value.value.split())
        for statement, below in pairwise(cast(ast.ClassDef, declaration).body)
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str)
    }


def _codec_of(hint: Any, codecs: Mapping[Any, Codec], limits: Mapping[str, float]) -> Codec:
    """Return the codec for an annotation. If there is none, accept any JSON value and let the constructor check it."""
    if hint in codecs:
        return limited(codecs[hint], **limits) if limits and hint in (int, float) else codecs[hint]
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return choice(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal and all(isinstance(each, str) for each in arguments):
        return choice(arguments)
    if origin in (Union, UnionType):
        types = [argument for argument in arguments if argument is not NoneType]
        return _codec_of(types[0], codecs, limits) if len(types) == 1 else JSON
    if origin in _LISTS and arguments:
        return list_of(_codec_of(arguments[0], codecs, limits), build=list if origin is list else tuple)
    if origin in (dict, Mapping) and len(arguments) == 2 and arguments[0] in (str, ContextKind):
        return map_of(codecs[arguments[0]], _codec_of(arguments[1], codecs, limits))
    return JSON
