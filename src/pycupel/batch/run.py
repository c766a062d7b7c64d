"""`run_batch`: read files of requests, and write a directory of rows."""

from __future__ import annotations

import json
import os
import re
import socket
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

from pycupel.batch.arrow import is_parquet
from pycupel.batch.chunks import (
    MAX_WORKERS,
    Chunk,
    ChunkResult,
    Job,
    available_workers,
    check_sendable,
    process,
    read_chunks,
    run_local,
)
from pycupel.batch.request import BatchSummary, Tally, policy_hash, policy_text
from pycupel.codecs.json_values import MAX_LINE
from pycupel.errors import CupelError, DocumentError, InvalidArgumentError
from pycupel.extras import load_extra
from pycupel.fields import is_mapping
from pycupel.model.checks import (
    checked_bool,
    checked_callable,
    checked_iterable,
    checked_name,
    checked_path,
    checked_positive,
)
from pycupel.pipeline import Policy, PresetName
from pycupel.pipeline.policy import as_policy
from pycupel.text import number_text

EngineName = Literal["local", "dask"]


def run_batch(
    inputs: Iterable[str | os.PathLike[str]],
    policy: Policy | PresetName,
    output: str | os.PathLike[str],
    engine: EngineName = "local",
    workers: int | None = None,
    resume: bool = False,  # noqa: FBT001, FBT002 - as documented, by position, too
    *,
    scheduler: str | None = None,
    compare: Policy | PresetName | None = None,
    progress: Callable[[int, float], object] | None = None,
    max_line: int = MAX_LINE,
) -> BatchSummary:
    """Select the context of every logged request in some files.

    The output is a directory with a manifest and parts, whose rows are those of `select_request` in input order. It
    contains no times, and is the same for every engine and number of workers, byte for byte.

    Args:
        inputs: Files of JSON lines, one request per line, which may be compressed (.gz, .bz2, .xz), or Parquet files.
        policy: A policy, a pipeline, or the name of a preset.
        output: The output directory, created if missing. Its parts are Parquet files if all inputs are, otherwise
            JSON lines.
        engine: "local" for processes on this machine, "dask" for a Dask cluster.
        workers: The number of processes, at most 1,000; by default one per processor. With 1, everything runs in this
            process.
        resume: Whether to continue an interrupted job, without repeating a request.
        scheduler: The address of a Dask scheduler; by default, a cluster is started on this machine.
        compare: A second policy; the summary says what it would select differently.
        progress: Called with the number of requests done, and how much of the input that is, from 0 to 1.
            Neither ever goes back. After `resume`, a first call has the requests that were done before, and 0.
        max_line: The most bytes of a line in a file of JSON lines, decompressed.

    Raises:
        InvalidArgumentError: there are no inputs, an option is unknown, the output has files, is another job's or is
            being written by another process, or the policy cannot be sent to other processes.
        DocumentError: a compressed or Parquet file or a tally is damaged, or a line is too long.
        CupelError: a chunk ended two worker processes, or a worker could not start. Finished parts are kept.
    """
    paths = [
        Path(checked_path(f"inputs[{i}]", each))
        for i, each in enumerate(checked_iterable("inputs", "an iterable of paths", inputs))
    ]
    if not paths:
        raise InvalidArgumentError("inputs must contain at least one path", argument="inputs")
    job = Job(
        as_policy(policy), None if compare is None else as_policy(compare, "compare"), all(map(is_parquet, paths))
    )
    checked_bool("resume", resume)
    longest = checked_positive("max_line", max_line, InvalidArgumentError)
    if progress is not None:
        checked_callable("progress", "a function that takes two numbers", progress)
    out = Output(Path(checked_path("output", output)), paths, job)
    run = _engine(engine, scheduler, workers, job)
    with out.locked():
        return _write_rows(out, out.open(resume=resume), run, read_chunks(paths, longest), progress)


