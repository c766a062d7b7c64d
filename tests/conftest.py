"""What all tests share."""

from __future__ import annotations

import gc
import os
import signal
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

# Long conversations. Every line and branch is covered without them, and without what `tools/run_tests.sh` runs apart.
UNMEASURED = (
    "tests/integrations_env/a/test_conversations.py",
    "tests/integrations_env/a/test_incumbents.py",
    "tests/integrations_env/b/test_conversations.py",
    "tests/integrations_env/c/test_long_conversations.py",
)

# They import what only POSIX systems have.
collect_ignore = [] if os.name == "posix" else ["batch/test_faults.py", "cli/test_screen.py"]
# Fixtures that need a shell, or forks.
POSIX_FIXTURES = {"preloaded", "quick_shell", "shell"}

# In a mutant, every function is called through two others, and some tests nest strategies deeply.
if "MUTANT_UNDER_TEST" in os.environ:
    sys.setrecursionlimit(4 * sys.getrecursionlimit())

# What coverage.py has set to trace this thread and new ones, if it measures.
TRACERS = pytest.StashKey[tuple[Any, Any]]()


# A shell ignores interrupts in the processes that it starts in the background, and so would those that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def set_tracers(tracer: Any, tracer_of_threads: Any) -> None:
    sys.settrace(tracer)
    threading.settrace(tracer_of_threads)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Measure in measured tests only. coverage.py would measure from start to end, and mostly what pytest does."""
    if type(sys.gettrace()).__module__.startswith("coverage"):
        import_everything()
        session.config.stash[TRACERS] = sys.gettrace(), threading.gettrace()
        set_tracers(None, None)


def import_everything() -> None:
    """Measure what modules do when they are imported, which the tests will do later."""
    for module in walk_packages([str(Path(__file__).parents[1] / "src" / "pycupel")], "pycupel."):
        # This one runs when it is imported.
        if module.name != "pycupel.__main__":
            # The libraries of some hooks are not there.
            with suppress(ImportError):
                import_module(module.name)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(UNMEASURED):
            item.add_marker("unmeasured")
        if POSIX_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("posix")
        if os.name != "posix" and item.get_closest_marker("posix"):
            item.add_marker(pytest.mark.skip("only on POSIX systems"))
    # What is measured comes first, so that it computes what later tests may find in a cache.
    items.sort(key=lambda item: item.get_closest_marker("unmeasured") is not None)


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
