"""Run what could notice where it is run as if on other machines: `make test-elsewhere`.

The last commit is cloned into a folder whose path has a space and an umlaut, with nothing beside it. `make demo` sets
up an environment there, as it does for a new user. Then the demo and the tests are run under several conditions at
once; if root starts this, by a user who may do nothing else. What fails is tried again under each condition alone, and
the report names those under which it fails.
"""

# ruff: noqa: S603, S607, T201 - it starts the project's own commands, and tells how they end

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory, mkdtemp

from tools.path_lengths import SHORTEST, make_folder

ROOT = Path(__file__).resolve().parents[1]

# Commands, pages as text, documentation, files, batches, plug-ins and processes.
TESTS = [
    "tests/cli",
    "tests/render",
    "tests/web",
    "tests/docs",
    "tests/policies",
    "tests/wire",
    "tests/batch",
    "tests/testing",
    "tests/conformance",
    "tests/replay",
    "tests/codecs",
    "tests/test_compressed.py",
    "tests/test_package.py",
    "tests/test_regressions.py",
    "tests/integrations/test_otel.py",
    "tests/tokens/test_counters.py",
    "tests/tokens/test_tiktoken.py",
    "tests/test_quality.py",
    "tests/test_extras.py",
]

# Those that use files and are quick enough to be run with a path of each length.
TESTS_WITH_FILES = [
    "tests/cli/test_verbs.py",
    "tests/cli/test_reading.py",
    "tests/cli/test_batch.py",
    "tests/cli/test_logs.py",
    "tests/cli/test_pages.py",
    "tests/policies/test_files.py",
    "tests/conformance/test_load.py",
    "tests/conformance/test_main.py",
    "tests/wire",
    "tests/replay",
    "tests/test_compressed.py",
    "tests/testing/test_snapshots.py",
]

# What the demo and the tests may add to a tree; `make clean` removes it.
BY_PRODUCTS = {".git", ".venv", ".hypothesis", "__pycache__"}


