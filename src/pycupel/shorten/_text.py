"""Find where a text may be cut without breaking it."""

from __future__ import annotations

import re
from unicodedata import combining

# Escape sequences of terminals, and of JSON and programs.
TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|\][^\x07\x1b]*\x07?|.)", re.DOTALL)
_ESCAPE = re.compile(rf"{TERMINAL.pattern}|\\(?:u[0-9a-fA-F]{{4}}|x[0-9a-fA-F]{{2}}|.)", re.DOTALL)
_LONGEST_ESCAPE = 64
# Characters that join with the one before: variation selectors, skin tones, tags, and the joiner of emoji.
_JOINING = re.compile("[\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\udc00-\udfff]")
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]")
# Bidirectional marks, which change the direction of the following text up to another mark.
DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffd]")
_BINARY_SHARE = 0.05
_SAMPLE = 65_536
# Longer runs of joined characters are cut: no real text has them.
_MAX_JOINED = 64


def is_binary(text: str) -> bool:
    """Whether a text is binary: it has a NUL, or many control characters at its start."""
    sample = text[:_SAMPLE]
    return "\x00" in text or len(_CONTROL.findall(sample)) > _BINARY_SHARE * len(sample)


def head_end(text: str, limit: int) -> int:
    """Find the last index up to `limit` where a head may end: after a line or a word, if one ends in its last half.

    It is 0 if a text with bidirectional marks has no such line, because part of a line would read differently.
    """
    line = text.rfind("\n", limit // 2, limit) + 1
    if line or DIRECTION.search(text):
        return line
    word = text.rfind(" ", limit // 2, limit) + 1
    return safe_index(text, word or limit)


def tail_start(text: str, start: int) -> int:
    """Find the first index from `start` where a tail may start: at a line or word, if one starts in its first half.

    It is the end of a text with bidirectional marks that has no such line.
    """
    middle = start + (len(text) - start) // 2
    line = text.find("\n", start, middle) + 1
    if line:
        return line
    if DIRECTION.search(text):
        return len(text)
    word = text.find(" ", start, middle) + 1
    return safe_index(text, word or start)


def safe_index(text: str, index: int) -> int:
    """Find the nearest index at or before this one that is not inside a character or an escape sequence."""
    return _outside_escape(text, _outside_character(text, index))


def _outside_character(text: str, index: int) -> int:
    least = max(0, index - _MAX_JOINED)
    while least < index < len(text) and _joins(text, index):
        index -= 1
    return index


def _joins(text: str, index: int) -> bool:
    """Whether the character at an index belongs to the one before it."""
    here, before = text[index], text[index - 1]
    if combining(here) or _JOINING.match(here) or before == "\u200d" or (here, before) == ("\n", "\r"):
        return True
    if not _FLAG.match(here):
        return False
    # A flag is a pair of letters, and several may follow each other.
    start = index
    while start > 0 and _FLAG.match(text[start - 1]):
        start -= 1
    return (index - start) % 2 == 1


def _outside_escape(text: str, index: int) -> int:
    start = max(0, index - _LONGEST_ESCAPE)
    for match in _ESCAPE.finditer(text, start, index + _LONGEST_ESCAPE):
        if match.start() < index < match.end():
            return match.start()
    return index
