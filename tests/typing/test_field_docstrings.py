"""What editors show about a field: the docstring below it."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from types import ModuleType

import pytest

import pycupel

PACKAGES = ("pycupel", *(f"pycupel.{name}" for name in dir(pycupel) if isinstance(getattr(pycupel, name), ModuleType)))

_DESCRIBED = re.compile(r"^    (\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)


def public_classes() -> list[type]:
    found = (getattr(module, name) for module in map(import_module, PACKAGES) for name in module.__all__)
    return sorted({each for each in found if inspect.isclass(each)}, key=lambda each: each.__name__)


def public_records() -> list[type]:
    return [each for each in public_classes() if is_dataclass(each) or hasattr(each, "_fields")]


def inherited_docstrings(cls: type) -> dict[str, str | None]:
    """The docstrings of all public fields, also of those that a base declares."""
    found: dict[str, str | None] = {}
    for owner in reversed(cls.__mro__):
        # The source of a class that names another module as its own cannot be found.
        if owner.__module__.startswith("pycupel.") and owner.__module__ != "pycupel.testing":
            found |= field_docstrings(owner)
    return found


@cache
def field_docstrings(cls: type) -> dict[str, str | None]:
    """The docstring of each public field that the class itself declares; None if it has none."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    assert isinstance(tree, ast.ClassDef)
    found: dict[str, str | None] = {}
    for statement, following in zip(tree.body, [*tree.body[1:], None], strict=True):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        name = statement.target.id
        if name.startswith("_") or "ClassVar" in ast.unparse(statement.annotation):
            continue
        text = None
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            text = inspect.cleandoc(str(following.value.value))
        found[name] = text
    return found


def test_there_are_records() -> None:
    assert len(public_records()) > 50


@pytest.mark.parametrize("cls", public_records(), ids=lambda cls: cls.__name__)
def test_every_public_field_has_a_docstring(cls: type) -> None:
    """Where the docstring of the class describes its arguments, it says the same about them."""
    described = dict(_DESCRIBED.findall(inspect.getdoc(cls) or ""))
    assert set(getattr(cls, "_fields", ())) <= set(inherited_docstrings(cls))
    for name, text in inherited_docstrings(cls).items():
        assert text, f"{cls.__name__}.{name} has no docstring"
        if name in described:
            assert described[name].split() == text.split()


def test_attributes_are_described_where_they_are_declared() -> None:
    """Errors, for example, are no records, but have data."""
    assert [cls for cls in public_classes() if "\nAttributes:\n" in (inspect.getdoc(cls) or "")] == []
