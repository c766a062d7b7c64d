"""Check the arguments of assertions: kinds, counts, predicates and reasons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Self, TypeAlias, TypeVar

from pycupel.diagnostics import ExclusionReason
from pycupel.diagnostics.reasons import EXCLUSION_REASONS, reason_name
from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextKind
from pycupel.model.checks import checked_count, wrong_type
from pycupel.model.names import find_name, suggestion

Kind: TypeAlias = ContextKind | str
ReasonName: TypeAlias = Literal[
    "BudgetExceeded",
    "ScoredTooLow",
    "Deduplicated",
    "QuotaCapExceeded",
    "QuotaRequireDisplaced",
    "NegativeTokens",
    "PinnedOverride",
    "Filtered",
    "CountCapExceeded",
    "CountRequireCandidatesExhausted",
]
Reason: TypeAlias = type[ExclusionReason] | ExclusionReason | ReasonName

_Checked = TypeVar("_Checked")

# Makes pytest tracebacks end at the assertion in the test, not in this module.
__tracebackhide__ = True


def hiding(check: Callable[..., _Checked], *arguments: Any) -> _Checked:
    """Run a check so that the traceback of its error ends in the test."""
    try:
        return check(*arguments)
    except (TypeError, ValueError) as error:
        raise error.with_traceback(None) from None


def checked_kind(kind: Any) -> ContextKind:
    if not isinstance(kind, (str, ContextKind)):
        raise wrong_type("kind", "a str or a ContextKind", kind)
    return hiding(ContextKind.of, kind, "kind")


def checked_n(n: Any) -> int:
    return hiding(checked_count, "n", n, InvalidArgumentError)


def check_predicate(predicate: object, example: str) -> None:
    if not callable(predicate):
        raise wrong_type("predicate", f"a function like `{example}`", predicate)


class Variant(NamedTuple):
    """A kind of exclusion reason: a class, or all unknown reasons of one name (TV-13)."""

    cls: type[ExclusionReason]
    name: str

    @classmethod
    def of(cls, reason: Any) -> Self:
        """Return the variant that a class, a name or an instance stands for."""
        if isinstance(reason, ExclusionReason):
            return cls(type(reason), reason_name(reason))
        if isinstance(reason, str):
            return cls.named(reason)
        if reason is ExclusionReason:
            raise InvalidArgumentError(
                "reason must be a specific reason, not ExclusionReason itself", argument="reason"
            )
        if _is_reason_class(reason):
            return cls(reason, reason.__name__)
        raise wrong_type("reason", "an exclusion reason: its class, its name or an instance", reason)

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the variant of a built-in reason, whose name may be spelt in any way."""
        known = find_name(name, EXCLUSION_REASONS)
        if known is None:
            raise InvalidArgumentError(
                f"unknown exclusion reason {name!r}{suggestion(name, EXCLUSION_REASONS)}",
                argument="reason",
                value=name,
                hint="For your own reason, pass its class; for one from another implementation, UnknownReason(name).",
            )
        return cls(EXCLUSION_REASONS[known], known)

    def matches(self, reason: ExclusionReason) -> bool:
        return isinstance(reason, self.cls) and self.name in {self.cls.__name__, reason_name(reason)}


def _is_reason_class(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, ExclusionReason)
