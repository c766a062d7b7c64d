"""Scorers that read one field of an item: its time, priority, kind, tags, hint or metadata."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from numbers import Real
from typing import Any, ClassVar, Literal

from pycupel.errors import ScorerConfigError
from pycupel.kernels.scores import integer_rank_shares, overlap_counts, rank_shares
from pycupel.model import ContextItem, ContextKind
from pycupel.model.checks import (
    SHARE,
    STRING,
    argument_of,
    as_float,
    checked_bool,
    checked_mapping,
    checked_str,
    duplicate_kind,
    finite_number,
    fold,
    inside,
    one_of,
)
from pycupel.scorers._base import CONVERSATION, CheckedScorer, score_of
from pycupel.text import quoted, shown
from pycupel.values import FrozenDict, brief_repr, hold, record_repr, sealed

_WEIGHTS = "a mapping from names to weights"


def checked_weight(what: str, where: str, value: Any, least: str = "non-negative") -> float:
    """Check for a finite weight that is `least`. `what` begins the specification's sentence; `where` is the entry."""
    weight = as_float(where, value)
    is_low = weight < 0.0 or (weight == 0.0 and least == "positive")
    if isfinite(weight) and not is_low:
        return weight
    message = f"{what} must be {least if is_low else 'finite'}"
    raise ScorerConfigError(message, argument=argument_of(where), value=weight, hint=f"{where} is {weight}")


_Undated = Literal["oldest", "position"]


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class RecencyScorer(CheckedScorer):
    """The rank of the timestamp: the newest item scores 1.0, the oldest 0.0, and items without a timestamp 0.0.

    Equal timestamps have equal scores. Only the order counts, not the time between items; for that, use `DecayScorer`.
    """

    undated: _Undated = field(default="oldest", metadata=one_of(_Undated))
    """What to do if no item has a timestamp.

    "oldest" gives all of them 0.0, as the specification says. "position" treats messages and tool outputs as a
    conversation in order: the last scores 1.0, the first 0.0; other items have no order and score 0.0.
    """

    __repr__ = brief_repr

    @property
    def reads(self) -> str | None:
        """The field without which every item has the same score, if there is one."""
        return "timestamp" if self.undated == "oldest" else None

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        """Return the rank of the item's timestamp, from 0 to 1."""
        if self.undated == "position" and all(other.timestamp is None for other in (item, *all_items)):
            return score_of(item, all_items, RecencyScorer.score_all(self, all_items))
        return _rank_share(item.timestamp, [other.timestamp for other in all_items])

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        stamps = [item.timestamp for item in items]
        if self.undated == "position" and not any(stamps):
            conversation = [id(item) for item in items if item.kind.key in CONVERSATION]
            others = len(conversation) - 1
            # An object that occurs several times is as new as its last occurrence.
            shares = {item: i / others if others else 1.0 for i, item in enumerate(conversation)}
            return [shares.get(id(item), 0.0) for item in items]
        return rank_shares(stamps)


def _rank_share(value: Any, others: Sequence[Any]) -> float:
    """Return the share of the other known values that are lower; None is unknown, and scores 0."""
    if value is None:
        return 0.0
    known = [other for other in others if other is not None]
    return sum([other < value for other in known]) / (len(known) - 1) if len(known) > 1 else 1.0


@sealed
@dataclass(frozen=True, slots=True)
class PriorityScorer:
    """The rank of the priority: the highest scores 1.0, the lowest 0.0, and items without a priority 0.0.

    Equal priorities have equal scores.
    """

    reads: ClassVar[str] = "priority"

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        """Return the rank of the item's priority, from 0 to 1."""
        return _rank_share(item.priority, [other.priority for other in all_items])

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        return integer_rank_shares([item.priority for item in items])


DEFAULT_WEIGHTS: FrozenDict[ContextKind, float] = FrozenDict(
    {
        ContextKind.SYSTEM_PROMPT: 1.0,
        ContextKind.MEMORY: 0.8,
        ContextKind.TOOL_OUTPUT: 0.6,
        ContextKind.DOCUMENT: 0.4,
        ContextKind.MESSAGE: 0.2,
    }
)


