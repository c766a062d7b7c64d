"""Exact counts with tiktoken, with vocabularies that are already on this machine.

tiktoken itself would download them in the middle of a request, and delete files with a wrong checksum. Here they are
only read: from a directory that tiktoken would look into, or from packages that include them.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import tempfile
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType

from pycupel.errors import InvalidArgumentError
from pycupel.extras import load_extra
from pycupel.tokens.families import Count

_VARIABLES = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")
_PACKAGES = (
    ("litellm", "litellm_core_utils/tokenizers"),
    ("llama_index.core", "_static/tiktoken_cache"),
    ("bpe_openai", "data"),
)


def load_tiktoken(encoding: str) -> tuple[Callable[[str], int], str]:
    """Return a function that counts the tokens of an encoding, and its version."""
    options = {"extra": "tiktoken", "package": "tiktoken", "purpose": f"counting {encoding} exactly"}
    tiktoken = load_extra("tiktoken", **options)
    definition = getattr(load_extra("tiktoken_ext.openai_public", **options), encoding)
    # The definition is run as it is, but with a loader that only looks on this machine.
    offline = FunctionType(definition.__code__, {**definition.__globals__, "load_tiktoken_bpe": _load_ranks})
    from importlib.metadata import version  # noqa: PLC0415 - it imports much, and the package may be missing

    return Count(tiktoken.Encoding(**offline())), f"tiktoken {version('tiktoken')}"


def _load_ranks(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
    for data in _candidates(url):
        if expected_hash is None or hashlib.sha256(data).hexdigest() == expected_hash:
            pairs = (line.split() for line in data.splitlines() if line)
            return {b64decode(token): int(rank) for token, rank in pairs}
    raise InvalidArgumentError(
        f"tiktoken's vocabulary {url.rpartition('/')[2]} is not on this machine, and is not downloaded; "
        f"install pycupel[tokens], which needs none, or put the file into the directory that {_VARIABLES[0]} names",
        argument="counter",
    )


def _candidates(url: str) -> Iterator[bytes]:
    """Return the files that may hold the vocabulary: under its name in tiktoken's cache, or under its own."""
    cached = hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()
    for directory in _directories():
        for name in (cached, url.rpartition("/")[2]):
            # Files that are missing, broken or not readable are skipped.
            with suppress(OSError):
                yield (directory / name).read_bytes()
            with suppress(OSError, EOFError, zlib.error):
                yield gzip.decompress((directory / f"{name}.gz").read_bytes())


def _directories() -> Iterator[Path]:
    yield from (Path(os.environ[name]) for name in _VARIABLES if os.environ.get(name))
    yield Path(tempfile.gettempdir()) / "data-gym-cache"
    for package, folder in _PACKAGES:
        try:
            spec = find_spec(package)
        except (ImportError, ValueError):
            # The parent is missing, or is not a package.
            continue
        locations = None if spec is None else spec.submodule_search_locations
        yield from (Path(location) / folder for location in locations or ())
