"""The exceptions: one tree, numbers as attributes, the specification's sentences verbatim, advice as notes."""

from __future__ import annotations

import copy
import pickle
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    CountQuotaSlice,
    KnapsackSlice,
    Pipeline,
    ReflexiveScorer,
    ScoredItem,
    Slicer,
    errors,
)
from pycupel.errors import (
    BudgetOverflowError,
    CountRequirementError,
    CupelError,
    CycleError,
    DocumentError,
    InvalidArgumentError,
    InvalidBudgetError,
    InvalidItemError,
    MessageShapeError,
    MissingExtraError,
    NonMonotonicSlicerError,
    PinnedExceedsBudgetError,
    PipelineConfigError,
    PlacerContractError,
    ProviderAmbiguousError,
    ScorerConfigError,
    SlicerConfigError,
    SlicerContractError,
    TableTooLargeError,
    UnitTooLargeError,
)

VALUE_ERRORS = [
    InvalidArgumentError,
    InvalidItemError,
    InvalidBudgetError,
    ScorerConfigError,
    CycleError,
    SlicerConfigError,
    PipelineConfigError,
    DocumentError,
]

RUN_ERRORS: list[CupelError] = [
    PinnedExceedsBudgetError(60, 50),
    BudgetOverflowError(70, 50),
    TableTooLargeError(3, 100, 303, "max_cells", 300),
    TableTooLargeError(3, 100, 5, "max_states", 4),
    CountRequirementError("CountQuotaSlice", "Note", 2, 1),
    SlicerContractError("the slicer returned a copy"),
    PlacerContractError("the placer lost an item"),
    NonMonotonicSlicerError("the slicer is not monotonic"),
    MissingExtraError("a policy in YAML", "PyYAML", "yaml"),
    UnitTooLargeError([3, 4], 900, 500),
    UnitTooLargeError([3], 900, 500, hint="Raise the budget."),
]
# Refused values with more to tell than the argument.
SPECIAL_ERRORS: list[CupelError] = [
    DocumentError("must be an integer", path="scorers[0].weight", hint="Use 6."),
    MessageShapeError("must be a string", 3, "content", hint="Use a string."),
    ProviderAmbiguousError("openai or mistral?", ["openai", "mistral"], hint="Say which."),
]

ADVISED = RUN_ERRORS[:5]


def refused(cls: type[Any], hint: str | None = None) -> Any:
    return cls("share must not be 7", argument="share", value=7, hint=hint)


def caught(action: Callable[[], object]) -> CupelError:
    with pytest.raises(CupelError) as info:
        action()
    return info.value


# --- the tree


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_is_a_cupel_error(name: str) -> None:
    assert issubclass(getattr(errors, name), CupelError)


def test_every_error_is_exported_and_drawn_in_the_tree() -> None:
    """The module's docstring shows the whole tree."""
    classes = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception) and not name.startswith("_")
    }
    assert set(errors.__all__) == classes
    assert errors.__doc__ is not None
    assert {name for name in classes if name in errors.__doc__} == classes


@pytest.mark.parametrize("cls", VALUE_ERRORS)
def test_a_refused_value_is_a_value_error(cls: type[CupelError]) -> None:
    assert issubclass(cls, ValueError)


@pytest.mark.parametrize("error", RUN_ERRORS, ids=lambda error: type(error).__name__)
def test_the_outcome_of_a_run_is_no_value_error(error: CupelError) -> None:
    assert not isinstance(error, ValueError)


def test_a_cycle_is_a_scorer_problem() -> None:
    """CS-01."""
    assert issubclass(CycleError, ScorerConfigError)


def test_an_overflow_of_the_budget_is_no_arithmetic_overflow() -> None:
    """PL-07: not Python's OverflowError."""
    assert not issubclass(BudgetOverflowError, ArithmeticError)


def test_value_errors_are_told_apart() -> None:
    distinct = [cls for cls in VALUE_ERRORS if cls is not CycleError]
    for cls in distinct:
        assert [other for other in distinct if issubclass(cls, other)] == [cls]


# --- refused values


@pytest.mark.parametrize("cls", VALUE_ERRORS)
def test_a_refused_value_carries_the_argument_and_the_value(cls: type[CupelError]) -> None:
    error = refused(cls)
    assert str(error) == "share must not be 7"
    assert (error.argument, error.value) == ("share", 7)
    assert not hasattr(error, "__notes__")


@pytest.mark.parametrize("cls", VALUE_ERRORS)
def test_a_problem_of_several_values_has_neither(cls: type[Any]) -> None:
    error = cls("a and b do not go together")
    assert (error.argument, error.value) == (None, None)


@pytest.mark.parametrize("cls", VALUE_ERRORS)
def test_a_hint_is_a_note(cls: type[CupelError]) -> None:
    error = refused(cls, hint="Use 6.")
    assert str(error) == "share must not be 7"
    assert error.__notes__ == ["Use 6."]


