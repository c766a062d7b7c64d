"""`QuotaEntry` and `CountQuotaEntry`. Slicers: QuotaSlice, CountQuotaSlice (configuration)."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import math
import pickle
from typing import Any

import pytest

from pycupel import ContextKind, ContextSource, CountQuotaEntry, CupelError, QuotaEntry
from pycupel.errors import SlicerConfigError
from pycupel.model import QuotaConstraint
from tests.model.numbers import IndexOnly

Entry = QuotaEntry | CountQuotaEntry


ENTRIES = pytest.mark.parametrize(
    "entry", [QuotaEntry("Note", 10.0, 20.0), CountQuotaEntry("Note", cap_count=3, require_count=1)]
)


@pytest.mark.proves("S-QU-05")
def test_a_quota_constrains_nothing_unless_told() -> None:
    """QS-10: require 0 and cap 100 are the defaults."""
    entry = QuotaEntry("Note")
    assert (entry.kind, entry.require, entry.cap) == (ContextKind("Note"), 0.0, 100.0)


def test_a_count_quota_requires_nothing_unless_told() -> None:
    entry = CountQuotaEntry("Note", cap_count=3)
    assert (entry.kind, entry.cap_count, entry.require_count) == (ContextKind("Note"), 3, 0)


def test_counts_are_given_by_keyword() -> None:
    """Two counts in a row are too easily swapped."""
    parameters = inspect.signature(CountQuotaEntry).parameters
    assert {name: p.kind for name, p in parameters.items() if name != "kind"} == {
        "cap_count": inspect.Parameter.KEYWORD_ONLY,
        "require_count": inspect.Parameter.KEYWORD_ONLY,
    }


def test_the_cap_count_is_required() -> None:
    with pytest.raises(TypeError, match="cap_count"):
        CountQuotaEntry("Note")  # type: ignore[call-arg]


@pytest.mark.parametrize("make", [QuotaEntry, lambda kind: CountQuotaEntry(kind, cap_count=1)])
@pytest.mark.parametrize("kind", ["nOTE", ContextKind("nOTE")])
def test_the_kind_is_wrapped_and_keeps_its_spelling(make: Any, kind: Any) -> None:
    """DM-10, DM-11: the spelling of an entry names its group."""
    assert type(make(kind).kind) is ContextKind
    assert make(kind).kind.value == "nOTE"


@pytest.mark.parametrize("make", [QuotaEntry, lambda kind: CountQuotaEntry(kind, cap_count=1)])
@pytest.mark.parametrize("kind", [None, 1, ContextSource.CHAT])
def test_the_kind_is_a_kind(make: Any, kind: Any) -> None:
    with pytest.raises(TypeError, match="ContextKind"):
        make(kind)


@pytest.mark.parametrize("make", [QuotaEntry, lambda kind: CountQuotaEntry(kind, cap_count=1)])
def test_a_blank_kind_is_refused(make: Any) -> None:
    """DM-11."""
    with pytest.raises(ValueError, match="blank"):
        make(" ")


@pytest.mark.parametrize(
    ("require", "cap"), [(0, 0), (0, 100), (100, 100), (50, 50), (0.1, 0.1), (-0.0, 0.0), (33.3, 66.6)]
)
def test_percentages_run_from_0_to_100_inclusively(require: float, cap: float) -> None:
    """QS-03."""
    entry = QuotaEntry("Note", require, cap)
    assert (entry.require, entry.cap) == (require, cap)
    assert type(entry.require) is type(entry.cap) is float


@pytest.mark.proves("S-QU-01", "S-QU-02")
@pytest.mark.parametrize("field", ["require", "cap"])
@pytest.mark.parametrize("value", [-0.1, -1, 100.1, 101, 1e300])
def test_percentages_outside_the_range_are_refused(field: str, value: float) -> None:
    """QS-03: only values in [0, 100]."""
    with pytest.raises(SlicerConfigError) as caught:
        QuotaEntry("Note", **{field: value})
    assert str(caught.value) == f"{field} must be between 0.0 and 100.0, not {float(value)}"
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, CupelError)


@pytest.mark.parametrize("field", ["require", "cap"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_percentages_are_finite(field: str, value: float) -> None:
    """QS-03, DM-14."""
    with pytest.raises(SlicerConfigError) as caught:
        QuotaEntry("Note", **{field: value})
    assert str(caught.value) == f"{field} must be finite, not {value}"


@pytest.mark.parametrize("field", ["require", "cap"])
@pytest.mark.parametrize("value", [None, "10", True])
def test_percentages_are_numbers(field: str, value: Any) -> None:
    with pytest.raises(TypeError) as caught:
        QuotaEntry("Note", **{field: value})
    assert str(caught.value) == f"{field} must be a number, not {value!r} ({type(value).__name__})"


def test_a_require_above_the_cap_is_refused() -> None:
    """QuotaSlice: require MUST NOT exceed cap."""
    with pytest.raises(SlicerConfigError, match=r"^Note: require \(50\.0\) must not exceed cap \(49\.9\)$"):
        QuotaEntry("Note", 50, 49.9)


@pytest.mark.parametrize(("require", "cap"), [(0, 0), (0, 5), (5, 5), (2**70, 2**70)])
def test_counts_run_from_0(require: int, cap: int) -> None:
    """CQ-05: both 0 is legal and keeps the kind out. DM-02: there is no upper bound."""
    entry = CountQuotaEntry("Note", cap_count=cap, require_count=require)
    assert (entry.require_count, entry.cap_count) == (require, cap)


def test_counts_come_from_index() -> None:
    """DM-02, PY-05: numpy's integers too; what is stored is a plain int."""
    cap: Any = IndexOnly(4)
    entry = CountQuotaEntry("Note", cap_count=cap)
    assert entry.cap_count == 4
    assert type(entry.cap_count) is int


