"""SimilarityScorer: how close contents are to a question, by your embeddings."""

from __future__ import annotations

from array import array
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from inspect import isawaitable
from math import fsum, isfinite, sqrt
from operator import mul
from typing import Any, Self

from pycupel.errors import ScorerConfigError
from pycupel.model import ContextItem
from pycupel.model.checks import (
    COUNT,
    STRING,
    as_float,
    checked_iterable,
    checked_str,
    function,
    or_none,
    rule,
    wrong_type,
)
from pycupel.scorers._base import CheckedScorer, bound_query
from pycupel.text import quantity
from pycupel.values import hold, record_repr, sealed

Vectors = Iterable[Iterable[float]]
Embed = Callable[[list[str]], Vectors | Awaitable[Vectors]]


def _checked_vectors(name: str, value: Any) -> Any:
    vectors: Any = value
    if vectors is not None and not isinstance(value, (str, Mapping)):
        raise wrong_type(name, "a mapping from contents to vectors, or a metadata key", value)
    return vectors


class _Cache:
    """Vectors by the digest of their text, the oldest dropped first. Threads may share it; a pickle of it is empty."""

    def __init__(self, size: int) -> None:
        from threading import Lock  # noqa: PLC0415 - most programs embed nothing

        self.size = size
        self._vectors: dict[bytes, array[float]] = {}
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Cache, (self.size,)

    def get(self, text: str) -> array[float] | None:
        return self._vectors.get(_digest(text))

    def keep(self, vectors: Mapping[str, array[float]]) -> None:
        with self._lock:
            self._vectors |= {_digest(text): vector for text, vector in vectors.items()}
            for key in list(self._vectors)[: max(0, len(self._vectors) - self.size)]:
                del self._vectors[key]


