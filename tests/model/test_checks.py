"""The checks that all constructors share: TypeError names the argument and shows what was given."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from pycupel.errors import InvalidArgumentError, SlicerConfigError
from pycupel.model import OverflowStrategy
from pycupel.model.checks import (
    as_float,
    checked_aware,
    checked_bool,
    checked_count,
    checked_float,
    checked_int,
    checked_iterable,
    checked_mapping,
    checked_name,
    checked_pairs,
    checked_path,
    checked_positive,
    checked_str,
    duplicate_kind,
    is_aware,
    refuse_class,
    wrong_type,
)
from pycupel.text import describe
from tests.hostile import Raising
from tests.model.numbers import NUMPY_TRUE, IndexOnly


class FloatOnly:
    """A number in the way of numpy's float32."""

    def __float__(self) -> float:
        return 0.5


class Unconvertible:
    def __float__(self) -> float:
        raise ValueError("no number")

    def __repr__(self) -> str:
        return "Unconvertible()"


class Number(int):
    pass


class Answer(StrEnum):
    YES = "Yes"
    NO = "no"


def test_describe_shows_the_value_and_its_type() -> None:
    assert describe("5") == "'5' (str)"


def test_describe_shortens_what_is_long() -> None:
    text = describe("x" * 1_000)
    assert text.endswith("... (str)")
    assert len(text) < 80


def test_describe_keeps_what_just_fits() -> None:
    assert describe("x" * 58) == f"{'x' * 58!r} (str)"


def test_a_wrong_type_names_the_argument_the_expectation_and_the_value() -> None:
    error = wrong_type("tokens", "an int", "5")
    assert type(error) is TypeError
    assert str(error) == "tokens must be an int, not '5' (str)"


def test_a_bool_of_numpy_is_a_bool() -> None:
    assert checked_bool("flag", NUMPY_TRUE) is True
    for other in (IndexOnly(1), 1, "true", None):
        with pytest.raises(TypeError, match=r"^flag must be a bool, not "):
            checked_bool("flag", other)


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("tokens", "tokens"),
        ("tags[3]", "tags"),
        ("weights['a: b']", "weights"),
        ("metadata: key", "metadata"),
        ("entries[0]: weight", "entries"),
        ("half_life (halfLife)", "half_life"),
        ("the score that X returned", None),
    ],
)
def test_every_error_carries_the_parameter_that_its_name_begins_with(name: str, argument: str | None) -> None:
    """Readers of documents find the field that failed by it."""
    checks: list[Any] = [
        lambda: checked_str(name, 1),
        lambda: refuse_class(name, int),
        lambda: checked_count(name, -1, InvalidArgumentError),
        lambda: checked_positive(name, 0, InvalidArgumentError),
        lambda: checked_float(name, math.nan, InvalidArgumentError),
        lambda: checked_float(name, 2, InvalidArgumentError, high=1.0),
        lambda: checked_name(name, "maybe", Answer, InvalidArgumentError),
        lambda: checked_aware(name, datetime(2024, 1, 1), InvalidArgumentError),  # noqa: DTZ001 - the point
        lambda: checked_aware(name, "today", InvalidArgumentError),
    ]
    for check in checks:
        with pytest.raises((TypeError, InvalidArgumentError)) as caught:
            check()
        error: Any = caught.value
        assert error.argument == argument
    assert duplicate_kind(name, "Note", InvalidArgumentError).__dict__["argument"] == argument


def test_a_class_is_refused_where_an_instance_is_wanted() -> None:
    refuse_class("scorer", "anything else")
    with pytest.raises(TypeError, match=r"^scorer must be an instance; did you mean int\(\)\?$"):
        refuse_class("scorer", int)


@pytest.mark.parametrize("value", [0, 5, IndexOnly(5), 10**30])
def test_a_count_is_an_integer_of_0_or_more(value: Any) -> None:
    count = checked_count("n", value, InvalidArgumentError)
    assert count == value.__index__()
    assert type(count) is int


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(SlicerConfigError, match=r"^n must be 0 or more, not -1$") as caught:
        checked_count("n", -1, SlicerConfigError)
    assert caught.value.value == -1


def test_a_duplicate_kind_is_named() -> None:
    error: Any = duplicate_kind("entries", "Note", SlicerConfigError)
    assert type(error) is SlicerConfigError
    assert str(error) == "entries: duplicate kind 'Note' (kinds are case-insensitive)"
    assert error.value == "Note"


def test_a_time_has_a_zone() -> None:
    """DM-07: without one, it is not known which instant is meant."""
    aware, naive = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 1)  # noqa: DTZ001 - the point
    assert checked_aware("now", aware, InvalidArgumentError) is aware
    assert [is_aware(value) for value in (aware, naive, "today", None)] == [True, False, False, False]
    with pytest.raises(InvalidArgumentError) as caught:
        checked_aware("now", naive, InvalidArgumentError)
    assert str(caught.value) == (
        f"now must have a time zone, but {naive!r} has none; use datetime.now(timezone.utc) or add tzinfo"
    )
    assert caught.value.value is naive
    with pytest.raises(TypeError, match=r"^now must be a datetime, not 'today' \(str\)$"):
        checked_aware("now", "today", InvalidArgumentError)


