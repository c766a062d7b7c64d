"""What editors show about a field: the docstring below it."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from dataclasses import is_dataclass
from importlib import import_module

import pytest

PACKAGES = (
    "pycupel",
    *(
        f"pycupel.{name}"
        for name in ("analytics", "batch", "conformance", "diagnostics", "messages", "policies", "protocols", "replay")
    ),
    *(f"pycupel.{name}" for name in ("shorten", "testing", "tokens")),
)


def public_records() -> list[type]:
    found = (getattr(module, name) for module in map(import_module, PACKAGES) for name in module.__all__)
    classes = {each for each in found if inspect.isclass(each)}
    return sorted(
        (each for each in classes if is_dataclass(each) or hasattr(each, "_fields")), key=lambda each: each.__name__
    )


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
    described = dict(re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", inspect.getdoc(cls) or "", re.MULTILINE))
    for name, text in field_docstrings(cls).items():
        assert text, f"{cls.__name__}.{name} has no docstring"
        if name in described:
            assert described[name].split() == text.split()
