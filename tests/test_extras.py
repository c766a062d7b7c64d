"""The door to optional packages."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pycupel.errors import CupelError, MissingExtraError
from pycupel.extras import load_extra, missing_extra


def load(module: str) -> object:
    return load_extra(module, extra="fine", package="Fine-Things", purpose="a fine thing")


def test_a_package_that_is_there_is_loaded() -> None:
    assert load("json") is json
    assert load("importlib.metadata") is sys.modules["importlib.metadata"]


@pytest.mark.parametrize("module", ["nowhere_to_be_found", "nowhere_to_be_found.inside"])
def test_a_missing_package_answers_with_the_pip_line(module: str) -> None:
    """A missing extra answers with the pip line."""
    with pytest.raises(MissingExtraError) as caught:
        load(module)
    error = caught.value
    assert str(error) == "a fine thing needs Fine-Things, which is not installed: pip install 'pycupel[fine]'"
    assert (error.purpose, error.package, error.extra) == ("a fine thing", "Fine-Things", "fine")
    assert isinstance(error, CupelError)
    assert isinstance(error, ImportError)
    assert isinstance(error.__cause__, ModuleNotFoundError)


def test_what_an_installed_package_misses_itself_is_its_own_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the pip line would send people to install what they have."""
    (tmp_path / "half_installed.py").write_text("import nowhere_to_be_found\n", encoding="utf-8")
    (tmp_path / "broken_inside.py").write_text("raise ValueError('broken')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="nowhere_to_be_found") as caught:
        load("half_installed")
    assert not isinstance(caught.value, MissingExtraError)
    with pytest.raises(ValueError, match=r"^broken$"):
        load("broken_inside")


def test_an_error_that_names_no_module_stays_what_it_is() -> None:
    error = ModuleNotFoundError("who knows")
    assert missing_extra(error, "json", extra="x", package="x", purpose="x") is error
