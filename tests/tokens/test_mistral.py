"""Exact counts by mistral-common."""

from __future__ import annotations

import sys
from importlib.metadata import version

import pytest
from hypothesis import given, settings, strategies as st

from pycupel.errors import MissingExtraError
from pycupel.tokens import mistral, splintr

COUNT, COUNTED_BY = mistral.load("tekken")
SAME_COUNT, _ = splintr.load("tekken")


def test_it_counts_exactly() -> None:
    assert COUNT("Hello, world!") == 4
    assert COUNT("") == 0
    assert f"mistral-common {version('mistral-common')}" == COUNTED_BY


def test_what_looks_like_a_special_token_is_text() -> None:
    assert COUNT("[INST]") > 1


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_splintr_has_the_same_vocabulary(text: str) -> None:
    assert COUNT(text) == SAME_COUNT(text)


def test_without_the_package_there_is_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mistral_common.tokens.tokenizers.mistral", None)
    with pytest.raises(MissingExtraError, match=r"^counting tekken exactly needs mistral-common.*pycupel\[mistral\]"):
        mistral.load("tekken")
