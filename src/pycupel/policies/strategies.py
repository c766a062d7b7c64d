"""The strategies of policy documents: their names, and their options as fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from math import nextafter
from typing import Any, NamedTuple

from pycupel import placers, scorers, slicers
from pycupel.codecs.base import (
    FINITE,
    FLAG,
    INTEGER,
    KIND,
    TEXT,
    Codec,
    Context,
    Schema,
    adapted,
    choice,
    limited,
    list_of,
    map_of,
    must_be,
)
from pycupel.codecs.records import DERIVED, OPTIONAL, REQUIRED, Field, Implied, Record, camel, derive_fields, snake
from pycupel.errors import DocumentError, InvalidArgumentError
from pycupel.model import ContextKind, CountQuotaEntry, QuotaEntry, ScarcityBehavior
from pycupel.model.checks import name_key, suggestion
from pycupel.model.kind import ScarcityLike
from pycupel.protocols import Placer, Scorer, Shortener, Slicer, TimeProvider
from pycupel.registry import CLOCKS, CURVES, PLACERS, SCORERS, SHORTENERS, SLICERS, Registry
from pycupel.scorers.decay import Curve
from pycupel.scorers.similarity import SimilarityScorer
from pycupel.slicers.quota import redistributes
from pycupel.text import one_line, quoted, shortened

_RESERVED = ("type", "weight")


def registered_name(registry: Registry) -> Codec:
    """Return a codec for the entries of a registry, written as their names."""
    what = registry.what

    def read(value: Any, _: Context) -> Any:
        if not isinstance(value, str):
            raise must_be(f"the name of a {what}", value)
        if registry.canonical_name(value) is None:
            near = suggestion(value, registry)
            own = (
                f"For a {what} of your own, pass --import MODULE to the command line, import the module that registers "
                f"it, or install a package with the entry point in {registry.group}."
            )
            problem = f"unknown {what} {quoted(value)}; choose from {', '.join(registry)}{near}"
            raise DocumentError(problem, hint=None if near else own)
        return registry[value]

    def write(value: Any, _: Context) -> str:
        name = registry.name_of(value)
        if name is not None:
            return name
        if value is SimilarityScorer:
            raise DocumentError(
                "a SimilarityScorer contains a function, which cannot be written to a file; save the policy "
                "without it, and add it after loading"
            )
        raise DocumentError(
            f"{_qualname(value)} is not a registered {what}, so a file cannot "
            f"name it; register it with pycupel.registry.{what.upper()}S.register(name, ...)"
        )

    def schema() -> Schema:
        # The usual spellings, for completion in editors. Others are read, too.
        return {"enum": [spelling for name in registry for spelling in _spellings(name)]}

    return Codec(schema, read, write)


def _qualname(value: Any) -> str:
    return one_line(getattr(value, "__qualname__", "")) or shortened(value, 200)


def _spellings(name: str) -> list[str]:
    """Return the usual spellings of a name: `metadataTrust`, `metadata_trust` and `metadata-trust`."""
    words = snake(name).replace("-", "_")
    return list(dict.fromkeys((name, camel(words), words, words.replace("_", "-"))))


# A class of a strategy in a sentence, such as `a KindScorer` or `QuotaSlice(..., redistribute=True)`.
_IN_SENTENCES = re.compile(r"(?<!['\w])(?:an? )?([A-Z]\w+?)(Scorer|Slice|Placer)\b(?:\(((?:[^()]|\([^()]*\))*)\))?")
_PACKAGES: Mapping[str, tuple[Registry, Any]] = {
    "Scorer": (SCORERS, scorers),
    "Slice": (SLICERS, slicers),
    "Placer": (PLACERS, placers),
}


def name_as_in_policies(sentence: str) -> str:
    """Return the sentence for users of policy files: `GreedySlice(best_first=True)` is one with `bestFirst` true."""
    return _IN_SENTENCES.sub(_name_one, sentence)


def _name_one(found: re.Match[str]) -> str:
    registry, package = _PACKAGES[found[2]]
    name = registry.name_of(getattr(package, f"{found[1]}{found[2]}", None))
    if name is None:
        return found[0]
    given: list[str] = []
    for option in (found[3] or "").split(", "):
        key, _, value = option.partition("=")
        if value:
            given.append(f"with {quoted(_field_name(key))}{'' if value == '...' else f' {value.lower()}'}")
        elif key.endswith(")"):
            given.append(f"around {name_as_in_policies(key)}")
    return " ".join([f"the {registry.what} {quoted(name)}", *given])


def _field_name(name: str) -> str:
    """Return the name of a parameter in documents: camelCase, unless that cannot be converted back."""
    return camel(name) if snake(camel(name)) == name else name


class Strategy(Codec):
    """A codec for objects with a `type`. Their other fields are the parameters of the class that the type names.

    `types` has the codec for each type of parameter; `other_keys` are keys of the object that are not options.
    """

    def __init__(self, registry: Registry, types: Mapping[Any, Codec], *other_keys: str) -> None:
        super().__init__(self._schema, self._read, self._write)
        self.registry = registry
        self.name = registered_name(registry)
        self.related_keys: dict[str, str] = {}
        """Options that other types have. Each maps to the error message that rejects it; if empty, it is ignored."""
        self._types = types
        self._type = Record(dict, [Field("type", self.name)])
        self._other_keys = ("type", *other_keys)
        # Keyed by id, because a plug-in may not be hashable.
        self._built_in: dict[int, Record] = {}

    def define(self, cls: type[Any], *fields: Field, build: Callable[..., Any] | None = None, **codecs: Codec) -> None:
        """Define a built-in type, with the fields and codecs that its signature does not fully describe.

        Fields that only documents have are for `build`, which builds the value instead of the class.
        """
        own = (Field(_field_name(name), codec, attribute=name) for name, codec in codecs.items())
        record = self._built_in[id(cls)] = self._derived(cls, *fields, *own, build=build)
        self.related_keys |= {name: "" for field in record.fields for name in field.spellings}

    def record(self, cls: Any) -> Record:
        """Return the codec for the options of a registered class."""
        return self._built_in.get(id(cls)) or self._derived(cls)

    def _derived(self, cls: Any, *fields: Field, build: Any = None) -> Record:
        derived = derive_fields(cls, self._types, fields, spell=_field_name)
        parameters = {field.attribute for field in derived}
        derived += [field for field in fields if field.attribute not in parameters]
        for field in derived:
            if field.attribute in _RESERVED:
                raise InvalidArgumentError(
                    f"{shortened(cls, 200)} has a parameter {field.attribute!r}, which is a reserved name in policy "
                    "files"
                )
        # A field of another type is not a misspelling: .NET writes the fields of all types.
        return Record(build or cls, derived, other_keys=self._other_keys, related_keys=self.related_keys)

    def _read(self, value: Any, context: Context) -> Any:
        if not isinstance(value, Mapping):
            raise must_be("an object with a type", value)
        # Read the type first, because it decides which other fields are allowed.
        return self.record(self._type.read(value, Context())["type"]).read(value, context)

    def _write(self, value: Any, context: Context) -> dict[str, Any]:
        name = self.name.write(type(value), context)
        try:
            return {"type": name, **self.record(type(value)).write(value, context)}
        except AttributeError as error:
            text = f"{_qualname(type(value))} does not store its options as attributes: {error}"
            raise DocumentError(text) from error
        except (DocumentError, RecursionError):
            raise
        except Exception as error:
            # For example, from the `__eq__` of an option.
            raise DocumentError(f"{_qualname(type(value))} cannot be written: {shortened(error, 200)}") from error

    def _schema(self) -> Schema:
        """Return a reference to the definition in `$defs`."""
        return {"$ref": f"#/$defs/{self.registry.what}"}

    def definition(self) -> Schema:
        """Return the schema of all types registered now, for the `$defs` of a document's schema."""

        def named(names: Schema) -> Schema:
            return {"properties": {"type": names}, "required": ["type"]}

        cases = [{"if": named({"enum": _spellings(name)}), "then": self._fields_schema(name)} for name in self.registry]
        return {"type": "object", **named(self.name.schema()), "allOf": cases}

    def _fields_schema(self, name: str) -> Schema:
        # A plug-in that cannot be loaded or used in a file must not break the schema of the others.
        with suppress(Exception):
            entry = self.registry.get_imported(name)
            return {} if entry is None else self.record(entry).schema()
        return {}


