"""The estimator: what it counts exactly, what it estimates, and that no text is too strange for it."""

from __future__ import annotations

import base64
import random
from typing import Any

import pytest

from pycupel.tokens import estimate_tokens, splintr
from pycupel.tokens.estimate import COSTS, count_features

EXACT = splintr.load("o200k_base")[0]


def features(text: str) -> dict[str, int]:
    """Those that the text has, without those that only matter in long runs."""
    found = dict(zip(COSTS, count_features(text), strict=False))
    return {name: count for name, count in found.items() if count and not name.endswith("after another")}


def test_no_text_has_no_tokens() -> None:
    assert estimate_tokens("") == 0


@pytest.mark.parametrize("text", [" ", "\n", "\t", "\r\n", "a", "0", "\x00", "\ud800", "\u200d", "é", "中"])
def test_any_text_has_at_least_one(text: str) -> None:
    assert estimate_tokens(text) >= 1


@pytest.mark.parametrize("text", ["hi", "OK", "continue", "{}", "Hello, world!", "12345", "foo.bar()", "x = 1\n"])
def test_short_texts_are_right(text: str) -> None:
    """Users send "yes" and "continue" as messages, so a token too many each time would add up."""
    assert estimate_tokens(text) == EXACT(text)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("one two three", 3),
        ("camelCase", 2),
        ("HTTPServer", 1),
        ("(a, b)", 5),
        ("end.\n", 2),
        ("end\n\n\n", 2),
        ("1234567", 3),
        ("a1b22c333", 6),
        ('{"a":[1,2]}', 7),
    ],
)
def test_pieces_are_counted_as_a_tokenizer_cuts_them(text: str, pieces: int) -> None:
    assert features(text)["piece"] == pieces


def test_a_blank_belongs_to_a_word_but_not_to_a_number() -> None:
    assert features("a b c") == {"piece": 3}
    assert features("a 1 c") == {"piece": 3, "number after a blank": 1}


def test_more_than_one_blank_is_a_gap() -> None:
    assert features("a    b") == {"piece": 2, "gap": 1}
    assert features("if x:\n        y") == {"piece": 4, "gap": 1}


def test_a_mark_between_words_is_no_piece_of_its_own() -> None:
    assert features("a.b") == {"piece": 3, "word joined by a mark": 1}
    assert features("a-b") == {"piece": 3, "word after another mark": 1}


@pytest.mark.parametrize(
    ("plain", "strange"),
    [
        ("see /usr", "see /qwertyuiop"),
        ("the string", "the strpbrk"),
        ("the file again", "THE FILE AGAIN"),
        ("a ) b", "a }]);(( b"),
        ("a" * 10, "a" * 60),
    ],
)
def test_what_a_vocabulary_hardly_holds_costs_more(plain: str, strange: str) -> None:
    assert estimate_tokens(strange) > estimate_tokens(plain)


@pytest.mark.parametrize(
    ("kind", "character"),
    [
        ("accented letter", "é"),
        ("Greek to Arabic", "ж"),
        ("Greek to Arabic", "ע"),
        ("Indic to Khmer", "ก"),
        ("Chinese to Korean", "中"),
        ("Chinese to Korean", "か"),
        ("Chinese to Korean", "한"),
        ("symbol", "→"),
        ("emoji", "🚀"),
    ],
)
def test_other_scripts_are_known_by_their_first_byte(kind: str, character: str) -> None:
    assert features(character * 5)[kind] == 5


def test_letters_of_other_alphabets_make_words() -> None:
    assert features("съешь ещё этих")["piece"] == 3
    assert features("naïve café")["piece"] == 2


# --- data


def test_data_is_priced_by_the_character() -> None:
    """base64 is what the rule of four characters to a token gets wrong most: by a factor of nearly three."""
    text = base64.b64encode(random.Random(3).randbytes(3_000)).decode()
    assert count_features(text)[0] == len(text)
    assert 0.95 <= estimate_tokens(text) / EXACT(text) <= 1.15


def test_data_between_words_is_found() -> None:
    key = "AKz8Q2mN7rT4wX1yB6cV9dF3"
    assert count_features(f"key={key}: fine")[0] == len(f"key={key}")
    assert count_features(f'"{key}" and "{key}"')[0] == 2 * len(key)
    assert count_features(f"the end: {key}")[0] == len(key)
    assert features(f'"{key}"') == {"data": 24, "piece": 1}


@pytest.mark.parametrize(
    "text",
    [
        "src/some/long/path/to/a/module_with_a_long_name",
        "d41d8cd98f00b204e9800998ecf8427e",
        "AVeryLongClassNameThatSomebodyHasWritten",
        "A_CONSTANT_WITH_A_VERY_LONG_NAME_AND_2_DIGITS",
        "a" * 100,
        "x9" * 11,
    ],
)
def test_long_names_paths_and_hexadecimals_are_no_data(text: str) -> None:
    assert count_features(text)[0] == 0


# --- strange input


@pytest.mark.parametrize(
    "unit", ["a", "A", "0", " ", "\n", ".", "\t", "é", "中", "🚀", "\ud800", "aA", "a.", "aB3", " 0", "\r\n"]
)
def test_a_million_of_one_thing_are_no_trouble(unit: str) -> None:
    """The result grows with the text, whatever it is made of."""
    some, many = estimate_tokens(unit * 10_000), estimate_tokens(unit * 1_000_000)
    assert 90 <= many / some <= 101


@pytest.mark.parametrize("value", [None, b"", 0, [], b"text", ["text"]])
def test_only_a_str_will_do(value: Any) -> None:
    with pytest.raises(TypeError, match="text must be a str"):
        estimate_tokens(value)


def test_a_str_of_ones_own_will_do_too() -> None:
    class Prompt(str):
        __slots__ = ()

    assert estimate_tokens(Prompt("Hello, world!")) == 4
    assert estimate_tokens(Prompt()) == 0


def test_the_costs_are_whole_numbers() -> None:
    """PY-01: no floats are summed, so the result is the same on every machine."""
    assert {type(cost) for cost in COSTS.values()} == {int}