@pytest.mark.proves("S-CQ-03")
@pytest.mark.parametrize("field", ["cap_count", "require_count"])
def test_negative_counts_are_refused(field: str) -> None:
    """CQ-16: the error carries the argument and the number."""
    with pytest.raises(SlicerConfigError) as caught:
        CountQuotaEntry("Note", **{"cap_count": 1, field: -1})
    assert str(caught.value) == f"{field} must be 0 or more, not -1"
    assert (caught.value.argument, caught.value.value) == (field, -1)


@pytest.mark.proves("S-CQ-03")
@pytest.mark.parametrize("field", ["cap_count", "require_count"])
@pytest.mark.parametrize("value", [True, False, 1.0, "1", None])
def test_counts_are_integers(field: str, value: Any) -> None:
    """CQ-16, DM-02: a bool is no count."""
    with pytest.raises(TypeError) as caught:
        CountQuotaEntry("Note", **{"cap_count": 1, field: value})
    assert str(caught.value) == f"{field} must be an int, not {value!r} ({type(value).__name__})"


@pytest.mark.parametrize(("require", "cap"), [(1, 0), (3, 2)])
def test_a_require_count_above_the_cap_count_is_refused(require: int, cap: int) -> None:
    """CountQuotaSlice: capCount MUST be at least requireCount."""
    with pytest.raises(SlicerConfigError) as caught:
        CountQuotaEntry("Note", cap_count=cap, require_count=require)
    assert str(caught.value) == f"Note: require_count ({require}) must not exceed cap_count ({cap})"


@ENTRIES
@pytest.mark.parametrize(
    "make", [copy.copy, copy.deepcopy, dataclasses.replace, lambda e: pickle.loads(pickle.dumps(e))]
)
def test_an_entry_survives_copying_and_pickling(entry: Entry, make: Any) -> None:
    """PY-12."""
    assert make(entry) == entry
    assert hash(make(entry)) == hash(entry)
    assert repr(make(entry)) == repr(entry)


def test_entries_are_values() -> None:
    assert QuotaEntry("Note", 10) == QuotaEntry("NOTE", 10.0)
    assert QuotaEntry("Note", 10) != QuotaEntry("Note", 11)
    assert CountQuotaEntry("Note", cap_count=1) == CountQuotaEntry("note", cap_count=1)
    assert CountQuotaEntry("Note", cap_count=1) != CountQuotaEntry("Note", cap_count=2)


def test_replace_checks_what_it_changes() -> None:
    with pytest.raises(SlicerConfigError):
        dataclasses.replace(QuotaEntry("Note", 10, 20), cap=5)
    with pytest.raises(SlicerConfigError):
        dataclasses.replace(CountQuotaEntry("Note", cap_count=3, require_count=2), cap_count=1)


def test_the_reprs_leave_defaults_out() -> None:
    assert repr(QuotaEntry("Note", 10)) == "QuotaEntry(kind='Note', require=10.0)"
    assert repr(QuotaEntry("Note", cap=20)) == "QuotaEntry(kind='Note', cap=20.0)"
    assert repr(CountQuotaEntry("Note", cap_count=3)) == "CountQuotaEntry(kind='Note', cap_count=3)"
    text = "CountQuotaEntry(kind='Note', cap_count=3, require_count=1)"
    assert repr(CountQuotaEntry("Note", cap_count=3, require_count=1)) == text


@pytest.mark.parametrize(
    ("make", "argument", "value"),
    [
        (lambda: QuotaEntry(" "), "kind", " "),
        (lambda: QuotaEntry("a", 101), "require", 101.0),
        (lambda: QuotaEntry("a", cap=-1), "cap", -1.0),
        (lambda: QuotaEntry("a", 2, 1), "require", 2.0),
        (lambda: CountQuotaEntry("a", cap_count=-1), "cap_count", -1),
        (lambda: CountQuotaEntry("a", cap_count=1, require_count=2), "require_count", 2),
        (lambda: QuotaConstraint("a", "shares", 0, 1), "mode", "shares"),  # type: ignore[arg-type]
        (lambda: QuotaConstraint("a", "Count", -1, 1), "require", -1),
        (lambda: QuotaConstraint("a", "Count", 2, 1), "require", 2),
        (lambda: QuotaConstraint("a", "Percentage", 2, 101), "cap", 101.0),
    ],
)
def test_every_error_names_its_argument(make: Any, argument: str, value: Any) -> None:
    with pytest.raises(CupelError) as caught:
        make()
    error: Any = caught.value
    assert (error.argument, error.value) == (argument, value)


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (QuotaEntry, "kind"),
        (lambda wrong: QuotaEntry("a", wrong), "require"),
        (lambda wrong: CountQuotaEntry("a", cap_count=wrong), "cap_count"),
        (lambda wrong: QuotaConstraint("a", wrong, 1, 2), "mode"),
        (lambda wrong: QuotaConstraint("a", "Count", 1, wrong), "cap"),
    ],
)
def test_a_wrong_type_names_its_argument(make: Any, argument: str) -> None:
    with pytest.raises(TypeError) as caught:
        make([])
    assert getattr(caught.value, "argument", None) == argument