def by_name(strategy: Strategy, field: str) -> Codec:
    """Return a codec for strategies written as a name, such as `slicerType`; `field` takes them as objects."""

    def read(value: Any, context: Context) -> Any:
        record = strategy.record(strategy.name.read(value, context))
        for option in record.fields:
            if option.default is REQUIRED:
                name = strategy.registry.canonical_name(value)
                example = f'"{field}": {{"type": "{name}", "{option.name}": ...}}'
                raise DocumentError(f"needs options; write it as an object: {example}")
        return record.read({}, context)

    return Codec(strategy.name.schema, read, strategy.write)


def name_or_object(strategy: Strategy, field: str) -> Codec:
    """Return a codec for strategies written as an object, or as a name if they need no options."""
    named = by_name(strategy, field)

    def read(value: Any, context: Context) -> Any:
        return (named if isinstance(value, str) else strategy).read(value, context)

    def write(value: Any, context: Context) -> Any:
        document = strategy.write(value, context)
        return document["type"] if len(document) == 1 else document

    return Codec(lambda: {"anyOf": [named.schema(), strategy.schema()]}, read, write)


# The codecs of strategies and their options, with the details that the signatures of the built-in ones lack.


# The weight of a scorer in a composite, which checks it itself.
_WEIGHT = limited(FINITE, above=0)
POSITIVE_INTEGER = limited(INTEGER, above=0)

