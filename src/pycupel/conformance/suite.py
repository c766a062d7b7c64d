"""Running a directory of vectors and summing up."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from pycupel.conformance.check import check_vector
from pycupel.conformance.load import read_vector

__all__ = ["SPECIFICATION", "SuiteResult", "VectorResult", "run_suite"]

SPECIFICATION = "Cupel spec text of 2026-03-25 (post-1.3.0), 67-vector suite at commit 0b82dad"

_TIERS = ("required", "optional", "extended")


@dataclass(frozen=True, slots=True)
class VectorResult:
    """One vector. `problem` is empty if it passed."""

    path: Path
    tier: str
    name: str
    problem: str = ""

    @property
    def passed(self) -> bool:
        return not self.problem


@dataclass(frozen=True, slots=True)
class SuiteResult:
    results: tuple[VectorResult, ...]

    @property
    def failures(self) -> tuple[VectorResult, ...]:
        return tuple(result for result in self.results if not result.passed)

    @property
    def ok(self) -> bool:
        """All passed, and there was something to pass."""
        return bool(self.results) and not self.failures

    @property
    def tiers(self) -> dict[str, tuple[int, int]]:
        """For each tier that occurs: how many passed, of how many."""
        total = Counter(result.tier for result in self.results)
        passed = Counter(result.tier for result in self.results if result.passed)
        return {tier: (passed[tier], total[tier]) for tier in (*_TIERS, "other") if total[tier]}

    @property
    def level(self) -> str:
        """The conformance level that these vectors show."""
        complete = {tier: passed == total for tier, (passed, total) in self.tiers.items()}
        if not complete.get("required"):
            return "not conformant" if "required" in complete else "no level: there are no required vectors"
        return "Cupel Fully Conformant" if complete.get("optional") else "Cupel Conformant"


def run_suite(directory: str | Path) -> SuiteResult:
    """Run every `*.toml` below the directory, in the order of their names.

    Raises:
        FileNotFoundError: there is no such directory.
    """
    root = Path(directory).resolve()
    if not root.is_dir():
        raise FileNotFoundError(f"no such directory: {directory}")
    return SuiteResult(tuple(_run(path, root) for path in sorted(root.rglob("*.toml"))))


def _run(path: Path, root: Path) -> VectorResult:
    relative = path.relative_to(root)
    tier = next((part for part in (root.name, *relative.parts) if part in _TIERS), "other")
    name = relative.as_posix()
    try:
        vector = read_vector(path)
        name = vector["test"].get("name", name)
        check_vector(vector)
    except Exception as error:  # noqa: BLE001 - whatever a vector brings about is its result
        return VectorResult(relative, tier, name, f"{type(error).__name__}: {error}")
    return VectorResult(relative, tier, name)
