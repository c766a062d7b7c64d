"""What all tests share."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Generator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

# For the tests of the plug-in. pytest wants it here, at the top.
pytest_plugins = ["pytester"]

# Many examples, large inputs, other processes. Every line and branch is covered without them. They run in this order,
# the longest tests first, so that in the end no worker has to wait for the other.
UNMEASURED = (
    "tests/messages/test_real_histories.py",
    "tests/fuzz/",
    "tests/test_determinism.py",
    "tests/test_worst_cases.py",
    "tests/test_hostile_objects.py",
    "tests/property/",
    "tests/docs/",
)

# What coverage.py has set to trace this thread and new ones, if it measures.
TRACERS = pytest.StashKey[tuple[Any, Any]]()


def set_tracers(tracer: Any, tracer_of_threads: Any) -> None:
    sys.settrace(tracer)
    threading.settrace(tracer_of_threads)


def is_measuring(config: pytest.Config) -> bool:
    return config.pluginmanager.hasplugin("_cov") and sys.gettrace() is not None


def pause_measuring(config: pytest.Config) -> None:
    """Measure in measured tests only. pytest-cov measures from start to end, and with that mostly pytest's own work.

    Its mark for tests that are not to be measured has no effect in the workers of pytest-xdist.
    """
    config.stash[TRACERS] = sys.gettrace(), threading.gettrace()
    set_tracers(None, None)


def pytest_sessionstart(session: pytest.Session) -> None:
    # The controller of pytest-xdist runs no tests.
    if is_measuring(session.config) and session.config.pluginmanager.hasplugin("dsession"):
        pause_measuring(session.config)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    if is_measuring(session.config):
        import_everything()
        pause_measuring(session.config)


def import_everything() -> None:
    """Measure what modules do when they are imported, which the tests will do later."""
    for module in walk_packages([str(Path(__file__).parents[1] / "src" / "pycupel")], "pycupel."):
        if not module.name.endswith("__main__"):
            # The libraries of some hooks are not there.
            with suppress(ImportError):
                import_module(module.name)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(UNMEASURED):
            item.add_marker("unmeasured")
    items.sort(key=turn)


def turn(item: pytest.Item) -> int:
    """What is measured comes first, so that it computes what later tests may find in a cache."""
    if item.get_closest_marker("unmeasured") is None:
        return 0
    return next((i for i, start in enumerate(UNMEASURED, start=1) if item.nodeid.startswith(start)), 1)


def pytest_collection_finish() -> None:
    # The tests stay until the end. Without them, the garbage collector has much less to look through each time.
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def measured(item: pytest.Item) -> Generator[None, None, None]:
    if item.get_closest_marker("unmeasured") or TRACERS not in item.config.stash:
        return (yield)
    set_tracers(*item.config.stash[TRACERS])
    try:
        return (yield)
    finally:
        set_tracers(None, None)


# Fixtures and tests.
pytest_runtest_setup = pytest_runtest_call = measured
