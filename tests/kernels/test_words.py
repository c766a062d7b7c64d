"""The words of a text, and the forms under which they are found."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pycupel import ContextItem
from pycupel.kernels.words import (
    Corpus,
    analysis_of,
    bm25,
    date_terms,
    query_terms,
    stem,
    term_weights,
    terms,
    with_dates,
    words,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param(" \n\0-?!", [], id="no words"),
        pytest.param("Don't stop, user_1!", ["Don", "t", "stop", "user_1"], id="punctuation separates"),
        pytest.param("cafe\u0301 na\u00efve", ["caf\u00e9", "na\u00efve"], id="accents are composed"),
        pytest.param("\uff21\uff22\uff23", ["ABC"], id="full-width letters are letters"),
        pytest.param(
            "\u0939\u093f\u0928\u094d\u0926\u0940 \u0964", ["\u0939\u093f\u0928\u094d\u0926\u0940"], id="marks"
        ),
        pytest.param("x" * 100, ["x" * 64, "x" * 36], id="what is too long for a word is cut"),
        pytest.param("\u00e9" * 100, ["\u00e9" * 64, "\u00e9" * 36], id="in any script"),
    ],
)
def test_words_are_found_in_any_script(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("cats", "cat"),
        ("stories", "story"),
        ("ties", "tie"),
        ("boxes", "box"),
        ("churches", "church"),
        ("classes", "class"),
        ("axes", "axe"),
        ("class", "class"),
        ("status", "status"),
        ("analysis", "analysis"),
        ("houses", "hous"),
        ("house", "hous"),
        ("named", "nam"),
        ("naming", "nam"),
        ("planned", "plan"),
        ("planning", "plan"),
        ("hopped", "hop"),
        ("called", "call"),
        ("passing", "pass"),
        ("studied", "study"),
        ("tried", "try"),
        ("died", "died"),
        ("string", "string"),
        ("shred", "shred"),
        ("being", "being"),
        ("adding", "add"),
        ("meetings", "meet"),
        ("red", "red"),
        ("use", "use"),
        ("word", "word"),
        ("42s", "42s"),
        ("caf\u00e9s", "caf\u00e9s"),
    ],
)
def test_stems_are_light(word: str, expected: str) -> None:
    """Plurals and verb forms, and only of English words."""
    assert stem(word) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        pytest.param("word", {"word": 1.0}, id="a word that is its own stem"),
        pytest.param("Meetings", {"meetings": 0.5, "meet": 0.5}, id="as it is, and by its stem"),
        pytest.param("HTTP", {"http": 1.0}, id="capitals are one part"),
        pytest.param("HTTPServer", {"httpserver": 1.0, "http": 0.5, "server": 0.5}, id="capitals before a word"),
        pytest.param(
            "maxTokens", {"maxtokens": 0.5, "maxtoken": 0.5, "max": 0.5, "tokens": 0.25, "token": 0.25}, id="camel"
        ),
        pytest.param("_max_tokens", {"_max_tokens": 1.0, "max": 0.5, "tokens": 0.25, "token": 0.25}, id="snake"),
        pytest.param("is_empty", {"is_empty": 1.0, "empty": 0.5}, id="a part can be a stop word"),
        pytest.param("_private", {"_private": 1.0, "private": 0.25, "privat": 0.25}, id="one part, but not all"),
        pytest.param("utf8", {"utf8": 1.0, "utf": 0.5, "8": 0.5}, id="numbers are parts"),
        pytest.param("the", {}, id="a stop word"),
        pytest.param("THE", {}, id="in any case"),
        pytest.param("Stra\u00dfe", {"strasse": 0.5, "strass": 0.5}, id="case is folded"),
        pytest.param(
            "\u00c9coleNormale",
            {"\u00e9colenormale": 1.0, "\u00e9cole": 0.5, "normale": 0.25, "normal": 0.25},
            id="not only ASCII",
        ),
        pytest.param(
            "\u0939\u093f\u0928\u094d\u0926\u0940",
            {"\u0939\u093f\u0928\u094d\u0926\u0940": 1.0},
            id="marks make no parts",
        ),
        pytest.param(
            "\u65e5\u672c\u8a9e", {"\u65e5\u672c": 1.0, "\u672c\u8a9e": 1.0}, id="pairs where nothing separates words"
        ),
        pytest.param("\u6c34", {"\u6c34": 1.0}, id="a single character"),
        pytest.param("Python\u5165\u9580", {"python": 1.0, "\u5165\u9580": 1.0}, id="mixed scripts"),
    ],
)
def test_a_word_has_forms_with_weights(word: str, expected: dict[str, float]) -> None:
    """`terms` are the same forms, without the weights."""
    assert term_weights(word) == expected
    assert sorted(terms(word)) == sorted(expected)


def test_the_terms_of_a_query_add_up() -> None:
    """A word that is asked for twice counts twice, and stop words do not count."""
    assert query_terms("What is the plan, the Plan of planning?") == {"plan": 2.5, "planning": 0.5}
    assert query_terms("to be or not to be") == {}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("vecchi", {"vecchi": 0.7, "vecch*": 0.3}, id="more than five letters"),
        pytest.param("casas", {"casas": 0.5, "casa": 0.5}, id="five letters"),
        pytest.param("Straßen", {"strassen": 0.7, "stras*": 0.3}, id="case is folded"),
        pytest.param("maxTokens", {"max": 0.5}, id="an identifier has parts"),
        pytest.param("УСТРОЙСТВА", {"устройства": 0.7, "устро*": 0.3}, id="capitals"),
        pytest.param("المستندات", {"المست*": 0.3}, id="a script without case"),
        pytest.param("max_tokens", {"max_tokens": 1.0}, id="only letters have endings"),
        pytest.param("because", {}, id="a stop word"),
        pytest.param("日本語日本語", {"日本": 2.0}, id="scripts without spaces have pairs"),
        pytest.param("vecchi libri with pictures", {"vecchi": 1.0}, id="an English question"),
    ],
)
def test_a_question_without_english_function_words_looks_for_beginnings(query: str, expected: dict[str, float]) -> None:
    found = query_terms(query)
    assert {term: found.get(term) for term in expected} == pytest.approx(expected)
    assert {term for term in found if term.endswith("*")} == {term for term in expected if term.endswith("*")}


def test_a_beginning_is_counted_once_for_each_word() -> None:
    """A word and its stem are two terms of the text, and one word."""
    query = {"libro*": 1.0}
    texts = [
        analysis_of(text) for text in ("libros rojos", "libro rojo", "libros libro", "lib rojo", "changed changing")
    ]
    scores = bm25(query, texts, 1.2, 0.0, Corpus())
    assert scores[0] == scores[1] > 0.0
    assert scores[2] == pytest.approx(scores[0] * 2 * 2.2 / 3.2)
    assert scores[3:] == [0.0, 0.0]
    # So do two words without a common stem.
    assert bm25(query, [analysis_of("libros libroteca")], 1.2, 0.0, Corpus()) == pytest.approx(
        [2.2 / 3.2 * each for each in bm25({"libro*": 2.0}, [analysis_of("libros")], 1.2, 0.0, Corpus())]
    )
    # The stem "chang" has the beginning, too; "hous", of "houses", has not.
    assert bm25({"chang*": 1.0}, texts[4:], 1.2, 0.0, Corpus()) == bm25({"chang": 1.0}, texts[4:], 1.2, 0.0, Corpus())
    houses = [analysis_of("houses")]
    assert bm25({"house*": 1.0}, houses, 1.2, 0.0, Corpus()) == bm25({"houses": 1.0}, houses, 1.2, 0.0, Corpus())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *[
            (text, ["@05-07 2023"])
            for text in (
                "2023-05-07",
                "at 2023-5-7T10:30",
                "7 May 2023",
                "07 MAY, 2023",
                "the 7th of May 2023",
                "7. May 2023",
                "May 7, 2023",
                "may 7th 2023",
                "2023/05/07 10:30:00",
                "2023.05.07",
                "7-May-2023",
                "am 7.5.2023",
                "07.05.2023 um 10 Uhr",
                "[07/May/2023:10:30:00]",
                "May-07-2023",
            )
        ],
        ("on May 7 and 3 Sept.", ["@05-07", "@09-03"]),
        ("May  7 10:30:00 host", ["@05-07"]),
        ("February 29, 2024 or 1 june", ["@02-29 2024", "@06-01"]),
        ("12023-05-07, 2023-05-071, a 2023 May, May 2023, it may be 7, 3 mayors, 1.2.3, 1.2.20234, 192.168.1.2023", []),
    ],
)
def test_a_date_is_one_term_however_it_is_spelled(text: str, expected: list[str]) -> None:
    assert date_terms(text) == expected


def test_dates_are_counted_in_a_text_and_its_timestamp() -> None:
    content = "May 7, 2023 and 2023-05-07, not 7 May"
    text = analysis_of(content)
    noon = ContextItem(content, 1, timestamp=datetime(2023, 5, 7, 12, tzinfo=UTC))
    found = with_dates(text, noon, ["@05-07 2023", "@05-07", "@05-08"])
    assert found.length == text.length
    assert found.counts == {**text.counts, "@05-07 2023": 3, "@05-07": 4}
    assert with_dates(text, ContextItem(content, 1), ["@06-07"]) is text
