"""Read the data files of this package: the windows of models, and what the estimator's features cost."""

from __future__ import annotations

from os.path import dirname, join
from typing import Any


def read_table(name: str) -> dict[str, list[int]]:
    """Return the numbers of each name: a line is a name and its numbers, and lines of the same name are joined."""
    # By the module's loader, which also reads from an archive: importing pathlib or importlib.resources takes longer.
    loader: Any = __spec__.loader
    text: str = loader.get_data(join(dirname(__file__), "data", name)).decode()  # noqa: PTH118, PTH120
    table: dict[str, list[int]] = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            key, *numbers = line.split()
            table.setdefault(key, []).extend(map(int, numbers))
    return table
