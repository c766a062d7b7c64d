"""Files that may be compressed."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from pycupel.codecs.json_values import is_damaged, open_binary
from pycupel.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".BZ2", bz2.compress), (".xz", lzma.compress)]
)
def test_the_suffix_says_how_a_file_is_compressed(tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / f"log.jsonl{suffix}"
    path.write_bytes(pack(b"one\ntwo\n"))
    for name in (path, str(path)):
        with open_binary(name) as file:
            assert [*file] == [b"one\n", b"two\n"]


def test_zstandard_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="decompress it first, with `zstd -d`"):
        open_binary(tmp_path / "rollout.jsonl.zst")


@pytest.mark.parametrize(
    ("suffix", "data"),
    [
        pytest.param(".gz", b"no compression at all", id="plain gz"),
        pytest.param(".gz", gzip.compress(b"x" * 100)[:20], id="truncated gz"),
        pytest.param(".gz", gzip.compress(b"x" * 100)[:10] + b"\xff" * 20, id="corrupt gz"),
        pytest.param(".bz2", b"no compression at all", id="plain bz2"),
        pytest.param(".bz2", bz2.compress(b"x" * 100)[:20], id="truncated bz2"),
        pytest.param(".xz", b"no compression at all", id="plain xz"),
        pytest.param(".xz", lzma.compress(b"x" * 100)[:20], id="truncated xz"),
    ],
)
def test_damage_is_told_from_other_errors(tmp_path: Path, suffix: str, data: bytes) -> None:
    path = tmp_path / f"log{suffix}"
    path.write_bytes(data)
    with pytest.raises(Exception) as caught, open_binary(path) as file:  # noqa: PT011 - each format has its own
        file.read()
    assert is_damaged(caught.value)


@pytest.mark.parametrize(
    "error", [ValueError(), OSError(5, "Input/output error"), FileNotFoundError(2, "No such file")]
)
def test_other_errors_are_no_damage(error: Exception) -> None:
    assert not is_damaged(error)
