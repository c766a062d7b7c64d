"""What all tests share."""

from __future__ import annotations

import pytest

# For the tests of the plug-in. pytest wants it here, at the top.
pytest_plugins = ["pytester"]

# Many examples, large inputs, other processes. Every line and branch is covered without them.
UNMEASURED = (
    "tests/browser/",
    "tests/docs/",
    "tests/fuzz/",
    "tests/messages/test_real_histories.py",
    "tests/property/",
    "tests/test_determinism.py",
    "tests/test_worst_cases.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(UNMEASURED):
            item.add_marker("no_cover")
    # What a test finds in a cache is not computed again: what is measured comes first, so that it computes it.
    items.sort(key=lambda item: item.get_closest_marker("no_cover") is not None)
