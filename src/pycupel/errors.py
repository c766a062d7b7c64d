"""Every exception that pycupel raises, except `TypeError` for an argument of a wrong type.

    CupelError
    ├── InvalidArgumentError (ValueError)     an argument has a value that makes no sense
    ├── InvalidItemError (ValueError)         a ContextItem, ContextKind or ContextSource cannot be built
    ├── InvalidBudgetError (ValueError)       a ContextBudget cannot be built
    ├── ScorerConfigError (ValueError)        a scorer cannot be built, or does not keep its contract
    │   └── CycleError                        a scorer contains itself, or scorers nest too deeply
    ├── SlicerConfigError (ValueError)        a slicer or a quota entry cannot be built
    ├── PipelineConfigError (ValueError)      the parts of a pipeline do not go together
    ├── DocumentError (ValueError)            a document cannot be read, or a value cannot be written
    ├── PinnedExceedsBudgetError              the pinned items alone are too large
    ├── BudgetOverflowError                   the selection is too large, and the strategy is Throw
    ├── TableTooLargeError                    a knapsack is larger than its limits allow
    ├── CountRequirementError                 a kind has too few candidates, and scarcity is Throw
    ├── NonMonotonicSlicerError               budget simulation makes no sense with this slicer
    ├── SlicerContractError                   a slicer returned something that it was not given
    ├── PlacerContractError                   a placer returned something else than it was given
    ├── MissingExtraError (ImportError)       an optional package is not installed
    ├── MessageShapeError (ValueError)        a chat message has a shape that no provider knows
    ├── ProviderAmbiguousError (ValueError)   nobody can tell which provider a chat history is for
    └── UnitTooLargeError                     messages that belong together do not fit into the budget

Numbers travel as attributes. Where the specification prescribes a sentence, the text of the error is that sentence,
and what to do about it follows as a note (`__notes__`), which every traceback shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = [
    "BudgetOverflowError",
    "CountRequirementError",
    "CupelError",
    "CycleError",
    "DocumentError",
    "InvalidArgumentError",
    "InvalidBudgetError",
    "InvalidItemError",
    "MessageShapeError",
    "MissingExtraError",
    "NonMonotonicSlicerError",
    "PinnedExceedsBudgetError",
    "PipelineConfigError",
    "PlacerContractError",
    "ProviderAmbiguousError",
    "ScorerConfigError",
    "SlicerConfigError",
    "SlicerContractError",
    "TableTooLargeError",
    "UnitTooLargeError",
]


def digits(number: int) -> str:
    """The number as text; of one with more than 200 digits only how many it has, like `<401 digits>`.

    Python refuses to write out thousands of digits, and nobody reads hundreds.
    """
    size = abs(number)
    if size < _LONGEST:
        return str(number)
    # Two to the power of ten is a little more than a thousand.
    count = (size.bit_length() - 1) * 30_102_999 // 100_000_000
    while 10**count <= size:
        count += 1
    return f"{'-' if number < 0 else ''}<{count} digits>"


_LONGEST = 10**200


class CupelError(Exception):
    """The root of the tree: catching it catches everything that pycupel finds wrong with values.

    `where` says in which of several selections it happened, if there were several.
    """

    where: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self._text()}" if self.where else self._text()

    def __repr__(self) -> str:
        try:
            return super().__repr__()
        except ValueError:
            # A number with too many digits for Python to write out.
            return f"{type(self).__name__}({str(self)!r})"

    def _text(self) -> str:
        return super().__str__()


class _ValueRefusedError(CupelError, ValueError):
    """A refused value, with the argument's name and the value itself where there is just one."""

    def __init__(
        self, message: str, *, argument: str | None = None, value: object = None, hint: str | None = None
    ) -> None:
        super().__init__(message)
        self.argument = argument
        self.value = value
        if hint is not None:
            self.add_note(hint)


class InvalidArgumentError(_ValueRefusedError):
    pass


class InvalidItemError(_ValueRefusedError):
    pass


class InvalidBudgetError(_ValueRefusedError):
    pass


class ScorerConfigError(_ValueRefusedError):
    pass


class CycleError(ScorerConfigError):
    pass


class SlicerConfigError(_ValueRefusedError):
    pass


class PipelineConfigError(_ValueRefusedError):
    pass


