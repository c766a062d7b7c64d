"""Debian's Chromium, driven by playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["AXE", "launched"]

ROOT = Path(__file__).parents[2]
# `tools/setup_browser.sh` puts it there.
AXE = ROOT / ".browser" / "axe.min.js"
# The first shows the same pages without the rest of a browser, in two thirds of the time.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser")


def _chromium() -> str:
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    assert found, "no Chromium on the PATH, and none named in CHROMIUM; `make setup-browser` installs one"
    return found


@contextmanager
def launched() -> Iterator[Any]:
    """A running browser without a window."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an extra

    with sync_playwright() as playwright:
        # Chromium refuses to run its sandbox as root, as in most containers.
        browser = playwright.chromium.launch(executable_path=_chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()
