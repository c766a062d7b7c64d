"""HeadAndTail: the beginning and the end of a text."""

from __future__ import annotations

import re

import pytest

from pycupel import ContextItem
from pycupel.errors import InvalidArgumentError
from pycupel.protocols import ShortenContext, TokenCounter
from pycupel.shorten import HeadAndTail

NOTE = re.compile(r"\n?\[\.\.\. [\d,]+ (?:lines|characters) left out \.\.\.\]\n")


def shortened(text: str, tokens: int, counter: TokenCounter | None = len) -> str | None:
    item = ContextItem(text, len(text))
    versions = HeadAndTail(tokens).shorten(item, ShortenContext([item], counter=counter))
    assert all(version.tokens <= tokens and version.original_tokens == len(text) for version in versions)
    return versions[0].content if versions else None


def test_a_beginning_and_an_end_with_one_line_between() -> None:
    text = "".join(f"line {i} of the text\n" for i in range(100))
    version = shortened(text, 150)
    assert version is not None
    head, tail = NOTE.split(version)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert "text\n[... " in version
    assert tail.startswith("line ")
    assert "lines left out" in version


def test_words_are_kept_whole() -> None:
    version = shortened("some words in one line " * 50, 150)
    assert version is not None
    head, tail = NOTE.split(version)
    assert head.endswith(" ")
    assert tail.split()[0] in ("some", "words", "in", "one", "line")
    assert "characters left out" in version


@pytest.mark.parametrize(
    "unit",
    [
        pytest.param("e\u0301", id="a combining mark"),
        pytest.param("\U0001f469\u200d\U0001f4bb", id="a joined emoji"),
        pytest.param("\U0001f1e6\U0001f1f9", id="a flag"),
        pytest.param("\U0001f44d\U0001f3fd", id="a skin tone"),
        pytest.param("\x1b[38;5;196m", id="an escape sequence of a terminal"),
        pytest.param("\\u00e9", id="an escape sequence of JSON"),
        pytest.param("\ud83d\ude00", id="a pair of surrogates"),
    ],
)
@pytest.mark.parametrize("tokens", range(100, 112))
def test_nothing_is_cut_inside(unit: str, tokens: int) -> None:
    version = shortened(unit * 100, tokens)
    assert version is not None
    for part in NOTE.split(version):
        assert len(part) % len(unit) == 0
        assert part == unit * (len(part) // len(unit))


def test_mixed_line_ends_are_kept() -> None:
    text = "one\r\ntwo\rthree\n" * 50
    version = shortened(text, 120)
    assert version is not None
    head, tail = NOTE.split(version)
    assert text.startswith(head)
    assert text.endswith(tail)


def test_text_with_marks_of_direction_is_cut_between_lines_only() -> None:
    assert shortened("\u202eabc " * 200, 120) is None
    version = shortened("\u2067אבגד\u2069 הזחט\n" * 50, 120)
    assert version is not None
    assert all(part.count("\u2067") == part.count("\u2069") for part in NOTE.split(version))


def test_what_is_no_larger_or_binary_or_too_small_has_no_version() -> None:
    assert shortened("short", 10) is None
    assert shortened("\x00" * 1000, 100) is None
    assert shortened("x" * 1000, 3) is None


def test_a_line_of_5_mb() -> None:
    version = shortened("x" * 5_000_000, 1_000, None)
    assert version is not None
    assert len(version) <= 1_000


def test_with_a_counter_the_limit_holds() -> None:
    text = "many short words " * 200
    version = shortened(text, 90, lambda part: 2 * len(part.split()))
    assert version is not None


def test_a_counter_that_finds_every_cut_too_long() -> None:
    assert shortened("word " * 2_000, 90, lambda part: 1 if part.startswith("[...") else 1_000) is None


def test_the_limit_is_checked() -> None:
    with pytest.raises(InvalidArgumentError, match="tokens must be greater than 0"):
        HeadAndTail(0)