class DocumentError(_ValueRefusedError):
    """`path` says where in the document, like `included[3].item.tokens`; it is empty for the document as a whole.

    Where a document is checked as a whole, `errors` holds all its mistakes, each an error of its own, and the text
    lists them.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str = "",
        argument: str | None = None,
        value: object = None,
        hint: str | None = None,
        errors: Iterable[DocumentError] = (),
    ) -> None:
        super().__init__(message, argument=argument, value=value, hint=hint)
        self.path = path
        self.errors = tuple(errors)

    def _text(self) -> str:
        message = super()._text()
        return f"{self.path}: {message}" if self.path else message


class PinnedExceedsBudgetError(CupelError):
    def __init__(self, pinned_tokens: int, available: int) -> None:
        super().__init__(pinned_tokens, available)
        self.pinned_tokens = pinned_tokens
        self.available = available
        self.add_note("Pin fewer or smaller items, raise max_tokens, or lower output_reserve.")

    def _text(self) -> str:
        return (
            f"Pinned items require {digits(self.pinned_tokens)} tokens, but only {digits(self.available)} are available"
        )


class BudgetOverflowError(CupelError):
    """The merged selection exceeds the limit: the target, or what the output reserve leaves of the window, if less."""

    def __init__(self, merged_tokens: int, target_tokens: int) -> None:
        super().__init__(merged_tokens, target_tokens)
        self.merged_tokens = merged_tokens
        self.target_tokens = target_tokens
        self.add_note(
            "Pinned items and count requirements come before the budget. Pin or require less, raise target_tokens, "
            "or choose OverflowStrategy.TRUNCATE or PROCEED."
        )

    def _text(self) -> str:
        merged, target = digits(self.merged_tokens), digits(self.target_tokens)
        return f"Selected items require {merged} tokens, exceeding target budget of {target}"


class TableTooLargeError(CupelError):
    """`limit` names the option that was exceeded, `max_cells` or `max_states`; `cells` is what was needed of it."""

    def __init__(
        self, candidates: int, capacity: int, cells: int, limit: str = "max_cells", allowed: int | None = None
    ) -> None:
        super().__init__(candidates, capacity, cells, limit, allowed)
        self.candidates = candidates
        self.capacity = capacity
        self.cells = cells
        self.limit = limit
        self.allowed = allowed
        self.add_note(f"Raise bucket_size, offer fewer candidates, or lift the limit with KnapsackSlice({limit}=...).")

    def _text(self) -> str:
        what = "table cells" if self.limit == "max_cells" else "states"
        allowed = "None" if self.allowed is None else digits(self.allowed)
        return (
            f"KnapsackSlice needs {digits(self.cells)} {what} for {self.candidates} candidates and a capacity of "
            f"{digits(self.capacity)} buckets, more than {self.limit}={allowed}"
        )


class CountRequirementError(CupelError):
    def __init__(self, slicer: str, kind: str, required_count: int, satisfied_count: int) -> None:
        super().__init__(slicer, kind, required_count, satisfied_count)
        self.slicer = slicer
        self.kind = kind
        self.required_count = required_count
        self.satisfied_count = satisfied_count
        self.add_note("Offer more candidates of that kind, lower require_count, or use ScarcityBehavior.DEGRADE.")

    def _text(self) -> str:
        return (
            f"{self.slicer}: candidate pool for kind '{self.kind}' has {self.satisfied_count} items "
            f"but RequireCount is {digits(self.required_count)}."
        )


class SlicerContractError(CupelError):
    pass


class PlacerContractError(CupelError):
    pass


class NonMonotonicSlicerError(CupelError):
    pass


class MissingExtraError(CupelError, ImportError):
    def __init__(self, purpose: str, package: str, extra: str) -> None:
        super().__init__(purpose, package, extra)
        self.purpose = purpose
        self.package = package
        self.extra = extra

    def _text(self) -> str:
        return f"{self.purpose} needs {self.package}, which is not installed: pip install 'pycupel[{self.extra}]'"


class MessageShapeError(_ValueRefusedError):
    """`index` is the message's place in the list, `key` the part of it that is not understood."""

    def __init__(self, message: str, index: int, key: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        # Whoever pickles or copies an error calls its class with these.
        self.args = (message, index, key)
        self.index = index
        self.key = key

    def _text(self) -> str:
        return f"messages[{self.index}], {self.key}: {self.args[0]}"


class ProviderAmbiguousError(_ValueRefusedError):
    """`candidates` are the providers for which the history could be."""

    def __init__(self, message: str, candidates: Sequence[str] = (), *, hint: str | None = None) -> None:
        super().__init__(message, argument="provider", hint=hint)
        self.candidates = tuple(candidates)


class UnitTooLargeError(CupelError):
    """`indices` are the places of the messages that only go together, `tokens` what they need."""

    def __init__(self, indices: Sequence[int], tokens: int, available: int, *, hint: str | None = None) -> None:
        super().__init__(tuple(indices), tokens, available)
        self.indices = tuple(indices)
        self.tokens = tokens
        self.available = available
        if hint is not None:
            self.add_note(hint)

    def _text(self) -> str:
        many = len(self.indices) > 1
        places = ", ".join(map(str, self.indices))
        if len(self.indices) > 8:
            places = f"{self.indices[0]} to {self.indices[-1]} ({len(self.indices)} of them)"
        what = f"messages {places} belong together and need" if many else f"message {places} needs"
        return f"{what} {digits(self.tokens)} tokens, but only {digits(self.available)} are available"
