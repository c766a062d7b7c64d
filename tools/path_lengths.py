"""A pytest plug-in: `tmp_path` has a path of each of many lengths, with a space and an umlaut.

`pytest -p tools.path_lengths` runs each test that uses `tmp_path` once for each length, which its name then ends with.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

# Below this folder, whatever TMPDIR says, because that may be longer than the shortest path wanted.
SHORTEST = "/tmp"  # noqa: S108 - only folders with random names are made in it
LENGTHS = range(20, 121, 5)
_numbers = count()


def make_folder(parent: Path, name: str, length: int) -> Path:
    """Make a folder whose whole path has this many characters."""
    folder = parent / name.ljust(length - len(str(parent)) - 1, "-")
    assert len(str(folder)) == length, f"{folder} has not {length} characters"
    folder.mkdir()
    return folder


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests to which this makes no difference."""
    others = [item for item in items if "tmp_path" not in getattr(item, "fixturenames", ())]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if "tmp_path" in getattr(item, "fixturenames", ())]


@pytest.fixture(scope="session")
def short_folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="ü ", dir=SHORTEST) as folder:
        yield Path(folder)


@pytest.fixture(params=LENGTHS, ids=lambda length: f"path of {length} characters")
def tmp_path(request: pytest.FixtureRequest, short_folder: Path) -> Iterator[Path]:
    folder = make_folder(short_folder, f"{next(_numbers) % 10_000:04}", request.param)
    yield folder
    shutil.rmtree(folder)
