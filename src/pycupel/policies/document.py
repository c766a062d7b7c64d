"""A policy and its dictionary.

The flat fields (`slicerType`, `knapsackBucketSize`, `quotas`, `placerType`) are those of the .NET implementation's
JSON. A strategy that they cannot express is an object: `slicer`, `placer`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from pycupel.codecs.base import INVALID, BuildError, Context, Schema, adapted
from pycupel.codecs.containers import list_of
from pycupel.codecs.records import Field, Record, snake
from pycupel.codecs.scalars import FLAG, TEXT, choice
from pycupel.errors import CupelError, DocumentError
from pycupel.model import OverflowStrategy
from pycupel.pipeline import Policy
from pycupel.pipeline.policy import PresetName, as_policy
from pycupel.policies.built_in import CURVE, PLACER, SCORER, SHORTENER, SLICER, WEIGHTED_SCORERS
from pycupel.policies.strategies import ByName, NameOrObject
from pycupel.policies.values import POSITIVE_INTEGER, QUOTA_ENTRY
from pycupel.registry import SLICERS
from pycupel.scorers import CompositeScorer
from pycupel.slicers import GreedySlice, QuotaSlice, StreamSlice

_READING = Context(collect=True, suggest=True)

# The options of slicers that have a field of their own beside `slicerType`.
_FLAT_OPTIONS = {"knapsack": ("bucketSize", "knapsackBucketSize"), "stream": ("batchSize", "streamBatchSize")}

# Pairs of fields of which a document may have only one.
_CONFLICTS = {
    ("slicer", "slicer_type"): "cannot be combined with slicerType; write its type into the object",
    ("quotas", "slicer"): "cannot be combined with slicer; write them into the object",
    ("placer", "placer_type"): "cannot be combined with placerType; write its type into the object",
}


def _scorer_of(entries: Any) -> Any:
    # A single scorer is used as it is (CS-04, CV-12).
    return entries[0][0] if len(entries) == 1 else CompositeScorer(entries)


def _entries_of(scorer: Any) -> Any:
    # A single entry means that scorer itself, so a composite of one scorer is written as a composite.
    is_several = type(scorer) is CompositeScorer and len(scorer.entries) > 1
    return scorer.entries if is_several else [(scorer, 1.0)]


def _policy(
    scorers: Any, *, slicer_type: Any = None, quotas: Any = None, placer_type: Any = None, **fields: Any
) -> Policy:
    """Build the policy from the fields that are present."""
    slicer = slicer_type
    sizes = {name: fields.pop(name) for name in ("bucket_size", "batch_size") if name in fields}
    if sizes:
        slicer = replace(slicer, **sizes)
    if quotas:
        try:
            slicer = QuotaSlice(quotas, GreedySlice() if slicer is None else slicer)
        except (CupelError, TypeError) as error:
            raise DocumentError(str(error), path="quotas") from error
    if slicer is not None:
        fields["slicer"] = slicer
    if placer_type is not None:
        fields["placer"] = placer_type
    return Policy(scorers, **fields)


def _conflicts(fields: dict[str, Any]) -> Iterator[DocumentError]:
    """The mistakes across fields."""
    named = fields.get("slicer_type")
    for slicer_type, (option, field) in _FLAT_OPTIONS.items():
        if snake(option) in fields and named is not INVALID and type(named) is not SLICERS[slicer_type]:
            yield DocumentError(f"can only be specified when slicerType is {slicer_type}", path=field)
    for (field, other), text in _CONFLICTS.items():
        if field in fields and other in fields:
            yield DocumentError(text, path=field)
    if isinstance(named, StreamSlice) and fields.get("quotas"):
        text = "cannot be combined with slicerType stream, which does not wait for all items"
        yield DocumentError(text, path="quotas")


_SCORERS = adapted(WEIGHTED_SCORERS, read=_scorer_of, write=_entries_of)
_SHORTEN = NameOrObject(SHORTENER, "shorten")

_POLICY = Record(
    _policy,
    [
        Field("name", TEXT, None),
        Field("description", TEXT, None),
        Field("scorers", _SCORERS, description="what ranks the items; weights are relative"),
        Field("slicerType", ByName(SLICER, "slicer"), None, "what drops items"),
        Field("knapsackBucketSize", POSITIVE_INTEGER, None, "only if slicerType is knapsack", "bucket_size"),
        Field("streamBatchSize", POSITIVE_INTEGER, None, "only if slicerType is stream", "batch_size"),
        Field("quotas", list_of(QUOTA_ENTRY), None, "shares of the budget for kinds"),
        Field("slicer", SLICER, None, "a slicer with options that the other fields cannot express"),
        Field("placerType", ByName(PLACER, "placer"), None, "what orders the selection"),
        Field("placer", PLACER, None, "a placer with options"),
        Field("deduplicationEnabled", FLAG, None, attribute="deduplication"),
        Field("dedupeAgainstPinned", FLAG, False),
        Field("overflowStrategy", choice(OverflowStrategy), None),
        Field("shorten", _SHORTEN, None, "what makes shorter versions of items: a name, or an object"),
    ],
    check=_conflicts,
)


def policy_from_dict(data: Mapping[str, Any]) -> Policy:
    """Return the policy that a dictionary describes.

    Args:
        data: The dictionary. Fields may be spelled `slicerType` or `slicer_type`; null means absent.

    Raises:
        DocumentError: it does not describe a policy; `errors` holds all the mistakes, each with its path.
    """
    try:
        policy: Policy = _POLICY.read(data, _READING)
    except BuildError as error:
        failure = error
    except DocumentError as error:
        raise combined(error) from None
    except RecursionError:
        raise combined(DocumentError("is nested too deeply")) from None
    else:
        return policy
    # An error in the code of a plug-in: its own traceback is needed.
    failure.cause.add_note(f"This happened while {failure.path or 'the whole'} of a policy document was built.")
    raise failure.cause


def combined(error: DocumentError) -> DocumentError:
    """The error for a whole document. Its text and `errors` list all mistakes, even if there is only one."""
    errors = error.errors or (error,)
    if len(errors) == 1:
        return DocumentError(errors[0].args[0], path=errors[0].path, errors=errors)
    lines = "".join(f"\n  {each}" for each in errors)
    return DocumentError(f"there are {len(errors)} mistakes in the policy:{lines}", errors=errors)


def policy_to_dict(policy: Policy | PresetName) -> dict[str, Any]:
    """Return a policy in its canonical form: camelCase, what is not set omitted.

    Args:
        policy: A policy, a pipeline, or the name of a preset.

    Raises:
        TypeError: it is neither.
        DocumentError: a part of it has no name in a file, because it is not registered.
    """
    whole = as_policy(policy)
    # Fields that only a document has are absent.
    values = SimpleNamespace(**{field.attribute: getattr(whole, field.attribute, None) for field in _POLICY.fields})
    values.scorers = whole.scorer
    try:
        document = _POLICY.write(values, Context())
    except RecursionError:
        raise DocumentError("is nested too deeply") from None
    document |= _flat_slicer(document.pop("slicer"))
    if len(document["placer"]) == 1:
        document["placerType"] = document.pop("placer")["type"]
    return {field.name: document[field.name] for field in _POLICY.fields if field.name in document}


def _flat_slicer(whole: dict[str, Any]) -> dict[str, Any]:
    """The flat fields if they can express the slicer, otherwise the object."""
    quotas = whole.get("entries") if whole.keys() <= {"type", "entries", "inner"} and whole["type"] == "quota" else None
    slicer = whole.get("inner", {"type": "greedy"}) if quotas else whole
    option, field = _FLAT_OPTIONS.get(slicer["type"], ("type", "slicerType"))
    names = {"type": "slicerType", option: field}
    if not slicer.keys() <= names.keys() or (quotas and slicer["type"] == "stream"):
        return {"slicer": whole}
    flat = {names[name]: value for name, value in slicer.items()}
    return {**flat, "quotas": quotas} if quotas else flat


def policy_json_schema() -> Schema:
    """Return a JSON Schema (2020-12) of policy documents, with the strategies that are registered now.

    It has the names of all installed plug-ins, and the options of those that have been imported.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Cupel policy",
        **_POLICY.schema(),
        "$defs": {
            strategy.registry.what: strategy.definition() for strategy in (SCORER, SLICER, PLACER, SHORTENER, CURVE)
        },
    }
