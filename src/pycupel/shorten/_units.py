"""The information in a text, in units: identifiers, paths, named numbers, error messages, headings; words count less.

An identifier counts 1. Among records, such as the elements of a JSON array or the rows of a table, those stand out that
have rare values, errors, or words of the question. The time is proportional to the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log2

from pycupel.kernels.words import STOP_WORDS, stem, words

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

# What differs between lines that say the same: ids with digits among their letters, hexadecimal ones, and numbers.
_VARYING = re.compile(r"(?<![^\W_])(?=[a-zA-Z]*\d)(?:[0-9a-fA-F]{8,}|(?:[a-zA-Z]*\d){3}[a-zA-Z\d]{5,})(?![^\W_])|\d+")
_ERROR_VALUE = re.compile(r"\b(?:error|fail|fatal|panic|exception|critical|severe|traceback)", re.IGNORECASE)

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


def template_of(text: str) -> str:
    """Replace everything that differs between lines that say the same: numbers, times and ids."""
    return _VARYING.sub("#", text)


# A value that one record in four has does not stand out.
_LEAST_BITS = 2.0
# How much more errors and the words of a question say than other values of the same rarity.
_ADVANTAGE = 2.0
_MOST_WORDS = 64
_LONGEST_VALUE = 200


def standing_out(records: Sequence[Iterable[tuple[str, str]]], texts: Sequence[str], query: str | None) -> list[float]:
    """Return how much each record stands out, in bits; 0 if it does not.

    Records stand out by a value that few others have under the same key, by a sign of an error, or by a word of the
    question. If most of them would, none does. The values of a key say the less, the more of them are different: those
    of ids and times say nothing. Texts that differ only in numbers count as the same, if all of them are different.

    Args:
        records: The keys and values of each record.
        texts: The text of each record.
        query: The question, if there is one.
    """
    columns: dict[str, tuple[list[int], list[str]]] = {}
    erroneous: set[int] = set()
    for i, record in enumerate(records):
        for key, value in record:
            indices, values = columns.setdefault(key, ([], []))
            indices.append(i)
            values.append(value[:_LONGEST_VALUE])
    bits = [0.0] * len(texts)
    for indices, values in columns.values():
        # A key that few records have stands out as a rare value does.
        own = log2(len(texts) / len(set(indices)))
        for i, value_bits in zip(indices, _rarities(values), strict=True):
            bits[i] = max(bits[i], own + value_bits)
        different = {value for value in set(values) if _ERROR_VALUE.search(value)}
        erroneous.update(i for i, value in zip(indices, values, strict=True) if value in different)
    folded = [text.lower() for text in texts]
    signs = [[i for i, text in enumerate(folded) if word in text] for word in _words_of(query)]
    for found in (erroneous, *signs):
        if 0 < len(found) <= len(texts) / 2:
            rarity = log2(len(texts) / len(found)) + _ADVANTAGE
            for i in found:
                bits[i] = max(bits[i], rarity)
    least = max(_LEAST_BITS, max(bits, default=0.0) / 2)
    outstanding = [each if each >= least else 0.0 for each in bits]
    return outstanding if 2 * sum(map(bool, outstanding)) <= len(texts) else [0.0] * len(texts)


def _rarities(values: Sequence[str]) -> list[float]:
    """Return how rare each value is among those of its key, in bits, less if most of them are different."""
    counts = Counter(values)
    if 2 * len(counts) > len(values):
        templates = {value: template_of(value) for value in counts}
        values = [templates[value] for value in values]
        counts = Counter(values)
    weight = (1 - (len(counts) - 1) / len(values)) ** 3
    rarity = {value: weight * log2(len(values) / count) for value, count in counts.items()}
    return [rarity[value] for value in values]


def _words_of(query: str | None) -> list[str]:
    """Return the beginnings of words to look for."""
    folded = [word.lower() for word in words(query or "")]
    stems = [stem(word) for word in folded if len(word) > 2 and word not in STOP_WORDS]
    return list(dict.fromkeys(stems))[:_MOST_WORDS]