@sealed
@dataclass(frozen=True, slots=True, init=False)
class KindScorer:
    """The weight of the item's kind; 0.0 for a kind without a weight."""

    weights: Mapping[ContextKind, float] = field(metadata=inside(low=0.0))
    """A weight of 0 or more for each kind; it may exceed 1.

    Kinds may be plain strings. Default: system prompt 1.0, memory 0.8, tool output 0.6, document 0.4, message 0.2.
    """

    _by_key: dict[str, float] = field(init=False, repr=False, compare=False)

    def __init__(self, weights: Mapping[ContextKind, float] | Mapping[str, float] | None = None) -> None:
        checked: dict[ContextKind, float] = {}
        for name, weight in checked_mapping(
            "weights", _WEIGHTS, DEFAULT_WEIGHTS if weights is None else weights
        ).items():
            kind = ContextKind.of(name, "weights: kind")
            if kind in checked:
                raise duplicate_kind("weights", kind.value, ScorerConfigError)
            checked[kind] = checked_weight("Weight for kind", f"weights[{quoted(kind.value)}]", weight)
        hold(self, weights=FrozenDict(checked), _by_key={kind.key: weight for kind, weight in checked.items()})

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:  # noqa: ARG002 - absolute
        """Return the weight of the item's kind."""
        return self.weights.get(item.kind, 0.0)

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        weight_of = self._by_key.get
        return [weight_of(item.kind.key, 0.0) for item in items]

    def __repr__(self) -> str:
        weights = "" if self.weights == DEFAULT_WEIGHTS else f"weights={shown(self.weights)}"
        return f"{type(self).__name__}({weights})"


@sealed
@dataclass(frozen=True, slots=True, init=False)
class TagScorer:
    """The weight of the item's tags, divided by the weight of all tags; at most 1.0.

    A tag that an item has twice counts twice.
    """

    reads: ClassVar[str] = "tags"

    tag_weights: Mapping[str, float] = field(metadata=inside(low=0.0))
    """A weight of 0 or more for each tag. Tags without a weight do not count."""

    case_insensitive: bool
    """Whether tags are compared without regard to ASCII case."""

    _lookup: dict[str, float] = field(init=False, repr=False, compare=False)
    _total: float = field(init=False, repr=False, compare=False)

    __repr__ = record_repr

    def __init__(self, tag_weights: Mapping[str, float], *, case_insensitive: bool = False) -> None:
        folds = checked_bool("case_insensitive", case_insensitive)
        weights: dict[str, float] = {}
        lookup: dict[str, float] = {}
        total = 0.0
        for name, value in checked_mapping("tag_weights", _WEIGHTS, tag_weights).items():
            tag = checked_str("tag_weights: tag", name)
            weight = checked_weight("Tag weight", f"tag_weights[{quoted(tag)}]", value)
            key = fold(tag) if folds else tag
            if key in lookup:
                message = f"tag_weights: duplicate tag {quoted(tag)} (with case_insensitive=True)"
                raise ScorerConfigError(message, argument="tag_weights", value=tag)
            weights[tag] = lookup[key] = weight
            total += weight
        if not isfinite(total):
            raise ScorerConfigError("the sum of tag_weights must be finite", argument="tag_weights")
        hold(self, tag_weights=FrozenDict(weights), case_insensitive=folds, _lookup=lookup, _total=total)

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:  # noqa: ARG002 - absolute
        """Return the weight of the item's tags as a share of all weights."""
        if self._total == 0.0 or len(item.tags) == 0:
            return 0.0
        matched_sum = 0.0
        for tag in item.tags:
            matched_sum += self._lookup.get(fold(tag) if self.case_insensitive else tag, 0.0)
        return min(matched_sum / self._total, 1.0)

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        return [self.score(item, items) if item.tags else 0.0 for item in items]


@sealed
@dataclass(frozen=True, slots=True)
class FrequencyScorer:
    """The share of the other items that have a tag in common: 1.0 if all have, 0.0 if none has or there are no tags.

    Tags are compared without regard to ASCII case.
    """

    reads: ClassVar[str] = "tags"

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        """Return the share of the other items that have a tag in common with this one."""
        if len(item.tags) == 0 or len(all_items) <= 1:
            return 0.0
        own = set(map(fold, item.tags))
        others = [other for other in all_items if other is not item]
        return sum([not own.isdisjoint(map(fold, other.tags)) for other in others]) / (len(all_items) - 1)

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        others = len(items) - 1
        if others <= 0:
            return [0.0] * len(items)
        counts = overlap_counts([item.tags for item in items], fold)
        # An item does not count as its own peer, however often it occurs.
        if len(set(map(id, items))) == len(items):
            return [(count - 1) / others if count else 0.0 for count in counts]
        occurrences = Counter(map(id, items))
        return [
            (count - occurrences[id(item)]) / others if count else 0.0
            for item, count in zip(items, counts, strict=True)
        ]


_Rescale = Literal["never", "auto"]
_Groups = Literal["auto", "none"]


