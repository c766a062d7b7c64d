"""Files that may be compressed, told by their suffix."""

from __future__ import annotations

import os
from importlib import import_module
from typing import IO, Any

from pycupel.errors import InvalidArgumentError

__all__ = ["is_damaged", "open_binary"]

# Imported when needed: most files are not compressed.
_OPENERS = {".xz": "lzma", ".gz": "gzip", ".bz2": "bz2"}


def open_binary(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a file for reading its bytes, decompressed if its name ends with .gz, .bz2 or .xz.

    Raises:
        OSError: it cannot be opened.
        InvalidArgumentError: its name ends with .zst, which Python cannot read.
    """
    # Without pathlib, whose import takes as long as that of the whole model.
    name = os.fspath(path)
    suffix = os.path.splitext(name)[1].lower()  # noqa: PTH122
    if suffix == ".zst":
        raise InvalidArgumentError(f"{name}: decompress it first, with `zstd -d`", argument="path", value=name)
    opener: Any = import_module(_OPENERS[suffix]).open if suffix in _OPENERS else open
    opened: IO[bytes] = opener(name, "rb")
    return opened


def is_damaged(error: Exception) -> bool:
    """Whether an error, raised while a file was read, means that it is not compressed as its name says, or torn."""
    # The modules of these errors are not imported for files that are not compressed.
    return isinstance(error, EOFError) or type(error).__name__ in {"LZMAError", "BadGzipFile"}