@dataclass(frozen=True)
class Place:
    """A tree with its environment, a folder for what is written, and the number of the user who runs the tests."""

    tree: Path
    folder: Path
    user: int | None = None

    def run(self, conditions: Sequence[str], command: Sequence[str]) -> tuple[bool, str]:
        """Run a command under these conditions, with a new HOME: whether it succeeds, and what it prints."""
        home = Path(mkdtemp(prefix="home-", dir=self.folder))
        home.chmod(0o777)
        # The flags of the `make` that has started this are not for the one in the clone.
        inherited = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "PYTHONPATH"}}
        # A copied interpreter looks for its library where it was built, and then here.
        library = {"LD_LIBRARY_PATH": f"{self.folder}/python/lib"} if (self.folder / "python").exists() else {}
        done = subprocess.run(
            ["/bin/sh", "-c", "\n".join([*conditions, 'exec "$@"']), "sh", *command],
            cwd=self.tree,
            env={**inherited, **library, "HOME": str(home), "EXAMPLES": "0.2"},
            user=self.user,
            group=self.user,
            extra_groups=None if self.user is None else [],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        left = sorted(path.name for path in home.iterdir())
        if left:
            return False, f"{done.stdout}\nleft in HOME: {', '.join(left)}"
        return done.returncode == 0, done.stdout

    def check(self, conditions: Sequence[str], *tests: str) -> str | None:
        """Run the demo and tests under these conditions: None, or what fails and the conditions that make it fail."""
        cache = Path(mkdtemp(prefix="cache-", dir=self.folder))
        cache.chmod(0o777)
        pytest = [".venv/bin/python", "-m", "pytest", "-q", "-o", f"cache_dir={cache}"]
        demo = ["make", "--no-print-directory", "demo"]
        passed, output = self.run(conditions, demo)
        if not passed:
            return f"{output}\n{self.blame(conditions, demo)}"
        passed, output = self.run(conditions, [*pytest, *tests])
        if passed:
            return None
        # Only what has failed is run again, by the names that pytest has kept; a plug-in is part of them.
        failed = cache / "v/cache/lastfailed"
        if failed.exists():
            plug_ins = [each for each in tests if not each.startswith("tests/")]
            tests = (*plug_ins, *json.loads(failed.read_text("utf-8")))
        return f"{output}\n{self.blame(conditions, [*pytest, *tests])}"

    def blame(self, conditions: Sequence[str], command: Sequence[str]) -> str:
        """Say which conditions make a command fail, each alone."""
        if not self.run([], command)[0]:
            user = "" if self.user is None else ", an unprivileged user"
            always = f"a clone with nothing beside it, a space and an umlaut in its path{user}"
            return f"FAILED without any other condition than: {always}, and what the name of a test says"
        alone = [each for each in conditions if not self.run([each], command)[0]]
        return "\n  ".join(
            ["FAILED under:", *alone] if alone else ["FAILED, but only if combined, under:", *conditions]
        )


def runs_in(folder: Path) -> list[tuple[Sequence[str], Sequence[str]]]:
    """Conditions, as commands that can be pasted into a shell, and the tests to run under them."""
    read_only = folder / "read-only"
    read_only.mkdir(mode=0o555)
    home = f"export HOME={read_only}"
    chatham = "export TZ=Pacific/Chatham"
    # With LC_ALL=C, Python 3.11 does not even start in an environment whose path has an umlaut.
    plain, utf_8 = (f"unset LC_ALL LC_CTYPE; export LANG={name}" for name in ("C", "C.UTF-8"))

    def temporary(length: int) -> str:
        path = make_folder(folder, f"{length} ü ", length)
        path.chmod(0o777)
        return f"export TMPDIR={quote(str(path))}"

    strange = ["umask 077", "exec <&-", plain, chatham, "export COLUMNS=40", "export PYTHONHASHSEED=0", home]
    usual = [utf_8, "export COLUMNS=200", "export PYTHONHASHSEED=random"]
    return [
        ([*strange, temporary(60)], TESTS),
        ([*usual, temporary(120)], TESTS),
        (["umask 077", utf_8, chatham], ["-p", "tools.path_lengths", *TESTS_WITH_FILES]),
    ]


def main() -> int:
    started = time.monotonic()
    # What is set up can be read by others; under which mask the tests run is a condition.
    os.umask(0o022)
    # Below a short path, because a path can be made longer but not shorter.
    with TemporaryDirectory(prefix="pycupel-", dir=SHORTEST) as name:
        folder = Path(name)
        folder.chmod(0o777)
        place = Place(clone(folder), folder, free_user())
        set_up(place)
        # A copied interpreter may still find the library of another one, or none.
        if place.run([], [".venv/bin/python", "-c", "import ssl, sys; print(sys.version)"])[1].strip() != sys.version:
            print("only root can run this Python, so everything is run by root, and HOME is not really read-only")
            place = replace(place, user=None)
        print(f"set up in {time.monotonic() - started:.0f} s")
        before = files_in(place.tree)
        runs = list(runs_in(folder))
        # All at once, also on two processors: otherwise one of them would have nothing to do during the last run.
        with ThreadPoolExecutor(len(runs)) as pool:
            passed = list(pool.map(lambda run: report(place, *run), runs))
        left = sorted(files_in(place.tree) - before)
    if left:
        print("FAILED: left in the tree:", *left)
    print(f"{sum(passed)} of {len(passed)} runs passed in {time.monotonic() - started:.0f} s")
    return 0 if all(passed) and not left else 1


def report(place: Place, conditions: Sequence[str], tests: Sequence[str]) -> bool:
    """Run tests under these conditions, and print how that ends in one piece, because others run at the same time."""
    started = time.monotonic()
    failure = place.check(conditions, *tests)
    print(f"{failure or 'passed'} ({time.monotonic() - started:.0f} s): {'; '.join(conditions)}", flush=True)
    return failure is None


def clone(folder: Path) -> Path:
    """Clone the last commit or, without git, copy the tree as it is."""
    tree = folder / "schöner Ordner" / "pycupel"
    try:
        subprocess.run(["git", "clone", "--quiet", ROOT, tree], check=True)
        status = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, check=True, capture_output=True)
        if status.stdout:
            print("testing the last commit, without the changes since")
    except (OSError, subprocess.CalledProcessError):
        print("testing a copy of the tree: it cannot be cloned with git")
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".venv*", ".browser", ".*cache", *BY_PRODUCTS))
    return tree


def files_in(tree: Path) -> set[str]:
    paths = (path.relative_to(tree) for path in tree.rglob("*"))
    return {str(path) for path in paths if not BY_PRODUCTS.intersection(path.parts)}


def free_user() -> int | None:
    """The number of a user who has no name and owns nothing; None if this is not root, who alone can become another."""
    if os.geteuid() != 0:
        print("not root, so everything is run by the user who has started this")
        return None
    taken = {each.pw_uid for each in pwd.getpwall()}
    return next(number for number in count(54_321) if number not in taken)


def set_up(place: Place) -> None:
    """Let `make demo` set up the environment, and lend it the packages of this one, so that none is downloaded."""
    python, packages = Path(sys.executable).resolve(), Path(sysconfig.get_path("purelib"))

    def readable(path: Path) -> bool:
        return place.run([], ["test", "-r", str(path)])[0]

    # The interpreter of a version manager is often below root's HOME, and so may be the tree.
    if not readable(python):
        prefix = place.folder / "python"
        unused = shutil.ignore_patterns("site-packages", "test", "config-*")
        shutil.copytree(sys.base_prefix, prefix, symlinks=True, ignore=unused)
        python = prefix / python.relative_to(sys.base_prefix)
    if not readable(packages / "pytest"):
        packages = shutil.copytree(packages, place.folder / "packages", symlinks=True)
    subprocess.run(
        ["make", "--silent", f"PYTHON={python}", "demo"], cwd=place.tree, check=True, stdout=subprocess.DEVNULL
    )
    (site,) = place.tree.glob(".venv/lib/python*/site-packages")
    (site / "lent.pth").write_text(f"{packages}\n", encoding="utf-8")
    if place.user is not None:
        for path in (place.tree, *place.tree.rglob("*")):
            os.chown(path, place.user, place.user, follow_symlinks=False)


if __name__ == "__main__":
    sys.exit(main())
