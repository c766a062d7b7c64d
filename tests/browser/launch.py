"""Debian's Chromium, driven by playwright; and what is missing if it cannot be started here."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["AXE", "launched", "missing"]

ROOT = Path(__file__).parents[2]
# `tools/setup_browser.sh` puts it there.
AXE = ROOT / ".browser" / "axe.min.js"
_NAMES = ("chromium", "chromium-browser")


def _chromium() -> str | None:
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)


def missing() -> str:
    """What has to be set up before the tests in a browser can run; empty if nothing."""
    parts = {
        "Chromium": _chromium() is not None,
        "playwright": importlib.util.find_spec("playwright") is not None,
        "axe-core": AXE.exists(),
    }
    return ", ".join(name for name, is_there in parts.items() if not is_there)


@contextmanager
def launched() -> Iterator[Any]:
    """A running browser without a window."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an extra

    with sync_playwright() as playwright:
        # Chromium refuses to run its sandbox as root, as in most containers.
        browser = playwright.chromium.launch(executable_path=_chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()
