"""Draw the pages in the README from the bundled session, light and dark, at double resolution.

Run `python -m tools.page_pictures` after `make setup-browser`.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path
from typing import Any

from pycupel import ContextBudget, Pipeline
from pycupel.cli import main as pycupel
from pycupel.wire import read_items
from tests.browser.launch import launched

IMAGES = Path(__file__).parents[1] / "docs" / "images"


def demo(what: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as written:
        pycupel(["demo", what])
    return written.getvalue()


def write_report(path: Path) -> None:
    items = [*read_items(io.StringIO(demo("items")))]
    pipeline = Pipeline.from_policy("code-review").for_query("Why does the checkout fail, and how do we fix it?")
    report = pipeline.dry_run(items, ContextBudget(8_000, 6_000, output_reserve=1_000))
    report.to_html(path, pipeline=pipeline, items=items)


def write_doctor(path: Path) -> None:
    transcript = path.with_name("session.jsonl")
    transcript.write_text(demo("transcript"), encoding="utf-8")
    assert pycupel(["context", str(transcript), "--html", str(path), "--quiet"]) == 0


def draw(page: Any, name: str, height: int) -> None:
    page.evaluate("() => document.querySelector('.top button').remove()")
    page.screenshot(path=IMAGES / name, clip={"x": 0, "y": 0, "width": 1180, "height": height})


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, launched() as browser:
        report, doctor = Path(folder) / "report.html", Path(folder) / "doctor.html"
        write_report(report)
        write_doctor(doctor)
        for scheme, suffix in (("light", ""), ("dark", "-dark")):
            size = {"width": 1180, "height": 1400}
            page = browser.new_page(viewport=size, color_scheme=scheme, device_scale_factor=2)
            page.goto(report.as_uri())
            page.locator("#items tr[data-i]").nth(5).click()
            page.mouse.move(0, 0)
            draw(page, f"report{suffix}.png", 1400)
            page.goto(doctor.as_uri())
            draw(page, f"doctor{suffix}.png", 1040)


if __name__ == "__main__":
    main()
