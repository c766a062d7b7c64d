"""Percentages of tokens. `tests/test_huge_numbers.py` has those beyond the range of floats."""

from __future__ import annotations

import pytest

from pycupel.model.budget import enlarged, without_percent


@pytest.mark.parametrize("percent", [0.1, 1.0, 10.0, 12.5, 33.3, 50.0, 90.0, 99.9])
@pytest.mark.parametrize("tokens", [0, 1, 7, 99, 100, 12_345, 10**9, 10**400])
def test_what_was_enlarged_has_room_for_the_tokens_in_spite_of_the_margin(tokens: int, percent: float) -> None:
    size = enlarged(tokens, percent)
    assert without_percent(size, percent) >= tokens
    # A smaller size might do, but not a much smaller one.
    assert without_percent(size - 2, percent) <= tokens


@pytest.mark.parametrize("percent", [0.0, 100.0])
def test_nothing_is_enlarged_for_a_margin_of_nothing_or_everything(percent: float) -> None:
    assert enlarged(50, percent) == 50
