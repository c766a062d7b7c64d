"""`Counter`: a token counter with its name, version and margin."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from pycupel.errors import InvalidArgumentError
from pycupel.model.checks import checked_callable, checked_int, checked_positive
from pycupel.model.frozen import sealed

__all__ = ["Counter"]

# A provider's count differs from ours, because of its formatting. Beyond this factor, it is for another request.
_MAX_FACTOR = 4


@sealed
@dataclass(frozen=True, slots=True)
class Counter:
    """Counts the tokens of a text: `counter(text)`. The fields say how.

    Attributes:
        function: The function that counts.
        name: The encoding, "estimator", or the name of your own function.
        version: The name and version of the package that counts.
        exact: Whether the count is the model's own.
        margin_percent: How much of a budget to leave free, because the count may be too low.
        batch: A function that counts many texts at once, or None.

    Raises:
        TypeError: `function` or `batch` is not a function.
    """

    function: Callable[[str], int]
    """The function that counts."""

    name: str
    """The encoding, "estimator", or the name of your own function."""

    version: str = ""
    """The name and version of the package that counts."""

    exact: bool = False
    """Whether the count is the model's own."""

    margin_percent: float = 0.0
    """How much of a budget to leave free, because the count may be too low."""

    batch: Callable[[list[str]], list[int]] | None = field(default=None, repr=False)
    """A function that counts many texts at once, or None."""

    def __post_init__(self) -> None:
        checked_callable("function", "a function from str to int", self.function)
        if self.batch is not None:
            checked_callable("batch", "a function from a list of str to a list of int", self.batch)

    def __call__(self, text: str, /) -> int:
        """Count the tokens of a text.

        Raises:
            InvalidArgumentError: the function returned a negative number.
            TypeError: it did not return an int.
        """
        tokens = self.function(text)
        return tokens if tokens.__class__ is int and tokens >= 0 else self._checked(tokens)

    def _checked(self, tokens: Any) -> int:
        number = checked_int(f"what {self.name} returns", tokens)
        if number < 0:
            raise InvalidArgumentError(
                f"{self.name} returned {number}; a token count cannot be negative", argument="counter", value=number
            )
        return number

    def count_batch(self, texts: Iterable[str]) -> list[int]:
        """Count the tokens of each text. Some counters are faster with many texts at once."""
        if self.batch is None:
            return [self(text) for text in texts]
        return [self._checked(tokens) for tokens in self.batch(list(texts))]

    def calibrated(self, *, counted: int, reported: int) -> Counter:
        """Return a counter corrected by what a provider reported for a request.

        Args:
            counted: What this counter counted for the request.
            reported: What the provider reported for it; see `reported_tokens`.

        Raises:
            InvalidArgumentError: the two are too far apart to be for the same request, or not positive.
        """
        ours = checked_positive("counted", counted, InvalidArgumentError)
        theirs = checked_positive("reported", reported, InvalidArgumentError)
        if max(ours, theirs) > _MAX_FACTOR * min(ours, theirs):
            raise InvalidArgumentError(
                f"{reported} reported and {counted} counted tokens cannot be about the same request",
                argument="reported",
                value=reported,
            )
        name = f"{self.name} x {theirs / ours:.3f}"
        # mypy does not see that a named tuple may be callable.
        scaled: Any = _Scaled(self, ours, theirs)
        return replace(self, function=scaled, name=name, exact=False, batch=None)

    def __str__(self) -> str:
        return f"{self.name} ({self.version})" if self.version else self.name


class _Scaled(NamedTuple):
    counter: Counter
    counted: int
    reported: int

    def __call__(self, text: str, /) -> int:
        """Scale the count in integers, rounded up, so that what was counted becomes exactly what was reported."""
        return -(-self.counter(text) * self.reported // self.counted)