# The longest duration that both a float and a `timedelta` can express.
_LONGEST = nextafter(timedelta.max.total_seconds(), 0)


def _number_of_seconds(duration: timedelta) -> float:
    seconds = duration.total_seconds()
    if seconds > _LONGEST or timedelta(seconds=seconds) != duration:
        raise DocumentError(f"{duration!r} cannot be written exactly as a number of seconds")
    return seconds


_SECONDS = adapted(
    limited(FINITE, low=1e-6, high=_LONGEST, above=0),
    read=lambda seconds: timedelta(seconds=seconds),
    write=_number_of_seconds,
)


# The codec for each type of option. Strategies are added below: options may be strategies, too.
_TYPES: dict[Any, Codec] = {
    bool: FLAG,
    int: INTEGER,
    float: FINITE,
    str: TEXT,
    ContextKind: KIND,
    ContextKind | str: KIND,
    timedelta: _SECONDS,
    ScarcityLike: choice(ScarcityBehavior),
}


def _limits(cls: type[Any], least: Field, most: Field, build: Callable[..., Any]) -> Record:
    """Return the codec of a kind with a lower and an upper limit. Errors use the names of the file's fields."""
    kind, *limits = derive_fields(
        cls, _TYPES, (Field("kind", DERIVED, description="the kind of the items"), least, most)
    )
    if limits[0].attribute != least.attribute:
        limits.reverse()

    def check(given: Mapping[str, Any]) -> Iterator[DocumentError]:
        low, high = given.get(least.attribute), given.get(most.attribute)
        if low is not None and high is not None and low > high:
            low, high = (limit.codec.write(each, Context()) for limit, each in zip(limits, (low, high), strict=True))
            yield DocumentError(
                f"{least.name} ({shortened(low)}) must not exceed {most.name} ({shortened(high)})", path=least.name
            )

    return Record(build, [kind, *limits], check=check)


def _quota_entry(kind: Any, **shares: float) -> QuotaEntry:
    # Unlike in Python, a share is required (QS-10).
    if not shares:
        raise DocumentError("needs minPercent, maxPercent or both")
    return QuotaEntry(kind, **shares)


