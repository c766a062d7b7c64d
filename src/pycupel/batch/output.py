"""The output of a batch: a manifest, and parts that are each written whole or not at all."""

from __future__ import annotations

import json
import os
import re
import socket
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from pycupel.batch.chunks import ChunkResult, Job
from pycupel.batch.request import is_object, policy_hash, policy_text
from pycupel.batch.tally import BatchSummary, Tally, is_saved_tally
from pycupel.errors import CupelError, DocumentError, InvalidArgumentError

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
    after the part, and has its size and digest. So after a crash, a part that has a tally and fits it is complete.
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
                if saved["part"] == _identity(path.read_bytes()):
                    done[number] = Tally(saved)
        return done

    def _check_is_same_job(self) -> None:
        try:
            found = json.loads((self._directory / _MANIFEST).read_bytes())
        except (ValueError, RecursionError):
            found = None
        if not is_object(found):
            wrong = f"cannot resume {self._directory}: its {_MANIFEST} is damaged, or belongs to another program"
            raise InvalidArgumentError(wrong, argument="output", hint="Start over in another directory.")
        begun: Mapping[str, Any] = found
        expected = self._job if begun.get("complete") else self._begun
        different = [_CHANGES[key] for key, value in expected.items() if begun.get(key) != value]
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
        self._write(self._part_name(part.number), part.payload)
        self._write(self._tally_name(part.number), _text({**part.tally.saved(), "part": _identity(part.payload)}))

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
        """Read a tally."""
        path = self._directory / self._tally_name(number)
        try:
            saved = json.loads(path.read_bytes())
        except (ValueError, RecursionError):
            saved = None
        if not is_saved_tally(saved) or not is_object(saved.get("part")):
            hint = "Delete it and resume: the requests of its part are selected again."
            raise DocumentError("is damaged", path=str(path), hint=hint)
        return saved

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


def _identity(data: bytes) -> dict[str, Any]:
    return {"bytes": len(data), "sha256": sha256(data).hexdigest()}


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
        start = file.read(_SAMPLE)
        file.seek(max(0, size - _SAMPLE))
        digest = sha256(start + file.read(_SAMPLE)).hexdigest()
    return {"name": path.name, "bytes": size, "sha256_of_ends": digest}
