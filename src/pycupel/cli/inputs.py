"""Open files and stdin, and read the JSON values in them, with errors that name the file."""

from __future__ import annotations

import io
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from pycupel.cli.exits import InputError, notes_of
from pycupel.cli.jsonstream import Located, read_values
from pycupel.compressed import is_damaged, limited_lines, open_binary
from pycupel.errors import DocumentError, MessageShapeError
from pycupel.text import escaped, number_text

__all__ = ["check_files", "location_of", "name_of", "naming", "open_bytes", "open_text", "values_in"]

_STDIN = "-"


@contextmanager
def open_text(path: str, max_line: int) -> Generator[Iterator[str]]:
    """Open the lines of a file, or of stdin for `-`; errors about them name the file."""
    with _open(path, max_line) as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig")
        try:
            yield limited_lines(text, max_line)
        finally:
            # Otherwise the wrapper would close stdin, which belongs to the caller of `main`.
            text.detach()


@contextmanager
def open_bytes(path: str, max_line: int) -> Generator[Iterator[bytes]]:
    """Open the lines of a file as `open_text` does, but do not decode them."""
    with _open(path, max_line) as file:
        yield limited_lines(file, max_line)


@contextmanager
def _open(path: str, max_line: int) -> Generator[IO[bytes]]:
    if max_line < 1:
        raise InputError(f"--max-line must be 1 or more, not {number_text(max_line)}")
    with naming(path):
        file = _stdin() if path == _STDIN else open_binary(path)
        try:
            yield file
        finally:
            if path != _STDIN:
                file.close()


@contextmanager
def naming(path: str) -> Generator[None]:
    """Prefix errors about the content of a file with its name."""
    name = name_of(path)
    try:
        yield
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: is not a UTF-8 text file: {error.reason}") from None
    except (DocumentError, MessageShapeError) as error:
        raise InputError(f"{name}: {error}{notes_of(error)}") from None
    except Exception as error:
        if is_damaged(error):
            raise InputError(f"{name}: cannot be decompressed: {error}") from None
        raise


def check_files(paths: Sequence[str]) -> None:
    """Reject stdin named twice: it can be read once."""
    if paths.count(_STDIN) > 1:
        raise InputError("stdin: has been read already; use `-` only once")


def name_of(path: str) -> str:
    """What messages call a file: in one line, whatever its name."""
    return "stdin" if path == _STDIN else escaped(path)


def _stdin() -> IO[bytes]:
    # It is None if it was closed before Python started.
    if sys.stdin is None or sys.stdin.closed:  # pyright: ignore[reportUnnecessaryComparison]
        raise InputError("stdin: is closed")
    return sys.stdin.buffer


def values_in(lines: Iterable[str]) -> Iterator[Located]:
    """Read the JSON values in the lines of a file: at least one.

    Raises:
        DocumentError: it is not JSON, or is empty.
    """
    is_empty = True
    for located in read_values(_without_nul(lines)):
        is_empty = False
        yield located
    if is_empty:
        raise DocumentError("is empty")


def _without_nul(lines: Iterable[str]) -> Iterator[str]:
    """Reject NUL characters: binary files are often valid UTF-8, but no text has them."""
    for line in lines:
        if "\0" in line:
            raise DocumentError("is not a text file: it contains NUL characters")
        yield line


def location_of(number: int, located: Located) -> str:
    """Say where a record is, by its number and line."""
    return f"record {number}, line {located.line}"
