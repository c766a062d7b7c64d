"""Every exception that pycupel raises, except `TypeError` for an argument of the wrong type.

    CupelError
    ├── InvalidArgumentError (ValueError)     an argument has an invalid value
    ├── InvalidItemError (ValueError)         a ContextItem, ContextKind or ContextSource cannot be built
    ├── InvalidBudgetError (ValueError)       a ContextBudget cannot be built
    ├── ScorerConfigError (ValueError)        a scorer cannot be built, or violates its contract
    │   └── CycleError                        a scorer contains itself, or scorers nest too deeply
    ├── SlicerConfigError (ValueError)        a slicer or a quota entry cannot be built
    ├── PipelineConfigError (ValueError)      the parts of a pipeline are incompatible
    ├── DocumentError (ValueError)            a document cannot be read, or a value cannot be written
    ├── PinnedExceedsBudgetError              the pinned items alone are too large
    ├── BudgetOverflowError                   the selection is too large, and the strategy is Throw
    ├── TableTooLargeError                    a knapsack is larger than its limits allow
    ├── CountRequirementError                 a kind has too few candidates, and scarcity is Throw
    ├── NonMonotonicSlicerError               budget simulation is not possible with this slicer
    ├── SlicerContractError                   a slicer returned something it was not given
    ├── ShortenerContractError                a shortener returned something other than shorter items
    ├── PlacerContractError                   a placer returned something other than its items
    ├── MissingExtraError (ImportError)       an optional package is not installed
    ├── MessageShapeError (ValueError)        a chat message has a shape that no provider uses
    ├── ProviderAmbiguousError (ValueError)   the provider of a chat history cannot be determined
    └── UnitTooLargeError                     messages that belong together do not fit into the budget

Errors carry their data as attributes. An error about one argument has its name as `argument`, and so does
a `TypeError` raised by pycupel. Where the specification prescribes the text of an error, that text is used, and
a note (`__notes__`), which every traceback shows, says what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pycupel.text import number_text, one_line

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
    "ShortenerContractError",
    "SlicerConfigError",
    "SlicerContractError",
    "TableTooLargeError",
    "UnitTooLargeError",
]


class CupelError(Exception):
    """The base class of all errors that pycupel raises, except `TypeError`."""

    where: str = ""
    """Which of several selections failed, such as a request of a batch; empty if there was only one."""

    def __str__(self) -> str:
        return f"{self.where}: {self._text()}" if self.where else self._text()

    def __repr__(self) -> str:
        try:
            return super().__repr__()
        except ValueError:
            # Python raises for an int with too many digits.
            return f"{type(self).__name__}({str(self)!r})"

    def _text(self) -> str:
        return super().__str__()


class _InvalidValueError(CupelError, ValueError):
    """An argument has an invalid value. The hint becomes a note, which tracebacks show."""

    argument: str | None
    """The name of the parameter, as in the call; None if no single argument is to blame."""

    value: object
    """The invalid value, where there is one."""

    def __init__(
        self, message: str, *, argument: str | None = None, value: object = None, hint: str | None = None
    ) -> None:
        super().__init__(message)
        self.argument = argument
        self.value = value
        if hint is not None:
            self.add_note(hint)


class InvalidArgumentError(_InvalidValueError):
    """An argument of a function, named by `argument`, has an invalid `value`."""


class InvalidItemError(_InvalidValueError):
    """A `ContextItem`, `ContextKind` or `ContextSource` cannot be built: `argument` has an invalid `value`."""


class InvalidBudgetError(_InvalidValueError):
    """A `ContextBudget` cannot be built: `argument` has an invalid `value`."""


class ScorerConfigError(_InvalidValueError):
    """A scorer cannot be built, because `argument` has an invalid `value`; or it violates its contract."""


class CycleError(ScorerConfigError):
    """A scorer contains itself, or scorers are nested too deeply."""


class SlicerConfigError(_InvalidValueError):
    """A slicer or a quota entry cannot be built: `argument` has an invalid `value`."""


class PipelineConfigError(_InvalidValueError):
    """The parts of a pipeline or policy are incompatible; `argument` names one of them."""


class DocumentError(_InvalidValueError):
    """A document cannot be read, or a value cannot be written as one."""

    path: str
    """Where in the document, like `included[3].item.tokens`; empty for the document as a whole."""

    errors: tuple[DocumentError, ...]
    """All mistakes, one error each, if the whole document was checked; the text lists the first 50."""

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


class _DataError(CupelError):
    """An error with data: its arguments become its attributes, which fill its text. The remedy becomes a note."""

    _template: str
    _remedy: str = ""

    def __init__(self, **data: object) -> None:
        # pickle and copy call the class with these.
        super().__init__(*data.values())
        vars(self).update(data)
        if self._remedy:
            self.add_note(self._remedy.format_map(data))

    def _text(self) -> str:
        return self._template.format_map({name: _shown(value) for name, value in vars(self).items()})


def _shown(value: object) -> str:
    return number_text(value) if isinstance(value, int) else one_line(str(value))


class PinnedExceedsBudgetError(_DataError):
    """The pinned items alone are larger than the budget."""

    _template = "Pinned items require {pinned_tokens} tokens, but only {available} are available"
    _remedy = "Pin fewer or smaller items, raise max_tokens, or lower output_reserve."

    pinned_tokens: int
    """The tokens of all pinned items."""

    available: int
    """The tokens that they may use: `max_tokens - output_reserve`."""

    def __init__(self, pinned_tokens: int, available: int) -> None:
        super().__init__(pinned_tokens=pinned_tokens, available=available)


class BudgetOverflowError(_DataError):
    """Pinned and selected items together exceed the limit, and the overflow strategy is Throw."""

    _template = "Selected items require {merged_tokens} tokens, exceeding target budget of {target_tokens}"
    _remedy = (
        "Pinned items and count requirements come before the budget. Pin or require less, raise target_tokens, "
        "or choose OverflowStrategy.TRUNCATE or PROCEED."
    )

    merged_tokens: int
    """The tokens of pinned and selected items together."""

    target_tokens: int
    """The limit: the target, or `max_tokens - output_reserve` if that is less."""

    def __init__(self, merged_tokens: int, target_tokens: int) -> None:
        super().__init__(merged_tokens=merged_tokens, target_tokens=target_tokens)


class TableTooLargeError(_DataError):
    """A knapsack is larger than `KnapsackSlice` allows."""

    _template = (
        "KnapsackSlice needs {cells} table cells for {candidates} candidates and a capacity of {capacity} buckets, "
        "more than {limit}={allowed}"
    )
    _remedy = "Raise bucket_size, offer fewer candidates, or lift the limit with KnapsackSlice({limit}=...)."

    candidates: int
    """The number of items to choose from."""

    capacity: int
    """The budget in buckets."""

    cells: int
    """How much of the exceeded limit is needed: table cells or live states."""

    limit: str
    """The option that was exceeded, `"max_cells"` or `"max_states"`."""

    allowed: int | None
    """The value of that option."""

    def __init__(
        self, candidates: int, capacity: int, cells: int, limit: str = "max_cells", allowed: int | None = None
    ) -> None:
        super().__init__(candidates=candidates, capacity=capacity, cells=cells, limit=limit, allowed=allowed)

        # The sentence of the specification is about cells; our other limit counts states.
        if limit != "max_cells":
            self._template = self._template.replace("table cells", "states")


class CountRequirementError(_DataError):
    """A kind has fewer candidates than its entry requires, and scarcity is Throw."""

    _template = (
        "{slicer}: candidate pool for kind '{kind}' has {satisfied_count} items but RequireCount is {required_count}."
    )
    _remedy = "Offer more candidates of that kind, lower require_count, or use ScarcityBehavior.DEGRADE."

    slicer: str
    """The name of the slicer's class."""

    kind: str
    """The kind."""

    required_count: int
    """How many items of the kind are required."""

    satisfied_count: int
    """How many candidates there are."""

    def __init__(self, slicer: str, kind: str, required_count: int, satisfied_count: int) -> None:
        super().__init__(slicer=slicer, kind=kind, required_count=required_count, satisfied_count=satisfied_count)


