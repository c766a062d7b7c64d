"""A browser for the tests here, which are left out as a whole where there is none. They install nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.launch import launched, missing
from tests.browser.pages import Opened, Tabs

# `test_setup.py` says why they are left out, once.
collect_ignore_glob = ["test_[!s]*.py"] if missing() else []


@pytest.fixture(scope="package")
def tabs() -> Iterator[Tabs]:
    """Closed before the tests of other folders: playwright keeps an event loop running, and they run their own."""
    with launched() as chromium:
        yield Tabs(chromium)


@pytest.fixture
def opened(tabs: Tabs, tmp_path: Path) -> Iterator[Opened]:
    """Opens a page, and checks at the end that it has not complained or asked the network for anything."""
    page = Opened(tabs, tmp_path)
    yield page
    page.close()
    assert page.complaints == []
    assert page.requests == []
