"""A policy and its dictionary.

The flat fields (`slicerType`, `knapsackBucketSize`, `quotas`, `placerType`) are those of the .NET implementation's
JSON. What they cannot express is an object: `slicer`, `placer`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pycupel.codecs.base import INVALID, BuildError, Codec, Context, Schema, attempt, raise_mistakes
from pycupel.codecs.records import Field, Record, snake
from pycupel.codecs.scalars import FLAG, TEXT, choice
from pycupel.errors import CupelError, DocumentError
from pycupel.model import OverflowStrategy
from pycupel.pipeline import Policy
from pycupel.pipeline.policy import PresetName, as_policy
from pycupel.policies.built_in import CURVE, PLACER, QUOTAS, SCORER, SLICER, WEIGHTED_SCORERS
from pycupel.policies.strategies import SHORTENER, SHORTENER_OR_NAME, ByName
from pycupel.policies.values import POSITIVE_INTEGER
from pycupel.protocols import Scorer
from pycupel.registry import SLICERS
from pycupel.scorers import CompositeScorer
from pycupel.slicers import GreedySlice, QuotaSlice, StreamSlice

__all__ = ["combined", "policy_from_dict", "policy_json_schema", "policy_to_dict"]

_READING = Context(collect=True, suggest=True)
_WRITING = Context()

# The options of slicers that have a field of their own beside `slicerType`.
_FLAT_OPTIONS = {"knapsack": ("bucketSize", "knapsackBucketSize"), "stream": ("batchSize", "streamBatchSize")}

# Pairs of fields of which a document may have only one.
_CONFLICTS = {
    ("slicer", "slicer_type"): "cannot be combined with slicerType; write its type into the object",
    ("quotas", "slicer"): "cannot be combined with slicer; write them into the object",
    ("placer", "placer_type"): "cannot be combined with placerType; write its type into the object",
}

_POLICY = Record(
    Policy,
    [
        Field("name", TEXT, None),
        Field("description", TEXT, None),
        Field("scorers", WEIGHTED_SCORERS, description="what ranks the items; weights are relative"),
        Field("slicerType", ByName(SLICER), None, "what drops items"),
        Field("knapsackBucketSize", POSITIVE_INTEGER, None, "only if slicerType is knapsack", "bucket_size"),
        Field("streamBatchSize", POSITIVE_INTEGER, None, "only if slicerType is stream", "batch_size"),
        Field("quotas", QUOTAS, None, "shares of the budget for kinds"),
        Field("slicer", SLICER, None, "a slicer with options that the other fields cannot express"),
        Field("placerType", ByName(PLACER), None, "what orders the selection"),
        Field("placer", PLACER, None, "a placer with options"),
        Field("deduplicationEnabled", FLAG, None, attribute="deduplication"),
        Field("dedupeAgainstPinned", FLAG, None),
        Field("overflowStrategy", choice(OverflowStrategy), None),
        Field("shorten", SHORTENER_OR_NAME, None, "what makes shorter versions of items: a name, or an object"),
    ],
)
# What a policy has under the same name.
_PLAIN = ("name", "description", "deduplication", "dedupe_against_pinned", "overflow_strategy", "shorten")


def policy_from_dict(data: Mapping[str, Any]) -> Policy:
    """Return the policy that a dictionary describes.

    Args:
        data: The dictionary. Fields may be spelled `slicerType` or `slicer_type`; null means absent.

    Raises:
        DocumentError: it does not describe a policy; `errors` holds all the mistakes, each with its path.
    """
    try:
        return _read(data)
    except BuildError as error:
        failure = error
    except DocumentError as error:
        raise combined(error.errors or (error,)) from None
    except RecursionError:
        raise combined([DocumentError("is nested too deeply")]) from None
    # An error in the code of a plug-in: its own traceback is needed.
    failure.cause.add_note(f"This happened while {failure.path} of a policy document was built.")
    raise failure.cause


def combined(errors: Sequence[DocumentError]) -> DocumentError:
    """One error that holds all the mistakes of a document."""
    if len(errors) == 1:
        return DocumentError(errors[0].args[0], path=errors[0].path, errors=errors)
    lines = "".join(f"\n  {error}" for error in errors)
    return DocumentError(f"there are {len(errors)} mistakes in the policy:{lines}", errors=errors)


def _read(data: Any) -> Policy:
    mistakes: list[DocumentError] = []
    fields = _POLICY.read_fields(data, _READING, mistakes)
    _check_combination(fields, mistakes)
    raise_mistakes(mistakes)
    # A single scorer is used as it is (CS-04, CV-12).
    entries = fields["scorers"]
    scorer = entries[0][0] if len(entries) == 1 else _build("scorers", CompositeScorer, entries)
    parts = {"slicer": _slicer(fields), "placer": fields.get("placer", fields.get("placer_type"))}
    parts |= {name: fields.get(name) for name in _PLAIN}
    policy: Policy = _build("", Policy, scorer, **{name: part for name, part in parts.items() if part is not None})
    return policy


def _build(path: str, build: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    try:
        return build(*arguments, **options)
    except (CupelError, TypeError) as error:
        raise DocumentError(str(error), path=path or _POLICY.failing_field(error)) from error


def _check_combination(fields: dict[str, Any], mistakes: list[DocumentError]) -> None:
    named = fields.get("slicer_type")
    for slicer_type, (option, field) in _FLAT_OPTIONS.items():
        if snake(option) in fields and named is not INVALID and type(named) is not SLICERS[slicer_type]:
            mistakes.append(DocumentError(f"can only be specified when slicerType is {slicer_type}", path=field))
    for (field, other), text in _CONFLICTS.items():
        if field in fields and other in fields:
            mistakes.append(DocumentError(text, path=field))
    if isinstance(named, StreamSlice) and fields.get("quotas"):
        text = "cannot be combined with slicerType stream, which does not wait for all items"
        mistakes.append(DocumentError(text, path="quotas"))


def _slicer(fields: dict[str, Any]) -> Any:
    """The slicer that the flat fields describe, or the object; None if there is neither."""
    slicer: Any = fields.get("slicer", fields.get("slicer_type"))
    options = {name: fields[name] for name in ("bucket_size", "batch_size") if name in fields}
    if options:
        slicer = replace(slicer, **options)
    quotas = fields.get("quotas")
    return _build("quotas", QuotaSlice, quotas, GreedySlice() if slicer is None else slicer) if quotas else slicer


def policy_to_dict(policy: Policy | PresetName) -> dict[str, Any]:
    """Return a policy in its canonical form: camelCase, what is not set omitted.

    Args:
        policy: A policy, a pipeline, or the name of a preset.

    Raises:
        TypeError: it is neither.
        DocumentError: a part of it has no name in a file, because it is not registered.
    """
    try:
        return _write(as_policy(policy))
    except RecursionError:
        raise DocumentError("is nested too deeply") from None


def _write(policy: Policy) -> dict[str, Any]:
    def at(path: str, codec: Codec, value: Any) -> Any:
        return attempt(codec.write, value, path, _WRITING, [])

    document = {
        name: at(name, TEXT, getattr(policy, name))
        for name in ("name", "description")
        if getattr(policy, name) is not None
    }
    document["scorers"] = at("scorers", WEIGHTED_SCORERS, _scorer_entries(policy.scorer))
    document |= _flat_slicer(at("slicer", SLICER, policy.slicer))
    placer = at("placer", PLACER, policy.placer)
    document |= {"placerType": placer["type"]} if len(placer) == 1 else {"placer": placer}
    document["deduplicationEnabled"] = policy.deduplication
    if policy.dedupe_against_pinned:
        document["dedupeAgainstPinned"] = True
    document["overflowStrategy"] = policy.overflow_strategy.value
    if policy.shorten is not None:
        document["shorten"] = at("shorten", SHORTENER_OR_NAME, policy.shorten)
    return document


def _scorer_entries(scorer: Scorer) -> Sequence[tuple[Scorer, float]]:
    """One entry stands for that scorer alone, so a composite of one is written as a composite."""
    if type(scorer) is CompositeScorer and len(scorer.entries) > 1:
        return scorer.entries
    return [(scorer, 1.0)]


def _flat_slicer(whole: dict[str, Any]) -> dict[str, Any]:
    """The flat fields, if they can express the slicer; otherwise the object."""
    quotas = whole.get("entries") if whole.keys() <= {"type", "entries", "inner"} and whole["type"] == "quota" else None
    flat = _flat_fields(whole.get("inner", {"type": "greedy"}) if quotas else whole)
    if flat is None or (quotas and flat["slicerType"] == "stream"):
        return {"slicer": whole}
    return {**flat, "quotas": quotas} if quotas else flat


def _flat_fields(slicer: dict[str, Any]) -> dict[str, Any] | None:
    option, field = _FLAT_OPTIONS.get(slicer["type"], ("type", "slicerType"))
    names = {"type": "slicerType", option: field}
    return {names[name]: value for name, value in slicer.items()} if slicer.keys() <= names.keys() else None


def policy_json_schema() -> Schema:
    """Return a JSON Schema (2020-12) of policy documents, with the strategies that are registered at this moment.

    An installed plug-in is in it by name; its options are, too, once it has been imported.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Cupel policy",
        **_POLICY.schema(),
        "$defs": {
            strategy.registry.what: strategy.definition() for strategy in (SCORER, SLICER, PLACER, SHORTENER, CURVE)
        },
    }