def test_a_str_passes() -> None:
    assert checked_str("content", " x ") == " x "


@pytest.mark.parametrize("value", [None, 1, b"text", ["text"]])
def test_what_is_no_str_is_refused(value: Any) -> None:
    with pytest.raises(TypeError) as caught:
        checked_str("content", value)
    assert str(caught.value) == f"content must be a str, not {value!r} ({type(value).__name__})"


@pytest.mark.parametrize("value", [[1], (1,), {1: 2}, {1}, iter([1]), range(1)])
def test_an_iterable_passes_as_it_is(value: Any) -> None:
    assert checked_iterable("tags", "an iterable of str", value) is value


@pytest.mark.parametrize("value", ["abc", "", b"abc", None, 5])
def test_a_string_is_not_taken_for_an_iterable(value: Any) -> None:
    """PY-14: it would be split into letters."""
    with pytest.raises(TypeError) as caught:
        checked_iterable("tags", "an iterable of str", value)
    assert str(caught.value) == f"tags must be an iterable of str, not {value!r} ({type(value).__name__})"


@pytest.mark.parametrize(
    "value", [[("a", 1), ["b", 2]], (("a", 1), ("b", 2)), iter([["a", 1], ("b", 2)]), {"a": 1, "b": 2}.items()]
)
def test_pairs_are_tuples_or_lists_of_two(value: Any) -> None:
    assert checked_pairs("entries", "(name, weight)", value) == [("a", 1), ("b", 2)]


@pytest.mark.parametrize("wrong", ["ab", ("a",), ("a", 1, 2), None, {"a": 1, "b": 2}])
def test_what_is_no_pair_is_refused_with_its_place(wrong: Any) -> None:
    """PY-14: a string of two letters is no pair, either."""
    with pytest.raises(TypeError) as caught:
        checked_pairs("entries", "(name, weight)", [("a", 1), wrong])
    assert str(caught.value) == f"entries[1] must be a (name, weight) pair, not {wrong!r} ({type(wrong).__name__})"


@pytest.mark.parametrize("value", ["ab", None, 5])
def test_pairs_come_in_an_iterable(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^entries must be an iterable of \(name, weight\) pairs, not "):
        checked_pairs("entries", "(name, weight)", value)


def test_a_mapping_passes_as_it_is() -> None:
    mapping = {"a": 1}
    assert checked_mapping("weights", "a mapping", mapping) is mapping


@pytest.mark.parametrize("value", [None, [("a", 1)], "a", 5])
def test_what_is_no_mapping_is_refused(value: Any) -> None:
    with pytest.raises(TypeError) as caught:
        checked_mapping("weights", "a mapping", value)
    assert str(caught.value) == f"weights must be a mapping, not {value!r} ({type(value).__name__})"


@pytest.mark.parametrize("value", [True, False])
def test_a_bool_passes(value: bool) -> None:
    assert checked_bool("pinned", value) is value


@pytest.mark.parametrize("value", [None, 0, 1, "true", 1.0])
def test_what_is_no_bool_is_refused(value: Any) -> None:
    with pytest.raises(TypeError) as caught:
        checked_bool("pinned", value)
    assert str(caught.value) == f"pinned must be a bool, not {value!r} ({type(value).__name__})"


@pytest.mark.parametrize(
    ("value", "number"),
    [(0, 0), (-7, -7), (10**30, 10**30), (IndexOnly(42), 42), (IndexOnly(-1), -1), (Number(5), 5)],
)
def test_an_integer_is_what_has_an_index(value: Any, number: int) -> None:
    """DM-02, PY-05: `__index__` decides, and the result is a plain int."""
    checked = checked_int("tokens", value)
    assert checked == number
    assert type(checked) is int


@pytest.mark.parametrize("value", [True, False, 1.0, "1", None, Decimal(1), math.nan])
def test_bools_and_floats_are_no_integers(value: Any) -> None:
    """DM-02, PY-05: a bool is an int in Python, but not meant as a count."""
    with pytest.raises(TypeError) as caught:
        checked_int("tokens", value)
    assert str(caught.value) == f"tokens must be an int, not {value!r} ({type(value).__name__})"


def test_the_cause_of_a_wrong_type_is_not_shown() -> None:
    with pytest.raises(TypeError) as caught:
        checked_int("tokens", "1")
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("value", "number"),
    [(0.25, 0.25), (1, 1.0), (-3, -3.0), (Decimal("0.5"), 0.5), (Fraction(1, 4), 0.25), (FloatOnly(), 0.5)],
)
def test_numbers_of_all_types_become_floats(value: Any, number: float) -> None:
    converted = as_float("score", value)
    assert converted == number
    assert type(converted) is float


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_float_may_be_anything_where_it_is_not_checked(value: float) -> None:
    """DM-08: no validation beyond the type."""
    assert repr(as_float("hint", value)) == repr(value)


