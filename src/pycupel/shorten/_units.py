"""What a text says, in units: identifiers, paths, numbers with a name, error messages, headings; other words a little.

An identifier counts 1. It takes time in proportion to the text.
"""

from __future__ import annotations

import re

__all__ = ["units_of"]

# One pass finds words with what may join them to an identifier or a path, and a number behind a name.
_WORD = re.compile(r"([^\W\d][\w./:-]{5,})(?:[ \t]*=?[ \t]*(-?\d[\d.,]*))?")
# What tells an identifier or a path from a word: a mark inside it or behind it, such as the colon of a key.
_TELLING = re.compile(r"[_/.\d:]|[a-z][A-Z]")
_ERROR = re.compile(
    r"\b(?:error|fatal|panic|failed|failure|warning|exception)\b\s*[:!\]]|\b[A-Z]\w*(?:Error|Exception)\b:|Traceback",
    re.IGNORECASE,
)
_HEADING = re.compile(r"\s*(?:#{1,6} |={3,}|[A-Z][A-Z \d]{5,}:?\s*$)")
_EDGES = "./:-"

# Longer words are data, not names.
_LONGEST = 200
# What an ordinary word counts, and a whole line that is an error message or a heading.
_ORDINARY = 1 / 32
_LINE = 1 / 2


def units_of(text: str) -> dict[str, float]:
    """What a line says, and how much each of it counts."""
    units: dict[str, float] = {}
    for word, number in _WORD.findall(text):
        name = word.strip(_EDGES)
        if len(name) > _LONGEST:
            continue
        if _TELLING.search(word):
            units[name] = 1.0
        else:
            # The same word in a sentence does not say what a key or an identifier says.
            units[f" {name}"] = _ORDINARY
        if number:
            units[f"{name} {number}"] = _ORDINARY
    if _ERROR.search(text) or _HEADING.match(text):
        units[text.strip()] = _LINE
    return units
