"""ByFormat on generated results: every version parses, rare records are kept, and versions get smaller."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, strategies as st

from pycupel import ContextItem
from pycupel.protocols import ShortenContext
from pycupel.shorten import ByFormat
from tests.examples import examples

RARE = "E42 disk full"

words = st.sampled_from(
    ["ok", "done", "node-7", "src/app.py", "a \\ b", '"quoted"', "\u00e9\u2028\ud83d", "x" * 90, ""]
)
scalars = st.one_of(words, st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.none())
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)
shapes = st.sampled_from(["array", "wrapped", "lines", "nested", "map"])


@st.composite
def results(draw: st.DrawFn) -> tuple[str, str]:
    """A result of many records, of which one has a rare message, as text in one of five shapes."""
    count, seed = draw(st.integers(30, 120)), draw(st.lists(words, min_size=1, max_size=3))
    extra = draw(st.dictionaries(st.sampled_from(["size", "tags", "meta"]), values, max_size=3))
    records: list[dict[str, Any]] = [
        {"id": i, "state": "ok", "message": f"{seed[i % len(seed)]} step {i} done", **extra} for i in range(count)
    ]
    records[draw(st.integers(0, count - 1))]["message"] = RARE
    shape, indent = draw(shapes), draw(st.sampled_from([None, 1, 4]))
    as_ascii = draw(st.booleans())
    data: Any = records
    if shape == "lines":
        return shape, "\n".join(json.dumps(each, ensure_ascii=as_ascii) for each in records)
    if shape == "wrapped":
        data = {"total": count, "data": {"items": records}, "next": draw(scalars)}
    elif shape == "nested":
        half = count // 2
        data = [{"page": n, "entries": part} for n, part in enumerate((records[:half], records[half:], records[:1]))]
    elif shape == "map":
        data = {"name": draw(words), "steps": {f"step-{i}": records[i : i + 9] for i in range(0, count, 9)}}
    return shape, json.dumps(data, indent=indent, ensure_ascii=as_ascii)


def versions_of(text: str) -> list[ContextItem]:
    whole = ContextItem(text, len(text) // 3 + 1)
    versions = ByFormat().shorten(whole, ShortenContext([whole]))
    sizes = [whole.tokens, *(version.tokens for version in versions)]
    assert sizes == sorted(set(sizes), reverse=True)
    assert versions == ByFormat().shorten(whole, ShortenContext([whole]))
    return versions


@given(results())
@examples(500)
def test_every_version_parses_and_keeps_the_rare_record(result: tuple[str, str]) -> None:
    shape, text = result
    versions = versions_of(text)
    assert len(versions) >= 3
    for version in versions:
        for part in version.content.split("\n") if shape == "lines" else [version.content]:
            json.loads(part)
        assert RARE in version.content
    if shape in ("array", "lines"):
        # All other records are done.
        assert " done" not in versions[-1].content


@given(values, st.sampled_from([None, 2]))
@examples(500)
def test_any_json_stays_json(value: Any, indent: int | None) -> None:
    text = json.dumps([value, {"long": "some words " * 90}, value], indent=indent)
    versions = versions_of(text)
    for version in versions:
        json.loads(version.content)
    if indent:
        assert json.loads(versions[0].content) == json.loads(text)


@given(st.text(st.sampled_from('ab1 _/.:,|-[]{}"\\\n\r\t\x1b\u0301\u202e\ud800'), min_size=1, max_size=600))
@examples(500)
def test_any_text_has_smaller_versions_or_none(text: str) -> None:
    for version in versions_of(text):
        assert version.content
