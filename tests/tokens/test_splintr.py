"""Exact counts by splintr-rs."""

from __future__ import annotations

import sys
from importlib.metadata import version

import pytest

from pycupel.errors import MissingExtraError
from pycupel.tokens import families


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
def test_it_counts_exactly(encoding: str) -> None:
    count, counted_by = families.load_splintr(encoding)
    assert count("Hello, world!") == 4
    assert count("") == 0
    assert counted_by == f"splintr-rs {version('splintr-rs')}"


def test_the_encodings_differ() -> None:
    """o200k_base has more of other scripts than English."""
    text = "Быстрая коричневая лиса прыгает через ленивую собаку."
    assert families.load_splintr("o200k_base")[0](text) < families.load_splintr("cl100k_base")[0](text)


@pytest.mark.unmeasured
@pytest.mark.parametrize("special", ["<|endoftext|>", "<|endofprompt|>", "<|im_start|>"])
def test_what_looks_like_a_special_token_is_text(special: str) -> None:
    """A user may write it, and a provider then counts its letters."""
    count, _ = families.load_splintr("o200k_base")
    assert count(special) > 1


def test_half_an_emoji_counts_as_the_sign_that_replaces_it() -> None:
    """JSON that was cut off has them, and a text with one is no reason to fail."""
    count, _ = families.load_splintr("o200k_base")
    assert count("so \ud83d that") == count("so \ufffd that")
    assert count("\ud83d\ude42") == count("\N{SLIGHTLY SMILING FACE}")


def test_without_the_package_there_is_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "splintr", None)
    with pytest.raises(MissingExtraError, match=r"^counting o200k_base exactly needs splintr-rs.*pycupel\[tokens\]"):
        families.load_splintr("o200k_base")
