"""The output of a batch: a manifest, and parts that are each written whole or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from pycupel.batch.chunks import Job, Part
from pycupel.batch.request import is_object, policy_hash, policy_text
from pycupel.batch.tally import BatchSummary, Tally
from pycupel.errors import CupelError, InvalidArgumentError
from pycupel.pipeline import Policy

__all__ = ["Output"]

_MANIFEST = "manifest.json"
_UNFINISHED = ".tmp"
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

    A part is written under another name, after its tally, and renamed when it is complete. So after a crash, every part
    is complete and has been counted.
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

    def open(self, *, resume: bool) -> dict[int, Tally]:
        """Start or resume. Return the numbers of the parts that exist, each with its tally.

        Raises:
            InvalidArgumentError: the directory has files and is not to be resumed, they belong to another job, or
                their policy cannot be compared.
        """
        if self._directory.is_file():
            raise InvalidArgumentError(f"{self._directory} is a file; choose a directory", argument="output")
        self._directory.mkdir(parents=True, exist_ok=True)
        if resume and (self._directory / _MANIFEST).exists():
            self._check_is_same_job()
        elif any(path.name != f"{_MANIFEST}{_UNFINISHED}" for path in self._directory.iterdir()):
            wrong = (
                "is not empty and has no manifest, so there is nothing to resume; choose another directory"
                if resume
                else "is not empty; choose another directory, or resume what is there"
            )
            raise InvalidArgumentError(f"{self._directory} {wrong}", argument="output")
        self._write(_MANIFEST, _text({**self._begun, "complete": False}))
        return self._done()

    def _check_is_same_job(self) -> None:
        try:
            found = json.loads((self._directory / _MANIFEST).read_bytes())
        except ValueError:
            # It may be the manifest of another program.
            found = None
        begun: Mapping[str, Any] = found if is_object(found) else {}
        expected = self._job if begun.get("complete") else self._begun
        different = [_CHANGES[key] for key, value in expected.items() if begun.get(key) != value]
        if different:
            raise InvalidArgumentError(
                f"cannot resume {self._directory}: it was written with {' and '.join(different)}",
                argument="output",
            )
        for argument, policy in self._policies.items():
            _check_comparable(argument, policy, self._directory)

    def _done(self) -> dict[int, Tally]:
        """Return the complete parts, and remove incomplete ones. Other files are left alone."""
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
                done[number] = self._tally(number)
        return done

    def write(self, part: Part) -> None:
        """Write a part."""
        self._write(self._tally_name(part.number), _text(part.tally.saved()))
        self._write(self._part_name(part.number), part.payload)

    def counted(self, parts: int, slowest: list[tuple[float, str]]) -> Tally:
        """Add the counts of all parts in order, so that it does not matter which part was completed first."""
        whole = Tally()
        for number in range(parts):
            whole.add(self._tally(number))
        whole.slowest = slowest
        return whole

    def finish(self, parts: int, summary: BatchSummary) -> None:
        """Write the manifest of a complete output."""
        names = [self._part_name(number) for number in range(parts)]
        digests = {name: sha256((self._directory / name).read_bytes()).hexdigest() for name in names}
        figures = {key: value for key, value in asdict(summary).items() if key != "slowest"}
        self._write(_MANIFEST, _text({**self._job, "complete": True, "parts": digests, "summary": figures}))

    def _tally(self, number: int) -> Tally:
        return Tally(json.loads((self._directory / self._tally_name(number)).read_text(encoding="utf-8")))

    def _part_name(self, number: int) -> str:
        return f"part-{number:06}.{self._suffix}"

    def _tally_name(self, number: int) -> str:
        return f"tally-{number:06}.json"

    def _write(self, name: str, data: bytes) -> None:
        unfinished = self._directory / f"{name}{_UNFINISHED}"
        unfinished.write_bytes(data)
        unfinished.replace(self._directory / name)


def _check_comparable(argument: str, policy: Policy, directory: Path) -> None:
    """Check that a policy can be written to a file, and so compared with the one of an earlier run."""
    try:
        policy_text(policy)
    except CupelError as error:
        which = "policy" if argument == "policy" else "second policy"
        raise InvalidArgumentError(
            f"cannot resume {directory}: its {which} cannot be compared with this one: {error}",
            argument=argument,
            hint="Start over in another directory.",
        ) from None


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