def _write_rows(
    out: Output,
    done: Mapping[int, Tally],
    run: Callable[[Iterable[Chunk]], Generator[ChunkResult]],
    chunks: Iterable[Chunk],
    progress: Callable[[int, float], object] | None,
) -> BatchSummary:
    whole = Tally()
    for tally in done.values():
        whole.add(tally)
    # How much of the input is read, and how much of that is in each part that is still to do. Parts end in any order.
    read = share = 0.0
    pending: dict[int, float] = {}
    parts = 0

    def tell() -> None:
        nonlocal share
        # Sums of floats differ slightly from call to call, but progress must not go back.
        share = max(share, read - sum(pending.values()))
        if progress is not None:
            progress(whole.counts["requests"], share)

    def remaining() -> Iterator[Chunk]:
        nonlocal parts, read
        if done:
            tell()
        for parts, chunk in enumerate(chunks, 1):  # noqa: B007 - how many there were
            size, read = chunk.share - read, chunk.share
            if chunk.number in done:
                tell()
            else:
                pending[chunk.number] = size
                yield chunk

    # However this ends, workers end with it.
    with closing(run(remaining())) as results:
        for part in results:
            out.write(part)
            whole.add(part.tally)
            del pending[part.number]
            tell()
    summary = out.counted(parts, whole.slowest).summary()
    out.finish(parts, summary)
    return summary


def _engine(
    name: str, scheduler: str | None, workers: int | None, job: Job
) -> Callable[[Iterable[Chunk]], Generator[ChunkResult]]:
    """Return the engine of that name, ready to run the job."""
    chosen = checked_name("engine", name, ("local", "dask"), InvalidArgumentError)
    count = available_workers() if workers is None else checked_positive("workers", workers, InvalidArgumentError)
    if count > MAX_WORKERS:
        raise InvalidArgumentError(
            f"workers must be at most {MAX_WORKERS:,}, not {number_text(count)}", argument="workers", value=count
        )
    if chosen == "dask":
        return lambda chunks: run_dask(chunks, job, count, scheduler)
    if scheduler is not None:
        raise InvalidArgumentError('scheduler requires engine="dask"', argument="scheduler")
    if count > 1:
        check_sendable(job)
    return lambda chunks: run_local(chunks, job, count)


def run_dask(chunks: Iterable[Chunk], job: Job, workers: int, scheduler: str | None) -> Generator[ChunkResult]:
    """Yield the parts as they are completed. If a worker dies, another one gets its chunk."""
    distributed = load_extra("distributed", extra="dask", package="dask[distributed]", purpose="the engine dask")
    cluster: Any = None
    if scheduler is None:
        # Use any free port for the dashboard: the default may be taken by another cluster.
        cluster = distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1"
        )
    client = distributed.Client(scheduler if cluster is None else cluster)

    def submitted(count: int) -> list[Any]:
        # Dask runs equal tasks once, but each of several equal chunks needs its own part. The job is part of each task:
        # scattered data would be lost with the worker that holds it.
        return [client.submit(process, chunk, job, pure=False) for chunk in islice(remaining, count)]

    try:
        remaining = iter(chunks)
        running = distributed.as_completed(submitted(2 * max(workers, len(client.scheduler_info()["workers"]))))
        for future in running:
            part: ChunkResult = future.result()
            running.update(submitted(1))
            yield part
    finally:
        client.close()
        if cluster is not None:
            cluster.close()


# The output: a manifest, and parts that are each written whole or not at all.


_MANIFEST = "manifest.json"
_UNFINISHED = ".tmp"
_LOCK = "running.lock"
_SAMPLE = 64 * 1024
# The keys of a manifest, in users' words.
_CHANGES = {
    "format": "another format",
    "policy_hash": "another policy",
    "compared_with": "another policy to compare with",
    "inputs": "other inputs",
    "input_times": "inputs that have changed since",
}


