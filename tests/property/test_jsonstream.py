"""JSON values one at a time are those that `json` reads at once."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, strategies as st

from tests.cli.test_jsonstream import values
from tests.examples import examples

TEXTS = st.text(max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@examples(100)
@given(st.lists(JSON, max_size=5), st.sampled_from([None, 0, 2]))
def test_arrays_are_read_as_json_reads_them(elements: list[Any], indent: int | None) -> None:
    assert values(json.dumps(elements, indent=indent)) == elements


@examples(100)
@given(st.lists(st.dictionaries(TEXTS, JSON, max_size=3), max_size=4))
def test_lines_are_read_as_json_reads_them(documents: list[Any]) -> None:
    assert values("".join(f"{json.dumps(each, ensure_ascii=True)}\n" for each in documents)) == documents
