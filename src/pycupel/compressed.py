"""Files that may be compressed, according to their suffix."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import IO, Any, AnyStr

from pycupel.errors import DocumentError, InvalidArgumentError

MAX_LINE = 256 * 1024 * 1024
"""The longest line that is read, unless more is asked for: in bytes, or in characters of a text."""

# Imported when needed: most files are not compressed.
_OPENERS = {".xz": "lzma", ".gz": "gzip", ".bz2": "bz2"}


def open_binary(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a file for reading its bytes, decompressed if its name ends with .gz, .bz2 or .xz.

    Raises:
        OSError: it cannot be opened.
        InvalidArgumentError: its name ends with .zst, which Python cannot read.
    """
    name = os.fspath(path)
    opener = _opener(name) or open
    opened: IO[bytes] = opener(name, "rb")
    return opened


def decompressed(file: IO[bytes], name: str) -> IO[bytes]:
    """The bytes of a file that is open, decompressed according to its name as by `open_binary`."""
    opener = _opener(name)
    opened: IO[bytes] = file if opener is None else opener(file)
    return opened


def _opener(name: str) -> Any:
    # Without pathlib, whose import takes as long as that of the whole model.
    suffix = os.path.splitext(name)[1].lower()  # noqa: PTH122
    if suffix == ".zst":
        raise InvalidArgumentError(f"{name}: decompress it first, with `zstd -d`", argument="path", value=name)
    return import_module(_OPENERS[suffix]).open if suffix in _OPENERS else None


def limited_lines(file: IO[AnyStr], limit: int = MAX_LINE, first: int = 1) -> Iterator[AnyStr]:
    """Read the lines of a file, of which the next one has the number `first`.

    Raises:
        DocumentError: a line is longer than the limit. Of an endless one, such as that of `/dev/zero` or of an archive
            that expands to terabytes, no more is read.
    """
    number, most = first, min(limit, sys.maxsize - 1)
    while line := file.readline(most + 1):
        if len(line) > most:
            raise DocumentError(
                f"line {number:,} is longer than {most:,}, the limit for a line",
                hint="Raise the limit with max_line= or --max-line if it has to be that long.",
            )
        yield line
        number += 1


@contextmanager
def errors_naming(path: str) -> Generator[None]:
    """Make a DocumentError that names the file of what is wrong with its bytes: damage, or a line without an end."""
    try:
        yield
    except DocumentError as error:
        error.path = path
        raise
    except Exception as error:
        if is_damaged(error):
            raise DocumentError(f"cannot be decompressed: {error}", path=path) from None
        raise


def is_damaged(error: Exception) -> bool:
    """Whether an error means that a compressed file is corrupt, truncated, or not compressed at all."""
    # By name, because the modules that define them are imported only for compressed files. The error of bz2 is an
    # OSError, as others are, but not one of the system.
    cls = type(error)
    return (
        (cls in {EOFError, OSError} and getattr(error, "errno", None) is None)
        or cls.__name__ in {"LZMAError", "BadGzipFile"}
        or cls.__module__ == "zlib"
    )
