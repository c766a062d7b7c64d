"""What all tests share."""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator

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
            item.add_marker("unmeasured")
    # What a test finds in a cache is not computed again: what is measured comes first, so that it computes it.
    items.sort(key=lambda item: item.get_closest_marker("unmeasured") is not None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Stop measuring coverage for a while. pytest-cov's own mark for that does not, in the workers of pytest-xdist."""
    if item.get_closest_marker("unmeasured") is None or not item.config.pluginmanager.hasplugin("_cov"):
        return (yield)
    tracer, tracer_of_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)
        threading.settrace(tracer_of_threads)
