"""Codecs of objects: from a table of fields, or derived from a class."""

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

from pycupel.codecs.base import (
    JSON,
    BuildError,
    Codec,
    Context,
    Schema,
    as_object,
    choice,
    constructor_error,
    key_step,
    limited,
    list_of,
    map_of,
    must_be,
)
from pycupel.errors import CupelError, DocumentError, InvalidArgumentError
from pycupel.model import ContextKind
from pycupel.model.checks import suggestion
from pycupel.text import quoted, shortened

REQUIRED: Final[Any] = object()
"""The default of a field that must be present."""

OPTIONAL: Final[Any] = object()
"""The default of a field that may be absent, but is always written."""


class Implied:
    """The default of a field that depends on the other fields of the value."""

    def __init__(self, by: Callable[[Any], Any]) -> None:
        self.by = by


def snake(name: str) -> str:
    """Convert `metadataTrust` to `metadata_trust`. A name like `BM25` stays unchanged."""
    return re.sub(r"(?<=[a-z0-9])[A-Z]", lambda match: f"_{match[0].lower()}", name)


def camel(name: str) -> str:
    """Convert `metadata_trust` to `metadataTrust`."""
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


class Field:
    """A field of an object.

    Args:
        name: The name in the document, in camelCase or snake_case. The other spelling is read, too.
        codec: The codec of the value.
        default: REQUIRED, OPTIONAL, or the default value. A field with its default value is not written.
        description: The description in the schema, or a function that finds it when a schema is made.
        attribute: The name of the constructor's parameter and of the attribute; by default, `name` in snake_case.
    """

    __slots__ = ("attribute", "codec", "default", "description", "name", "other", "spellings")

    def __init__(
        self,
        name: str,
        codec: Codec,
        default: Any = REQUIRED,
        description: str | Callable[[], str] = "",
        attribute: str = "",
    ) -> None:
        words = snake(name)
        other = camel(name) if words == name else words
        self.name = name
        self.other = "" if other == name else other
        self.spellings = (name, other) if self.other else (name,)
        self.codec = codec
        self.default = default
        self.description = description
        self.attribute = attribute or words