class Output:
    """A directory of parts.

    Every file is written under another name, and renamed when it is complete and on the disk. The tally of a part comes
    after it, and has its name, size and digest. So after a crash, a part that has a tally and fits it is complete.
    """

    def __init__(self, directory: Path, inputs: Sequence[Path], job: Job) -> None:
        self._directory = directory
        self._suffix = "parquet" if job.to_parquet else "jsonl"
        self._policies = {"policy": job.policy} if job.other is None else {"policy": job.policy, "compare": job.other}
        self._job = {
            "format": self._suffix,
            "policy_hash": policy_hash(job.policy),
            "compared_with": None if job.other is None else {"policy_hash": policy_hash(job.other)},
            "inputs": [_fingerprint(path) for path in inputs],
        }
        # Hashes of both ends do not show every edit, so times are compared, too. A complete output needs none.
        self._begun = {**self._job, "input_times": [path.stat().st_mtime_ns for path in inputs]}

    @contextmanager
    def locked(self) -> Generator[None]:
        """Create the directory, and let no other process write to it during the block."""
        if self._directory.is_file():
            raise InvalidArgumentError(f"{self._directory} is a file; choose a directory", argument="output")
        self._directory.mkdir(parents=True, exist_ok=True)
        path = self._directory / _LOCK
        # The lock ends with this process: a killed one leaves a file behind, but no lock.
        file = _locked(path)
        try:
            file.truncate(0)
            file.write(f"{os.getpid()} {socket.gethostname()}\n".encode())
            file.flush()
            yield
        finally:
            if sys.platform == "win32":  # pragma: no cover - it cannot remove an open file
                file.close()
            path.unlink(missing_ok=True)
            file.close()

    def open(self, *, resume: bool) -> dict[int, Tally]:
        """Start or resume. Return the numbers of the parts that exist, each with its tally."""
        if resume and (self._directory / _MANIFEST).exists():
            self._check_is_same_job()
        elif any(path.name not in (_LOCK, f"{_MANIFEST}{_UNFINISHED}") for path in self._directory.iterdir()):
            wrong = (
                "is not empty and has no manifest, so there is nothing to resume; choose another directory"
                if resume
                else "is not empty; choose another directory, or resume what is there"
            )
            raise InvalidArgumentError(f"{self._directory} {wrong}", argument="output")
        self._write(_MANIFEST, _text({**self._begun, "complete": False}))
        # Keep the complete parts, and remove what was never finished. Other files are left alone.
        done: dict[int, Tally] = {}
        made = re.compile(rf"(?:part|tally)-([0-9]{{6,}})\.(?:{self._suffix}|json)({re.escape(_UNFINISHED)})?")
        for path in sorted(self._directory.iterdir()):
            found = made.fullmatch(path.name)
            if found is None:
                continue
            number = int(found[1])
            if found[2]:
                path.unlink()
            elif path.name == self._part_name(number) and (self._directory / self._tally_name(number)).exists():
                saved = self._saved(number)
                if saved["part"] == _identity(path.name, path.read_bytes()):
                    done[number] = Tally(saved)
        return done

    def _check_is_same_job(self) -> None:
        try:
            found = json.loads((self._directory / _MANIFEST).read_bytes())
        except (ValueError, RecursionError):
            found = None
        if not is_mapping(found):
            wrong = f"cannot resume {self._directory}: its {_MANIFEST} is damaged, or belongs to another program"
            raise InvalidArgumentError(wrong, argument="output", hint="Start over in another directory.")
        expected = self._job if found.get("complete") else self._begun
        different = [_CHANGES[key] for key, value in expected.items() if found.get(key) != value]
        if different:
            raise InvalidArgumentError(
                f"cannot resume {self._directory}: it was written with {' and '.join(different)}",
                argument="output",
            )
        # A policy that cannot be written to a file cannot be compared with that of an earlier run, either.
        for argument, policy in self._policies.items():
            try:
                policy_text(policy)
            except CupelError as error:
                which = "policy" if argument == "policy" else "second policy"
                raise InvalidArgumentError(
                    f"cannot resume {self._directory}: its {which} cannot be compared with this one: {error}",
                    argument=argument,
                    hint="Start over in another directory.",
                ) from None

    def write(self, part: ChunkResult) -> None:
        """Write a part, and then its tally, which says that the part is complete."""
        name = self._part_name(part.number)
        self._write(name, part.payload)
        saved = {**part.tally.saved(), "part": _identity(name, part.payload)}
        self._write(self._tally_name(part.number), _text({**saved, "sha256": _digest(_text(saved))}))

    def counted(self, parts: int, slowest: list[tuple[float, str]]) -> Tally:
        """Add the counts of all parts in order, so that it does not matter which part was completed first."""
        whole = Tally()
        for number in range(parts):
            whole.add(Tally(self._saved(number)))
        whole.slowest = slowest
        return whole

    def finish(self, parts: int, summary: BatchSummary) -> None:
        """Write the manifest of a complete output."""
        digests = {self._part_name(number): self._saved(number)["part"]["sha256"] for number in range(parts)}
        figures = {key: value for key, value in asdict(summary).items() if key != "slowest"}
        self._write(_MANIFEST, _text({**self._job, "complete": True, "parts": digests, "summary": figures}))

    def _saved(self, number: int) -> dict[str, Any]:
        """Read a tally. Its own digest shows damage: a wrong count would be in the summary."""
        path = self._directory / self._tally_name(number)
        with suppress(ValueError, RecursionError):
            read = json.loads(path.read_bytes())
            saved = {**read} if is_mapping(read) else {}
            if saved.pop("sha256", None) == _digest(_text(saved)):
                return saved
        hint = "Delete it and resume: the requests of its part are selected again."
        raise DocumentError("is damaged", path=str(path), hint=hint)

    def _part_name(self, number: int) -> str:
        return f"part-{number:06}.{self._suffix}"

    def _tally_name(self, number: int) -> str:
        return f"tally-{number:06}.json"

    def _write(self, name: str, data: bytes) -> None:
        path = self._directory / name
        unfinished = self._directory / f"{name}{_UNFINISHED}"
        try:
            with unfinished.open("wb") as file:
                file.write(data)
                file.flush()
                # Otherwise, after a power failure there might be an empty file under the new name.
                os.fsync(file.fileno())
        except OSError as error:
            # A full disk is an error without a name.
            error.filename = error.filename or str(path)
            raise
        unfinished.replace(path)


