"""A browser for the tests here, which `make test-browser` runs. They install nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.launch import launched
from tests.browser.pages import Opened, Tabs


@pytest.fixture(scope="package")
def tabs() -> Iterator[Tabs]:
    with launched() as chromium:
        assert int(chromium.version.partition(".")[0]) >= 123, "the page needs light-dark()"
        yield Tabs(chromium)


@pytest.fixture
def opened(tabs: Tabs, tmp_path: Path) -> Iterator[Opened]:
    """Opens a page, and checks at the end that it has not complained or asked the network for anything."""
    page = Opened(tabs, tmp_path)
    yield page
    page.close()
    assert page.complaints == []
    assert page.requests == []
