"""Percentages and shares of tokens, rounded down."""

from __future__ import annotations

from math import floor


def percent_of(tokens: int, percent: float) -> int:
    """Apply the specification's formula in floats (QS-07), or exact arithmetic beyond their range (DM-02)."""
    try:
        return floor(percent / 100.0 * tokens)
    except OverflowError:
        numerator, denominator = percent.as_integer_ratio()
        return tokens * numerator // (100 * denominator)


def without_percent(tokens: int, percent: float) -> int:
    """Subtract a margin: the specification's formula in floats (EB-01), or exact arithmetic beyond their range."""
    try:
        return floor(tokens * (1.0 - percent / 100.0))
    except OverflowError:
        numerator, denominator = percent.as_integer_ratio()
        return tokens * (100 * denominator - numerator) // (100 * denominator)


def enlarged(tokens: int, percent: float) -> int:
    """Invert `without_percent`; the result may be a few tokens too large. For 100 percent, return `tokens`."""
    if percent <= 0.0 or percent >= 100.0:
        return tokens
    numerator, denominator = percent.as_integer_ratio()
    # In integers, because counts may be larger than any float.
    return -(-tokens * 100 * denominator // (100 * denominator - numerator)) + 1


def share_of(tokens: int, share: float) -> int:
    """Multiply by a share from 0 to 1 and round down; exact beyond the range of floats."""
    try:
        return int(tokens * share)
    except OverflowError:
        numerator, denominator = share.as_integer_ratio()
        return tokens * numerator // denominator
