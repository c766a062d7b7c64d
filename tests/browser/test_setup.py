"""Whether there is a browser to test in; if not, this says in one sentence what was left out."""

from __future__ import annotations

import pytest

from tests.browser.launch import missing


def test_the_browser_is_set_up(request: pytest.FixtureRequest) -> None:
    lacking = missing()
    if lacking:
        pytest.skip(f"all tests in a browser are left out: {lacking} not found; `make setup-browser` installs it")
    tabs = request.getfixturevalue("tabs")
    assert int(tabs.version.partition(".")[0]) >= 123, "the page needs light-dark()"