def test_a_mistake_in_a_document_says_where_and_may_hold_others() -> None:
    error = DocumentError("is missing", path="scorers[0].type")
    assert str(error) == "scorers[0].type: is missing"
    assert (error.path, error.errors) == ("scorers[0].type", ())
    whole = DocumentError("there are 2 mistakes", errors=iter([error, error]))
    assert str(whole) == "there are 2 mistakes"
    assert (whole.path, whole.errors) == ("", (error, error))


def test_a_message_of_an_unknown_shape_says_which_and_where() -> None:
    """`MessageShapeError(index, key)`."""
    error = MessageShapeError("must be a string or a list, not 5", 3, "content", hint="Use a string.")
    assert str(error) == "messages[3].content: must be a string or a list, not 5"
    assert (error.index, error.key, error.__notes__) == (3, "content", ["Use a string."])
    assert isinstance(error, ValueError)


def test_an_ambiguous_provider_tells_the_candidates() -> None:
    error = ProviderAmbiguousError("could be for openai or mistral", ["openai", "mistral"])
    assert (error.candidates, error.argument) == (("openai", "mistral"), "provider")
    assert ProviderAmbiguousError("could be for anybody").candidates == ()
    assert isinstance(error, ValueError)


# --- what a run can end in


def test_messages_that_only_go_together_do_not_fit() -> None:
    """`UnitTooLargeError(indices, tokens, available)`."""
    error = UnitTooLargeError([3, 4, 5], 900, 500, hint="Raise the budget.")
    assert str(error) == "messages 3, 4, 5 belong together and need 900 tokens, but only 500 are available for them"
    assert (error.indices, error.tokens, error.available) == ((3, 4, 5), 900, 500)
    assert error.__notes__ == ["Raise the budget."]
    assert str(UnitTooLargeError([3], 900, 500)) == "message 3 needs 900 tokens, but only 500 are available for it"
    turn = "messages 3 to 42 (40 of them) belong together and need 900 tokens, but only 500 are available for them"
    assert str(UnitTooLargeError(range(3, 43), 900, 500)) == turn


def test_a_missing_package_answers_with_the_line_to_install_it() -> None:
    error = MissingExtraError("a policy in YAML", "PyYAML", "yaml")
    assert str(error) == "a policy in YAML needs PyYAML, which is not installed: pip install 'pycupel[yaml]'"
    assert isinstance(error, ImportError)
    assert not isinstance(error, ModuleNotFoundError)


def test_pinned_items_that_do_not_fit() -> None:
    """CL-01: the sentence of the specification, and both numbers."""
    error = PinnedExceedsBudgetError(60, 50)
    assert str(error) == "Pinned items require 60 tokens, but only 50 are available"
    assert (error.pinned_tokens, error.available) == (60, 50)


def test_a_selection_that_does_not_fit() -> None:
    """PL-07: the sentence of the specification, and both numbers."""
    error = BudgetOverflowError(70, 50)
    assert str(error) == "Selected items require 70 tokens, exceeding target budget of 50"
    assert (error.merged_tokens, error.target_tokens) == (70, 50)


@pytest.mark.parametrize(("limit", "what"), [("max_cells", "table cells"), ("max_states", "states")])
def test_a_table_that_is_too_large(limit: str, what: str) -> None:
    """KN-03: candidates, capacity and cells, and which limit it was."""
    error = TableTooLargeError(3, 100, 303, limit, 300)
    assert (error.candidates, error.capacity, error.cells) == (3, 100, 303)
    assert (error.limit, error.allowed) == (limit, 300)
    assert f"303 {what}" in str(error)
    assert f"{limit}=300" in str(error)


@pytest.mark.parametrize("slicer", ["CountQuotaSlice", "CountConstrainedKnapsackSlice"])
def test_a_requirement_that_cannot_be_met(slicer: str) -> None:
    """CQ-08, CK-01: the sentence of the specification, and all numbers."""
    error = CountRequirementError(slicer, "Note", 2, 1)
    assert str(error) == f"{slicer}: candidate pool for kind 'Note' has 1 items but RequireCount is 2."
    assert (error.slicer, error.kind, error.required_count, error.satisfied_count) == (slicer, "Note", 2, 1)


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (PinnedExceedsBudgetError(60, 50), ["max_tokens", "output_reserve"]),
        (BudgetOverflowError(70, 50), ["target_tokens", "TRUNCATE", "PROCEED"]),
        (TableTooLargeError(3, 100, 303, "max_cells", 300), ["bucket_size", "max_cells"]),
        (TableTooLargeError(3, 100, 5, "max_states", 4), ["bucket_size", "max_states"]),
        (CountRequirementError("CountQuotaSlice", "Note", 2, 1), ["require_count", "DEGRADE"]),
    ],
)
def test_a_note_says_what_to_do(error: CupelError, advice: list[str]) -> None:
    (note,) = error.__notes__
    assert [word for word in advice if word in note] == advice


@pytest.mark.parametrize("error", ADVISED, ids=lambda error: type(error).__name__)
def test_tracebacks_show_the_note_and_the_text_does_not(error: CupelError) -> None:
    (note,) = error.__notes__
    assert note not in str(error)
    assert note in "".join(traceback.format_exception(error))