@pytest.mark.parametrize("value", [True, "0.5", b"0.5", None, [0.5], 1j, Unconvertible()])
def test_what_is_no_number_is_refused(value: Any) -> None:
    """PY-07: a numeric string is a string."""
    with pytest.raises(TypeError) as caught:
        as_float("score", value)
    assert str(caught.value) == f"score must be a number, not {value!r} ({type(value).__name__})"


class RaisingNumber(Raising):
    def __index__(self) -> int:
        raise RuntimeError("index")


@pytest.mark.parametrize(("check", "wanted"), [(checked_int, "an int"), (as_float, "a number")])
def test_an_object_that_raises_is_no_number(check: Callable[[str, Any], object], wanted: str) -> None:
    with pytest.raises(TypeError) as caught:
        check("score", RaisingNumber())
    assert str(caught.value) == f"score must be {wanted}, not ... (RaisingNumber)"


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0, -0.0, 1])
def test_the_bounds_of_a_float_are_inclusive(value: float) -> None:
    assert checked_float("share", value, SlicerConfigError, low=0.0, high=1.0) == value


@pytest.mark.parametrize("value", [-1e300, 0, 1e300])
def test_a_float_without_bounds_only_has_to_be_finite(value: float) -> None:
    assert checked_float("share", value, SlicerConfigError) == value


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("bounds", [{}, {"low": 0.0}, {"low": 0.0, "high": 1.0}])
def test_a_float_parameter_is_finite(value: float, bounds: dict[str, float]) -> None:
    """DM-14: NaN and infinities are rejected explicitly, for every float parameter."""
    with pytest.raises(SlicerConfigError) as caught:
        checked_float("share", value, SlicerConfigError, **bounds)
    assert str(caught.value) == f"share must be finite, not {value}"


@pytest.mark.parametrize("value", [-5e-324, -1, 1.0000000000000002, 2])
def test_a_float_outside_its_bounds_is_refused_with_the_bounds(value: float) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        checked_float("share", value, InvalidArgumentError, low=0.0, high=1.0)
    assert str(caught.value) == f"share must be between 0.0 and 1.0, not {float(value)}"


def test_a_float_without_an_upper_bound_is_refused_with_the_lower_one() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        checked_float("k1", -1, InvalidArgumentError, low=0.0)
    assert str(caught.value) == "k1 must be at least 0.0, not -1.0"


@pytest.mark.parametrize("path", ["a/b", Path("a/b")])
def test_a_path_is_a_str_or_path_like(path: Any) -> None:
    assert checked_path("path", path) == str(Path("a/b"))


@pytest.mark.parametrize("value", [None, True, 1, b"a"])
def test_the_number_of_an_open_file_is_no_path(value: Any) -> None:
    """`to_html(True)` would write to stdout and close it."""
    with pytest.raises(TypeError, match=r"^path must be a path: a str or an os.PathLike, not "):
        checked_path("path", value)


def test_a_refused_float_travels_as_attributes() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        checked_float("factor", -1, InvalidArgumentError, low=0.0, high=1.0)
    assert (caught.value.argument, caught.value.value) == ("factor", -1.0)


@pytest.mark.parametrize(("value", "expected"), [(10**400, float("inf")), (-(10**400), float("-inf"))])
def test_what_is_beyond_the_range_of_floats_is_infinite(value: int, expected: float) -> None:
    assert as_float("score", value) == expected


def test_an_int_with_too_many_digits_can_be_described() -> None:
    assert describe(10**5000) == "<5001 digits> (int)"


def test_a_float_of_a_wrong_type_is_a_type_error_and_not_the_given_error() -> None:
    with pytest.raises(TypeError, match=r"^share must be a number, not '0.5' \(str\)$"):
        checked_float("share", "0.5", SlicerConfigError, low=0.0)


@pytest.mark.parametrize("value", [Answer.YES, "Yes", "yes", "YES", "yEs"])
def test_a_choice_is_a_member_or_its_value_in_any_case(value: Any) -> None:
    """WF-06: names of options are read in any case."""
    assert checked_name("answer", value, Answer, InvalidArgumentError) is Answer.YES


@pytest.mark.parametrize("value", ["maybe", "", " yes", "ye\N{LATIN SMALL LETTER LONG S}"])
def test_an_unknown_choice_is_refused_with_the_known_ones(value: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        checked_name("answer", value, Answer, InvalidArgumentError)
    assert str(caught.value).partition(";")[0] == f"answer must be one of Yes, no, not {value!r}"


@pytest.mark.parametrize("value", [None, 1, True])
def test_a_choice_of_a_wrong_type_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^answer must be a str, not "):
        checked_name("answer", value, Answer, InvalidArgumentError)


def test_a_long_name_is_cut_in_an_error() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        checked_name("overflow_strategy", "x" * 10_000, OverflowStrategy, InvalidArgumentError)
    assert str(caught.value).endswith(f"not {'x' * 200!r}...")
