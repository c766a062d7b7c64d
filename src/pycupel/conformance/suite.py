"""Run a directory of vectors, and determine the conformance level that it proves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pycupel.conformance.check import check_vector
from pycupel.conformance.vectors import read_vector, section
from pycupel.errors import InvalidArgumentError
from pycupel.model.checks import checked_path, checked_str
from pycupel.values import sealed

# By date and commit, because the version numbers inside the text disagree (META-01).
SPECIFICATION = "Cupel spec text of 2026-03-25 (post-1.3.0), 67-vector suite at commit 0b82dad"
"""The specification that this version implements, and the conformance suite for it."""

_TIERS = ("required", "optional", "extended")
# Names and contents of the 58 vectors in that suite's `required/`.
_UPSTREAM_REQUIRED = "ebe0c811df6725074abe9c410ca545302d5642f68ea7ee682af8aae2e1891a0f"


@sealed
@dataclass(frozen=True, slots=True)
class VectorResult:
    """The result of one vector."""

    path: Path
    """The vector's file, relative to the directory that was run."""

    tier: str
    """`required`, `optional` or `extended`, by the folder that the file is in; otherwise `other`."""

    name: str
    """The vector's own name for what it tests."""

    problem: str = ""
    """Why it failed; empty if it passed."""

    @property
    def passed(self) -> bool:
        """Whether the vector passed."""
        return not self.problem


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class SuiteResult:
    """The results of all vectors in a directory."""

    results: tuple[VectorResult, ...]
    """One result for each vector, in the order of their paths."""

    suite: str | None = None
    """The suite's name: the caller's, or the upstream suite's if the required vectors are recognised; else None."""

    required_only: bool = False
    """Whether the suite was recognised by its required vectors alone."""

    @property
    def failures(self) -> tuple[VectorResult, ...]:
        """The vectors that failed."""
        return tuple(result for result in self.results if not result.passed)

    @property
    def ok(self) -> bool:
        """Whether all vectors passed, and there was at least one."""
        return bool(self.results) and not self.failures

    @property
    def tiers(self) -> dict[str, tuple[int, int]]:
        """For each tier that occurs: how many of its vectors passed, and how many there are."""
        total = Counter(result.tier for result in self.results)
        passed = Counter(result.tier for result in self.results if result.passed)
        return {tier: (passed[tier], total[tier]) for tier in (*_TIERS, "other") if total[tier]}

    @property
    def level(self) -> str:
        """The conformance level that the vectors prove, or why they prove none.

        The levels are the specification's: `Cupel Conformant` if all required vectors pass, `Cupel Fully Conformant` if
        all optional ones pass, too.
        """
        if self.suite is None:
            return "no conformance level: these vectors are not a known suite"
        complete = {tier: passed == total for tier, (passed, total) in self.tiers.items()}
        if "required" not in complete:
            return "no conformance level: there are no required vectors"
        if not complete["required"]:
            return "not conformant"
        return "Cupel Fully Conformant" if complete.get("optional") and not self.required_only else "Cupel Conformant"

    def __repr__(self) -> str:
        total = len(self.results)
        return f"<SuiteResult: {total - len(self.failures)} of {total} vectors passed>"


def run_suite(directory: str | Path, *, suite: str | None = None) -> SuiteResult:
    """Run every `*.toml` below a directory, in the order of their paths.

    Args:
        directory: The directory of the vectors, searched recursively.
        suite: What the vectors are, with a version: by naming the suite, you claim that its tiers `required` and
            `optional` are complete, and the result has a conformance level. Without a name there is a level only if
            the required vectors are recognised as those of the upstream suite.

    Returns:
        The result of each vector, and the conformance level that they prove.

    Raises:
        TypeError: an argument has the wrong type.
        FileNotFoundError: there is no such directory.
        InvalidArgumentError: the suite's name is empty.
    """
    if suite is not None and not checked_str("suite", suite).strip():
        raise InvalidArgumentError("suite must not be empty", argument="suite", value=suite)
    root = Path(checked_path("directory", directory)).resolve()
    if not root.is_dir():
        raise FileNotFoundError(f"no such directory: {directory}")
    results = tuple(_run(path, root) for path in sorted(root.rglob("*.toml")))
    if suite is None and _digest(root, results) == _UPSTREAM_REQUIRED:
        return SuiteResult(results, SPECIFICATION, required_only=True)
    return SuiteResult(results, suite)


def _run(path: Path, root: Path) -> VectorResult:
    relative = path.relative_to(root)
    tier = next((part for part in (root.name, *relative.parts) if part in _TIERS), "other")
    name = relative.as_posix()
    try:
        vector = read_vector(path)
        name = str(section(vector, "test").get("name", name))
        check_vector(vector)
    except Exception as error:  # noqa: BLE001 - whatever a vector brings about is its result
        return VectorResult(relative, tier, name, f"{type(error).__name__}: {error}")
    return VectorResult(relative, tier, name)


def _digest(root: Path, results: Iterable[VectorResult]) -> str:
    """Digest the names and contents of the required vectors, whatever their line ends."""
    required = {_name_in_tier(root, each.path): each.path for each in results if each.tier == "required"}
    digest = sha256()
    for name in sorted(required):
        try:
            content = (root / required[name]).read_bytes().replace(b"\r\n", b"\n")
        except OSError:
            # It has already failed, so these cannot be the known vectors.
            return ""
        digest.update(name.encode() + b"\0" + content + b"\0")
    return digest.hexdigest()


def _name_in_tier(root: Path, path: Path) -> str:
    parts = (root.name, *path.parts)
    return "/".join(parts[parts.index("required") + 1 :])
