"""What the sources never do: read objects from bytes, run text as code, start a shell, or make files for everyone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = sorted((Path(__file__).parents[1] / "src").rglob("*.py"))

# Modules whose readers run what they are given.
UNSAFE_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "joblib"}
# Functions by their module; those of the built-in ones have none.
UNSAFE_FUNCTIONS = {
    "": {"eval", "exec", "compile", "__import__"},
    "marshal": {"load", "loads"},
    "os": {"system", "popen", "chmod", "umask", "tempnam", "tmpnam"},
    # Only its other functions make files that nobody else can read, and none between the choice of a name and its use.
    "tempfile": {"mktemp"},
    "yaml": {"load", "load_all", "full_load", "unsafe_load", "Loader", "FullLoader", "UnsafeLoader"},
}
UNSAFE_OPTIONS = {"shell", "allow_pickle"}


def dangers_in(source: str) -> Iterator[str]:
    """What is unsafe in a text of Python, each with its line."""
    for node in ast.walk(ast.parse(source)):
        for name in _names(node):
            module, _, function = name.rpartition(".")
            if UNSAFE_MODULES & {name.partition(".")[0]} or function in UNSAFE_FUNCTIONS.get(module, ()):
                yield f"line {node.lineno}: {name}"  # type: ignore[attr-defined]
        if isinstance(node, ast.keyword) and node.arg in UNSAFE_OPTIONS:
            yield f"line {node.lineno}: {node.arg}="


def _names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names):
            yield from (each.name for each in names)
        case ast.ImportFrom(module=str(module), names=names):
            yield from (f"{module}.{each.name}" for each in names)
        case ast.Call(func=ast.Name(name), args=arguments):
            yield name
            # `import_module("pickle")`, `load_extra("dill", ...)`
            yield from (
                each.value for each in arguments[:1] if isinstance(each, ast.Constant) and isinstance(each.value, str)
            )
        case ast.Attribute(value=ast.Name(module), attr=function):
            yield f"{module}.{function}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_module_does_nothing_unsafe(path: Path) -> None:
    assert [*dangers_in(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from pickle import loads",
        "import os.path, shelve as s",
        "import marshal\nmarshal.loads(b'')",
        "from marshal import loads",
        "eval('1')",
        "exec(compile('1', '', 'exec'))",
        "import os\nos.system('ls')",
        "run('ls', shell=True)",
        "import tempfile\ntempfile.mktemp()",
        "from tempfile import mktemp",
        "yaml.load('a')",
        "import_module('pickle')",
        "numpy.load(file, allow_pickle=True)",
        "def f():\n    if x:\n        import dill",
    ],
)
def test_what_is_unsafe_is_found(source: str) -> None:
    assert [*dangers_in(source)]


@pytest.mark.parametrize(
    "source", ["from marshal import dumps", "re.compile('a')", "'import pickle'", "json.loads('1')"]
)
def test_what_is_safe_is_not(source: str) -> None:
    assert not [*dangers_in(source)]
