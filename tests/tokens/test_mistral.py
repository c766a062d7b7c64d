"""Exact counts by mistral-common."""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import version

import pytest
from hypothesis import given, strategies as st

from pycupel.errors import MissingExtraError
from pycupel.tokens import families
from tests.examples import examples

# Loading takes seconds: once, and only where these tests are run.
load = cache(families.load_mistral)
load_the_same = cache(families.load_splintr)


@pytest.mark.unmeasured
def test_it_counts_exactly() -> None:
    count, counted_by = load("tekken")
    assert count("Hello, world!") == 4
    assert count("") == 0
    assert counted_by == f"mistral-common {version('mistral-common')}"


def test_what_looks_like_a_special_token_is_text() -> None:
    count, _ = load("tekken")
    assert count("[INST]") > 1


@examples(100)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_splintr_has_the_same_vocabulary(text: str) -> None:
    assert load("tekken")[0](text) == load_the_same("tekken")[0](text)


def test_without_the_package_there_is_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mistral_common.tokens.tokenizers.mistral", None)
    with pytest.raises(MissingExtraError, match=r"^counting tekken exactly needs mistral-common.*pycupel\[mistral\]"):
        families.load_mistral("tekken")
