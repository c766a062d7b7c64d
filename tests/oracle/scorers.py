"""The Scorers chapters, and the folding of the Enumerations chapter."""

from __future__ import annotations

import math
import re
from datetime import timedelta
from numbers import Real
from typing import TYPE_CHECKING, Any

from pycupel import (
    BoostedScorer,
    CompositeScorer,
    DecayScorer,
    Exponential,
    FrequencyScorer,
    KindScorer,
    MetadataKeyScorer,
    MetadataTrustScorer,
    PriorityScorer,
    RecencyScorer,
    ReflexiveScorer,
    ScaledScorer,
    Step,
    TagScorer,
    Window,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pycupel import ContextItem

    Items = Sequence[ContextItem]

DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def fold(text: str) -> str:
    """Fold case as the Enumerations chapter says: the ASCII letters A to Z and no others (DM-09)."""
    folded = ""
    for letter in text:
        folded += chr(ord(letter) + 32) if "A" <= letter <= "Z" else letter
    return folded


def kind_key(kind: object) -> str:
    """Return what two kinds have in common that the Enumerations chapter calls equal."""
    return fold(str(kind))


def oracle_score(scorer: Any, item: ContextItem, all_items: Items) -> float:  # noqa: C901 - one case for one chapter
    """Scorers: Score(item, allItems) of any scorer; one that the specification does not know is asked itself."""
    match scorer:
        case RecencyScorer():
            return recency(item, all_items)
        case PriorityScorer():
            return priority(item, all_items)
        case KindScorer():
            return kind(item, scorer.weights)
        case TagScorer():
            return tag(item, scorer.tag_weights, case_insensitive=scorer.case_insensitive)
        case FrequencyScorer():
            return frequency(item, all_items)
        case ReflexiveScorer():
            return reflexive(item)
        case CompositeScorer():
            return composite(item, all_items, scorer.entries)
        case ScaledScorer():
            return scaled(item, all_items, scorer.inner)
        case MetadataTrustScorer():
            return metadata_trust(item, scorer.default_score)
        case MetadataKeyScorer():
            return metadata_key(item, scorer.key, scorer.value, scorer.boost)
        case DecayScorer():
            return decay(item, scorer)
        case BoostedScorer():
            return boosted(item, all_items, scorer.inner, scorer.boosts)
        case _:
            return float(scorer.score(item, all_items))


def recency(item: ContextItem, all_items: Items) -> float:
    """RecencyScorer: RECENCY-SCORE."""
    return rank_score(item.timestamp, [other.timestamp for other in all_items])


def priority(item: ContextItem, all_items: Items) -> float:
    """PriorityScorer: PRIORITY-SCORE, identical with priority in the place of timestamp."""
    return rank_score(item.priority, [other.priority for other in all_items])


def rank_score(own: Any, values: Sequence[Any]) -> float:
    """RecencyScorer: the body of RECENCY-SCORE."""
    if own is None:
        return 0.0
    count_with_value = 0
    rank = 0
    for value in values:
        if value is None:
            continue
        count_with_value += 1
        if value < own:
            rank += 1
    if count_with_value <= 1:
        return 1.0
    return rank / (count_with_value - 1)


def kind(item: ContextItem, weights: Mapping[Any, float]) -> float:
    """KindScorer: KIND-SCORE."""
    for configured, weight in weights.items():
        if kind_key(configured) == kind_key(item.kind):
            return float(weight)
    return 0.0


def tag(item: ContextItem, tag_weights: Mapping[str, float], *, case_insensitive: bool) -> float:
    """TagScorer: CONSTRUCT-TAG-SCORER's total in insertion order (TS-01), then TAG-SCORE; folded on request (DM-03)."""
    total_weight = 0.0
    for weight in tag_weights.values():
        total_weight += weight
    if total_weight == 0.0 or len(item.tags) == 0:
        return 0.0
    matched_sum = 0.0
    for item_tag in item.tags:
        for configured, weight in tag_weights.items():
            if item_tag == configured or (case_insensitive and fold(item_tag) == fold(configured)):
                matched_sum += weight
                break
    return min(matched_sum / total_weight, 1.0)


def frequency(item: ContextItem, all_items: Items) -> float:
    """FrequencyScorer: FREQUENCY-SCORE; every slot that holds this very object is skipped (FS-01)."""
    if len(item.tags) == 0 or len(all_items) <= 1:
        return 0.0
    matching_items = 0
    for other in all_items:
        if other is item:
            continue
        if len(other.tags) == 0:
            continue
        if shares_any_tag(item.tags, other.tags):
            matching_items += 1
    return matching_items / (len(all_items) - 1)


def shares_any_tag(tags_a: Sequence[str], tags_b: Sequence[str]) -> bool:
    """FrequencyScorer: SHARES-ANY-TAG, ASCII only (FS-02)."""
    return any(fold(a) == fold(b) for a in tags_a for b in tags_b)


def clamp(x: float, lo: float, hi: float) -> float:
    """ReflexiveScorer: lo if x < lo, hi if x > hi, and x otherwise."""
    return lo if x < lo else min(x, hi)


def reflexive(item: ContextItem) -> float:
    """ReflexiveScorer: REFLEXIVE-SCORE: null check, then finiteness, then clamp."""
    if item.future_relevance_hint is None or not math.isfinite(item.future_relevance_hint):
        return 0.0
    return clamp(item.future_relevance_hint, 0.0, 1.0)


def composite(item: ContextItem, all_items: Items, entries: Iterable[tuple[Any, float]]) -> float:
    """CompositeScorer: CONSTRUCT-COMPOSITE's weights, then COMPOSITE-SCORE, both summed left to right (PY-01)."""
    pairs = list(entries)
    total_weight = 0.0
    for _, weight in pairs:
        total_weight += weight
    result = 0.0
    for child, weight in pairs:
        result += oracle_score(child, item, all_items) * (weight / total_weight)
    return result


def scaled(item: ContextItem, all_items: Items, inner: Any) -> float:
    """ScaledScorer: SCALED-SCORE; 0.5 if the item is not found or its raw score is not finite (SS-01, SS-02)."""
    if len(all_items) == 0:
        return 0.5
    raw_score = math.nan
    lowest, highest = math.inf, -math.inf
    for other in all_items:
        s = oracle_score(inner, other, all_items)
        lowest, highest = min(lowest, s), max(highest, s)  # neither moves for NaN
        if other is item:
            raw_score = s
    if highest == lowest or not math.isfinite(raw_score):
        return 0.5
    return (raw_score - lowest) / (highest - lowest)


def metadata_trust(item: ContextItem, default_score: float) -> float:
    """MetadataTrustScorer: METADATA-TRUST-SCORE; numbers but not bool (MT-01), ASCII decimal strings (MT-02)."""
    if "cupel:trust" not in item.metadata:
        return default_score
    raw = item.metadata["cupel:trust"]
    if isinstance(raw, bool) or not isinstance(raw, Real | str):
        return default_score
    if isinstance(raw, str) and DECIMAL.fullmatch(raw) is None:
        return default_score
    try:
        value = float(raw)
    except OverflowError:
        return default_score
    return clamp(value, 0.0, 1.0) if math.isfinite(value) else default_score


def metadata_key(item: ContextItem, key: str, value: str, boost: float) -> float:
    """MetadataKeyScorer: METADATA-KEY-SCORE; a value that is not a string is compared as its str (MK-02)."""
    if key not in item.metadata:
        return 1.0
    raw = item.metadata[key]
    if raw is None:
        return 1.0
    text = raw if isinstance(raw, str) else str(raw)
    return boost if text == value else 1.0


def decay(item: ContextItem, config: DecayScorer) -> float:
    """DecayScorer: DECAY-SCORE; a negative age is zero before any curve sees it."""
    if item.timestamp is None:
        return config.null_timestamp_score
    provider: Any = config.time_provider
    age = provider.now() - item.timestamp
    return apply_curve(max(timedelta(0), age), config.curve)


def apply_curve(age: timedelta, curve: Any) -> float:
    """DecayScorer: EXPONENTIAL-CURVE, STEP-CURVE and WINDOW-CURVE, ages in seconds (DS-06)."""
    match curve:
        case Exponential():
            return math.pow(2.0, -age.total_seconds() / curve.half_life.total_seconds())
        case Step():
            for max_age, score in curve.windows:
                if max_age > age:
                    return score
            return curve.windows[-1][1]
        case Window():
            return 1.0 if age < curve.max_age else 0.0
        case _:
            raise TypeError(f"no chapter describes the curve {curve!r}")


def boosted(item: ContextItem, all_items: Items, inner: Any, boosts: Iterable[Any]) -> float:
    """BoostedScorer, an extension (CS-03): the inner score times each boost's score, left to right."""
    result = oracle_score(inner, item, all_items)
    for boost in boosts:
        result *= oracle_score(boost, item, all_items)
    return result
