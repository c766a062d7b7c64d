"""Convert policies to and from dictionaries.

The flat fields (`slicerType`, `knapsackBucketSize`, `quotas`, `placerType`) are those of the .NET implementation's
JSON. A strategy that they cannot express is written as an object: `slicer`, `placer`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from pycupel.codecs.base import FLAG, TEXT, BuildError, Context, Schema, adapted, choice, constructor_error, map_of
from pycupel.codecs.records import OPTIONAL, Field, Record, snake
from pycupel.errors import CupelError, DocumentError
from pycupel.model import OverflowStrategy
from pycupel.model.budget import checked_limits, checked_model_name
from pycupel.pipeline import Policy
from pycupel.pipeline.policy import NORMALIZED, PresetName, as_policy
from pycupel.policies.strategies import (
    PLACER,
    POSITIVE_INTEGER,
    QUOTAS,
    SHORTENER,
    SLICER,
    STRATEGIES,
    WEIGHTED_SCORERS,
    by_name,
    name_or_object,
)
from pycupel.registry import SLICERS
from pycupel.scorers import CompositeScorer
from pycupel.slicers import GreedySlice, QuotaSlice, StreamSlice

_READING = Context(collect=True, suggest=True)

# How many mistakes the text of an error lists.
_MAX_LISTED = 50

# The slicer options that have their own field beside `slicerType`.
_FLAT_OPTIONS = {"knapsack": ("bucketSize", "knapsackBucketSize"), "stream": ("batchSize", "streamBatchSize")}

# Pairs of fields that a document must not combine.
_CONFLICTS = {
    ("slicer", "slicer_type"): "cannot be combined with slicerType; set the type in the object",
    ("quotas", "slicer"): "cannot be combined with slicer; set the entries in the object",
    ("placer", "placer_type"): "cannot be combined with placerType; set the type in the object",
}


def _build_policy(
    scorers: Any, *, slicer_type: Any = None, quotas: Any = None, placer_type: Any = None, **fields: Any
) -> Policy:
    """Build the policy from the fields that are present."""
    # `slicerType` names the slicer, and the sizes beside it are its options, as .NET writes them.
    slicer = slicer_type
    sizes = {name: fields.pop(name) for name in ("bucket_size", "batch_size") if name in fields}
    if sizes:
        slicer = replace(slicer, **sizes)
    if quotas:
        try:
            slicer = QuotaSlice(quotas, GreedySlice() if slicer is None else slicer)
        except (CupelError, TypeError) as error:
            is_inner = getattr(error, "argument", None) == "inner"
            raise constructor_error(error, "slicerType" if is_inner else "quotas") from error
    if slicer is not None:
        fields["slicer"] = slicer
    if placer_type is not None:
        fields["placer"] = placer_type
    enabled = fields.pop("deduplication_enabled", True)
    fields.setdefault("deduplication", enabled)
    return Policy(scorers, **fields)


def _conflicts(fields: Mapping[str, Any]) -> Iterator[DocumentError]:
    """Find mistakes that involve several fields. A field that is wrong by itself is None."""
    slicer = fields.get("slicer_type", "")
    for slicer_type, (option, field) in _FLAT_OPTIONS.items():
        if snake(option) in fields and slicer is not None and type(slicer) is not SLICERS[slicer_type]:
            yield DocumentError(f"can only be specified when slicerType is {slicer_type}", path=field)
    for (field, other), text in _CONFLICTS.items():
        if field in fields and other in fields:
            yield DocumentError(text, path=field)
    if fields.get("deduplication_enabled") is False and fields.get("deduplication") is not None:
        yield DocumentError("needs deduplicationEnabled: true", path="deduplication")
    if isinstance(slicer, StreamSlice) and fields.get("quotas", ()) != ():
        text = "cannot be combined with slicerType stream, which does not wait for all items"
        yield DocumentError(text, path="quotas")


# Where `slicerType` names the slicer, its options look as if they belonged beside it.
_MISPLACED = dict.fromkeys(SLICER.related_keys, "is an option of a slicer; set it in an object, slicer")

_SCORERS = adapted(
    WEIGHTED_SCORERS,
    # A single scorer is used without a composite (CS-04, CV-12), so a composite of one is an entry of its own.
    read=lambda entries: entries[0][0] if len(entries) == 1 else CompositeScorer(entries),
    write=lambda scorer: (
        scorer.entries if type(scorer) is CompositeScorer and len(scorer.entries) > 1 else [(scorer, 1.0)]
    ),
)
_SHORTEN = name_or_object(SHORTENER, "shorten")

_MODEL = adapted(TEXT, read=lambda name: checked_model_name("a model's name", name), pattern=r"\S")
_LIMITS = Record(
    checked_limits,
    [
        Field("window", POSITIVE_INTEGER, description="the tokens of a prompt and its reply together"),
        Field("input", POSITIVE_INTEGER, OPTIONAL, "the tokens of a prompt; by default the window"),
        Field("output", POSITIVE_INTEGER, None, "the tokens of a reply"),
    ],
)

_POLICY = Record(
    _build_policy,
    [
        Field("name", TEXT, None),
        Field("description", TEXT, None),
        Field("scorers", _SCORERS, description="the scorers, which rank items; weights are relative"),
        Field("slicerType", by_name(SLICER, "slicer"), None, "the slicer, which selects the items that fit"),
        Field("knapsackBucketSize", POSITIVE_INTEGER, None, "only if slicerType is knapsack", "bucket_size"),
        Field("streamBatchSize", POSITIVE_INTEGER, None, "only if slicerType is stream", "batch_size"),
        Field("quotas", QUOTAS, None, "the shares of the budget for each kind"),
        Field("slicer", SLICER, None, "a slicer with options that the other fields cannot express"),
        Field("placerType", by_name(PLACER, "placer"), None, "the placer, which orders the selected items"),
        Field("placer", PLACER, None, "a placer with options"),
        Field("deduplicationEnabled", FLAG, None),
        Field("deduplication", choice([NORMALIZED]), None, "also drops documents that differ in case or white space"),
        Field("dedupeAgainstPinned", FLAG, False),
        Field("overflowStrategy", choice(OverflowStrategy), None),
        Field("shorten", _SHORTEN, None, "the shortener, which offers shorter versions of items: a name or an object"),
        Field("models", map_of(_MODEL, _LIMITS), {}, "the limits of models by name, for calls with this policy"),
    ],
    related_keys=_MISPLACED,
    check=_conflicts,
)


def policy_from_dict(data: Mapping[str, Any]) -> Policy:
    """Return the policy that a dictionary describes.

    Args:
        data: The dictionary. Fields may be spelled `slicerType` or `slicer_type`; null means absent.

    Raises:
        DocumentError: it does not describe a valid policy; `errors` lists all mistakes, each with its path.
    """
    try:
        policy: Policy = _POLICY.read(data, _READING)
    except BuildError as error:
        failure = error
    except DocumentError as error:
        raise combine_mistakes(error) from None
    except RecursionError:
        raise combine_mistakes(DocumentError("is nested too deeply")) from None
    else:
        return policy
    # Raise the original error, because its traceback leads into the code of the plug-in.
    failure.cause.add_note(f"Raised while building {failure.path or 'the whole'} of a policy document.")
    raise failure.cause


def combine_mistakes(error: DocumentError) -> DocumentError:
    """Return the error for a whole document: `errors` has all mistakes, even if there is only one."""
    errors = error.errors or (error,)
    hint = hint_of(errors)
    if len(errors) == 1:
        return DocumentError(errors[0].args[0], path=errors[0].path, errors=errors, hint=hint)
    lines = "".join(f"\n  {each}" for each in errors[:_MAX_LISTED])
    if len(errors) > _MAX_LISTED:
        lines += f"\n  and {len(errors) - _MAX_LISTED:,} more"
    return DocumentError(f"there are {len(errors):,} mistakes in the policy:{lines}", errors=errors, hint=hint)


def hint_of(errors: Iterable[DocumentError]) -> str | None:
    """Return the first hint of several errors: one is enough for the whole document."""
    return next((note for each in errors for note in getattr(each, "__notes__", ())), None)


def policy_to_dict(policy: Policy | PresetName) -> dict[str, Any]:
    """Return a policy as a dictionary, in the canonical form: camelCase, without unset fields.

    Raises:
        DocumentError: a part of the policy cannot be written, for example because it is not registered.
    """
    whole = as_policy(policy)
    # Fields that exist only in documents are None.
    values = SimpleNamespace(**{field.attribute: getattr(whole, field.attribute, None) for field in _POLICY.fields})
    values.scorers = whole.scorer
    # Other implementations read the flag, and do not know the name.
    values.deduplication_enabled = bool(whole.deduplication)
    values.deduplication = None if isinstance(whole.deduplication, bool) else whole.deduplication
    try:
        document = _POLICY.write(values, Context())
    except RecursionError:
        raise DocumentError("is nested too deeply") from None
    document |= _flat_slicer(document.pop("slicer"))
    if len(document["placer"]) == 1:
        document["placerType"] = document.pop("placer")["type"]
    return {field.name: document[field.name] for field in _POLICY.fields if field.name in document}


def _flat_slicer(whole: dict[str, Any]) -> dict[str, Any]:
    """Return the flat fields if they can express the slicer, otherwise the object."""
    quotas = whole.get("entries") if whole.keys() <= {"type", "entries", "inner"} and whole["type"] == "quota" else None
    slicer = whole.get("inner", {"type": "greedy"}) if quotas else whole
    option, field = _FLAT_OPTIONS.get(slicer["type"], ("type", "slicerType"))
    names = {"type": "slicerType", option: field}
    if not slicer.keys() <= names.keys() or (quotas and slicer["type"] == "stream"):
        return {"slicer": whole}
    flat = {names[name]: value for name, value in slicer.items()}
    return {**flat, "quotas": quotas} if quotas else flat


def policy_json_schema() -> Schema:
    """Return a JSON Schema (2020-12) for policy documents, with the strategies that are registered now.

    It includes the names of all installed plug-ins, but only the options of those that have been imported.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Cupel policy",
        **_POLICY.schema(),
        "$defs": {strategy.registry.what: strategy.definition() for strategy in STRATEGIES},
    }
