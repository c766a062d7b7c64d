"""The documentation site: its navigation. `make docs` builds it and follows its links."""

from __future__ import annotations

import re
from pathlib import Path

from tools.check_description import problems
from tools.public_api import breaking
from tools.site import FILES, with_links

ROOT = Path(__file__).parents[2]
NAVIGATION = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]


def test_every_page_is_in_the_navigation_once() -> None:
    listed = re.findall(r": ([\w/-]+\.md)$", NAVIGATION, re.MULTILINE)
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    assert sorted(listed) == sorted(pages | set(FILES.values()))


def test_links_lead_to_pages_of_the_site_or_to_the_repository() -> None:
    text = "[a](docs/tokens.md#limits), [b](LICENSE), [c](CONTRIBUTING.md), [d](https://example.org/x), [e](#here)"
    assert with_links(text, ROOT / "README.md", ROOT / "build/pages/index.md") == (
        "[a](tokens.md#limits), [b](https://github.com/pycupel/pycupel/blob/main/LICENSE), [c](contributing.md), "
        "[d](https://example.org/x), [e](#here)"
    )
    page = ROOT / "docs" / "frameworks" / "langchain.md"
    assert with_links("[a](../tokens.md)", page, ROOT / "build/pages/frameworks/langchain.md") == "[a](../tokens.md)"


def test_what_is_gone_or_must_be_given_breaks_code() -> None:
    before = {"a.f": ["x", "y="], "a.g": ["x"], "a.C": None}
    assert breaking(before, {"a.f": ["x", "y=", "z="], "a.g": ["x"], "a.C": None, "a.h": ["x"]}) == []
    assert breaking(before, {"a.f": ["x", "z"], "a.C": None}) == [
        "a.f: the parameter y is gone",
        "a.f: z must be given",
        "a.g is gone",
    ]


def test_a_description_whose_links_lead_nowhere_is_found() -> None:
    link = "https://github.com/pycupel/pycupel/blob/v1.0.0/{}"
    good = "".join(f"[a]({link.format('README.md')}) " for _ in range(11))
    assert problems(good, "1.0.0", ROOT) == []
    assert len(problems(good, "1.0.1", ROOT)) == 11
    assert problems(f"{good}[a]({link.format('nowhere.md')})", "1.0.0", ROOT) == [
        f"{link.format('nowhere.md')}: there is no nowhere.md"
    ]
    assert problems(f'{good}<img src="docs/images/report.png">', "1.0.0", ROOT) == [
        "docs/images/report.png is relative, and PyPI has no such file"
    ]
    assert problems("", "1.0.0", ROOT) == ["only 0 links"]


def rows_of(page: str) -> list[list[str]]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]


def test_the_comparison_in_the_readme_is_that_of_the_page() -> None:
    """Six rows of the first table that is measured, with the package of the version that the page names."""
    measured = [[re.sub(r" \d.*", "", row[0]), *row[1:6]] for row in rows_of("docs/comparison.md") if len(row) == 8]
    shown = [row for row in rows_of("README.md") if len(row) == 6]
    assert len(shown) == 6
    assert [row for row in shown if row not in measured[: len(measured) // 2]] == []
