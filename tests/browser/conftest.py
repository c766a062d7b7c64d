"""A browser for the tests here, which are left out as a whole where there is none. They install nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.launch import launched, missing
from tests.browser.pages import Opened

# `test_setup.py` says why they are left out, once.
collect_ignore_glob = ["test_[!s]*.py"] if missing() else []


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """Closed before the tests of other folders: playwright keeps an event loop running, and they run their own."""
    with launched() as chromium:
        yield chromium


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Opened]:
    """Opens pages, and checks at the end that none has complained or asked the network for anything."""
    pages = Opened(browser, tmp_path)
    yield pages
    pages.close()
    assert pages.complaints == []
    assert pages.requests == []
