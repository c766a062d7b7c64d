"""The estimator: what it counts exactly, what it estimates, and that no text is too strange for it."""

from __future__ import annotations

import base64
import random
from typing import Any

import pytest

from pycupel.tokens import estimate_tokens, families
from pycupel.tokens.estimate import (
    BLOCK_ROWS,
    KINDS,
    LETTERS,
    ROW_GROUPS,
    estimate,
    find_features,
    read_costs,
)
from pycupel.tokens.models import read_table

EXACT = families.load_splintr("o200k_base")[0]
# The tables of costs, and the vocabularies that they were fitted to.
VOCABULARIES = {
    "o200k": "o200k_base",
    "cl100k": "cl100k_base",
    "llama2": "llama2",
    "llama3": "llama3",
    "qwen": "qwen",
    "deepseek": "deepseek_v3",
    "gemma2": "gemma2",
    "gemma3": "gemma3",
    "mistral": "mistral_v2",
    "tekken": "tekken",
    "glm": "glm4",
    "kimi": "kimi_k2",
}


def kinds(text: str) -> list[str]:
    """The kind of each character, after digits and blanks are grouped; each pair starts with the kind before it."""
    names = list(KINDS)
    pairs = find_features(text).kinds
    found = [names[pair & 15] for pair in pairs]
    assert [names[pair >> 4] for pair in pairs] == ["line end", *found][:-1]
    return found


def letter_pairs(text: str) -> list[tuple[str, str]]:
    """The pairs of letters that count, by the groups that they are in."""
    return [(LETTERS[pair >> 4], LETTERS[pair & 15]) for pair in find_features(text).letters if pair]


def test_no_text_has_no_tokens() -> None:
    assert estimate_tokens("") == 0


@pytest.mark.parametrize("text", [" ", "\n", "\t", "\r\n", "a", "0", "\x00", "\ud800", "\u200d", "é", "中"])
def test_any_text_has_at_least_one(text: str) -> None:
    assert estimate_tokens(text) >= 1


@pytest.mark.parametrize("text", ["hi", "OK", "continue", "{}", "Hello, world!", "12345", "x = 1\n"])
def test_short_texts_are_right(text: str) -> None:
    """Users send "yes" and "continue" as messages, so a token too many each time would add up."""
    assert estimate_tokens(text) == EXACT(text)


def test_characters_are_known_by_their_kinds() -> None:
    assert kinds("Hi, é") == ["capital", "letter", "separator", "blank", "letter"]
    assert kinds('("a"/.\t)') == ["opening", "quote", "letter", "quote", "dash", "dot", "tab", "closing"]
    assert kinds("a\r\n+→中🚀ж") == [
        *("letter", "line end", "line end", "other mark", "symbol"),
        *("Chinese to emoji", "Chinese to emoji", "letter"),
    ]


@pytest.mark.parametrize(
    ("text", "numbers"), [("1", 1), ("12", 1), ("123", 1), ("1234", 2), ("1234567", 3), ("a1b22", 2)]
)
def test_a_number_is_a_group_of_up_to_three_digits(text: str, numbers: int) -> None:
    assert kinds(text).count("number") == numbers


def test_more_than_one_blank_is_a_gap() -> None:
    assert kinds("a b") == ["letter", "blank", "letter"]
    assert kinds("a  b") == ["letter", "gap", "letter"]
    assert kinds("a   b") == ["letter", "gap", "blank", "letter"]


def test_letters_count_from_the_third_of_a_word_on() -> None:
    """Short words are one token each."""
    assert letter_pairs("an at it") == []
    assert letter_pairs("and") == [("n", "df")]
    assert letter_pairs("and NINE") == [("n", "df"), ("i", "n"), ("n", "e")]
    assert letter_pairs("très даже") == [("brw", "v"), ("v", "ms"), ("ky", "ky"), ("ky", "ky")]


def test_skips_are_pairs_with_one_letter_between_them() -> None:
    assert [(LETTERS[pair >> 4], LETTERS[pair & 15]) for pair in find_features("and").skips if pair] == [("a", "df")]


def test_other_scripts_are_known_by_their_blocks_and_rows() -> None:
    found = find_features("aжक中")
    assert list(found.rows) == [0x00, 0x04, 0x09, 0x4E]
    assert [divmod(block, 16) for block in found.blocks] == [
        (BLOCK_ROWS.index(0x00), 6),
        (BLOCK_ROWS.index(0x04), 3),
        (BLOCK_ROWS.index(0x09), 1),
        (len(BLOCK_ROWS), 2),
    ]


def test_ascii_has_no_blocks() -> None:
    assert (find_features("a").blocks, find_features("a").rows) == (b"", b"")


@pytest.mark.parametrize(
    ("plain", "strange"),
    [
        ("see /usr", "see /qwertyuiop"),
        ("the string", "the strpbrk"),
        ("the file was not opened at all", "THE FILE WAS NOT OPENED AT ALL"),
        ("a ) b", "a }]);(( b"),
        ("a" * 10, "a" * 60),
        ("the people said nothing at all about it", "Alkuperäinen hakemisto ei ole kirjoitettavissa"),
    ],
)
def test_what_a_vocabulary_hardly_holds_costs_more(plain: str, strange: str) -> None:
    assert estimate_tokens(strange) > estimate_tokens(plain)


def test_letters_cost_half_a_token_at_most() -> None:
    assert estimate_tokens("a" * 1_000) <= 501