class Record(Codec):
    """A codec for objects with named fields. Null means absent; absent fields get the constructor's defaults.

    Args:
        build: Builds the value. It is called with the fields that are present, as keyword arguments.
        fields: The fields, in the order in which they are written.
        other_keys: Keys of the same object that another codec reads.
        related_keys: Keys of related objects, which are not taken for misspellings. Each maps to the error message
            that rejects it, or to an empty string if it is ignored.
        fast_read: Reads common dicts faster, and ignores unknown fields. For any other dict, it returns None or raises
            a DocumentError, and the dict is read field by field.
        check: Returns mistakes that involve several fields. A field that is wrong by itself is None.
    """

    def __init__(
        self,
        build: Callable[..., Any],
        fields: Iterable[Field],
        *,
        other_keys: Collection[str] = (),
        related_keys: Mapping[str, str] | None = None,
        fast_read: Callable[[dict[Any, Any], Context], Any] | None = None,
        check: Callable[[Mapping[str, Any]], Iterable[DocumentError]] | None = None,
    ) -> None:
        super().__init__(self._schema, self._read, self._write)
        self._build = build
        self.fields = tuple(fields)
        self._fast_read = fast_read
        self._check = check
        self._type: Any = build if isinstance(build, type) else object
        self._names = (*other_keys, *(field.name for field in self.fields))
        self._known = {*other_keys, *(name for field in self.fields for name in field.spellings)}
        self._related_keys: Mapping[str, str] = {} if related_keys is None else related_keys

    def _read(self, value: Any, context: Context) -> Any:
        if self._fast_read is not None and type(value) is dict and not (context.strict or context.suggest):
            try:
                made = self._fast_read(value, context)  # pyright: ignore[reportUnknownArgumentType] - from outside
            except DocumentError:
                made = None
            if made is not None:
                return made
        data = as_object(value)
        arguments = self._arguments(data, context)
        try:
            return self._build(**arguments)
        except (DocumentError, RecursionError):
            raise
        except (CupelError, TypeError, ValueError) as error:
            if context.as_raised:
                raise
            raise constructor_error(error, self._field_of(error, data)) from error
        except Exception as error:
            raise BuildError(error) from error
        except SystemExit as error:
            # A plug-in must not end the program.
            raise DocumentError(f"raised {shortened(error)} when it was built") from error

    def _arguments(self, data: Mapping[Any, Any], context: Context) -> dict[str, Any]:
        """Read the fields that are present, by attribute."""
        mistakes: list[DocumentError] = []
        if (context.strict or context.suggest) and not self._known.issuperset(data):
            self._check_names(data, context, mistakes)
        arguments: dict[str, Any] = {}
        for field in self.fields:
            name, other = field.name, field.other
            given, problem = data.get(name), ""
            if other and (alternative := data.get(other)) is not None:
                problem = "" if given is None else f"is given twice: also as {other}"
                name, given = other, alternative
            elif given is None and field.default is REQUIRED:
                problem = f"is missing{self._misspelt(name, data, context)}"
            if problem:
                context.note(DocumentError(problem), field.name, mistakes)
                arguments[field.attribute] = None
            elif given is not None:
                arguments[field.attribute] = context.attempt(field.codec.read, given, name, mistakes)
        if self._check is not None:
            mistakes += self._check(arguments)
        context.raise_all(mistakes)
        return arguments

    def _misspelt(self, name: str, data: Mapping[Any, Any], context: Context) -> str:
        """Return a hint if an unknown key is probably a misspelling of a missing field."""
        # With `suggest`, the key has a mistake of its own.
        unknown = () if context.suggest else [key for key in data if key not in self._known]
        meant = next((key for key in unknown if suggestion(key, [name])), None)
        return "" if meant is None else f"; {quoted(meant)} is unknown: did you mean {name!r}?"

    def _check_names(self, data: Mapping[Any, Any], context: Context, mistakes: list[DocumentError]) -> None:
        for key, value in data.items():
            if key in self._known:
                continue
            if context.strict:
                problem = f"unknown field; expected one of {', '.join(self._names)}"
            elif key in self._related_keys:
                problem = "" if value is None else self._related_keys[key]
            else:
                near = suggestion(key, self._names)
                problem = near and f"unknown field{near}"
            if problem:
                context.note(DocumentError(problem), key_step(key), mistakes)

    def _field_of(self, error: Exception, data: Mapping[Any, Any]) -> str:
        """Return the name of the field that an error of the constructor is about, as it is spelled in the document."""
        argument = getattr(error, "argument", None)
        for field in self.fields:
            if field.attribute == argument:
                return next((each for each in field.spellings if data.get(each) is not None), field.name)
        return ""

    def _write(self, value: Any, context: Context) -> dict[str, Any]:
        if not isinstance(value, self._type):
            raise must_be(f"of type {self._type.__name__}", value)
        document: dict[str, Any] = {}
        mistakes: list[DocumentError] = []
        for field in self.fields:
            part, default = getattr(value, field.attribute), field.default
            if isinstance(default, Implied):
                default = default.by(value)
            if default is REQUIRED or (part is not default and part != default):
                document[field.name] = context.attempt(field.codec.write, part, field.name, mistakes)
        context.raise_all(mistakes)
        return document

    def _schema(self) -> Schema:
        """Return a schema with both spellings of each field. A required field needs one of them."""
        properties: Schema = {}
        for field in self.fields:
            description = field.description() if callable(field.description) else field.description
            described = {"description": description} if description else {}
            for name in field.spellings:
                properties[name] = {**field.codec.schema(), **described}
        required = [
            {"anyOf": [{"required": [name]} for name in field.spellings]}
            for field in self.fields
            if field.default is REQUIRED
        ]
        return {"type": "object", "properties": properties, **({"allOf": required} if required else {})}


# Derive the fields of an object from the parameters of the class or function that builds it.


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
