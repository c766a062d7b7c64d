"""Most items are read without asking a codec for each field. That changes nothing but the time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from pycupel import ContextItem
from pycupel.codecs.base import Context
from pycupel.codecs.records import Record
from pycupel.errors import DocumentError
from pycupel.wire.items import ITEM
from tests.fuzz.loop import RUNS, fuzz
from tests.fuzz.mutations import HOSTILE, NASTY, Drawn, changed_values

FIELD_BY_FIELD = Record(ContextItem, ITEM.fields)


def outcome(codec: Record, value: Any, context: Context) -> str:
    try:
        return repr([(name, getattr(codec.read(value, context), name)) for name in ContextItem.__slots__])
    except DocumentError as error:
        return f"{error.path}: {error} {list(map(str, error.errors))}"


def check_both(drawn: tuple[Drawn, Context]) -> None:
    document, context = drawn
    assert outcome(ITEM, document.value, context) == outcome(FIELD_BY_FIELD, document.value, context)


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


def test_the_usual_item_is_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = FIELD_BY_FIELD.read(FULL, Context())
    monkeypatch.delattr(Record, "read_fields")
    assert ITEM.read(FULL, Context()) == expected