# A sentence in each of these languages; docs/tokens.md has the figures for whole windows.
SENTENCES = {
    "English": "The committee met on Tuesday and decided to postpone the vote until the missing report had arrived.",
    "Italian": "Il comitato si è riunito martedì e ha deciso di rinviare il voto fino all'arrivo della relazione.",
    "Finnish": "Valiokunta kokoontui tiistaina ja päätti lykätä äänestystä, kunnes puuttuva selvitys olisi saapunut.",
    "Basque": "Batzordea asteartean bildu zen, eta bozketa atzeratzea erabaki zuen, falta zen txostena iritsi arte.",
    "Russian": "Комитет собрался во вторник и решил отложить голосование, пока не придёт недостающий отчёт.",
    "Greek": "Η επιτροπή συνεδρίασε την Τρίτη και αποφάσισε να αναβάλει την ψηφοφορία μέχρι να φτάσει η έκθεση.",  # noqa: RUF001 - Greek
    "Thai": "คณะกรรมการประชุมกันในวันอังคารและตัดสินใจเลื่อนการลงคะแนนออกไปจนกว่ารายงานที่ขาดอยู่จะมาถึง",
    "Hindi": "समिति की बैठक मंगलवार को हुई और उसने रिपोर्ट आने तक मतदान टालने का फ़ैसला किया।",
    "Chinese": "委员会于星期二开会决定将表决推迟到所缺的报告送达之后。",
}


@pytest.mark.parametrize("language", SENTENCES)
@pytest.mark.parametrize("costs", VOCABULARIES)
def test_languages_of_the_world_are_near_for_every_vocabulary(costs: str, language: str) -> None:
    text = SENTENCES[language]
    low, high = (0.8, 1.45) if costs == "o200k" else (0.75, 1.65)
    assert low <= estimate(text, read_costs(costs)) / families.load_splintr(VOCABULARIES[costs])[0](text) <= high


# Scripts that the estimator was not fitted to, because no text at hand has them.
@pytest.mark.parametrize(
    "text",
    [
        "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ᎠᏂᏴᏫᏯᎢ ᎤᎾᏓᏤᎵ",  # Cherokee
        "ᚠᛇᚻ ᛒᛦᚦ ᚠᚱᚩᚠᚢᚱ ᚠᛁᚱᚪ ᚷᛖᚻᚹᛦᛚᚳᚢᛗ",  # runes
        "ᜀᜅ᜔ ᜎᜑᜆ᜔ ᜈᜅ᜔ ᜆᜂ",  # Tagalog, in a row with Khmer
        "𞤋𞤲𞤢𞥄𞤥𞤢 𞤢𞤣𞤫 𞤨𞤮𞤼𞤭",  # Adlam, which starts like an emoji
        "𐌰𐌻𐌻𐌰𐌹 𐌼𐌰𐌽𐌽𐌰",  # Gothic
        "\U0001d5ef\U0001d5fc\U0001d5f9\U0001d5f1 \U0001d5f1\U0001d5fc",  # bold letters of mathematics
        "ꦏꦧꦺꦃ ꦲꦸꦮꦺꦴꦁ",  # Javanese
        "ⵉⵎⴷⴰⵏⵏ ⴰⴽⴽⵯ",  # Tifinagh
    ],
)
@pytest.mark.parametrize("costs", VOCABULARIES)
def test_an_unknown_script_is_counted_by_its_bytes(costs: str, text: str) -> None:
    """A vocabulary that knows nothing of a script has a token for each byte, and none has more than its bytes."""
    tokens = families.load_splintr(VOCABULARIES[costs])[0](text)
    estimated = estimate(text, read_costs(costs))
    assert tokens / estimated <= 1.05
    assert estimated <= 1.6 * len(text.encode())


def test_rare_scripts_are_told_from_common_ones_in_the_same_row() -> None:
    assert find_features("ខ្មែរ 🚀").rare == 0
    assert find_features("ᜆᜂ ខ្មែរ 🚀 𞤋𞤲 \U0001d5ef").rare == 5


# --- data


def test_data_is_priced_by_the_character() -> None:
    """base64 is what the rule of four characters to a token gets wrong most: by a factor of nearly three."""
    text = base64.b64encode(random.Random(3).randbytes(3_000)).decode()
    assert find_features(text).data == len(text)
    assert 0.95 <= estimate_tokens(text) / EXACT(text) <= 1.15


def test_data_between_words_is_found() -> None:
    key = "AKz8Q2mN7rT4wX1yB6cV9dF3"
    assert find_features(f"key={key}: fine").data == len(f"key={key}")
    assert find_features(f'"{key}" and "{key}"').data == 2 * len(key)
    assert find_features(f"the end: {key}").data == len(key)
    assert kinds(f'"{key}"') == ["quote", "quote"]


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
    assert find_features(text).data == 0


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


@pytest.mark.parametrize("name", VOCABULARIES)
def test_the_costs_are_whole_numbers_of_a_byte(name: str) -> None:
    """PY-01: no floats are summed, so the result is the same on every machine."""
    costs = read_table(f"costs/{name}.txt")
    tables = [costs[each] for each in ("kinds", "letters", "skips", "blocks", "rows")]
    assert [len(table) for table in tables] == [256, 256, 256, 256, len(ROW_GROUPS)]
    assert all(0 <= cost <= 255 for table in tables for cost in table)
    assert costs["digits"] in ([1], [3])
    assert [len(costs[each]) for each in ("data", "common", "rare")] == [1, 1, 1]
