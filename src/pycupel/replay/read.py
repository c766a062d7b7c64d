"""Read a log of unknown origin: detect the format of each line.

Each line is read on its own, and only conversations are kept, so memory depends on them, not on the size of the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from pycupel.codecs.json_values import Located, read_values
from pycupel.compressed import errors_naming, limited_lines, open_binary
from pycupel.errors import DocumentError
from pycupel.model.checks import checked_iterable, wrong_type
from pycupel.replay.log import Log, Requests
from pycupel.replay.transcripts import ClaudeCode, Codex

_NOT_JSON = object()


def read_log(source: str | os.PathLike[str] | Iterable[str] | Iterable[bytes]) -> Log:
    """Read the conversations in a log of JSON lines, or in a JSON document.

    Four kinds of objects are understood, on lines or in an array; all others are ignored:

    - Claude Code's transcripts. Rows of one message are merged, results go into the next user message, sidechains
      become histories of their own, and a compacted session stays one history. Rows that were not part of the
      conversation (`isMeta`, summaries, errors of the API) are left out.
    - Codex's rollouts: the items of the Responses API, with the counts in its events. Compacted items stay in the
      history.
    - Requests of OpenAI's, Anthropic's, Gemini's and Mistral's APIs: objects with `messages`, `input` or `contents`, at
      the top or under `request` or `body`, with the `response` and its `usage` if there is one. A request that begins
      with all the messages of an earlier one continues its history.
    - Messages: objects with a `role`. All of them are one history.

    Args:
        source: The path of a file, which may be compressed (.gz, .bz2, .xz), or its lines.

    Raises:
        TypeError: source is neither.
        DocumentError: the file is compressed and damaged, or has a line of more than 256 MiB.
        OSError: the file cannot be read.
    """
    if not isinstance(source, (str, os.PathLike)):
        return _read(checked_iterable("source", "a path or an iterable of lines", source))
    with open_binary(source) as file, errors_naming(os.fspath(source)):
        return _read(limited_lines(file))


def _checked_lines(lines: Iterable[Any]) -> Iterator[str | bytes]:
    for i, line in enumerate(lines):
        if not isinstance(line, (str, bytes)):
            raise wrong_type(f"source[{i}]", "a line of text: a str or bytes", line)
        yield line


def _read(lines: Iterable[Any]) -> Log:
    readers = (ClaudeCode(), Codex(), Requests())
    skipped = 0
    for row in _rows(line for line in _checked_lines(lines) if line.strip()):
        if row.__class__ is not dict:
            skipped += 1
            continue
        try:
            # The first reader that accepts a row gets it.
            any(reader.add(row) for reader in readers)
        except RecursionError:
            skipped += 1
    return Log.of((history for reader in readers for history in reader.histories()), skipped)


def _rows(lines: Iterator[Any]) -> Iterator[Any]:
    """Return the values on the lines; or, if the first line or all of them are a document, those in it."""
    first = next(lines, None)
    if first is None:
        return
    values = _values([first])
    if values is None and first.lstrip()[:1] in {"{", "[", b"{", b"["}:
        # A document may span lines. If it does not, the line is incomplete, but the following ones are still good.
        held = [first, *lines]
        values, lines = _values(held), iter(())
        if values is None:
            lines = iter(held[1:])
    yield from (each.value for each in values) if values else [_NOT_JSON]
    for line in lines:
        found = _values([line]) or []
        yield found[0].value if len(found) == 1 and not found[0].is_element else _NOT_JSON


def _values(lines: Iterable[Any]) -> list[Located] | None:
    """Return the values in the lines; None if they are not JSON."""
    texts = (line if isinstance(line, str) else line.decode("utf-8-sig", "surrogatepass") for line in lines)
    try:
        return [*read_values(texts)]
    except (DocumentError, UnicodeDecodeError):
        return None