class SlicerContractError(CupelError):
    """A custom slicer returned something that it was not given."""


class PlacerContractError(CupelError):
    """A custom placer returned something other than the items it was given."""


class ShortenerContractError(CupelError):
    """A shortener raised, or returned something other than shorter items. The text names it and the item."""


class NonMonotonicSlicerError(CupelError):
    """Budget simulation is not possible with this slicer: a larger budget may select less."""


class MissingExtraError(_DataError, ImportError):
    """An optional package is not installed. The text has the pip command."""

    _template = "{purpose} needs {package}, which is not installed: pip install 'pycupel[{extra}]'"

    purpose: str
    """What needs the package."""

    package: str
    """The package to install."""

    extra: str
    """The extra of pycupel that installs it."""

    def __init__(self, purpose: str, package: str, extra: str) -> None:
        super().__init__(purpose=purpose, package=package, extra=extra)


class MessageShapeError(_InvalidValueError):
    """A chat message has a shape that no provider uses."""

    index: int
    """The index of the message in the list."""

    key: str
    """The part of the message with the problem."""

    def __init__(self, message: str, index: int, key: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        # pickle and copy call the class with these.
        self.args = (message, index, key)
        self.index = index
        self.key = key

    def _text(self) -> str:
        return f"messages[{self.index}].{self.key}: {self.args[0]}"


class ProviderAmbiguousError(_InvalidValueError):
    """The provider of a chat history cannot be determined."""

    candidates: tuple[str, ...]
    """The providers that would accept the history."""

    def __init__(self, message: str, candidates: Sequence[str] = (), *, hint: str | None = None) -> None:
        super().__init__(message, argument="provider", hint=hint)
        self.candidates = tuple(candidates)


class UnitTooLargeError(CupelError):
    """Messages that belong together do not fit into the budget."""

    indices: tuple[int, ...]
    """The indices of the messages."""

    tokens: int
    """The tokens that they need together."""

    available: int
    """The tokens that are available for them, beside everything else that must stay."""

    cause: str = ""
    """What leaves no room for any message, such as a long system prompt; usually empty."""

    def __init__(self, indices: Sequence[int], tokens: int, available: int, *, hint: str | None = None) -> None:
        super().__init__(tuple(indices), tokens, available)
        self.indices = tuple(indices)
        self.tokens = tokens
        self.available = available
        if hint is not None:
            self.add_note(hint)

    def _text(self) -> str:
        if self.cause:
            return self.cause
        many = len(self.indices) > 1
        which = ", ".join(map(str, self.indices))
        if len(self.indices) > 8:
            which = f"{self.indices[0]} to {self.indices[-1]} ({len(self.indices)} of them)"
        what = f"messages {which} belong together and need" if many else f"message {which} needs"
        # The budget may have more tokens left, but other messages need them.
        left = f"only {number_text(self.available)} are available for {'them' if many else 'it'}"
        return f"{what} {number_text(self.tokens)} tokens, but {left}"
