"""SimilarityScorer: how close contents are to a question, by your embeddings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import fsum, isfinite, sqrt
from operator import mul
from typing import Any, Self

from pycupel.errors import ScorerConfigError
from pycupel.model import ContextItem
from pycupel.model.checks import (
    STRING,
    as_float,
    checked_callable,
    checked_iterable,
    checked_str,
    or_none,
    rule,
)
from pycupel.scorers._traits import bound_query
from pycupel.values import check_fields, record_repr, sealed

Embed = Callable[[list[str]], Iterable[Iterable[float]]]


def _checked_embed(name: str, value: Any) -> Any:
    return checked_callable(name, "a function that takes a list of texts and returns their vectors", value)


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class SimilarityScorer:
    """Cosine of the angle between the embeddings of content and question: from -1 to 1, larger is closer.

    For a hybrid with `RelevanceScorer`, put both into a `CompositeScorer`.

    Raises:
        TypeError: an argument has the wrong type.
        ScorerConfigError: on scoring, there is no query, or `embed` returned something other than a finite
            vector of the same length for each text.
    """

    embed: Embed = field(metadata=rule(_checked_embed))
    """A function that takes a list of texts and returns a vector for each: a list of lists of numbers, or an array with
    a row for each text. Called once for a run, with the question first and then every content once. The same text must
    always have the same vector.
    """

    query: str | None = field(default=None, metadata=or_none(STRING))
    """The question, or None if it is not known yet. With an empty one every item scores 0."""

    __repr__ = record_repr

    def __post_init__(self) -> None:
        check_fields(self, ScorerConfigError)

    def for_query(self, query: str) -> Self:
        """Return the same scorer for this question.

        Raises:
            TypeError: the query is not a str.
        """
        return replace(self, query=checked_str("query", query))

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:  # noqa: ARG002 - absolute
        """Return the cosine for one item. Embeds only the question and this content."""
        return self.score_all((item,))[0]

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Return the cosines of all items, with one call of `embed`."""
        query = bound_query(self)
        if not query:
            return [0.0] * len(items)
        vectors = self._vectors(list(dict.fromkeys((query, *(item.content for item in items)))))
        question = _unit(vectors[query])
        cosines = {text: _cosine(question, _unit(vector)) for text, vector in vectors.items()}
        return [cosines[item.content] for item in items]

    def _vectors(self, texts: list[str]) -> dict[str, list[float]]:
        returned: Any = self.embed(list(texts))
        name = getattr(self.embed, "__name__", "embed")
        try:
            # Python floats are faster here than array scalars.
            rows = list(checked_iterable(f"the result of {name}", "a vector for each text", _as_list(returned)))
            vectors = [_vector(f"vector {i} that {name} returned", row) for i, row in enumerate(rows)]
        except TypeError as error:
            raise ScorerConfigError(str(error), argument="embed") from None
        if len(vectors) != len(texts):
            raise ScorerConfigError(f"{name} returned {len(vectors)} vectors for {len(texts)} texts", argument="embed")
        for i, vector in enumerate(vectors):
            if len(vector) != len(vectors[0]):
                raise ScorerConfigError(
                    f"vector {i} that {name} returned has {len(vector)} numbers, but vector 0 has {len(vectors[0])}",
                    argument="embed",
                )
        return dict(zip(texts, vectors, strict=True))


def _vector(name: str, row: Any) -> list[float]:
    vector = [
        number if type(number) is float else as_float(f"every element of {name}", number)
        for number in checked_iterable(name, "a list of numbers", _as_list(row))
    ]
    if not all(map(isfinite, vector)):
        raise ScorerConfigError(f"{name} has a number that is not finite", argument="embed")
    return vector


def _as_list(returned: Any) -> Any:
    return returned.tolist() if hasattr(returned, "tolist") else returned


def _unit(vector: list[float]) -> list[float]:
    """Scale a vector to length 1; a vector of zeros is returned as it is."""
    largest = max(map(abs, vector), default=0.0)
    if not largest:
        return vector
    # Divide by the largest first, so that no square overflows.
    scaled = [number / largest for number in vector]
    length = sqrt(fsum(map(mul, scaled, scaled)))
    return [number / length for number in scaled]


def _cosine(one: list[float], other: list[float]) -> float:
    """Return the cosine of two unit vectors, as an exact sum, which is the same in every version of Python."""
    return max(-1.0, min(1.0, fsum(map(mul, one, other))))