def _checked_groups(name: str, value: Any, error: Any) -> str | None:
    # Files cannot say None, so "none" is the same.
    group = None if value is None else one_of(_Groups)["check"](name, value, error)
    return None if group == "none" else group


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class ReflexiveScorer(CheckedScorer):
    """The item's `future_relevance_hint`, limited to the range from 0 to 1; 0.0 if it is absent or not finite.

    Use it for scores that you already have: those of a retriever or a reranker, or a model's opinion.
    """

    reads: ClassVar[str] = "future_relevance_hint"

    rescale: _Rescale = field(default="never", metadata=one_of(_Rescale))
    """"never" clamps, as the specification says.

    "auto" is for hints of any scale, such as raw BM25, cosines or logits: if any hint is outside [0, 1], all are
    scaled, so that the smallest is 0 and the largest 1.
    """

    by: Literal["auto"] | None = field(default="auto", metadata={"check": _checked_groups})
    """Whether "auto" looks for several retrievers, whose hints cannot be compared if their scales differ.

    "auto" fuses their ranks then, as a `FusedScorer` does. Items are from several retrievers if
    `metadata["retriever"]` says so, or if they have two to five sources with at least three hints each. None takes all
    hints as they are.
    """

    __repr__ = brief_repr

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        """Return the item's hint, from 0 to 1."""
        if self.rescale == "auto":
            return score_of(item, all_items, ReflexiveScorer.score_all(self, all_items))
        return _clamped(item.future_relevance_hint)

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        hints = [item.future_relevance_hint for item in items]
        if self.rescale == "auto":
            low, high = hint_range(hints)
            # Hints from -1 to 1 have one scale, whoever they are from.
            if self.by is not None and (low < -1.0 or high > 1.0):
                # Few programs have several retrievers.
                from pycupel.scorers.fusing import finite_hints, fused_hints  # noqa: PLC0415

                fused = fused_hints(items, finite_hints(items))
                if fused is not None:
                    return fused
            hints = rescaled(hints, low, high)
        return [hint if hint is not None and 0.0 <= hint <= 1.0 else _clamped(hint) for hint in hints]


def hint_range(hints: Iterable[float | None]) -> tuple[float, float]:
    """Return the smallest and the largest finite hint; 0 and 0 if there is none."""
    finite = [hint for hint in hints if hint is not None and isfinite(hint)]
    return min(finite, default=0.0), max(finite, default=0.0)


def rescaled(hints: list[float | None], smallest: float, largest: float) -> list[float | None]:
    """Apply min-max scaling to the finite hints if one of them is outside [0, 1]."""
    if smallest >= 0.0 and largest <= 1.0:
        return hints
    # Use halves, because the difference of two floats can overflow.
    low, span = smallest / 2, largest / 2 - smallest / 2
    return [hint if hint is None or not isfinite(hint) else (hint / 2 - low) / span if span else 0.5 for hint in hints]


def _clamped(hint: float | None) -> float:
    if hint is None or not isfinite(hint) or hint < 0.0:
        return 0.0
    return min(hint, 1.0)


# Python's float() would also accept spaces, underscores and the digits of other scripts (MT-02).
_DECIMAL = re.compile(r"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")


@sealed
@dataclass(frozen=True, slots=True)
class MetadataTrustScorer(CheckedScorer):
    """`metadata["cupel:trust"]`, a number or a decimal string, limited to the range from 0 to 1."""

    reads: ClassVar[str] = "metadata"
    key: ClassVar[str] = "cupel:trust"

    default_score: float = field(default=0.5, metadata=SHARE)
    """The score of items without a valid trust value, from 0 to 1."""

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:  # noqa: ARG002 - absolute
        """Return the item's trust value, or `default_score`."""
        value = _as_number(item.metadata.get(self.key))
        if value is None or not isfinite(value):
            return self.default_score
        return 0.0 if value < 0.0 else min(value, 1.0)

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        return [self.score(item, items) if item.metadata else self.default_score for item in items]


def _as_number(raw: Any) -> float | None:
    if isinstance(raw, str):
        return float(raw) if _DECIMAL.fullmatch(raw) else None
    if isinstance(raw, bool) or not isinstance(raw, Real):
        return None
    try:
        return float(raw)
    except Exception:  # noqa: BLE001 - beyond floats, or a user's number that raises
        return None


_NEUTRAL = 1.0


@sealed
@dataclass(frozen=True, slots=True)
class MetadataKeyScorer(CheckedScorer):
    """A multiplier: `boost` where `metadata[key]` is `value`, else 1.0.

    A `CompositeScorer` averages it like any score; to multiply, use it in a `BoostedScorer`.
    """

    reads: ClassVar[str] = "metadata"

    key: str = field(metadata=STRING)
    """The metadata key."""

    value: str = field(metadata=STRING)
    """The value to match. Values other than strings are compared by their `str`."""

    boost: float = field(metadata=finite_number(above=0.0))
    """The score of items that match, greater than 0."""

    __repr__ = record_repr

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:  # noqa: ARG002 - absolute
        """Return `boost` if the item's metadata matches, else 1.0."""
        raw = item.metadata.get(self.key)
        if raw is None:
            return _NEUTRAL
        try:
            # Compare plain strings, because a subclass of str may override comparison.
            text = str.__str__(raw if isinstance(raw, str) else str(raw))
        except Exception:  # noqa: BLE001 - a user's object that raises matches nothing
            return _NEUTRAL
        return self.boost if text == self.value else _NEUTRAL

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        return [self.score(item, items) if item.metadata else _NEUTRAL for item in items]