_TYPES[QuotaEntry] = _limits(
    QuotaEntry,
    Field("minPercent", DERIVED, OPTIONAL, "the minimum share of the budget for the kind", "require"),
    Field("maxPercent", DERIVED, OPTIONAL, "the maximum share of the budget for the kind", "cap"),
    _quota_entry,
)
_TYPES[CountQuotaEntry] = _limits(
    CountQuotaEntry,
    Field("requireCount", DERIVED, description="the minimum number of selected items"),
    Field("capCount", DERIVED, description="the maximum number of selected items"),
    CountQuotaEntry,
)
QUOTAS = list_of(_TYPES[QuotaEntry])

_SCORER = Strategy(SCORERS, _TYPES, "weight")
SLICER = Strategy(SLICERS, _TYPES)
PLACER = Strategy(PLACERS, _TYPES)
SHORTENER = Strategy(SHORTENERS, _TYPES)
_CURVE = Strategy(CURVES, _TYPES)
STRATEGIES = (_SCORER, SLICER, PLACER, SHORTENER, _CURVE)
_CLOCK = registered_name(CLOCKS)


def _read_weighted(value: Any, context: Context) -> Any:
    """Read an object as a `(scorer, weight)` pair, as `CompositeScorer` takes it."""
    mistakes: list[DocumentError] = []
    scorer, weight = context.attempt(_SCORER.read, value, "", mistakes), 1.0
    if isinstance(value, Mapping) and value.get("weight") is not None:  # pyright: ignore[reportUnknownMemberType]
        weight = context.attempt(_WEIGHT.read, value["weight"], "weight", mistakes)
    context.raise_all(mistakes)
    return scorer, weight


def _write_weighted(value: Any, context: Context) -> dict[str, Any]:
    scorer, weight = value
    document = _SCORER.write(scorer, context)
    return {"type": document.pop("type"), "weight": _WEIGHT.write(weight, context), **document}


_WEIGHTED = Codec(
    lambda: {"allOf": [_SCORER.schema(), {"properties": {"weight": _WEIGHT.schema()}}]}, _read_weighted, _write_weighted
)
WEIGHTED_SCORERS = list_of(_WEIGHTED, at_least=1)

# An inner scorer is written with a weight, which other implementations require, but ignore.
_INNER = Codec(_SCORER.schema, _SCORER.read, lambda scorer, context: _write_weighted((scorer, 1.0), context))
_TYPES.update(
    {Scorer: _INNER, Slicer: SLICER, Placer: PLACER, Shortener: SHORTENER, Curve: _CURVE, TimeProvider: _CLOCK}
)


class _Window(NamedTuple):
    max_age_seconds: timedelta
    score: float


# A window is a pair in the curve, but an object in the document.
_WINDOW = adapted(
    Record(_Window, [Field("maxAgeSeconds", _SECONDS), Field("score", limited(FINITE, 0, 1))]), write=_Window._make
)

_CURVE.define(scorers.Exponential, Field("halfLifeSeconds", _SECONDS, attribute="half_life"))
_CURVE.define(scorers.Window, Field("maxAgeSeconds", _SECONDS, attribute="max_age"))
_CURVE.define(scorers.Step, windows=list_of(_WINDOW, at_least=1))


def _reject_query(_value: Any, _context: Context) -> Any:
    raise DocumentError("a query belongs to a call, not to a policy; pass query= to select or Pipeline.run")


_NO_QUERY = Codec(lambda: {"type": "null"}, _reject_query, _reject_query)
_INNER_SCORER = Field("innerScorer", _INNER, attribute="inner")
_KIND_WEIGHTS = Field(
    "kindWeights", map_of(KIND, limited(FINITE, low=0)), scorers.KindScorer().weights, attribute="weights"
)
_TIME = Field("time", _CLOCK, description="The name of the clock that ages are measured by.", attribute="time_provider")


def _saved(instead: str) -> Callable[[Any], Any]:
    """Return a check that an option is not a function, and that says what to pass instead."""

    def check(option: Any) -> Any:
        if callable(option):
            raise DocumentError(f"a function cannot be written to a file; pass {instead} instead")
        return option

    return check


_BY = adapted(TEXT, write=_saved("a name, such as metadata:KEY,"))


