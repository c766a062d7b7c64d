"""Read input files in chunks, and process a chunk. Chunks depend only on the input, not on the engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from io import BytesIO
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import IO, Any, NamedTuple

from pycupel.batch import arrow
from pycupel.batch.request import RequestSelector, error_row
from pycupel.batch.tally import Tally
from pycupel.codecs.jsontext import parse_json
from pycupel.compressed import decompressed, errors_naming, limited_lines
from pycupel.errors import DocumentError
from pycupel.pipeline import Policy

__all__ = ["Chunk", "Job", "Part", "process", "read_chunks"]

# A chunk is a part of the output: small enough that losing one costs little, large enough to be worth a file.
_REQUESTS = 500
_BYTES = 2 * 1024 * 1024
# Lines have thousands of bytes, so few would fit into the default buffer.
_BUFFER = 64 * 1024
_LABEL = 80
# Integers with fewer digits fit into 64 bits in every reader.
_TO_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER, _FOUR_DIGITS = b"0" * 19, b"0" * 4


class Chunk(NamedTuple):
    """Some requests of an input file."""

    number: int
    """Which chunk of the whole input it is, from 0."""

    source: str
    """The name of the file."""

    first: int
    """The line number of the first request, or its row in a Parquet file."""

    payload: bytes
    """JSON lines, or an Arrow stream."""

    is_arrow: bool
    """Whether the payload is an Arrow stream."""

    share: float
    """How much of the whole input has been read up to its end, from 0 to 1."""


class Job(NamedTuple):
    """What to do with each chunk."""

    policy: Policy
    """The policy."""

    other: Policy | None
    """A second policy to compare with, or None."""

    to_parquet: bool
    """Whether parts are Parquet files instead of JSON lines."""


class Part(NamedTuple):
    """The result of a chunk."""

    number: int
    """The number of the chunk."""

    rows: int
    """How many rows it has."""

    payload: bytes
    """The rows, as they are written."""

    tally: Tally
    """The counts over its rows."""


def read_chunks(inputs: Sequence[Path], max_line: int) -> Iterator[Chunk]:
    """Read the requests of all files, in order."""
    sizes = [path.stat().st_size for path in inputs]
    whole = sum(sizes) or 1
    before = number = 0
    for path, size in zip(inputs, sizes, strict=True):
        is_arrow = arrow.is_parquet(path)
        pieces = arrow.read_pieces(path, _REQUESTS) if is_arrow else _lines(path, max_line)
        for first, payload, share in pieces:
            yield Chunk(number, path.name, first, payload, is_arrow, (before + share * size) / whole)
            number += 1
        before += size


def _lines(path: Path, max_line: int) -> Iterator[tuple[int, bytes, float]]:
    size = path.stat().st_size or 1
    first = 1
    with path.open("rb", _BUFFER) as file, decompressed(file, str(path)) as lines, errors_naming(str(path)):
        while payload := _next_lines(lines, first, max_line, can_go_back=lines is file):
            # The file may have grown since.
            yield first, payload, min(1.0, file.tell() / size)
            first += payload.count(b"\n")


def _next_lines(lines: IO[bytes], first: int, max_line: int, *, can_go_back: bool) -> bytes:
    """Read the lines of a chunk, or nothing at the end of the file."""
    start, size = lines.tell(), 0
    held: list[bytes] = []
    for line in islice(limited_lines(lines, max_line, first), _REQUESTS):
        size += len(line)
        if not can_go_back:
            held.append(line)
        if size >= _BYTES:
            break
    if not can_go_back:
        return b"".join(held)
    # Read in one go: joining thousands of lines would fragment memory.
    lines.seek(start)
    return lines.read(size)


def process(chunk: Chunk, job: Job) -> Part:
    """Select every request of a chunk."""
    tally = Tally()
    rows = _rows(chunk, job, tally)
    payload = arrow.to_parquet([*rows]) if job.to_parquet else _to_lines(rows)
    # Adding it to an empty tally finds the slowest requests of the chunk.
    counted = Tally()
    counted.add(tally)
    return Part(chunk.number, counted.counts["requests"], payload, counted)


def _rows(chunk: Chunk, job: Job, tally: Tally) -> Iterator[dict[str, Any]]:
    """Make and count the row of each request, one by one, because many rows slow the garbage collector down."""
    selector = RequestSelector(job.policy)
    other = None if job.other is None else RequestSelector(job.other)
    clock = perf_counter
    for location, request in _requests(chunk):
        start = clock()
        row = _row(selector, request)
        tally.add_row(row, clock() - start, location)
        if other is not None:
            tally.add_difference(row, _row(other, request), _labels(request))
        yield row


def _row(selector: RequestSelector, request: Any) -> dict[str, Any]:
    if isinstance(request, DocumentError):
        return error_row(None, selector.policy_hash, request)
    return selector.row(request)


def _requests(chunk: Chunk) -> Iterator[tuple[str, Any]]:
    """Return the requests, each after its location, and errors for lines that are not JSON."""
    if chunk.is_arrow:
        for number, request in enumerate(arrow.requests_in(chunk.payload), chunk.first):
            yield f"{chunk.source}, row {number}", request
        return
    loads = fastest_loads()
    may_be_long = loads is not json.loads and _has_long_number(chunk.payload)
    for number, line in enumerate(BytesIO(chunk.payload), chunk.first):
        if line.isspace():
            continue
        location = f"{chunk.source}, line {number}"
        try:
            request = json.loads(line) if may_be_long and _has_long_number(line) else loads(line)
        except (ValueError, RecursionError):
            request = _read_again(line, location)
        yield location, request


def _has_long_number(text: bytes) -> bool:
    """Whether a text has so many digits in a row that orjson may read a float instead of an int.

    In such a run, looking at every fourth byte finds four digits in a row. Times have none, so most texts pass quickly.
    """
    return _FOUR_DIGITS in text[::4].translate(_TO_ZEROS) and _LONG_NUMBER in text.translate(_TO_ZEROS)


def _read_again(line: bytes, location: str) -> Any:
    """Read with the standard library, which accepts more than orjson; if it does not, return the error."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        try:
            # With its end, the error of a truncated line would be on the next one.
            return parse_json(line.rstrip())
        except DocumentError as error:
            return DocumentError(str(error), path=location)


@cache
def fastest_loads() -> Callable[[bytes], Any]:
    """Return the fastest JSON reader installed: that of orjson, or of the standard library."""
    try:
        from orjson import loads  # noqa: PLC0415
    except ModuleNotFoundError:
        return json.loads
    fastest: Callable[[bytes], Any] = loads
    return fastest


def _to_lines(rows: Iterable[dict[str, Any]]) -> bytes:
    # A row is made here and cannot contain itself.
    encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
    return "".join([encode(row) + "\n" for row in rows]).encode("ascii")


def _labels(request: Any) -> Callable[[int], str]:
    """Return a function for the beginning of an item's content, or of a message."""

    def label(i: int) -> str:
        if request.get("items") is not None:
            return str(request["items"][i]["content"])[:_LABEL]
        return json.dumps(request["messages"][i], default=str, ensure_ascii=False)[:_LABEL]

    return label
