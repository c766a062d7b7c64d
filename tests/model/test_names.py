"""Names of strategies, presets, formats and enumerations: which spellings are the same, and suggestions."""

from __future__ import annotations

import pytest

from pycupel import OverflowStrategy
from pycupel.model.checks import fold, name_key, suggestion


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Message", "message"),
        ("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"),
        ("@[`{ 019_-", "@[`{ 019_-"),
        ("ÉABCDEFGHIJKLMNOPQRSTUVWXYZ", "Éabcdefghijklmnopqrstuvwxyz"),
        ("É@[`{ 019_-", "É@[`{ 019_-"),
        ("É", "É"),
        ("ÉA", "Éa"),
        ("İ", "İ"),
        ("ß", "ß"),
        ("ẞ", "ẞ"),
        ("\N{LATIN SMALL LETTER LONG S}", "\N{LATIN SMALL LETTER LONG S}"),
        ("\N{KELVIN SIGN}K", "\N{KELVIN SIGN}k"),
        ("\N{GREEK CAPITAL LETTER ALPHA}A", "\N{GREEK CAPITAL LETTER ALPHA}a"),
        ("", ""),
    ],
)
def test_folding_changes_the_letters_a_to_z_and_nothing_else(text: str, folded: str) -> None:
    """DM-09, PY-03: only A to Z fold."""
    assert fold(text) == folded


@pytest.mark.parametrize(
    "name", ["code-review", "code_review", "CodeReview", "CODE-REVIEW", "codereview", "_code-review"]
)
def test_case_hyphens_and_underscores_do_not_count(name: str) -> None:
    assert name_key(name) == "codereview"


@pytest.mark.parametrize("name", ["code review", "code.review", "code\N{EN DASH}review", "codé-review"])
def test_everything_else_counts(name: str) -> None:
    assert name_key(name) != "codereview"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("recencyy", "; did you mean 'recency'?"),
        ("RECENCI", "; did you mean 'recency'?"),
        ("code.review", "; did you mean 'code-review'?"),
        ("weather", ""),
        ("", ""),
    ],
)
def test_a_close_name_is_suggested_as_it_is_spelled(name: str, text: str) -> None:
    assert suggestion(name, ["recency", "code-review", "priority"]) == text


def test_a_member_of_an_enumeration_is_suggested_by_its_value() -> None:
    assert suggestion("trunc", OverflowStrategy) == "; did you mean 'truncate'?"


def test_without_known_names_nothing_is_suggested() -> None:
    assert suggestion("recency", []) == ""