# Not as null, which means absent.
_GROUPS = Codec(lambda: {"enum": ["auto", "none"]}, TEXT.read, lambda by, _: "none" if by is None else by)

_SCORER.define(scorers.RecencyScorer)
_SCORER.define(scorers.ReflexiveScorer, by=_GROUPS)
_SCORER.define(scorers.FusedScorer, by=_BY)
_SCORER.define(scorers.TagScorer)
_SCORER.define(scorers.MetadataTrustScorer)
_SCORER.define(scorers.MetadataKeyScorer)
_SCORER.define(scorers.RelevanceScorer, query=_NO_QUERY)
_SCORER.define(scorers.KindScorer, _KIND_WEIGHTS)
_SCORER.define(scorers.ScaledScorer, _INNER_SCORER)
_SCORER.define(scorers.BoostedScorer, _INNER_SCORER)
_SCORER.define(scorers.CompositeScorer, Field("scorers", WEIGHTED_SCORERS, attribute="entries"))
_SCORER.define(scorers.DecayScorer, _TIME)

# Options of other types are ignored, except an inner scorer, which other implementations reject, too.
_INNER_ONLY = "is only valid for scaled and boosted; remove it or change the type"
_SCORER.related_keys |= dict.fromkeys(_INNER_SCORER.spellings, _INNER_ONLY)


def _read_limit(value: Any, context: Context) -> Any:
    if not isinstance(value, str):
        return POSITIVE_INTEGER.read(value, context)
    if name_key(value) != "unlimited":
        raise must_be('an integer or "unlimited"', value)
    return None


# Not as null, which means absent, and which TOML does not have.
_LIMIT = Codec(
    lambda: {"anyOf": [POSITIVE_INTEGER.schema(), {"const": "unlimited"}]},
    _read_limit,
    lambda value, context: "unlimited" if value is None else POSITIVE_INTEGER.write(value, context),
)
_MAX_CELLS = Field("maxCells", _LIMIT, description='The maximum number of candidates times buckets, or "unlimited".')

SLICER.define(slicers.KnapsackSlice, _MAX_CELLS)
SLICER.define(slicers.GreedySlice)
SLICER.define(slicers.MinScoreSlice)
SLICER.define(slicers.StreamSlice)


def _define_quotas(cls: type[Any], entry: Any, cap: Field, *fields: Field, **codecs: Codec) -> None:
    """Define a quota slicer. The entry for all other values is a field beside the list of entries."""
    # Only the cap: nothing can be required of every value.
    (limit,) = [
        Field(cap.name, each.codec, description=cap.description, attribute=each.attribute)
        for each in derive_fields(entry, _TYPES)
        if each.attribute == cap.attribute
    ]
    named = adapted(list_of(_TYPES[entry]), write=lambda entries: [each for each in entries if not each.is_each])
    every = Field("each", Record(entry.each, [limit]), None, "The cap of every value that no entry names.")

    def build(entries: Any, *, each: Any = None, **options: Any) -> Any:
        return cls(entries if each is None else [*entries, each], **options)

    SLICER.define(cls, every, *fields, build=build, entries=named, by=_BY, **codecs)


_define_quotas(
    slicers.QuotaSlice,
    QuotaEntry,
    Field("maxPercent", DERIVED, attribute="cap", description="the maximum share of the budget for each value"),
    Field("redistribute", FLAG, Implied(redistributes)),
)
_MOST = Field("capCount", DERIVED, description="the maximum number of selected items of each value")
_define_quotas(slicers.CountQuotaSlice, CountQuotaEntry, _MOST)
_define_quotas(
    slicers.CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    _MOST,
    knapsack=Record(slicers.KnapsackSlice, SLICER.record(slicers.KnapsackSlice).fields),
)


_KINDS = adapted(list_of(KIND), write=_saved("kinds"))

PLACER.define(placers.ChronologicalPlacer)
PLACER.define(
    placers.FramedPlacer,
    Field("first", _KINDS, description="The kinds to place at the start."),
    Field("last", _KINDS, description="The kinds to place at the end."),
)
PLACER.define(placers.PromptPlacer, query=_NO_QUERY)