def _digest(text: str) -> bytes:
    # Contents may be long, and a digest of them is not. Most programs embed nothing.
    from hashlib import sha256  # noqa: PLC0415

    return sha256(text.encode("utf-8", "surrogatepass")).digest()


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class SimilarityScorer(CheckedScorer):
    """Cosine of the angle between the embeddings of content and question: from -1 to 1, larger is closer.

    A content is embedded once, and its vector is kept for the next call, with whatever question. For a hybrid with
    `RelevanceScorer`, put both into a `CompositeScorer`.

    Raises:
        ScorerConfigError: on scoring, there is no query, `embed` is async, or it returned something other than a finite
            vector of the same length for each text.
    """

    embed: Embed = field(metadata=function("a function that takes a list of texts and returns their vectors"))
    """A function that takes a list of texts and returns a vector for each: a list of lists of numbers, or an array with
    a row for each text. Called at most once for a run, with the question first and then every new content once. The
    same text must always have the same vector. If it is async, use `aselect`, which awaits it.
    """

    query: str | None = field(default=None, metadata=or_none(STRING))
    """The question, or None if it is not known yet. With an empty one every item scores 0."""

    _: KW_ONLY
    vectors: Mapping[str, Iterable[float]] | str | None = field(default=None, metadata=rule(_checked_vectors))
    """Vectors that you have: a mapping from contents, or the metadata key that items have theirs under.

    What is missing there is embedded.
    """

    cache: int = field(default=10_000, metadata=COUNT)
    """How many vectors are kept between calls, 0 or more. Copies for other questions share them."""

    _cache: _Cache = field(init=False, repr=False, compare=False)
    _awaited: Mapping[str, array[float]] = field(init=False, repr=False, compare=False)

    __repr__ = record_repr

    def __post_init__(self) -> None:
        CheckedScorer.__post_init__(self)
        hold(self, _cache=_Cache(self.cache), _awaited={})

    def for_query(self, query: str) -> Self:
        """Return the same scorer for this question; both share their vectors."""
        bound = copy(self)
        hold(bound, query=checked_str("query", query))
        return bound

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:  # noqa: ARG002 - absolute
        """Return the cosine for one item. Embeds only the question and this content."""
        return self.score_all((item,))[0]

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Return the cosines of all items, with at most one call of `embed`."""
        if not bound_query(self):
            return [0.0] * len(items)
        known, missing = self._lookup(items)
        if missing:
            returned: Any = self.embed(list(missing))
            if isawaitable(returned):
                # An unawaited coroutine would warn when it is collected.
                getattr(returned, "close", lambda: None)()
                raise _error(f"{self._name} is async; use aselect, which awaits it")
            known |= self._kept(missing, returned)
        question = _unit(known[bound_query(self)])
        cosines: dict[str, float] = {}
        for content in dict.fromkeys(item.content for item in items):
            vector = known[content]
            if len(vector) != len(question):
                size = quantity(len(question), "number")
                raise _error(f"the vector of the query has {size}, but one of a content has {len(vector)}")
            # An exact sum, which is the same in every version of Python.
            cosines[content] = max(-1.0, min(1.0, fsum(map(mul, question, _unit(vector)))))
        return [cosines[item.content] for item in items]

    async def _awaiting(self, items: Sequence[ContextItem]) -> Self:
        """Return a copy that has the vectors of these items, awaited if `embed` is async."""
        _, missing = self._lookup(items) if bound_query(self) else ({}, [])
        if not missing:
            return self
        returned: Any = self.embed(list(missing))
        if isawaitable(returned):
            returned = await returned
        ready = copy(self)
        hold(ready, _awaited=self._kept(missing, returned))
        return ready

    def _lookup(self, items: Sequence[ContextItem]) -> tuple[dict[str, Sequence[float]], list[str]]:
        """Return the known vectors by text, and the texts without one, the question first."""
        texts = dict.fromkeys((bound_query(self), *(item.content for item in items)))
        given: Any = self.vectors or {}
        if isinstance(given, str):
            given = {item.content: item.metadata[given] for item in items if item.metadata.get(given) is not None}
        try:
            own = {text: _vector("a vector in vectors", row) for text in texts if (row := given.get(text)) is not None}
        except TypeError as error:
            raise ScorerConfigError(str(error), argument="vectors") from None
        found = {text: own.get(text) or self._awaited.get(text) or self._cache.get(text) for text in texts}
        known: dict[str, Sequence[float]] = {text: vector for text, vector in found.items() if vector is not None}
        return known, [text for text in texts if text not in known]

    def _kept(self, texts: list[str], returned: Any) -> dict[str, array[float]]:
        """Check what `embed` returned for the texts, and keep it."""
        name = self._name
        try:
            rows = list(checked_iterable(f"the result of {name}", "a vector for each text", _as_list(returned)))
            vectors = [_vector(f"vector {i} that {name} returned", row) for i, row in enumerate(rows)]
        except TypeError as error:
            raise _error(str(error)) from None
        if len(vectors) != len(texts):
            raise _error(f"{name} returned {len(vectors)} vectors for {len(texts)} texts")
        for i, vector in enumerate(vectors):
            if len(vector) != len(vectors[0]):
                size = quantity(len(vector), "number")
                raise _error(f"vector {i} that {name} returned has {size}, but vector 0 has {len(vectors[0])}")
        made = dict(zip(texts, vectors, strict=True))
        self._cache.keep(made)
        return made

    @property
    def _name(self) -> str:
        return getattr(self.embed, "__name__", "embed")


def _error(message: str) -> ScorerConfigError:
    return ScorerConfigError(message, argument="embed")


def _vector(name: str, row: Any) -> array[float]:
    what = f"every element of {name}"
    numbers = checked_iterable(name, "a list of numbers", _as_list(row))
    vector = array("d", [each if type(each) is float else as_float(what, each) for each in numbers])
    if not all(map(isfinite, vector)):
        raise _error(f"{name} has a number that is not finite")
    return vector


def _as_list(returned: Any) -> Any:
    # Python floats are faster than the scalars of an array.
    return returned.tolist() if hasattr(returned, "tolist") else returned


def _unit(vector: Sequence[float]) -> Sequence[float]:
    """Scale a vector to length 1; a vector of zeros is returned as it is."""
    largest = max(map(abs, vector), default=0.0)
    if not largest:
        return vector
    # Divide by the largest first, so that no square overflows.
    scaled = [number / largest for number in vector]
    length = sqrt(fsum(map(mul, scaled, scaled)))
    return [number / length for number in scaled]