# --- pickling


ALL = [*RUN_ERRORS, *SPECIAL_ERRORS, *map(refused, VALUE_ERRORS), *(refused(cls, "Use 6.") for cls in VALUE_ERRORS)]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("error", ALL, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling(error: Any, protocol: int) -> None:
    """PY-12: attributes, text and notes; processes and futures send errors to each other."""
    loaded = pickle.loads(pickle.dumps(error, protocol))
    assert type(loaded) is type(error)
    assert (str(loaded), loaded.args, vars(loaded)) == (str(error), error.args, vars(error))


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("error", ALL, ids=lambda error: type(error).__name__)
def test_an_error_survives_copying(error: Any, make: Any) -> None:
    """PY-12."""
    copied = make(error)
    assert type(copied) is type(error)
    assert (str(copied), vars(copied)) == (str(error), vars(error))


def test_the_mistakes_of_a_document_survive_together() -> None:
    """PY-12: exceptions are never equal, so their texts have to do."""
    error = DocumentError("two", errors=[DocumentError("is missing", path="a"), DocumentError("is odd", path="b")])
    for copied in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
        assert [str(each) for each in copied.errors] == ["a: is missing", "b: is odd"]


# --- raised for real


def run(slicer: Slicer, *items: ContextItem, budget: int = 1_000) -> Callable[[], object]:
    return lambda: Pipeline(ReflexiveScorer(), slicer).run(items, ContextBudget(budget))


def note(tokens: int = 10, **options: Any) -> ContextItem:
    return ContextItem("note", tokens, kind="Note", future_relevance_hint=0.5, **options)


def test_pinned_items_are_compared_with_what_the_reserve_leaves() -> None:
    """CL-01, EB-03, DM-20: pinned items are not included regardless of the budget."""
    budget = ContextBudget(100, 20, output_reserve=50)
    error = caught(lambda: Pipeline(ReflexiveScorer()).run([note(51, pinned=True)], budget))
    assert isinstance(error, PinnedExceedsBudgetError)
    assert (error.pinned_tokens, error.available) == (51, 50)


def test_an_overflow_is_compared_with_the_target() -> None:
    """PL-07, EB-04: pinned items above the target overflow it."""
    error = caught(lambda: Pipeline(ReflexiveScorer()).run([note(51, pinned=True)], ContextBudget(100, 50)))
    assert isinstance(error, BudgetOverflowError)
    assert (error.merged_tokens, error.target_tokens) == (51, 50)


def test_an_overflow_names_the_ceiling_where_that_is_lower() -> None:
    """PL-07, EB-05: the number in the text is the limit that was in force."""
    slicer = CountQuotaSlice([CountQuotaEntry("Note", cap_count=2, require_count=2)])
    budget = ContextBudget(250, 200, output_reserve=100)
    items = [note(100), ContextItem("other", 100, kind="Note")]
    error = caught(lambda: Pipeline(ReflexiveScorer(), slicer).run(items, budget))
    assert str(error) == "Selected items require 200 tokens, exceeding target budget of 150"


def test_a_knapsack_reports_its_numbers() -> None:
    """KN-03."""
    error = caught(run(KnapsackSlice(bucket_size=1, max_cells=10), note(), budget=20))
    assert isinstance(error, TableTooLargeError)
    assert (error.candidates, error.capacity, error.cells) == (1, 20, 21)
    assert (error.limit, error.allowed) == ("max_cells", 10)


@pytest.mark.parametrize("cls", [CountQuotaSlice, CountConstrainedKnapsackSlice])
def test_a_count_slicer_names_itself_and_the_kind_as_configured(cls: Any) -> None:
    """CQ-08, CK-01, DM-10: the entry's spelling."""
    slicer = cls([CountQuotaEntry("NOTE", cap_count=2, require_count=2)], scarcity="throw")
    error = caught(run(slicer, note()))
    assert isinstance(error, CountRequirementError)
    assert str(error) == f"{cls.__name__}: candidate pool for kind 'NOTE' has 1 items but RequireCount is 2."


def test_a_slicer_that_returns_a_copy_is_told_so() -> None:
    """SL-04, PY-13: the error names the slicer and speaks of copies."""

    class Copying:
        def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget) -> list[ContextItem]:
            return [copy.copy(scored.item) for scored in scored_items]

    error = caught(run(Copying(), note()))
    assert isinstance(error, SlicerContractError)
    assert "Copying" in str(error)
    assert "copies" in str(error)


def test_a_placer_that_loses_an_item_is_told_so() -> None:
    """SL-04: the error names the placer."""

    class Forgetful:
        def place(self, scored_items: Sequence[ScoredItem]) -> list[ContextItem]:
            return []

    pipeline = Pipeline(ReflexiveScorer(), placer=Forgetful())
    error = caught(lambda: pipeline.run([note()], ContextBudget(100)))
    assert isinstance(error, PlacerContractError)
    assert "Forgetful" in str(error)
