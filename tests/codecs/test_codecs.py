"""The codec framework by itself: paths, mistakes, fields and schemas."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pycupel import wire as documents
from pycupel.codecs.base import (
    FINITE,
    FLAG,
    INTEGER,
    JSON,
    KIND,
    TEXT,
    BuildError,
    Codec,
    Context,
    as_object,
    choice,
    limited,
    list_of,
    map_of,
)
from pycupel.codecs.records import OPTIONAL, Field, Record, camel, snake
from pycupel.errors import DocumentError, InvalidArgumentError
from tests.wire.samples import EVERYTHING, REPORT_DOCUMENT

STOP = Context()
COLLECT = Context(collect=True)


@dataclass
class Point:
    x: int
    y: int = 0
    label: str = "-"

    def __post_init__(self) -> None:
        if self.x == 13:
            raise InvalidArgumentError("x must not be 13", argument="x")
        if self.x == 14:
            raise InvalidArgumentError("x and y do not go together")
        if self.x == 15:
            raise KeyError("a mistake in the code")


POINT = Record(Point, [Field("x", INTEGER), Field("y", INTEGER, 0), Field("label", TEXT, OPTIONAL)])
LINES = list_of(list_of(POINT))


def mistakes(codec: Codec, value: Any, context: Context = COLLECT) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        codec.read(value, context)
    return [str(each) for each in caught.value.errors or (caught.value,)]


# --- paths and mistakes

BROKEN = [[{"x": 1}, {"x": "one", "y": 0.5}], 5, [{}, {"x": 13}, {"x": 14}, []]]


def test_the_first_mistake_stops_reading() -> None:
    assert mistakes(LINES, BROKEN, STOP) == ["[0][1].x: must be an integer, not 'one' (str)"]


def test_all_mistakes_are_collected_in_the_order_of_the_document() -> None:
    assert mistakes(LINES, BROKEN) == [
        "[0][1].x: must be an integer, not 'one' (str)",
        "[0][1].y: must be an integer, not 0.5 (float)",
        "[1]: must be a list, not 5 (int)",
        "[2][0].x: is missing",
        "[2][1].x: must not be 13",
        "[2][2]: x and y do not go together",
        "[2][3]: must be an object, not a list",
    ]


def test_nothing_is_built_of_fields_with_a_mistake() -> None:
    assert mistakes(POINT, {"x": 13, "y": "two"}) == ["y: must be an integer, not 'two' (str)"]


@pytest.mark.parametrize("context", [STOP, COLLECT])
def test_an_error_in_the_code_of_a_constructor_is_never_collected(context: Context) -> None:
    with pytest.raises(BuildError) as caught:
        LINES.read([[{"x": "one"}]] * (context is COLLECT) + [[{"x": 15}]], context)
    assert isinstance(caught.value.cause, KeyError)
    assert caught.value.path == f"[{int(context is COLLECT)}][0]"


def test_writing_stops_at_the_first_mistake_or_collects_all_like_reading() -> None:
    bad = Point("a", "b")  # type: ignore[arg-type]
    cases: list[tuple[Codec, Any, list[str]]] = [
        (
            LINES,
            [[Point(1)], [bad, Point(None)]],  # type: ignore[arg-type]
            [
                "[1][0].x: must be an integer, not 'a' (str)",
                "[1][0].y: must be an integer, not 'b' (str)",
                "[1][1].x: must be an integer, not None (NoneType)",
            ],
        ),
        (
            map_of(TEXT, INTEGER),
            {"a": 1, "b c": 0.5, "d": "e"},
            ['["b c"]: must be an integer, not 0.5 (float)', "d: must be an integer, not 'e' (str)"],
        ),
        (POINT, 5, ["must be of type Point, not 5 (int)"]),
    ]
    for codec, value, texts in cases:
        for context, expected in ((STOP, texts[:1]), (COLLECT, texts)):
            with pytest.raises(DocumentError) as caught:
                codec.write(value, context)
            assert [str(each) for each in caught.value.errors or (caught.value,)] == expected


def test_an_object_is_any_mapping() -> None:
    with pytest.raises(DocumentError, match=r"^must be an object, not a list$"):
        as_object([])


# --- records


def test_fields_are_read_in_both_spellings_and_written_in_one() -> None:
    @dataclass
    class Size:
        max_width: int
        depth: int = 3

    codec = Record(Size, [Field("maxWidth", INTEGER), Field("deep_down", INTEGER, 3, attribute="depth")])
    for document in ({"maxWidth": 1, "deep_down": 2}, {"max_width": 1, "deepDown": 2}):
        assert codec.read(document, Context(strict=True)) == Size(1, 2)
    assert codec.write(Size(1, 2), STOP) == {"maxWidth": 1, "deep_down": 2}
    assert codec.write(Size(1), STOP) == {"maxWidth": 1}


def test_a_field_has_two_spellings_at_most() -> None:
    names = ["x", "maxWidth", "max_width", "maxWidth_x"]
    spellings = [("x",), ("maxWidth", "max_width"), ("max_width", "maxWidth"), ("maxWidth_x", "max_width_x")]
    assert [Field(name, TEXT).spellings for name in names] == spellings


def test_an_optional_field_is_always_written() -> None:
    assert POINT.write(Point(1), STOP) == {"x": 1, "label": "-"}


def test_words_are_joined_and_separated() -> None:
    assert [camel("metadata_trust"), camel("metadataTrust"), camel("x")] == ["metadataTrust", "metadataTrust", "x"]
    assert [snake("metadataTrust"), snake("metadata_trust"), snake("BM25")] == [
        "metadata_trust",
        "metadata_trust",
        "BM25",
    ]


UNKNOWN = {"x": 1, "lable": "a", "colour": "red", 5: "five", "radius": 1, "angle": 2}
CIRCLE = Record(
    Point, POINT.fields, other_keys=("type",), related_keys={"radius": "only circles have a radius", "angle": ""}
)


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        (Context(collect=True), []),
        (
            Context(collect=True, suggest=True),
            ["lable: unknown field; did you mean 'label'?", "radius: only circles have a radius"],
        ),
        (
            Context(collect=True, strict=True),
            [f"{key}: unknown field; expected one of type, x, y, label" for key in ("lable", "colour", '["5"]')]
            + [f"{key}: unknown field; expected one of type, x, y, label" for key in ("radius", "angle")],
        ),
    ],
)
def test_unknown_fields_are_ignored_suggested_or_refused(context: Context, expected: list[str]) -> None:
    if expected:
        assert mistakes(CIRCLE, UNKNOWN, context) == expected
    else:
        assert CIRCLE.read(UNKNOWN, context) == Point(1)


def test_a_foreign_field_that_is_null_is_absent() -> None:
    assert CIRCLE.read({"x": 1, "radius": None}, Context(suggest=True)) == Point(1)


# --- names


class Mood(StrEnum):
    CALM = "calm"
    VERY_CALM = "very-calm"
    LOUD = "VERYCALM"


def test_a_choice_is_read_in_any_spelling_the_exact_one_first() -> None:
    codec = choice(Mood)
    assert codec.read("Calm", STOP) is Mood.CALM
    assert codec.read("very-calm", STOP) is Mood.VERY_CALM
    assert codec.read("VERYCALM", STOP) is Mood.LOUD
    assert type(codec.write(Mood.CALM, STOP)) is str
    assert mistakes(codec, "clam") == [
        "must be one of calm, very-calm, VERYCALM, not 'clam' (str); did you mean 'calm'?"
    ]


def test_kinds_that_differ_only_by_case_are_duplicates() -> None:
    assert mistakes(map_of(KIND, INTEGER), {"Note": 1, "note": "x", "NOTE": 2}) == [
        "note: duplicate kind 'note' (kinds are case-insensitive)",
        "NOTE: duplicate kind 'NOTE' (kinds are case-insensitive)",
    ]


# --- schemas


@pytest.mark.parametrize(
    ("codec", "good", "bad"),
    [
        (TEXT, "a", 1),
        (FLAG, True, 0),
        (FINITE, 0.5, "0.5"),
        (JSON, {"a": [None, 1]}, None),
        (KIND, "Note", " "),
        (limited(INTEGER, low=0, high=5), 5, 6),
        (limited(FINITE, above=0), 0.1, 0),
        (choice(("inner", "score")), "score", "random"),
        (list_of(INTEGER, at_least=1), [1], []),
        (map_of(KIND, FLAG), {"Note": True}, {" ": True}),
        (POINT, {"x": 1, "label": "a"}, {"y": 1}),
    ],
)
def test_a_schema_says_what_reading_says(codec: Codec, good: Any, bad: Any) -> None:
    validator = Draft202012Validator(codec.schema())
    codec.read(good, STOP)
    assert validator.is_valid(good)
    if bad is not None:
        mistakes(codec, bad)
        assert not validator.is_valid(bad)


WIRE = {**documents.CODECS, **documents.REASON_CODECS}


@pytest.mark.parametrize("cls", WIRE, ids=lambda cls: cls.__name__)
def test_every_document_of_the_wire_is_right_for_its_schema(cls: type[Any]) -> None:
    validator = Draft202012Validator(WIRE[cls].schema())
    samples = [document for value, document in EVERYTHING if isinstance(value, cls)]
    for document in samples or [REPORT_DOCUMENT]:
        assert validator.is_valid(document)
    assert not validator.is_valid({})


def test_a_schema_is_a_copy() -> None:
    TEXT.schema().clear()
    assert TEXT.schema() == {"type": "string"}
