"""Most items are read without asking a codec for each field. That changes nothing but the time."""

from __future__ import annotations

import re
import sys
from itertools import product
from typing import Any

import pytest
from hypothesis import strategies as st

from pycupel import ContextItem
from pycupel.codecs.base import Context
from pycupel.codecs.records import Record
from pycupel.errors import DocumentError
from pycupel.wire import ITEM
from tests.fuzz.loop import RUNS, fuzz
from tests.fuzz.mutations import HOSTILE, NASTY, Drawn, changed_values

FIELD_BY_FIELD = Record(ContextItem, ITEM.fields)


def outcome(codec: Record, value: Any, context: Context) -> str:
    try:
        return shown([(name, getattr(codec.read(value, context), name)) for name in ContextItem.__slots__])
    except DocumentError as error:
        return f"{error.path}: {error} {list(map(str, error.errors))}"


def shown(value: object) -> str:
    """Python shows no int of more than 4,300 digits, unless it is told to."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return repr(value)
    finally:
        sys.set_int_max_str_digits(limit)


def check_both(drawn: tuple[Drawn, Context]) -> None:
    document, context = drawn
    assert outcome(ITEM, document.value, context) == outcome(FIELD_BY_FIELD, document.value, context)


@pytest.mark.unmeasured
def test_both_ways_give_the_same_item_or_the_same_error() -> None:
    contexts = st.builds(Context, st.booleans(), st.booleans(), st.booleans())
    fuzz(check_both, st.tuples(changed_values("items", nasty=NASTY + HOSTILE), contexts), RUNS)


FULL = {
    "content": "text",
    "tokens": 5,
    "kind": "Document",
    "source": "Rag",
    "priority": 3,
    "tags": ["a", "é"],
    "metadata": {"n": [1, None]},
    "timestamp": "2026-01-05T12:00:00Z",
    "futureRelevanceHint": 0.5,
    "pinned": True,
    "originalTokens": 9,
    "unknown": 1,
}


@pytest.mark.parametrize(
    "document",
    [
        *({key: value for key, value in FULL.items() if key != name} for name in FULL),
        *({**FULL, name: None} for name in FULL),
        {**FULL, "content": ""},
        {**FULL, "content": "é"},
        {**FULL, "content": "\ud83d"},
        {**FULL, "kind": "\ud83d"},
        {**FULL, "kind": " "},
        {**FULL, "priority": 1.5},
        {**FULL, "futureRelevanceHint": 1},
        {**FULL, "futureRelevanceHint": float("nan")},
        {**FULL, "timestamp": "2026-01-05t13:00:00.5+01:00"},
        {**FULL, "timestamp": "2026-01-05"},
        {**FULL, "timestamp": b"2026-01-05T12:00:00Z"},
        {**FULL, "future_relevance_hint": 0.5},
        {**FULL, "original_tokens": None},
    ],
    ids=repr,
)
def test_each_field(document: dict[str, Any]) -> None:
    assert outcome(ITEM, document, Context()) == outcome(FIELD_BY_FIELD, document, Context())


# Of what follows the seconds of a time in UTC, every text of these characters that a fraction could be.
ENDINGS = ["", *map("".join, product("05.Z:-", repeat=4)), ".5Z.50", ".1234567xZ", ".123456789Z", ".12+00Z", ".1+0000Z"]


@pytest.mark.unmeasured
def test_usual_times_are_those_of_rfc_3339() -> None:
    """Python accepts more, and other versions of it accept other times."""
    starts = ["2026-01-05T12:00:00", "2026-01-05T24:00:00", "2026-W02-1T12:00:00", "2026-01-05 12:00:00"]
    rfc_3339 = re.compile(r"2026-01-05[T ]12:00:00(\.[0-9]+)?(Z|-[0-9]{2}:[0-9]{2})")
    for written in (start + ending + last for start in starts for ending in ENDINGS for last in ("", "Z")):
        is_read = outcome(ITEM, {**FULL, "timestamp": written}, Context()).startswith("[")
        assert is_read == (rfc_3339.fullmatch(written) is not None), written


def test_the_usual_item_is_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = FIELD_BY_FIELD.read(FULL, Context())
    monkeypatch.delattr(ITEM, "fields")
    assert ITEM.read(FULL, Context()) == expected
