"""The reasons. Diagnostics: Exclusion Reasons."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from pycupel import diagnostics
from pycupel.diagnostics import (
    BudgetExceeded,
    CountCapExceeded,
    CountRequireCandidatesExhausted,
    Deduplicated,
    ExclusionReason,
    Filtered,
    InclusionReason,
    NegativeTokens,
    PinnedOverride,
    QuotaCapExceeded,
    QuotaRequireDisplaced,
    ScoredTooLow,
    UnknownReason,
)
from pycupel.errors import InvalidArgumentError

# (reason, wire name, fields, repr)
TABLE: list[tuple[Any, str, dict[str, Any], str]] = [
    (
        BudgetExceeded(2048, 512),
        "BudgetExceeded",
        {"item_tokens": 2048, "available_tokens": 512},
        "BudgetExceeded(item_tokens=2048, available_tokens=512)",
    ),
    (
        ScoredTooLow(0.12, 0.25),
        "ScoredTooLow",
        {"score": 0.12, "threshold": 0.25},
        "ScoredTooLow(score=0.12, threshold=0.25)",
    ),
    (
        Deduplicated("kept"),
        "Deduplicated",
        {"deduplicated_against": "kept"},
        "Deduplicated(deduplicated_against='kept')",
    ),
    (
        QuotaCapExceeded("ToolOutput", 3, 4),
        "QuotaCapExceeded",
        {"kind": "ToolOutput", "cap": 3, "actual": 4},
        "QuotaCapExceeded(kind='ToolOutput', cap=3, actual=4)",
    ),
    (
        QuotaRequireDisplaced("SystemPrompt"),
        "QuotaRequireDisplaced",
        {"displaced_by_kind": "SystemPrompt"},
        "QuotaRequireDisplaced(displaced_by_kind='SystemPrompt')",
    ),
    (NegativeTokens(-1), "NegativeTokens", {"tokens": -1}, "NegativeTokens(tokens=-1)"),
    (PinnedOverride("pin"), "PinnedOverride", {"displaced_by": "pin"}, "PinnedOverride(displaced_by='pin')"),
    (Filtered("max_age"), "Filtered", {"filter_name": "max_age"}, "Filtered(filter_name='max_age')"),
    (
        CountCapExceeded("Note", 2, 2),
        "CountCapExceeded",
        {"kind": "Note", "cap": 2, "count": 2, "by": "kind"},
        "CountCapExceeded(kind='Note', cap=2, count=2)",
    ),
    (
        CountRequireCandidatesExhausted("Note"),
        "CountRequireCandidatesExhausted",
        {"kind": "Note"},
        "CountRequireCandidatesExhausted(kind='Note')",
    ),
]
REASONS = [reason for reason, *_ in TABLE]
EACH = pytest.mark.parametrize("reason", REASONS, ids=lambda reason: type(reason).__name__)


@pytest.mark.proves("S-ER-30")
def test_there_are_ten_exclusion_reasons() -> None:
    """Exclusion Reasons: all 8 MUST be defined, reserved ones too. ER-02: and two about counts."""
    exported = [getattr(diagnostics, name) for name in dir(diagnostics) if name != "UnknownReason"]
    reasons = {cls for cls in exported if issubclass(cls, ExclusionReason)} - {ExclusionReason}
    assert reasons == {type(reason) for reason in REASONS}
    assert len(reasons) == 10


@pytest.mark.proves("S-ER-00", "S-ER-01", "S-ER-02", "S-ER-03", "S-ER-04", "S-ER-05", "S-ER-06", "S-ER-07")
@pytest.mark.parametrize(("reason", "name", "fields", "text"), TABLE)
def test_each_reason_carries_its_data(reason: Any, name: str, fields: dict[str, Any], text: str) -> None:
    """ER-08: data-carrying variants; the class name is the name on the wire."""
    assert type(reason).__name__ == name
    assert {field: getattr(reason, field) for field in fields} == fields
    assert reason._asdict() == fields
    assert type(reason)(**fields) == reason


@pytest.mark.parametrize(("reason", "name", "fields", "text"), TABLE)
def test_the_repr_shows_name_and_fields(reason: Any, name: str, fields: dict[str, Any], text: str) -> None:
    assert repr(reason) == text


@pytest.mark.proves("S-ER-35")
@pytest.mark.parametrize(("reason", "name", "fields", "text"), TABLE)
def test_every_field_must_be_given(reason: Any, name: str, fields: dict[str, Any], text: str) -> None:
    """Exclusion Reasons: data-carrying fields MUST be present; `by` is ours, and kinds the default."""
    for field in fields.keys() - {"by"}:
        with pytest.raises(TypeError):
            type(reason)(**{other: value for other, value in fields.items() if other != field})


@EACH
def test_a_reason_is_an_exclusion_reason(reason: ExclusionReason) -> None:
    assert isinstance(reason, ExclusionReason)


@EACH
def test_a_reason_cannot_be_changed(reason: Any) -> None:
    """ER-08: frozen records."""
    for field in reason._fields:
        with pytest.raises(AttributeError):
            setattr(reason, field, "other")
        with pytest.raises(AttributeError):
            delattr(reason, field)
    with pytest.raises(AttributeError):
        reason.extra = 1
    with pytest.raises(TypeError):
        reason[0] = "other"


@pytest.mark.parametrize("one", REASONS, ids=lambda reason: type(reason).__name__)
@pytest.mark.parametrize("other", REASONS, ids=lambda reason: type(reason).__name__)
def test_reasons_are_equal_if_class_and_fields_are(one: Any, other: Any) -> None:
    assert (one == type(other)(*other)) is (one is other)
    assert (one != type(other)(*other)) is (one is not other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Filtered("x"), PinnedOverride("x")),
        (Filtered("x"), Deduplicated("x")),
        (QuotaRequireDisplaced("x"), CountRequireCandidatesExhausted("x")),
        (QuotaCapExceeded("x", 1, 2), CountCapExceeded("x", 1, 2)),
        (BudgetExceeded(1, 2), ScoredTooLow(1, 2)),
    ],
)
def test_equal_fields_do_not_make_different_reasons_equal(one: Any, other: Any) -> None:
    """Equality goes by the class first."""
    assert one != other
    assert other != one
    assert not one == other  # noqa: SIM201 - the operator itself
    assert hash(one) != hash(other)
    assert len({one, other}) == 2


@EACH
def test_a_reason_differs_if_a_field_does(reason: Any) -> None:
    for field in reason._fields:
        changed = reason._replace(**{field: "another value"})
        assert type(changed) is type(reason)
        assert changed != reason


@EACH
def test_equal_reasons_have_one_hash(reason: Any) -> None:
    again = type(reason)(*reason)
    assert again is not reason
    assert hash(again) == hash(reason)
    assert {again, reason} == {reason}


@EACH
def test_a_reason_is_no_plain_tuple(reason: Any) -> None:
    assert reason != tuple(reason)
    assert tuple(reason) != reason
    assert reason != None  # noqa: E711 - the operator itself


@EACH
@pytest.mark.parametrize(
    "make",
    [
        copy.copy,
        copy.deepcopy,
        *(lambda r, p=p: pickle.loads(pickle.dumps(r, p)) for p in range(pickle.HIGHEST_PROTOCOL + 1)),
    ],
)
def test_a_reason_survives_copying_and_pickling(reason: Any, make: Any) -> None:
    assert make(reason) == reason
    assert type(make(reason)) is type(reason)
    assert repr(make(reason)) == repr(reason)


def explain_by_keyword(reason: ExclusionReason) -> tuple[Any, ...]:
    match reason:
        case BudgetExceeded(item_tokens=needed, available_tokens=left):
            return ("budget", needed, left)
        case Deduplicated(deduplicated_against=content):
            return ("duplicate", content)
        case QuotaCapExceeded(kind=kind, cap=cap, actual=actual):
            return ("quota", kind, cap, actual)
        case CountCapExceeded(kind=kind, cap=cap, count=count):
            return ("count", kind, cap, count)
        case _:
            return ("other",)


def explain_by_position(reason: ExclusionReason) -> tuple[Any, ...]:
    match reason:
        case BudgetExceeded(needed, left):
            return ("budget", needed, left)
        case Deduplicated(content):
            return ("duplicate", content)
        case QuotaCapExceeded(kind, cap, actual):
            return ("quota", kind, cap, actual)
        case CountCapExceeded(kind, cap, count):
            return ("count", kind, cap, count)
        case _:
            return ("other",)


@pytest.mark.parametrize("explain", [explain_by_keyword, explain_by_position])
@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (BudgetExceeded(5, 3), ("budget", 5, 3)),
        (Deduplicated("kept"), ("duplicate", "kept")),
        (QuotaCapExceeded("Note", 1, 2), ("quota", "Note", 1, 2)),
        (CountCapExceeded("Note", 1, 2), ("count", "Note", 1, 2)),
        (NegativeTokens(-1), ("other",)),
    ],
)
def test_reasons_can_be_matched(explain: Any, reason: ExclusionReason, expected: tuple[Any, ...]) -> None:
    """Exclusion Reasons: details are inspected by program, not by parsing messages."""
    assert explain(reason) == expected


@pytest.mark.proves("S-ER-32")
@pytest.mark.parametrize(
    ("member", "value"),
    [(InclusionReason.SCORED, "Scored"), (InclusionReason.PINNED, "Pinned"), (InclusionReason.ZERO_TOKEN, "ZeroToken")],
)
def test_inclusion_reasons_have_the_specified_names(member: InclusionReason, value: str) -> None:
    """InclusionReason: three variants, without data."""
    assert member.value == value
    assert str(member) == value
    assert InclusionReason(value) is member


@pytest.mark.proves("S-ER-32")
def test_there_are_three_inclusion_reasons() -> None:
    assert len(InclusionReason) == 3


def test_an_unknown_reason_is_a_value_with_read_only_fields() -> None:
    """WF-03."""
    given = {"yawns": [1, 2]}
    reason = UnknownReason("TooBoring", given)
    given.clear()
    assert repr(reason) == "UnknownReason(name='TooBoring', fields={'yawns': [1, 2]})"
    for made in (copy.copy(reason), copy.deepcopy(reason), pickle.loads(pickle.dumps(reason))):
        assert made == reason
        assert hash(made) == hash(reason)
    assert UnknownReason("TooBoring") != reason
    with pytest.raises(TypeError, match="read-only"):
        reason.fields["yawns"] = 3  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "fields", "error"),
    [
        (5, {}, TypeError),
        ("TooBoring", None, TypeError),
        ("Deduplicated", {}, InvalidArgumentError),
        ("TooBoring", {"reason": "x"}, InvalidArgumentError),
    ],
)
def test_an_unknown_reason_that_could_not_be_read_again_is_refused(
    name: Any, fields: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        UnknownReason(name, fields)
