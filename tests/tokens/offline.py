"""A machine without a network, and with only those vocabularies that a test puts there."""

from __future__ import annotations

import socket
import tempfile
from base64 import b64encode
from hashlib import sha1, sha256
from pathlib import Path
from typing import Any, NoReturn

import pytest

__all__ = ["CACHED", "DATA", "NAME", "RANKS", "SHA256", "URL", "define", "forbid_downloads", "hide_vocabularies"]

# A small vocabulary, as tiktoken writes them: each byte, and a few pairs.
RANKS = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"abc": 257, b"de": 258}
DATA = b"".join(b64encode(token) + b" %d\n" % rank for token, rank in RANKS.items()) + b"\n"
SHA256 = sha256(DATA).hexdigest()
NAME = "small.tiktoken"
URL = f"https://vocabularies.invalid/encodings/{NAME}"
CACHED = sha1(URL.encode(), usedforsecurity=False).hexdigest()


def forbid_downloads(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> NoReturn:
        raise AssertionError("somebody opens a connection")

    # The class itself stays: `ssl` derives from it, and may be imported in a test.
    monkeypatch.setattr(socket.socket, "connect", refuse)
    for name in ("create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)


def hide_vocabularies(monkeypatch: pytest.MonkeyPatch, empty: Path) -> None:
    """All but those of installed packages."""
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.delenv("DATA_GYM_CACHE_DIR", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(empty))


def define(name: str) -> Any:
    """An encoding as tiktoken defines its own, but a small one. Nothing else is small enough to be in a test."""
    source = f"""
def {name}():
    ranks = load_tiktoken_bpe({URL!r}, expected_hash={SHA256!r})
    return {{"name": {name!r}, "pat_str": r"\\S+|\\s", "mergeable_ranks": ranks, "special_tokens": {{"<|end|>": 300}}}}
"""
    names: dict[str, Any] = {}
    exec(source, names)  # noqa: S102 - its loader must be a name of its module
    return names[name]
