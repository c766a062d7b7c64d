"""The information in a text, in units: identifiers, paths, named numbers, error messages, headings; words count less.

An identifier counts 1. The time is proportional to the text.
"""

from __future__ import annotations

import re

# One pass finds words, identifiers and paths, and a number after a name.
_WORD = re.compile(r"([^\W\d][\w./:-]{5,})(?:[ \t]*=?[ \t]*(-?\d[\d.,]*))?")
# An identifier or a path has punctuation in it or after it, such as the colon of a key.
_IDENTIFIER = re.compile(r"[_/.\d:]|[a-z][A-Z]")
# Lines that a logger, compiler or test runner marks as errors, like `12:05 ERROR timeout` or `level=error msg=timeout`.
_MARKED = (
    r"(?-i:\b(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC|FAILED|FAILURE)\b)|\berror\[\w+\]:"
    r'|\b(?:level|severity)"?[ \t]*[=:][ \t]*"?(?:error|fatal|critical|panic)\b'
)
_MENTIONED = (
    r"\b(?:error|fatal|panic|failed|failure|warning|exception)\b\s*[:!\]]|\b[A-Z]\w*(?:Error|Exception)\b:|Traceback"
)
_ERROR = re.compile(f"({_MARKED})|{_MENTIONED}", re.IGNORECASE)
# Every match contains one of these. Most lines do not, and asking for them is much cheaper than a search.
_SIGNS = ("err", "fatal", "panic", "fail", "warning", "exception", "critical", "severe", "traceback")
_HEADING = re.compile(r"\s*(?:#{1,6} |={3,}|[A-Z][A-Z \d]{5,}:?\s*$)")
_DIGITS = re.compile(r"\d+")
_EDGES = "./:-"

# Longer words are data, not names.
_LONGEST = 200
# The units of an ordinary word, of a line that mentions an error or is a heading, and of a line marked as an error.
_ORDINARY = 1 / 32
_LINE = 1 / 2
_MARKED_LINE = 4.0


def units_of(text: str) -> dict[str, float]:
    """Count the units of a line, by identifier, path, number or word."""
    units: dict[str, float] = {}
    for word, number in _WORD.findall(text):
        name = word.strip(_EDGES)
        if len(name) > _LONGEST:
            continue
        # Most words are plain, and asking for that is cheaper than a search.
        if (word.isalpha() and word[1:].islower()) or not _IDENTIFIER.search(word):
            # The same word in a sentence is not the key or identifier.
            units[f" {name}"] = _ORDINARY
        else:
            units[name] = 1.0
        if number:
            units[f"{name} {number}"] = _ORDINARY
    folded = text.lower()
    error = _ERROR.search(text) if any(sign in folded for sign in _SIGNS) else None
    if error is not None and error[1]:
        # A log may repeat an error with other numbers; once is enough.
        units[_DIGITS.sub("#", text.strip())] = _MARKED_LINE
    elif error is not None or _HEADING.match(text):
        units[text.strip()] = _LINE
    return units
