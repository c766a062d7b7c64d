"""A policy and its dictionary.

The flat fields (`slicerType`, `knapsackBucketSize`, `quotas`, `placerType`) are those of the .NET implementation's
JSON. What they cannot say is said by an object: `slicer`, `placer`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pycupel.errors import CupelError, DocumentError, ScorerConfigError
from pycupel.model import OverflowStrategy
from pycupel.model.checks import wrong_type
from pycupel.pipeline import Policy
from pycupel.policies.built_in import PLACER, QUOTAS, SCORER, SLICER
from pycupel.policies.records import REQUIRED, Field, Record, snake
from pycupel.policies.strategies import CURVE, WEIGHTED_SCORERS, Named, Strategy
from pycupel.policies.values import BAD, FLAG_VALUE, POSITIVE_INTEGER, TEXT_VALUE, Choice, Problems, Schema
from pycupel.protocols import Scorer, Slicer
from pycupel.registry import PLACERS, SLICERS
from pycupel.scorers import CompositeScorer
from pycupel.slicers import GreedySlice, QuotaSlice, StreamSlice

__all__ = ["combined", "policy_from_dict", "policy_json_schema", "policy_to_dict"]

_OPTIONAL: Final = None

# The options of slicers that have a field of their own beside `slicerType`.
_FLAT_OPTIONS = {"knapsack": ("bucketSize", "knapsackBucketSize"), "stream": ("batchSize", "streamBatchSize")}

_POLICY = Record(
    Policy,
    (
        Field("name", "name", TEXT_VALUE, _OPTIONAL),
        Field("description", "description", TEXT_VALUE, _OPTIONAL),
        Field("scorers", "scorers", WEIGHTED_SCORERS, description="what ranks the items; weights are relative"),
        Field("slicerType", "slicer_type", Named(SLICERS), _OPTIONAL, "what drops items"),
        Field("knapsackBucketSize", "bucket_size", POSITIVE_INTEGER, _OPTIONAL, "only if slicerType is knapsack"),
        Field("streamBatchSize", "batch_size", POSITIVE_INTEGER, _OPTIONAL, "only if slicerType is stream"),
        Field("quotas", "quotas", QUOTAS, _OPTIONAL, "shares of the budget for kinds"),
        Field("slicer", "slicer", SLICER, _OPTIONAL, "a slicer with options that the other fields cannot express"),
        Field("placerType", "placer_type", Named(PLACERS), _OPTIONAL, "what orders the selection"),
        Field("placer", "placer", PLACER, _OPTIONAL, "a placer with options"),
        Field("deduplicationEnabled", "deduplication", FLAG_VALUE, _OPTIONAL),
        Field("dedupeAgainstPinned", "dedupe_against_pinned", FLAG_VALUE, _OPTIONAL),
        Field("overflowStrategy", "overflow_strategy", Choice(OverflowStrategy), _OPTIONAL),
    ),
)


def policy_from_dict(data: Mapping[str, Any]) -> Policy:
    """The policy that a dictionary describes.

    Raises:
        DocumentError: it describes none; `errors` holds all the mistakes, each with its path.
    """
    problems = Problems()
    try:
        policy = _read(data, problems)
    except RecursionError:
        policy = problems.add("", "is nested too deeply")
    if problems.found:
        raise combined(problems.found)
    return policy  # type: ignore[no-any-return]


def combined(errors: list[DocumentError]) -> DocumentError:
    """One error that holds them all."""
    if len(errors) == 1:
        return DocumentError(errors[0].args[0], path=errors[0].path, errors=errors)
    lines = "".join(f"\n  {error}" for error in errors)
    return DocumentError(f"there are {len(errors)} mistakes in the policy:{lines}", errors=errors)


def _read(data: Any, problems: Problems) -> Any:
    fields = _POLICY.read_fields(data, "", problems)
    if fields is BAD:
        return BAD
    slicer = _slicer(fields, problems)
    placer = _one_of(fields, "placer_type", "placer", PLACER, problems)
    if problems.found:
        return BAD
    entries = fields["scorers"]
    names = ("name", "description", "deduplication", "dedupe_against_pinned", "overflow_strategy")
    choices = {name: fields[name] for name in names if name in fields}
    parts = {"slicer": slicer, "placer": placer}
    try:
        # A single scorer is used as it is (CS-04, CV-12).
        scorer = entries[0][0] if len(entries) == 1 else CompositeScorer(entries)
        return Policy(scorer, **{name: part for name, part in parts.items() if part is not None}, **choices)
    except (CupelError, TypeError) as error:
        return problems.add("scorers" if isinstance(error, ScorerConfigError) else _POLICY.blamed(error), str(error))


def _one_of(fields: dict[str, Any], name: str, whole: str, strategy: Strategy, problems: Problems) -> Any:
    """A strategy by name, or as an object; None if there is neither."""
    if name in fields and whole in fields:
        return problems.add(whole, f"cannot be combined with {whole}Type; write its type into the object")
    if whole in fields or fields.get(name, BAD) is BAD:
        return fields.get(whole)
    chosen = fields[name]
    required = [field.name for field in strategy.record(strategy.registry[chosen]).fields if field.default is REQUIRED]
    if required:
        options = f'"type": "{chosen}", "{required[0]}": ...'
        return problems.add(f"{whole}Type", f'needs options; write it as an object: "{whole}": {{{options}}}')
    return strategy.read({"type": chosen}, f"{whole}Type", problems)


def _slicer(fields: dict[str, Any], problems: Problems) -> Any:
    """The slicer that the flat fields describe, or the object."""
    options = {name: fields[name] for name in ("bucket_size", "batch_size") if name in fields}
    for slicer_type, (option, field) in _FLAT_OPTIONS.items():
        if snake(option) in options and fields.get("slicer_type") not in (slicer_type, BAD):
            problems.add(field, f"can only be specified when slicerType is {slicer_type}")
    if "slicer" in fields and "quotas" in fields:
        return problems.add("quotas", "cannot be combined with slicer; write them into the object")
    slicer = _one_of(fields, "slicer_type", "slicer", SLICER, problems)
    quotas = fields.get("quotas")
    if isinstance(slicer, StreamSlice) and quotas:
        return problems.add("quotas", "cannot be combined with slicerType stream, which does not wait for all items")
    if problems.found:
        return BAD
    if options:
        slicer = replace(slicer, **options)
    try:
        return QuotaSlice(quotas, GreedySlice() if slicer is None else slicer) if quotas else slicer
    except (CupelError, TypeError) as error:
        return problems.add("quotas", str(error))


def policy_to_dict(policy: Policy) -> dict[str, Any]:
    """The policy in its canonical form: camelCase, what is not set omitted.

    Raises:
        DocumentError: something in it has no name in a file, because it is not registered.
    """
    if not isinstance(policy, Policy):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("policy", "a Policy", policy)
    try:
        return _write(policy)
    except RecursionError:
        raise DocumentError("is nested too deeply") from None


def _write(policy: Policy) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for name in ("name", "description"):
        if getattr(policy, name) is not None:
            document[name] = TEXT_VALUE.write(getattr(policy, name), name)
    document["scorers"] = WEIGHTED_SCORERS.write(_scorer_entries(policy.scorer), "scorers")
    document |= _write_slicer(policy.slicer)
    document |= _write_placer(policy.placer)
    document["deduplicationEnabled"] = policy.deduplication
    if policy.dedupe_against_pinned:
        document["dedupeAgainstPinned"] = True
    document["overflowStrategy"] = policy.overflow_strategy.value
    return document


def _scorer_entries(scorer: Scorer) -> Sequence[tuple[Scorer, float]]:
    """One entry stands for that scorer alone, so a composite of one has to be written as what it is."""
    if type(scorer) is CompositeScorer and len(scorer.entries) > 1:
        return scorer.entries
    return [(scorer, 1.0)]


def _write_slicer(slicer: Slicer) -> dict[str, Any]:
    """The flat fields if they suffice."""
    whole = SLICER.write(slicer, "slicer")
    quotas = whole.get("entries") if whole.keys() <= {"type", "entries", "inner"} and whole["type"] == "quota" else None
    flat = _flat(whole.get("inner", {"type": "greedy"}) if quotas else whole)
    if flat is None or (quotas and flat["slicerType"] == "stream"):
        return {"slicer": whole}
    return {**flat, "quotas": quotas} if quotas else flat


def _flat(slicer: dict[str, Any]) -> dict[str, Any] | None:
    option, field = _FLAT_OPTIONS.get(slicer["type"], ("type", "slicerType"))
    names = {"type": "slicerType", option: field}
    return {names[name]: value for name, value in slicer.items()} if slicer.keys() <= names.keys() else None


def _write_placer(placer: Any) -> dict[str, Any]:
    whole = PLACER.write(placer, "placer")
    return {"placerType": whole["type"]} if len(whole) == 1 else {"placer": whole}


def policy_json_schema() -> Schema:
    """A JSON Schema (2020-12) of policy documents, with the strategies that are registered at this moment."""
    definitions = {strategy.registry.what: strategy.definition() for strategy in (SCORER, SLICER, PLACER, CURVE)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Cupel policy",
        **_POLICY.schema(),
        "$defs": definitions,
    }
