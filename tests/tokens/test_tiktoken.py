"""tiktoken with vocabularies that are on this machine. Real ones are in `tests/integrations_env/a/test_tiktoken.py`."""

from __future__ import annotations

import gzip
import pickle
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

from pycupel.errors import InvalidArgumentError, MissingExtraError
from pycupel.tokens import tiktoken
from pycupel.tokens.tiktoken import _load_ranks
from tests.tokens.offline import CACHED, DATA, NAME, RANKS, SHA256, URL, define, forbid_downloads, hide_vocabularies


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    forbid_downloads(monkeypatch)
    hide_vocabularies(monkeypatch, tmp_path / "nothing here")


def put(directory: Path, data: bytes = DATA, name: str = CACHED) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("variable", ["TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"])
@pytest.mark.parametrize("name", [CACHED, NAME])
def test_a_variable_names_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, name: str
) -> None:
    """The file may have the name that tiktoken's cache gives it, or its own."""
    put(tmp_path, name=name)
    monkeypatch.setenv(variable, str(tmp_path))
    assert _load_ranks(URL, SHA256) == RANKS


def test_tiktokens_own_cache_is_looked_into(tmp_path: Path) -> None:
    put(tmp_path / "nothing here" / "data-gym-cache")
    assert _load_ranks(URL, SHA256) == RANKS


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """For tiktoken this means no cache at all, not the directory in which we happen to be."""
    put(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    with pytest.raises(InvalidArgumentError):
        _load_ranks(URL, SHA256)


@pytest.mark.parametrize(
    ("package", "folder"),
    [
        ("litellm", "litellm_core_utils/tokenizers"),
        ("llama_index/core", "_static/tiktoken_cache"),
        ("bpe_openai", "data"),
    ],
)
@pytest.mark.parametrize("compressed", [False, True])
def test_packages_bring_vocabularies_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, folder: str, compressed: bool
) -> None:
    """They are not imported for it: one of them takes seconds."""
    module = tmp_path / package / "__init__.py"
    put(module.parent, b"raise RuntimeError('imported')", module.name)
    data, name = (gzip.compress(DATA), f"{NAME}.gz") if compressed else (DATA, CACHED)
    put(module.parent / folder, data, name)
    monkeypatch.syspath_prepend(tmp_path)
    # Whoever looks for a module inside it imports it, and this one must be forgotten again.
    monkeypatch.setitem(sys.modules, "llama_index", None)
    del sys.modules["llama_index"]
    assert _load_ranks(URL, SHA256) == RANKS


def test_a_module_that_is_no_package_has_no_vocabularies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, b"", "bpe_openai.py")
    monkeypatch.syspath_prepend(tmp_path)
    # A stand-in that somebody's tests have put there.
    monkeypatch.setitem(sys.modules, "litellm", ModuleType("litellm"))
    with pytest.raises(InvalidArgumentError):
        _load_ranks(URL, SHA256)


@pytest.mark.parametrize("name", [CACHED, NAME])
def test_a_wrong_file_is_passed_over_and_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """By tiktoken it would be deleted."""
    wrong = put(tmp_path / "wrong", b"aGVsbG8= 0\n", name)
    put(tmp_path / "right")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "wrong"))
    before = wrong.stat()
    with pytest.raises(InvalidArgumentError):
        _load_ranks(URL, SHA256)
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(tmp_path / "right"))
    assert _load_ranks(URL, SHA256) == RANKS
    assert wrong.read_bytes() == b"aGVsbG8= 0\n"
    assert wrong.stat().st_mtime_ns == before.st_mtime_ns
    assert [path.name for path in wrong.parent.iterdir()] == [name]


def test_what_cannot_be_read_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory in place of a file, a file in place of a directory, and what only looks compressed."""
    (tmp_path / "one" / CACHED).mkdir(parents=True)
    broken = gzip.compress(DATA)
    put(tmp_path / "one", b"not compressed", f"{CACHED}.gz")
    put(tmp_path / "one", broken[:-20], f"{NAME}.gz")
    put(tmp_path / "nothing here" / "data-gym-cache", broken[:30] + b"\xff" * 30 + broken[60:], f"{CACHED}.gz")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "one"))
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(put(tmp_path, name="a file")))
    with pytest.raises(InvalidArgumentError):
        _load_ranks(URL, SHA256)


def test_a_file_without_a_known_hash_is_taken_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, b"aGVsbG8= 0\n")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert _load_ranks(URL) == {b"hello": 0}


def test_a_missing_vocabulary_is_not_downloaded() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        tiktoken.load_tiktoken("o200k_base")
    assert str(caught.value) == (
        "tiktoken's vocabulary o200k_base.tiktoken is not on this machine, and is not downloaded; install "
        "pycupel[tokens], which needs none, or put the file into the directory that TIKTOKEN_CACHE_DIR names"
    )
    assert caught.value.argument == "counter"


def test_an_encoding_is_made_of_its_definition_and_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(import_module("tiktoken_ext.openai_public"), "o200k_base", define("o200k_base"))
    count, counted_by = tiktoken.load_tiktoken("o200k_base")
    assert counted_by == f"tiktoken {version('tiktoken')}"
    # abc ab, blank, de, blank, f
    assert count("abcab de f") == 6
    assert count("") == 0
    assert count("<|end|>") == 7, "what looks like a special token is text"
    assert count("\ud83d") == 3, "half an emoji is replaced"
    assert pickle.loads(pickle.dumps(count))("abcab de f") == 6


def test_without_the_package_there_is_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    with pytest.raises(MissingExtraError, match=r"^counting cl100k_base exactly needs tiktoken.*pycupel\[tiktoken\]"):
        tiktoken.load_tiktoken("cl100k_base")