def _identity(name: str, data: bytes) -> dict[str, Any]:
    return {"name": name, "bytes": len(data), "sha256": _digest(data)}


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def _locked(path: Path) -> IO[bytes]:
    """Open and lock a file. If another process has removed it in the meantime, the lock is worth nothing."""
    while True:
        file = path.open("a+b")
        try:
            _lock_file(file)
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        except FileNotFoundError:
            pass
        except BlockingIOError:
            file.seek(0)
            process, _, host = file.read().decode(errors="replace").strip().partition(" ")
            file.close()
            raise InvalidArgumentError(
                f"{path.parent} is being written by process {process or 'unknown'} on {host or 'this machine'}",
                argument="output",
                hint="Wait until it ends, or choose another directory.",
            ) from None
        file.close()


def _lock_file(file: IO[bytes]) -> None:
    """Lock a file until it is closed, or raise a BlockingIOError."""
    if sys.platform == "win32":  # pragma: no cover - elsewhere
        import msvcrt  # noqa: PLC0415

        # What is locked cannot be read, so lock a byte far behind the end.
        file.seek(1 << 30)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            raise BlockingIOError from None
        return
    import fcntl  # noqa: PLC0415 - not on Windows

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        # Some network file systems have no locks. A batch works there, too.
        return


def _text(document: Any) -> bytes:
    return (json.dumps(document, indent=2, sort_keys=True) + "\n").encode()


def _fingerprint(path: Path) -> dict[str, Any]:
    """Identify an input, so that a different or changed one is noticed without reading all of it."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if not file.seekable():
            raise InvalidArgumentError(f"{path} can be read only once; write it to a file", argument="inputs")
        start = file.read(_SAMPLE)
        file.seek(max(0, size - _SAMPLE))
        return {"name": path.name, "bytes": size, "sha256_of_ends": _digest(start + file.read(_SAMPLE))}
